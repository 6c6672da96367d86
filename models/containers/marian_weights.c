/* Marian's weights, in two containers.
 *
 * .npz: a zip archive of .npy files. Each is a magic number, a version, the length of a header, the header as a Python
 * dictionary of 'descr', 'fortran_order' and 'shape', then the elements. The parser of headers knows these three values
 * only.
 *
 * .bin, little-endian:
 *
 *   u64 1 | u64 n | n records of u64 {name length with NUL, type, dimensions, data length} | n names, NUL-terminated |
 *   n shapes of i32 | u64 pad | pad bytes | n blocks of data, each of exactly its length
 *
 * intgemm types: Marian's codes and those of the Bergamot fork. Their block is the integers, a float32 multiplier right
 * after them (value = integer / multiplier), padding. The bytes of a weight [in, out] are its transpose; a name with
 * "Wemb" in it is not transposed. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "weights.h"

/* ---- .npz: the dictionary ---- */

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

/* (), (3,), (1, 3) */
static bool read_tuple(ferry_cursor *text, ferry_tensor *tensor)
{
    bool more = true;
    tensor->dims = 0;
    for (int32_t i = 0; i < FERRY_MAX_DIMS; i++) tensor->shape[i] = 1;
    if (!skip(text, "(")) return false;
    while (!skip(text, ")")) {
        skip_blanks(text);
        if (!more || tensor->dims == FERRY_MAX_DIMS) return false;
        const size_t start = text->at;
        while (ferry_cursor_left(text) > 0 && text->data[text->at] >= '0' && text->data[text->at] <= '9') text->at++;
        const ferry_view size = {(const char *)text->data + start, text->at - start};
        if (!ferry_parse_integer(size, &tensor->shape[tensor->dims++])) return false;
        more = skip(text, ",");
    }
    return true;
}

static ferry_status read_dictionary(const ferry_reader *in, ferry_view header, ferry_tensor *tensor)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    static const struct {
        const char *name;
        ferry_type type;
    } types[] = {
        {"<f4", FERRY_F32}, {"<f2", FERRY_F16}, {"<f8", FERRY_F64}, {"|i1", FERRY_I8},
        {"<i1", FERRY_I8},  {"<i2", FERRY_I16}, {"<i4", FERRY_I32}, {"<i8", FERRY_I64},
    };
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
        if (which == 2) ok = read_tuple(&text, tensor);
        if (ok && !skip(&text, ",")) ok = ferry_cursor_left(&text) > 0 && text.data[text.at] == '}';
    }
    skip_blanks(&text);
    if (!ok || ferry_cursor_left(&text) > 0 || !seen[0] || !seen[1] || !seen[2]) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT,
                                 "expected a header with descr, fortran_order and a shape of at most 4 dimensions");
    }
    if (column_order) return ferry_tensor_fail(in, tensor, FERRY_ERROR_UNSUPPORTED, "fortran_order is not supported");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!ferry_view_is(descr, types[i].name)) continue;
        tensor->type = types[i].type;
        return FERRY_OK;
    }
    return ferry_tensor_fail(in, tensor, FERRY_ERROR_UNSUPPORTED, "element type '%s' is not supported",
                             ferry_printable_view(descr).text);
}

/* ---- .npz: members ---- */

static ferry_status read_member(const ferry_reader *in, ferry_zip *archive, size_t index, ferry_weights_entry *entry)
{
    const char *name = ferry_zip_name(archive, index); /* the archive keeps its names */
    ferry_tensor *tensor = &entry->tensor;
    ferry_view bytes, header;
    uint64_t version[2], length;
    tensor->name = ferry_text_view(name);
    if (!ferry_text_ends(name, ".npy") || tensor->name.size == strlen(".npy"))
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected only members that end in .npy");
    tensor->name.size -= strlen(".npy");
    FERRY_TRY(ferry_zip_member(archive, index, &bytes, in->error));
    ferry_cursor cursor = ferry_cursor_begin(bytes);
    /* The length has 16 bits in version 1.x, and 32 bits in later versions. */
    if (!ferry_read_text(&cursor, "\x93NUMPY") || !ferry_read_fields(&cursor, "1 1", version) || version[0] < 1 ||
        version[0] > 3 || !ferry_read_fields(&cursor, version[0] == 1 ? "2" : "4", &length) ||
        !ferry_read_bytes(&cursor, length, &header))
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "not a NumPy array, or cut off in its header");
    FERRY_TRY(read_dictionary(in, header, tensor));
    const ferry_view elements = {bytes.data + cursor.at, ferry_cursor_left(&cursor)};
    return ferry_weights_set_data(in, entry, ferry_type_size(tensor->type), elements, true);
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

/* ---- .bin ---- */

enum { RECORD_BYTES = 32, VERSION_PLAIN = 1, VERSION_ENCRYPTED = 2 };

typedef struct record {
    uint64_t name_bytes, type, dims, data_bytes;
} record;

/* `refused`: name of a type that Ferry does not read; NULL for a supported type. */
typedef struct type_code {
    uint64_t code;
    int type;
    bool is_intgemm;
    const char *refused;
} type_code;

static const type_code type_codes[] = {
    {0x101, FERRY_I8, false, NULL},
    {0x102, FERRY_I16, false, NULL},
    {0x104, FERRY_I32, false, NULL},
    {0x108, FERRY_I64, false, NULL},
    {0x402, FERRY_F16, false, NULL},
    {0x404, FERRY_F32, false, NULL},
    {0x408, FERRY_F64, false, NULL},
    {0x4101, FERRY_I8, true, NULL}, /* the fork */
    {0x4102, FERRY_I16, true, NULL},
    {0x10001, FERRY_I8, true, NULL}, /* Marian */
    {0x10002, FERRY_I16, true, NULL},
    {0x201, FERRY_TYPE_OTHER, false, NULL}, /* no weight, but lsh_output_codes may have this type */
    {0x202, FERRY_TYPE_OTHER, false, NULL},
    {0x204, FERRY_TYPE_OTHER, false, NULL},
    {0x208, FERRY_TYPE_OTHER, false, NULL},
    {0x802, 0, false, "packed16 (FBGEMM's own layout)"},
    {0x1801, 0, false, "packed8avx2 (FBGEMM's own layout)"},
    {0x2801, 0, false, "packed8avx512 (FBGEMM's own layout)"},
    {0x18001, 0, true, "intgemm8ssse3 (tiles for one machine: convert to intgemm8)"},
    {0x11001, 0, true, "intgemm8avx2 (tiles for one machine: convert to intgemm8)"},
    {0x12001, 0, true, "intgemm8avx512 (tiles for one machine: convert to intgemm8)"},
    {0x13001, 0, true, "intgemm8avx512vnni (tiles for one machine: convert to intgemm8)"},
    {0x14002, 0, true, "intgemm16sse2 (tiles for one machine: convert to intgemm16)"},
    {0x11002, 0, true, "intgemm16avx2 (tiles for one machine: convert to intgemm16)"},
    {0x12002, 0, true, "intgemm16avx512 (tiles for one machine: convert to intgemm16)"},
};

/* Whether the cursor is at the start of a Marian .bin file; moves past version and count. */
static bool read_start(ferry_cursor *cursor, uint64_t start[2])
{
    return ferry_read_fields(cursor, "8 8", start) && (start[0] == VERSION_PLAIN || start[0] == VERSION_ENCRYPTED);
}

bool ferry_is_marian_bin(ferry_view bytes)
{
    ferry_cursor cursor = ferry_cursor_begin(bytes);
    uint64_t start[2];
    if (!read_start(&cursor, start)) return false;
    return start[0] == VERSION_ENCRYPTED || (start[1] > 0 && start[1] <= ferry_cursor_left(&cursor) / RECORD_BYTES);
}

static ferry_status cut_off(const ferry_reader *in, const char *where)
{
    return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "cut off in its %s", where);
}

static ferry_status read_data(ferry_reader *in, const record *r, ferry_weights_entry *entry)
{
    ferry_tensor *tensor = &entry->tensor;
    const type_code *code = type_codes, *end = type_codes + sizeof type_codes / sizeof type_codes[0];
    ferry_view block;
    while (code < end && code->code != r->type) code++;
    if (code == end)
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "unknown element type 0x%" PRIx64, r->type);
    if (code->refused != NULL)
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_UNSUPPORTED, "element type %s is not supported",
                                 code->refused);
    if (!ferry_read_bytes(&in->cursor, r->data_bytes, &block)) return cut_off(in, "data");
    tensor->type = (ferry_type)code->type;
    FERRY_TRY(ferry_weights_set_data(in, entry, code->code & 0xff, block, false));
    if (!code->is_intgemm) return FERRY_OK;
    if (tensor->dims != 2)
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected 2 dimensions of an intgemm type");
    ferry_cursor after = {(const uint8_t *)block.data, block.size, tensor->bytes};
    if (!ferry_read_f32(&after, &entry->multiplier) || !isfinite(entry->multiplier) || entry->multiplier <= 0)
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected a positive multiplier after its integers");
    if (!ferry_view_contains(tensor->name, "Wemb")) {
        entry->strides[0] = 1;
        entry->strides[1] = tensor->shape[0];
    }
    return FERRY_OK;
}

ferry_status ferry_marian_bin_read(ferry_reader *in, ferry_weights *weights)
{
    uint64_t start[2], pad = 0;
    ferry_view padding;
    if (!read_start(&in->cursor, start)) return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "not a Marian .bin file");
    if (start[0] == VERSION_ENCRYPTED)
        return ferry_reader_fail(in, FERRY_ERROR_UNSUPPORTED, "encrypted .bin files (version 2) are not supported");
    if (start[1] > ferry_cursor_left(&in->cursor) / RECORD_BYTES) {
        return ferry_reader_fail(in, FERRY_ERROR_FORMAT,
                                 "not a Marian .bin file: %" PRIu64 " tensors do not fit in %zu bytes", start[1],
                                 in->cursor.size);
    }
    const size_t count = (size_t)start[1];
    record *records = ferry_arena_alloc(&weights->arena, count + 1, sizeof *records);
    if (records == NULL) return ferry_fail_memory(in->error, "a list of tensors", count, sizeof *records);
    FERRY_TRY(ferry_weights_reserve(weights, count, in->error));
    for (size_t i = 0; i < count; i++)
        if (!ferry_read_fields(&in->cursor, "8 8 8 8", &records[i])) return cut_off(in, "records");
    for (size_t i = 0; i < count; i++) {
        ferry_view *name = &weights->entries[i].tensor.name;
        if (!ferry_read_bytes(&in->cursor, records[i].name_bytes, name)) return cut_off(in, "names");
        if (name->size < 2 || memchr(name->data, 0, name->size) != name->data + name->size - 1)
            return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "tensor %zu: its name is not terminated by one NUL", i);
        name->size--;
    }
    for (size_t i = 0; i < count; i++) {
        ferry_tensor *tensor = &weights->entries[i].tensor;
        FERRY_TRY(ferry_weights_read_shape(in, records[i].dims, tensor));
        for (int32_t k = 0; k < tensor->dims; k++)
            if (tensor->shape[k] < 1 || tensor->shape[k] > INT32_MAX)
                return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "impossible shape");
    }
    if (!ferry_read_u64(&in->cursor, &pad) || !ferry_read_bytes(&in->cursor, pad, &padding))
        return cut_off(in, "padding");
    for (size_t i = 0; i < count; i++) FERRY_TRY(read_data(in, &records[i], &weights->entries[i]));
    weights->count = count;
    if (ferry_cursor_left(&in->cursor) == 0) return FERRY_OK;
    return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "expected %zu bytes, found %zu", in->cursor.at, in->cursor.size);
}
