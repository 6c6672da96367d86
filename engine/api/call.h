/* The lines of one call, or of one text of a service: prepared as parts with ids, given to the schedule as tasks, and
 * joined when their tasks are done. */
#ifndef FERRY_API_CALL_H
#define FERRY_API_CALL_H

#include "engine/lines/line.h"
#include "engine/schedule/queue.h"

typedef struct ferry_call_line {
    ferry_line line;
    atomic_size_t left; /* number of parts that are not translated yet */
    bool finished;      /* its result is complete */
} ferry_call_line;

/* The caller fills in the first part, and may set job.stop.above, job.priority and job.ended. */
typedef struct ferry_call {
    ferry_translator *translator; /* of one model */
    const ferry_text *texts;      /* [count] lines */
    const ferry_text *targets;    /* [count] translations to score; NULL: lines are translated */
    const ferry_text *prefixes;   /* [count] beginnings of translations; NULL: none */
    size_t count;
    ferry_job job; /* job.ended not NULL: of a service; the thread of ferry_call_begin prepares the lines */

    ferry_call_line *lines; /* [count] */
    atomic_size_t done;     /* number of finished lines */
    ferry_result *result;
} ferry_call;

/* Prepares the lines, and makes a job of their parts. ferry_call_end follows, also after an error. Errors: MEMORY,
 * or the first failure that is not of a single line. */
ferry_status ferry_call_begin(ferry_call *call, ferry_error *error);
/* Releases the call. `status`: of the call so far; OK: the job's status counts. *result gets the result if it is OK
 * or CANCELLED. Lines that are not finished are CANCELLED, and then the call is, too. */
ferry_status ferry_call_end(ferry_call *call, ferry_status status, ferry_result **result, ferry_error *error);
/* Begins a call, has the translator's schedule do its job, and ends it. */
ferry_status ferry_call_run(ferry_call *call, ferry_result **result, ferry_error *error);

#endif
