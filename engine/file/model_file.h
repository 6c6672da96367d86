/* A model file, open: the graph's configuration and weights, and what the tokenizer needs. docs/model-file.md describes
 * every key and tensor. */
#ifndef FERRY_FILE_MODEL_FILE_H
#define FERRY_FILE_MODEL_FILE_H

#include "base/bytes.h"
#include "base/system.h"
#include "engine/graph/transformer.h"
#include "engine/search/decoding.h"
#include "gguf.h"
#include "schema.h"
#include "tokenizer/tokenizer_config.h"

/* The content hash of a model file: XXH3 (128 bits) of all its bytes, with the digits of the hash itself read as '0'.
 * It detects damage, not forgery. */

enum { FERRY_HASH_DIGITS = 32 };
/* The key of the digits. */
#define FERRY_HASH_KEY "ferry.hash"
#define FERRY_HASH_ZEROS "00000000000000000000000000000000"

typedef struct ferry_content_hash ferry_content_hash;
typedef struct ferry_stored_matrix ferry_stored_matrix;

/* NULL if out of memory. */
ferry_content_hash *ferry_content_hash_create(void);
/* NULL is allowed. */
void ferry_content_hash_destroy(ferry_content_hash *hash);
/* The next bytes. */
void ferry_content_hash_add(ferry_content_hash *hash, const void *data, size_t size);
/* Lower-case hexadecimal digits of the hash of all bytes so far, in its canonical order. */
void ferry_content_hash_digits(const ferry_content_hash *hash, char digits[FERRY_HASH_DIGITS]);

/* Everything belongs to the struct and is valid until ferry_model_file_close. Immutable: threads may share it. */
typedef struct ferry_model_file {
    ferry_mapped_file map;
    ferry_gguf gguf; /* all keys and tensors */
    ferry_view name; /* general.name */
    ferry_view hash; /* digits of ferry.hash, in the map; empty: the file carries none */
    ferry_transformer transformer;
    ferry_generation generation;
    ferry_tokenizer_config text;     /* zeroed, with `present` false, if the file has no tokenizer */
    ferry_model_languages languages; /* empty without a tokenizer */
    ferry_model_origin origin;
    int64_t parameters;   /* trained numbers: weights and biases, each counted once, without padding */
    ferry_type type;      /* of the matrices in the file */
    size_t widened_bytes; /* memory for matrices that are not float32 in the file */
    float *widened;
    ferry_stored_matrix *matrices; /* [matrix_count] */
    size_t matrix_count;
    ferry_arena arena; /* layers, ids, names of languages */
} ferry_model_file;

/* Checks every key and tensor of the file, which `name` names in messages. The map belongs to *file from now on, or is
 * closed by a failure. Nothing can be computed yet: f16 and tied matrices have no memory.
 * Errors: FORMAT (a key or tensor is missing, unknown or wrong), UNSUPPORTED (a feature that this build lacks, by
 * name), MEMORY. *file is zeroed on failure. */
ferry_status ferry_model_file_read(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                   ferry_model_file *file, ferry_error *error);
/* The same, and completes the graph. float32 matrices are used where they are mapped, and are not read here. f16
 * matrices get memory; ferry_model_file_widen fills it in. */
ferry_status ferry_model_file_open(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                   ferry_model_file *file, ferry_error *error);
/* Widens the f16 matrices. Called once, by one thread, before the first computation. */
void ferry_model_file_widen(const ferry_model_file *file, const ferry_kernels *kernels);
/* Compares the whole file's hash with ferry.hash, and looks at the codes of matrices of steps. Errors: FORMAT (another
 * hash, codes beyond -127 … 127), UNSUPPORTED (no hash), MEMORY. */
ferry_status ferry_model_file_verify(const ferry_model_file *file, ferry_error *error);
/* Allocates file->widened: `bytes` > 0 for matrices that the file does not have as float32, in huge pages where the
 * system grants them. ferry_model_file_close frees it. */
ferry_status ferry_model_file_reserve(ferry_model_file *file, size_t bytes, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_model_file_close(ferry_model_file *file);

#endif
