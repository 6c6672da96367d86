#include "markup_tags.h"

#include <stdlib.h>
#include <string.h>

/* ---- elements ---- */

enum {
    BLOCK = FERRY_ELEMENT_BLOCK,
    VOID = FERRY_ELEMENT_VOID,
    RAW = FERRY_ELEMENT_RAW | FERRY_ELEMENT_UNTRANSLATED,
    UNTRANSLATED = FERRY_ELEMENT_UNTRANSLATED
};

typedef struct element {
    char name[12]; /* NUL-terminated */
    int kind;
} element;

/* Those of the HTML standard and its predecessors that are no plain inline elements, sorted by name. */
static const element elements[] = {
    {"address", BLOCK},
    {"area", VOID},
    {"article", BLOCK},
    {"aside", BLOCK},
    {"base", VOID},
    {"basefont", VOID},
    {"bgsound", VOID},
    {"blockquote", BLOCK},
    {"body", BLOCK},
    {"br", BLOCK | VOID},
    {"caption", BLOCK},
    {"center", BLOCK},
    {"code", UNTRANSLATED},
    {"col", BLOCK | VOID},
    {"colgroup", BLOCK},
    {"dd", BLOCK},
    {"details", BLOCK},
    {"dialog", BLOCK},
    {"dir", BLOCK},
    {"div", BLOCK},
    {"dl", BLOCK},
    {"dt", BLOCK},
    {"embed", VOID},
    {"fieldset", BLOCK},
    {"figcaption", BLOCK},
    {"figure", BLOCK},
    {"footer", BLOCK},
    {"form", BLOCK},
    {"frame", BLOCK | VOID},
    {"frameset", BLOCK},
    {"h1", BLOCK},
    {"h2", BLOCK},
    {"h3", BLOCK},
    {"h4", BLOCK},
    {"h5", BLOCK},
    {"h6", BLOCK},
    {"head", BLOCK},
    {"header", BLOCK},
    {"hgroup", BLOCK},
    {"hr", BLOCK | VOID},
    {"html", BLOCK},
    {"iframe", RAW},
    {"img", VOID},
    {"input", VOID},
    {"kbd", UNTRANSLATED},
    {"keygen", VOID},
    {"legend", BLOCK},
    {"li", BLOCK},
    {"link", VOID},
    {"main", BLOCK},
    {"math", UNTRANSLATED},
    {"menu", BLOCK},
    {"meta", VOID},
    {"nav", BLOCK},
    {"noembed", RAW},
    {"noframes", RAW},
    {"ol", BLOCK},
    {"optgroup", BLOCK},
    {"option", BLOCK},
    {"p", BLOCK},
    {"param", VOID},
    {"pre", BLOCK | FERRY_ELEMENT_PRE},
    {"samp", UNTRANSLATED},
    {"script", RAW},
    {"search", BLOCK},
    {"section", BLOCK},
    {"select", BLOCK},
    {"source", VOID},
    {"style", RAW},
    {"summary", BLOCK},
    {"svg", UNTRANSLATED},
    {"table", BLOCK},
    {"tbody", BLOCK},
    {"td", BLOCK},
    {"textarea", RAW},
    {"tfoot", BLOCK},
    {"th", BLOCK},
    {"thead", BLOCK},
    {"title", BLOCK},
    {"tr", BLOCK},
    {"track", VOID},
    {"tt", UNTRANSLATED},
    {"ul", BLOCK},
    {"var", UNTRANSLATED},
    {"wbr", VOID | FERRY_ELEMENT_IN_WORD},
    {"xmp", RAW},
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
    return lower(c) >= 'a' && lower(c) <= 'z';
}

bool ferry_markup_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static int compare(const void *key, const void *found)
{
    const element *wanted = key, *of = found;
    return strcmp(wanted->name, of->name);
}

static int find_element(ferry_view name)
{
    element key = {0};
    if (name.size >= sizeof key.name || memchr(name.data, '\0', name.size) != NULL) return 0;
    for (size_t i = 0; i < name.size; i++) key.name[i] = lower(name.data[i]);
    const element *found = bsearch(&key, elements, sizeof elements / sizeof *elements, sizeof *elements, compare);
    return found != NULL ? found->kind : 0;
}

bool ferry_markup_tag_is_name(ferry_view a, ferry_view b)
{
    if (a.size != b.size) return false;
    for (size_t i = 0; i < a.size; i++)
        if (lower(a.data[i]) != lower(b.data[i])) return false;
    return true;
}

static bool is_word(ferry_view view, const char *text)
{
    return ferry_markup_tag_is_name(view, ferry_text_view(text));
}

/* ---- inside a tag ---- */

static size_t skip_space(ferry_view text, size_t at)
{
    while (at < text.size && ferry_markup_is_space(text.data[at])) at++;
    return at;
}

/* The first of the bytes `ends` and white space, or the end. */
static size_t find_end(ferry_view text, size_t at, const char *ends)
{
    while (at < text.size && !ferry_markup_is_space(text.data[at]) &&
           (text.data[at] == '\0' || !strchr(ends, text.data[at])))
        at++;
    return at;
}

/* The closing quote of a value; text.size if there is none. */
static size_t find_quote(ferry_markup_tag_scanner *scanner, ferry_view text, size_t at)
{
    bool *without = &scanner->without_quote[text.data[at] == '"'];
    const char *end = *without ? NULL : memchr(text.data + at + 1, text.data[at], text.size - at - 1);
    *without = end == NULL;
    return end != NULL ? (size_t)(end - text.data) : text.size;
}

/* Reads the value after "=", and moves *at past it. A quote that nothing closes is a character of it. */
static ferry_view read_value(ferry_markup_tag_scanner *scanner, ferry_view text, size_t *at)
{
    const size_t begin = skip_space(text, *at);
    if (begin < text.size && (text.data[begin] == '"' || text.data[begin] == '\'')) {
        const size_t end = find_quote(scanner, text, begin);
        *at = end + 1;
        if (end < text.size) return (ferry_view){text.data + begin + 1, end - begin - 1};
    }
    *at = find_end(text, begin, "<>");
    return (ferry_view){text.data + begin, *at - begin};
}

/* Reads attributes from *at to the tag's ">", which it moves *at to, or to where a "<" or the end shows that there is
 * no tag. *slash: the tag ends with "/". */
static void read_attributes(ferry_markup_tag_scanner *scanner, ferry_view text, size_t *at, ferry_markup_tag *tag,
                            bool *slash)
{
    *slash = false;
    for (;;) {
        *at = skip_space(text, *at);
        if (*at == text.size || text.data[*at] == '<' || text.data[*at] == '>') return;
        *slash = text.data[*at] == '/';
        if (*slash) {
            ++*at;
            continue;
        }
        const size_t begin = *at;
        *at = find_end(text, begin + 1, "<>/=");
        const ferry_view name = {text.data + begin, *at - begin};
        const size_t equals = skip_space(text, *at);
        if (equals == text.size || text.data[equals] != '=') continue;
        *at = equals + 1;
        const ferry_view value = read_value(scanner, text, at);
        if (is_word(name, "translate") && is_word(value, "no")) tag->element |= UNTRANSLATED;
    }
}

/* ---- the kinds of tags ---- */

static bool begins(ferry_view text, size_t at, const char *prefix)
{
    const size_t size = strlen(prefix);
    return text.size - at >= size && memcmp(text.data + at, prefix, size) == 0;
}

/* The byte after the first `end` from `at`, or the end. */
static size_t find_after(ferry_view text, size_t at, const char *end)
{
    const size_t size = strlen(end);
    for (; at + size <= text.size; at++) {
        const char *next = memchr(text.data + at, *end, text.size - at);
        if (next == NULL) break;
        at = (size_t)(next - text.data);
        if (begins(text, at, end)) return at + size;
    }
    return text.size;
}

/* The byte after the end tag of an element with RAW, or the end. */
static size_t find_raw_end(ferry_view text, size_t at, ferry_view name)
{
    for (; (at = find_after(text, at, "</")) < text.size;) {
        const size_t end = find_end(text, at, "/>");
        if (ferry_markup_tag_is_name((ferry_view){text.data + at, end - at}, name)) return find_after(text, end, ">");
    }
    return text.size;
}

static ferry_markup_tag read_comment(ferry_view text, size_t at)
{
    static const char *const ends[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<!", ">"}, {"<?", ">"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (begins(text, at, ends[i][0])) /* <!--> is a whole comment */
            return (ferry_markup_tag){.kind = FERRY_MARKUP_TAG_COMMENT, .end = find_after(text, at + 2, ends[i][1])};
    return (ferry_markup_tag){.end = at + 1};
}

ferry_markup_tag ferry_markup_tag_read(ferry_markup_tag_scanner *scanner, ferry_view text, size_t at)
{
    const bool closing = begins(text, at, "</");
    bool slash;
    const size_t begin = at + 1 + closing;
    if (begin == text.size || !is_letter(text.data[begin])) return read_comment(text, at);
    const size_t name_end = find_end(text, begin, "<>/");
    ferry_markup_tag tag = {.end = name_end, .name = {text.data + begin, name_end - begin}};
    tag.element = find_element(tag.name);
    read_attributes(scanner, text, &tag.end, &tag, &slash);
    if (tag.end == text.size || text.data[tag.end] != '>') return (ferry_markup_tag){.end = tag.end};
    const bool single = slash || (tag.element & VOID) != 0;
    tag.kind = closing ? FERRY_MARKUP_TAG_END : single ? FERRY_MARKUP_TAG_SINGLE : FERRY_MARKUP_TAG_START;
    tag.end++;
    if (tag.kind == FERRY_MARKUP_TAG_START && (tag.element & FERRY_ELEMENT_RAW))
        tag.end = find_raw_end(text, tag.end, tag.name);
    return tag;
}
