/* Compares a model file with its content hash; or the engine with recorded activations: all sentences in one call, and
 * each alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "golden_activations.h"
#include "tools/line_reader.h"
#include "tools/translator_session.h"
#include "tools/output_file.h"

#define DEFAULT_TOLERANCE 2e-4f

enum { ENCODER_OUTPUT, ONE_PASS, STEP_BY_STEP, MEASURES };

typedef enum agreement { EQUAL, NEAR_TIE, DIFFERENT } agreement;

/* For all sentences together, or for the worst one alone. */
typedef struct findings {
    float worst[MEASURES]; /* largest absolute differences; infinite if something is NaN */
    agreement greedy;
} findings;

typedef struct verification {
    ferry_model *model;
    ferry_translator *translator; /* greedy, at most G tokens */
    ferry_golden golden;
    float tolerance;
    int32_t *ids;                      /* source ids without padding */
    int32_t *offsets, *target_offsets; /* [R + 1] of the current sentences */
    float *output;                     /* [R * S, D] or [R * T, V] from the engine */
    float *forced;                     /* [G, V] logits along a row of greedy_ids */
    int32_t *forced_ids;               /* [G] */
} verification;

static float worst_difference(const float *found, const float *expected, size_t count, float worst)
{
    for (size_t i = 0; i < count; i++) {
        const float difference = fabsf(found[i] - expected[i]);
        if (isnan(difference)) return INFINITY;
        if (difference > worst) worst = difference;
    }
    return worst;
}

/* ---- one set of sentences: rows first … first + count - 1 ---- */

static void gather(verification *v, int32_t first, int32_t count)
{
    const ferry_golden *g = &v->golden;
    for (int32_t r = 0; r < count; r++) {
        const int32_t length = g->source_lengths[first + r];
        memcpy(v->ids + v->offsets[r], g->source_ids + (first + r) * g->S, (size_t)length * sizeof *v->ids);
        v->offsets[r + 1] = v->offsets[r] + length;
        v->target_offsets[r + 1] = v->target_offsets[r] + g->T;
    }
}

static bool compare_encoder(verification *v, int32_t first, int32_t count, findings *f)
{
    const ferry_golden *g = &v->golden;
    const size_t D = (size_t)g->D;
    ferry_error error;
    if (!ferry_succeeded(ferry_inspect_encode(v->model, v->ids, v->offsets, count, v->output, &error), &error))
        return false;
    for (int32_t r = 0; r < count; r++)
        f->worst[ENCODER_OUTPUT] = worst_difference(v->output + (size_t)v->offsets[r] * D,
                                                    g->encoder_output + (size_t)((first + r) * g->S) * D,
                                                    (size_t)g->source_lengths[first + r] * D, f->worst[ENCODER_OUTPUT]);
    return true;
}

static bool compare_logits(verification *v, int32_t first, int32_t count, ferry_inspect_pass pass, float *worst)
{
    const ferry_golden *g = &v->golden;
    const size_t row = (size_t)g->T * (size_t)g->V;
    ferry_error error;
    const ferry_status status =
        ferry_inspect_logits(v->model, v->ids, v->offsets, count, g->decoder_input_ids + first * g->T,
                             v->target_offsets, pass, v->output, &error);
    if (!ferry_succeeded(status, &error)) return false;
    *worst = worst_difference(v->output, g->logits + (size_t)first * row, (size_t)count * row, *worst);
    return true;
}

/* ---- greedy search ---- */

/* The difference between the logits of two tokens at `position`, after the recorded ids of the row. */
static bool measure_gap(verification *v, int32_t row, int32_t position, int32_t expected, int32_t found, float *gap)
{
    const ferry_golden *g = &v->golden;
    const int32_t offsets[] = {0, g->source_lengths[row]}, target_offsets[] = {0, position + 1};
    const float *logits = v->forced + (size_t)position * (size_t)g->V;
    ferry_error error;
    v->forced_ids[0] = ferry_inspect_get_sizes(v->model).start_id;
    memcpy(v->forced_ids + 1, g->greedy_ids + row * g->G, (size_t)position * sizeof *v->forced_ids);
    const ferry_status status = ferry_inspect_logits(v->model, g->source_ids + row * g->S, offsets, 1, v->forced_ids,
                                                     target_offsets, FERRY_INSPECT_ONE_PASS, v->forced, &error);
    *gap = fabsf(logits[expected] - logits[found]);
    return ferry_succeeded(status, &error);
}

/* ids [length] are what the engine generated; after them, the recorded row is padded with eos. */
static bool compare_row(verification *v, int32_t row, const int32_t *ids, int32_t length, findings *f)
{
    const ferry_golden *g = &v->golden;
    const int32_t *expected = g->greedy_ids + row * g->G;
    const int32_t eos = ferry_inspect_get_sizes(v->model).eos_id;
    for (int32_t i = 0; i < g->G; i++) {
        const int32_t id = i < length ? ids[i] : eos;
        float gap;
        if (id == expected[i]) continue;
        if (!measure_gap(v, row, i, expected[i], id, &gap)) return false;
        const agreement found = gap <= 2 * v->tolerance ? NEAR_TIE : DIFFERENT;
        printf("sentence %d, token %d: expected %d, found %d; their logits are %.2g apart: %s\n", (int)row, (int)i,
               (int)expected[i], (int)id, (double)gap, found == NEAR_TIE ? "a near-tie" : "different");
        if (found > f->greedy) f->greedy = found;
        return true;
    }
    return true;
}

static bool compare_greedy(verification *v, int32_t first, int32_t count, findings *f)
{
    ferry_error error;
    ferry_result *result;
    if (!ferry_succeeded(ferry_inspect_generate(v->translator, v->ids, v->offsets, count, &result, &error), &error))
        return false;
    bool done = true;
    for (int32_t r = 0; done && r < count; r++)
        done = compare_row(v, first + r, ferry_inspect_result_ids(result, (size_t)r, 0),
                           (int32_t)ferry_result_token_count(result, (size_t)r, 0), f);
    ferry_result_destroy(result);
    return done;
}

static bool compare(verification *v, int32_t first, int32_t count, findings *f)
{
    gather(v, first, count);
    return compare_encoder(v, first, count, f) &&
           compare_logits(v, first, count, FERRY_INSPECT_ONE_PASS, &f->worst[ONE_PASS]) &&
           compare_logits(v, first, count, FERRY_INSPECT_STEP_BY_STEP, &f->worst[STEP_BY_STEP]) &&
           compare_greedy(v, first, count, f);
}

/* ---- report ---- */

static bool is_within(const verification *v, const findings *f)
{
    for (int i = 0; i < MEASURES; i++)
        if (!(f->worst[i] <= v->tolerance)) return false;
    return f->greedy != DIFFERENT;
}

static bool report(const verification *v, const findings *together, const findings *alone)
{
    static const char *const measures[MEASURES] = {"encoder output", "logits, one pass", "logits, step by step"};
    static const char *const agreements[] = {"equal", "near-tie", "different"};
    const bool passed = is_within(v, together) && is_within(v, alone);
    printf("%-28s %10s %10s\n", "largest difference", "together", "alone");
    for (int i = 0; i < MEASURES; i++)
        printf("%-28s %10.2e %10.2e\n", measures[i], (double)together->worst[i], (double)alone->worst[i]);
    printf("%-28s %10s %10s\n", "greedy ids", agreements[together->greedy], agreements[alone->greedy]);
    printf("%s: %d sentences, tolerance %g, kernels %s\n", passed ? "passed" : "FAILED", (int)v->golden.R,
           (double)v->tolerance, ferry_inspect_isa(v->model));
    return passed;
}

static bool verify(verification *v)
{
    findings together = {.greedy = EQUAL}, alone = {.greedy = EQUAL};
    if (!compare(v, 0, v->golden.R, &together)) return false;
    for (int32_t r = 0; r < v->golden.R; r++)
        if (!compare(v, r, 1, &alone)) return false;
    return report(v, &together, &alone);
}

/* ---- set-up and clean-up ---- */

static bool reserve(verification *v)
{
    const ferry_golden *g = &v->golden;
    const size_t R = (size_t)g->R, states = (size_t)g->S * (size_t)g->D, logits = (size_t)g->T * (size_t)g->V;
    v->ids = calloc(R * (size_t)g->S, sizeof *v->ids);
    v->offsets = calloc(R + 1, sizeof *v->offsets);
    v->target_offsets = calloc(R + 1, sizeof *v->target_offsets);
    v->output = calloc(R * (states > logits ? states : logits), sizeof *v->output);
    v->forced = calloc((size_t)g->G * (size_t)g->V, sizeof *v->forced);
    v->forced_ids = calloc((size_t)g->G, sizeof *v->forced_ids);
    if (v->ids != NULL && v->offsets != NULL && v->target_offsets != NULL && v->output != NULL && v->forced != NULL &&
        v->forced_ids != NULL)
        return true;
    ferry_complain("%s: out of memory", g->path);
    return false;
}

static void release(verification *v)
{
    ferry_translator_destroy(v->translator);
    ferry_golden_close(&v->golden);
    ferry_model_close(v->model);
    free(v->ids);
    free(v->offsets);
    free(v->target_offsets);
    free(v->output);
    free(v->forced);
    free(v->forced_ids);
}

static int verify_content(const ferry_call *call)
{
    ferry_error error;
    const char *path = call->arguments.operands[0];
    ferry_model *model = ferry_open_model(call, path);
    if (model == NULL) return FERRY_EXIT_FAILED;
    const bool intact = ferry_succeeded(ferry_model_verify(model, &error), &error);
    if (intact) {
        ferry_printable_write(stdout, ferry_text_view(path));
        printf(": intact: %s bytes, content hash %s\n", ferry_model_info(model, "bytes"),
               ferry_model_info(model, "hash"));
    }
    ferry_model_close(model);
    return ferry_finish_output(intact ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}

/* ---- recording ---- */

static bool record_lines(const ferry_call *call, const ferry_model *model, const char *path, ferry_lines *lines)
{
    ferry_golden golden = {0};
    ferry_lines_rest(lines);
    if (lines->failed) return false;
    if (lines->count == 0 || lines->count > INT32_MAX) {
        ferry_complain("%s: expected lines to record", lines->name);
        return false;
    }
    const bool done =
        ferry_golden_record(&golden, path, model, lines->texts, lines->count,
                            ferry_option_text(call, FERRY_OPTION_FROM), ferry_option_text(call, FERRY_OPTION_TO)) &&
        ferry_golden_write(&golden, model, lines->texts);
    if (done) {
        ferry_printable_write(stdout, ferry_text_view(path));
        printf(": %d sentences, %d tokens of each, kernels %s\n", (int)golden.R, (int)golden.G,
               ferry_inspect_isa(model));
    }
    ferry_golden_close(&golden);
    return done;
}

static int record(const ferry_call *call)
{
    static char *const usual[] = {
        "Good morning!", "I would like a cup of tea, please.", "42 + 1 = 43",
        "The train was two hours late because there was so much snow on the tracks.",
        "Is there a cheaper room with a view of the sea, and could we have breakfast at six?"};
    const char *path = ferry_option_text(call, FERRY_OPTION_RECORD), *model_path = call->arguments.operands[0];
    const char *input = ferry_option_text(call, FERRY_OPTION_INPUT);
    ferry_lines lines;
    if (!ferry_output_check(path)) return FERRY_EXIT_FAILED;
    ferry_model *model = ferry_open_model(call, model_path);
    if (model == NULL) return FERRY_EXIT_FAILED;
    bool done = input != NULL ? ferry_lines_open(&lines, input)
                              : ferry_lines_from_arguments(&lines, usual, sizeof usual / sizeof *usual);
    if (done) {
        done = record_lines(call, model, path, &lines);
        ferry_lines_close(&lines);
    }
    ferry_model_close(model);
    return ferry_finish_output(done ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}

/* Options that belong to one of the three ways alone. */
static bool check_options(const ferry_call *call)
{
    static const ferry_option recorded[] = {FERRY_OPTION_INPUT, FERRY_OPTION_FROM, FERRY_OPTION_TO};
    const bool records = ferry_is_given(call, FERRY_OPTION_RECORD), compares = call->arguments.operand_count == 2;
    if (records && compares) ferry_complain("--record: writes a file of its own; GOLDEN.safetensors is not expected");
    if (records && compares) return false;
    if (ferry_is_given(call, FERRY_OPTION_TOLERANCE) && !compares) {
        ferry_complain("--tolerance: is for comparing with GOLDEN.safetensors, which is not given");
        return false;
    }
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded && !records; i++) {
        if (!ferry_is_given(call, recorded[i])) continue;
        ferry_complain("--input, --from, --to: are for --record, which is not given");
        return false;
    }
    return true;
}

static int run(const ferry_call *call)
{
    if (!check_options(call)) return FERRY_EXIT_USAGE;
    if (ferry_is_given(call, FERRY_OPTION_RECORD)) return record(call);
    if (call->arguments.operand_count == 1) return verify_content(call);
    const ferry_option_value *tolerance = &call->arguments.options[FERRY_OPTION_TOLERANCE];
    verification v = {.tolerance = tolerance->given ? tolerance->number : DEFAULT_TOLERANCE};
    if (ferry_input_is_output(call, call->arguments.operands[1], "GOLDEN")) return FERRY_EXIT_FAILED;
    v.model = ferry_open_model(call, call->arguments.operands[0]);
    if (v.model == NULL) return FERRY_EXIT_FAILED;
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(v.model);
    ferry_error error;
    const bool passed = ferry_golden_open(&v.golden, call->arguments.operands[1], &sizes) &&
                        ferry_succeeded(ferry_golden_translator(v.model, v.golden.G, &v.translator, &error), &error) &&
                        reserve(&v) && verify(&v);
    release(&v);
    return ferry_finish_output(passed ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}

const ferry_command ferry_command_verify = {
    .name = "verify",
    .synopsis = "MODEL [GOLDEN.safetensors]",
    .summary = "check a model file, or compare its activations with recorded ones",
    .details =
        "MODEL alone: reads the whole file, and compares it with the content hash that it carries, and the coarse\n"
        "output matrix, or the error of an output matrix in planes, with its output matrix.\n"
        "The golden file holds source_ids, source_lengths, encoder_output, decoder_input_ids, logits, greedy_ids.\n"
        "Compares the encoder's output, the logits in one pass and step by step, and the ids of a greedy search,\n"
        "with all sentences in one call and with each alone. The exit status is 1 above the tolerance. Tokens whose\n"
        "logits differ by at most twice the tolerance may swap: such a near-tie is printed and passes.\n"
        "--record writes such a file of what this machine computes for the lines of --input, or for five lines of its\n"
        "own, so that another machine or version can be compared with it.\n",
    .examples = "ferry verify en-fr.gguf\n"
                "ferry verify own-model.gguf golden.safetensors\n"
                "ferry verify en-fr.gguf --record golden.safetensors\n",
    .options = {.own = FERRY_TAKES(TOLERANCE) | FERRY_TAKES(RECORD) | FERRY_TAKES(INPUT) | FERRY_TAKES(FROM) |
                       FERRY_TAKES(TO)},
    .least = 1,
    .most = 2,
    .run = run,
};
