/* Arguments of ICU's MessageFormat that choose among texts: {n, plural, one {# file} other {# files}}. */
#include "base/array.h"
#include "documents/characters.h"
#include "documents/html_tags.h"
#include "quoted_text.h"

static const char white[] = " \t\r\n";

/* Skips "{name, plural,", the beginning of an argument that has texts. Returns `at` if another one begins there. */
static size_t skip_head(ferry_view message, size_t at)
{
    const size_t type = ferry_find_argument_type(message, at), end = skip(message, type, is_letter, SIZE_MAX);
    const size_t comma = skip_set(message, end, white);
    const bool has_texts = type > 0 && byte_at(message, comma) == ',' &&
                           ferry_name_is_listed(view_part(message, type, end), " plural select selectordinal ");
    return has_texts ? comma + 1 : at;
}

/* Skips "one {" or "offset:1 one {", the key of a text, and its "{". Returns `at` if there is none. */
static size_t skip_key(ferry_view message, size_t at)
{
    size_t end = find_one_of(message, at, " \t\r\n{}");
    if (begins_exactly(message, at, "offset:")) end = find_one_of(message, skip_set(message, end, white), " \t\r\n{}");
    const size_t brace = skip_set(message, end, white);
    return end > at && byte_at(message, brace) == '{' ? brace + 1 : at;
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
    const size_t first = texts != NULL ? texts->count : 0;
    size_t next = skip_head(message, at), depth = next > at; /* odd: before a key or the end; even: in a text */
    ferry_quoted_place text = {.begin = next};
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
        if (texts != NULL && in_text && text.end > text.begin)
            FERRY_TRY(ferry_array_append(&texts->items, &texts->count, &texts->capacity, &text, sizeof text, error));
        text.begin = *end = next;
    }
    if (depth > 0) {
        if (texts != NULL) texts->count = first;
        *end = SIZE_MAX;
    }
    return FERRY_OK;
}
