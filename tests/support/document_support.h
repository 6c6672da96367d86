/* Documents, translated by functions in the place of a model. */
#ifndef FERRY_SUPPORT_DOCUMENT_SUPPORT_H
#define FERRY_SUPPORT_DOCUMENT_SUPPORT_H

#include "support.h"

#include "documents/formats.h"

/* Appends the translation of markup. */
typedef void markup_function(ferry_view markup, ferry_string *translation);
/* The markup itself; its text in capitals; with each letter twice. */
markup_function same_markup, upper_markup, longer_markup;

/* Appends the translated document to `out`; FERRY_OK, or what failed. */
ferry_status try_document(const ferry_document_format *format, ferry_view source,
                          const ferry_document_translator *translator, ferry_string *out, ferry_error *error);
/* Expects that the document is read, or that it is not supported, with a message that contains `refusal`. */
void check_reading(const ferry_document_format *format, const char *source, const char *refusal);
/* The document, translated so; the caller frees `data`. *warnings (may be NULL): how many blocks were refused. */
ferry_string translate_document(const ferry_document_format *format, ferry_view source, markup_function *translate,
                                size_t *warnings);
/* Expects the document that `translate` makes of `source`. */
void assert_document(const ferry_document_format *format, const char *source, markup_function *translate,
                     const char *expected);
/* Expects that the model is shown `markup` (without "<p>" and "</p>\n" if it is one block), and what becomes of its
 * translation. */
void assert_translated(const ferry_document_format *format, const char *source, const char *markup,
                       const char *translation, const char *expected);
/* The cases of a format, in tests/data/documents/NAME.cases, a line each, "SOURCE → RESULT": below "@@ shown" what the
 * model is shown of a document that stays, below "@@ capitals" the document with its text in capitals, or SOURCE alone
 * if it stays. */
void check_cases(const char *name);

#endif
