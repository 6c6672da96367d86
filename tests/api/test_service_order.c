/* In which order a service works on its texts, how many it takes, and how it stops. Its only thread is held in a
 * callback while texts are submitted, and then decodes their sentences one by one. */
#include <pthread.h>

#include "tests/support/files.h"
#include "tests/support/service_support.h"

#include "engine/api/translator.h"

enum { STEPS = 3 };
static const char *const sentence = "a b";

static ferry_translator *stepped(void)
{
    const ferry_options options = stepped_options(STEPS);
    return new_translator(model, &options);
}

/* A text of `count` sentences. */
static const char *sentences(size_t count)
{
    const size_t size = strlen(sentence) + 1;
    char *text = kept_memory(count * size + 1);
    for (size_t i = 0; i < count; i++) sprintf(text + i * size, "%s\n", sentence);
    return text;
}

/* ---- priorities ---- */

PIECES_TEST(test_the_order_of_texts)
{
    static const int32_t priorities[] = {0, 0, 5, -100, 5, 100, 0, -1, 100, 0};
    sent *texts = new_texts(COUNT(priorities));
    ferry_service *service = held_service(stepped(), NULL);
    for (size_t i = 0; i < COUNT(priorities); i++) submit_text(service, &texts[i], sentence, priorities[i]);
    release_service();
    end_service(service, COUNT(priorities));
    CHECK_PLACES(texts, 5, 6, 3, 10, 4, 1, 7, 9, 2, 8);
    free_results(texts, COUNT(priorities));
}

/* The first 32 sentences of each come before the rest of any. */
PIECES_TEST(test_short_texts_do_not_wait_for_long_ones)
{
    static const size_t counts[] = {40, 40, 3, 33, 32, 1};
    sent *texts = new_texts(COUNT(counts));
    ferry_service *service = held_service(stepped(), NULL);
    for (size_t i = 0; i < COUNT(counts); i++) submit_text(service, &texts[i], sentences(counts[i]), 0);
    release_service();
    end_service(service, COUNT(counts));
    CHECK_PLACES(texts, 4, 5, 1, 6, 2, 3);
    free_results(texts, COUNT(counts));
}

static counter entered, left;

/* Stays in its callback at one token, until `left`. */
static int stay_in_partial(sent *s, sent_callback which)
{
    if (which != ON_PARTIAL || s->partial_calls != 1) return 0;
    count_up(&entered);
    EXPECT(count_waits(&left, 1));
    return 0;
}

/* A service in the first token of texts[0]. */
static ferry_service *service_within(ferry_translator *translator, sent *texts, const char *text)
{
    ferry_service *service = new_service(translator, NULL);
    atomic_store(&entered, 0);
    atomic_store(&left, 0);
    texts[0].watched = true;
    texts[0].act = stay_in_partial;
    submit_text(service, &texts[0], text, 0);
    assert_true(count_waits(&entered, 1));
    return service;
}

static int come_before_sentences(sent *s, sent_callback which)
{
    const sent *other = s->user;
    if (which == ON_DONE) EXPECT(other->lines_done == 0);
    return 0;
}

/* Before the sentence in progress, the others of its text, and what was submitted earlier. */
PIECES_TEST(test_an_urgent_text_comes_first)
{
    enum { TEXTS = 5, SENTENCES = 3 };
    static const int32_t priorities[] = {0, -1, 0, 1, 2};
    sent *texts = new_texts(TEXTS);
    ferry_service *service = service_within(stepped(), texts, sentences(SENTENCES));
    for (int i = 1; i < TEXTS; i++) {
        texts[i].act = priorities[i] > 0 ? come_before_sentences : NULL;
        texts[i].user = &texts[0];
        submit_text(service, &texts[i], sentence, priorities[i]);
    }
    count_up(&left);
    end_service(service, TEXTS);
    CHECK_PLACES(texts, 3, 5, 4, 2, 1);
    assert_int_equal(texts[0].partial_calls, SENTENCES * STEPS);
    free_results(texts, TEXTS);
}

/* Submits the text after it, which is more urgent, at its first token. */
static int let_another_come_first(sent *s, sent_callback which)
{
    ferry_service *const *service = s->user;
    if (which == ON_PARTIAL && s->partial_calls == 1) submit_text(*service, s + 1, sentence, s->given.priority + 1);
    return 0;
}

/* A text rests for another one, which rests for another one, and so on: there is a slot for one that rests. */
PIECES_TEST(test_urgent_texts_within_each_other)
{
    enum { TEXTS = 5 };
    sent *texts = new_texts(TEXTS);
    ferry_service *service = held_service(stepped(), NULL);
    for (int i = 0; i < TEXTS; i++) {
        texts[i].watched = true;
        texts[i].user = &service;
        texts[i].act = i + 1 < TEXTS ? let_another_come_first : NULL;
    }
    submit_text(service, &texts[0], sentence, 0);
    release_service();
    end_service(service, TEXTS);
    CHECK_PLACES(texts, 5, 4, 3, 2, 1);
    for (int i = 0; i < TEXTS; i++) assert_int_equal(texts[i].status, FERRY_OK);
    free_results(texts, TEXTS);
}

/* ---- reports ---- */

/* Texts are reported in the order in which they ended. */
PIECES_TEST(test_the_order_of_reports)
{
    enum { TEXTS = 5 };
    sent *texts = new_texts(TEXTS);
    ferry_service *service = held_service(stepped(), NULL);
    for (int i = 0; i < TEXTS; i++) submit_text(service, &texts[i], sentence, 0);
    const int cancelled[] = {3, 1, 4, 3};
    for (size_t i = 0; i < COUNT(cancelled); i++) ferry_service_cancel(service, texts[cancelled[i]].ticket);
    ferry_service_cancel(service, 0);
    ferry_service_cancel(service, texts[TEXTS - 1].ticket + 1); /* no text has it */
    release_service();
    end_service(service, TEXTS);
    CHECK_PLACES(texts, 4, 2, 5, 1, 3);
    for (int i = 0; i < TEXTS; i++)
        assert_int_equal(texts[i].status, i == 0 || i == 2 ? FERRY_OK : FERRY_ERROR_CANCELLED);
    free_results(texts, TEXTS);
}

/* A text that is in progress ends once, when its sentences have ended: one is held, another waits. */
PIECES_TEST(test_cancelling_a_text_in_progress)
{
    sent *texts = new_texts(2);
    ferry_service *service = service_within(stepped(), texts, sentences(2));
    submit_text(service, &texts[1], sentence, 0);
    for (int i = 0; i < 2; i++) ferry_service_cancel(service, texts[0].ticket);
    assert_int_equal(texts[0].place, 0);
    count_up(&left);
    end_service(service, 2);
    CHECK_PLACES(texts, 1, 2);
    assert_int_equal(texts[0].status, FERRY_ERROR_CANCELLED);
    assert_int_equal(texts[0].partial_calls, 1);
    assert_string_equal(texts[0].error.message, "cancelled: 0 of 2 sentences are finished");
    assert_text_is(ferry_result_text(texts[0].result, 0, 0), texts[0].given.text.data);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(ferry_result_outcome(ferry_result_sentences(texts[0].result), i)->status,
                         FERRY_ERROR_CANCELLED);
    assert_int_equal(texts[1].status, FERRY_OK);
    free_results(texts, 2);
}

/* ---- how much it takes ---- */

static void refuse(ferry_service *service, sent *s, const char *message)
{
    s->ticket = 1;
    REFUSE_SAYING(submit(service, s, &error), FERRY_ERROR_LIMIT, message);
    assert_int_equal(s->ticket, 0);
}

PIECES_TEST(test_a_service_is_full_of_texts)
{
    const ferry_service_options room = {.size = sizeof room, .max_texts = 3};
    sent *texts = new_texts(7);
    ferry_service *service = held_service(stepped(), &room);
    for (int i = 0; i < 3; i++) submit_text(service, &texts[i], sentence, 0);
    refuse(service, &texts[6], "the service is full: it has 3 texts (max_texts)");
    ferry_service_cancel(service, texts[1].ticket); /* has its place until it is reported */
    refuse(service, &texts[6], "the service is full: it has 3 texts (max_texts)");
    release_service();
    assert_true(count_waits(&reported, 3));
    for (int i = 3; i < 6; i++) submit_text(service, &texts[i], sentence, 0);
    end_service(service, 6);
    free_results(texts, 6);
}

PIECES_TEST(test_a_service_is_full_of_bytes)
{
    const ferry_service_options room = {.size = sizeof room, .max_bytes = 100};
    const ferry_text lines[] = {as_text("a b"), as_text("c")}, prefixes[] = {as_text("d e"), as_text("")};
    const ferry_request with_prefixes = {.size = sizeof with_prefixes, .prefixes = prefixes};
    sent *texts = new_texts(6);
    ferry_service *service = held_service(stepped(), &room);
    texts[0].given = (ferry_submission){.lines = lines, .request = &with_prefixes, .count = 2}; /* 4 × 16 + 4 + 3 */
    CHECK(submit(service, &texts[0], &error));
    submit_text(service, &texts[1], "a b c d e f g", 0);
    texts[5].given = (ferry_submission){.lines = lines + 1, .count = 1};
    refuse(
        service, &texts[5],
        "the service is full: expected a text of at most 16 bytes, found 17; its other texts have 84 (max_bytes 100)");
    texts[2].given = (ferry_submission){.lines = prefixes + 1, .count = 1};
    CHECK(submit(service, &texts[2], &error));
    texts[5].given = (ferry_submission){.text = as_text("a")};
    refuse(
        service, &texts[5],
        "the service is full: expected a text of at most 0 bytes, found 1; its other texts have 100 (max_bytes 100)");
    submit_text(service, &texts[3], "", 0);
    release_service();
    assert_true(count_waits(&reported, 4));
    submit_text(service, &texts[4], sentences(25), 0);
    end_service(service, 5);
    free_results(texts, 5);
}

/* The defaults are 1,000 texts and 64 MiB; the bytes of the lines are not read before they fit. */
PIECES_TEST(test_default_limits)
{
    enum { BYTES = 64 << 20, TEXTS = 1000 };
    static char bytes[BYTES];
    const ferry_text endless[] = {{bytes, PTRDIFF_MAX}, {bytes, PTRDIFF_MAX}, {bytes, PTRDIFF_MAX}};
    const ferry_request with_endless = {.size = sizeof with_endless, .prefixes = endless};
    const ferry_service_options any = {.size = sizeof any, .max_bytes = SIZE_MAX, .max_texts = SIZE_MAX};
    sent *texts = new_texts(TEXTS + 1);
    ferry_service *service = held_service(stepped(), NULL);
    memset(bytes, ' ', BYTES);
    texts[0].given.text = (ferry_text){bytes, BYTES};
    CHECK(submit(service, &texts[0], &error));
    ferry_service_cancel(service, texts[0].ticket);
    for (size_t count = 1; count <= 3; count++) {
        texts[TEXTS].given = (ferry_submission){.lines = endless, .count = count};
        REFUSE(submit(service, &texts[TEXTS], &error), FERRY_ERROR_LIMIT, "expected a text of at most 0 bytes");
    }
    for (int i = 1; i < TEXTS; i++) submit_text(service, &texts[i], "", 0);
    texts[TEXTS].given = (ferry_submission){.text = as_text("")};
    refuse(service, &texts[TEXTS], "the service is full: it has 1000 texts (max_texts)");
    release_service();
    end_service(service, TEXTS);
    free_results(texts, TEXTS);

    service = new_service(stepped(), &any);
    texts[TEXTS].given = (ferry_submission){.lines = endless, .request = &with_endless, .count = 3};
    REFUSE(submit(service, &texts[TEXTS], &error), FERRY_ERROR_MEMORY, "");
    end_service(service, 0);
}

/* ---- stopping ---- */

static void refuse_stopped(ferry_service *service, sent *s)
{
    s->ticket = 1;
    REFUSE_SAYING(submit(service, s, &error), FERRY_ERROR_CANCELLED, "the service is stopped");
    assert_int_equal(s->ticket, 0);
}

PIECES_TEST(test_stopping)
{
    for (int cancel = 0; cancel < 2; cancel++) {
        sent *texts = new_texts(3);
        ferry_service *service = held_service(stepped(), NULL);
        for (int i = 0; i < 2; i++) submit_text(service, &texts[i], sentence, 0);
        ferry_service_stop(service, 0);
        refuse_stopped(service, &texts[2]);
        if (cancel != 0) ferry_service_stop(service, 1);
        ferry_service_stop(service, 0); /* takes nothing back */
        refuse_stopped(service, &texts[2]);
        release_service();
        end_service(service, 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(texts[i].place, i + 1);
            assert_int_equal(texts[i].status, cancel != 0 ? FERRY_ERROR_CANCELLED : FERRY_OK);
            assert_int_equal(texts[i].result != NULL, cancel == 0);
            assert_string_equal(texts[i].error.message, cancel != 0 ? "cancelled before the text was split" : "");
        }
        free_results(texts, 2);
    }
}

PIECES_TEST(test_stopping_a_text_in_progress)
{
    sent *texts = new_texts(3);
    ferry_service *service = service_within(stepped(), texts, sentences(2));
    for (int i = 1; i < 3; i++) submit_text(service, &texts[i], sentence, i);
    ferry_service_stop(service, 1);
    count_up(&left);
    end_service(service, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(texts[i].status, FERRY_ERROR_CANCELLED);
        assert_int_equal(texts[i].result != NULL, i == 0);
    }
    assert_int_equal(texts[0].partial_calls, 1);
    free_results(texts, 3);
}

/* Destroying waits for the texts, and takes no more. */
static ferry_service *destroyed;

static void *destroy(void *user)
{
    ferry_status *status = user;
    *status = ferry_service_destroy(destroyed, NULL);
    return NULL;
}

PIECES_TEST(test_destroying)
{
    ferry_status status = FERRY_ERROR_IO;
    pthread_t thread;
    sent *texts = new_texts(3);
    destroyed = held_service(stepped(), NULL);
    for (int i = 0; i < 2; i++) submit_text(destroyed, &texts[i], sentence, 0);
    assert_int_equal(pthread_create(&thread, NULL, destroy, &status), 0);
    release_service();
    pthread_join(thread, NULL);
    assert_int_equal(status, FERRY_OK);
    check_expectations();
    for (int i = 0; i < 2; i++) assert_int_equal(texts[i].status, FERRY_OK);
    CHECK_PLACES(texts, 1, 2);
    free_results(texts, 2);
}

/* ---- waiting ---- */

static atomic_int seconds;

static double test_clock(void)
{
    return 1000 + atomic_load(&seconds);
}

static ferry_translator *with_test_clock(void)
{
    ferry_translator *translator = stepped();
    atomic_store(&seconds, 0);
    translator->schedule.queue.clock = test_clock;
    return translator;
}

/* After 2 seconds, a text that may wait for 1 second is cancelled when its turn comes. One that may wait for 2 is not.
 */
PIECES_TEST(test_texts_that_were_not_begun_in_time)
{
    static const int32_t waits[] = {0, 1000, 2000, 1999, INT32_MAX, 1};
    sent *texts = new_texts(COUNT(waits) + 1);
    ferry_service *service = held_service(with_test_clock(), NULL);
    for (size_t i = 0; i < COUNT(waits); i++) {
        texts[i].watched = true;
        texts[i].given.wait = waits[i];
        submit_text(service, &texts[i], sentence, 0);
    }
    atomic_store(&seconds, 2);
    assert_int_equal(atomic_load(&reported), 0); /* there is no timer */
    release_service();
    end_service(service, COUNT(waits));
    for (size_t i = 0; i < COUNT(waits); i++) {
        const bool late = waits[i] > 0 && waits[i] < 2000;
        assert_int_equal(texts[i].status, late ? FERRY_ERROR_CANCELLED : FERRY_OK);
        assert_int_equal(texts[i].result != NULL, !late);
        assert_int_equal(texts[i].progress_calls > 0, !late);
    }
    free_results(texts, COUNT(waits));
}

static int let_time_pass(sent *s, sent_callback which)
{
    (void)s;
    if (which == ON_PROGRESS) atomic_store(&seconds, 2);
    return 0;
}

/* Time passes while the second text is split. The first one has begun, and goes on. */
PIECES_TEST(test_texts_that_were_begun_in_time)
{
    sent *texts = new_texts(2);
    texts[0].given.wait = texts[1].given.wait = 1000;
    ferry_service *service = service_within(with_test_clock(), texts, sentences(40));
    texts[1].watched = true;
    texts[1].act = let_time_pass;
    submit_text(service, &texts[1], sentences(2), 0);
    count_up(&left);
    end_service(service, 2);
    CHECK_PLACES(texts, 2, 1);
    assert_int_equal(texts[0].status, FERRY_OK);
    assert_int_equal(texts[1].status, FERRY_ERROR_CANCELLED);
    assert_int_equal(texts[1].progress_calls, 1);
    assert_string_equal(texts[1].error.message, "cancelled: 0 of 2 sentences are finished");
    assert_text_is(ferry_result_text(texts[1].result, 0, 0), sentences(2));
    free_results(texts, 2);
}
