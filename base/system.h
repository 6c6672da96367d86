/* The operating system: mapped files, aligned and large allocations, clocks, random numbers, features of the processor.
 * (Threads: threads.h; files and folders for importers and the program: base/files; terminals: tools/system.)
 *
 * System calls are in files whose names end in _posix.c, _windows.c or _wasm.c: one of the three is compiled. Paths are
 * UTF-8 with '/' or, on Windows, either slash; errors of files are in errno. */
#ifndef FERRY_BASE_SYSTEM_H
#define FERRY_BASE_SYSTEM_H

#include <stdio.h>

#include "bytes.h"
#include "status.h"

/* ---- files: functions that fail leave the reason in errno ---- */

typedef enum ferry_file_kind {
    FERRY_KIND_FILE,
    FERRY_KIND_FOLDER,
    FERRY_KIND_LINK, /* symbolic */
    FERRY_KIND_PIPE,
    FERRY_KIND_SOCKET,
    FERRY_KIND_DEVICE
} ferry_file_kind;

typedef struct ferry_file_time {
    int64_t seconds, nanoseconds; /* since 1970 */
} ferry_file_time;

typedef struct ferry_file_info {
    ferry_file_kind kind;
    uint64_t size;
    uint64_t device, number; /* both together: of no other file */
    uint64_t links;          /* hard links */
    ferry_file_time written; /* the contents (mtime), which its owner can set */
    ferry_file_time changed; /* the contents or the properties (ctime) */
    uint64_t owner;
    unsigned permissions; /* POSIX's */
    bool private_to_user; /* the effective user is the owner, and nobody else may write */
} ferry_file_info;

bool ferry_file_examine_open(int descriptor, ferry_file_info *info);
/* POSIX: the result of its stat(), and what that found. */
struct stat;
bool ferry_file_found(int result, const struct stat *found, ferry_file_info *info);

/* IO, and the message says what `name` is instead. */
ferry_status ferry_expect_regular_file(const char *name, ferry_file_kind kind, ferry_error *error);

/* A descriptor for reading, or -1; does not wait for a pipe's other end, nor make a terminal the process's own. */
int ferry_descriptor_open(const char *path);
void ferry_descriptor_close(int descriptor);
/* How many bytes were read, which are fewer than `size` at the end of the file alone; -1 on failure. */
int64_t ferry_descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset);

/* A stream into memory. */
typedef struct ferry_memory_stream {
    FILE *file;
    char *data; /* set by ferry_memory_stream_close; the caller frees it */
    size_t size;
} ferry_memory_stream;
bool ferry_memory_stream_open(ferry_memory_stream *stream);
/* False, with data NULL, if anything was lost. */
bool ferry_memory_stream_close(ferry_memory_stream *stream);

/* ---- bytes of files ---- */

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

/* ---- memory ---- */

/* `size` bytes, uninitialized, at a multiple of `alignment`, which is a power of 2 and divides `size`. NULL if out of
 * memory. Released with ferry_aligned_free alone, which allows NULL. */
void *ferry_aligned_alloc(size_t alignment, size_t size);
void ferry_aligned_free(void *memory);
/* The same for memory of `size` bytes, or of ferry_large_alloc, whose pages go back to the system at once, where the C
 * library might keep them. */
void ferry_large_free(void *memory, size_t size);

/* The size that ferry_large_alloc takes for at least `size` bytes; 0 if there is none. */
size_t ferry_large_size(size_t size);
/* `size` bytes, from ferry_large_size, for tables and caches, uninitialized. From the size of a huge page on, in huge
 * pages where the system grants them: data that every step reads nearly whole then cause fewer TLB misses. Aligned to
 * at least 64 bytes. NULL if out of memory, or if `size` is 0; release it with ferry_aligned_free or ferry_large_free.
 */
void *ferry_large_alloc(size_t size);
/* Touches every page, so that the system provides it; contents stay. Pages are huge until one takes more than
 * `patience` seconds of processor time, as the system makes room for it by moving others, and small from then on; the
 * system may merge these later. */
void ferry_large_touch(void *memory, size_t size, double patience);
/* Returns to the system what the C library keeps of freed memory, which it may do for parts between others only when it
 * is told. */
void ferry_heap_trim(void);

/* Pages, for system.c, memory.c and spools. Functions that fail leave the reason in errno. */
/* `length` > 0 bytes of a file, mapped; NULL on failure. */
const char *ferry_pages_map(int descriptor, uint64_t offset, size_t length);
/* `size` > 0 bytes of memory; NULL on failure. */
char *ferry_pages_allocate(size_t size);
/* What one of both returned. */
void ferry_pages_release(const char *data, size_t size, bool mapped);
/* These bytes need not stay resident: those of a file are read again, what is in other memory may be lost. */
void ferry_pages_forget(const char *data, size_t size);

/* ---- processors ---- */

/* Asks the system to let this process use AMX's tiles; whether it does. */
bool ferry_permit_tiles(void);
/* Whether an AArch64 processor has dot products of int8 (FEAT_DotProd); products of matrices of int8 (FEAT_I8MM). */
bool ferry_has_dot_products(void);
bool ferry_has_matrix_products(void);

/* ---- random numbers, time, numbers in texts ---- */

/* Up to 256 bytes that nobody can foresee; false if the system has none. */
bool ferry_entropy(void *bytes, size_t size);
/* The same; instead of none, numbers that differ from run to run. */
void ferry_random_bytes(void *bytes, size_t size);

/* Seconds of a monotonic clock. */
double ferry_clock(void);

/* strtod() in the C locale, whatever the process's is; 0 and *end = text if it is out of memory. */
double ferry_parse_double(const char *text, char **end);

#endif
