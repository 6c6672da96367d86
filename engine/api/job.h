/* One call of a translator: a queue of sentences, longest first, from which its workers take the next one as places
 * become free. */
#ifndef FERRY_API_JOB_H
#define FERRY_API_JOB_H

#include <stdatomic.h>

#include "result.h"
#include "translator.h"

/* A line, and the sentence that goes through the model. */
typedef struct ferry_job_source {
    size_t line;
    ferry_ids ids; /* empty: the line is answered without the model */
    bool alone;    /* memory did not suffice for it and its neighbors */
} ferry_job_source;

typedef struct ferry_job {
    ferry_translator *translator;
    const ferry_text *lines; /* NULL: sources came as ids, and ids are the result */
    size_t count;
    ferry_job_source *sources; /* [count], by line first, then sorted: longest first, those without ids last */
    size_t sentences;          /* sources with ids */
    atomic_size_t taken;       /* of them */
    atomic_size_t done;        /* lines */
    ferry_result *result;
    atomic_int status; /* ferry_status of the first failure, after which workers stop */
    ferry_error error; /* written by the worker that set `status` */
} ferry_job;

/* Takes memory for `count` lines. After any call, even a failed one, comes ferry_job_finish. */
ferry_status ferry_job_begin(ferry_job *job, ferry_error *error);
/* Translates the sources, unless `status`, what the steps before returned, is an error. Releases the job, whose result
 * goes to *result if there is no error. Returns the first error. */
ferry_status ferry_job_finish(ferry_job *job, ferry_status status, ferry_result **result, ferry_error *error);

#endif
