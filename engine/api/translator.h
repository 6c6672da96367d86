/* The public ferry_translator: a model, options, and the schedule that works for them; or a chain of such translators.
 */
#ifndef FERRY_API_TRANSLATOR_H
#define FERRY_API_TRANSLATOR_H

#include "engine/schedule/schedule.h"
#include "engine/lines/split.h"

struct ferry_translator {
    ferry_translator **stages; /* [stage_count] of a chain, which has no model of its own; else NULL */
    size_t stage_count;
    size_t place, places; /* in a chain; 0 of 1: in none */
    const ferry_model *model;
    ferry_options options;       /* from and to are in `rules` */
    ferry_search_options search; /* options.search; forced_first_id as the pair wants it */
    int32_t *suppressed_ids;     /* of `search`: a copy */
    ferry_line_rules rules;
    ferry_schedule schedule;
    ferry_mutex partial;   /* held while options.partial is called */
    atomic_bool busy;      /* a call is in progress */
    atomic_bool cancelled; /* by the user: the call that is in progress, or else the next one */
};

/* What every call of a translator begins and ends with: no other call may be in progress, and a cancel belongs to one
 * call. */

/* ARGUMENT, without touching anything, if another call is in progress. A cancel that came since the last call ended is
 * this call's. */
ferry_status ferry_translator_begin(ferry_translator *translator, ferry_error *error);
/* Returns `status`, that of the call; one that was refused (ARGUMENT) leaves a cancel to the next. */
ferry_status ferry_translator_end(ferry_translator *translator, ferry_status status);
/* UNSUPPORTED if a model has no tokenizer. */
ferry_status ferry_translator_check_text(const ferry_translator *translator, ferry_error *error);

#endif
