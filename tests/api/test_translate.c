/* The library from text to text: the promises that a line's result is the same alone, in any batch and with any number
 * of threads, for every kind of call, on all kernels that this machine has, and after a call that was cancelled; and
 * what happens at the edges of the interface. */
#include "cancel_when_enough.h"
#include "tests/support/kernel_support.h"
#include "tests/support/sanitized.h"
#include "tests/support/shipped_model.h"

#include "tests/support/random.h"

/* ---- every kind of call ---- */

typedef enum kind { TRANSLATE, PREFIXED, SCORE, TEXT, KINDS } kind;

/* What is translated; and how it begins, or what it is scored with. A text is made of all of them. */
static const char *const lines[][2] = {
    {"Hello, world!", "Guten Tag"},
    {"I don't know what to do.", "Ich wei\xC3\x9F nicht, was ich tun soll."},
    {"", "Nein"},
    {"Tom is reading a <b>book</b> in the garden.", ""},
    {"The early bird gets the worm, but the second mouse gets the cheese, and nobody asks the worm.", "Der"},
    {"?", ""},
    {"   ", ""},
    {"Ünïcödé — “quotes” … 漢字 🙂 ﬁne ½", "Die Kl"},
    {"No. Yes.  Where were you yesterday at 10:30?\tNo. Yes! Is it <i>here?</i> No.", "Wo waren"},
    {"caf\xE9 au lait \xFF and a good deal more text, my \xE2\x82 friend.", "Der \xFF"},
    {"Against all expectations, we became good friends.", ""},
    {"Is this the dictionary you're looking for?", "Ist"},
    {"I", "Ich"},
    {"\xE2\x80\x8B", ""},
    {("This sentence is a good deal longer than the others, because batches of equal lengths prove too little about "
      "neighbors, and because a longer target has to cross the end of a block of cached keys and values."),
     "Dieser Satz"},
};
enum { LINES = COUNT(lines), MANY = 40 };

static char *text_of_all; /* a paragraph for each line */

static int begin(void **state)
{
    (void)state;
    model = convert_data("models/marian-separate", NULL);
    text_of_all = kept_memory(8192);
    for (size_t i = 0; i < LINES; i++) sprintf(text_of_all + strlen(text_of_all), "%s\n\n", lines[i][0]);
    return 0;
}

/* Lines which [count], or all of them as one text. */
static ferry_status call(kind what, ferry_translator *translator, const size_t *which, size_t count,
                         ferry_result **result, ferry_error *error)
{
    ferry_text texts[MANY], others[MANY];
    for (size_t i = 0; i < count; i++) {
        texts[i] = as_text(lines[which[i]][0]);
        others[i] = as_text(lines[which[i]][1]);
    }
    switch (what) {
    case PREFIXED: return translate_prefixed(translator, texts, others, count, result, error);
    case SCORE: return ferry_score(translator, texts, others, count, result, error);
    case TEXT: return ferry_translate_text(translator, as_text(text_of_all), result, error);
    default: return ferry_translate(translator, texts, count, result, error);
    }
}

/* Those of a text are its sentences. */
static const ferry_result *lines_of(const ferry_result *result)
{
    const ferry_result *sentences = ferry_result_sentences(result);
    return sentences != NULL ? sentences : result;
}

static void assert_same_words(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        assert_ptr_equal(a, b);
    else
        assert_string_equal(a, b);
}

/* All that a result has. */
static void assert_equal(const ferry_result *a, size_t line_a, const ferry_result *b, size_t line_b)
{
    assert_same_line(a, line_a, b, line_b);
    assert_same_words(ferry_result_outcome(a, line_a)->error, ferry_result_outcome(b, line_b)->error);
    assert_same_words(ferry_result_outcome(a, line_a)->warning, ferry_result_outcome(b, line_b)->warning);
    assert_int_equal(ferry_result_outcome(a, line_a)->quality, ferry_result_outcome(b, line_b)->quality);
    const size_t S = ferry_result_source_token_count(a, line_a);
    assert_int_equal(S, ferry_result_source_token_count(b, line_b));
    for (size_t s = 0; s < S; s++) assert_same_token(source_token(a, line_a, s), source_token(b, line_b, s));
    for (size_t h = 0; S > 0 && h < ferry_result_hypothesis_count(a, line_a); h++)
        for (size_t t = 0; t < ferry_result_token_count(a, line_a, h); t++) {
            size_t first[2], count[2];
            const float *x = ferry_result_weights(a, line_a, h, t, &first[0], &count[0]),
                        *y = ferry_result_weights(b, line_b, h, t, &first[1], &count[1]);
            assert_same_token(target_token(a, line_a, h, t), target_token(b, line_b, h, t));
            assert_true((x == NULL) == (y == NULL) && first[0] == first[1] && count[0] == count[1]);
            if (x != NULL) assert_memory_equal(x, y, count[0] * sizeof *x);
        }
}

/* ---- the same bytes in any batch and with any threads ---- */

typedef struct row {
    const char *name;
    kind what;
    int32_t beam, max_source; /* 0: the model's */
    bool alignment, sample, alternatives, retry, coverage;
    ferry_split split;
} row;

static const row rows[] = {
    {"greedy", TRANSLATE, .beam = 1},
    {"beams", TRANSLATE, .beam = 4},
    {"with weights", TRANSLATE, .beam = 1, .alignment = true},
    {"parts, with weights", TRANSLATE, .beam = 3, .max_source = 12, .alignment = true},
    {"sentences", TRANSLATE, .beam = 1, .split = FERRY_SPLIT_ALL},
    {"draws", TRANSLATE, .beam = 1, .sample = true},
    {"draws after prefixes", PREFIXED, .beam = 1, .sample = true},
    {"alternatives", TRANSLATE, .beam = 1, .alternatives = true},
    {"alternatives after prefixes", PREFIXED, .beam = 1, .alternatives = true},
    {"loops made again", TRANSLATE, .beam = 1, .retry = true},
    {"loops made again, beams", TRANSLATE, .beam = 4, .retry = true, .alignment = true},
    {"coverage", TRANSLATE, .beam = 3, .coverage = true, .split = FERRY_SPLIT_ALL},
    {"prefixes", PREFIXED, .beam = 1},
    {"prefixes, beams", PREFIXED, .beam = 4, .max_source = 12, .retry = true},
    {"scores", SCORE, .beam = 1},
    {"scores with weights", SCORE, .beam = 1, .alignment = true},
    {"a text", TEXT, .beam = 1},
    {"a text, beams", TEXT, .beam = 2, .max_source = 7, .alignment = true},
};
enum { ON_ALL_KERNELS = 2 };

#ifdef SANITIZED
enum { ROUNDS = 2 };
#else
enum { ROUNDS = 6 };
#endif

static ferry_options options_of(const row *r)
{
    ferry_options options = default_options(model);
    options.max_length = 30;
    options.beam = r->beam;
    options.nbest = r->sample || r->alternatives ? 3 : r->beam;
    options.max_source = r->max_source;
    options.alignment = r->alignment;
    options.alternatives = r->alternatives;
    options.sample = r->sample;
    if (r->sample) options.top_k = 40;
    options.on_loop = r->retry ? FERRY_ON_LOOP_RETRY : FERRY_ON_LOOP_WARN;
    options.split = r->split;
    ferry_search_options *search = own_search(&options, model);
    if (r->coverage) search->policy = FERRY_POLICY_CTRANSLATE2;
    if (r->coverage) search->coverage_penalty = 0.2f;
    return options;
}

static ferry_result *called(const row *r, const ferry_options *options, const size_t *which, size_t count)
{
    ferry_result *result;
    ferry_translator *translator = new_translator(model, options);
    CHECK(call(r->what, translator, which, count, &result, &error));
    ferry_translator_destroy(translator);
    return result;
}

/* Random selections of lines, batch sizes and thread counts against each line alone. */
static void check_row(const row *r, int rounds)
{
    uint32_t random = 7;
    ferry_options options = options_of(r);
    ferry_result *alone[LINES];
    const size_t calls = r->what >= TEXT ? 1 : LINES;
    options.threads = options.batch = 1;
    for (size_t i = 0; i < calls; i++) {
        alone[i] = called(r, &options, &i, 1);
        assert_int_equal(ferry_result_outcome(alone[i], 0)->status, FERRY_OK);
    }
    for (int round = 0; round < rounds; round++) {
        size_t which[MANY];
        const size_t count = 1 + next_random(&random) % MANY;
        for (size_t i = 0; i < count; i++) which[i] = next_random(&random) % LINES;
        options.threads = 1 + (int32_t)(next_random(&random) % 4);
        options.batch = 1 + (int32_t)(next_random(&random) % 20);
        ferry_result *result = called(r, &options, which, count);
        const ferry_result *found = lines_of(result), *expected = lines_of(alone[0]);
        assert_int_equal(ferry_result_count(found), r->what >= TEXT ? ferry_result_count(expected) : count);
        for (size_t i = 0; i < ferry_result_count(found); i++)
            assert_equal(found, i, r->what >= TEXT ? expected : alone[which[i]], r->what >= TEXT ? i : 0);
        if (r->what >= TEXT) assert_same_line(result, 0, alone[0], 0);
        ferry_result_destroy(result);
    }
    for (size_t i = 0; i < calls; i++) ferry_result_destroy(alone[i]);
}

TEST_WITH(test_same_bytes_in_any_batch_and_with_any_threads, begin, close_model)
{
    if (!has_exact_rows(ferry_kernels_find(NULL))) skip();
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("%s\n", rows[i].name);
        check_row(&rows[i], ROUNDS);
    }
}

TEST_WITH(test_same_bytes_on_all_kernels, begin, close_model)
{
    for (const ferry_kernels *const *kernels = ferry_kernels_available(); *kernels != NULL; kernels++) {
        ferry_model_close(model);
        model = convert_data("models/marian-separate", (*kernels)->isa);
        for (size_t i = 0; i < ON_ALL_KERNELS && has_exact_rows(*kernels); i++) check_row(&rows[i], 2 * ROUNDS);
    }
}

/* ---- a call that is cancelled, and the next one ---- */

/* What is finished is as in `full`; the rest is CANCELLED, and of a text it stays as it was. Returns how many are. */
static size_t check_cancelled(kind what, const ferry_result *result, const ferry_result *full)
{
    const ferry_result *found = lines_of(result);
    size_t finished = 0;
    for (size_t i = 0; i < ferry_result_count(found); i++) {
        const bool is_finished = ferry_result_outcome(found, i)->status == FERRY_OK;
        finished += is_finished;
        if (is_finished) {
            assert_equal(found, i, lines_of(full), i);
            continue;
        }
        assert_int_equal(ferry_result_outcome(found, i)->status, FERRY_ERROR_CANCELLED);
        assert_string_equal(ferry_result_outcome(found, i)->error, "cancelled");
        assert_int_equal(ferry_result_hypothesis_count(found, i), 0);
        assert_int_equal(ferry_result_text(found, i, 0).size, 0);
        if (what < TEXT) continue;
        const ferry_sentence s = *ferry_result_sentence(result, i);
        if (memchr(text_of_all + s.source_begin, '\xE9', s.source_end - s.source_begin) != NULL)
            continue; /* is repaired */
        assert_int_equal(s.target_end - s.target_begin, s.source_end - s.source_begin);
        assert_memory_equal(ferry_result_text(result, 0, 0).data + s.target_begin, text_of_all + s.source_begin,
                            s.source_end - s.source_begin);
    }
    return finished;
}

/* Blank lines are finished before all others. */
static void cancel_and_go_on(kind what, const ferry_options *options, const ferry_result *full, size_t enough,
                             bool by_answer)
{
    static const size_t all[LINES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    const size_t count = ferry_result_count(lines_of(full));
    ferry_error stopped = {0};
    ferry_options watched = *options;
    ferry_result *result;
    watch w = {.enough = enough};
    watched.progress = cancel_when_enough;
    watched.user = &w;
    ferry_translator *translator = new_translator(model, &watched);
    if (!by_answer) w.translator = translator;
    w.job = ferry_translator_job(translator);
    const ferry_status status = call(what, translator, all, LINES, &result, &stopped);
    assert_int_equal(status, enough < count ? FERRY_ERROR_CANCELLED : FERRY_OK);
    assert_int_equal(w.total, count);
    assert_int_equal(w.last, enough);
    assert_int_equal(check_cancelled(what, result, full), enough);
    if (what >= TEXT) assert_int_equal(ferry_result_outcome(result, 0)->status, status);
    if (enough < count)
        assert_string_equal(stopped.message, ferry_format("cancelled: %zu of %zu %s are finished", enough, count,
                                                          what >= TEXT ? "sentences" : "lines")
                                                 .text);
    ferry_result_destroy(result);
    w.enough = SIZE_MAX;
    w.job = ferry_translator_job(translator);
    CHECK(call(what, translator, all, LINES, &result, &error));
    assert_int_equal(check_cancelled(what, result, full), count);
    assert_same_line(result, 0, full, 0);
    ferry_result_destroy(result);
    w.enough = 1;
    ferry_result_destroy((call(what, translator, all, LINES, &result, NULL), result));
    w.enough = SIZE_MAX;
    w.job = ferry_translator_job(translator);
    CHECK(call(TEXT, translator, all, LINES, &result, &error));
    assert_int_equal(ferry_result_source_token_count(ferry_result_sentences(result), 0), 0);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

TEST_WITH(test_cancelled_calls_keep_what_is_finished, begin, close_model)
{
    static const size_t all[LINES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    for (kind what = 0; what < KINDS; what++) {
        ferry_options options = options_of(&(row){.beam = 1, .max_source = what == SCORE ? 0 : 12});
        options.batch = 1;
        ferry_result *full = called(&(row){.what = what}, &options, all, LINES);
        const size_t count = ferry_result_count(lines_of(full));
        const size_t enough[] = {what == TRANSLATE || what == PREFIXED ? 3 : 1, count / 2, count - 1, count};
        for (size_t i = 0; i < COUNT(enough); i++)
            for (int by_answer = 0; by_answer <= 1; by_answer++)
                cancel_and_go_on(what, &options, full, enough[i], by_answer);
        ferry_result_destroy(full);
    }
}

/* ---- the edges of the interface ---- */

TEST_WITH(test_blank_lines_stay_and_nul_is_a_character, begin, close_model)
{
    const ferry_text texts[] = {{"", 0}, {" \t ", 3}, {"a\0b", 3}, {"\xff\xfe oops", 7}, {"\xff", 1}};
    ferry_result *result = translated(model, NULL, texts, 5);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ferry_result_hypothesis_count(result, i), 1);
        assert_same_text(ferry_result_text(result, i, 0), texts[i]);
        assert_null(ferry_result_outcome(result, i)->warning);
        assert_int_equal(ferry_result_token_count(result, i, 0), 0);
    }
    for (size_t i = 2; i < 5; i++) {
        assert_true((ferry_result_token_count(result, i, 0) > 0) ==
                    (i < 4)); /* of U+FFFD alone the model sees nothing */
        assert_null(ferry_result_outcome(result, i)->error);
        if (i >= 3) assert_non_null(strstr(ferry_result_outcome(result, i)->warning, "UTF-8"));
    }
    assert_int_equal(ferry_result_hypothesis_count(result, 5), 0); /* no such line */
    assert_non_null(ferry_result_outcome(result, 5)->error);
    ferry_result_destroy(result);
}

/* Where max_length is 0, both count. */
TEST_WITH(test_length_by_the_source, begin, close_model)
{
    static const struct {
        float factor;
        int32_t extra;
    } cases[] = {{0, 0}, {0, 4}, {0.4f, 0}, {1, 0}, {1, 2}};
    int32_t *ids;
    size_t count;
    ferry_options options = default_options(model);
    assert_true(options.length_factor == 3.0f && options.length_extra == 50);
    const ferry_text text = as_text("I");
    CHECK(ferry_inspect_tokenize(model, text, NULL, NULL, &ids, &count, &error));
    options.max_length = 0;
    options.min_length = 8;
    options.beam = 1;
    for (size_t i = 0; i < COUNT(cases); i++) {
        options.length_factor = cases[i].factor;
        options.length_extra = cases[i].extra;
        ferry_result *result = translated(model, &options, &text, 1);
        const double limit = ceil((double)cases[i].factor * (double)count) + cases[i].extra;
        assert_int_equal(ferry_result_token_count(result, 0, 0), limit < 1 ? 1 : (size_t)limit);
        ferry_result_destroy(result);
    }
    ferry_inspect_free(ids);
}

TEST_WITH(test_model_without_tokenizer_speaks_in_ids_only, begin, close_model)
{
    static const size_t first = 0;
    ferry_model *silent = convert_data("positions/none-pre", NULL);
    ferry_translator *translator = new_translator(silent, NULL);
    for (kind what = 0; what < KINDS; what++) {
        ferry_result *result = (ferry_result *)silent;
        REFUSE(call(what, translator, &first, 1, &result, &error), FERRY_ERROR_UNSUPPORTED, "no tokenizer");
        assert_null(result);
    }
    ferry_translator_destroy(translator);
    ferry_model_close(silent);
}

TEST_WITH(test_description_names_what_matters, begin, close_model)
{
    static const char *const words[] = {"2 layers",       "gelu",      "post-norm",        "sinusoidal",
                                        "split",          "901 → 701", "two vocabularies", "beam",
                                        "early stopping", "origin",    "MB file"};
    ferry_text text;
    CHECK(ferry_inspect_describe(model, &text, &error));
    for (size_t i = 0; i < COUNT(words); i++)
        if (!ferry_view_contains((ferry_view){text.data, text.size}, words[i])) fail_msg("no '%s'", words[i]);
    ferry_inspect_free(text.data);
}
