/* The library from text to text: the promise that a line's result is the same alone, in any batch and with any number
 * of threads, on all kernels that this machine has; and what happens at the edges of the interface. */
#include "tests/support/support.h"

#include "tests/support/kernel_support.h"
#include "tests/support/random.h"

static const char *const lines[] = {
    "Hello, world!",
    "I don't know what to do.",
    "",
    "Tom is reading a book in the garden.",
    "The early bird gets the worm, but the second mouse gets the cheese, and nobody asks the worm.",
    "?",
    "   ",
    "Ünïcödé — “quotes” … 漢字 🙂 ﬁne ½",
    "Where were you yesterday at 10:30?",
    "She wears the same kinds of clothes as her sister.",
    "I",
    "No.",
    ("This sentence is a good deal longer than the others, because batches of equal lengths prove too little about "
     "neighbors, and because a longer target has to cross the end of a block of cached keys and values."),
};
enum { LINES = sizeof lines / sizeof lines[0] };

static const char *isa;
static ferry_model *model;

static int open_model(void **state)
{
    (void)state;
    model = convert_data("models/marian-separate", isa);
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    ferry_model_close(model);
    return 0;
}

static ferry_result *translate(const ferry_options *options, const ferry_text *texts, size_t count)
{
    return translated(model, options, texts, count);
}

/* Random selections of lines, batch sizes and thread counts against each line alone: text, tokens and the bits of the
 * scores. */
static void test_same_bytes_in_any_batch_and_with_any_threads(void **state)
{
    (void)state;
    if (!has_exact_rows(ferry_kernels_find(isa))) skip();
    uint32_t random = 7;
    ferry_options options;
    ferry_options_default(model, &options, sizeof options);
    options.max_length = 60;
    for (int beam = 1; beam <= 4; beam += 3) {
        ferry_result *alone[LINES];
        options.beam = options.nbest = beam;
        options.threads = options.batch = 1;
        for (int i = 0; i < LINES; i++) {
            const ferry_text text = as_text(lines[i]);
            alone[i] = translate(&options, &text, 1);
        }
        for (int round = 0; round < 12; round++) {
            ferry_text texts[40];
            int which[40];
            const size_t count = 1 + next_random(&random) % 40;
            options.threads = 1 + (int32_t)(next_random(&random) % 4);
            options.batch = 1 + (int32_t)(next_random(&random) % 20);
            for (size_t i = 0; i < count; i++) {
                which[i] = (int)(next_random(&random) % LINES);
                texts[i] = as_text(lines[which[i]]);
            }
            ferry_result *result = translate(&options, texts, count);
            for (size_t i = 0; i < count; i++) assert_same_line(result, i, alone[which[i]], 0);
            ferry_result_destroy(result);
        }
        for (int i = 0; i < LINES; i++) ferry_result_destroy(alone[i]);
    }
}

static void test_blank_lines_stay_and_nul_is_a_character(void **state)
{
    (void)state;
    const ferry_text texts[] = {{"", 0}, {" \t ", 3}, {"a\0b", 3}, {"\xff\xfe oops", 7}, {"\xff", 1}};
    ferry_result *result = translate(NULL, texts, 5);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ferry_result_hypotheses(result, i), 1);
        assert_int_equal(ferry_result_text(result, i, 0).size, texts[i].size);
        assert_memory_equal(ferry_result_text(result, i, 0).data, texts[i].data, texts[i].size);
        assert_null(ferry_result_warning(result, i));
        assert_int_equal(ferry_result_tokens(result, i, 0), 0);
    }
    for (size_t i = 2; i < 5; i++) {
        assert_true(ferry_result_tokens(result, i, 0) > 0);
        assert_null(ferry_result_error(result, i));
        if (i >= 3) assert_non_null(strstr(ferry_result_warning(result, i), "UTF-8"));
    }
    assert_int_equal(ferry_result_hypotheses(result, 5), 0); /* no such line */
    assert_null(ferry_result_error(result, 5));
    ferry_result_destroy(result);
}

static void test_no_lines_give_no_results(void **state)
{
    (void)state;
    ferry_result *result = translate(NULL, NULL, 0);
    assert_int_equal(ferry_result_hypotheses(result, 0), 0);
    ferry_result_destroy(result);
}

/* In each row one option gets the number. */
static void test_options_out_of_range_are_named(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        union {
            int32_t integer;
            float real;
        } number;
        const char *name;
    } rows[] = {
#define OPTION(name) offsetof(ferry_options, name)
        {OPTION(size), {0}, "size"},
        {OPTION(beam), {0}, "beam"},
        {OPTION(nbest), {5}, "nbest"},
        {OPTION(threads), {0}, "threads"},
        {OPTION(batch), {0}, "batch"},
        {OPTION(length_penalty), {.real = INFINITY}, "length_penalty"},
        {OPTION(repetition_penalty), {.real = 0}, "repetition_penalty"},
        {OPTION(max_length), {-1}, "max_length"},
        {OPTION(policy), {3}, "policy"},
        {OPTION(word_penalty), {.real = NAN}, "word_penalty"},
        {OPTION(length_factor), {.real = -1}, "length_factor"},
        {OPTION(length_factor), {.real = INFINITY}, "length_factor"},
        {OPTION(length_extra), {-1}, "length_extra"},
        {OPTION(shortlist), {2}, "shortlist"},
        {OPTION(suppressed_count), {1}, "suppressed_ids"},
#undef OPTION
    };
    static const int32_t unknown_id = 1 << 30;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ferry_error refused = {0};
        ferry_options options;
        ferry_translator *translator;
        ferry_options_default(model, &options, sizeof options);
        options.beam = 4;
        options.suppressed_ids = &unknown_id;
        options.suppressed_count = 0;
        CHECK(ferry_translator_create(model, &options, &translator, &error));
        ferry_translator_destroy(translator);
        memcpy((char *)&options + rows[i].offset, &rows[i].number, sizeof rows[i].number); /* little-endian */
        check_refusal(ferry_translator_create(model, &options, &translator, &refused), &refused, FERRY_ERROR_ARGUMENT,
                      rows[i].name);
        assert_int_equal(refused.status, FERRY_ERROR_ARGUMENT);
        assert_null(translator);
    }
}

/* Where max_length is 0, both count. */
static void test_length_by_the_source(void **state)
{
    (void)state;
    static const struct {
        float factor;
        int32_t extra;
    } cases[] = {{0, 0}, {0, 4}, {0.4f, 0}, {1, 0}, {1, 2}};
    ferry_options options;
    int32_t *ids;
    size_t count;
    ferry_options_default(model, &options, sizeof options);
    assert_true(options.length_factor == 3.0f && options.length_extra == 50);
    const ferry_text text = as_text("I");
    CHECK(ferry_inspect_tokenize(model, text, NULL, NULL, &ids, &count, &error));
    options.max_length = 0;
    options.min_length = 8;
    options.beam = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options.length_factor = cases[i].factor;
        options.length_extra = cases[i].extra;
        ferry_result *result = translate(&options, &text, 1);
        const double limit = ceil((double)cases[i].factor * (double)count) + cases[i].extra;
        assert_int_equal(ferry_result_tokens(result, 0, 0), limit < 1 ? 1 : (size_t)limit);
        ferry_result_destroy(result);
    }
    ferry_inspect_free(ids);
}

/* In order they add up to the sum of which the score is made. */
static void test_token_scores(void **state)
{
    (void)state;
    ferry_options options;
    const ferry_text texts[] = {as_text(lines[1]), as_text("")};
    ferry_options_default(model, &options, sizeof options);
    for (int32_t policy = FERRY_POLICY_HUGGINGFACE; policy <= FERRY_POLICY_CTRANSLATE2; policy++)
        for (int32_t beam = 1; beam <= 3; beam += 2) {
            options.policy = (ferry_policy)policy;
            options.beam = options.nbest = beam;
            options.length_penalty = 0;
            options.word_penalty = 0.25f;
            ferry_result *result = translate(&options, texts, 2);
            assert_int_equal(ferry_result_hypotheses(result, 0), beam);
            for (size_t h = 0; h < (size_t)beam; h++) {
                const float *scores = ferry_inspect_result_token_scores(result, 0, h);
                const size_t tokens = ferry_result_tokens(result, 0, h);
                double sum = 0;
                for (size_t t = 0; t < tokens; t++) sum += (double)scores[t];
                assert_true(sum < 0);
                const double score = (double)ferry_result_score(result, 0, h);
                if (!(fabs(sum - 0.25 * (double)tokens - score) < 1e-4))
                    fail_msg("policy %d, beam %d: sum %g of %zu tokens, score %g", policy, beam, sum, tokens, score);
            }
            assert_null(ferry_inspect_result_token_scores(result, 0, (size_t)beam));
            assert_null(ferry_inspect_result_token_scores(result, 1, 0));
            ferry_result_destroy(result);
        }
}

/* The same text, and no scores. */
static void test_without_scores(void **state)
{
    (void)state;
    ferry_options options;
    const ferry_text text = as_text(lines[4]);
    ferry_options_default(model, &options, sizeof options);
    for (options.beam = 1; options.beam <= 3; options.beam += 2) {
        options.scores = 1;
        ferry_result *scored = translate(&options, &text, 1);
        options.scores = 0;
        ferry_result *plain = translate(&options, &text, 1);
        const ferry_text a = ferry_result_text(scored, 0, 0), b = ferry_result_text(plain, 0, 0);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        assert_true(ferry_result_score(scored, 0, 0) < 0.0f);
        assert_true(ferry_result_score(plain, 0, 0) == 0.0f);
        ferry_result_destroy(scored);
        ferry_result_destroy(plain);
    }
}

static int cancel_after_two(void *user, size_t done, size_t total)
{
    (void)total;
    ++*(int *)user;
    return done >= 2;
}

static void test_progress_can_cancel(void **state)
{
    (void)state;
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    ferry_text texts[LINES];
    int calls = 0;
    for (int i = 0; i < LINES; i++) texts[i] = as_text(lines[i]);
    ferry_options_default(model, &options, sizeof options);
    options.batch = 1;
    options.progress = cancel_after_two;
    options.user = &calls;
    CHECK(ferry_translator_create(model, &options, &translator, &error));
    REFUSE(ferry_translate(translator, texts, LINES, &result, &error), FERRY_ERROR_CANCELLED, "");
    assert_int_equal(ferry_result_count(result), LINES); /* test_parts.c has what is in it */
    assert_true(calls >= 1 && calls < LINES);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

static void test_model_without_tokenizer_speaks_in_ids_only(void **state)
{
    (void)state;
    ferry_translator *translator;
    ferry_result *result;
    ferry_model *silent = convert_data("positions/none-pre", NULL);
    const ferry_text text = as_text("Hello");
    CHECK(ferry_translator_create(silent, NULL, &translator, &error));
    REFUSE(ferry_translate(translator, &text, 1, &result, &error), FERRY_ERROR_UNSUPPORTED, "tokenizer");
    assert_null(result);
    ferry_translator_destroy(translator);
    ferry_model_close(silent);
}

static void test_description_names_what_matters(void **state)
{
    (void)state;
    static const char *const words[] = {"2 layers",       "gelu",      "post-norm",        "sinusoidal",
                                        "split",          "901 → 701", "two vocabularies", "beam",
                                        "early stopping", "origin",    "MB file"};
    ferry_text text;
    CHECK(ferry_inspect_describe(model, &text, &error));
    char *copy = calloc(1, text.size + 1);
    assert_non_null(copy);
    memcpy(copy, text.data, text.size);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(copy, words[i]) == NULL) fail_msg("'%s' is missing in:\n%s", words[i], copy);
    free(copy);
    ferry_inspect_free(text.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes_in_any_batch_and_with_any_threads),
        cmocka_unit_test(test_blank_lines_stay_and_nul_is_a_character),
        cmocka_unit_test(test_no_lines_give_no_results),
        cmocka_unit_test(test_options_out_of_range_are_named),
        cmocka_unit_test(test_length_by_the_source),
        cmocka_unit_test(test_without_scores),
        cmocka_unit_test(test_token_scores),
        cmocka_unit_test(test_progress_can_cancel),
        cmocka_unit_test(test_model_without_tokenizer_speaks_in_ids_only),
        cmocka_unit_test(test_description_names_what_matters),
    };
    int failed = 0;
    for (const ferry_kernels *const *kernels = ferry_kernels_available(); *kernels != NULL; kernels++) {
        isa = (*kernels)->isa;
        failed += cmocka_run_group_tests_name(isa, tests, open_model, close_model);
    }
    return failed;
}
