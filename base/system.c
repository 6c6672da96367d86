#define _GNU_SOURCE /* madvise, getentropy */
#include "system.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LARGE_PAGE = 1 << 21, CACHE_LINE = 64 };

/* ---- files ---- */

ferry_status ferry_expect_regular_file(const char *name, unsigned mode, ferry_error *error)
{
    if (S_ISREG(mode)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_IO, "%s: expected a regular file, found a %s", name,
                      S_ISDIR(mode)    ? "directory"
                      : S_ISFIFO(mode) ? "pipe"
                      : S_ISSOCK(mode) ? "socket"
                                       : "device");
}

static ferry_status out_of_memory(const char *name, uint64_t bytes, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_MEMORY, "%s: out of memory: %" PRIu64 " bytes for a copy", name, bytes);
}

/* Memory for a copy: pages, as a mapping has, so that both are released alike. */
static bool allocate_copy(size_t size, ferry_mapped_file *file)
{
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return false;
    *file = (ferry_mapped_file){.bytes = {data, size}, .hold = FERRY_FILE_COPIED};
    return true;
}

/* Reads into the copy. A file that is truncated meanwhile is an error here, where touching its mapping would end the
 * process. */
static ferry_status read_part(int descriptor, const char *name, uint64_t offset, const ferry_mapped_file *copy,
                              ferry_error *error)
{
    char *data = (char *)(uintptr_t)copy->bytes.data;
    for (size_t done = 0; done < copy->bytes.size;) {
        const ssize_t count = pread(descriptor, data + done, copy->bytes.size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot read: %s", name, strerror(errno));
        if (count == 0)
            return ferry_fail(error, FERRY_ERROR_IO, "%s: ended at byte %" PRIu64 ", expected %" PRIu64, name,
                              offset + done, offset + copy->bytes.size);
        done += (size_t)count;
    }
    return FERRY_OK;
}

static ferry_status map_part(int descriptor, const char *name, uint64_t offset, size_t length, ferry_mapped_file *file,
                             ferry_error *error)
{
    const size_t before = (size_t)(offset % (uint64_t)sysconf(_SC_PAGESIZE));
    const char *data = mmap(NULL, before + length, PROT_READ, MAP_PRIVATE, descriptor, (off_t)(offset - before));
    if (data == MAP_FAILED)
        return ferry_fail(error, errno == ENOMEM ? FERRY_ERROR_MEMORY : FERRY_ERROR_IO, "%s: cannot map: %s", name,
                          strerror(errno));
    file->bytes = (ferry_view){data + before, length};
    return FERRY_OK;
}

/* Whether the part is within a file of `size` bytes; *length becomes its actual length. */
static ferry_status check_part(const char *name, uint64_t size, uint64_t offset, uint64_t *length, ferry_error *error)
{
    if (offset > size)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "offset: %s has %" PRIu64 " bytes, found %" PRIu64, name, size,
                          offset);
    if (*length > size - offset)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "length: %s has %" PRIu64 " bytes from there, found %" PRIu64,
                          name, size - offset, *length);
    if (*length == 0) *length = size - offset;
    return *length <= PTRDIFF_MAX ? FERRY_OK : out_of_memory(name, *length, error);
}

ferry_status ferry_mapped_file_open_part(int descriptor, const char *name, uint64_t offset, uint64_t length,
                                         ferry_file_hold hold, ferry_mapped_file *file, ferry_error *error)
{
    struct stat information;
    memset(file, 0, sizeof *file);
    if (fstat(descriptor, &information) != 0)
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot examine: %s", name, strerror(errno));
    FERRY_TRY(ferry_expect_regular_file(name, information.st_mode, error));
    FERRY_TRY(check_part(name, (uint64_t)information.st_size, offset, &length, error));
    if (length == 0) return FERRY_OK;
    if (hold == FERRY_FILE_MAPPED) return map_part(descriptor, name, offset, (size_t)length, file, error);
    if (!allocate_copy((size_t)length, file)) return out_of_memory(name, length, error);
    const ferry_status status = read_part(descriptor, name, offset, file, error);
    if (status != FERRY_OK) ferry_mapped_file_close(file);
    return status;
}

ferry_status ferry_mapped_file_open(const char *path, ferry_file_hold hold, ferry_mapped_file *file, ferry_error *error)
{
    memset(file, 0, sizeof *file);
    /* Without waiting for a pipe's other end, and without making a terminal the process's own: both are refused next.
     */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", path, strerror(errno));
    const ferry_status status = ferry_mapped_file_open_part(descriptor, path, 0, 0, hold, file, error);
    close(descriptor);
    return status;
}

ferry_status ferry_mapped_file_open_memory(ferry_view bytes, ferry_file_hold hold, ferry_mapped_file *file,
                                           ferry_error *error)
{
    *file = (ferry_mapped_file){.bytes = bytes, .hold = FERRY_FILE_BORROWED};
    if (hold == FERRY_FILE_BORROWED || bytes.size == 0) return FERRY_OK;
    if (!allocate_copy(bytes.size, file)) return out_of_memory("memory", bytes.size, error);
    memcpy((char *)(uintptr_t)file->bytes.data, bytes.data, bytes.size);
    return FERRY_OK;
}

/* Of the page that holds the first byte: where mmap began. */
static uintptr_t first_page(const ferry_mapped_file *file)
{
    return (uintptr_t)file->bytes.data / (uintptr_t)sysconf(_SC_PAGESIZE) * (uintptr_t)sysconf(_SC_PAGESIZE);
}

void ferry_mapped_file_close(ferry_mapped_file *file)
{
    const uintptr_t first = first_page(file), end = (uintptr_t)file->bytes.data + file->bytes.size;
    if (file->bytes.size > 0 && file->hold != FERRY_FILE_BORROWED) munmap((void *)first, end - first);
    memset(file, 0, sizeof *file);
}

void ferry_mapped_file_release(const ferry_mapped_file *file, size_t offset, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)file->bytes.data + offset;
    const size_t first = ferry_round_up(begin, page), end = (begin + size) / page * page;
    /* Advice only: if the system ignores it, the pages just stay resident. Those of a copy would be lost. */
    if (file->hold == FERRY_FILE_MAPPED && first < end) madvise((void *)first, end - first, MADV_DONTNEED);
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

/* ---- random numbers ---- */

void ferry_random_bytes(void *bytes, size_t size)
{
    uint8_t *data = bytes;
    if (getentropy(bytes, size) == 0) return;
    /* The clock, and where the system has put the stack. */
    uint64_t state = (uint64_t)(uintptr_t)&state ^ (uint64_t)(ferry_clock() * 1e9);
    for (size_t i = 0; i < size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data[i] = (uint8_t)(state >> 56);
    }
}
