/* Reading GGUF version 3, the container of a model file: metadata (key → value), then aligned tensors.
 *
 * The reader validates all input: counts, lengths, types, shapes, offsets, the order and end of the data are checked
 * before use, and opening a file gives either a consistent table or an error that names the file and the key or tensor.
 * Each tensor must begin where the one before it ends, as ggml requires: there are no overlaps and no hidden bytes. */
#ifndef FERRY_FILE_GGUF_H
#define FERRY_FILE_GGUF_H

#include "base/memory.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/string_table.h"

#define FERRY_GGUF_VERSION 3
#define FERRY_GGUF_MAX_TENSOR_NAME 63

/* Types of metadata values; the numbers are the format's. */
typedef enum ferry_gguf_type {
    FERRY_GGUF_U8 = 0,
    FERRY_GGUF_I8 = 1,
    FERRY_GGUF_U16 = 2,
    FERRY_GGUF_I16 = 3,
    FERRY_GGUF_U32 = 4,
    FERRY_GGUF_I32 = 5,
    FERRY_GGUF_F32 = 6,
    FERRY_GGUF_BOOL = 7,
    FERRY_GGUF_TEXT = 8,
    FERRY_GGUF_ARRAY = 9,
    FERRY_GGUF_U64 = 10,
    FERRY_GGUF_I64 = 11,
    FERRY_GGUF_F64 = 12
} ferry_gguf_type;

typedef struct ferry_gguf_value {
    ferry_view key;
    ferry_gguf_type type; /* of the value, or of an array's elements */
    bool is_array;
    uint64_t count;  /* elements of an array; 1 otherwise */
    ferry_view data; /* little-endian bytes of the number(s); the text itself; empty for an array of texts */
    const ferry_string_table *texts; /* [count], an array of texts, less than 4 GiB of them; NULL otherwise */
} ferry_gguf_value;

typedef struct ferry_gguf {
    ferry_view bytes;         /* the whole file; the caller's */
    const char *file;         /* its name, for messages; owned */
    ferry_gguf_value *values; /* [value_count] by key */
    size_t value_count;
    ferry_tensor *tensors; /* [tensor_count] by name; data points into the file */
    size_t tensor_count;
    size_t alignment; /* of every tensor, from the beginning of the file */
} ferry_gguf;

/* Checks a file whose bytes the caller keeps for as long as *gguf; `file` is its name for messages. Errors: FORMAT,
 * UNSUPPORTED (a version or a tensor type), MEMORY. *gguf is zeroed on failure; close it otherwise. */
ferry_status ferry_gguf_open(ferry_view bytes, const char *file, ferry_gguf *gguf, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_gguf_close(ferry_gguf *gguf);

/* NULL if there is none. */
const ferry_gguf_value *ferry_gguf_find(const ferry_gguf *gguf, const char *key);
const ferry_tensor *ferry_gguf_tensor(const ferry_gguf *gguf, const char *name);

/* Typed values of required keys. Errors (FORMAT) name file and key: missing, of another type, out of range.
 * Integers are accepted in every width, numbers as f32 or f64. Views point into the file. */
ferry_status ferry_gguf_get_integer(const ferry_gguf *gguf, const char *key, int64_t min, int64_t max, int64_t *value,
                                    ferry_error *error);
ferry_status ferry_gguf_get_f32(const ferry_gguf *gguf, const char *key, float *value, ferry_error *error);
ferry_status ferry_gguf_get_bool(const ferry_gguf *gguf, const char *key, bool *value, ferry_error *error);
ferry_status ferry_gguf_get_text(const ferry_gguf *gguf, const char *key, ferry_view *value, ferry_error *error);
/* An array of texts; *texts belongs to *gguf. */
ferry_status ferry_gguf_get_texts(const ferry_gguf *gguf, const char *key, const ferry_string_table **texts,
                                  size_t *count, ferry_error *error);
/* An array of u8. */
ferry_status ferry_gguf_get_bytes(const ferry_gguf *gguf, const char *key, ferry_view *bytes, ferry_error *error);
/* An array of integers, each in min … max, copied into `arena` as numbers of `size` bytes: 4 (int32_t) or 8. */
ferry_status ferry_gguf_get_integers(const ferry_gguf *gguf, const char *key, int64_t min, int64_t max, size_t size,
                                     ferry_arena *arena, const void **values, size_t *count, ferry_error *error);
/* An array of f64, copied into `arena`. */
ferry_status ferry_gguf_get_reals(const ferry_gguf *gguf, const char *key, ferry_arena *arena, const void **values,
                                  size_t *count, ferry_error *error);

#endif
