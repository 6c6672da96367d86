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

enum { RECORD_BYTES = 32, VERSION_PLAIN = 1, VERSION_ENCRYPTED = 2 };

typedef struct record {
    uint64_t name_bytes, type, dims, data_bytes;
} record;

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

/* ---- head ---- */

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

static ferry_status read_head(ferry_reader *in, size_t *count)
{
    uint64_t start[2];
    if (!read_start(&in->cursor, start)) return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "not a Marian .bin file");
    if (start[0] == VERSION_ENCRYPTED)
        return ferry_reader_fail(in, FERRY_ERROR_UNSUPPORTED, "encrypted .bin files (version 2) are not supported");
    if (start[1] > ferry_cursor_left(&in->cursor) / RECORD_BYTES) {
        return ferry_reader_fail(in, FERRY_ERROR_FORMAT,
                                 "not a Marian .bin file: %" PRIu64 " tensors do not fit in %zu bytes", start[1],
                                 in->cursor.size);
    }
    *count = (size_t)start[1];
    return FERRY_OK;
}

static ferry_status read_name(ferry_reader *in, size_t index, uint64_t size, ferry_view *name)
{
    if (!ferry_read_bytes(&in->cursor, size, name)) return cut_off(in, "names");
    if (name->size < 2 || memchr(name->data, 0, name->size) != name->data + name->size - 1)
        return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "tensor %zu: its name is not terminated by one NUL", index);
    name->size--;
    return FERRY_OK;
}

static ferry_status read_shape(ferry_reader *in, const record *r, ferry_tensor *tensor)
{
    FERRY_TRY(ferry_weights_read_shape(in, r->dims, tensor));
    for (int32_t i = 0; i < tensor->dims; i++) {
        if (tensor->shape[i] >= 1 && tensor->shape[i] <= INT32_MAX) continue;
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "impossible shape");
    }
    return FERRY_OK;
}

/* ---- data ---- */

static ferry_status find_type(const ferry_reader *in, const ferry_tensor *tensor, uint64_t code,
                              const type_code **found)
{
    for (size_t i = 0; i < sizeof type_codes / sizeof type_codes[0]; i++) {
        if (type_codes[i].code != code) continue;
        *found = &type_codes[i];
        if ((*found)->refused == NULL) return FERRY_OK;
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_UNSUPPORTED, "element type %s is not supported",
                                 (*found)->refused);
    }
    return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "unknown element type 0x%" PRIx64, code);
}

/* The multiplier after the integers, and the transposed order of weights. */
static ferry_status finish_intgemm(const ferry_reader *in, ferry_view block, ferry_weights_entry *entry)
{
    const ferry_tensor *tensor = &entry->tensor;
    ferry_cursor after = {(const uint8_t *)block.data, block.size, tensor->bytes};
    if (tensor->dims != 2)
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected 2 dimensions of an intgemm type");
    if (!ferry_read_f32(&after, &entry->multiplier) || !isfinite(entry->multiplier) || entry->multiplier <= 0)
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected a positive multiplier after its integers");
    if (!ferry_view_contains(tensor->name, "Wemb")) {
        entry->strides[0] = 1;
        entry->strides[1] = tensor->shape[0];
    }
    return FERRY_OK;
}

static ferry_status read_data(ferry_reader *in, const record *r, ferry_weights_entry *entry)
{
    const type_code *code = NULL;
    ferry_view block;
    FERRY_TRY(find_type(in, &entry->tensor, r->type, &code));
    if (!ferry_read_bytes(&in->cursor, r->data_bytes, &block)) return cut_off(in, "data");
    entry->tensor.type = (ferry_type)code->type;
    FERRY_TRY(ferry_weights_place(in, entry, code->code & 0xff, block, false));
    return code->is_intgemm ? finish_intgemm(in, block, entry) : FERRY_OK;
}

ferry_status ferry_marian_bin_read(ferry_reader *in, ferry_weights *weights)
{
    size_t count = 0;
    uint64_t pad = 0;
    ferry_view padding;
    FERRY_TRY(read_head(in, &count));
    record *records = ferry_arena_alloc(&weights->arena, count + 1, sizeof *records);
    if (records == NULL) return ferry_fail_memory(in->error, "a list of tensors", count);
    FERRY_TRY(ferry_weights_reserve(weights, count, in->error));
    for (size_t i = 0; i < count; i++)
        if (!ferry_read_fields(&in->cursor, "8 8 8 8", &records[i])) return cut_off(in, "records");
    ferry_weights_entry *entries = weights->entries;
    for (size_t i = 0; i < count; i++) FERRY_TRY(read_name(in, i, records[i].name_bytes, &entries[i].tensor.name));
    for (size_t i = 0; i < count; i++) FERRY_TRY(read_shape(in, &records[i], &entries[i].tensor));
    if (!ferry_read_u64(&in->cursor, &pad) || !ferry_read_bytes(&in->cursor, pad, &padding))
        return cut_off(in, "padding");
    for (size_t i = 0; i < count; i++) FERRY_TRY(read_data(in, &records[i], &entries[i]));
    weights->count = count;
    if (ferry_cursor_left(&in->cursor) == 0) return FERRY_OK;
    return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "expected %zu bytes, found %zu", in->cursor.at, in->cursor.size);
}
