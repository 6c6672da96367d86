#include <math.h>

#include "search_state.h"

/* The logit of token `id` before the repetition penalty, which has made it `value`. */
static float value_before_penalty(const ferry_search *search, int32_t id, float value)
{
    const int32_t *row = search->rows[0].ids;
    for (int32_t i = 0; i <= search->generated; i++) {
        if (row[i] == id) return search->before_penalty[i];
    }
    return value;
}

void ferry_greedy_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part)
{
    const ferry_options *options = &search->rules.options;
    const bool penalized = options->repetition_penalty != 1, scored = search->rules.options.scores != 0;
    ferry_seen *seen = &search->seen[0];
    if (scored && !options->renormalize) kernels->add_exp(&seen->log_sum, part->values, part->count);
    if (penalized) ferry_search_penalize(search, part, part->values, 0);
    ferry_search_mask(search, part, part->values, 0);
    if (scored && options->renormalize) kernels->add_exp(&seen->log_sum, part->values, part->count);
    const int32_t place = kernels->argmax(part->values, part->count);
    const float value = part->values[place];
    if (!(value > seen->best.value)) return;
    const int32_t id = ferry_logits_id(part, part->first + place);
    seen->best = (ferry_best){
        .value = value,
        .id = id,
        .before_penalty = penalized ? value_before_penalty(search, id, value) : value,
    };
}

/* The best token seen, and its log-probability; -1 if every token is masked. */
static int32_t choose(const ferry_search *search, float *log_probability)
{
    const ferry_seen *seen = &search->seen[0];
    const ferry_best *best = &seen->best;
    const float value = search->rules.options.renormalize ? best->value : best->before_penalty;
    if (search->rules.options.scores != 0 && best->id >= 0) *log_probability = value - ferry_log_of_sum(&seen->log_sum);
    return best->id;
}

int32_t ferry_greedy_step(ferry_search *search, int32_t *ids, int32_t *parents)
{
    ferry_path *row = &search->rows[0];
    float log_probability = 0;
    int32_t id = ferry_search_forced_id(search);
    if (id < 0) id = choose(search, &log_probability);
    row->sum += log_probability;
    if (id < 0 || ferry_search_ends(search, id)) {
        ferry_search_finish(search, &(ferry_candidate){row->sum, log_probability, 0, id});
        search->live = 0;
        return 0;
    }
    row->scores[search->generated++] = log_probability;
    row->ids[search->generated] = id;
    ids[0] = id;
    parents[0] = 0;
    return 1;
}
