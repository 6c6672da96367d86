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
    MAX_LINKS = 40, /* Linux's own limit */
    FOR_ALL = 0666, /* less the umask */
};

static ferry_status fail(const ferry_new_file *file, const char *what, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_IO, "%s: %s: %s", file->path, what, strerror(errno));
}

/* ---- the place ---- */

/* Opens the folder of `path`, relative to file->directory, as the new file->directory. Sets file->name to the last part
 * of `path`, which is cut there. False and errno on failure. */
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

/* Linux's rule for opening links (fs.protected_symlinks), which does not cover reading them: in a sticky folder that
 * everybody may write, a link is followed only if the user or the folder's owner owns it. False and errno if not. */
static bool may_follow(int directory, const struct stat *link)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    struct stat folder;
    if (fstat(directory, &folder) != 0) return false;
    if ((folder.st_mode & shared) != shared || link->st_uid == geteuid() || link->st_uid == folder.st_uid) return true;
    errno = EACCES;
    return false;
}

/* As read_link, but the target may fill all of `path`, without room for a NUL. */
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
/* The link could be exchanged between the two calls: without O_PATH, nothing prevents this. */
static ssize_t target_of_link(int directory, const char *name, char *path, size_t size)
{
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : -1;
    if (!S_ISLNK(status.st_mode)) return 0;
    return may_follow(directory, &status) ? readlinkat(directory, name, path, size) : -1;
}
#endif

/* Reads the target of the link file->name into `path`. Returns its length; 0 if the name is no link or does not exist;
 * -1 and errno on failure. */
static ssize_t read_link(const ferry_new_file *file, char *path, size_t size)
{
    const ssize_t length = target_of_link(file->directory, file->name, path, size);
    if (length < (ssize_t)size) return length;
    errno = ENAMETOOLONG;
    return -1;
}

/* Follows all links: sets file->directory and file->name to the last target. False and errno on failure. */
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

/* The name must be free, or that of a regular file that the user may write. */
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
    /* First by the whole path: a name in /dev/fd leads to a pipe that has no name of its own. */
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
    /* The umask does not apply to the replacement of one's own file. It does to that of somebody else's, who may have
     * permitted everybody to write it. If fchmod() fails, the file permits less than the old one. */
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

/* Waits for the disk: otherwise the name could be left with an empty file if the system crashes. EINVAL means that the
 * file system does not synchronize. */
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
