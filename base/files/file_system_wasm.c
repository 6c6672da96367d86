/* Files and folders of a module: names in memory (base/files_wasm.h). */
#define _GNU_SOURCE /* strdup */
#include "file_system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files_wasm.h"

bool ferry_file_examine(const char *path, ferry_file_info *info)
{
    const int file = ferry_descriptor_open(path);
    if (file >= 0) return ferry_file_examine_open(file, info);
    *info = (ferry_file_info){.kind = FERRY_KIND_FOLDER};
    for (int i = 0; ferry_memory_file_at(i) != NULL; i++) {
        const char *name = ferry_memory_file_at(i)->path;
        if (ferry_text_begins(name, path) && name[strlen(path)] == '/') return true;
    }
    return false;
}

const char *ferry_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

char *ferry_path_real(const char *path)
{
    return strdup(path);
}

struct ferry_folder {
    int next;
    char path[]; /* with a slash */
};

ferry_folder *ferry_folder_open(const char *path)
{
    const size_t size = strlen(path);
    ferry_folder *folder = malloc(sizeof *folder + size + 2);
    if (folder == NULL) return NULL;
    folder->next = 0;
    memcpy(folder->path, path, size);
    memcpy(folder->path + size, "/", 2);
    return folder;
}

/* Subfolders are not listed; their files are, with their folder's name and a slash. */
const char *ferry_folder_next(ferry_folder *folder)
{
    errno = 0;
    const ferry_memory_file *file;
    while ((file = ferry_memory_file_at(folder->next)) != NULL) {
        folder->next++;
        if (ferry_text_begins(file->path, folder->path)) return file->path + strlen(folder->path);
    }
    return NULL;
}

void ferry_folder_close(ferry_folder *folder)
{
    free(folder);
}
