/* A network made of numbers, and what a search yields on it. For the tests of engine/search. */
#ifndef FERRY_TESTS_SCRIPTED_H
#define FERRY_TESTS_SCRIPTED_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/search/search.h"
#include "tests/support/test.h"

enum { MAX_VOCAB = 16, MAX_BEAM = 6, MAX_TOKENS = 16, MAX_CANDIDATES = 4 * MAX_BEAM, SOURCE_IDS = 3 };

/* Whether ids [count] hold `id`. */
bool occurs(const int32_t *ids, int32_t count, int32_t id);
/* Whether the last g tokens of ids [length] followed by `id` occur in ids. */
bool repeats(const int32_t *ids, int32_t length, int32_t g, int32_t id);

float plain_log_sum_exp(const float *x, int32_t n);
int32_t plain_argmax(const float *x, int32_t n);
/* Nothing where all are -INFINITY. */
void log_softmax(float *row, int32_t vocab);

extern const ferry_kernels normalizing;
/* For tables of log-probabilities that stand for rows with many more, negligible, columns: every sum is 1. */
extern const ferry_kernels as_given;

typedef struct scripted {
    /* The row [vocab] that follows prefix [n], without the start token. */
    void (*row)(const struct scripted *network, const int32_t *prefix, int32_t n, float *row);
    int32_t vocab;
    const ferry_kernels *kernels;
    const float *table;     /* for table_row */
    uint64_t seed;          /* for random_row */
    bool coarse;            /* few distinct values, so that many are equal */
    uint32_t columns;       /* shortlist: bit i says that token i has a column; 0: all */
    int32_t part;           /* columns that the search sees at once, where it takes parts; 0: all */
    const float *attention; /* [vocab, SOURCE_IDS] weights of cross-attention where a token is chosen, for a coverage
                               penalty */
} scripted;

/* table [steps, vocab]: what follows n tokens, whichever they are. */
void table_row(const scripted *network, const int32_t *prefix, int32_t n, float *row);
void random_row(const scripted *network, const int32_t *prefix, int32_t n, float *row);

uint64_t mix(uint64_t x);
/* 0 … n - 1, of the generator that seed_random starts. */
void seed_random(uint64_t seed);
int32_t random_below(int32_t n);

typedef struct outcome {
    int32_t steps;
    int32_t count;
    int32_t length[MAX_BEAM];
    int32_t ids[MAX_BEAM][MAX_TOKENS];
    float token_scores[MAX_BEAM][MAX_TOKENS];
    float score[MAX_BEAM];
} outcome;

/* Greedy or beam search for the Hugging Face policy: eos 0, length penalty 1, no other rule, a start token that no
 * vocabulary has. options.search is `scripted_search`, which plain_rules resets. */
extern ferry_search_options scripted_search;
ferry_search_rules plain_rules(int32_t beam, int32_t max_length);
/* Runs a search as a decoder would: it follows ids and parents, and knows nothing else. The scores of every hypothesis'
 * tokens must add up to its sum. */
outcome run_scripted(const ferry_search_rules *rules, const scripted *network);

/* What a search has to find: a hypothesis, its score, tokens, their number. */
typedef struct finding {
    double score;
    int32_t length;
    int32_t ids[MAX_TOKENS];
} finding;
#define FOUND(score, ...)                                                                                              \
    {                                                                                                                  \
        score, (int32_t)(sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t)),                                            \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

/* Runs a search: it finds these, best first, and no others. */
void expect_all(const ferry_search_rules *rules, const scripted *network, const finding *findings, int32_t count);
#define EXPECT_ALL(rules, network, ...)                                                                                \
    expect_all(rules, network, (const finding[]){__VA_ARGS__},                                                         \
               (int32_t)(sizeof((const finding[]){__VA_ARGS__}) / sizeof(finding)))
/* Equal hypotheses; scores but for rounding. */
void compare(const outcome *a, const outcome *b);

#endif
