#include "source.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file_system.h"
#include "base/files/hub_cache.h"
#include "models/containers/weights.h"

enum { HASH_STEP = 1 << 20 };

/* ---- names ---- */

/* "a/b", or "b" for a = NULL. */
static char *join(ferry_source *source, const char *a, const char *b)
{
    const size_t before = a != NULL ? strlen(a) + 1 : 0, size = before + strlen(b);
    char *path = ferry_arena_alloc(&source->arena, size + 1, 1);
    if (path == NULL) return NULL;
    snprintf(path, size + 1, "%s%s%s", a != NULL ? a : "", a != NULL ? "/" : "", b);
    return path;
}

/* A name without ".gz". */
static ferry_view plain_name(const char *name)
{
    const size_t size = strlen(name);
    return (ferry_view){name, size > 3 && ferry_text_ends(name, ".gz") ? size - 3 : size};
}

static ferry_status add_file(ferry_source *source, const char *published, size_t member, ferry_error *error)
{
    ferry_source_file *file = NULL;
    if (ferry_account_take(&source->budget.account, 2 * sizeof *file)) /* the array may be half empty */
        file = ferry_array_add(&source->files, &source->count, &source->capacity, sizeof *file);
    if (file == NULL) return ferry_fail_memory(error, "a list of files", source->count, sizeof *file);
    *file = (ferry_source_file){.published = ferry_arena_text(&source->arena, ferry_text_view(published)),
                                .name = ferry_arena_text(&source->arena, plain_name(published)),
                                .member = member};
    return file->published != NULL && file->name != NULL
               ? FERRY_OK
               : ferry_fail_memory(error, "a file name", strlen(published), 1);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const ferry_source_file *)a)->name, ((const ferry_source_file *)b)->name);
}

static int compare_files(const void *a, const void *b)
{
    const int order = compare_names(a, b);
    return order != 0 ? order
                      : strcmp(((const ferry_source_file *)a)->published, ((const ferry_source_file *)b)->published);
}

/* Sorts by name. Of a file and its compressed twin, keeps the file. */
static ferry_status sort_files(ferry_source *source, ferry_error *error)
{
    size_t kept = 0;
    if (source->count > 0) qsort(source->files, source->count, sizeof *source->files, compare_files);
    for (size_t i = 0; i < source->count; i++) {
        if (kept > 0 && compare_names(&source->files[kept - 1], &source->files[i]) == 0) continue;
        source->files[kept++] = source->files[i];
    }
    source->count = kept;
    source->read = calloc(kept + 1, sizeof *source->read);
    return source->read != NULL ? FERRY_OK : ferry_fail_memory(error, "a list of files", kept, sizeof *source->read);
}

static ferry_source_file *find_file(const ferry_source *source, const char *name)
{
    const ferry_source_file wanted = {.name = name};
    if (source->count == 0) return NULL;
    return bsearch(&wanted, source->files, source->count, sizeof *source->files, compare_names);
}

/* ---- directories ---- */

/* Lists the files of the directory (folder NULL) and of its folders, without hidden files. An unreadable folder counts
 * as empty. */
static ferry_status list_folder(ferry_source *source, const char *folder, ferry_error *error)
{
    const char *path = folder != NULL ? join(source, source->directory, folder) : source->directory;
    if (path == NULL) return ferry_fail_memory(error, "a file name", strlen(folder), 1);
    ferry_status status = FERRY_OK;
    const char *entry;
    ferry_folder *stream = ferry_folder_open(path);
    if (stream == NULL && (folder == NULL || errno == ENOMEM))
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot read: %s", path, strerror(errno));
    if (stream == NULL) return FERRY_OK;
    while (status == FERRY_OK && (entry = ferry_folder_next(stream)) != NULL) {
        ferry_file_info information;
        if (entry[0] == '.') continue;
        const char *name = join(source, folder, entry);
        const char *file = name != NULL ? join(source, source->directory, name) : NULL;
        if (file == NULL)
            status = ferry_fail_memory(error, "a file name", strlen(entry), 1);
        else if (!ferry_file_examine(file, &information))
            continue; /* a dangling link */
        else if (information.kind == FERRY_KIND_FILE)
            status = add_file(source, name, 0, error);
        else if (information.kind == FERRY_KIND_FOLDER && folder == NULL)
            status = list_folder(source, name, error);
    }
    if (status == FERRY_OK && errno != 0)
        status = ferry_fail(error, FERRY_ERROR_IO, "%s: cannot read: %s", path, strerror(errno));
    ferry_folder_close(stream);
    return status;
}

/* ---- archives ---- */

/* Lists the archive when `source->path` is one; otherwise source->archive stays NULL. */
static ferry_status open_archive(ferry_source *source, ferry_error *error)
{
    FERRY_TRY(ferry_mapped_file_open(source->path, FERRY_FILE_MAPPED, &source->map, error));
    if (ferry_is_zip(source->map.bytes))
        FERRY_TRY(ferry_zip_open(source->map.bytes, source->path, &source->budget.account, &source->archive, error));
    const size_t count = source->archive != NULL ? ferry_zip_count(source->archive) : 0;
    bool weights = false; /* NumPy's .npz and PyTorch's files are zip archives, too */
    for (size_t i = 0; i < count; i++) {
        const char *name = ferry_zip_name(source->archive, i);
        weights |= ferry_text_ends(name, ".npy") || ferry_text_ends(name, "/data.pkl") || strcmp(name, "data.pkl") == 0;
    }
    if (source->archive == NULL || weights) {
        ferry_zip_close(source->archive);
        source->archive = NULL;
        ferry_mapped_file_close(&source->map);
        return FERRY_OK;
    }
    ferry_budget_add_file(&source->budget, source->map.bytes.size);
    const char *first = count > 0 ? ferry_zip_name(source->archive, 0) : "", *slash = strchr(first, '/');
    size_t folder = slash != NULL ? (size_t)(slash - first) + 1 : 0; /* bytes of "folder/", if all members are in it */
    for (size_t i = 0; i < count; i++)
        if (strncmp(ferry_zip_name(source->archive, i), first, folder) != 0) folder = 0;
    for (size_t i = 0; i < count; i++)
        FERRY_TRY(add_file(source, ferry_zip_name(source->archive, i) + folder, i, error));
    source->directory = ferry_arena_text(&source->arena, ferry_text_view(source->path));
    return source->directory != NULL ? FERRY_OK : ferry_fail_memory(error, "a file name", strlen(source->path), 1);
}

/* ---- opening ---- */

static ferry_status open_source(ferry_source *source, const char *path, ferry_error *error)
{
    ferry_file_info information;
    if (!ferry_file_examine(path, &information))
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", path, strerror(errno));
    source->real = ferry_path_real(path);
    source->path = ferry_arena_text(&source->arena, ferry_text_view(path));
    if (source->real == NULL || source->path == NULL) return ferry_fail_memory(error, "a file name", strlen(path), 1);
    source->asked = source->path;
    const char *base = information.kind == FERRY_KIND_FOLDER ? source->real : ferry_path_base(source->real);
    const size_t before = (size_t)(base - source->real);
    const char *folder = ferry_arena_text(&source->arena, (ferry_view){source->real, before > 0 ? before - 1 : 0});
    if (folder == NULL) return ferry_fail_memory(error, "a file name", before, 1);
    const ferry_view name = ferry_hub_name(source->real);
    source->base = name.size > 0 ? ferry_arena_text(&source->arena, name) : ferry_path_base(source->real);
    source->folder = ferry_path_base(folder);
    if (source->base == NULL) return ferry_fail_memory(error, "a file name", name.size, 1);
    if (information.kind == FERRY_KIND_FOLDER) {
        ferry_short_text snapshot;
        FERRY_TRY(ferry_hub_snapshot(path, &snapshot, error));
        source->snapshot = ferry_arena_text(&source->arena, ferry_text_view(snapshot.text));
        source->directory = snapshot.text[0] != '\0' ? join(source, path, snapshot.text) : source->path;
        if (source->snapshot == NULL || source->directory == NULL)
            return ferry_fail_memory(error, "a file name", strlen(path), 1);
        FERRY_TRY(list_folder(source, NULL, error));
        return sort_files(source, error);
    }
    FERRY_TRY(open_archive(source, error));
    if (source->archive == NULL) { /* one file of weights: its directory is the source */
        base = ferry_path_base(path);
        const size_t folder_size = (size_t)(base - path);
        const ferry_view directory = folder_size == 0   ? ferry_text_view(".")
                                     : folder_size == 1 ? ferry_text_view("/")
                                                        : (ferry_view){path, folder_size - 1};
        source->directory = ferry_arena_text(&source->arena, directory);
        source->selected = ferry_arena_text(&source->arena, plain_name(base));
        if (source->directory == NULL || source->selected == NULL)
            return ferry_fail_memory(error, "a file name", strlen(base), 1);
        FERRY_TRY(list_folder(source, NULL, error));
        if (base[0] == '.') FERRY_TRY(add_file(source, base, 0, error));
    }
    return sort_files(source, error);
}

ferry_status ferry_source_open(const char *path, uint64_t budget, ferry_source **source, ferry_error *error)
{
    *source = NULL;
    ferry_source *opened = calloc(1, sizeof *opened);
    if (opened == NULL) return ferry_fail_memory(error, "a list of files", 1, sizeof *opened);
    ferry_budget_begin(&opened->budget, budget);
    opened->arena.account = &opened->budget.account;
    const ferry_status status = ferry_budget_check(&opened->budget, path, open_source(opened, path, error), error);
    if (status == FERRY_OK)
        *source = opened;
    else
        ferry_source_close(opened);
    return status;
}

void ferry_source_close(ferry_source *source)
{
    if (source == NULL) return;
    for (size_t i = 0; i < source->count; i++) {
        ferry_mapped_file_close(&source->files[i].map);
        ferry_mapped_file_close(&source->files[i].inflated);
    }
    ferry_zip_close(source->archive);
    ferry_mapped_file_close(&source->map);
    free(source->files);
    free(source->read);
    free(source->real);
    ferry_arena_destroy(&source->arena);
    free(source);
}

bool ferry_source_has(const ferry_source *source, const char *name)
{
    return find_file(source, name) != NULL;
}

/* ---- reading ---- */

static const char *label_of(ferry_source *source, ferry_source_file *file)
{
    if (file->label == NULL) file->label = join(source, source->directory, file->published);
    return file->label != NULL ? file->label : file->name;
}

const char *ferry_source_label(ferry_source *source, const char *name)
{
    ferry_source_file *file = find_file(source, name);
    if (file != NULL) return label_of(source, file);
    const char *label = join(source, source->directory, name);
    return label != NULL ? label : name;
}

static ferry_status map_file(ferry_source *source, ferry_source_file *file, ferry_error *error)
{
    const char *label = label_of(source, file);
    if (source->archive != NULL) {
        FERRY_TRY(ferry_zip_member(source->archive, file->member, &file->original, error));
    } else {
        const char *path = join(source, source->directory, file->published);
        if (path == NULL) return ferry_fail_memory(error, "a file name", strlen(file->published), 1);
        FERRY_TRY(ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &file->map, error));
        if (!file->counted) ferry_budget_add_file(&source->budget, file->map.bytes.size);
        file->counted = true;
        file->original = file->map.bytes;
    }
    file->bytes = file->original;
    FERRY_TRY(ferry_check_not_lfs_pointer(file->bytes, label, error));
    if (strcmp(file->name, file->published) != 0) {
        FERRY_TRY(ferry_gzip_inflate(file->original, label, &source->budget.account, &file->inflated, error));
        file->bytes = file->inflated.bytes;
    }
    /* Skips the byte-order mark that Windows editors write. Of binary files, only safetensors could begin with the same
     * bytes. */
    if (ferry_view_begins(file->bytes, "\xef\xbb\xbf") && !ferry_text_ends(file->name, ".safetensors"))
        file->bytes = (ferry_view){file->bytes.data + 3, file->bytes.size - 3};
    file->mapped = true;
    return FERRY_OK;
}

ferry_status ferry_source_look(ferry_source *source, const char *name, ferry_view *bytes, ferry_error *error)
{
    ferry_source_file *file = find_file(source, name);
    if (file == NULL) {
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: there is no such file",
                          ferry_source_label(source, name));
    }
    FERRY_TRY(ferry_source_check(source, NULL, FERRY_OK, error));
    source->asked = label_of(source, file);
    ferry_status status = file->mapped ? FERRY_OK : map_file(source, file, error);
    status = ferry_budget_check(&source->budget, source->asked, status, error);
    if (status == FERRY_OK) {
        *bytes = file->bytes;
    } else {
        source->out_of_memory = source->out_of_memory || status == FERRY_ERROR_MEMORY;
        ferry_mapped_file_close(&file->map);
        ferry_mapped_file_close(&file->inflated);
    }
    return status;
}

ferry_status ferry_source_map(ferry_source *source, const char *name, ferry_view *bytes, ferry_error *error)
{
    FERRY_TRY(ferry_source_look(source, name, bytes, error));
    ferry_source_file *file = find_file(source, name);
    if (!file->noted) source->read[source->read_count++] = file;
    file->noted = true;
    return FERRY_OK;
}

ferry_status ferry_source_check(const ferry_source *source, const char *file, ferry_status status, ferry_error *error)
{
    if (source->out_of_memory)
        status = ferry_fail(error, FERRY_ERROR_MEMORY, "%s: out of memory: not all files could be read", source->path);
    return ferry_budget_check(&source->budget, file != NULL ? file : source->asked, status, error);
}

/* Releases the range if it is in this mapping; whether it is. */
static bool release_in(const ferry_mapped_file *map, const void *data, size_t size)
{
    const uintptr_t begin = (uintptr_t)map->bytes.data, at = (uintptr_t)data;
    if (map->bytes.data == NULL || at < begin || at - begin > map->bytes.size) return false;
    const size_t offset = at - begin, left = map->bytes.size - offset;
    ferry_mapped_file_release(map, offset, size < left ? size : left);
    return true;
}

void ferry_source_release(ferry_source *source, const void *data, size_t size)
{
    if (release_in(&source->map, data, size)) return;
    for (size_t i = 0; i < source->read_count; i++)
        if (release_in(&source->read[i]->map, data, size) || release_in(&source->read[i]->inflated, data, size)) return;
}

/* ---- what was read ---- */

uint64_t ferry_source_read_bytes(const ferry_source *source)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < source->read_count; i++) bytes += source->read[i]->original.size;
    return bytes;
}

const char *ferry_source_hash(ferry_source *source, ferry_source_file *file)
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    if (file->hash[0] != '\0') return file->hash;
    sha256_init(&context);
    for (size_t at = 0; at < file->original.size; at += HASH_STEP) {
        const size_t left = file->original.size - at, step = left < HASH_STEP ? left : HASH_STEP;
        sha256_update(&context, step, (const uint8_t *)file->original.data + at);
        ferry_source_release(source, file->original.data + at, step);
    }
    sha256_digest(&context, sizeof digest, digest);
    ferry_hex_digits(digest, sizeof digest, file->hash); /* which is zeroed */
    return file->hash;
}
