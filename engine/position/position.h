/* The seam of the positional encodings.
 *
 * A scheme is a constant struct of hooks, found by name; any hook may be NULL. A bound scheme (parameters, weights,
 * derived tables) exists for each self-attention stack; it is immutable and shared by threads. What grows with length
 * (rows by position) is a position state and belongs to one thread. Cross-attention has no position.
 *
 * Attention's order: project, rotate, append k and v, scale q, q·kᵀ, score, mask, softmax, ·v, context, output
 * projection. Promises of every hook: a row's result depends on that row, its keys and its position alone, summed in
 * ascending key order; no allocation but in extend. */
#ifndef FERRY_POSITION_POSITION_H
#define FERRY_POSITION_POSITION_H

#include "base/bytes.h"
#include "base/status.h"
#include "engine/kernels/kernels.h"

/* The stack that a scheme serves. */
typedef struct ferry_position_stack {
    int32_t layers;
    int32_t d_model;    /* D */
    int32_t heads;      /* H */
    int32_t head_width; /* K */
    bool causal;        /* decoder */
} ferry_position_stack;

/* Where bind finds parameters and weights: the model file, seen through one stack. Names are those of
 * docs/model-file.md below `position.`. */
typedef struct ferry_position_source {
    void *user;
    /* false when there is no such parameter, or not of that type. */
    bool (*text)(void *user, const char *key, ferry_view *value);
    bool (*integer)(void *user, const char *key, int64_t *value);
    bool (*real)(void *user, const char *key, double *value);
    /* A float32 tensor of exactly this shape (slowest first); `layer` -1: one for the stack. It outlives the bound
     * scheme. */
    ferry_status (*tensor)(void *user, const char *name, int32_t layer, int32_t dims, const int64_t *shape,
                           const float **data, ferry_error *error);
} ferry_position_source;

typedef struct ferry_position_scheme ferry_position_scheme;

/* A bound scheme. */
typedef struct ferry_position {
    const ferry_position_scheme *scheme;
    ferry_position_stack stack;
    int32_t limit;    /* positions that can be represented; 0: any number */
    void *parameters; /* the scheme's own, one allocation by bind, freed by ferry_position_unbind */
} ferry_position;

/* Rows by position that one thread has prepared. Zeroed: empty. */
typedef struct ferry_position_state {
    float *rows;      /* [count, D] */
    int32_t count;    /* prepared */
    int32_t capacity; /* allocated */
} ferry_position_state;

/* One sentence or hypothesis, one layer, one head. Queries at positions first … first + queries - 1, keys 0 … keys - 1.
 */
typedef struct ferry_position_tile {
    int32_t layer, head;
    int32_t first, queries, keys;
    const float *q; /* [queries, K] with ldq, already scaled */
    size_t ldq;
    ferry_past past; /* the keys of this head */
    float *scores;   /* [queries, keys] with ld_scores: scores, after the softmax weights */
    size_t ld_scores;
    float *context; /* [queries, K] with ld_context; set for the context hook only */
    size_t ld_context;
    float *scratch; /* ferry_position_scratch floats, 64-byte aligned; of no meaning between hooks */
} ferry_position_tile;

/* A parameter as bind asks for it: a text, or a number. */
typedef struct ferry_position_parameter {
    const char *key;  /* NULL ends a list */
    const char *text; /* NULL: a number */
    double number;
} ferry_position_parameter;

/* What an encoding costs, for people. Zeroed: nothing. */
typedef struct ferry_position_cost {
    int64_t model_bytes;    /* tables and weights, shared by all threads */
    int64_t position_bytes; /* rows by position: for each position that a thread has prepared */
    /* Multiply-adds that all layers and heads together add to a step of the decoder (encoder: to a token): once, and
     * for each key that the step sees. */
    int64_t token_operations;
    int64_t key_operations;
} ferry_position_cost;

struct ferry_position_scheme {
    const char *name; /* as in the model file */
    /* What a model without a file uses (measurements, pictures): usual choices of the literature. NULL: none. */
    const ferry_position_parameter *usual;
    /* Once, at load: checks parameters and shapes, derives what depends on weights alone (products by `kernels`). */
    ferry_status (*bind)(ferry_position *position, const ferry_position_source *source, const ferry_kernels *kernels,
                         ferry_error *error);
    /* Makes rows for positions 0 … count - 1 exist. Amortized; called before a sentence and then once per step. */
    ferry_status (*extend)(const ferry_position *position, ferry_position_state *state, const ferry_kernels *kernels,
                           int32_t count, ferry_error *error);
    /* Adds to `count` scaled embedding rows x [count, D] that stand at positions first, first + 1, … */
    void (*embed)(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  float *x, int32_t first, int32_t count);
    /* Changes projected queries or keys x [count, H·K] in place, before k enters the cache. */
    void (*rotate)(const ferry_position *position, const ferry_position_state *state, float *x, int32_t first,
                   int32_t count);
    /* Replaces 1/√K as the factor of q. */
    float (*score_scale)(const ferry_position *position);
    /* Floats of tile->scratch that score and context need; never less for more queries or keys. */
    size_t (*scratch)(const ferry_position *position, int32_t queries, int32_t keys);
    /* Adds to tile->scores. q arrives scaled: a term built from q is added as it is. The mask comes after. */
    void (*score)(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  const ferry_position_tile *tile);
    /* Adds to tile->context from the weights in tile->scores. */
    void (*context)(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                    const ferry_position_tile *tile);
    /* Fills the zeroed *cost. */
    void (*cost)(const ferry_position *position, ferry_position_cost *cost);
};

/* NULL when there is no such scheme. */
const ferry_position_scheme *ferry_position_find(ferry_view name);
/* Scheme `index` of all that this build has, from 0; NULL behind the last. */
const ferry_position_scheme *ferry_position_at(size_t index);

/* Finds the scheme `name` and binds it. *position is filled on success; unbind it. Errors: UNSUPPORTED (unknown
 * scheme), FORMAT (bad parameters), MEMORY, and those of source->tensor. */
ferry_status ferry_position_bind(ferry_view name, const ferry_position_stack *stack,
                                 const ferry_position_source *source, const ferry_kernels *kernels,
                                 ferry_position *position, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_position_unbind(ferry_position *position);

/* scheme->extend, if any; refuses lengths beyond position->limit (FERRY_ERROR_LIMIT, naming the limit). */
ferry_status ferry_position_extend(const ferry_position *position, ferry_position_state *state,
                                   const ferry_kernels *kernels, int32_t count, ferry_error *error);
/* scheme->scratch, if any. */
size_t ferry_position_scratch(const ferry_position *position, int32_t queries, int32_t keys);
void ferry_position_state_destroy(ferry_position_state *state);
/* For a scheme's bind: the text parameter `key` is `a` (0), `b` (1), or something else or absent (-1). */
int ferry_position_choice(const ferry_position_source *source, const char *key, const char *a, const char *b);
/* For a scheme's extend: room for `count` rows of `width` floats, 64-byte aligned; prepared rows are kept. */
ferry_status ferry_position_state_reserve(ferry_position_state *state, int32_t count, int32_t width,
                                          ferry_error *error);

#endif
