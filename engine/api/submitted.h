/* One text of a service: copied, prepared in portions by the workers, translated as the calls of its stages, and
 * reported. */
#ifndef FERRY_API_SUBMITTED_H
#define FERRY_API_SUBMITTED_H

#include "call.h"
#include "request.h"
#include "translator.h"

typedef struct ferry_submitted ferry_submitted;

struct ferry_submitted {
    ferry_call call; /* of a stage; the first member, so that job.user, the call, is also the text */
    size_t stage;
    ferry_result *before;       /* of the previous stage; NULL in the first one */
    ferry_text *between;        /* the lines of this stage; NULL in the first one */
    size_t carried;             /* bytes of these two */
    ferry_submission given;     /* its texts are copies; request: NULL */
    ferry_wanted wanted;        /* a copy of the request */
    ferry_text_lines sentences; /* of given.text, as far as it is split */
    ferry_translator *translator;
    ferry_callbacks callbacks;
    ferry_stop stop; /* above the jobs of its stages */
    size_t bytes;    /* of its copy and sentences */
    bool begun;      /* a sentence was taken */

    ferry_service *service; /* from here on, the service's */
    ferry_ticket number;
    size_t size;           /* of the submission's texts */
    bool queued;           /* the job is in the queue of its stage, or with its workers */
    ferry_submitted *next; /* in a chain of the service's table */
};

/* Whether this thread is in a callback of the service. */
bool ferry_submitted_is_calling(const ferry_service *service);

/* Bytes of the texts, lines and of what is wanted, and of the arrays; SIZE_MAX if there are more. */
size_t ferry_submission_size(const ferry_submission *submission, const ferry_wanted *wanted);
/* A copy of the submission, which has `size` bytes. NULL: out of memory. */
ferry_submitted *ferry_submitted_create(const ferry_submission *submission, const ferry_wanted *wanted, size_t size,
                                        ferry_service *service);
void ferry_submitted_destroy(ferry_submitted *submitted);

/* Makes the job of the first stage. `job` has the caller's stop.above, begun and ended; `account` counts the bytes
 * that the text holds until it is destroyed. */
void ferry_submitted_begin(ferry_submitted *submitted, ferry_translator *translator, const ferry_job *job,
                           atomic_size_t *account);
/* Ends a stage. *more: the job of the next one is made; else *result is the text's, as ferry_submission says. */
ferry_status ferry_submitted_end(ferry_submitted *submitted, bool *more, ferry_result **result, ferry_error *error);
/* Calls `done`. `why`: the error, or NULL. */
void ferry_submitted_report(const ferry_submitted *submitted, ferry_result *result, const ferry_error *why);

#endif
