/* Translators in a row: what the first makes of lines, the next translates. */
#ifndef FERRY_API_ROW_H
#define FERRY_API_ROW_H

#include "result.h"
#include "translator.h"

/* ARGUMENT: a row, where one model is needed. */
ferry_status ferry_row_refuse(const ferry_translator *translator, ferry_error *error);
/* ferry_translate within a call (call.h), of arguments that were checked, through all stages. */
ferry_status ferry_row_translate(ferry_translator *translator, const ferry_text *texts, size_t count,
                                 ferry_result **result, ferry_error *error);

/* The translations of a stage as lines [count] for the next one, which the caller frees; they point into the result.
 * What failed is empty. NULL: memory does not suffice. */
ferry_text *ferry_row_lines(const ferry_result *result, ferry_error *error);
/* Tells in the outcomes of a stage's lines what those of the stage before tell; what failed there fails here. */
ferry_status ferry_row_merge(ferry_result *result, const ferry_result *before, ferry_error *error);
/* The result of a stage before the last, of a job that was cancelled: no line is finished. Returns CANCELLED, or an
 * error. */
ferry_status ferry_row_cancel(ferry_result *result, ferry_error *error);

#endif
