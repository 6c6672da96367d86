/* Chains (models in a row): a translator with several stages, which translate one after the other. Each stage is a
 * translator of one model. */
#ifndef FERRY_API_CHAIN_H
#define FERRY_API_CHAIN_H

#include "engine/lines/split.h"

typedef struct ferry_call ferry_call;

/* The number of stages; 1 for a translator that is not a chain. */
size_t ferry_chain_length(const ferry_translator *translator);

/* Errors: ARGUMENT (the translator is a chain). */
ferry_status ferry_chain_refuse(const ferry_translator *translator, ferry_error *error);
/* Translates the lines of a call through all stages: the translations of a stage are the lines of the next. *result is
 * NULL before; it belongs to the caller after OK or CANCELLED. */
ferry_status ferry_chain_translate(const ferry_translator *chain, const ferry_call *call, ferry_result **result,
                                   ferry_error *error);

/* The translations of a stage, as lines [count] for the next one, and the terms that it gets. The lines point into the
 * result; the caller frees the array, which has the terms, too. A failed line is empty. NULL: out of memory. */
ferry_text *ferry_chain_lines(const ferry_result *result, ferry_terms *terms, ferry_error *error);
/* Adds the outcomes of the previous stage, `before`, to the lines of a stage. A line that failed before fails here.
 * Releases `before`. Either result may be NULL. Errors: MEMORY. */
ferry_status ferry_chain_merge(ferry_result *result, ferry_result *before, ferry_error *error);
/* Marks the lines of a stage before the last one as CANCELLED, unless they failed. Returns CANCELLED, or an error. */
ferry_status ferry_chain_cancel(ferry_result *result, ferry_error *error);

#endif
