#include "safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "json.h"
#include "base/utf8.h"

enum { MAX_HEADER = 100000000 };

static bool find_dtype(const char *name, ferry_type *type, size_t *size)
{
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
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (strcmp(name, dtypes[i].name) != 0) continue;
        *type = (ferry_type)dtypes[i].type;
        *size = dtypes[i].size;
        return true;
    }
    return false;
}

/* Integers from 0 on into values[0 … most - 1]; *count says how many there are. */
static bool read_sizes(const json_t *list, size_t most, int64_t *values, size_t *count)
{
    *count = json_array_size(list);
    if (!json_is_array(list) || *count > most) return false;
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
    size_t count, dims, element = 0;
    *tensor = (ferry_tensor){.name = name, .shape = {1, 1, 1, 1}};
    if (dtype == NULL || !read_sizes(json_object_get(object, "data_offsets"), 2, offsets, &count) || count != 2 ||
        offsets[0] > offsets[1])
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected dtype, shape and data_offsets");
    if (!read_sizes(json_object_get(object, "shape"), FERRY_MAX_DIMS, tensor->shape, &dims)) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT,
                                 "expected a shape of at most %d integers, none negative", FERRY_MAX_DIMS);
    }
    tensor->dims = (int32_t)dims;
    if (!find_dtype(dtype, &tensor->type, &element)) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_UNSUPPORTED, "element type '%s' is not supported",
                                 ferry_printable_view(ferry_text_view(dtype)).text);
    }
    if ((uint64_t)offsets[1] > data.size) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected its data in %zu bytes, found %lld to %lld",
                                 data.size, (long long)offsets[0], (long long)offsets[1]);
    }
    const ferry_view block = {data.data + offsets[0], (size_t)(offsets[1] - offsets[0])};
    return ferry_weights_place(in, entry, element, block, true);
}

static int compare_places(const void *a, const void *b)
{
    const ferry_tensor *x = &((const ferry_weights_entry *)a)->tensor, *y = &((const ferry_weights_entry *)b)->tensor;
    const uintptr_t first = (uintptr_t)x->data, second = (uintptr_t)y->data;
    if (first != second) return first < second ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Tensors must follow one another from the first byte of `data` to the last. */
static ferry_status check_tiling(const ferry_reader *in, ferry_weights *weights, ferry_view data)
{
    size_t at = 0;
    if (weights->count > 0) qsort(weights->entries, weights->count, sizeof *weights->entries, compare_places);
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

/* Names are copied: they go with the JSON. One that occurs twice did not get past it. */
static ferry_status read_entries(const ferry_reader *in, const json_t *header, ferry_view data, ferry_weights *weights)
{
    const size_t most = json_object_size(header);
    const char *key;
    json_t *object;
    FERRY_TRY(ferry_weights_reserve(weights, most, in->error));
    json_object_foreach ((json_t *)(uintptr_t)header, key, object) {
        if (strcmp(key, "__metadata__") == 0) continue;
        const char *name = ferry_arena_text(&weights->arena, ferry_text_view(key));
        if (name == NULL) return ferry_fail_memory(in->error, "a tensor's name", strlen(key));
        FERRY_TRY(read_entry(in, ferry_text_view(name), object, data, &weights->entries[weights->count++]));
    }
    return check_tiling(in, weights, data);
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

/* ---- golden data ---- */

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

const ferry_tensor *ferry_safetensors_find(const ferry_safetensors *file, const char *name)
{
    const ferry_weights_entry *entry = ferry_weights_find(&file->weights, name);
    return entry != NULL ? &entry->tensor : NULL;
}
