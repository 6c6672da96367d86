#include "sentencepiece_check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* SentencePiece's fixed-size arrays: matches at one position of a text, of normalization rules and of user-defined
 * pieces. */
#define MAX_RULES 32
#define MAX_USER_DEFINED 64
/* SentencePiece lays out its trie by recursion, one call for each byte of the longest piece, and follows the trie for
 * as many bytes from each character of a text. Pieces that its trainer makes have by default at most 16 characters. */
#define MAX_PIECE 512
/* All pieces together: 16 bytes for each of as many as there may be. */
#define MAX_PIECE_BYTES (16 * (size_t)FERRY_SPM_MAX_PIECES)
/* Bytes that a rule of normalization replaces, and that it puts in their place, for every character of a text. NFKC's
 * longest is U+FDFA, 3 bytes, which becomes 33. */
#define MAX_RULE_BYTES 64
/* Bytes of what is neither pieces nor normalization: how the model was trained. SentencePiece makes an object of every
 * 2 bytes of it. */
#define MAX_OTHER_BYTES ((size_t)1 << 20)

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

/* A base is what a text has reached after some bytes: unit base ^ c belongs to it if its label is c. */
typedef struct rule_trie {
    const uint32_t *units;  /* [count] */
    size_t count;           /* a multiple of 256: if a base is inside, so are all of its units */
    uint32_t *first, *next; /* [count] the units of a base, and of the next one of the same; + 1, 0: none */
    uint8_t *height;        /* [count] of a base: bytes of the longest way on, + 1; 0: not known yet */
    uint8_t *matches;       /* [count] the largest number of keys that end on one way on */
    ferry_view replacements;
    const char *name;
} rule_trie;

static ferry_status fail_long_rule(const rule_trie *trie, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: normalization table: expected rules of at most %d bytes, found a longer one", trie->name,
                      MAX_RULE_BYTES);
}

/* What a text finds that has reached unit `at`: *base, and with a leaf a value, the place of a replacement. */
static ferry_status enter_unit(const rule_trie *trie, size_t at, size_t *base, ferry_error *error)
{
    const uint32_t unit = trie->units[at];
    const ferry_view texts = trie->replacements;
    *base = base_of(at, unit);
    const size_t text = *base < trie->count && has_leaf(unit) ? trie->units[*base] & 0x7FFFFFFF : 0;
    if (*base >= trie->count || text >= texts.size)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: normalization table leads out of its %zu bytes", trie->name,
                          trie->count * sizeof unit);
    const size_t left = texts.size - text;
    if (memchr(texts.data + text, '\0', left < MAX_RULE_BYTES + 1 ? left : MAX_RULE_BYTES + 1) != NULL) return FERRY_OK;
    return fail_long_rule(trie, error);
}

/* Follows all texts that reach `base` after `depth` bytes: once for each base, as the ways from it do not depend on the
 * way to it. A way that leads back to where it was is too long. */
static ferry_status walk(const rule_trie *trie, size_t base, int depth, ferry_error *error)
{
    uint8_t height = 1;
    if (depth + trie->height[base] > MAX_RULE_BYTES + 1) return fail_long_rule(trie, error);
    if (trie->height[base] > 0) return FERRY_OK;
    if (depth > MAX_RULE_BYTES) return fail_long_rule(trie, error);
    for (uint32_t at = trie->first[base]; at > 0; at = trie->next[at - 1]) {
        size_t to;
        FERRY_TRY(enter_unit(trie, at - 1, &to, error));
        FERRY_TRY(walk(trie, to, depth + 1, error));
        const uint32_t matches = trie->matches[to] + has_leaf(trie->units[at - 1]);
        if (matches > MAX_RULES)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                              "%s: normalization table: expected at most %d rules for one place of a text, found more",
                              trie->name, MAX_RULES);
        if (matches > trie->matches[base]) trie->matches[base] = (uint8_t)matches;
        if (trie->height[to] >= height) height = (uint8_t)(trie->height[to] + 1);
    }
    trie->height[base] = height;
    return FERRY_OK;
}

/* For any text, every step from the root stays inside the array, and every value inside the replacements. Units that no
 * text reaches may hold anything. */
static ferry_status walk_all(const rule_trie *trie, ferry_error *error)
{
    size_t root;
    for (size_t at = 0; at < trie->count; at++) {
        const uint32_t unit = trie->units[at];
        if (is_value(unit)) continue;
        uint32_t *first = &trie->first[at ^ label_of(unit)];
        trie->next[at] = *first;
        *first = (uint32_t)at + 1;
    }
    FERRY_TRY(enter_unit(trie, 0, &root, error));
    return walk(trie, root, 0, error);
}

static ferry_status check_trie(ferry_cursor *bytes, ferry_view replacements, const char *name, ferry_error *error)
{
    const size_t count = bytes->size / sizeof(uint32_t), unit_bytes = 3 * sizeof(uint32_t) + 2;
    if (count == 0 || bytes->size % (256 * sizeof(uint32_t)) != 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: normalization table: expected a multiple of 1024 bytes, found %zu", name, bytes->size);
    uint32_t *units = calloc(count, unit_bytes);
    if (units == NULL) return ferry_fail_memory(error, "checking a normalization table", count * unit_bytes);
    for (size_t i = 0; i < count; i++) ferry_read_u32(bytes, &units[i]);
    uint8_t *small = (uint8_t *)(units + 3 * count);
    const rule_trie trie = {units, count, units + count, units + 2 * count, small, small + count, replacements, name};
    const ferry_status status = walk_all(&trie, error);
    free(units);
    return status;
}

ferry_status ferry_spm_check_charsmap(ferry_view charsmap, const char *name, ferry_error *error)
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
    const ferry_view replacements = {charsmap.data + cursor.at, ferry_cursor_left(&cursor)};
    return check_trie(&units, replacements, name, error);
}

/* NormalizerSpec: 2 precompiled_charsmap. */
static ferry_status check_normalizer(ferry_view spec, const char *name, ferry_error *error)
{
    ferry_cursor cursor = cursor_of(spec);
    while (ferry_cursor_left(&cursor) > 0) {
        proto_field field;
        if (!read_field(&cursor, &field)) return fail_proto(name, cursor.at, error);
        if (field.number == 2 && field.wire == WIRE_BYTES)
            FERRY_TRY(ferry_spm_check_charsmap(field.bytes, name, error));
    }
    return FERRY_OK;
}

/* SentencePiece: 1 piece, 3 type (4 user-defined). A chain of more than 64 user-defined pieces, each the start of the
 * next, needs one of more than 64 bytes. */
static ferry_status check_piece(ferry_view piece, const char *name, size_t *bytes, ferry_error *error)
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
    *bytes += longest;
    const size_t limit = user_defined ? MAX_USER_DEFINED : MAX_PIECE;
    if (longest <= limit) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: %spiece: expected at most %zu bytes, found %zu", name,
                      user_defined ? "user-defined " : "", limit, longest);
}

/* What SentencePiece makes an object of. */
typedef struct amounts {
    size_t pieces, piece_bytes, other_bytes;
} amounts;

static ferry_status check_amounts(const amounts *found, const char *name, ferry_error *error)
{
    const struct {
        const char *what;
        size_t most, found;
    } rows[] = {{"pieces", FERRY_SPM_MAX_PIECES, found->pieces},
                {"bytes of pieces", MAX_PIECE_BYTES, found->piece_bytes},
                {"bytes beside pieces and normalization", MAX_OTHER_BYTES, found->other_bytes}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].found > rows[i].most)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected at most %zu %s, found more", name,
                              rows[i].most, rows[i].what);
    return FERRY_OK;
}

enum { PROTO_PIECE = 1, PROTO_NORMALIZER = 3, PROTO_SELF_TEST = 4, PROTO_DENORMALIZER = 5 };

static ferry_status check_field(const proto_field *field, size_t size, const char *name, amounts *found,
                                ferry_error *error)
{
    switch (field->wire == WIRE_BYTES ? field->number : 0) {
    case PROTO_PIECE:
        found->pieces++;
        FERRY_TRY(check_piece(field->bytes, name, &found->piece_bytes, error));
        break;
    case PROTO_NORMALIZER:
    case PROTO_DENORMALIZER: return check_normalizer(field->bytes, name, error);
    case PROTO_SELF_TEST: return FERRY_OK;
    default: found->other_bytes += size; break;
    }
    return check_amounts(found, name, error);
}

/* Every occurrence of a repeated field is checked, whichever one SentencePiece uses. */
ferry_status ferry_spm_check(ferry_view proto, const char *name, ferry_view *self_test, ferry_error *error)
{
    amounts found = {0};
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
        FERRY_TRY(check_field(&field, cursor.at - begin, name, &found, error));
        if (field.number != PROTO_SELF_TEST || field.wire != WIRE_BYTES) continue;
        if (self_test->size > 0)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected one self test, found two", name);
        *self_test = (ferry_view){proto.data + begin, cursor.at - begin};
    }
    return FERRY_OK;
}
