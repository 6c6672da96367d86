/* Reading safetensors: a u64 with the header's length, a JSON header {name: {dtype, shape, data_offsets}}, the data.
 * Every claim of a header is checked: the tensors must tile the data exactly. What importers read is
 * ferry_safetensors_read (weights.h); this is the same for golden data. */
#ifndef FERRY_CONTAINERS_SAFETENSORS_H
#define FERRY_CONTAINERS_SAFETENSORS_H

#include "base/system.h"
#include "base/tensor.h"
#include "weights.h"

/* The type of tensors that can be skipped but not read (U8, BOOL, …). */
#define FERRY_SAFETENSORS_OTHER ((ferry_type)255)

typedef struct ferry_safetensors {
    ferry_tensor *tensors; /* [tensor_count] by name */
    size_t tensor_count;
    ferry_mapped_file map; /* empty when the bytes are the caller's */
    struct json_t *header; /* owns the names */
} ferry_safetensors;

/* Maps `path`. Zeroed on failure, filled otherwise; close it. Errors: IO, FORMAT, UNSUPPORTED (an element type, or a
 * Git LFS pointer instead of the file), MEMORY. */
ferry_status ferry_safetensors_open(const char *path, ferry_safetensors *file, ferry_error *error);
/* The same for bytes that the caller keeps; `name` is for messages. */
ferry_status ferry_safetensors_parse(ferry_view bytes, const char *name, ferry_safetensors *file, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_safetensors_close(ferry_safetensors *file);

/* NULL when there is no such tensor. */
const ferry_tensor *ferry_safetensors_find(const ferry_safetensors *file, const char *name);

/* UNSUPPORTED when `bytes` are a Git LFS pointer: a note in place of a file that was not downloaded. */
ferry_status ferry_check_not_lfs_pointer(ferry_view bytes, const char *path, ferry_error *error);

#endif
