/* A model file, open: the graph's configuration and weights, and what the tokenizer needs. docs/model-file.md describes
 * every key and tensor. */
#ifndef FERRY_FILE_MODEL_FILE_H
#define FERRY_FILE_MODEL_FILE_H

#include "engine/graph/transformer.h"
#include "engine/search/generation.h"
#include "gguf.h"
#include "model_text.h"

/* Everything belongs to the struct and is valid until ferry_model_file_close. Immutable: threads may share it. */
typedef struct ferry_model_file {
    ferry_gguf gguf; /* the mapping, all keys and tensors */
    ferry_view name; /* general.name */
    ferry_transformer transformer;
    ferry_generation generation;
    ferry_model_text text;
    ferry_model_origin origin;
    int64_t parameters;   /* trained numbers: weights and biases, each counted once, without padding */
    ferry_type type;      /* of the matrices in the file */
    size_t widened_bytes; /* memory for matrices that are not float32 in the file */
    float *widened;
    ferry_arena arena; /* layers, ids, names of languages */
} ferry_model_file;

/* Maps `path`, checks every key and tensor, and binds the graph. float32 matrices are used where they are mapped, and
 * not read here. Errors: IO, FORMAT (a key or tensor is missing, unknown or wrong), UNSUPPORTED (a feature that this
 * build lacks, by name), MEMORY. *file is zeroed on failure. */
ferry_status ferry_model_file_open(const char *path, const ferry_kernels *kernels, ferry_model_file *file,
                                   ferry_error *error);
/* Allocates file->widened: `bytes` > 0 for matrices that the file does not have as float32, in huge pages where the
 * system grants them. ferry_model_file_close frees it. */
ferry_status ferry_model_file_reserve(ferry_model_file *file, size_t bytes, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_model_file_close(ferry_model_file *file);

#endif
