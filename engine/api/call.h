/* The lines of one call, or of one text of a service: prepared as parts with ids, given to the schedule as tasks, and
 * joined when their tasks are done. */
#ifndef FERRY_API_CALL_H
#define FERRY_API_CALL_H

#include "engine/lines/line.h"
#include "engine/schedule/queue.h"

typedef struct ferry_callbacks ferry_callbacks;

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
    ferry_terms terms;         /* of the lines, */
    const char *text;          /* or of the text that begins here, if the lines are its sentences; else NULL */
    ferry_on_number on_number; /* of the request, */
    int (*progress)(void *user, size_t lines_done, size_t lines_total); /* or NULL */
    void *user;
    ferry_callbacks *callbacks; /* the translator's, or of a text of a service */
    atomic_size_t *account;     /* NULL, or counts the bytes that the call holds */
    ferry_job job;              /* job.ended not NULL: of a service */

    ferry_call_line *lines;  /* [count] */
    size_t next;             /* the first line that ferry_call_prepare has not prepared */
    ferry_splitter splitter; /* of this line */
    atomic_size_t done;      /* number of finished lines */
    atomic_size_t held;      /* bytes, as in `account` */
    ferry_result *result;
} ferry_call;

/* Translates or scores the lines with the translator's schedule. *result: see ferry_call_end. Errors: MEMORY,
 * CANCELLED, or the first failure that is not of a single line. */
ferry_status ferry_call_run(ferry_call *call, ferry_result **result, ferry_error *error);

/* The same in steps, for a service. The worker that prepares the call's job calls ferry_call_open, then
 * ferry_call_prepare until it returns false; ferry_call_end follows when the job has ended. */

/* Makes room for the lines, and completes the job's description. Errors: MEMORY. */
ferry_status ferry_call_open(ferry_call *call, ferry_error *error);
/* Prepares the next `bytes` bytes of the lines. After the last line, makes a task of each part with ids. Returns
 * whether lines are left. A failure stops the job. */
bool ferry_call_prepare(ferry_call *call, size_t bytes);
/* Releases the call. `status`: of the call so far; OK: the job's status counts. *result gets the result if it is OK
 * or CANCELLED; NULL if the call was not opened. Lines that are not finished are CANCELLED, and then the call is, too.
 */
ferry_status ferry_call_end(ferry_call *call, ferry_status status, ferry_result **result, ferry_error *error);

#endif
