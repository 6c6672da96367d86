#define _XOPEN_SOURCE 700
#include "cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/new_file.h"
#include "command.h"
#include "source_state.h"

#define ENTRY_ENDING ".gguf"
enum { MOST_BASE = 40, DAY = 24 * 60 * 60, MOST_DAYS = 90 };
static const uint64_t most_bytes = UINT64_C(20000000000);

/* ---- what can be trusted ---- */

static const char *kind(mode_t mode)
{
    return S_ISREG(mode)    ? "file"
           : S_ISDIR(mode)  ? "folder"
           : S_ISLNK(mode)  ? "link"
           : S_ISFIFO(mode) ? "pipe"
                            : "device or socket";
}

/* Whether it is a file (S_IFREG) or a folder (S_IFDIR) that only this user could have written; a message if not. */
static bool check_own(const char *path, const struct stat *found, mode_t type, const char *advice)
{
    const unsigned long user = geteuid();
    if ((found->st_mode & S_IFMT) == type && found->st_uid == user && (found->st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return true;
    ferry_complain("%s: not used: expected a %s that belongs to user %lu and that nobody else can write, found a %s of "
                   "user %lu with permissions %03o; %s",
                   path, kind(type), user, kind(found->st_mode), (unsigned long)found->st_uid,
                   (unsigned)found->st_mode & 0777, advice);
    return false;
}

/* ---- the folder ---- */

static bool make_folder(const char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return true;
    ferry_complain("%s: cannot create the folder: %s", path, strerror(errno));
    return false;
}

/* The folder above. */
static bool find_above(char *above, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(above, size, "%s", cache);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(above, size, "%s/.cache", home);
    } else {
        ferry_complain("no folder for converted models: set XDG_CACHE_HOME or HOME, or use 'ferry convert'");
        return false;
    }
    if (length >= 0 && (size_t)length < size) return true;
    ferry_complain("the name of the cache's folder is too long");
    return false;
}

/* Says why opening it failed, with errno. */
static void complain_of_folder(const char *path, const char *advice)
{
    const int failure = errno;
    struct stat found;
    if ((failure == ENOTDIR || failure == ELOOP) && lstat(path, &found) == 0 &&
        !check_own(path, &found, S_IFDIR, advice))
        return;
    ferry_complain("%s: cannot open: %s", path, strerror(failure));
}

bool ferry_cache_folder_open(ferry_cache_folder *folder, bool create)
{
    static const char advice[] = "mend it with 'chown' and 'chmod go-w', or set XDG_CACHE_HOME to another place";
    char above[sizeof folder->path - sizeof "/ferry"];
    struct stat found;
    folder->descriptor = -1;
    if (!find_above(above, sizeof above)) return false;
    snprintf(folder->path, sizeof folder->path, "%s/ferry", above);
    if (create && !(make_folder(above) && make_folder(folder->path))) return false;
    folder->descriptor = open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->descriptor < 0) {
        if (!create && errno == ENOENT) return true;
        complain_of_folder(folder->path, advice);
        return false;
    }
    if (fstat(folder->descriptor, &found) == 0 && check_own(folder->path, &found, S_IFDIR, advice)) return true;
    ferry_cache_folder_close(folder);
    return false;
}

void ferry_cache_folder_close(ferry_cache_folder *folder)
{
    if (folder->descriptor >= 0) close(folder->descriptor);
    folder->descriptor = -1;
}

/* ---- names ---- */

ferry_cache_name ferry_cache_entry(const char *path, const char *hash)
{
    ferry_cache_name name;
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    if (base[0] == '\0') base = "model";
    size_t size = strlen(base);
    if (size > MOST_BASE) {
        size = MOST_BASE;
        while (size > 0 && ((unsigned char)base[size] & 0xC0) == 0x80) size--; /* inside a character */
    }
    snprintf(name.text, sizeof name.text, "%.*s-%s" ENTRY_ENDING, (int)size, base, hash);
    return name;
}

/* Whether the name ends in "-HASH.gguf". */
static bool is_entry(const char *name)
{
    const size_t length = strlen(name), size = 1 + FERRY_STATE_DIGITS + strlen(ENTRY_ENDING);
    if (length < size || !ferry_text_ends(name, ENTRY_ENDING) || name[length - size] != '-') return false;
    for (size_t i = 1; i <= FERRY_STATE_DIGITS; i++)
        if (ferry_hex_digit(name[length - size + i]) < 0) return false;
    return true;
}

/* ---- files ---- */

bool ferry_cache_open_file(const ferry_cache_folder *folder, const char *name, int *descriptor)
{
    char path[PATH_MAX];
    struct stat found;
    *descriptor = openat(folder->descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*descriptor < 0 && errno == ENOENT) return true;
    const int failure = errno;
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    /* What cannot be opened this way may be a link or a socket. */
    const int examined =
        *descriptor >= 0 ? fstat(*descriptor, &found) : fstatat(folder->descriptor, name, &found, AT_SYMLINK_NOFOLLOW);
    const bool own = examined == 0 && check_own(path, &found, S_IFREG, "'ferry cache clear' removes it");
    if (own && *descriptor >= 0) return true;
    if (own || examined != 0) ferry_complain("%s: cannot open: %s", path, strerror(failure));
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
    return false;
}

/* The most recently used first; then by name. */
static int compare_use(const void *a, const void *b)
{
    const ferry_cache_file *one = a, *other = b;
    if (one->used != other->used) return one->used > other->used ? -1 : 1;
    return strcmp(one->name.text, other->name.text);
}

static bool list_names(DIR *directory, ferry_cache_file **files, size_t *count)
{
    const time_t now = time(NULL);
    size_t capacity = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        struct stat found;
        const bool temporary = ferry_is_temporary_name(entry->d_name);
        if (!temporary && !is_entry(entry->d_name)) continue;
        if (fstatat(dirfd(directory), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue; /* gone */
        ferry_cache_file *grown = ferry_array_grow(*files, &capacity, *count + 1, sizeof *grown);
        if (grown == NULL) return false;
        *files = grown;
        ferry_cache_file *file = &grown[(*count)++];
        *file = (ferry_cache_file){.temporary = temporary,
                                   .in_use = temporary && now - found.st_mtime <= DAY,
                                   .size = S_ISREG(found.st_mode) ? (uint64_t)found.st_size : 0,
                                   .used = found.st_mtime};
        snprintf(file->name.text, sizeof file->name.text, "%s", entry->d_name);
    }
    return true;
}

bool ferry_cache_list(const ferry_cache_folder *folder, ferry_cache_file **files, size_t *count)
{
    *files = NULL;
    *count = 0;
    if (folder->descriptor < 0) return true;
    const int again = openat(folder->descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* fdopendir takes it */
    DIR *directory = again >= 0 ? fdopendir(again) : NULL;
    if (directory == NULL) {
        ferry_complain("%s: cannot list the folder: %s", folder->path, strerror(errno));
        if (again >= 0) close(again);
        return false;
    }
    const bool listed = list_names(directory, files, count);
    closedir(directory);
    if (!listed) {
        ferry_complain("%s: cannot list the folder: out of memory", folder->path);
        free(*files);
        return false;
    }
    if (*count > 0) qsort(*files, *count, sizeof **files, compare_use);
    return true;
}

bool ferry_cache_remove(const ferry_cache_folder *folder, const char *name)
{
    if (unlinkat(folder->descriptor, name, 0) == 0 || errno == ENOENT) return true;
    if (errno == EISDIR && unlinkat(folder->descriptor, name, AT_REMOVEDIR) == 0) return true;
    ferry_complain("%s/%s: cannot remove: %s", folder->path, name, strerror(errno));
    return false;
}

void ferry_cache_trim(const ferry_cache_folder *folder, const char *kept)
{
    const time_t now = time(NULL);
    ferry_cache_file *files;
    size_t count;
    uint64_t total = 0;
    if (!ferry_cache_list(folder, &files, &count)) return;
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].name.text, kept) == 0) total = files[i].size;
    for (size_t i = 0; i < count; i++) {
        const ferry_cache_file *file = &files[i];
        if (file->in_use || strcmp(file->name.text, kept) == 0) continue;
        const bool old = file->temporary || now - file->used > (time_t)MOST_DAYS * DAY;
        if (!old) total += file->size;
        if (old || total > most_bytes) ferry_cache_remove(folder, file->name.text);
    }
    free(files);
}
