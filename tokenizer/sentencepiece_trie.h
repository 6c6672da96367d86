/* Included before SentencePiece's unigram_model.cc, after its darts.h. Darts minimizes the automaton of a set of keys
 * with values before it lays out the double array. Laid out directly, as without values, the array answers the same and
 * is larger, and loading a model takes two thirds of the time. */
#ifndef FERRY_TOKENIZER_SENTENCEPIECE_TRIE_H
#define FERRY_TOKENIZER_SENTENCEPIECE_TRIE_H

template <> inline void Darts::Details::DoubleArrayBuilder::build(const Keyset<int> &keyset)
{
    if (keyset.num_keys() > 0 && keyset.lengths(0) == 0) throw Exception("zero-length key"); /* they are sorted */
    build_from_keyset(keyset);
}

#endif
