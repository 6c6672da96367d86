/* Included before every file of SentencePiece, instead of its flat_hash_map.h: a hash map of pieces whose hashes have a
 * key, so that nobody who makes a model can make its pieces collide; and instead of its init.h: flags of a command
 * line, which would take memory before main, where no failure can be told. */
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
