/* HTML: a document is markup. It is read as UTF-8. If it is a whole page of ASCII that does not say that it is UTF-8,
 * browsers may read it in another encoding: other characters are then written by number. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "formats.h"

enum { LOOKED_AT = 1024 }; /* bytes in which HTML wants its encoding to be declared */

static bool is_of_name(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-' || c == '_' || c == ':';
}

static bool is_filler(char c)
{
    return c == ' ' || c == '"' || c == '\'';
}

/* The value of the first `attribute` that is followed by "=", in the document's beginning: of <meta charset="utf-8">,
 * of <meta … content="text/html; charset=utf-8">, of <?xml encoding="utf-8"?>. Empty: there is none. */
static ferry_view find_value(ferry_view source, const char *attribute)
{
    const size_t size = strlen(attribute), most = source.size < LOOKED_AT ? source.size : LOOKED_AT;
    for (size_t at = 0; at + size < most; at++) {
        if (ferry_compare_letters(source.data + at, attribute, size) != 0) continue;
        size_t begin = at + size, end;
        while (begin < most && source.data[begin] == ' ') begin++;
        if (begin == most || source.data[begin++] != '=') continue;
        while (begin < most && is_filler(source.data[begin])) begin++;
        for (end = begin; end < source.size && is_of_name(source.data[end]);) end++;
        return (ferry_view){source.data + begin, end - begin};
    }
    return (ferry_view){"", 0};
}

/* The encoding that the document declares; empty: none. */
static ferry_view declared(ferry_view source)
{
    const ferry_view charset = find_value(source, "charset");
    const bool is_xml = source.size > 5 && memcmp(source.data, "<?xml", 5) == 0;
    return charset.size == 0 && is_xml ? find_value(source, "encoding") : charset;
}

static bool is_utf8(ferry_view name)
{
    return (name.size == 5 && ferry_compare_letters(name.data, "utf-8", 5) == 0) ||
           (name.size == 4 && ferry_compare_letters(name.data, "utf8", 4) == 0);
}

static bool is_ascii(ferry_view text)
{
    for (size_t at = 0; at < text.size; at++)
        if ((unsigned char)text.data[at] >= 0x80) return false;
    return true;
}

/* A page rather than a part of one. */
static bool is_page(ferry_view source)
{
    static const char *const tags[] = {"<!doctype", "<html", "<head", "<?xml"};
    const size_t most = source.size < LOOKED_AT ? source.size : LOOKED_AT;
    for (size_t at = 0; at < most; at++)
        for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
            if (most - at >= strlen(tags[i]) && ferry_compare_letters(source.data + at, tags[i], strlen(tags[i])) == 0)
                return true;
    return false;
}

static ferry_status read_html(ferry_document *document)
{
    const ferry_view source = document->source, name = declared(source);
    if (is_utf8(name) || is_ascii(source) || (name.size == 0 && ferry_utf8_is_valid(source))) return FERRY_OK;
    const char *advice = "change its encoding, and the declaration: iconv -f ENCODING -t UTF-8";
    if (name.size == 0) return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED, "expected UTF-8; %s", advice);
    return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED, "expected UTF-8, found the declared encoding %.*s; %s",
                      (int)(name.size < 40 ? name.size : 40), name.data, advice);
}

static ferry_status write_html(const ferry_document *document, ferry_string *out, ferry_error *error)
{
    const ferry_view text = {document->written.data, document->written.size};
    const ferry_view name = declared(document->source);
    const bool is_known = is_utf8(name) || (name.size == 0 && !is_page(document->source));
    if (is_known || !is_ascii(document->source)) return ferry_string_append(out, text, error);
    for (size_t at = 0, begin = 0; at < text.size; begin = at) {
        uint32_t c = 0;
        char number[16];
        ferry_view bytes = {text.data + begin, 1};
        if (!ferry_utf8_next(text, &at, &c)) c = 0xFFFD;
        if (c >= 0x80) {
            bytes.data = number;
            bytes.size = (size_t)snprintf(number, sizeof number, "&#%u;", (unsigned)c);
        }
        FERRY_TRY(ferry_string_append(out, bytes, error));
    }
    return FERRY_OK;
}

static const char *const endings[] = {".html", ".htm", ".xhtml", NULL};
const ferry_document_format ferry_format_html = {
    .name = "html", .endings = endings, .read = read_html, .is_markup = true, .write_markup = write_html};
