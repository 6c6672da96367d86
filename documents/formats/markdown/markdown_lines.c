/* Markdown as md4c understands it. What other programs add to CommonMark is found here, line by line, and md4c gets
 * something that it knows at the same places, with the same bytes of text:
 *
 *     [^1]: A note             -   ¦ A note        an item of a list; ¦: bytes that divide texts (FERRY_MD_DIVIDES)
 *     *[UN]: Nations           -   ¦¦ Nations
 *     :   A definition         -   A definition
 *     !!! note "Title"         -   #     Title     an item that begins with a heading
 *     :::tip Title             #      Title        and ```{tip} Title
 *     > [!NOTE] Title          >  #      Title
 *     {% tabs %}   $$ …        (blanks)             also <div markdown="1">, { .class }, (target)=
 *     $a*b$ [^1]               ,KKK, ,PP,          bytes that are kept, that stand alone, between two FERRY_MD_EDGE
 *     *a*{ .b }                *a*,DDDDD,          attributes belong to the element before them
 *     <Tag a={{b: 1}}>         <Tag a=xxxxxxxx>
 *     | a |                    #                   a heading without text before it, if it is below text
 *                              | a |
 *     | - |                    | --- |
 *
 * Text itself is always read from the document: what is found by mistake is at most kept. */
#include "base/array.h"
#include "documents/characters.h"
#include "documents/placeholders.h"
#include "documents/formats/formats.h"
#include "markdown.h"

typedef struct line {
    size_t begin, text, end, next; /* text: behind blanks and ">"; end: before blanks and the end of the line */
    size_t quotes;                 /* how many ">" */
    size_t column;                 /* of the text, behind the last one and its blank */
} line;

typedef struct scanner {
    ferry_md_reader *reader;
    ferry_view source;
    ferry_buffer *out; /* the reader's text */
    line line;
    size_t moved; /* the line's bytes are so many bytes further in `out` than in the source */
    size_t run;   /* where in `out` text begins that may have something to be marked in it */
    size_t item;  /* the column of the text in the innermost item of a list that may be open */
    char fence;   /* of fenced code that is open */
    size_t fence_size, fence_quotes, fence_item;
    size_t directives[8], directive_count; /* sizes of the fences of MyST's directives that are open */
    bool is_directive;                     /* the line begins or ends one */
    bool in_options;                       /* lines ":name: value" below its first line */
    size_t rule;                           /* the line below the head of a table */
    size_t lines;                          /* of the paragraph; 0: it is a table */
    bool is_html;                          /* it begins with a tag, so that it may be a block of HTML */
    size_t elements;                       /* of HTML that are open, in which Markdown is read */
    ferry_view shortcode;                  /* the last one that began, and where in `out` */
    size_t shortcode_begin;
} scanner;

/* Or the '\0' that byte_at() has behind a text. */
static bool is_space(char c)
{
    return c == '\0' || is_blank(c) || is_line_end(c);
}

static bool is_any_letter(char c)
{
    return is_word(c) && !is_digit(c);
}

static line find_line(ferry_view source, size_t begin)
{
    line l = {.begin = begin, .end = find_one_of(source, begin, "\n")};
    l.next = l.end + (l.end < source.size);
    while (l.end > begin && is_one_of(source.data[l.end - 1], " \t\r")) l.end--;
    for (l.text = begin; l.text < l.end && is_one_of(source.data[l.text], " \t\r>"); l.text++) {
        const char c = source.data[l.text];
        l.quotes += c == '>';
        l.column = c == '\t'  ? l.column / 4 * 4 + 4
                   : c == '>' ? 0
                              : l.column + (l.quotes == 0 || source.data[l.text - 1] != '>');
    }
    return l;
}

static ferry_view text_of(const scanner *s)
{
    return view_part(s->source, s->line.text, s->line.end);
}

/* Bytes begin … end - 1, but for ends of lines, become this one. */
static void cover(char *data, size_t begin, size_t end, int with)
{
    for (size_t at = begin; at < end; at++)
        if (!is_line_end(data[at])) data[at] = (char)with;
}

/* The same, where these bytes of the line are in `out`. */
static void put(scanner *s, size_t begin, size_t end, int with)
{
    cover(s->out->data, begin + s->moved, end + s->moved, with);
}

/* ---- what is marked within a line ---- */

typedef struct span_kind {
    const char *open, *close;
    ferry_md_kind mark; /* what it becomes within text; PLAIN: nothing */
    bool owns;          /* lines that it has for itself, which are no text then */
} span_kind;

static const span_kind span_kinds[] = {
    {"{{<", ">}}", FERRY_MD_KEPT, true}, /* templates: Hugo, Jekyll */
    {"{{%", "%}}", FERRY_MD_KEPT, true},   {"{{", "}}", FERRY_MD_KEPT, false},
    {"{%", "%}", FERRY_MD_KEPT, true},     {"{/*", "*/}", FERRY_MD_KEPT, true}, /* MDX */
    {"{:", "}", FERRY_MD_DIVIDES, true}, /* attributes of what is before: kramdown, Pandoc, Python-Markdown */
    {"{", "}", FERRY_MD_DIVIDES, true},    {"$$", "$$", FERRY_MD_KEPT, true}, /* formulas */
    {"$", "$", FERRY_MD_KEPT, false},      {"\\[", "\\]", FERRY_MD_PLAIN, true},
    {"\\(", "\\)", FERRY_MD_KEPT, false},  {"[[", "]]", FERRY_MD_KEPT, true}, /* names of pages: wikis */
    {"[@", "]", FERRY_MD_KEPT, false},                                        /* books: Pandoc */
    {"[^", "]", FERRY_MD_STANDS, false},   {"[TOC", "]", FERRY_MD_KEPT, true},
    {"\\begin{", "", FERRY_MD_KEPT, true}, /* LaTeX: see find_environment */
    {"(", ")=", FERRY_MD_KEPT, true},      /* targets of links, in lines of their own: MyST */
};

/* Whether text begins with an attribute: #name, .name, name=value; or is "-", a heading without a number. */
static bool has_attribute(ferry_view text)
{
    if (ferry_view_is(text, "-")) return true;
    const size_t begin = skip_set(text, 0, " "), marked = is_one_of(byte_at(text, begin), "#.");
    const size_t end = skip_name(text, begin + marked, "-:", SIZE_MAX);
    return end > begin + marked && (marked > 0 || byte_at(text, end) == '=');
}

/* Whether bytes begin … end - 1 are what they look like. */
static bool is_span(const span_kind *kind, ferry_view text, size_t begin, size_t end)
{
    const char before = begin > 0 ? text.data[begin - 1] : '\0', after = byte_at(text, end);
    const ferry_view inner = view_part(text, begin + strlen(kind->open), end - strlen(kind->close));
    const char first = byte_at(inner, 0);
    const bool is_note = kind->open[1] == '^';
    switch (kind->open[0]) {
    case '$': /* "$5 and $6", "$5 or US$ 6" are none. */
        for (size_t i = 3; i < inner.size && is_digit(first); i++)
            if (is_space(inner.data[i - 2]) && is_any_letter(inner.data[i - 1]) && is_any_letter(inner.data[i]))
                return false;
        return kind->owns ||
               !(is_space(first) || is_space(inner.data[inner.size - 1]) || is_word(before) || is_word(after));
    case '\\': /* "\(text\)" is text, and "\[text\]" how text in brackets is written. */
        if (kind->owns && !is_space(first)) return false;
        return (inner.size > 0 && inner.size < 3) || find_one_of(inner, 0, "\\^_={}+<>|") < inner.size;
    case '[':
        if (find_one_of(inner, 0, is_note ? "[] \t\r\n" : "[]") < inner.size) return false;
        return (inner.size > 0 || kind->open[1] == 'T') && (is_note || !is_one_of(after, "(["));
    case '(': return inner.size > 0 && find_one_of(inner, 0, "()") == inner.size;
    default:
        return kind->mark != FERRY_MD_DIVIDES ||
               ((kind->open[1] == ':' || has_attribute(inner)) && (is_space(after) || is_one_of(before, ")]*_~`:")));
    }
}

/* Where \\begin{name} … \\end{name} ends, formulas and code that stay, before it begins again; 0: it is other text. */
static size_t find_environment(ferry_view text, size_t begin)
{
    static const char names[] =
        " align alignat aligned array bmatrix cases displaymath eqnarray equation flalign gather "
        "lstlisting math matrix multline pmatrix split subequations tikzpicture verbatim vmatrix ";
    const size_t first = begin + strlen("\\begin"), last = skip_name(text, first + 1, "*", SIZE_MAX);
    const ferry_view name = view_part(text, first, last + 1); /* "{align*}" */
    if (!ferry_name_is_listed(view_part(text, first + 1, skip(text, first + 1, is_letter, SIZE_MAX)), names)) return 0;
    for (size_t at = last; at < text.size; at++) {
        const bool ends = begins_exactly(text, at, "\\end");
        const size_t inner = at + (ends ? 4 : 6);
        if ((ends || begins_exactly(text, at, "\\begin")) && inner + name.size <= text.size &&
            ferry_view_equal(view_part(text, inner, inner + name.size), name))
            return ends ? inner + name.size : 0;
    }
    return 0;
}

/* Where what is at byte `begin` ends, and what it is. It ends in its line, or (`lines`) in its paragraph, before it
 * begins again, so that time is linear. 0: it is nothing of the kind. */
static size_t find_span(ferry_view text, size_t begin, bool lines, const span_kind **found)
{
    const span_kind *kind = span_kinds, *last = span_kinds + sizeof span_kinds / sizeof *span_kinds;
    while (kind < last && !(begins_exactly(text, begin, kind->open) && (!lines || kind->owns))) kind++;
    *found = kind;
    if (kind == last) return 0;
    if (*kind->close == '\0') return find_environment(text, begin);
    lines = lines || begins_exactly(text, begin, "$$");
    for (size_t at = begin + strlen(kind->open); at < text.size; at++) {
        const size_t end = at + strlen(kind->close);
        if (begins_exactly(text, at, kind->close)) return is_span(kind, text, begin, end) ? end : 0;
        if (begins_exactly(text, at, kind->open)) return 0;
        if (text.data[at] == '\n' && (!lines || skip_set(text, at + 1, " \t\r>") == find_one_of(text, at + 1, "\n")))
            return 0;
        at += text.data[at] == '\\' && kind->open[0] != '\\';
    }
    return 0;
}

/* <Tag a={…} {…b}> at byte `begin`: what md4c does not know becomes letters. Returns where it was read to; *gives_up:
 * braces do not end. */
static size_t cover_tag(char *data, size_t begin, size_t end, bool *gives_up)
{
    enum { MOST = 4096 };
    size_t depth = 0, brace = 0;
    for (size_t at = begin + 1; at < end; at++) {
        if (depth == 0 && is_one_of(data[at], "<>")) return at;
        if (data[at] == '{' && depth++ == 0) brace = at;
        if (data[at] == '}' && depth > 0 && --depth == 0) cover(data, brace, at + 1, 'x');
        *gives_up = depth > 0 && (at + 1 == end || at - brace == MOST);
        if (*gives_up) return brace;
    }
    return end;
}

/* Whether an address that begins at byte `at`, and ends at *end, has what md4c could take for emphasis. */
static bool has_emphasis(ferry_view text, size_t at, size_t *end)
{
    const size_t found = begins_exactly(text, at, "http") ? ferry_find_address(text, at) : 0;
    if (found == 0 || find_one_of(view_part(text, at, found), 0, "_*~") == found - at) return false;
    *end = found;
    return true;
}

/* Marks what is in the text from s->run up to byte `end` of `out`, but for code. */
static void mark_run(scanner *s, size_t end)
{
    char *data = s->out->data + s->run;
    const ferry_view text = {data, end - s->run};
    size_t ticks = 0;
    bool gives_up = false;
    for (size_t at = 0, next; at < text.size; at = next) {
        const span_kind *kind;
        next = at + 1;
        if (data[at] == '`') {
            next = skip_same(text, at);
            ticks = ticks == 0 ? next - at : ticks == next - at ? 0 : ticks;
        } else if (ticks == 0 && data[at] == '<' && !gives_up && is_word(byte_at(text, at + 1))) {
            next = cover_tag(data, at, text.size, &gives_up);
        } else if (ticks == 0 && data[at] == 'h' && (at == 0 || is_space(data[at - 1])) &&
                   has_emphasis(text, at, &next)) {
            memset(data + at, FERRY_MD_KEPT, next - at);
            data[at] = data[next - 1] = FERRY_MD_EDGE;
        } else if (ticks == 0 && is_one_of(data[at], "{$\\[")) {
            const size_t found = find_span(text, at, false, &kind);
            if (found > 0 && kind->mark != FERRY_MD_PLAIN) {
                memset(data + at, (int)kind->mark, found - at);
                data[at] = data[found - 1] = FERRY_MD_EDGE;
            }
            next = found > 0 ? found : next + (data[at] == '\\');
        }
    }
    s->run = end;
}

/* ---- lines ---- */

/* Where the text begins behind markers of items. */
static size_t skip_markers(scanner *s, ferry_view text)
{
    for (size_t at = 0;; s->item = s->line.column + at) {
        const size_t digits = skip(text, at, is_digit, 9);
        const size_t end = digits + is_one_of(byte_at(text, digits), digits > at ? ".)" : "-+*:");
        if (end == digits || !is_blank(byte_at(text, end))) return at;
        at = skip_blanks(text, end);
    }
}

/* Whether a line that begins with a fence begins a directive with text, ```{note} Title, or ends the last one. */
static bool is_directive(scanner *s, ferry_view text, size_t fence)
{
    static const char names[] =
        " admonition attention caution danger deprecated dropdown epigraph error hint important "
        "margin note seealso sidebar tip topic versionadded versionchanged warning ";
    const size_t end = find_one_of(text, fence, "}"), count = s->directive_count;
    const bool ends = fence == text.size && count > 0 && s->directives[count - 1] == fence;
    const bool begins = byte_at(text, fence) == '{' && end < text.size &&
                        count < sizeof s->directives / sizeof *s->directives &&
                        ferry_name_is_listed(view_part(text, fence + 1, end), names);
    if (begins) s->directives[s->directive_count++] = fence;
    s->directive_count -= ends;
    return begins || ends;
}

/* Whether the line belongs to fenced code, whose fences are indented by less than four columns in their item. */
static bool is_code(scanner *s)
{
    const ferry_view text = text_of(s);
    size_t at = 0;
    if (s->line.quotes < s->fence_quotes || (text.size > 0 && s->line.column < s->fence_item)) s->fence_size = 0;
    if (s->fence_size == 0) {
        if (text.size > 0 && s->line.column < s->item) s->item = s->line.column;
        at = skip_markers(s, text);
        s->fence_item = s->item;
    }
    const char c = byte_at(text, at);
    const bool is_fence = is_one_of(c, "`~") && s->line.column + at < s->fence_item + 4;
    const size_t end = is_fence ? skip_same(text, at) : at, size = end - at;
    s->is_directive = s->fence_size == 0 && size >= 3 && at == 0 && is_directive(s, text, size);
    if (s->is_directive) return false;
    if (s->fence_size > 0) {
        if (size >= s->fence_size && c == s->fence && end == text.size) s->fence_size = 0;
        return true;
    }
    if (size < 3 || (c == '`' && find_one_of(text, end, "`") < text.size)) return false;
    s->fence = c;
    s->fence_size = size;
    s->fence_quotes = s->line.quotes;
    return true;
}

/* Whether the line is a tag of an element that Markdown is read in, <div markdown="1">, or </div>. */
static bool is_markdown_tag(scanner *s)
{
    const ferry_view text = text_of(s);
    const bool ends = s->elements > 0 && begins_exactly(text, 0, "</");
    if (text.data[0] != '<' || find_one_of(text, 0, ">") + 1 != text.size ||
        !(ends || ferry_view_contains(text, " markdown")))
        return false;
    s->elements += ends ? SIZE_MAX : 1;
    return true;
}

/* Where the lines end that have nothing but templates and formulas, or, above text, where a paragraph of MDX's imports
 * and exports does; 0: there are none. */
static size_t skip_own_lines(const scanner *s, bool below_text)
{
    const ferry_view text = text_of(s);
    const span_kind *kind;
    line l = s->line;
    const size_t option = text.data[0] == ':' ? skip_name(text, 1, "-", SIZE_MAX) : 0;
    if (s->in_options && option > 1 && byte_at(text, option) == ':') return l.next;
    if (!below_text && l.text == l.begin &&
        (begins_exactly(text, 0, "import ") || begins_exactly(text, 0, "export ")) &&
        is_one_of(text.data[text.size - 1], "'\";{}()>")) {
        while (l.next < s->source.size && l.text < l.end) l = find_line(s->source, l.next);
        return l.next;
    }
    for (size_t at = l.text;;) {
        at = find_span(s->source, at, true, &kind);
        if (at == 0) return 0;
        at = skip_set(s->source, at, " \t\r");
        const size_t label =
            byte_at(s->source, at) == '(' ? find_one_of(s->source, at, ") \n") : at; /* MyST: "$$ (label)" */
        if (byte_at(s->source, label) == ')') at = skip_set(s->source, label + 1, " \t\r");
        if (at == s->source.size || s->source.data[at] == '\n') return at + (at < s->source.size);
    }
}

/* Where the text begins in "[^name]: text", "*[NAME]: text", in "!!! name "title"", "=== "title"", above lines that are
 * indented, in ":::name {…} title", and in "> [!name]+ title"; 0: the line is none of them. */
static size_t find_title(const scanner *s)
{
    const ferry_view text = text_of(s);
    const char below = byte_at(s->source, s->line.next);
    const bool is_note = begins_exactly(text, 0, "[^");
    size_t at = find_one_of(text, 0, "}");
    if (s->is_directive) return at + (at < text.size);
    if (is_note || begins_exactly(text, 0, "*[")) {
        at = find_one_of(text, 2, is_note ? "[] \t" : "[]");
        return at > 2 && begins_exactly(text, at, "]:") ? at + 2 : 0;
    }
    if (is_one_of(byte_at(text, 0), "!?=") && skip_same(text, 0) == 3 && (is_space(below) || below == '>')) {
        at = skip_set(text, 3, "!+");
        if (is_blank(byte_at(text, at)) && (text.data[0] != '=' || byte_at(text, at + 1) == '"'))
            return text.data[text.size - 1] == '"' ? find_one_of(text, 0, "\"") + 1 : text.size;
    }
    if (s->line.quotes > 0 && begins_exactly(text, 0, "[!") && is_any_letter(byte_at(text, 2))) {
        at = find_one_of(text, 0, "]") + 1;
        return at > text.size ? 0 : at + is_one_of(byte_at(text, at), "+-");
    }
    if (!begins_exactly(text, 0, ":::")) return 0;
    at = find_one_of(text, skip_set(text, 3, ": \t"), " \t\r[{");
    if (byte_at(text, at) == '{' && find_one_of(text, at, "}") < text.size) at = find_one_of(text, at, "}") + 1;
    return at + (byte_at(text, at) == '[');
}

/* The target of a definition, "[name]: target", becomes short: md4c reads it whenever it is used. */
static void shorten_target(scanner *s)
{
    enum { MOST_NAME = 1000, LONG = 200 };
    const ferry_view text = text_of(s);
    size_t at = 1;
    if (text.data[0] != '[') return;
    while (at < MOST_NAME && at + 1 < text.size && !begins_exactly(text, at, "]:")) at++;
    at = skip_blanks(text, at + 2);
    const size_t end = find_one_of(text, at, " \t");
    if (end < at + LONG || (end < text.size && !begins_exactly(text, end, " \""))) return;
    put(s, s->line.text + at, s->line.text + end, ' ');
    put(s, s->line.text + at, s->line.text + at + 1, 'x');
}

/* What begins a block for others becomes a list item or a heading. */
static void mark_block(scanner *s)
{
    const ferry_view text = text_of(s);
    const size_t begin = s->line.text, title = find_title(s);
    s->in_options = title > 0 && is_one_of(text.data[0], "`~:") && skip_same(text, 0) < text.size;
    if (title == 0) {
        const size_t h = begins_exactly(text, 0, "</") ? 2 : 1;
        if (text.data[0] == ':' && is_blank(byte_at(text, 1))) put(s, begin, begin + 1, '-');
        /* not known to md4c: <h2> … <h6> */
        if (text.data[0] == '<' && (byte_at(text, h) | 32) == 'h' && is_one_of(byte_at(text, h + 1), "23456"))
            put(s, begin + h + 1, begin + h + 2, '1');
        shorten_target(s);
        return;
    }
    mark_run(s, s->line.begin + s->moved);
    const bool is_label = text.data[0] == '*' || begins_exactly(text, 0, "[^"),
               is_item = is_one_of(text.data[0], "!?=");
    const char *marker = is_label ? "-   " : !is_item ? "#" : title > 5 ? "-   #" : "-  #";
    if (is_label || is_item) s->item = s->line.column + 4;
    put(s, begin, begin + title, is_label ? FERRY_MD_DIVIDES : ' ');
    if (title < text.size && is_one_of(text.data[title - 1], "\"[") && is_one_of(text.data[text.size - 1], "\"]"))
        put(s, s->line.end - 1, s->line.end, ' ');
    memcpy(s->out->data + begin + s->moved, marker, strlen(marker));
}

/* What is between {{< name >}} and {{< /name >}}, {% highlight … %} and {% endhighlight %} is no text. */
static void cover_shortcode(scanner *s)
{
    const ferry_view text = text_of(s);
    const bool is_tag = begins_exactly(text, 0, "{%");
    if (!is_tag && !begins_exactly(text, 0, "{{<")) return;
    size_t at = skip_blanks(text, is_tag ? 2 : 3);
    const bool ends = begins_exactly(text, at, is_tag ? "end" : "/");
    if (ends) at += is_tag ? 3 : 1;
    const ferry_view name = view_part(text, at, find_one_of(text, at, " \t\r\n>"));
    if (is_tag && !ferry_view_is(name, "highlight")) return;
    if (ends && ferry_view_equal(name, s->shortcode)) cover(s->out->data, s->shortcode_begin, s->out->size, ' ');
    s->shortcode = ends ? (ferry_view){NULL, 0} : name;
    s->shortcode_begin = s->out->size;
}

/* ---- tables ---- */

static size_t count_cells(ferry_view row)
{
    size_t cells = 1;
    for (size_t at = byte_at(row, 0) == '|'; at + 1 < row.size; at++) {
        cells += row.data[at] == '|';
        at += row.data[at] == '\\';
    }
    return cells;
}

/* Whether the line is the head of a table: below it is a rule with dashes in as many cells. */
static bool begins_table(scanner *s)
{
    const line rule = find_line(s->source, s->line.next);
    const ferry_view row = view_part(s->source, rule.text, rule.end);
    size_t dashes = 0;
    for (size_t at = 0; at < row.size; at++) dashes += row.data[at] == '-' && byte_at(row, at + 1) != '-';
    if (skip_set(row, 0, "-|: \t") < row.size || find_one_of(row, 0, "|") == row.size ||
        rule.quotes != s->line.quotes || dashes != count_cells(row) || dashes != count_cells(text_of(s)))
        return false;
    s->rule = rule.begin;
    return true;
}

static ferry_status insert(scanner *s, ferry_view text)
{
    ferry_md_reader *r = s->reader;
    s->moved += text.size;
    const ferry_md_insert added = {s->out->size, s->out->size + text.size, s->moved};
    FERRY_TRY(ferry_array_append(&r->inserts, &r->insert_count, &r->insert_capacity, &added, sizeof added, r->error));
    return ferry_buffer_append(s->out, text, r->error);
}

/* Appends the line, the rule of a table with three dashes in each cell. */
static ferry_status append_line(scanner *s)
{
    const bool is_rule = s->line.begin == s->rule;
    const ferry_view text = {s->source.data, s->line.next};
    for (size_t at = s->line.begin, after; at < text.size; at = after) {
        after = is_rule ? skip_same(text, at) : text.size;
        FERRY_TRY(ferry_buffer_append(s->out, view_part(text, at, after), s->reader->error));
        if (is_rule && text.data[at] == '-') FERRY_TRY(insert(s, ferry_text_view("--")));
    }
    return FERRY_OK;
}

/* ---- the document ---- */

size_t ferry_front_matter_size(ferry_view source)
{
    const char *fence = byte_at(source, 0) == '-' ? "---" : "+++";
    for (line l = {.next = 0}; l.next < source.size;) {
        l = find_line(source, l.next);
        const ferry_view text = view_part(source, l.begin, l.end);
        const bool is_fence =
            ferry_view_is(text, fence) || (l.begin > 0 && *fence == '-' && ferry_view_is(text, "..."));
        if (is_fence != (l.begin == 0)) return is_fence ? l.next : 0;
    }
    return 0;
}

/* Longer paragraphs are divided: md4c looks for the line of each link from the first one on. */
enum { MOST_LINES = 1000 };

static ferry_status append_lines(scanner *s)
{
    bool below_text = false;
    for (size_t next = s->run; next < s->source.size; next = s->line.next) {
        s->line = find_line(s->source, next);
        const bool is_text = !is_code(s) && s->line.text < s->line.end;
        const bool is_html = is_text && (below_text ? s->is_html : s->source.data[s->line.text] == '<');
        const size_t own = !is_text             ? 0
                           : is_markdown_tag(s) ? s->line.next
                           : is_html            ? 0
                                                : skip_own_lines(s, below_text);
        if (own > 0) s->line.next = own;
        const bool is_table = is_text && !is_html && own == 0 && s->lines > 0 && begins_table(s);
        if (is_table ? below_text : s->lines == MOST_LINES) {
            FERRY_TRY(insert(s, view_part(s->source, next, s->line.text)));
            FERRY_TRY(insert(s, ferry_text_view("#\n")));
            s->lines = 1;
        }
        FERRY_TRY(append_line(s));
        s->is_html = is_html;
        below_text = is_text && own == 0;
        s->in_options = s->in_options && is_text;
        s->lines = is_table ? 0 : !below_text ? 1 : s->lines + (s->lines > 0);
        if (below_text) {
            mark_block(s);
            continue;
        }
        mark_run(s, next + s->moved);
        s->run = s->out->size;
        if (own > 0) {
            put(s, s->line.text, own, ' ');
            cover_shortcode(s);
        }
    }
    mark_run(s, s->out->size);
    return FERRY_OK;
}

ferry_status ferry_md_prepare(ferry_md_reader *r)
{
    scanner s = {.reader = r, .source = r->source, .out = &r->text, .rule = SIZE_MAX, .lines = 1};
    s.run = r->least = ferry_front_matter_size(r->source);
    FERRY_TRY(ferry_buffer_append(&r->text, view_part(r->source, 0, r->least), r->error));
    FERRY_TRY(append_lines(&s));
    return ferry_buffer_end(&r->text, r->error);
}

size_t ferry_md_origin(ferry_md_reader *r, size_t at)
{
    size_t after = r->last_insert;
    while (after < r->insert_count && r->inserts[after].begin <= at) after++;
    while (after > 0 && r->inserts[after - 1].begin > at) after--;
    r->last_insert = after;
    if (after == 0) return at;
    const ferry_md_insert *insert = &r->inserts[after - 1];
    return (at < insert->end ? insert->end : at) - insert->moved;
}
