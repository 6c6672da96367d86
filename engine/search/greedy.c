#include <math.h>

#include "search_state.h"

/* What stood in `column` before the repetition penalty. */
static float value_before_penalty(const ferry_search *search, const ferry_logits *logits, int32_t column)
{
    const int32_t id = ferry_logits_id(logits, column);
    const int32_t *row = ferry_search_row(search, 0);
    for (int32_t i = 0; i <= search->generated; i++) {
        if (row[i] == id) return search->before_penalty[i];
    }
    return logits->values[column];
}

/* The next token and its log-probability; -1 when every token is masked. */
static int32_t choose(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits,
                      float *log_probability)
{
    const ferry_decoding *decoding = &search->rules.decoding;
    float *values = logits->values;
    const bool penalized = decoding->repetition_penalty != 1;
    float normalizer = 0;
    if (!decoding->renormalize) normalizer = kernels->log_sum_exp(values, logits->count);
    if (penalized) ferry_search_penalize(search, logits, values, 0);
    ferry_search_mask(search, logits, values, 0);

    const int32_t column = kernels->argmax(values, logits->count);
    if (values[column] == -INFINITY) return -1;
    float value = values[column];
    if (decoding->renormalize) {
        normalizer = kernels->log_sum_exp(values, logits->count);
    } else if (penalized) {
        value = value_before_penalty(search, logits, column);
    }
    *log_probability = value - normalizer;
    return ferry_logits_id(logits, column);
}

int32_t ferry_greedy_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                          int32_t *parents)
{
    float log_probability = 0;
    int32_t id = ferry_search_forced_id(search);
    if (id < 0) id = choose(search, kernels, logits, &log_probability);
    search->sums[0] += log_probability;
    if (id < 0 || ferry_search_is_eos(search, id) || search->generated + 1 == search->rules.max_length) {
        ferry_search_finish(search, 0, id, search->sums[0]);
        search->live = 0;
        return 0;
    }
    search->generated++;
    ferry_search_row(search, 0)[search->generated] = id;
    ids[0] = id;
    parents[0] = 0;
    return 1;
}
