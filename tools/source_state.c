#include "source_state.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tools/system/folders.h"
#include "engine/file/schema.h"

enum { DEPTH = 1 }; /* of the folders below the source that may hold files of a model */

static void add_text(struct sha256_ctx *hash, const char *text)
{
    sha256_update(hash, strlen(text) + 1, (const uint8_t *)text);
}

/* A text that ends in NUL, and numbers of fixed size: two lists of files never are the same bytes. */
static void add_file(void *hash, const char *path, const ferry_file_info *file)
{
    const int64_t numbers[] = {(int64_t)file->size,   (int64_t)file->device,     (int64_t)file->number,
                               file->written.seconds, file->written.nanoseconds, /* anybody can set this one */
                               file->changed.seconds, file->changed.nanoseconds};
    add_text(hash, path);
    sha256_update(hash, sizeof numbers, (const uint8_t *)numbers);
}

/* Whether a model may consist of such files. Others beside them, such as translations, come and go. */
static bool belongs_to_model(const char *name)
{
    static const char *const parts[] = {"vocab", "lex", "merges", "LICEN"};
    static const char *const endings[] = {".bin", ".gz",  ".json", ".model", ".npz",         ".pt", ".s2t",
                                          ".spm", ".yml", ".yaml", ".vocab", ".safetensors", ".sh", ".bpe"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]) != NULL) return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ferry_text_ends(name, endings[i])) return true;
    return false;
}

static bool is_not_hidden(const char *name)
{
    return name[0] != '.';
}

/* The files of a folder and of its subfolders, sorted by name. Returns false if it cannot be listed. */
static bool visit_folder(const char *folder, int depth, ferry_source_visitor *visit, void *user)
{
    char **names;
    size_t count;
    if (!ferry_folder_names(folder, is_not_hidden, &names, &count)) return false;
    for (size_t i = 0; i < count; i++) {
        char path[FERRY_PATH_MAX];
        ferry_file_info file;
        const int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (length > 0 && (size_t)length < sizeof path && ferry_file_examine(path, &file)) {
            if (file.kind == FERRY_KIND_FILE && belongs_to_model(names[i])) visit(user, path, &file);
            if (file.kind == FERRY_KIND_FOLDER && depth < DEPTH) visit_folder(path, depth + 1, visit, user);
        }
        free(names[i]);
    }
    free(names);
    return true;
}

/* False and errno on failure. */
static bool find_real(const char *source, char path[FERRY_PATH_MAX])
{
    char *real = ferry_path_real(source);
    if (real == NULL) return false;
    const bool fits = (size_t)snprintf(path, FERRY_PATH_MAX, "%s", real) < FERRY_PATH_MAX;
    free(real);
    if (!fits) errno = ENAMETOOLONG;
    return fits;
}

/* `source`: its real path. */
static bool visit_source(const char *source, ferry_source_visitor *visit, void *user)
{
    char folder[FERRY_PATH_MAX];
    ferry_file_info status;
    if (!ferry_file_examine(source, &status)) return false;
    if (status.kind == FERRY_KIND_FOLDER) return visit_folder(source, 0, visit, user);
    visit(user, source, &status);
    if (ferry_text_ends(source, ".zip")) return true;
    snprintf(folder, sizeof folder, "%s", source);
    *strrchr(folder, '/') = '\0';
    return visit_folder(folder[0] != '\0' ? folder : "/", 0, visit, user);
}

void ferry_source_visit(const char *source, ferry_source_visitor *visit, void *user)
{
    char path[FERRY_PATH_MAX];
    if (find_real(source, path)) visit_source(path, visit, user);
}

ferry_status ferry_source_state_find(const char *source, ferry_source_state *state, ferry_error *error)
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&hash);
    add_text(&hash, FERRY_VERSION);
    add_text(&hash, ferry_name_format("%d", (int)FERRY_FILE_FORMAT).text);
    bool found = find_real(source, state->path);
    if (found) {
        add_text(&hash, state->path);
        found = visit_source(state->path, add_file, &hash);
    }
    if (!found) return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", source, strerror(errno));
    sha256_digest(&hash, sizeof digest, digest);
    ferry_hex_digits(digest, sizeof digest, state->hash);
    state->hash[FERRY_STATE_DIGITS] = '\0';
    return FERRY_OK;
}
