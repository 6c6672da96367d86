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

enum {
    FERRY_IMPORT_MAX_TREES = 16, /* JSON and YAML files */
    FERRY_IMPORT_MAX_SHARDS = 1024,
};

typedef struct ferry_import_plan {
    ferry_source *source;
    ferry_account *account; /* of the source: counts all memory of the plan */
    const char *name;       /* ferry.origin.name */
    /* ferry.origin.kind: "opus-mt", "bergamot", "marian", "huggingface-nllb", "ctranslate2", "argos", … */
    const char *kind;

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
    const char *note;       /* for options->noted; NULL: nothing to note */
    const char *guessed[2]; /* the pair of languages, if only a name says it; NULL: none */
    ferry_model_file *file; /* a source that is a model file: its origin is kept; NULL otherwise */

    ferry_weights weights;
    ferry_weights *shards; /* [shard_count] of weights in several files; the entries point to their memory */
    size_t shard_count;
    const char *prefix;                  /* of the names of weights: "" or "model." */
    bool *used;                          /* [weights.count] */
    struct ferry_import_tensor *tensors; /* [tensor_count], capacity tensor_capacity (plan_tensors.h) */
    size_t tensor_count;
    size_t tensor_capacity;

    json_t *trees[FERRY_IMPORT_MAX_TREES];
    size_t tree_count;
    struct ferry_spm *segmenters[2];
    const char *segmenter_files[2];
    const char *vocabulary_files[2]; /* of source and target; NULL: the SentencePiece model's own */
    size_t segmenter_count;
    int32_t closing_id; /* an id that ferry_import_find_segmenter adds after each line; -1: none */
    ferry_arena arena;
} ferry_import_plan;

/* An empty plan: decoding rules are switched off, there are no ids and no special choices. */
void ferry_import_plan_init(ferry_import_plan *plan, ferry_source *source);
/* Does not close the source. */
void ferry_import_plan_destroy(ferry_import_plan *plan);

/* How the model file will say that texts are divided. */
ferry_tokenizer_kind ferry_import_tokenizer_kind(const ferry_tokenizer_config *text);

/* ---- files ---- */

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
ferry_status ferry_import_note(ferry_import_plan *plan, ferry_short_text note, ferry_error *error);

/* ---- weights ---- */

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
#endif
