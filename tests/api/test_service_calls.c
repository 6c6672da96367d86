/* What a service does with a text: the results of calls, what its callbacks get and may do, and the bytes it holds. */
#include <pthread.h>

#include "tests/support/files.h"
#include "tests/support/service_support.h"

#include "base/threads.h"

enum { STEPS = 4 };

static ferry_translator *stepped(int32_t threads)
{
    ferry_options options = stepped_options(STEPS);
    options.threads = threads;
    return new_translator(model, &options);
}

/* `text`, `count` times. */
static const char *repeated(const char *text, size_t count)
{
    const size_t size = strlen(text);
    char *all = kept_memory(count * size + 1);
    for (size_t i = 0; i < count; i++) memcpy(all + i * size, text, size);
    return all;
}

/* ---- results ---- */

static const char *const samples[] = {"a b c d",
                                      "",
                                      " \t\n",
                                      "a b.\n\n  c d!\nk \xFF c",
                                      "\n\n",
                                      "\xF0\x9F\x98\x80",
                                      "b b b b b b b b b b b b b b b b b b"};
enum { SAMPLES = sizeof samples / sizeof *samples };

static ferry_options varied_options(int variant)
{
    ferry_options options = default_options(model);
    options.max_length = 12;
    options.beam = variant == 1 ? 3 : 1;
    options.nbest = variant == 1 ? 2 : 1;
    options.threads = 1 + variant % 3;
    options.batch = variant == 2 ? 1 : 64;
    options.alignment = variant == 3;
    options.max_source = variant == 2 ? 6 : 0;
    options.split = variant == 4 ? FERRY_SPLIT_ALL : FERRY_SPLIT_NONE;
    options.on_loop = variant == 4 ? FERRY_ON_LOOP_RETRY : FERRY_ON_LOOP_WARN;
    return options;
}

/* Lines, with and without prefixes, none of them, and each as a text. */
PIECES_TEST(test_results_of_calls)
{
    enum { TEXTS = SAMPLES + 3 };
    static const char *const beginnings[SAMPLES] = {"e f", "a", "a", "\xFF", "", "c d e f g h i j k l m n o", "  b "};
    ferry_text lines[SAMPLES], prefixes[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) lines[i] = as_text(samples[i]);
    for (int i = 0; i < SAMPLES; i++) prefixes[i] = as_text(beginnings[i]);
    const ferry_request with_prefixes = {.size = sizeof with_prefixes, .prefixes = prefixes};
    for (int variant = 0; variant < 5; variant++) {
        const ferry_options options = varied_options(variant);
        sent *texts = new_texts(TEXTS);
        ferry_translator *translator = new_translator(model, &options);
        ferry_service *service = new_service(new_translator(model, &options), NULL);
        for (int i = 0; i < SAMPLES; i++) texts[i].given.text = lines[i];
        texts[SAMPLES].given = (ferry_submission){.lines = lines, .count = SAMPLES};
        texts[SAMPLES + 1].given = (ferry_submission){.lines = lines, .request = &with_prefixes, .count = SAMPLES};
        texts[SAMPLES + 2].given = (ferry_submission){.lines = lines, .request = &with_prefixes};
        for (int i = 0; i < TEXTS; i++) texts[i].watched = variant % 2 == 0 && variant != 4;
        for (int i = 0; i < TEXTS; i++) CHECK(submit(service, &texts[i], &error));
        end_service(service, TEXTS);
        for (int i = 0; i < TEXTS; i++) check_result(&texts[i], translator);
        assert_int_equal(ferry_result_count(texts[SAMPLES + 2].result), 0);
        free_results(texts, TEXTS);
        ferry_translator_destroy(translator);
    }
}

/* The service has copied a submission when submit returns. */
PIECES_TEST(test_submissions_are_copied)
{
    enum { TEXTS = 3 };
    char bytes[TEXTS][8] = {"a b c", "d e", "f g"};
    ferry_text text = as_text(bytes[0]), line = as_text(bytes[1]), prefix = as_text(bytes[2]);
    const ferry_request with_prefix = {.size = sizeof with_prefix, .prefixes = &prefix};
    ferry_translator *translator = stepped(1);
    sent *texts = new_texts(TEXTS);
    texts[0].given = (ferry_submission){.text = text};
    texts[1].given = (ferry_submission){.lines = &line, .request = &with_prefix, .count = 1};
    ferry_service *service = held_service(stepped(1), NULL);
    for (int i = 0; i < 2; i++) CHECK(submit(service, &texts[i], &error));
    memset(bytes, 'x', sizeof bytes);
    line.size = prefix.size = 1;
    release_service();
    end_service(service, 2);
    texts[0].given.text = as_text("a b c");
    line = as_text("d e");
    prefix = as_text("f g");
    for (int i = 0; i < 2; i++) check_result(&texts[i], translator);
    free_results(texts, 2);
    ferry_translator_destroy(translator);
}

/* ---- progress and partial translations ---- */

static int count_calls(sent *s, sent_callback which)
{
    size_t *first = s->user;
    if (which == ON_PROGRESS && s->progress_calls == 1) *first = s->lines_done;
    if (which == ON_DONE && s->given.count > 0) EXPECT(s->lines_done == s->lines_total);
    return 0;
}

/* One line in each of `lines` is blank, so it is done when the text is split. */
PIECES_TEST(test_progress_and_partial_translations)
{
    const ferry_text lines[] = {as_text("a b"), as_text(" "), as_text("c d e"), as_text("")};
    for (int32_t threads = 1; threads <= 3; threads++) {
        size_t first = 0;
        sent *texts = new_texts(2);
        ferry_service *service = new_service(stepped(threads), NULL);
        texts[0].given = (ferry_submission){.lines = lines, .count = COUNT(lines)};
        texts[1].given = (ferry_submission){.text = as_text(" \n\n")};
        for (int i = 0; i < 2; i++) {
            texts[i].watched = true;
            texts[i].act = count_calls;
            texts[i].user = &first;
            CHECK(submit(service, &texts[i], &error));
        }
        end_service(service, 2);
        assert_int_equal(first, 2);
        assert_int_equal(texts[0].lines_total, COUNT(lines));
        assert_int_equal(texts[0].progress_calls, 3);
        assert_int_equal(texts[0].partial_calls, 2 * STEPS);
        for (size_t i = 0; i < COUNT(lines); i += 2)
            assert_same_text(texts[0].last[i], ferry_result_text(texts[0].result, i, 0));
        assert_int_equal(texts[1].progress_calls, 0); /* a text of blank lines has no sentence */
        free_results(texts, 2);
    }
}

/* An answer other than 0 cancels this text alone. One that was not begun does not wait for its turn to end. */
static sent_callback cancelling;
static size_t cancelling_call;
static const sent *text_before;

static int cancel_by_answer(sent *s, sent_callback which)
{
    const size_t calls = which == ON_PROGRESS ? s->progress_calls : s->partial_calls;
    const bool cancels = which == cancelling && calls == cancelling_call;
    if (which != ON_DONE) EXPECT(s->user == NULL);
    if (which == ON_DONE && s->partial_calls == 0) EXPECT(text_before->lines_done == 1); /* a blank one */
    if (cancels) s->user = s;
    return cancels ? -1 : 0;
}

/* `finished`: lines that are. */
static void check_answers(int32_t batch, size_t finished, size_t progress, size_t partial)
{
    const ferry_text lines[] = {as_text("a b"), as_text("c d"), as_text(" ")};
    ferry_options options = stepped_options(STEPS);
    options.batch = batch;
    sent *texts = new_texts(3);
    ferry_service *service = held_service(new_translator(model, &options), NULL);
    text_before = &texts[0];
    for (int i = 0; i < 3; i++) {
        texts[i].given = (ferry_submission){.lines = lines, .count = COUNT(lines)};
        texts[i].watched = true;
        texts[i].act = i == 1 ? cancel_by_answer : NULL;
        CHECK(submit(service, &texts[i], &error));
    }
    release_service();
    end_service(service, 3);
    const ferry_result *result = texts[1].result;
    assert_int_equal(texts[1].progress_calls, progress);
    assert_int_equal(texts[1].partial_calls, partial);
    assert_int_equal(texts[1].status, finished < COUNT(lines) ? FERRY_ERROR_CANCELLED : FERRY_OK);
    assert_int_equal(texts[0].status, FERRY_OK);
    assert_int_equal(texts[2].status, FERRY_OK);
    for (size_t i = 0; i < COUNT(lines); i++) {
        const ferry_status status = ferry_result_outcome(result, i)->status;
        finished -= status == FERRY_OK;
        if (status == FERRY_OK)
            assert_same_line(result, i, texts[0].result, i);
        else
            assert_int_equal(status, FERRY_ERROR_CANCELLED);
    }
    assert_int_equal(finished, 0);
    free_results(texts, 3);
}

PIECES_TEST(test_answers_of_callbacks)
{
    cancelling = ON_PROGRESS;
    cancelling_call = 1;
    check_answers(1, 1, 1, 0);
    cancelling_call = 2;
    check_answers(1, 2, 2, STEPS);
    cancelling_call = 3;
    check_answers(1, 3, 3, 2 * STEPS);
    cancelling = ON_PARTIAL;
    cancelling_call = 1;
    check_answers(1, 1, 1, 1);
    check_answers(4, 1, 1, 1); /* the other line has a token, too */
    cancelling_call = STEPS + 2;
    check_answers(1, 2, 2, STEPS + 2);
}

/* ---- callbacks and threads ---- */

/* The first callback, but for the one before the sentences, stays until other threads would have come, if they could.
 */
static int stay(sent *s, sent_callback which)
{
    const sent_callback *where = s->user;
    if (which == *where && (which == ON_PROGRESS ? s->progress_calls == 2 : is_first(s, which)))
        ferry_thread_sleep(0.05);
    return 0;
}

/* Callbacks of one text come one at a time, and none after the last one (`enter` of the support). */
PIECES_TEST(test_callbacks_of_one_text)
{
    static const sent_callback places[] = {ON_PROGRESS, ON_PARTIAL};
    for (size_t i = 0; i < 2 * COUNT(places); i++) {
        sent_callback where = places[i / 2];
        sent *text = new_texts(1);
        ferry_service *service = new_service(stepped(2 + (int32_t)i % 2), NULL);
        text->watched = true;
        text->act = stay;
        text->user = &where;
        submit_text(service, text, repeated("a b\n", 20), 0);
        end_service(service, 1);
        assert_int_equal(text->progress_calls, 21);
        assert_int_equal(text->partial_calls, 20 * STEPS);
        free_results(text, 1);
    }
}

static counter met;

/* Stays in one of its callbacks until another text is there. */
static int meet(sent *s, sent_callback which)
{
    const sent_callback *where = s->user;
    if (which != *where || !is_first(s, which)) return 0;
    count_up(&met);
    EXPECT(count_waits(&met, 2));
    return 0;
}

PIECES_TEST(test_callbacks_of_two_texts_meet)
{
    for (sent_callback where = ON_PROGRESS; where <= ON_DONE; where++) {
        sent *texts = new_texts(2);
        ferry_service *service = new_service(stepped(2), NULL);
        atomic_store(&met, 0);
        for (int i = 0; i < 2; i++) {
            texts[i].watched = true;
            texts[i].act = meet;
            texts[i].user = &where;
            submit_text(service, &texts[i], "a b", 0);
        }
        end_service(service, 2);
        free_results(texts, 2);
    }
}

/* ---- what callbacks may do ---- */

typedef enum deed { SUBMIT, CANCEL, CANCEL_OTHER, STOP, STOP_ALL, DEEDS } deed;

typedef struct scene {
    ferry_service *service, *other_service;
    sent_callback where;
    deed deed;
    sent *texts; /* [4] the first one acts; the last one is submitted by it */
} scene;

static int do_it(sent *s, sent_callback which)
{
    const scene *at = s->user;
    ferry_error why;
    if (which != at->where || !is_first(s, which)) return 0;
    EXPECT(ferry_service_destroy(at->service, &why) == FERRY_ERROR_ARGUMENT);
    EXPECT(strcmp(why.argument, "service") == 0);
    if (at->deed == SUBMIT) EXPECT(submit(at->service, &at->texts[3], NULL) == FERRY_OK);
    if (at->deed == CANCEL) ferry_service_cancel(at->service, s->ticket);
    if (at->deed == CANCEL_OTHER) ferry_service_cancel(at->service, at->texts[1].ticket);
    if (at->deed == STOP || at->deed == STOP_ALL) ferry_service_stop(at->service, at->deed == STOP_ALL);
    if (at->deed == STOP) EXPECT(submit(at->service, &at->texts[3], NULL) == FERRY_ERROR_CANCELLED);
    return 0;
}

static void check_scene(scene *at)
{
    const bool in_done = at->where == ON_DONE;
    at->texts = new_texts(4);
    at->texts[3].given.text = as_text("c d");
    at->service = held_service(stepped(1), NULL);
    for (int i = 0; i < 3; i++) {
        at->texts[i].watched = true;
        submit_text(at->service, &at->texts[i], "a b", i == 0);
    }
    at->texts[0].act = do_it;
    at->texts[0].user = at;
    release_service();
    end_service(at->service, at->deed == SUBMIT ? 4 : 3);
    for (int i = 0; i < 3; i++) {
        const bool cancelled = at->deed == STOP_ALL ? i > 0 || !in_done
                               : i == 0             ? at->deed == CANCEL && !in_done
                                                    : i == 1 && at->deed == CANCEL_OTHER;
        assert_int_equal(at->texts[i].status, cancelled ? FERRY_ERROR_CANCELLED : FERRY_OK);
    }
    assert_int_equal(at->texts[3].status, FERRY_OK);
    free_results(at->texts, 4);
}

PIECES_TEST(test_what_callbacks_may_do)
{
    scene at = {0};
    for (at.where = ON_PROGRESS; at.where <= ON_DONE; at.where++)
        for (at.deed = SUBMIT; at.deed < DEEDS; at.deed++) check_scene(&at);
}

static int destroy_other(sent *s, sent_callback which)
{
    scene *at = s->user;
    if (which == ON_PARTIAL && is_first(s, which)) {
        EXPECT(ferry_service_destroy(at->other_service, NULL) == FERRY_OK);
        EXPECT(ferry_service_destroy(at->service, NULL) == FERRY_ERROR_ARGUMENT);
    }
    return 0;
}

/* A callback of one service may destroy another. */
PIECES_TEST(test_a_callback_destroys_another_service)
{
    scene at = {.texts = new_texts(2)};
    at.other_service = new_service(stepped(1), NULL);
    at.service = held_service(stepped(1), NULL);
    at.texts[0].watched = true;
    at.texts[0].act = destroy_other;
    at.texts[0].user = &at;
    submit_text(at.service, &at.texts[0], "a b", 0);
    submit_text(at.other_service, &at.texts[1], "a b", 0);
    release_service();
    end_service(at.service, 2);
    for (int i = 0; i < 2; i++) assert_int_equal(at.texts[i].status, FERRY_OK);
    free_results(at.texts, 2);
}

/* ---- long texts ---- */

/* The other text is not split yet. */
static int come_first(sent *s, sent_callback which)
{
    const sent *other = s->user;
    if (which == ON_DONE) EXPECT(other->progress_calls == 0 && other->place == 0);
    return 0;
}

/* Prepared in portions, between which short texts are translated. */
static void check_long(const ferry_submission *given)
{
    ferry_options options = stepped_options(2);
    options.max_source = 200;
    options.batch = 64;
    sent *texts = new_texts(2);
    ferry_translator *translator = new_translator(model, &options);
    ferry_service *service = held_service(new_translator(model, &options), NULL);
    texts[0].given = *given;
    texts[0].watched = true;
    texts[1].act = come_first;
    texts[1].user = &texts[0];
    CHECK(submit(service, &texts[0], &error));
    submit_text(service, &texts[1], "a b", 0);
    release_service();
    end_service(service, 2);
    CHECK_PLACES(texts, 2, 1);
    check_result(&texts[0], translator);
    free_results(texts, 2);
    ferry_translator_destroy(translator);
}

/* In one line and in many, as a text and as lines. */
PIECES_TEST(test_long_texts)
{
    enum { BYTES = 200 << 10, WIDTH = 50, LINES = BYTES / WIDTH };
    const char *const line = "a b c d e f g h i                                 \n";
    const ferry_text one = as_text(repeated("a b c d e f g h i                                   ", LINES));
    ferry_text lines[LINES];
    for (int i = 0; i < LINES; i++) lines[i] = as_text(line);
    check_long(&(ferry_submission){.text = one});
    check_long(&(ferry_submission){.text = as_text(repeated(line, LINES))});
    check_long(&(ferry_submission){.lines = &one, .count = 1});
    check_long(&(ferry_submission){.lines = lines, .count = LINES});
}

/* ---- the state ---- */

typedef struct service_state {
    size_t waiting, running, bytes;
} service_state;

static service_state state_of(ferry_service *service)
{
    service_state found;
    found.bytes = ferry_service_state(service, &found.waiting, &found.running);
    return found;
}

/* Of the texts of test_the_state, in each callback of the first one. */
static int look_at_state(sent *s, sent_callback which)
{
    const service_state found = state_of(s->user);
    const bool begun = which == ON_PARTIAL || (which == ON_PROGRESS && s->progress_calls > 1);
    EXPECT(found.running == begun);
    EXPECT(found.waiting == (which == ON_DONE || begun ? 2 : 3));
    return 0;
}

PIECES_TEST(test_the_state)
{
    enum { BYTES = 5000, LINES = 100 };
    ferry_text lines[LINES];
    for (int i = 0; i < LINES; i++) lines[i] = as_text("a b");
    ferry_translator *translator = stepped(1);
    ferry_service *service = new_service(translator, NULL);
    assert_int_equal(ferry_service_state(service, NULL, NULL), ferry_translator_memory(translator, NULL));
    hold_service(service);
    const service_state before = state_of(service);
    const size_t others = before.bytes - ferry_translator_memory(translator, NULL);
    assert_int_equal(before.waiting, 0);
    assert_int_equal(before.running, 0);
    sent *texts = new_texts(3);
    texts[0].watched = true;
    texts[0].act = look_at_state;
    texts[0].user = service;
    submit_text(service, &texts[0], "a b\nc d", 1);
    submit_text(service, &texts[1], repeated(" ", BYTES), 0);
    const service_state with_text = state_of(service);
    texts[2].given = (ferry_submission){.lines = lines, .count = LINES};
    CHECK(submit(service, &texts[2], &error));
    const service_state with_lines = state_of(service);
    assert_in_range(with_text.bytes - before.bytes, BYTES, BYTES + 4000);
    assert_in_range(with_lines.bytes - with_text.bytes, LINES * (sizeof *lines + 3),
                    LINES * (sizeof *lines + 3) + 2000);
    assert_int_equal(with_lines.waiting, 3);
    assert_int_equal(with_lines.running, 0);
    release_service();
    assert_true(count_waits(&reported, 3));
    hold_service(service);
    const service_state after = state_of(service);
    assert_int_equal(after.waiting, 0);
    assert_int_equal(after.running, 0);
    assert_int_equal(after.bytes, others + ferry_translator_memory(translator, NULL));
    release_service();
    end_service(service, 3);
    free_results(texts, 3);
}
