/* A service: from any number of threads, with any priorities, cancels, limits of memory and loops, every text is
 * reported once, as ferry_translate_text translates it. */
#include <pthread.h>

#include "tests/support/sanitized.h"
#include "tests/support/service_support.h"

#include "base/threads.h"

#ifdef SANITIZED
enum { CALLERS = 4, LONG_WORDS = 12, FIRST_THREADS = 2, MOST_THREADS = 2 };
#else
enum { CALLERS = 8, LONG_WORDS = 40, FIRST_THREADS = 1, MOST_THREADS = 3 };
#endif
enum { MOST_TEXT = 2048, FULL = 30 };

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

static ferry_text texts[TEXTS];
static ferry_result *expected[TEXTS];
static ferry_service *service;

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

/* ---- callers ---- */

typedef struct caller {
    pthread_t thread;
    unsigned seed;
    bool cancels;
    sent *sent; /* [TEXTS] */
    int chosen[TEXTS];
    bool cancelled[TEXTS];
} caller;

static unsigned next_random(caller *c)
{
    c->seed = c->seed * 1103515245 + 12345;
    return c->seed >> 16;
}

static void *submit_all(void *argument)
{
    caller *c = argument;
    for (int i = 0; i < TEXTS; i++) {
        sent *s = &c->sent[i];
        c->chosen[i] = (int)(next_random(c) % TEXTS);
        s->given.text = texts[c->chosen[i]];
        s->given.priority = (int32_t)(next_random(c) % 3) - 1;
        while (submit(service, s, NULL) == FERRY_ERROR_LIMIT) ferry_thread_sleep(1e-4); /* it is full */
        const unsigned other = next_random(c) % (unsigned)(i + 1);
        c->cancelled[other] = c->cancelled[other] || (c->cancels && next_random(c) % 3 == 0);
        if (c->cancelled[other]) ferry_service_cancel(service, c->sent[other].ticket);
    }
    return NULL;
}

/* Of a text that was cancelled, the sentences that were finished; none if it was not split yet. */
static bool is_beginning(const ferry_result *found, const ferry_result *of)
{
    const ferry_result *sentences = ferry_result_sentences(found), *others = ferry_result_sentences(of);
    if (found == NULL) return true;
    if (sentences == NULL || ferry_result_count(sentences) != ferry_result_count(others)) return false;
    for (size_t i = 0; i < ferry_result_count(sentences); i++)
        if (ferry_result_outcome(sentences, i)->status != FERRY_ERROR_CANCELLED &&
            !is_same_text(ferry_result_text(sentences, i, 0), ferry_result_text(others, i, 0)))
            return false;
    return true;
}

/* Returns how many texts were cancelled. */
static int check_caller(const caller *c, bool at_once)
{
    int cancelled = 0;
    for (int i = 0; i < TEXTS; i++) {
        const sent *s = &c->sent[i];
        const ferry_result *of = expected[c->chosen[i]];
        if (s->status == FERRY_OK) assert_true(is_same_result(s->result, of));
        if (s->status == FERRY_OK) continue;
        assert_true(at_once || c->cancelled[i]);
        assert_int_equal(s->status, FERRY_ERROR_CANCELLED);
        assert_true(is_beginning(s->result, of));
        cancelled++;
    }
    return cancelled;
}

/* `at_once`: the service is stopped while the callers' texts are in it. */
static void run_callers(const ferry_options *options, bool cancels, bool at_once)
{
    const ferry_service_options room = {.size = sizeof room, .max_texts = at_once ? CALLERS * TEXTS : FULL};
    caller callers[CALLERS] = {0};
    int cancelled = 0;
    service = new_service(new_translator(model, options), &room);
    for (int i = 0; i < CALLERS; i++) {
        callers[i].seed = (unsigned)i;
        callers[i].cancels = cancels;
        callers[i].sent = new_texts(TEXTS);
        assert_int_equal(pthread_create(&callers[i].thread, NULL, submit_all, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i].thread, NULL);
    if (at_once) ferry_service_stop(service, 1);
    end_service(service, CALLERS * TEXTS);
    for (int i = 0; i < CALLERS; i++) cancelled += check_caller(&callers[i], at_once);
    for (int i = 0; i < CALLERS; i++) free_results(callers[i].sent, TEXTS);
    if (cancels || at_once) assert_true(cancelled > 0);
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
        run_callers(&options, true, false);
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
    for (int cancels = 0; cancels < 2; cancels++) run_callers(&options, cancels != 0, false);
    forget_expected();
    options.memory_limit /= 16;
    translate_one_by_one(&options);
    run_callers(&options, true, false);
    forget_expected();
}

static int progress_of_translator(void *user, size_t done, size_t total)
{
    (void)user, (void)done, (void)total;
    EXPECT(false);
    return 1;
}

static int partial_of_translator(void *user, size_t line, ferry_text text)
{
    (void)user, (void)line, (void)text;
    EXPECT(false);
    return 1;
}

/* The translator belongs to the service, which does not call its callbacks. */
SHIPPED_TEST(test_the_translator_of_a_service)
{
    ferry_result *result;
    ferry_service *other;
    ferry_options options = default_options(model);
    options.beam = 1;
    options.progress = progress_of_translator;
    options.partial = partial_of_translator;
    ferry_translator *translator = new_translator(model, &options);
    service = new_service(translator, NULL);
    REFUSE(ferry_translate_text(translator, as_text("a"), &result, &error), FERRY_ERROR_ARGUMENT, "translator");
    REFUSE(ferry_service_create(translator, NULL, &other, &error), FERRY_ERROR_ARGUMENT, "translator");
    assert_null(other);
    assert_int_equal(ferry_translator_job(translator), 0);
    sent *text = new_texts(1);
    submit_text(service, text, "Yes.", 0);
    end_service(service, 1);
    assert_int_equal(text->status, FERRY_OK);
    free_results(text, 1);
    CHECK(ferry_service_destroy(NULL, &error));
    ferry_service_cancel(NULL, 1);
}
