#include "conversion_cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/new_file.h"
#include "base/system.h"
#include "command.h"
#include "convert_with_progress.h"
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

/* Converts the source into the file `made` of the cache, and opens that: -1 after a message if this fails. */
static int convert(const ferry_cache_folder *cache, const char *path, const char *made, bool quiet)
{
    const ferry_import_options options = {.type = FERRY_F32};
    char file[FERRY_PATH_MAX];
    int descriptor;
    snprintf(file, sizeof file, "%s/%s", cache->path, made);
    const unsigned before = ferry_creation_private(); /* nobody else may open the file while it is written */
    const bool converted = ferry_convert(path, file, &options, quiet);
    ferry_creation_restore(before);
    if (!converted) return -1;
    /* The converter took the path. If that leads elsewhere by now, the file is not in the folder that was checked. */
    if (!ferry_cache_open_file(cache, made, &descriptor))
        ferry_cache_remove(cache, made);
    else if (descriptor < 0)
        ferry_complain("%s: the folder was exchanged or emptied while %s was converted", cache->path, path);
    return descriptor;
}

/* Gives the conversion `made` the name of its entry. */
static bool keep(const ferry_cache_folder *cache, const char *made, const char *entry)
{
    if (ferry_held_folder_rename(&cache->held, made, entry)) return true;
    ferry_complain("%s/%s: cannot write: %s", cache->path, entry, strerror(errno));
    return false;
}

/* Makes the entry of the source's state; if that changes meanwhile, of the changed one. */
static int find_entry(const ferry_cache_folder *cache, const char *path, bool quiet, ferry_cache_name *entry)
{
    ferry_source_state before, after;
    int descriptor;
    if (!ferry_source_state_find(path, &before)) return -1;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++, before = after) {
        *entry = ferry_cache_entry(before.path, before.hash);
        if (!ferry_cache_open_file(cache, entry->text, &descriptor)) return -1;
        if (descriptor >= 0) {
            ferry_file_touch(descriptor); /* its last use; without it, the entry only seems older */
            return descriptor;
        }
        const ferry_temporary_name made = ferry_temporary_name_create();
        descriptor = convert(cache, path, made.text, quiet);
        if (descriptor < 0) return -1;
        const bool found = ferry_source_state_find(path, &after), same = found && strcmp(before.hash, after.hash) == 0;
        if (same && keep(cache, made.text, entry->text)) {
            ferry_cache_trim(cache, entry->text);
            if (!quiet) ferry_complain("%s: converted to %s/%s", path, cache->path, entry->text);
            return descriptor;
        }
        ferry_descriptor_close(descriptor);
        ferry_cache_remove(cache, made.text);
        if (!found || same) return -1;
    }
    ferry_complain("%s: changes while it is converted; try again when its files are complete", path);
    return -1;
}

bool ferry_find_model_file(const char *path, bool quiet, int *descriptor, char file[FERRY_PATH_MAX])
{
    ferry_cache_folder cache;
    ferry_cache_name entry;
    ferry_file_info status;
    *descriptor = -1;
    if (!ferry_file_examine(path, &status) ||
        (status.kind != FERRY_KIND_FOLDER && (status.kind != FERRY_KIND_FILE || is_model_file(path))))
        return true;
    if (!ferry_cache_folder_open(&cache, true)) return false;
    *descriptor = find_entry(&cache, path, quiet, &entry);
    if (*descriptor >= 0) snprintf(file, FERRY_PATH_MAX, "%s/%s", cache.path, entry.text);
    ferry_cache_folder_close(&cache);
    return *descriptor >= 0;
}
