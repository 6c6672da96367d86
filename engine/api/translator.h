/* The public ferry_translator: a model, options, and the schedule that works for them; or a chain of such translators.
 */
#ifndef FERRY_API_TRANSLATOR_H
#define FERRY_API_TRANSLATOR_H

#include "engine/schedule/schedule.h"
#include "engine/lines/terms.h"

/* Callbacks of a program for a call. `mutex` is held while one of them is called. */
typedef struct ferry_callbacks {
    int (*progress)(void *user, size_t lines_done, size_t lines_total);
    int (*partial)(void *user, size_t line, ferry_text text);
    void *user;
    ferry_mutex mutex;
} ferry_callbacks;

struct ferry_translator {
    ferry_translator **stages; /* [stage_count] of a chain, which has no model of its own; else NULL */
    size_t stage_count;
    size_t place, places; /* index and number of stages of its chain; 0 and 1 without a chain */
    const ferry_model *model;
    ferry_options options;       /* from and to are in `rules` */
    ferry_search_options search; /* options.search, with the pair's forced_first_id */
    int32_t *suppressed_ids;     /* of `search`: a copy */
    ferry_line_rules rules;
    ferry_schedule schedule;
    ferry_term_vocabulary vocabulary; /* since the first call with terms; */
    bool has_vocabulary;
    ferry_mutex vocabulary_mutex;
    ferry_callbacks callbacks; /* of the options, for the translator's own calls */
    atomic_bool busy;          /* a call is in progress */
    /* stop: &own_stop, or that of its chain. The word is the number of the caller's job × 2, + 1 after a cancel. */
    ferry_stop own_stop, *stop;
};

/* Every call of a translator begins and ends with these functions. Only one call is in progress at a time. */

/* Errors: ARGUMENT (another call is in progress; nothing is changed). */
ferry_status ferry_translator_begin(ferry_translator *translator, ferry_error *error);
/* Returns `status`, that of the call. */
ferry_status ferry_translator_end(ferry_translator *translator, ferry_status status);
/* Errors: UNSUPPORTED (a model has no tokenizer). */
ferry_status ferry_translator_check_text(const ferry_translator *translator, ferry_error *error);
/* Reads translator->vocabulary, once. Errors: MEMORY, UNSUPPORTED (target text cannot become tokens). */
ferry_status ferry_translator_read_vocabulary(ferry_translator *translator, ferry_error *error);

#endif
