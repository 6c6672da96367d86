/* Type ahead: when no key comes, the newest text is shown. No text is ended by a cancel that was meant for another;
 * none is translated that was cancelled before.
 * - As docs/desktop.md has it: a window stores the newest text at each key and cancels the call of the one before, and
 *   another thread, which owns the translator, translates the newest.
 * - As docs/embedding.md has it: a window cancels the ticket of the last key, and submits the newest text to a
 *   service. */
#include "base/system.h"
#include "base/threads.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/shipped_model.h"

#ifdef SANITIZED
enum { KEYS = 100 };
#else
enum { KEYS = 500 };
#endif
enum { LETTERS = 3000, LINE = 15, PAUSE = 10 /* keys until one comes */, PATIENCE = 60 /* seconds */ };

typedef struct editor {
    ferry_translator *translator;
    double whole; /* seconds of a call that is not cancelled */
    ferry_mutex mutex;
    ferry_condition typed;
    /* What follows is read and written under the mutex. Texts have the numbers 1, 2, …; 0: none. */
    int32_t newest, shown;
    bool closed;
    uint32_t job;       /* of the call that the owner has begun or will begin */
    uint32_t wanted;    /* the job that the last key wants to cancel */
    uint32_t cancelled; /* the job that the last cancel that has returned was for */
    /* Calls: CANCELLED although no key wanted it; OK although the cancel had returned before; with any other error. */
    int32_t killed, missed, failed;
    int32_t in_vain; /* cancelled before they began */
} editor;

static double random_part(uint32_t *state)
{
    return next_random(state) / (double)(1 << 24);
}

static void write_text(char text[2 * LETTERS], int32_t number)
{
    for (int32_t i = 0; i < LETTERS; i++) {
        text[2 * i] = (char)('a' + (number * 7 + i * (1 + number % 5)) % 20);
        text[2 * i + 1] = i % LINE == LINE - 1 ? '\n' : ' ';
    }
}

static ferry_status translate(const editor *e, int32_t number)
{
    char text[2 * LETTERS];
    ferry_error error;
    ferry_result *result;
    write_text(text, number);
    const ferry_status status = ferry_translate_text(e->translator, (ferry_text){text, sizeof text}, &result, &error);
    ferry_result_destroy(result);
    return status;
}

static void note(editor *e, int32_t number, bool in_vain, ferry_status status)
{
    if (status == FERRY_OK) e->shown = number;
    e->killed += status == FERRY_ERROR_CANCELLED && e->wanted != e->job;
    e->missed += status == FERRY_OK && in_vain;
    e->failed += status != FERRY_OK && status != FERRY_ERROR_CANCELLED;
    e->in_vain += in_vain;
}

static void own(void *user)
{
    editor *e = user;
    uint32_t state = 5;
    int32_t number = 0;
    ferry_mutex_lock(&e->mutex);
    for (;;) {
        while (e->newest == number && !e->closed) ferry_condition_wait(&e->typed, &e->mutex);
        if (e->closed) break;
        number = e->newest;
        e->job = ferry_translator_job(e->translator);
        ferry_mutex_unlock(&e->mutex);
        if (number % 3 == 0) ferry_thread_sleep(2 * e->whole * random_part(&state)); /* a key may come first */
        ferry_mutex_lock(&e->mutex);
        const bool in_vain = e->cancelled == e->job;
        ferry_mutex_unlock(&e->mutex);
        const ferry_status status = translate(e, number);
        ferry_mutex_lock(&e->mutex);
        note(e, number, in_vain, status);
    }
    ferry_mutex_unlock(&e->mutex);
}

/* `late`: seconds until the cancel, which may come when the owner has begun with this text. */
static void type(editor *e, int32_t number, double late)
{
    ferry_mutex_lock(&e->mutex);
    const uint32_t job = e->wanted = e->job;
    e->newest = number;
    ferry_condition_wake_all(&e->typed);
    ferry_mutex_unlock(&e->mutex);
    if (late > 0) ferry_thread_sleep(late);
    ferry_translator_cancel(e->translator, job);
    ferry_mutex_lock(&e->mutex);
    e->cancelled = job;
    ferry_mutex_unlock(&e->mutex);
}

/* Whether the newest text is shown. It is waited for, unless it can no longer come. */
static bool pause_until_shown(editor *e)
{
    for (double waited = 0; waited < PATIENCE; waited += 1e-3) {
        ferry_mutex_lock(&e->mutex);
        const bool shown = e->shown == e->newest, hopeless = e->killed + e->failed > 0;
        ferry_mutex_unlock(&e->mutex);
        if (shown || hopeless) return shown;
        ferry_thread_sleep(1e-3);
    }
    return false;
}

/* The fastest of some calls. */
static double measure(const editor *e)
{
    double whole = PATIENCE;
    for (int32_t i = 1; i <= 5; i++) {
        const double start = ferry_clock();
        assert_int_equal(translate(e, i), FERRY_OK);
        whole = fmin(whole, ferry_clock() - start);
    }
    return whole;
}

static void type_ahead(int32_t threads)
{
    ferry_options options = default_options(model);
    options.threads = threads;
    options.max_length = 60;
    editor e = {.translator = new_translator(model, &options)};
    e.whole = measure(&e);
    ferry_mutex_create(&e.mutex);
    ferry_condition_create(&e.typed);
    ferry_thread owner;
    uint32_t state = (uint32_t)threads;
    int32_t pauses = 0;
    assert_int_equal(ferry_thread_start(&owner, 0, own, &e), 0);
    for (int32_t key = 1; key <= KEYS && pauses == (key - 1) / PAUSE; key++) {
        type(&e, key, key % 4 == 0 ? e.whole * random_part(&state) : 0);
        if (key % PAUSE == 0)
            pauses += pause_until_shown(&e);
        else
            ferry_thread_sleep(2 * e.whole * random_part(&state));
    }
    ferry_mutex_lock(&e.mutex);
    e.closed = true;
    ferry_condition_wake_all(&e.typed);
    ferry_mutex_unlock(&e.mutex);
    ferry_thread_join(&owner);
    ferry_translator_destroy(e.translator);
    ferry_condition_destroy(&e.typed);
    ferry_mutex_destroy(&e.mutex);
    assert_int_equal(e.failed, 0);
    assert_int_equal(e.killed, 0);
    assert_int_equal(e.missed, 0);
    assert_int_equal(pauses, KEYS / PAUSE);
    assert_true(e.in_vain > 0);
}

PIECES_TEST(test_type_ahead)
{
    for (int32_t threads = 1; threads <= 2; threads++) type_ahead(threads);
}

/* ---- with a service ---- */

typedef struct window {
    ferry_service *service;
    ferry_ticket newest;
    ferry_mutex mutex;
    ferry_condition posted;
    /* Under the mutex: what the service has reported of the newest ticket so far, and of all. */
    ferry_ticket ticket;
    ferry_status status;
    int32_t reported, cancelled, failed;
} window;

static void report(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error)
{
    window *w = user;
    ferry_mutex_lock(&w->mutex);
    const ferry_status status = error != NULL ? error->status : FERRY_OK;
    if (ticket > w->ticket) {
        w->ticket = ticket;
        w->status = status;
    }
    w->reported++;
    w->cancelled += status == FERRY_ERROR_CANCELLED;
    w->failed += status != FERRY_ERROR_CANCELLED && ferry_result_outcome(result, 0)->status != FERRY_OK;
    ferry_condition_wake_all(&w->posted);
    ferry_mutex_unlock(&w->mutex);
    ferry_result_destroy(result);
}

static void press_key(window *w, int32_t number)
{
    char text[2 * LETTERS];
    const ferry_submission submission = {
        .size = sizeof submission, .text = {text, sizeof text}, .done = report, .user = w};
    write_text(text, number);
    ferry_service_cancel(w->service, w->newest);
    CHECK(ferry_service_submit(w->service, &submission, &w->newest, &error));
}

static void wait_until_shown(window *w)
{
    ferry_mutex_lock(&w->mutex);
    while (w->ticket < w->newest) ferry_condition_wait(&w->posted, &w->mutex);
    assert_int_equal(w->ticket, w->newest);
    assert_int_equal(w->status, FERRY_OK);
    assert_int_equal(w->failed, 0);
    ferry_mutex_unlock(&w->mutex);
}

static void type_ahead_with_a_service(int32_t threads)
{
    ferry_options options = default_options(model);
    options.threads = threads;
    options.max_length = 60;
    editor e = {.translator = new_translator(model, &options)};
    const double whole = measure(&e);
    window w = {.newest = 0};
    uint32_t state = (uint32_t)threads;
    ferry_mutex_create(&w.mutex);
    ferry_condition_create(&w.posted);
    CHECK(ferry_service_create(e.translator, NULL, &w.service, &error));
    for (int32_t key = 1; key <= KEYS; key++) {
        press_key(&w, key);
        if (key % PAUSE == 0)
            wait_until_shown(&w);
        else
            ferry_thread_sleep(2 * whole * random_part(&state));
    }
    CHECK(ferry_service_destroy(w.service, &error));
    assert_int_equal(w.reported, KEYS);
    assert_in_range(w.cancelled, 1, KEYS - KEYS / PAUSE);
    ferry_condition_destroy(&w.posted);
    ferry_mutex_destroy(&w.mutex);
}

PIECES_TEST(test_type_ahead_with_a_service)
{
    for (int32_t threads = 1; threads <= 2; threads++) type_ahead_with_a_service(threads);
}
