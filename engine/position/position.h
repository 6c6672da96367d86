/* The interface of the positional encodings.
 *
 * A scheme is a constant struct: its parameters and tensors as data, and hooks, each of which may be NULL. Each
 * self-attention stack has a bound scheme (parameters, weights, derived tables), which is immutable and shared by
 * threads. Rows by position grow with the text; they are a position state, which belongs to one thread.
 * Cross-attention has no positions.
 *
 * Attention's order: project, rotate, append k and v, scale q, q·kᵀ, score, mask, softmax, ·v, context, output
 * projection. No hook allocates, and a row's result depends only on that row, its keys and its position, summed in
 * ascending key order. */
#ifndef FERRY_POSITION_POSITION_H
#define FERRY_POSITION_POSITION_H

#include "base/bytes.h"
#include "base/status.h"
#include "engine/kernels/kernels.h"

typedef struct ferry_account ferry_account;

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

/* The source of one stack's parameters and tensors, such as the model file. Names are those of
 * docs/model-file.md below `position.`. */
typedef struct ferry_position_source {
    void *user;
    /* Whether the file has this parameter. Sets *text for a choice, otherwise *number; neither if the type is not the
     * declared one. NULL: an untrained model, whose parameters have their default values. */
    bool (*parameter)(void *user, const ferry_position_parameter *declared, ferry_view *text, double *number);
    /* A float32 tensor of exactly this shape (slowest first), which outlives the bound scheme. `layer` -1: the tensor
     * of the stack. */
    ferry_status (*tensor)(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                           const int64_t *shape, const float **data, ferry_error *error);
} ferry_position_source;

/* ---- what a scheme declares ---- */

enum { FERRY_POSITION_MAX_PARAMETERS = 9, FERRY_POSITION_MAX_CHOICES = 4, FERRY_POSITION_MAX_TENSORS = 6 };

typedef enum ferry_position_kind {
    FERRY_POSITION_CHOICE,  /* a text, one of `choices` */
    FERRY_POSITION_INTEGER, /* min … max */
    FERRY_POSITION_REAL     /* above `min`, at most `max` */
} ferry_position_kind;

/* Limits and sizes are expressions of numbers, D, H, K, `layers`, `directions` (2 in the encoder, 1 in the decoder) and
 * earlier integer parameters, joined by * / + and computed from left to right; / rounds down. */
struct ferry_position_parameter {
    const char *key; /* NULL ends a list */
    ferry_position_kind kind;
    const char *meaning;                                 /* in docs/model-file.md */
    const char *choices[FERRY_POSITION_MAX_CHOICES + 1]; /* NULL ends them */
    const char *min, *max;
    bool even;                 /* odd integers are refused */
    const char *unit;          /* noun of the number in messages; NULL: "number" */
    const char *if_missing;    /* value if the model file lacks the parameter; NULL: it is required */
    const char *default_value; /* in an untrained model (measurements, plots); NULL: `if_missing` */
    /* Key of an earlier choice: the parameter exists if that choice's index is at least `from`; otherwise its value
     * is 1. NULL: it always exists. */
    const char *when;
    int32_t from;
    /* The word of a choice in ferry.features ("word:choice"). The first choice has no word, and is neither written nor
     * shown. */
    const char *word;
};

typedef enum ferry_position_numbers {
    FERRY_POSITION_ANY,         /* not checked */
    FERRY_POSITION_FINITE,      /* infinities and NaNs are refused */
    FERRY_POSITION_NOT_NEGATIVE /* finite and at least 0 */
} ferry_position_numbers;

struct ferry_position_tensor {
    const char *name;    /* NULL ends a list */
    const char *shape;   /* one or two sizes: "2*clip+1, K" */
    const char *meaning; /* in docs/model-file.md */
    bool per_layer;      /* each layer has one; otherwise the stack has one */
    const char *when;    /* "slopes=given": exists only with this choice; NULL: always */
    bool kept;           /* hooks read it; otherwise bind alone does */
    ferry_position_numbers numbers;
    /* Range of the uniform random numbers of an untrained model. Both 0: mean 0 and variance 1/columns. */
    float default_min, default_max;
};

typedef struct ferry_position_scheme ferry_position_scheme;

/* ---- what a scheme becomes ---- */

/* A bound scheme. */
typedef struct ferry_position {
    const ferry_position_scheme *scheme;
    ferry_position_stack stack;
    int32_t limit; /* number of positions; 0: unlimited */
    /* In the order of scheme->parameters: the index of a choice, or the number. */
    double values[FERRY_POSITION_MAX_PARAMETERS];
    /* In the order of scheme->tensors; NULL for tensors of layers, and where the condition `when` is not met. */
    const float *tensors[FERRY_POSITION_MAX_TENSORS];
    void *derived;        /* private to the scheme: one allocation by bind, freed by ferry_position_unbind */
    size_t derived_bytes; /* of the tables in it, for reports */
} ferry_position;

/* For bind: the source of the layers' tensors, and kernels for products. */
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
    ferry_account *account; /* counts the bytes; NULL: not counted */
} ferry_position_state;

/* One sentence or hypothesis, one layer, one head: queries at positions first … first + queries - 1, all keys below
 * `keys`. */
typedef struct ferry_position_tile {
    int32_t layer, head;
    int32_t first, queries, keys;
    const float *q; /* [queries, K] with ldq, already scaled */
    size_t ldq;
    ferry_kv_view kv; /* the keys of this head */
    float *scores;    /* [queries, keys] with ld_scores: scores; after the softmax, weights */
    size_t ld_scores;
    float *context; /* [queries, K] with ld_context; valid in the context hook only */
    size_t ld_context;
    float *scratch; /* ferry_position_scratch floats, 64-byte aligned; undefined between hooks */
    const ferry_position_state *state;
    const ferry_kernels *kernels;
} ferry_position_tile;

/* The cost of an encoding, for reports. */
typedef struct ferry_position_cost {
    int64_t model_bytes;                      /* tables and weights, shared by all threads */
    int64_t position_bytes;                   /* bytes of a row, for each position in each thread */
    int64_t token_operations, key_operations; /* as in ferry_position_scheme */
} ferry_position_cost;

struct ferry_position_scheme {
    const char *name;                           /* as in the model file */
    const char *title, *paper;                  /* in reports: "RoPE", "Su et al. 2021"; NULL: the name, nothing */
    bool for_long_texts;                        /* the paper claims quality at lengths beyond those in training */
    const ferry_position_parameter *parameters; /* NULL: none */
    const ferry_position_tensor *tensors;       /* NULL: none */
    bool pairs;                                 /* an odd D is refused */
    const char *limit;                          /* expression of position->limit; NULL: unlimited */
    /* Called once, when the model is opened and the rest of *position is set: takes the tensors of layers and derives
     * tables that depend on weights alone. */
    ferry_status (*bind)(ferry_position *position, const ferry_position_binding *binding, ferry_error *error);
    /* Computes a row of `row` floats (an expression) for each position. Fills rows[first … end - 1]; first and end are
     * multiples of FERRY_LANES. */
    const char *row;
    void (*fill)(const ferry_position *position, const ferry_kernels *kernels, float *rows, int32_t first, int32_t end);
    /* Adds to scaled embeddings x [count, D], which have positions first … first + count - 1. */
    void (*embed)(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  float *x, int32_t first, int32_t count);
    /* Changes projected queries or keys x [count, H·K] in place, before k enters the cache. */
    void (*rotate)(const ferry_position *position, const ferry_position_state *state, float *x, int32_t first,
                   int32_t count);
    /* The factor of q in place of the stack's attention_scale. */
    float (*score_scale)(const ferry_position *position);
    /* Floats of tile->scratch for score and context; does not decrease with queries or keys. */
    size_t (*scratch)(const ferry_position *position, int32_t queries, int32_t keys);
    /* Adds to tile->scores, before the mask. q is scaled, so terms computed from q need no factor. */
    void (*score)(const ferry_position *position, const ferry_position_tile *tile);
    /* Adds to tile->context; tile->scores holds the softmax weights. */
    void (*context)(const ferry_position *position, const ferry_position_tile *tile);
    /* Additional multiply-adds of a decoder step (encoder: of a token) in all layers and heads: per step, and per
     * visible key. Expressions, for reports; NULL: 0. */
    const char *token_operations, *key_operations;
};

/* NULL if no scheme has this name. */
const ferry_position_scheme *ferry_position_find(ferry_view name);
/* Whether parameter `index` exists, given the values of earlier parameters; and whether files and reports have it. */
bool ferry_position_has(const ferry_position *position, size_t index);
bool ferry_position_says(const ferry_position *position, size_t index);
/* Scheme `index` of all in this build, from 0; NULL past the end. */
const ferry_position_scheme *ferry_position_at(size_t index);

/* Finds the scheme `name`, reads its parameters and binds it. On success *position is filled, to be released by
 * ferry_position_unbind. Errors: UNSUPPORTED (unknown scheme), FORMAT (bad parameters), MEMORY, and those of
 * source->tensor. */
ferry_status ferry_position_bind(ferry_view name, const ferry_position_stack *stack,
                                 const ferry_position_source *source, const ferry_kernels *kernels,
                                 ferry_position *position, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_position_unbind(ferry_position *position);

/* Fills rows for positions 0 … count - 1, amortized: called before a sentence and then once per step. LIMIT, naming the
 * limit, if count is above position->limit. */
ferry_status ferry_position_extend(const ferry_position *position, ferry_position_state *state,
                                   const ferry_kernels *kernels, int32_t count, ferry_error *error);
/* For a scheme's hooks: the number of keys that query `i` of a tile attends to. */
static inline int32_t ferry_position_visible(const ferry_position *position, const ferry_position_tile *tile, int32_t i)
{
    return position->stack.causal ? tile->first + i + 1 : tile->keys;
}

/* scheme->scratch, or 0 without this hook. */
size_t ferry_position_scratch(const ferry_position *position, int32_t queries, int32_t keys);
/* Releases all memory; the state is then empty, with the same account. */
void ferry_position_state_destroy(ferry_position_state *state);

/* For a scheme's bind: allocates position->derived, `head` bytes followed by *tables: rows·width floats, 64-byte
 * aligned, uninitialized. UNSUPPORTED if the tables are above 4 Mi floats and above 64 times the tensors' floats. */
ferry_status ferry_position_allocate(ferry_position *position, size_t head, size_t rows, size_t width, float **tables,
                                     ferry_error *error);
/* For a scheme's bind: tensor `index` of its list, of one layer. */
ferry_status ferry_position_take(const ferry_position *position, const ferry_position_binding *binding, size_t index,
                                 int32_t layer, const float **data, ferry_error *error);

/* ---- declarations; they read scheme, stack and values of *position ---- */

/* The index of parameter `key`; the number of parameters if none has this key. The scheme has parameters. */
size_t ferry_position_parameter_index(const ferry_position *position, ferry_view key);
/* The value of an expression up to its end or a comma. */
double ferry_position_evaluate(const ferry_position *position, const char *expression);
/* Index of `text` among the choices; -1 if it is none of them. */
int32_t ferry_position_choice(const ferry_position_parameter *parameter, ferry_view text);
/* "'half' or 'interleaved'" */
ferry_short_text ferry_position_choices(const ferry_position_parameter *parameter);
/* "theta 10000, layout half, dims 16"; empty if the scheme has no parameters. */
ferry_short_text ferry_position_parameters(const ferry_position *position);
ferry_position_cost ferry_position_get_cost(const ferry_position *position);
/* Whether the scheme has tensors. */
bool ferry_position_has_weights(const ferry_position *position);
/* The number of dimensions of a tensor, 1 or 2; 0 if its condition is not met. */
int32_t ferry_position_shape(const ferry_position *position, const ferry_position_tensor *tensor, int64_t shape[2]);

#endif
