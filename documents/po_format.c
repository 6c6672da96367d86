/* PO files (GNU gettext manual, "The Format of PO Files"). Entries without a translation get one, and are marked as
 * fuzzy; all others stay. Entries that are not understood stay, too: gettext's programs say what is wrong with them. */
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "kept_text.h"
#include "po_text.h"

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
    ferry_po_string string;
    bool returns; /* lines end in "\r\n" */
} reader;

static void begin_entry(reader *r)
{
    r->entry = (entry){.fuzzy_line = none, .flags = none};
    r->open = NULL;
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
    FERRY_TRY(ferry_po_decode(r->document, r->forms[0].begin, r->forms[0].end, &r->string));
    char name[32];
    size_t at = 0, size = 0;
    for (; at < r->string.count; at++) {
        size = 0;
        while (size < strlen(key) && at + size < r->string.count && r->string.chars[at + size].byte == key[size])
            size++;
        if (size == strlen(key)) break;
    }
    at += strlen(key);
    for (size = 0; at < r->string.count && size < sizeof name - 1; at++) {
        if (strchr(" \t\r\n;\"", r->string.chars[at].byte) != NULL) break;
        name[size++] = r->string.chars[at].byte;
    }
    name[size] = '\0';
    static const char *const accepted[] = {"",     "CHARSET", "UTF-8",
                                           "UTF8", "ASCII",   "US-ASCII"}; /* CHARSET: a template's */
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        if (strlen(accepted[i]) == size && ferry_compare_letters(name, accepted[i], size) == 0) return FERRY_OK;
    return ferry_fail(r->document->error, FERRY_ERROR_UNSUPPORTED,
                      "charset in the header: expected UTF-8, found %s (msgconv -t UTF-8 converts)", name);
}

static ferry_status add_field(reader *r, const field *f)
{
    FERRY_TRY(ferry_po_decode(r->document, f->begin, f->end, &r->string));
    return ferry_po_add_blocks(r->document, &r->string, ferry_text_view(r->returns ? "\"\r\n\"" : "\"\n\""));
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
    if (e->fuzzy) return FERRY_OK;
    edit.begin = edit.end = e->flags != none ? e->flags : e->fuzzy_line;
    edit.copy_begin = edit.copy_end = 0;
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
    free(r.string.chars);
    return status;
}

static ferry_status write_text(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error)
{
    (void)begins_line;
    for (size_t at = 0, next; at < text.size; at = next) {
        for (next = at; next < text.size && text.data[next] != '"' && text.data[next] != '\\'; next++) continue;
        FERRY_TRY(ferry_string_append(out, (ferry_view){text.data + at, next - at}, error));
        if (next == text.size) break;
        FERRY_TRY(ferry_string_append(out, (ferry_view){"\\", 1}, error));
        FERRY_TRY(ferry_string_append(out, (ferry_view){text.data + next++, 1}, error));
    }
    return FERRY_OK;
}

/* Whether the placeholder is one of those that get their values by their order. */
static bool has_order(ferry_view text, const ferry_kept *kept)
{
    const char *data = text.data + kept->begin;
    const size_t size = kept->end - kept->begin;
    if (data[0] == '{') return size == 2 || data[1] == ':' || data[1] == '!';
    if (data[0] != '%' || size < 2 || data[1] == '%' || data[1] == '(' || data[1] == '{') return false;
    return data[size - 1] > '9' && memchr(data, '$', size) == NULL;
}

/* The next one that begins at *at or later, or an empty view. */
static ferry_view next_ordered(ferry_view text, size_t *at)
{
    for (ferry_kept kept; ferry_kept_find(text, *at, &kept);) {
        *at = kept.end;
        if (has_order(text, &kept)) return (ferry_view){text.data + kept.begin, kept.end - kept.begin};
    }
    return (ferry_view){NULL, 0};
}

/* Placeholders without numbers or names are still in the order that they were in, and '%' begins no others. */
static ferry_status check(ferry_view before, ferry_view after, bool *same, ferry_error *error)
{
    size_t at = 0, place = 0;
    ferry_view one, other;
    (void)error;
    *same = count_percents(before) == count_percents(after);
    if (!*same) return FERRY_OK;
    do {
        one = next_ordered(before, &at);
        other = next_ordered(after, &place);
        *same = ferry_view_equal(one, other);
    } while (*same && one.size > 0);
    return FERRY_OK;
}

static const char *const endings[] = {".po", ".pot", NULL};

const ferry_document_format ferry_format_po = {
    .name = "po",
    .endings = endings,
    .read = read,
    .write_text = write_text,
    .check = check,
};
