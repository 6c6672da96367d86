#define _POSIX_C_SOURCE 200809L /* strdup */
#include "safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "printable.h"

enum { MAX_HEADER = 100000000 };

struct ferry_safetensors_part {
    char *path;
    ferry_mapped_file map; /* empty when the bytes are the caller's */
    ferry_view bytes;
    json_t *header; /* owns the tensors' names */
};

/* A tensor and where the header puts it. */
typedef struct placed {
    ferry_tensor tensor;
    uint64_t begin, end;
} placed;

/* ---- one file ---- */

static bool find_dtype(const char *name, ferry_type *type, size_t *size)
{
    static const struct {
        const char *name;
        int type;
        size_t size;
    } dtypes[] = {
        {"F32", FERRY_F32, 4}, {"F16", FERRY_F16, 2}, {"BF16", FERRY_BF16, 2}, {"F64", FERRY_F64, 8},
        {"I32", FERRY_I32, 4}, {"I64", FERRY_I64, 8}, {"BOOL", 255, 1},        {"U8", 255, 1},
        {"I8", 255, 1},        {"I16", 255, 2},       {"U16", 255, 2},         {"U32", 255, 4},
        {"U64", 255, 8},
    };
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (strcmp(name, dtypes[i].name) != 0) continue;
        *type = (ferry_type)dtypes[i].type;
        *size = dtypes[i].size;
        return true;
    }
    return false;
}

static bool read_offset(const json_t *offsets, size_t i, uint64_t *offset)
{
    const json_t *value = json_array_get(offsets, i);
    *offset = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static ferry_status read_shape(const char *file, const char *name, const json_t *shape, placed *out, ferry_error *error)
{
    ferry_tensor *tensor = &out->tensor;
    if (!json_is_array(shape) || json_array_size(shape) > FERRY_MAX_DIMS) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected a shape of at most %d dimensions", file,
                          name, FERRY_MAX_DIMS);
    }
    tensor->dims = (int32_t)json_array_size(shape);
    for (size_t i = 0; i < FERRY_MAX_DIMS; i++) {
        const json_t *size = json_array_get(shape, i);
        tensor->shape[i] = size != NULL ? json_integer_value(size) : 1;
        if (tensor->shape[i] < 0 || (size != NULL && !json_is_integer(size))) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': impossible shape", file, name);
        }
    }
    return FERRY_OK;
}

static ferry_status read_entry(const char *file, const char *name, const json_t *entry, placed *out, ferry_error *error)
{
    const ferry_printable printable = ferry_printable_view((ferry_view){name, strlen(name)});
    const char *shown = printable.text;
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    ferry_tensor *tensor = &out->tensor;
    size_t bytes = 0;
    tensor->name = (ferry_view){name, strlen(name)};
    if (dtype == NULL || !json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !read_offset(offsets, 0, &out->begin) || !read_offset(offsets, 1, &out->end) || out->begin > out->end) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected dtype, shape and data_offsets", file,
                          shown);
    }
    FERRY_TRY(read_shape(file, shown, json_object_get(entry, "shape"), out, error));
    if (!find_dtype(dtype, &tensor->type, &bytes)) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': element type '%s' is not supported", file,
                          shown, ferry_printable_view((ferry_view){dtype, strlen(dtype)}).text);
    }
    bool fits = true;
    for (int32_t i = 0; i < tensor->dims; i++) fits = fits && ferry_mul_size(bytes, (size_t)tensor->shape[i], &bytes);
    if (!fits || bytes != out->end - out->begin) {
        char shape[100];
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tensor '%s': shape %s of %s does not fit its %" PRIu64 " bytes", file, shown,
                          ferry_tensor_shape_text(tensor, shape, sizeof shape), dtype, out->end - out->begin);
    }
    tensor->bytes = bytes;
    return FERRY_OK;
}

static int compare_places(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Tensors must follow one another from the first byte of `data` to the last. */
static ferry_status check_tiling(const char *file, placed *tensors, size_t count, ferry_view data, ferry_error *error)
{
    uint64_t at = 0;
    qsort(tensors, count, sizeof *tensors, compare_places);
    for (size_t i = 0; i < count; i++) {
        if (tensors[i].begin != at || tensors[i].end > data.size) {
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "%s: tensor '%s': expected its data at byte %" PRIu64 " of %zu, found %" PRIu64
                              " to %" PRIu64,
                              file, ferry_printable_view(tensors[i].tensor.name).text, at, data.size, tensors[i].begin,
                              tensors[i].end);
        }
        tensors[i].tensor.data = data.data + at;
        at = tensors[i].end;
    }
    if (at == data.size) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected %" PRIu64 " bytes of data, found %zu", file, at,
                      data.size);
}

static ferry_status append_tensors(ferry_safetensors *file, const placed *tensors, size_t count, ferry_error *error)
{
    const size_t total = file->tensor_count + count;
    ferry_tensor *all = realloc(file->tensors, (total + 1) * sizeof *all);
    if (all == NULL) return ferry_fail_memory(error, "a list of tensors", total * sizeof *all);
    file->tensors = all;
    for (size_t i = 0; i < count; i++) all[file->tensor_count + i] = tensors[i].tensor;
    file->tensor_count = total;
    return FERRY_OK;
}

static ferry_status read_header(ferry_safetensors *file, ferry_safetensors_part *part, ferry_view data,
                                ferry_error *error)
{
    const char *name;
    json_t *entry;
    size_t count = 0;
    ferry_status status = FERRY_OK;
    placed *tensors = calloc(json_object_size(part->header) + 1, sizeof *tensors);
    if (tensors == NULL) return ferry_fail_memory(error, "a list of tensors", json_object_size(part->header));
    json_object_foreach (part->header, name, entry) {
        if (strcmp(name, "__metadata__") == 0) continue;
        status = read_entry(part->path, name, entry, &tensors[count++], error);
        if (status != FERRY_OK) break;
    }
    if (status == FERRY_OK) status = check_tiling(part->path, tensors, count, data, error);
    if (status == FERRY_OK) status = append_tensors(file, tensors, count, error);
    free(tensors);
    return status;
}

ferry_status ferry_check_not_lfs_pointer(ferry_view bytes, const char *path, ferry_error *error)
{
    static const char start[] = "version https://git-lfs.github.com/spec/";
    if (bytes.size < sizeof start - 1 || memcmp(bytes.data, start, sizeof start - 1) != 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: this is a Git LFS pointer, not the file: download it with 'git lfs pull'", path);
}

static ferry_status parse_part(ferry_safetensors *file, ferry_safetensors_part *part, ferry_error *error)
{
    ferry_cursor cursor = {(const uint8_t *)part->bytes.data, part->bytes.size, 0};
    uint64_t size;
    ferry_view header;
    FERRY_TRY(ferry_check_not_lfs_pointer(part->bytes, part->path, error));
    if (!ferry_read_u64(&cursor, &size) || size > MAX_HEADER || !ferry_read_bytes(&cursor, size, &header) || size < 2 ||
        header.data[0] != '{') {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: not a safetensors file, or cut off in its header",
                          part->path);
    }
    FERRY_TRY(ferry_json_parse(header, part->path, &part->header, error));
    const ferry_view data = {part->bytes.data + cursor.at, ferry_cursor_left(&cursor)};
    return read_header(file, part, data, error);
}

/* ---- all files ---- */

static int compare_names(const void *a, const void *b)
{
    const ferry_view x = ((const ferry_tensor *)a)->name, y = ((const ferry_tensor *)b)->name;
    const size_t size = x.size < y.size ? x.size : y.size;
    const int order = size > 0 ? memcmp(x.data, y.data, size) : 0;
    return order != 0 ? order : (x.size > y.size) - (x.size < y.size);
}

static ferry_status sort_tensors(ferry_safetensors *file, ferry_error *error)
{
    if (file->tensor_count > 0) qsort(file->tensors, file->tensor_count, sizeof *file->tensors, compare_names);
    for (size_t i = 1; i < file->tensor_count; i++) {
        if (compare_names(&file->tensors[i - 1], &file->tensors[i]) == 0) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s and %s: tensor '%s' occurs twice",
                              ferry_safetensors_path(file, &file->tensors[i - 1]),
                              ferry_safetensors_path(file, &file->tensors[i]),
                              ferry_printable_view(file->tensors[i].name).text);
        }
    }
    return FERRY_OK;
}

/* Adds a part for `path`; `bytes` NULL: its mapping. */
static ferry_status add_part(ferry_safetensors *file, const char *path, const ferry_view *bytes, ferry_error *error)
{
    ferry_safetensors_part *parts = realloc(file->parts, (file->part_count + 1) * sizeof *parts);
    if (parts == NULL) return ferry_fail_memory(error, "a list of files", sizeof *parts);
    file->parts = parts;
    ferry_safetensors_part *part = &parts[file->part_count++];
    memset(part, 0, sizeof *part);
    part->path = strdup(path);
    if (part->path == NULL) return ferry_fail_memory(error, "a file name", strlen(path));
    if (bytes == NULL) FERRY_TRY(ferry_mapped_file_open(path, &part->map, error));
    part->bytes = bytes == NULL ? part->map.bytes : *bytes;
    return parse_part(file, part, error);
}

static ferry_status check_shard_name(const char *index, const char *name, ferry_error *error)
{
    if (name != NULL && name[0] != '\0' && strpbrk(name, "/\\") == NULL && strstr(name, "..") == NULL) return FERRY_OK;
    const char *shown = name != NULL ? name : "";
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s' is not the name of a file beside it", index,
                      ferry_printable_view((ferry_view){shown, strlen(shown)}).text);
}

static char *path_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    char *result = malloc(folder + strlen(name) + 1);
    if (result == NULL) return NULL;
    memcpy(result, path, folder);
    strcpy(result + folder, name);
    return result;
}

/* Opens the file `name` unless an earlier tensor brought it in. */
static ferry_status open_shard(ferry_safetensors *file, const char *index, const char *name, ferry_error *error)
{
    FERRY_TRY(check_shard_name(index, name, error));
    char *path = path_beside(index, name);
    if (path == NULL) return ferry_fail_memory(error, "a file name", strlen(name));
    ferry_status status = FERRY_OK;
    bool known = false;
    for (size_t i = 0; i < file->part_count && !known; i++) known = strcmp(file->parts[i].path, path) == 0;
    if (!known) status = add_part(file, path, NULL, error);
    free(path);
    return status;
}

/* The tensors of the index and those of the files must be the same, and each where the index says. */
static ferry_status check_index(const ferry_safetensors *file, const char *index, const json_t *map, ferry_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)map, name, value) {
        const ferry_tensor *tensor = ferry_safetensors_find(file, name);
        const char *path = tensor != NULL ? ferry_safetensors_path(file, tensor) : "";
        const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
        if (strcmp(base, json_string_value(value)) != 0) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is not in '%s'", index,
                              ferry_printable_view((ferry_view){name, strlen(name)}).text, json_string_value(value));
        }
    }
    for (size_t i = 0; i < file->tensor_count; i++) {
        const ferry_view found = file->tensors[i].name;
        if (json_object_get(map, found.data) == NULL) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' of %s is not listed", index,
                              ferry_printable_view(found).text, ferry_safetensors_path(file, &file->tensors[i]));
        }
    }
    return FERRY_OK;
}

static ferry_status open_listed(ferry_safetensors *file, const char *index, const json_t *root, ferry_error *error)
{
    const char *name;
    json_t *value;
    const json_t *map = json_object_get(root, "weight_map");
    if (!json_is_object(map)) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: 'weight_map' is missing", index);
    json_object_foreach ((json_t *)(uintptr_t)map, name, value) {
        FERRY_TRY(open_shard(file, index, json_string_value(value), error));
    }
    FERRY_TRY(sort_tensors(file, error));
    return check_index(file, index, map, error);
}

static ferry_status open_index(const char *path, ferry_safetensors *file, ferry_error *error)
{
    ferry_mapped_file map;
    json_t *root = NULL;
    FERRY_TRY(ferry_mapped_file_open(path, &map, error));
    ferry_status status = ferry_check_not_lfs_pointer(map.bytes, path, error);
    if (status == FERRY_OK) status = ferry_json_parse(map.bytes, path, &root, error);
    if (status == FERRY_OK) status = open_listed(file, path, root, error);
    json_decref(root);
    ferry_mapped_file_close(&map);
    return status;
}

ferry_status ferry_safetensors_open(const char *path, ferry_safetensors *file, ferry_error *error)
{
    static const char suffix[] = ".json";
    const size_t size = strlen(path);
    memset(file, 0, sizeof *file);
    ferry_status status;
    if (size >= sizeof suffix - 1 && strcmp(path + size - (sizeof suffix - 1), suffix) == 0) {
        status = open_index(path, file, error);
    } else {
        status = add_part(file, path, NULL, error);
        if (status == FERRY_OK) status = sort_tensors(file, error);
    }
    if (status != FERRY_OK) ferry_safetensors_close(file);
    return status;
}

ferry_status ferry_safetensors_parse(ferry_view bytes, const char *name, ferry_safetensors *file, ferry_error *error)
{
    memset(file, 0, sizeof *file);
    ferry_status status = add_part(file, name, &bytes, error);
    if (status == FERRY_OK) status = sort_tensors(file, error);
    if (status != FERRY_OK) ferry_safetensors_close(file);
    return status;
}

void ferry_safetensors_close(ferry_safetensors *file)
{
    for (size_t i = 0; i < file->part_count; i++) {
        json_decref(file->parts[i].header);
        ferry_mapped_file_close(&file->parts[i].map);
        free(file->parts[i].path);
    }
    free(file->parts);
    free(file->tensors);
    memset(file, 0, sizeof *file);
}

/* ---- looking up ---- */

const ferry_tensor *ferry_safetensors_find(const ferry_safetensors *file, const char *name)
{
    const ferry_tensor wanted = {.name = {name, strlen(name)}};
    if (file->tensor_count == 0) return NULL;
    return bsearch(&wanted, file->tensors, file->tensor_count, sizeof *file->tensors, compare_names);
}

static const ferry_safetensors_part *part_of(const ferry_safetensors *file, const ferry_tensor *tensor)
{
    const uintptr_t data = (uintptr_t)tensor->data;
    const ferry_safetensors_part *part = file->parts;
    /* A header stands before the data, so even an empty tensor is behind its file's beginning. */
    while ((uintptr_t)part->bytes.data >= data || data - (uintptr_t)part->bytes.data > part->bytes.size) part++;
    return part;
}

const char *ferry_safetensors_part_path(const ferry_safetensors *file, size_t part)
{
    return file->parts[part].path;
}

size_t ferry_safetensors_part_size(const ferry_safetensors *file, size_t part)
{
    return file->parts[part].bytes.size;
}

const char *ferry_safetensors_path(const ferry_safetensors *file, const ferry_tensor *tensor)
{
    return part_of(file, tensor)->path;
}

void ferry_safetensors_release(const ferry_safetensors *file, const ferry_tensor *tensor)
{
    const ferry_safetensors_part *part = part_of(file, tensor);
    if (part->map.bytes.size == 0) return;
    ferry_mapped_file_release(&part->map, (size_t)((const char *)tensor->data - part->bytes.data), tensor->bytes);
}
