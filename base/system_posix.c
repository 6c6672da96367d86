#define _GNU_SOURCE /* madvise, getentropy, strtod_l, st_mtim, open_memstream */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#if defined(__APPLE__)
#include <sys/random.h>
#include <sys/sysctl.h>
#include <xlocale.h>
#endif

#if defined(__APPLE__)
#define WRITTEN st_mtimespec
#define CHANGED st_ctimespec
#else
#define WRITTEN st_mtim
#define CHANGED st_ctim
#endif

enum { LARGE_PAGE = 1 << 21, CACHE_LINE = 64 };

/* ---- files ---- */

static ferry_file_kind kind_of(mode_t mode)
{
    return S_ISREG(mode)    ? FERRY_KIND_FILE
           : S_ISDIR(mode)  ? FERRY_KIND_FOLDER
           : S_ISLNK(mode)  ? FERRY_KIND_LINK
           : S_ISFIFO(mode) ? FERRY_KIND_PIPE
           : S_ISSOCK(mode) ? FERRY_KIND_SOCKET
                            : FERRY_KIND_DEVICE;
}

bool ferry_file_found(int result, const struct stat *found, ferry_file_info *info)
{
    if (result != 0) return false;
    *info = (ferry_file_info){
        .kind = kind_of(found->st_mode),
        .size = (uint64_t)found->st_size,
        .device = (uint64_t)found->st_dev,
        .number = (uint64_t)found->st_ino,
        .links = (uint64_t)found->st_nlink,
        .written = {found->WRITTEN.tv_sec, found->WRITTEN.tv_nsec},
        .changed = {found->CHANGED.tv_sec, found->CHANGED.tv_nsec},
        .owner = found->st_uid,
        .permissions = found->st_mode & 0777,
        .private_to_user = found->st_uid == geteuid() && (found->st_mode & (S_IWGRP | S_IWOTH)) == 0,
    };
    return true;
}

bool ferry_file_examine_open(int descriptor, ferry_file_info *info)
{
    struct stat found;
    return ferry_file_found(fstat(descriptor, &found), &found, info);
}

int ferry_descriptor_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

void ferry_descriptor_close(int descriptor)
{
    close(descriptor);
}

int64_t ferry_descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset)
{
    char *next = data;
    size_t done = 0;
    while (done < size) {
        const ssize_t count = pread(descriptor, next + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (count == 0) break;
        done += (size_t)count;
    }
    return (int64_t)done;
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

/* ---- pages ---- */

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

const char *ferry_pages_map(int descriptor, uint64_t offset, size_t length)
{
    const size_t before = (size_t)(offset % page_size());
    const char *data = mmap(NULL, before + length, PROT_READ, MAP_PRIVATE, descriptor, (off_t)(offset - before));
    return data != MAP_FAILED ? data + before : NULL;
}

/* By mmap(), so that ferry_pages_release() treats copies and mappings alike. */
char *ferry_pages_allocate(size_t size)
{
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data != MAP_FAILED ? data : NULL;
}

void ferry_pages_release(const char *data, size_t size, bool mapped)
{
    const size_t before = (uintptr_t)data % page_size();
    (void)mapped;
    munmap((void *)((uintptr_t)data - before), before + size);
}

void ferry_pages_forget(const char *data, size_t size)
{
    const size_t page = page_size(), begin = (uintptr_t)data, first = ferry_round_up(begin, page),
                 end = (begin + size) / page * page;
    if (first < end) madvise((void *)first, end - first, MADV_DONTNEED); /* advice only */
}

/* ---- memory ---- */

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
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
    if (memory != NULL) ferry_pages_forget(memory, size);
    free(memory);
}

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

void ferry_large_touch(void *memory, size_t size, double patience)
{
#ifdef MADV_HUGEPAGE
    const size_t page = page_size();
    volatile char *bytes = memory;
    size_t at = 0;
    for (double took = 0; at < size && took <= patience; at += LARGE_PAGE) {
        const double begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
        bytes[at] = bytes[at];
        took = read_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    if (at >= size) return;
    madvise(memory, size, MADV_NOHUGEPAGE); /* existing pages stay as they are */
    for (; at < size; at += page) bytes[at] = bytes[at];
    madvise(memory, size, MADV_HUGEPAGE);
#else
    (void)memory, (void)size, (void)patience;
#endif
}

void ferry_heap_trim(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/* ---- the processor ---- */

/* Tiles are large: Linux saves them only for processes that have requested permission, and refuses it if an alternate
 * signal stack is too small for them. Repeated requests have no effect. Documentation/arch/x86/xstate.rst. */
bool ferry_permit_tiles(void)
{
#if defined(__x86_64__) && defined(__linux__)
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}

#if defined(__APPLE__)
static bool has_feature(const char *name)
{
    int has = 0;
    size_t size = sizeof has;
    return sysctlbyname(name, &has, &size, NULL, 0) == 0 && has != 0;
}
#endif

bool ferry_has_dot_products(void)
{
#if defined(__aarch64__) && defined(__linux__)
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#elif defined(__APPLE__)
    return has_feature("hw.optional.arm.FEAT_DotProd");
#else
    return false;
#endif
}

bool ferry_has_matrix_products(void)
{
#if defined(__aarch64__) && defined(__linux__)
    return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
#elif defined(__APPLE__)
    return has_feature("hw.optional.arm.FEAT_I8MM");
#else
    return false;
#endif
}

/* ---- clocks ---- */

double ferry_clock(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* ---- random numbers ---- */

bool ferry_entropy(void *bytes, size_t size)
{
    return getentropy(bytes, size) == 0;
}

/* ---- numbers ---- */

double ferry_parse_double(const char *text, char **end)
{
    const locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *end = (char *)(uintptr_t)text;
    if (locale == (locale_t)0) return 0;
    const double value = strtod_l(text, end, locale);
    freelocale(locale);
    return value;
}
