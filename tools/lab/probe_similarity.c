#include "probe_similarity.h"

#include <math.h>
#include <stdlib.h>

#include "base/status.h"

double ferry_centered_cosine(const float *a, const int32_t *a_rows, const float *b, const int32_t *b_rows,
                             int32_t count, int32_t D, double *mean)
{
    double sum = 0;
    int32_t used = 0;
    for (int32_t d = 0; d < D; d++) {
        mean[d] = 0;
        for (int32_t i = 0; i < count; i++) mean[d] += (double)a[(size_t)a_rows[i] * (size_t)D + (size_t)d];
        mean[d] /= count;
    }
    for (int32_t i = 0; i < count; i++) {
        const float *x = a + (size_t)a_rows[i] * (size_t)D, *y = b + (size_t)b_rows[i] * (size_t)D;
        double xx = 0, yy = 0, xy = 0;
        for (int32_t d = 0; d < D; d++) {
            const double u = (double)x[d] - mean[d], v = (double)y[d] - mean[d];
            xx += u * u;
            yy += v * v;
            xy += u * v;
        }
        if (!(xx > 0 && yy > 0)) continue;
        sum += xy / sqrt(xx * yy);
        used++;
    }
    return used > 0 ? sum / used : NAN;
}

/* Rows of both batches that are the same token: the last ones of each sentence, in the decoder without the start. */
static int32_t pair_rows(const ferry_probe_batch *before, const ferry_probe_batch *after, ferry_inspect_stack stack,
                         int32_t *before_rows, int32_t *after_rows)
{
    int32_t count = 0;
    for (int32_t s = 0; s < before->count; s++) {
        const int32_t end = before->offsets[stack][s + 1], after_end = after->offsets[stack][s + 1];
        for (int32_t row = before->offsets[stack][s] + (stack == FERRY_INSPECT_DECODER); row < end; row++) {
            before_rows[count] = row;
            after_rows[count++] = after_end - (end - row);
        }
    }
    return count;
}

/* What ferry_probe_similarity needs; whatever is there is freed. */
typedef struct material {
    float *before, *after; /* states [layers + 1, rows, D] */
    int32_t *before_rows, *after_rows;
    double *mean;
} material;

static ferry_status prepare(const ferry_probe_sentences *sentences, const ferry_probe_batch *before,
                            const ferry_probe_batch *after, ferry_inspect_stack stack, material *m, ferry_error *error)
{
    const size_t rows = (size_t)before->offsets[stack][before->count], D = (size_t)sentences->sizes.d_model;
    m->before_rows = malloc(rows * sizeof *m->before_rows);
    m->after_rows = malloc(rows * sizeof *m->after_rows);
    m->mean = malloc(D * sizeof *m->mean);
    if (m->before_rows == NULL || m->after_rows == NULL || m->mean == NULL)
        return ferry_fail_memory(error, "rows", rows * sizeof *m->before_rows);
    FERRY_TRY(ferry_probe_states(sentences, before, stack, &m->before, error));
    return ferry_probe_states(sentences, after, stack, &m->after, error);
}

ferry_status ferry_probe_similarity(const ferry_probe_sentences *sentences, const ferry_probe_batch *before,
                                    const ferry_probe_batch *after, ferry_inspect_stack stack, double *similarity,
                                    size_t stride, ferry_error *error)
{
    const int32_t D = sentences->sizes.d_model;
    const size_t states = (size_t)sentences->layers[stack] + 1;
    for (size_t n = 0; n < states; n++) similarity[n * stride] = NAN;
    if (before->count == 0) return FERRY_OK;
    material m = {0};
    const ferry_status status = prepare(sentences, before, after, stack, &m, error);
    if (status == FERRY_OK) {
        const int32_t count = pair_rows(before, after, stack, m.before_rows, m.after_rows);
        const size_t floats = (size_t)before->offsets[stack][before->count] * (size_t)D;
        const size_t after_floats = (size_t)after->offsets[stack][after->count] * (size_t)D;
        for (size_t n = 0; n < states; n++)
            similarity[n * stride] = ferry_centered_cosine(m.before + n * floats, m.before_rows,
                                                           m.after + n * after_floats, m.after_rows, count, D, m.mean);
    }
    free(m.before);
    free(m.after);
    free(m.before_rows);
    free(m.after_rows);
    free(m.mean);
    return status;
}
