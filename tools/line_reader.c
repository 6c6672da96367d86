#include "line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/system.h"
#include "tools/system/terminal.h"
#include "command.h"

enum {
    READ_SIZE = 1 << 16,
    BATCH_BYTES = 1 << 20, /* a batch of this size takes no further line */
};

/* ---- memory ---- */

static bool fail(ferry_lines *lines, const char *what, const char *why)
{
    ferry_complain("%s: %s: %s", lines->name, what, why);
    lines->failed = true;
    return false;
}

static bool reserve_bytes(ferry_lines *lines, size_t extra)
{
    char *data = ferry_array_grow(lines->data, &lines->capacity, lines->size + extra, 1);
    if (data == NULL) return fail(lines, "cannot hold a line", strerror(ENOMEM));
    lines->data = data;
    return true;
}

static bool reserve_line(ferry_lines *lines)
{
    const size_t count = lines->count + 1;
    ferry_text *texts = ferry_array_grow(lines->texts, &lines->texts_capacity, count, sizeof *texts);
    if (texts != NULL) lines->texts = texts;
    bool *returns = ferry_array_grow(lines->returns, &lines->returns_capacity, count, sizeof *returns);
    if (returns != NULL) lines->returns = returns;
    return (texts != NULL && returns != NULL) || fail(lines, "cannot hold lines", strerror(ENOMEM));
}

/* ---- reading ---- */

static bool is_wide(const ferry_lines *lines)
{
    return lines->kind.encoding == FERRY_ENCODING_UTF16_LE || lines->kind.encoding == FERRY_ENCODING_UTF16_BE;
}

/* Reads what is available after the *size bytes; waits if nothing is. */
static bool read_bytes(ferry_lines *lines, char **data, size_t *capacity, size_t *size)
{
    char *room = ferry_array_grow(*data, capacity, *size + READ_SIZE, 1);
    if (room == NULL) return fail(lines, "cannot hold a line", strerror(ENOMEM));
    *data = room;
    const int64_t got = ferry_input_read(lines->descriptor, room + *size, READ_SIZE);
    if (got < 0) return fail(lines, "cannot read", strerror(errno));
    *size += (size_t)got;
    lines->read += (uint64_t)got;
    lines->ended = got == 0;
    return true;
}

static bool decode(ferry_lines *lines)
{
    size_t used;
    if (!reserve_bytes(lines, ferry_utf16_room(lines->raw_size))) return false;
    if (lines->ended && lines->raw_size % 2 != 0)
        ferry_complain("%s: UTF-16 that ends within a character: a byte is missing", lines->name);
    lines->size += ferry_utf16_decode(lines->kind.encoding, (ferry_view){lines->raw, lines->raw_size}, lines->ended,
                                      lines->data + lines->size, &used);
    memmove(lines->raw, lines->raw + used, lines->raw_size - used);
    lines->raw_size -= used;
    return true;
}

/* Decides what the text is as soon as a line was read, or enough. */
static bool recognize(ferry_lines *lines)
{
    if (!lines->ended && lines->size < READ_SIZE && memchr(lines->data, '\n', lines->size) == NULL) return true;
    lines->recognized = true;
    if (!lines->as_is) lines->kind = ferry_text_recognize((ferry_view){lines->data, lines->size});
    if (!ferry_text_accept(lines->name, lines->kind, lines->advice, lines->quiet)) {
        lines->failed = true;
        return false;
    }
    lines->size -= lines->kind.mark;
    memmove(lines->data, lines->data + lines->kind.mark, lines->size);
    if (!is_wide(lines)) return true;
    lines->raw = lines->data;
    lines->raw_capacity = lines->capacity;
    lines->raw_size = lines->size;
    lines->data = NULL;
    lines->capacity = lines->size = lines->searched = 0;
    return decode(lines);
}

static bool read_more(ferry_lines *lines)
{
    if (is_wide(lines)) return read_bytes(lines, &lines->raw, &lines->raw_capacity, &lines->raw_size) && decode(lines);
    return read_bytes(lines, &lines->data, &lines->capacity, &lines->size) && (lines->recognized || recognize(lines));
}

/* Adds a line of `size` bytes, followed by `end` bytes of '\n', to the batch. */
static bool take(ferry_lines *lines, size_t size, size_t end)
{
    if (!reserve_line(lines)) return false;
    const bool returned = end > 0 && size > 0 && lines->data[lines->taken + size - 1] == '\r';
    lines->texts[lines->count].size = returned ? size - 1 : size;
    lines->returns[lines->count++] = returned;
    lines->taken += size + end;
    lines->searched = lines->taken;
    return true;
}

/* Adds a line to the batch if a complete one was read. */
static bool take_line(ferry_lines *lines)
{
    if (!lines->recognized) return false;
    const size_t left = lines->size - lines->searched;
    const char *end = left > 0 ? memchr(lines->data + lines->searched, '\n', left) : NULL;
    if (end != NULL) return take(lines, (size_t)(end - lines->data) - lines->taken, 1);
    lines->searched = lines->size;
    return lines->ended && lines->size > lines->taken && take(lines, lines->size - lines->taken, 0);
}

/* The lines lie one after another in `data`, which no longer moves. */
static void set_texts(ferry_lines *lines)
{
    const char *at = lines->data;
    for (size_t i = 0; i < lines->count; i++) {
        lines->texts[i].data = at;
        at += lines->texts[i].size + (lines->returns[i] ? sizeof "\r\n" : sizeof "\n") - 1;
    }
}

/* `all`: to the end of the input, however much that is and however long it takes. */
static bool read_batch(ferry_lines *lines, size_t most, bool all)
{
    lines->first += lines->count;
    lines->count = 0;
    if (lines->taken > 0) memmove(lines->data, lines->data + lines->taken, lines->size - lines->taken);
    lines->size -= lines->taken;
    lines->taken = lines->searched = 0;
    while (!lines->failed && lines->count < most && (all || lines->taken < BATCH_BYTES)) {
        if (take_line(lines)) continue;
        if (lines->failed || lines->ended) break;
        if (!all && lines->count > 0 && ferry_input_would_wait(lines->descriptor)) break;
        if (!read_more(lines)) break;
    }
    set_texts(lines);
    return lines->count > 0;
}

bool ferry_lines_peek(ferry_lines *lines)
{
    while (lines->total > 0 && !lines->recognized)
        if (!read_more(lines)) return false;
    return true;
}

bool ferry_lines_next(ferry_lines *lines, size_t most)
{
    return read_batch(lines, most, false);
}

bool ferry_lines_exactly(ferry_lines *lines, size_t count)
{
    return read_batch(lines, count, true);
}

bool ferry_lines_rest(ferry_lines *lines)
{
    return read_batch(lines, SIZE_MAX, true);
}

/* What is in memory of UTF-16 counts as if it were as long as in UTF-8. */
double ferry_lines_share(const ferry_lines *lines, size_t count)
{
    if (lines->total == 0) return -1;
    double left = (double)lines->size + (double)lines->raw_size;
    for (size_t i = 0; i < count; i++) left -= (double)lines->texts[i].size + 1 + lines->returns[i];
    const double share = ((double)lines->read - left) / (double)lines->total;
    return share < 1 ? share : 1;
}

/* ---- opening and closing ---- */

bool ferry_lines_open(ferry_lines *lines, const char *path)
{
    memset(lines, 0, sizeof *lines);
    lines->name = path != NULL ? path : "standard input";
    lines->descriptor = path != NULL ? ferry_input_open(path) : FERRY_STANDARD_INPUT;
    if (lines->descriptor < 0) return fail(lines, "cannot open", strerror(errno));
    ferry_file_info info;
    if (ferry_file_examine_open(lines->descriptor, &info) && info.kind == FERRY_KIND_FILE) lines->total = info.size;
    return true;
}

bool ferry_lines_from_arguments(ferry_lines *lines, char *const *arguments, size_t count)
{
    memset(lines, 0, sizeof *lines);
    lines->name = "arguments";
    lines->descriptor = -1;
    lines->ended = lines->recognized = true;
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(arguments[i]);
        if (!reserve_bytes(lines, size + 1)) return false;
        memcpy(lines->data + lines->size, arguments[i], size);
        lines->size += size;
        if (size == 0 || arguments[i][size - 1] != '\n') lines->data[lines->size++] = '\n';
    }
    return true;
}

void ferry_lines_close(ferry_lines *lines)
{
    if (lines->descriptor > FERRY_STANDARD_INPUT) ferry_descriptor_close(lines->descriptor);
    free(lines->data);
    free(lines->raw);
    free(lines->texts);
    free(lines->returns);
}
