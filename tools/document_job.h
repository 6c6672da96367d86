/* A document is read as a whole, translated and written: what is not text stays as it is (documents). */
#ifndef FERRY_TOOLS_DOCUMENT_JOB_H
#define FERRY_TOOLS_DOCUMENT_JOB_H

#include "documents/ferry_documents.h"
#include "documents/formats/formats.h"
#include "progress.h"
#include "translator_session.h"

typedef struct ferry_document_job {
    const ferry_call *call;
    ferry_session *session;
    const ferry_document_format *format;
    bool failed;     /* some text was not translated; a message was printed */
    int interrupted; /* by this signal, or 0 */
} ferry_document_job;

/* Whether the call is about a document; *format NULL: about lines. Says so on standard error if the name of the input
 * decides. Prints a message and returns false if options do not go with it. */
bool ferry_document_format_wanted(const ferry_call *call, const ferry_document_format **format);
/* Translates the call's input, or its operands. Returns false after a message if there is no complete output. */
bool ferry_document_job_run(ferry_document_job *job);

#endif
