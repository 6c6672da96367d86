/* A member is an .npy file: magic, version, the length of a header, the header as a Python dictionary of 'descr',
 * 'fortran_order' and 'shape', then the elements. The header is read by a parser that knows these three values only. */
#include "weights.h"

#include <string.h>

#include "base/utf8.h"
#include "decimal.h"

/* ---- the dictionary ---- */

static void skip_blanks(ferry_cursor *text)
{
    while (ferry_cursor_left(text) > 0 && strchr(" \t\n", text->data[text->at]) != NULL && text->data[text->at] != 0)
        text->at++;
}

/* Consumes `text` and the blanks before it. */
static bool skip(ferry_cursor *header, const char *text)
{
    skip_blanks(header);
    return ferry_read_text(header, text);
}

static bool read_quoted(ferry_cursor *text, ferry_view *value)
{
    const char *quote = skip(text, "'") ? "'" : "\"";
    if (*quote == '"' && !skip(text, quote)) return false;
    const size_t start = text->at;
    while (ferry_cursor_left(text) > 0 && text->data[text->at] != (uint8_t)*quote) text->at++;
    *value = (ferry_view){(const char *)text->data + start, text->at - start};
    return ferry_read_text(text, quote);
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
    if (!skip(text, "(")) return false;
    while (!skip(text, ")")) {
        skip_blanks(text);
        if (!more || tensor->dims == FERRY_MAX_DIMS || !read_size(text, &tensor->shape[tensor->dims++])) return false;
        more = skip(text, ",");
    }
    return true;
}

static ferry_status read_type(const ferry_reader *in, ferry_view descr, ferry_tensor *tensor)
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
        tensor->type = types[i].type;
        return FERRY_OK;
    }
    return ferry_tensor_fail(in, tensor, FERRY_ERROR_UNSUPPORTED, "element type '%s' is not supported",
                             ferry_printable_view(descr).text);
}

static ferry_status read_dictionary(const ferry_reader *in, ferry_view header, ferry_tensor *tensor)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    ferry_cursor text = ferry_cursor_begin(header);
    bool seen[3] = {false}, column_order = false, ok = skip(&text, "{");
    ferry_view key, descr = {NULL, 0};
    while (ok && !skip(&text, "}")) {
        size_t which = 0;
        ok = read_quoted(&text, &key) && skip(&text, ":");
        while (which < 3 && ok && !ferry_view_is(key, keys[which])) which++;
        if (!ok || which == 3 || seen[which]) break;
        seen[which] = true;
        if (which == 0) ok = read_quoted(&text, &descr);
        if (which == 1) column_order = skip(&text, "True");
        if (which == 1) ok = column_order || skip(&text, "False");
        if (which == 2) ok = read_shape(&text, tensor);
        if (ok && !skip(&text, ",")) ok = ferry_cursor_left(&text) > 0 && text.data[text.at] == '}';
    }
    skip_blanks(&text);
    if (!ok || ferry_cursor_left(&text) > 0 || !seen[0] || !seen[1] || !seen[2]) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT,
                                 "expected a header with descr, fortran_order and a shape of at most 4 dimensions");
    }
    if (!column_order) return read_type(in, descr, tensor);
    return ferry_tensor_fail(in, tensor, FERRY_ERROR_UNSUPPORTED, "fortran_order is not supported");
}

/* ---- members ---- */

/* Version 1.x has a 16-bit length, later ones have 32 bits. */
static bool read_header(ferry_cursor *cursor, ferry_view *header)
{
    uint64_t version[2], length;
    return ferry_read_text(cursor, "\x93NUMPY") && ferry_read_fields(cursor, "1 1", version) && version[0] >= 1 &&
           version[0] <= 3 && ferry_read_fields(cursor, version[0] == 1 ? "2" : "4", &length) &&
           ferry_read_bytes(cursor, length, header);
}

static ferry_status read_member(const ferry_reader *in, ferry_zip *archive, size_t index, ferry_weights_entry *entry)
{
    const char *name = ferry_zip_name(archive, index); /* the archive keeps its names */
    ferry_tensor *tensor = &entry->tensor;
    ferry_view bytes, header;
    tensor->name = ferry_text_view(name);
    if (!ferry_text_ends(name, ".npy") || tensor->name.size == strlen(".npy"))
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected only members that end in .npy");
    tensor->name.size -= strlen(".npy");
    FERRY_TRY(ferry_zip_member(archive, index, &bytes, in->error));
    ferry_cursor cursor = ferry_cursor_begin(bytes);
    if (!read_header(&cursor, &header))
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "not a NumPy array, or cut off in its header");
    FERRY_TRY(read_dictionary(in, header, tensor));
    const ferry_view elements = {bytes.data + cursor.at, ferry_cursor_left(&cursor)};
    return ferry_weights_place(in, entry, ferry_type_size(tensor->type), elements, true);
}

ferry_status ferry_npz_read(ferry_reader *in, ferry_weights *weights)
{
    const ferry_view bytes = {(const char *)in->cursor.data, in->cursor.size};
    FERRY_TRY(ferry_zip_open(bytes, in->file, weights->arena.account, &weights->archive, in->error));
    const size_t count = ferry_zip_count(weights->archive);
    FERRY_TRY(ferry_weights_reserve(weights, count, in->error));
    for (size_t i = 0; i < count; i++) FERRY_TRY(read_member(in, weights->archive, i, &weights->entries[i]));
    weights->count = count;
    return FERRY_OK;
}
