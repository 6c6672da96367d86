#include "search.h"

#include <math.h>
#include <string.h>

int32_t ferry_logits_offset(const ferry_logits *logits, int32_t id)
{
    if (logits->ids == NULL) return id >= logits->first && id - logits->first < logits->count ? id - logits->first : -1;
    const int32_t *ids = logits->ids + logits->first;
    int32_t low = 0, high = logits->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < logits->count && ids[low] == id ? low : -1;
}

void ferry_logits_penalize(const ferry_logits *logits, float *row, float penalty, const int32_t *ids, int32_t length,
                           float *before)
{
    /* All values are read before any is written: a token that occurs twice is penalized once. */
    for (int32_t i = 0; i < length; i++) {
        int32_t offset = ferry_logits_offset(logits, ids[i]);
        before[i] = offset >= 0 ? row[offset] : 0;
    }
    for (int32_t i = 0; i < length; i++) {
        int32_t offset = ferry_logits_offset(logits, ids[i]);
        if (offset >= 0) row[offset] = before[i] < 0 ? before[i] * penalty : before[i] / penalty;
    }
}

static void mask_token(const ferry_logits *logits, float *row, int32_t id)
{
    int32_t offset = ferry_logits_offset(logits, id);
    if (offset >= 0) row[offset] = -INFINITY;
}

void ferry_logits_mask(const ferry_logits *logits, float *row, const ferry_options *options, const int32_t *eos_ids,
                       int32_t eos_count, const int32_t *ids, int32_t length)
{
    if (options->no_repeat_ngram > 0 && length >= options->no_repeat_ngram) {
        const int32_t context = options->no_repeat_ngram - 1;
        const int32_t *tail = ids + length - context;
        for (int32_t i = 0; i + context < length; i++)
            if (memcmp(ids + i, tail, (size_t)context * sizeof *ids) == 0) mask_token(logits, row, ids[i + context]);
    }
    for (size_t i = 0; i < options->search->suppressed_count; i++)
        mask_token(logits, row, options->search->suppressed_ids[i]);
    if (length - 1 >= options->min_length) return;
    for (int32_t i = 0; i < eos_count; i++) mask_token(logits, row, eos_ids[i]);
}
