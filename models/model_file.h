/* A model file, open: the graph's configuration and weights, and the texts that a tokenizer needs. docs/model-file.md
 * describes every key and tensor. */
#ifndef FERRY_MODELS_MODEL_FILE_H
#define FERRY_MODELS_MODEL_FILE_H

#include "../engine/graph/model.h"
#include "gguf.h"

/* What turns text into ids and back. Without a tokenizer in the file: `present` is false and everything else zero. */
typedef struct ferry_model_text {
    bool present;
    ferry_view source_model;         /* SentencePiece model */
    ferry_view target_model;         /* the same bytes (equal pointers) when the file holds one for both */
    const ferry_view *source_pieces; /* [source_count] by id; empty: no piece has this id */
    int32_t source_count;            /* = encoder.vocab_size */
    const ferry_view *target_pieces; /* [target_count] by id; the same array when the vocabulary is shared */
    int32_t target_count;            /* = decoder.vocab_size */
    int32_t source_unk_id;           /* for pieces that source_pieces lacks */
    bool leading_tag;                /* a line's start from ">>" to the first "<<" is one piece (Marian) */
    const int32_t *prefix_ids;       /* put before the ids of a source line */
    int32_t prefix_count;
    const int32_t *suffix_ids; /* put behind them: the end of sentence */
    int32_t suffix_count;
    const int32_t *special_ids; /* target ids that have no text: end of sentence, padding, unknown */
    int32_t special_count;
} ferry_model_text;

/* Where the model came from. Views are empty and counts 0 where the file does not say. */
typedef struct ferry_model_origin {
    ferry_view kind;         /* "huggingface-marian", "seq2seq-export-1" */
    ferry_view name;         /* of the converted directory */
    ferry_view licence;      /* its text */
    const ferry_view *files; /* [file_count] names of what was read */
    const uint64_t *sizes;   /* [file_count] bytes */
    size_t file_count;
} ferry_model_origin;

/* Everything belongs to the struct and stays until ferry_model_file_close. Immutable: threads may share it. */
typedef struct ferry_model_file {
    ferry_gguf gguf; /* the mapping, all keys and tensors */
    ferry_view name; /* general.name */
    ferry_transformer transformer;
    ferry_model_text text;
    ferry_model_origin origin;
    int64_t parameters;   /* numbers that were trained: weights and biases, each stored once, padding not counted */
    ferry_type type;      /* of the matrices in the file */
    size_t widened_bytes; /* memory for matrices that are not float32 in the file */
    float *widened;
    ferry_arena arena; /* layers, ids */
} ferry_model_file;

/* Maps `path`, checks every key and tensor, and binds the graph. float32 matrices are used where they are mapped;
 * nothing of them is read. Errors: IO, FORMAT (a key or tensor is missing, unknown or wrong), UNSUPPORTED (a feature
 * that this build lacks, by name), MEMORY. *file is zeroed on failure. */
ferry_status ferry_model_file_open(const char *path, const ferry_kernels *kernels, ferry_model_file *file,
                                   ferry_error *error);
/* file->widened: memory for `bytes` > 0 of matrices that no file holds as they are used, in large pages where the
 * system grants them. ferry_model_file_close frees it. */
ferry_status ferry_model_file_reserve(ferry_model_file *file, size_t bytes, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_model_file_close(ferry_model_file *file);

#endif
