/* What steers a translation: partial texts while it is made, a given beginning, other words in one place, chance. */
#define _XOPEN_SOURCE 700 /* nanosleep */
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "engine/search/decoding.h"
#include "tests/support/shipped_model.h"

static const ferry_text texts[] = {
    {"Hello, world!", 13},
    {"Tom is reading a book in the garden.", 36},
    {"", 0},
    {"The early bird gets the worm, but the second mouse gets the cheese, and nobody asks the worm.", 93},
    {"Where were you yesterday at 10:30?", 34},
    {"She wears the same kinds of clothes as her sister.", 50},
};
enum { LINES = sizeof texts / sizeof *texts };

static ferry_options greedy(void)
{
    ferry_options options = default_options(model);
    options.beam = options.nbest = 1;
    return options;
}

/* ---- partial texts ---- */

typedef struct told {
    char text[LINES][512]; /* the last of each line */
    int calls[LINES], cancel_at, total;
    int inside; /* written without a lock: calls do not overlap */
    bool slow;  /* calls take long enough for others to come, if they may */
    bool overlapped;
    pthread_t thread;
    bool other_thread;
} told;

/* Each text has one token more than the one before: it is not shorter. */
static int note(void *user, size_t line, ferry_text text)
{
    told *t = user;
    assert_true(line < LINES && text.data != NULL && text.size < sizeof t->text[0]);
    t->overlapped = t->inside++ > 0 || t->overlapped;
    if (t->slow) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    assert_true(text.size >= strlen(t->text[line]));
    memcpy(t->text[line], text.data, text.size);
    t->text[line][text.size] = '\0';
    t->calls[line]++;
    t->other_thread = t->other_thread || !pthread_equal(t->thread, pthread_self());
    t->inside--;
    return ++t->total != t->cancel_at ? 0 : t->total % 2 == 0 ? 1 : -1;
}

static ferry_options telling(told *t)
{
    ferry_options options = greedy();
    options.partial = note;
    options.user = t;
    return options;
}

/* One call for each token; the last one has the line's text. */
SHIPPED_TEST(test_partial_texts)
{
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        told t = {.thread = pthread_self(), .slow = threads > 1};
        ferry_options options = telling(&t);
        options.threads = threads;
        ferry_result *result = translated(model, &options, texts, LINES);
        options.partial = NULL;
        ferry_result *plain = translated(model, &options, texts, LINES);
        for (size_t i = 0; i < LINES; i++) {
            assert_same_line(result, i, plain, i);
            assert_int_equal(t.calls[i], ferry_result_token_count(result, i, 0));
            assert_text_is(ferry_result_text(result, i, 0), t.text[i]);
        }
        assert_false(t.overlapped);
        if (threads == 1) assert_false(t.other_thread);
        ferry_result_destroy(result);
        ferry_result_destroy(plain);
    }
}

SHIPPED_TEST(test_partial_texts_are_those_of_greedy_search)
{
    told t = {0};
    ferry_options options = telling(&t);
    options.beam = 2;
    ferry_result_destroy(translated(model, &options, texts, LINES));
    options.beam = 1;
    options.alternatives = 1;
    options.nbest = 2;
    ferry_result_destroy(translated(model, &options, texts, LINES));
    options.alternatives = 0;
    options.nbest = 1;
    options.max_source = 4; /* in parts */
    ferry_result_destroy(translated(model, &options, texts + 3, 1));
    assert_int_equal(t.total, 0);
}

SHIPPED_TEST(test_sentences_of_a_text_have_partial_texts)
{
    static const char text[] = "Good morning. Tom reads. ";
    told t = {.thread = pthread_self()};
    ferry_options options = telling(&t);
    ferry_result *result;
    ferry_translator *translator = new_translator(model, &options);
    CHECK(ferry_translate_text(translator, as_text(text), &result, &error));
    assert_int_equal(ferry_result_sentence_count(result), 2);
    for (size_t i = 0; i < 2; i++) {
        const ferry_sentence sentence = *ferry_result_sentence(result, i);
        assert_int_equal(strlen(t.text[i]), sentence.target_end - sentence.target_begin);
        assert_memory_equal(t.text[i], ferry_result_text(result, 0, 0).data + sentence.target_begin, strlen(t.text[i]));
    }
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

SHIPPED_TEST(test_partial_texts_can_cancel)
{
    for (int calls = 1; calls <= 12; calls++) {
        told t = {.cancel_at = calls};
        ferry_options options = telling(&t);
        ferry_result *result;
        ferry_translator *translator = new_translator(model, &options);
        REFUSE(ferry_translate(translator, texts, LINES, &result, &error), FERRY_ERROR_CANCELLED, "cancelled: ");
        assert_int_equal(t.total, calls);
        ferry_result_destroy(result);
        t = (told){0};
        CHECK(ferry_translate(translator, texts, LINES, &result, &error));
        assert_true(t.total > calls);
        ferry_result_destroy(result);
        ferry_translator_destroy(translator);
    }
}

/* ---- prefixes ---- */

static ferry_result *prefixed(const ferry_options *options, const ferry_text *of, const ferry_text *prefixes,
                              size_t count)
{
    ferry_result *result;
    ferry_translator *translator = new_translator(model, options);
    CHECK(translate_prefixed(translator, of, prefixes, count, &result, &error));
    ferry_translator_destroy(translator);
    return result;
}

static bool begins_with(ferry_text text, const char *beginning)
{
    return text.size >= strlen(beginning) && memcmp(text.data, beginning, strlen(beginning)) == 0;
}

/* A line without a prefix is what it is without prefixes; a blank line stays. */
SHIPPED_TEST(test_prefixes)
{
    static const char *const beginnings[LINES] = {"Guten Tag", "Der Tom", "Nein", "", "Wo waren Sie", "Die Kl"};
    ferry_text prefixes[LINES];
    for (size_t i = 0; i < LINES; i++) prefixes[i] = as_text(beginnings[i]);
    for (int32_t beam = 1; beam <= 4; beam += 3) {
        ferry_options options = greedy();
        options.beam = options.nbest = beam;
        ferry_result *plain = translated(model, &options, texts, LINES),
                     *result = prefixed(&options, texts, prefixes, LINES);
        for (size_t i = 0; i < LINES; i++) {
            if (i == 2 || i == 3) assert_same_line(result, i, plain, i);
            for (size_t k = 0; i != 2 && k < ferry_result_hypothesis_count(result, i); k++)
                assert_true(begins_with(ferry_result_text(result, i, k), beginnings[i]));
        }
        ferry_result_destroy(result);
        ferry_result_destroy(plain);
    }
}

/* What greedy search says anyway, given as prefix, changes nothing. */
SHIPPED_TEST(test_prefix_of_the_translation_itself)
{
    ferry_options options = greedy();
    const ferry_text line = texts[3];
    ferry_result *plain = translated(model, &options, &line, 1);
    ferry_text prefix = ferry_result_text(plain, 0, 0);
    while (prefix.size > 0) {
        while (prefix.size > 0 && prefix.data[prefix.size - 1] != ' ') prefix.size--;
        if (prefix.size > 0) prefix.size--;
        ferry_result *result = prefixed(&options, &line, &prefix, 1);
        const ferry_text whole = ferry_result_text(plain, 0, 0), found = ferry_result_text(result, 0, 0);
        assert_int_equal(found.size, whole.size);
        assert_memory_equal(found.data, whole.data, whole.size);
        ferry_result_destroy(result);
    }
    ferry_result_destroy(plain);
}

/* Prefixes of all but one of the tokens that a translation may have, of as many, and of one more: with a tag that the
 * model adds, which counts, and where the number follows from the source. */
SHIPPED_TEST(test_prefixes_of_the_last_length)
{
    const ferry_text line = as_text("Hello, world!"), prefix = as_text("Guten Tag, Welt");
    ferry_options options = greedy();
    ferry_result *result;
    ferry_translator *translator = new_translator(model, &options);
    CHECK(ferry_score(translator, &line, &prefix, 1, &result, &error));
    const int32_t tokens = (int32_t)ferry_result_token_count(result, 0, 0) - 1; /* without the end of sentence */
    const int32_t source = (int32_t)ferry_result_source_token_count(result, 0);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    assert_true(tokens > 2 && source > 1);
    for (int forced = 0; forced < 2; forced++)
        for (int by_source = 0; by_source < 2; by_source++)
            for (int32_t more = -1; more <= 1; more++) {
                const int32_t most = tokens + forced + more;
                options = greedy();
                if (forced != 0) own_search(&options, model)->forced_first_id = 4;
                options.max_length = by_source != 0 ? 0 : most;
                options.length_factor = 0.25f;
                options.length_extra = most - (source + 3) / 4;
                result = prefixed(&options, &line, &prefix, 1);
                if (more > 0) {
                    assert_int_equal(ferry_result_outcome(result, 0)->status, FERRY_OK);
                    assert_int_equal(ferry_result_token_count(result, 0, 0), most);
                } else {
                    assert_int_equal(ferry_result_outcome(result, 0)->status, FERRY_ERROR_LIMIT);
                    assert_string_equal(ferry_result_outcome(result, 0)->error,
                                        ferry_format("the prefix has %d tokens, special tokens included; "
                                                     "expected fewer than max_length %d",
                                                     tokens + forced, most)
                                            .text);
                }
                ferry_result_destroy(result);
            }
}

/* White space at a prefix' ends does not count; of nothing else, it is none. */
SHIPPED_TEST(test_white_space_of_prefixes)
{
    enum { PREFIXES = 3 };
    static const char *const prefixes[PREFIXES][2] = {{" Guten\t", "Guten"}, {"Guten \n", "Guten"}, {" \t", ""}};
    const ferry_text line = texts[0];
    for (size_t i = 0; i < 2 * PREFIXES; i++) {
        ferry_options options = greedy();
        if (i >= PREFIXES) own_search(&options, model)->forced_first_id = 4;
        if (i + 1 == 2 * PREFIXES) options.max_length = 1; /* which the tag is, and the prefix is nothing */
        const ferry_text spaced = as_text(prefixes[i % PREFIXES][0]), plain = as_text(prefixes[i % PREFIXES][1]);
        ferry_result *a = prefixed(&options, &line, &spaced, 1), *b = prefixed(&options, &line, &plain, 1);
        assert_same_line(a, 0, b, 0);
        ferry_result_destroy(a);
        ferry_result_destroy(b);
    }
}

/* Only the first part of a line begins with its prefix. */
SHIPPED_TEST(test_prefix_of_a_line_in_parts)
{
    const ferry_text line = as_text("Good morning. Tom reads a book. Where were you yesterday?"), none = {"", 0},
                     prefix = as_text("Einen guten Morgen");
    ferry_options options = greedy();
    options.max_source = 8;
    options.alignment = 1;
    options.length_penalty = 1;
    ferry_result *plain = prefixed(&options, &line, &none, 1), *result = prefixed(&options, &line, &prefix, 1);
    const ferry_text whole = ferry_result_text(plain, 0, 0), found = ferry_result_text(result, 0, 0);
    const char *rest = memchr(whole.data, '.', whole.size), *found_rest = memchr(found.data, '.', found.size);
    assert_non_null(strstr(ferry_result_outcome(result, 0)->warning, "split into 3 parts"));
    assert_true(begins_with(found, "Einen guten Morgen"));
    assert_true(rest != NULL && found_rest != NULL);
    assert_same_text((ferry_text){found_rest, (size_t)(found.data + found.size - found_rest)},
                     (ferry_text){rest, (size_t)(whole.data + whole.size - rest)});
    double sum = 0;
    size_t counted = 0; /* the prefix' tokens add 0 and are not counted */
    for (size_t i = 0; i < ferry_result_token_count(result, 0, 0); i++) {
        const ferry_token token = target_token(result, 0, 0, i);
        sum += (double)token.log_probability;
        counted += token.log_probability != 0;
    }
    assert_true(counted + 3 <= ferry_result_token_count(result, 0, 0));
    assert_true(fabs((double)ferry_result_score(result, 0, 0) - sum / (double)counted) < 1e-6);
    ferry_result_destroy(plain);
    ferry_result_destroy(result);
}

/* ---- alternatives, draws ---- */

static ferry_options drawing(int32_t nbest)
{
    ferry_options options = greedy();
    options.sample = 1;
    options.nbest = nbest;
    options.temperature = 0.9f;
    options.top_k = 40;
    options.top_p = 0.95f;
    options.seed = UINT64_C(0x123456789ABCDEF0);
    return options;
}

/* Other seeds, other draws; few or many of them: the same. */
SHIPPED_TEST(test_seeds)
{
    const ferry_text line = texts[3];
    ferry_options options = drawing(4), one = drawing(1), other = drawing(4);
    other.seed++;
    ferry_result *four = translated(model, &options, &line, 1), *first = translated(model, &one, &line, 1),
                 *others = translated(model, &other, &line, 1);
    size_t different = 0, changed = 0;
    for (size_t i = 0; i < 4; i++) {
        const ferry_text a = ferry_result_text(four, 0, i), b = ferry_result_text(four, 0, (i + 1) % 4),
                         c = ferry_result_text(others, 0, i);
        different += !is_same_text(a, b);
        changed += !is_same_text(a, c);
    }
    assert_true(different >= 2 && changed >= 3);
    assert_same_text(ferry_result_text(four, 0, 0), ferry_result_text(first, 0, 0));
    ferry_result_destroy(four);
    ferry_result_destroy(first);
    ferry_result_destroy(others);
}

/* One that can only be the best is greedy search, with its scores. */
SHIPPED_TEST(test_draws_of_the_best)
{
    ferry_options plain = greedy(), options = drawing(1);
    options.top_k = 1;
    ferry_result *expected = translated(model, &plain, texts, LINES),
                 *drawn = translated(model, &options, texts, LINES);
    for (size_t i = 0; i < LINES; i++) assert_same_line(drawn, i, expected, i);
    ferry_result_destroy(expected);
    ferry_result_destroy(drawn);
}

/* The first alternative is greedy search; each is another word. (tests/families/test_steering_golden.c has
 * CTranslate2's.) */
SHIPPED_TEST(test_alternatives)
{
    ferry_options options = greedy();
    ferry_result *plain = translated(model, &options, texts, LINES);
    options.alternatives = 1;
    options.nbest = 4;
    ferry_result *result = translated(model, &options, texts, LINES);
    for (size_t i = 0; i < LINES; i++) {
        assert_same_text(ferry_result_text(result, i, 0), ferry_result_text(plain, i, 0));
        if (i != 2) assert_int_equal(ferry_result_hypothesis_count(result, i), 4);
    }
    ferry_result_destroy(plain);
    ferry_result_destroy(result);
}

/* The coverage penalty of a line in parts is that of all its tokens; a wish for weights changes nothing, nor do others
 * that are translated with it. */
SHIPPED_TEST(test_coverage_of_parts)
{
    static const ferry_text rain[] = {{"It is raining.", 14},
                                      {"Tom is reading a book in the garden.", 36},
                                      {"It is raining. Tom is reading a book in the garden.", 51}};
    float scores[2][3], sums[2][3];
    for (int i = 0; i < 2; i++) {
        ferry_options options = greedy();
        ferry_search_options *search = own_search(&options, model);
        search->policy = FERRY_POLICY_CTRANSLATE2;
        options.beam = 4;
        options.length_penalty = 0;
        search->coverage_penalty = i == 0 ? 0.5f : 1e-30f; /* none, but hypotheses are waited for in the same way */
        options.split = FERRY_SPLIT_ALL;
        options.scores = 1;
        ferry_result *result = translated(model, &options, rain, 3);
        options.alignment = 1;
        ferry_result *aligned = translated(model, &options, rain, 3);
        for (size_t line = 0; line < 3; line++) {
            ferry_result *alone = translated(model, &options, rain + line, 1);
            assert_same_line(result, line, alone, 0);
            assert_same_line(result, line, aligned, line);
            ferry_result_destroy(alone);
            scores[i][line] = ferry_result_score(result, line, 0);
            sums[i][line] = 0;
            for (size_t t = 0; t < ferry_result_token_count(result, line, 0); t++)
                sums[i][line] += ferry_inspect_result_token_scores(result, line, 0)[t];
        }
        ferry_result_destroy(result);
        ferry_result_destroy(aligned);
        assert_float_equal(scores[i][2], scores[i][0] + scores[i][1], 1e-5);
    }
    for (size_t line = 0; line < 3; line++) {
        assert_true(scores[0][line] < sums[0][line] - 0.01f);
        assert_float_equal(scores[1][line], sums[1][line], 1e-5);
    }
}

SHIPPED_TEST(test_options_that_exclude_each_other)
{
    static const struct {
        ferry_decoding set;  /* 0: as usual */
        const char *message; /* NULL: they are accepted */
    } rows[] = {
        {{.options = {.beam = 2, .sample = 1}}, "option sample: expected beam 1, found beam 2"},
        {{.options = {.beam = 2, .alternatives = 1}}, "option alternatives: expected beam 1, found beam 2"},
        {{.options = {.sample = 1, .alternatives = 1}}, "option alternatives: expected 0 with sample, found 1"},
        {{.options = {.nbest = 2}}, "option nbest: expected a number from 1 to 1, found 2"},
        {{.options = {.nbest = 1025, .sample = 1}}, "option nbest: expected a number from 1 to 1024, found 1025"},
        {{.options = {.nbest = 1024, .sample = 1}}, NULL},
        {{.options = {.nbest = 1024, .alternatives = 1}}, NULL},
        {{.options = {.temperature = 0.5f}}, "option temperature: expected sample 1, found sample 0"},
        {{.options = {.temperature = 1.5f}}, "option temperature: expected sample 1, found sample 0"},
        {{.options = {.top_k = 5}}, "option top_k: expected sample 1, found sample 0"},
        {{.options = {.top_p = 0.5f}}, "option top_p: expected sample 1, found sample 0"},
        {{.options = {.top_k = 5, .alternatives = 1}}, "option top_k: expected sample 1, found sample 0"},
        {{.options = {.temperature = 0.5f, .top_k = 5, .top_p = 0.5f, .sample = 1}}, NULL},
        {{.options = {.beam = 4}, .search = {.patience = 2}},
         "option patience: expected policy ctranslate2, found policy huggingface"},
        {{.options = {.beam = 4}, .search = {.policy = FERRY_POLICY_MARIAN, .coverage_penalty = 0.2f}},
         "option coverage_penalty: expected policy ctranslate2, found policy marian"},
        {{.search = {.policy = FERRY_POLICY_CTRANSLATE2, .patience = 2}},
         "option patience: expected a beam above 1, found beam 1"},
        {{.search = {.policy = FERRY_POLICY_CTRANSLATE2, .coverage_penalty = -1}},
         "option coverage_penalty: expected a beam above 1, found beam 1"},
        {{.options = {.beam = 4, .nbest = 3}, .search = {.policy = FERRY_POLICY_CTRANSLATE2, .patience = 0.5f}},
         "option patience: expected 3 finished hypotheses or more (nbest), found 0.5 × beam 4"},
        {{.options = {.beam = 4}, .search = {.policy = FERRY_POLICY_CTRANSLATE2, .patience = 0.1f}},
         "option patience: expected 1 finished hypotheses or more"},
        {{.options = {.beam = 2}, .search = {.policy = FERRY_POLICY_CTRANSLATE2, .patience = 2}}, NULL},
        {{.options = {.beam = 4, .nbest = 2},
          .search = {.policy = FERRY_POLICY_CTRANSLATE2, .patience = 0.5f, .coverage_penalty = 1}},
         NULL},
        {{.search = {.policy = FERRY_POLICY_MARIAN}}, NULL},
        {{.options = {.min_length = 11, .max_length = 10}},
         "option min_length: expected at most max_length, which is 10, found 11"},
        {{.options = {.min_length = 10, .max_length = 10}}, NULL},
        {{.options = {.min_length = 10}}, NULL}, /* max_length 0: by the source */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ferry_options *set = &rows[i].set.options;
        const ferry_search_options *set_search = &rows[i].set.search;
        ferry_options options = greedy();
        ferry_translator *translator;
        ferry_search_options *search = own_search(&options, model);
        search->policy = set_search->policy;
        options.min_length = set->min_length;
        options.max_length = set->max_length;
        if (set->beam > 0) options.beam = set->beam;
        if (set->nbest > 0) options.nbest = set->nbest;
        options.alternatives = set->alternatives;
        options.sample = set->sample;
        if (set->temperature > 0) options.temperature = set->temperature;
        options.top_k = set->top_k;
        if (set->top_p > 0) options.top_p = set->top_p;
        if (set_search->patience > 0) search->patience = set_search->patience;
        search->coverage_penalty = set_search->coverage_penalty;
        if (rows[i].message != NULL) {
            REFUSE(ferry_translator_create(model, &options, &translator, &error), FERRY_ERROR_ARGUMENT,
                   rows[i].message);
            continue;
        }
        CHECK(ferry_translator_create(model, &options, &translator, &error));
        ferry_translator_destroy(translator);
    }
}
