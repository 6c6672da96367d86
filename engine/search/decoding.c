#include "decoding.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/graph/transformer.h"

int32_t ferry_decoding_limit(const ferry_options *options, int32_t source_ids)
{
    if (options->max_length > 0) return options->max_length;
    /* The product in float32, as in Marian: 1.2 × 5 is 6, not a little more. */
    const double limit = (double)ceilf(options->length_factor * (float)source_ids) + options->length_extra;
    if (!(limit > 1)) return 1;
    return limit < INT32_MAX ? (int32_t)limit : INT32_MAX;
}

int32_t ferry_decoding_target_limit(const ferry_options *options, const ferry_transformer *model, size_t source_ids)
{
    const int32_t limit = model->decoder.position.limit, length = ferry_decoding_limit(options, (int32_t)source_ids);
    return limit > 0 && length > limit ? limit : length;
}

float ferry_decoding_score(const ferry_options *options, float sum, int32_t n)
{
    if (n <= 0) return 0; /* n < 0: a forced eos came before the end of the prefix */
    return (sum - options->search->word_penalty * (float)n) / (float)pow(n, options->length_penalty);
}

ferry_alignment ferry_alignment_choose(const ferry_generation *generation, const ferry_transformer *model)
{
    const ferry_stack *decoder = &model->decoder;
    const bool named = generation->alignment_layer >= 0 && generation->alignment_head >= 0;
    if (!named) return (ferry_alignment){.layer = decoder->layer_count - 1, .heads = decoder->heads};
    return (ferry_alignment){generation->alignment_layer, generation->alignment_head, generation->alignment_heads};
}

/* ---- the words of a shortlist ---- */

/* A set of target ids, one bit each. */
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

ferry_status ferry_shortlist_words(const ferry_shortlist *shortlist, int32_t vocab, const int32_t *source,
                                   int32_t length, const int32_t *prefix, int32_t prefix_count, ferry_arena *arena,
                                   const int32_t **words, int32_t *count, ferry_error *error)
{
    enum { MULTIPLE = 8 };
    const size_t bit_words = ((size_t)vocab + 63) / 64;
    word_set set = {.bits = ferry_arena_alloc(arena, bit_words, sizeof *set.bits)};
    if (set.bits == NULL) return ferry_arena_fail(arena, "a shortlist", bit_words, sizeof *set.bits, error);
    memset(set.bits, 0, bit_words * sizeof *set.bits);
    for (int32_t id = 0; id < shortlist->first; id++) add(&set, id);
    for (int32_t i = 0; i < prefix_count; i++) add(&set, prefix[i]);
    for (int32_t s = 0; s < length; s++) {
        if (shortlist->shared) add(&set, source[s]);
        for (uint32_t i = shortlist->offsets[source[s]]; i < shortlist->offsets[source[s] + 1]; i++)
            add(&set, shortlist->ids[i]);
    }
    for (int32_t id = shortlist->first; id < vocab && (set.count == 0 || set.count % MULTIPLE != 0); id++)
        add(&set, id);
    int32_t *list = ferry_arena_alloc(arena, (size_t)set.count, sizeof *list);
    if (list == NULL) return ferry_arena_fail(arena, "a shortlist", (size_t)set.count, sizeof *list, error);
    *words = list;
    *count = set.count;
    for (int32_t base = 0; base < vocab; base += 64) {
        uint64_t bits = set.bits[base / 64];
        for (int32_t id = base; bits != 0; id++, bits >>= 1)
            if (bits & 1) *list++ = id;
    }
    return FERRY_OK;
}
