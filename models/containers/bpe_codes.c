#include "bpe_codes.h"

#include <string.h>

#include "base/utf8.h"
#include "reader.h"
#include "text_lines.h"

enum { MAX_MERGES = 1 << 22 }; /* of a model file */

/* Goes through the lines twice: to count them, and to list them. */
typedef struct codes_reader {
    const char *file;
    ferry_error *error;
    bool fsmt;
    size_t line;
    int32_t version;
    ferry_view *merges; /* NULL: they are counted */
    size_t count;
} codes_reader;

static ferry_status fail(const codes_reader *in, ferry_status status, const char *expected, ferry_view found)
{
    return ferry_fail(in->error, status, "%s, line %zu: expected %s, found '%s'", in->file, in->line, expected,
                      ferry_printable_view(found).text);
}

static ferry_view strip_blanks(ferry_view line)
{
    for (; line.size > 0 && (line.data[0] == ' ' || line.data[0] == '\r'); line.size--) line.data++;
    while (line.size > 0 && (line.data[line.size - 1] == ' ' || line.data[line.size - 1] == '\r')) line.size--;
    return line;
}

/* The bytes up to the next blank, or to the end. */
static size_t field_size(ferry_view text)
{
    const char *blank = text.size > 0 ? memchr(text.data, ' ', text.size) : NULL;
    return blank != NULL ? (size_t)(blank - text.data) : text.size;
}

/* Carriage returns, and for FSMT, which divides a line at all of it, white space. */
static bool has_separator(const codes_reader *in, ferry_view text)
{
    uint32_t character = 0;
    if (memchr(text.data, '\r', text.size) != NULL) return true;
    for (size_t at = 0; in->fsmt && at < text.size;) {
        (void)ferry_utf8_next(text, &at, &character);
        const bool separates = ferry_utf8_is_space(character) || (character >= 0x1C && character <= 0x1F);
        if (separates && character != ' ') return true;
    }
    return false;
}

static ferry_status read_version(codes_reader *in, ferry_view line)
{
    static const char start[] = "#version: ";
    const size_t size = sizeof start - 1;
    ferry_view number = line.size > size && memcmp(line.data, start, size) == 0
                            ? strip_blanks((ferry_view){line.data + size, line.size - size})
                            : (ferry_view){"", 0};
    while (number.size >= 2 && memcmp(number.data + number.size - 2, ".0", 2) == 0) number.size -= 2;
    in->version = ferry_view_is(number, "0.1") ? 1 : 2;
    if (in->version == 1 || ferry_view_is(number, "0.2")) return FERRY_OK;
    return fail(in, FERRY_ERROR_UNSUPPORTED, "'#version: 0.1' or '#version: 0.2'", line);
}

static ferry_status read_merge(codes_reader *in, ferry_view line)
{
    const ferry_view stripped = strip_blanks(line);
    const size_t left = field_size(stripped);
    const ferry_view rest = {stripped.data + left, stripped.size - left};
    const size_t right = rest.size > 0 ? field_size((ferry_view){rest.data + 1, rest.size - 1}) : 0;
    const ferry_view merge = {stripped.data, left + 1 + right};
    if (in->fsmt && stripped.size == 0) return FERRY_OK;
    if (left == 0 || right == 0 || (!in->fsmt && merge.size < stripped.size))
        return fail(in, FERRY_ERROR_FORMAT,
                    in->fsmt ? "two texts with one blank between them, and a count"
                             : "two texts with one blank between them",
                    line);
    if (!ferry_utf8_is_valid(stripped)) return fail(in, FERRY_ERROR_FORMAT, "UTF-8", line);
    if (has_separator(in, stripped)) return fail(in, FERRY_ERROR_UNSUPPORTED, "no white space but blanks", line);
    if (in->merges != NULL) in->merges[in->count] = merge;
    in->count++;
    return FERRY_OK;
}

static ferry_status read_lines(codes_reader *in, ferry_view bytes)
{
    static const char version[] = "#version:";
    ferry_cursor cursor = ferry_cursor_begin(bytes);
    ferry_view line;
    in->count = 0;
    for (in->line = 1; ferry_next_line(&cursor, &line); in->line++) {
        const bool first = in->line == 1 && !in->fsmt;
        if (first && line.size >= sizeof version - 1 && memcmp(line.data, version, sizeof version - 1) == 0)
            FERRY_TRY(read_version(in, line));
        else
            FERRY_TRY(read_merge(in, line));
    }
    return FERRY_OK;
}

ferry_status ferry_bpe_codes_read(ferry_view bytes, const char *file, bool fsmt, ferry_arena *arena,
                                  ferry_bpe_codes *codes, ferry_error *error)
{
    codes_reader in = {.file = file, .error = error, .fsmt = fsmt, .version = fsmt ? 2 : 1};
    *codes = (ferry_bpe_codes){0};
    /* What Python's codes.read().rstrip("\n") leaves, or read().split("\n")[:-1]. */
    while (bytes.size > 0 && (bytes.data[bytes.size - 1] == '\n') != fsmt) bytes.size--;
    FERRY_TRY(read_lines(&in, bytes));
    if (in.count > MAX_MERGES || (in.count == 0 && !fsmt))
        return ferry_fail(error, in.count > 0 ? FERRY_ERROR_LIMIT : FERRY_ERROR_FORMAT,
                          "%s: expected 1 to %d merges, found %zu", file, (int)MAX_MERGES, in.count);
    in.merges = ferry_arena_alloc(arena, in.count + 1, sizeof *in.merges);
    if (in.merges == NULL) return ferry_fail_memory(error, "merges", in.count * sizeof *in.merges);
    FERRY_TRY(read_lines(&in, bytes));
    codes->count = (int32_t)in.count;
    codes->version = in.version;
    return ferry_texts_join(arena, in.merges, in.count, &codes->merges, error);
}
