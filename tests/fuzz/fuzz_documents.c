/* Any bytes as a document of each format, which a small model translates. A document that is only read and written
 * comes out with the same bytes; a translated one is well-formed text with notes of its own bytes. The first byte
 * chooses the format, the second one options. */
#include "embedded_model.h"

#include "base/utf8.h"
#include "documents/ferry_documents.h"
#include "documents/formats/formats.h"

/* Where max_source is 1, sentences fail. */
static void choose(ferry_options *options, uint8_t choice)
{
    options->beam = 1 + choice % 2;
    options->max_source = choice < 2 ? 1 : 4 + choice;
    options->max_length = 1 + choice;
}

static void check_unchanged(const ferry_document_format *format, ferry_view source)
{
    ferry_document document;
    ferry_buffer out = {0};
    if (ferry_document_read(&document, format, NULL, source, NULL) == FERRY_OK) {
        if (ferry_document_write(&document, &out, NULL) != FERRY_OK) abort();
        if (!ferry_view_equal(source, (ferry_view){out.data != NULL ? out.data : "", out.size})) abort();
    }
    ferry_document_destroy(&document);
    free(out.data);
}

static void check_translated(const ferry_document_result *result, ferry_view source)
{
    const ferry_text text = ferry_document_result_text(result);
    const ferry_document_counts counts = ferry_document_result_counts(result);
    const ferry_document_note *note;
    size_t left = 0, at = 0;
    if (text.data == NULL || text.data[text.size] != '\0') abort();
    if (ferry_utf8_is_valid(source) && !ferry_utf8_is_valid((ferry_view){text.data, text.size})) abort();
    for (size_t i = 0; (note = ferry_document_result_note(result, i)) != NULL; i++) {
        if (note->offset < at || note->offset >= source.size || note->line == 0) abort();
        at = note->offset;
        left += note->left != 0;
    }
    if (left != counts.left) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t formats = 0;
    while (ferry_document_formats[formats] != NULL) formats++;
    if (size < 2) return 0;
    const ferry_document_format *format = ferry_document_formats[data[0] % formats];
    const ferry_view source = {(const char *)data + 2, size - 2};
    ferry_translator *translator = find_translator(data[1] % CHOICES, choose);
    ferry_document_result *result;
    check_unchanged(format, source);
    const ferry_status status = ferry_document_translate(open_embedded_model(), translator, format->name,
                                                         (ferry_text){source.data, source.size}, NULL, &result, NULL);
    if (status == FERRY_OK)
        check_translated(result, source);
    else if (status != FERRY_ERROR_UNSUPPORTED)
        abort();
    ferry_document_result_destroy(result);
    return 0;
}
