#define _GNU_SOURCE /* mkstemp, realpath */
#include "file_system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- files and folders ---- */

bool ferry_file_examine(const char *path, ferry_file_info *info)
{
    struct stat found;
    return ferry_file_found(stat(path, &found), &found, info);
}

bool ferry_file_examine_link(const char *path, ferry_file_info *info)
{
    return ferry_file_examine_in(AT_FDCWD, path, info);
}

bool ferry_file_examine_in(int folder, const char *name, ferry_file_info *info)
{
    struct stat found;
    return ferry_file_found(fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW), &found, info);
}

const char *ferry_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

char *ferry_path_real(const char *path)
{
    return realpath(path, NULL);
}

/* A ferry_folder is a DIR. */
ferry_folder *ferry_folder_open(const char *path)
{
    return (ferry_folder *)opendir(path);
}

const char *ferry_folder_next(ferry_folder *folder)
{
    errno = 0;
    const struct dirent *entry = readdir((DIR *)folder);
    return entry != NULL ? entry->d_name : NULL;
}

void ferry_folder_close(ferry_folder *folder)
{
    closedir((DIR *)folder);
}

/* ---- spools ---- */

bool ferry_spool_open(ferry_spool *spool)
{
    char path[4096];
    const char *place = getenv("TMPDIR");
    const int length = snprintf(path, sizeof path, "%s/ferry-XXXXXX", place != NULL && place[0] != 0 ? place : "/tmp");
    *spool = (ferry_spool){.descriptor = -1};
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    spool->descriptor = mkstemp(path);
    if (spool->descriptor >= 0) unlink(path);
    return spool->descriptor >= 0;
}

bool ferry_spool_append(ferry_spool *spool, const void *bytes, size_t size)
{
    const char *next = bytes;
    while (size > 0) {
        const ssize_t written = write(spool->descriptor, next, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        next += written;
        size -= (size_t)written;
        spool->size += (size_t)written;
    }
    return true;
}

bool ferry_spool_finish(ferry_spool *spool, ferry_mapped_file *file)
{
    const char *data = spool->size > 0 ? ferry_pages_map(spool->descriptor, 0, spool->size) : "";
    const int failure = errno;
    ferry_spool_discard(spool);
    errno = failure;
    if (data == NULL) return false;
    *file = (ferry_mapped_file){.bytes = {data, spool->size}, .hold = FERRY_FILE_MAPPED};
    return true;
}

void ferry_spool_discard(ferry_spool *spool)
{
    close(spool->descriptor);
}

/* ---- this process ---- */

double ferry_thread_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

size_t ferry_peak_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
    return (size_t)usage.ru_maxrss;
#else
    return (size_t)usage.ru_maxrss * 1024;
#endif
}

/* Linux: resident pages, less those of files and shared memory, proc(5). */
size_t ferry_own_memory(void)
{
#if defined(__linux__)
    char text[128];
    unsigned long resident, shared;
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size < 0) return 0;
    text[size] = 0;
    return sscanf(text, "%*u %lu %lu", &resident, &shared) == 2
               ? (size_t)(resident - shared) * (size_t)sysconf(_SC_PAGESIZE)
               : 0;
#else
    return 0;
#endif
}
