/* A model as importers find it, before it is written: the graph's sizes and choices, its texts, and for each tensor of
 * the model file the tensor of the source. An importer fills a plan; ferry_import_write writes it. For importers alone.
 *
 * What a plan refers to (mapped files, JSON trees, strings) belongs to it and stays until ferry_import_plan_destroy. */
#ifndef FERRY_PLAN_PLAN_H
#define FERRY_PLAN_PLAN_H

#include "source.h"
#include "engine/file/model_file.h"
#include "engine/file/schema.h"
#include "models/containers/json.h"
#include "models/containers/weights.h"

#include "write.h"
#include "gguf_write.h"

enum {
    FERRY_IMPORT_MAX_TREES = 16, /* JSON and YAML files */
    FERRY_IMPORT_MAX_SHARDS = 1024,
    FERRY_IMPORT_MAX_LANGUAGES = 2048, /* the largest models have some 500; every name is compared with every other */
    FERRY_IMPORT_MAX_TAG = 64,         /* bytes */
    FERRY_IMPORT_MAX_IDS = 1 << 13,    /* of a list in which each is compared with every other: special, suppressed */
};

/* How a tensor is stored in the model file. */
typedef enum ferry_import_form {
    FERRY_IMPORT_VECTOR,  /* [N], float32 */
    FERRY_IMPORT_TABLE,   /* [N, K], float32 */
    FERRY_IMPORT_MATRIX,  /* [N, K] in panels: options->type, or int8 codes (write.h) */
    FERRY_IMPORT_INTEGERS /* [N], int32 */
} ferry_import_form;

/* A tensor of the model file and where its numbers are: W[n][k] is element offset + n·row + k·column of `source`.
 * Vectors: K = 1, integers: `integers`. source NULL: zeros (a bias that a family leaves out). */
typedef struct ferry_import_tensor {
    char name[FERRY_GGUF_MAX_TENSOR_NAME + 1]; /* in the model file */
    ferry_import_form form;
    int32_t N, K;
    const ferry_weights_entry *source;
    int64_t offset, row, column;
    /* Integer sources (FERRY_I8, FERRY_I16): W[n][k] = code / multipliers[n], or code / multipliers[0] for all when
     * multiplier_count is 1. The importer's choice of memory: the plan's arena or the file. May be unaligned. */
    const void *multipliers; /* float32 */
    int32_t multiplier_count;
    const float *scales;    /* [N] instead of multipliers: W[n][k] = code · scales[n] */
    float input_multiplier; /* of int8 inputs; 0: none */
    const int32_t *integers;
    bool packed; /* a matrix of a model file, in its panels: f32, f16 or int8 codes; `row` counts their padding */
} ferry_import_tensor;

typedef struct ferry_import_plan {
    ferry_source *source;
    ferry_account *account; /* the source's: whatever the plan holds is taken from it */
    const char *name;       /* ferry.origin.name */
    const char
        *kind; /* ferry.origin.kind: "opus-mt", "bergamot", "marian", "huggingface-nllb", "ctranslate2", "argos", … */

    /* Sizes, choices, positions. Weights and layers of the stacks stay empty, and of positions only scheme and values
     * count: their tensors are among the plan's. Whether a stack has a final norm, an embedding norm and biases follows
     * from the plan's tensors, too ("enc.output_norm.weight", "enc.embd_norm.weight"). */
    ferry_transformer model;
    ferry_generation generation; /* ids, decoding defaults, shortlist */
    ferry_tokenizer_config text;
    ferry_model_languages languages;
    ferry_view license;
    const char *training;                 /* ferry.origin.training; NULL: not recorded */
    int32_t trained_length, trained_seed; /* ferry.origin.trained_length, …; 0: not recorded */
    float trained_tokens;
    const char *note;       /* what somebody should know of the source (options->noted); NULL: nothing */
    const char *guessed[2]; /* the pair of languages that names alone say; NULL: none */
    ferry_model_file *file; /* the source, if it is a model file itself, whose origin stays as it is; NULL otherwise */

    ferry_weights weights;
    ferry_weights *shards; /* [shard_count] when the weights are in several files: whose memory the entries point to */
    size_t shard_count;
    const char *prefix;           /* of the names of weights: "" or "model." */
    bool *used;                   /* [weights.count] */
    ferry_import_tensor *tensors; /* [tensor_count], capacity tensor_capacity */
    size_t tensor_count;
    size_t tensor_capacity;

    json_t *trees[FERRY_IMPORT_MAX_TREES];
    size_t tree_count;
    struct ferry_spm *segmenters[2];
    const char *segmenter_files[2];
    const char *vocabulary_files[2]; /* of source and target; NULL: the SentencePiece model's own */
    size_t segmenter_count;
    int32_t
        closing_id; /* follows a line where ferry_import_find_segmenter finds the segmenter; -1: only what text has */
    ferry_arena arena;
} ferry_import_plan;

/* What a plan starts from: decoding rules that are switched off, no ids, no special choices. */
void ferry_import_plan_init(ferry_import_plan *plan, ferry_source *source);
/* Does not close the source. */
void ferry_import_plan_destroy(ferry_import_plan *plan);

/* ---- files (plan.c) ---- */

ferry_status ferry_import_json(ferry_import_plan *plan, const char *name, ferry_json *json, ferry_error *error);
/* The same for a file that may be missing: json->object is NULL then. */
ferry_status ferry_import_optional_json(ferry_import_plan *plan, const char *name, ferry_json *json,
                                        ferry_error *error);
/* YAML of Marian, from the file or the tensor `name`. */
ferry_status ferry_import_yaml(ferry_import_plan *plan, ferry_view text, const char *name, ferry_json *yaml,
                               ferry_error *error);
/* The plan keeps the tree of `file`; on failure it is freed at once. */
ferry_status ferry_import_keep_json(ferry_import_plan *plan, const char *file, json_t *tree, ferry_error *error);
/* Sets plan->note. */
ferry_status ferry_import_note(ferry_import_plan *plan, ferry_name note, ferry_error *error);

/* ---- weights (plan.c) ---- */

/* Hugging Face's weights: the first that exists of model.safetensors, model.safetensors.index.json, pytorch_model.bin,
 * pytorch_model.bin.index.json. All shards are merged in plan->weights. */
ferry_status ferry_import_open_weights(ferry_import_plan *plan, ferry_error *error);
/* Whether there is one of them, and its name. */
bool ferry_import_has_weights(const ferry_import_plan *plan, const char **name);
/* The readers of weights.h on one file of the source, into plan->weights; `read` is one of them. */
ferry_status ferry_import_read_weights(ferry_import_plan *plan, const char *name, ferry_weights_reader *read,
                                       ferry_error *error);
/* For weights that an importer has read itself: makes plan->used. */
ferry_status ferry_import_weights_ready(ferry_import_plan *plan, ferry_error *error);
/* Whether the name of a tensor begins with `prefix` and goes on. */
bool ferry_import_has_prefix(const ferry_import_plan *plan, const char *prefix);

/* ---- tensors (plan_tensors.c) ---- */

/* prefix + name, or NULL; a tensor that was found counts as used. */
const ferry_weights_entry *ferry_import_find(ferry_import_plan *plan, const char *prefix, const char *name);
/* The tensor must exist, hold floating-point numbers (f32, f16, bf16, f64) and have the shape [N, K], or [N] for K = 0;
 * leading dimensions of size 1 do not count. */
ferry_status ferry_import_take(ferry_import_plan *plan, const char *prefix, const char *name, int32_t N, int32_t K,
                               const ferry_weights_entry **entry, ferry_error *error);
ferry_status ferry_import_check_shape(const ferry_weights_entry *entry, int32_t N, int32_t K, ferry_error *error);
/* Fails with "FILE: tensor 'NAME': …". */
#define ferry_import_fail_tensor(entry, code, error, ...)                                                              \
    ferry_fail_named(error, code, (entry)->file, "tensor", (entry)->tensor.name, __VA_ARGS__)
/* All of `source`, as its shape and strides say: the last two dimensions, or the last one of a vector; those before
 * them must be 1. What does not fit becomes a size of 0, which ferry_import_add_tensor refuses. */
ferry_import_tensor ferry_import_whole(const ferry_weights_entry *source, ferry_import_form form);
/* The model file gets `source` as the tensor `name`. */
#define ferry_import_add(plan, source, form, error, ...)                                                               \
    ferry_import_add_tensor(plan, (ferry_import_tensor[]){ferry_import_whole(source, form)}, error, __VA_ARGS__)
/* The same for a description of the tensor, but for its name. */
ferry_status ferry_import_add_tensor(ferry_import_plan *plan, const ferry_import_tensor *tensor, ferry_error *error,
                                     const char *name, ...) __attribute__((format(printf, 4, 5)));
/* A matrix as `source` holds it transposed: the model file's [N, K] is the source's [K, N] (Marian's y = x W). */
ferry_import_tensor ferry_import_transposed(const ferry_weights_entry *source, ferry_import_form form);
/* Rows first … first + N - 1 of a matrix or table, or elements of a vector. */
ferry_import_tensor ferry_import_rows(const ferry_import_tensor *whole, int32_t first, int32_t N);
/* A tensor that was not used and does not match `ignored` is an error. */
ferry_status ferry_import_check_unused(const ferry_import_plan *plan, bool (*ignored)(ferry_view name),
                                       ferry_error *error);
/* `count` elements from element `first` on, `step` elements apart, as float32: floating-point numbers (f64: rounded),
 * or integers. */
void ferry_import_widen(const ferry_tensor *tensor, int64_t first, int64_t step, size_t count, float *values);

/* ---- parts that families share ---- */

/* huggingface.c: the layers and end norms of the BART family's names, `{encoder,decoder}.layers.N.self_attn.q_proj…`,
 * for the sizes in plan->model. */
ferry_status ferry_import_bart_layers(ferry_import_plan *plan, ferry_error *error);
/* `final_logits_bias`, left out when it is missing or zero everywhere. */
ferry_status ferry_import_bart_bias(ferry_import_plan *plan, ferry_error *error);
/* position_tables.c: the stacks' positional encodings, for the sizes in plan->model. Tensors join the plan's. */
/* A scheme and its first parameters [count] in their order: numbers, or the indexes of choices; the others are 0. */
void ferry_import_set_position(ferry_import_plan *plan, bool decoder, const char *scheme, const double *values,
                               size_t count);
void ferry_import_sinusoidal(ferry_import_plan *plan, bool decoder, bool interleaved, bool half_minus_one,
                             int32_t first);
/* A table of positions as it is: rows first_row … first_row + rows - 1 of it. */
ferry_status ferry_import_learned(ferry_import_plan *plan, bool decoder, const ferry_weights_entry *table,
                                  int32_t first_row, int32_t rows, ferry_error *error);
/* `position` of the export layout. */
ferry_status ferry_import_positions(ferry_import_plan *plan, ferry_json config, ferry_error *error);
/* A table [P, D] of positions is a formula when it agrees with one to 1e-5 + p·2^-23 (half types: 1e-3): sinusoidal,
 * split or interleaved, divisor D/2 or D/2 - 1, first position 0, 1 or 2; the formula has no end. Otherwise its rows
 * first_row … are learned positions. */
ferry_status ferry_import_position_table(ferry_import_plan *plan, bool decoder, const ferry_weights_entry *table,
                                         int32_t first_row, ferry_error *error);
/* t5.c: MADLAD's pieces "<2de>", which are prompts for a target language. */
ferry_status ferry_import_madlad_tags(ferry_import_plan *plan, ferry_error *error);
/* relu, gelu, swish and its other name silu; gelu_new, gelu_pytorch_tanh, gelu_fast, gelu_accurate; quick_gelu. */
ferry_status ferry_import_activation(const char *file, const char *name, ferry_activation *activation,
                                     ferry_error *error);
/* Head width and attention scale, for stack->heads. Errors: FORMAT. */
ferry_status ferry_import_split_heads(const char *file, int32_t d_model, ferry_stack *stack, ferry_error *error);

/* FORMAT where a file of words cannot belong to the weights, or to the SentencePiece model beside
 * it; where that is only unlikely, options->noted is called. */
ferry_status ferry_import_check_rows(const ferry_import_plan *plan, const char *file, int32_t words, int32_t rows,
                                     ferry_error *error);
ferry_status ferry_import_check_vocabularies(const ferry_import_plan *plan, const ferry_import_options *options,
                                             ferry_error *error);

/* write.c: how the model file will say that texts are divided. */
ferry_tokenizer_kind ferry_import_tokenizer_kind(const ferry_tokenizer_config *text);

/* plan_text.c: SentencePiece models and tables of pieces. */
/* What the model takes counts as the plan's from now on. */
ferry_status ferry_import_open_spm(ferry_import_plan *plan, ferry_view model, const char *file, struct ferry_spm **spm,
                                   ferry_error *error);
/* A table of `count` pieces, all empty, in the plan's memory. */
ferry_status ferry_import_pieces(ferry_import_plan *plan, int32_t count, ferry_view **pieces, ferry_error *error);
/* SentencePiece models into plan->text; `target` NULL: the same as the source's; "": another one, which is missing. */
ferry_status ferry_import_segmenters(ferry_import_plan *plan, const char *source, const char *target,
                                     ferry_error *error);
/* plan->text with one vocabulary for both sides: `pieces` [V]. */
void ferry_import_one_vocabulary(ferry_import_plan *plan, const ferry_texts *pieces, int32_t unknown_id);
/* A line is followed by the first end of sentence; ends of sentence, padding and start have no text. For the ids in
 * plan->generation. */
ferry_status ferry_import_special_ids(ferry_import_plan *plan, ferry_error *error);
/* {piece: id} → pieces [count] by id; every id is in 0 … count - 1 and occurs once; ids without a piece get an empty
 * one. */
ferry_status ferry_import_vocabulary(ferry_import_plan *plan, ferry_json json, int32_t count,
                                     const ferry_texts **pieces, ferry_error *error);
/* The SentencePiece model's own table, filled up with empty pieces to `count`; *unknown_id is its unknown piece. */
ferry_status ferry_import_own_vocabulary(ferry_import_plan *plan, size_t segmenter, int32_t count,
                                         const ferry_texts **pieces, int32_t *unknown_id, ferry_error *error);
/* Merges of FSMT, or else of subword-nmt, for both sides, and so the kind of the text; `file` is `name` for messages.
 */
ferry_status ferry_import_merges(ferry_import_plan *plan, const char *name, const char *file, bool fsmt,
                                 ferry_error *error);
/* The id of `piece` in {piece: id}; -1 when it has none. */
int32_t ferry_import_piece_id(ferry_json json, const char *piece);
/* Languages of a pair of codes without tags ("en", "de"), both defaults. */
ferry_status ferry_import_language_pair(ferry_import_plan *plan, ferry_view source, ferry_view target,
                                        ferry_error *error);
/* plan_languages.c: the same where only a name says so; where nothing does, by the name of the source or of its folder
 * (opus-mt-en-de); and where the user does: the languages of a model for one pair, or the defaults of a model that
 * lists its own. Errors: ARGUMENT (`pair`), UNSUPPORTED (no tokenizer). */
ferry_status ferry_import_guessed_pair(ferry_import_plan *plan, ferry_view source, ferry_view target,
                                       ferry_error *error);
ferry_status ferry_import_guess_pair(ferry_import_plan *plan, ferry_error *error);
ferry_status ferry_import_named_pair(ferry_import_plan *plan, const char *pair, ferry_error *error);
/* Tags of languages as a family writes them ("deu_Latn", "de_DE", "fra"), and their ids. Zeroed: empty. */
typedef struct ferry_import_tags {
    ferry_view *tags; /* [count] */
    int32_t *ids;     /* [count] */
    int32_t count;
} ferry_import_tags;
/* Errors: LIMIT (FERRY_IMPORT_MAX_LANGUAGES). */
ferry_status ferry_import_add_tag(ferry_import_plan *plan, ferry_import_tags *list, ferry_view tag, int32_t id,
                                  ferry_error *error);
/* Tags → plan->languages; ids are unused where there are no tags. Other names that users know join each: ISO
 * 639-1 and 639-3 codes (plan_languages.c). Every language can be source and target; tags go where source_tag and
 * target_tag say; no defaults. */
ferry_status ferry_import_languages(ferry_import_plan *plan, const ferry_import_tags *list,
                                    ferry_tag_position source_tag, ferry_tag_position target_tag, ferry_error *error);
/* The same for pieces ">>fra<<" [count, by id], tags of target languages, which precede a line; *found says whether
 * there are any. */
ferry_status ferry_import_tag_pieces(ferry_import_plan *plan, const ferry_texts *pieces, int32_t count, bool *found,
                                     ferry_error *error);
/* Whether `code` is a two-letter code of ISO 639-1, or the three-letter one of the same language. */
bool ferry_import_is_language(ferry_view code);
/* Whether a tag has the form "aaa_Aaaa": a lower-case and A upper-case letters, everything else itself. */
bool ferry_import_has_form(ferry_view text, const char *form);
/* Appends ids to a list that was empty (NULL, 0) or came from here, in the plan's memory; -1 and ids that the list
 * already has are left out. Errors: LIMIT (FERRY_IMPORT_MAX_IDS). */
ferry_status ferry_import_ids(ferry_import_plan *plan, const int32_t *ids, int32_t count, const int32_t **list,
                              int32_t *list_count, ferry_error *error);
/* The same for ids without text: plan->text.special_ids. */
ferry_status ferry_import_special(ferry_import_plan *plan, const int32_t *ids, int32_t count, ferry_error *error);
/* The same for the ids that are never generated: plan->generation.decoding.search.suppressed_ids. */
ferry_status ferry_import_suppress(ferry_import_plan *plan, const int32_t *ids, int32_t count, ferry_error *error);

/* segmenters.c: where the vocabulary has pieces that only a segmenter makes (▁Haus, Ha@@), and plan->text has none,
 * the only file of the source that fits by its content, which plan->note names; UNSUPPORTED where there is none. */
ferry_status ferry_import_find_segmenter(ferry_import_plan *plan, ferry_error *error);

/* ---- importers: each says whether it knows what the source holds, and fills a plan from it ---- */

/* `config` is config.json, its object NULL where there is none. */
bool ferry_import_is_export_layout(const ferry_import_plan *plan, ferry_json config);
ferry_status ferry_import_export_layout(ferry_import_plan *plan, ferry_json config, ferry_error *error);
bool ferry_import_is_huggingface(const ferry_import_plan *plan, ferry_json config);
ferry_status ferry_import_huggingface(ferry_import_plan *plan, ferry_json config, ferry_error *error);
/* OPUS-MT archives, Bergamot and Firefox models, Marian's .npz and .bin. */
/* Whether the file `name` holds a Marian model's weights: an .npz, but not an optimizer's state; a .bin by its content,
 * unless its name says that it is a shortlist or a quality model. Files in folders do not count. */
bool ferry_import_is_marian_weights(const ferry_import_plan *plan, const char *name);
bool ferry_import_is_marian(const ferry_import_plan *plan, ferry_json config);
ferry_status ferry_import_marian(ferry_import_plan *plan, ferry_json config, ferry_error *error);
/* CTranslate2 directories, Argos packages. */
bool ferry_import_is_ctranslate2(const ferry_import_plan *plan, ferry_json config);
ferry_status ferry_import_ctranslate2(ferry_import_plan *plan, ferry_json config, ferry_error *error);
/* Model files of Ferry itself, which the user names; what lies beside them does not matter. */
bool ferry_import_is_model_file(const ferry_import_plan *plan);
ferry_status ferry_import_model_file(ferry_import_plan *plan, ferry_error *error);

/* ---- layers (plan_tensors.c) ---- */

/* A family's layers as a table: each row says which tensor of the source becomes which tensor of the model file.
 *
 * Names are put together from a row's and its table's parts. For layer 3 of the decoder, table {"encoder", "decoder"},
 * ".layers.", "." and row {"ffn_up", "fc1", "FD"}:
 *
 *     source      decoder.layers.3.fc1 + the endings of the table: ".weight", ".bias"
 *     model file  dec.blk.3.ffn_up + ".weight", ".bias"
 *
 * A row of the whole stack (FERRY_ROW_STACK) leaves out the layer: decoder.layer_norm, dec.output_norm. */

/* What a row needs, joined by |. A row is used when everything it needs is true of the stack. */
typedef enum ferry_row_needs {
    FERRY_ROW_STACK = 1 << 0,    /* once for the stack, not for each layer */
    FERRY_ROW_OPTIONAL = 1 << 1, /* left out where the source has no such weight */
    FERRY_ROW_ENCODER = 1 << 2,
    FERRY_ROW_DECODER = 1 << 3,
    FERRY_ROW_PRE_NORM = 1 << 4,
    FERRY_ROW_POST_NORM = 1 << 5,
    FERRY_ROW_GATED = 1 << 6,
    FERRY_ROW_PLAIN = 1 << 7, /* not gated */
    FERRY_ROW_ATTENTION = 1 << 8,
    FERRY_ROW_SSRU = 1 << 9 /* instead of the decoder's self-attention */
} ferry_row_needs;

typedef struct ferry_layer_row {
    const char *to;    /* "attn_q" */
    const char *from;  /* "self_attn.q_proj" */
    const char *shape; /* "AD": a matrix [A, D]; "D": a norm [D]. A: heads · head width, D: d_model, F: ffn width */
    unsigned needs;    /* of ferry_row_needs */
    const char *bias;  /* its name where it is not `from` with the table's ending */
    int32_t slice;     /* which rows of a matrix [slices · A, D] that holds several: the first A, the second, … */
    int32_t slices;    /* 0: the row has its own matrix */
} ferry_layer_row;

typedef struct ferry_layer_endings {
    const char *weight; /* ".weight" */
    const char *bias;   /* ".bias"; NULL: none, unless the row names one */
} ferry_layer_endings;

typedef struct ferry_layer_table {
    const ferry_layer_row *rows; /* [count] */
    size_t count;
    const char *layer;          /* between the stack's name and the layer's number: ".layers." */
    const char *separator;      /* after the number, or the stack's name: "." */
    ferry_layer_endings linear; /* of matrices */
    ferry_layer_endings norm;   /* of norms; an RMS norm has no bias */
    bool zero_bias;             /* a missing bias is zeros where another matrix of the stack has one, otherwise none */
    const int32_t *numbers;     /* [layer_count], of the source's layers; NULL: 0, 1, … */
    /* Reads the source's matrix `name` (without the ending of weights), as the model file's [N, K]; NULL:
     * floating-point numbers [N, K] as they are. */
    ferry_status (*matrix)(void *context, const char *name, int32_t N, int32_t K, ferry_import_tensor *matrix,
                           ferry_error *error);
    void *context; /* of `matrix` */
} ferry_layer_table;

/* The tensors of a stack, for the sizes and choices in plan->model, join the plan in the order of the table: rows of
 * the stack that precede those of layers, then layer after layer, then the rest. Names of the source begin with
 * plan->prefix. */
ferry_status ferry_import_layers(ferry_import_plan *plan, const ferry_layer_table *table, bool decoder,
                                 ferry_error *error);

/* ---- the tensors of a model file (write_tensors.c) ---- */

/* The type of a matrix in the model file. */
ferry_type ferry_import_matrix_type(const ferry_import_tensor *tensor, const ferry_import_options *options);
/* Whether the model file has a coarse matrix beside this one: it is the output matrix, and there is no shortlist to be
 * searched instead. */
bool ferry_import_has_coarse(const ferry_import_plan *plan, const ferry_import_tensor *tensor,
                             const ferry_import_options *options);
/* Every tensor, with those that belong to int8 matrices and the coarse output matrix, into the table. Errors:
 * UNSUPPORTED (a matrix that int8 cannot hold). */
ferry_status ferry_import_declare(const ferry_import_plan *plan, ferry_gguf_writer *writer,
                                  const ferry_import_options *options, ferry_error *error);
/* Starts the file, and writes their numbers in the same order. */
ferry_status ferry_import_append(const ferry_import_plan *plan, ferry_gguf_writer *writer,
                                 const ferry_import_options *options, ferry_error *error);

#endif
