/* The model's vocabulary: id → piece and piece → id. Immutable once created: threads may share it. */
#ifndef FERRY_TOKENIZER_VOCABULARY_H
#define FERRY_TOKENIZER_VOCABULARY_H

#include "base/bytes.h"
#include "base/texts.h"

/* An id + 1 in the bits of id_mask; the others are those of its piece's hash, which spare most looks at pieces that
 * differ. 0: free. */
typedef uint32_t ferry_vocabulary_slot;

typedef struct ferry_vocabulary {
    const ferry_texts *pieces; /* [count], by id */
    int32_t count;
    ferry_vocabulary_slot *slots; /* [capacity], open addressing; one at least is free */
    size_t capacity;
    uint32_t id_mask;
    ferry_hash_key key; /* pieces are a stranger's: they shall not meet in one place */
} ferry_vocabulary;

/* `pieces` [count], count ≥ 0, and their bytes belong to the caller and must outlive the vocabulary. Pieces may be
 * empty, contain NUL bytes and occur twice. Errors: MEMORY; *vocabulary is then zeroed. */
ferry_status ferry_vocabulary_create(const ferry_texts *pieces, int32_t count, ferry_vocabulary *vocabulary,
                                     ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_vocabulary_destroy(ferry_vocabulary *vocabulary);

/* The lowest id of `piece`, or -1. */
int32_t ferry_vocabulary_find(const ferry_vocabulary *vocabulary, ferry_view piece);

#endif
