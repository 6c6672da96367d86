/* Reading safetensors: a u64 with the header's length, a JSON header {name: {dtype, shape, data_offsets}}, the data.
 * Every claim of a header is checked: the tensors must tile the data exactly. What importers read is
 * ferry_safetensors_read (weights.h); this is the same for golden data in files. */
#ifndef FERRY_CONTAINERS_SAFETENSORS_H
#define FERRY_CONTAINERS_SAFETENSORS_H

#include "base/system.h"
#include "weights.h"

typedef struct ferry_safetensors {
    ferry_mapped_file map;
    ferry_weights weights;
} ferry_safetensors;

/* Maps `path`. Zeroed on failure, filled otherwise; close it. Errors: IO, FORMAT, UNSUPPORTED (an element type, or a
 * Git LFS pointer instead of the file), MEMORY. */
ferry_status ferry_safetensors_open(const char *path, ferry_safetensors *file, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_safetensors_close(ferry_safetensors *file);

/* NULL when there is no such tensor. */
const ferry_tensor *ferry_safetensors_find(const ferry_safetensors *file, const char *name);

/* UNSUPPORTED when `bytes` are a Git LFS pointer: a note in place of a file that was not downloaded. */
ferry_status ferry_check_not_lfs_pointer(ferry_view bytes, const char *path, ferry_error *error);

#endif
