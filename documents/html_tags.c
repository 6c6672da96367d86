#include "html_tags.h"

#include "characters.h"

bool ferry_html_tag_is_name(ferry_view a, ferry_view b)
{
    return a.size == b.size && ferry_compare_letters(a.data, b.data, a.size) == 0;
}

/* ---- inside a tag ---- */

/* Reads the value after "=", and moves *at past it. A quote that nothing closes is a character of it. */
static ferry_view read_value(ferry_html_tag_scanner *scanner, ferry_view text, size_t *at)
{
    const size_t begin = skip_set(text, *at, FERRY_HTML_SPACE);
    const char quote = byte_at(text, begin);
    bool *without = &scanner->without_quote[quote == '"'];
    if (is_one_of(quote, "\"'") && !*without) {
        const char *end = memchr(text.data + begin + 1, quote, text.size - begin - 1);
        *without = end == NULL;
        if (end != NULL) {
            *at = (size_t)(end - text.data) + 1;
            return view_part(text, begin + 1, *at - 1);
        }
    }
    *at = find_one_of(text, begin, FERRY_HTML_SPACE "<>");
    return view_part(text, begin, *at);
}

/* Reads attributes from *at to the tag's ">", which it moves *at to, or to where a "<" or the end shows that there is
 * no tag. *slash: the tag ends with "/". */
static void read_attributes(ferry_html_tag_scanner *scanner, ferry_view text, size_t *at, bool *slash)
{
    *slash = false;
    for (;;) {
        *at = skip_set(text, *at, FERRY_HTML_SPACE);
        if (*at == text.size || text.data[*at] == '<' || text.data[*at] == '>') return;
        *slash = text.data[*at] == '/';
        if (*slash) {
            ++*at;
            continue;
        }
        const size_t begin = *at;
        *at = find_one_of(text, begin + 1, FERRY_HTML_SPACE "<>/=");
        const ferry_view name = view_part(text, begin, *at);
        const size_t equals = skip_set(text, *at, FERRY_HTML_SPACE);
        if (byte_at(text, equals) != '=') continue;
        *at = equals + 1;
        const ferry_view value = read_value(scanner, text, at);
        const size_t most = sizeof scanner->attributes / sizeof *scanner->attributes;
        if (scanner->attribute_count < most)
            scanner->attributes[scanner->attribute_count++] = (ferry_html_attribute){name, value};
    }
}

ferry_view ferry_html_attribute_find(const ferry_html_tag_scanner *scanner, const char *name)
{
    for (size_t i = 0; i < scanner->attribute_count; i++)
        if (is_named(scanner->attributes[i].name, name)) return scanner->attributes[i].value;
    return (ferry_view){NULL, 0};
}

/* ---- the kinds of tags ---- */

/* The byte after the first `end` from `at`, or the end. */
static size_t find_after(ferry_view text, size_t at, const char *end)
{
    while (at < text.size && !begins(text, at, end)) at++;
    return at < text.size ? at + strlen(end) : text.size;
}

/* The byte after the end tag of an element with RAW, or the end. */
static size_t find_raw_end(ferry_view text, size_t at, ferry_view name)
{
    for (; (at = find_after(text, at, "</")) < text.size;) {
        const size_t end = find_one_of(text, at, FERRY_HTML_SPACE "/>");
        if (ferry_html_tag_is_name((ferry_view){text.data + at, end - at}, name)) return find_after(text, end, ">");
    }
    return text.size;
}

static ferry_inline_tag read_comment(ferry_view text, size_t at)
{
    static const char *const ends[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<!", ">"}, {"<?", ">"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (!begins(text, at, ends[i][0])) continue;
        const size_t end = find_after(text, at + 2, ends[i][1]); /* <!--> is a whole comment */
        return (ferry_inline_tag){.kind = FERRY_TAG_ALONE, .begin = at, .end = end, .content = end};
    }
    return (ferry_inline_tag){.kind = FERRY_TAG_TEXT, .begin = at, .end = at + 1};
}

ferry_inline_tag ferry_html_tag_read(ferry_html_tag_scanner *scanner, ferry_view text, size_t at)
{
    const bool closing = begins(text, at, "</");
    bool slash;
    const size_t begin = at + 1 + closing;
    scanner->attribute_count = 0;
    if (!is_letter(byte_at(text, begin))) return read_comment(text, at);
    const size_t name_end = find_one_of(text, begin, FERRY_HTML_SPACE "<>/");
    ferry_inline_tag tag = {.begin = at, .end = name_end, .name = view_part(text, begin, name_end)};
    tag.element = ferry_element_find(tag.name);
    read_attributes(scanner, text, &tag.end, &slash);
    if (byte_at(text, tag.end) != '>') return (ferry_inline_tag){.kind = FERRY_TAG_TEXT, .begin = at, .end = tag.end};
    const bool single = slash || (tag.element & FERRY_ELEMENT_VOID) != 0;
    tag.kind = closing ? FERRY_TAG_END : single ? FERRY_TAG_ALONE : FERRY_TAG_START;
    tag.content = ++tag.end;
    if (tag.kind == FERRY_TAG_START && (tag.element & FERRY_ELEMENT_RAW))
        tag.end = find_raw_end(text, tag.end, tag.name);
    return tag;
}
