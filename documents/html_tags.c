#include "html_tags.h"

#include "characters.h"

/* ---- elements ---- */

/* The HTML standard's, and those of its predecessors; of the kept ones also those of DocBook and Mallard, which are in
 * catalogs of manuals. */
static const struct {
    int kind;
    const char *names;
} elements[] = {
    {FERRY_ELEMENT_BLOCK,
     " address article aside blockquote body caption center colgroup datalist dd details dialog dir "
     "div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup "
     "html legend li main menu nav noscript ol optgroup option p search section select summary table "
     "tbody td template tfoot th thead title tr ul "},
    {FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_VOID, " br col frame hr "},
    {FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_KEPT, " listing pre programlisting screen "},
    {FERRY_ELEMENT_LABEL, " applet audio button canvas label marquee object video "},
    {FERRY_ELEMENT_VOID, " area base basefont bgsound embed img input keygen link meta param source track "},
    {FERRY_ELEMENT_VOID | FERRY_ELEMENT_IN_WORD, " wbr "},
    {FERRY_ELEMENT_RAW | FERRY_ELEMENT_KEPT, " iframe noembed noframes plaintext script style textarea xmp "},
    {FERRY_ELEMENT_KEPT, " classname cmd code command computeroutput constant envar file filename function kbd literal "
                         "math replaceable rp rt samp svg sys systemitem tt userinput var varname "},
};

bool ferry_name_is_listed(ferry_view name, const char *names)
{
    char key[24] = " ";
    if (name.size == 0 || name.size + 3 > sizeof key) return false;
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        if (!is_letter(c) && !is_digit(c)) return false;
        key[i + 1] = is_capital(c) ? (char)(c | 32) : c;
    }
    key[name.size + 1] = ' ';
    return strstr(names, key) != NULL;
}

int ferry_element_find(ferry_view name)
{
    size_t i = 0;
    while (i < sizeof elements / sizeof *elements && !ferry_name_is_listed(name, elements[i].names)) i++;
    return i < sizeof elements / sizeof *elements ? elements[i].kind : 0;
}

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

/* ---- tags within other text ---- */

enum { MOST_OPEN = 64, MOST_SIZE = 4096, MOST_WORD = 48 }; /* so that time is linear */

/* "<%s>" "<number|name>": one word in brackets. */
static size_t read_word(ferry_view text, ferry_inline_tag *tag)
{
    size_t at = 1;
    while (at < text.size && at < MOST_WORD && (unsigned char)text.data[at] > ' ' && !is_one_of(text.data[at], "<>\""))
        at++;
    tag->kind = FERRY_TAG_WORD;
    return byte_at(text, at) == '>' ? at + 1 : 0;
}

static bool is_closed(ferry_view comment)
{
    const bool dashes = comment.size >= 4 && memcmp(comment.data, "<!--", 4) == 0;
    return dashes ? memcmp(comment.data + comment.size - 3, "-->", 3) == 0 : comment.data[comment.size - 1] == '>';
}

size_t ferry_inline_tag_read(ferry_view text, ferry_inline_tag *tag)
{
    if (text.size < 3 || text.data[0] != '<') return 0;
    ferry_html_tag_scanner scanner = {.attribute_count = 0};
    if (text.size > MOST_SIZE) text.size = MOST_SIZE;
    *tag = (ferry_inline_tag){.kind = FERRY_TAG_WORD};
    if (text.data[1] == '%') return read_word(text, tag);
    *tag = ferry_html_tag_read(&scanner, text, 0);
    if (tag->kind == FERRY_TAG_TEXT) return 0;
    if (tag->name.size == 0) return is_closed((ferry_view){text.data, tag->end}) ? tag->end : 0;
    if (skip_name(tag->name, 0, "-:", MOST_SIZE) < tag->name.size)
        return tag->kind == FERRY_TAG_END ? 0 : read_word(text, tag);
    if (tag->kind != FERRY_TAG_END) tag->kind = text.data[tag->content - 2] == '/' ? FERRY_TAG_ALONE : FERRY_TAG_START;
    return tag->content;
}

/* Elements of HTML that are seen within text are no words. */
static void set_alone(ferry_inline_tag *tag)
{
    const bool is_word = tag->kind == FERRY_TAG_START && tag->name.data[tag->name.size] == '>' &&
                         !ferry_name_is_listed(tag->name, " b big br em font hr i img input li p s small span strike "
                                                          "strong sub sup tt u wbr ");
    tag->kind = is_word ? FERRY_TAG_WORD : FERRY_TAG_ALONE;
}

/* Start tags from `open` out to `around` have no end tags. */
static void leave_open(ferry_inline_tag *tags, size_t open, size_t around)
{
    for (size_t outer; open != around; open = outer) {
        outer = tags[open].partner;
        set_alone(&tags[open]);
    }
}

void ferry_inline_tags_pair(ferry_inline_tag *tags, size_t count)
{
    const size_t none = SIZE_MAX;
    size_t open = none; /* the innermost start tag; its `partner` is the one around it */
    for (size_t i = 0; i < count; i++) {
        if (tags[i].kind == FERRY_TAG_START) {
            tags[i].partner = open;
            open = i;
        }
        if (tags[i].kind != FERRY_TAG_END) continue;
        size_t start = open, steps = 0;
        while (start != none && steps++ < MOST_OPEN && !ferry_html_tag_is_name(tags[start].name, tags[i].name))
            start = tags[start].partner;
        if (start == none || steps > MOST_OPEN) {
            set_alone(&tags[i]);
            continue;
        }
        leave_open(tags, open, start);
        open = tags[start].partner;
        tags[start].partner = i;
        tags[i].partner = start;
    }
    leave_open(tags, open, none);
}
