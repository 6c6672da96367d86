/* The public functions: a document from memory to memory. */
#include "ferry_documents.h"

#include <stdlib.h>

#include "documents/formats/formats.h"

struct ferry_document_result {
    ferry_buffer text;
    ferry_document_counts counts;
    ferry_document_note *notes; /* [note_count] */
    size_t note_count;
};

const char *ferry_document_format_name(size_t index)
{
    size_t count = 0;
    while (count < index && ferry_document_formats[count] != NULL) count++;
    return ferry_document_formats[count] != NULL ? ferry_document_formats[count]->name : NULL;
}

const char *ferry_document_format_of(const char *path)
{
    const ferry_document_format *format = path != NULL ? ferry_document_format_of_file(path) : NULL;
    return format != NULL ? format->name : NULL;
}

/* ---- notes ---- */

static int compare_notes(const void *a, const void *b)
{
    const ferry_document_note *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Takes the document's notes, in order of their places. */
static void take_notes(ferry_document_result *result, ferry_document *document, ferry_text source)
{
    size_t at = 0, line = 1;
    result->notes = document->notes;
    result->note_count = document->note_count;
    document->notes = NULL;
    document->note_count = 0;
    if (result->note_count > 1) qsort(result->notes, result->note_count, sizeof *result->notes, compare_notes);
    for (size_t i = 0; i < result->note_count; i++) {
        for (; at < result->notes[i].offset; at++) line += source.data[at] == '\n';
        result->notes[i].line = line;
    }
}

/* ---- the call ---- */

static void count(ferry_document_counts *counts, const ferry_segment *segments, size_t segment_count)
{
    for (size_t i = 0; i < segment_count; i++) {
        counts->translated += segments[i].translated;
        counts->left += segments[i].failed;
        counts->kept += !segments[i].translated && !segments[i].failed;
    }
}

static ferry_status translate(const ferry_document_context *context, const ferry_document_format *format,
                              ferry_text source, ferry_translator *translator, const ferry_document_options *options,
                              ferry_document_result *result, ferry_error *error)
{
    ferry_document document;
    const ferry_view view = {source.data != NULL ? source.data : "", source.size};
    ferry_status status = ferry_document_read(&document, format, context, view, error);
    if (status == FERRY_OK) status = ferry_segments_translate(&document, translator, options);
    if (status == FERRY_OK) status = ferry_document_write(&document, &result->text, error);
    if (status == FERRY_OK) status = ferry_buffer_end(&result->text, error);
    if (status == FERRY_OK) {
        count(&result->counts, document.segments, document.segment_count);
        count(&result->counts, document.attributes, document.attribute_count);
        take_notes(result, &document, source);
    }
    ferry_document_destroy(&document);
    return status;
}

/* Alignment is off again. */
static void reset(ferry_translator *translator)
{
    ferry_translator *stage;
    for (size_t i = 0; (stage = ferry_translator_stage(translator, i)) != NULL; i++) ferry_translator_align(stage, 0);
}

ferry_status ferry_document_translate(const ferry_model *model, ferry_translator *translator, const char *format,
                                      ferry_text source, const ferry_document_options *options,
                                      ferry_document_result **result, ferry_error *error)
{
    ferry_error unwanted;
    if (error == NULL) error = &unwanted;
    if (result == NULL) return ferry_fail_argument(error, "result", "expected a pointer, found NULL");
    *result = NULL;
    if (model == NULL || translator == NULL || format == NULL || (source.data == NULL && source.size > 0))
        return ferry_fail_argument(error,
                                   model == NULL        ? "model"
                                   : translator == NULL ? "translator"
                                   : format == NULL     ? "format"
                                                        : "source",
                                   "expected a pointer, found NULL");
    if (options != NULL && options->size < sizeof *options)
        return ferry_fail_argument(error, "options", "expected a size of %zu at least, found %zu", sizeof *options,
                                   options->size);
    const ferry_document_options given = options != NULL ? *options : (ferry_document_options){.size = 0};
    const ferry_document_format *found = ferry_document_format_named(format);
    if (found == NULL) return ferry_fail_argument(error, "format", "expected html, markdown …, found '%.40s'", format);
    ferry_document_result *made = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a document", 1, sizeof *made);
    const ferry_document_context context = {
        .model = model,
        .source = ferry_language_find(model, given.from, FERRY_LANGUAGE_DEFAULT_SOURCE),
        .target = ferry_language_find(given.last != NULL ? given.last : model, given.to, FERRY_LANGUAGE_DEFAULT_TARGET),
    };
    const ferry_status status = translate(&context, found, source, translator, &given, made, error);
    reset(translator);
    if (status == FERRY_OK)
        *result = made;
    else
        ferry_document_result_destroy(made);
    return status;
}

/* ---- the result ---- */

void ferry_document_result_destroy(ferry_document_result *result)
{
    if (result == NULL) return;
    ferry_document_notes_destroy(result->notes, result->note_count);
    free(result->text.data);
    free(result);
}

ferry_text ferry_document_result_text(const ferry_document_result *result)
{
    return result != NULL ? (ferry_text){result->text.data, result->text.size} : (ferry_text){"", 0};
}

ferry_document_counts ferry_document_result_counts(const ferry_document_result *result)
{
    return result != NULL ? result->counts : (ferry_document_counts){0};
}

size_t ferry_document_result_note_count(const ferry_document_result *result)
{
    return result != NULL ? result->note_count : 0;
}

const ferry_document_note *ferry_document_result_note(const ferry_document_result *result, size_t index)
{
    return index < ferry_document_result_note_count(result) ? &result->notes[index] : NULL;
}
