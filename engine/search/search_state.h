/* What a search is, for search.c (the rules, beam search, the steps) and greedy.c. */
#ifndef FERRY_SEARCH_SEARCH_STATE_H
#define FERRY_SEARCH_SEARCH_STATE_H

#include "search.h"

/* k is the width: options.beam, or of greedy search options.nbest; C the number of candidates that a step considers. */

/* A living row. */
typedef struct ferry_path {
    int32_t *ids;  /* [1 + max_length] start token, generated tokens */
    float *scores; /* [max_length] what each generated token added to the sum */
    float sum;
    int32_t lane; /* of greedy search */
} ferry_path;

typedef struct ferry_candidate {
    float sum;
    float score; /* the token's part of it */
    int32_t row;
    int32_t id;   /* -1: the row as it is */
    int32_t lane; /* of greedy search */
} ferry_candidate;

typedef struct ferry_finished {
    float score;
    float coverage; /* its part that the coverage penalty is */
    int32_t length;
    int32_t *ids;        /* [max_length] */
    float *token_scores; /* [max_length] */
} ferry_finished;

/* The largest of the logits that greedy search has seen, or the one that was drawn. */
typedef struct ferry_best {
    float value; /* after the rules */
    int32_t id;  /* -1: everything is masked */
    float before_penalty;
} ferry_best;

/* What has been seen, since the last step, of the logits that follow a row. */
typedef struct ferry_seen {
    ferry_log_sum log_sum; /* for the normalizer of the scores, if they need one */
    ferry_top top;         /* beam search, alternatives: the best columns, after the rules */
    ferry_best best;       /* greedy search */
} ferry_seen;

struct ferry_search {
    ferry_search_rules rules;
    bool renormalize;  /* the option, or as CTranslate2 always does */
    int32_t forced;    /* tokens at the beginning that are given */
    int32_t generated; /* tokens of every living row */

    int32_t live;
    int32_t width;         /* k */
    ferry_path *rows;      /* [k] */
    ferry_path *next_rows; /* [k] */

    int32_t finished_count;
    int32_t ended;            /* hypotheses that were finished, also those that were not kept */
    int32_t room;             /* for finished hypotheses: k; with a coverage penalty all that can be finished */
    ferry_finished *finished; /* [room]  best first; of greedy search by lane */
    bool covered;             /* scores contain the coverage penalty */

    int32_t places;           /* candidates that may live on or finish: k; Marian: one fewer for every finished one */
    int32_t candidate_factor; /* C = places × this */
    bool best_ended;          /* the best candidate of some step was one that ended */
    bool damaged;             /* a logit was not finite */
    ferry_candidate *candidates; /* [C] */
    ferry_seen *seen;            /* [k], by row; `best` by lane where greedy search branches */
    float *before_penalty;       /* [1 + max_length] */
};

/* The token that must come next, or -1. */
int32_t ferry_search_forced_id(const ferry_search *search);
/* What it adds to the sum of a row. */
float ferry_search_given_score(const ferry_search *search, int32_t row);
/* Whether greedy search, with this step, becomes that of several rows. */
static inline bool ferry_search_branches(const ferry_search *search)
{
    return search->generated == search->forced;
}

/* Keeps of a part of a row, which is at `values`, what greedy search needs. */
void ferry_greedy_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part, const float *values,
                      int32_t row);
/* Sets the candidates to the choices of greedy search, one for each lane, in their order; `words`: ids of the columns,
 * or NULL. Returns how many they are. */
int32_t ferry_greedy_collect(ferry_search *search, const int32_t *words);

#endif
