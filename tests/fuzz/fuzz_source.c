/* Any bytes as a model that somebody published, of whatever kind: refused, or converted to a model file that is intact,
 * opens and translates. A zip archive, or files one after another:
 *
 *     --- NAME          (=== NAME instead: this file is what the user names, not the folder)
 *     contents, to the next such line */
#define _GNU_SOURCE /* mkdtemp, nftw */
#include "use_model.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/convert.h"

enum { MOST_NAME = 64, MARK = 4 };

/* ---- the files ---- */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *path, ferry_view bytes)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) return; /* a folder of that name */
    if (fwrite(bytes.data, 1, bytes.size, file) != bytes.size || fclose(file) != 0) abort();
}

/* At most one folder deep, and nowhere else. */
static bool is_harmless(const char *name)
{
    const char *slash = strchr(name, '/');
    if (name[0] == '\0' ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") != strlen(name))
        return false;
    return strstr(name, "..") == NULL && strcmp(name, ".") != 0 &&
           (slash == NULL || (slash != name && slash[1] != '\0' && strchr(slash + 1, '/') == NULL &&
                              strcmp(slash + 1, ".") != 0 && strncmp(name, "./", 2) != 0));
}

static void add_file(const char *folder, const char *name, ferry_view contents, bool named, char *source, size_t size)
{
    char path[MOST_NAME + 128];
    const char *slash = strchr(name, '/');
    if (!is_harmless(name)) return;
    if (slash != NULL) {
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)(slash - name), name);
        mkdir(path, 0700);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_file(path, contents);
    if (named) snprintf(source, size, "%s", path);
}

/* The next mark at the beginning of a line, from `at` on. */
static size_t find_mark(ferry_view input, size_t at)
{
    for (; at + MARK <= input.size; at++) {
        if (at > 0 && input.data[at - 1] != '\n') continue;
        if (memcmp(input.data + at, "--- ", MARK) == 0 || memcmp(input.data + at, "=== ", MARK) == 0) return at;
    }
    return input.size;
}

/* Writes the files into `folder`, and to `source` what the user names. */
static void write_files(ferry_view input, const char *folder, char *source, size_t size)
{
    size_t at = find_mark(input, 0);
    snprintf(source, size, "%s", folder);
    while (at < input.size) {
        char name[MOST_NAME];
        const bool named = input.data[at] == '=';
        const ferry_view rest = {input.data + at + MARK, input.size - at - MARK};
        const char *end = memchr(rest.data, '\n', rest.size);
        const size_t length = end != NULL ? (size_t)(end - rest.data) : rest.size;
        const size_t begin = at + MARK + length + (end != NULL);
        at = find_mark(input, begin);
        /* The line's end before a mark is not the file's. */
        const size_t last = at < input.size && at > begin ? at - 1 : at;
        snprintf(name, sizeof name, "%.*s", (int)(length < MOST_NAME ? length : MOST_NAME - 1), rest.data);
        add_file(folder, name, (ferry_view){input.data + begin, last - begin}, named, source, size);
    }
}

/* ---- the model ---- */

static void use(const char *path)
{
    ferry_model *model;
    ferry_error error;
    if (ferry_model_open(path, 0, &model, &error) != FERRY_OK || ferry_model_verify(model, &error) != FERRY_OK) {
        fprintf(stderr, "a converted model does not open: %s\n", error.message);
        abort();
    }
    use_model(model);
    ferry_model_close(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ferry_type types[] = {FERRY_F32, FERRY_F16, FERRY_I8};
    const ferry_view input = {(const char *)data, size};
    const ferry_import_options options = {.type = types[size % 3], .four_bits = size % 6 == 5};
    char root[] = "/tmp/ferry-fuzz-XXXXXX", folder[64], output[64], source[MOST_NAME + 128];
    ferry_error error;
    if (mkdtemp(root) == NULL) abort();
    snprintf(folder, sizeof folder, "%s/model", root);
    snprintf(output, sizeof output, "%s/output.gguf", root);
    if (mkdir(folder, 0700) != 0) abort();
    if (size >= 2 && memcmp(data, "PK", 2) == 0) {
        snprintf(source, sizeof source, "%s/model.zip", folder);
        write_file(source, input);
    } else {
        write_files(input, folder, source, sizeof source);
    }
    if (ferry_import(source, output, &options, &error) == FERRY_OK)
        use(output);
    else if (access(output, F_OK) == 0)
        abort();
    remove_tree(root);
    return 0;
}
