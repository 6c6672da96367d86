/* PO files (GNU gettext manual, "The Format of PO Files"). Entries without a translation get one, and are marked as
 * fuzzy; all others stay. Entries that are not understood stay, too: gettext's programs say what is wrong with them. */
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "characters.h"
#include "quoted_text.h"

enum {
    MOST_FORMS = 6, /* of plural, in any language (CLDR), so that six times the file is the most that is written */
    MOST_LABEL = 80 /* bytes of a text that can have an accelerator */
};

static const size_t none = SIZE_MAX;

typedef struct field {
    bool given, empty;
    size_t begin, end; /* from its first quote to behind its last one */
} field;

typedef struct entry {
    bool broken;
    bool has_context;
    field id, plural;
    size_t form_count; /* fields of `forms`: msgstr, or msgstr[0] … */
    size_t fuzzy_line; /* where a line "#, fuzzy" would be, or `none` */
    size_t flags;      /* behind "#,", or `none` */
    bool fuzzy;
} entry;

typedef struct reader {
    ferry_document *document;
    ferry_view source;
    size_t first, at; /* behind a byte order mark; what is to be read next */
    entry entry;
    field *forms; /* [entry.form_count] */
    size_t form_capacity;
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

/* ---- strings ---- */

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* The escape sequence that begins at byte `at` with a backslash: its bytes, and the byte that it stands for. */
static size_t read_escape(ferry_view source, size_t at, char *byte)
{
    static const char names[] = "abfnrtv", bytes[] = "\a\b\f\n\r\t\v";
    const char c = source.data[at + 1];
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    *byte = name != NULL ? bytes[name - names] : c;
    size_t next = at + 2;
    int value = 0;
    if (is_octal(c)) {
        for (next = at + 1; next < source.size && next < at + 4 && is_octal(source.data[next]); next++)
            value = value * 8 + (source.data[next] - '0');
        *byte = (char)value;
    } else if (c == 'x' && next < source.size && ferry_hex_digit(source.data[next]) >= 0) {
        for (; next < source.size && next < at + 4 && ferry_hex_digit(source.data[next]) >= 0; next++)
            value = value * 16 + ferry_hex_digit(source.data[next]);
        *byte = (char)value;
    }
    return next - at;
}

/* Decodes the strings of `source` from byte `at` on, `quoted` if that is within one; between them is white space. */
static ferry_status decode(ferry_view source, size_t at, bool quoted, ferry_quoted_text *string, ferry_error *error)
{
    string->bytes.size = 0;
    for (size_t next; at < source.size; at = next) {
        char byte = source.data[at];
        next = at + 1;
        if (byte == '"') {
            quoted = !quoted;
        } else if (quoted) {
            if (byte == '\\' && next < source.size) next = at + read_escape(source, at, &byte);
            FERRY_TRY(ferry_quoted_push(string, at, next, (ferry_view){&byte, 1}, error));
        }
    }
    return FERRY_OK;
}

/* Whether the '_' or '&' at `at` can mark the letter after it as an accelerator: "_File", "E&xit", but not "a_b",
 * "Q&A", "&amp;". */
static bool is_accelerator(ferry_view text, size_t at)
{
    if (at + 1 == text.size || !is_letter(text.data[at + 1])) return false;
    const char before = at > 0 ? text.data[at - 1] : ' ';
    if (text.data[at] == '_') return !is_word(before);
    size_t end = at + 1;
    while (end < text.size && is_word(text.data[end])) end++;
    if (end < text.size && text.data[end] == ';') return false;
    return !is_capital(before) || !is_capital(text.data[at + 1]);
}

/* The only '_' or '&' of a label, if it marks an accelerator, becomes part of the letter after it: the model does not
 * see it, and a translation has none. */
static void hide_accelerator(ferry_quoted_text *string)
{
    ferry_string *bytes = &string->bytes;
    size_t at = 0, count = 0;
    for (size_t i = 0; i < bytes->size; i++) {
        const char c = bytes->data[i];
        if (c == '\n' || bytes->size > MOST_LABEL) return;
        if (c != '_' && c != '&') continue;
        at = i;
        count++;
    }
    if (count != 1 || !is_accelerator((ferry_view){bytes->data, bytes->size}, at)) return;
    string->places[at + 1].begin = string->places[at].begin;
    bytes->size--;
    memmove(bytes->data + at, bytes->data + at + 1, bytes->size - at);
    memmove(string->places + at, string->places + at + 1, (bytes->size - at) * sizeof *string->places);
}

static ferry_status decode_field(reader *r, const field *f)
{
    return decode((ferry_view){r->source.data, f->end}, f->begin, false, &r->string, r->document->error);
}

/* ---- entries that are complete ---- */

static bool contains(const char *text, size_t size, const char *word)
{
    return ferry_view_contains((ferry_view){text, size}, word);
}

/* The charset that the header names has to be one that bytes can be copied from. */
static ferry_status check_header(reader *r)
{
    static const char key[] = "charset=";
    static const char *const accepted[] = {"",        "UTF-8", "UTF8",
                                           "CHARSET", "ASCII", "US-ASCII"}; /* CHARSET: templates */
    enum { FIRST_CHANGED = 3 };
    FERRY_TRY(decode_field(r, &r->forms[0]));
    const ferry_view text = {r->string.bytes.data, r->string.bytes.size};
    size_t begin = 0;
    while (begin + strlen(key) <= text.size && memcmp(text.data + begin, key, strlen(key)) != 0) begin++;
    begin += strlen(key);
    if (begin > text.size) return FERRY_OK;
    size_t end = begin;
    while (end < text.size && strchr(" \t\r\n;\"", text.data[end]) == NULL) end++;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        if (strlen(accepted[i]) != end - begin ||
            ferry_compare_letters(text.data + begin, accepted[i], end - begin) != 0)
            continue;
        if (i < FIRST_CHANGED) return FERRY_OK;
        r->charset_begin = r->string.places[begin].begin;
        r->charset_end = r->string.places[end - 1].end;
        return FERRY_OK;
    }
    return ferry_fail(r->document->error, FERRY_ERROR_UNSUPPORTED,
                      "charset in the header: expected UTF-8, found %.*s (msgconv -t UTF-8 converts)",
                      (int)(end - begin < 32 ? end - begin : 32), text.data + begin);
}

static ferry_status add_field(reader *r, const field *f)
{
    FERRY_TRY(decode_field(r, f));
    hide_accelerator(&r->string);
    return ferry_quoted_add_blocks(r->document, &r->string, ferry_text_view(r->returns ? "\"\r\n\"" : "\"\n\""));
}

static size_t count_percents(ferry_view text)
{
    size_t count = 0;
    for (size_t at = 0; at < text.size; at++) count += text.data[at] == '%';
    return count;
}

/* Whether msgid is for none of the forms: where there is one form for all numbers, and where the first form is for more
 * than one of them (Russian: 1, 21, 31 …), but msgid does not show which one it is. */
static bool needs_only_plural(const reader *r)
{
    const field *id = &r->entry.id, *plural = &r->entry.plural;
    const ferry_view one = {r->source.data + id->begin, id->end - id->begin};
    const ferry_view many = {r->source.data + plural->begin, plural->end - plural->begin};
    if (!plural->given || r->entry.form_count == 2) return false;
    return r->entry.form_count == 1 || count_percents(one) != count_percents(many);
}

/* msgstr has the translation of msgid, msgstr[0] too, the other forms that of msgid_plural. */
static ferry_status fill(reader *r)
{
    const entry *e = &r->entry;
    const bool only_plural = needs_only_plural(r);
    const field *last = e->plural.given ? &e->plural : &e->id;
    if (!only_plural) FERRY_TRY(add_field(r, &e->id));
    if (e->plural.given) FERRY_TRY(add_field(r, &e->plural));
    ferry_document_edit edit = {.if_begin = e->id.begin, .if_end = last->end};
    for (size_t i = 0; i < e->form_count; i++) {
        const field *from = i == 0 && !only_plural ? &e->id : last;
        edit.begin = r->forms[i].begin;
        edit.end = r->forms[i].end;
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
    if (e->broken || !e->id.given || e->form_count == 0) return FERRY_OK;
    if (e->id.empty) return e->has_context ? FERRY_OK : check_header(r);
    for (size_t i = 0; i < e->form_count; i++)
        if (!r->forms[i].given || !r->forms[i].empty) return FERRY_OK;
    if (e->plural.given && e->plural.empty) return FERRY_OK;
    return fill(r);
}

/* ---- their parts ---- */

static size_t end_of_line(const reader *r, size_t at)
{
    const char *end = memchr(r->source.data + at, '\n', r->source.size - at);
    return end != NULL ? (size_t)(end - r->source.data) + 1 : r->source.size;
}

/* Where the line of byte `at` begins, or `none` if there is more than blanks before the byte. */
static size_t begin_of_line(const reader *r, size_t at)
{
    while (at > r->first && (r->source.data[at - 1] == ' ' || r->source.data[at - 1] == '\t')) at--;
    return at == r->first || r->source.data[at - 1] == '\n' ? at : none;
}

static ferry_status read_comment(reader *r)
{
    const size_t begin = r->at, end = end_of_line(r, begin);
    const char kind = begin + 1 < end ? r->source.data[begin + 1] : '\n';
    r->at = end;
    if (r->entry.form_count > 0) {
        FERRY_TRY(end_entry(r));
        begin_entry(r);
    }
    if (r->entry.id.given || r->entry.has_context) r->entry.broken = true; /* a comment within it */
    if (kind == '~') begin_entry(r);                                       /* obsolete, with the comments before it */
    if (kind == '|' && r->entry.fuzzy_line == none) r->entry.fuzzy_line = begin_of_line(r, begin);
    if (kind == ',') {
        r->entry.flags = begin + 2;
        r->entry.fuzzy = r->entry.fuzzy || contains(r->source.data + begin, end - begin, "fuzzy");
    }
    return FERRY_OK;
}

static ferry_status add_form(reader *r)
{
    const size_t count = r->entry.form_count + 1;
    if (count > MOST_FORMS) return ferry_quoted_refuse(r->document, r->at, "at most 6 forms of plural");
    field *grown = ferry_array_grow(r->forms, &r->form_capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(r->document->error, "a document", count * sizeof *grown);
    r->forms = grown;
    r->open = &grown[r->entry.form_count++];
    *r->open = (field){.empty = true};
    return FERRY_OK;
}

static bool is_of_keyword(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

/* msgstr[0] … in order */
static bool read_index(reader *r)
{
    if (r->at == r->source.size || r->source.data[r->at] != '[') return !r->entry.plural.given;
    size_t index = 0;
    for (r->at++; r->at < r->source.size && r->source.data[r->at] >= '0' && r->source.data[r->at] <= '9'; r->at++)
        index = index < 1000 ? index * 10 + (size_t)(r->source.data[r->at] - '0') : index;
    const bool closed = r->at < r->source.size && r->source.data[r->at] == ']';
    if (closed) r->at++;
    return closed && r->entry.plural.given && index == r->entry.form_count;
}

static ferry_status read_keyword(reader *r)
{
    const size_t begin = r->at;
    while (r->at < r->source.size && is_of_keyword(r->source.data[r->at])) r->at++;
    const ferry_view name = {r->source.data + begin, r->at - begin};
    const bool is_context = ferry_view_is(name, "msgctxt"), is_id = ferry_view_is(name, "msgid");
    if ((is_context || is_id) && (r->entry.form_count > 0 || r->entry.broken)) {
        FERRY_TRY(end_entry(r));
        begin_entry(r);
    }
    entry *e = &r->entry;
    r->open = NULL;
    if ((is_context && !e->has_context && !e->id.given) || (is_id && !e->id.given)) {
        if (e->fuzzy_line == none) e->fuzzy_line = begin_of_line(r, begin);
        if (e->fuzzy_line == none) e->broken = true;
        if (is_context) e->has_context = true;
        if (is_id) r->open = &e->id;
    } else if (ferry_view_is(name, "msgid_plural") && e->id.given && !e->plural.given && e->form_count == 0) {
        r->open = &e->plural;
    } else if (ferry_view_is(name, "msgstr") && e->id.given && read_index(r)) {
        return add_form(r);
    } else {
        e->broken = true;
    }
    if (r->open != NULL) *r->open = (field){.empty = true};
    return FERRY_OK;
}

static void read_string(reader *r)
{
    const size_t begin = r->at++;
    while (r->at < r->source.size && r->source.data[r->at] != '"' && r->source.data[r->at] != '\n')
        r->at +=
            r->source.data[r->at] == '\\' && r->at + 1 < r->source.size && r->source.data[r->at + 1] != '\n' ? 2 : 1;
    if (r->at >= r->source.size || r->source.data[r->at] != '"') {
        r->entry.broken = true;
        return;
    }
    r->at++;
    if (r->open == NULL) return; /* of msgctxt; others are broken already */
    if (!r->open->given) r->open->begin = begin;
    r->open->given = true;
    r->open->end = r->at;
    if (r->at - begin > 2) r->open->empty = false;
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
            if (strchr(" \t\r\n\f\v", c) == NULL || c == '\0') r->entry.broken = true;
            r->at++;
        }
    }
    return end_entry(r);
}

static ferry_status read(ferry_document *document)
{
    static const char mark[] = "\xEF\xBB\xBF";
    reader r = {.document = document, .source = document->source};
    if (r.source.size >= 3 && memcmp(r.source.data, mark, 3) == 0) r.first = r.at = 3;
    const size_t first_line = r.source.size > 0 ? end_of_line(&r, 0) : 0;
    r.returns = first_line >= 2 && r.source.data[first_line - 1] == '\n' && r.source.data[first_line - 2] == '\r';
    begin_entry(&r);
    const ferry_status status = read_entries(&r);
    free(r.forms);
    ferry_quoted_destroy(&r.string);
    return status;
}

static ferry_status check(ferry_view before, ferry_view after, bool *same, ferry_error *error)
{
    ferry_quoted_text texts[2] = {{.capacity = 0}};
    ferry_status status = decode(before, 0, true, &texts[0], error);
    if (status == FERRY_OK) status = decode(after, 0, true, &texts[1], error);
    if (status == FERRY_OK) *same = ferry_quoted_same_code(&texts[0], &texts[1]);
    ferry_quoted_destroy(&texts[0]);
    ferry_quoted_destroy(&texts[1]);
    return status;
}

static const char *const endings[] = {".po", ".pot", NULL};

const ferry_document_format ferry_format_po = {
    .name = "po",
    .endings = endings,
    .read = read,
    .write_text = ferry_quoted_write,
    .check = check,
};
