#define _GNU_SOURCE /* O_PATH */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_system.h"

#if defined(O_PATH)
#define FOLDER O_PATH
#else
#define FOLDER O_SEARCH /* macOS */
#endif

enum {
    MAX_LINKS = 40, /* as Linux follows */
    FOR_ALL = 0666, /* less the umask */
};

static ferry_status fail(const ferry_new_file *file, const char *what, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_IO, "%s: %s: %s", file->path, what, strerror(errno));
}

/* ---- the place ---- */

/* Makes the folder of `path`, which begins at file->directory, the new file->directory, and keeps the name in it. False
 * and errno if that fails. Cuts `path`. */
static bool enter_folder(ferry_new_file *file, char *path)
{
    char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash[1] != '\0' ? slash + 1 : ".";
    if (name[0] == '\0' || strlen(name) >= sizeof file->name) {
        errno = name[0] == '\0' ? ENOENT : ENAMETOOLONG;
        return false;
    }
    strcpy(file->name, name);
    if (slash != NULL) *slash = '\0';
    const char *folder = slash == NULL ? "." : slash == path ? "/" : path;
    const int before = file->directory;
    file->directory = openat(before >= 0 ? before : AT_FDCWD, folder, FOLDER | O_DIRECTORY | O_CLOEXEC);
    if (before >= 0) close(before);
    return file->directory >= 0;
}

/* The rule that Linux has for opening (fs.protected_symlinks), since links are read here: in a folder where everybody
 * may create files but not remove those of others, only one's own links and those of the folder's owner are followed.
 */
static bool may_follow(int directory, const struct stat *link)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    struct stat folder;
    if (fstat(directory, &folder) != 0) return false;
    if ((folder.st_mode & shared) != shared || link->st_uid == geteuid() || link->st_uid == folder.st_uid) return true;
    errno = EACCES;
    return false;
}

/* As read_link, but a link may fill `path`. */
#if defined(O_PATH)
static ssize_t target_of_link(int directory, const char *name, char *path, size_t size)
{
    struct stat status;
    ssize_t length = 0;
    const int link = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (link < 0) return errno == ENOENT ? 0 : -1;
    if (fstat(link, &status) != 0)
        length = -1;
    else if (S_ISLNK(status.st_mode))
        length = may_follow(directory, &status) ? readlinkat(link, "", path, size) : -1;
    close(link);
    return length;
}
#else
/* The link could be exchanged between the two calls: this system has none that would prevent it. */
static ssize_t target_of_link(int directory, const char *name, char *path, size_t size)
{
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : -1;
    if (!S_ISLNK(status.st_mode)) return 0;
    return may_follow(directory, &status) ? readlinkat(directory, name, path, size) : -1;
}
#endif

/* Reads the link `name` into `path`. Its length is 0 if it is none, or if there is no such file, -1 and errno on
 * failure. */
static ssize_t read_link(const ferry_new_file *file, char *path, size_t size)
{
    const ssize_t length = target_of_link(file->directory, file->name, path, size);
    if (length < (ssize_t)size) return length;
    errno = ENAMETOOLONG;
    return -1;
}

/* Sets file->directory and file->name to the end of all links. False and errno if there is none. */
static bool find_place(ferry_new_file *file)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s", file->path) >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int links = 0; links <= MAX_LINKS; links++) {
        if (!enter_folder(file, path)) return false;
        const ssize_t length = read_link(file, path, sizeof path);
        if (length <= 0) return length == 0;
        path[length] = '\0';
    }
    errno = ELOOP;
    return false;
}

/* What is there now must be a file that may be replaced, or nothing. */
static ferry_status check_place(ferry_new_file *file, ferry_error *error)
{
    ferry_file_info info;
    if (ferry_file_examine_in(file->directory, file->name, &info)) {
        FERRY_TRY(ferry_expect_regular_file(file->path, info.kind, error));
        if (faccessat(file->directory, file->name, W_OK, AT_EACCESS) != 0) return fail(file, "cannot replace", error);
        file->mode = info.permissions;
        file->owned = info.owner == geteuid();
    } else if (errno != ENOENT) {
        return fail(file, "cannot create", error);
    }
    return faccessat(file->directory, ".", W_OK | X_OK, AT_EACCESS) == 0
               ? FERRY_OK
               : fail(file, "cannot create a file beside it", error);
}

ferry_status ferry_new_file_open(const char *path, ferry_new_file *file, ferry_error *error)
{
    ferry_file_info info;
    *file = (ferry_new_file){.path = path, .directory = -1, .descriptor = -1, .mode = FOR_ALL};
    /* What the system finds there may have no name of its own, as the pipe behind a name in /dev/fd. */
    if (ferry_file_examine(path, &info)) FERRY_TRY(ferry_expect_regular_file(path, info.kind, error));
    const ferry_status found = find_place(file) ? check_place(file, error) : fail(file, "cannot create", error);
    if (found != FERRY_OK) ferry_new_file_close(file);
    return found;
}

/* ---- the bytes ---- */

static ferry_status create(ferry_new_file *file, ferry_error *error)
{
    file->temporary = ferry_temporary_name_create();
    file->descriptor =
        openat(file->directory, file->temporary.text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file->mode);
    if (file->descriptor < 0) return fail(file, "cannot create a file beside it", error);
    /* The umask is no matter for one's own file, but in a folder for all, somebody may have made one that all may
     * write. If the system refuses this, less is permitted than before. */
    if (file->owned) fchmod(file->descriptor, file->mode);
    return FERRY_OK;
}

ferry_status ferry_new_file_write_at(ferry_new_file *file, uint64_t offset, const char *data, size_t size,
                                     ferry_error *error)
{
    if (file->descriptor < 0) FERRY_TRY(create(file, error));
    while (size > 0) {
        const ssize_t count = pwrite(file->descriptor, data, size, (off_t)offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(file, "cannot write", error);
        data += count;
        size -= (size_t)count;
        offset += (uint64_t)count;
    }
    return FERRY_OK;
}

/* ---- the end ---- */

/* To the disk: otherwise a crash of the system could leave the name with an empty file. Where files cannot be
 * synchronized (EINVAL), there is nothing to wait for. */
static bool synchronize(int descriptor)
{
    int result;
    do result = fsync(descriptor);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EINVAL;
}

ferry_status ferry_new_file_finish(ferry_new_file *file, ferry_error *error)
{
    FERRY_TRY(ferry_new_file_write_at(file, 0, NULL, 0, error)); /* an empty file has to be created, too */
    if (!synchronize(file->descriptor)) return fail(file, "cannot write", error);
    if (renameat(file->directory, file->temporary.text, file->directory, file->name) != 0)
        return fail(file, "cannot rename the new file", error);
    close(file->descriptor);
    file->descriptor = -1;
    return FERRY_OK;
}

void ferry_new_file_close(ferry_new_file *file)
{
    if (file->descriptor >= 0) {
        close(file->descriptor);
        unlinkat(file->directory, file->temporary.text, 0);
    }
    if (file->directory >= 0) close(file->directory);
    file->directory = file->descriptor = -1;
}
