#include "conversion_cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/files/new_file.h"
#include "base/files/file_system.h"
#include "tools/system/folders.h"
#include "command.h"
#include "source_state.h"

enum { ATTEMPTS = 2 };

static bool is_model_file(const char *path)
{
    ferry_mapped_file file;
    if (ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &file, NULL) != FERRY_OK)
        return true; /* opening the model will say why */
    const bool is = file.bytes.size >= 4 && memcmp(file.bytes.data, "GGUF", 4) == 0;
    ferry_mapped_file_close(&file);
    return is;
}

/* Converts the source into the file `made` of the folder, and opens that. An error of the file, not of the source,
 * begins with its path. */
static ferry_status convert(const ferry_cache_folder *folder, const char *path, const char *made, bool quiet,
                            int *descriptor, ferry_error *error)
{
    const ferry_import_options options = {.type = FERRY_F32};
    ferry_conversion conversion = {.quiet = quiet};
    char file[FERRY_PATH_MAX];
    *descriptor = -1;
    snprintf(file, sizeof file, "%s/%s", folder->path, made);
    const unsigned before = ferry_creation_private(); /* nobody else may open the file while it is written */
    ferry_status status = ferry_convert(path, file, &options, &conversion, error);
    ferry_creation_restore(before);
    if (status != FERRY_OK) return status;
    /* The converter took the path. If that leads elsewhere by now, the file is not in the folder that was opened. */
    status = ferry_cache_open_file(folder, made, descriptor, error);
    if (status != FERRY_OK)
        ferry_cache_remove(folder, made);
    else if (*descriptor < 0)
        status = ferry_fail(error, FERRY_ERROR_IO, "%s: the folder was exchanged or emptied while %s was converted",
                            folder->path, path);
    return status;
}

/* Gives the conversion `made` the name of its entry. */
static ferry_status keep(const ferry_cache_folder *cache, const char *made, const char *entry, ferry_error *error)
{
    if (ferry_held_folder_rename(&cache->held, made, entry)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_IO, "%s/%s: cannot write: %s", cache->path, entry, strerror(errno));
}

/* Makes the entry of the source's state; if that changes meanwhile, of the changed one. */
static ferry_status find_entry(const ferry_cache_folder *cache, const char *path, bool quiet, ferry_cache_name *entry,
                               int *descriptor, ferry_error *error)
{
    ferry_source_state before, after;
    FERRY_TRY(ferry_source_state_find(path, &before, error));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++, before = after) {
        *entry = ferry_cache_entry(before.path, before.hash);
        FERRY_TRY(ferry_cache_open_file(cache, entry->text, descriptor, error));
        if (*descriptor >= 0) {
            ferry_file_touch(*descriptor); /* its last use; without it, the entry only seems older */
            return FERRY_OK;
        }
        const ferry_temporary_name made = ferry_temporary_name_create();
        FERRY_TRY(convert(cache, path, made.text, quiet, descriptor, error));
        ferry_status status = ferry_source_state_find(path, &after, error);
        const bool same = status == FERRY_OK && strcmp(before.hash, after.hash) == 0;
        if (same) status = keep(cache, made.text, entry->text, error);
        if (same && status == FERRY_OK) {
            ferry_cache_trim(cache, entry->text);
            if (!quiet) ferry_complain("%s: converted to %s/%s", path, cache->path, entry->text);
            return FERRY_OK;
        }
        ferry_descriptor_close(*descriptor);
        *descriptor = -1;
        ferry_cache_remove(cache, made.text);
        FERRY_TRY(status);
    }
    return ferry_fail(error, FERRY_ERROR_IO, "%s: changes while it is converted; try again when its files are complete",
                      path);
}

/* In the cache; *unusable says whether that is the reason of a failure, not the source. */
static ferry_status find_in_cache(const char *path, bool quiet, int *descriptor, char file[FERRY_PATH_MAX],
                                  bool *unusable, ferry_error *error)
{
    ferry_cache_folder cache;
    ferry_cache_name entry;
    *unusable = true;
    FERRY_TRY(ferry_cache_folder_open(&cache, true, error));
    const ferry_status status = find_entry(&cache, path, quiet, &entry, descriptor, error);
    if (status == FERRY_OK) snprintf(file, FERRY_PATH_MAX, "%s/%s", cache.path, entry.text);
    *unusable = status == FERRY_ERROR_IO && ferry_text_begins(error->message, cache.path);
    ferry_cache_folder_close(&cache);
    return status;
}

/* For this process alone: the file has no name once it is open. */
static ferry_status convert_for_now(const char *path, bool quiet, int *descriptor, char file[FERRY_PATH_MAX],
                                    ferry_error *error)
{
    ferry_cache_folder folder;
    const ferry_temporary_name made = ferry_temporary_name_create();
    FERRY_TRY(ferry_cache_folder_open_temporary(&folder, error));
    const ferry_status status = convert(&folder, path, made.text, quiet, descriptor, error);
    if (status == FERRY_OK) ferry_cache_remove(&folder, made.text);
    snprintf(file, FERRY_PATH_MAX, "%s/%s", folder.path, made.text);
    ferry_cache_folder_close(&folder);
    return status;
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
    bool unusable;
    *descriptor = -1;
    if (!ferry_is_converted(path)) return true;
    ferry_status found = find_in_cache(path, quiet, descriptor, file, &unusable, &error);
    if (found != FERRY_OK && unusable) {
        if (!quiet) ferry_complain("%s; %s is converted to a temporary file, for this time", error.message, path);
        found = convert_for_now(path, quiet, descriptor, file, &error);
    }
    return ferry_succeeded(found, &error);
}
