#include "logits.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/kernels.h"

/* ---- rules on logits ---- */

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

void ferry_logits_drop(const ferry_logits *logits, float *row, int32_t id)
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
            if (memcmp(ids + i, tail, (size_t)context * sizeof *ids) == 0)
                ferry_logits_drop(logits, row, ids[i + context]);
    }
    for (size_t i = 0; i < options->search->suppressed_count; i++)
        ferry_logits_drop(logits, row, options->search->suppressed_ids[i]);
    if (length - 1 >= options->min_length) return;
    for (int32_t i = 0; i < eos_count; i++) ferry_logits_drop(logits, row, eos_ids[i]);
}

void ferry_logits_keep(const ferry_logits *logits, float *row, const uint64_t *ids)
{
    for (int32_t column = 0; column < logits->count; column++) {
        const int32_t id = ferry_logits_id(logits, logits->first + column);
        if ((ids[id / 64] >> id % 64 & 1) == 0) row[column] = -INFINITY;
    }
}

bool ferry_log_sum_is_damaged(const ferry_log_sum *total)
{
    return isnan(total->sum) || isnan(total->largest) || total->largest == INFINITY;
}

/* ---- random numbers ---- */

void ferry_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t numbers[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)c0 * UINT32_C(0xD2511F53), b = (uint64_t)c2 * UINT32_C(0xCD9E8D57);
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b;
        c3 = (uint32_t)a;
        k0 += UINT32_C(0x9E3779B9);
        k1 += UINT32_C(0xBB67AE85);
    }
    numbers[0] = c0;
    numbers[1] = c1;
    numbers[2] = c2;
    numbers[3] = c3;
}

static uint64_t add_number(uint64_t hash, uint32_t number)
{
    for (int shift = 0; shift < 32; shift += 8) {
        hash ^= number >> shift & 0xFF;
        hash *= UINT64_C(0x100000001B3);
    }
    return hash;
}

uint64_t ferry_sample_stream(const int32_t *ids, int32_t count, const int32_t *prefix, int32_t prefix_count)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (int32_t i = 0; i < count; i++) hash = add_number(hash, (uint32_t)ids[i]);
    hash = add_number(hash, (uint32_t)count);
    for (int32_t i = 0; i < prefix_count; i++) hash = add_number(hash, (uint32_t)prefix[i]);
    return hash;
}

double ferry_sample_uniform(uint64_t seed, uint64_t stream, uint32_t draw, uint32_t step)
{
    const uint32_t counter[4] = {step, draw, (uint32_t)stream, (uint32_t)(stream >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t numbers[4];
    ferry_philox(counter, key, numbers);
    const uint64_t bits = (uint64_t)numbers[1] << 32 | numbers[0];
    return (double)(bits >> 11) * 0x1p-53;
}

/* ---- the filters of a draw ---- */

/* A binary heap of indices of `values`. Its order is descending value, then ascending index; indices[0] comes first. */
typedef struct heap {
    const float *values;
    int32_t *indices; /* [count] */
    int32_t count;
} heap;

static bool is_before(const heap *h, int32_t a, int32_t b)
{
    return h->values[a] > h->values[b] || (h->values[a] == h->values[b] && a < b);
}

static void sink(heap *h, int32_t at)
{
    const int32_t index = h->indices[at];
    for (int32_t child = 2 * at + 1; child < h->count; child = 2 * at + 1) {
        if (child + 1 < h->count && is_before(h, h->indices[child + 1], h->indices[child])) child++;
        if (!is_before(h, h->indices[child], index)) break;
        h->indices[at] = h->indices[child];
        at = child;
    }
    h->indices[at] = index;
}

/* Removes the first index from the heap, and stores it behind the others. */
static int32_t take_first(heap *h)
{
    const int32_t first = h->indices[0];
    h->indices[0] = h->indices[--h->count];
    h->indices[h->count] = first;
    if (h->count > 0) sink(h, 0);
    return first;
}

static double weight(const ferry_options *options, float value, float largest)
{
    return exp(((double)value - (double)largest) / (double)options->temperature);
}

/* Applies top_k and top_p to indices [count]. The indices that remain come first; returns their number. */
static int32_t filter(const ferry_options *options, const float *values, int32_t count, int32_t *indices)
{
    heap rest = {values, indices, count};
    for (int32_t at = count / 2 - 1; at >= 0; at--) sink(&rest, at);
    const float largest = values[indices[0]];
    const bool by_rank = options->top_k > 0 && options->top_k < count;
    double total = 0, sum = 0;
    float last = largest;
    if (!by_rank)
        for (int32_t i = 0; i < count; i++) total += weight(options, values[indices[i]], largest);
    while (by_rank && rest.count > 0 && (count - rest.count < options->top_k || values[indices[0]] == last)) {
        last = values[take_first(&rest)];
        total += weight(options, last, largest);
    }
    const int32_t ranked = count - rest.count, max = by_rank ? ranked : count;
    const double enough = (double)options->top_p * total;
    int32_t kept = 0;
    for (; kept < max && (options->top_p >= 1 || kept == 0 || sum < enough); kept++) {
        const int32_t index = kept < ranked ? indices[count - 1 - kept] : take_first(&rest);
        sum += weight(options, values[index], largest);
    }
    memmove(indices, indices + count - kept, (size_t)kept * sizeof *indices);
    return kept;
}

int32_t ferry_sample_keep(const ferry_options *options, const float *values, int32_t count, int32_t *indices)
{
    int32_t possible = 0;
    for (int32_t i = 0; i < count; i++)
        if (values[i] > -INFINITY) indices[possible++] = i;
    const bool filtered = (options->top_k > 0 && options->top_k < possible) || options->top_p < 1;
    return filtered ? filter(options, values, possible, indices) : possible;
}

int32_t ferry_sample_choose(const ferry_options *options, const float *values, const int32_t *indices, int32_t kept,
                            double uniform)
{
    float largest = -INFINITY;
    double total = 0, sum = 0;
    int32_t i = 0;
    for (int32_t p = 0; p < kept; p++)
        if (values[indices[p]] > largest) largest = values[indices[p]];
    for (int32_t p = 0; p < kept; p++) total += weight(options, values[indices[p]], largest);
    for (; i < kept - 1; i++) {
        sum += weight(options, values[indices[i]], largest);
        if (sum > uniform * total) break;
    }
    return indices[i];
}
