/* Files that have their bytes in memory alone. Included first. */
#ifndef FERRY_FUZZ_MEMORY_FILE_H
#define FERRY_FUZZ_MEMORY_FILE_H

#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file, which the caller closes; its path is written to `path`. */
static inline int make_file(ferry_view bytes, char path[64])
{
    const int file = memfd_create("input", 0);
    if (file < 0 || write(file, bytes.data, bytes.size) != (ssize_t)bytes.size) abort();
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

#endif
