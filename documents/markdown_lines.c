/* Markdown as md4c understands it. What other programs add to CommonMark is found here, line by line, and md4c gets
 * something that it knows at the same places, with the same bytes of text:
 *
 *     [^1]: A note             -   ¦ A note        an item of a list; ¦: bytes that divide texts (FERRY_MD_DIVIDES)
 *     *[UN]: Nations           -   ¦¦ Nations
 *     :   A definition         -   A definition
 *     !!! note "Title"         -   #     Title     an item that begins with a heading
 *     :::tip Title             #      Title
 *     > [!NOTE] Title          >  #      Title
 *     {% tabs %}   $$ …        (blanks)
 *     $a*b$ [^1]               KKKKK PPPP          bytes that are kept, that stand alone
 *     <Tag a={{b: 1}}>         <Tag a=xxxxxxxx>
 *     | a |                    #                   a heading without text before it, if it is below text
 *                              | a |
 *     | - |                    | --- |
 *
 * Text itself is always read from the document: what is found by mistake is at most kept. */
#include <string.h>

#include "markdown_parts.h"

typedef struct line {
    size_t begin, text, end, next; /* text: behind blanks and ">"; end: before blanks and the end of the line */
    size_t quotes;                 /* how many ">" */
} line;

typedef struct scanner {
    ferry_view source;
    ferry_md_text *out;
    line line;
    size_t moved; /* the line's bytes are so many bytes further in `out` than in the source */
    size_t run;   /* where in `out` text begins that may have something to be marked in it */
    char fence;   /* of fenced code that is open */
    size_t fence_size, fence_quotes;
    size_t rule;          /* the line below the head of a table */
    size_t lines;         /* of the paragraph; 0: it is a table */
    bool is_html;         /* it begins with a tag, so that it may be a block of HTML */
    ferry_view shortcode; /* the last one that began, and where in `out` */
    size_t shortcode_begin;
} scanner;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_letter(char c)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || (unsigned char)c >= 0x80;
}

static bool is_alnum(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static bool begins(ferry_view text, const char *with)
{
    const size_t size = strlen(with);
    return text.size >= size && memcmp(text.data, with, size) == 0;
}

static ferry_view from(ferry_view text, size_t at)
{
    return (ferry_view){text.data + at, text.size - at};
}

static line find_line(ferry_view source, size_t begin)
{
    line l = {.begin = begin, .text = begin};
    const char *newline = memchr(source.data + begin, '\n', source.size - begin);
    l.next = l.end = newline != NULL ? (size_t)(newline - source.data) + 1 : source.size;
    while (l.end > begin && is_blank(source.data[l.end - 1])) l.end--;
    for (; l.text < l.end && (is_blank(source.data[l.text]) || source.data[l.text] == '>'); l.text++)
        l.quotes += source.data[l.text] == '>';
    return l;
}

/* ---- what is marked within a line ---- */

typedef struct span_kind {
    const char *open, *close;
    ferry_md_kind mark; /* what it becomes within text; PLAIN: nothing */
    bool owns;          /* lines that it has for itself, which are no text then */
} span_kind;

static const span_kind span_kinds[] = {
    {"{{<", ">}}", FERRY_MD_KEPT, true}, /* templates: Hugo, Jekyll */
    {"{{%", "%}}", FERRY_MD_KEPT, true},  {"{{", "}}", FERRY_MD_KEPT, false},
    {"{%", "%}", FERRY_MD_KEPT, true},    {"{/*", "*/}", FERRY_MD_KEPT, true}, /* MDX */
    {"{:", "}", FERRY_MD_DIVIDES, true}, /* names and classes of what is before: kramdown, Pandoc */
    {"{#", "}", FERRY_MD_DIVIDES, true},  {"{.", "}", FERRY_MD_DIVIDES, true},
    {"$$", "$$", FERRY_MD_KEPT, true}, /* formulas */
    {"$", "$", FERRY_MD_KEPT, false},     {"\\[", "\\]", FERRY_MD_PLAIN, true},
    {"\\(", "\\)", FERRY_MD_KEPT, false}, {"[[", "]]", FERRY_MD_KEPT, true}, /* names of pages: wikis */
    {"[@", "]", FERRY_MD_KEPT, false},                                       /* books: Pandoc */
    {"[^", "]", FERRY_MD_STANDS, false},  {"[TOC", "]", FERRY_MD_KEPT, true},
};

/* Whether bytes 0 … size - 1 are what they look like. `before`: the byte before them. */
static bool is_span(const span_kind *kind, ferry_view text, size_t size, char before)
{
    const char after = size < text.size ? text.data[size] : '\n';
    const ferry_view inner = {text.data + strlen(kind->open), size - strlen(kind->open) - strlen(kind->close)};
    const char first = inner.size > 0 ? inner.data[0] : ' ', last = inner.size > 0 ? inner.data[inner.size - 1] : ' ';
    switch (kind->open[0]) {
    case '$': /* "$5 and $6", "$5 or US$ 6" are none. */
        for (size_t i = 3; i < inner.size && first >= '0' && first <= '9'; i++)
            if (is_blank(inner.data[i - 2]) && is_letter(inner.data[i - 1]) && is_letter(inner.data[i])) return false;
        return strlen(kind->open) == 2 || !(is_blank(first) || is_blank(last) || is_alnum(before) || is_alnum(after));
    case '\\': /* "\(text\)" is text, and "\[text\]" how text in brackets is written. */
        if (kind->owns && !is_blank(first)) return false;
        for (size_t i = 0; i < inner.size; i++)
            if (strchr("\\^_={}+<>|", inner.data[i]) != NULL && inner.data[i] != '\0') return true;
        return inner.size > 0 && inner.size < 3;
    case '[':
        for (size_t i = 0; i < inner.size; i++)
            if (inner.data[i] == '[' || inner.data[i] == ']' || (kind->open[1] == '^' && is_blank(inner.data[i])))
                return false;
        return (inner.size > 0 || kind->open[1] == 'T') && (kind->open[1] == '^' || (after != '(' && after != '['));
    default: return kind->mark != FERRY_MD_DIVIDES || is_blank(after);
    }
}

/* The bytes of what the text begins with, and what it is. It ends in its line, or (`lines`) in its paragraph, before it
 * begins again, so that time is linear. 0: it is nothing of the kind. */
static size_t find_span(ferry_view text, char before, bool lines, const span_kind **kind)
{
    const span_kind *last = span_kinds + sizeof span_kinds / sizeof *span_kinds;
    for (*kind = span_kinds; *kind < last && !(begins(text, (*kind)->open) && (!lines || (*kind)->owns)); ++*kind)
        continue;
    if (*kind == last) return 0;
    const size_t close = strlen((*kind)->close);
    for (size_t at = strlen((*kind)->open); at < text.size; at++) {
        const ferry_view rest = from(text, at);
        if (begins(rest, (*kind)->close)) return is_span(*kind, text, at + close, before) ? at + close : 0;
        if (begins(rest, (*kind)->open)) return 0;
        at += rest.data[0] == '\\' && (*kind)->open[0] != '\\';
        if (rest.data[0] != '\n') continue;
        if (!lines) return 0;
        const line next = find_line(text, at + 1);
        if (next.text == next.end) return 0;
    }
    return 0;
}

/* <Tag a={…} {…b}>: what md4c does not know becomes letters. Returns the bytes that were read; *gives_up: braces do not
 * end. */
static size_t cover_tag(char *data, size_t size, bool *gives_up)
{
    enum { MOST = 4096 };
    size_t at = 1;
    for (; at < size && data[at] != '<' && data[at] != '>'; at++) {
        size_t depth = 0, end = at;
        do {
            depth += (size_t)(data[end] == '{') - (size_t)(data[end] == '}');
            end++;
        } while (depth > 0 && depth < MOST && end < size && end - at < MOST);
        if (data[at] != '{') continue;
        *gives_up = depth > 0;
        if (depth > 0) break;
        for (; at < end; at++)
            if (data[at] != '\n' && data[at] != '\r') data[at] = 'x';
        at--;
    }
    return at;
}

/* Marks what is in the text from s->run up to byte `end` of `out`, but for code. */
static void mark_run(scanner *s, size_t end)
{
    char *data = s->out->text.data;
    size_t ticks = 0;
    bool gives_up = false;
    for (size_t at = s->run, size; at < end; at += size) {
        const span_kind *kind;
        size = 1;
        while (data[at] == '`' && at + size < end && data[at + size] == '`') size++;
        if (data[at] == '`') ticks = ticks == 0 ? size : ticks == size ? 0 : ticks;
        if (data[at] == '`' || ticks > 0) continue;
        const ferry_view rest = {data + at, end - at};
        if (data[at] == '<' && !gives_up && rest.size > 1 && is_alnum(data[at + 1])) {
            size = cover_tag(data + at, end - at, &gives_up);
            continue;
        }
        if (strchr("{$\\[", data[at]) == NULL || data[at] == '\0') continue;
        const size_t found = find_span(rest, at > s->run ? data[at - 1] : '\n', false, &kind);
        if (found > 0 && kind->mark != FERRY_MD_PLAIN) memset(data + at, (int)kind->mark, found);
        if (found > 0)
            size = found;
        else if (data[at] == '\\' && at + 1 < end)
            size = 2;
    }
    s->run = end;
}

/* ---- lines ---- */

static ferry_view text_of(const scanner *s)
{
    return (ferry_view){s->source.data + s->line.text, s->line.end - s->line.text};
}

static void put(scanner *s, size_t begin, size_t end, int c)
{
    for (size_t at = begin + s->moved; at < end + s->moved; at++)
        if (s->out->text.data[at] != '\n' && s->out->text.data[at] != '\r') s->out->text.data[at] = (char)c;
}

/* Whether the line belongs to fenced code. */
static bool is_code(scanner *s)
{
    const char *data = s->source.data;
    const line *l = &s->line;
    size_t at = l->text, size = 0;
    if (l->quotes < s->fence_quotes) s->fence_size = 0;
    while (s->fence_size == 0 && at + 1 < l->end && is_blank(data[at + 1]) && strchr("-+*", data[at]) != NULL) at += 2;
    while (at < l->end && is_blank(data[at])) at++;
    const char c = at < l->end ? data[at] : '\0';
    while (at + size < l->end && data[at + size] == c) size++;
    const bool fence = size >= 3 && (c == '`' || c == '~');
    if (s->fence_size > 0) {
        if (fence && c == s->fence && size >= s->fence_size && at + size == l->end) s->fence_size = 0;
        return true;
    }
    if (!fence || (c == '`' && memchr(data + at + size, '`', l->end - at - size) != NULL)) return false;
    s->fence = c;
    s->fence_size = size;
    s->fence_quotes = l->quotes;
    return true;
}

/* Where the lines end that have nothing but templates and formulas; 0: there are none. */
static size_t skip_own_lines(const scanner *s)
{
    const char *data = s->source.data;
    const span_kind *kind;
    size_t at = s->line.text;
    do {
        const size_t size = find_span(from(s->source, at), '\n', true, &kind);
        if (size == 0) return 0;
        at += size;
        while (at < s->source.size && is_blank(data[at]) && data[at] != '\n') at++;
    } while (at < s->source.size && data[at] != '\n');
    return at < s->source.size ? at + 1 : at;
}

/* Where a paragraph of MDX's imports and exports ends; 0: it is none. */
static size_t skip_module(const scanner *s)
{
    const ferry_view text = text_of(s);
    line l = s->line;
    if (l.text > l.begin || !(begins(text, "import ") || begins(text, "export "))) return 0;
    if (strchr("'\";{}()>", text.data[text.size - 1]) == NULL) return 0;
    while (l.next < s->source.size && l.text < l.end) l = find_line(s->source, l.next);
    return l.next;
}

/* "[^name]:", "*[NAME]:" at the beginning: its bytes, or 0. */
static size_t find_label(ferry_view text)
{
    size_t at = 2;
    if (!begins(text, "[^") && !begins(text, "*[")) return 0;
    while (at < text.size && strchr("[]", text.data[at]) == NULL && (text.data[0] == '*' || !is_blank(text.data[at])))
        at++;
    return at > 2 && begins(from(text, at), "]:") ? at + 2 : 0;
}

/* Where the title begins in "!!! name "title"", "=== "title"", above lines that are indented, in ":::name {…} title",
 * and in "> [!name]+ title"; 0: the line is none of them. */
static size_t find_title(const scanner *s)
{
    const ferry_view text = text_of(s);
    const char below = s->line.next < s->source.size ? s->source.data[s->line.next] : '\n', *end;
    size_t at = 3;
    if ((begins(text, "!!! ") || begins(text, "??? ") || begins(text, "???+ ") || begins(text, "=== \"")) &&
        (is_blank(below) || below == '>')) {
        end = text.data[text.size - 1] == '"' ? memchr(text.data, '"', text.size - 1) : NULL;
        return end != NULL ? (size_t)(end - text.data) + 1 : text.size;
    }
    if (s->line.quotes > 0 && begins(text, "[!") && text.size > 2 && is_letter(text.data[2])) {
        end = memchr(text.data, ']', text.size);
        if (end == NULL) return 0;
        at = (size_t)(end - text.data) + 1;
        return at + (at < text.size && strchr("+-", text.data[at]) != NULL);
    }
    if (!begins(text, ":::")) return 0;
    while (at < text.size && (text.data[at] == ':' || is_blank(text.data[at]))) at++;
    while (at < text.size && !is_blank(text.data[at]) && strchr("[{", text.data[at]) == NULL) at++;
    end = at < text.size && text.data[at] == '{' ? memchr(text.data + at, '}', text.size - at) : NULL;
    if (end != NULL) at = (size_t)(end - text.data) + 1;
    return at + (at < text.size && text.data[at] == '[');
}

/* The target of a definition, "[name]: target", becomes short: md4c reads it whenever it is used. */
static void shorten_target(scanner *s)
{
    enum { MOST_NAME = 1000, LONG = 200 };
    const ferry_view text = text_of(s);
    size_t at = 1, end;
    while (at < MOST_NAME && at + 1 < text.size && !begins(from(text, at), "]:")) at++;
    for (at += 2; at < text.size && is_blank(text.data[at]);) at++;
    for (end = at; end < text.size && !is_blank(text.data[end]);) end++;
    if (end < at + LONG || !begins(text, "[") || (end < text.size && !begins(from(text, end), " \""))) return;
    put(s, s->line.text + at, s->line.text + end, ' ');
    put(s, s->line.text + at, s->line.text + at + 1, 'x');
}

/* What begins a block for others becomes a list item or a heading. */
static void mark_block(scanner *s)
{
    const ferry_view text = text_of(s);
    const size_t begin = s->line.text, label = find_label(text);
    const size_t title = find_title(s);
    if (label == 0 && title == 0) {
        if (text.size > 1 && text.data[0] == ':' && is_blank(text.data[1])) put(s, begin, begin + 1, '-');
        /* not known to md4c: <h2> … <h6> */
        const size_t h = begins(text, "</") ? 2 : 1;
        if (text.size > h + 1 && text.data[0] == '<' && (text.data[h] | 32) == 'h' && text.data[h + 1] > '0' &&
            text.data[h + 1] < '7')
            put(s, begin + h + 1, begin + h + 2, '1');
        shorten_target(s);
        return;
    }
    mark_run(s, s->line.begin + s->moved);
    if (label > 0) {
        put(s, begin + 4, begin + label, FERRY_MD_DIVIDES);
    } else {
        const bool is_item = strchr("!?=", text.data[0]) != NULL;
        const bool quoted =
            strchr("\"]", text.data[text.size - 1]) != NULL && title > 0 && strchr("\"[", text.data[title - 1]) != NULL;
        put(s, begin, begin + title, ' ');
        if (quoted && title < text.size) put(s, s->line.end - 1, s->line.end, ' ');
        put(s, begin + 4 * is_item, begin + 4 * is_item + 1, '#');
        if (!is_item) return;
    }
    put(s, begin, begin + 4, ' ');
    put(s, begin, begin + 1, '-');
    if (label == 0) put(s, begin + 4, begin + 5, '#');
}

/* What is between {{< name >}} and {{< /name >}}, {% highlight … %} and {% endhighlight %} is no text. */
static void cover_shortcode(scanner *s)
{
    ferry_view name = text_of(s);
    const bool is_tag = begins(name, "{%");
    const char *const end = is_tag ? "end" : "/";
    if (!is_tag && !begins(name, "{{<")) return;
    for (name = from(name, is_tag ? 2 : 3); name.size > 0 && is_blank(name.data[0]);) name = from(name, 1);
    const bool ends = begins(name, end);
    if (ends) name = from(name, strlen(end));
    size_t size = 0;
    while (size < name.size && !is_blank(name.data[size]) && name.data[size] != '>') size++;
    name.size = size;
    if (is_tag && !ferry_view_is(name, "highlight")) return;
    if (ends && ferry_view_equal(name, s->shortcode))
        for (size_t at = s->shortcode_begin; at < s->out->text.size; at++)
            if (!is_blank(s->out->text.data[at])) s->out->text.data[at] = ' ';
    s->shortcode = ends ? (ferry_view){NULL, 0} : name;
    s->shortcode_begin = s->out->text.size;
}

/* ---- tables ---- */

/* The cells of a row; with `rule`: of a line that is below the head, 0 if it is none. */
static size_t count_cells(ferry_view row, bool rule)
{
    size_t cells = 1, dashes = 0;
    if (rule && memchr(row.data, '|', row.size) == NULL) return 0;
    for (size_t at = row.size > 0 && row.data[0] == '|'; at < row.size; at++) {
        const char c = row.data[at];
        if (rule && c != '-' && c != '|' && c != ':' && !is_blank(c)) return 0;
        dashes += c == '-' && (at == 0 || row.data[at - 1] != '-');
        cells += c == '|' && at + 1 < row.size;
        at += c == '\\';
    }
    return rule && dashes != cells ? 0 : cells;
}

/* Whether the line is the head of a table. */
static bool begins_table(scanner *s)
{
    if (s->line.next >= s->source.size || s->line.text == s->line.end) return false;
    const line rule = find_line(s->source, s->line.next);
    const size_t cells = count_cells((ferry_view){s->source.data + rule.text, rule.end - rule.text}, true);
    if (cells == 0 || rule.quotes != s->line.quotes || cells != count_cells(text_of(s), false)) return false;
    s->rule = rule.begin;
    return true;
}

static ferry_status insert(scanner *s, ferry_view text, ferry_error *error)
{
    ferry_md_text *out = s->out;
    ferry_md_insert *grown = ferry_array_grow(out->inserts, &out->capacity, out->count + 1, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "a document", (out->count + 1) * sizeof *grown);
    out->inserts = grown;
    const size_t begin = out->text.size;
    FERRY_TRY(ferry_string_append(&out->text, text, error));
    s->moved += text.size;
    grown[out->count++] = (ferry_md_insert){.begin = begin, .end = out->text.size, .moved = s->moved};
    return FERRY_OK;
}

/* Appends the line, the rule of a table with three dashes in each cell. */
static ferry_status append_line(scanner *s, ferry_error *error)
{
    const char *data = s->source.data;
    for (size_t at = s->line.begin, after; at < s->line.next; at = after) {
        after = s->line.next;
        if (s->line.begin == s->rule)
            for (after = at + 1; after < s->line.next && !(data[after - 1] == '-' && data[after] != '-');) after++;
        FERRY_TRY(ferry_string_append(&s->out->text, (ferry_view){data + at, after - at}, error));
        if (s->line.begin == s->rule && data[after - 1] == '-') FERRY_TRY(insert(s, ferry_text_view("--"), error));
    }
    return FERRY_OK;
}

/* ---- the document ---- */

/* Longer paragraphs are divided: md4c looks for the line of each link from the first one on. */
enum { MOST_LINES = 1000 };

static ferry_status append_lines(scanner *s, size_t begin, ferry_error *error)
{
    const char *data = s->source.data;
    bool below_text = false;
    for (size_t next; begin < s->source.size; begin = next) {
        s->line = find_line(s->source, begin);
        next = s->line.next;
        const bool is_text = !is_code(s) && s->line.text < s->line.end;
        const bool is_html = is_text && (below_text ? s->is_html : begins(text_of(s), "<")),
                   is_free = is_text && !is_html;
        const size_t own = is_free ? skip_own_lines(s) : 0, module = is_free && !below_text ? skip_module(s) : 0;
        if (own > 0 || module > 0) s->line.next = next = own > 0 ? own : module;
        const bool is_table = is_free && own == 0 && module == 0 && s->lines > 0 && begins_table(s);
        if (is_table ? below_text : s->lines == MOST_LINES) {
            FERRY_TRY(insert(s, (ferry_view){data + begin, s->line.text - begin}, error));
            FERRY_TRY(insert(s, ferry_text_view("#\n"), error));
            s->lines = 1;
        }
        FERRY_TRY(append_line(s, error));
        s->is_html = is_html;
        below_text = is_text && own == 0 && module == 0;
        s->lines = is_table ? 0 : !below_text ? 1 : s->lines + (s->lines > 0);
        if (below_text) {
            mark_block(s);
            continue;
        }
        mark_run(s, begin + s->moved);
        s->run = s->out->text.size;
        if (own > 0 || module > 0) put(s, s->line.text, next, ' ');
        if (own > 0) cover_shortcode(s);
    }
    mark_run(s, s->out->text.size);
    return FERRY_OK;
}

/* The bytes of "---", lines, "---" or "..." at the beginning; of "+++", too. */
static size_t skip_front_matter(ferry_view source)
{
    for (size_t at = 0, next; at < source.size; at = next) {
        const line l = find_line(source, at);
        const ferry_view text = {source.data + at, l.end - at};
        const bool dashes = source.data[0] == '-';
        next = l.next;
        const bool fence = ferry_view_is(text, dashes ? "---" : "+++");
        if (at == 0 && !fence) return 0;
        if (at > 0 && (fence || (dashes && ferry_view_is(text, "...")))) return next;
    }
    return 0;
}

ferry_status ferry_md_prepare(ferry_view source, ferry_md_text *out, ferry_error *error)
{
    *out = (ferry_md_text){.begin = skip_front_matter(source)};
    scanner s = {.source = source, .out = out, .run = out->begin, .rule = SIZE_MAX, .lines = 1};
    FERRY_TRY(ferry_string_append(&out->text, (ferry_view){source.data, out->begin}, error));
    FERRY_TRY(append_lines(&s, out->begin, error));
    return ferry_string_end(&out->text, error);
}

size_t ferry_md_source_place(const ferry_md_text *text, size_t at)
{
    size_t low = 0, high = text->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (text->inserts[middle].begin <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return at;
    const ferry_md_insert *last = &text->inserts[low - 1];
    return (at < last->end ? last->end : at) - last->moved;
}
