/* What the public ferry_translator is. */
#ifndef FERRY_API_TRANSLATOR_H
#define FERRY_API_TRANSLATOR_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/pool.h"
#include "engine/search/generate.h"
#include "model.h"
#include "queue.h"
#include "tokenizer/sentences.h"

struct ferry_translator {
    ferry_translator **stages; /* [stage_count] of a row (row.h), which has nothing of what follows; else NULL */
    size_t stage_count;
    size_t place, places; /* in a row; 0 of 1: in none */
    const ferry_model *model;
    ferry_options options;       /* from and to are `pair` */
    ferry_search_options search; /* options.search; forced_first_id as the pair wants it; suppressed_ids: a copy */
    ferry_language_pair pair;
    const ferry_sentence_language *sentences; /* of the pair's source */
    int32_t *suppressed_ids;
    ferry_pool *pool;
    ferry_generator *generators; /* [options.threads] */
    ferry_queue queue;           /* of their sentences */
    int32_t unknown_id;          /* of the target; -1: there is none */
    ferry_screen screen;         /* zeroed if there is none */
    size_t source_tokens;        /* of all calls */
    ferry_memory memory;         /* of the generators and the screen */
    atomic_bool busy;            /* a call is in progress (call.h) */
    atomic_bool cancelled;       /* by the user: the call that is in progress, or else the next one */
    atomic_bool stop;            /* the call ends soon: it is cancelled, or something failed; false between calls */
};

static inline size_t ferry_translator_stage_count(const ferry_translator *translator)
{
    return translator->stages != NULL ? translator->stage_count : 1;
}

static inline ferry_profile *ferry_translator_profile(const ferry_translator *translator, int32_t worker)
{
    return &translator->generators[worker].state.profile;
}

/* Whether the bytes of source tokens have to be known. */
static inline bool ferry_translator_wants_tokens(const ferry_translator *translator)
{
    return translator->options.alignment != 0 || translator->options.replace_unknowns != 0;
}

/* The most source tokens of a sentence (ferry_options.max_source). */
int32_t ferry_translator_source_limit(const ferry_translator *translator);
/* The most target tokens of a pair that is scored. */
int32_t ferry_translator_scored_limit(const ferry_translator *translator);
/* The most target tokens of a sentence. */
int32_t ferry_translator_target_length(const ferry_translator *translator, size_t source_length);

#endif
