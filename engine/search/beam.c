#include <math.h>
#include <string.h>

#include "search_state.h"

/* The best tokens after `row` into top_values and top_columns, masked ones left out: returns how many.
 * Value - *normalizer is the log-probability that the rules leave:
 *   with penalty    log-softmax, penalty, masks   (the penalty is defined on log-probabilities)
 *   renormalize     ... , and the log of what the masks leave
 *   else            the log-softmax before the masks: masked tokens keep their share. */
static int32_t row_top(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t row,
                       float *normalizer)
{
    const ferry_decoding *decoding = &search->rules.decoding;
    float *values = logits->values + (size_t)row * logits->ld;
    *normalizer = 0;
    if (decoding->repetition_penalty != 1) {
        const float log_sum = kernels->log_sum_exp(values, logits->count);
        for (int32_t c = 0; c < logits->count; c++) values[c] -= log_sum;
        ferry_search_penalize(search, logits, values, row);
    } else if (!decoding->renormalize) {
        *normalizer = kernels->log_sum_exp(values, logits->count);
    }
    ferry_search_mask(search, logits, values, row);

    int32_t count =
        kernels->top(values, logits->count, search->candidate_limit, search->top_values, search->top_columns);
    while (count > 0 && search->top_values[count - 1] == -INFINITY) count--;
    if (decoding->renormalize && count > 0) *normalizer = kernels->log_sum_exp(values, logits->count);
    return count;
}

/* Keeps candidates [count] in descending order, at most K; false when `entry` is not among them. */
static bool insert(ferry_search *search, int32_t *count, ferry_candidate entry)
{
    ferry_candidate *candidates = search->candidates;
    const int32_t limit = search->candidate_limit;
    if (*count == limit && !(entry.sum > candidates[limit - 1].sum)) return false;
    int32_t at = *count < limit ? (*count)++ : limit - 1;
    for (; at > 0 && entry.sum > candidates[at - 1].sum; at--) candidates[at] = candidates[at - 1];
    candidates[at] = entry;
    return true;
}

/* The best continuations of all rows: at most K, in descending order of their sums. */
static int32_t collect(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits)
{
    const int32_t forced = ferry_search_forced_id(search);
    int32_t count = 0;
    for (int32_t row = 0; row < search->live; row++) {
        if (forced >= 0) {
            insert(search, &count, (ferry_candidate){search->sums[row], row, forced});
            continue;
        }
        float normalizer;
        const int32_t top = row_top(search, kernels, logits, row, &normalizer);
        for (int32_t i = 0; i < top; i++) {
            const float sum = search->top_values[i] - normalizer + search->sums[row];
            const int32_t id = ferry_logits_id(logits, search->top_columns[i]);
            if (!insert(search, &count, (ferry_candidate){sum, row, id})) break;
        }
    }
    return count;
}

/* Candidates that end become hypotheses if they are among the first k (a worse one is lost); the best k that do not end
 * become the living rows. */
static void advance(ferry_search *search, int32_t count, int32_t *ids, int32_t *parents)
{
    const int32_t beam = search->rules.decoding.beam;
    const bool last = search->generated + 1 == search->rules.max_length;
    int32_t live = 0;
    for (int32_t i = 0; i < count && (i < beam || live < beam); i++) {
        const ferry_candidate *candidate = &search->candidates[i];
        if (last || ferry_search_is_eos(search, candidate->id)) {
            if (i < beam) ferry_search_finish(search, candidate->row, candidate->id, candidate->sum);
            continue;
        }
        int32_t *next = search->next_rows + (size_t)live * search->row_size;
        memcpy(next, ferry_search_row(search, candidate->row), (1 + (size_t)search->generated) * sizeof *next);
        next[1 + search->generated] = candidate->id;
        search->next_sums[live] = candidate->sum;
        ids[live] = candidate->id;
        parents[live] = candidate->row;
        live++;
    }
    int32_t *rows = search->rows;
    float *sums = search->sums;
    search->rows = search->next_rows;
    search->sums = search->next_sums;
    search->next_rows = rows;
    search->next_sums = sums;
    search->live = live;
    search->generated++;
}

/* Whether the k finished hypotheses stand, given the best living row's sum. */
static bool is_settled(const ferry_search *search)
{
    const ferry_decoding *decoding = &search->rules.decoding;
    if (search->finished_count < decoding->beam) return false;
    if (decoding->early_stopping == FERRY_EARLY_STOPPING_TRUE) return true;
    const bool longer_may_win = decoding->early_stopping == FERRY_EARLY_STOPPING_NEVER && decoding->length_penalty > 0;
    const int32_t length = longer_may_win ? search->rules.max_length : search->generated;
    return !(ferry_search_score(search, search->sums[0], length) > search->finished[decoding->beam - 1].score);
}

int32_t ferry_beam_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                        int32_t *parents)
{
    const int32_t count = collect(search, kernels, logits);
    if (count == 0) {
        if (search->finished_count == 0) {
            for (int32_t row = 0; row < search->live; row++) ferry_search_finish(search, row, -1, search->sums[row]);
        }
        search->live = 0;
        return 0;
    }
    advance(search, count, ids, parents);
    if (search->live > 0 && is_settled(search)) search->live = 0;
    return search->live;
}
