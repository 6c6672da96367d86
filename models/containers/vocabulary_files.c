/* Vocabularies are read by bytes: a YAML reader would take some keys for line ends, numbers or markup. */
#include "vocabulary_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "reader.h"
#include "tokenizer/bpe.h"

enum { MAX_SPARSE = 1 << 16 };

typedef struct entry {
    ferry_view piece;
    int32_t id;
} entry;

typedef struct reader {
    const char *file;
    ferry_arena *arena;
    ferry_error *error;
    ferry_cursor text;
    size_t line;   /* of the last line read, from 1; 0: JSON has none */
    int64_t limit; /* of ids, so that memory follows the size of the file, not the numbers in it */
    entry *entries;
    size_t count;
} reader;

static ferry_status refuse(const reader *in, const char *what)
{
    return ferry_fail(in->error, FERRY_ERROR_FORMAT, "%s: line %zu: %s", in->file, in->line, what);
}

static bool next_line(reader *in, ferry_view *line)
{
    const bool found = ferry_next_line(&in->text, line);
    in->line += found;
    return found;
}

/* Without blanks (' ' and `other`) at both ends. */
static ferry_view trim(ferry_view text, char other)
{
    for (; text.size > 0 && (text.data[0] == ' ' || text.data[0] == other); text.size--) text.data++;
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == other)) text.size--;
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

/* The text between the quotes; a quote inside is '' or \". */
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

static ferry_status read_key(reader *in, ferry_view key, ferry_view *piece)
{
    *piece = key;
    if (key.size == 0) return refuse(in, "a key is missing");
    const char quote = key.data[0];
    if (quote != '"' && quote != '\'') return FERRY_OK;
    char *decoded = ferry_arena_alloc(in->arena, key.size, 2); /* \L is 2 bytes, its character 3 */
    if (decoded == NULL) return ferry_fail_memory(in->error, "a vocabulary", key.size, 1);
    const ferry_view inside = {key.data + 1, key.size - 1 - (key.size > 1)};
    if (key.size < 2 || key.data[key.size - 1] != quote || !unquote(inside, quote, decoded, &piece->size))
        return refuse(in, "a quoted key that does not end with its quote, or an unknown escape");
    piece->data = decoded;
    return FERRY_OK;
}

/* ---- YAML ---- */

static bool split(ferry_view line, ferry_view *key, ferry_view *value)
{
    size_t colon = line.size;
    while (colon > 0 && line.data[colon - 1] != ':') colon--;
    if (colon == 0) return false;
    *key = trim((ferry_view){line.data, colon - 1}, '\t');
    *value = trim((ferry_view){line.data + colon, line.size - colon}, '\t');
    return true;
}

/* `piece: id`, or `? piece` and the id on the next line. */
static ferry_status read_line(reader *in, ferry_view line)
{
    ferry_view key, value, piece;
    int64_t id;
    line = trim(line, '\t');
    if (line.size == 0 || (in->count == 0 && ferry_view_is(line, "---"))) return FERRY_OK;
    if (line.size > 1 && line.data[0] == '?' && (line.data[1] == ' ' || line.data[1] == '\t')) {
        FERRY_TRY(read_key(in, trim((ferry_view){line.data + 1, line.size - 1}, '\t'), &piece));
        if (!next_line(in, &line) || !split(line, &key, &value) || key.size > 0)
            return refuse(in, "expected ': id' after '? piece'");
    } else {
        if (!split(line, &key, &value)) return refuse(in, "expected 'piece: id'");
        FERRY_TRY(read_key(in, key, &piece));
    }
    if (!ferry_parse_integer(value, &id) || id < 0 || id > in->limit) {
        return ferry_fail(in->error, FERRY_ERROR_FORMAT, "%s: line %zu: expected an id of 0 to %" PRId64 ", found '%s'",
                          in->file, in->line, in->limit, ferry_printable_view(value).text);
    }
    in->entries[in->count++] = (entry){piece, (int32_t)id};
    return FERRY_OK;
}

/* `text`, copied into the arena, becomes the cursor's; entries have room for one on each line. */
static ferry_status start(reader *in, ferry_view text)
{
    const char *copy = ferry_arena_text(in->arena, text);
    in->entries = ferry_arena_alloc(in->arena, ferry_count_lines(text), sizeof *in->entries);
    if (copy == NULL || in->entries == NULL) return ferry_fail_memory(in->error, "a vocabulary", text.size, 1);
    in->text = (ferry_cursor){(const uint8_t *)copy, text.size, 0};
    return FERRY_OK;
}

/* ---- JSON ---- */

static ferry_status read_json(reader *in, ferry_view text)
{
    json_t *root, *value;
    const char *piece;
    ferry_status status = FERRY_OK;
    FERRY_TRY(ferry_json_parse(text, in->file, JSON_OBJECT, in->arena->account, &root, in->error));
    in->entries = ferry_arena_alloc(in->arena, json_object_size(root) + 1, sizeof *in->entries);
    if (in->entries == NULL)
        status = ferry_fail_memory(in->error, "a vocabulary", json_object_size(root), sizeof *in->entries);
    json_object_foreach (root, piece, value) {
        if (status != FERRY_OK) break;
        const json_int_t id = json_integer_value(value);
        const char *copy = ferry_arena_text(in->arena, ferry_text_view(piece));
        if (copy == NULL)
            status = ferry_fail_memory(in->error, "a vocabulary", strlen(piece), 1);
        else if (!json_is_integer(value) || id < 0 || id > in->limit)
            status = ferry_fail(in->error, FERRY_ERROR_FORMAT, "%s: '%s': expected an id of 0 to %" PRId64, in->file,
                                ferry_printable_text(piece).text, in->limit);
        else
            in->entries[in->count++] = (entry){ferry_text_view(copy), (int32_t)id};
    }
    ferry_json_release(root, text, in->arena->account);
    return status;
}

/* ---- tables ---- */

/* Entries by id → pieces [*count]. */
static ferry_status finish(const reader *in, const ferry_view **pieces, int32_t *count)
{
    int32_t largest = -1;
    for (size_t i = 0; i < in->count; i++) largest = in->entries[i].id > largest ? in->entries[i].id : largest;
    if (largest < 0) return ferry_fail(in->error, FERRY_ERROR_FORMAT, "%s: a vocabulary without pieces", in->file);
    ferry_view *table = ferry_arena_alloc(in->arena, (size_t)largest + 1, sizeof *table);
    if (table == NULL) return ferry_fail_memory(in->error, "a vocabulary", (size_t)largest, sizeof *table);
    memset(table, 0, ((size_t)largest + 1) * sizeof *table);
    for (size_t i = 0; i < in->count; i++) {
        const entry *e = &in->entries[i];
        if (table[e->id].data != NULL) {
            return ferry_fail(in->error, FERRY_ERROR_FORMAT, "%s: id %" PRId32 " belongs to '%s' and to '%s'", in->file,
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
    reader in = {.file = file, .arena = arena, .error = error};
    ferry_view line;
    in.limit = text.size < INT32_MAX / 2 ? (int64_t)text.size + MAX_SPARSE : INT32_MAX - 1;
    ferry_view rest = text;
    while (rest.size > 0 && rest.data[0] != 0 && strchr(" \t\r\n", rest.data[0]) != NULL)
        rest = (ferry_view){rest.data + 1, rest.size - 1};
    FERRY_TRY(ferry_view_begins(rest, "{") ? read_json(&in, text) : start(&in, text));
    while (next_line(&in, &line)) FERRY_TRY(read_line(&in, line)); /* none of JSON */
    return finish(&in, pieces, count);
}

ferry_status ferry_lines_vocabulary(ferry_view text, const char *file, ferry_arena *arena, const ferry_view **pieces,
                                    int32_t *count, ferry_error *error)
{
    reader in = {.file = file, .arena = arena, .error = error};
    const size_t lines = ferry_count_lines(text);
    ferry_view line;
    if (lines > INT32_MAX) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %zu lines are too many", file, lines);
    FERRY_TRY(start(&in, text));
    while (next_line(&in, &line)) {
        if (line.size == 0) return refuse(&in, "an empty line");
        in.entries[in.count] = (entry){line, (int32_t)in.count};
        in.count++;
    }
    return finish(&in, pieces, count);
}

/* ---- merges ---- */

/* The lines are read twice: to count them, and to list them. */
typedef struct merges_reader {
    const char *file;
    ferry_error *error;
    bool fsmt;
    size_t line;
    int32_t version;
    ferry_view *merges; /* NULL: they are counted */
    size_t count;
} merges_reader;

static ferry_status fail(const merges_reader *in, ferry_status status, const char *expected, ferry_view found)
{
    return ferry_fail(in->error, status, "%s, line %zu: expected %s, found '%s'", in->file, in->line, expected,
                      ferry_printable_view(found).text);
}

static ferry_status read_version(merges_reader *in, ferry_view line)
{
    static const char start[] = "#version: ";
    const size_t size = sizeof start - 1;
    ferry_view number = {"", 0};
    if (ferry_view_begins(line, start)) number = trim((ferry_view){line.data + size, line.size - size}, '\r');
    while (ferry_view_ends(number, ".0")) number.size -= 2;
    in->version = ferry_view_is(number, "0.1") ? 1 : 2;
    if (in->version == 1 || ferry_view_is(number, "0.2")) return FERRY_OK;
    return fail(in, FERRY_ERROR_UNSUPPORTED, "'#version: 0.1' or '#version: 0.2'", line);
}

static ferry_status read_merge(merges_reader *in, ferry_view line)
{
    const ferry_view stripped = trim(line, '\r');
    const size_t left = ferry_first_word(stripped).size;
    const ferry_view rest = {stripped.data + left, stripped.size - left};
    const size_t right = rest.size > 0 ? ferry_first_word((ferry_view){rest.data + 1, rest.size - 1}).size : 0;
    const ferry_view merge = {stripped.data, left + 1 + right};
    if (in->fsmt && stripped.size == 0) return FERRY_OK;
    if (left == 0 || right == 0 || (!in->fsmt && merge.size < stripped.size))
        return fail(in, FERRY_ERROR_FORMAT,
                    in->fsmt ? "two texts with one blank between them, and a count"
                             : "two texts with one blank between them",
                    line);
    if (!ferry_utf8_is_valid(stripped)) return fail(in, FERRY_ERROR_FORMAT, "UTF-8", line);
    /* Carriage returns divide a line, and for FSMT any white space. */
    bool divided = memchr(stripped.data, '\r', stripped.size) != NULL;
    for (size_t at = 0; in->fsmt && at < stripped.size;) {
        uint32_t character = 0;
        (void)ferry_utf8_next(stripped, &at, &character);
        divided |= character != ' ' && (ferry_utf8_is_space(character) || (character >= 0x1C && character <= 0x1F));
    }
    if (divided) return fail(in, FERRY_ERROR_UNSUPPORTED, "no white space but blanks", line);
    if (in->merges != NULL) in->merges[in->count] = merge;
    in->count++;
    return FERRY_OK;
}

static ferry_status read_merges(merges_reader *in, ferry_view bytes)
{
    ferry_cursor cursor = ferry_cursor_begin(bytes);
    ferry_view line;
    in->count = 0;
    for (in->line = 1; ferry_next_line(&cursor, &line); in->line++)
        if (in->line == 1 && !in->fsmt && ferry_view_begins(line, "#version:"))
            FERRY_TRY(read_version(in, line));
        else
            FERRY_TRY(read_merge(in, line));
    return FERRY_OK;
}

ferry_status ferry_bpe_codes_read(ferry_view bytes, const char *file, bool fsmt, ferry_arena *arena,
                                  ferry_bpe_codes *codes, ferry_error *error)
{
    merges_reader in = {.file = file, .error = error, .fsmt = fsmt, .version = fsmt ? 2 : 1};
    *codes = (ferry_bpe_codes){0};
    /* What Python's codes.read().rstrip("\n") leaves, or read().split("\n")[:-1]. */
    while (bytes.size > 0 && (bytes.data[bytes.size - 1] == '\n') != fsmt) bytes.size--;
    FERRY_TRY(read_merges(&in, bytes));
    if (in.count > FERRY_BPE_MAX_MERGES || (in.count == 0 && !fsmt))
        return ferry_fail(error, in.count > 0 ? FERRY_ERROR_LIMIT : FERRY_ERROR_FORMAT,
                          "%s: expected 1 to %d merges, found %zu", file, (int)FERRY_BPE_MAX_MERGES, in.count);
    in.merges = ferry_arena_alloc(arena, in.count + 1, sizeof *in.merges);
    if (in.merges == NULL) return ferry_fail_memory(error, "merges", in.count, sizeof *in.merges);
    FERRY_TRY(read_merges(&in, bytes));
    codes->count = (int32_t)in.count;
    codes->version = in.version;
    return ferry_string_table_join(arena, in.merges, in.count, &codes->merges, error);
}
