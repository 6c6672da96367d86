/* The container, little-endian:
 *
 *   u64 1 | u64 n | n records of u64 {name length with NUL, type, dimensions, data length} | n names, NUL-terminated |
 *   n shapes of i32 | u64 pad | pad bytes | n blocks of data, each of exactly its length
 *
 * intgemm types: Marian's codes and those of the Bergamot fork. Their block is the integers, a float32 multiplier right
 * after them (value = integer / multiplier), padding. The bytes of a weight [in, out] are its transpose; a name with
 * "Wemb" in it is not transposed. */
#include "weights.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "safetensors.h"

enum { RECORD_BYTES = 32, VERSION_PLAIN = 1, VERSION_ENCRYPTED = 2 };

typedef struct record {
    uint64_t name_bytes, type, dims, data_bytes;
} record;

typedef struct reader {
    const char *file;
    ferry_cursor cursor;
    record *records; /* [count] */
    size_t count;
    ferry_weights *weights;
} reader;

/* `refused` is the name of a type that Ferry does not read, NULL for the others. */
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
    {0x201, FERRY_SAFETENSORS_OTHER, false, NULL}, /* no weight, but lsh_output_codes may have this type */
    {0x202, FERRY_SAFETENSORS_OTHER, false, NULL},
    {0x204, FERRY_SAFETENSORS_OTHER, false, NULL},
    {0x208, FERRY_SAFETENSORS_OTHER, false, NULL},
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

static ferry_status cut_off(const reader *in, const char *where, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: cut off in its %s", in->file, where);
}

/* ---- head ---- */

/* Whether the cursor is at the start of a Marian .bin file. */
static bool read_start(ferry_cursor *cursor, uint64_t *version, uint64_t *count)
{
    return ferry_read_u64(cursor, version) && ferry_read_u64(cursor, count) &&
           (*version == VERSION_PLAIN || *version == VERSION_ENCRYPTED);
}

bool ferry_is_marian_bin(ferry_view bytes)
{
    ferry_cursor cursor = {(const uint8_t *)bytes.data, bytes.size, 0};
    uint64_t version, count;
    if (!read_start(&cursor, &version, &count)) return false;
    return version == VERSION_ENCRYPTED || (count > 0 && count <= ferry_cursor_left(&cursor) / RECORD_BYTES);
}

static ferry_status read_head(reader *in, ferry_error *error)
{
    uint64_t version = 0, count = 0;
    if (!read_start(&in->cursor, &version, &count)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: not a Marian .bin file", in->file);
    }
    if (version == VERSION_ENCRYPTED) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: encrypted .bin files (version 2) are not supported",
                          in->file);
    }
    if (count > ferry_cursor_left(&in->cursor) / RECORD_BYTES) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: not a Marian .bin file: %" PRIu64 " tensors do not fit in %zu bytes", in->file, count,
                          in->cursor.size);
    }
    in->count = (size_t)count;
    return FERRY_OK;
}

static ferry_status read_records(reader *in, ferry_error *error)
{
    ferry_weights *weights = in->weights;
    in->records = ferry_arena_alloc(&weights->arena, in->count + 1, sizeof *in->records);
    weights->entries = ferry_arena_alloc(&weights->arena, in->count + 1, sizeof *weights->entries);
    if (in->records == NULL || weights->entries == NULL)
        return ferry_fail_memory(error, "a list of tensors", in->count);
    memset(weights->entries, 0, in->count * sizeof *weights->entries);
    for (size_t i = 0; i < in->count; i++) {
        record *r = &in->records[i];
        if (!ferry_read_u64(&in->cursor, &r->name_bytes) || !ferry_read_u64(&in->cursor, &r->type) ||
            !ferry_read_u64(&in->cursor, &r->dims) || !ferry_read_u64(&in->cursor, &r->data_bytes)) {
            return cut_off(in, "records", error);
        }
    }
    return FERRY_OK;
}

static ferry_status read_names(reader *in, ferry_error *error)
{
    for (size_t i = 0; i < in->count; i++) {
        ferry_view *name = &in->weights->entries[i].tensor.name;
        if (!ferry_read_bytes(&in->cursor, in->records[i].name_bytes, name)) return cut_off(in, "names", error);
        if (name->size < 2 || memchr(name->data, 0, name->size) != name->data + name->size - 1) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor %zu: its name is not terminated by one NUL",
                              in->file, i);
        }
        name->size--;
    }
    return FERRY_OK;
}

static ferry_status read_shapes(reader *in, ferry_error *error)
{
    for (size_t i = 0; i < in->count; i++) {
        ferry_tensor *tensor = &in->weights->entries[i].tensor;
        const ferry_printable name = ferry_printable_view(tensor->name);
        if (in->records[i].dims > FERRY_MAX_DIMS) {
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "%s: tensor '%s': expected at most %d dimensions, found %" PRIu64, in->file, name.text,
                              FERRY_MAX_DIMS, in->records[i].dims);
        }
        tensor->dims = (int32_t)in->records[i].dims;
        for (int32_t k = 0; k < FERRY_MAX_DIMS; k++) {
            uint32_t size = 1;
            if (k < tensor->dims && !ferry_read_u32(&in->cursor, &size)) return cut_off(in, "shapes", error);
            if (size < 1 || size > INT32_MAX) {
                return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': impossible shape", in->file, name.text);
            }
            tensor->shape[k] = size;
        }
    }
    return FERRY_OK;
}

/* ---- data ---- */

static ferry_status find_type(const reader *in, ferry_view name, uint64_t code, const type_code **found,
                              ferry_error *error)
{
    const ferry_printable shown = ferry_printable_view(name);
    for (size_t i = 0; i < sizeof type_codes / sizeof type_codes[0]; i++) {
        if (type_codes[i].code != code) continue;
        *found = &type_codes[i];
        if ((*found)->refused == NULL) return FERRY_OK;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': element type %s is not supported", in->file,
                          shown.text, (*found)->refused);
    }
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': unknown element type 0x%" PRIx64, in->file,
                      shown.text, code);
}

/* The multiplier after the integers, and the transposed order of weights. */
static ferry_status finish_intgemm(const reader *in, ferry_view block, ferry_weights_entry *entry, ferry_error *error)
{
    const ferry_tensor *tensor = &entry->tensor;
    const ferry_printable name = ferry_printable_view(tensor->name);
    ferry_cursor after = {(const uint8_t *)block.data, block.size, tensor->bytes};
    if (tensor->dims != 2) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected 2 dimensions of an intgemm type",
                          in->file, name.text);
    }
    if (!ferry_read_f32(&after, &entry->multiplier) || !isfinite(entry->multiplier) || entry->multiplier <= 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tensor '%s': expected a positive multiplier after its integers", in->file, name.text);
    }
    if (!ferry_view_contains(tensor->name, "Wemb")) {
        entry->strides[0] = 1;
        entry->strides[1] = tensor->shape[0];
    }
    return FERRY_OK;
}

static ferry_status read_data(reader *in, size_t index, ferry_error *error)
{
    ferry_weights_entry *entry = &in->weights->entries[index];
    ferry_tensor *tensor = &entry->tensor;
    const type_code *code = NULL;
    ferry_view block;
    FERRY_TRY(find_type(in, tensor->name, in->records[index].type, &code, error));
    if (!ferry_read_bytes(&in->cursor, in->records[index].data_bytes, &block)) return cut_off(in, "data", error);
    tensor->type = (ferry_type)code->type;
    size_t bytes;
    if (!ferry_weights_bytes(tensor, code->code & 0xff, &bytes) || bytes > block.size) {
        char shape[100];
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': shape %s of %s does not fit its %zu bytes",
                          in->file, ferry_printable_view(tensor->name).text,
                          ferry_tensor_shape_text(tensor, shape, sizeof shape), ferry_type_name(tensor->type),
                          block.size);
    }
    tensor->data = block.data;
    tensor->bytes = bytes;
    entry->file = in->file;
    ferry_weights_row_major(entry);
    in->weights->count++;
    return code->is_intgemm ? finish_intgemm(in, block, entry, error) : FERRY_OK;
}

static ferry_status read_all(reader *in, ferry_error *error)
{
    uint64_t pad = 0;
    ferry_view padding;
    FERRY_TRY(read_head(in, error));
    FERRY_TRY(read_records(in, error));
    FERRY_TRY(read_names(in, error));
    FERRY_TRY(read_shapes(in, error));
    if (!ferry_read_u64(&in->cursor, &pad) || !ferry_read_bytes(&in->cursor, pad, &padding)) {
        return cut_off(in, "padding", error);
    }
    for (size_t i = 0; i < in->count; i++) FERRY_TRY(read_data(in, i, error));
    if (ferry_cursor_left(&in->cursor) > 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected %zu bytes, found %zu", in->file, in->cursor.at,
                          in->cursor.size);
    }
    return ferry_weights_sort(in->weights, error);
}

ferry_status ferry_marian_bin_read(ferry_view bytes, const char *file, ferry_weights *weights, ferry_error *error)
{
    reader in = {file, {(const uint8_t *)bytes.data, bytes.size, 0}, NULL, 0, weights};
    memset(weights, 0, sizeof *weights);
    const ferry_status status = read_all(&in, error);
    if (status != FERRY_OK) ferry_weights_close(weights);
    return status;
}
