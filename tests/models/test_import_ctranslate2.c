/* Converted CTranslate2 models and an Argos package against what CTranslate2 itself computed from them. */
#include "tests/support/import_support.h"
#include "tests/support/make_zip.h"

/* A converted model and the golden lines beside it, if any. */
typedef struct golden {
    const char *name;
    const ferry_model *model;
    json_t *root;
} golden;

static golden open_golden(const char *name)
{
    return (golden){.name = name,
                    .model = opened(shared_file("models/%s", name)),
                    .root = load_json(shared_file("models/%s/golden.json", name))};
}

/* ---- ids ---- */

static int32_t find_piece(const ferry_model *model, ferry_inspect_stack side, const char *piece)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const int32_t count = side == FERRY_INSPECT_ENCODER ? sizes.source_vocab : sizes.target_vocab;
    for (int32_t id = 0; id < count; id++) {
        const ferry_text found = ferry_inspect_piece(model, side, id);
        if (found.size == strlen(piece) && memcmp(found.data, piece, found.size) == 0) return id;
    }
    return -1;
}

/* What the vocabulary lacks is unknown, as CTranslate2 takes it. */
static int32_t *token_ids(const ferry_model *model, ferry_inspect_stack side, const json_t *tokens, int32_t *count)
{
    *count = (int32_t)json_array_size(tokens);
    int32_t *ids = kept_memory(((size_t)*count + 1) * sizeof *ids);
    for (int32_t i = 0; i < *count; i++) {
        ids[i] = find_piece(model, side, json_string_value(json_array_get(tokens, (size_t)i)));
        if (ids[i] < 0) ids[i] = find_piece(model, side, "<unk>");
    }
    return ids;
}

/* ---- searches ---- */

/* A difference that is known, with its reason beside the list. */
typedef struct exception {
    const char *run;
    size_t line;
} exception;

typedef struct comparison {
    const exception *exceptions;
    size_t exception_count;
    double score_tolerance; /* relative to scores below -1 */
    bool best_only;         /* only the best hypothesis of each line */
    size_t lines, equal;    /* of all runs */
    size_t unexpected;      /* differences that are not listed, or listed and none */
    double largest;         /* difference of scores of equal hypotheses, in the same way */
} comparison;

/* Ids without the end of sentence. */
static size_t plain_ids(const ferry_model *model, const ferry_result *result, size_t hypothesis, const int32_t **ids)
{
    size_t count = ferry_result_tokens(result, 0, hypothesis);
    *ids = ferry_inspect_result_ids(result, 0, hypothesis);
    if (count > 0 && (*ids)[count - 1] == ferry_inspect_get_sizes(model).eos_id) count--;
    return count;
}

/* Whether the hypotheses have the golden tokens and about the golden scores. */
static bool same_hypotheses(const golden *g, const ferry_result *result, const json_t *run, comparison *c)
{
    const json_t *hypotheses = json_object_get(run, "tokens"), *scores = json_object_get(run, "scores");
    const size_t total = c->best_only ? 1 : json_array_size(hypotheses);
    double largest = 0;
    bool same = ferry_result_hypotheses(result, 0) == json_array_size(hypotheses);
    for (size_t i = 0; same && i < total; i++) {
        int32_t count;
        const int32_t *found;
        int32_t *expected = token_ids(g->model, FERRY_INSPECT_DECODER, json_array_get(hypotheses, i), &count);
        same = plain_ids(g->model, result, i, &found) == (size_t)count &&
               memcmp(found, expected, (size_t)count * sizeof *found) == 0;
        const double score = json_number_value(json_array_get(scores, i));
        largest = fmax(largest, fabs(score - (double)ferry_result_score(result, 0, i)) / fmax(1, fabs(score)));
    }
    same = same && largest <= c->score_tolerance;
    if (same) c->largest = fmax(c->largest, largest);
    return same;
}

static bool is_exception(const comparison *c, const char *run, size_t line)
{
    for (size_t i = 0; i < c->exception_count; i++)
        if (c->exceptions[i].line == line && strcmp(c->exceptions[i].run, run) == 0) return true;
    return false;
}

/* CTranslate2 does not translate a source without a token, or of eos alone; Ferry leaves blank lines to its callers. */
static bool is_blank(const json_t *line)
{
    return json_string_length(json_object_get(line, "text")) == 0;
}

/* What the best hypothesis says, where that was recorded. */
static void check_text(const golden *g, const ferry_options *options, const json_t *entry, const json_t *run)
{
    const char *expected = json_string_value(json_array_get(json_object_get(run, "text"), 0));
    const ferry_text text = as_text(json_string_value(json_object_get(entry, "text")));
    if (expected == NULL) return;
    ferry_result *result = translated(g->model, options, &text, 1);
    check_result_text(expected, ferry_result_text(result, 0, 0));
    ferry_result_destroy(result);
}

/* One run over all lines that have it. */
static void check_run(const golden *g, const char *name, const ferry_options *options, comparison *c)
{
    ferry_translator *translator;
    size_t line;
    json_t *entry;
    CHECK(ferry_translator_create(g->model, options, &translator, &error));
    json_array_foreach (json_object_get(g->root, "lines"), line, entry) {
        ferry_result *result;
        int32_t offsets[2] = {0, 0};
        const json_t *run = json_object_get(entry, name);
        if (run == NULL || is_blank(entry)) continue;
        int32_t *ids = token_ids(g->model, FERRY_INSPECT_ENCODER, json_object_get(entry, "tokens"), &offsets[1]);
        CHECK(ferry_inspect_generate(translator, ids, offsets, 1, &result, &error));
        const bool same = same_hypotheses(g, result, run, c);
        c->lines++;
        c->equal += same ? 1 : 0;
        if (same) check_text(g, options, entry, run);
        if (same == is_exception(c, name, line)) {
            print_message("%s, run %s, line %zu: %s; score %g\n", g->name, name, line,
                          same ? "listed, but equal" : "differs, and not listed",
                          (double)ferry_result_score(result, 0, 0));
            c->unexpected++;
        }
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}

static void report(const golden *g, const comparison *c)
{
    print_message("%s: %zu of %zu searches equal, scores to %.1e\n", g->name, c->equal, c->lines, c->largest);
    assert_int_equal(c->unexpected, 0);
}

/* The ids of each line's text are the tokens that CTranslate2 was given. */
static void check_tokens(const golden *g, const char *prompt, const char *from, const char *to)
{
    size_t line;
    json_t *entry;
    char text[2000];
    json_array_foreach (json_object_get(g->root, "lines"), line, entry) {
        const char *bare = json_string_value(json_object_get(entry, "text"));
        snprintf(text, sizeof text, "%s%s", prompt, bare);
        int32_t count;
        size_t found_count;
        int32_t *expected = token_ids(g->model, FERRY_INSPECT_ENCODER, json_object_get(entry, "tokens"), &count);
        if (bare[0] != 0) {
            const int32_t *ids = tokenized(g->model, text, from, to, &found_count);
            if (found_count != (size_t)count || memcmp(ids, expected, found_count * sizeof *ids) != 0)
                fail_msg("%s, line %zu: other ids for its text", g->name, line);
        }
    }
}

/* ---- given targets ---- */

/* How well the golden greedy targets have their golden probabilities. */
typedef struct agreement {
    size_t lines, exact, exact_first; /* all of a line's tokens; its first token */
    double largest;
} agreement;

/* Each target's log-probability, given a sentence's ids and the targets before; the end of sentence is the last. */
static void compare_targets(const ferry_model *model, const int32_t *ids, int32_t S, const int32_t *targets,
                            int32_t count, const json_t *expected, agreement *a)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const int32_t V = sizes.target_vocab, offsets[] = {0, S}, target_offsets[] = {0, count};
    float *logits = kept_memory((size_t)count * (size_t)V * sizeof *logits);
    int32_t *inputs = kept_memory((size_t)count * sizeof *inputs);
    double largest = 0;
    for (int32_t t = 0; t < count; t++) inputs[t] = t == 0 ? sizes.start_id : targets[t - 1];
    CHECK(ferry_inspect_logits(model, ids, offsets, 1, inputs, target_offsets, FERRY_INSPECT_ONE_PASS, logits, &error));
    for (int32_t t = 0; t < count && (size_t)t < json_array_size(expected); t++) {
        const float *row = logits + (size_t)t * (size_t)V;
        double sum = 0;
        for (int32_t v = 0; v < V; v++) sum += exp((double)row[v]);
        const double found = (double)row[t + 1 < count ? targets[t] : sizes.eos_id] - log(sum);
        largest = fmax(largest, fabs(found - json_number_value(json_array_get(expected, (size_t)t))));
        if (t == 0) a->exact_first += largest <= 1e-5;
    }
    a->lines++;
    a->exact += largest <= 1e-5;
    a->largest = fmax(a->largest, largest);
}

static agreement compare_probabilities(const golden *g)
{
    agreement a = {.largest = 0};
    size_t index;
    json_t *line;
    json_array_foreach (json_object_get(g->root, "lines"), index, line) {
        const json_t *tokens = json_object_get(json_object_get(line, "greedy"), "tokens");
        int32_t S, T;
        if (is_blank(line)) continue;
        const int32_t *ids = token_ids(g->model, FERRY_INSPECT_ENCODER, json_object_get(line, "tokens"), &S);
        const int32_t *targets = token_ids(g->model, FERRY_INSPECT_DECODER, json_array_get(tokens, 0), &T);
        compare_targets(g->model, ids, S, targets, T + 1, json_object_get(line, "token_log_probs"), &a);
    }
    print_message("%s: given targets: %zu lines, %zu equal, %zu of the first tokens; largest difference %.1e\n",
                  g->name, a.lines, a.exact, a.exact_first, a.largest);
    return a;
}

/* ---- the small models ---- */

/* Options as golden.json writes them. */
static ferry_options small_options(const ferry_model *model, const json_t *run)
{
    ferry_options options;
    ferry_options_default(model, &options, sizeof options);
    const json_t *hypotheses = json_object_get(run, "num_hypotheses");
    const json_t *penalty = json_object_get(run, "length_penalty");
    options.beam = (int32_t)json_integer_value(json_object_get(run, "beam_size"));
    options.nbest = hypotheses != NULL ? (int32_t)json_integer_value(hypotheses) : 1;
    if (penalty != NULL) options.length_penalty = (float)json_number_value(penalty);
    options.no_repeat_ngram = (int32_t)json_integer_value(json_object_get(run, "no_repeat_ngram_size"));
    options.max_length = 40;
    return options;
}

static agreement check_small(const char *name, const char *prompt, const char *from, const char *to, comparison *c)
{
    golden g = open_golden(name);
    const char *run;
    json_t *arguments;
    check_tokens(&g, prompt, from, to);
    json_object_foreach (json_object_get(g.root, "runs"), run, arguments) {
        ferry_options options = small_options(g.model, arguments);
        options.from = from;
        options.to = to;
        check_run(&g, run, &options, c);
    }
    report(&g, c);
    return compare_probabilities(&g);
}

/* int8: an input that lies within float32 noise of k + 1/2 is rounded to the one or the other code; from that token on
 * log-probabilities differ by up to 0.1, and candidates that were nearly equal change places. Everywhere else they are
 * equal to 1e-5. In the lists of exceptions stand near-equal candidates of that kind. */
static const double flip = 0.15, flipped_score = 0.05;

TEST(test_small_nllb)
{
    comparison c = {.score_tolerance = flipped_score};
    const agreement a = check_small("ctranslate2-small/nllb-int8", "", "en", "de", &c);
    assert_true(a.exact >= 13 && a.exact_first >= 14 && a.largest < flip);
}

/* Ferry widens int16 weights; CTranslate2 also rounds inputs to 1/1000. */
TEST(test_small_t5)
{
    comparison c = {.score_tolerance = 1e-2};
    const agreement a = check_small("ctranslate2-small/t5-int16", "translate English to German: ", NULL, NULL, &c);
    assert_true(a.largest < 5e-3);
}

TEST(test_small_gated_t5)
{
    static const exception near_ties[] = {
        {"greedy", 8},    {"greedy", 11},    {"greedy", 12},  {"beam4", 5},     {"beam4", 6},
        {"beam4", 7},     {"beam4", 8},      {"beam4", 14},   {"beam3_lp0", 1}, {"beam3_lp0", 6},
        {"beam3_lp0", 7}, {"beam3_lp0", 11}, {"norepeat", 7}, {"norepeat", 8},  {"norepeat", 14},
    };
    comparison c = {near_ties, COUNT(near_ties), .score_tolerance = 0.5, .best_only = true};
    const agreement a = check_small("ctranslate2-small/t5gated-int8_float16", "", NULL, NULL, &c);
    assert_true(a.exact >= 3 && a.exact_first >= 14 && a.largest < flip);
}

/* ---- the real English-German model, or its small twin ---- */

static agreement check_tatoeba(const char *name, comparison *c)
{
    static const struct {
        const char *name;
        int32_t beam, nbest;
        float length_penalty, patience, coverage_penalty;
    } runs[] = {
        {"greedy", 1, 1, 1, 1, 0},
        {"beam4", 4, 4, 1, 1, 0},
        {"beam4_lp2", 4, 2, 2, 2, 0},
        {"beam4_cov", 4, 1, 0.6f, 1, 0.2f},
    };
    golden g = open_golden(name);
    check_tokens(&g, "", NULL, NULL);
    for (size_t i = 0; i < COUNT(runs); i++) {
        ferry_options options;
        ferry_options_default(g.model, &options, sizeof options);
        options.beam = runs[i].beam;
        options.nbest = runs[i].nbest;
        options.length_penalty = runs[i].length_penalty;
        options.patience = runs[i].patience;
        options.coverage_penalty = runs[i].coverage_penalty;
        check_run(&g, runs[i].name, &options, c);
    }
    report(&g, c);
    return compare_probabilities(&g);
}

/* Weights are equal; but positions are the formula's, not the table's 16-bit roundings of it. */
TEST(test_tatoeba_float16)
{
    comparison c = {.score_tolerance = 1.5e-4};
    const agreement a = check_tatoeba("tatoeba-en-de/ctranslate2-float16", &c);
    assert_int_equal(c.equal, c.lines);
    assert_true(a.largest < 2e-3);
}

TEST(test_tatoeba_int8)
{
    static const exception near_ties[] = {
        {"greedy", 3},     {"greedy", 5},     {"greedy", 16},    {"greedy", 51},   {"greedy", 55},    {"greedy", 57},
        {"beam4", 0},      {"beam4", 3},      {"beam4", 4},      {"beam4", 5},     {"beam4", 51},     {"beam4", 57},
        {"beam4_lp2", 0},  {"beam4_lp2", 3},  {"beam4_lp2", 4},  {"beam4_lp2", 5}, {"beam4_lp2", 16}, {"beam4_lp2", 51},
        {"beam4_lp2", 57}, {"beam4_cov", 0},  {"beam4_cov", 3},  {"beam4_cov", 4}, {"beam4_cov", 5},  {"beam4_cov", 16},
        {"beam4_cov", 48}, {"beam4_cov", 51}, {"beam4_cov", 57},
    };
    static const exception of_small_twin[] = {{"beam4", 14}};
    comparison large = {near_ties, COUNT(near_ties), flipped_score, .best_only = true},
               small = {of_small_twin, COUNT(of_small_twin), flipped_score, .best_only = true};
    const agreement a = check_tatoeba("tatoeba-en-de/ctranslate2-int8", large_data() ? &large : &small);
    const size_t exact = large_data() ? 24 : 12, first = large_data() ? 35 : 14;
    assert_true(a.exact >= exact && a.exact_first >= first && a.largest < flip);
}

/* ---- Argos ---- */

/* A package as Argos Translate publishes them: a zip archive of one folder. */
static char *write_package(const char *metadata, const char *segmenter)
{
    static const char *const files[][2] = {{"package/model/model.bin", "model.bin"},
                                           {"package/model/config.json", "config.json"},
                                           {"package/model/shared_vocabulary.json", "shared_vocabulary.json"},
                                           {NULL, "spiece.model"}};
    zip_part parts[5] = {{"package/metadata.json", metadata, strlen(metadata)}};
    for (size_t i = 0; i < 4; i++) {
        const ferry_view bytes = mapped_bytes(shared_file("models/ctranslate2-small/t5-int16/%s", files[i][1]));
        parts[i + 1] = (zip_part){files[i][0] != NULL ? files[i][0] : segmenter, bytes.data, bytes.size};
    }
    char *path = scratch_file("translate-en_de.argosmodel");
    write_zip(path, parts, 5);
    return path;
}

TEST(test_argos_package)
{
    char *path = write_package("{\"from_code\": \"en\", \"to_code\": \"de\", \"target_prefix\": \"\u2581Er\"}",
                               "package/sentencepiece.model");
    const ferry_model *model = opened(path);
    const int32_t forced = find_piece(model, FERRY_INSPECT_DECODER, "\u2581Er");
    check_file_keys(converted(path), "origin.kind argos; decoding.policy ctranslate2; decoding.beam 4; "
                                     "decoding.length_penalty 0.2; languages.names en eng|de deu");
    check_file_keys(converted(path), ferry_name_format("decoding.forced_first_id %d", (int)forced).text);
    size_t count;
    const int32_t *ids = tokenized(model, "Hello, world!", NULL, NULL, &count);
    assert_int_equal(ids[count - 1], find_piece(model, FERRY_INSPECT_ENCODER, "!")); /* no end of sentence */
    static const char *const rows[][3] = {
        {"{\"from_code\": \"en\", \"to_code\": \"de\"}", "package/bpe.model", "bpe.model, line 1: expected two texts"},
        {"{\"from_code\": \"en\"}", "package/sentencepiece.model", "to_code"},
        {"{\"from_code\": \"en\", \"to_code\": \"de\", \"target_prefix\": \"__de__\"}", "package/sentencepiece.model",
         "the target prefix '__de__' is not in the vocabulary"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        refuse_source(write_package(rows[i][0], rows[i][1]), ANY_ERROR, rows[i][2]);
    path = write_package("{\"from_code\": \"en\", \"to_code\": \"de\", \"target_prefix\": \"\"}",
                         "package/sentencepiece.model");
    check_file_keys(converted(path), "decoding.forced_first_id -1");
}
