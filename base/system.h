/* The operating system: mapped files, large allocations, clocks, random numbers, libraries loaded
 * on demand. (Threads: pool.h.) */
#ifndef FERRY_BASE_SYSTEM_H
#define FERRY_BASE_SYSTEM_H

#include "bytes.h"
#include "status.h"

typedef enum ferry_file_hold {
    FERRY_FILE_MAPPED,  /* read-only; the file must not be truncated meanwhile */
    FERRY_FILE_COPIED,  /* in memory of its own */
    FERRY_FILE_BORROWED /* in the caller's memory */
} ferry_file_hold;

/* The bytes of a file, which stay until ferry_mapped_file_close. */
typedef struct ferry_mapped_file {
    ferry_view bytes; /* page-aligned, unless they begin within the file or are borrowed; empty for an empty file */
    ferry_file_hold hold;
} ferry_mapped_file;

/* IO, and the message says what `name`, whose st_mode this is, is instead. */
ferry_status ferry_expect_regular_file(const char *name, unsigned mode, ferry_error *error);

/* Maps or copies the regular file `path`; all else is refused at once. */
ferry_status ferry_mapped_file_open(const char *path, ferry_file_hold hold, ferry_mapped_file *file,
                                    ferry_error *error);
/* The same for `length` bytes at `offset` of an open file (0: to its end), called `name` in messages. ARGUMENT: they go
 * beyond it. */
ferry_status ferry_mapped_file_open_part(int descriptor, const char *name, uint64_t offset, uint64_t length,
                                         ferry_file_hold hold, ferry_mapped_file *file, ferry_error *error);
/* Borrows or copies bytes in memory. */
ferry_status ferry_mapped_file_open_memory(ferry_view bytes, ferry_file_hold hold, ferry_mapped_file *file,
                                           ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_mapped_file_close(ferry_mapped_file *file);
/* Tells the system that a range of the bytes will hardly be read again: mapped pages need not stay resident. */
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

/* Numbers that nobody can foresee; without a source of them, ones that differ from run to run. */
void ferry_random_bytes(void *bytes, size_t size);

/* Seconds of a monotonic clock; of the calling thread's CPU time. */
double ferry_clock(void);
double ferry_thread_clock(void);

#endif
