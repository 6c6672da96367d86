#include <math.h>
#include <string.h>

#include "search_state.h"

/* Whether the penalty applies to log-probabilities, which only a whole row gives. (CTranslate2's applies to logits.) */
static bool penalizes_probabilities(const ferry_options *options)
{
    return options->repetition_penalty != 1 && options->policy != FERRY_POLICY_CTRANSLATE2;
}

static void log_softmax(const ferry_kernels *kernels, float *values, int32_t count)
{
    ferry_log_sum total = FERRY_LOG_SUM_ZERO;
    kernels->add_exp(&total, values, count);
    const float log_sum = ferry_log_of_sum(&total);
    for (int32_t c = 0; c < count; c++) values[c] -= log_sum;
}

/* The rules leave a token the log-probability value - normalizer:
 *   with penalty   log-softmax, penalty, masks
 *   renormalize    ... , and the log of what the masks leave
 *   else           the log-softmax before the masks: masked tokens keep their share. */
static void see_row(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part, int32_t row)
{
    const ferry_options *options = &search->rules.options;
    ferry_seen *seen = &search->seen[row];
    float *values = part->values + (size_t)row * part->ld;
    if (penalizes_probabilities(options))
        log_softmax(kernels, values, part->count);
    else if (!options->renormalize)
        kernels->add_exp(&seen->log_sum, values, part->count);
    if (options->repetition_penalty != 1) ferry_search_penalize(search, part, values, row);
    ferry_search_mask(search, part, values, row);
    if (options->renormalize) kernels->add_exp(&seen->log_sum, values, part->count);
    kernels->add_top(&seen->top, values, part->count, part->first);
}

void ferry_beam_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part)
{
    for (int32_t row = 0; row < search->live; row++) see_row(search, kernels, part, row);
}

static float normalizer(const ferry_search *search, int32_t row)
{
    const ferry_options *options = &search->rules.options;
    if (penalizes_probabilities(options) && !options->renormalize) return 0;
    return ferry_log_of_sum(&search->seen[row].log_sum);
}

/* Keeps candidates [count] in descending order, at most C; false if `entry` is not among them. */
static bool insert(ferry_search *search, int32_t *count, ferry_candidate entry)
{
    ferry_candidate *candidates = search->candidates;
    const int32_t limit = ferry_search_candidates(search);
    if (*count == limit && !(entry.sum > candidates[limit - 1].sum)) return false;
    int32_t at = *count < limit ? (*count)++ : limit - 1;
    for (; at > 0 && entry.sum > candidates[at - 1].sum; at--) candidates[at] = candidates[at - 1];
    candidates[at] = entry;
    return true;
}

/* The best continuations of all rows: at most C, in descending order of their sums. Masked tokens are not candidates.
 */
static int32_t collect(ferry_search *search, const int32_t *words)
{
    const int32_t forced = ferry_search_forced_id(search);
    int32_t count = 0;
    for (int32_t row = 0; row < search->live; row++) {
        const float sum = search->rows[row].sum;
        if (forced >= 0) {
            insert(search, &count, (ferry_candidate){sum, 0, row, forced});
            continue;
        }
        const ferry_top *top = &search->seen[row].top;
        const float log_sum = normalizer(search, row);
        for (int32_t i = 0; i < top->count && top->values[i] > -INFINITY; i++) {
            const float score = top->values[i] - log_sum;
            const int32_t id = words != NULL ? words[top->indices[i]] : top->indices[i];
            if (!insert(search, &count, (ferry_candidate){score + sum, score, row, id})) break;
        }
    }
    return count;
}

/* `to` becomes the candidate's row, followed by its token. */
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
    if (search->rules.options.policy == FERRY_POLICY_MARIAN) search->places = live;
}

/* Whether the hypotheses are final, given the best living row's sum. (Marian's are fewer than k while a row lives.) */
static bool is_settled(const ferry_search *search)
{
    const ferry_options *options = &search->rules.options;
    const bool ctranslate2 = options->policy == FERRY_POLICY_CTRANSLATE2;
    if (ctranslate2 && options->length_penalty == 0)
        return search->best_ended && search->finished_count >= search->rules.options.nbest;
    if (search->finished_count < options->beam) return false;
    if (ctranslate2 || options->early_stopping == FERRY_EARLY_STOPPING_TRUE) return true;
    const bool longer_may_win = options->early_stopping == FERRY_EARLY_STOPPING_NEVER && options->length_penalty > 0;
    const int32_t length = longer_may_win ? search->rules.options.max_length : search->generated;
    return !(ferry_search_score(search, search->rows[0].sum, length) > search->finished[options->beam - 1].score);
}

int32_t ferry_beam_step(ferry_search *search, const int32_t *words, int32_t *ids, int32_t *parents)
{
    const int32_t count = collect(search, words);
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
