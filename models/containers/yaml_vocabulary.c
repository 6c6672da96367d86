/* Vocabularies are read by bytes: their keys may hold what a YAML reader takes for line ends, numbers or markup. */
#include "yaml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "base/utf8.h"
#include "decimal.h"
#include "text_lines.h"

enum { MAX_SPARSE = 1 << 16 };

typedef struct entry {
    ferry_view piece;
    int32_t id;
} entry;

typedef struct reader {
    const char *file;
    ferry_arena *arena;
    ferry_cursor text;
    size_t line;   /* of the last line read, from 1; 0: JSON has none */
    int64_t limit; /* of ids: memory may follow the size of the file, not the numbers in it */
    entry *entries;
    size_t count;
} reader;

static ferry_status refuse(const reader *in, const char *what, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: line %zu: %s", in->file, in->line, what);
}

static bool next_line(reader *in, ferry_view *line)
{
    const bool found = ferry_next_line(&in->text, line);
    in->line += found;
    return found;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static ferry_view trim(ferry_view text)
{
    while (text.size > 0 && is_blank(text.data[0])) text = (ferry_view){text.data + 1, text.size - 1};
    while (text.size > 0 && is_blank(text.data[text.size - 1])) text.size--;
    return text;
}

/* ---- quoted keys ---- */

/* The character of the escape at text[0], a backslash; *size: bytes read, the backslash too. */
static bool read_escape(ferry_view text, uint32_t *c, size_t *size)
{
    static const char letters[] = "0abtnvfre \"/\\N_LP\t";
    static const uint16_t meanings[] = {0,   7,    8,   9,    10,   11,   12,     13,     27,
                                        ' ', '\"', '/', '\\', 0x85, 0xa0, 0x2028, 0x2029, 9};
    if (text.size < 2) return false;
    const char letter = text.data[1];
    const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    const char *known = letter != 0 ? strchr(letters, letter) : NULL;
    *size = 2 + digits;
    if (digits == 0) {
        if (known != NULL) *c = meanings[known - letters];
        return known != NULL;
    }
    *c = 0;
    for (size_t i = 0; i < digits; i++) {
        const int digit = 2 + i < text.size ? ferry_hex_digit(text.data[2 + i]) : -1;
        if (digit < 0 || *c > 0x10ffff) return false;
        *c = *c * 16 + (uint32_t)digit;
    }
    return *c <= 0x10ffff && (*c < 0xd800 || *c > 0xdfff);
}

/* What stands between the quotes; a quote inside is '' or \". */
static bool unquote(ferry_view inside, char quote, char *out, size_t *size)
{
    size_t at = 0;
    *size = 0;
    while (at < inside.size) {
        const ferry_view rest = {inside.data + at, inside.size - at};
        uint32_t c;
        size_t step = 1;
        if (quote == '"' && rest.data[0] == '\\') {
            if (!read_escape(rest, &c, &step)) return false;
            *size += ferry_utf8_put(c, out + *size);
        } else {
            if (rest.data[0] == quote && (quote == '"' || rest.size < 2 || rest.data[1] != quote)) return false;
            step += rest.data[0] == quote;
            out[(*size)++] = rest.data[0];
        }
        at += step;
    }
    return true;
}

static ferry_status read_key(reader *in, ferry_view key, ferry_view *piece, ferry_error *error)
{
    *piece = key;
    if (key.size == 0) return refuse(in, "a key is missing", error);
    const char quote = key.data[0];
    if (quote != '"' && quote != '\'') return FERRY_OK;
    char *decoded = ferry_arena_alloc(in->arena, key.size, 2); /* \L is 2 bytes, its character 3 */
    if (decoded == NULL) return ferry_fail_memory(error, "a vocabulary", key.size);
    const ferry_view inside = {key.data + 1, key.size - 1 - (key.size > 1)};
    if (key.size < 2 || key.data[key.size - 1] != quote || !unquote(inside, quote, decoded, &piece->size))
        return refuse(in, "a quoted key that does not end with its quote, or an unknown escape", error);
    piece->data = decoded;
    return FERRY_OK;
}

/* ---- lines ---- */

static ferry_status add(reader *in, ferry_view piece, ferry_view number, ferry_error *error)
{
    int64_t id;
    if (!ferry_parse_integer(number, &id) || id < 0 || id > in->limit) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: line %zu: expected an id of 0 to %" PRId64 ", found '%s'",
                          in->file, in->line, in->limit, ferry_printable_view(number).text);
    }
    in->entries[in->count++] = (entry){piece, (int32_t)id};
    return FERRY_OK;
}

static bool split(ferry_view line, ferry_view *key, ferry_view *value)
{
    size_t colon = line.size;
    while (colon > 0 && line.data[colon - 1] != ':') colon--;
    if (colon == 0) return false;
    *key = trim((ferry_view){line.data, colon - 1});
    *value = trim((ferry_view){line.data + colon, line.size - colon});
    return true;
}

/* `? piece`, and the id on the next line. */
static ferry_status read_two_lines(reader *in, ferry_view key, ferry_error *error)
{
    ferry_view piece, line, nothing, number;
    FERRY_TRY(read_key(in, trim(key), &piece, error));
    if (!next_line(in, &line) || !split(line, &nothing, &number) || nothing.size > 0)
        return refuse(in, "expected ': id' after '? piece'", error);
    return add(in, piece, number, error);
}

static ferry_status read_line(reader *in, ferry_view line, ferry_error *error)
{
    ferry_view key, value, piece;
    const ferry_view trimmed = trim(line);
    if (trimmed.size == 0 || (in->count == 0 && ferry_view_is(trimmed, "---"))) return FERRY_OK;
    if (trimmed.size > 1 && trimmed.data[0] == '?' && is_blank(trimmed.data[1]))
        return read_two_lines(in, (ferry_view){trimmed.data + 1, trimmed.size - 1}, error);
    if (!split(trimmed, &key, &value)) return refuse(in, "expected 'piece: id'", error);
    FERRY_TRY(read_key(in, key, &piece, error));
    return add(in, piece, value, error);
}

/* `text`, copied into the arena, becomes the cursor's; entries have room for one on each line. */
static ferry_status start(reader *in, ferry_view text, size_t entries, ferry_error *error)
{
    const char *copy = ferry_arena_text(in->arena, text);
    in->entries = ferry_arena_alloc(in->arena, entries, sizeof *in->entries);
    if (copy == NULL || in->entries == NULL) return ferry_fail_memory(error, "a vocabulary", text.size);
    in->text = (ferry_cursor){(const uint8_t *)copy, text.size, 0};
    return FERRY_OK;
}

static ferry_status read_lines(reader *in, ferry_view text, ferry_error *error)
{
    ferry_view line;
    FERRY_TRY(start(in, text, ferry_count_lines(text), error));
    while (next_line(in, &line)) FERRY_TRY(read_line(in, line, error));
    return FERRY_OK;
}

/* ---- JSON ---- */

static bool is_json(ferry_view text)
{
    size_t at = 0;
    while (at < text.size && strchr(" \t\r\n", text.data[at]) != NULL && text.data[at] != 0) at++;
    return at < text.size && text.data[at] == '{';
}

static ferry_status add_json(reader *in, const char *piece, const json_t *value, ferry_error *error)
{
    const char *copy = ferry_arena_text(in->arena, ferry_text_view(piece));
    if (copy == NULL) return ferry_fail_memory(error, "a vocabulary", strlen(piece));
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > in->limit) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': expected an id of 0 to %" PRId64, in->file,
                          ferry_printable_view(ferry_text_view(piece)).text, in->limit);
    }
    in->entries[in->count++] = (entry){ferry_text_view(copy), (int32_t)json_integer_value(value)};
    return FERRY_OK;
}

static ferry_status read_json(reader *in, ferry_view text, ferry_error *error)
{
    json_t *root, *value;
    const char *piece;
    FERRY_TRY(ferry_json_parse(text, in->file, JSON_OBJECT, in->arena->account, &root, error));
    in->entries = ferry_arena_alloc(in->arena, json_object_size(root) + 1, sizeof *in->entries);
    ferry_status status =
        in->entries != NULL ? FERRY_OK : ferry_fail_memory(error, "a vocabulary", json_object_size(root));
    json_object_foreach (root, piece, value)
        if (status == FERRY_OK) status = add_json(in, piece, value, error);
    ferry_json_release(root, text, in->arena->account);
    return status;
}

/* ---- tables ---- */

/* Entries by id → pieces [*count]. */
static ferry_status finish(const reader *in, const ferry_view **pieces, int32_t *count, ferry_error *error)
{
    int32_t largest = -1;
    for (size_t i = 0; i < in->count; i++) largest = in->entries[i].id > largest ? in->entries[i].id : largest;
    if (largest < 0) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: a vocabulary without pieces", in->file);
    ferry_view *table = ferry_arena_alloc(in->arena, (size_t)largest + 1, sizeof *table);
    if (table == NULL) return ferry_fail_memory(error, "a vocabulary", (size_t)largest * sizeof *table);
    memset(table, 0, ((size_t)largest + 1) * sizeof *table);
    for (size_t i = 0; i < in->count; i++) {
        const entry *e = &in->entries[i];
        if (table[e->id].data != NULL) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: id %" PRId32 " belongs to '%s' and to '%s'", in->file,
                              e->id, ferry_printable_view(table[e->id]).text, ferry_printable_view(e->piece).text);
        }
        table[e->id] = e->piece;
    }
    *pieces = table;
    *count = largest + 1;
    return FERRY_OK;
}

ferry_status ferry_yaml_vocabulary(ferry_view text, const char *file, ferry_arena *arena, const ferry_view **pieces,
                                   int32_t *count, ferry_error *error)
{
    reader in = {.file = file, .arena = arena};
    in.limit = text.size < INT32_MAX / 2 ? (int64_t)text.size + MAX_SPARSE : INT32_MAX - 1;
    FERRY_TRY(is_json(text) ? read_json(&in, text, error) : read_lines(&in, text, error));
    return finish(&in, pieces, count, error);
}

ferry_status ferry_lines_vocabulary(ferry_view text, const char *file, ferry_arena *arena, const ferry_view **pieces,
                                    int32_t *count, ferry_error *error)
{
    reader in = {.file = file, .arena = arena};
    const size_t lines = ferry_count_lines(text);
    ferry_view line;
    if (lines > INT32_MAX) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %zu lines are too many", file, lines);
    FERRY_TRY(start(&in, text, lines, error));
    while (next_line(&in, &line)) {
        if (line.size == 0) return refuse(&in, "an empty line", error);
        in.entries[in.count] = (entry){line, (int32_t)in.count};
        in.count++;
    }
    return finish(&in, pieces, count, error);
}
