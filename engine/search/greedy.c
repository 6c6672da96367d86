#include <math.h>

#include "sample.h"
#include "search_state.h"

/* ---- logits are seen ---- */

/* The logit of token `id` before the repetition penalty, which has made it `value`. */
static float value_before_penalty(const ferry_search *search, int32_t row, int32_t id, float value)
{
    const int32_t *ids = search->rows[row].ids;
    if (search->rules.options.repetition_penalty == 1) return value;
    for (int32_t i = 0; i <= search->generated; i++)
        if (ids[i] == id) return search->before_penalty[i];
    return value;
}

static ferry_best best_at(const ferry_search *search, const ferry_logits *part, const float *values, int32_t row,
                          int32_t place)
{
    const int32_t id = ferry_logits_id(part, part->first + place);
    return (ferry_best){values[place], id, value_before_penalty(search, row, id, values[place])};
}

static void keep_largest(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part,
                         const float *values, int32_t row)
{
    ferry_best *best = &search->seen[row].best;
    const int32_t place = kernels->argmax(values, part->count);
    const float value = place >= 0 ? values[place] : INFINITY;
    if (value == INFINITY) search->damaged = true;
    if (search->damaged || !(value > best->value)) return;
    *best = best_at(search, part, values, row, place);
}

/* Of a row whose largest logit is known, instead of it: one that is drawn, or one for each lane. */
static void draw(ferry_search *search, const ferry_logits *row_of, const float *values, int32_t row)
{
    const ferry_search_rules *rules = &search->rules;
    if (search->damaged || search->seen[row].best.id < 0) return;
    const int32_t kept = ferry_sample_keep(&rules->options, values, row_of->count, row_of->order);
    const int32_t first = ferry_search_branches(search) ? 0 : row,
                  last = ferry_search_branches(search) ? search->width : row + 1;
    for (int32_t i = first; i < last; i++) {
        const uint32_t lane = (uint32_t)(ferry_search_branches(search) ? i : search->rows[row].lane);
        const double at = ferry_sample_uniform(rules->options.seed, rules->stream, lane, (uint32_t)search->generated);
        const int32_t place = ferry_sample_choose(&rules->options, values, row_of->order, kept, at);
        search->seen[i].best = best_at(search, row_of, values, row, place);
    }
}

void ferry_greedy_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part, const float *values,
                      int32_t row)
{
    const ferry_options *options = &search->rules.options;
    keep_largest(search, kernels, part, values, row);
    if (options->sample != 0) draw(search, part, values, row);
    if (options->alternatives != 0 && ferry_search_branches(search))
        kernels->add_top(&search->seen[row].top, values, part->count, part->first);
}

/* ---- a step ---- */

/* Row `row` of greedy search goes on with `best` as this lane; where every token is masked, it ends as it is. */
static ferry_candidate choice(const ferry_search *search, int32_t row, int32_t lane, ferry_best best)
{
    const ferry_options *options = &search->rules.options;
    const float value = search->renormalize ? best.value : best.before_penalty;
    const bool counts = best.id >= 0 && options->scores != 0;
    const float score = counts ? value - ferry_log_of_sum(&search->seen[row].log_sum) : 0;
    return (ferry_candidate){search->rows[row].sum + score, score, row, best.id, lane};
}

/* The likeliest tokens after the only row become the choices of the lanes: at least one, all tokens but those that are
 * masked at most. */
static int32_t choose_alternatives(ferry_search *search, const int32_t *words)
{
    const ferry_top *top = &search->seen[0].top;
    int32_t count = 0;
    for (; count < search->width && count < top->count && top->values[count] > -INFINITY; count++) {
        const float value = top->values[count];
        const int32_t id = words != NULL ? words[top->indices[count]] : top->indices[count];
        search->seen[count].best = (ferry_best){value, id, value_before_penalty(search, 0, id, value)};
    }
    return count > 0 ? count : 1;
}

int32_t ferry_greedy_collect(ferry_search *search, const int32_t *words)
{
    const int32_t forced = ferry_search_forced_id(search);
    const bool branch = forced < 0 && ferry_search_branches(search);
    int32_t count = branch ? search->width : search->live;
    if (branch && search->rules.options.alternatives != 0) count = choose_alternatives(search, words);
    for (int32_t i = 0; i < count; i++) {
        const int32_t row = branch ? 0 : i, lane = branch ? i : search->rows[i].lane;
        const float given = ferry_search_given_score(search, row);
        search->candidates[i] = forced >= 0 ? (ferry_candidate){search->rows[row].sum + given, given, row, forced, lane}
                                            : choice(search, row, lane, search->seen[i].best);
    }
    return count;
}
