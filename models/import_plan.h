/* A model as importers find it, before it is written: the graph's sizes and choices, its texts, and for each tensor of
 * the model file the tensor of the source. An importer fills a plan; ferry_import_write writes it. For importers alone.
 *
 * What a plan refers to (mapped files, JSON trees, strings) belongs to it and stays until ferry_import_plan_destroy. */
#ifndef FERRY_MODELS_IMPORT_PLAN_H
#define FERRY_MODELS_IMPORT_PLAN_H

#include "import.h"
#include "json.h"
#include "model_file.h"
#include "safetensors.h"

enum {
    FERRY_IMPORT_MAX_FILES = 16,     /* that are not weights */
    FERRY_IMPORT_MAX_SIZE = 1 << 20, /* of widths and layers: what a model file can hold is checked when it is opened */
    FERRY_IMPORT_MAX_VOCABULARY = 1 << 24
};

typedef enum ferry_import_parameter_kind {
    FERRY_IMPORT_TEXT,
    FERRY_IMPORT_INTEGER,
    FERRY_IMPORT_REAL
} ferry_import_parameter_kind;

typedef struct ferry_import_parameter {
    const char *key;
    ferry_import_parameter_kind kind; /* which of these */
    const char *text;
    int32_t integer;
    float real;
} ferry_import_parameter;

/* A positional encoding under the names of the model file; its tensors are among the plan's. */
typedef struct ferry_import_position {
    const char *type;
    ferry_import_parameter parameters[4];
    size_t count;
} ferry_import_position;

/* How a tensor is stored. */
typedef enum ferry_import_form {
    FERRY_IMPORT_VECTOR, /* [n], float32 */
    FERRY_IMPORT_TABLE,  /* [rows, n], float32 */
    FERRY_IMPORT_MATRIX  /* [N, K] in panels, in options->type */
} ferry_import_form;

typedef struct ferry_import_tensor {
    char name[FERRY_GGUF_MAX_TENSOR_NAME + 1]; /* in the model file */
    const ferry_tensor *source;
    ferry_import_form form;
} ferry_import_tensor;

typedef struct ferry_import_plan {
    const char *directory;
    const char *name; /* ferry.origin.name */
    const char *kind; /* ferry.origin.kind */

    /* Sizes, choices, ids, decoding defaults; weights, layers and positions of the stacks stay empty. */
    ferry_transformer model;
    ferry_import_position encoder_position;
    ferry_import_position decoder_position;
    bool tied_embeddings;
    bool tied_output;
    bool output_bias;
    ferry_model_text text;
    ferry_view licence;

    ferry_safetensors weights;
    const char *prefix;           /* of the names of weights: "" or "model." */
    bool *used;                   /* [weights.tensor_count] */
    ferry_import_tensor *tensors; /* [tensor_count], capacity tensor_capacity */
    size_t tensor_count;
    size_t tensor_capacity;

    ferry_mapped_file maps[FERRY_IMPORT_MAX_FILES];
    const char *map_names[FERRY_IMPORT_MAX_FILES];
    size_t map_count;
    json_t *trees[FERRY_IMPORT_MAX_FILES];
    size_t tree_count;
    struct ferry_spm *segmenters[2];
    size_t segmenter_count;
    ferry_arena arena;
} ferry_import_plan;

/* A zeroed plan is empty. */
void ferry_import_plan_destroy(ferry_import_plan *plan);

/* ---- files (import_plan.c) ---- */

/* directory/name in the plan's memory; NULL when memory is out. */
const char *ferry_import_path(ferry_import_plan *plan, const char *name);
bool ferry_import_has_file(ferry_import_plan *plan, const char *name);
/* Maps a file of the directory and notes it as read. */
ferry_status ferry_import_map(ferry_import_plan *plan, const char *name, ferry_view *bytes, ferry_error *error);
ferry_status ferry_import_json(ferry_import_plan *plan, const char *name, ferry_json *json, ferry_error *error);
/* The same for a file that may be missing: json->object is NULL then. */
ferry_status ferry_import_optional_json(ferry_import_plan *plan, const char *name, ferry_json *json,
                                        ferry_error *error);
/* The licence, if the directory has one. */
ferry_status ferry_import_licence(ferry_import_plan *plan, ferry_error *error);

/* ---- tensors (import_plan.c) ---- */

/* model.safetensors or model.safetensors.index.json. */
ferry_status ferry_import_open_weights(ferry_import_plan *plan, ferry_error *error);
/* prefix + name, or NULL; a tensor that was found counts as used. */
const ferry_tensor *ferry_import_find(ferry_import_plan *plan, const char *prefix, const char *name);
/* The tensor must exist, hold floating-point numbers and have the shape [N, K], or [N] for K = 0. */
ferry_status ferry_import_take(ferry_import_plan *plan, const char *prefix, const char *name, int32_t N, int32_t K,
                               const ferry_tensor **tensor, ferry_error *error);
ferry_status ferry_import_check_shape(const ferry_import_plan *plan, const ferry_tensor *tensor, int32_t N, int32_t K,
                                      ferry_error *error);
/* The model file gets `source` as the tensor `name`. */
ferry_status ferry_import_add(ferry_import_plan *plan, const ferry_tensor *source, ferry_import_form form,
                              ferry_error *error, const char *name, ...) __attribute__((format(printf, 5, 6)));
/* A tensor that was not used and does not match `ignored` is an error. */
ferry_status ferry_import_check_unused(const ferry_import_plan *plan, bool (*ignored)(ferry_view name),
                                       ferry_error *error);
/* Elements first … first + count - 1, exactly as float32 (f64: rounded). */
void ferry_import_widen(const ferry_tensor *tensor, size_t first, size_t count, float *values);

/* ---- parts that families share ---- */

/* import_bart.c: the layers and end norms of the BART family's names, `{encoder,decoder}.layers.N.self_attn.q_proj…`,
 * for the sizes in plan->model. */
ferry_status ferry_import_bart_layers(ferry_import_plan *plan, ferry_error *error);
/* `final_logits_bias`, left out when it is missing or zero everywhere. */
ferry_status ferry_import_bart_bias(ferry_import_plan *plan, ferry_error *error);
/* import_positions.c: `position` of the export layout, for the sizes in plan->model; tensors join the plan's. */
ferry_status ferry_import_positions(ferry_import_plan *plan, ferry_json config, ferry_error *error);
/* relu, gelu, swish and its other name silu. */
ferry_status ferry_import_activation(const char *file, const char *name, ferry_activation *activation,
                                     ferry_error *error);

/* import_text.c: SentencePiece models and tables of pieces. */
/* source.spm and target.spm (missing: the same as source.spm) into plan->text. */
ferry_status ferry_import_segmenters(ferry_import_plan *plan, ferry_error *error);
/* {piece: id} → pieces [count] by id; every id is in 0 … count - 1 and occurs once; ids without a piece get an empty
 * one. */
ferry_status ferry_import_vocabulary(ferry_import_plan *plan, ferry_json json, int32_t count, const ferry_view **pieces,
                                     ferry_error *error);
/* The SentencePiece model's own table, filled up with empty pieces to `count`; *unknown_id is its unknown piece. */
ferry_status ferry_import_own_vocabulary(ferry_import_plan *plan, size_t segmenter, int32_t count,
                                         const ferry_view **pieces, int32_t *unknown_id, ferry_error *error);
/* The id of `piece` in {piece: id}; -1 when it has none. */
int32_t ferry_import_piece_id(ferry_json json, const char *piece);
/* A list of ids without -1 and repetitions, in the plan's memory. */
ferry_status ferry_import_ids(ferry_import_plan *plan, const int32_t *ids, int32_t count, const int32_t **list,
                              int32_t *list_count, ferry_error *error);

/* import_generation.c: Hugging Face's decoding keys. What `generation` says, or `config` where there is no
 * generation_config.json; `forced_last_id` is the family's default for the latter case (-1: none). Start, eos and pad
 * of plan->model are the family's defaults when this is called, and then the model's. */
ferry_status ferry_import_generation(ferry_import_plan *plan, ferry_json config, ferry_json generation,
                                     int32_t forced_last_id, ferry_error *error);

/* ---- importers: each fills a plan from plan->directory ---- */

ferry_status ferry_import_export_layout(ferry_import_plan *plan, ferry_json config, ferry_error *error);
ferry_status ferry_import_huggingface(ferry_import_plan *plan, ferry_json config, ferry_error *error);

/* import_write.c */
ferry_status ferry_import_write(const ferry_import_plan *plan, const char *output, ferry_type type, const char *name,
                                ferry_error *error);

#endif
