#include "line_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "tools/system/terminal.h"
#include "progress.h"
#include "line_output.h"
#include "output_file.h"

/* Lines go to the library in groups: at first one batch per thread, so that output comes early; then larger groups, as
 * long as they take little time, since the translator batches sentences of similar length. */
enum { MOST_BATCHES = 16, MOST_LOOKS = 16 }; /* MOST_LOOKS: at what a line keeps, so that time is linear */
static const double patience = 0.5;          /* seconds */

/* Text in another encoding has its own warning. */
static void warn(const ferry_line_job *j, size_t i, const char *warning)
{
    const bool said = j->lines->kind.encoding == FERRY_ENCODING_OTHER;
    if (warning != NULL && !(said && strcmp(warning, "invalid UTF-8 was read as U+FFFD") == 0))
        ferry_warn_of_line(j->call, j->lines->first + i + 1, warning);
}

/* Tells once of a placeholder or an address that a document keeps, and this line does not. */
static void tell_of_change(ferry_line_job *j, size_t i, const ferry_result *result)
{
    ferry_placeholder_search search = {.text = {j->lines->texts[i].data, j->lines->texts[i].size}};
    ferry_placeholder kept;
    if (ferry_is_given(j->call, FERRY_OPTION_QUIET) || ferry_is_given(j->call, FERRY_OPTION_KEEP) ||
        ferry_result_hypothesis_count(result, i) == 0)
        return;
    const ferry_text text = ferry_result_text(result, i, 0);
    const ferry_view translation = {text.data, text.size};
    for (size_t looks = 0; looks < MOST_LOOKS && !j->reported && ferry_line_keeps_next(&search, &kept); looks++) {
        const ferry_view part = {search.text.data + kept.begin, kept.end - kept.begin};
        if (ferry_view_contains_view(translation, part)) continue;
        ferry_complain("line %zu: '%.*s' was changed (--keep keeps placeholders and addresses)",
                       j->lines->first + i + 1, (int)(part.size < 60 ? part.size : 60), part.data);
        j->reported = true;
    }
}

/* Compares the model's file with its content hash, once, if a line failed because of the model's numbers or its
 * translation has quality flags. */
static void check_damage(ferry_line_job *j, const ferry_outcome *outcome)
{
    if (j->verified || (outcome->status != FERRY_ERROR_FORMAT && outcome->quality == 0)) return;
    j->verified = true;
    if (ferry_session_is_damaged(j->session)) j->failed = true;
}

/* `why`: the error of the whole call, or NULL. */
static void write_line(ferry_line_job *j, size_t i, const ferry_result *result, const char *why)
{
    const ferry_line_output output = {.call = j->call, .model = ferry_session_writer(j->session), .out = j->out};
    const ferry_outcome *outcome = ferry_result_outcome(result, i);
    const char *reason = result != NULL ? outcome->error : NULL;
    const ferry_output_line line = {.number = j->lines->first + i,
                                    .source = j->lines->texts[i],
                                    .returned = j->lines->returns[i],
                                    .error = reason != NULL ? reason : why};
    warn(j, i, outcome->warning);
    tell_of_change(j, i, result);
    check_damage(j, outcome);
    if (ferry_line_translation_is_bad(&j->translation, i)) result = NULL;
    if (!ferry_line_output_write(&output, &line, result, i)) j->failed = true;
    if (reason != NULL) ferry_fail_lines(line.number + 1, 1, reason);
}

/* After an interruption, output ends before the first line that is not finished. */
static size_t lines_to_write(const ferry_line_job *j, const ferry_result *result)
{
    size_t count = 0;
    if (j->interrupted == 0) return j->lines->count;
    if (result == NULL) return 0;
    while (count < j->lines->count && ferry_result_outcome(result, count)->status != FERRY_ERROR_CANCELLED) count++;
    return count;
}

static bool write_lines(ferry_line_job *j, const ferry_result *result, const char *why)
{
    const size_t count = lines_to_write(j, result);
    for (size_t i = 0; i < count && !ferror(j->out); i++) write_line(j, i, result, why);
    const char *loss = ferry_output_loss(j->out, j->out_name);
    j->lost = loss != NULL;
    if (j->lost) {
        if (ferry_interrupt_signal() == 0)
            ferry_complain("%s: cannot write: %s, after line %zu of the input", j->out_name, loss, j->written);
    } else if (j->written < j->lines->first + count) {
        j->written = j->lines->first + count;
    }
    return !j->lost;
}

static bool translate_lines(ferry_line_job *j)
{
    ferry_error error;
    ferry_result *result;
    if (!ferry_line_translation_prepare(&j->translation, j->lines)) return false;
    ferry_interrupt_begin(j->session->translator);
    const ferry_status status = ferry_line_translation_run(&j->translation, j->lines, &result, &error);
    j->interrupted = ferry_interrupt_signal();
    if (status != FERRY_OK && j->interrupted == 0)
        ferry_fail_lines(j->lines->first + 1, j->lines->count, error.message);
    const bool written = write_lines(j, result, result == NULL ? error.message : NULL);
    ferry_result_destroy(result);
    j->interrupted = ferry_interrupt_end(); /* also by a signal while lines were written */
    return written && j->interrupted == 0;
}

/* ---- continuing an output ---- */

/* Reads `count` lines; `translate`: and translates them. */
static bool repeat_lines(ferry_line_job *j, size_t count, bool translate)
{
    while (count > 0 && ferry_lines_next(j->lines, count)) {
        if (translate ? !translate_lines(j) : !ferry_line_translation_skip(&j->translation, j->lines)) return false;
        count -= j->lines->count;
    }
    if (count > 0 && !j->lines->failed)
        ferry_complain("%s: cannot be continued: it has the translations of %zu lines, and %s has %zu lines",
                       j->out_name, j->resume->complete, j->lines->name, j->lines->first);
    return count == 0;
}

/* Whether the last translations of the file come out again. */
static bool is_continued(ferry_line_job *j)
{
    const ferry_resume *resume = j->resume;
    FILE *out = j->out;
    ferry_memory_stream again;
    j->written = resume->complete;
    if (!repeat_lines(j, resume->complete - resume->checked, false)) return false;
    const bool opened = ferry_memory_stream_open(&again);
    j->out = again.file;
    const bool repeated = opened && repeat_lines(j, resume->checked, true);
    j->out = out;
    const bool kept = opened && ferry_memory_stream_close(&again);
    if (!kept) ferry_complain("out of memory");
    const bool same = kept && repeated && ferry_resume_matches(resume, (ferry_view){again.data, again.size});
    if (kept) free(again.data);
    return same;
}

static bool continue_output(ferry_line_job *j)
{
    const bool continued = is_continued(j);
    ferry_resume_close(j->resume); /* it is mapped, and must not be cut before */
    if (!continued) return false;
    j->lost = !ferry_stream_cut(j->out, j->resume->end);
    if (j->lost) ferry_complain("%s: cannot write: %s", j->out_name, strerror(errno));
    return !j->lost;
}

/* ---- all lines ---- */

int ferry_line_job_progress(void *user, size_t done, size_t total)
{
    ferry_line_job *j = user;
    (void)total;
    if (j->progress.wanted)
        ferry_progress_show(&j->progress, "lines", j->lines->first + done, ferry_lines_share(j->lines, done));
    return 0;
}

/* Not where translations themselves are seen to come, nor where somebody types. */
static void begin_progress(ferry_line_job *j)
{
    const bool typed = j->lines->descriptor == FERRY_STANDARD_INPUT && ferry_is_terminal(stdin);
    const bool wanted = !ferry_is_given(j->call, FERRY_OPTION_QUIET) && !typed && !ferry_is_terminal(j->out);
    ferry_progress_begin(&j->progress, wanted, j->written, ferry_lines_share(j->lines, j->lines->count));
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
    bool done =
        ferry_line_translation_open(&j->translation, j->call, j->session) && (j->resume == NULL || continue_output(j));
    if (done) {
        begin_progress(j);
        done = translate_all(j);
        ferry_progress_erase();
    }
    ferry_line_translation_close(&j->translation);
    return done;
}
