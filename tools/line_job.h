/* Lines are read, translated and written in batches, in order: every line of input gives its output. */
#ifndef FERRY_TOOLS_LINE_JOB_H
#define FERRY_TOOLS_LINE_JOB_H

#include <stdio.h>

#include "line_reader.h"
#include "line_translation.h"
#include "translator_session.h"

typedef struct ferry_line_job {
    const ferry_call *call;
    ferry_session *session;
    ferry_lines *lines;
    FILE *out;
    ferry_line_translation translation;
    int warnings;
    bool failed;     /* some line was not translated; a message was printed */
    int interrupted; /* by this signal, or 0 */
} ferry_line_job;

/* Translates all lines. Returns false if it had to stop before the end: reading or writing failed, or a signal came. */
bool ferry_line_job_run(ferry_line_job *job);

#endif
