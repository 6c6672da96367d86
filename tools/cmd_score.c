/* Scores given translations. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "line_output.h"
#include "line_reader.h"
#include "output_file.h"
#include "translator_session.h"

typedef struct scoring {
    const ferry_call *call;
    ferry_session session;
    ferry_lines sources, targets;
    bool failed; /* some pair was not scored; a message was printed */
} scoring;

static void write_pair(scoring *s, const ferry_result *result, size_t i)
{
    const ferry_line_output output = {.call = s->call, .model = s->session.model, .out = stdout};
    const ferry_output_line line = {.number = s->sources.first + i,
                                    .source = s->sources.texts[i],
                                    .error = ferry_result_outcome(result, i)->error};
    const char *warning = ferry_result_outcome(result, i)->warning;
    if (warning != NULL) ferry_warn_of_line(s->call, line.number + 1, warning);
    if (line.error != NULL) ferry_fail_lines(line.number + 1, 1, line.error);
    if (line.error != NULL) s->failed = true;
    if (!ferry_is_given(s->call, FERRY_OPTION_JSON))
        printf("%.6g\n", line.error != NULL ? -INFINITY : (double)ferry_result_score(result, i, 0));
    else if (!ferry_line_json_write(&output, &line, result, i))
        s->failed = true;
}

static bool score_lines(scoring *s, size_t count)
{
    ferry_error error;
    ferry_result *result;
    const ferry_status status =
        ferry_score(s->session.translator, s->sources.texts, s->targets.texts, count, &result, &error);
    if (!ferry_succeeded(status, &error)) return false;
    for (size_t i = 0; i < count; i++) write_pair(s, result, i);
    ferry_result_destroy(result);
    return fflush(stdout) == 0;
}

/* Lines of a file, of which a batch was read. */
static size_t count_lines(ferry_lines *lines, size_t most)
{
    while (ferry_lines_next(lines, most)) continue;
    return lines->first + lines->count;
}

static bool score_all(scoring *s)
{
    const size_t most = 4 * (size_t)s->session.options.batch * (size_t)s->session.options.threads;
    bool same = true;
    while (same && ferry_lines_exactly(&s->sources, most)) {
        ferry_lines_exactly(&s->targets, s->sources.count);
        same = s->targets.count == s->sources.count;
        if (s->targets.failed || !score_lines(s, s->targets.count)) return false;
    }
    const size_t sources = count_lines(&s->sources, most), targets = count_lines(&s->targets, most);
    if (sources != targets && !s->sources.failed && !s->targets.failed)
        ferry_complain("%s: expected %zu lines, as %s has, found %zu", s->targets.name, sources, s->sources.name,
                       targets);
    return sources == targets && !s->sources.failed && !s->targets.failed;
}

/* NULL: standard input. */
static const char *operand(const ferry_call *call, size_t index)
{
    const char *path = call->arguments.operands[index];
    return strcmp(path, "-") != 0 ? path : NULL;
}

static int run(const ferry_call *call)
{
    scoring s = {.call = call, .sources.descriptor = -1, .targets.descriptor = -1};
    const bool done =
        !ferry_input_is_output(call, operand(call, 0), "SOURCE") &&
        !ferry_input_is_output(call, operand(call, 1), "TARGET") && ferry_lines_open(&s.sources, operand(call, 0)) &&
        ferry_lines_open(&s.targets, operand(call, 1)) &&
        ferry_session_open(call, &(ferry_session_needs){.scores = FERRY_SCORES_SUM}, &s.session) && score_all(&s);
    ferry_session_close(&s.session);
    ferry_lines_close(&s.sources);
    ferry_lines_close(&s.targets);
    return ferry_finish_output(done && !s.failed ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}

const ferry_command ferry_command_score = {
    .name = "score",
    .synopsis = "SOURCE TARGET",
    .summary = "score the lines of a file as translations of the lines of another",
    .details =
        "Prints the score of each line of TARGET as the translation of the same line of SOURCE: the sum of the\n"
        "log-probabilities of its tokens, end of sentence included; with --length-penalty and --word-penalty, what\n"
        "translate --scores makes of it. A pair that is too long for the model has the score -inf, a message with its\n"
        "number, and exit status 1. One of the two files may be '-', standard input.\n"
        "--json: an object a line: line source text (of TARGET) score tokens source_tokens warnings error.\n",
    .examples = "ferry score source.en target.de\n"
                "ferry score --length-penalty 1 source.en target.de\n"
                "ferry score --json source.en target.de\n",
    .options = {FERRY_TAKES(MODEL) | FERRY_TAKES(FROM) | FERRY_TAKES(TO) | FERRY_TAKES(JSON) | FERRY_TAKES(QUIET),
                "length-penalty word-penalty threads batch", 0},
    .least = 2,
    .most = 2,
    .run = run,
};
