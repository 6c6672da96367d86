/* A service: from any number of threads, with any priorities, cancels, limits of memory and loops, every text is told
 * of once, as ferry_translate_text translates it. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/support/sanitized.h"
#include "tests/support/shipped_model.h"

#include "base/threads.h"

#ifdef SANITIZED
enum { LONG_WORDS = 12, FIRST_THREADS = 2, MOST_THREADS = 2 };
#else
enum { LONG_WORDS = 60, FIRST_THREADS = 1, MOST_THREADS = 3 };
#endif
enum { CALLERS = 16, MOST_TEXT = 2048 };

static const char *const samples[] = {
    "Against all expectations, we became good friends.", /* loops, like others below */
    "How are you?",
    "This movie is one of my all-time favorites. Tom is reading a book in the garden.\n  What do you want to do?\n",
    "",
    " \t",
    "Is this the dictionary you're looking for?",
    "I like it\xFF very much.",
    "Yes.\nNo.\nMaybe. Who knows?",
    "The train that leaves from here goes to the town in which my grandmother lived before the war.",
    NULL, /* a long one */
    "He is tall.",
    "\xF0\x9F\x98\x80",
};
enum { TEXTS = sizeof samples / sizeof *samples };

typedef void done_function(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error);

static ferry_status submit(ferry_service *to, ferry_text text, int priority, done_function *done, void *user,
                           ferry_ticket *ticket, ferry_error *why)
{
    const ferry_submission submission = {
        .size = sizeof submission, .text = text, .priority = priority, .done = done, .user = user};
    return ferry_service_submit(to, &submission, ticket, why);
}

static ferry_text texts[TEXTS];
static ferry_result *expected[TEXTS];
static ferry_service *service;
static atomic_int failures; /* cmocka's own assertions are for one thread */

static void expect(bool holds)
{
    if (!holds) atomic_fetch_add(&failures, 1);
}

static void make_texts(void)
{
    static char long_text[MOST_TEXT];
    long_text[0] = '\0';
    for (int i = 0; i < LONG_WORDS; i++) strcat(long_text, i % 7 < 3 ? "the house " : "and a dog ");
    for (int i = 0; i < TEXTS; i++) texts[i] = as_text(samples[i] != NULL ? samples[i] : long_text);
}

/* What a translator with these options makes of the texts, one by one. Returns the most memory that it held. */
static size_t translate_one_by_one(const ferry_options *options)
{
    size_t peak;
    ferry_translator *translator = new_translator(model, options);
    for (int i = 0; i < TEXTS; i++) CHECK(ferry_translate_text(translator, texts[i], &expected[i], &error));
    ferry_translator_memory(translator, &peak);
    ferry_translator_destroy(translator);
    return peak;
}

static void forget_expected(void)
{
    for (int i = 0; i < TEXTS; i++) ferry_result_destroy(expected[i]);
}

/* ---- what is told ---- */

static bool same_words(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_outcome(const ferry_outcome *a, const ferry_outcome *b)
{
    return a->status == b->status && a->quality == b->quality && same_words(a->error, b->error) &&
           same_words(a->warning, b->warning);
}

static bool same_result(const ferry_result *a, const ferry_result *b)
{
    const size_t count = ferry_result_sentence_count(b);
    if (!is_same_text(ferry_result_text(a, 0, 0), ferry_result_text(b, 0, 0)) ||
        !same_outcome(ferry_result_outcome(a, 0), ferry_result_outcome(b, 0)) ||
        ferry_result_sentence_count(a) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (memcmp(ferry_result_sentence(a, i), ferry_result_sentence(b, i), sizeof(ferry_sentence)) != 0 ||
            !same_outcome(ferry_result_outcome(ferry_result_sentences(a), i),
                          ferry_result_outcome(ferry_result_sentences(b), i)))
            return false;
    return true;
}

/* Of a text that was cancelled, the sentences that were finished. */
static bool same_beginning(const ferry_result *a, const ferry_result *b)
{
    const ferry_result *sentences = ferry_result_sentences(a), *others = ferry_result_sentences(b);
    if (sentences == NULL || ferry_result_count(sentences) != ferry_result_count(others)) return false;
    for (size_t i = 0; i < ferry_result_count(sentences); i++)
        if (ferry_result_outcome(sentences, i)->status != FERRY_ERROR_CANCELLED &&
            !is_same_text(ferry_result_text(sentences, i, 0), ferry_result_text(others, i, 0)))
            return false;
    return true;
}

/* ---- callers ---- */

typedef struct submission {
    int text;
    bool cancelled;
    ferry_ticket ticket;
    atomic_int told;
} submission;

typedef struct caller {
    pthread_t thread;
    unsigned seed;
    bool cancels;
    submission submissions[TEXTS];
} caller;

static unsigned next_random(caller *c)
{
    c->seed = c->seed * 1103515245 + 12345;
    return c->seed >> 16;
}

static void take(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error)
{
    submission *s = user;
    expect(s->ticket == ticket && ticket != 0);
    if (error == NULL)
        expect(same_result(result, expected[s->text]));
    else
        expect(error->status == FERRY_ERROR_CANCELLED && same_beginning(result, expected[s->text]));
    ferry_result_destroy(result);
    atomic_fetch_add(&s->told, 1 + (error != NULL ? 1000 : 0));
}

static void *submit_all(void *argument)
{
    caller *c = argument;
    for (int i = 0; i < TEXTS; i++) {
        submission *s = &c->submissions[i];
        s->text = (int)(next_random(c) % TEXTS);
        const int priority = (int)(next_random(c) % 3) - 1;
        while (submit(service, texts[s->text], priority, take, s, &s->ticket, NULL) == FERRY_ERROR_LIMIT)
            ferry_thread_sleep(1e-4); /* it is full */
        submission *other = &c->submissions[next_random(c) % (unsigned)(i + 1)];
        other->cancelled = other->cancelled || (c->cancels && next_random(c) % 3 == 0);
        if (other->cancelled) ferry_service_cancel(service, other->ticket);
    }
    return NULL;
}

static ferry_service *new_service(const ferry_options *options, size_t capacity)
{
    const ferry_service_options room = {.size = sizeof room, .max_texts = capacity};
    ferry_service *created;
    CHECK(ferry_service_create(new_translator(model, options), &room, &created, &error));
    return created;
}

/* `at_once`: the service is stopped while the callers' texts are in it. */
static void run_callers(const ferry_options *options, bool cancels, bool at_once)
{
    caller *callers = kept_memory(CALLERS * sizeof *callers);
    int cancelled = 0;
    service = new_service(options, at_once ? CALLERS * TEXTS : 50);
    for (int i = 0; i < CALLERS; i++) {
        callers[i].seed = (unsigned)i;
        callers[i].cancels = cancels;
        assert_int_equal(pthread_create(&callers[i].thread, NULL, submit_all, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i].thread, NULL);
    if (at_once) ferry_service_stop(service, 1);
    CHECK(ferry_service_destroy(service, &error));
    for (int i = 0; i < CALLERS * TEXTS; i++) {
        const submission *s = &callers[i / TEXTS].submissions[i % TEXTS];
        const int told = atomic_load(&s->told);
        assert_true(told == 1 || (told == 1001 && (at_once || s->cancelled)));
        cancelled += told == 1001;
    }
    if (cancels || at_once) assert_true(cancelled > 0);
    assert_int_equal(atomic_load(&failures), 0);
}

static void check_options(const ferry_options *options)
{
    for (int cancels = 0; cancels < 2; cancels++) run_callers(options, cancels != 0, false);
}

SHIPPED_TEST(test_texts_of_many_callers)
{
    make_texts();
    for (int32_t threads = FIRST_THREADS; threads <= MOST_THREADS; threads++) {
        ferry_options options = default_options(model);
        options.threads = threads;
        options.beam = options.nbest = threads == 2 ? 2 : 1;
        options.on_loop = threads == 3 ? FERRY_ON_LOOP_WARN : FERRY_ON_LOOP_RETRY;
        options.batch = threads == 3 ? 3 : 64;
        translate_one_by_one(&options);
        check_options(&options);
        run_callers(&options, false, true);
        forget_expected();
    }
}

static int failed_texts(void)
{
    int count = 0;
    for (int i = 0; i < TEXTS; i++) count += ferry_result_outcome(expected[i], 0)->status == FERRY_ERROR_LIMIT;
    return count;
}

/* A limit that is too little for some of the texts, and one that is enough for none. */
SHIPPED_TEST(test_little_memory)
{
    make_texts();
    ferry_options options = default_options(model);
    options.beam = options.nbest = 1;
    options.on_loop = FERRY_ON_LOOP_RETRY;
    options.threads = 2;
    options.memory_limit = translate_one_by_one(&options);
    while (failed_texts() == 0) {
        forget_expected();
        options.memory_limit = options.memory_limit / 4 * 3;
        translate_one_by_one(&options);
    }
    assert_in_range(failed_texts(), 1, TEXTS - 4);
    check_options(&options);
    forget_expected();
    options.memory_limit /= 16;
    translate_one_by_one(&options);
    check_options(&options);
    forget_expected();
}

/* ---- the order ---- */

enum { BEHIND = 24 };
static atomic_int told_before, urgent_after;

static void take_urgent(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error)
{
    (void)user, (void)ticket;
    expect(error == NULL);
    ferry_result_destroy(result);
    atomic_store(&urgent_after, atomic_load(&told_before));
}

/* The first that is told submits an urgent one, and cancels the last. */
static void take_other(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error)
{
    const ferry_ticket *last = user;
    expect(error == NULL || ticket == *last);
    ferry_result_destroy(result);
    if (atomic_fetch_add(&told_before, 1) > 0) return;
    expect(submit(service, texts[1], 1, take_urgent, NULL, NULL, NULL) == FERRY_OK);
    ferry_service_cancel(service, *last);
}

/* Beside one thread, so that those in progress have to rest. */
SHIPPED_TEST(test_an_urgent_text_comes_first)
{
    static ferry_ticket tickets[BEHIND];
    ferry_options options = default_options(model);
    make_texts();
    service = new_service(&options, BEHIND + 1);
    atomic_store(&told_before, 0);
    atomic_store(&urgent_after, -1);
    ferry_service_cancel(service, 12345); /* of which nobody has heard */
    for (int i = 0; i < BEHIND; i++)
        CHECK(submit(service, texts[i % 2 == 0 ? 8 : 9], i % 2 == 0 ? 0 : -5, take_other, &tickets[BEHIND - 1],
                     &tickets[i], &error));
    while (atomic_load(&told_before) < BEHIND || atomic_load(&urgent_after) < 0) ferry_thread_sleep(1e-3);
    CHECK(ferry_service_destroy(service, &error));
    assert_in_range(atomic_load(&urgent_after), 1, BEHIND - 2);
    assert_int_equal(atomic_load(&failures), 0);
}

static int order[4];
static atomic_int order_told;

/* Keeps the number of the text. The first one submits the others: the service has one thread, which is here. */
static void take_in_order(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *why)
{
    static char long_text[MOST_TEXT];
    static const int sentences[] = {40, 3, 1};
    (void)user;
    expect(why == NULL);
    ferry_result_destroy(result);
    const int place = atomic_load(&order_told);
    order[place] = (int)ticket;
    if (ticket > 1) {
        atomic_store(&order_told, place + 1);
        return;
    }
    for (int i = 0; i < 3; i++) {
        long_text[0] = '\0';
        for (int s = 0; s < sentences[i]; s++) strcat(long_text, "I like it. ");
        expect(submit(service, as_text(long_text), 0, take_in_order, NULL, NULL, NULL) == FERRY_OK);
    }
    expect(ferry_service_destroy(service, NULL) == FERRY_ERROR_ARGUMENT);
    ferry_service_stop(service, 0);
    expect(submit(service, texts[1], 0, take_in_order, NULL, NULL, NULL) == FERRY_ERROR_CANCELLED);
    atomic_store(&order_told, 1);
}

/* Texts of 40, 3 and 1 sentences: the first 32 sentences of each come before the rest of any. */
SHIPPED_TEST(test_short_texts_do_not_wait_for_long_ones)
{
    ferry_options options = default_options(model);
    options.batch = 1;
    make_texts();
    service = new_service(&options, 4);
    CHECK(submit(service, texts[1], 0, take_in_order, NULL, NULL, &error));
    while (atomic_load(&order_told) == 0) ferry_thread_sleep(1e-3);
    CHECK(ferry_service_destroy(service, &error));
    assert_int_equal(atomic_load(&order_told), 4);
    assert_memory_equal(order, ((int[]){1, 3, 4, 2}), sizeof order);
    assert_int_equal(atomic_load(&failures), 0);
}

/* ---- refusals ---- */

static void *wait_for(void *user)
{
    pthread_mutex_lock(user);
    pthread_mutex_unlock(user);
    return NULL;
}

static void hold(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error)
{
    (void)ticket, (void)error;
    ferry_result_destroy(result);
    wait_for(user);
}

SHIPPED_TEST(test_what_a_service_refuses)
{
    pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    ferry_ticket ticket = 1;
    ferry_result *result;
    make_texts();
    ferry_translator *translator = new_translator(model, NULL);
    CHECK(ferry_service_create(
        translator, &(ferry_service_options){.size = sizeof(ferry_service_options), .max_texts = 2}, &service, &error));
    REFUSE(ferry_translate_text(translator, texts[0], &result, &error), FERRY_ERROR_ARGUMENT, "translator");
    pthread_mutex_lock(&held);
    for (int i = 0; i < 3; i++) /* the first leaves its place when it is told of */
        while (submit(service, texts[1], 0, hold, &held, NULL, NULL) == FERRY_ERROR_LIMIT) ferry_thread_sleep(1e-4);
    REFUSE_SAYING(submit(service, texts[1], 0, hold, &held, &ticket, &error), FERRY_ERROR_LIMIT,
                  "the service is full: it has 2 texts (max_texts)");
    assert_int_equal(ticket, 0);
    pthread_mutex_unlock(&held);
    CHECK(ferry_service_destroy(service, &error));
    CHECK(ferry_service_destroy(NULL, &error));
    ferry_service_cancel(NULL, 1);
}
