/* Two models on the same text. */
#include <math.h>
#include <stdlib.h>

#include "model_comparison.h"
#include "tools/line_reader.h"
#include "tools/translator_session.h"

typedef struct work {
    const ferry_call *call;
    ferry_model_comparison comparison;
    ferry_session sessions[FERRY_COMPARED_PAIR];
    ferry_result *results[FERRY_COMPARED_PAIR];
    ferry_racer racers[FERRY_COMPARED_PAIR];
    ferry_lines source;
    bool failed; /* some line was not translated; a message was printed */
} work;

/* ---- the text ---- */

static bool read_text(work *w)
{
    ferry_model_comparison *c = &w->comparison;
    if (!ferry_lines_open(&w->source, ferry_option_text(w->call, FERRY_OPTION_INPUT))) return false;
    if (!ferry_lines_rest(&w->source)) {
        if (!w->source.failed) ferry_complain("%s: expected lines to translate, found none", w->source.name);
        return false;
    }
    c->count = w->source.count;
    c->sources = w->source.texts;
    return !w->source.failed;
}

/* ---- quality ---- */

static bool translate(work *w, size_t m)
{
    ferry_error error;
    ferry_model_comparison *c = &w->comparison;
    if (!ferry_succeeded(ferry_translate(w->sessions[m].translator, c->sources, c->count, &w->results[m], &error),
                         &error))
        return false;
    c->models[m].result = w->results[m];
    for (size_t i = 0; i < c->count; i++) {
        const char *reason = ferry_result_outcome(w->results[m], i)->error;
        if (reason == NULL) continue;
        ferry_fail_lines(i + 1, 1, ferry_format("%s (%s)", reason, c->models[m].path).text);
        w->failed = true;
    }
    return true;
}

static bool both_translate(const ferry_model_comparison *c, size_t line)
{
    return ferry_result_hypothesis_count(c->models[0].result, line) > 0 &&
           ferry_result_hypothesis_count(c->models[1].result, line) > 0;
}

static void score(ferry_model_comparison *c)
{
    double sums[FERRY_COMPARED_PAIR] = {0};
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (ferry_model_comparison_differs(c, i)) c->different++;
        if (!both_translate(c, i)) continue;
        count++;
        for (size_t m = 0; m < FERRY_COMPARED_PAIR; m++)
            sums[m] += (double)ferry_result_score(c->models[m].result, i, 0);
    }
    for (size_t m = 0; m < FERRY_COMPARED_PAIR; m++) c->models[m].score = count > 0 ? sums[m] / (double)count : NAN;
}

/* ---- speed ---- */

/* Without scores, as `ferry translate` runs by default. */
static ferry_status create_racer(const ferry_session *session, ferry_racer *racer, ferry_error *error)
{
    ferry_options options = session->options;
    options.scores = 0;
    FERRY_TRY(ferry_translator_create(session->model, &options, &racer->many, error));
    options.threads = 1;
    return ferry_translator_create(session->model, &options, &racer->single, error);
}

/* On lines that both translate, blank ones left out. */
static ferry_status race(work *w, ferry_error *error)
{
    ferry_model_comparison *c = &w->comparison;
    ferry_race_speed speeds[FERRY_COMPARED_PAIR];
    ferry_text *lines = calloc(c->count, sizeof *lines);
    if (lines == NULL) return ferry_fail_memory(error, "lines", c->count, sizeof *lines);
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        if (both_translate(c, i) && ferry_result_token_count(c->models[0].result, i, 0) > 0)
            lines[count++] = c->sources[i];
    const ferry_status status = ferry_race(w->racers, FERRY_COMPARED_PAIR, lines, count, speeds, error);
    free(lines);
    for (size_t m = 0; status == FERRY_OK && m < FERRY_COMPARED_PAIR; m++) c->models[m].speed = speeds[m];
    return status;
}

/* ---- the command ---- */

static bool open_model(work *w, size_t m)
{
    const char *path = w->call->arguments.operands[m];
    ferry_session *session = &w->sessions[m];
    if (!ferry_session_open(w->call, &(ferry_session_needs){.path = path, .scores = FERRY_SCORES_MODEL}, session))
        return false;
    w->comparison.models[m].path = path;
    w->comparison.models[m].beam = session->options.beam;
    w->comparison.models[m].bytes = ferry_model_info(session->model, "bytes");
    w->comparison.threads = session->options.threads;
    return true;
}

static bool compare(work *w)
{
    ferry_error error;
    ferry_model_comparison *c = &w->comparison;
    for (size_t m = 0; m < FERRY_COMPARED_PAIR; m++)
        if (!open_model(w, m)) return false;
    if (!read_text(w)) return false;
    for (size_t m = 0; m < FERRY_COMPARED_PAIR; m++)
        if (!translate(w, m) || !ferry_succeeded(create_racer(&w->sessions[m], &w->racers[m], &error), &error))
            return false;
    score(c);
    return ferry_succeeded(race(w, &error), &error);
}

static int run(const ferry_call *call)
{
    work w = {.call = call, .source.descriptor = -1};
    const bool done = compare(&w);
    if (done && ferry_is_given(call, FERRY_OPTION_JSON)) ferry_print_json_model_comparison(&w.comparison);
    if (done && !ferry_is_given(call, FERRY_OPTION_JSON)) ferry_print_model_comparison(&w.comparison);
    for (size_t m = 0; m < FERRY_COMPARED_PAIR; m++) {
        ferry_translator_destroy(w.racers[m].single);
        ferry_translator_destroy(w.racers[m].many);
        ferry_result_destroy(w.results[m]);
        ferry_session_close(&w.sessions[m]);
    }
    ferry_lines_close(&w.source);
    return ferry_finish_output(done && !w.failed ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}

const ferry_command ferry_command_compare = {
    .name = "compare",
    .synopsis = "MODEL MODEL",
    .summary = "compare two models on a text: their translations, speed and size",
    .details =
        "Shows how many lines two models translate differently, and the first of these; the mean of the scores;\n"
        "size and speed: medians over lines for which the models take turns, on one thread, and over rounds of many\n"
        "lines, on --threads.\n"
        "--json: lines different; models: for each path beam bytes line_ms token_ms token_ratio tokens_per_s score;\n"
        "differences: for each line source texts scores. [value, low, high]: a median and its\n"
        "95 % interval.\n",
    .examples = "ferry compare -i source.en one.gguf other.gguf\n"
                "ferry compare -i source.en --threads 2 one.gguf other.gguf\n"
                "ferry compare -i source.en --beam 1 --json one.gguf other.gguf\n",
    .options = {FERRY_TAKES(INPUT) | FERRY_TAKES(FROM) | FERRY_TAKES(TO) | FERRY_TAKES(JSON) |
                    FERRY_TAKES(NO_SHORTLIST) | FERRY_TAKES(QUIET),
                "beam length-penalty word-penalty split max-source max-length threads batch", FERRY_TAKES(INPUT)},
    .least = 2,
    .most = 2,
    .run = run,
};
