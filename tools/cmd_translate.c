#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/ferry_inspect.h"
#include "lines.h"
#include "session.h"

/* Lines go to the library in groups: one batch a thread at first, so that output comes early; larger ones as long as
 * they take little time, since the translator then finds more sentences of one length. */
enum { MOST_BATCHES = 16 };
static const double patience = 0.5; /* seconds */

typedef struct job {
    const ferry_arguments *arguments;
    ferry_session session;
    ferry_lines lines;
    FILE *out;
    const char *out_name;
    bool warned;
    bool failed; /* some line was not translated */
} job;

static bool is_given(const job *j, ferry_option option)
{
    return j->arguments->options[option].given;
}

/* ---- output ---- */

/* What a line of output says. */
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
    /* Marian's form. */
    if (is_given(j, FERRY_OPTION_NBEST)) fprintf(j->out, "%zu ||| ", j->lines.first + i);
    if (is_given(j, FERRY_OPTION_SCORES) && !is_given(j, FERRY_OPTION_NBEST))
        fprintf(j->out, "%.6g\t", (double)e->score);
    ferry_write_text(j->out, e->text);
    if (is_given(j, FERRY_OPTION_NBEST)) fprintf(j->out, " ||| F0= %.6g ||| %.6g", (double)e->sum, (double)e->score);
    if (j->lines.returns[i]) fputc('\r', j->out);
    fputc('\n', j->out);
}

/* A line that failed is an empty one, of probability 0. */
static void write_failure(job *j, size_t i)
{
    j->failed = true;
    write_entry(j, i, &(entry){{"", 0}, -INFINITY, -INFINITY});
}

static void warn_once(job *j, size_t i, const char *warning)
{
    if (warning == NULL || j->warned || is_given(j, FERRY_OPTION_QUIET)) return;
    ferry_complain("line %zu: %s (reported once)", j->lines.first + i + 1, warning);
    j->warned = true;
}

static void write_line(job *j, size_t i, const ferry_result *result)
{
    const size_t hypotheses = ferry_result_hypotheses(result, i);
    const char *reason = ferry_result_error(result, i);
    warn_once(j, i, ferry_result_warning(result, i));
    if (hypotheses == 0) write_failure(j, i);
    if (reason != NULL) ferry_complain("line %zu: %s", j->lines.first + i + 1, reason);
    for (size_t h = 0; h < hypotheses; h++) {
        const entry e = entry_of(result, i, h);
        write_entry(j, i, &e);
    }
}

/* ---- the loop ---- */

static bool translate_lines(job *j)
{
    ferry_error error;
    ferry_result *result;
    const ferry_status status = ferry_translate(j->session.translator, j->lines.texts, j->lines.count, &result, &error);
    const size_t first = j->lines.first + 1, last = j->lines.first + j->lines.count;
    if (status != FERRY_OK) ferry_complain("lines %zu to %zu: %s", first, last, error.message);
    for (size_t i = 0; i < j->lines.count; i++) {
        if (status == FERRY_OK)
            write_line(j, i, result);
        else
            write_failure(j, i);
    }
    ferry_result_destroy(result);
    if (fflush(j->out) == 0 && !ferror(j->out)) return true;
    ferry_complain("%s: cannot write: %s", j->out_name, strerror(errno));
    return false;
}

static bool translate_all(job *j)
{
    const ferry_options *options = &j->session.options;
    const size_t least = (size_t)options->batch * (size_t)options->threads;
    size_t most = least;
    while (ferry_lines_next(&j->lines, most)) {
        const double start = ferry_seconds();
        if (!translate_lines(j)) return false;
        if (most < least * MOST_BATCHES && ferry_seconds() - start < patience) most *= 2;
    }
    return !j->lines.failed;
}

/* ---- beginning and end ---- */

static bool open_input(job *j)
{
    const ferry_option_value *input = &j->arguments->options[FERRY_OPTION_INPUT];
    if (j->arguments->operand_count > 0)
        return ferry_lines_from_arguments(&j->lines, j->arguments->operands, j->arguments->operand_count);
    return ferry_lines_open(&j->lines, input->text);
}

static bool open_output(job *j)
{
    const char *input = j->arguments->options[FERRY_OPTION_INPUT].text;
    j->out_name = j->arguments->options[FERRY_OPTION_OUTPUT].text;
    if (j->out_name == NULL) {
        j->out_name = "standard output";
        j->out = stdout;
        return true;
    }
    if (input != NULL && ferry_same_file(input, j->out_name)) {
        ferry_complain("%s: is the input, too", j->out_name);
        return false;
    }
    j->out = fopen(j->out_name, "wb");
    if (j->out == NULL) ferry_complain("%s: cannot open: %s", j->out_name, strerror(errno));
    return j->out != NULL;
}

static bool close_output(job *j)
{
    if (j->out == NULL || j->out == stdout || fclose(j->out) == 0) return true;
    ferry_complain("%s: cannot write: %s", j->out_name, strerror(errno));
    return false;
}

static int run(const ferry_call *call)
{
    job j = {.arguments = &call->arguments};
    if (call->arguments.operand_count > 0 && is_given(&j, FERRY_OPTION_INPUT)) {
        ferry_complain("translate: expected TEXT or --input, found both");
        return FERRY_EXIT_USAGE;
    }
    bool done = open_input(&j) && ferry_session_open(call, &j.session) && open_output(&j) && translate_all(&j);
    if (!close_output(&j)) done = false;
    ferry_session_close(&j.session);
    ferry_lines_close(&j.lines);
    return done && !j.failed ? FERRY_EXIT_OK : FERRY_EXIT_FAILED;
}

const ferry_command ferry_command_translate = {
    .name = "translate",
    .synopsis = "[TEXT…]",
    .summary = "translate the arguments, or the lines of standard input",
    .details =
        "One line out for each line in, in order; a line is one sentence for the model. A blank line stays as it is,\n"
        "a line that ends in CR LF gets them back. A line that cannot be translated gives an empty line, a message "
        "with\n"
        "its number, and exit status 1. Without an option for it, decoding is what the model's authors chose.\n"
        "--nbest N without --beam widens the beam to N where needed; its lines count from 0.\n",
    .options = FERRY_TAKES(FERRY_OPTION_MODEL) | FERRY_TAKES(FERRY_OPTION_INPUT) | FERRY_TAKES(FERRY_OPTION_OUTPUT) |
               FERRY_TAKES(FERRY_OPTION_FROM) | FERRY_TAKES(FERRY_OPTION_TO) | FERRY_TAKES(FERRY_OPTION_POLICY) |
               FERRY_TAKES(FERRY_OPTION_BEAM) | FERRY_TAKES(FERRY_OPTION_NBEST) | FERRY_TAKES(FERRY_OPTION_SCORES) |
               FERRY_TAKES(FERRY_OPTION_MAX_LENGTH) | FERRY_TAKES(FERRY_OPTION_MIN_LENGTH) |
               FERRY_TAKES(FERRY_OPTION_LENGTH_PENALTY) | FERRY_TAKES(FERRY_OPTION_WORD_PENALTY) |
               FERRY_TAKES(FERRY_OPTION_NO_SHORTLIST) | FERRY_TAKES(FERRY_OPTION_EARLY_STOPPING) |
               FERRY_TAKES(FERRY_OPTION_REPETITION_PENALTY) | FERRY_TAKES(FERRY_OPTION_NO_REPEAT_NGRAM) |
               FERRY_TAKES(FERRY_OPTION_THREADS) | FERRY_TAKES(FERRY_OPTION_BATCH) | FERRY_TAKES(FERRY_OPTION_QUIET),
    .least = 0,
    .most = SIZE_MAX,
    .run = run,
};
