#include "sentencepiece_check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of SentencePiece's arrays of matches at one place of a text: of normalization rules, of user-defined pieces. */
#define MAX_RULES 32
#define MAX_USER_DEFINED 64
/* Bytes of a piece. SentencePiece builds its trie by recursion, one call for each byte of the longest piece, and can
 * follow it this far from each character of a text. By default, its trainer makes pieces of at most 16 characters. */
#define MAX_PIECE 512
/* Bytes of all pieces together: 16 for each of the largest number. */
#define MAX_PIECE_BYTES (16 * (size_t)FERRY_SPM_MAX_PIECES)
/* Bytes of a normalization rule, and of its replacement. In NFKC, the longest is U+FDFA: 3 bytes become 33. */
#define MAX_RULE_BYTES 64
/* Bytes of the other fields, which tell how the model was trained. SentencePiece can make an object of every 2 bytes.
 */
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

static ferry_status read_field(ferry_cursor *cursor, proto_field *field, const char *name, ferry_error *error)
{
    uint64_t tag, length;
    ferry_view skipped;
    bool read = read_varint(cursor, &tag) && tag <= UINT32_MAX;
    field->number = read ? (uint32_t)tag >> 3 : 0;
    field->wire = read ? (uint32_t)tag & 7 : 7; /* 7: no type */
    switch (field->wire) {
    case WIRE_VARINT: read = read_varint(cursor, &field->value); break;
    case WIRE_64: read = ferry_read_bytes(cursor, 8, &skipped); break;
    case WIRE_BYTES: read = read_varint(cursor, &length) && ferry_read_bytes(cursor, length, &field->bytes); break;
    case WIRE_32: read = ferry_read_bytes(cursor, 4, &skipped); break;
    default: read = false;
    }
    if (read) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected a SentencePiece model, found no field at byte %zu", name,
                      cursor->at);
}

/* ---- table of normalization rules: u32 size of the trie, the trie, NUL-terminated replacements ---- */

#define VALUE_BITS 0x7FFFFFFFu

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

/* A base is the state after some bytes of a text: unit base ^ c belongs to it if its label is c. All arrays are
 * [count]. Because count is a multiple of 256, all units of a base < count are inside. */
typedef struct rule_walk {
    const ferry_charsmap *rules;
    uint32_t *first, *next; /* 1 + the first unit of a base, 1 + the next unit of the same base; 0: none */
    uint8_t *height;        /* 1 + bytes of the longest path from a base; 0: unknown */
    uint8_t *matches;       /* the largest number of keys that end on one path from a base */
    const char *name;
} rule_walk;

static ferry_status fail_long_rule(const rule_walk *w, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: normalization table: expected rules of at most %d bytes, found a longer one", w->name,
                      MAX_RULE_BYTES);
}

/* Sets *base to the base after unit `at`. If the unit has a leaf, checks its value, the offset of a replacement. */
static ferry_status enter_unit(const rule_walk *w, size_t at, size_t *base, ferry_error *error)
{
    const ferry_charsmap *rules = w->rules;
    const uint32_t unit = rules->units[at];
    const ferry_view texts = rules->replacements;
    *base = base_of(at, unit);
    const size_t text = *base < rules->count && has_leaf(unit) ? rules->units[*base] & VALUE_BITS : 0;
    if (*base >= rules->count || text >= texts.size)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: normalization table leads out of its %zu bytes", w->name,
                          rules->count * sizeof unit);
    const size_t left = texts.size - text;
    if (memchr(texts.data + text, '\0', left < MAX_RULE_BYTES + 1 ? left : MAX_RULE_BYTES + 1) != NULL) return FERRY_OK;
    return fail_long_rule(w, error);
}

/* Follows all paths from `base`, which a text reaches after `depth` bytes. Each base is followed once, because its
 * paths do not depend on the way to it. A cycle is refused as a rule that is too long. */
static ferry_status walk(const rule_walk *w, size_t base, int depth, ferry_error *error)
{
    uint8_t height = 1;
    if (depth + w->height[base] > MAX_RULE_BYTES + 1) return fail_long_rule(w, error);
    if (w->height[base] > 0) return FERRY_OK;
    if (depth > MAX_RULE_BYTES) return fail_long_rule(w, error);
    for (uint32_t at = w->first[base]; at > 0; at = w->next[at - 1]) {
        size_t to;
        FERRY_TRY(enter_unit(w, at - 1, &to, error));
        FERRY_TRY(walk(w, to, depth + 1, error));
        const uint32_t matches = w->matches[to] + has_leaf(w->rules->units[at - 1]);
        if (matches > MAX_RULES)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                              "%s: normalization table: expected at most %d rules for one place of a text, found more",
                              w->name, MAX_RULES);
        if (matches > w->matches[base]) w->matches[base] = (uint8_t)matches;
        if (w->height[to] >= height) height = (uint8_t)(w->height[to] + 1);
    }
    w->height[base] = height;
    return FERRY_OK;
}

/* Checks that for any text, every step from the root stays inside the array, and every value inside the replacements.
 * Units that no text reaches are not checked. */
static ferry_status check_rules(const ferry_charsmap *rules, const char *name, ferry_error *error)
{
    const size_t count = rules->count, unit_bytes = 2 * sizeof(uint32_t) + 2;
    uint32_t *scratch = calloc(count, unit_bytes);
    if (scratch == NULL) return ferry_fail_memory(error, "checking a normalization table", count, unit_bytes);
    uint8_t *small = (uint8_t *)(scratch + 2 * count);
    const rule_walk w = {rules, scratch, scratch + count, small, small + count, name};
    for (size_t at = 0; at < count; at++) {
        if (is_value(rules->units[at])) continue;
        uint32_t *first = &w.first[at ^ label_of(rules->units[at])];
        w.next[at] = *first;
        *first = (uint32_t)at + 1;
    }
    size_t root;
    ferry_status status = enter_unit(&w, 0, &root, error);
    if (status == FERRY_OK) status = walk(&w, root, 0, error);
    free(scratch);
    return status;
}

ferry_status ferry_charsmap_create(ferry_view bytes, const char *name, ferry_charsmap *charsmap, ferry_error *error)
{
    ferry_cursor cursor = cursor_of(bytes);
    uint32_t size;
    ferry_view trie;
    *charsmap = (ferry_charsmap){0};
    if (bytes.size == 0) return FERRY_OK;
    if (!ferry_read_u32(&cursor, &size) || !ferry_read_bytes(&cursor, size, &trie))
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: normalization table is cut short at %zu bytes", name,
                          bytes.size);
    if (size == 0 || size % (256 * sizeof(uint32_t)) != 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: normalization table: expected a multiple of 1024 bytes, found %zu", name, trie.size);
    charsmap->units = malloc(size);
    if (charsmap->units == NULL) return ferry_fail_memory(error, "a normalization table", size, 1);
    charsmap->count = size / sizeof *charsmap->units;
    charsmap->replacements = (ferry_view){bytes.data + cursor.at, ferry_cursor_left(&cursor)};
    cursor = cursor_of(trie);
    for (size_t i = 0; i < charsmap->count; i++) ferry_read_u32(&cursor, &charsmap->units[i]);
    const ferry_status status = check_rules(charsmap, name, error);
    if (status != FERRY_OK) ferry_charsmap_destroy(charsmap);
    return status;
}

void ferry_charsmap_destroy(ferry_charsmap *charsmap)
{
    free(charsmap->units);
    *charsmap = (ferry_charsmap){0};
}

bool ferry_charsmap_find(const ferry_charsmap *charsmap, ferry_view text, ferry_view *replacement)
{
    if (charsmap->count == 0) return false;
    size_t at = base_of(0, charsmap->units[0]);
    for (size_t i = 0; i < text.size && text.data[i] != '\0'; i++) {
        at ^= (uint8_t)text.data[i];
        const uint32_t unit = charsmap->units[at];
        if (is_value(unit) || label_of(unit) != (uint8_t)text.data[i]) return false;
        at = base_of(at, unit);
        if (!has_leaf(unit)) continue;
        const char *found = charsmap->replacements.data + (charsmap->units[at] & VALUE_BITS);
        *replacement = (ferry_view){found, strlen(found)};
        return true;
    }
    return false;
}

/* ---- a model ---- */

/* NormalizerSpec: 2 precompiled_charsmap. */
static ferry_status check_normalizer(ferry_view spec, const char *name, ferry_error *error)
{
    ferry_cursor cursor = cursor_of(spec);
    while (ferry_cursor_left(&cursor) > 0) {
        proto_field field;
        ferry_charsmap charsmap;
        FERRY_TRY(read_field(&cursor, &field, name, error));
        if (field.number != 2 || field.wire != WIRE_BYTES) continue;
        FERRY_TRY(ferry_charsmap_create(field.bytes, name, &charsmap, error));
        ferry_charsmap_destroy(&charsmap);
    }
    return FERRY_OK;
}

/* SentencePiece: 1 piece, 3 type (4 user-defined). If no user-defined piece exceeds MAX_USER_DEFINED bytes, at most
 * MAX_USER_DEFINED of them can match at one place: each is a prefix of the next. */
static ferry_status check_piece(ferry_view piece, const char *name, size_t *bytes, ferry_error *error)
{
    ferry_cursor cursor = cursor_of(piece);
    bool user_defined = false;
    size_t longest = 0;
    while (ferry_cursor_left(&cursor) > 0) {
        proto_field field;
        FERRY_TRY(read_field(&cursor, &field, name, error));
        if (field.number == 1 && field.wire == WIRE_BYTES && field.bytes.size > longest) longest = field.bytes.size;
        if (field.number == 3 && field.wire == WIRE_VARINT && (uint32_t)field.value == 4) user_defined = true;
    }
    *bytes += longest;
    const size_t limit = user_defined ? MAX_USER_DEFINED : MAX_PIECE;
    if (longest <= limit) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: %spiece: expected at most %zu bytes, found %zu", name,
                      user_defined ? "user-defined " : "", limit, longest);
}

enum { PROTO_PIECE = 1, PROTO_NORMALIZER = 3, PROTO_SELF_TEST = 4, PROTO_DENORMALIZER = 5 };

/* Every occurrence of a repeated field is checked, whichever one SentencePiece uses. */
ferry_status ferry_spm_check(ferry_view proto, const char *name, ferry_view *self_test, ferry_error *error)
{
    enum { PIECES, PIECE_BYTES, OTHER_BYTES, AMOUNTS };
    static const struct {
        const char *what;
        size_t max;
    } limits[AMOUNTS] = {[PIECES] = {"pieces", FERRY_SPM_MAX_PIECES},
                         [PIECE_BYTES] = {"bytes of pieces", MAX_PIECE_BYTES},
                         [OTHER_BYTES] = {"bytes beside pieces and normalization", MAX_OTHER_BYTES}};
    size_t found[AMOUNTS] = {0};
    ferry_cursor cursor = cursor_of(proto);
    *self_test = (ferry_view){proto.data, 0};
    if (proto.size > INT_MAX)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected at most %d bytes, found %zu", name, INT_MAX,
                          proto.size);
    while (ferry_cursor_left(&cursor) > 0) {
        const size_t begin = cursor.at;
        proto_field field;
        FERRY_TRY(read_field(&cursor, &field, name, error));
        switch (field.wire == WIRE_BYTES ? field.number : 0) {
        case PROTO_PIECE:
            found[PIECES]++;
            FERRY_TRY(check_piece(field.bytes, name, &found[PIECE_BYTES], error));
            break;
        case PROTO_NORMALIZER:
        case PROTO_DENORMALIZER: FERRY_TRY(check_normalizer(field.bytes, name, error)); break;
        case PROTO_SELF_TEST:
            if (self_test->size > 0)
                return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected one self test, found two", name);
            *self_test = (ferry_view){proto.data + begin, cursor.at - begin};
            break;
        default: found[OTHER_BYTES] += cursor.at - begin; break;
        }
        for (size_t i = 0; i < AMOUNTS; i++)
            if (found[i] > limits[i].max)
                return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected at most %zu %s, found more", name,
                                  limits[i].max, limits[i].what);
    }
    return FERRY_OK;
}
