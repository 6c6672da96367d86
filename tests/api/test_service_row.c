/* Services with two models in a row. Each has a thread of its own; the second one's can be held while texts pass the
 * first one. */
#include "tests/support/files.h"
#include "tests/support/row.h"
#include "tests/support/service_support.h"
#include "tests/support/small_model.h"

#include "base/threads.h"
#include "engine/api/translator.h"

enum { STEPS = 3 };

static ferry_translator *stepped_row(void)
{
    const ferry_options options = stepped_options(STEPS);
    return new_row(&options, &options);
}

/* ---- results ---- */

/* Each line as a text, and all of them as lines. */
SHIPPED_TEST(test_results_of_a_row)
{
    ferry_text lines[LINES];
    const ferry_options options = row_options();
    ferry_translator *row = new_row(&options, &options);
    sent *texts = new_texts(LINES + 1);
    ferry_service *service = new_service(new_row(&options, &options), NULL);
    for (int i = 0; i < LINES; i++) {
        lines[i] = as_text(samples[i]);
        submit_text(service, &texts[i], samples[i], i % 3);
    }
    texts[LINES].given = (ferry_submission){.lines = lines, .count = LINES};
    CHECK(submit(service, &texts[LINES], &error));
    end_service(service, LINES + 1);
    for (int i = 0; i <= LINES; i++) check_result(&texts[i], row);
    free_results(texts, LINES + 1);
    ferry_translator_destroy(row);
}

SHIPPED_TEST(test_cancelling_at_any_time)
{
    const ferry_options options = row_options();
    for (int round = 0; round < 12; round++) {
        sent *texts = new_texts(LINES);
        ferry_service *service = new_service(new_row(&options, &options), NULL);
        for (int i = 0; i < LINES; i++) submit_text(service, &texts[i], samples[i], 0);
        ferry_thread_sleep(1e-3 * round);
        for (int i = 0; i < LINES; i += 2) ferry_service_cancel(service, texts[i].ticket);
        if (round % 2 == 1) ferry_service_stop(service, 1);
        end_service(service, LINES);
        for (int i = 0; round % 2 == 0 && i < LINES; i++)
            assert_true(texts[i].status == FERRY_OK || (i % 2 == 0 && texts[i].status == FERRY_ERROR_CANCELLED));
        free_results(texts, LINES);
    }
}

PIECES_TEST(test_prefixes_are_for_one_model)
{
    const ferry_text line = as_text("a b");
    const ferry_request with_prefix = {.size = sizeof with_prefix, .prefixes = &line};
    sent *text = new_texts(1);
    ferry_service *service = new_service(stepped_row(), NULL);
    text->given = (ferry_submission){.lines = &line, .request = &with_prefix, .count = 1};
    REFUSE_SAYING(submit(service, text, &error), FERRY_ERROR_ARGUMENT,
                  "translator: expected one of one model, found one of 2 in a row");
    end_service(service, 0);
}

/* ---- in the second model ---- */

static counter passed;

/* Counts texts of one sentence that the first model has translated. */
static int count_passed(sent *s, sent_callback which)
{
    if (which == ON_PROGRESS && s->progress_calls == 2) count_up(&passed);
    return 0;
}

/* Submits a text of one sentence, and waits until the first model has translated it. */
static void pass_first(ferry_service *service, sent *s, int32_t priority)
{
    const int before = atomic_load(&passed);
    s->watched = true;
    if (s->act == NULL) s->act = count_passed;
    submit_text(service, s, "a b", priority);
    assert_true(count_waits(&passed, before + 1));
}

/* The texts before the last one, which has the lowest priority, have left the first model when its worker has
 * translated the last one. */
PIECES_TEST(test_priority_in_the_second_model)
{
    static const int32_t priorities[] = {0, 5, 0, -1, 5, -100};
    sent *texts = new_texts(COUNT(priorities));
    ferry_service *service = held_service(stepped_row(), NULL);
    for (size_t i = 0; i < COUNT(priorities); i++) pass_first(service, &texts[i], priorities[i]);
    release_service();
    end_service(service, COUNT(priorities));
    CHECK_PLACES(texts, 3, 1, 4, 5, 2, 6);
    free_results(texts, COUNT(priorities));
}

static atomic_int seconds;

static double test_clock(void)
{
    return 1000 + atomic_load(&seconds);
}

/* A text that has begun in the first model does not end in the next ones for having waited. It counts as running. */
PIECES_TEST(test_waiting_for_the_last_of_three_models)
{
    size_t waiting, running;
    const ferry_options options = stepped_options(STEPS);
    ferry_translator *row;
    CHECK(ferry_translator_then(stepped_row(), new_translator(model, &options), &row, &error));
    for (size_t i = 0; i < 3; i++) ferry_translator_stage(row, i)->schedule.queue.clock = test_clock;
    atomic_store(&seconds, 0);
    ferry_service *service = new_service(row, NULL);
    assert_int_equal(ferry_service_state(service, NULL, NULL), ferry_translator_memory(row, NULL));
    hold_service(service);
    const size_t before = ferry_service_state(service, NULL, NULL) - ferry_translator_memory(row, NULL);
    sent *texts = new_texts(2);
    for (int i = 0; i < 2; i++) {
        texts[i].given.wait = 1000;
        pass_first(service, &texts[i], 0);
    }
    ferry_service_state(service, &waiting, &running);
    assert_int_equal(waiting, 0);
    assert_int_equal(running, 2);
    atomic_store(&seconds, 2);
    release_service();
    assert_true(count_waits(&reported, 2));
    hold_service(service);
    assert_int_equal(ferry_service_state(service, NULL, NULL), before + ferry_translator_memory(row, NULL));
    release_service();
    end_service(service, 2);
    for (int i = 0; i < 2; i++) assert_int_equal(texts[i].status, FERRY_OK);
    free_results(texts, 2);
}

static int count_running(sent *s, sent_callback which)
{
    size_t waiting, running;
    ferry_service_state(s->user, &waiting, &running);
    EXPECT(running == (which == ON_PARTIAL) && waiting == (which == ON_PROGRESS));
    return which == ON_PARTIAL;
}

/* The first model sees nothing of a text, which begins in the second one. */
PIECES_TEST(test_beginning_in_the_second_model)
{
    static const char *const pieces[26] = {"</s>", "<unk>", "a", "b", "\u266A"};
    const ferry_options options = stepped_options(STEPS);
    ferry_model *other = open_small_model(&(small_model){.tokenizer = "pieces", .pieces = pieces}, NULL);
    ferry_translator *row;
    sent *text = new_texts(1);
    CHECK(ferry_translator_then(new_translator(model, &options), new_translator(other, &options), &row, &error));
    ferry_service *service = new_service(row, NULL);
    text->watched = true;
    text->act = count_running;
    text->user = service;
    submit_text(service, text, "\u266A", 0);
    end_service(service, 1);
    assert_int_equal(text->partial_calls, 1);
    free_results(text, 1);
    ferry_model_close(other);
}

/* A text that waits for the second model is cancelled, alone or by a stop, with all its lines. */
PIECES_TEST(test_cancelling_before_the_second_model)
{
    for (int stop = 0; stop < 2; stop++) {
        sent *texts = new_texts(3);
        ferry_service *service = held_service(stepped_row(), NULL);
        for (int i = 0; i < 3; i++) pass_first(service, &texts[i], -i);
        if (stop != 0)
            ferry_service_stop(service, 1);
        else
            ferry_service_cancel(service, texts[0].ticket);
        release_service();
        end_service(service, 3);
        for (int i = 0; i < 3; i++)
            assert_int_equal(texts[i].status, i == 0 || stop != 0 ? FERRY_ERROR_CANCELLED : FERRY_OK);
        assert_text_is(ferry_result_text(texts[0].result, 0, 0), "a b");
        assert_int_equal(ferry_result_outcome(ferry_result_sentences(texts[0].result), 0)->status,
                         FERRY_ERROR_CANCELLED);
        free_results(texts, 3);
    }
}

static int cancel_when_passed(sent *s, sent_callback which)
{
    const sent *other = s->user;
    if (which == ON_DONE) EXPECT(other->partial_calls == 0);
    return count_passed(s, which) != 0 || (which == ON_PROGRESS && s->progress_calls == 2);
}

/* One that was cancelled in the first model does not wait for the second one. */
PIECES_TEST(test_cancelling_between_the_models)
{
    sent *texts = new_texts(3);
    ferry_service *service = held_service(stepped_row(), NULL);
    for (int i = 0; i < 3; i++) {
        if (i == 1) texts[i].act = cancel_when_passed;
        texts[i].user = &texts[0];
        pass_first(service, &texts[i], -i);
    }
    release_service();
    end_service(service, 3);
    CHECK_PLACES(texts, 2, 1, 3);
    assert_int_equal(texts[1].status, FERRY_ERROR_CANCELLED);
    assert_int_equal(texts[1].progress_calls, 2);
    free_results(texts, 3);
}

/* ---- callbacks ---- */

enum { CALLS = 6 };

typedef struct watch {
    size_t done[CALLS], cancelling_call;
} watch;

static int watch_progress(sent *s, sent_callback which)
{
    watch *w = s->user;
    if (which != ON_PROGRESS) return 0;
    EXPECT(s->progress_calls <= CALLS);
    if (s->progress_calls <= CALLS) w->done[s->progress_calls - 1] = s->lines_done;
    return s->progress_calls == w->cancelling_call;
}

/* Two lines and a blank one. Each counts as done for its share of the models. `partial` is for the second model. */
static void check_progress(size_t cancelling_call)
{
    static const size_t expected[CALLS] = {0, 1, 1, 2, 2, 3}, finished[CALLS] = {0, 0, 0, 1, 2, 3};
    const ferry_text lines[] = {as_text("a b"), as_text("c d"), as_text(" ")};
    watch w = {.cancelling_call = cancelling_call};
    sent *text = new_texts(1);
    ferry_service *service = new_service(stepped_row(), NULL);
    text->given = (ferry_submission){.lines = lines, .count = COUNT(lines)};
    text->watched = true;
    text->act = watch_progress;
    text->user = &w;
    CHECK(submit(service, text, &error));
    end_service(service, 1);
    const size_t calls = cancelling_call > 0 ? cancelling_call : CALLS, ended = finished[calls - 1];
    assert_int_equal(text->progress_calls, calls);
    assert_memory_equal(w.done, expected, calls * sizeof *expected);
    assert_int_equal(text->partial_calls, calls > 3 ? (calls - 4) * STEPS : 0);
    assert_int_equal(text->status, ended < COUNT(lines) ? FERRY_ERROR_CANCELLED : FERRY_OK);
    size_t count = 0;
    for (size_t i = 0; i < COUNT(lines); i++) count += ferry_result_outcome(text->result, i)->status == FERRY_OK;
    assert_int_equal(count, ended);
    free_results(text, 1);
}

PIECES_TEST(test_callbacks_in_a_row)
{
    for (size_t call = 0; call <= CALLS; call++) check_progress(call);
}
