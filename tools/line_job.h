/* Lines are read, translated and written in batches, in order: every line of input gives its output. */
#ifndef FERRY_TOOLS_LINE_JOB_H
#define FERRY_TOOLS_LINE_JOB_H

#include <stdio.h>

#include "line_reader.h"
#include "line_translation.h"
#include "progress.h"
#include "resume.h"
#include "translator_session.h"

typedef struct ferry_line_job {
    const ferry_call *call;
    ferry_session *session;
    ferry_lines *lines;
    FILE *out;
    const char *out_name;
    ferry_line_translation translation;
    ferry_resume *resume; /* NULL: `out` is new */
    ferry_progress progress;
    size_t written;  /* lines of input of which everything is in `out` */
    bool verified;   /* the model file was compared with its content hash */
    bool reported;   /* that a placeholder was changed */
    bool failed;     /* some line was not translated; a message was printed */
    bool lost;       /* `out` could not be written; a message was printed */
    int interrupted; /* by this signal, or 0 */
} ferry_line_job;

/* Translates all lines. Returns false if it had to stop before the end: reading or writing failed, a signal came, or
 * `out` cannot be continued. */
bool ferry_line_job_run(ferry_line_job *job);
/* ferry_options.progress of the session; `user` is the job. */
int ferry_line_job_progress(void *user, size_t done, size_t total);

#endif
