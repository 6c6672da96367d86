/* The model: configuration and weights of an encoder-decoder Transformer. Immutable once bound, shared by all threads.
 *
 * Shape letters: D d_model, H heads, K head width, F ffn width, V vocabulary. Above each weight stands its tensor's
 * name in the model file; {s} is `enc` or `dec`, N the layer. */
#ifndef FERRY_GRAPH_MODEL_H
#define FERRY_GRAPH_MODEL_H

#include "../kernels/linear.h"
#include "../position/position.h"

typedef struct ferry_norm {
    const float *weight; /* [D] */
    const float *bias;   /* [D] */
} ferry_norm;

typedef struct ferry_attention_weights {
    ferry_matrix q;   /* [H·K, D]  {s}.blk.N.attn_q, dec.blk.N.cross_attn_q */
    ferry_matrix k;   /* [H·K, D]  …_k */
    ferry_matrix v;   /* [H·K, D]  …_v */
    ferry_matrix out; /* [D, H·K]  …_o */
} ferry_attention_weights;

typedef struct ferry_layer {
    ferry_attention_weights self;
    ferry_norm self_norm;          /* {s}.blk.N.attn_norm */
    ferry_attention_weights cross; /* decoder only */
    ferry_norm cross_norm;         /* dec.blk.N.cross_attn_norm */
    ferry_matrix ffn_up;           /* [F, D]  {s}.blk.N.ffn_up */
    ferry_matrix ffn_down;         /* [D, F]  {s}.blk.N.ffn_down */
    ferry_norm ffn_norm;           /* {s}.blk.N.ffn_norm */
} ferry_layer;

/* Encoder or decoder. */
typedef struct ferry_stack {
    int32_t layer_count;
    int32_t heads;
    int32_t head_width;
    int32_t ffn_width;
    ferry_activation activation;
    bool pre_norm; /* x + f(LN(x)) and a final norm; false: LN(x + f(x)) */
    float norm_eps;
    float attention_scale; /* factor of q in self- and cross-attention */
    ferry_position position;
    int32_t vocab_size;     /* V */
    const float *embedding; /* panels of [V, D]  {s}.token_embd; one matrix when the file ties them: token_embd */
    ferry_layer *layers;    /* [layer_count] */
    ferry_norm final_norm;  /* {s}.output_norm; NULL weights when pre_norm is false */
} ferry_stack;

/* How the authors want their model to be decoded: the rules of Hugging Face's generate. */
typedef struct ferry_decoding {
    int32_t beam;
    float length_penalty;
    ferry_early_stopping early_stopping;
    int32_t max_length; /* target tokens, eos counted; 0: 3 × source tokens + 50 */
    int32_t min_length;
    float repetition_penalty;
    int32_t no_repeat_ngram;
    bool renormalize;
    int32_t forced_first_id; /* -1: none */
    int32_t forced_last_id;  /* -1: none */
    const int32_t *suppressed_ids;
    int32_t suppressed_count;
} ferry_decoding;

typedef struct ferry_transformer {
    int32_t d_model;
    float embedding_scale;
    ferry_stack encoder;
    ferry_stack decoder;
    ferry_matrix output;    /* [V, D]  output.weight, or the decoder's embedding when tied; bias output.bias or NULL */
    int32_t start_id;       /* the decoder's first input */
    const int32_t *eos_ids; /* every one ends a hypothesis; the first is used for filling */
    int32_t eos_count;
    int32_t pad_id; /* -1: none */
    ferry_decoding decoding;
} ferry_transformer;

#endif
