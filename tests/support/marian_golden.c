#include "marian_golden.h"

#define TOLERANCE 1e-4
#define WEIGHTS 1e-5

/* ---- reading ---- */

/* The field before the next " ||| "; *line moves past it. */
static char *take_field(const char **line)
{
    const char *end = strstr(*line, " ||| ");
    const size_t size = end != NULL ? (size_t)(end - *line) : strlen(*line);
    char *field = kept_memory(size + 1);
    memcpy(field, *line, size);
    *line += size + (end != NULL ? 5 : 0);
    return field;
}

static void read_words(const char *text, golden_hypothesis *hypothesis)
{
    char *end;
    assert_memory_equal(text, "WordScores=", 11);
    text += 11;
    hypothesis->words = kept_memory((strlen(text) + 1) * sizeof(double));
    for (;;) {
        const double value = strtod(text, &end);
        if (end == text) break;
        hypothesis->words[hypothesis->count++] = value;
        text = end;
    }
}

golden_hypothesis golden_parse(const char *line)
{
    golden_hypothesis hypothesis = {.count = 0};
    take_field(&line);
    hypothesis.text = take_field(&line);
    hypothesis.alignment = take_field(&line);
    char *words = take_field(&line), *sum = take_field(&line), *score = take_field(&line);
    read_words(words, &hypothesis);
    assert_memory_equal(sum, "F0=", 3);
    hypothesis.sum = strtod(sum + 3, NULL);
    hypothesis.score = strtod(score, NULL);
    return hypothesis;
}

/* ---- models ---- */

golden_model golden_open(const char *source)
{
    return (golden_model){.model = opened(source), .file = converted(source)};
}

/* ---- comparing ---- */

static void compare(const char *what, double expected, double found, double tolerance, double *largest)
{
    const double difference = fabs(expected - found);
    if (!(difference <= tolerance)) fail_msg("%s: expected %.6g, found %.6g", what, expected, found);
    if (difference > *largest) *largest = difference;
}

/* Marian prints sums and scores with six digits. */
static double printed(double value)
{
    return fabs(value) > 10 ? TOLERANCE * fabs(value) / 10 : TOLERANCE;
}

void golden_check_scores(const golden_hypothesis *expected, const ferry_result *result, size_t index,
                         golden_figures *figures)
{
    const float *scores = ferry_inspect_result_token_scores(result, 0, index);
    double sum = 0;
    assert_int_equal(ferry_result_token_count(result, 0, index), expected->count);
    for (size_t i = 0; i < expected->count; i++) {
        compare("word score", expected->words[i], (double)scores[i], TOLERANCE, &figures->word);
        sum += (double)scores[i];
    }
    double unprinted = 0;
    compare("sum", expected->sum, sum, printed(expected->sum), &unprinted);
    compare("score", expected->score, (double)ferry_result_score(result, 0, index), printed(expected->score),
            &figures->score);
    figures->hypotheses++;
}

/* "s-t" pairs by s, then t: for each target token its likeliest source token. */
static void check_hard(const char *expected, const float *weights, int32_t S, int32_t T)
{
    char text[32];
    const char *at = expected;
    for (int32_t s = 0; s < S; s++) {
        for (int32_t t = 0; t < T; t++) {
            int32_t best = 0;
            for (int32_t i = 1; i < S; i++) best = weights[t * S + i] > weights[t * S + best] ? i : best;
            if (best != s) continue;
            const int size = snprintf(text, sizeof text, "%d-%d", (int)s, (int)t);
            if (strncmp(at, text, (size_t)size) != 0) fail_msg("alignment '%s': found %s at '%s'", expected, text, at);
            at += size + (at[size] == ' ');
        }
    }
    assert_int_equal(*at, 0);
}

/* Weights with commas between, target tokens with blanks between. */
static void check_soft(const char *expected, const float *weights, int32_t S, int32_t T, double *largest)
{
    const char *at = expected;
    for (int32_t i = 0; i < S * T; i++) {
        char *end;
        compare("alignment", strtod(at, &end), (double)weights[i], WEIGHTS, largest);
        assert_int_equal(*end, i + 1 == S * T ? 0 : (i + 1) % S == 0 ? ' ' : ',');
        at = end + 1;
    }
}

/* Weights [T, S] of a hypothesis of one part, kept. */
static const float *weights_of(const ferry_result *result, size_t index, size_t S, size_t T)
{
    size_t first, count;
    float *weights = kept_memory(T * S * sizeof *weights);
    for (size_t t = 0; t < T; t++) {
        const float *row = ferry_result_weights(result, 0, index, t, &first, &count);
        assert_int_equal(first, 0);
        assert_int_equal(count, S);
        memcpy(weights + t * S, row, S * sizeof *row);
    }
    return weights;
}

static void check_alignment(const golden_hypothesis *expected, const ferry_result *result, size_t index,
                            golden_figures *figures)
{
    const size_t S = ferry_result_source_token_count(result, 0), T = ferry_result_token_count(result, 0, index);
    const float *weights = weights_of(result, index, S, T);
    if (strchr(expected->alignment, ',') != NULL) {
        check_soft(expected->alignment, weights, (int32_t)S, (int32_t)T, &figures->alignment);
        figures->soft++;
    } else {
        check_hard(expected->alignment, weights, (int32_t)S, (int32_t)T);
        figures->hard++;
    }
}

static void check_empty(const golden_hypothesis *expected, const golden_model *model, int32_t eos,
                        golden_figures *figures)
{
    const int32_t V = model->file->transformer.decoder.vocab_size, *start = &model->file->generation.start_id;
    compare("log-probability of the empty line", expected->sum,
            log_probability(logits_of(model->model, &eos, 1, start, 1), V, eos), TOLERANCE, &figures->word);
    assert_string_equal(expected->text, "");
}

/* ---- runs ---- */

/* Of pieces, "▁" is a blank and blanks are none, as postprocess.sh has it; a last one is nothing to Ferry. */
static void check_text(const char *expected, bool pieces, ferry_text found)
{
    made_file text = {.size = 0};
    for (const char *at = expected; *at != 0; at++) {
        const bool blank = pieces && strncmp(at, "\u2581", 3) == 0;
        if (blank) at += 2;
        if (!pieces || *at != ' ') put_bytes(&text, blank ? " " : at, 1);
    }
    while (text.size > 0 && text.data[text.size - 1] == ' ') text.size--;
    const size_t first = pieces && text.size > 0 && text.data[0] == ' ' ? 1 : 0;
    put(&text, 0, 1);
    check_result_text(text.size > first ? (const char *)text.data + first : "", found);
}

static void check_line(const golden_model *model, ferry_translator *translator, const char *line, const json_t *golden,
                       golden_figures *figures)
{
    ferry_result *result;
    const ferry_text text = as_text(line);
    CHECK(ferry_translate(translator, &text, 1, &result, &error));
    assert_int_equal(ferry_result_hypothesis_count(result, 0), json_array_size(golden));
    for (size_t h = 0; h < json_array_size(golden); h++) {
        const golden_hypothesis expected = golden_parse(json_string_value(json_array_get(golden, h)));
        check_text(expected.text, model->pieces, ferry_result_text(result, 0, h));
        golden_check_scores(&expected, result, h, figures);
        check_alignment(&expected, result, h, figures);
    }
    ferry_result_destroy(result);
}

size_t golden_check_run(const golden_model *model, const ferry_options *options, const json_t *lines, const char *run)
{
    golden_figures sum = {.lines = 0};
    ferry_translator *translator;
    CHECK(ferry_translator_create(model->model, options, &translator, &error));
    for (; sum.lines < json_array_size(lines); sum.lines++) {
        const json_t *line = json_array_get(lines, sum.lines), *golden = json_object_get(line, run);
        const char *text = json_string_value(json_object_get(line, "text"));
        const golden_hypothesis first = golden_parse(json_string_value(json_array_get(golden, 0)));
        if (text[0] == 0)
            check_empty(&first, model, model->file->generation.eos_ids[0], &sum);
        else
            check_line(model, translator, text, golden, &sum);
    }
    print_message("%s: %zu lines, %zu hypotheses; scores to %.1e, word scores to %.1e, %zu hard alignments, "
                  "%zu soft ones to %.1e\n",
                  run, sum.lines, sum.hypotheses, sum.score, sum.word, sum.hard, sum.soft, sum.alignment);
    ferry_translator_destroy(translator);
    return sum.lines;
}
