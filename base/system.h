/* The operating system: mapped files, large allocations, clocks, libraries loaded on demand. (Threads: pool.h.) */
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
/* Tells the system that a range inside the mapping will not be read again: its pages need not stay resident. */
void ferry_mapped_file_release(const ferry_mapped_file *file, size_t offset, size_t size);

/* The size that ferry_large_alloc takes for at least `size` bytes; 0 if there is none. */
size_t ferry_large_size(size_t size);
/* `size` bytes, from ferry_large_size, for tables and caches, uninitialized. From the size of a huge page on, in huge
 * pages where the system grants them: data that every step reads nearly whole then cause fewer TLB misses. Aligned to
 * at least 64 bytes. NULL if out of memory, or if `size` is 0; release it with free(). */
void *ferry_large_alloc(size_t size);

/* A function of the shared library `library` ("libm.so.6"), which is loaded if necessary and stays. NULL if there is
 * none; the caller converts it to its type. */
typedef void ferry_function(void);
ferry_function *ferry_library_function(const char *library, const char *name);

/* Seconds of a monotonic clock; of the calling thread's CPU time. */
double ferry_clock(void);
double ferry_thread_clock(void);

#endif
