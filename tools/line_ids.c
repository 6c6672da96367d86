#include "line_ids.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "command.h"
#include "engine/ferry_inspect.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The word at *at < text.size, and *at past it and past the blanks after it. */
static ferry_view take_word(ferry_text text, size_t *at)
{
    const size_t begin = *at;
    while (*at < text.size && !is_blank(text.data[*at])) ++*at;
    const ferry_view word = {text.data + begin, *at - begin};
    while (*at < text.size && is_blank(text.data[*at])) ++*at;
    return word;
}

/* -1: no id below `vocabulary`. */
static int32_t parse_id(ferry_view word, int32_t vocabulary)
{
    int64_t id = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '9') return -1;
        id = 10 * id + (word.data[i] - '0');
        if (id >= vocabulary) return -1;
    }
    return (int32_t)id;
}

static bool reserve(ferry_line_ids *ids, size_t lines, size_t words)
{
    int32_t *grown = ferry_array_grow(ids->ids, &ids->ids_capacity, words + 1, sizeof *grown);
    if (grown != NULL) ids->ids = grown;
    int32_t *offsets = ferry_array_grow(ids->offsets, &ids->offsets_capacity, lines + 1, sizeof *offsets);
    if (offsets != NULL) ids->offsets = offsets;
    bool *bad = ferry_array_grow(ids->bad, &ids->bad_capacity, lines + 1, sizeof *bad);
    if (bad != NULL) ids->bad = bad;
    if (grown != NULL && offsets != NULL && bad != NULL) return true;
    ferry_complain("cannot hold the ids of lines: out of memory");
    return false;
}

/* Reads a line into ids from `count` on. Returns where they end; -1, after a message, if the line is bad. */
static int32_t read_line(int32_t *ids, int32_t count, const ferry_inspect_sizes *sizes, ferry_text line, size_t number)
{
    const int32_t begin = count;
    size_t at = 0;
    while (at < line.size && is_blank(line.data[at])) at++;
    while (at < line.size) {
        const ferry_view word = take_word(line, &at);
        ids[count] = parse_id(word, sizes->source_vocab);
        if (ids[count++] >= 0) continue;
        const int last = (int)sizes->source_vocab - 1;
        const ferry_printable found = ferry_printable_view(word);
        ferry_fail_lines(number, 1, ferry_name_format("expected ids from 0 to %d, found '%s'", last, found.text).text);
        return -1;
    }
    if (sizes->encoder_positions == 0 || count - begin <= sizes->encoder_positions) return count;
    const ferry_name why = ferry_name_format("expected at most %d ids, as the model's positions permit, found %d",
                                             (int)sizes->encoder_positions, (int)(count - begin));
    ferry_fail_lines(number, 1, why.text);
    return -1;
}

bool ferry_line_ids_read(ferry_line_ids *ids, const ferry_model *model, const ferry_lines *lines)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    size_t most = 0; /* a word has at least one byte, and one between it and the next */
    for (size_t i = 0; i < lines->count; i++) most += (lines->texts[i].size + 1) / 2;
    if (most >= INT32_MAX) {
        ferry_complain("line %zu: a line of ids is too long", lines->first + 1);
        return false;
    }
    if (!reserve(ids, lines->count, most)) return false;
    ids->offsets[0] = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const int32_t end = read_line(ids->ids, ids->offsets[i], &sizes, lines->texts[i], lines->first + i + 1);
        ids->bad[i] = end < 0;
        ids->offsets[i + 1] = end < 0 ? ids->offsets[i] : end;
    }
    return true;
}

void ferry_line_ids_release(ferry_line_ids *ids)
{
    free(ids->ids);
    free(ids->offsets);
    free(ids->bad);
}
