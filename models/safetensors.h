/* Reading safetensors: a u64 with the header's length, a JSON header {name: {dtype, shape, data_offsets}}, the data.
 * One file, or several that an index lists. Every claim of a header is checked: the tensors must tile the data exactly.
 */
#ifndef FERRY_MODELS_SAFETENSORS_H
#define FERRY_MODELS_SAFETENSORS_H

#include "../engine/base/mapped_file.h"
#include "../engine/base/tensor.h"

/* The type of tensors that can be skipped but not read (U8, BOOL, …). */
#define FERRY_SAFETENSORS_OTHER ((ferry_type)255)

typedef struct ferry_safetensors_part ferry_safetensors_part;

typedef struct ferry_safetensors {
    ferry_safetensors_part *parts; /* [part_count], in the order of their first tensor */
    size_t part_count;
    ferry_tensor *tensors; /* [tensor_count] by name */
    size_t tensor_count;
} ferry_safetensors;

/* Maps `path`: a safetensors file, or an index ("….index.json") whose files lie beside it. Zeroed on failure, filled
 * otherwise; close it. Errors: IO, FORMAT, UNSUPPORTED (an element type, or a Git LFS pointer instead of the file),
 * MEMORY. */
ferry_status ferry_safetensors_open(const char *path, ferry_safetensors *file, ferry_error *error);
/* One file's content, which the caller keeps; `name` stands in messages. */
ferry_status ferry_safetensors_parse(ferry_view bytes, const char *name, ferry_safetensors *file, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_safetensors_close(ferry_safetensors *file);

/* NULL when there is no such tensor. */
const ferry_tensor *ferry_safetensors_find(const ferry_safetensors *file, const char *name);
/* The name and the size of file number `part`. */
const char *ferry_safetensors_part_path(const ferry_safetensors *file, size_t part);
size_t ferry_safetensors_part_size(const ferry_safetensors *file, size_t part);
/* The file that holds `tensor`, for messages. */
const char *ferry_safetensors_path(const ferry_safetensors *file, const ferry_tensor *tensor);
/* The tensor was read for the last time for now: its pages need not stay resident. */
void ferry_safetensors_release(const ferry_safetensors *file, const ferry_tensor *tensor);

/* UNSUPPORTED when `bytes` are a Git LFS pointer: a note that stands where a file was not downloaded. */
ferry_status ferry_check_not_lfs_pointer(ferry_view bytes, const char *path, ferry_error *error);

#endif
