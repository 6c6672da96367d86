#include "cache_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/files/new_file.h"
#include "tools/system/folders.h"
#include "tools/system/terminal.h"
#include "command.h"
#include "source_state.h"

#define ENTRY_ENDING ".gguf"
enum { MOST_BASE = 40, DAY = 24 * 60 * 60, MOST_DAYS = 90 };
static const uint64_t most_bytes = UINT64_C(20000000000);

/* ---- what can be trusted ---- */

static const char *name_of(ferry_file_kind kind)
{
    static const char *const names[] = {"file", "folder", "link", "pipe", "device or socket", "device or socket"};
    return names[kind];
}

/* Refuses what is no file or folder that only this user could have written. */
static ferry_status check_own(const char *path, const ferry_file_info *found, ferry_file_kind kind, const char *advice,
                              ferry_error *error)
{
    if (found->kind == kind && found->private_to_user) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_IO,
                      "%s: not used: expected a %s that belongs to user %" PRIu64
                      " and that nobody else can write, found a %s of user %" PRIu64 " with permissions %03o; %s",
                      path, name_of(kind), ferry_user(), name_of(found->kind), found->owner, found->permissions,
                      advice);
}

static ferry_status fail_to_open(const char *path, int failure, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", path, strerror(failure));
}

/* ---- the folder ---- */

static ferry_status make_folder(const char *path, ferry_error *error)
{
    if (ferry_folder_create_private(path) || errno == EEXIST) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot create the folder: %s", path, strerror(errno));
}

/* A folder that a variable names, and "" or what follows it. */
typedef struct candidate {
    const char *variable, *format;
} candidate;

/* The first candidate whose variable is set; false: none is. */
static bool find_folder(const candidate *candidates, size_t count, char *path, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = ferry_environment(candidates[i].variable);
        if (value == NULL || !ferry_path_is_absolute(value)) continue;
        return (size_t)snprintf(path, size, candidates[i].format, value) < size;
    }
    return false;
}

/* Says why opening it failed, with errno. */
static ferry_status fail_to_open_folder(const char *path, const char *advice, ferry_error *error)
{
    const int failure = errno;
    ferry_file_info found;
    if ((failure == ENOTDIR || failure == ELOOP) && ferry_file_examine_link(path, &found))
        FERRY_TRY(check_own(path, &found, FERRY_KIND_FOLDER, advice, error));
    return fail_to_open(path, failure, error);
}

ferry_status ferry_cache_folder_open(ferry_cache_folder *folder, bool create, ferry_error *error)
{
    static const char advice[] = "mend it with 'chown' and 'chmod go-w', or set XDG_CACHE_HOME to another place";
    static const candidate parents[] = {{"XDG_CACHE_HOME", "%s"}, {"HOME", "%s/.cache"}, {"LOCALAPPDATA", "%s"}};
    char above[sizeof folder->path - sizeof "/ferry"];
    ferry_file_info found;
    folder->held.descriptor = -1;
    if (!find_folder(parents, sizeof parents / sizeof *parents, above, sizeof above))
        return ferry_fail(error, FERRY_ERROR_IO,
                          "no folder for converted models: set XDG_CACHE_HOME or HOME, or use 'ferry convert'");
    snprintf(folder->path, sizeof folder->path, "%s/ferry", above);
    if (create) FERRY_TRY(make_folder(above, error));
    if (create) FERRY_TRY(make_folder(folder->path, error));
    if (!ferry_held_folder_open(&folder->held, folder->path)) {
        if (!create && errno == ENOENT) return FERRY_OK;
        return fail_to_open_folder(folder->path, advice, error);
    }
    const ferry_status status = ferry_held_folder_examine(&folder->held, &found)
                                    ? check_own(folder->path, &found, FERRY_KIND_FOLDER, advice, error)
                                    : fail_to_open(folder->path, errno, error);
    if (status != FERRY_OK) ferry_cache_folder_close(folder);
    return status;
}

ferry_status ferry_cache_folder_open_temporary(ferry_cache_folder *folder, ferry_error *error)
{
    static const candidate candidates[] = {{"TMPDIR", "%s"}, {"TEMP", "%s"}};
    char path[sizeof folder->path] = "/tmp";
    folder->held.descriptor = -1;
    find_folder(candidates, sizeof candidates / sizeof *candidates, path, sizeof path);
    char *real = ferry_path_real(path); /* the folder may be reached by a link */
    snprintf(folder->path, sizeof folder->path, "%s", real != NULL ? real : path);
    free(real);
    if (ferry_held_folder_open(&folder->held, folder->path)) return FERRY_OK;
    return fail_to_open(folder->path, errno, error);
}

void ferry_cache_folder_close(ferry_cache_folder *folder)
{
    ferry_held_folder_close(&folder->held);
}

/* ---- names ---- */

ferry_cache_name ferry_cache_entry(const char *path, const char *hash)
{
    ferry_cache_name name;
    const char *base = ferry_path_base(path);
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

ferry_status ferry_cache_open_file(const ferry_cache_folder *folder, const char *name, int *descriptor,
                                   ferry_error *error)
{
    char path[FERRY_PATH_MAX];
    ferry_file_info found;
    *descriptor = ferry_held_folder_open_file(&folder->held, name);
    if (*descriptor < 0 && errno == ENOENT) return FERRY_OK;
    const int failure = errno;
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    /* What cannot be opened this way may be a link or a socket. */
    const bool examined = *descriptor >= 0 ? ferry_file_examine_open(*descriptor, &found)
                                           : ferry_held_folder_examine_file(&folder->held, name, &found);
    ferry_status status =
        examined ? check_own(path, &found, FERRY_KIND_FILE, "'ferry cache clear' removes it", error) : FERRY_ERROR_IO;
    if (status == FERRY_OK && *descriptor >= 0) return FERRY_OK;
    if (status == FERRY_OK || !examined) status = fail_to_open(path, failure, error);
    if (*descriptor >= 0) ferry_descriptor_close(*descriptor);
    *descriptor = -1;
    return status;
}

/* The most recently used first; then by name. */
static int compare_use(const void *a, const void *b)
{
    const ferry_cache_file *one = a, *other = b;
    if (one->used != other->used) return one->used > other->used ? -1 : 1;
    return strcmp(one->name.text, other->name.text);
}

static bool list_names(const ferry_cache_folder *folder, ferry_folder *listed, ferry_cache_file **files, size_t *count)
{
    const time_t now = time(NULL);
    size_t capacity = 0;
    const char *name;
    while ((name = ferry_folder_next(listed)) != NULL) {
        ferry_file_info found;
        const bool temporary = ferry_is_temporary_name(name);
        if (!temporary && !is_entry(name)) continue;
        if (!ferry_held_folder_examine_file(&folder->held, name, &found)) continue; /* gone */
        ferry_cache_file *file = ferry_array_add(files, count, &capacity, sizeof *file);
        if (file == NULL) return false;
        *file = (ferry_cache_file){.temporary = temporary,
                                   .in_use = temporary && now - found.written.seconds <= DAY,
                                   .size = found.kind == FERRY_KIND_FILE ? found.size : 0,
                                   .used = (time_t)found.written.seconds};
        snprintf(file->name.text, sizeof file->name.text, "%s", name);
    }
    return true;
}

bool ferry_cache_list(const ferry_cache_folder *folder, ferry_cache_file **files, size_t *count)
{
    *files = NULL;
    *count = 0;
    if (folder->held.descriptor < 0) return true;
    ferry_folder *entries = ferry_held_folder_list(&folder->held);
    if (entries == NULL) {
        ferry_complain("%s: cannot list the folder: %s", folder->path, strerror(errno));
        return false;
    }
    const bool listed = list_names(folder, entries, files, count);
    ferry_folder_close(entries);
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
    if (ferry_held_folder_remove(&folder->held, name) || errno == ENOENT) return true;
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
