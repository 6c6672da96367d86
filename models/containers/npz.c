/* A member is an .npy file: magic, version, the length of a header, the header as a Python dictionary of 'descr',
 * 'fortran_order' and 'shape', then the elements. The header is read by a parser that knows these three values only. */
#include "weights.h"

#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "decimal.h"

/* What names a tensor in messages. */
typedef struct member {
    const char *file;
    const char *name;
    ferry_view bytes;
} member;

static ferry_status refuse(const member *array, ferry_status status, const char *what, ferry_error *error)
{
    return ferry_fail(error, status, "%s: '%s': %s", array->file,
                      ferry_printable_view(ferry_text_view(array->name)).text, what);
}

/* ---- the dictionary ---- */

static void skip_blanks(ferry_cursor *text)
{
    while (ferry_cursor_left(text) > 0 && strchr(" \t\n", text->data[text->at]) != NULL && text->data[text->at] != 0) {
        text->at++;
    }
}

/* Consumes `c` and the blanks before it. */
static bool skip(ferry_cursor *text, char c)
{
    skip_blanks(text);
    if (ferry_cursor_left(text) == 0 || text->data[text->at] != (uint8_t)c) return false;
    text->at++;
    return true;
}

static bool read_quoted(ferry_cursor *text, ferry_view *value)
{
    skip_blanks(text);
    const char quote = ferry_cursor_left(text) > 0 ? (char)text->data[text->at] : 0;
    if ((quote != '\'' && quote != '"') || !skip(text, quote)) return false;
    const size_t start = text->at;
    while (ferry_cursor_left(text) > 0 && text->data[text->at] != (uint8_t)quote) text->at++;
    *value = (ferry_view){(const char *)text->data + start, text->at - start};
    return skip(text, quote);
}

static bool read_word(ferry_cursor *text, const char *word)
{
    const size_t size = strlen(word);
    skip_blanks(text);
    if (ferry_cursor_left(text) < size || memcmp(text->data + text->at, word, size) != 0) return false;
    text->at += size;
    return true;
}

static bool read_size(ferry_cursor *text, int64_t *size)
{
    const size_t start = text->at;
    while (ferry_cursor_left(text) > 0 && text->data[text->at] >= '0' && text->data[text->at] <= '9') text->at++;
    return ferry_parse_integer((ferry_view){(const char *)text->data + start, text->at - start}, size);
}

/* (), (3,), (1, 3) */
static bool read_shape(ferry_cursor *text, ferry_tensor *tensor)
{
    bool more = true;
    tensor->dims = 0;
    for (int32_t i = 0; i < FERRY_MAX_DIMS; i++) tensor->shape[i] = 1;
    if (!skip(text, '(')) return false;
    while (!skip(text, ')')) {
        skip_blanks(text);
        if (!more || tensor->dims == FERRY_MAX_DIMS || !read_size(text, &tensor->shape[tensor->dims++])) return false;
        more = skip(text, ',');
    }
    return true;
}

static ferry_status read_type(const member *array, ferry_view descr, ferry_type *type, ferry_error *error)
{
    static const struct {
        const char *name;
        ferry_type type;
    } types[] = {
        {"<f4", FERRY_F32}, {"<f2", FERRY_F16}, {"<f8", FERRY_F64}, {"|i1", FERRY_I8},
        {"<i1", FERRY_I8},  {"<i2", FERRY_I16}, {"<i4", FERRY_I32}, {"<i8", FERRY_I64},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!ferry_view_is(descr, types[i].name)) continue;
        *type = types[i].type;
        return FERRY_OK;
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s': element type '%s' is not supported", array->file,
                      ferry_printable_view(ferry_text_view(array->name)).text, ferry_printable_view(descr).text);
}

static ferry_status read_dictionary(const member *array, ferry_view header, ferry_tensor *tensor, ferry_error *error)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    ferry_cursor text = {(const uint8_t *)header.data, header.size, 0};
    bool seen[3] = {false}, column_order = false, ok = skip(&text, '{');
    ferry_view key, descr = {NULL, 0};
    while (ok && !skip(&text, '}')) {
        size_t which = 0;
        ok = read_quoted(&text, &key) && skip(&text, ':');
        while (which < 3 && ok && !ferry_view_is(key, keys[which])) which++;
        if (!ok || which == 3 || seen[which]) break;
        seen[which] = true;
        if (which == 0) ok = read_quoted(&text, &descr);
        if (which == 1) column_order = read_word(&text, "True");
        if (which == 1) ok = column_order || read_word(&text, "False");
        if (which == 2) ok = read_shape(&text, tensor);
        if (ok && !skip(&text, ',')) ok = ferry_cursor_left(&text) > 0 && text.data[text.at] == '}';
    }
    skip_blanks(&text);
    if (!ok || ferry_cursor_left(&text) > 0 || !seen[0] || !seen[1] || !seen[2]) {
        return refuse(array, FERRY_ERROR_FORMAT,
                      "expected a header with descr, fortran_order and a shape of at most 4 dimensions", error);
    }
    if (column_order) return refuse(array, FERRY_ERROR_UNSUPPORTED, "fortran_order is not supported", error);
    return read_type(array, descr, &tensor->type, error);
}

/* ---- members ---- */

static ferry_status read_header(const member *array, ferry_cursor *cursor, ferry_view *header, ferry_error *error)
{
    static const char magic[] = "\x93NUMPY";
    ferry_view start;
    uint8_t major = 0, minor;
    uint16_t short_length = 0;
    uint32_t length = 0;
    bool ok = ferry_read_bytes(cursor, sizeof magic - 1, &start) && memcmp(start.data, magic, sizeof magic - 1) == 0 &&
              ferry_read_u8(cursor, &major) && ferry_read_u8(cursor, &minor) && major >= 1 && major <= 3;
    if (ok && major == 1) {
        ok = ferry_read_u16(cursor, &short_length);
        length = short_length;
    } else if (ok) {
        ok = ferry_read_u32(cursor, &length);
    }
    if (ok && ferry_read_bytes(cursor, length, header)) return FERRY_OK;
    return refuse(array, FERRY_ERROR_FORMAT, "not a NumPy array, or cut off in its header", error);
}

static ferry_status read_array(const member *array, ferry_weights_entry *entry, ferry_error *error)
{
    ferry_tensor *tensor = &entry->tensor;
    ferry_cursor cursor = {(const uint8_t *)array->bytes.data, array->bytes.size, 0};
    ferry_view header;
    FERRY_TRY(read_header(array, &cursor, &header, error));
    FERRY_TRY(read_dictionary(array, header, tensor, error));
    size_t bytes;
    if (!ferry_weights_bytes(tensor, ferry_type_size(tensor->type), &bytes) || bytes != ferry_cursor_left(&cursor)) {
        char shape[100], what[200];
        snprintf(what, sizeof what, "shape %s of %s does not fit its %zu bytes",
                 ferry_tensor_shape_text(tensor, shape, sizeof shape), ferry_type_name(tensor->type),
                 ferry_cursor_left(&cursor));
        return refuse(array, FERRY_ERROR_FORMAT, what, error);
    }
    tensor->data = cursor.data + cursor.at;
    tensor->bytes = bytes;
    entry->file = array->file;
    ferry_weights_row_major(entry);
    return FERRY_OK;
}

static ferry_status read_member(ferry_weights *weights, size_t index, const char *file, ferry_error *error)
{
    static const char suffix[] = ".npy";
    const char *name = ferry_zip_name(weights->archive, index);
    const size_t size = strlen(name);
    member array = {file, name, {NULL, 0}};
    if (size < sizeof suffix || strcmp(name + size - (sizeof suffix - 1), suffix) != 0) {
        return refuse(&array, FERRY_ERROR_FORMAT, "expected only members that end in .npy", error);
    }
    FERRY_TRY(ferry_zip_member(weights->archive, index, &array.bytes, error));
    ferry_weights_entry *entry = &weights->entries[weights->count];
    memset(entry, 0, sizeof *entry);
    FERRY_TRY(read_array(&array, entry, error));
    entry->tensor.name = (ferry_view){name, size - (sizeof suffix - 1)}; /* the archive keeps its names */
    weights->count++;
    return FERRY_OK;
}

static ferry_status read_members(ferry_view bytes, const char *file, ferry_weights *weights, ferry_error *error)
{
    FERRY_TRY(ferry_zip_open(bytes, file, &weights->archive, error));
    const size_t count = ferry_zip_count(weights->archive);
    weights->entries = ferry_arena_alloc(&weights->arena, count + 1, sizeof *weights->entries);
    if (weights->entries == NULL) return ferry_fail_memory(error, "a list of tensors", count);
    for (size_t i = 0; i < count; i++) FERRY_TRY(read_member(weights, i, file, error));
    return ferry_weights_sort(weights, error);
}

ferry_status ferry_npz_read(ferry_view bytes, const char *file, ferry_weights *weights, ferry_error *error)
{
    memset(weights, 0, sizeof *weights);
    const ferry_status status = read_members(bytes, file, weights, error);
    if (status != FERRY_OK) ferry_weights_close(weights);
    return status;
}
