/* A whole file mapped read-only. */
#ifndef FERRY_BASE_MAPPED_FILE_H
#define FERRY_BASE_MAPPED_FILE_H

#include "bytes.h"
#include "status.h"

typedef struct ferry_mapped_file {
    ferry_view bytes; /* page-aligned; empty for an empty file */
} ferry_mapped_file;

/* Maps `path`. The mapping stays until ferry_mapped_file_close; the file must not be truncated meanwhile. */
ferry_status ferry_mapped_file_open(const char *path, ferry_mapped_file *file, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_mapped_file_close(ferry_mapped_file *file);
/* Tells the system that a range (inside the mapping) was read for the last time, so its pages need not stay resident.
 */
void ferry_mapped_file_release(const ferry_mapped_file *file, size_t offset, size_t size);

#endif
