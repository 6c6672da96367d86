#include "safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "weights.h"
#include "base/printable.h"

enum { MAX_HEADER = 100000000 };

/* A tensor and where the header puts it. */
typedef struct placed {
    ferry_tensor tensor;
    uint64_t begin, end;
} placed;

static bool find_dtype(const char *name, ferry_type *type, size_t *size)
{
    static const struct {
        const char *name;
        int type;
        size_t size;
    } dtypes[] = {
        {"F32", FERRY_F32, 4}, {"F16", FERRY_F16, 2}, {"BF16", FERRY_BF16, 2}, {"F64", FERRY_F64, 8},
        {"I8", FERRY_I8, 1},   {"I16", FERRY_I16, 2}, {"I32", FERRY_I32, 4},   {"I64", FERRY_I64, 8},
        {"BOOL", 255, 1},      {"U8", 255, 1},        {"U16", 255, 2},         {"U32", 255, 4},
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
    const ferry_printable printable = ferry_printable_view(ferry_text_view(name));
    const char *shown = printable.text;
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    ferry_tensor *tensor = &out->tensor;
    size_t element = 0;
    tensor->name = ferry_text_view(name);
    if (dtype == NULL || !json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !read_offset(offsets, 0, &out->begin) || !read_offset(offsets, 1, &out->end) || out->begin > out->end) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected dtype, shape and data_offsets", file,
                          shown);
    }
    FERRY_TRY(read_shape(file, shown, json_object_get(entry, "shape"), out, error));
    if (!find_dtype(dtype, &tensor->type, &element)) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': element type '%s' is not supported", file,
                          shown, ferry_printable_view(ferry_text_view(dtype)).text);
    }
    if (!ferry_weights_bytes(tensor, element, &tensor->bytes) || tensor->bytes != out->end - out->begin) {
        char shape[100];
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tensor '%s': shape %s of %s does not fit its %" PRIu64 " bytes", file, shown,
                          ferry_tensor_shape_text(tensor, shape, sizeof shape), dtype, out->end - out->begin);
    }
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

static int compare_names(const void *a, const void *b)
{
    return ferry_view_compare(((const ferry_tensor *)a)->name, ((const ferry_tensor *)b)->name);
}

/* Keeps the tensors, by name; a name that occurs twice did not get past the JSON. */
static ferry_status keep_tensors(ferry_safetensors *file, const placed *tensors, size_t count, ferry_error *error)
{
    file->tensors = calloc(count + 1, sizeof *file->tensors);
    if (file->tensors == NULL) return ferry_fail_memory(error, "a list of tensors", count * sizeof *file->tensors);
    for (size_t i = 0; i < count; i++) file->tensors[i] = tensors[i].tensor;
    file->tensor_count = count;
    qsort(file->tensors, count, sizeof *file->tensors, compare_names);
    return FERRY_OK;
}

static ferry_status read_header(ferry_safetensors *file, const char *path, ferry_view data, ferry_error *error)
{
    const char *name;
    json_t *entry;
    size_t count = 0;
    ferry_status status = FERRY_OK;
    placed *tensors = calloc(json_object_size(file->header) + 1, sizeof *tensors);
    if (tensors == NULL) return ferry_fail_memory(error, "a list of tensors", json_object_size(file->header));
    json_object_foreach (file->header, name, entry) {
        if (strcmp(name, "__metadata__") == 0) continue;
        status = read_entry(path, name, entry, &tensors[count++], error);
        if (status != FERRY_OK) break;
    }
    if (status == FERRY_OK) status = check_tiling(path, tensors, count, data, error);
    if (status == FERRY_OK) status = keep_tensors(file, tensors, count, error);
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

static ferry_status parse(ferry_view bytes, const char *path, ferry_safetensors *file, ferry_error *error)
{
    ferry_cursor cursor = {(const uint8_t *)bytes.data, bytes.size, 0};
    uint64_t size;
    ferry_view header;
    FERRY_TRY(ferry_check_not_lfs_pointer(bytes, path, error));
    if (!ferry_read_u64(&cursor, &size) || size > MAX_HEADER || !ferry_read_bytes(&cursor, size, &header) || size < 2 ||
        header.data[0] != '{') {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: not a safetensors file, or cut off in its header", path);
    }
    FERRY_TRY(ferry_json_parse(header, path, &file->header, error));
    const ferry_view data = {bytes.data + cursor.at, ferry_cursor_left(&cursor)};
    return read_header(file, path, data, error);
}

ferry_status ferry_safetensors_open(const char *path, ferry_safetensors *file, ferry_error *error)
{
    memset(file, 0, sizeof *file);
    ferry_status status = ferry_mapped_file_open(path, &file->map, error);
    if (status == FERRY_OK) status = parse(file->map.bytes, path, file, error);
    if (status != FERRY_OK) ferry_safetensors_close(file);
    return status;
}

ferry_status ferry_safetensors_parse(ferry_view bytes, const char *name, ferry_safetensors *file, ferry_error *error)
{
    memset(file, 0, sizeof *file);
    const ferry_status status = parse(bytes, name, file, error);
    if (status != FERRY_OK) ferry_safetensors_close(file);
    return status;
}

void ferry_safetensors_close(ferry_safetensors *file)
{
    json_decref(file->header);
    ferry_mapped_file_close(&file->map);
    free(file->tensors);
    memset(file, 0, sizeof *file);
}

const ferry_tensor *ferry_safetensors_find(const ferry_safetensors *file, const char *name)
{
    const ferry_tensor wanted = {.name = {name, strlen(name)}};
    if (file->tensor_count == 0) return NULL;
    return bsearch(&wanted, file->tensors, file->tensor_count, sizeof *file->tensors, compare_names);
}

/* ---- for importers ---- */

/* The parsed tensors as entries; names move into the weights' own memory. */
static ferry_status copy_entries(const ferry_safetensors *parsed, const char *file, ferry_weights *weights,
                                 ferry_error *error)
{
    weights->entries = ferry_arena_alloc(&weights->arena, parsed->tensor_count + 1, sizeof *weights->entries);
    if (weights->entries == NULL) return ferry_fail_memory(error, "a list of tensors", parsed->tensor_count);
    for (size_t i = 0; i < parsed->tensor_count; i++) {
        const ferry_view name = parsed->tensors[i].name;
        const char *copy = ferry_arena_text(&weights->arena, name);
        if (copy == NULL) return ferry_fail_memory(error, "a tensor's name", name.size);
        ferry_weights_entry *entry = &weights->entries[weights->count++];
        *entry = (ferry_weights_entry){.tensor = parsed->tensors[i], .file = file};
        entry->tensor.name.data = copy;
        ferry_weights_row_major(entry);
    }
    return ferry_weights_sort(weights, error);
}

ferry_status ferry_safetensors_read(ferry_view bytes, const char *file, ferry_weights *weights, ferry_error *error)
{
    ferry_safetensors parsed;
    memset(weights, 0, sizeof *weights);
    FERRY_TRY(ferry_safetensors_parse(bytes, file, &parsed, error));
    const ferry_status status = copy_entries(&parsed, file, weights, error);
    ferry_safetensors_close(&parsed);
    if (status != FERRY_OK) ferry_weights_close(weights);
    return status;
}
