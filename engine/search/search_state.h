/* What one search holds, for the files of this folder. k is decoding.beam; K how many candidates a step considers. */
#ifndef FERRY_SEARCH_SEARCH_STATE_H
#define FERRY_SEARCH_SEARCH_STATE_H

#include <stdbool.h>

#include "search.h"

typedef struct ferry_candidate {
    float sum;
    int32_t row;
    int32_t id;
} ferry_candidate;

typedef struct ferry_finished {
    float score;
    int32_t length;
    int32_t *ids; /* [max_length] */
} ferry_finished;

struct ferry_search {
    ferry_search_rules rules;
    int32_t generated; /* tokens of every living row */

    int32_t live;
    size_t row_size;    /* 1 + max_length */
    int32_t *rows;      /* [k, row_size]  start token, generated tokens */
    int32_t *next_rows; /* [k, row_size] */
    float *sums;        /* [k] */
    float *next_sums;   /* [k] */

    int32_t finished_count;
    ferry_finished *finished; /* [k]  best first */

    int32_t candidate_limit;     /* K */
    ferry_candidate *candidates; /* [K] */
    float *top_values;           /* [K] */
    int32_t *top_columns;        /* [K] */
    float *before_penalty;       /* [row_size] */
};

static inline int32_t *ferry_search_row(const ferry_search *search, int32_t row)
{
    return search->rows + (size_t)row * search->row_size;
}

bool ferry_search_is_eos(const ferry_search *search, int32_t id);
/* The token that must come next, or -1. */
int32_t ferry_search_forced_id(const ferry_search *search);
/* sum / n^length_penalty */
float ferry_search_score(const ferry_search *search, float sum, int32_t n);
/* The repetition penalty and the masks, on the logits that follow `row`. */
void ferry_search_penalize(ferry_search *search, const ferry_logits *logits, float *values, int32_t row);
void ferry_search_mask(const ferry_search *search, const ferry_logits *logits, float *values, int32_t row);
/* Offers `row`, with token `id` behind it (-1: as it is), to the finished hypotheses; the k best stay. */
void ferry_search_finish(ferry_search *search, int32_t row, int32_t id, float sum);

/* The two ways to step; contracts as ferry_search_step. */
int32_t ferry_greedy_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                          int32_t *parents);
int32_t ferry_beam_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                        int32_t *parents);

#endif
