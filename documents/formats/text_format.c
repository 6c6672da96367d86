/* Plain text. Its paragraphs end at blank lines, at bullets, where the indentation or the quotation marks change, and
 * where a line ends although the next word would have had room by far: that is a list, or an address. */
#include <stdlib.h>

#include "base/array.h"
#include "base/utf8.h"
#include "documents/characters.h"
#include "documents/placeholders.h"
#include "formats.h"
#include "tokenizer/unicode.h"

/* A line: indentation and quotation marks, a bullet, text, blanks. */
typedef struct line {
    size_t begin;       /* its first byte */
    size_t quoted;      /* after the quotation marks and the indentation */
    size_t text, end;   /* after the bullet; the end of the text, which may be empty */
    size_t next;        /* the next line's first byte */
    size_t columns;     /* up to the end of the text */
    size_t indentation; /* columns before the text */
    size_t quotes;      /* quotation marks */
    bool has_bullet;
    bool is_rule;     /* has neither letters nor digits */
    bool is_prose;    /* has more letters than anything else */
    bool has_columns; /* separated by blanks, or … */
    bool bars;        /* by "|" or lines of boxes, with one at each end */
    size_t longest;   /* columns of the longest line from the first prose around it, between rules and blank lines */
} line;

enum { LEAST_COLUMNS = 40, MOST_LINES = 20 }; /* of lines that are wrapped; of an item with a letter */
enum { LEAST_JUSTIFIED = 60, MOST_GAP = 2 };  /* columns of a line of a manual, in which col puts tabs; of such a tab */

typedef struct reader {
    ferry_document *document;
    ferry_view source;
    line *lines; /* [count] */
    size_t count, capacity;
    size_t width; /* of the longest line of the paragraphs that are wrapped; 0: there are none */
} reader;

/* ---- lines ---- */

static size_t count_columns(ferry_view source, size_t begin, size_t end)
{
    size_t columns = 0;
    for (size_t at = begin; at < end; at++) {
        const unsigned char c = (unsigned char)source.data[at];
        columns = c == '\t' ? (columns / 8 + 1) * 8 : columns + ((c & 0xC0) != 0x80);
    }
    return columns;
}

/* The byte after "- ", "* ", "+ ", "• ", "1. ", "12) ", "(a) " at `at` of the text, or `at`; `lettered`: of "a. ", too.
 */
static size_t skip_bullet(ferry_view text, size_t at, bool lettered)
{
    size_t after = at + 1, symbol = at;
    uint32_t c = 0;
    const size_t time = skip_set(text, at, "0123456789:"), colon = find_one_of(text, at, ":");
    if (colon > at && colon + 2 < time && is_blank(byte_at(text, time))) return skip_blanks(text, time); /* 1:02:15 */
    const size_t key = skip(text, at, is_word, 4);
    if (key > at && key < at + 4 && begins_exactly(text, key, " = ") && byte_at(text, key + 3) > ' ') return key + 3;
    if (at < text.size && ferry_utf8_next(text, &symbol, &c) && c >= 0x2190 && (c < 0x2500 || c >= 0x2580) &&
        ferry_unicode_is_sign(c)) {
        after = symbol + 3 * (size_t)begins_exactly(text, symbol, "\xEF\xB8\x8F");
    } else if (begins_exactly(text, at, "\xE2\x80\xA2")) {
        after = at + 3;
    } else if (!(lettered && byte_at(text, at) == 'o') && !is_one_of(byte_at(text, at), "-*+")) {
        const size_t number = at + (byte_at(text, at) == '(');
        const size_t roman = skip_set(text, at, "ivx");
        if (roman > at && roman < at + 5 && begins_exactly(text, roman, roman > at + 1 ? ". " : ".  "))
            return skip_blanks(text, roman + 1);
        after = skip(text, number, is_digit, number > at ? 9 : 3);
        after += after == number && is_letter(byte_at(text, after));
        const char end = byte_at(text, after);
        if (after == number || !is_one_of(end, ").")) return at;
        if (end == '.' && !is_digit(text.data[number]) && !lettered) return at; /* "A. Smith" */
        after++;
    }
    const size_t next = skip_blanks(text, after);
    return next > after ? next : at;
}

/* "|", or a character of Unicode's "Box Drawing". */
static size_t bar_size(ferry_view text, size_t at)
{
    if (byte_at(text, at) == '|') return 1;
    return begins_exactly(text, at, "\xE2\x94") || begins_exactly(text, at, "\xE2\x95") ? 3 : 0;
}

/* Words of the text from byte `at` on that are letters, with a sign at the end; *others: those that are not. */
static size_t count_words(ferry_view text, size_t at, size_t *others)
{
    size_t words = 0;
    *others = 0;
    at = skip_set(text, at, "([");
    for (size_t end; at < text.size; at = skip_blanks(text, end)) {
        end = skip(text, at, is_word, text.size);
        const bool is_plain = end > at + 1 && !is_digit(text.data[at]) && !is_digit(text.data[end - 1]);
        end += is_plain && is_one_of(byte_at(text, end), ".,:!?");
        const bool ends = end == text.size || is_blank(text.data[end]);
        words += is_plain && ends;
        *others += !is_plain || !ends;
        end = find_one_of(text, end, " \t");
    }
    return words;
}

/* "1,234.5 red houses!": most words are letters, or three of them and nearly as many; "July 2019", "1-2 weeks". */
static bool has_words(ferry_view text, size_t at)
{
    size_t others;
    const size_t words = count_words(text, at, &others);
    size_t plain = at; /* numbers, and the word */
    while (plain < text.size && (is_name(text.data[plain]) || is_one_of(text.data[plain], " .,:/-"))) plain++;
    const bool begins = at < text.size && (is_digit(text.data[at]) || is_capital(text.data[at]));
    if (words == 1 && others < 3 && begins && plain == text.size) return true;
    return (words > 1 && words >= others) || (words > 2 && 4 * words >= 3 * others);
}

/* The byte after "Q: ", "NOTE: ", "send-email: ", one word, at `at` of the text; or `at`. */
static size_t skip_label(ferry_view text, size_t at)
{
    size_t colon = at;
    while (is_letter(byte_at(text, colon)) || (colon > at && byte_at(text, colon) == '-')) colon++;
    const size_t next = skip_blanks(text, colon + 1);
    return colon > at && byte_at(text, colon) == ':' && next > colon + 1 ? next : at;
}

/* Finds what the line's text consists of. Prose has twice as many letters as other characters, but for blanks, or most
 * of its words are letters: a shell's prompt, code and tables have fewer. */
static void examine(line *l, ferry_view text)
{
    size_t letters = 0, digits = 0, others = 0, blanks = 0, column = l->indentation, end = l->end;
    const char first = byte_at(text, l->text);
    while (is_one_of(first, "=*#~") && end > l->text && text.data[end - 1] == first) end--; /* "== Title ==" */
    const size_t begin = end < l->end ? skip_same(text, l->text) : l->text;
    const bool is_justified = l->indentation > 3 && l->columns >= LEAST_JUSTIFIED;
    for (size_t at = l->text; at < l->end; at++) {
        at = skip_terminal(text, at);
        if (at >= l->end) break;
        const char c = text.data[at];
        blanks = is_blank(c) ? blanks + 1 : 0;
        digits += is_digit(c);
        letters += is_word(c) && !is_digit(c);
        others += !is_blank(c) && !is_word(c) && at >= begin && at < end;
        const size_t width = c == '\t' ? 8 - column % 8 : (size_t)(((unsigned char)c & 0xC0) != 0x80);
        column += width;
        l->has_columns = l->has_columns || blanks > 2 || (c == '\t' && (!is_justified || width > MOST_GAP));
    }
    l->bars = l->end > l->text + 2 && bar_size(text, l->text) > 0 &&
              (text.data[l->end - 1] == '|' || (l->end > 3 && bar_size(text, l->end - 3) == 3));
    const bool is_option = first == '-' && byte_at(text, l->text + 1) != ' ';
    const ferry_view whole = view_part(text, l->text, l->end);
    const bool has_leaders = ferry_view_contains(whole, "....") || ferry_view_contains(whole, "...:");
    const bool has_gap = is_option && ferry_view_contains(whole, "  ");
    l->has_columns = l->has_columns || l->bars || has_leaders || has_gap;
    const size_t semicolon = find_one_of(text, l->text, ";"), mail = find_one_of(text, l->text, "<");
    const bool is_record = /* "NAME;CODE", "name (1.2) unstable; urgency=low", "Signed-off-by: Ann <ann@example.org>" */
        (semicolon > l->text && is_word(text.data[semicolon - 1]) && is_word(byte_at(text, semicolon + 1))) ||
        byte_at(text, skip_name(text, skip_blanks(text, semicolon + 1), "", SIZE_MAX)) == '=' ||
        (skip_label(text, l->text) > l->text && text.data[l->end - 1] == '>' && find_one_of(text, mail, "@") < l->end);
    const bool is_prompt = is_one_of(byte_at(text, l->text), "$%") && is_blank(byte_at(text, l->text + 1));
    l->is_rule = letters + digits == 0;
    const bool is_prose =
        has_leaders || letters >= 2 * (digits + others) || has_words(view_part(text, 0, l->end), l->text);
    l->is_prose = (is_prose || l->bars) && letters > 0 && !is_prompt && !is_record;
}

/* Whether a word of bytes begin … end - 1, but for the first one, begins with a small letter: they are no name. */
static bool has_small_word(ferry_view text, size_t begin, size_t end)
{
    for (size_t at = begin + 1; at < end; at++)
        if (is_blank(text.data[at - 1]) && text.data[at] >= 'a' && text.data[at] <= 'z') return true;
    return false;
}

/* The byte after "[09:47] Anna Berg: " or "[09:47] <anna> ", who says the line of a chat, and when; or `at`. */
static size_t skip_stamp(ferry_view text, size_t at)
{
    const size_t end = find_one_of(text, at, "]"), time = find_one_of(text, at, ":");
    if (byte_at(text, at) != '[' || end - at > 32 || time >= end || !is_digit(text.data[time - 1])) return at;
    const size_t name = skip_blanks(text, end + 1), colon = find_one_of(text, name, ":>");
    const size_t next = skip_blanks(text, colon + 1);
    if (byte_at(text, name) == '<' && byte_at(text, colon) == '>') return next;
    const bool has_name = byte_at(text, colon) == ':' && colon - name <= 40 && next > colon + 1;
    return has_name && !has_small_word(text, name, colon) ? next : name;
}

static line read_line(ferry_view source, size_t begin, bool lettered)
{
    const text_line bytes = read_text_line(source, begin);
    line l = {.begin = begin, .end = bytes.end, .next = bytes.next};
    while (l.end > begin && is_blank(source.data[l.end - 1])) l.end--;
    const ferry_view text = {source.data, l.end};
    for (l.quoted = skip_marks(text, begin); byte_at(text, l.quoted) == '>'; l.quotes++)
        l.quoted = skip_marks(text, l.quoted + 1);
    l.text = skip_bullet(text, l.quoted, lettered);
    if (l.text == l.quoted) l.text = skip_stamp(text, l.quoted);
    l.has_bullet = l.text > l.quoted;
    l.columns = count_columns(source, begin, l.end);
    l.indentation = count_columns(source, begin, l.text);
    examine(&l, text);
    return l;
}

/* "a. " begins an item if "b. " begins one of the next lines, in the same column; so does "o " with "o ". */
static void find_lettered_bullets(reader *r)
{
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < r->count; i++) {
        line *l = &r->lines[i];
        if (l->has_bullet || skip_bullet((ferry_view){r->source.data, l->end}, l->quoted, true) == l->quoted) continue;
        line *b = before == SIZE_MAX ? l : &r->lines[before];
        before = i;
        const bool counts = byte_at(r->source, l->quoted + 1) != ' '; /* "b. ", not "o " */
        if (l == b || l - b > MOST_LINES || l->quoted - l->begin != b->quoted - b->begin ||
            r->source.data[l->quoted] != r->source.data[b->quoted] + counts)
            continue;
        *b = read_line(r->source, b->begin, true);
        *l = read_line(r->source, l->begin, true);
    }
}

static ferry_status read_lines(reader *r)
{
    for (size_t at = 0; at < r->source.size; at = r->lines[r->count - 1].next) {
        const line l = read_line(r->source, at, false);
        FERRY_TRY(ferry_array_append(&r->lines, &r->count, &r->capacity, &l, sizeof l, r->document->error));
    }
    find_lettered_bullets(r);
    for (size_t i = 0, longest = 0; i < r->count; i++) {
        line *l = &r->lines[i];
        if (l->is_rule)
            longest = 0;
        else if ((longest > 0 || l->is_prose) && l->columns > longest)
            longest = l->columns;
        l->longest = longest > LEAST_COLUMNS ? longest : LEAST_COLUMNS;
    }
    for (size_t i = r->count; i-- > 1;)
        if (!r->lines[i].is_rule) r->lines[i - 1].longest = r->lines[i].longest;
    return FERRY_OK;
}

/* ---- paragraphs ---- */

/* Whether the line is labeled, and so is the one that its paragraph begins with; or the label has a capital, and a
 * sentence ends before it. */
static bool begins_labeled(const reader *r, size_t first, size_t i)
{
    const line *l = &r->lines[i], *head = &r->lines[first], *before = l - 1;
    const ferry_view text = {r->source.data, l->end};
    const bool ends = is_capital(r->source.data[l->text]) && is_one_of(r->source.data[before->end - 1], ".!?:");
    const bool is_list = l->is_prose && skip_label(text, head->text) > head->text;
    return skip_label(text, l->text) > l->text && (ends || is_list);
}

/* Whether the line is nothing but an address or a number: "https://example.org", "+1 646 558 8656". */
static bool is_alone(const reader *r, const line *l)
{
    const ferry_view text = {r->source.data, l->end};
    return ferry_find_address(text, l->text) == l->end || skip_set(text, l->text, "0123456789+-() ./") == l->end;
}

/* Whether the line is a comment: "# ", "// ". */
static bool is_comment(const reader *r, const line *l)
{
    return byte_at(r->source, l->text) == '#' || begins_exactly(r->source, l->text, "//");
}

/* Whether line i goes on with the text of the line before, in a paragraph that began at `first`. */
static bool continues(const reader *r, size_t first, size_t i)
{
    const line *l = &r->lines[i], *before = &r->lines[i - 1];
    if (is_comment(r, l) != is_comment(r, before)) return false;
    if (l->is_rule || l->has_bullet || l->quotes != before->quotes || begins_labeled(r, first, i)) return false;
    if (l->has_columns || before->has_columns || is_alone(r, l) || is_alone(r, before)) return false;
    if (i > first + 1 && l->indentation != before->indentation) return false;
    if (i == first + 1 && before->has_bullet &&
        l->indentation <= count_columns(r->source, before->begin, before->quoted))
        return false;
    const size_t word_end = find_one_of((ferry_view){r->source.data, l->end}, l->text, " \t");
    const size_t columns = before->columns + 1 + count_columns(r->source, l->text, word_end);
    return 4 * columns > 3 * l->longest;
}

/* The line after the paragraph that begins with line `first`. */
static size_t end_paragraph(const reader *r, size_t first)
{
    size_t after = first + 1;
    while (r->lines[first].is_prose && after < r->count && continues(r, first, after)) after++;
    return after;
}

/* Commands and code stand further to the right than the text before them, and do not begin as sentences do. */
static bool is_apart(const reader *r, const line *l, size_t indentation)
{
    const char c = byte_at(r->source, skip_set(r->source, l->text, "([\"'"));
    return !l->has_bullet && l->indentation >= indentation + 4 && !is_capital(c) && (unsigned char)c < 0x80;
}

/* Whether the line has as many words as prose has, and code has not; or if another one continues it, nearly so. */
static bool is_wrapped(const reader *r, const line *l, bool goes_on)
{
    const char last = r->source.data[l->end - 1];
    size_t blanks = 0;
    for (size_t at = l->text; at < l->end; at++) blanks += r->source.data[at] == ' ';
    size_t others;
    const size_t words = count_words((ferry_view){r->source.data, l->end}, l->text, &others);
    if (find_one_of((ferry_view){r->source.data, l->end}, l->text, ";={}#") < l->end) return false;
    if (words > 4 && words > 2 * others) return true;
    return goes_on && blanks > 5 && is_word(r->source.data[l->text]) && (is_word(last) || is_one_of(last, ",.:"));
}

/* ---- blocks ---- */

static ferry_status add_text(const reader *r, size_t begin, size_t end)
{
    FERRY_TRY(ferry_document_begin_segment(r->document, begin));
    FERRY_TRY(ferry_document_text(r->document, begin, end, (ferry_view){NULL, 0}));
    return ferry_document_end_segment(r->document, end);
}

/* Bytes between two cells, or before the first one and behind the last one: a tab, three blanks, two behind an option,
 * the bars of a table. */
static size_t gap_size(const reader *r, const line *l, size_t at)
{
    const ferry_view text = {r->source.data, l->end};
    const size_t blanks = skip_blanks(text, at) - at, bar = l->bars ? bar_size(text, at + blanks) : 0;
    const size_t dots = skip_set(text, at + blanks, ".") - at - blanks;
    if (dots > 3 || (dots == 3 && byte_at(text, at + blanks + 3) == ':')) /* they lead to a page or a value */
        return skip_set(text, at + blanks + dots, ": ") - at;
    const bool is_wide =
        blanks > 2 || memchr(text.data + at, '\t', blanks) != NULL || (blanks > 1 && text.data[l->text] == '-');
    return bar > 0 ? skip_blanks(text, at + blanks + bar) - at : is_wide ? blanks : 0;
}

/* Cells of a table; one that has no letters is none. */
static ferry_status add_cells(const reader *r, const line *l)
{
    for (size_t at = l->text + gap_size(r, l, l->text); at < l->end;) {
        size_t end = at, gap = 0;
        while (end < l->end && (gap = gap_size(r, l, end)) == 0) end++;
        const size_t digits = skip_set((ferry_view){r->source.data, end}, at, "0123456789.,/ ");
        const bool is_amount = digits > at && is_digit(r->source.data[at]) &&
                               ferry_unit_size((ferry_view){r->source.data + digits, end - digits}) == end - digits;
        if (end > at && !is_amount) FERRY_TRY(add_text(r, at, end));
        at = end + gap;
    }
    return FERRY_OK;
}

/* A paragraph of one line, in a document of wrapped ones: further lines begin below its text. */
static ferry_status wrap(const reader *r, const line *l)
{
    char line_end[128];
    size_t size = 0;
    if (r->width == 0 || l->next == r->source.size || l->text - l->begin + 2 > sizeof line_end) return FERRY_OK;
    for (size_t at = l->end; at < l->next; at++)
        if (!is_blank(r->source.data[at])) line_end[size++] = r->source.data[at];
    for (size_t at = l->begin; at < l->text; at++) {
        const char c = r->source.data[at];
        const bool stays = c == '\t' || (at < l->quoted && c == '>');
        if (((unsigned char)c & 0xC0) != 0x80) line_end[size++] = stays ? c : ' ';
    }
    return ferry_document_wrap(r->document, r->width, (ferry_view){line_end, size});
}

/* A label in capitals is a text of its own, "NOTE: "; one that is a letter stays, "Q: ". */
static ferry_status add_paragraph(const reader *r, size_t first, size_t after)
{
    const line *l = &r->lines[first];
    const ferry_view line_text = {r->source.data, l->end};
    const size_t label = skip_label(line_text, l->text), capitals = skip(line_text, l->text, is_capital, SIZE_MAX);
    const bool is_apart = label > l->text && r->source.data[capitals] == ':' && label < l->end;
    size_t begin = is_apart ? label : l->text;
    if (is_apart && capitals > l->text + 1) FERRY_TRY(add_text(r, l->text, capitals + 1));
    FERRY_TRY(ferry_document_begin_segment(r->document, begin));
    if (after == first + 1) FERRY_TRY(wrap(r, l));
    for (size_t i = first; i < after; i++, l++) {
        if (i > first) begin = l->text;
        FERRY_TRY(ferry_document_text(r->document, begin, l->end, (ferry_view){NULL, 0}));
        if (i + 1 < after)
            FERRY_TRY(ferry_document_break(r->document, l->end, skip_set(r->source, l[1].begin, " \t>"), true));
    }
    return ferry_document_end_segment(r->document, r->lines[after - 1].end);
}

/* ---- the document ---- */

/* Whether the line is one of a patch: the first one, or one behind it. */
static bool is_of_patch(ferry_view source, const line *l, bool goes_on)
{
    const ferry_view text = {source.data, l->end};
    if (begins_exactly(text, l->begin, "diff --") || begins_exactly(text, l->begin, "@@ -")) return true;
    return goes_on && (is_one_of(byte_at(source, l->begin), " +-\\\t") || begins_exactly(text, l->begin, "index ") ||
                       ferry_view_contains(view_part(text, l->begin, l->end), " file mode "));
}

/* "-- ", which begins the signature of a mail (RFC 3676, 4.3). */
static bool begins_signature(ferry_view source, const line *l)
{
    return l->end == l->begin + 2 && begins_exactly(source, l->begin, "-- ");
}

/* What the last line was of. */
typedef struct apart {
    bool patch, signature; /* of a mail, up to a blank line */
} apart;

/* Whether line i is of a patch or a signature; what is no name in that is a text. */
static ferry_status read_apart(const reader *r, const line *l, apart *of)
{
    of->patch = is_of_patch(r->source, l, of->patch);
    if (of->patch) return FERRY_OK;
    of->signature = (of->signature && l->text < l->end) || begins_signature(r->source, l);
    return of->signature && has_small_word(r->source, l->text, l->end) ? add_text(r, l->text, l->end) : FERRY_OK;
}

static void find_width(reader *r)
{
    for (size_t first = 0, after; first < r->count; first = after) {
        after = end_paragraph(r, first);
        for (size_t i = first; i < after && after > first + 1; i++)
            r->width = r->lines[i].columns > r->width ? r->lines[i].columns : r->width;
    }
}

static ferry_status read_paragraphs(reader *r)
{
    size_t indentation = 0, added = 0; /* of the last paragraph that was text; the line behind it */
    apart of = {.patch = false};
    find_width(r);
    for (size_t first = 0, after; first < r->count; first = after) {
        const line *l = &r->lines[first];
        FERRY_TRY(read_apart(r, l, &of));
        after = of.patch || of.signature ? first + 1 : end_paragraph(r, first);
        if (of.patch || of.signature) continue;
        const bool goes_on = first > 0 && added == first && l->indentation == l[-1].indentation &&
                             skip_label((ferry_view){r->source.data, l->end}, l->text) > l->text;
        const bool stands_apart = is_apart(r, l, indentation) && !goes_on;
        if (!l->is_prose || (stands_apart && !is_wrapped(r, l, after > first + 1))) continue;
        if (!stands_apart) indentation = l->indentation;
        added = after;
        FERRY_TRY(l->has_columns ? add_cells(r, l) : add_paragraph(r, first, after));
    }
    return FERRY_OK;
}

static ferry_status read_text(ferry_document *document)
{
    reader r = {.document = document, .source = document->source};
    ferry_status status = read_lines(&r);
    if (status == FERRY_OK) status = read_paragraphs(&r);
    free(r.lines);
    return status;
}

/* Not with a word that would be a bullet or a quotation mark. */
static bool may_begin_line(ferry_view text)
{
    char word[8] = "        ";
    if (text.size >= sizeof word || *text.data == '>') return *text.data != '>';
    memcpy(word, text.data, text.size);
    return skip_bullet((ferry_view){word, sizeof word}, 0, false) == 0;
}

const ferry_document_format ferry_format_text = {
    .name = "text", .endings = {".txt"}, .read = read_text, .may_begin_line = may_begin_line};
