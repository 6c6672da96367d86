#include "weights.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

void ferry_weights_close(ferry_weights *weights)
{
    ferry_zip_close(weights->archive);
    ferry_arena_destroy(&weights->arena);
    memset(weights, 0, sizeof *weights);
}

static int compare_names(const void *a, const void *b)
{
    return ferry_view_compare(((const ferry_weights_entry *)a)->tensor.name,
                              ((const ferry_weights_entry *)b)->tensor.name);
}

ferry_weights_entry *ferry_weights_find(const ferry_weights *weights, const char *name)
{
    const ferry_weights_entry wanted = {.tensor.name = {name, strlen(name)}};
    if (weights->count == 0) return NULL;
    return bsearch(&wanted, weights->entries, weights->count, sizeof *weights->entries, compare_names);
}

ferry_status ferry_weights_sort(ferry_weights *weights, ferry_error *error)
{
    if (weights->count > 0) qsort(weights->entries, weights->count, sizeof *weights->entries, compare_names);
    for (size_t i = 1; i < weights->count; i++) {
        const ferry_weights_entry *before = &weights->entries[i - 1], *entry = &weights->entries[i];
        if (compare_names(before, entry) != 0) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s and %s: tensor '%s' occurs twice", before->file, entry->file,
                          ferry_printable_view(entry->tensor.name).text);
    }
    return FERRY_OK;
}

void ferry_weights_row_major(ferry_weights_entry *entry)
{
    /* Unsigned: the other sizes of a tensor without elements, whose strides are never used, may overflow. */
    uint64_t step = 1;
    for (int32_t i = FERRY_MAX_DIMS - 1; i >= 0; i--) {
        entry->strides[i] = (int64_t)step;
        step *= (uint64_t)entry->tensor.shape[i];
    }
}

/* ---- for readers ---- */

ferry_status ferry_weights_read(ferry_weights_reader *read, ferry_view bytes, const char *file, ferry_account *account,
                                ferry_weights *weights, ferry_error *error)
{
    ferry_reader in = ferry_reader_begin(bytes, file, error);
    *weights = (ferry_weights){.arena.account = account};
    ferry_status status = read(&in, weights);
    if (status == FERRY_OK) status = ferry_weights_sort(weights, error);
    if (status != FERRY_OK) ferry_weights_close(weights);
    return status;
}

ferry_status ferry_weights_reserve(ferry_weights *weights, size_t count, ferry_error *error)
{
    weights->entries = ferry_arena_alloc(&weights->arena, count + 1, sizeof *weights->entries);
    if (weights->entries == NULL) return ferry_fail_memory(error, "a list of tensors", count, sizeof *weights->entries);
    memset(weights->entries, 0, count * sizeof *weights->entries);
    return FERRY_OK;
}

ferry_status ferry_weights_read_shape(ferry_reader *in, uint64_t rank, ferry_tensor *tensor)
{
    if (rank > FERRY_MAX_DIMS) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected at most %d dimensions, found %" PRIu64,
                                 FERRY_MAX_DIMS, rank);
    }
    tensor->dims = (int32_t)rank;
    for (int32_t i = 0; i < FERRY_MAX_DIMS; i++) {
        uint32_t size = 1;
        if (i < tensor->dims && !ferry_read_u32(&in->cursor, &size))
            return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "cut off in its shape");
        tensor->shape[i] = size;
    }
    return FERRY_OK;
}

ferry_status ferry_weights_set_data(const ferry_reader *in, ferry_weights_entry *entry, size_t element,
                                    ferry_view block, bool exact)
{
    ferry_tensor *tensor = &entry->tensor;
    bool fits = true;
    size_t bytes = element;
    for (int32_t i = 0; i < tensor->dims; i++) fits = fits && ferry_mul_size(bytes, (size_t)tensor->shape[i], &bytes);
    if (!fits || bytes > block.size || (exact && bytes != block.size)) {
        char shape[100];
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "shape %s of %s does not fit its %zu bytes",
                                 ferry_tensor_shape_text(tensor, shape, sizeof shape), ferry_type_name(tensor->type),
                                 block.size);
    }
    tensor->data = block.data;
    tensor->bytes = bytes;
    entry->file = in->file;
    ferry_weights_row_major(entry);
    return FERRY_OK;
}

/* ---- safetensors ---- */

enum { MAX_HEADER = 100000000 };

static const struct {
    const char *name;
    int type;
    size_t size;
} dtypes[] = {
    {"F32", FERRY_F32, 4},        {"F16", FERRY_F16, 2},        {"BF16", FERRY_BF16, 2},
    {"F64", FERRY_F64, 8},        {"I8", FERRY_I8, 1},          {"I16", FERRY_I16, 2},
    {"I32", FERRY_I32, 4},        {"I64", FERRY_I64, 8},        {"BOOL", FERRY_TYPE_OTHER, 1},
    {"U8", FERRY_TYPE_OTHER, 1},  {"U16", FERRY_TYPE_OTHER, 2}, {"U32", FERRY_TYPE_OTHER, 4},
    {"U64", FERRY_TYPE_OTHER, 8},
};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

/* Reads integers of at least 0 into values [max]; *count: their number. */
static bool read_sizes(const json_t *list, size_t max, int64_t *values, size_t *count)
{
    *count = json_array_size(list);
    if (!json_is_array(list) || *count > max) return false;
    for (size_t i = 0; i < *count; i++) {
        const json_t *value = json_array_get(list, i);
        values[i] = json_integer_value(value);
        if (!json_is_integer(value) || values[i] < 0) return false;
    }
    return true;
}

static ferry_status read_entry(const ferry_reader *in, ferry_view name, const json_t *object, ferry_view data,
                               ferry_weights_entry *entry)
{
    const char *dtype = json_string_value(json_object_get(object, "dtype"));
    ferry_tensor *tensor = &entry->tensor;
    int64_t offsets[2];
    size_t count, dims, type = 0;
    *tensor = (ferry_tensor){.name = name, .shape = {1, 1, 1, 1}};
    if (dtype == NULL || !read_sizes(json_object_get(object, "data_offsets"), 2, offsets, &count) || count != 2 ||
        offsets[0] > offsets[1])
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected dtype, shape and data_offsets");
    if (!read_sizes(json_object_get(object, "shape"), FERRY_MAX_DIMS, tensor->shape, &dims)) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT,
                                 "expected a shape of at most %d integers, none negative", FERRY_MAX_DIMS);
    }
    tensor->dims = (int32_t)dims;
    while (type < DTYPES && strcmp(dtype, dtypes[type].name) != 0) type++;
    if (type == DTYPES) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_UNSUPPORTED, "element type '%s' is not supported",
                                 ferry_printable_text(dtype).text);
    }
    tensor->type = (ferry_type)dtypes[type].type;
    if ((uint64_t)offsets[1] > data.size) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected its data in %zu bytes, found %lld to %lld",
                                 data.size, (long long)offsets[0], (long long)offsets[1]);
    }
    const ferry_view block = {data.data + offsets[0], (size_t)(offsets[1] - offsets[0])};
    return ferry_weights_set_data(in, entry, dtypes[type].size, block, true);
}

static int compare_offsets(const void *a, const void *b)
{
    const ferry_tensor *x = &((const ferry_weights_entry *)a)->tensor, *y = &((const ferry_weights_entry *)b)->tensor;
    const uintptr_t first = (uintptr_t)x->data, second = (uintptr_t)y->data;
    if (first != second) return first < second ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Names are copied: the JSON is released before they are used. It refuses a name that occurs twice. */
static ferry_status read_entries(const ferry_reader *in, const json_t *header, ferry_view data, ferry_weights *weights)
{
    const char *key;
    json_t *object;
    size_t at = 0;
    FERRY_TRY(ferry_weights_reserve(weights, json_object_size(header), in->error));
    json_object_foreach ((json_t *)(uintptr_t)header, key, object) {
        if (strcmp(key, "__metadata__") == 0) continue;
        const char *name = ferry_arena_text(&weights->arena, ferry_text_view(key));
        if (name == NULL) return ferry_fail_memory(in->error, "a tensor's name", strlen(key), 1);
        FERRY_TRY(read_entry(in, ferry_text_view(name), object, data, &weights->entries[weights->count++]));
    }
    /* Tensors must follow one another from the first byte of `data` to the last. */
    if (weights->count > 0) qsort(weights->entries, weights->count, sizeof *weights->entries, compare_offsets);
    for (size_t i = 0; i < weights->count; i++) {
        const ferry_tensor *tensor = &weights->entries[i].tensor;
        const size_t found = (size_t)((const char *)tensor->data - data.data);
        if (found != at) {
            return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT,
                                     "expected its data at byte %zu of %zu, found %zu to %zu", at, data.size, found,
                                     found + tensor->bytes);
        }
        at += tensor->bytes;
    }
    if (at == data.size) return FERRY_OK;
    return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "expected %zu bytes of data, found %zu", at, data.size);
}

ferry_status ferry_check_not_lfs_pointer(ferry_view bytes, const char *path, ferry_error *error)
{
    ferry_reader in = ferry_reader_begin(bytes, path, error);
    if (!ferry_read_text(&in.cursor, "version https://git-lfs.github.com/spec/")) return FERRY_OK;
    return ferry_reader_fail(&in, FERRY_ERROR_UNSUPPORTED,
                             "this is a Git LFS pointer, not the file: download it with 'git lfs pull'");
}

ferry_status ferry_safetensors_read(ferry_reader *in, ferry_weights *weights)
{
    const ferry_view bytes = {(const char *)in->cursor.data, in->cursor.size};
    uint64_t size;
    ferry_view header;
    json_t *root;
    FERRY_TRY(ferry_check_not_lfs_pointer(bytes, in->file, in->error));
    if (!ferry_read_u64(&in->cursor, &size) || size > MAX_HEADER || !ferry_read_bytes(&in->cursor, size, &header) ||
        size < 2 || header.data[0] != '{')
        return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "not a safetensors file, or cut off in its header");
    FERRY_TRY(ferry_json_parse(header, in->file, JSON_OBJECT, weights->arena.account, &root, in->error));
    const ferry_view data = {bytes.data + in->cursor.at, ferry_cursor_left(&in->cursor)};
    const ferry_status status = read_entries(in, root, data, weights);
    ferry_json_release(root, header, weights->arena.account);
    return status;
}

ferry_status ferry_safetensors_open(const char *path, ferry_safetensors *file, ferry_error *error)
{
    ferry_budget budget;
    memset(file, 0, sizeof *file);
    FERRY_TRY(ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &file->map, error));
    ferry_budget_begin(&budget, 0);
    ferry_budget_add_file(&budget, file->map.bytes.size);
    ferry_status status =
        ferry_weights_read(ferry_safetensors_read, file->map.bytes, path, &budget.account, &file->weights, error);
    status = ferry_budget_check(&budget, path, status, error);
    file->weights.arena.account = NULL; /* nothing more is read, and the budget ends here */
    if (status != FERRY_OK) ferry_safetensors_close(file);
    return status;
}

void ferry_safetensors_close(ferry_safetensors *file)
{
    ferry_weights_close(&file->weights);
    ferry_mapped_file_close(&file->map);
    memset(file, 0, sizeof *file);
}
