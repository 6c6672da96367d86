/* Scores of given translations: those of CTranslate2, of Marian, of the research interface, and of a search that finds
 * the same; and what cannot be scored. */
#include "engine/api/translator.h"
#include "engine/lines/model.h"
#include "tests/support/files.h"
#include "tests/support/marian_golden.h"
#include "tests/support/shipped_model.h"

static const ferry_text sources[] = {{"Hello, world!", 13}, {"I don't know what to do.", 24}, {"I know \xFF it.", 12}};
static const ferry_text targets[] = {{"Hallo Welt!", 11},
                                     {"Ich wei\xC3\x9F nicht, was ich tun soll.", 34},
                                     {"Ich \xFFkenne es.", 14}};

static ferry_result *scored(const ferry_model *of, const ferry_options *options, const ferry_text *from,
                            const ferry_text *to, size_t count)
{
    ferry_result *result;
    ferry_translator *translator = new_translator(of, options);
    CHECK(ferry_score(translator, from, to, count, &result, &error));
    ferry_translator_destroy(translator);
    return result;
}

TEST(test_ctranslate2)
{
    ferry_model *converted = convert_and_open(shared_file("models/tatoeba-en-de/ctranslate2-float16"), NULL);
    const char *recorded = large_data() ? "alignment/golden.json" : "alignment/small.json";
    const json_t *golden = json_object_get(load_json(data_file("%s", recorded)), "scores"), *row, *expected;
    size_t i, t;
    double largest = 0;
    json_array_foreach (golden, i, row) {
        const json_t *scores = json_object_get(row, "log_probs");
        const ferry_text from = as_text(json_string_value(json_object_get(row, "source"))),
                         to = as_text(json_string_value(json_object_get(row, "target")));
        ferry_result *result = scored(converted, NULL, &from, &to, 1);
        assert_int_equal(ferry_result_token_count(result, 0, 0), json_array_size(scores));
        json_array_foreach (scores, t, expected)
            largest = fmax(largest,
                           fabs(json_number_value(expected) - (double)target_token(result, 0, 0, t).log_probability));
        ferry_result_destroy(result);
    }
    assert_int_equal(i, 122);
    print_message("%zu pairs, log-probabilities to %.1e\n", i, largest);
    assert_true(largest < 1e-3); /* CTranslate2's exponential function is approximate */
    ferry_model_close(converted);
}

/* Whether the tokens but the last are these pieces, which have blanks between them. */
static bool has_pieces(const ferry_model *of, const ferry_result *result, const char *pieces)
{
    for (size_t t = 0; t + 1 < ferry_result_token_count(result, 0, 0); t++) {
        const ferry_text piece = ferry_inspect_piece(of, FERRY_INSPECT_DECODER, target_token(result, 0, 0, t).id);
        if (strncmp(pieces, piece.data, piece.size) != 0) return false;
        pieces += piece.size + (pieces[piece.size] == ' ');
    }
    return *pieces == '\0';
}

/* Marian's own hypotheses, where their text has the tokens that were found. */
TEST(test_marian)
{
    const char *path = shared_file("models/tatoeba-en-de/marian");
    const json_t *lines = json_object_get(load_json(in_directory(path, "golden.json")), "lines"), *line;
    golden_model marian = golden_open(path);
    golden_figures figures = {.lines = 0};
    ferry_options options;
    size_t i, others = 0;
    CHECK(ferry_options_default(marian.model, &options, sizeof options));
    options.length_penalty = 0.6f;
    own_search(&options, marian.model)->word_penalty = 0.2f;
    json_array_foreach (lines, i, line) {
        const json_t *hypotheses = json_object_get(line, "beam4_half");
        const ferry_text source = as_text(json_string_value(json_object_get(line, "text")));
        for (size_t h = 0; source.size > 0 && h < json_array_size(hypotheses); h++) {
            const golden_hypothesis expected = golden_parse(json_string_value(json_array_get(hypotheses, h)));
            char text[1000];
            size_t size = 0;
            for (const char *at = expected.text; *at != '\0'; at++) { /* pieces */
                const bool blank = strncmp(at, "\xE2\x96\x81", 3) == 0;
                if (*at != ' ') text[size++] = blank ? ' ' : *at;
                if (blank) at += 2;
            }
            const ferry_text target = {text, size};
            ferry_result *result = scored(marian.model, &options, &source, &target, 1);
            if (ferry_result_token_count(result, 0, 0) == expected.count &&
                has_pieces(marian.model, result, expected.text))
                golden_check_scores(&expected, result, 0, &figures);
            else
                others++;
            ferry_result_destroy(result);
        }
    }
    print_message("%zu hypotheses, word scores to %.1e; %zu have other tokens than their text\n", figures.hypotheses,
                  figures.word, others);
    assert_true(figures.hypotheses > 4 * others);
}

/* The logits of one teacher-forced pass: of all tokens, or of those that are not suppressed. */
static void check_logits(bool renormalize)
{
    ferry_options options = default_options(model);
    own_search(&options, model)->renormalize = renormalize;
    const ferry_text source = sources[1], target = targets[1];
    ferry_result *result = scored(model, &options, &source, &target, 1);
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const size_t V = (size_t)sizes.target_vocab, T = ferry_result_token_count(result, 0, 0);
    int32_t *ids, target_ids[64], offsets[2] = {0}, target_offsets[] = {0, (int32_t)T};
    size_t count;
    CHECK(ferry_inspect_tokenize(model, source, NULL, NULL, &ids, &count, &error));
    offsets[1] = (int32_t)count;
    target_ids[0] = sizes.start_id;
    for (size_t t = 1; t < T; t++) target_ids[t] = target_token(result, 0, 0, t - 1).id;
    assert_int_equal(target_token(result, 0, 0, T - 1).id, sizes.eos_id);
    float *logits = kept_memory(T * V * sizeof *logits);
    CHECK(ferry_inspect_logits(model, ids, offsets, 1, target_ids, target_offsets, FERRY_INSPECT_ONE_PASS, logits,
                               &error));
    double total = 0;
    for (size_t t = 0; t < T; t++) {
        const ferry_token token = target_token(result, 0, 0, t);
        double sum = 0;
        for (size_t v = 0; v < V; v++)
            if (!renormalize || (int32_t)v != sizes.pad_id) sum += exp((double)logits[t * V + v]);
        assert_true(fabs((double)logits[t * V + (size_t)token.id] - log(sum) - (double)token.log_probability) < 1e-5);
        total += (double)token.log_probability;
    }
    assert_true(fabs(total / (double)T - (double)ferry_result_score(result, 0, 0)) < 1e-5);
    assert_same_text(ferry_result_text(result, 0, 0), targets[1]);
    ferry_inspect_free(ids);
    ferry_result_destroy(result);
}

SHIPPED_TEST(test_the_research_interface)
{
    check_logits(true);
    check_logits(false);
}

/* What greedy search finds has the same score, bit for bit. */
SHIPPED_TEST(test_a_search)
{
    ferry_options options = default_options(model);
    options.beam = 1;
    for (size_t i = 0; i < 2; i++) {
        const ferry_text source = sources[i];
        ferry_result *found = translated(model, &options, &source, 1);
        const ferry_text target = ferry_result_text(found, 0, 0);
        ferry_result *result = scored(model, &options, &source, &target, 1);
        const float scores[] = {ferry_result_score(found, 0, 0), ferry_result_score(result, 0, 0)};
        assert_int_equal(ferry_result_token_count(result, 0, 0), ferry_result_token_count(found, 0, 0));
        assert_memory_equal(&scores[0], &scores[1], sizeof scores[0]);
        for (size_t t = 0; t < ferry_result_token_count(result, 0, 0); t++)
            assert_true(target_token(result, 0, 0, t).log_probability ==
                        ferry_inspect_result_token_scores(found, 0, 0)[t]);
        ferry_result_destroy(result);
        ferry_result_destroy(found);
    }
}

/* Tokens are there without options.alignment, weights are not; bytes are those of the caller's texts. */
SHIPPED_TEST(test_tokens)
{
    ferry_result *result = scored(model, NULL, &sources[2], &targets[2], 1);
    const ferry_text target = ferry_result_text(result, 0, 0);
    const size_t S = ferry_result_source_token_count(result, 0), T = ferry_result_token_count(result, 0, 0);
    ferry_token stop; /* the last token before the end of sentence */
    assert_non_null(strstr(ferry_result_outcome(result, 0)->warning, "invalid UTF-8 was read as U+FFFD"));
    assert_non_null(strstr(ferry_result_outcome(result, 0)->warning, "invalid UTF-8 in the target"));
    stop = source_token(result, 0, S - 2);
    assert_true(stop.begin + 1 == sources[2].size && stop.end == sources[2].size);
    assert_int_equal(target.size, targets[2].size + 2); /* U+FFFD has three bytes */
    stop = target_token(result, 0, 0, T - 2);
    assert_true(stop.begin + 1 == target.size && stop.end == target.size);
    assert_null(ferry_result_weights(result, 0, 0, 0, NULL, NULL));
    ferry_result_destroy(result);
}

/* The tag of a language is the first token, and counts 0. */
PIECES_TEST(test_tags)
{
    const ferry_text from = as_text("b c d"), to = as_text("k l");
    ferry_options options = default_options(model);
    for (int32_t tag = 0; tag <= 4; tag += 4) {
        own_search(&options, model)->forced_first_id = tag;
        ferry_result *result = scored(model, &options, &from, &to, 1);
        assert_int_equal(ferry_result_token_count(result, 0, 0), 4);
        assert_int_equal(target_token(result, 0, 0, 0).id, tag);
        assert_true(target_token(result, 0, 0, 0).log_probability == 0);
        double sum = 0;
        for (size_t t = 0; t < 4; t++) sum += (double)target_token(result, 0, 0, t).log_probability;
        assert_true(fabs(sum / 4 - (double)ferry_result_score(result, 0, 0)) < 1e-5);
        ferry_result_destroy(result);
    }
}

/* ---- what fails ---- */

/* As many tokens as are permitted, and one more, on either side; as many bytes, most of them white space. */
PIECES_TEST(test_pairs_of_the_last_length)
{
    enum { MOST = 5, BYTES = 64 * (MOST + 1), TARGET_BYTES = BYTES + 64 };
    static const struct {
        const char *source, *target;
        size_t source_bytes, target_bytes; /* of blanks, in all */
        const char *error;
    } rows[] = {
        {"b c d k", "b c d k l", 0, 0, NULL},
        {"b c d k l", "b c d k", 0, 0, "source: expected 1 to 5 tokens, found 6"},
        {"b c d k", "b c d k l b", 0, 0, "target: expected 1 to 6 tokens, found 7"},
        {"b c d k", "b c d k", BYTES - 1, TARGET_BYTES - 1, NULL},
        {"b", "b", BYTES, 0, "source: expected at most 5 tokens, found 384 bytes"},
        {"b", "b", 0, TARGET_BYTES, "target: expected at most 6 tokens, found 448 bytes"},
        {"", "", 0, 0, NULL},
    };
    const ferry_options options = default_options(model);
    model->file.transformer.encoder.position.limit = MOST;
    model->file.transformer.decoder.position.limit = MOST + 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char texts[2][TARGET_BYTES + 1];
        snprintf(texts[0], sizeof texts[0], "%-*s", (int)rows[i].source_bytes, rows[i].source);
        snprintf(texts[1], sizeof texts[1], "%-*s", (int)rows[i].target_bytes, rows[i].target);
        const ferry_text from = as_text(texts[0]), to = as_text(texts[1]);
        ferry_result *result = scored(model, &options, &from, &to, 1);
        const char *error = ferry_result_outcome(result, 0)->error;
        assert_int_equal(ferry_result_outcome(result, 0)->status, rows[i].error != NULL ? FERRY_ERROR_LIMIT : FERRY_OK);
        assert_true((error == NULL) == (rows[i].error == NULL));
        if (error != NULL) assert_string_equal(error, rows[i].error);
        ferry_result_destroy(result);
    }
}

/* Limits of the model's positions: those of the encoder are the source's, those of the decoder the target's. */
PIECES_TEST(test_limits_of_each_stack)
{
    static const struct {
        int32_t encoder, decoder, max_source; /* 0: none */
        int32_t source, scored, target;       /* what follows; a target has at most 550 tokens */
    } rows[] = {
        {3, 5, 0, 3, 5, 5},     {5, 3, 0, 5, 3, 3},     {3, 5, 4, 3, 4, 5},         {3, 5, 2, 2, 2, 5},
        {0, 5, 0, 512, 5, 5},   {3, 0, 9, 3, 9, 550},   {3, 0, 0, 3, 512, 550},     {900, 600, 0, 900, 600, 550},
        {0, 5, 700, 700, 5, 5}, {5, 550, 5, 5, 5, 550}, {0, 0, 700, 700, 700, 550},
    };
    ferry_options options = default_options(model);
    options.max_length = 550;
    for (size_t i = 0; i < COUNT(rows); i++) {
        model->file.transformer.encoder.position.limit = rows[i].encoder;
        model->file.transformer.decoder.position.limit = rows[i].decoder;
        options.max_source = rows[i].max_source;
        ferry_translator *translator = new_translator(model, &options);
        assert_int_equal(translator->rules.source_limit, rows[i].source);
        assert_int_equal(translator->rules.scored_limit, rows[i].scored);
        assert_int_equal(ferry_inspect_target_limit(translator, 7), rows[i].target);
        ferry_translator_destroy(translator);
    }
    /* A pair that is longer than what is scored together otherwise. */
    static char words[2 * 600 + 1];
    for (size_t i = 0; i < 600; i++) memcpy(words + 2 * i, "b ", 2);
    const ferry_text text = as_text(words);
    ferry_result *result = scored(model, &options, &text, &text, 1);
    assert_int_equal(ferry_result_token_count(result, 0, 0), 601);
    ferry_result_destroy(result);
}

/* A pair for which memory does not suffice fails; the others do not. */
SHIPPED_TEST(test_a_memory_limit)
{
    enum { WORDS = 400 };
    static char text[5 * WORDS + 1];
    for (size_t i = 0; i < WORDS; i++) memcpy(text + 5 * i, "Haus ", 5);
    const ferry_text from[] = {sources[0], sources[1], as_text(text)};
    const ferry_text to[] = {targets[0], targets[1], as_text(text)};
    ferry_result *result;
    ferry_options options = default_options(model);
    options.memory_limit = (size_t)7 << 20;
    ferry_translator *translator = new_translator(model, &options);
    for (int again = 0; again < 2; again++) {
        CHECK(ferry_score(translator, from, to, COUNT(from), &result, &error));
        for (size_t i = 0; i < 2; i++) {
            ferry_result *alone = scored(model, NULL, &from[i], &to[i], 1);
            assert_same_line(result, i, alone, 0);
            ferry_result_destroy(alone);
        }
        assert_int_equal(ferry_result_outcome(result, 2)->status, FERRY_ERROR_LIMIT);
        assert_non_null(strstr(ferry_result_outcome(result, 2)->error, "option memory_limit: "));
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}
