/* Included before every file of SentencePiece. Replaces two of its headers: flat_hash_map.h by a map with a keyed hash,
 * so that a model's pieces cannot be chosen to collide; and init.h, whose command-line flags would allocate memory
 * before main(), where no failure can be reported. */
#ifndef FERRY_TOKENIZER_SENTENCEPIECE_MAP_H
#define FERRY_TOKENIZER_SENTENCEPIECE_MAP_H

#define ABSL_CONTAINER_FLAT_HASH_MAP_
#define INIT_H_

#include <string>
#include <string_view>
#include <unordered_map>

extern "C" {
#include "base/bytes.h"
}

namespace absl
{

template <typename Key> struct keyed_hash : std::hash<Key> {
};

/* Not noexcept: the map then keeps the hashes, as it does for std::hash of a text. */
template <> struct keyed_hash<std::string_view> {
    ferry_hash_key key = ferry_hash_key_create();
    size_t operator()(std::string_view text) const
    {
        return ferry_keyed_hash(key, text.data(), text.size());
    }
};

template <> struct keyed_hash<std::string> : keyed_hash<std::string_view> {
};

template <typename Key, typename Value> using flat_hash_map = std::unordered_map<Key, Value, keyed_hash<Key>>;

} // namespace absl

namespace sentencepiece
{

inline void ShutdownLibrary()
{
}

} // namespace sentencepiece

#endif

/* Included a second time before unigram_model.cc, after SentencePiece's darts.h. For keys with values, Darts minimizes
 * the automaton before it builds the double array. Built directly, as for keys without values, the array gives the same
 * answers and is larger, and loading a model takes two thirds of the time. */
#if defined(DARTS_H_) && !defined(FERRY_TOKENIZER_SENTENCEPIECE_TRIE)
#define FERRY_TOKENIZER_SENTENCEPIECE_TRIE

template <> inline void Darts::Details::DoubleArrayBuilder::build(const Keyset<int> &keyset)
{
    if (keyset.num_keys() > 0 && keyset.lengths(0) == 0) throw Exception("zero-length key"); /* they are sorted */
    build_from_keyset(keyset);
}

#endif
