/* What Ferry asks of the operating system: files as memory, large memory, clocks. (Threads: pool.h.) */
#ifndef FERRY_BASE_SYSTEM_H
#define FERRY_BASE_SYSTEM_H

#include "bytes.h"
#include "status.h"

/* A whole file mapped read-only. */
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

/* At least *size bytes for tables and caches, uninitialized; *size becomes what there is. From the size of a large page
 * on it consists of such pages where the system grants them: what is read nearly whole in every step then spares the
 * walks through page tables. Aligned to 64 bytes at least. NULL when memory is out; free() releases it. */
void *ferry_large_alloc(size_t *size);

/* Seconds of a clock that only goes forward; of the processor time of the calling thread. */
double ferry_clock(void);
double ferry_thread_clock(void);

#endif
