#include "line_job.h"

#include "base/system.h"
#include "interrupt.h"
#include "line_output.h"

/* Lines go to the library in groups: at first one batch per thread, so that output comes early; then larger groups, as
 * long as they take little time, since the translator batches sentences of similar length. */
enum { MOST_BATCHES = 16 };
static const double patience = 0.5; /* seconds */
/* Lines whose warnings are shown. */
enum { MOST_WARNINGS = 10 };

static void warn(ferry_line_job *j, size_t i, const char *warning)
{
    if (warning == NULL || j->warnings == MOST_WARNINGS || ferry_is_given(j->call, FERRY_OPTION_QUIET)) return;
    const bool last = ++j->warnings == MOST_WARNINGS;
    ferry_complain("line %zu: %s%s", j->lines->first + i + 1, warning, last ? " (further warnings are not shown)" : "");
}

/* `why`: the error of the whole call, or NULL. */
static void write_line(ferry_line_job *j, size_t i, const ferry_result *result, const char *why)
{
    const ferry_line_output output = {.call = j->call, .model = j->session->model, .out = j->out};
    const char *reason = ferry_result_error(result, i);
    const ferry_output_line line = {.number = j->lines->first + i,
                                    .source = j->lines->texts[i],
                                    .returned = j->lines->returns[i],
                                    .error = reason != NULL ? reason : why};
    warn(j, i, ferry_result_warning(result, i));
    if (ferry_line_translation_is_bad(&j->translation, i)) result = NULL;
    if (!ferry_line_output_write(&output, &line, result, i)) j->failed = true;
    if (reason != NULL) ferry_complain("line %zu: %s", line.number + 1, reason);
}

/* How many lines there are up to the last one that is finished: after an interruption, output ends there. */
static size_t lines_to_write(const ferry_line_job *j, const ferry_result *result)
{
    size_t count = j->lines->count;
    while (count > 0 && j->interrupted != 0 && ferry_result_status(result, count - 1) == FERRY_ERROR_CANCELLED) count--;
    return count;
}

static bool translate_lines(ferry_line_job *j)
{
    ferry_error error;
    ferry_result *result;
    if (!ferry_line_translation_prepare(&j->translation, j->lines)) return false;
    ferry_interrupt_begin(j->session->translator);
    const ferry_status status = ferry_line_translation_run(&j->translation, j->lines, &result, &error);
    j->interrupted = ferry_interrupt_end();
    const size_t first = j->lines->first + 1, last = j->lines->first + j->lines->count;
    if (status != FERRY_OK) ferry_complain("lines %zu to %zu: %s", first, last, error.message);
    const size_t count = result != NULL ? lines_to_write(j, result) : j->lines->count;
    for (size_t i = 0; i < count; i++) write_line(j, i, result, result == NULL ? error.message : NULL);
    ferry_result_destroy(result);
    return fflush(j->out) == 0 && !ferror(j->out) && j->interrupted == 0; /* the message: ferry_output_close */
}

static bool translate_all(ferry_line_job *j)
{
    const ferry_options *options = &j->session->options;
    const size_t least = (size_t)options->batch * (size_t)options->threads;
    size_t most = least;
    while (ferry_lines_next(j->lines, most)) {
        const double start = ferry_clock();
        if (!translate_lines(j)) return false;
        if (most < least * MOST_BATCHES && ferry_clock() - start < patience) most *= 2;
    }
    return !j->lines->failed && ferry_line_translation_finish(&j->translation);
}

bool ferry_line_job_run(ferry_line_job *j)
{
    const bool done = ferry_line_translation_open(&j->translation, j->call, j->session) && translate_all(j);
    ferry_line_translation_close(&j->translation);
    return done;
}
