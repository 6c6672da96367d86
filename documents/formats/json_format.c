/* JSON (RFC 8259) of user interfaces: the strings that are values, one by one. What belongs to a key that begins with
 * "@" says something about texts (ARB, JSON-LD), and stays; so do values of configurations but for descriptions. */
#include <string.h>

#include "documents/characters.h"
#include "documents/html_tags.h"
#include "formats.h"
#include "quoted_text.h"

enum { MOST_DEPTH = 512 };

typedef struct reader {
    ferry_document *document;
    ferry_view source;
    size_t at;
    size_t depth, apart; /* depth of the key "@…" that what is read belongs to; 0: of none */
    bool is_configuration;
    size_t types; /* values that are names of types of data */
    bool is_read; /* of that, the value of the last key */
    bool adds;    /* texts; or only looks for what the file is */
    char open[MOST_DEPTH];
    ferry_quoted_text string;
} reader;

/* The next byte that is no white space; '\0': there is none. */
static char peek(reader *r)
{
    while (is_one_of(byte_at(r->source, r->at), " \t\r\n")) r->at++;
    return byte_at(r->source, r->at);
}

static ferry_status refuse(const reader *r, const char *expected)
{
    return ferry_quoted_refuse(r->document, r->at, expected);
}

static ferry_status read_string(reader *r)
{
    r->at++;
    FERRY_TRY(ferry_quoted_decode(r->source, &r->at, true, &r->string, r->document->error));
    if (byte_at(r->source, r->at) != '"') return refuse(r, "a character or an escape of a string");
    r->at++;
    return FERRY_OK;
}

/* Whether the file has such a key, with such a value at r->at: packages, settings and schemas are no catalogs. */
static bool is_of_configuration(reader *r, ferry_view key)
{
    static const char keys[] = " bomformat compileroptions configurepresets dependencies devdependencies "
                               "peerdependencies ";
    static const char types[] = " array blob boolean integer list long map number object string structure timestamp ";
    const char c = peek(r);
    if (ferry_name_is_listed(key, keys)) return c == '{' || c == '[' || ferry_view_is(key, "bomFormat");
    const ferry_view value = view_part(r->source, r->at + 1, find_one_of(r->source, r->at + 1, "\""));
    r->types += c == '"' && ferry_view_is(key, "type") && ferry_name_is_listed(value, types);
    return r->types > 2 || (ferry_view_is(key, "$schema") && c == '"' && ferry_view_contains(value, "json-schema.org"));
}

/* What people read of a configuration. */
static bool is_read_by_people(ferry_view key)
{
    return ferry_view_is(key, "display_name") ||
           ferry_name_is_listed(
               key, " comment deprecatedmessage description displayname documentation errormessage help label "
                    "markdowndescription message placeholder summary text title tooltip ");
}

static ferry_status read_key(reader *r)
{
    if (peek(r) != '"') return refuse(r, "the '\"' of a key");
    FERRY_TRY(read_string(r));
    if (r->depth <= r->apart) r->apart = 0;
    if (r->apart == 0 && r->string.bytes.size > 0 && r->string.bytes.data[0] == '@') r->apart = r->depth;
    if (peek(r) != ':') return refuse(r, "':'");
    r->at++;
    const ferry_view key = {r->string.bytes.data, r->string.bytes.size};
    r->is_configuration = r->is_configuration || is_of_configuration(r, key);
    r->is_read = is_read_by_people(key);
    return FERRY_OK;
}

/* A number, or one of three names. */
static ferry_status read_scalar(reader *r)
{
    static const char *const names[] = {"true", "false", "null"};
    const ferry_view source = r->source;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!begins_exactly(source, r->at, names[i])) continue;
        r->at += strlen(names[i]);
        return FERRY_OK;
    }
    size_t digits = r->at + (byte_at(source, r->at) == '-');
    size_t end = byte_at(source, digits) == '0' ? digits + 1 : skip(source, digits, is_digit, SIZE_MAX);
    if (end > digits && byte_at(source, end) == '.') {
        digits = end + 1;
        end = skip(source, digits, is_digit, SIZE_MAX);
    }
    if (end > digits && is_one_of(byte_at(source, end), "eE")) {
        digits = end + 1 + is_one_of(byte_at(source, end + 1), "+-");
        end = skip(source, digits, is_digit, SIZE_MAX);
    }
    r->at = end;
    return end > digits ? FERRY_OK : refuse(r, "a value");
}

/* Reads what follows a value, up to where the next one begins. *complete: there is none, and the file ends. */
static ferry_status read_separators(reader *r, bool *complete)
{
    for (;;) {
        const char c = peek(r);
        *complete = r->depth == 0;
        if (*complete) return r->at == r->source.size ? FERRY_OK : refuse(r, "the end of the file");
        const bool is_object = r->open[r->depth - 1] == '{';
        if (c != ',' && c != (is_object ? '}' : ']')) return refuse(r, is_object ? "',' or '}'" : "',' or ']'");
        r->at++;
        if (c == ',') return is_object ? read_key(r) : FERRY_OK;
        r->depth--;
        if (r->depth < r->apart) r->apart = 0;
    }
}

static ferry_status read_values(reader *r)
{
    for (bool complete = false; !complete;) {
        const char c = peek(r);
        if (c == '{' || c == '[') {
            if (r->depth == MOST_DEPTH) return refuse(r, "at most 512 values within each other");
            r->open[r->depth++] = c;
            r->at++;
            if (peek(r) != (c == '{' ? '}' : ']')) {
                if (c == '{') FERRY_TRY(read_key(r));
                continue;
            }
        } else if (c == '"') {
            FERRY_TRY(read_string(r));
            if (r->adds && r->apart == 0 && (!r->is_configuration || r->is_read))
                FERRY_TRY(ferry_quoted_add_blocks(r->document, &r->string, (ferry_view){NULL, 0}));
        } else {
            FERRY_TRY(read_scalar(r));
        }
        FERRY_TRY(read_separators(r, &complete));
    }
    return FERRY_OK;
}

static ferry_status read(ferry_document *document)
{
    document->kept.brackets = true;
    reader r = {.document = document, .source = document->source};
    ferry_status status = r.source.size > 0 ? read_values(&r) : FERRY_OK;
    r.adds = true;
    r.at = 0;
    if (r.source.size > 0 && status == FERRY_OK) status = read_values(&r);
    ferry_quoted_destroy(&r.string);
    return status;
}

static ferry_status check(ferry_view before, ferry_view after, bool *same, ferry_error *error)
{
    return ferry_quoted_check(before, after, true, same, error);
}

const ferry_document_format ferry_format_json = {
    .name = "json",
    .endings = {".json", ".arb"},
    .read = read,
    .write_text = ferry_quoted_write,
    .check = check,
};
