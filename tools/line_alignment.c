#include "line_alignment.h"

#include <stdlib.h>

#include "command.h"

/* Weight of source token `source` for target token `target`; 0 for those of other parts of a line. */
static float weight(const ferry_aligned *a, size_t target, size_t source)
{
    size_t first, count;
    const float *weights = ferry_result_weights(a->result, a->line, a->hypothesis, target, &first, &count);
    return weights != NULL && source >= first && source - first < count ? weights[source - first] : 0;
}

/* The first of the source tokens with the largest weight. */
static size_t likeliest(const ferry_aligned *a, size_t target)
{
    size_t first, count, best = 0;
    const float *weights = ferry_result_weights(a->result, a->line, a->hypothesis, target, &first, &count);
    for (size_t s = 1; s < count; s++)
        if (weights[s] > weights[best]) best = s;
    return first + best;
}

typedef struct pair {
    size_t source, target;
} pair;

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

/* The pair of each target token, sorted; the caller frees it. NULL, after a message, if there is no memory. */
static pair *list_pairs(const ferry_aligned *a, size_t count)
{
    pair *pairs = ferry_allocate(count + 1, sizeof *pairs);
    if (pairs == NULL) return NULL;
    for (size_t t = 0; t < count; t++) pairs[t] = (pair){likeliest(a, t), t};
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    return pairs;
}

bool ferry_alignment_write(FILE *out, const ferry_aligned *aligned, ferry_alignment_form form)
{
    const size_t S = ferry_result_source_token_count(aligned->result, aligned->line);
    const size_t T = ferry_result_token_count(aligned->result, aligned->line, aligned->hypothesis);
    if (form == FERRY_ALIGNMENT_SOFT) {
        for (size_t t = 0; t < T; t++)
            for (size_t s = 0; s < S; s++)
                fprintf(out, "%s%.6g", s > 0 ? "," : t > 0 ? " " : "", (double)weight(aligned, t, s));
        return true;
    }
    pair *pairs = list_pairs(aligned, T);
    const bool listed = pairs != NULL;
    for (size_t t = 0; listed && t < T; t++)
        fprintf(out, "%s%zu-%zu", t > 0 ? " " : "", pairs[t].source, pairs[t].target);
    free(pairs);
    return listed;
}

static void put_weights(ferry_json_writer *json, const ferry_aligned *aligned, size_t S, size_t T)
{
    for (size_t t = 0; t < T; t++) {
        ferry_put_begin(json, NULL, '[');
        for (size_t s = 0; s < S; s++) ferry_put_float(json, NULL, weight(aligned, t, s));
        ferry_put_end(json, ']');
    }
}

static bool put_pairs(ferry_json_writer *json, const ferry_aligned *aligned, size_t T)
{
    pair *pairs = list_pairs(aligned, T);
    const bool listed = pairs != NULL;
    for (size_t t = 0; listed && t < T; t++) {
        ferry_put_begin(json, NULL, '[');
        ferry_put_number(json, NULL, (double)pairs[t].source);
        ferry_put_number(json, NULL, (double)pairs[t].target);
        ferry_put_end(json, ']');
    }
    free(pairs);
    return listed;
}

bool ferry_alignment_put(ferry_json_writer *json, const char *key, const ferry_aligned *aligned,
                         ferry_alignment_form form)
{
    bool done = true;
    const size_t S = ferry_result_source_token_count(aligned->result, aligned->line);
    const size_t T = ferry_result_token_count(aligned->result, aligned->line, aligned->hypothesis);
    ferry_put_begin(json, key, '[');
    if (form == FERRY_ALIGNMENT_SOFT)
        put_weights(json, aligned, S, T);
    else
        done = put_pairs(json, aligned, T);
    ferry_put_end(json, ']');
    return done;
}
