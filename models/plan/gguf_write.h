/* Writing GGUF version 3 as a stream: keys, then the table of tensors, then each tensor's bytes in the table's order.
 * Only keys are held in memory.
 *
 *     create → put… → declare… → start → for each tensor: append… → finish → destroy
 *
 * The file appears in finish (base/files/new_file.h), and nothing of it is on the disk before start, or after destroy
 * if finish is not reached. The first failure (memory, disk) is kept and reported by the next function that returns a
 * status. */
#ifndef FERRY_PLAN_GGUF_WRITE_H
#define FERRY_PLAN_GGUF_WRITE_H

#include "base/files/new_file.h"
#include "engine/file/gguf.h"

#define FERRY_GGUF_ALIGNMENT 64 /* of what this writer writes: a cache line, a zmm register */

typedef struct ferry_gguf_writer ferry_gguf_writer;

/* `path` lasts until destroy. `file`: NULL, or that path's open file, which the caller finishes and closes. What the
 * writer holds is taken from the account (NULL: nothing is counted) and, when it starts, the bytes of the whole file.
 * The account must outlive it; where it refuses, the error is MEMORY. Errors: IO, MEMORY. *writer is NULL on failure.
 */
ferry_status ferry_gguf_writer_create(const char *path, ferry_new_file *file, ferry_account *account,
                                      ferry_gguf_writer **writer, ferry_error *error);
/* NULL is allowed. */
void ferry_gguf_writer_destroy(ferry_gguf_writer *writer);

/* Keys are written in the order of these calls, each once. Numbers are in memory as in the file (bool: one byte), texts
 * are ferry_view; types: U8, BOOL, U32, I32, F32, U64, F64, TEXT. */
void ferry_gguf_put(ferry_gguf_writer *writer, const char *key, ferry_gguf_type type, const void *value);
void ferry_gguf_put_array(ferry_gguf_writer *writer, const char *key, ferry_gguf_type type, const void *values,
                          size_t count);

static inline void ferry_gguf_put_u32(ferry_gguf_writer *writer, const char *key, uint32_t value)
{
    ferry_gguf_put(writer, key, FERRY_GGUF_U32, &value);
}

static inline void ferry_gguf_put_f32(ferry_gguf_writer *writer, const char *key, float value)
{
    ferry_gguf_put(writer, key, FERRY_GGUF_F32, &value);
}

static inline void ferry_gguf_put_bool(ferry_gguf_writer *writer, const char *key, bool value)
{
    ferry_gguf_put(writer, key, FERRY_GGUF_BOOL, &value);
}

static inline void ferry_gguf_put_string(ferry_gguf_writer *writer, const char *key, const char *value)
{
    const ferry_view text = ferry_text_view(value);
    ferry_gguf_put(writer, key, FERRY_GGUF_TEXT, &text);
}

static inline void ferry_gguf_put_texts(ferry_gguf_writer *writer, const char *key, const ferry_view *values,
                                        size_t count)
{
    ferry_gguf_put_array(writer, key, FERRY_GGUF_TEXT, values, count);
}

/* The same of a list of texts [count]. */
void ferry_gguf_put_list(ferry_gguf_writer *writer, const char *key, const ferry_string_table *texts, size_t count);

/* The content hash of the file (engine/file/model_file.h), at most once; finish fills it in. */
void ferry_gguf_put_hash(ferry_gguf_writer *writer);

/* shape [dims], slowest first; `name` has at most FERRY_GGUF_MAX_TENSOR_NAME bytes. */
void ferry_gguf_declare(ferry_gguf_writer *writer, const char *name, ferry_type type, int32_t dims,
                        const int64_t *shape);
/* Writes keys and table. Errors: IO, MEMORY. */
ferry_status ferry_gguf_writer_start(ferry_gguf_writer *writer, ferry_error *error);
/* Appends bytes to the current tensor. When it is complete, the next tensor becomes current. */
ferry_status ferry_gguf_writer_append(ferry_gguf_writer *writer, const void *data, size_t bytes, ferry_error *error);
/* Gives the file its name, unless it is the caller's; every declared tensor must be complete. Errors: IO, MEMORY. */
ferry_status ferry_gguf_writer_finish(ferry_gguf_writer *writer, ferry_error *error);

#endif
