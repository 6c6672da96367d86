/* The lines that a translator translates together, in a call or for a service: a list of sentences, longest first, from
 * which its workers take the next one as places become free. A line is one sentence, or several parts (parts.h).
 * Sentences are translated (translate_share.c), or scored with given translations (score.c). */
#ifndef FERRY_API_JOB_H
#define FERRY_API_JOB_H

#include <stdatomic.h>

#include "parts.h"
#include "queue.h"
#include "result.h"
#include "translator.h"

typedef struct ferry_job_line {
    ferry_parts parts;
    atomic_size_t left; /* parts that are not translated yet */
    char *repaired;     /* the text without ill-formed UTF-8, where it had any, else NULL */
    bool finished;      /* its result is complete */
} ferry_job_line;

/* What goes through the model. */
struct ferry_job_sentence {
    ferry_job *job;
    ferry_job_sentence *next; /* in a list of its job */
    size_t line;
    ferry_part *part; /* with ids */
    bool again;       /* its translation loops: it is translated once more */
};

/* One worker's view of its translator's queue. */
typedef struct ferry_job_share {
    ferry_translator *translator;
    ferry_job *job; /* the call's; NULL: of a service */
    int32_t worker;
    size_t held;               /* sentences that it has taken */
    bool alone;                /* only the next one is taken, */
    ferry_job_sentence *first; /* which is this */
} ferry_job_share;

struct ferry_job {
    ferry_translator *translator;
    void (*work)(ferry_job_share *share); /* takes sentences and finishes them; NULL: translates */
    bool tokens;                          /* of the results are wanted */
    const ferry_text *texts;              /* NULL: the lines' parts came as ids, and ids are the result */
    const ferry_text *targets;            /* of pairs that are scored */
    const ferry_text *prefixes;           /* [count] of the translations; NULL: none */
    size_t count;
    ferry_job_line *lines; /* [count] */
    size_t sentence_count;
    ferry_job_sentence *sentences; /* longest first */
    atomic_size_t done;            /* lines */
    ferry_result *result;
    atomic_bool *stop; /* the job ends soon: it is cancelled, or something failed; NULL: the translator's */
    atomic_int status; /* ferry_status of the first failure, after which workers stop */
    ferry_error error; /* written by the worker that set `status` */
    /* In the queue, whose mutex protects the following. */
    int32_t priority;
    uint64_t number;                     /* in the order in which jobs came */
    ferry_job *next;                     /* in a list of the queue */
    ferry_job_sentence *waiting, *alone; /* lists of those that are to be translated with others, and alone */
    size_t held;                         /* sentences with workers */
};

/* After a failure, and when the job is cancelled. */
static inline bool ferry_job_stopped(const ferry_job *job)
{
    return atomic_load(job->stop);
}

/* UNSUPPORTED if the model has no tokenizer. */
ferry_status ferry_job_check(const ferry_translator *translator, ferry_error *error);
/* The next sentence of a share; NULL if there is none. */
ferry_job_sentence *ferry_job_take(ferry_job_share *share);
/* Puts a sentence that was taken back into the queue, or DONE. */
void ferry_job_put(ferry_job_share *share, ferry_job_sentence *sentence, ferry_queue_place place);
/* The sentence's result is complete. */
void ferry_job_finish_sentence(ferry_job_share *share, ferry_job_sentence *sentence);
/* The sentence fails, and its result is released; where memory was refused (LIMIT), it is tried again alone. An error
 * that is not the sentence's own stops the job. */
void ferry_job_fail_sentence(ferry_job_share *share, ferry_job_sentence *sentence, const ferry_error *why);
/* A line whose result has no sentence is complete. */
void ferry_job_finish_line(ferry_job *job, size_t line);
/* Translates sentences of the queue, until there is none. */
void ferry_job_translate_share(ferry_job_share *share);
/* Translates one alone, with all the translator's memory. */
void ferry_job_translate_alone(ferry_translator *translator, ferry_job *job, int32_t worker);
/* Ends the job with an error: workers stop. */
void ferry_job_stop(ferry_job *job, const ferry_error *error);
/* Calls prepare(job, line) for each line on the threads of the pool, or for a service on this one. Errors: the first
 * one that it returns. */
ferry_status ferry_job_prepare(ferry_job *job, ferry_status (*prepare)(ferry_job *job, size_t line, ferry_error *error),
                               ferry_error *error);

/* ferry_translate_prefixed (`prefixes` may be NULL), of arguments that were checked, within a call (call.h). */
ferry_status ferry_job_translate(ferry_translator *translator, const ferry_text *texts, const ferry_text *prefixes,
                                 size_t count, ferry_result **result, ferry_error *error);
/* The text of a line without ill-formed UTF-8: the text itself, or a copy that the job releases, with a warning. */
ferry_status ferry_job_repair(ferry_job *job, size_t line, ferry_view *text, ferry_error *error);
/* Takes memory for `count` lines. After it, even if it failed, comes ferry_job_end or _finish. */
ferry_status ferry_job_begin(ferry_job *job, ferry_error *error);
/* Splits the lines of a job that has begun, and lists its sentences. */
ferry_status ferry_job_list(ferry_job *job, ferry_error *error);
/* Releases the job, whose result goes to *result if `status` is OK or CANCELLED. Lines that are not finished are
 * CANCELLED, and so is the job that has such. */
ferry_status ferry_job_end(ferry_job *job, ferry_status status, ferry_result **result, ferry_error *error);
/* Translates the parts of all lines, unless `status`, what the steps before returned, is an error; then as
 * ferry_job_end. Returns the first error. */
ferry_status ferry_job_finish(ferry_job *job, ferry_status status, ferry_result **result, ferry_error *error);
/* The first failure of a job's workers. */
ferry_status ferry_job_take_status(ferry_job *job, ferry_error *error);
/* Makes the translator's screen (engine/search/screen.h), where it pays for so many source tokens. Errors: MEMORY. */
ferry_status ferry_job_make_screen(ferry_translator *translator, size_t tokens, ferry_error *error);

#endif
