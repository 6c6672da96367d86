#include "gguf.h"

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum {
    DEFAULT_ALIGNMENT = 32,
    MAX_ALIGNMENT = 1 << 20,
    MAX_KEY = 65535,
    MIN_VALUE_BYTES = 8 + 4 + 1,         /* empty key, type, one byte */
    MIN_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8 /* empty name, dims, one dim, type, offset */
};

/* Bytes of a number; 0 for texts and arrays. */
static const uint8_t value_sizes[] = {
    [FERRY_GGUF_U8] = 1,  [FERRY_GGUF_I8] = 1,  [FERRY_GGUF_U16] = 2, [FERRY_GGUF_I16] = 2,
    [FERRY_GGUF_U32] = 4, [FERRY_GGUF_I32] = 4, [FERRY_GGUF_F32] = 4, [FERRY_GGUF_BOOL] = 1,
    [FERRY_GGUF_U64] = 8, [FERRY_GGUF_I64] = 8, [FERRY_GGUF_F64] = 8,
};

/* "file: key 'name': ..."; `kind` is "key" or "tensor". */
static __attribute__((format(printf, 5, 6))) ferry_status fail_named(ferry_error *error, const ferry_gguf *gguf,
                                                                     const char *kind, ferry_view name,
                                                                     const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %s '%s': %s", gguf->file, kind, ferry_printable_view(name).text,
                      text);
}

/* ---- tables by name: of keys and of tensors ---- */

_Static_assert(offsetof(ferry_gguf_value, key) == 0 && offsetof(ferry_tensor, name) == 0, "entries begin with a name");

static int compare_names(const void *a, const void *b)
{
    return ferry_view_compare(*(const ferry_view *)a, *(const ferry_view *)b);
}

static ferry_status sort_by_name(const ferry_gguf *gguf, const char *kind, void *table, size_t count, size_t size,
                                 ferry_error *error)
{
    qsort(table, count, size, compare_names);
    for (size_t i = 1; i < count; i++) {
        const char *entry = (const char *)table + i * size;
        if (compare_names(entry - size, entry) != 0) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %s '%s' occurs twice", gguf->file, kind,
                          ferry_printable_view(*(const ferry_view *)(const void *)entry).text);
    }
    return FERRY_OK;
}

static const void *find_by_name(const char *name, const void *table, size_t count, size_t size)
{
    const ferry_view wanted = ferry_text_view(name);
    return count > 0 ? bsearch(&wanted, table, count, size, compare_names) : NULL;
}

const ferry_gguf_value *ferry_gguf_find(const ferry_gguf *gguf, const char *key)
{
    return find_by_name(key, gguf->values, gguf->value_count, sizeof *gguf->values);
}

const ferry_tensor *ferry_gguf_tensor(const ferry_gguf *gguf, const char *name)
{
    return find_by_name(name, gguf->tensors, gguf->tensor_count, sizeof *gguf->tensors);
}

/* ---- keys ---- */

static bool read_text(ferry_cursor *cursor, ferry_view *text)
{
    uint64_t size;
    return ferry_read_u64(cursor, &size) && ferry_read_bytes(cursor, size, text);
}

static ferry_status read_type(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_gguf_value *value, ferry_error *error)
{
    uint32_t type;
    if (!ferry_read_u32(cursor, &type)) return fail_named(error, gguf, "key", value->key, "the file ends in its type");
    if (type > FERRY_GGUF_F64) return fail_named(error, gguf, "key", value->key, "unknown type %" PRIu32, type);
    value->type = (ferry_gguf_type)type;
    return FERRY_OK;
}

static ferry_status read_text_array(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_gguf_value *value,
                                    ferry_error *error)
{
    if (value->count > ferry_cursor_left(cursor) / sizeof(uint64_t))
        return fail_named(error, gguf, "key", value->key, "%" PRIu64 " texts do not fit in the file", value->count);
    size_t count = (size_t)value->count;
    const size_t begin = cursor->at;
    ferry_string_table *texts = ferry_string_table_create(gguf->bytes.data + begin, sizeof(uint64_t), count);
    if (texts == NULL) return ferry_fail_memory(error, "an array of texts", count, sizeof *texts->offsets);
    value->texts = texts;
    for (size_t i = 0; i < count; i++) {
        ferry_view text;
        if (!read_text(cursor, &text))
            return fail_named(error, gguf, "key", value->key, "the file ends in text %zu of %zu", i, count);
        if (!ferry_string_table_set_end(texts, i, cursor->at - begin))
            return fail_named(error, gguf, "key", value->key,
                              "expected texts of less than 2^32 bytes together, found %zu in text %zu of %zu",
                              cursor->at - begin, i, count);
    }
    return FERRY_OK;
}

static ferry_status read_value(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_gguf_value *value,
                               ferry_error *error)
{
    if (!read_text(cursor, &value->key) || value->key.size == 0 || value->key.size > MAX_KEY)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key number %zu is cut off, empty or too long", gguf->file,
                          (size_t)(value - gguf->values));
    FERRY_TRY(read_type(cursor, gguf, value, error));
    value->count = 1;
    value->is_array = value->type == FERRY_GGUF_ARRAY;
    if (value->is_array) {
        FERRY_TRY(read_type(cursor, gguf, value, error));
        if (value->type == FERRY_GGUF_ARRAY)
            return fail_named(error, gguf, "key", value->key, "arrays of arrays are not supported");
        if (!ferry_read_u64(cursor, &value->count))
            return fail_named(error, gguf, "key", value->key, "the file ends in its length");
        if (value->type == FERRY_GGUF_TEXT) return read_text_array(cursor, gguf, value, error);
    }
    if (value->type == FERRY_GGUF_TEXT && !read_text(cursor, &value->data))
        return fail_named(error, gguf, "key", value->key, "the file ends in its text");
    if (value->type == FERRY_GGUF_TEXT) return FERRY_OK;
    const size_t size = value_sizes[value->type];
    if (value->count > ferry_cursor_left(cursor) / size)
        return fail_named(error, gguf, "key", value->key, "the file ends in its value");
    ferry_read_bytes(cursor, value->count * size, &value->data);
    for (size_t i = 0; value->type == FERRY_GGUF_BOOL && i < value->count; i++)
        if ((unsigned char)value->data.data[i] > 1)
            return fail_named(error, gguf, "key", value->key, "expected a bool (0 or 1), found %d",
                              (unsigned char)value->data.data[i]);
    return FERRY_OK;
}

static ferry_status read_values(ferry_cursor *cursor, ferry_gguf *gguf, uint64_t count, ferry_error *error)
{
    if (count > ferry_cursor_left(cursor) / MIN_VALUE_BYTES)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %" PRIu64 " keys do not fit in the file", gguf->file, count);
    gguf->values = calloc((size_t)count + 1, sizeof *gguf->values);
    if (gguf->values == NULL)
        return ferry_fail_memory(error, "the keys of a model file", (size_t)count, sizeof *gguf->values);
    while (gguf->value_count < count) {
        /* Counted before it is read, so that ferry_gguf_close frees its texts after a failure, too. */
        ferry_gguf_value *value = &gguf->values[gguf->value_count++];
        FERRY_TRY(read_value(cursor, gguf, value, error));
    }
    return sort_by_name(gguf, "key", gguf->values, gguf->value_count, sizeof *gguf->values, error);
}

/* ---- tensors ---- */

/* GGUF lists the fastest dimension first. */
static ferry_status read_shape(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_tensor *tensor, ferry_error *error)
{
    uint32_t dims;
    if (!ferry_read_u32(cursor, &dims) || dims == 0 || dims > FERRY_MAX_DIMS)
        return fail_named(error, gguf, "tensor", tensor->name, "expected 1 to %d dimensions", FERRY_MAX_DIMS);
    tensor->dims = (int32_t)dims;
    for (size_t i = 0; i < FERRY_MAX_DIMS; i++) tensor->shape[i] = 1;
    for (size_t i = dims; i-- > 0;) {
        uint64_t size;
        if (!ferry_read_u64(cursor, &size) || size == 0 || size > gguf->bytes.size)
            return fail_named(error, gguf, "tensor", tensor->name, "its shape is cut off or impossible");
        tensor->shape[i] = (int64_t)size;
    }
    return FERRY_OK;
}

/* Reads one entry of the tensor table. Its data must begin at *expected, which becomes the next tensor's offset. */
static ferry_status read_tensor(ferry_cursor *cursor, const ferry_gguf *gguf, ferry_tensor *tensor, size_t *expected,
                                ferry_error *error)
{
    if (!read_text(cursor, &tensor->name) || tensor->name.size == 0 || tensor->name.size > FERRY_GGUF_MAX_TENSOR_NAME)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: name of tensor number %zu is cut off, empty or too long",
                          gguf->file, gguf->tensor_count);
    uint64_t offset;
    uint32_t type;
    bool fits = true;
    FERRY_TRY(read_shape(cursor, gguf, tensor, error));
    if (!ferry_read_u32(cursor, &type) || !ferry_read_u64(cursor, &offset))
        return fail_named(error, gguf, "tensor", tensor->name, "the file ends in its entry");
    tensor->type = (ferry_type)type;
    tensor->bytes = ferry_type_size(tensor->type);
    if (tensor->bytes == 0)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': element type %" PRIu32 " is not supported",
                          gguf->file, ferry_printable_view(tensor->name).text, type);
    for (int32_t i = 0; i < tensor->dims; i++)
        fits = fits && ferry_mul_size(tensor->bytes, (size_t)tensor->shape[i], &tensor->bytes);
    if (!fits || tensor->bytes > gguf->bytes.size)
        return fail_named(error, gguf, "tensor", tensor->name, "its shape is larger than the file");
    if (offset != *expected)
        return fail_named(error, gguf, "tensor", tensor->name, "expected its data at offset %zu, found offset %" PRIu64,
                          *expected, offset);
    if (!ferry_add_size(*expected, tensor->bytes, expected) || *expected > gguf->bytes.size)
        return fail_named(error, gguf, "tensor", tensor->name, "its data go beyond the file");
    *expected = ferry_round_up(*expected, gguf->alignment);
    return FERRY_OK;
}

static ferry_status read_tensors(ferry_cursor *cursor, ferry_gguf *gguf, uint64_t count, ferry_error *error)
{
    if (count > ferry_cursor_left(cursor) / MIN_TENSOR_BYTES)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %" PRIu64 " tensors do not fit in the file", gguf->file,
                          count);
    gguf->tensors = calloc((size_t)count + 1, sizeof *gguf->tensors);
    if (gguf->tensors == NULL)
        return ferry_fail_memory(error, "the tensors of a model file", (size_t)count, sizeof *gguf->tensors);
    size_t expected = 0;
    for (; gguf->tensor_count < count; gguf->tensor_count++)
        FERRY_TRY(read_tensor(cursor, gguf, &gguf->tensors[gguf->tensor_count], &expected, error));
    /* The data begin at the next aligned offset after the table. The file ends with them. */
    size_t at = cursor->at;
    for (size_t i = 0; i < gguf->tensor_count; i++) {
        ferry_tensor *tensor = &gguf->tensors[i];
        at = ferry_round_up(at, gguf->alignment);
        if (at > gguf->bytes.size || tensor->bytes > gguf->bytes.size - at)
            return fail_named(error, gguf, "tensor", tensor->name, "its data go beyond the file: the file was cut off");
        tensor->data = gguf->bytes.data + at;
        at += tensor->bytes;
    }
    if (gguf->bytes.size > ferry_round_up(at, gguf->alignment))
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected the end at byte %zu, found %zu bytes", gguf->file,
                          at, gguf->bytes.size);
    return sort_by_name(gguf, "tensor", gguf->tensors, gguf->tensor_count, sizeof *gguf->tensors, error);
}

/* ---- the file ---- */

static ferry_status parse(ferry_gguf *gguf, ferry_error *error)
{
    ferry_cursor cursor = {(const uint8_t *)gguf->bytes.data, gguf->bytes.size, 0};
    ferry_view magic;
    uint32_t version;
    uint64_t tensors, values;
    int64_t alignment = DEFAULT_ALIGNMENT;
    if (!ferry_read_bytes(&cursor, 4, &magic) || memcmp(magic.data, "GGUF", 4) != 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: not a GGUF file", gguf->file);
    if (!ferry_read_u32(&cursor, &version) || !ferry_read_u64(&cursor, &tensors) || !ferry_read_u64(&cursor, &values))
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: the file ends in its header", gguf->file);
    if (version != FERRY_GGUF_VERSION) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected GGUF version %d, found %" PRIu32, gguf->file,
                          FERRY_GGUF_VERSION, version);
    }
    FERRY_TRY(read_values(&cursor, gguf, values, error));
    if (ferry_gguf_find(gguf, "general.alignment") != NULL)
        FERRY_TRY(ferry_gguf_get_integer(gguf, "general.alignment", 1, MAX_ALIGNMENT, &alignment, error));
    if ((alignment & (alignment - 1)) != 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: general.alignment: expected a power of two, found %" PRId64,
                          gguf->file, alignment);
    gguf->alignment = (size_t)alignment;
    return read_tensors(&cursor, gguf, tensors, error);
}

ferry_status ferry_gguf_open(ferry_view bytes, const char *file, ferry_gguf *gguf, ferry_error *error)
{
    memset(gguf, 0, sizeof *gguf);
    gguf->bytes = bytes;
    gguf->file = ferry_text_copy(file);
    ferry_status status =
        gguf->file != NULL ? parse(gguf, error) : ferry_fail_memory(error, "a file name", strlen(file) + 1, 1);
    if (status != FERRY_OK) ferry_gguf_close(gguf);
    return status;
}

void ferry_gguf_close(ferry_gguf *gguf)
{
    for (size_t i = 0; i < gguf->value_count; i++) free((void *)(uintptr_t)gguf->values[i].texts);
    free(gguf->values);
    free(gguf->tensors);
    free((void *)(uintptr_t)gguf->file);
    memset(gguf, 0, sizeof *gguf);
}

/* ---- typed values ---- */

/* Sets of value types. */
#define SET(type) (1u << FERRY_GGUF_##type)
#define SIGNED_INTEGERS (SET(I8) | SET(I16) | SET(I32) | SET(I64))
#define INTEGERS (SIGNED_INTEGERS | SET(U8) | SET(U16) | SET(U32) | SET(U64))

/* The value of a required key, which must be one of `types`, or an array of them; `expected` names them. */
static ferry_status find_typed(const ferry_gguf *gguf, const char *key, bool is_array, uint32_t types,
                               const char *expected, const ferry_gguf_value **value, ferry_error *error)
{
    *value = ferry_gguf_find(gguf, key);
    if (*value == NULL) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s' is missing", gguf->file, key);
    if ((*value)->is_array == is_array && (types >> (*value)->type & 1) == 1) return FERRY_OK;
    return fail_named(error, gguf, "key", (*value)->key, "expected %s", expected);
}

/* Element i of an integer value or array, which must be within min … max. */
static ferry_status get_element(const ferry_gguf *gguf, const ferry_gguf_value *value, size_t i, int64_t min,
                                int64_t max, int64_t *number, ferry_error *error)
{
    const size_t size = value_sizes[value->type];
    const bool is_signed = (SIGNED_INTEGERS >> value->type & 1) == 1;
    ferry_cursor cursor = {(const uint8_t *)value->data.data + i * size, size, 0};
    uint64_t bits = 0;
    ferry_read_number(&cursor, size, &bits);
    if (!is_signed && bits > INT64_MAX) return fail_named(error, gguf, "key", value->key, "expected an integer");
    const uint64_t sign = is_signed ? UINT64_C(1) << (8 * size - 1) : 0;
    *number = (int64_t)((bits ^ sign) - sign);
    if (*number >= min && *number <= max) return FERRY_OK;
    return fail_named(error, gguf, "key", value->key, "expected %" PRId64 " to %" PRId64 ", found %" PRId64, min, max,
                      *number);
}

ferry_status ferry_gguf_get_integer(const ferry_gguf *gguf, const char *key, int64_t min, int64_t max, int64_t *value,
                                    ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_typed(gguf, key, false, INTEGERS, "an integer", &found, error));
    return get_element(gguf, found, 0, min, max, value, error);
}

ferry_status ferry_gguf_get_f32(const ferry_gguf *gguf, const char *key, float *value, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_typed(gguf, key, false, SET(F32) | SET(F64), "a floating-point number", &found, error));
    ferry_cursor cursor = {(const uint8_t *)found->data.data, found->data.size, 0};
    float single = 0;
    double number = 0;
    if (found->type == FERRY_GGUF_F64) {
        ferry_read_f64(&cursor, &number);
    } else {
        ferry_read_f32(&cursor, &single);
        number = (double)single;
    }
    if (!(number >= -(double)FLT_MAX && number <= (double)FLT_MAX))
        return fail_named(error, gguf, "key", found->key, "expected a finite number");
    *value = (float)number;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_bool(const ferry_gguf *gguf, const char *key, bool *value, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_typed(gguf, key, false, SET(BOOL), "a bool", &found, error));
    *value = found->data.data[0] != 0;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_text(const ferry_gguf *gguf, const char *key, ferry_view *value, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_typed(gguf, key, false, SET(TEXT), "a text", &found, error));
    *value = found->data;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_texts(const ferry_gguf *gguf, const char *key, const ferry_string_table **texts,
                                  size_t *count, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_typed(gguf, key, true, SET(TEXT), "an array of texts", &found, error));
    *texts = found->texts;
    *count = (size_t)found->count;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_bytes(const ferry_gguf *gguf, const char *key, ferry_view *bytes, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_typed(gguf, key, true, SET(U8), "an array of bytes", &found, error));
    *bytes = found->data;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_integers(const ferry_gguf *gguf, const char *key, int64_t min, int64_t max, size_t size,
                                     ferry_arena *arena, const void **values, size_t *count, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_typed(gguf, key, true, INTEGERS, "an array of integers", &found, error));
    *count = (size_t)found->count;
    void *numbers = ferry_arena_alloc(arena, *count, size);
    if (numbers == NULL) return ferry_fail_memory(error, key, *count, size);
    for (size_t i = 0; i < *count; i++) {
        int64_t number = 0;
        FERRY_TRY(get_element(gguf, found, i, min, max, &number, error));
        if (size == sizeof(int32_t))
            ((int32_t *)numbers)[i] = (int32_t)number;
        else
            ((int64_t *)numbers)[i] = number;
    }
    *values = numbers;
    return FERRY_OK;
}

ferry_status ferry_gguf_get_reals(const ferry_gguf *gguf, const char *key, ferry_arena *arena, const void **values,
                                  size_t *count, ferry_error *error)
{
    const ferry_gguf_value *found;
    FERRY_TRY(find_typed(gguf, key, true, SET(F64), "an array of 64-bit floating-point numbers", &found, error));
    ferry_cursor cursor = {(const uint8_t *)found->data.data, found->data.size, 0};
    *count = (size_t)found->count;
    double *numbers = ferry_arena_alloc(arena, *count, sizeof *numbers);
    if (numbers == NULL) return ferry_fail_memory(error, key, *count, sizeof *numbers);
    for (size_t i = 0; i < *count; i++) ferry_read_f64(&cursor, &numbers[i]);
    *values = numbers;
    return FERRY_OK;
}
