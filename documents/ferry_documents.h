/* Ferry for documents: the text of a page, a README, a catalog, subtitles is translated, and every other byte stays.
 *
 *     ferry_document_result *result;
 *     ferry_text page = {"<p>Good <b>morning</b>!</p>", 27};
 *     if (ferry_document_translate(model, translator, "html", page, NULL, &result, &error) == FERRY_OK)
 *         puts(ferry_document_result_text(result).data);
 *
 * A library on libferry, whose rules (ferry.h) hold here, too. docs/documents.md tells what the formats are. */
#ifndef FERRY_DOCUMENTS_H
#define FERRY_DOCUMENTS_H

#include "ferry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Name number `index` of a format, static: "html", "markdown", "po" …; NULL past the last. */
FERRY_API const char *ferry_document_format_name(size_t index);
/* The format of a file by the ending of its name, static; NULL if there is none. */
FERRY_API const char *ferry_document_format_of(const char *path);

typedef struct ferry_document_options {
    size_t size; /* sizeof(ferry_document_options), as the program was compiled */
    /* Called as texts (paragraphs, cells, attributes …) and sentences within them are finished, as
     * ferry_options.progress. */
    int (*progress)(void *user, size_t texts_done, size_t texts_total);
    void *user;
    const char *from, *to;   /* the translator's, as ferry_options have them; NULL: the model's */
    const ferry_model *last; /* of models in a row (ferry_translator_then): the one that `to` belongs to; else NULL */
} ferry_document_options;

/* What is said about a text. Later versions may add fields at the end. */
typedef struct ferry_document_note {
    size_t offset, line; /* of the source: its first byte, and the line that it is in, counted from 1 */
    int left;            /* 1: it stays in the source language; 0: a warning about its translation */
    const char *message; /* why */
} ferry_document_note;

/* How many texts were translated; stay because there is nothing to translate, or the translation is the same; stay
 * although they are prose: for each of these there is a note. */
typedef struct ferry_document_counts {
    size_t translated, kept, left;
} ferry_document_counts;

typedef struct ferry_document_result ferry_document_result;

/* Translates a document, or a part of one ("html": any fragment). The translator, one of this model, or of a row that
 * begins with it, is used as by ferry_translate_text, and cancelled by ferry_translator_cancel (its job); its option
 * `alignment` is off afterwards. `options` may be NULL. *result belongs to the caller. Nothing of a text is lost: where
 * the translation has quality flags, lacks an element or what has to be kept, or would be read otherwise than the text,
 * it is not used, and a note says so. Errors: ARGUMENT (`format` is unknown), UNSUPPORTED (the document's encoding, a
 * malformed document), those of ferry_translate_text_with with terms; CANCELLED has no result. */
FERRY_API ferry_status ferry_document_translate(const ferry_model *model, ferry_translator *translator,
                                                const char *format, ferry_text source,
                                                const ferry_document_options *options, ferry_document_result **result,
                                                ferry_error *error);
FERRY_API void ferry_document_result_destroy(ferry_document_result *result);

/* The document; it belongs to the result. */
FERRY_API ferry_text ferry_document_result_text(const ferry_document_result *result);
FERRY_API ferry_document_counts ferry_document_result_counts(const ferry_document_result *result);
/* Notes, by their places in the source; they belong to the result. NULL past the last. */
FERRY_API size_t ferry_document_result_note_count(const ferry_document_result *result);
FERRY_API const ferry_document_note *ferry_document_result_note(const ferry_document_result *result, size_t index);

#ifdef __cplusplus
}
#endif

#endif
