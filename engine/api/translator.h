/* What the public ferry_translator is. */
#ifndef FERRY_API_TRANSLATOR_H
#define FERRY_API_TRANSLATOR_H

#include "base/memory.h"
#include "base/pool.h"
#include "engine/search/generate.h"
#include "model.h"

/* ---- the queue (queue.c) ----
 *
 * What the workers of a translator take next: sentences of jobs, those of a higher priority first, then those of the
 * job that came first. A sentence for which memory did not suffice beside others goes back, to be translated alone:
 * then the jobs that follow its job wait. */

typedef struct ferry_job ferry_job;
typedef struct ferry_job_sentence ferry_job_sentence;

typedef struct ferry_queue {
    ferry_mutex mutex;
    ferry_condition changed;
    ferry_job *first, *last;        /* with sentences, in the order in which they are taken */
    ferry_job *ended;               /* of a service, until it is reported */
    void (*report)(ferry_job *job); /* by a worker; NULL: there is no service */
    int32_t workers;                /* that may share the sentences */
    size_t waiting, held;           /* sentences of all jobs: in the queue, and with workers */
    int32_t working;                /* workers of a service that translate, */
    bool alone;                     /* one of them a sentence alone: the others wait */
    bool closed;                    /* workers leave when no job is left */
    uint64_t number;                /* of the last job */
} ferry_queue;

/* Where a sentence goes that was taken. */
typedef enum ferry_queue_target {
    FERRY_QUEUE_DONE,
    FERRY_QUEUE_AGAIN, /* it is the first of its job */
    FERRY_QUEUE_ALONE
} ferry_queue_target;

typedef enum ferry_queue_task {
    FERRY_QUEUE_NOTHING,   /* no task is left, and the queue is closed */
    FERRY_QUEUE_REPORT,    /* a job has ended */
    FERRY_QUEUE_TRANSLATE, /* sentences that are taken as there is room for them */
    FERRY_QUEUE_TRANSLATE_ALONE
} ferry_queue_task;

void ferry_queue_create(ferry_queue *queue, int32_t workers);
void ferry_queue_destroy(ferry_queue *queue);

/* Adds a job with its list of sentences. In a service, one that was stopped or has none has ended. */
void ferry_queue_add(ferry_queue *queue, ferry_job *job);
/* Takes the job's sentences out of the queue; those with workers stay there. */
void ferry_queue_remove(ferry_queue *queue, ferry_job *job);

/* The next sentence for a worker that holds so many; NULL: there is none, or others hold fewer. `alone`: the next one
 * that is to be translated alone; NULL: none is, or others come first. */
ferry_job_sentence *ferry_queue_take(ferry_queue *queue, size_t held, bool alone);
/* Each sentence that was taken is put somewhere. One of a job that was stopped is done. */
void ferry_queue_put(ferry_queue *queue, ferry_job_sentence *sentence, ferry_queue_target target);

/* For workers of a service: waits until there is something to do. `last`: what the worker did. */
ferry_queue_task ferry_queue_wait(ferry_queue *queue, ferry_queue_task last);
/* Reports the jobs that have ended. */
void ferry_queue_report(ferry_queue *queue);
/* Workers leave when there is nothing to do. */
void ferry_queue_close(ferry_queue *queue);

/* ---- the translator ---- */

struct ferry_translator {
    ferry_translator **stages; /* [stage_count] of a row of models, which has nothing of what follows; else NULL */
    size_t stage_count;
    size_t row_index, row_length; /* of a stage; 0 of 1: of no row */
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
    ferry_logit_bound bound;     /* zeroed if there is none */
    size_t source_tokens;        /* of all calls */
    ferry_memory memory;         /* of the generators and the bound */
    atomic_bool busy;            /* a call is in progress */
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
/* ARGUMENT: a row, where one model is needed. */
ferry_status ferry_row_refuse(const ferry_translator *translator, ferry_error *error);

/* Checks every option against its row of the schema and the model; the error names the option. */
ferry_status ferry_options_check(const ferry_decoding *decoding, const ferry_model_file *file, ferry_error *error);

/* ---- calls ----
 *
 * What every call of a translator begins and ends with: nobody else may call it meanwhile, and a cancel belongs to one
 * call. */

/* ARGUMENT, without touching anything, where another call is in progress. A cancel that came since the last call ended
 * is this call's. */
ferry_status ferry_call_begin(ferry_translator *translator, ferry_error *error);
/* Returns `status`, that of the call; one that was refused (ARGUMENT) leaves a cancel to the next. */
ferry_status ferry_call_end(ferry_translator *translator, ferry_status status);

#endif
