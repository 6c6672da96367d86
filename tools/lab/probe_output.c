#include "probe_output.h"

#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/status.h"

enum { SOURCE = FERRY_INSPECT_ENCODER, TARGET = FERRY_INSPECT_DECODER };

/* Logits of either batch that are computed together, unless one sentence has more. */
enum { LOGITS_TOGETHER = 1 << 22 };

static double log_sum_exp(const float *logits, int32_t V, float most)
{
    double sum = 0;
    for (int32_t v = 0; v < V; v++) sum += (double)expf(logits[v] - most);
    return (double)most + log(sum);
}

static float largest(const float *logits, int32_t V)
{
    float most = logits[0];
    for (int32_t v = 1; v < V; v++) most = logits[v] > most ? logits[v] : most;
    return most;
}

void ferry_output_sums_add(ferry_output_sums *sums, const float *before, const float *after, int32_t V, int32_t token)
{
    const float most = largest(before, V);
    const double after_all = log_sum_exp(after, V, largest(after, V));
    double weights = 0, difference = 0; /* Σ p (before - after), times `weights` */
    for (int32_t v = 0; v < V; v++) {
        const double weight = (double)expf(before[v] - most);
        weights += weight;
        if (weight > 0) difference += weight * ((double)before[v] - (double)after[v]);
    }
    const double before_all = (double)most + log(weights);
    sums->tokens++;
    sums->nll += before_all - (double)before[token];
    sums->changed_nll += after_all - (double)after[token];
    sums->divergence += difference / weights - before_all + after_all;
}

/* ---- sentences first … end - 1 of a batch ---- */

typedef struct slice {
    const ferry_probe_batch *batch;
    int32_t *offsets[FERRY_PROBE_SIDES]; /* from 0 */
    size_t capacity[FERRY_PROBE_SIDES];
    float *logits; /* [rows, V] */
    size_t logit_capacity;
} slice;

static ferry_status compute_logits(const ferry_probe_sentences *sentences, slice *s, int32_t first, int32_t end,
                                   ferry_error *error)
{
    const int32_t *ids[FERRY_PROBE_SIDES];
    const size_t count = (size_t)(end - first) + 1;
    for (int side = 0; side < FERRY_PROBE_SIDES; side++) {
        const int32_t *offsets = s->batch->offsets[side];
        int32_t *rebased = ferry_array_grow(s->offsets[side], &s->capacity[side], count, sizeof *rebased);
        if (rebased == NULL) return ferry_fail_memory(error, "offsets", count * sizeof *rebased);
        for (size_t i = 0; i < count; i++) rebased[i] = offsets[(size_t)first + i] - offsets[first];
        s->offsets[side] = rebased;
        ids[side] = s->batch->ids[side] + offsets[first];
    }
    const size_t floats = (size_t)s->offsets[TARGET][count - 1] * (size_t)sentences->sizes.target_vocab;
    float *logits = ferry_array_grow(s->logits, &s->logit_capacity, floats, sizeof *logits);
    if (logits == NULL) return ferry_fail_memory(error, "logits", floats * sizeof *logits);
    s->logits = logits;
    return ferry_inspect_logits(sentences->model, ids[SOURCE], s->offsets[SOURCE], end - first, ids[TARGET],
                                s->offsets[TARGET], FERRY_INSPECT_ONE_PASS, logits, error);
}

/* The end of the longest slice from `first` on whose logits may be computed together. */
static int32_t slice_end(const slice *s, int32_t first, int32_t V)
{
    const int32_t *offsets = s->batch->offsets[TARGET];
    int32_t end = first + 1;
    while (end < s->batch->count && (offsets[end + 1] - offsets[first]) <= LOGITS_TOGETHER / V) end++;
    return end;
}

/* Sentence first + i of both slices. */
static void add_sentence(const slice *before, const slice *after, int32_t first, int32_t i, int32_t V,
                         ferry_output_sums *sums)
{
    const int32_t *offsets = before->offsets[TARGET], pieces = offsets[i + 1] - offsets[i] - 1;
    const int32_t row = offsets[i], changed = after->offsets[TARGET][i + 1] - 1 - pieces;
    const int32_t *inputs = before->batch->ids[TARGET] + before->batch->offsets[TARGET][first] + row;
    for (int32_t t = 0; t < pieces; t++)
        ferry_output_sums_add(sums, before->logits + (size_t)(row + t) * (size_t)V,
                              after->logits + (size_t)(changed + t) * (size_t)V, V, inputs[t + 1]);
}

static void destroy(slice *s)
{
    for (int side = 0; side < FERRY_PROBE_SIDES; side++) free(s->offsets[side]);
    free(s->logits);
}

ferry_status ferry_probe_output(const ferry_probe_sentences *sentences, const ferry_probe_batch *before,
                                const ferry_probe_batch *after, ferry_output_sums *sums, ferry_error *error)
{
    const int32_t V = sentences->sizes.target_vocab;
    slice b = {.batch = before}, a = {.batch = after};
    ferry_status status = FERRY_OK;
    for (int32_t first = 0, end; status == FERRY_OK && first < before->count; first = end) {
        end = slice_end(&a, first, V); /* the longer batch */
        status = compute_logits(sentences, &b, first, end, error);
        if (status == FERRY_OK) status = compute_logits(sentences, &a, first, end, error);
        for (int32_t i = 0; status == FERRY_OK && i < end - first; i++) {
            sums[first + i] = (ferry_output_sums){0};
            add_sentence(&b, &a, first, i, V, &sums[first + i]);
        }
    }
    destroy(&b);
    destroy(&a);
    return status;
}
