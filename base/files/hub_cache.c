#include "base/files/hub_cache.h"

#include <stdio.h>
#include <string.h>

#include "base/files/file_system.h"
#include "base/system.h"
#include "base/utf8.h"

enum { MAX_PATH = 4096, MAX_NAME = 128 };

/* folder/name; "" where that is longer than a path. */
static const char *join(char path[MAX_PATH], const char *folder, const char *name)
{
    if (snprintf(path, MAX_PATH, "%s/%s", folder, name) >= MAX_PATH) path[0] = '\0';
    return path;
}

static bool is_kind(const char *folder, const char *name, ferry_file_kind kind)
{
    char path[MAX_PATH];
    ferry_file_info info;
    return ferry_file_examine(join(path, folder, name), &info) && info.kind == kind;
}

/* A name of refs/main leads into no other folder. */
static bool read_reference(const char *folder, char name[MAX_NAME])
{
    char path[MAX_PATH];
    ferry_mapped_file file;
    ferry_error ignored;
    if (ferry_mapped_file_open(join(path, folder, "refs/main"), FERRY_FILE_COPIED, &file, &ignored) != FERRY_OK)
        return false;
    const size_t size = file.bytes.size < MAX_NAME - 1 ? file.bytes.size : MAX_NAME - 1;
    if (size > 0) memcpy(name, file.bytes.data, size);
    name[size] = '\0';
    ferry_mapped_file_close(&file);
    name[strcspn(name, " \t\r\n")] = '\0';
    return name[0] != '\0' && name[0] != '.' && strpbrk(name, "/\\") == NULL;
}

/* The only snapshot. Returns how many there are. */
static size_t find_snapshot(const char *folder, char name[MAX_NAME])
{
    char path[MAX_PATH];
    ferry_folder *listing = ferry_folder_open(join(path, folder, "snapshots"));
    size_t count = 0;
    for (const char *entry; listing != NULL && (entry = ferry_folder_next(listing)) != NULL;) {
        if (entry[0] == '.') continue;
        snprintf(name, MAX_NAME, "%s", entry);
        count++;
    }
    if (listing != NULL) ferry_folder_close(listing);
    return count;
}

/* The first name in the folder that says that the download did not end: a link that leads nowhere, or a blob that is
 * incomplete. */
static bool find_unfinished(const char *hub, const char *folder, char name[MAX_NAME])
{
    char path[MAX_PATH], one[MAX_PATH], whole[MAX_PATH];
    static const char ending[] = ".incomplete";
    ferry_folder *listing = ferry_folder_open(join(path, hub, folder));
    bool found = false;
    for (const char *entry; listing != NULL && !found && (entry = ferry_folder_next(listing)) != NULL;) {
        ferry_file_info info;
        const bool partial = ferry_text_ends(entry, ending);
        const int size = (int)(strlen(entry) - (partial ? strlen(ending) : 0));
        snprintf(whole, sizeof whole, "%.*s", size, entry);
        found = !ferry_file_examine(join(one, path, whole), &info);
        if (found) snprintf(name, MAX_NAME, "%s", entry);
    }
    if (listing != NULL) ferry_folder_close(listing);
    return found;
}

ferry_status ferry_hub_snapshot(const char *path, ferry_short_text *snapshot, ferry_error *error)
{
    char name[MAX_NAME], unfinished[MAX_NAME];
    *snapshot = ferry_format("%s", "");
    if (!is_kind(path, "snapshots", FERRY_KIND_FOLDER) || is_kind(path, "config.json", FERRY_KIND_FILE))
        return FERRY_OK;
    if (!read_reference(path, name)) {
        const size_t count = find_snapshot(path, name);
        if (count != 1)
            return ferry_fail(
                error, FERRY_ERROR_IO,
                "%s: expected refs/main, which names a snapshot, or one snapshot, found %zu: name one, as "
                "in '%s/snapshots/%s'",
                path, count, path, count > 0 ? ferry_printable_view(ferry_text_view(name)).text : "…");
    }
    const ferry_short_text folder = ferry_format("snapshots/%s", name);
    if (!is_kind(path, folder.text, FERRY_KIND_FOLDER))
        return ferry_fail(error, FERRY_ERROR_IO, "%s: refs/main names '%s', which is missing: download the model again",
                          path, ferry_printable_view(ferry_text_view(folder.text)).text);
    const bool blob = find_unfinished(path, "blobs", unfinished);
    if (blob || find_unfinished(path, folder.text, unfinished))
        return ferry_fail(error, FERRY_ERROR_IO,
                          "%s: the download of %s did not end: '%s/%s' is incomplete: download the model again", path,
                          ferry_printable_view(ferry_text_view(folder.text)).text,
                          blob ? "blobs" : ferry_printable_view(ferry_text_view(folder.text)).text,
                          ferry_printable_view(ferry_text_view(unfinished)).text);
    *snapshot = folder;
    return FERRY_OK;
}

ferry_view ferry_hub_name(const char *real)
{
    static const char start[] = "models--", middle[] = "/snapshots/";
    const char *base = ferry_path_base(real), *end = real + strlen(real);
    const size_t before = (size_t)(base - real), size = sizeof middle - 1;
    if (before > size && memcmp(base - size, middle, size) == 0) {
        end = base - size;
        for (base = end; base > real && base[-1] != '/';) base--;
    }
    if (!ferry_text_begins(base, start)) return (ferry_view){"", 0};
    for (const char *at = base; at + 2 < end; at++)
        if (at[0] == '-' && at[1] == '-') base = at + 2;
    return (ferry_view){base, (size_t)(end - base)};
}
