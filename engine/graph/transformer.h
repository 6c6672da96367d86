/* The model: configuration and weights of an encoder-decoder Transformer. Immutable once bound, shared by all threads.
 *
 * Shape letters: D d_model, H heads, K head width, F ffn width, V vocabulary. Above each weight stands its tensor's
 * name in the model file; {s} is `enc` or `dec`, N the layer. */
#ifndef FERRY_GRAPH_TRANSFORMER_H
#define FERRY_GRAPH_TRANSFORMER_H

#include "engine/kernels/coarse.h"
#include "engine/position/position.h"

typedef struct ferry_norm {
    const float *weight; /* [D] */
    const float *bias;   /* [D]; NULL if there is none (rms) */
} ferry_norm;

typedef struct ferry_attention_weights {
    ferry_matrix q;   /* [H·K, D]  {s}.blk.N.attn_q, dec.blk.N.cross_attn_q */
    ferry_matrix k;   /* [H·K, D]  …_k */
    ferry_matrix v;   /* [H·K, D]  …_v */
    ferry_matrix out; /* [D, H·K]  …_o */
} ferry_attention_weights;

/* Simpler simple recurrent unit (Kim et al. 2019, "From Research to Production and Back", section 3.1): in place of a
 * decoder's self-attention. State c, zero at the start; for an input row u:
 *
 *     g = sigmoid(W_f u + b_f)    c' = g ⊙ c + (1 - g) ⊙ W u    y = relu(c')
 */
typedef struct ferry_ssru_weights {
    ferry_matrix input;  /* [D, D]  dec.blk.N.ssru_input, without a bias */
    ferry_matrix forget; /* [D, D]  dec.blk.N.ssru_forget */
} ferry_ssru_weights;

typedef struct ferry_layer {
    ferry_attention_weights self;  /* unused if the decoder has an SSRU instead */
    ferry_ssru_weights ssru;       /* decoder only, in place of `self` */
    ferry_norm self_norm;          /* {s}.blk.N.attn_norm, of `self` or `ssru` */
    ferry_attention_weights cross; /* decoder only */
    ferry_norm cross_norm;         /* dec.blk.N.cross_attn_norm */
    ferry_matrix ffn_up;           /* [F, D]  {s}.blk.N.ffn_up */
    ferry_matrix ffn_gate;         /* [F, D]  {s}.blk.N.ffn_gate, when gated */
    ferry_matrix ffn_down;         /* [D, F]  {s}.blk.N.ffn_down */
    ferry_norm ffn_norm;           /* {s}.blk.N.ffn_norm */
} ferry_layer;

typedef enum ferry_norm_kind {
    FERRY_LAYER_NORM, /* (x - mean) / sqrt(variance + eps) ⊙ weight + bias */
    FERRY_RMS_NORM    /* x / sqrt(mean(x²) + eps) ⊙ weight */
} ferry_norm_kind;

/* Encoder or decoder. */
typedef struct ferry_stack {
    bool causal; /* decoder: a row attends to its own and previous positions, and to the source */
    int32_t layer_count;
    int32_t heads;
    int32_t head_width;
    int32_t ffn_width;
    ferry_activation activation;
    bool gated; /* down(act(gate u) ⊙ up u); false: down(act(up u)) */
    ferry_norm_kind norm;
    bool pre_norm; /* x + f(norm(x)); false: norm(x + f(x)) */
    float norm_eps;
    float attention_scale; /* factor of q in self- and cross-attention */
    bool linear_bias;      /* a layer's matrices have biases */
    bool has_embedding_norm, has_final_norm;
    ferry_position position;
    int32_t vocab_size;        /* V */
    ferry_matrix embedding;    /* [V, D]  {s}.token_embd; one matrix when the file ties them: token_embd; no bias */
    ferry_norm embedding_norm; /* {s}.embd_norm, after the positions were added; weight NULL if there is none */
    ferry_layer *layers;       /* [layer_count] */
    ferry_norm final_norm;     /* {s}.output_norm; weight NULL if there is none */
} ferry_stack;

/* The parameters of a stack that its positional encoding needs. */
static inline ferry_position_stack ferry_position_stack_of(const ferry_stack *stack, int32_t d_model)
{
    return (ferry_position_stack){stack->layer_count, d_model, stack->heads, stack->head_width, stack->causal};
}

typedef struct ferry_transformer {
    int32_t d_model;
    float embedding_scale;
    bool tied_embeddings; /* one matrix embeds source and target */
    bool tied_output;     /* the decoder's embedding is the output matrix */
    bool output_bias;
    ferry_stack encoder;
    ferry_stack decoder;
    bool ssru;            /* the decoder's block in place of self-attention */
    float output_scale;   /* factor of the decoder's output before the output matrix */
    ferry_matrix output;  /* [V, D]  output.weight, or the decoder's embedding when tied; bias output.bias or NULL */
    bool sentence_inputs; /* int8 inputs without their own multiplier are quantized by sentence, not by row */
    ferry_coarse output_coarse; /* [V, D]  output_coarse.weight, approximates `output`; zeroed if there is none */
} ferry_transformer;

/* The row groups (linear.h) of a product over sentences: the rows of sentence s end before ends[s]. */
static inline const int32_t *ferry_sentence_groups(const ferry_transformer *model, const int32_t *ends)
{
    return model->sentence_inputs ? ends : NULL;
}

#endif
