/* Looking inside a model: for verification and research. No promise of a stable ABI; the rules of ferry.h hold
 * otherwise.
 *
 * Sentences of ids come as a ragged batch: sentence s is ids[offsets[s]] … ids[offsets[s + 1] - 1], offsets[0] = 0. */
#ifndef FERRY_INSPECT_H
#define FERRY_INSPECT_H

#include "ferry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As ferry_model_open, on the kernels that `isa` names ("plain", "avx2", …; NULL or "": the best of this machine), and
 * with other parameters of the positional encodings than the file's: "theta=40000", "scaling=linear factor=2", by their
 * names in the file, for both stacks (NULL: the file's); those of encodings with weights stay. An isa that is unknown
 * or cannot run here, and a parameter that the model lacks, are ARGUMENT errors. */
FERRY_API ferry_status ferry_inspect_open(const char *path, const char *isa, const char *position, ferry_model **model,
                                          ferry_error *error);
/* The same, with the file's own encodings, for an open file, which the caller may close afterwards; messages call it
 * `name`. */
FERRY_API ferry_status ferry_inspect_open_fd(int fd, const char *name, const char *isa, ferry_model **model,
                                             ferry_error *error);
/* Sizes of a synthetic model. */
typedef struct ferry_inspect_shape {
    int32_t d_model, heads, ffn_width, encoder_layers, decoder_layers, vocab;
} ferry_inspect_shape;
/* A model of random weights (always the same) with the positional encoding `encoding` at its usual parameters, for
 * measurements and plots; it has no tokenizer. Errors: UNSUPPORTED (no such encoding), ARGUMENT (isa, shape), MEMORY.
 */
FERRY_API ferry_status ferry_inspect_untrained(const char *encoding, const ferry_inspect_shape *shape, const char *isa,
                                               ferry_model **model, ferry_error *error);
/* The name that the model's file gives it; it belongs to the model. */
FERRY_API ferry_text ferry_inspect_name(const ferry_model *model);
/* Name of this build's positional encoding number `index`, static; NULL past the last. */
FERRY_API const char *ferry_inspect_encoding(size_t index);
/* The kernels that the model runs on, static. */
FERRY_API const char *ferry_inspect_isa(const ferry_model *model);

/* A description of the model: sizes, encoding, vocabulary, memory, decoding defaults, origin; fit for a terminal. The
 * caller releases text->data with ferry_inspect_free. */
FERRY_API ferry_status ferry_inspect_describe(const ferry_model *model, ferry_text *text, ferry_error *error);
FERRY_API void ferry_inspect_free(const void *data);

typedef struct ferry_inspect_sizes {
    int32_t d_model;
    int32_t source_vocab, target_vocab;
    int32_t encoder_layers, decoder_layers;
    int32_t encoder_heads, decoder_heads;
    int32_t encoder_head_width, decoder_head_width;
    int32_t pad_id;   /* -1: none */
    int32_t start_id; /* the decoder's first input */
    int32_t eos_id;   /* the first one */
    /* Ids of the longest sentence that either encoding permits; 0: any. */
    int32_t encoder_positions, decoder_positions;
} ferry_inspect_sizes;
FERRY_API ferry_inspect_sizes ferry_inspect_get_sizes(const ferry_model *model);

/* The source ids that `text` becomes when it is translated from `from` to `to` (as in ferry_options; NULL: the model's
 * defaults, or no tag if it has none), prompt and tags included; the caller releases *ids with ferry_inspect_free.
 * Errors: UNSUPPORTED (no tokenizer), ARGUMENT (a language that the model lacks), LIMIT, MEMORY. */
FERRY_API ferry_status ferry_inspect_tokenize(const ferry_model *model, ferry_text text, const char *from,
                                              const char *to, int32_t **ids, size_t *count, ferry_error *error);

/* How the model was trained, as its file records it: in words (empty: not recorded; belongs to the model); the tokens
 * of the longest training example, the seed of random numbers, and target tokens in all (0: not recorded). */
typedef struct ferry_inspect_training {
    ferry_text text;
    int32_t longest, seed;
    float tokens;
} ferry_inspect_training;
FERRY_API ferry_inspect_training ferry_inspect_get_training(const ferry_model *model);

/* The decoder's inputs that make it read given translations, a ragged batch: of each text the start token, the tag that
 * the model's default target language forces as the first token, if it does, and the text's own target ids, without an
 * end of sentence; *lead is the number of ids before the text's own, 1 or 2. The caller releases *ids and *offsets
 * [count + 1] with ferry_inspect_free. Errors: UNSUPPORTED (no tokenizer), ARGUMENT (no default language), LIMIT,
 * MEMORY. */
FERRY_API ferry_status ferry_inspect_targets(const ferry_model *model, const ferry_text *texts, int32_t count,
                                             int32_t **ids, int32_t **offsets, int32_t *lead, ferry_error *error);

typedef enum ferry_inspect_stack { FERRY_INSPECT_ENCODER, FERRY_INSPECT_DECODER } ferry_inspect_stack;

/* The vocabulary's piece of an id, as stored (a word's blank is U+2581): source for the encoder, target for the
 * decoder. It belongs to the model; empty if the vocabulary has none. */
FERRY_API ferry_text ferry_inspect_piece(const ferry_model *model, ferry_inspect_stack side, int32_t id);

/* Encoder output [offsets[count], d_model]. */
FERRY_API ferry_status ferry_inspect_encode(const ferry_model *model, const int32_t *ids, const int32_t *offsets,
                                            int32_t count, float *output, ferry_error *error);

/* Hidden states of a stack's rows, as they enter each layer and leave the last: hidden [layers + 1, rows, d_model].
 * State 0 is the embedding, scaled, with positions and embedding norm. State n > 0 follows layer n; in a pre-norm
 * model, it is the sum before the next layer's norm, and the last state has passed the stack's final norm: the
 * encoder's is ferry_inspect_encode's output, the decoder's times the model's output scale is what the output matrix
 * reads. Rows: of the encoder, ids [offsets[count]] (the target is unused and may be NULL); of the decoder, target_ids
 * [target_offsets[count]], inputs as for ferry_inspect_logits. Errors: ARGUMENT, LIMIT, MEMORY. */
FERRY_API ferry_status ferry_inspect_hidden(const ferry_model *model, ferry_inspect_stack stack, const int32_t *ids,
                                            const int32_t *offsets, int32_t count, const int32_t *target_ids,
                                            const int32_t *target_offsets, float *hidden, ferry_error *error);

/* How positions reach attention. */
typedef enum ferry_inspect_scheme_kind {
    FERRY_INSPECT_NO_POSITIONS,
    FERRY_INSPECT_ABSOLUTE, /* something is added to embeddings */
    FERRY_INSPECT_RELATIVE  /* queries and keys are rotated, or scores changed */
} ferry_inspect_scheme_kind;
/* The positional encoding of a stack. */
typedef struct ferry_inspect_scheme {
    const char *name;          /* static */
    const char *title, *paper; /* as papers call it, and the paper that it is from, static; "": none */
    ferry_inspect_scheme_kind kind;
    int32_t for_long_texts; /* 1: its paper promises quality at lengths beyond those in training */
    char parameters[256];   /* "theta 10000, layout half, dims 16"; "": none */
    int32_t limit;          /* positions that can be represented; 0: any number */
    int32_t has_weights;    /* 1: it has weights of its own */
    int32_t has_values;     /* 1: it adds vectors to values, too, which the functions below do not show */
} ferry_inspect_scheme;
FERRY_API ferry_inspect_scheme ferry_inspect_get_scheme(const ferry_model *model, ferry_inspect_stack stack);
/* What an encoding adds to embeddings: rows [count, d_model] of positions 0 … count - 1. UNSUPPORTED: it adds nothing.
 */
FERRY_API ferry_status ferry_inspect_position_rows(const ferry_model *model, ferry_inspect_stack stack, int32_t count,
                                                   float *rows, ferry_error *error);
/* What an encoding does to attention scores by distance alone: for a query at position count - 1 of a sequence of
 * 2·count - 1 keys (decoder: count keys), scores[j] for head `head` of layer `layer`, given one query and one key
 * vector [head_width] for all keys, q and k (both NULL: zeros): with rotations and score terms, without the mask. */
FERRY_API ferry_status ferry_inspect_position_scores(const ferry_model *model, ferry_inspect_stack stack, int32_t layer,
                                                     int32_t head, int32_t count, const float *q, const float *k,
                                                     float *scores, ferry_error *error);

typedef enum ferry_inspect_pass {
    FERRY_INSPECT_ONE_PASS,    /* all decoder inputs of all sentences at once, under the causal mask */
    FERRY_INSPECT_STEP_BY_STEP /* position by position, through the cache of keys and values */
} ferry_inspect_pass;

/* Teacher-forced logits [target_offsets[count], target_vocab]: row i follows the decoder inputs up to i of its sentence
 * (inputs begin with the start token). */
FERRY_API ferry_status ferry_inspect_logits(const ferry_model *model, const int32_t *ids, const int32_t *offsets,
                                            int32_t count, const int32_t *target_ids, const int32_t *target_offsets,
                                            ferry_inspect_pass pass, float *logits, ferry_error *error);

/* Which attention weights: those of one head. */
typedef enum ferry_inspect_attention_kind {
    FERRY_INSPECT_ENCODER_SELF,
    FERRY_INSPECT_DECODER_SELF,
    FERRY_INSPECT_CROSS
} ferry_inspect_attention_kind;

/* For the layer and head below: all of them. */
enum { FERRY_INSPECT_ALL = -1 };
/* Attention weights of one sentence ids [S] with decoder inputs target_ids [T], which the encoder's do not need (NULL,
 * 0): weights [S, S] for the encoder, [T, T] for the decoder (0 where masked), [T, S] for cross-attention. With
 * FERRY_INSPECT_ALL, the layers and heads asked for follow each other: [layers, heads, …]. Errors: ARGUMENT,
 * UNSUPPORTED (the decoder has no self-attention), LIMIT, MEMORY. */
FERRY_API ferry_status ferry_inspect_attention(const ferry_model *model, ferry_inspect_attention_kind kind,
                                               int32_t layer, int32_t head, const int32_t *ids, int32_t S,
                                               const int32_t *target_ids, int32_t T, float *weights,
                                               ferry_error *error);

/* One computation on one thread, repeated to measure it: the encoder over one sentence of `source_tokens`
 * (target_tokens 0), or the decoder's layers for the one row that follows target_tokens - 1 others (without the output
 * matrix). Ids are arbitrary. Creating it computes once, so that rows by position, keys and values are there. The model
 * must outlive the timer, which is for one thread at a time. Errors: ARGUMENT, MEMORY, LIMIT (too long for the
 * encoding). */
typedef struct ferry_inspect_timer ferry_inspect_timer;
FERRY_API ferry_status ferry_inspect_timer_create(const ferry_model *model, int32_t source_tokens,
                                                  int32_t target_tokens, ferry_inspect_timer **timer,
                                                  ferry_error *error);
FERRY_API void ferry_inspect_timer_destroy(ferry_inspect_timer *timer);
/* Computes once more; *seconds is what it took. Errors: MEMORY. */
FERRY_API ferry_status ferry_inspect_timer_run(ferry_inspect_timer *timer, double *seconds, ferry_error *error);

/* Bytes. */
typedef struct ferry_inspect_memory {
    size_t tables; /* of the encodings of both stacks, in the model: weights, and what is derived from them */
    size_t row;    /* of both encodings, for each position that a thread has prepared */
    size_t token;  /* keys and values of one target token, all layers */
    size_t thread; /* the timer's scratch memory, keys and values, without rows */
} ferry_inspect_memory;
FERRY_API ferry_inspect_memory ferry_inspect_timer_memory(const ferry_inspect_timer *timer);

/* Where the time of a translator's calls goes, by phase, summed over its threads. Waiting threads, and what the
 * caller does between their work, are in no phase. Off, and free of cost, until _start; each _start resets it to zero.
 * Neither function may run during a call of the translator. */
typedef struct ferry_inspect_phase {
    const char *name; /* "encoder", "output_layer", …, static; NULL past the last phase */
    double seconds;   /* without phases within it */
    int64_t calls;    /* how often it began */
} ferry_inspect_phase;
FERRY_API void ferry_inspect_profile_start(ferry_translator *translator);
FERRY_API ferry_inspect_phase ferry_inspect_profile_phase(const ferry_translator *translator, size_t index);

/* What the translator's products with weights did since the last ferry_inspect_profile_start, summed over its threads;
 * attention multiplies no weights. May not run during a call of the translator. */
typedef struct ferry_inspect_work {
    int64_t float_products,
        int8_products;    /* multiplications, each with its addition: rows·inputs·outputs of a product */
    int64_t weight_bytes; /* of matrices, as stored in memory: each product reads its own once */
    int64_t steps;        /* of the decoder, each with all its rows; 0 if _start was not called */
} ferry_inspect_work;
FERRY_API ferry_inspect_work ferry_inspect_profile_work(const ferry_translator *translator);

/* Search from ids to ids: as ferry_translate, without text. Hypotheses: ferry_result_hypothesis_count, _score, _tokens,
 * and ferry_inspect_result_ids (no start token; eos included when it was generated); ferry_result_text is empty. A
 * sentence without ids is a blank line: its hypothesis has none. A sentence is never split: one that is longer than the
 * model's positions ends the call (LIMIT). */
FERRY_API ferry_status ferry_inspect_generate(ferry_translator *translator, const int32_t *ids, const int32_t *offsets,
                                              int32_t count, ferry_result **result, ferry_error *error);
FERRY_API const int32_t *ferry_inspect_result_ids(const ferry_result *result, size_t line, size_t hypothesis);
/* What each of these ids added to the sum of log-probabilities; undefined if ferry_options.scores is 0. */
FERRY_API const float *ferry_inspect_result_token_scores(const ferry_result *result, size_t line, size_t hypothesis);
/* The most target tokens, end of sentence included, that the translator gives a sentence of so many source tokens. */
FERRY_API int32_t ferry_inspect_target_limit(const ferry_translator *translator, size_t source_tokens);

#ifdef __cplusplus
}
#endif

#endif
