/* WebAssembly: a module has memory, and of WASI's functions a clock, random numbers and where text is written; there
 * are no files and no libraries. */
#define _GNU_SOURCE /* open_memstream, getentropy, clock_gettime */
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- files: there are none ---- */

static bool no_file(void)
{
    errno = ENOENT;
    return false;
}

bool ferry_file_examine(const char *path, ferry_file_info *info)
{
    (void)path, (void)info;
    return no_file();
}

bool ferry_file_examine_open(int descriptor, ferry_file_info *info)
{
    (void)descriptor, (void)info;
    return no_file();
}

char *ferry_path_real(const char *path)
{
    (void)path;
    no_file();
    return NULL;
}

int ferry_descriptor_open(const char *path)
{
    (void)path;
    return no_file() - 1;
}

void ferry_descriptor_close(int descriptor)
{
    (void)descriptor;
}

int64_t ferry_descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset)
{
    (void)descriptor, (void)data, (void)size, (void)offset;
    return no_file() - 1;
}

ferry_folder *ferry_folder_open(const char *path)
{
    (void)path;
    no_file();
    return NULL;
}

const char *ferry_folder_next(ferry_folder *folder)
{
    (void)folder;
    return NULL;
}

void ferry_folder_close(ferry_folder *folder)
{
    (void)folder;
}

bool ferry_memory_stream_open(ferry_memory_stream *stream)
{
    stream->data = NULL;
    stream->size = 0;
    stream->file = open_memstream(&stream->data, &stream->size);
    return stream->file != NULL;
}

bool ferry_memory_stream_close(ferry_memory_stream *stream)
{
    bool kept = !ferror(stream->file);
    if (fclose(stream->file) != 0) kept = false;
    if (kept) return true;
    free(stream->data);
    stream->data = NULL;
    return false;
}

/* ---- memory, which no module gives back ---- */

const char *ferry_pages_map(int descriptor, uint64_t offset, size_t length)
{
    (void)descriptor, (void)offset, (void)length;
    no_file();
    return NULL;
}

char *ferry_pages_allocate(size_t size)
{
    return ferry_large_alloc(ferry_large_size(size));
}

void ferry_pages_release(const char *data, size_t size, bool mapped)
{
    (void)size, (void)mapped;
    free((void *)(uintptr_t)data);
}

void ferry_pages_forget(const char *data, size_t size)
{
    (void)data, (void)size;
}

void *ferry_aligned_alloc(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

void ferry_aligned_free(void *memory)
{
    free(memory);
}

void ferry_large_free(void *memory, size_t size)
{
    (void)size;
    free(memory);
}

size_t ferry_large_size(size_t size)
{
    enum { LINE = 64 };
    size_t padded;
    return ferry_add_size(size, LINE - 1, &padded) ? padded / LINE * LINE : 0;
}

void *ferry_large_alloc(size_t size)
{
    return size > 0 ? aligned_alloc(64, size) : NULL;
}

void ferry_large_touch(void *memory, size_t size, double patience)
{
    (void)memory, (void)size, (void)patience;
}

void ferry_heap_trim(void)
{
}

size_t ferry_peak_memory(void)
{
    return (size_t)__builtin_wasm_memory_size(0) << 16; /* which only grows */
}

size_t ferry_own_memory(void)
{
    return 0;
}

/* ---- processors and libraries ---- */

bool ferry_permit_tiles(void)
{
    return false;
}

ferry_function *ferry_library_function(const char *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}

/* ---- random numbers, time, numbers in texts ---- */

bool ferry_entropy(void *bytes, size_t size)
{
    return getentropy(bytes, size) == 0;
}

double ferry_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double ferry_thread_clock(void)
{
    return ferry_clock();
}

double ferry_parse_double(const char *text, char **end)
{
    return strtod(text, end); /* the C locale is the only one */
}
