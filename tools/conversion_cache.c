#include "conversion_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file_system.h"
#include "base/files/new_file.h"
#include "tools/system/folders.h"
#include "tools/system/terminal.h"
#include "command.h"
#include "source_state.h"

enum { ATTEMPTS = 2, DAY = 24 * 60 * 60, MAX_AGE = 90 * DAY };
static const uint64_t max_bytes = UINT64_C(20000000000);

/* ---- what can be trusted ---- */

/* Refuses what is no file or folder that only this user could have written. */
static ferry_status check_own(const char *path, const ferry_file_info *found, ferry_file_kind kind, const char *advice,
                              ferry_error *error)
{
    static const char *const kinds[] = {"file", "folder", "link", "pipe", "device or socket", "device or socket"};
    if (found->kind == kind && found->private_to_user) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_IO,
                      "%s: not used: expected a %s that belongs to user %" PRIu64
                      " and that nobody else can write, found a %s of user %" PRIu64 " with permissions %03o; %s",
                      path, kinds[kind], ferry_user(), kinds[found->kind], found->owner, found->permissions, advice);
}

static ferry_status fail_to_open(const char *path, int failure, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", path, strerror(failure));
}

static void make_path(const ferry_cache *cache, const char *name, char path[FERRY_PATH_MAX])
{
    snprintf(path, FERRY_PATH_MAX, "%s/%s", cache->path, name);
}

/* Opens a file of the folder for reading; *descriptor is -1 if there is none. Errors: IO, if anything else has its
 * name, others can write to it, or the folder is no longer the one that was checked. */
static ferry_status open_own(const ferry_cache *cache, const char *path, int *descriptor, ferry_error *error)
{
    ferry_file_info above, found;
    *descriptor = ferry_folder_open_file(cache->path, ferry_path_base(path), &above);
    const int failure = errno;
    if (*descriptor < 0 && failure == ENOENT) return FERRY_OK;
    /* What cannot be opened this way may be a link or a socket. */
    const bool examined =
        *descriptor >= 0 ? ferry_file_examine_open(*descriptor, &found) : ferry_file_examine_link(path, &found);
    ferry_status status = examined ? check_own(path, &found, FERRY_KIND_FILE, "'ferry cache clear' removes it", error)
                                   : fail_to_open(path, failure, error);
    if (status == FERRY_OK && *descriptor < 0) status = fail_to_open(path, failure, error);
    if (status == FERRY_OK && (above.device != cache->folder.device || above.number != cache->folder.number))
        status = ferry_fail(error, FERRY_ERROR_IO, "%s: the folder was exchanged meanwhile", cache->path);
    if (status == FERRY_OK) return FERRY_OK;
    if (*descriptor >= 0) ferry_descriptor_close(*descriptor);
    *descriptor = -1;
    return status;
}

/* ---- the folder ---- */

/* The value of a variable that names a folder by its whole path ("/…", on Windows "C:…"); others are ignored. */
static const char *folder_variable(const char *name)
{
    const char *value = ferry_environment(name);
    return value != NULL && (value[0] == '/' || (value[0] != '\0' && value[1] == ':')) ? value : NULL;
}

static ferry_status make_folder(const char *path, ferry_error *error)
{
    if (ferry_folder_create_private(path) || errno == EEXIST) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot create the folder: %s", path, strerror(errno));
}

ferry_status ferry_cache_open(ferry_cache *cache, bool create, ferry_error *error)
{
    static const char *const places[][2] = {{"XDG_CACHE_HOME", ""}, {"HOME", "/.cache"}, {"LOCALAPPDATA", ""}};
    char above[sizeof cache->path - sizeof "/ferry"];
    const char *value = NULL;
    size_t i = 0;
    while (i < sizeof places / sizeof *places && (value = folder_variable(places[i][0])) == NULL) i++;
    if (value == NULL || (size_t)snprintf(above, sizeof above, "%s%s", value, places[i][1]) >= sizeof above)
        return ferry_fail(error, FERRY_ERROR_IO,
                          "no folder for converted models: set XDG_CACHE_HOME or HOME, or use 'ferry convert'");
    snprintf(cache->path, sizeof cache->path, "%s/ferry", above);
    if (create) FERRY_TRY(make_folder(above, error));
    if (create) FERRY_TRY(make_folder(cache->path, error));
    cache->exists = ferry_file_examine_link(cache->path, &cache->folder);
    if (cache->exists)
        return check_own(cache->path, &cache->folder, FERRY_KIND_FOLDER,
                         "mend it with 'chown' and 'chmod go-w', or set XDG_CACHE_HOME to another place", error);
    return errno == ENOENT && !create ? FERRY_OK : fail_to_open(cache->path, errno, error);
}

/* ---- its files ---- */

static bool is_cached(const char *name)
{
    return ferry_is_temporary_name(name) || ferry_is_conversion_name(name);
}

/* The most recently used first; then by name. */
static int compare_use(const void *a, const void *b)
{
    const ferry_cache_file *one = a, *other = b;
    if (one->used != other->used) return one->used > other->used ? -1 : 1;
    return strcmp(one->name.text, other->name.text);
}

bool ferry_cache_list(const ferry_cache *cache, ferry_cache_file **files, size_t *count)
{
    const time_t now = time(NULL);
    char **names = NULL, path[FERRY_PATH_MAX];
    size_t found = 0;
    *count = 0;
    if (cache->exists && !ferry_folder_names(cache->path, is_cached, &names, &found)) {
        ferry_complain("%s: cannot list the folder: %s", cache->path, strerror(errno));
        return false;
    }
    *files = ferry_allocate(found + 1, sizeof **files);
    for (size_t i = 0; i < found; i++) {
        ferry_file_info info;
        make_path(cache, names[i], path);
        if (*files != NULL && ferry_file_examine_link(path, &info)) { /* not gone by now */
            const bool temporary = ferry_is_temporary_name(names[i]);
            (*files)[(*count)++] = (ferry_cache_file){.name = ferry_format("%s", names[i]),
                                                      .temporary = temporary,
                                                      .in_use = temporary && now - info.written.seconds <= DAY,
                                                      .size = info.kind == FERRY_KIND_FILE ? info.size : 0,
                                                      .used = (time_t)info.written.seconds};
        }
        free(names[i]);
    }
    free(names);
    if (*count > 0) qsort(*files, *count, sizeof **files, compare_use);
    return *files != NULL;
}

bool ferry_cache_remove(const ferry_cache *cache, const char *name)
{
    char path[FERRY_PATH_MAX];
    make_path(cache, name, path);
    if (ferry_file_remove(path) || errno == ENOENT) return true;
    ferry_complain("%s: cannot remove: %s", path, strerror(errno));
    return false;
}

/* Removes conversions that were not used for MAX_AGE; then, while they take more than max_bytes, the least recently
 * used ones; and temporary files that are not in use. `made`, the new conversion, stays. */
static void trim(const ferry_cache *cache, const char *made)
{
    const time_t now = time(NULL);
    ferry_cache_file *files;
    size_t count;
    uint64_t total = 0;
    if (!ferry_cache_list(cache, &files, &count)) return;
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].name.text, made) == 0) total = files[i].size;
    for (size_t i = 0; i < count; i++) {
        const ferry_cache_file *file = &files[i];
        if (file->in_use || strcmp(file->name.text, made) == 0) continue;
        const bool old = file->temporary || now - file->used > MAX_AGE;
        if (!old) total += file->size;
        if (old || total > max_bytes) ferry_cache_remove(cache, file->name.text);
    }
    free(files);
}

/* ---- conversions ---- */

/* Converts the source into a file of the folder, and opens that. An error of the file, not of the source, begins with
 * its path. */
static ferry_status convert(const ferry_cache *cache, const char *source, const char *file, bool quiet, int *descriptor,
                            ferry_error *error)
{
    const ferry_import_options options = {.type = FERRY_F32};
    ferry_conversion conversion = {.quiet = quiet};
    const unsigned before = ferry_creation_mask(077); /* nobody else may open the file while it is written */
    ferry_status status = ferry_convert(source, file, &options, &conversion, error);
    ferry_creation_mask(before);
    FERRY_TRY(status);
    status = open_own(cache, file, descriptor, error);
    if (status == FERRY_OK && *descriptor < 0)
        status = ferry_fail(error, FERRY_ERROR_IO, "%s: was removed while %s was converted", file, source);
    if (status != FERRY_OK) ferry_file_remove(file);
    return status;
}

/* Opens the conversion of the source's state, or makes it; if that changes meanwhile, of the changed one. */
static ferry_status find_conversion(const ferry_cache *cache, const char *source, bool quiet, int *descriptor,
                                    char file[FERRY_PATH_MAX], ferry_error *error)
{
    ferry_short_text name, after;
    FERRY_TRY(ferry_conversion_name(source, &name, error));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++, name = after) {
        make_path(cache, name.text, file);
        FERRY_TRY(open_own(cache, file, descriptor, error));
        const bool missing = *descriptor < 0;
        if (missing) FERRY_TRY(convert(cache, source, file, quiet, descriptor, error));
        const ferry_status status = ferry_conversion_name(source, &after, error);
        if (status == FERRY_OK && strcmp(name.text, after.text) == 0) {
            ferry_file_touch(file); /* its last use; without it, the file only seems older */
            if (missing) trim(cache, name.text);
            if (missing && !quiet) ferry_complain("%s: converted to %s", source, file);
            return FERRY_OK;
        }
        ferry_descriptor_close(*descriptor);
        *descriptor = -1;
        ferry_file_remove(file);
        FERRY_TRY(status);
    }
    return ferry_fail(error, FERRY_ERROR_IO, "%s: changes while it is converted; try again when its files are complete",
                      source);
}

/* For this process alone: the file has no name once it is open. */
static ferry_status convert_for_now(const char *source, bool quiet, int *descriptor, char file[FERRY_PATH_MAX],
                                    ferry_error *error)
{
    ferry_cache folder;
    const char *place = folder_variable("TMPDIR");
    if (place == NULL) place = folder_variable("TEMP");
    if (place == NULL) place = "/tmp";
    char *real = ferry_path_real(place); /* the folder may be reached by a link */
    snprintf(folder.path, sizeof folder.path, "%s", real != NULL ? real : place);
    free(real);
    if (!ferry_file_examine(folder.path, &folder.folder)) return fail_to_open(folder.path, errno, error);
    if (folder.folder.kind != FERRY_KIND_FOLDER) return fail_to_open(folder.path, ENOTDIR, error);
    make_path(&folder, ferry_temporary_name_create().text, file);
    const ferry_status status = convert(&folder, source, file, quiet, descriptor, error);
    if (status == FERRY_OK) ferry_file_remove(file);
    return status;
}

static bool is_model_file(const char *path)
{
    ferry_mapped_file file;
    if (ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &file, NULL) != FERRY_OK)
        return true; /* opening the model will say why */
    const bool is = file.bytes.size >= 4 && memcmp(file.bytes.data, "GGUF", 4) == 0;
    ferry_mapped_file_close(&file);
    return is;
}

bool ferry_is_converted(const char *path)
{
    ferry_file_info info;
    return ferry_file_examine(path, &info) &&
           (info.kind == FERRY_KIND_FOLDER || (info.kind == FERRY_KIND_FILE && !is_model_file(path)));
}

bool ferry_find_model_file(const char *path, bool quiet, int *descriptor, char file[FERRY_PATH_MAX])
{
    ferry_error error;
    ferry_cache cache;
    *descriptor = -1;
    if (!ferry_is_converted(path)) return true;
    ferry_status status = ferry_cache_open(&cache, true, &error);
    bool unusable = status != FERRY_OK; /* whether the cache is the reason of a failure, not the source */
    if (!unusable) {
        status = find_conversion(&cache, path, quiet, descriptor, file, &error);
        unusable = status == FERRY_ERROR_IO && ferry_text_begins(error.message, cache.path);
    }
    if (unusable) {
        if (!quiet) ferry_complain("%s; %s is converted to a temporary file, for this time", error.message, path);
        status = convert_for_now(path, quiet, descriptor, file, &error);
    }
    return ferry_succeeded(status, &error);
}
