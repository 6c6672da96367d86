#include "golden.h"

static const double tolerance = 2e-4; /* of encoder output, logits and scores */

static const json_t *lines_of(const golden *g)
{
    return json_object_get(g->root, "lines");
}

/* Kept, as the text before it. */
static ferry_text text_of(const golden *g, const json_t *line)
{
    const json_t *text = json_object_get(line, "text");
    made_file whole = {.size = 0};
    if (json_string_length(text) == 0) return as_text("");
    if (g->prompt != NULL) put_text(&whole, g->prompt);
    put_bytes(&whole, json_string_value(text), json_string_length(text));
    return (ferry_text){(const char *)whole.data, whole.size};
}

/* ---- text to ids ---- */

int32_t *golden_token_ids(const ferry_model *model, ferry_inspect_stack side, const json_t *tokens, int32_t *count)
{
    *count = (int32_t)json_array_size(tokens);
    int32_t *ids = kept_memory(((size_t)*count + 1) * sizeof *ids);
    for (int32_t i = 0; i < *count; i++) {
        ids[i] = find_piece(model, side, json_string_value(json_array_get(tokens, (size_t)i)));
        if (ids[i] < 0) ids[i] = find_piece(model, side, "<unk>");
    }
    return ids;
}

/* CTranslate2 does not translate a source without a token, or of eos alone; Ferry leaves blank lines to its callers. */
static void check_tokens(const golden *g)
{
    size_t index, found;
    json_t *line;
    json_array_foreach (lines_of(g), index, line) {
        const json_t *tokens = json_object_get(line, "tokens");
        int32_t *ids, count;
        const ferry_text text = text_of(g, line);
        if (tokens != NULL && text.size == 0) continue;
        const int32_t *expected = tokens != NULL ? golden_token_ids(g->model, FERRY_INSPECT_ENCODER, tokens, &count)
                                                 : json_ids(json_object_get(line, "input_ids"), &count);
        CHECK(ferry_inspect_tokenize(g->model, text, g->from, g->to, &ids, &found, &error));
        if (found != (size_t)count || memcmp(ids, expected, found * sizeof *ids) != 0)
            fail_msg("line %zu: other ids (%zu; expected %d)", index, found, (int)count);
        ferry_inspect_free(ids);
    }
}

/* ---- encoder output and logits ---- */

static double difference_from(const ferry_safetensors *file, const char *name, size_t index, const float *found,
                              int32_t count, int32_t width)
{
    int64_t rows, columns;
    const float *expected = golden_f32(file, ferry_name_format("%s.%zu", name, index).text, &rows, &columns);
    assert_true(rows == count && columns == width);
    return largest_difference(found, expected, (size_t)count * (size_t)width);
}

/* Lines with recorded activations are the first ones; each alone, with the recorded decoder inputs. */
static void check_activations(const golden *g, const char *path)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(g->model);
    double encoder = 0, logits = 0;
    size_t i = 0;
    ferry_safetensors file;
    CHECK(ferry_safetensors_open(path, &file, &error));
    for (; ferry_weights_find(&file.weights, ferry_name_format("logits.%zu", i).text) != NULL; i++) {
        const json_t *line = json_array_get(lines_of(g), i);
        int32_t S, T;
        const int32_t *ids = json_ids(json_object_get(line, "input_ids"), &S);
        const int32_t *target = json_ids(json_object_get(line, "decoder_input_ids"), &T);
        float *encoded = kept_memory((size_t)S * (size_t)sizes.d_model * sizeof *encoded);
        CHECK(ferry_inspect_encode(g->model, ids, (int32_t[]){0, S}, 1, encoded, &error));
        encoder = fmax(encoder, difference_from(&file, "encoder_output", i, encoded, S, sizes.d_model));
        logits = fmax(logits, difference_from(&file, "logits", i, logits_of(g->model, ids, S, target, T), T,
                                              sizes.target_vocab));
    }
    ferry_safetensors_close(&file);
    print_message("%zu lines: encoder output differs by at most %.1e, logits by %.1e\n", i, encoder, logits);
    assert_true(i >= 4 && encoder <= tolerance && logits <= tolerance);
}

/* ---- runs ---- */

static double number(const json_t *run, const char *key, double absent)
{
    const json_t *value = json_object_get(run, key);
    return value != NULL ? json_number_value(value) : absent;
}

/* The options of one recorded run: generate's arguments, or CTranslate2's, over the model's own. */
static ferry_options run_options(const golden *g, const json_t *run)
{
    const json_t *all = json_object_get(g->root, "all_runs");
    const json_t *early = json_object_get(run, "early_stopping");
    ferry_options options;
    ferry_options_default(g->model, &options, sizeof options);
    options.from = g->from;
    options.to = g->to;
    options.beam = (int32_t)number(run, "num_beams", number(run, "beam_size", options.beam));
    options.nbest = (int32_t)number(run, "num_return_sequences", number(run, "num_hypotheses", 1));
    options.length_penalty = (float)number(run, "length_penalty", (double)options.length_penalty);
    ferry_search_options *search = own_search(&options, g->model);
    search->patience = (float)number(run, "patience", (double)search->patience);
    search->coverage_penalty = (float)number(run, "coverage_penalty", (double)search->coverage_penalty);
    if (early != NULL)
        search->early_stopping = json_is_string(early) ? FERRY_EARLY_STOPPING_NEVER
                                 : json_is_true(early) ? FERRY_EARLY_STOPPING_TRUE
                                                       : FERRY_EARLY_STOPPING_FALSE;
    options.no_repeat_ngram = (int32_t)number(run, "no_repeat_ngram_size", 0);
    options.repetition_penalty = (float)number(run, "repetition_penalty", 1);
    options.min_length = (int32_t)number(run, "min_new_tokens", options.min_length);
    options.max_length = (int32_t)number(all, "max_new_tokens", g->max_length > 0 ? g->max_length : options.max_length);
    if (all != NULL) search->renormalize = json_is_true(json_object_get(all, "renormalize_logits"));
    return options;
}

typedef struct run {
    golden *golden;
    const char *name;
    ferry_result *result;
    size_t rows, known, unexpected; /* hypotheses as recorded; lines */
    double worst;                   /* of scores */
} run;

/* transformers' row without its start token, cut after the first eos; CTranslate2's tokens, which lack eos. */
static int32_t *expected_ids(const run *r, const json_t *row, bool tokens, bool ended, int32_t *count)
{
    const int32_t eos_id = ferry_inspect_get_sizes(r->golden->model).eos_id;
    int32_t length = 0, *ids = tokens ? golden_token_ids(r->golden->model, FERRY_INSPECT_DECODER, row, count)
                                      : json_ids(row, count);
    if (tokens && ended) ids[(*count)++] = eos_id;
    if (tokens) return ids;
    for (int32_t i = 1; i < *count; i++) {
        ids[length++] = ids[i];
        if (ids[i] == eos_id) break;
    }
    *count = length;
    return ids;
}

static bool same_ids(const run *r, size_t line, size_t hypothesis, const json_t *row, bool tokens)
{
    int32_t count;
    const size_t found = ferry_result_token_count(r->result, line, hypothesis);
    const int32_t *ids = ferry_inspect_result_ids(r->result, line, hypothesis);
    const bool ended = found > 0 && ids[found - 1] == ferry_inspect_get_sizes(r->golden->model).eos_id;
    const int32_t *expected = expected_ids(r, row, tokens, ended, &count);
    return found == (size_t)count && memcmp(ids, expected, found * sizeof *expected) == 0;
}

/* Without blanks at either end: transformers' decoding leaves some. */
static ferry_text shown(const run *r, const char *data, size_t size)
{
    while (!r->golden->exact_texts && size > 0 && data[0] == ' ') data++, size--;
    while (!r->golden->exact_texts && size > 0 && data[size - 1] == ' ') size--;
    return (ferry_text){data, size};
}

static void check_text(const run *r, size_t line, size_t hypothesis, const json_t *recorded)
{
    const ferry_text wanted = shown(r, json_string_value(recorded), json_string_length(recorded));
    const ferry_text text = ferry_result_text(r->result, line, hypothesis), found = shown(r, text.data, text.size);
    if (found.size == wanted.size && memcmp(found.data, wanted.data, wanted.size) == 0) return;
    fail_msg("%s, line %zu: expected '%.*s', found '%.*s'", r->name, line, (int)wanted.size, wanted.data,
             (int)found.size, found.data);
}

static bool is_exception(const golden *g, const char *name, size_t line)
{
    bool found = false;
    for (size_t i = 0; i < g->exception_count; i++)
        found |= line == g->exceptions[i].line && strcmp(name, g->exceptions[i].run) == 0;
    return found;
}

/* Whether the hypotheses have the golden ids, about the golden scores, and then the texts, too. */
static bool same_hypotheses(run *r, size_t line, const json_t *recorded)
{
    const json_t *rows = json_object_get(recorded, "ids"), *tokens = json_object_get(recorded, "tokens");
    const json_t *scores = json_object_get(recorded, "scores"), *texts = json_object_get(recorded, "text");
    const double largest = r->golden->tolerance > 0 ? r->golden->tolerance : tolerance;
    if (rows == NULL) rows = tokens;
    const size_t count = json_array_size(rows);
    assert_int_equal(ferry_result_hypothesis_count(r->result, line), count);
    for (size_t h = 0; h < (r->golden->best_only ? 1 : count); h++) {
        const double golden_score = json_number_value(json_array_get(scores, h)),
                     found = (double)ferry_result_score(r->result, line, h), unit = fmax(1, fabs(golden_score));
        const double difference = scores != NULL ? fabs(found - golden_score) / (tokens != NULL ? unit : 1) : 0;
        if (!same_ids(r, line, h, json_array_get(rows, h), tokens != NULL) || !(difference <= largest)) {
            print_message("%s: line %zu, hypothesis %zu differs; score %.6f, golden %.6f\n", r->name, line, h, found,
                          golden_score);
            return false;
        }
        r->worst = fmax(r->worst, difference);
        if (json_is_string(json_array_get(texts, h))) check_text(r, line, h, json_array_get(texts, h));
        r->rows++;
    }
    return count > 0;
}

/* All lines in one call. A blank line stays blank and never meets the model. */
static void check_run(run *r, const json_t *arguments)
{
    const size_t count = json_array_size(lines_of(r->golden));
    const ferry_options options = run_options(r->golden, arguments);
    ferry_text *texts = kept_memory(count * sizeof *texts);
    for (size_t i = 0; i < count; i++) texts[i] = text_of(r->golden, json_array_get(lines_of(r->golden), i));
    r->worst = 0;
    r->result = translated(r->golden->model, &options, texts, count);
    for (size_t i = 0; i < count; i++) {
        const json_t *recorded = json_object_get(json_array_get(lines_of(r->golden), i), r->name);
        if (texts[i].size == 0 || (recorded == NULL && r->golden->runs != NULL)) continue;
        const bool listed = is_exception(r->golden, r->name, i), same = same_hypotheses(r, i, recorded);
        r->known += listed;
        if (same != listed || (same && r->golden->may_be_equal)) continue;
        print_message("%s: line %zu is %s\n", r->name, i, same ? "listed, but equal" : "not listed");
        r->unexpected++;
    }
    print_message("%-18s %zu lines, scores differ by at most %.1e\n", r->name, count, r->worst);
    ferry_result_destroy(r->result);
}

void golden_check(golden *g)
{
    const char *directory = g->lines != NULL ? g->lines : g->folder;
    const bool given_model = g->model != NULL;
    json_t *arguments, *given_runs = g->runs != NULL ? json_loads(g->runs, 0, NULL) : NULL;
    run r = {.golden = g};
    g->root = load_json(in_directory(directory, "golden.json"));
    if (!given_model) g->model = opened(g->folder);
    assert_true(json_array_size(lines_of(g)) > 0);
    check_tokens(g);
    if (!given_model && json_object_get(json_array_get(lines_of(g), 0), "decoder_input_ids") != NULL)
        check_activations(g, in_directory(directory, "golden.safetensors"));
    json_object_foreach (given_runs != NULL ? given_runs : json_object_get(g->root, "runs"), r.name, arguments)
        check_run(&r, arguments);
    json_decref(given_runs);
    print_message("%s: %zu hypotheses as recorded, %zu lines known to differ\n", directory, r.rows, r.known);
    assert_int_equal(r.unexpected, 0);
    assert_true(r.rows > 0);
}
