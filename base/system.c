#define _GNU_SOURCE /* madvise */
#include "system.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LARGE_PAGE = 1 << 21, CACHE_LINE = 64 };

/* ---- files ---- */

ferry_status ferry_mapped_file_open(const char *path, ferry_mapped_file *file, ferry_error *error)
{
    memset(file, 0, sizeof *file);
    ferry_status status = FERRY_OK;
    struct stat information;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(descriptor, &information) != 0) {
        status = ferry_fail(error, FERRY_ERROR_IO, "%s: cannot examine: %s", path, strerror(errno));
    } else if (!S_ISREG(information.st_mode)) {
        status = ferry_fail(error, FERRY_ERROR_IO, "%s: expected a regular file", path);
    } else if (information.st_size > 0) {
        void *data = mmap(NULL, (size_t)information.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED) {
            status = ferry_fail(error, FERRY_ERROR_IO, "%s: cannot map: %s", path, strerror(errno));
        } else {
            file->bytes.data = data;
            file->bytes.size = (size_t)information.st_size;
        }
    }
    close(descriptor);
    return status;
}

void ferry_mapped_file_close(ferry_mapped_file *file)
{
    if (file->bytes.data != NULL) munmap((void *)(uintptr_t)file->bytes.data, file->bytes.size);
    memset(file, 0, sizeof *file);
}

void ferry_mapped_file_release(const ferry_mapped_file *file, size_t offset, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t begin = ferry_round_up(offset, page);
    size_t end = (offset + size) / page * page;
    /* Advice only: if the system ignores it, the pages just stay resident. */
    if (begin < end) madvise((void *)(uintptr_t)(file->bytes.data + begin), end - begin, MADV_DONTNEED);
}

/* ---- memory ---- */

static size_t large_alignment(size_t size)
{
    return size >= LARGE_PAGE ? LARGE_PAGE : CACHE_LINE;
}

size_t ferry_large_size(size_t size)
{
    const size_t alignment = large_alignment(size);
    size_t padded;
    return ferry_add_size(size, alignment - 1, &padded) ? padded / alignment * alignment : 0;
}

void *ferry_large_alloc(size_t size)
{
    const size_t alignment = large_alignment(size);
    void *memory = size > 0 ? aligned_alloc(alignment, size) : NULL;
#ifdef MADV_HUGEPAGE
    if (memory != NULL && alignment == LARGE_PAGE) madvise(memory, size, MADV_HUGEPAGE); /* may be refused */
#endif
    return memory;
}

/* ---- libraries ---- */

ferry_function *ferry_library_function(const char *library, const char *name)
{
    ferry_function *function = NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle != NULL ? dlsym(handle, name) : NULL;
    memcpy(&function, &symbol, sizeof symbol); /* POSIX: both have one representation */
    return function;
}

/* ---- clocks ---- */

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double ferry_clock(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double ferry_thread_clock(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
