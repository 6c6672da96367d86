#include "vocabulary.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const ferry_vocabulary *vocabulary, ferry_view piece)
{
    return (uint32_t)ferry_keyed_hash(vocabulary->key, piece.data, piece.size);
}

/* The slot that holds `piece`, or the free one where it belongs. The place is in the hash's low bits. */
static ferry_vocabulary_slot *slot_of(const ferry_vocabulary *vocabulary, ferry_view piece, uint32_t hash)
{
    size_t at = hash & vocabulary->mask;
    for (;; at = (at + 1) & vocabulary->mask) {
        ferry_vocabulary_slot *slot = &vocabulary->slots[at];
        if (*slot == 0) return slot;
        const bool alike = ((*slot ^ hash) & ~vocabulary->id_mask) == 0;
        if (alike && ferry_view_equal(vocabulary->pieces[(*slot & vocabulary->id_mask) - 1], piece)) return slot;
    }
}

ferry_status ferry_vocabulary_create(const ferry_view *pieces, int32_t count, ferry_vocabulary *vocabulary,
                                     ferry_error *error)
{
    size_t capacity = 16;
    uint32_t id_mask = 1;
    while (capacity < 2 * (size_t)count) capacity *= 2;
    while (id_mask < (uint32_t)count) id_mask = 2 * id_mask + 1;
    memset(vocabulary, 0, sizeof *vocabulary);
    ferry_vocabulary_slot *slots = calloc(capacity, sizeof *slots);
    if (slots == NULL) return ferry_fail_memory(error, "the vocabulary", capacity * sizeof *slots);
    *vocabulary = (ferry_vocabulary){pieces, count, slots, capacity - 1, id_mask, ferry_hash_key_create()};
    for (int32_t id = 0; id < count; id++) {
        const uint32_t hash = hash_of(vocabulary, pieces[id]);
        ferry_vocabulary_slot *slot = slot_of(vocabulary, pieces[id], hash);
        if (*slot == 0) *slot = (hash & ~id_mask) | ((uint32_t)id + 1);
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
