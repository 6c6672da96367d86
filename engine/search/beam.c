#include <math.h>
#include <string.h>

#include "search_state.h"

/* How many candidates this step considers. */
static int32_t candidate_limit(const ferry_search *search)
{
    return search->places * search->candidate_factor;
}

/* The best tokens after `row` into top_values and top_columns, masked ones left out: returns how many.
 * Value - *normalizer is the log-probability that the rules leave:
 *   with penalty    log-softmax, penalty, masks   (the penalty is defined on log-probabilities; CTranslate2's on
 * logits) renormalize     ... , and the log of what the masks leave else            the log-softmax before the masks:
 * masked tokens keep their share. */
static int32_t row_top(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t row,
                       float *normalizer)
{
    const ferry_decoding *decoding = &search->rules.decoding;
    float *values = logits->values + (size_t)row * logits->ld;
    *normalizer = 0;
    if (decoding->repetition_penalty != 1) {
        if (decoding->policy != FERRY_POLICY_CTRANSLATE2) {
            const float log_sum = kernels->log_sum_exp(values, logits->count);
            for (int32_t c = 0; c < logits->count; c++) values[c] -= log_sum;
        }
        ferry_search_penalize(search, logits, values, row);
    } else if (!decoding->renormalize) {
        *normalizer = kernels->log_sum_exp(values, logits->count);
    }
    ferry_search_mask(search, logits, values, row);

    int32_t count =
        kernels->top(values, logits->count, candidate_limit(search), search->top_values, search->top_columns);
    while (count > 0 && search->top_values[count - 1] == -INFINITY) count--;
    if (decoding->renormalize && count > 0) *normalizer = kernels->log_sum_exp(values, logits->count);
    return count;
}

/* Keeps candidates [count] in descending order, at most K; false when `entry` is not among them. */
static bool insert(ferry_search *search, int32_t *count, ferry_candidate entry)
{
    ferry_candidate *candidates = search->candidates;
    const int32_t limit = candidate_limit(search);
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
            insert(search, &count, (ferry_candidate){search->rows[row].sum, 0, row, forced});
            continue;
        }
        float normalizer;
        const int32_t top = row_top(search, kernels, logits, row, &normalizer);
        for (int32_t i = 0; i < top; i++) {
            const float score = search->top_values[i] - normalizer;
            const int32_t id = ferry_logits_id(logits, search->top_columns[i]);
            if (!insert(search, &count, (ferry_candidate){score + search->rows[row].sum, score, row, id})) break;
        }
    }
    return count;
}

/* `to` becomes the candidate's row with its token behind. */
static void extend(const ferry_search *search, const ferry_candidate *candidate, ferry_path *to)
{
    const ferry_path *from = &search->rows[candidate->row];
    const size_t generated = (size_t)search->generated;
    memcpy(to->ids, from->ids, (1 + generated) * sizeof *to->ids);
    memcpy(to->scores, from->scores, generated * sizeof *to->scores);
    to->ids[1 + generated] = candidate->id;
    to->scores[generated] = candidate->score;
    to->sum = candidate->sum;
}

/* Candidates that end become hypotheses if they are among the first k (a worse one is lost); the best k that do not end
 * become the living rows. k: the places. */
static void advance(ferry_search *search, int32_t count, int32_t *ids, int32_t *parents)
{
    const int32_t places = search->places;
    int32_t live = 0;
    for (int32_t i = 0; i < count && (i < places || live < places); i++) {
        const ferry_candidate *candidate = &search->candidates[i];
        if (ferry_search_ends(search, candidate->id)) {
            if (i < places) ferry_search_finish(search, candidate);
            if (i == 0) search->best_ended = true;
            continue;
        }
        extend(search, candidate, &search->next_rows[live]);
        ids[live] = candidate->id;
        parents[live] = candidate->row;
        live++;
    }
    ferry_path *rows = search->rows;
    search->rows = search->next_rows;
    search->next_rows = rows;
    search->live = live;
    search->generated++;
    if (search->rules.decoding.policy == FERRY_POLICY_MARIAN) search->places = live;
}

/* Whether the hypotheses stand, given the best living row's sum. (Marian's are not k while a row lives.) */
static bool is_settled(const ferry_search *search)
{
    const ferry_decoding *decoding = &search->rules.decoding;
    const bool ctranslate2 = decoding->policy == FERRY_POLICY_CTRANSLATE2;
    if (ctranslate2 && decoding->length_penalty == 0)
        return search->best_ended && search->finished_count >= search->rules.nbest;
    if (search->finished_count < decoding->beam) return false;
    if (ctranslate2 || decoding->early_stopping == FERRY_EARLY_STOPPING_TRUE) return true;
    const bool longer_may_win = decoding->early_stopping == FERRY_EARLY_STOPPING_NEVER && decoding->length_penalty > 0;
    const int32_t length = longer_may_win ? search->rules.max_length : search->generated;
    return !(ferry_search_score(search, search->rows[0].sum, length) > search->finished[decoding->beam - 1].score);
}

int32_t ferry_beam_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                        int32_t *parents)
{
    const int32_t count = collect(search, kernels, logits);
    if (count == 0) {
        if (search->finished_count == 0) {
            for (int32_t row = 0; row < search->live; row++)
                ferry_search_finish(search, &(ferry_candidate){search->rows[row].sum, 0, row, -1});
        }
        search->live = 0;
        return 0;
    }
    advance(search, count, ids, parents);
    if (search->live > 0 && is_settled(search)) search->live = 0;
    return search->live;
}
