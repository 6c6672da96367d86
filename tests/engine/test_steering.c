/* What steers a translation: partial texts while it is made, a given beginning, other words in one place, chance. */
#include <pthread.h>

#include "tests/support/support.h"

static const char *const lines[] = {
    "Hello, world!",
    "Tom is reading a book in the garden.",
    "",
    "The early bird gets the worm, but the second mouse gets the cheese, and nobody asks the worm.",
    "Where were you yesterday at 10:30?",
    "She wears the same kinds of clothes as her sister.",
};
enum { LINES = sizeof lines / sizeof lines[0] };

static ferry_model *model;

static int open_model(void **state)
{
    (void)state;
    CHECK(ferry_model_open(FERRY_SOURCE_DIR "/models/pretrained/tatoeba-en-de.gguf", 0, &model, &error));
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    ferry_model_close(model);
    return 0;
}

static ferry_options greedy(void)
{
    ferry_options options;
    CHECK(ferry_options_default(model, &options, sizeof options));
    options.beam = options.nbest = 1;
    return options;
}

/* ---- partial texts ---- */

typedef struct told {
    char text[LINES][512]; /* the last of each line */
    int calls[LINES], cancel_at, total;
    int inside; /* written without a lock: calls do not overlap */
    pthread_t thread;
    bool other_thread;
} told;

/* Each text has one token more than the one before: it is not shorter. */
static int note(void *user, size_t line, ferry_text text)
{
    told *t = user;
    assert_true(line < LINES && text.data != NULL && text.size < sizeof t->text[0]);
    assert_int_equal(t->inside++, 0);
    assert_true(text.size >= strlen(t->text[line]));
    memcpy(t->text[line], text.data, text.size);
    t->text[line][text.size] = '\0';
    t->calls[line]++;
    t->other_thread = t->other_thread || !pthread_equal(t->thread, pthread_self());
    t->inside--;
    return ++t->total == t->cancel_at;
}

static void texts_of(ferry_text texts[LINES])
{
    for (size_t i = 0; i < LINES; i++) texts[i] = as_text(lines[i]);
}

/* One call for each token; the last one has the line's text. */
TEST_WITH(test_partial_texts, open_model, close_model)
{
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        ferry_options options = greedy();
        ferry_text texts[LINES];
        told t = {.thread = pthread_self()};
        texts_of(texts);
        options.threads = threads;
        options.partial = note;
        options.user = &t;
        ferry_result *result = translated(model, &options, texts, LINES);
        options.partial = NULL;
        ferry_result *plain = translated(model, &options, texts, LINES);
        for (size_t i = 0; i < LINES; i++) {
            const ferry_text text = ferry_result_text(result, i, 0);
            assert_same_line(result, i, plain, i);
            assert_int_equal(t.calls[i], ferry_result_tokens(result, i, 0));
            assert_int_equal(strlen(t.text[i]), text.size);
            assert_memory_equal(t.text[i], text.data, text.size);
        }
        if (threads == 1) assert_false(t.other_thread);
        ferry_result_destroy(result);
        ferry_result_destroy(plain);
    }
}

TEST_WITH(test_partial_texts_are_those_of_greedy_search, open_model, close_model)
{
    ferry_text texts[LINES];
    ferry_options options = greedy();
    told t = {0};
    texts_of(texts);
    options.partial = note;
    options.user = &t;
    options.beam = 2;
    ferry_result_destroy(translated(model, &options, texts, LINES));
    options.beam = 1;
    options.max_source = 4; /* in parts */
    ferry_result_destroy(translated(model, &options, texts + 3, 1));
    assert_int_equal(t.total, 0);
}

TEST_WITH(test_sentences_of_a_text_have_partial_texts, open_model, close_model)
{
    static const char text[] = "Good morning. Tom reads. ";
    ferry_options options = greedy();
    ferry_translator *translator;
    ferry_result *result;
    told t = {.thread = pthread_self()};
    options.partial = note;
    options.user = &t;
    CHECK(ferry_translator_create(model, &options, &translator, &error));
    CHECK(ferry_translate_text(translator, as_text(text), &result, &error));
    assert_int_equal(ferry_result_sentence_count(result), 2);
    for (size_t i = 0; i < 2; i++) {
        ferry_sentence sentence;
        CHECK(ferry_result_sentence(result, i, &sentence, sizeof sentence));
        assert_int_equal(strlen(t.text[i]), sentence.target_end - sentence.target_begin);
        assert_memory_equal(t.text[i], ferry_result_text(result, 0, 0).data + sentence.target_begin, strlen(t.text[i]));
    }
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

TEST_WITH(test_partial_texts_can_cancel, open_model, close_model)
{
    for (int calls = 1; calls <= 12; calls++) {
        ferry_text texts[LINES];
        ferry_options options = greedy();
        ferry_translator *translator;
        ferry_result *result;
        told t = {.cancel_at = calls};
        texts_of(texts);
        options.partial = note;
        options.user = &t;
        CHECK(ferry_translator_create(model, &options, &translator, &error));
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
