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

void golden_print(const char *run, const golden_figures *figures)
{
    print_message("%s: %zu lines, %zu hypotheses; scores to %.1e, word scores to %.1e, %zu hard alignments, "
                  "%zu soft ones to %.1e\n",
                  run, figures->lines, figures->hypotheses, figures->score, figures->word, figures->hard, figures->soft,
                  figures->alignment);
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
    assert_int_equal(ferry_result_tokens(result, 0, index), expected->count);
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

void golden_check_alignment(const golden_hypothesis *expected, const ferry_result *result, size_t index,
                            golden_figures *figures)
{
    const size_t S = ferry_result_source_tokens(result, 0), T = ferry_result_tokens(result, 0, index);
    const float *weights = weights_of(result, index, S, T);
    if (strchr(expected->alignment, ',') != NULL) {
        check_soft(expected->alignment, weights, (int32_t)S, (int32_t)T, &figures->alignment);
        figures->soft++;
    } else {
        check_hard(expected->alignment, weights, (int32_t)S, (int32_t)T);
        figures->hard++;
    }
}

void golden_check_empty(const golden_hypothesis *expected, const golden_model *model, int32_t eos,
                        golden_figures *figures)
{
    const int32_t V = model->file->transformer.decoder.vocab_size, offsets[] = {0, 1};
    float *logits = kept_memory((size_t)V * sizeof *logits);
    double sum = 0;
    CHECK(ferry_inspect_logits(model->model, &eos, offsets, 1, &model->file->generation.start_id, offsets,
                               FERRY_INSPECT_ONE_PASS, logits, &error));
    for (int32_t i = 0; i < V; i++) sum += exp((double)logits[i] - (double)logits[eos]);
    compare("log-probability of the empty line", expected->sum, -log(sum), TOLERANCE, &figures->word);
    assert_string_equal(expected->text, "");
}
