#include "source_state.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/file/schema.h"
#include "base/files/hub_cache.h"

enum {
    DEPTH = 1, /* of the folders below the source that may hold files of a model */
    MAX_BASE = 40,
    HASH_DIGITS = 2 * SHA256_DIGEST_SIZE
};
#define ENDING ".gguf"

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
    static const char *const endings[] = {".bin", ".gz",  ".json", ".model", ".npz",         ".pt", ".s2t", ".spm",
                                          ".py",  ".yml", ".yaml", ".vocab", ".safetensors", ".sh", ".bpe"};
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

bool ferry_source_visit(const char *source, ferry_source_visitor *visit, void *user, char real[FERRY_PATH_MAX])
{
    ferry_file_info file;
    char folder[FERRY_PATH_MAX], *found = ferry_path_real(source);
    if (found == NULL) return false;
    const bool fits = (size_t)snprintf(real, FERRY_PATH_MAX, "%s", found) < FERRY_PATH_MAX;
    free(found);
    if (!fits) errno = ENAMETOOLONG;
    if (!fits || !ferry_file_examine(real, &file)) return false;
    if (file.kind == FERRY_KIND_FOLDER) {
        ferry_short_text snapshot; /* of a folder of huggingface_hub; if it is not complete, its conversion fails */
        ferry_error ignored;
        const bool hub = ferry_hub_snapshot(real, &snapshot, &ignored) == FERRY_OK && snapshot.text[0] != '\0';
        if ((size_t)snprintf(folder, sizeof folder, "%s%s%s", real, hub ? "/" : "", hub ? snapshot.text : "") >=
            sizeof folder)
            return false;
        return visit_folder(folder, 0, visit, user);
    }
    visit(user, real, &file);
    if (ferry_text_ends(real, ".zip")) return true;
    snprintf(folder, sizeof folder, "%s", real);
    *strrchr(folder, '/') = '\0';
    return visit_folder(folder[0] != '\0' ? folder : "/", 0, visit, user);
}

/* As much of the name as the name of a conversion begins with: whole characters. */
static int size_of_base(const char *base)
{
    size_t size = strlen(base);
    if (size <= MAX_BASE) return (int)size;
    for (size = MAX_BASE; size > 0 && ((unsigned char)base[size] & 0xC0) == 0x80;) size--;
    return (int)size;
}

ferry_status ferry_conversion_name(const char *source, ferry_short_text *name, ferry_error *error)
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char real[FERRY_PATH_MAX], digits[HASH_DIGITS];
    sha256_init(&hash);
    add_text(&hash, FERRY_VERSION);
    add_text(&hash, ferry_format("%d", (int)FERRY_FILE_FORMAT).text);
    if (!ferry_source_visit(source, add_file, &hash, real))
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", source, strerror(errno));
    add_text(&hash, real);
    sha256_digest(&hash, sizeof digest, digest);
    ferry_hex_digits(digest, sizeof digest, digits);
    const char *base = ferry_path_base(real)[0] != '\0' ? ferry_path_base(real) : "model";
    *name = ferry_format("%.*s-%.*s" ENDING, size_of_base(base), base, (int)HASH_DIGITS, digits);
    return FERRY_OK;
}

bool ferry_is_conversion_name(const char *name)
{
    const size_t size = strlen(name), tail = 1 + HASH_DIGITS + strlen(ENDING);
    return size >= tail && name[size - tail] == '-' && ferry_text_ends(name, ENDING) &&
           strspn(name + size - tail + 1, "0123456789abcdefABCDEF") == HASH_DIGITS;
}
