/* A text as lines of a job: its sentences. What is between them is copied. */
#ifndef FERRY_API_TEXT_H
#define FERRY_API_TEXT_H

#include "result.h"
#include "translator.h"

typedef struct ferry_text_lines {
    ferry_text *texts; /* [count] sentences, into the text; released with free */
    size_t count, capacity;
} ferry_text_lines;

/* ARGUMENT: no text of a caller. Without bytes, it gets an address. */
ferry_status ferry_text_check(ferry_text *text, ferry_error *error);
/* Adds the sentences of a text. Errors: MEMORY. */
ferry_status ferry_text_split(const ferry_translator *translator, ferry_text text, ferry_text_lines *lines,
                              ferry_error *error);
/* The result of the text: `sentences`, that of its lines, belongs to it, even if this fails. `status`: of the job, OK
 * or CANCELLED. Errors: MEMORY; CANCELLED, which has a result. */
ferry_status ferry_text_join(ferry_text text, const ferry_text_lines *lines, ferry_status status,
                             ferry_result *sentences, ferry_result **result, ferry_error *error);

#endif
