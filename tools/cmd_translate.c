#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "base/system.h"
#include "engine/ferry_inspect.h"
#include "interrupt.h"
#include "line_reader.h"
#include "output_file.h"
#include "translator_session.h"

/* Lines go to the library in groups: at first one batch per thread, so that output comes early; then larger groups, as
 * long as they take little time, since the translator batches sentences of similar length. */
enum { MOST_BATCHES = 16 };
static const double patience = 0.5; /* seconds */
/* Lines whose warnings are shown. */
enum { MOST_WARNINGS = 10 };

typedef struct job {
    const ferry_call *call;
    ferry_session session;
    ferry_lines lines;
    FILE *out;
    const char *out_name;
    int warnings;
    bool failed;     /* some line was not translated */
    int interrupted; /* by this signal, or 0 */
} job;

/* ---- output ---- */

/* What a line of output contains. */
typedef struct entry {
    ferry_text text;
    float sum, score;
} entry;

static entry entry_of(const ferry_result *result, size_t i, size_t h)
{
    const float *scores = ferry_inspect_result_token_scores(result, i, h);
    entry e = {.text = ferry_result_text(result, i, h), .score = ferry_result_score(result, i, h)};
    for (size_t t = 0; t < ferry_result_tokens(result, i, h); t++) e.sum += scores[t];
    return e;
}

static void write_entry(job *j, size_t i, const entry *e)
{
    const bool nbest = ferry_is_given(j->call, ferry_search_option("nbest")); /* Marian's format */
    if (nbest)
        fprintf(j->out, "%zu ||| ", j->lines.first + i);
    else if (ferry_is_given(j->call, FERRY_OPTION_SCORES))
        fprintf(j->out, "%.6g\t", (double)e->score);
    ferry_output_text(j->out, e->text);
    if (nbest) fprintf(j->out, " ||| F0= %.6g ||| %.6g", (double)e->sum, (double)e->score);
    if (j->lines.returns[i]) fputc('\r', j->out);
    fputc('\n', j->out);
}

/* The output for a line that failed is an empty line, with the score of probability 0. */
static void write_failure(job *j, size_t i)
{
    j->failed = true;
    write_entry(j, i, &(entry){{"", 0}, -INFINITY, -INFINITY});
}

static void warn(job *j, size_t i, const char *warning)
{
    if (warning == NULL || j->warnings == MOST_WARNINGS || ferry_is_given(j->call, FERRY_OPTION_QUIET)) return;
    const bool last = ++j->warnings == MOST_WARNINGS;
    ferry_complain("line %zu: %s%s", j->lines.first + i + 1, warning, last ? " (further warnings are not shown)" : "");
}

static void write_line(job *j, size_t i, const ferry_result *result)
{
    const size_t hypotheses = ferry_result_hypotheses(result, i);
    const char *reason = ferry_result_error(result, i);
    warn(j, i, ferry_result_warning(result, i));
    if (hypotheses == 0) write_failure(j, i);
    if (reason != NULL) ferry_complain("line %zu: %s", j->lines.first + i + 1, reason);
    for (size_t h = 0; h < hypotheses; h++) {
        const entry e = entry_of(result, i, h);
        write_entry(j, i, &e);
    }
}

/* ---- the loop ---- */

/* How many lines there are up to the last one that is finished: after an interruption, output ends there. */
static size_t lines_to_write(const job *j, const ferry_result *result)
{
    size_t count = j->lines.count;
    while (count > 0 && j->interrupted != 0 && ferry_result_status(result, count - 1) == FERRY_ERROR_CANCELLED) count--;
    return count;
}

static bool translate_lines(job *j)
{
    ferry_error error;
    ferry_result *result;
    ferry_translator *translator = j->session.translator;
    ferry_interrupt_begin(translator);
    const ferry_status status = ferry_translate(translator, j->lines.texts, j->lines.count, &result, &error);
    j->interrupted = ferry_interrupt_end();
    const size_t first = j->lines.first + 1, last = j->lines.first + j->lines.count;
    if (status != FERRY_OK) ferry_complain("lines %zu to %zu: %s", first, last, error.message);
    const size_t count = result != NULL ? lines_to_write(j, result) : j->lines.count;
    for (size_t i = 0; i < count; i++)
        if (result != NULL)
            write_line(j, i, result);
        else
            write_failure(j, i);
    ferry_result_destroy(result);
    return fflush(j->out) == 0 && !ferror(j->out) && j->interrupted == 0; /* the message: ferry_output_close */
}

static bool translate_all(job *j)
{
    const ferry_options *options = &j->session.options;
    const size_t least = (size_t)options->batch * (size_t)options->threads;
    size_t most = least;
    while (ferry_lines_next(&j->lines, most)) {
        const double start = ferry_clock();
        if (!translate_lines(j)) return false;
        if (most < least * MOST_BATCHES && ferry_clock() - start < patience) most *= 2;
    }
    return !j->lines.failed;
}

/* ---- opening files ---- */

static bool open_input(job *j)
{
    const ferry_arguments *arguments = &j->call->arguments;
    if (arguments->operand_count > 0)
        return ferry_lines_from_arguments(&j->lines, arguments->operands, arguments->operand_count);
    return ferry_lines_open(&j->lines, ferry_option_text(j->call, FERRY_OPTION_INPUT));
}

static bool open_output(job *j)
{
    j->out_name = ferry_option_text(j->call, FERRY_OPTION_OUTPUT);
    if (j->out_name == NULL) {
        j->out_name = "standard output";
        j->out = stdout;
        return true;
    }
    if (ferry_output_is_input(j->out_name, ferry_option_text(j->call, FERRY_OPTION_INPUT), "input")) return false;
    j->out = ferry_output_open(j->out_name);
    return j->out != NULL;
}

static int run(const ferry_call *call)
{
    job j = {.call = call};
    if (call->arguments.operand_count > 0 && ferry_is_given(call, FERRY_OPTION_INPUT)) {
        ferry_complain("translate: expected TEXT or --input, found both");
        return FERRY_EXIT_USAGE;
    }
    bool done = open_input(&j) && ferry_session_open(call, &j.session) && open_output(&j) && translate_all(&j);
    if (!ferry_output_close(j.out, j.out_name)) done = false;
    ferry_session_close(&j.session);
    ferry_lines_close(&j.lines);
    if (j.interrupted != 0) raise(j.interrupted);
    return done && !j.failed ? FERRY_EXIT_OK : FERRY_EXIT_FAILED;
}

const ferry_command ferry_command_translate = {
    .name = "translate",
    .synopsis = "[TEXT…]",
    .summary = "translate the arguments, or the lines of standard input",
    .details =
        "Prints one line for each line of input, in order; a line is one sentence for the model. A blank line stays\n"
        "as it is; CR LF at the end of a line is kept. For a line that cannot be translated: an empty line, a message\n"
        "with its number, and exit status 1. A line of more source tokens than --max-source is translated in parts.\n"
        "Search options default to what the model's authors chose.\n"
        "--nbest N without --beam widens the beam to N if necessary; its lines are counted from 0.\n",
    .options = {FERRY_TAKES(MODEL) | FERRY_TAKES(INPUT) | FERRY_TAKES(OUTPUT) | FERRY_TAKES(FROM) | FERRY_TAKES(TO) |
                    FERRY_TAKES(SCORES) | FERRY_TAKES(NO_SHORTLIST) | FERRY_TAKES(QUIET),
                "*"},
    .least = 0,
    .most = SIZE_MAX,
    .run = run,
};
