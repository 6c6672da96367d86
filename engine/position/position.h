/* The interface of the positional encodings.
 *
 * A scheme is a constant struct: its parameters and tensors as data, and hooks, any of which may be NULL. A bound
 * scheme (parameters, weights, derived tables) exists for each self-attention stack; it is immutable and shared by
 * threads. What grows with the length of the text (rows by position) is a position state and belongs to one thread.
 * Cross-attention has no positions.
 *
 * Attention's order: project, rotate, append k and v, scale q, q·kᵀ, score, mask, softmax, ·v, context, output
 * projection. Every hook guarantees: a row's result depends on that row, its keys and its position alone, summed in
 * ascending key order; no allocation. */
#ifndef FERRY_POSITION_POSITION_H
#define FERRY_POSITION_POSITION_H

#include "base/bytes.h"
#include "base/memory.h"
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

typedef struct ferry_position_parameter ferry_position_parameter;
typedef struct ferry_position_tensor ferry_position_tensor;

/* Where parameters and tensors come from: the model file, seen through one stack. Names are those of
 * docs/model-file.md below `position.`. */
typedef struct ferry_position_source {
    void *user;
    /* Whether there is such a parameter, of whatever type: its value becomes *text, of a choice, or *number. If it is
     * of another type than declared, nothing is set. NULL: a model without a file, whose parameters have their usual
     * values.
     */
    bool (*parameter)(void *user, const ferry_position_parameter *declared, ferry_view *text, double *number);
    /* A float32 tensor of exactly this shape (slowest first); `layer` -1: one for the stack. It outlives the bound
     * scheme. */
    ferry_status (*tensor)(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                           const int64_t *shape, const float **data, ferry_error *error);
} ferry_position_source;

/* ---- what a scheme declares ---- */

enum { FERRY_POSITION_MAX_PARAMETERS = 9, FERRY_POSITION_MAX_CHOICES = 4, FERRY_POSITION_MAX_TENSORS = 6 };

typedef enum ferry_position_kind {
    FERRY_POSITION_CHOICE,  /* a text, one of `choices` */
    FERRY_POSITION_INTEGER, /* least … most */
    FERRY_POSITION_REAL     /* above `least`, at most `most` */
} ferry_position_kind;

/* Limits and sizes are expressions: numbers, D, H, K, `layers`, `directions` (2 in the encoder, 1 in the decoder) and
 * integer parameters declared before, joined by * / + and computed from left to right; / rounds down. */
struct ferry_position_parameter {
    const char *key; /* NULL ends a list */
    ferry_position_kind kind;
    const char *choices[FERRY_POSITION_MAX_CHOICES + 1]; /* NULL ends them */
    const char *least, *most;
    bool even;           /* odd integers are refused */
    const char *unit;    /* what a message calls the number; NULL: "number" */
    const char *missing; /* value when the model file lacks the parameter; NULL: it is required */
    const char *usual;   /* value in a model without a file (measurements, plots); NULL: `missing` */
    /* The parameter exists if this choice, which is declared before, has index `from` or a higher one; otherwise its
     * value is 1. NULL: it always exists */
    const char *when;
    int32_t from;
    /* The word of a choice in ferry.features ("word:choice"). The first choice has none, and is not written or shown.
     */
    const char *word;
};

typedef enum ferry_position_numbers {
    FERRY_POSITION_ANY,         /* not checked */
    FERRY_POSITION_FINITE,      /* others are refused */
    FERRY_POSITION_NOT_NEGATIVE /* finite and at least 0 */
} ferry_position_numbers;

struct ferry_position_tensor {
    const char *name;  /* NULL ends a list */
    const char *shape; /* one or two sizes: "2*clip+1, K" */
    bool per_layer;    /* otherwise one for the stack */
    const char *when;  /* "slopes=given": exists only with this choice; NULL: always */
    bool kept;         /* hooks read it; otherwise bind alone does */
    ferry_position_numbers numbers;
    /* In a model without a file the numbers are random: uniform from `usual_least` to `usual_most`, or, if both are 0,
     * of mean 0 and variance 1/columns. */
    float usual_least, usual_most;
};

typedef struct ferry_position_scheme ferry_position_scheme;

/* ---- what a scheme becomes ---- */

/* A bound scheme. */
typedef struct ferry_position {
    const ferry_position_scheme *scheme;
    ferry_position_stack stack;
    int32_t limit; /* positions that can be represented; 0: any number */
    /* In the order of scheme->parameters: the index of a choice, or the number. */
    double values[FERRY_POSITION_MAX_PARAMETERS];
    /* In the order of scheme->tensors: those of the stack; NULL where the condition is not met. */
    const float *tensors[FERRY_POSITION_MAX_TENSORS];
    void *derived;        /* the scheme's own, one allocation by bind, freed by ferry_position_unbind */
    size_t derived_bytes; /* of its tables, for reports */
} ferry_position;

/* What else bind needs: the tensors of layers, and kernels for products. */
typedef struct ferry_position_binding {
    const ferry_position_source *source;
    const ferry_kernels *kernels;
} ferry_position_binding;

/* Rows by position that one thread has computed. Zeroed: empty. */
typedef struct ferry_position_state {
    float *rows;      /* [count, row] */
    int32_t count;    /* computed */
    int32_t capacity; /* allocated */
    size_t bytes;
    ferry_account *account; /* where they are counted; NULL: nowhere */
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
    float *scratch; /* ferry_position_scratch floats, 64-byte aligned; undefined between hooks */
    const ferry_position_state *state;
    const ferry_kernels *kernels;
} ferry_position_tile;

/* What an encoding costs, for reports. */
typedef struct ferry_position_cost {
    int64_t model_bytes;    /* tables and weights, shared by all threads */
    int64_t position_bytes; /* rows by position: for each position that a thread has filled */
    int64_t token_operations, key_operations;
} ferry_position_cost;

struct ferry_position_scheme {
    const char *name;                           /* as in the model file */
    const char *title, *paper;                  /* for readers: "RoPE", "Su et al. 2021"; NULL: the name, none */
    bool for_long_texts;                        /* the paper promises quality at lengths beyond those in training */
    const ferry_position_parameter *parameters; /* NULL: none */
    const ferry_position_tensor *tensors;       /* NULL: none */
    bool pairs;                                 /* refuses an odd D */
    const char *limit;                          /* expression of position->limit; NULL: any number of positions */
    /* Once, when the model is opened, with everything else in *position: takes the tensors of layers and derives what
     * depends on weights alone. */
    ferry_status (*bind)(ferry_position *position, const ferry_position_binding *binding, ferry_error *error);
    /* What is computed for each position: a row of `row` floats (an expression). Fills rows[first … end - 1]; first and
     * end are multiples of FERRY_LANES. */
    const char *row;
    void (*fill)(const ferry_position *position, const ferry_kernels *kernels, float *rows, int32_t first, int32_t end);
    /* Adds to `count` scaled embedding rows x [count, D] at positions first, first + 1, … */
    void (*embed)(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  float *x, int32_t first, int32_t count);
    /* Changes projected queries or keys x [count, H·K] in place, before k enters the cache. */
    void (*rotate)(const ferry_position *position, const ferry_position_state *state, float *x, int32_t first,
                   int32_t count);
    /* Replaces 1/√K as the factor of q. */
    float (*score_scale)(const ferry_position *position);
    /* Floats of tile->scratch that score and context need; never less for more queries or keys. */
    size_t (*scratch)(const ferry_position *position, int32_t queries, int32_t keys);
    /* Adds to tile->scores. q is scaled already, so a term computed from q is added as it is. The mask comes after. */
    void (*score)(const ferry_position *position, const ferry_position_tile *tile);
    /* Adds to tile->context from the weights in tile->scores. */
    void (*context)(const ferry_position *position, const ferry_position_tile *tile);
    /* Multiply-adds that all layers and heads together add to a step of the decoder (encoder: to a token): once, and
     * for each key that the step sees. Expressions, for reports; NULL: none. */
    const char *token_operations, *key_operations;
};

/* NULL if there is none. */
const ferry_position_scheme *ferry_position_find(ferry_view name);
/* Whether parameter `index` exists, by the values of those before it; and whether it is written. */
bool ferry_position_has(const ferry_position *position, size_t index);
bool ferry_position_says(const ferry_position *position, size_t index);
/* Scheme `index` of all in this build, from 0; NULL past the end. */
const ferry_position_scheme *ferry_position_at(size_t index);

/* Finds the scheme `name`, reads its parameters and binds it. *position is filled on success; unbind it later. Errors:
 * UNSUPPORTED (unknown scheme), FORMAT (bad parameters), MEMORY, and those of source->tensor. */
ferry_status ferry_position_bind(ferry_view name, const ferry_position_stack *stack,
                                 const ferry_position_source *source, const ferry_kernels *kernels,
                                 ferry_position *position, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_position_unbind(ferry_position *position);

/* Fills rows for positions 0 … count - 1, amortized: called before a sentence and then once per step. Refuses lengths
 * beyond position->limit (FERRY_ERROR_LIMIT, naming the limit). */
ferry_status ferry_position_extend(const ferry_position *position, ferry_position_state *state,
                                   const ferry_kernels *kernels, int32_t count, ferry_error *error);
/* scheme->scratch, if any. */
size_t ferry_position_scratch(const ferry_position *position, int32_t queries, int32_t keys);
/* Releases all memory; the state can be used again. */
void ferry_position_state_destroy(ferry_position_state *state);

/* For a scheme's bind: position->derived becomes `head` bytes, and *tables, rows·width floats, 64-byte aligned. They
 * are uninitialized, as tensors may prove to be missing. UNSUPPORTED: the tables are out of all proportion to the
 * tensors.
 */
ferry_status ferry_position_allocate(ferry_position *position, size_t head, size_t rows, size_t width, float **tables,
                                     ferry_error *error);
/* For a scheme's bind: tensor `index` of its list, of one layer. */
ferry_status ferry_position_take(const ferry_position *position, const ferry_position_binding *binding, size_t index,
                                 int32_t layer, const float **data, ferry_error *error);

/* ---- declarations; they read scheme, stack and values of *position ---- */

/* The index of parameter `key` of a scheme with parameters; that of the list's end if it is none of them. */
size_t ferry_position_parameter_index(const ferry_position *position, ferry_view key);
/* The value of an expression up to its end or a comma. */
double ferry_position_evaluate(const ferry_position *position, const char *expression);
/* Index of `text` among the choices; -1 if it is none of them. */
int32_t ferry_position_choice(const ferry_position_parameter *parameter, ferry_view text);
/* "'half' or 'interleaved'" */
ferry_name ferry_position_choices(const ferry_position_parameter *parameter);
/* "theta 10000, layout half, dims 16"; empty if the scheme has no parameters. */
ferry_name ferry_position_parameters(const ferry_position *position);
ferry_position_cost ferry_position_get_cost(const ferry_position *position);
/* Whether the scheme has weights of its own. */
bool ferry_position_has_weights(const ferry_position *position);
/* The number of dimensions of a tensor, 1 or 2; 0 if its condition is not met. */
int32_t ferry_position_shape(const ferry_position *position, const ferry_position_tensor *tensor, int64_t shape[2]);

#endif
