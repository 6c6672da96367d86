/* Documents, translated by a stand-in for the library. */
#ifndef FERRY_TESTS_DOCUMENT_SUPPORT_H
#define FERRY_TESTS_DOCUMENT_SUPPORT_H

#include "tests/support/support.h"

#include "documents/ferry_documents.h"
#include "documents/formats/formats.h"
#include "stand_in.h"

/* Expects that the document is read, or that it is not supported, with a message that contains `refusal`. */
void check_reading(const ferry_document_format *format, const char *source, const char *refusal);
/* The document, translated so; the caller frees `data`. *left (may be NULL): how many blocks stay. */
ferry_buffer translate_document(const ferry_document_format *format, ferry_view source, stand_in_way way, size_t *left);
/* The cases of a format, in tests/data/documents/NAME.cases, a line each, below the name of their section:
 *     @@ capitals    SOURCE → the document with its text in capitals, or SOURCE alone if it stays
 *     @@ twice       SOURCE → the document with each letter twice
 *     @@ shown       SOURCE → what the model is shown of it
 *     @@ translated  SOURCE → what the model is shown → its translation → the document, or nothing if it stays
 *     @@ refused     SOURCE → a part of the message, or SOURCE alone if it is read */
void check_cases(const ferry_document_format *format);

/* A call of the library with these options; the translator answers `given`, or, if that is NULL, the text in capitals.
 */
ferry_status call_documents(const ferry_document_options *options, const char *format, const char *source,
                            const char *given, ferry_document_result **result, ferry_error *error);
/* Expects the document that it makes. */
void check_call(const ferry_document_options *options, const char *format, const char *source, const char *given,
                const char *expected);

#endif
