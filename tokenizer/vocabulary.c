#include "vocabulary.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const ferry_vocabulary *vocabulary, ferry_view piece)
{
    return (uint32_t)ferry_keyed_hash(vocabulary->key, piece.data, piece.size);
}

/* The slot that holds `piece`, or the free one where it belongs. */
static ferry_vocabulary_slot *slot_of(const ferry_vocabulary *vocabulary, ferry_view piece, uint32_t hash)
{
    size_t at = hash & vocabulary->mask;
    for (;; at = (at + 1) & vocabulary->mask) {
        ferry_vocabulary_slot *slot = &vocabulary->slots[at];
        if (slot->id_plus_1 == 0) return slot;
        if (slot->hash == hash && ferry_view_equal(vocabulary->pieces[slot->id_plus_1 - 1], piece)) return slot;
    }
}

ferry_status ferry_vocabulary_create(const ferry_view *pieces, int32_t count, ferry_vocabulary *vocabulary,
                                     ferry_error *error)
{
    size_t capacity = 16;
    while (capacity < 2 * (size_t)count) capacity *= 2;
    memset(vocabulary, 0, sizeof *vocabulary);
    ferry_vocabulary_slot *slots = calloc(capacity, sizeof *slots);
    if (slots == NULL) return ferry_fail_memory(error, "the vocabulary", capacity * sizeof *slots);
    *vocabulary = (ferry_vocabulary){pieces, count, slots, capacity - 1, ferry_hash_key_create()};
    for (int32_t id = 0; id < count; id++) {
        uint32_t hash = hash_of(vocabulary, pieces[id]);
        ferry_vocabulary_slot *slot = slot_of(vocabulary, pieces[id], hash);
        if (slot->id_plus_1 == 0) *slot = (ferry_vocabulary_slot){hash, (uint32_t)id + 1};
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
    return (int32_t)slot_of(vocabulary, piece, hash_of(vocabulary, piece))->id_plus_1 - 1;
}
