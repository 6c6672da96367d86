#include "line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file_system.h"
#include "base/terminal.h"
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

/* Reads what is available; waits if nothing is. */
static bool read_more(ferry_lines *lines)
{
    if (!reserve_bytes(lines, READ_SIZE)) return false;
    const int64_t got = ferry_input_read(lines->descriptor, lines->data + lines->size, READ_SIZE);
    if (got < 0) return fail(lines, "cannot read", strerror(errno));
    lines->size += (size_t)got;
    lines->ended = got == 0;
    return true;
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

/* ---- opening and closing ---- */

bool ferry_lines_open(ferry_lines *lines, const char *path)
{
    memset(lines, 0, sizeof *lines);
    lines->name = path != NULL ? path : "standard input";
    lines->descriptor = path != NULL ? ferry_input_open(path) : FERRY_STANDARD_INPUT;
    return lines->descriptor >= 0 || fail(lines, "cannot open", strerror(errno));
}

bool ferry_lines_from_arguments(ferry_lines *lines, char *const *arguments, size_t count)
{
    memset(lines, 0, sizeof *lines);
    lines->name = "arguments";
    lines->descriptor = -1;
    lines->ended = true;
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
    free(lines->texts);
    free(lines->returns);
}
