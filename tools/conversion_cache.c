/* The cache is $XDG_CACHE_HOME/ferry or ~/.cache/ferry. It holds one file for each state of a source. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "conversion_cache.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/system.h"
#include "command.h"
#include "convert_with_progress.h"

enum { DEPTH = 1 }; /* of the folders below the source that may hold files of a model */

static bool is_model_file(const char *path)
{
    ferry_mapped_file file;
    if (ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &file, NULL) != FERRY_OK)
        return true; /* opening the model will say why */
    const bool is = file.bytes.size >= 4 && memcmp(file.bytes.data, "GGUF", 4) == 0;
    ferry_mapped_file_close(&file);
    return is;
}

/* ---- the state of a source ---- */

/* FNV-1a. */
static uint64_t add_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static uint64_t add_file(uint64_t hash, const char *name, const struct stat *file)
{
    const int64_t numbers[] = {file->st_size, file->st_mtim.tv_sec, file->st_mtim.tv_nsec};
    hash = add_bytes(hash, name, strlen(name) + 1);
    return add_bytes(hash, numbers, sizeof numbers);
}

/* Whether a model may consist of such files. Others beside them, such as translations, come and go. */
static bool belongs_to_model(const char *name)
{
    static const char *const endings[] = {".bin", ".gz",   ".json", ".model", ".npz", ".pt",
                                          ".spm", ".yaml", ".yml",  ".vocab", ".sh",  ".safetensors"};
    if (strstr(name, "vocab") != NULL) return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ferry_text_ends(name, endings[i])) return true;
    return false;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Adds the files of a folder and of its subfolders, sorted by name. Returns false if it cannot be listed. */
static bool add_folder(uint64_t *hash, const char *folder, int depth)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, not_hidden, alphasort);
    if (count < 0) return false;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat file;
        const char *name = entries[i]->d_name;
        const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
        if (length > 0 && (size_t)length < sizeof path && stat(path, &file) == 0) {
            if (S_ISREG(file.st_mode) && belongs_to_model(name)) *hash = add_file(*hash, path, &file);
            if (S_ISDIR(file.st_mode) && depth < DEPTH) add_folder(hash, path, depth + 1);
        }
        free(entries[i]);
    }
    free(entries);
    return true;
}

/* Hashes the path of the source, and the names, sizes and times of its files: those of a directory, an archive itself,
 * or a file and those beside it. */
static bool find_state(const char *source, const struct stat *status, uint64_t *hash)
{
    char folder[PATH_MAX];
    *hash = add_bytes(UINT64_C(0xCBF29CE484222325), FERRY_VERSION, sizeof FERRY_VERSION);
    *hash = add_bytes(*hash, source, strlen(source) + 1);
    if (S_ISDIR(status->st_mode)) return add_folder(hash, source, 0);
    *hash = add_file(*hash, source, status);
    if (ferry_text_ends(source, ".zip")) return true;
    snprintf(folder, sizeof folder, "%s", source);
    *strrchr(folder, '/') = '\0';
    return add_folder(hash, folder[0] != '\0' ? folder : "/", DEPTH);
}

/* ---- the cache ---- */

static bool make_folder(const char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return true;
    ferry_complain("%s: cannot create the folder: %s", path, strerror(errno));
    return false;
}

static bool find_cache(char *folder, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(folder, size, "%s", cache);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(folder, size, "%s/.cache", home);
    } else {
        ferry_complain("no folder for converted models: set XDG_CACHE_HOME or HOME, or use 'ferry convert'");
        return false;
    }
    if (length < 0 || (size_t)length + sizeof "/ferry" > size) {
        ferry_complain("the name of the cache's folder is too long");
        return false;
    }
    if (!make_folder(folder)) return false;
    strcat(folder, "/ferry");
    return make_folder(folder);
}

/* Writes under a name of its own first, since another process may be making the same file. */
static bool convert_into_cache(const char *path, const char *file, bool quiet)
{
    const ferry_import_options options = {.type = FERRY_F32};
    char made[PATH_MAX + 32];
    snprintf(made, sizeof made, "%s.%ld", file, (long)getpid());
    if (!ferry_convert(path, made, &options, quiet)) return false;
    if (rename(made, file) != 0) {
        ferry_complain("%s: cannot write: %s", file, strerror(errno));
        unlink(made);
        return false;
    }
    if (!quiet) ferry_complain("%s: converted to %s", path, file);
    return true;
}

bool ferry_find_model_file(const char *path, bool quiet, char *file, size_t size)
{
    char source[PATH_MAX], cache[PATH_MAX];
    struct stat status;
    uint64_t hash;
    if (stat(path, &status) != 0 || (!S_ISDIR(status.st_mode) && (!S_ISREG(status.st_mode) || is_model_file(path)))) {
        if ((size_t)snprintf(file, size, "%s", path) < size) return true;
        ferry_complain("%s: the name is too long", path);
        return false;
    }
    if (realpath(path, source) == NULL || !find_state(source, &status, &hash)) {
        ferry_complain("%s: cannot open: %s", path, strerror(errno));
        return false;
    }
    if (!find_cache(cache, sizeof cache)) return false;
    const char *name = strrchr(source, '/') + 1;
    const int length = snprintf(file, size, "%s/%.100s-%016llx.gguf", cache, name[0] != '\0' ? name : "model",
                                (unsigned long long)hash);
    if (length < 0 || (size_t)length >= size) {
        ferry_complain("%s: the name of its conversion is too long", path);
        return false;
    }
    return access(file, F_OK) == 0 || convert_into_cache(path, file, quiet);
}
