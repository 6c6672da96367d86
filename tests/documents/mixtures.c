/* Documents in which each construct of a format is within each other one, translated into capitals (stand_in.h).
 *     mixtures FORMAT FIRST COUNT          checks documents number FIRST … FIRST + COUNT - 1
 *     mixtures FORMAT FIRST COUNT print    prints each of them and its translation, both with a NUL behind them
 *
 * The constructs are in tests/data/documents/mixtures.tsv. A document is its number; one with an odd number has
 * unbalanced markup, too. Checked is:
 * - A model that returns its input gives the same bytes.
 * - Markup, names and placeholders ("atoms"; most have a name of their own, "qab") are there as often as before.
 * - But for the case of letters, for blanks and for what a format adds, all bytes are there in their order; not of
 *   catalogs, whose translations are in other places.
 * - Documents with an even number, but for plain text: prose is in capitals, unless a note says that a text stays. */
#include "document_support.h"
#include "tests/support/files.h"

/* One document in ACCEPTED may differ: what some unbalanced markup means is debatable. */
enum { ACCEPTED = 2000 };
enum { MOST_CONSTRUCTS = 200, MOST_ATOMS = 200, MOST_DEPTH = 2, MOST_FAILURES = 20 };

typedef enum kind { LEAF, INLINE, BLOCK, RAW, DOCUMENT, KINDS } kind;
static const char *const kinds[KINDS] = {"leaf", "inline", "block", "raw", "document"};

typedef struct construct {
    ferry_view pattern, line;
    kind kind;
} construct;

/* A format's constructs: those that are put within each other, then those of the last two kinds. */
typedef struct grammar {
    construct constructs[MOST_CONSTRUCTS];
    size_t counts[KINDS], first[KINDS + 1];
} grammar;

typedef struct maker {
    const grammar *grammar;
    ferry_buffer text;
    uint64_t random;
    size_t pair;          /* outer construct × count + inner construct; SIZE_MAX: they are in the text */
    bool hostile;         /* with unbalanced markup */
    bool escaped;         /* within a string */
    const char *line_end; /* before and behind a block */
    size_t opaque;        /* constructs around this place whose text stays */
    size_t next_name, atom_count, opaque_words;
    char atoms[MOST_ATOMS][80];
    bool stays[MOST_ATOMS]; /* the atom is in text that stays */
} maker;

static const char *const words[] = {"children", "mother", "houses", "garden", "never", "yellow", "books", "walking"};
enum { WORDS = sizeof words / sizeof *words };

/* ---- the constructs ---- */

/* The field up to a tab or the end, which is taken from *rest. */
static ferry_view take_field(ferry_view *rest)
{
    const char *tab = memchr(rest->data, '\t', rest->size);
    const ferry_view field = {rest->data, tab != NULL ? (size_t)(tab - rest->data) : rest->size};
    const size_t taken = field.size + (tab != NULL);
    *rest = (ferry_view){rest->data + taken, rest->size - taken};
    return field;
}

static void read_construct(grammar *g, const char *format, kind wanted, ferry_view line)
{
    const ferry_view formats = take_field(&line), name = take_field(&line);
    if (!ferry_view_is(name, kinds[wanted])) return;
    if (!ferry_view_is(formats, "all") && !ferry_view_contains(formats, format)) return;
    assert_true(g->first[wanted + 1] < MOST_CONSTRUCTS);
    construct *made = &g->constructs[g->first[wanted + 1]++];
    made->kind = wanted;
    made->pattern = take_field(&line);
    made->line = line;
}

static void read_grammar(grammar *g, const char *format)
{
    const made_file file = file_copy(data_file("documents/mixtures.tsv"));
    for (kind wanted = LEAF; wanted < KINDS; wanted++) {
        ferry_view rest = whole(&file);
        g->first[wanted + 1] = g->first[wanted];
        for (const char *end; (end = memchr(rest.data, '\n', rest.size)) != NULL;) {
            const ferry_view line = {rest.data, (size_t)(end - rest.data)};
            rest = (ferry_view){end + 1, rest.size - line.size - 1};
            if (line.size > 0 && !ferry_view_begins(line, ";;")) read_construct(g, format, wanted, line);
        }
        g->counts[wanted] = g->first[wanted + 1] - g->first[wanted];
    }
}

/* ---- a document ---- */

static size_t choose(maker *m, size_t count)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (size_t)(m->random >> 11) % count;
}

static void append(maker *m, ferry_view text)
{
    CHECK(ferry_buffer_append(&m->text, text, &error));
}

static void append_text(maker *m, const char *text)
{
    append(m, ferry_text_view(text));
}

static void put_words(maker *m)
{
    const size_t count = 3 + choose(m, 4), first = m->text.size;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) append_text(m, i == 2 && choose(m, 4) == 0 ? ", " : " ");
        append_text(m, words[choose(m, WORDS)]);
        if (i == 0) m->text.data[first] &= ~32; /* as a sentence begins */
    }
    if (choose(m, 4) == 0) append_text(m, (const char *[]){".", "!", "?", "..."}[choose(m, 4)]);
    if (m->opaque > 0) m->opaque_words += count - 1;
}

/* Markup up to …, whose names are "qab". */
static void put_markup(maker *m, ferry_view markup, const char *name, bool escaped)
{
    for (size_t at = 0; at < markup.size; at++) {
        const char c = markup.data[at];
        if (ferry_text_begins(markup.data + at, "§")) {
            append_text(m, name);
            at += strlen("§") - 1;
        } else if (ferry_text_begins(markup.data + at, "⏎")) {
            append_text(m, escaped ? "\\n" : "\n");
            at += strlen("⏎") - 1;
        } else {
            if (escaped && (c == '"' || c == '\\')) append_text(m, "\\");
            append_text(m, escaped && c == '\t' ? "\\t" : (const char[]){c, '\0'});
        }
    }
}

/* The bytes from `begin` on, without blanks at their ends, become an atom if they are a line with letters. */
static void add_atom(maker *m, size_t begin)
{
    size_t end = m->text.size, letters = 0;
    while (begin < end && strchr(" \n", m->text.data[begin]) != NULL) begin++;
    while (end > begin && strchr(" \n", m->text.data[end - 1]) != NULL) end--;
    const size_t size = end - begin;
    for (size_t i = begin; i < end; i++) letters += (m->text.data[i] | 32) >= 'a' && (m->text.data[i] | 32) <= 'z';
    if (letters == 0 || size >= sizeof m->atoms[0] || m->atom_count == MOST_ATOMS) return;
    if (memchr(m->text.data + begin, '\n', size) != NULL) return;
    memcpy(m->atoms[m->atom_count], m->text.data + begin, size);
    m->stays[m->atom_count] = m->opaque > 0;
    m->atoms[m->atom_count++][size] = '\0';
}

/* Where the next … or ⋯ is; the second one is what stays. */
static const char *find_within(ferry_view pattern, bool *opaque)
{
    const char *within = find_text(pattern, "…"), *stays = find_text(pattern, "⋯");
    *opaque = stays != NULL && (within == NULL || stays < within);
    return *opaque ? stays : within;
}

static void put_parts(maker *m, const construct *outer, size_t depth);

/* What is within: in the first two levels of a document, the pair that is its number. */
static void put_within(maker *m, const construct *outer, size_t depth)
{
    if (depth >= MOST_DEPTH)
        put_words(m);
    else
        put_parts(m, outer, depth);
}

/* Puts `line` behind the ends of lines from byte `begin` on. */
static void begin_lines(maker *m, size_t begin, ferry_view line)
{
    ferry_buffer *text = &m->text;
    if (line.size == 0) return;
    const size_t size = text->size - begin;
    char *within = malloc(size + 1);
    assert_non_null(within);
    memcpy(within, text->data + begin, size);
    text->size = begin;
    for (size_t i = 0; i < size; i++) {
        append(m, (ferry_view){within + i, 1});
        if (within[i] == '\n') append(m, line);
    }
    free(within);
}

static void put_construct(maker *m, const construct *c, size_t depth)
{
    const char name[] = {'q', (char)('a' + m->next_name / 26 % 26), (char)('a' + m->next_name % 26), '\0'};
    ferry_view rest = c->pattern;
    const bool is_frame = c->kind == DOCUMENT, escaped = m->escaped && !is_frame;
    bool stays = false;
    m->next_name++;
    for (const char *within; c->kind != RAW && (within = find_within(rest, &stays)) != NULL;) {
        const size_t size = (size_t)(within - rest.data), taken = size + strlen("…"), markup = m->text.size;
        put_markup(m, (ferry_view){rest.data, size}, name, escaped);
        if (!is_frame) add_atom(m, markup);
        const size_t begin = m->text.size;
        m->opaque += stays;
        put_within(m, c, depth);
        m->opaque -= stays;
        begin_lines(m, begin, c->line);
        rest = (ferry_view){rest.data + taken, rest.size - taken};
        if (!is_frame && m->line_end[1] == '\0' && m->text.data[m->text.size - 1] == '\n' &&
            ferry_view_begins(rest, "⏎"))
            rest = (ferry_view){rest.data + strlen("⏎"), rest.size - strlen("⏎")}; /* a blank line ends a cue */
    }
    const size_t markup = m->text.size;
    put_markup(m, rest, name, escaped);
    if (c->kind != RAW && !is_frame) add_atom(m, markup);
}

/* Words, and other constructs than `outer` among them. */
static void put_parts(maker *m, const construct *outer, size_t depth)
{
    const grammar *g = m->grammar;
    const size_t nested = g->first[RAW], count = 1 + choose(m, 3);
    bool ended_line = false;
    for (size_t i = 0; i < count; i++) {
        const construct *c = NULL;
        if (m->pair != SIZE_MAX && (depth > 0 || m->opaque == 0)) {
            c = &g->constructs[depth == 0 ? m->pair / nested : m->pair % nested];
            if (depth > 0 || c->kind == LEAF) m->pair = SIZE_MAX;
        } else if (m->hostile && choose(m, 4) == 0) {
            c = &g->constructs[g->first[RAW] + choose(m, g->counts[RAW])];
        } else if (choose(m, 2) == 0) {
            c = &g->constructs[choose(m, nested)];
        }
        if (c == outer || (c != NULL && c->kind == BLOCK && outer->kind == INLINE && !m->escaped)) c = NULL;
        const bool is_lines = !m->escaped && c != NULL && c->kind == BLOCK;
        if (is_lines || ended_line)
            append_text(m, m->text.size > 0 && m->text.data[m->text.size - 1] == '\n' ? "" : m->line_end);
        else if (i > 0 && (c == NULL || c->kind != RAW || choose(m, 2) == 0))
            append_text(m, " ");
        ended_line = is_lines;
        if (c != NULL)
            put_construct(m, c, depth + 1);
        else
            put_words(m);
    }
    if (ended_line && depth > 0) append_text(m, m->line_end);
}

static void make_document(maker *m, size_t number)
{
    const grammar *g = m->grammar;
    const size_t nested = g->first[RAW];
    m->hostile = number % 2 != 0;
    m->pair = number / 2 % (nested * nested);
    put_construct(m, &g->constructs[g->first[DOCUMENT] + choose(m, g->counts[DOCUMENT])], 0);
}

/* ---- the checks ---- */

typedef struct checker {
    const char *format, *added; /* characters that the format may add */
    bool has_prose;             /* wherever there are words; plain text leaves lines with few letters */
    size_t number, failures;
    const maker *made;
    ferry_text after;
} checker;

static void report(checker *c, const char *what, const char *detail)
{
    const ferry_buffer *text = &c->made->text;
    if (c->failures++ >= MOST_FAILURES) return;
    printf("== %s %zu: %s%s\n%.*s\n-- became\n%.*s\n", c->format, c->number, what, detail, (int)text->size, text->data,
           (int)c->after.size, c->after.data);
}

static size_t count_text(ferry_view text, const char *part, bool word)
{
    const size_t size = strlen(part);
    size_t count = 0;
    for (const char *at; (at = find_text(text, part)) != NULL;) {
        const char after = at + size < text.data + text.size ? at[size] : ' ';
        count += !word || after < 'a' || after > 'z';
        text = (ferry_view){at + size, text.size - (size_t)(at + size - text.data)};
    }
    return count;
}

static void check_atoms(checker *c, ferry_view before, ferry_view after)
{
    for (size_t i = 0; i < c->made->atom_count; i++) {
        const char *atom = c->made->atoms[i];
        if (count_text(before, atom, false) == count_text(after, atom, false)) continue;
        report(c, "an atom is lost: ", atom);
        return;
    }
}

/* The same of the last entry of a catalog, if it is filled; of forms of plural it is not known which has which. */
static void check_entry(checker *c, ferry_view before, ferry_view after)
{
    if (find_text(before, "msgid_plural") != NULL) return;
    for (const char *at; (at = find_text(after, "\nmsgstr ")) != NULL;)
        after = (ferry_view){at + 1, after.size - (size_t)(at + 1 - after.data)};
    if (ferry_view_is(after, "msgstr \"\"\n")) return;
    for (size_t i = 0; i < c->made->atom_count; i++) {
        const char *atom = c->made->atoms[i];
        if (c->made->stays[i] || count_text(after, atom, false) > 0) continue;
        report(c, "an atom is lost: ", atom);
        return;
    }
}

static void check_words(checker *c, ferry_view before, ferry_view after, bool twice)
{
    size_t expected = c->made->opaque_words * (twice ? 2 : 1), found = 0;
    for (size_t i = 0; i < WORDS; i++) {
        expected += twice ? count_text(before, words[i], true) : 0;
        found += count_text(after, words[i], true);
    }
    if (found > expected) report(c, "prose was left in silence", "");
}

/* The next byte but blanks, what may be added, and the case of letters; 0 at the end. */
static char next_byte(const checker *c, ferry_view text, size_t *at)
{
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "\u00AD", "&#92;"};
    while (*at < text.size) {
        char byte = text.data[*at];
        size_t size = 1;
        for (size_t i = 0; i < COUNT(references); i++) {
            if (!ferry_text_begins(text.data + *at, references[i])) continue;
            byte = "&<>  "[i];
            size = strlen(references[i]);
        }
        *at += size;
        if (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r' || byte == '\0') continue;
        if (strchr(c->added, byte) != NULL) continue;
        return byte >= 'A' && byte <= 'Z' ? (char)(byte | 32) : byte;
    }
    return '\0';
}

static void check_bytes(checker *c, ferry_view before, ferry_view after)
{
    size_t at = 0, at_after = 0;
    char byte;
    do {
        byte = next_byte(c, before, &at);
        if (byte == next_byte(c, after, &at_after)) continue;
        report(c, "other bytes: ",
               ferry_format("%.*s", (int)(before.size - at < 20 ? before.size - at : 20), before.data + at - 1).text);
        return;
    } while (byte != '\0');
}

static ferry_document_result *translate(const char *format, const ferry_buffer *text, stand_in_way way)
{
    static const int model; /* the stand-in does not look at it */
    ferry_translator translator = {.way = way};
    ferry_document_result *result = NULL;
    ferry_error error;
    const ferry_status status = ferry_document_translate((const ferry_model *)(const void *)&model, &translator, format,
                                                         (ferry_text){text->data, text->size}, NULL, &result, &error);
    if (status != FERRY_OK && status != FERRY_ERROR_UNSUPPORTED) fail_msg("%s", error.message);
    return result;
}

static void check_document(checker *c, bool print)
{
    const maker *m = c->made;
    const ferry_view before = {m->text.data, m->text.size};
    const bool twice = strcmp(c->format, "po") == 0;
    ferry_document_result *same = translate(c->format, &m->text, STAND_IN_SAME);
    ferry_document_result *upper = translate(c->format, &m->text, STAND_IN_UPPER);
    c->after = ferry_document_result_text(upper);
    const ferry_view after = {c->after.data, c->after.size};
    if (print) {
        fwrite(before.data, 1, before.size, stdout);
        putchar('\0');
        fwrite(after.data, 1, after.size, stdout);
        putchar('\0');
    } else if (upper != NULL) {
        (twice ? check_entry : check_atoms)(c, before, after);
        if (!twice) check_bytes(c, before, after);
        if (c->has_prose && !m->hostile && ferry_document_result_counts(upper).left == 0)
            check_words(c, before, after, twice);
        c->after = ferry_document_result_text(same);
        if (!ferry_view_equal(before, (ferry_view){c->after.data, c->after.size})) report(c, "not the same bytes", "");
    } else if (!m->hostile) {
        report(c, "refused", "");
    }
    ferry_document_result_destroy(same);
    ferry_document_result_destroy(upper);
}

int main(int argc, char **argv)
{
    static const char *const added[][2] = {{"markdown", "\\>"}, {"text", ">"}};
    static grammar g;
    static maker m;
    checker c = {.added = "", .made = &m};
    if (argc < 4 || ferry_document_format_named(argv[1]) == NULL) return 2;
    c.format = ferry_document_format_named(argv[1])->name;
    for (size_t i = 0; i < COUNT(added); i++)
        if (strcmp(c.format, added[i][0]) == 0) c.added = added[i][1];
    c.has_prose = strcmp(c.format, "text") != 0;
    read_grammar(&g, c.format);
    const size_t first = strtoul(argv[2], NULL, 10), after = first + strtoul(argv[3], NULL, 10);
    for (c.number = first; c.number < after; c.number++) {
        m = (maker){.grammar = &g, .random = 0x9E3779B97F4A7C15 * (c.number + 1), .text = m.text};
        m.escaped = strcmp(c.format, "po") == 0 || strcmp(c.format, "json") == 0;
        m.line_end = c.format[1] == 'r' || c.format[1] == 't' ? "\n" : "\n\n";
        m.text.size = 0;
        make_document(&m, c.number);
        check_document(&c, argc > 4);
    }
    free(m.text.data);
    if (argc == 4) printf("%s: %zu documents, %zu failures\n", c.format, after - first, c.failures);
    return c.failures * ACCEPTED > after - first ? 1 : 0;
}
