/* One call of a translator: a queue of sentences, longest first, from which its workers take the next one as places
 * become free. A line is one sentence, or several parts (parts.h). Sentences are translated (translate_share.c), or
 * scored with given translations (score.c). */
#ifndef FERRY_API_JOB_H
#define FERRY_API_JOB_H

#include <stdatomic.h>

#include "parts.h"
#include "result.h"
#include "translator.h"

typedef struct ferry_job_line {
    ferry_parts parts;
    atomic_size_t left; /* parts that are not translated yet */
    char *repaired;     /* the text without ill-formed UTF-8, where it had any, else NULL */
    bool finished;      /* its result is complete */
} ferry_job_line;

/* What goes through the model. */
typedef struct ferry_job_sentence {
    size_t line;
    ferry_part *part; /* with ids */
    bool alone;       /* memory did not suffice for it and its neighbors */
    bool again;       /* its translation loops: it is translated once more, when all others are done */
} ferry_job_sentence;

typedef struct ferry_job ferry_job;

/* One worker's view of a job. */
typedef struct ferry_job_share {
    ferry_job *job;
    int32_t worker;
    const ferry_job_sentence *alone; /* the one sentence to work on; NULL: those of the queue */
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
    atomic_size_t taken;           /* of them */
    atomic_size_t done;            /* lines */
    ferry_result *result;
    atomic_int status; /* ferry_status of the first failure, after which workers stop */
    ferry_error error; /* written by the worker that set `status` */
};

/* After a failure, and when the call is cancelled. */
static inline bool ferry_job_stopped(const ferry_job *job)
{
    return atomic_load(&job->translator->stop);
}

/* UNSUPPORTED if the model has no tokenizer. */
ferry_status ferry_job_check(const ferry_translator *translator, ferry_error *error);
/* The next sentence of a share; NULL if there is none, or the call is cancelled. */
const ferry_job_sentence *ferry_job_take(ferry_job_share *share);
/* The sentence's result is complete. CANCELLED if the call is. */
ferry_status ferry_job_finish_sentence(ferry_job_share *share, const ferry_job_sentence *sentence, ferry_error *error);
/* The sentence fails, and its result is released; where memory was refused (LIMIT), it is tried again alone. */
ferry_status ferry_job_fail_sentence(ferry_job_share *share, const ferry_job_sentence *sentence, const ferry_error *why,
                                     ferry_error *error);
/* A line whose result has no sentence is complete. */
void ferry_job_finish_line(ferry_job *job, size_t line);
/* Translates sentences of the queue, or one alone. */
void ferry_job_translate_share(ferry_job_share *share);
/* Ends the call with an error: workers stop. */
void ferry_job_stop(ferry_job *job, const ferry_error *error);
/* Calls prepare(job, line) for each line on the threads of the pool. Errors: the first one that it returns. */
ferry_status ferry_job_prepare(ferry_job *job, ferry_status (*prepare)(ferry_job *job, size_t line, ferry_error *error),
                               ferry_error *error);

/* ferry_translate_prefixed (`prefixes` may be NULL), of arguments that were checked, within a call (call.h). */
ferry_status ferry_job_translate(ferry_translator *translator, const ferry_text *texts, const ferry_text *prefixes,
                                 size_t count, ferry_result **result, ferry_error *error);
/* The text of a line without ill-formed UTF-8: the text itself, or a copy that the job releases, with a warning. */
ferry_status ferry_job_repair(ferry_job *job, size_t line, ferry_view *text, ferry_error *error);
/* Takes memory for `count` lines. After any call, even a failed one, comes ferry_job_finish. */
ferry_status ferry_job_begin(ferry_job *job, ferry_error *error);
/* Translates the parts of all lines, unless `status`, what the steps before returned, is an error. Releases the job,
 * whose result goes to *result if there is no error but CANCELLED. Returns the first error. */
ferry_status ferry_job_finish(ferry_job *job, ferry_status status, ferry_result **result, ferry_error *error);

#endif
