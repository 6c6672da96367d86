#include "shortlist.h"

#include <string.h>

enum { MULTIPLE = 8 };

/* A bit for each target id. */
typedef struct word_set {
    uint64_t *bits; /* [⌈vocab / 64⌉] */
    int32_t count;
} word_set;

static void add(word_set *set, int32_t id)
{
    uint64_t *word = &set->bits[id / 64];
    const uint64_t bit = UINT64_C(1) << (id % 64);
    set->count += (*word & bit) == 0;
    *word |= bit;
}

static void collect(word_set *set, const ferry_shortlist *shortlist, int32_t vocab, const int32_t *source,
                    int32_t length, const int32_t *prefix, int32_t prefix_count)
{
    for (int32_t id = 0; id < shortlist->first; id++) add(set, id);
    for (int32_t i = 0; i < prefix_count; i++) add(set, prefix[i]);
    for (int32_t s = 0; s < length; s++) {
        if (shortlist->shared) add(set, source[s]);
        for (uint32_t i = shortlist->offsets[source[s]]; i < shortlist->offsets[source[s] + 1]; i++)
            add(set, shortlist->ids[i]);
    }
    for (int32_t id = shortlist->first; id < vocab && (set->count == 0 || set->count % MULTIPLE != 0); id++)
        add(set, id);
}

/* Ids of the set into words [set->count], ascending. */
static void list(const word_set *set, int32_t vocab, int32_t *words)
{
    for (int32_t base = 0; base < vocab; base += 64) {
        uint64_t bits = set->bits[base / 64];
        for (int32_t id = base; bits != 0; id++, bits >>= 1)
            if (bits & 1) *words++ = id;
    }
}

ferry_status ferry_shortlist_words(const ferry_shortlist *shortlist, int32_t vocab, const int32_t *source,
                                   int32_t length, const int32_t *prefix, int32_t prefix_count, ferry_arena *arena,
                                   const int32_t **words, int32_t *count, ferry_error *error)
{
    const size_t bit_words = ((size_t)vocab + 63) / 64;
    word_set set = {.bits = ferry_arena_alloc(arena, bit_words, sizeof *set.bits)};
    if (set.bits == NULL) return ferry_fail_memory(error, "a shortlist", bit_words * sizeof *set.bits);
    memset(set.bits, 0, bit_words * sizeof *set.bits);
    collect(&set, shortlist, vocab, source, length, prefix, prefix_count);
    int32_t *ids = ferry_arena_alloc(arena, (size_t)set.count, sizeof *ids);
    if (ids == NULL) return ferry_fail_memory(error, "a shortlist", (size_t)set.count * sizeof *ids);
    list(&set, vocab, ids);
    *words = ids;
    *count = set.count;
    return FERRY_OK;
}
