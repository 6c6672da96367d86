/* PO files (GNU gettext manual, "The Format of PO Files"). Entries without a translation get one, and are marked as
 * fuzzy; all others stay. Entries that are not understood stay, too: gettext's programs say what is wrong with them. */
#include <stdlib.h>
#include <string.h>

#include "documents/characters.h"
#include "formats.h"
#include "quoted_text.h"

enum {
    MOST_FORMS = 6, /* of plural, in any language (CLDR), so that six times the file is the most that is written */
    MOST_LABEL = 80 /* bytes of a text that can have an accelerator */
};

static const size_t none = SIZE_MAX;

/* The strings of a keyword. */
typedef struct field {
    size_t begin, end; /* from the first quote to behind the last one; 0, 0: there are none */
    bool filled;       /* with more than "" */
} field;

/* Keywords, and where their fields begin. */
enum { CONTEXT, ID, PLURAL, FORM };
static const char *const keywords[] = {"msgctxt", "msgid", "msgid_plural", "msgstr"};

typedef struct entry {
    bool broken, fuzzy;
    field fields[FORM + MOST_FORMS];
    size_t form_count; /* msgstr, or msgstr[0] … */
    size_t fuzzy_line; /* where a line "#, fuzzy" would be, or `none` */
    size_t flags;      /* behind "#,", or `none` */
} entry;

typedef struct reader {
    ferry_document *document;
    ferry_view source;
    size_t at; /* what is to be read next */
    entry entry;
    field *open; /* which strings belong to, or NULL */
    ferry_quoted_text string;
    bool returns; /* lines end in "\r\n" */
    /* Where the header names a charset that becomes UTF-8, as gettext's programs have it when they add texts in UTF-8;
     * empty: nowhere. */
    size_t charset_begin, charset_end;
} reader;

static void begin_entry(reader *r)
{
    r->entry = (entry){.fuzzy_line = none, .flags = none};
    r->open = NULL;
}

/* ---- entries that are complete ---- */

/* Whether the '_' at `at`, within a word, marks an accelerator: in a label of three words at most, which begins with a
 * capital, before a small letter, and behind one or behind the word's first letter: "E_xit", "Page or_dering:". */
static bool is_within_label(ferry_view text, size_t at)
{
    size_t blanks = 0;
    for (size_t i = 0; i < text.size; i++) blanks += text.data[i] == ' ';
    const bool is_behind = !is_capital(text.data[at - 1]) || at == 1 || text.data[at - 2] == ' ';
    return is_capital(text.data[0]) && blanks < 3 && is_behind && !is_capital(text.data[at + 1]) &&
           find_one_of(text, 0, "0123456789()[]{}<>=\"'`%$;\\|") == text.size;
}

/* Whether the '_' or '&' at `at` can mark the letter after it as an accelerator: "_File", "E&xit", but not "a_b",
 * "Q&A", "&amp;". */
static bool is_accelerator(ferry_view text, size_t at)
{
    if (!is_letter(byte_at(text, at + 1))) return false;
    const char before = at > 0 ? text.data[at - 1] : ' ';
    if (text.data[at] == '_') return !is_word(before) || is_within_label(text, at);
    if (byte_at(text, skip(text, at + 1, is_word, SIZE_MAX)) == ';') return false;
    return !is_capital(before) || !is_capital(text.data[at + 1]);
}

/* The only '_' or '&' of a label, if it marks an accelerator, becomes part of the letter after it: the model does not
 * see it, and a translation has none. */
static void hide_accelerator(ferry_quoted_text *string)
{
    ferry_buffer *bytes = &string->bytes;
    const ferry_view text = {bytes->data, bytes->size};
    const size_t at = find_one_of(text, 0, "_&");
    if (text.size > MOST_LABEL || find_one_of(text, 0, "\n") < text.size ||
        find_one_of(text, at + 1, "_&") < text.size || !is_accelerator(text, at))
        return;
    string->places[at + 1].begin = string->places[at].begin;
    bytes->size--;
    memmove(bytes->data + at, bytes->data + at + 1, bytes->size - at);
    memmove(string->places + at, string->places + at + 1, (bytes->size - at) * sizeof *string->places);
}

static ferry_status decode_field(reader *r, const field *f)
{
    size_t at = f->begin + 1;
    return ferry_quoted_decode((ferry_view){r->source.data, f->end}, &at, false, &r->string, r->document->error);
}

/* The charset that the header names has to be one that bytes can be copied from. */
static ferry_status check_header(reader *r)
{
    static const char key[] = "charset=";
    FERRY_TRY(decode_field(r, &r->entry.fields[FORM]));
    const ferry_view text = {r->string.bytes.data, r->string.bytes.size};
    size_t begin = 0;
    while (begin < text.size && !begins_exactly(text, begin, key)) begin++;
    if (begin == text.size) return FERRY_OK;
    begin += strlen(key);
    const ferry_view name = view_part(text, begin, find_one_of(text, begin, " \t\r\n;\""));
    if (name.size == 0 || is_named(name, "UTF-8") || is_named(name, "UTF8")) return FERRY_OK;
    if (!is_named(name, "CHARSET") && !is_named(name, "ASCII") && !is_named(name, "US-ASCII")) /* CHARSET: templates */
        return ferry_fail(r->document->error, FERRY_ERROR_UNSUPPORTED,
                          "charset in the header: expected UTF-8, found %.*s (msgconv -t UTF-8 converts)",
                          (int)(name.size < 32 ? name.size : 32), name.data);
    r->charset_begin = r->string.places[begin].begin;
    r->charset_end = r->string.places[begin + name.size - 1].end;
    return FERRY_OK;
}

static ferry_status add_field(reader *r, const field *f)
{
    FERRY_TRY(decode_field(r, f));
    hide_accelerator(&r->string);
    return ferry_quoted_add_blocks(r->document, &r->string, ferry_text_view(r->returns ? "\"\r\n\"" : "\"\n\""));
}

static size_t count_percents(const reader *r, const field *f)
{
    size_t count = 0;
    for (size_t at = f->begin; at < f->end; at++) count += r->source.data[at] == '%';
    return count;
}

/* msgstr has the translation of msgid, msgstr[0] too, the other forms that of msgid_plural. msgid is for none of the
 * forms where there is one form for all numbers, and where the first form is for more than one of them (Russian: 1, 21,
 * 31 …), but msgid does not show which one it is. */
static ferry_status fill(reader *r)
{
    const entry *e = &r->entry;
    const field *first = &e->fields[ID], *last = &e->fields[e->fields[PLURAL].end > 0 ? PLURAL : ID];
    if (e->form_count != 2 && (e->form_count == 1 || count_percents(r, first) != count_percents(r, last))) first = last;
    if (first != last) FERRY_TRY(add_field(r, first));
    FERRY_TRY(add_field(r, last));
    ferry_document_edit edit = {.if_begin = e->fields[ID].begin, .if_end = last->end};
    for (size_t i = 0; i < e->form_count; i++) {
        const field *from = i == 0 ? first : last;
        edit.begin = e->fields[FORM + i].begin;
        edit.end = e->fields[FORM + i].end;
        edit.copy_begin = from->begin;
        edit.copy_end = from->end;
        FERRY_TRY(ferry_document_add_edit(r->document, &edit));
    }
    edit.copy_begin = edit.copy_end = 0;
    edit.before = ferry_text_view("UTF-8");
    edit.begin = r->charset_begin;
    edit.end = r->charset_end;
    if (r->charset_end > 0) FERRY_TRY(ferry_document_add_edit(r->document, &edit));
    if (e->fuzzy) return FERRY_OK;
    edit.begin = edit.end = e->flags != none ? e->flags : e->fuzzy_line;
    edit.before = ferry_text_view(e->flags != none ? " fuzzy," : r->returns ? "#, fuzzy\r\n" : "#, fuzzy\n");
    return ferry_document_add_edit(r->document, &edit);
}

static ferry_status end_entry(reader *r)
{
    const entry *e = &r->entry;
    const field *fields = e->fields;
    if (e->broken || fields[ID].end == 0 || e->form_count == 0) return FERRY_OK;
    if (!fields[ID].filled) return fields[CONTEXT].end > 0 ? FERRY_OK : check_header(r);
    for (size_t i = FORM; i < FORM + e->form_count; i++)
        if (fields[i].end == 0 || fields[i].filled) return FERRY_OK;
    return fields[PLURAL].end > 0 && !fields[PLURAL].filled ? FERRY_OK : fill(r);
}

/* ---- their parts ---- */

/* Where the line of byte `at` begins, or `none` if there is more than blanks before the byte. */
static size_t begin_of_line(const reader *r, size_t at)
{
    while (at > 0 && is_blank(r->source.data[at - 1])) at--;
    return at == 0 || r->source.data[at - 1] == '\n' ? at : none;
}

static ferry_status read_comment(reader *r)
{
    const size_t begin = r->at;
    const size_t end = find_one_of(r->source, begin, "\n");
    const char kind = byte_at(r->source, begin + 1);
    r->at = end + (end < r->source.size);
    if (r->entry.form_count > 0) {
        FERRY_TRY(end_entry(r));
        begin_entry(r);
    }
    entry *e = &r->entry;
    if (e->fields[CONTEXT].end > 0 || e->fields[ID].end > 0) e->broken = true; /* a comment within it */
    if (kind == '~') begin_entry(r); /* obsolete, with the comments before it */
    if (kind == '|' && e->fuzzy_line == none) e->fuzzy_line = begin_of_line(r, begin);
    if (kind == ',') {
        e->flags = begin + 2;
        e->fuzzy = e->fuzzy || ferry_view_contains(view_part(r->source, begin, r->at), "fuzzy");
    }
    return FERRY_OK;
}

static bool is_of_keyword(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

/* msgstr[0] … in order */
static bool read_index(reader *r)
{
    const bool has_plural = r->entry.fields[PLURAL].end > 0;
    if (byte_at(r->source, r->at) != '[') return !has_plural;
    size_t index = 0;
    for (r->at++; is_digit(byte_at(r->source, r->at)); r->at++)
        index = index < 1000 ? index * 10 + (size_t)(r->source.data[r->at] - '0') : index;
    const bool closed = byte_at(r->source, r->at) == ']';
    r->at += closed;
    return closed && has_plural && index == r->entry.form_count;
}

static ferry_status read_keyword(reader *r)
{
    const size_t begin = r->at;
    size_t kind = 0;
    r->at = skip(r->source, begin, is_of_keyword, SIZE_MAX);
    while (kind <= FORM && !ferry_view_is(view_part(r->source, begin, r->at), keywords[kind])) kind++;
    if (kind <= ID && (r->entry.form_count > 0 || r->entry.broken)) {
        FERRY_TRY(end_entry(r));
        begin_entry(r);
    }
    entry *e = &r->entry;
    const bool has_id = e->fields[ID].end > 0;
    bool fits = kind == FORM && has_id && read_index(r);
    if (kind <= ID) fits = !has_id && e->fields[kind].end == 0;
    if (kind == PLURAL) fits = has_id && e->fields[PLURAL].end == 0 && e->form_count == 0;
    if (kind <= ID && e->fuzzy_line == none) e->fuzzy_line = begin_of_line(r, begin);
    e->broken = e->broken || !fits || e->fuzzy_line == none;
    if (fits && kind == FORM && e->form_count == MOST_FORMS)
        return ferry_quoted_refuse(r->document, r->at, "at most 6 forms of plural");
    r->open = fits ? &e->fields[kind == FORM ? FORM + e->form_count++ : kind] : NULL;
    return FERRY_OK;
}

static void read_string(reader *r)
{
    const ferry_view source = r->source;
    const size_t begin = r->at++;
    while (r->at < source.size && !is_one_of(source.data[r->at], "\"\n"))
        r->at += source.data[r->at] == '\\' && byte_at(source, r->at + 1) != '\n' ? 2 : 1;
    if (byte_at(source, r->at++) != '"') {
        r->entry.broken = true;
    } else if (r->open != NULL) { /* otherwise the entry is broken already */
        if (r->open->end == 0) r->open->begin = begin;
        r->open->end = r->at;
        r->open->filled = r->open->filled || r->at - begin > 2;
    }
}

static ferry_status read_entries(reader *r)
{
    while (r->at < r->source.size) {
        const char c = r->source.data[r->at];
        if (c == '#') {
            FERRY_TRY(read_comment(r));
        } else if (c == '"') {
            read_string(r);
        } else if (is_of_keyword(c)) {
            FERRY_TRY(read_keyword(r));
        } else {
            r->entry.broken = r->entry.broken || !is_one_of(c, " \t\r\n\f\v");
            r->at++;
        }
    }
    return end_entry(r);
}

static ferry_status read(ferry_document *document)
{
    document->kept.brackets = true;
    reader r = {.document = document, .source = document->source};
    const text_line first = read_text_line(r.source, 0);
    r.returns = first.next - first.end == 2;
    begin_entry(&r);
    const ferry_status status = read_entries(&r);
    ferry_quoted_destroy(&r.string);
    return status;
}

static ferry_status check(ferry_view before, ferry_view after, bool *same, ferry_error *error)
{
    return ferry_quoted_check(before, after, false, same, error);
}

const ferry_document_format ferry_format_po = {
    .name = "po",
    .endings = {".po", ".pot"},
    .read = read,
    .write_text = ferry_quoted_write,
    .check = check,
};
