#include "service_support.h"

#include "base/system.h"
#include "base/threads.h"
#include "sanitized.h"

static const double PATIENCE = 60; /* seconds */

/* ---- expectations ---- */

static atomic_int failures;
static char first_failure[300];

void expect(bool holds, const char *what, const char *file, int line)
{
    if (!holds && atomic_fetch_add(&failures, 1) == 0)
        snprintf(first_failure, sizeof first_failure, "%s:%d: %s", file, line, what);
}

void check_expectations(void)
{
    if (atomic_exchange(&failures, 0) > 0) fail_msg("%s", first_failure);
}

/* ---- numbers that threads wait for ---- */

int count_up(counter *c)
{
    return atomic_fetch_add(c, 1) + 1;
}

bool count_reaches(counter *c, int value, double seconds)
{
    const double end = ferry_clock() + seconds;
    while (atomic_load(c) < value && ferry_clock() < end) ferry_thread_sleep(1e-4);
    return atomic_load(c) >= value;
}

bool count_waits(counter *c, int value)
{
    return count_reaches(c, value, PATIENCE);
}

/* ---- texts ---- */

counter reported;
static atomic_int places;

bool is_first(const sent *s, sent_callback which)
{
    return which == ON_DONE || (which == ON_PROGRESS ? s->progress_calls : s->partial_calls) == 1;
}

sent *new_texts(size_t count)
{
    return kept_memory(count * sizeof(sent));
}

/* Every callback is between these two. */
static void enter(sent *s)
{
    EXPECT(atomic_fetch_add(&s->inside, 1) == 0);
    EXPECT(s->ticket != 0);
    EXPECT(s->place == 0);
}

static int act(sent *s, sent_callback which)
{
    const int answer = s->act != NULL ? s->act(s, which) : 0;
    atomic_fetch_sub(&s->inside, 1);
    return answer;
}

static int on_progress(void *user, size_t done, size_t total)
{
    sent *s = user;
    enter(s);
    EXPECT(s->progress_calls == 0 || total == s->lines_total);
    EXPECT(done >= s->lines_done && done <= total && total > 0);
    s->progress_calls++;
    s->lines_done = done;
    s->lines_total = total;
    return act(s, ON_PROGRESS);
}

static int on_partial(void *user, size_t line, ferry_text text)
{
    sent *s = user;
    enter(s);
    EXPECT(s->progress_calls > 0 && line < s->lines_total && text.data[text.size] == '\0');
    s->partial_calls++;
    if (line < SENT_LINES && text.size < SENT_BYTES) {
        EXPECT(text.size >= s->last[line].size);
        memcpy(s->bytes[line], text.data, text.size);
        s->last[line] = (ferry_text){s->bytes[line], text.size};
    }
    return act(s, ON_PARTIAL);
}

static void on_done(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *why)
{
    sent *s = user;
    enter(s);
    EXPECT(ticket == s->ticket);
    EXPECT(why == NULL || why->status != FERRY_OK);
    s->result = result;
    if (why != NULL) s->error = *why;
    s->status = s->error.status;
    s->place = atomic_fetch_add(&places, 1) + 1;
    act(s, ON_DONE);
    count_up(&reported);
}

ferry_status submit(ferry_service *service, sent *s, ferry_error *error)
{
    s->given.size = sizeof s->given;
    s->given.progress = s->watched ? on_progress : NULL;
    s->given.partial = s->watched ? on_partial : NULL;
    s->given.done = on_done;
    s->given.user = s;
    return ferry_service_submit(service, &s->given, &s->ticket, error);
}

void submit_text(ferry_service *service, sent *s, const char *text, int32_t priority)
{
    s->given.text = as_text(text);
    s->given.priority = priority;
    CHECK(submit(service, s, &error));
}

void free_results(const sent *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) ferry_result_destroy(texts[i].result);
}

/* ---- services ---- */

static counter held, released;

ferry_options stepped_options(int32_t steps)
{
    ferry_options options = default_options(model);
    options.threads = options.batch = options.beam = 1;
    options.min_length = options.max_length = steps;
    return options;
}

ferry_service *new_service(ferry_translator *translator, const ferry_service_options *room)
{
    ferry_service *service;
    CHECK(ferry_service_create(translator, room, &service, &error));
    atomic_store(&reported, 0);
    atomic_store(&held, 0);
    atomic_store(&released, 0);
    atomic_store(&places, 0);
    return service;
}

static void hold(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *why)
{
    (void)user;
    EXPECT(ticket != 0 && why == NULL);
    ferry_result_destroy(result);
    EXPECT(count_waits(&released, count_up(&held)));
}

void hold_service(ferry_service *service)
{
    const ferry_submission holder = {.size = sizeof holder, .done = hold};
    const int before = atomic_load(&held);
    CHECK(ferry_service_submit(service, &holder, NULL, &error));
    assert_true(count_waits(&held, before + 1));
}

void release_service(void)
{
    count_up(&released);
}

ferry_service *held_service(ferry_translator *translator, const ferry_service_options *room)
{
    ferry_service *service = new_service(translator, room);
    hold_service(service);
    return service;
}

void end_service(ferry_service *service, int count)
{
    size_t waiting, running;
    assert_true(count_waits(&reported, count));
    ferry_service_state(service, &waiting, &running); /* texts leave before they are reported */
    assert_int_equal(waiting, 0);
    assert_int_equal(running, 0);
    CHECK(ferry_service_destroy(service, &error));
    check_expectations();
    assert_int_equal(atomic_load(&reported), count);
}

/* ---- results ---- */

static bool same_words(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_outcome(const ferry_outcome *a, const ferry_outcome *b)
{
    return a->status == b->status && a->quality == b->quality && same_words(a->error, b->error) &&
           same_words(a->warning, b->warning);
}

static bool same_lines(const ferry_result *a, const ferry_result *b)
{
    const size_t count = ferry_result_count(b);
    if (ferry_result_count(a) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!same_outcome(ferry_result_outcome(a, i), ferry_result_outcome(b, i)) ||
            ferry_result_hypothesis_count(a, i) != ferry_result_hypothesis_count(b, i) ||
            !is_same_text(ferry_result_text(a, i, 0), ferry_result_text(b, i, 0)) ||
            ferry_result_score(a, i, 0) != ferry_result_score(b, i, 0))
            return false;
    return true;
}

bool is_same_result(const ferry_result *a, const ferry_result *b)
{
    const size_t count = ferry_result_sentence_count(b);
    if (a == NULL || !same_lines(a, b) || ferry_result_sentence_count(a) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (memcmp(ferry_result_sentence(a, i), ferry_result_sentence(b, i), sizeof(ferry_sentence)) != 0) return false;
    return count == 0 || same_lines(ferry_result_sentences(a), ferry_result_sentences(b));
}

void check_result(const sent *s, ferry_translator *translator)
{
    const ferry_submission *given = &s->given;
    ferry_result *expected;
    if (given->lines == NULL)
        CHECK(ferry_translate_text(translator, given->text, &expected, &error));
    else if (given->request == NULL)
        CHECK(ferry_translate(translator, given->lines, given->count, &expected, &error));
    else
        CHECK(ferry_translate_with(translator, given->lines, given->count, given->request, &expected, &error));
    assert_int_equal(s->status, FERRY_OK);
    assert_true(is_same_result(s->result, expected));
    ferry_result_destroy(expected);
}

void check_places(const sent *texts, const int *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (texts[i].place != expected[i])
            fail_msg("text %zu of %zu was reported %dth, expected %dth", i + 1, count, texts[i].place, expected[i]);
}
