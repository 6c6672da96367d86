#include "icu_arguments.h"

#include "base/array.h"
#include "documents/characters.h"

static const char white[] = " \t\r\n";
enum { MOST_NAME = 256 };

/* Skips "{name, plural,", the beginning of an argument that has texts. Returns `at` if another one begins there. */
static size_t skip_head(ferry_view message, size_t at)
{
    static const char *const types[] = {"plural", "select", "selectordinal"};
    const size_t name = skip_set(message, at + 1, white), name_end = skip_name(message, name, "-.", MOST_NAME);
    const size_t comma = skip_set(message, name_end, white), type = skip_set(message, comma + 1, white);
    if (name_end == name || byte_at(message, comma) != ',') return at;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const size_t end = skip_set(message, type + strlen(types[i]), white);
        if (begins_exactly(message, type, types[i]) && byte_at(message, end) == ',') return end + 1;
    }
    return at;
}

/* Skips "one {" or "offset:1 one {", the key of a text, and its "{". Returns `at` if there is none. */
static size_t skip_key(ferry_view message, size_t at)
{
    size_t begin = skip_set(message, at, white), end = find_one_of(message, begin, " \t\r\n{}");
    if (begins_exactly(message, begin, "offset:")) {
        begin = skip_set(message, end, white);
        end = find_one_of(message, begin, " \t\r\n{}");
    }
    const size_t brace = skip_set(message, end, white);
    return end > begin && byte_at(message, brace) == '{' ? brace + 1 : at;
}

/* Skips what stands for itself in a text: "''", and what is between apostrophes, of which the first one is before a
 * sign. Otherwise one byte, or an argument without texts: "{name}". */
static size_t skip_part(ferry_view message, size_t at)
{
    const char c = message.data[at], next = byte_at(message, at + 1);
    if (c == '\'' && next == '\'') return at + 2;
    if (c == '\'' && is_one_of(next, "{}#|")) return find_one_of(message, at + 2, "'") + 1;
    size_t depth = c == '{';
    for (at++; at < message.size && depth > 0; at++)
        depth = depth + (message.data[at] == '{') - (message.data[at] == '}');
    return at;
}

ferry_status ferry_icu_argument_read(ferry_view message, size_t at, size_t *end, ferry_icu_texts *texts,
                                     ferry_error *error)
{
    const size_t first = texts->count;
    size_t next = skip_head(message, at), depth = next > at; /* odd: before a key or the end; even: in a text */
    ferry_icu_text text = {.begin = next};
    *end = next;
    while (depth > 0) {
        const bool in_text = depth % 2 == 0;
        if (!in_text) next = skip_set(message, next, white);
        if (next >= message.size) break;
        const size_t begin = next;
        const char c = message.data[begin];
        if (c == '}')
            next++;
        else if (!in_text)
            next = skip_key(message, begin);
        else if (c == '{')
            next = skip_head(message, begin);
        if (next == begin && !in_text) break;
        if (next == begin) {
            next = skip_part(message, begin);
            continue;
        }
        depth = c == '}' ? depth - 1 : depth + 1;
        text.end = begin;
        if (in_text && text.end > text.begin)
            FERRY_TRY(ferry_array_append(&texts->items, &texts->count, &texts->capacity, &text, sizeof text, error));
        text.begin = *end = next;
    }
    if (depth > 0) {
        texts->count = first;
        *end = SIZE_MAX;
    }
    return FERRY_OK;
}
