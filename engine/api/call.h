/* The lines of one call, or of one text of a service: prepared as parts with ids, given to the schedule as tasks, and
 * joined when their tasks are done. */
#ifndef FERRY_API_CALL_H
#define FERRY_API_CALL_H

#include "engine/lines/line.h"
#include "engine/schedule/queue.h"

typedef struct ferry_call_line {
    ferry_line line;
    atomic_size_t left; /* parts that are not translated yet */
    bool finished;      /* its result is complete */
} ferry_call_line;

/* The caller fills in the first part, and may set job.stop, job.priority and job.ended. */
typedef struct ferry_call {
    ferry_translator *translator; /* of one model */
    const ferry_text *texts;      /* [count] lines */
    const ferry_text *targets;    /* [count] the lines' translations, which are scored; NULL: lines are translated */
    const ferry_text *prefixes;   /* [count] of translations; NULL: none */
    size_t count;
    ferry_job job; /* of a service if job.ended is set: then this thread prepares the lines */

    ferry_call_line *lines; /* [count] */
    atomic_size_t done;     /* lines */
    ferry_result *result;
} ferry_call;

/* Prepares the lines, and makes the job of their parts. Afterwards, even if this failed, comes ferry_call_end. Errors:
 * MEMORY, or the first failure that is not a line's own. */
ferry_status ferry_call_begin(ferry_call *call, ferry_error *error);
/* Releases the call. Its result goes to *result if `status`, or if that is OK the job's status, is OK or CANCELLED.
 * Lines that are not finished are CANCELLED; then so is the call. */
ferry_status ferry_call_end(ferry_call *call, ferry_status status, ferry_result **result, ferry_error *error);
/* Begins a call, has the translator's schedule do its job, and ends it. */
ferry_status ferry_call_run(ferry_call *call, ferry_result **result, ferry_error *error);

#endif
