#include "quoted_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "documents/characters.h"
#include "documents/entities.h"
#include "documents/html_tags.h"
#include "documents/placeholders.h"

enum {
    LINE_WIDTH = 76,    /* gettext's, without quotes */
    LEAST_WRAPPED = 40, /* bytes of a line of which a "\n" can be the end because the line was full */
    LEAST_LABEL = 3     /* letters of "<none>" */
};

/* ---- strings ---- */

void ferry_quoted_destroy(ferry_quoted_text *text)
{
    free(text->bytes.data);
    free(text->places);
}

/* Appends what bytes begin … end - 1 of the source stand for. */
static ferry_status push(ferry_quoted_text *text, size_t begin, size_t end, ferry_view bytes, ferry_error *error)
{
    const size_t first = text->bytes.size, count = first + bytes.size;
    ferry_quoted_place *grown = ferry_array_grow(text->places, &text->capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "a document", count, sizeof *grown);
    text->places = grown;
    for (size_t i = first; i < count; i++) grown[i] = (ferry_quoted_place){i == first ? begin : end, end};
    return ferry_buffer_append(&text->bytes, bytes, error);
}

/* The number whose digits, `most` at most, begin at byte *at, which moves past them. */
static uint32_t read_digits(ferry_view text, size_t *at, int base, size_t most)
{
    uint32_t value = 0;
    for (const size_t begin = *at; *at < text.size && *at - begin < most; ++*at) {
        const int digit = ferry_hex_digit(text.data[*at]);
        if (digit < 0 || digit >= base) break;
        value = value * (uint32_t)base + (uint32_t)digit;
    }
    return value;
}

/* Reads JSON's "\u0041" at byte `at`, or the two escapes of a pair of surrogates. Returns where that ends; 0: it is
 * none. */
static size_t read_code_point(ferry_view text, size_t at, uint32_t *code_point)
{
    size_t end = at + 2;
    *code_point = read_digits(text, &end, 16, 4);
    if (text.data[at + 1] != 'u' || end != at + 6) return 0;
    if (*code_point >= 0xD800 && *code_point < 0xDC00 && begins_exactly(text, end, "\\u")) {
        end += 2;
        const uint32_t low = read_digits(text, &end, 16, 4);
        if (low >= 0xDC00 && low < 0xE000) *code_point = 0x10000 + ((*code_point - 0xD800) << 10) + (low - 0xDC00);
    }
    return *code_point >= 0xD800 && *code_point < 0xE000 ? 0 : end;
}

/* Reads the escape whose backslash is at byte `at`, and not the last one, as bytes [*size]. Returns where it ends; 0:
 * JSON has none such. */
static size_t read_escape(ferry_view text, size_t at, bool json, char bytes[4], size_t *size)
{
    static const char names[] = "bfnrtav", values[] = "\b\f\n\r\t\a\v"; /* JSON has the first five */
    const char c = text.data[at + 1], *name = memchr(names, c, json ? 5 : 7);
    bytes[0] = name != NULL ? values[name - names] : c;
    if (name != NULL || is_one_of(c, "\"\\/")) return at + 2;
    if (json) {
        uint32_t code_point;
        const size_t end = read_code_point(text, at, &code_point);
        *size = end > 0 ? ferry_utf8_put(code_point, bytes) : 0;
        return end;
    }
    const size_t begin = at + 1 + (c == 'x');
    size_t end = begin;
    const uint32_t value = c == 'x' ? read_digits(text, &end, 16, 2) : read_digits(text, &end, 8, 3);
    if (end > begin) bytes[0] = (char)value;
    return end > begin ? end : at + 2;
}

ferry_status ferry_quoted_decode(ferry_view source, size_t *at, bool json, ferry_quoted_text *text, ferry_error *error)
{
    text->bytes.size = 0;
    for (size_t end; *at < source.size; *at = end) {
        char bytes[4] = {source.data[*at]};
        size_t size = 1;
        if (json && (bytes[0] == '"' || (unsigned char)bytes[0] < ' ')) break;
        end = *at + 1;
        if (bytes[0] == '"') { /* to the next string */
            end = find_one_of(source, end, "\"");
            end += end < source.size;
            continue;
        }
        if (bytes[0] == '\\' && end < source.size) end = read_escape(source, *at, json, bytes, &size);
        if (end == 0) break;
        FERRY_TRY(push(text, *at, end, (ferry_view){bytes, size}, error));
    }
    return FERRY_OK;
}

ferry_status ferry_quoted_refuse(const ferry_document *document, size_t at, const char *expected)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++) line += document->source.data[i] == '\n';
    return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED, "line %zu: expected %s", line, expected);
}

/* ---- where blocks begin and end ---- */

/* Whether the line end at `at` of a block that begins at `begin` only wraps a line: one of prose that was full, by its
 * length and by what is before and after it. */
static bool is_wrapped(ferry_view bytes, size_t begin, size_t at)
{
    size_t line = at;
    while (line > begin && bytes.data[line - 1] != '\n') line--;
    if (at - line < LEAST_WRAPPED || at + 1 == bytes.size) return false;
    const char before = bytes.data[at - 1], after = bytes.data[at + 1];
    return (is_word(before) || is_one_of(before, ",;)")) && (is_word(after) || after == '(');
}

/* The byte after "{0}", "[2,5]", "]1,Inf[" at `at`, which say when the form of a plural behind it is used; or `at`. */
static size_t skip_interval(ferry_view bytes, size_t at)
{
    const size_t most = bytes.size - at > 32 ? at + 32 : bytes.size; /* so that time is linear */
    const size_t end = skip_set((ferry_view){bytes.data, most}, at + 1, "0123456789,Inf-+ ");
    const char open = byte_at(bytes, at), close = byte_at(bytes, end);
    const bool is_one = (open == '{' && close == '}') || (is_one_of(open, "[]") && is_one_of(close, "[]") &&
                                                          memchr(bytes.data + at, ',', end - at) != NULL);
    return is_one && end > at + 1 ? end + 1 : at;
}

/* Whether "|" at byte `at` is between such forms: another interval follows. */
static bool is_between_forms(ferry_view bytes, size_t at)
{
    return bytes.data[at] == '|' && skip_interval(bytes, 0) > 0 && skip_interval(bytes, at + 1) > at + 1;
}

/* Whether a block that begins at `begin` ends at `at`: at a control character, at blanks that separate columns, at an
 * end of a line that is more than that, in strings of one line at " | ". None begins with a blank or, there, with "|".
 */
static bool ends_block(ferry_view bytes, size_t begin, size_t at, bool one_line)
{
    const char c = bytes.data[at];
    if (at == begin) return (unsigned char)c <= ' ' || (one_line && c == '|');
    if (is_between_forms(bytes, at)) return true;
    if (c == '\n') return one_line || !is_wrapped(bytes, begin, at);
    return (unsigned char)c < ' ' || begins_exactly(bytes, at, "   ") || (one_line && begins_exactly(bytes, at, " | "));
}

/* ---- tags ---- */

/* A string, and its tags [count]; `has_words`: so has the block that is added, beside tags. An argument of ICU is a tag
 * of kind KEPT, whose partner is the first tag after it; its texts are attributes. */
typedef struct reader {
    ferry_document *document;
    const ferry_quoted_place *places;
    ferry_view bytes, line_end;
    ferry_inline_tag *tags;
    size_t count, capacity;
    ferry_icu_texts texts; /* of all arguments */
    size_t end;            /* of the text of an argument, or of the string */
    bool has_words, is_attribute;
    bool broken; /* an argument is not well formed: the string is one block, and no other argument is looked for */
} reader;

static ferry_status add_tag_found(reader *r, ferry_inline_tag *tag, size_t begin, size_t end)
{
    tag->begin = begin;
    tag->end = end;
    return ferry_array_append(&r->tags, &r->count, &r->capacity, tag, sizeof *tag, r->document->error);
}

/* React's numbered tags: "<0>", "</0>", "<1/>". Returns the bytes of the one that the text begins with, or 0. */
static size_t read_numbered_tag(ferry_view text, ferry_inline_tag *tag)
{
    const size_t name = 1 + (byte_at(text, 1) == '/'), name_end = skip(text, name, is_digit, 8);
    const bool is_single = name == 1 && byte_at(text, name_end) == '/';
    if (byte_at(text, 0) != '<' || name_end == name || byte_at(text, name_end + is_single) != '>') return 0;
    *tag = (ferry_inline_tag){.kind = is_single  ? FERRY_TAG_ALONE
                                      : name > 1 ? FERRY_TAG_END
                                                 : FERRY_TAG_START,
                              .name = view_part(text, name, name_end)};
    return name_end + is_single + 1;
}

/* The byte after "B<ls>" or "B<ls>(1)" of a manual page at `at`, or `at`. */
static size_t skip_font(ferry_view bytes, size_t at, size_t end)
{
    const bool begins_word = at == 0 || !is_word(bytes.data[at - 1]);
    if (!is_one_of(bytes.data[at], "BCFILX") || !begins_word || byte_at(bytes, at + 1) != '<') return at;
    const size_t close = find_one_of(bytes, at + 2, "<> \t\n");
    if (close == at + 2 || close >= end || bytes.data[close] != '>') return at;
    const bool has_section = byte_at(bytes, close + 1) == '(' && byte_at(bytes, close + 3) == ')';
    return close + 1 + 3 * (size_t)(has_section && close + 4 <= end);
}

/* Finds the tags in bytes begin … end - 1, a text of an argument or the whole string, and in that the arguments. */
static ferry_status find_tags(reader *r, size_t begin, size_t end, bool in_argument)
{
    for (size_t at = begin, next; at < end; at = next) {
        ferry_inline_tag tag = {.kind = FERRY_TAG_WORD};
        const ferry_view rest = view_part(r->bytes, at, end);
        const size_t size = read_numbered_tag(rest, &tag);
        const bool is_directive = at > begin && r->bytes.data[at - 1] == '%'; /* %<PRIu64> */
        next = at + (size > 0 || is_directive ? size : ferry_inline_tag_read(rest, &tag));
        const size_t font = skip_font(r->bytes, at, end);
        if (font > at) {
            tag.kind = FERRY_TAG_KEPT;
            next = font;
        }
        if (in_argument && r->bytes.data[at] == '#') next = skip(r->bytes, at + 1, is_letter, end - at - 1);
        if (next > at) FERRY_TRY(add_tag_found(r, &tag, at, next));
        if (font > at) r->tags[r->count - 1].partner = r->count;
        if (!in_argument && r->bytes.data[at] == '{' && !r->broken) {
            const size_t first = r->texts.count, index = r->count;
            tag.kind = FERRY_TAG_KEPT;
            FERRY_TRY(ferry_icu_argument_read(r->bytes, at, &next, &r->texts, r->document->error));
            r->broken = next == SIZE_MAX;
            if (r->broken) next = at;
            if (next > at) FERRY_TRY(add_tag_found(r, &tag, at, next));
            for (size_t i = first; i < r->texts.count; i++)
                FERRY_TRY(find_tags(r, r->texts.items[i].begin, r->texts.items[i].end, true));
            if (next > at) r->tags[index].partner = r->count;
        }
        next += next == at;
    }
    return FERRY_OK;
}

/* Where the element ends that begins with tag i, if it is not translated; otherwise where the tag ends. *after: the
 * next tag. */
static size_t end_of_tag(const reader *r, size_t i, size_t *after)
{
    const ferry_inline_tag *tag = &r->tags[i];
    const bool is_kept =
        tag->kind == FERRY_TAG_START && (tag->element & FERRY_ELEMENT_KEPT) != 0 && r->tags[tag->partner].end <= r->end;
    *after = tag->kind == FERRY_TAG_KEPT ? tag->partner : (is_kept ? tag->partner : i) + 1;
    return is_kept ? r->tags[tag->partner].end : tag->end;
}

/* Whether the tag ends a text: of a paragraph, an item, a button; but not "<section name>", which is a placeholder. */
static bool is_separator(const reader *r, const ferry_inline_tag *tag)
{
    const int ending = FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_LABEL;
    if (tag->kind == FERRY_TAG_WORD || (tag->element & ending) == 0) return false;
    const char *rest = tag->name.data + tag->name.size, *last = r->bytes.data + tag->end - 1;
    return tag->kind != FERRY_TAG_ALONE || rest == last || last[-1] == '/' || r->bytes.data[tag->begin + 1] == '/' ||
           memchr(rest, '=', (size_t)(last - rest)) != NULL;
}

/* Whether a tag between whose brackets are only words, "<none>", "<error in %s>", can be what a user reads. */
static bool is_label(const reader *r, const ferry_inline_tag *tag)
{
    const size_t begin = tag->begin + 1, end = tag->end - 1;
    if (tag->kind == FERRY_TAG_START || tag->kind == FERRY_TAG_END || (tag->element & FERRY_ELEMENT_VOID) != 0 ||
        r->bytes.data[tag->begin] != '<')
        return false;
    size_t at = begin;
    while (at < end && (is_letter(r->bytes.data[at]) || (at > begin && is_one_of(r->bytes.data[at], " -:%")))) at++;
    return at == end && end - begin >= LEAST_LABEL;
}

/* ---- what is in a block ---- */

/* A character reference, "&eacute;", is text, unless what it stands for would be markup: bytes begin …
 * end - 1 of the source. */
static ferry_status add_reference(const reader *r, size_t begin, size_t end, ferry_view decoded)
{
    size_t at = 0;
    uint32_t c;
    const bool is_text = ferry_utf8_next(decoded, &at, &c) && c > ' ' && c != '&' && c != '<' && c != '>';
    return is_text ? ferry_document_text(r->document, begin, end, decoded)
                   : ferry_document_kept(r->document, begin, end, decoded);
}

/* If a line of the source ends before byte `at`, which is not the block's first. */
static ferry_status add_break(const reader *r, size_t at)
{
    const ferry_quoted_place *place = &r->places[at];
    if (r->bytes.data[at - 1] == '\n' || place[-1].end >= place->begin) return FERRY_OK;
    return ferry_document_break(r->document, place[-1].end, place->begin, false);
}

/* Bytes begin … end - 1 of the block that begins at byte `first`; no tag is among them. */
static ferry_status add_text(const reader *r, size_t first, size_t begin, size_t end)
{
    const char *bytes = r->bytes.data;
    for (size_t at = begin, next; at < end; at = next) {
        const ferry_quoted_place *place = &r->places[at];
        char reference[8];
        size_t from = place->begin, size;
        /* A line of the source that ends within a word, or an address, is no place where lines may end. */
        if (at > begin && bytes[at - 1] != '\n' && !is_blank(bytes[at - 1]) && !is_blank(bytes[at]))
            from = place[-1].end;
        else if (at > first)
            FERRY_TRY(add_break(r, at));
        next = at + ferry_entity_read(view_part(r->bytes, at, end), reference, &size);
        if (next > at) {
            FERRY_TRY(add_reference(r, from, r->places[next - 1].end, (ferry_view){reference, size}));
            continue;
        }
        next++;
        if (bytes[at] == '\n') { /* it is not the string's last byte */
            FERRY_TRY(ferry_document_break(r->document, from, place[1].begin, true));
            continue;
        }
        /* The rest of the character, or all that stands for itself. */
        const bool plain = place->end == from + 1;
        for (const ferry_quoted_place *p = place + 1; next < end; next++, p++)
            if (((unsigned char)bytes[next] & 0xC0) != 0x80 &&
                (!plain || bytes[next] == '&' || p->begin != p[-1].end || p->end != p->begin + 1))
                break;
        FERRY_TRY(ferry_document_text(r->document, from, r->places[next - 1].end, view_part(r->bytes, at, next)));
    }
    return FERRY_OK;
}

/* Tag i, or the element that it begins and byte `end` ends. */
static ferry_status add_tag(const reader *r, size_t i, size_t end)
{
    const ferry_inline_tag *tag = &r->tags[i];
    const size_t begin = r->places[tag->begin].begin, after = r->places[end - 1].end;
    if (end > tag->end)
        return ferry_document_kept(r->document, begin, after,
                                   view_part(r->bytes, tag->end, r->tags[tag->partner].begin));
    if (!r->has_words && is_label(r, tag)) {
        FERRY_TRY(ferry_document_open(r->document, begin, r->places[tag->begin].end));
        FERRY_TRY(add_text(r, tag->begin, tag->begin + 1, tag->end - 1));
        return ferry_document_close(r->document, r->places[tag->end - 1].begin, after);
    }
    switch (tag->kind) {
    case FERRY_TAG_START: return ferry_document_open(r->document, begin, after);
    case FERRY_TAG_END: return ferry_document_close(r->document, begin, after);
    case FERRY_TAG_WORD:
    case FERRY_TAG_KEPT: return ferry_document_kept(r->document, begin, after, (ferry_view){NULL, 0});
    default: return ferry_document_point(r->document, begin, after);
    }
}

/* Bytes begin … end - 1, which are not empty; `tag` is the first tag behind byte `begin`. */
static ferry_status add_block(const reader *r, size_t begin, size_t end, size_t tag)
{
    size_t at = begin;
    FERRY_TRY((r->is_attribute ? ferry_document_begin_attribute
                               : ferry_document_begin_segment)(r->document, r->places[begin].begin));
    while (tag < r->count && r->tags[tag].begin < end) {
        const size_t tag_begin = r->tags[tag].begin;
        size_t after;
        FERRY_TRY(add_text(r, begin, at, tag_begin));
        if (tag_begin > begin) FERRY_TRY(add_break(r, tag_begin));
        at = end_of_tag(r, tag, &after);
        FERRY_TRY(add_tag(r, tag, at));
        tag = after;
    }
    FERRY_TRY(add_text(r, begin, at, end));
    if (r->line_end.size > 0 && !r->is_attribute) FERRY_TRY(ferry_document_wrap(r->document, LINE_WIDTH, r->line_end));
    return ferry_document_end_segment(r->document, r->places[end - 1].end);
}

/* The first "|" between forms of a plural, or the end. */
static size_t find_bar(ferry_view bytes)
{
    size_t at = find_one_of(bytes, 0, "|");
    while (at < bytes.size && !is_between_forms(bytes, at)) at = find_one_of(bytes, at + 1, "|");
    return at;
}

/* Adds the blocks of bytes `begin` … `size` - 1. *tag: the first tag from there on, and then the first one behind them.
 */
static ferry_status add_blocks(reader *r, size_t begin, size_t size, size_t *tag)
{
    r->end = size;
    if (begin == 0 && find_bar(r->bytes) < size) begin = skip_interval(r->bytes, 0);
    for (size_t at = begin, next, first_tag = *tag; at <= size; at = next) {
        bool ends = at == size, has_words = false;
        size_t end = at;
        next = at + 1;
        if (*tag < r->count && r->tags[*tag].begin == at && !ends) {
            const ferry_inline_tag *found = &r->tags[*tag];
            ends = is_separator(r, found) && !r->broken;
            next = end_of_tag(r, *tag, tag);
            has_words = next > found->end;
        } else if (!ends) {
            const size_t template_end = ferry_find_placeholder(r->bytes, at, false);
            ends = (!r->broken || at == begin) && ends_block(r->bytes, begin, at, r->line_end.size == 0);
            has_words = is_word(r->bytes.data[at]);
            if (template_end > 0 && template_end <= size) next = template_end;
            while (*tag < r->count && r->tags[*tag].begin < next) ++*tag;
        }
        r->has_words = r->has_words || (has_words && !ends);
        if (!ends) continue;
        while (end > begin && is_one_of(r->bytes.data[end - 1], " \t\n")) end--;
        if (end > begin) FERRY_TRY(add_block(r, begin, end, first_tag));
        r->has_words = false;
        begin = next;
        if (at < size && is_between_forms(r->bytes, at)) next = begin = skip_interval(r->bytes, next);
        first_tag = *tag;
    }
    return FERRY_OK;
}

static ferry_status add_string(reader *r)
{
    size_t tag = 0;
    FERRY_TRY(find_tags(r, 0, r->bytes.size, false));
    ferry_inline_tags_pair(r->tags, r->count);
    r->is_attribute = true;
    for (size_t i = 0; i < r->texts.count; i++) {
        while (tag < r->count && r->tags[tag].begin < r->texts.items[i].begin) tag++;
        FERRY_TRY(add_blocks(r, r->texts.items[i].begin, r->texts.items[i].end, &tag));
    }
    r->is_attribute = false;
    tag = 0;
    return add_blocks(r, 0, r->bytes.size, &tag);
}

ferry_status ferry_quoted_add_blocks(ferry_document *document, const ferry_quoted_text *text, ferry_view line_end)
{
    reader r = {.document = document, .places = text->places, .line_end = line_end};
    r.bytes = (ferry_view){text->bytes.data, text->bytes.size};
    const ferry_status status = add_string(&r);
    free(r.tags);
    free(r.texts.items);
    return status;
}

/* ---- what is written ---- */

ferry_status ferry_quoted_write(ferry_buffer *out, ferry_view text, bool begins_line, ferry_error *error)
{
    (void)begins_line;
    for (size_t at = 0; at < text.size; at++) {
        if (is_one_of(text.data[at], "\"\\")) FERRY_TRY(ferry_buffer_append(out, (ferry_view){"\\", 1}, error));
        FERRY_TRY(ferry_buffer_append(out, view_part(text, at, at + 1), error));
    }
    return FERRY_OK;
}

/* The next placeholder that gets its value by its order, or an empty view. *percent: "%s" was found, but not "100 %".
 */
static ferry_view next_ordered(ferry_placeholder_search *search, bool *percent)
{
    for (ferry_placeholder kept; ferry_placeholder_next(search, &kept);) {
        const ferry_view found = view_part(search->text, kept.begin, kept.end);
        const char c = found.data[0], next = byte_at(found, 1);
        *percent = *percent || c == '%';
        if (c == '{' && (found.size == 2 || is_one_of(next, ":!"))) return found;
        if (c == '%' && !is_one_of(next, "%({") && found.data[found.size - 1] > '9' && !ferry_view_contains(found, "$"))
            return found;
    }
    return (ferry_view){NULL, 0};
}

/* Counts what may begin a placeholder, a tag or a reference: "%" "{" "<", "$a" "${" "@:" "&lt;"; or another text; and
 * apostrophes with which ICU would show a placeholder's name: "d'{name}". */
static void count_codes(ferry_view text, int step, int counts[128])
{
    for (size_t at = 0; at < text.size; at++) {
        const char c = text.data[at], next = byte_at(text, at + 1);
        if (is_one_of(c, "%{<|") || (is_one_of(c, "$@&") && (is_letter(next) || is_one_of(next, "{(:#_"))) ||
            (c == '\'' && is_one_of(next, "{}") && byte_at(text, at + 2) != next))
            counts[(unsigned char)c] += step;
    }
}

static bool has_same_code(ferry_view before, ferry_view after)
{
    ferry_placeholder_search search = {.text = before}, other_search = {.text = after};
    bool percent = false, other_percent = false;
    int counts[128] = {0};
    count_codes(before, 1, counts);
    count_codes(after, -1, counts);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        if (counts[c] < 0 && c != '%') return false;
    ferry_view one;
    do {
        one = next_ordered(&search, &percent);
        if (!ferry_view_equal(one, next_ordered(&other_search, &other_percent))) return false;
    } while (one.size > 0);
    return percent ? counts['%'] == 0 : !other_percent;
}

/* Whether all arguments of ICU are well formed: a program cannot read one that is not, nor tell its words from texts.
 */
static ferry_status check_arguments(ferry_view message, bool *sound, ferry_error *error)
{
    for (size_t at = 0, end; at < message.size && *sound; at = end) {
        end = at;
        if (message.data[at] == '{') FERRY_TRY(ferry_icu_argument_read(message, at, &end, NULL, error));
        *sound = end != SIZE_MAX;
        if (end == at) end++;
    }
    return FERRY_OK;
}

ferry_status ferry_quoted_check(ferry_view before, ferry_view after, bool json, bool *same, ferry_error *error)
{
    ferry_quoted_text source = {.capacity = 0}, translation = {.capacity = 0};
    size_t at = 0, end = 0;
    bool sound = true;
    ferry_status status = ferry_quoted_decode(before, &at, json, &source, error);
    if (status == FERRY_OK) status = ferry_quoted_decode(after, &end, json, &translation, error);
    const ferry_view decoded = {source.bytes.data, source.bytes.size};
    if (status == FERRY_OK) status = check_arguments(decoded, &sound, error);
    *same = sound && end == after.size &&
            has_same_code(decoded, (ferry_view){translation.bytes.data, translation.bytes.size});
    ferry_quoted_destroy(&source);
    ferry_quoted_destroy(&translation);
    return status;
}
