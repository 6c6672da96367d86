#include "huggingface_golden.h"

static const double tolerance = 2e-4; /* of encoder output, logits and scores */

void golden_load_lines(huggingface_golden *golden, const char *directory)
{
    golden->root = load_json(in_directory(directory, "golden.json"));
    golden->lines = json_object_get(golden->root, "lines");
    assert_true(json_array_size(golden->lines) > 0);
}

void golden_unload(huggingface_golden *golden)
{
    ferry_safetensors_close(&golden->activations);
    ferry_model_close(golden->model);
}

static ferry_text text_of(const json_t *line)
{
    const json_t *text = json_object_get(line, "text");
    return (ferry_text){json_string_value(text), json_string_length(text)};
}

/* ---- text to ids ---- */

void golden_check_tokens(const huggingface_golden *golden)
{
    for (size_t i = 0; i < json_array_size(golden->lines); i++) {
        const json_t *line = json_array_get(golden->lines, i);
        int32_t *ids, count;
        size_t found;
        int32_t *expected = json_ids(json_object_get(line, "input_ids"), &count);
        CHECK(ferry_inspect_tokenize(golden->model, text_of(line), golden->from, golden->to, &ids, &found, &error));
        if (found != (size_t)count || memcmp(ids, expected, found * sizeof *ids) != 0)
            fail_msg("line %zu: other ids (%zu; expected %d)", i, found, (int)count);
        ferry_inspect_free(ids);
    }
}

/* ---- encoder output and logits ---- */

typedef struct differences {
    double encoder, logits;
} differences;

/* A line alone: encoder output and logits of the recorded decoder inputs. */
static differences compare_line(const huggingface_golden *golden, size_t index)
{
    differences result;
    const json_t *line = json_array_get(golden->lines, index);
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(golden->model);
    char name[64];
    int64_t rows, columns;
    int32_t S, T;
    int32_t *ids = json_ids(json_object_get(line, "input_ids"), &S);
    int32_t *target = json_ids(json_object_get(line, "decoder_input_ids"), &T);
    const int32_t offsets[] = {0, S}, target_offsets[] = {0, T};
    const size_t encoded_floats = (size_t)S * (size_t)sizes.d_model;
    const size_t logits_floats = (size_t)T * (size_t)sizes.target_vocab;
    float *encoded = kept_memory(encoded_floats * sizeof *encoded),
          *logits = kept_memory(logits_floats * sizeof *logits);
    CHECK(ferry_inspect_encode(golden->model, ids, offsets, 1, encoded, &error));
    CHECK(ferry_inspect_logits(golden->model, ids, offsets, 1, target, target_offsets, FERRY_INSPECT_ONE_PASS, logits,
                               &error));
    snprintf(name, sizeof name, "encoder_output.%zu", index);
    const float *expected = golden_f32(&golden->activations, name, &rows, &columns);
    assert_true(rows == S && columns == sizes.d_model);
    result.encoder = largest_difference(encoded, expected, encoded_floats);
    snprintf(name, sizeof name, "logits.%zu", index);
    expected = golden_f32(&golden->activations, name, &rows, &columns);
    assert_true(rows == T && columns == sizes.target_vocab);
    result.logits = largest_difference(logits, expected, logits_floats);
    return result;
}

/* Lines with recorded activations are the first ones. */
static void check_activations(const huggingface_golden *golden)
{
    differences worst = {0, 0};
    size_t i;
    for (i = 0; i < json_array_size(golden->lines); i++) {
        char name[64];
        snprintf(name, sizeof name, "logits.%zu", i);
        if (ferry_safetensors_find(&golden->activations, name) == NULL) break;
        const differences line = compare_line(golden, i);
        worst.encoder = fmax(worst.encoder, line.encoder);
        worst.logits = fmax(worst.logits, line.logits);
    }
    print_message("%zu lines: encoder output differs by at most %.1e, logits by %.1e\n", i, worst.encoder,
                  worst.logits);
    assert_true(i >= 4);
    assert_true(worst.encoder <= tolerance);
    assert_true(worst.logits <= tolerance);
}

/* ---- runs ---- */

static double number(const json_t *run, const char *key, double absent)
{
    const json_t *value = json_object_get(run, key);
    return value != NULL ? json_number_value(value) : absent;
}

/* The options of one recorded run: generate's arguments over the model's own. */
static ferry_options run_options(const huggingface_golden *golden, const json_t *run)
{
    const json_t *all = json_object_get(golden->root, "all_runs");
    const json_t *early = json_object_get(run, "early_stopping");
    ferry_options options;
    ferry_options_default(golden->model, &options, sizeof options);
    options.from = golden->from;
    options.to = golden->to;
    options.beam = (int32_t)number(run, "num_beams", options.beam);
    options.nbest = (int32_t)number(run, "num_return_sequences", 1);
    options.length_penalty = (float)number(run, "length_penalty", (double)options.length_penalty);
    if (early != NULL)
        options.early_stopping = json_is_string(early) ? FERRY_EARLY_STOPPING_NEVER
                                 : json_is_true(early) ? FERRY_EARLY_STOPPING_TRUE
                                                       : FERRY_EARLY_STOPPING_FALSE;
    options.no_repeat_ngram = (int32_t)number(run, "no_repeat_ngram_size", 0);
    options.repetition_penalty = (float)number(run, "repetition_penalty", 1);
    options.min_length = (int32_t)number(run, "min_new_tokens", 0);
    options.max_length = (int32_t)number(all, "max_new_tokens", -1);
    options.renormalize = json_is_true(json_object_get(all, "renormalize_logits"));
    return options;
}

typedef struct run {
    huggingface_golden *golden;
    const char *name;
    ferry_result *result;
    double worst; /* of scores */
    int differing;
} run;

/* All lines in one call. */
static void translate_lines(run *r, const ferry_options *options)
{
    const size_t count = json_array_size(r->golden->lines);
    ferry_text *texts = kept_memory(count * sizeof *texts);
    for (size_t i = 0; i < count; i++) texts[i] = text_of(json_array_get(r->golden->lines, i));
    r->result = translated(r->golden->model, options, texts, count);
}

/* The recorded row without its start token, cut after the first eos. */
static int32_t *expected_ids(const json_t *row, int32_t eos_id, int32_t *count)
{
    int32_t *ids = json_ids(row, count), length = 0;
    for (int32_t i = 1; i < *count; i++) {
        ids[length++] = ids[i];
        if (ids[i] == eos_id) break;
    }
    *count = length;
    return ids;
}

static bool same_ids(const run *r, size_t line, size_t hypothesis, const json_t *row)
{
    int32_t count;
    int32_t *expected = expected_ids(row, ferry_inspect_get_sizes(r->golden->model).eos_id, &count);
    return ferry_result_tokens(r->result, line, hypothesis) == (size_t)count &&
           memcmp(ferry_inspect_result_ids(r->result, line, hypothesis), expected, (size_t)count * sizeof *expected) ==
               0;
}

/* Without blanks at either end: transformers' decoding leaves some. */
static ferry_text trimmed(const char *data, size_t size)
{
    while (size > 0 && data[0] == ' ') data++, size--;
    while (size > 0 && data[size - 1] == ' ') size--;
    return (ferry_text){data, size};
}

static ferry_text shown(const run *r, const char *data, size_t size)
{
    return r->golden->exact_texts ? (ferry_text){data, size} : trimmed(data, size);
}

static void check_text(const run *r, size_t line, size_t hypothesis, const json_t *recorded)
{
    const ferry_text wanted = shown(r, json_string_value(recorded), json_string_length(recorded));
    const ferry_text text = ferry_result_text(r->result, line, hypothesis), found = shown(r, text.data, text.size);
    if (found.size == wanted.size && memcmp(found.data, wanted.data, wanted.size) == 0) return;
    fail_msg("%s, line %zu: expected '%.*s', found '%.*s'", r->name, line, (int)wanted.size, wanted.data,
             (int)found.size, found.data);
}

static bool is_exception(const huggingface_golden *golden, const char *name, size_t line)
{
    bool found = false;
    for (size_t i = 0; i < golden->exception_count; i++)
        found |= line == golden->exceptions[i].line && strcmp(name, golden->exceptions[i].run) == 0;
    return found;
}

/* A blank line stays blank and never meets the model. */
static void check_line(run *r, size_t line)
{
    const json_t *golden_line = json_array_get(r->golden->lines, line);
    const json_t *recorded = json_object_get(golden_line, r->name);
    const json_t *rows = json_object_get(recorded, "ids"), *scores = json_object_get(recorded, "scores");
    if (text_of(golden_line).size == 0) return;
    assert_true(json_array_size(rows) > 0);
    assert_int_equal(ferry_result_hypotheses(r->result, line), json_array_size(rows));
    for (size_t h = 0; h < json_array_size(rows); h++) {
        const double score = (double)ferry_result_score(r->result, line, h);
        const double golden_score = json_number_value(json_array_get(scores, h));
        if (!same_ids(r, line, h, json_array_get(rows, h))) {
            const bool known = is_exception(r->golden, r->name, line);
            print_message("%s: line %zu, hypothesis %zu: other ids%s; score %.6f, golden %.6f\n", r->name, line, h,
                          known ? ", as known" : "", score, golden_score);
            r->golden->exceptions_met += known;
            r->differing += !known;
            return;
        }
        if (scores != NULL) r->worst = fmax(r->worst, fabs(score - golden_score));
        check_text(r, line, h, json_array_get(json_object_get(recorded, "text"), h));
        r->golden->rows++;
    }
}

/* Names the lines whose ids differ and returns how many should not. */
static int check_run(huggingface_golden *golden, const char *name, const json_t *arguments)
{
    const ferry_options options = run_options(golden, arguments);
    run r = {.golden = golden, .name = name};
    translate_lines(&r, &options);
    for (size_t i = 0; i < json_array_size(golden->lines); i++) check_line(&r, i);
    print_message("%-18s %zu lines, scores differ by at most %.1e\n", name, json_array_size(golden->lines), r.worst);
    assert_true(r.worst <= golden->score_tolerance);
    ferry_result_destroy(r.result);
    return r.differing;
}

void golden_check_runs(huggingface_golden *golden)
{
    const char *name;
    json_t *arguments;
    int differing = 0;
    assert_true(json_object_size(json_object_get(golden->root, "runs")) > 0);
    json_object_foreach (json_object_get(golden->root, "runs"), name, arguments)
        differing += check_run(golden, name, arguments);
    print_message("%zu hypotheses as recorded, %zu lines known to differ\n", golden->rows, golden->exceptions_met);
    assert_int_equal(differing, 0);
}

void golden_check_family(const char *directory, const char *from, const char *to)
{
    huggingface_golden golden = {
        .model = convert_and_open(directory, NULL), .from = from, .to = to, .score_tolerance = tolerance};
    golden_load_lines(&golden, directory);
    CHECK(ferry_safetensors_open(in_directory(directory, "golden.safetensors"), &golden.activations, &error));
    golden_check_tokens(&golden);
    check_activations(&golden);
    golden_check_runs(&golden);
    golden_unload(&golden);
}

void golden_check_saved(const char *directory, const char *lines, const char *from, const char *to, bool exact_texts)
{
    huggingface_golden golden = {.model = convert_and_open(directory, NULL),
                                 .from = from,
                                 .to = to,
                                 .score_tolerance = tolerance,
                                 .exact_texts = exact_texts};
    golden_load_lines(&golden, lines);
    golden_check_tokens(&golden);
    golden_check_runs(&golden);
    golden_unload(&golden);
}
