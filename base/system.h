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
    uint64_t device, number; /* both together identify the file */
    uint64_t links;          /* hard links */
    ferry_file_time written; /* last change of the contents (mtime); the owner can set it */
    ferry_file_time changed; /* last change of contents or properties (ctime) */
    uint64_t owner;
    unsigned permissions; /* POSIX's, 0777 at most */
    bool private_to_user; /* the effective user is the owner, and nobody else may write */
} ferry_file_info;

bool ferry_file_examine_open(int descriptor, ferry_file_info *info);
/* POSIX: the result of its stat(), and what that found. */
struct stat;
bool ferry_file_found(int result, const struct stat *found, ferry_file_info *info);

/* Errors: IO unless `kind` is FERRY_KIND_FILE; the message names the kind. */
ferry_status ferry_expect_regular_file(const char *name, ferry_file_kind kind, ferry_error *error);

/* A descriptor for reading, or -1. Does not wait for a pipe's writer, and no terminal becomes the controlling one. */
int ferry_descriptor_open(const char *path);
void ferry_descriptor_close(int descriptor);
/* Returns the bytes read, less than `size` only at the end of the file; -1 on failure. */
int64_t ferry_descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset);

/* A stream that writes to memory. */
typedef struct ferry_memory_stream {
    FILE *file;
    char *data; /* set by ferry_memory_stream_close; the caller frees it */
    size_t size;
} ferry_memory_stream;
bool ferry_memory_stream_open(ferry_memory_stream *stream);
/* False, with data NULL, if a write failed. */
bool ferry_memory_stream_close(ferry_memory_stream *stream);

/* ---- bytes of files ---- */

typedef enum ferry_file_hold {
    FERRY_FILE_MAPPED,  /* read-only; the file must not be truncated while it is mapped */
    FERRY_FILE_COPIED,  /* in memory that the object owns */
    FERRY_FILE_BORROWED /* in the caller's memory */
} ferry_file_hold;

/* The bytes of a file, valid until ferry_mapped_file_close. */
typedef struct ferry_mapped_file {
    ferry_view bytes; /* page-aligned if they begin at offset 0 and are not borrowed; an empty file has size 0 */
    ferry_file_hold hold;
} ferry_mapped_file;

/* Maps or copies the regular file `path`. Errors: IO (also for a folder, pipe or device), MEMORY. */
ferry_status ferry_mapped_file_open(const char *path, ferry_file_hold hold, ferry_mapped_file *file,
                                    ferry_error *error);
/* The same for `length` bytes at `offset` of an open file (0: to its end); messages call it `name`. Errors: as above,
 * and ARGUMENT (the bytes go beyond the end of the file). */
ferry_status ferry_mapped_file_open_part(int descriptor, const char *name, uint64_t offset, uint64_t length,
                                         ferry_file_hold hold, ferry_mapped_file *file, ferry_error *error);
/* Borrows or copies bytes in memory. */
ferry_status ferry_mapped_file_open_memory(ferry_view bytes, ferry_file_hold hold, ferry_mapped_file *file,
                                           ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_mapped_file_close(ferry_mapped_file *file);
/* Tells the system that this range will hardly be read again, so that mapped pages need not stay resident. */
void ferry_mapped_file_release(const ferry_mapped_file *file, size_t offset, size_t size);

/* ---- memory ---- */

/* `size` bytes, uninitialized, at a multiple of `alignment`, a power of 2 that divides `size`. NULL if out of memory.
 * Release them with ferry_aligned_free, which allows NULL. */
void *ferry_aligned_alloc(size_t alignment, size_t size);
void ferry_aligned_free(void *memory);
/* Releases `size` bytes of ferry_aligned_alloc or ferry_large_alloc, and returns their pages to the system at once (the
 * C library might keep them). */
void ferry_large_free(void *memory, size_t size);

/* `size` rounded up to a size for ferry_large_alloc; 0 on overflow. */
size_t ferry_large_size(size_t size);
/* `size` bytes for tables and caches, uninitialized, aligned to at least 64 bytes. `size` is a result of
 * ferry_large_size. If it is a huge page or more, the system is asked for huge pages: data that every step reads nearly
 * whole then cause fewer TLB misses. NULL if out of memory or if `size` is 0. Release them with ferry_aligned_free or
 * ferry_large_free. */
void *ferry_large_alloc(size_t size);
/* Touches every page, so that the system provides it; the contents stay. Pages are huge until one takes more than
 * `patience` seconds of processor time, because the system moves other pages to make room. The pages after it are
 * small; the system may merge them later. */
void ferry_large_touch(void *memory, size_t size, double patience);
/* Asks the C library to return freed memory to the system, including free blocks between used ones. */
void ferry_heap_trim(void);

/* Pages, for system.c, memory.c and spools. Functions that fail leave the reason in errno. */
/* `length` > 0 bytes of a file, mapped; NULL on failure. */
const char *ferry_pages_map(int descriptor, uint64_t offset, size_t length);
/* Allocates `size` > 0 bytes; NULL on failure. */
char *ferry_pages_allocate(size_t size);
/* Releases what ferry_pages_map (`mapped`) or ferry_pages_allocate returned. */
void ferry_pages_release(const char *data, size_t size, bool mapped);
/* These bytes need not stay resident. Mapped bytes are read from the file again; the contents of other memory are lost.
 */
void ferry_pages_forget(const char *data, size_t size);

/* ---- processors ---- */

/* Asks the system for permission to use AMX's tiles. Returns whether this process may use them. */
bool ferry_permit_tiles(void);
/* Whether an AArch64 processor has dot products of int8 (FEAT_DotProd), matrix products of int8 (FEAT_I8MM). */
bool ferry_has_dot_products(void);
bool ferry_has_matrix_products(void);

/* ---- random numbers, time, numbers in texts ---- */

/* Up to 256 unpredictable bytes; false if the system has none. */
bool ferry_entropy(void *bytes, size_t size);
/* The same; if the system has none, bytes that differ from run to run. */
void ferry_random_bytes(void *bytes, size_t size);

/* Seconds of a monotonic clock. */
double ferry_clock(void);

/* strtod() in the C locale, independent of the process's locale; 0 and *end = text if out of memory. */
double ferry_parse_double(const char *text, char **end);

#endif
