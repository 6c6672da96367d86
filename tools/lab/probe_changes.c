#include "probe_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

enum { SOURCE = FERRY_INSPECT_ENCODER, TARGET = FERRY_INSPECT_DECODER };

/* ---- text in front ---- */

static bool is_subject(const ferry_probe_sentences *sentences, int32_t index)
{
    const ferry_probe_pair *pair = &sentences->pairs[index];
    return 2 * pair->pieces[SOURCE] <= sentences->trained_length && pair->pieces[SOURCE] > 0 &&
           pair->pieces[TARGET] > 0;
}

/* Pairs after number `index`, cyclically, each that fits into what is left of `length`. Returns their number in
 * *fronts, and of their pieces. */
static int32_t choose_front(const ferry_probe_sentences *sentences, int32_t index, int32_t length,
                            const ferry_probe_pair **front, int32_t *fronts)
{
    int32_t left = length;
    *fronts = 0;
    for (int32_t i = 1; i < sentences->count; i++) {
        const ferry_probe_pair *pair = &sentences->pairs[(index + i) % sentences->count];
        if (pair->pieces[SOURCE] == 0 || pair->pieces[SOURCE] > left) continue;
        front[(*fronts)++] = pair;
        left -= pair->pieces[SOURCE];
    }
    return length - left;
}

static bool fits_behind(const ferry_probe_sentences *sentences, const ferry_probe_pair *pair,
                        const ferry_probe_pair *const *front, int32_t fronts)
{
    int32_t ids[] = {pair->count[SOURCE], 1 + pair->pieces[TARGET]};
    for (int32_t f = 0; f < fronts; f++)
        for (int side = 0; side < FERRY_PROBE_SIDES; side++) ids[side] += front[f]->pieces[side];
    return ferry_probe_fits(sentences, ids);
}

static ferry_status shift_subjects(const ferry_probe_sentences *sentences, int32_t length,
                                   const ferry_probe_pair **front, ferry_probe_batch *before, ferry_probe_batch *after,
                                   double *mean, ferry_error *error)
{
    int32_t subjects = 0, turn = 0;
    double pieces = 0;
    for (int32_t i = 0; i < sentences->count; i++) subjects += is_subject(sentences, i);
    const int32_t stride = (subjects + FERRY_PROBE_SUBJECTS - 1) / FERRY_PROBE_SUBJECTS;
    for (int32_t i = 0; i < sentences->count; i++) {
        const ferry_probe_pair *pair = &sentences->pairs[i];
        int32_t fronts;
        if (!is_subject(sentences, i) || turn++ % stride != 0) continue;
        const int32_t shift = choose_front(sentences, i, length, front, &fronts);
        if (fronts == 0 || !fits_behind(sentences, pair, front, fronts)) continue;
        FERRY_TRY(ferry_probe_batch_add(before, sentences, NULL, 0, pair, pair->ids[SOURCE], error));
        FERRY_TRY(ferry_probe_batch_add(after, sentences, front, fronts, pair, pair->ids[SOURCE], error));
        pieces += shift;
    }
    *mean = before->count > 0 ? pieces / before->count : NAN;
    return FERRY_OK;
}

ferry_status ferry_probe_shift(const ferry_probe_sentences *sentences, int32_t length, ferry_probe_batch *before,
                               ferry_probe_batch *after, double *mean, ferry_error *error)
{
    const size_t bytes = (size_t)sentences->count * sizeof(ferry_probe_pair *);
    const ferry_probe_pair **front = malloc(bytes);
    if (front == NULL) return ferry_fail_memory(error, "pairs", bytes);
    const ferry_status status = shift_subjects(sentences, length, front, before, after, mean, error);
    free(front);
    return status;
}

/* ---- another order ---- */

/* Below `count`, from a xorshift generator (Marsaglia 2003, 13, 7, 17). */
static int32_t draw(uint64_t *random, int32_t count)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (int32_t)((*random >> 32) * (uint64_t)count >> 32);
}

/* Fisher and Yates's shuffle. */
static void permute(uint64_t *random, int32_t *ids, int32_t count)
{
    for (int32_t i = count - 1; i > 0; i--) {
        const int32_t j = draw(random, i + 1), id = ids[i];
        ids[i] = ids[j];
        ids[j] = id;
    }
}

ferry_status ferry_probe_shuffle(const ferry_probe_sentences *sentences, ferry_probe_batch *after, ferry_error *error)
{
    uint64_t random = 1;
    ferry_status status = FERRY_OK;
    for (int32_t i = 0; status == FERRY_OK && i < sentences->count; i++) {
        const ferry_probe_pair *pair = &sentences->pairs[i];
        status = ferry_probe_batch_add(after, sentences, NULL, 0, pair, pair->ids[SOURCE], error);
        if (status == FERRY_OK) permute(&random, after->ids[SOURCE] + after->offsets[SOURCE][i], pair->pieces[SOURCE]);
    }
    return status;
}
