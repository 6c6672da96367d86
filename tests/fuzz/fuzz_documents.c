/* Any bytes as a document of each format, with translators in the place of a model: one that returns its input gives
 * the same bytes; one that only adds blanks keeps all other characters in their order; one that damages a byte of the
 * markup is refused or not, but breaks nothing. The first byte chooses both. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "documents/formats.h"

typedef enum way { SAME, SPACED, DAMAGED, WAYS } way;

typedef struct user {
    way way;
    uint8_t seed;
} user;

static void append(ferry_string *out, ferry_view view)
{
    if (ferry_string_append(out, view, NULL) != FERRY_OK) abort();
}

static ferry_status translate(void *data, ferry_document *document, ferry_view markup, ferry_string *translation,
                              ferry_error *error)
{
    const user *u = data;
    bool in_tag = false;
    (void)error;
    for (size_t at = 0; at < markup.size; at++) {
        const char c = markup.data[at];
        in_tag = c == '<' || (in_tag && c != '>');
        append(translation, (ferry_view){&c, 1});
        if (u->way == SPACED && c == ' ' && !in_tag) append(translation, ferry_text_view(" "));
        if (ferry_document_source_place(document, at) > document->source.size) abort();
    }
    if (u->way == DAMAGED && translation->size > 0) translation->data[u->seed % translation->size] ^= (char)u->seed;
    if (u->way == DAMAGED && u->seed % 16 == 0) ferry_document_fail(document, u->seed);
    return FERRY_OK;
}

static void ignore(void *data, const ferry_document *document, size_t at, const char *message)
{
    (void)data;
    (void)message;
    if (at > document->source.size) abort();
}

/* The next byte of the text from *at that is neither white space nor a quotation mark, which lines may begin with. */
static int next_byte(ferry_view text, size_t *at)
{
    while (*at < text.size && strchr(" \t\r\n\v\f>", text.data[*at]) != NULL && text.data[*at] != '\0') ++*at;
    return *at < text.size ? text.data[(*at)++] : -1;
}

static void check_spaced(ferry_view source, ferry_view out)
{
    size_t from = 0, to = 0;
    for (int byte = 0; byte >= 0;) {
        byte = next_byte(source, &from);
        if (byte != next_byte(out, &to)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t formats = 0;
    while (ferry_document_formats[formats] != NULL) formats++;
    if (size < 2) return 0;
    const ferry_document_format *format = ferry_document_formats[data[0] % formats];
    user u = {.way = (way)(data[0] / formats % WAYS), .seed = data[1]};
    const ferry_view source = {(const char *)data + 2, size - 2};
    const ferry_document_translator translator = {.translate = translate, .warn = ignore, .user = &u};
    ferry_document document;
    ferry_error error;
    ferry_string out = {0};
    ferry_status status = ferry_document_read(&document, format, source, &error);
    const bool refused = status == FERRY_ERROR_UNSUPPORTED;
    if (status == FERRY_OK) status = ferry_document_translate(&document, &translator);
    if (status == FERRY_OK) status = ferry_document_write(&document, &out, &error);
    ferry_document_destroy(&document);
    const ferry_view written = {out.data != NULL ? out.data : "", out.size};
    if (status != FERRY_OK && !refused && u.way != DAMAGED && !format->is_markup) abort();
    if (status == FERRY_OK && u.way == SAME && !ferry_view_equal(source, written)) abort();
    if (u.way == SPACED && (format == &ferry_format_text || format == &ferry_format_srt)) check_spaced(source, written);
    free(out.data);
    return 0;
}
