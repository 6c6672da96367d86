#include <math.h>

#include "search_state.h"

static const ferry_best NOTHING = {.value = -INFINITY, .id = -1};

/* What stood in `column` before the repetition penalty. */
static float value_before_penalty(const ferry_search *search, const ferry_logits *logits, int32_t column)
{
    const int32_t id = ferry_logits_id(logits, column);
    const int32_t *row = search->rows[0].ids;
    for (int32_t i = 0; i <= search->generated; i++) {
        if (row[i] == id) return search->before_penalty[i];
    }
    return logits->values[column];
}

void ferry_greedy_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part)
{
    const bool penalized = search->rules.decoding.repetition_penalty != 1;
    if (penalized) ferry_search_penalize(search, part, part->values, 0);
    ferry_search_mask(search, part, part->values, 0);
    const int32_t column = kernels->argmax(part->values, part->count);
    const float value = part->values[column];
    if (!(value > search->best.value)) return;
    search->best = (ferry_best){
        .value = value,
        .id = ferry_logits_id(part, column),
        .before_penalty = penalized ? value_before_penalty(search, part, column) : value,
    };
}

/* The next token and its log-probability, of logits that end with this part; -1 when every token is masked. */
static int32_t choose(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits,
                      float *log_probability)
{
    const bool renormalize = search->rules.decoding.renormalize, scored = !search->rules.skip_scores;
    float normalizer = 0;
    if (scored && !renormalize) normalizer = kernels->log_sum_exp(logits->values, logits->count);
    ferry_greedy_see(search, kernels, logits);
    const ferry_best best = search->best;
    search->best = NOTHING;
    if (scored && best.id >= 0) {
        if (renormalize) normalizer = kernels->log_sum_exp(logits->values, logits->count);
        *log_probability = (renormalize ? best.value : best.before_penalty) - normalizer;
    }
    return best.id;
}

int32_t ferry_greedy_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                          int32_t *parents)
{
    ferry_path *row = &search->rows[0];
    float log_probability = 0;
    int32_t id = ferry_search_forced_id(search);
    if (id < 0)
        id = choose(search, kernels, logits, &log_probability);
    else
        search->best = NOTHING;
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
