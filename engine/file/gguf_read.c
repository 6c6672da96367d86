#define _POSIX_C_SOURCE 200809L /* strdup */
#include "gguf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

enum {
    DEFAULT_ALIGNMENT = 32,
    MAX_ALIGNMENT = 1 << 20,
    MAX_KEY = 65535,
    MIN_VALUE_BYTES = 8 + 4 + 1,         /* empty key, type, one byte */
    MIN_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8 /* empty name, dims, one dim, type, offset */
};

/* ---- parsing ---- */

static size_t value_type_size(ferry_gguf_type type)
{
    switch (type) {
    case FERRY_GGUF_U8:
    case FERRY_GGUF_I8:
    case FERRY_GGUF_BOOL: return 1;
    case FERRY_GGUF_U16:
    case FERRY_GGUF_I16: return 2;
    case FERRY_GGUF_U32:
    case FERRY_GGUF_I32:
    case FERRY_GGUF_F32: return 4;
    case FERRY_GGUF_U64:
    case FERRY_GGUF_I64:
    case FERRY_GGUF_F64: return 8;
    case FERRY_GGUF_TEXT:
    case FERRY_GGUF_ARRAY: break;
    }
    return 0;
}

static bool read_text(ferry_cursor *cursor, ferry_view *text)
{
    uint64_t size;
    return ferry_read_u64(cursor, &size) && ferry_read_bytes(cursor, size, text);
}

static ferry_status read_type(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_gguf_value *value, ferry_error *error)
{
    uint32_t type;
    const ferry_printable key = ferry_printable_view(value->key);
    if (!ferry_read_u32(cursor, &type)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': the file ends in its type", gguf->file, key.text);
    }
    if (type > FERRY_GGUF_F64) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': unknown type %" PRIu32, gguf->file, key.text, type);
    }
    value->type = (ferry_gguf_type)type;
    return FERRY_OK;
}

static ferry_status read_text_array(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_gguf_value *value,
                                    ferry_error *error)
{
    const ferry_printable key = ferry_printable_view(value->key);
    if (value->count > ferry_cursor_left(cursor) / sizeof(uint64_t)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': %" PRIu64 " texts do not fit in the file",
                          gguf->file, key.text, value->count);
    }
    size_t count = (size_t)value->count;
    ferry_view *texts = malloc((count > 0 ? count : 1) * sizeof *texts);
    if (texts == NULL) return ferry_fail_memory(error, "an array of texts", count * sizeof *texts);
    value->texts = texts;
    for (size_t i = 0; i < count; i++) {
        if (!read_text(cursor, &texts[i])) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': the file ends in text %zu of %zu", gguf->file,
                              key.text, i, count);
        }
    }
    return FERRY_OK;
}

static ferry_status read_numbers(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_gguf_value *value,
                                 ferry_error *error)
{
    size_t size = value_type_size(value->type);
    if (value->count > ferry_cursor_left(cursor) / size) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': the file ends in its value", gguf->file,
                          ferry_printable_view(value->key).text);
    }
    ferry_read_bytes(cursor, value->count * size, &value->data);
    for (size_t i = 0; value->type == FERRY_GGUF_BOOL && i < value->count; i++) {
        if ((unsigned char)value->data.data[i] > 1) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected a bool (0 or 1), found %d", gguf->file,
                              ferry_printable_view(value->key).text, (unsigned char)value->data.data[i]);
        }
    }
    return FERRY_OK;
}

static ferry_status read_value(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_gguf_value *value,
                               ferry_error *error)
{
    if (!read_text(cursor, &value->key) || value->key.size == 0 || value->key.size > MAX_KEY) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key number %zu is cut off, empty or too long", gguf->file,
                          (size_t)(value - gguf->values));
    }
    FERRY_TRY(read_type(cursor, gguf, value, error));
    value->count = 1;
    value->is_array = value->type == FERRY_GGUF_ARRAY;
    if (value->is_array) {
        FERRY_TRY(read_type(cursor, gguf, value, error));
        if (value->type == FERRY_GGUF_ARRAY) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': arrays of arrays are not supported", gguf->file,
                              ferry_printable_view(value->key).text);
        }
        if (!ferry_read_u64(cursor, &value->count)) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': the file ends in its length", gguf->file,
                              ferry_printable_view(value->key).text);
        }
        if (value->type == FERRY_GGUF_TEXT) return read_text_array(cursor, gguf, value, error);
    }
    if (value->type != FERRY_GGUF_TEXT) return read_numbers(cursor, gguf, value, error);
    if (!read_text(cursor, &value->data)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': the file ends in its text", gguf->file,
                          ferry_printable_view(value->key).text);
    }
    return FERRY_OK;
}

static int compare_values(const void *a, const void *b)
{
    return ferry_view_compare(((const ferry_gguf_value *)a)->key, ((const ferry_gguf_value *)b)->key);
}

static int compare_tensors(const void *a, const void *b)
{
    return ferry_view_compare(((const ferry_tensor *)a)->name, ((const ferry_tensor *)b)->name);
}

static ferry_status read_values(ferry_cursor *cursor, ferry_gguf *gguf, uint64_t count, ferry_error *error)
{
    if (count > ferry_cursor_left(cursor) / MIN_VALUE_BYTES) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %" PRIu64 " keys do not fit in the file", gguf->file, count);
    }
    gguf->values = calloc((size_t)count + 1, sizeof *gguf->values);
    if (gguf->values == NULL) return ferry_fail_memory(error, "the keys of a model file", (size_t)count);
    for (; gguf->value_count < count; gguf->value_count++) {
        ferry_gguf_value *value = &gguf->values[gguf->value_count];
        ferry_status status = read_value(cursor, gguf, value, error);
        if (status != FERRY_OK) {
            gguf->value_count++; /* its texts are released with the others */
            return status;
        }
    }
    qsort(gguf->values, gguf->value_count, sizeof *gguf->values, compare_values);
    for (size_t i = 1; i < gguf->value_count; i++) {
        if (compare_values(&gguf->values[i - 1], &gguf->values[i]) == 0) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s' occurs twice", gguf->file,
                              ferry_printable_view(gguf->values[i].key).text);
        }
    }
    return FERRY_OK;
}

static ferry_status read_alignment(ferry_gguf *gguf, ferry_error *error)
{
    gguf->alignment = DEFAULT_ALIGNMENT;
    if (ferry_gguf_find(gguf, "general.alignment") == NULL) return FERRY_OK;
    int64_t alignment;
    FERRY_TRY(ferry_gguf_get_integer(gguf, "general.alignment", 1, MAX_ALIGNMENT, &alignment, error));
    if ((alignment & (alignment - 1)) != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: general.alignment: expected a power of two, found %" PRId64,
                          gguf->file, alignment);
    }
    gguf->alignment = (size_t)alignment;
    return FERRY_OK;
}

static ferry_status check_tensor_type(const ferry_gguf *gguf, const ferry_tensor *tensor, uint32_t type,
                                      ferry_error *error)
{
    if (ferry_type_size((ferry_type)type) > 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': element type %" PRIu32 " is not supported",
                      gguf->file, ferry_printable_view(tensor->name).text, type);
}

/* GGUF lists the fastest dimension first. */
static ferry_status read_shape(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_tensor *tensor, ferry_error *error)
{
    const ferry_printable name = ferry_printable_view(tensor->name);
    uint32_t dims;
    if (!ferry_read_u32(cursor, &dims) || dims == 0 || dims > FERRY_MAX_DIMS) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected 1 to %d dimensions", gguf->file,
                          name.text, FERRY_MAX_DIMS);
    }
    tensor->dims = (int32_t)dims;
    for (size_t i = 0; i < FERRY_MAX_DIMS; i++) tensor->shape[i] = 1;
    for (size_t i = dims; i-- > 0;) {
        uint64_t size;
        if (!ferry_read_u64(cursor, &size) || size == 0 || size > gguf->bytes.size) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': its shape is cut off or impossible",
                              gguf->file, name.text);
        }
        tensor->shape[i] = (int64_t)size;
    }
    return FERRY_OK;
}

/* Reads one entry of the tensor table; `expected` is where its data must begin, and moves on to where the next ones do.
 */
static ferry_status read_tensor(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_tensor *tensor, size_t *expected,
                                ferry_error *error)
{
    if (!read_text(cursor, &tensor->name) || tensor->name.size == 0 || tensor->name.size > FERRY_GGUF_MAX_TENSOR_NAME) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: name of tensor number %zu is cut off, empty or too long",
                          gguf->file, gguf->tensor_count);
    }
    ferry_printable name = ferry_printable_view(tensor->name);
    FERRY_TRY(read_shape(cursor, gguf, tensor, error));
    uint32_t type;
    uint64_t offset;
    if (!ferry_read_u32(cursor, &type) || !ferry_read_u64(cursor, &offset)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': the file ends in its entry", gguf->file,
                          name.text);
    }
    FERRY_TRY(check_tensor_type(gguf, tensor, type, error));
    tensor->type = (ferry_type)type;
    size_t bytes = ferry_type_size(tensor->type);
    bool fits = true;
    for (int32_t i = 0; i < tensor->dims; i++) fits = fits && ferry_mul_size(bytes, (size_t)tensor->shape[i], &bytes);
    if (!fits || bytes > gguf->bytes.size) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': its shape is larger than the file", gguf->file,
                          name.text);
    }
    if (offset != *expected) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tensor '%s': expected its data at offset %zu, found offset %" PRIu64, gguf->file,
                          name.text, *expected, offset);
    }
    tensor->bytes = bytes;
    if (!ferry_add_size(*expected, bytes, expected) || *expected > gguf->bytes.size) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': its data go beyond the file", gguf->file,
                          name.text);
    }
    *expected = ferry_round_up(*expected, gguf->alignment);
    return FERRY_OK;
}

/* The table is complete: data begin at the next aligned place, and the file ends with them. */
static ferry_status place_tensors(ferry_gguf *gguf, size_t table_end, ferry_error *error)
{
    size_t begin = ferry_round_up(table_end, gguf->alignment);
    size_t at = begin;
    for (size_t i = 0; i < gguf->tensor_count; i++) {
        ferry_tensor *tensor = &gguf->tensors[i];
        at = ferry_round_up(at, gguf->alignment);
        if (at > gguf->bytes.size || tensor->bytes > gguf->bytes.size - at) {
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "%s: tensor '%s': its data go beyond the file: the file was cut off", gguf->file,
                              ferry_printable_view(tensor->name).text);
        }
        tensor->data = gguf->bytes.data + at;
        at += tensor->bytes;
    }
    if (gguf->bytes.size > ferry_round_up(at, gguf->alignment)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected the end at byte %zu, found %zu bytes", gguf->file,
                          at, gguf->bytes.size);
    }
    return FERRY_OK;
}

static ferry_status read_tensors(ferry_cursor *cursor, ferry_gguf *gguf, uint64_t count, ferry_error *error)
{
    if (count > ferry_cursor_left(cursor) / MIN_TENSOR_BYTES) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %" PRIu64 " tensors do not fit in the file", gguf->file,
                          count);
    }
    gguf->tensors = calloc((size_t)count + 1, sizeof *gguf->tensors);
    if (gguf->tensors == NULL) return ferry_fail_memory(error, "the tensors of a model file", (size_t)count);
    size_t expected = 0;
    for (; gguf->tensor_count < count; gguf->tensor_count++) {
        FERRY_TRY(read_tensor(cursor, gguf, &gguf->tensors[gguf->tensor_count], &expected, error));
    }
    FERRY_TRY(place_tensors(gguf, cursor->at, error));
    qsort(gguf->tensors, gguf->tensor_count, sizeof *gguf->tensors, compare_tensors);
    for (size_t i = 1; i < gguf->tensor_count; i++) {
        if (compare_tensors(&gguf->tensors[i - 1], &gguf->tensors[i]) == 0) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' occurs twice", gguf->file,
                              ferry_printable_view(gguf->tensors[i].name).text);
        }
    }
    return FERRY_OK;
}

static ferry_status parse(ferry_gguf *gguf, ferry_error *error)
{
    ferry_cursor cursor = {(const uint8_t *)gguf->bytes.data, gguf->bytes.size, 0};
    ferry_view magic;
    uint32_t version;
    uint64_t tensors, values;
    if (!ferry_read_bytes(&cursor, 4, &magic) || memcmp(magic.data, "GGUF", 4) != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: not a GGUF file", gguf->file);
    }
    if (!ferry_read_u32(&cursor, &version) || !ferry_read_u64(&cursor, &tensors) || !ferry_read_u64(&cursor, &values)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: the file ends in its header", gguf->file);
    }
    if (version != FERRY_GGUF_VERSION) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected GGUF version %d, found %" PRIu32, gguf->file,
                          FERRY_GGUF_VERSION, version);
    }
    FERRY_TRY(read_values(&cursor, gguf, values, error));
    FERRY_TRY(read_alignment(gguf, error));
    return read_tensors(&cursor, gguf, tensors, error);
}

ferry_status ferry_gguf_parse(ferry_view bytes, const char *file, ferry_gguf *gguf, ferry_error *error)
{
    memset(gguf, 0, sizeof *gguf);
    gguf->bytes = bytes;
    gguf->file = strdup(file);
    ferry_status status = gguf->file != NULL ? parse(gguf, error) : ferry_fail_memory(error, "a file name", 1);
    if (status != FERRY_OK) ferry_gguf_close(gguf);
    return status;
}

ferry_status ferry_gguf_open(const char *path, ferry_gguf *gguf, ferry_error *error)
{
    ferry_mapped_file map;
    memset(gguf, 0, sizeof *gguf);
    FERRY_TRY(ferry_mapped_file_open(path, &map, error));
    ferry_status status = ferry_gguf_parse(map.bytes, path, gguf, error);
    if (status != FERRY_OK) {
        ferry_mapped_file_close(&map);
        return status;
    }
    gguf->map = map;
    return FERRY_OK;
}

void ferry_gguf_close(ferry_gguf *gguf)
{
    for (size_t i = 0; i < gguf->value_count; i++) free((void *)(uintptr_t)gguf->values[i].texts);
    free(gguf->values);
    free(gguf->tensors);
    free((void *)(uintptr_t)gguf->file);
    ferry_mapped_file_close(&gguf->map);
    memset(gguf, 0, sizeof *gguf);
}

/* ---- looking up ---- */

const ferry_gguf_value *ferry_gguf_find(const ferry_gguf *gguf, const char *key)
{
    if (gguf->value_count == 0) return NULL;
    ferry_gguf_value wanted = {.key = ferry_text_view(key)};
    return bsearch(&wanted, gguf->values, gguf->value_count, sizeof *gguf->values, compare_values);
}

const ferry_tensor *ferry_gguf_tensor(const ferry_gguf *gguf, const char *name)
{
    if (gguf->tensor_count == 0) return NULL;
    ferry_tensor wanted = {.name = ferry_text_view(name)};
    return bsearch(&wanted, gguf->tensors, gguf->tensor_count, sizeof *gguf->tensors, compare_tensors);
}

static ferry_status find_required(const ferry_gguf *gguf, const char *key, bool is_array, const char *expected,
                                  const ferry_gguf_value **value, ferry_error *error)
{
    *value = ferry_gguf_find(gguf, key);
    if (*value == NULL) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s' is missing", gguf->file, key);
    if ((*value)->is_array == is_array) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %s", gguf->file, key, expected);
}

/* Element i as an integer; false when the type is no integer or the number is beyond int64. */
static bool integer_at(const ferry_gguf_value *value, size_t i, int64_t *number)
{
    size_t size = value_type_size(value->type);
    if (size == 0) return false;
    ferry_cursor cursor = {(const uint8_t *)value->data.data + i * size, size, 0};
    uint8_t u8 = 0;
    uint16_t u16 = 0;
    uint32_t u32 = 0;
    uint64_t u64 = 0;
    switch (value->type) {
    case FERRY_GGUF_U8:
        ferry_read_u8(&cursor, &u8);
        *number = u8;
        return true;
    case FERRY_GGUF_I8:
        ferry_read_u8(&cursor, &u8);
        *number = (int8_t)u8;
        return true;
    case FERRY_GGUF_U16:
        ferry_read_u16(&cursor, &u16);
        *number = u16;
        return true;
    case FERRY_GGUF_I16:
        ferry_read_u16(&cursor, &u16);
        *number = (int16_t)u16;
        return true;
    case FERRY_GGUF_U32:
        ferry_read_u32(&cursor, &u32);
        *number = u32;
        return true;
    case FERRY_GGUF_I32:
        ferry_read_u32(&cursor, &u32);
        *number = (int32_t)u32;
        return true;
    case FERRY_GGUF_U64:
        ferry_read_u64(&cursor, &u64);
        *number = (int64_t)u64;
        return u64 <= INT64_MAX;
    case FERRY_GGUF_I64:
        ferry_read_u64(&cursor, &u64);
        *number = (int64_t)u64;
        return true;
    case FERRY_GGUF_F32:
    case FERRY_GGUF_F64:
    case FERRY_GGUF_BOOL:
    case FERRY_GGUF_TEXT:
    case FERRY_GGUF_ARRAY: break;
    }
    return false;
}

static ferry_status check_integer(const ferry_gguf *gguf, const ferry_gguf_value *value, const char *key, size_t i,
                                  int64_t least, int64_t most, int64_t *number, ferry_error *error)
{
    if (!integer_at(value, i, number)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected an integer", gguf->file, key);
    }
    if (*number < least || *number > most) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: key '%s': expected %" PRId64 " to %" PRId64 ", found %" PRId64, gguf->file, key, least,
                          most, *number);
    }
    return FERRY_OK;
}

ferry_status ferry_gguf_get_integer(const ferry_gguf *gguf, const char *key, int64_t least, int64_t most,
                                    int64_t *value, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_required(gguf, key, false, "an integer", &found, error));
    return check_integer(gguf, found, key, 0, least, most, value, error);
}

ferry_status ferry_gguf_get_i32(const ferry_gguf *gguf, const char *key, int32_t least, int32_t most, int32_t *value,
                                ferry_error *error)
{
    int64_t number = 0;
    FERRY_TRY(ferry_gguf_get_integer(gguf, key, least, most, &number, error));
    *value = (int32_t)number;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_f32(const ferry_gguf *gguf, const char *key, float *value, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_required(gguf, key, false, "a number", &found, error));
    ferry_cursor cursor = {(const uint8_t *)found->data.data, found->data.size, 0};
    double number = 0;
    if (found->type == FERRY_GGUF_F32) {
        float single = 0;
        ferry_read_f32(&cursor, &single);
        number = (double)single;
    } else if (found->type == FERRY_GGUF_F64) {
        ferry_read_f64(&cursor, &number);
    } else {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected a floating-point number", gguf->file, key);
    }
    const double most = 3.4028234663852886e38; /* the largest float */
    if (!(number >= -most && number <= most)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected a finite number", gguf->file, key);
    }
    *value = (float)number;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_bool(const ferry_gguf *gguf, const char *key, bool *value, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_required(gguf, key, false, "a bool", &found, error));
    if (found->type != FERRY_GGUF_BOOL) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected a bool", gguf->file, key);
    }
    *value = found->data.data[0] != 0;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_text(const ferry_gguf *gguf, const char *key, ferry_view *value, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_required(gguf, key, false, "a text", &found, error));
    if (found->type != FERRY_GGUF_TEXT) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected a text", gguf->file, key);
    }
    *value = found->data;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_texts(const ferry_gguf *gguf, const char *key, const ferry_view **texts, size_t *count,
                                  ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_required(gguf, key, true, "an array of texts", &found, error));
    if (found->type != FERRY_GGUF_TEXT) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected an array of texts", gguf->file, key);
    }
    *texts = found->texts;
    *count = (size_t)found->count;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_bytes(const ferry_gguf *gguf, const char *key, ferry_view *bytes, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_required(gguf, key, true, "an array of bytes", &found, error));
    if (found->type != FERRY_GGUF_U8) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected an array of bytes", gguf->file, key);
    }
    *bytes = found->data;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_i32s(const ferry_gguf *gguf, const char *key, int32_t least, int32_t most,
                                 ferry_arena *arena, const int32_t **values, int32_t *count, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_required(gguf, key, true, "an array of integers", &found, error));
    if (found->count > INT32_MAX) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': too many integers", gguf->file, key);
    }
    size_t size = (size_t)found->count;
    int32_t *numbers = ferry_arena_alloc(arena, size, sizeof *numbers);
    if (numbers == NULL) return ferry_fail_memory(error, key, size * sizeof *numbers);
    for (size_t i = 0; i < size; i++) {
        int64_t number = 0;
        FERRY_TRY(check_integer(gguf, found, key, i, least, most, &number, error));
        numbers[i] = (int32_t)number;
    }
    *values = numbers;
    *count = (int32_t)size;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_u64s(const ferry_gguf *gguf, const char *key, ferry_arena *arena, const uint64_t **values,
                                 size_t *count, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_required(gguf, key, true, "an array of integers", &found, error));
    size_t size = (size_t)found->count;
    uint64_t *numbers = ferry_arena_alloc(arena, size, sizeof *numbers);
    if (numbers == NULL) return ferry_fail_memory(error, key, size * sizeof *numbers);
    for (size_t i = 0; i < size; i++) {
        int64_t number = 0;
        FERRY_TRY(check_integer(gguf, found, key, i, 0, INT64_MAX, &number, error));
        numbers[i] = (uint64_t)number;
    }
    *values = numbers;
    *count = size;
    return FERRY_OK;
}
