#include "sentencepiece_check.h"

#include <limits.h>
#include <stdlib.h>

/* SentencePiece's fixed-size arrays: matches at one position of a text, of normalization rules and of user-defined
 * pieces. */
#define MAX_RULES 32
#define MAX_USER_DEFINED 64
/* SentencePiece lays out its trie by recursion, one call for each byte of the longest piece. Its trainer makes pieces
 * of at most 512 characters. */
#define MAX_PIECE (4 * 512)
/* Bytes of the longest text that a rule of normalization may replace; NFKC's are below 20. */
#define MAX_RULE_BYTES 255

/* ---- protocol buffers: tag = field number << 3 | wire type ---- */

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

typedef struct proto_field {
    uint32_t number;
    uint32_t wire;
    uint64_t value;   /* WIRE_VARINT */
    ferry_view bytes; /* WIRE_BYTES */
} proto_field;

static ferry_cursor cursor_of(ferry_view bytes)
{
    return (ferry_cursor){(const uint8_t *)bytes.data, bytes.size, 0};
}

static bool read_varint(ferry_cursor *cursor, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        if (!ferry_read_u8(cursor, &byte)) return false;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

static bool read_field(ferry_cursor *cursor, proto_field *field)
{
    uint64_t tag, length;
    ferry_view skipped;
    if (!read_varint(cursor, &tag) || tag > UINT32_MAX) return false;
    field->number = (uint32_t)tag >> 3;
    field->wire = (uint32_t)tag & 7;
    switch (field->wire) {
    case WIRE_VARINT: return read_varint(cursor, &field->value);
    case WIRE_64: return ferry_read_bytes(cursor, 8, &skipped);
    case WIRE_BYTES: return read_varint(cursor, &length) && ferry_read_bytes(cursor, length, &field->bytes);
    case WIRE_32: return ferry_read_bytes(cursor, 4, &skipped);
    default: return false;
    }
}

static ferry_status fail_proto(const char *name, size_t at, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected a SentencePiece model, found no field at byte %zu", name,
                      at);
}

/* ---- normalizer: u32 size of the trie, the trie, NUL-terminated replacements ---- */

/* A unit of the double array (S. Yata, Darts-clone): from the unit at p, byte c leads to p ^ offset ^ c, whose label
 * must be c. With `has_leaf`, the unit at p ^ offset holds a value, and its highest bit is set, which no label has. */
static bool is_value(uint32_t unit)
{
    return unit >> 31 != 0;
}

static uint32_t label_of(uint32_t unit)
{
    return unit & 0xFF;
}

static uint32_t has_leaf(uint32_t unit)
{
    return unit >> 8 & 1;
}

static size_t base_of(size_t at, uint32_t unit)
{
    return at ^ (size_t)((unit >> 10) << ((unit & 1u << 9) >> 6));
}

/* For any text, every step from a unit stays inside the array, and every value inside the replacements. */
static bool steps_are_inside(const uint32_t *units, size_t count, size_t replacements)
{
    for (size_t at = 0; at < count; at++) {
        if (at > 0 && is_value(units[at])) continue;
        size_t base = base_of(at, units[at]);
        if ((base | 0xFF) >= count) return false;
        if (has_leaf(units[at]) && (units[base] & 0x7FFFFFFF) >= replacements) return false;
    }
    return true;
}

/* matches[b] [count], zeroed: the largest number of keys that end on one path to the units whose base is b. Relaxation
 * until nothing changes, which takes as many passes as the longest key has bytes. */
static bool matches_are_few(const uint32_t *units, size_t count, uint8_t *matches)
{
    bool changed = true;
    for (int pass = 0; changed; pass++) {
        if (pass > MAX_RULE_BYTES) return false;
        changed = false;
        for (size_t at = 1; at < count; at++) {
            if (is_value(units[at])) continue;
            uint32_t found = matches[at ^ label_of(units[at])] + has_leaf(units[at]);
            uint8_t *next = &matches[base_of(at, units[at])];
            if (found <= *next) continue;
            if (found > MAX_RULES) return false;
            *next = (uint8_t)found;
            changed = true;
        }
    }
    return true;
}

static ferry_status check_trie(ferry_cursor *trie, size_t replacements, const char *name, ferry_error *error)
{
    ferry_status status = FERRY_OK;
    size_t count = trie->size / sizeof(uint32_t);
    uint32_t *units = malloc(trie->size + 1);
    uint8_t *matches = calloc(count + 1, sizeof *matches);
    if (units == NULL || matches == NULL) {
        status = ferry_fail_memory(error, "checking a normalization table", trie->size + count);
        goto cleanup;
    }
    for (size_t i = 0; i < count; i++) ferry_read_u32(trie, &units[i]);
    if (count == 0 || !steps_are_inside(units, count, replacements)) {
        status = ferry_fail(error, FERRY_ERROR_FORMAT, "%s: normalization table leads out of its %zu bytes", name,
                            trie->size);
    } else if (!matches_are_few(units, count, matches)) {
        status = ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                            "%s: normalization table: expected at most %d rules for one place of a text, found more",
                            name, MAX_RULES);
    }
cleanup:
    free(units);
    free(matches);
    return status;
}

static ferry_status check_charsmap(ferry_view charsmap, const char *name, ferry_error *error)
{
    ferry_cursor cursor = cursor_of(charsmap);
    uint32_t size;
    ferry_view trie;
    if (charsmap.size == 0) return FERRY_OK;
    if (!ferry_read_u32(&cursor, &size) || !ferry_read_bytes(&cursor, size, &trie)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: normalization table is cut short at %zu bytes", name,
                          charsmap.size);
    }
    ferry_cursor units = cursor_of(trie);
    return check_trie(&units, ferry_cursor_left(&cursor), name, error);
}

/* NormalizerSpec: 2 precompiled_charsmap. */
static ferry_status check_normalizer(ferry_view spec, const char *name, ferry_error *error)
{
    ferry_cursor cursor = cursor_of(spec);
    while (ferry_cursor_left(&cursor) > 0) {
        proto_field field;
        if (!read_field(&cursor, &field)) return fail_proto(name, cursor.at, error);
        if (field.number == 2 && field.wire == WIRE_BYTES) FERRY_TRY(check_charsmap(field.bytes, name, error));
    }
    return FERRY_OK;
}

/* SentencePiece: 1 piece, 3 type (4 user-defined). A chain of more than 64 user-defined pieces, each the start of the
 * next, needs one of more than 64 bytes. */
static ferry_status check_piece(ferry_view piece, const char *name, ferry_error *error)
{
    ferry_cursor cursor = cursor_of(piece);
    bool user_defined = false;
    size_t longest = 0;
    while (ferry_cursor_left(&cursor) > 0) {
        proto_field field;
        if (!read_field(&cursor, &field)) return fail_proto(name, cursor.at, error);
        if (field.number == 1 && field.wire == WIRE_BYTES && field.bytes.size > longest) longest = field.bytes.size;
        if (field.number == 3 && field.wire == WIRE_VARINT && (uint32_t)field.value == 4) user_defined = true;
    }
    const size_t limit = user_defined ? MAX_USER_DEFINED : MAX_PIECE;
    if (longest <= limit) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: %spiece: expected at most %zu bytes, found %zu", name,
                      user_defined ? "user-defined " : "", limit, longest);
}

/* ModelProto: 1 pieces, 3 normalizer_spec, 4 self_test_data. Every occurrence of a repeated field is checked, whichever
 * one SentencePiece uses. */
ferry_status ferry_spm_check(ferry_view proto, const char *name, ferry_view *self_test, ferry_error *error)
{
    *self_test = (ferry_view){proto.data, 0};
    if (proto.size > INT_MAX) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected at most %d bytes, found %zu", name, INT_MAX,
                          proto.size);
    }
    ferry_cursor cursor = cursor_of(proto);
    while (ferry_cursor_left(&cursor) > 0) {
        const size_t begin = cursor.at;
        proto_field field;
        if (!read_field(&cursor, &field)) return fail_proto(name, cursor.at, error);
        if (field.wire != WIRE_BYTES) continue;
        if (field.number == 1) FERRY_TRY(check_piece(field.bytes, name, error));
        if (field.number == 3) FERRY_TRY(check_normalizer(field.bytes, name, error));
        if (field.number != 4) continue;
        if (self_test->size > 0)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected one self test, found two", name);
        *self_test = (ferry_view){proto.data + begin, cursor.at - begin};
    }
    return FERRY_OK;
}
