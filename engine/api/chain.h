/* Models in a row: a translator whose stages, translators of one model each, translate one after the other. */
#ifndef FERRY_API_CHAIN_H
#define FERRY_API_CHAIN_H

#include "base/status.h"

/* Stages of a translator; one of one model is its only stage. */
size_t ferry_chain_length(const ferry_translator *translator);

/* ARGUMENT if the translator is a chain. */
ferry_status ferry_chain_refuse(const ferry_translator *translator, ferry_error *error);
/* Translates lines through all stages: the translations of a stage are the lines of the next. *result is NULL before;
 * it belongs to the caller if OK or CANCELLED is returned. */
ferry_status ferry_chain_translate(ferry_translator *chain, const ferry_text *lines, size_t count,
                                   ferry_result **result, ferry_error *error);

/* The translations of a stage as lines [count] for the next one, which the caller frees; they point into the result. A
 * line that failed is empty. NULL: memory does not suffice. */
ferry_text *ferry_chain_lines(const ferry_result *result, ferry_error *error);
/* Adds the outcomes of the stage before to those of a stage's lines; a line that failed there fails here. Releases
 * `before`; either result may be NULL. Errors: MEMORY. */
ferry_status ferry_chain_merge(ferry_result *result, ferry_result *before, ferry_error *error);
/* Of a stage before the last, in a call that was cancelled: no line is finished. Returns CANCELLED, or an error. */
ferry_status ferry_chain_cancel(ferry_result *result, ferry_error *error);

#endif
