/* A small model of any choice, with random weights, as a model file. */
#ifndef FERRY_SUPPORT_SMALL_MODEL_H
#define FERRY_SUPPORT_SMALL_MODEL_H

#include "support.h"

#include "models/plan/gguf_write.h"

/* What an int8 matrix has beside its codes. */
typedef enum small_scales {
    SMALL_ROW_SCALES,
    SMALL_MULTIPLIER,
    SMALL_INPUT_MULTIPLIER, /* beside the other one */
    SMALL_BOTH              /* wrong: row scales and a multiplier */
} small_scales;

typedef struct small_shortlist {
    int32_t first;
    bool shared;
    const int32_t *offsets; /* [source_vocab + 1] */
    const int32_t *ids;
    int64_t count;
} small_shortlist;

/* A coarse output matrix, or an output matrix of int8 in planes, whose error is its bound, and what is wrong with it.
 */
typedef enum small_coarse {
    SMALL_NO_COARSE,
    SMALL_COARSE_EARLY,  /* no bound */
    SMALL_COARSE,        /* nothing */
    SMALL_COARSE_RANDOM, /* from here on it lies */
    SMALL_COARSE_LAST_CODE,
    SMALL_COARSE_SCALES_LIE,
    SMALL_COARSE_BOUND_LIES,
    SMALL_COARSE_TYPE, /* from here on the file is wrong */
    SMALL_COARSE_ROWS,
    SMALL_COARSE_COLUMNS,
    SMALL_COARSE_SCALES,
    SMALL_COARSE_WITHOUT_SCALES,
    SMALL_COARSE_SCALES_ALONE,
    SMALL_COARSE_WITHOUT_NORM,
    SMALL_COARSE_NO_NUMBER,
    SMALL_COARSE_NEGATIVE,
    SMALL_COARSE_ERROR,
    SMALL_COARSE_NORM,
    SMALL_COARSE_KINDS
} small_coarse;

/* Matrices of int8 whose inputs are a multiple of 32, in four bits. */
typedef enum small_steps {
    SMALL_NO_STEPS,
    SMALL_STEPS,             /* those of layers */
    SMALL_STEPS_LIE,         /* wrong: codes beyond int8 */
    SMALL_STEPS_OF_EMBEDDING /* wrong: embeddings, too */
} small_steps;

/* Zeroed: sizes of small_model_sizes, post-norm, layer norm, relu, one matrix for embeddings and output, everything
 * else absent. */
typedef struct small_model {
    int32_t layers, d_model, heads, head_width, ffn_width, vocab;
    int32_t source_vocab; /* 0: vocab; another one needs `untied` */
    bool ssru, gated, rms, pre_norm, embedding_norm, linear_bias, sentence_inputs, untied, zero_start;
    int final_norm;         /* 0: as usual (pre-norm only), 1: yes, -1: no */
    const char *activation; /* NULL: relu */
    float output_scale;     /* 0: the key is missing */
    const char *position;   /* of the decoder; NULL: sinusoidal. The encoder has none */
    ferry_type type;        /* of the matrices */
    bool mixed;             /* the output matrix is f32, the encoder's embedding f16 (untied) */
    small_scales scales;
    small_steps steps;
    small_coarse coarse;
    const small_shortlist *shortlist;
    const char *tokenizer;     /* NULL: none; pieces for both sides */
    const char *const *pieces; /* [vocab], NULL entries empty; NULL: a, b, … */
    bool leading_tag;
    const char *policy;                      /* NULL: huggingface */
    const char *feature;                     /* NULL, or one more word of ferry.features */
    void (*keys)(ferry_gguf_writer *writer); /* NULL, or writes more keys */
} small_model;

/* For `keys`: two languages with tags of both kinds, a prompt, and OPUS-MT's punctuation. */
void put_small_languages(ferry_gguf_writer *writer);
/* Writes `model` to `path`; equal models have equal bytes. */
void write_small_model(const char *path, const small_model *model);
/* The same, opened on the kernels `isa` (NULL: the best). */
ferry_model *open_small_model(const small_model *model, const char *isa);

#endif
