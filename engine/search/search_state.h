/* The state of one search, for the files of this folder. k is options.beam, C the number of candidates that a step
 * considers. */
#ifndef FERRY_SEARCH_SEARCH_STATE_H
#define FERRY_SEARCH_SEARCH_STATE_H

#include <stdbool.h>

#include "search.h"

/* A living row. */
typedef struct ferry_path {
    int32_t *ids;  /* [1 + max_length] start token, generated tokens */
    float *scores; /* [max_length] what each generated token added to the sum */
    float sum;
} ferry_path;

typedef struct ferry_candidate {
    float sum;
    float score; /* the token's part of it */
    int32_t row;
    int32_t id; /* -1: the row as it is */
} ferry_candidate;

typedef struct ferry_finished {
    float score;
    int32_t length;
    int32_t *ids;        /* [max_length] */
    float *token_scores; /* [max_length] */
} ferry_finished;

/* The largest of the logits that greedy search has seen. */
typedef struct ferry_best {
    float value; /* after the rules */
    int32_t id;  /* -1: everything is masked */
    float before_penalty;
} ferry_best;

/* What has been seen, since the last step, of the logits that follow a row. */
typedef struct ferry_seen {
    ferry_log_sum log_sum; /* for the normalizer of the scores, if they need one */
    ferry_top top;         /* beam search, and coarse logits: the best columns, after the rules */
    ferry_best best;       /* greedy search */
} ferry_seen;

struct ferry_search {
    ferry_search_rules rules;
    int32_t generated; /* tokens of every living row */

    int32_t live;
    ferry_path *rows;      /* [k] */
    ferry_path *next_rows; /* [k] */

    int32_t finished_count;
    ferry_finished *finished; /* [k]  best first */

    int32_t places;           /* candidates that may live on or finish: k; Marian: one fewer for every finished one */
    int32_t candidate_factor; /* C = places × this */
    bool best_ended;          /* the best candidate of some step was one that ended */
    ferry_candidate *candidates; /* [C] */
    ferry_seen *seen;            /* [k], by row */
    float *before_penalty;       /* [1 + max_length] */
};

/* How many candidates this step considers. */
static inline int32_t ferry_search_candidates(const ferry_search *search)
{
    return search->places * search->candidate_factor;
}
/* The token that must come next, or -1. */
int32_t ferry_search_forced_id(const ferry_search *search);
/* Whether token `id`, coming next, is the last one. */
bool ferry_search_ends(const ferry_search *search, int32_t id);
/* (sum - word_penalty·n) / n^length_penalty */
float ferry_search_score(const ferry_search *search, float sum, int32_t n);
/* The repetition penalty and the masks, on the logits that follow `row`. */
void ferry_search_penalize(ferry_search *search, const ferry_logits *logits, float *values, int32_t row);
void ferry_search_mask(const ferry_search *search, const ferry_logits *logits, float *values, int32_t row);
/* Offers a candidate to the finished hypotheses; the k best stay. */
void ferry_search_finish(ferry_search *search, const ferry_candidate *candidate);

/* Greedy and beam search: to see a part, and to step when everything has been seen (ferry_search_see, _step). */
void ferry_greedy_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part);
void ferry_beam_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part);
int32_t ferry_greedy_step(ferry_search *search, int32_t *ids, int32_t *parents);
/* `words`: the last part's ids. */
int32_t ferry_beam_step(ferry_search *search, const int32_t *words, int32_t *ids, int32_t *parents);

#endif
