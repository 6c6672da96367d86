#include "vocabulary.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const ferry_vocabulary *vocabulary, ferry_view piece)
{
    return ferry_keyed_hash(vocabulary->key, piece.data, piece.size);
}

/* Of the hash's upper half, what a slot holds beside an id. */
static uint32_t mark_of(const ferry_vocabulary *vocabulary, uint64_t hash)
{
    return (uint32_t)(hash >> 32) & ~vocabulary->id_mask;
}

/* The slot that holds `piece`, or the free one where it belongs. The place is in the hash's lower half. */
static ferry_vocabulary_slot *slot_of(const ferry_vocabulary *vocabulary, ferry_view piece, uint64_t hash)
{
    const uint32_t mark = mark_of(vocabulary, hash), id_mask = vocabulary->id_mask;
    size_t at = (size_t)((hash & UINT32_MAX) * vocabulary->capacity >> 32);
    for (;; at = at + 1 < vocabulary->capacity ? at + 1 : 0) {
        ferry_vocabulary_slot *slot = &vocabulary->slots[at];
        if (*slot == 0) return slot;
        if ((*slot & ~id_mask) == mark &&
            ferry_view_equal(ferry_texts_at(vocabulary->pieces, (*slot & id_mask) - 1), piece))
            return slot;
    }
}

ferry_status ferry_vocabulary_create(const ferry_texts *pieces, int32_t count, ferry_vocabulary *vocabulary,
                                     ferry_error *error)
{
    const size_t capacity = (size_t)count + (size_t)count / 4 + 1; /* four fifths are in use */
    uint32_t id_mask = 1;
    while (id_mask < (uint32_t)count) id_mask = 2 * id_mask + 1;
    memset(vocabulary, 0, sizeof *vocabulary);
    ferry_vocabulary_slot *slots = calloc(capacity, sizeof *slots);
    if (slots == NULL) return ferry_fail_memory(error, "the vocabulary", capacity * sizeof *slots);
    *vocabulary = (ferry_vocabulary){pieces, count, slots, capacity, id_mask, ferry_hash_key_create()};
    for (int32_t id = 0; id < count; id++) {
        const ferry_view piece = ferry_texts_at(pieces, (size_t)id);
        const uint64_t hash = hash_of(vocabulary, piece);
        ferry_vocabulary_slot *slot = slot_of(vocabulary, piece, hash);
        if (*slot == 0) *slot = mark_of(vocabulary, hash) | ((uint32_t)id + 1);
    }
    return FERRY_OK;
}

void ferry_vocabulary_destroy(ferry_vocabulary *vocabulary)
{
    free(vocabulary->slots);
    memset(vocabulary, 0, sizeof *vocabulary);
}

int32_t ferry_vocabulary_find(const ferry_vocabulary *vocabulary, ferry_view piece)
{
    return (int32_t)(*slot_of(vocabulary, piece, hash_of(vocabulary, piece)) & vocabulary->id_mask) - 1;
}
