#define _XOPEN_SOURCE 700 /* realpath, scandir */
#include "source_state.h"

#include <dirent.h>
#include <errno.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "command.h"
#include "engine/file/schema.h"

enum { DEPTH = 1 }; /* of the folders below the source that may hold files of a model */

static void add_text(struct sha256_ctx *hash, const char *text)
{
    sha256_update(hash, strlen(text) + 1, (const uint8_t *)text);
}

/* A text that ends in NUL, and numbers of fixed size: two lists of files never are the same bytes. */
static void add_file(struct sha256_ctx *hash, const char *path, const struct stat *file)
{
    const int64_t numbers[] = {file->st_size,        (int64_t)file->st_dev, (int64_t)file->st_ino,
                               file->st_mtim.tv_sec, file->st_mtim.tv_nsec, /* anybody can set this one */
                               file->st_ctim.tv_sec, file->st_ctim.tv_nsec};
    add_text(hash, path);
    sha256_update(hash, sizeof numbers, (const uint8_t *)numbers);
}

/* Whether a model may consist of such files. Others beside them, such as translations, come and go. */
static bool belongs_to_model(const char *name)
{
    static const char *const parts[] = {"vocab", "lex", "LICEN"};
    static const char *const endings[] = {".bin", ".gz",  ".json", ".model", ".npz",         ".pt", ".s2t",
                                          ".spm", ".yml", ".yaml", ".vocab", ".safetensors", ".sh"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]) != NULL) return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ferry_text_ends(name, endings[i])) return true;
    return false;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Adds the files of a folder and of its subfolders, sorted by name. Returns false if it cannot be listed. */
static bool add_folder(struct sha256_ctx *hash, const char *folder, int depth)
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
            if (S_ISREG(file.st_mode) && belongs_to_model(name)) add_file(hash, path, &file);
            if (S_ISDIR(file.st_mode) && depth < DEPTH) add_folder(hash, path, depth + 1);
        }
        free(entries[i]);
    }
    free(entries);
    return true;
}

static bool add_source(struct sha256_ctx *hash, const char *source)
{
    char folder[PATH_MAX];
    struct stat status;
    add_text(hash, source);
    if (stat(source, &status) != 0) return false;
    if (S_ISDIR(status.st_mode)) return add_folder(hash, source, 0);
    add_file(hash, source, &status);
    if (ferry_text_ends(source, ".zip")) return true;
    snprintf(folder, sizeof folder, "%s", source);
    *strrchr(folder, '/') = '\0';
    return add_folder(hash, folder[0] != '\0' ? folder : "/", 0);
}

bool ferry_source_state_find(const char *source, ferry_source_state *state)
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&hash);
    add_text(&hash, FERRY_VERSION);
    add_text(&hash, ferry_name_format("%d", (int)FERRY_FILE_FORMAT).text);
    if (realpath(source, state->path) == NULL || !add_source(&hash, state->path)) {
        ferry_complain("%s: cannot open: %s", source, strerror(errno));
        return false;
    }
    sha256_digest(&hash, sizeof digest, digest);
    ferry_hex_digits(digest, sizeof digest, state->hash);
    state->hash[FERRY_STATE_DIGITS] = '\0';
    return true;
}
