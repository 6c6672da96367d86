/* The files of a WebAssembly module, which are kept in memory. */
#ifndef FERRY_BASE_FILES_WASM_H
#define FERRY_BASE_FILES_WASM_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ferry_memory_file {
    const char *path;
    const char *data; /* [size], from malloc() */
    size_t size;
} ferry_memory_file;

/* Adds a file, which owns `data` from then on. False: out of memory, or 64 files exist. */
bool ferry_memory_file_add(const char *path, const char *data, size_t size);
/* The file of this number, which is its descriptor, too; NULL: there is none, as there are fewer. */
const ferry_memory_file *ferry_memory_file_at(int index);
/* Removes every file but the one of the path `kept` (NULL: every file). */
void ferry_memory_files_remove(const char *kept);

#endif
