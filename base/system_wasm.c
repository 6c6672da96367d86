/* WebAssembly: a module has memory and two functions of WASI, a clock and random numbers. Its files are in memory.
 * Functions that only the program and ferry_inspect.h call are missing: a module contains neither. */
#define _GNU_SOURCE /* getentropy, clock_gettime, strdup */
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files_wasm.h"

/* ---- files: one list of paths and bytes ---- */

enum { MAX_FILES = 64, CACHE_LINE = 64 };
static ferry_memory_file files[MAX_FILES];
static int file_count;

static int find_file(const char *path)
{
    int i = file_count - 1;
    while (i >= 0 && strcmp(files[i].path, path) != 0) i--;
    if (i < 0) errno = ENOENT;
    return i;
}

bool ferry_memory_file_add(const char *path, const char *data, size_t size)
{
    char *name = file_count < MAX_FILES ? strdup(path) : NULL;
    if (name == NULL) return false;
    files[file_count++] = (ferry_memory_file){name, data, size};
    return true;
}

const ferry_memory_file *ferry_memory_file_at(int index)
{
    return index < file_count ? &files[index] : NULL;
}

void ferry_memory_files_remove(const char *kept)
{
    int count = 0;
    for (int i = 0; i < file_count; i++) {
        if (kept != NULL && strcmp(files[i].path, kept) == 0) {
            files[count++] = files[i];
            continue;
        }
        free((void *)(uintptr_t)files[i].path);
        free((void *)(uintptr_t)files[i].data);
    }
    file_count = count;
}

bool ferry_file_examine_open(int descriptor, ferry_file_info *info)
{
    *info = (ferry_file_info){.kind = FERRY_KIND_FILE, .size = files[descriptor].size, .number = (uint64_t)descriptor};
    return true;
}

int ferry_descriptor_open(const char *path)
{
    return find_file(path);
}

void ferry_descriptor_close(int descriptor)
{
    (void)descriptor;
}

int64_t ferry_descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset)
{
    const ferry_memory_file *file = &files[descriptor];
    const size_t left = offset < file->size ? file->size - (size_t)offset : 0, count = size < left ? size : left;
    if (count > 0) memcpy(data, file->data + offset, count);
    return (int64_t)count;
}

/* ---- memory, which a module never returns ---- */

const char *ferry_pages_map(int descriptor, uint64_t offset, size_t length)
{
    (void)length;
    return files[descriptor].data + offset;
}

char *ferry_pages_allocate(size_t size)
{
    return ferry_large_alloc(ferry_large_size(size));
}

void ferry_pages_release(const char *data, size_t size, bool mapped)
{
    (void)size;
    if (!mapped) free((void *)(uintptr_t)data);
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
    size_t padded;
    return ferry_add_size(size, CACHE_LINE - 1, &padded) ? padded / CACHE_LINE * CACHE_LINE : 0;
}

void *ferry_large_alloc(size_t size)
{
    return size > 0 ? aligned_alloc(CACHE_LINE, size) : NULL;
}

void ferry_large_touch(void *memory, size_t size, double patience)
{
    (void)memory, (void)size, (void)patience;
}

void ferry_heap_trim(void)
{
}

/* ---- the processor ---- */

bool ferry_permit_tiles(void)
{
    return false;
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

double ferry_parse_double(const char *text, char **end)
{
    return strtod(text, end); /* the C locale is the only one */
}
