/* JSON (RFC 8259) of user interfaces: the strings that are values, one by one. What belongs to a key that begins with
 * "@" says something about texts (ARB, JSON-LD), and stays. */
#include <string.h>

#include "base/utf8.h"
#include "formats.h"
#include "quoted_text.h"

enum { MOST_DEPTH = 512 };

typedef struct reader {
    ferry_document *document;
    ferry_view source;
    size_t at;
    size_t depth, apart; /* depth of the key "@…" that what is read belongs to; 0: of none */
    char open[MOST_DEPTH];
    ferry_quoted_text string;
} reader;

/* ---- strings ---- */

/* The four digits at byte `at`; UINT32_MAX: there are others. */
static uint32_t read_unit(ferry_view text, size_t at)
{
    uint32_t unit = 0;
    for (size_t i = at; i < at + 4; i++) {
        const int digit = i < text.size ? ferry_hex_digit(text.data[i]) : -1;
        if (digit < 0) return UINT32_MAX;
        unit = unit * 16 + (uint32_t)digit;
    }
    return unit;
}

/* Reads an escape, from its backslash at byte `at` on, as `bytes`. Returns where it ends; 0: JSON has none such. */
static size_t read_escape(ferry_view text, size_t at, char bytes[4], size_t *size)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char c = at + 1 < text.size ? text.data[at + 1] : '\0';
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    *size = 1;
    if (name != NULL) bytes[0] = values[name - names];
    if (name != NULL) return at + 2;
    uint32_t unit = c == 'u' ? read_unit(text, at + 2) : UINT32_MAX;
    if (unit == UINT32_MAX || (unit >= 0xDC00 && unit < 0xE000)) return 0;
    size_t end = at + 6;
    if (unit >= 0xD800 && unit < 0xDC00) {
        const bool follows = end + 1 < text.size && text.data[end] == '\\' && text.data[end + 1] == 'u';
        const uint32_t low = follows ? read_unit(text, end + 2) : UINT32_MAX;
        if (low < 0xDC00 || low >= 0xE000) return 0;
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        end += 6;
    }
    *size = ferry_utf8_put(unit, bytes);
    return end;
}

/* Decodes from byte *at on, up to a quotation mark or the end, or to what is in no string. */
static ferry_status decode(ferry_view text, size_t *at, ferry_quoted_text *string, ferry_error *error)
{
    string->bytes.size = 0;
    for (size_t end; *at < text.size && text.data[*at] != '"'; *at = end) {
        char bytes[4] = {text.data[*at]};
        size_t size = 1;
        if ((unsigned char)bytes[0] < ' ') break;
        end = bytes[0] == '\\' ? read_escape(text, *at, bytes, &size) : *at + 1;
        if (end == 0) break;
        FERRY_TRY(ferry_quoted_push(string, *at, end, (ferry_view){bytes, size}, error));
    }
    return FERRY_OK;
}

/* ---- values ---- */

/* The next byte that is no white space; '\0': there is none. */
static char peek(reader *r)
{
    while (r->at < r->source.size && r->source.data[r->at] != '\0' && strchr(" \t\r\n", r->source.data[r->at]) != NULL)
        r->at++;
    return r->at < r->source.size ? r->source.data[r->at] : '\0';
}

static ferry_status refuse(const reader *r, const char *expected)
{
    return ferry_quoted_refuse(r->document, r->at, expected);
}

static ferry_status read_string(reader *r)
{
    r->at++;
    FERRY_TRY(decode(r->source, &r->at, &r->string, r->document->error));
    if (r->at == r->source.size || r->source.data[r->at] != '"')
        return refuse(r, "a character or an escape of a string");
    r->at++;
    return FERRY_OK;
}

static ferry_status read_key(reader *r)
{
    if (peek(r) != '"') return refuse(r, "the '\"' of a key");
    FERRY_TRY(read_string(r));
    if (r->depth <= r->apart) r->apart = 0;
    if (r->apart == 0 && r->string.bytes.size > 0 && r->string.bytes.data[0] == '@') r->apart = r->depth;
    if (peek(r) != ':') return refuse(r, "':'");
    r->at++;
    return FERRY_OK;
}

static size_t skip_digits(reader *r)
{
    const size_t begin = r->at;
    while (r->at < r->source.size && r->source.data[r->at] >= '0' && r->source.data[r->at] <= '9') r->at++;
    return r->at - begin;
}

static bool take(reader *r, const char *set)
{
    const bool is_one = r->at < r->source.size && memchr(set, r->source.data[r->at], strlen(set)) != NULL;
    r->at += is_one;
    return is_one;
}

static ferry_status read_scalar(reader *r)
{
    static const char *const names[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t size = strlen(names[i]);
        if (r->source.size - r->at < size || memcmp(r->source.data + r->at, names[i], size) != 0) continue;
        r->at += size;
        return FERRY_OK;
    }
    take(r, "-");
    bool complete = take(r, "0") || skip_digits(r) > 0;
    if (complete && take(r, ".")) complete = skip_digits(r) > 0;
    if (complete && take(r, "eE")) {
        take(r, "+-");
        complete = skip_digits(r) > 0;
    }
    return complete ? FERRY_OK : refuse(r, "a value");
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
            if (r->apart == 0) FERRY_TRY(ferry_quoted_add_blocks(r->document, &r->string, (ferry_view){NULL, 0}));
        } else {
            FERRY_TRY(read_scalar(r));
        }
        FERRY_TRY(read_separators(r, &complete));
    }
    return FERRY_OK;
}

static ferry_status read(ferry_document *document)
{
    reader r = {.document = document, .source = document->source};
    if (r.source.size >= 3 && memcmp(r.source.data, "\xEF\xBB\xBF", 3) == 0) r.at = 3;
    const ferry_status status = r.source.size > 0 ? read_values(&r) : FERRY_OK;
    ferry_quoted_destroy(&r.string);
    return status;
}

static ferry_status check(ferry_view before, ferry_view after, bool *same, ferry_error *error)
{
    ferry_quoted_text texts[2] = {{.capacity = 0}};
    size_t end = 0, written_end = 0;
    ferry_status status = decode(before, &end, &texts[0], error);
    if (status == FERRY_OK) status = decode(after, &written_end, &texts[1], error);
    *same = written_end == after.size && ferry_quoted_same_code(&texts[0], &texts[1]);
    ferry_quoted_destroy(&texts[0]);
    ferry_quoted_destroy(&texts[1]);
    return status;
}

static const char *const endings[] = {".json", ".arb", NULL};

const ferry_document_format ferry_format_json = {
    .name = "json",
    .endings = endings,
    .read = read,
    .write_text = ferry_quoted_write,
    .check = check,
};
