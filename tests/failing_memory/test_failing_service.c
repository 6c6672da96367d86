/* Memory that runs out in a service, of one model or of two in a row: a text that was accepted is reported once, and
 * nothing of it is left. */
#include "failing_memory.h"
#include "tests/support/files.h"
#include "tests/support/service_support.h"

#include "base/threads.h"

enum { TEXTS = 3 };

typedef struct work {
    ferry_options options;
    bool row;
    ferry_translator *translator;
    ferry_service *service;
    size_t others; /* bytes of a service that is held, but for its translator */
    sent texts[TEXTS];
    ferry_result *expected[TEXTS];
} work;

static ferry_translator *make_translator(const work *w)
{
    ferry_translator *first = new_translator(model, &w->options), *both;
    if (!w->row) return first;
    CHECK(ferry_translator_then(first, new_translator(model, &w->options), &both, &error));
    return both;
}

/* A text, lines, and lines with prefixes, in a row with terms. */
static void set_texts(work *w)
{
    static const ferry_text lines[] = {{"c d", 3}, {" ", 1}, {"k \xFF c", 5}},
                            prefixes[] = {{"e", 1}, {"", 0}, {"", 0}};
    static const ferry_text target = {"e", 1};
    static const ferry_term terms[] = {{.begin = 0, .end = 1, .targets = &target, .target_count = 1},
                                       {.begin = 2, .end = 3}};
    static const ferry_request with_prefixes = {.size = sizeof with_prefixes, .prefixes = prefixes},
                               with_terms = {.size = sizeof with_terms,
                                             .terms = terms,
                                             .term_size = sizeof *terms,
                                             .term_count = COUNT(terms)};
    memset(w->texts, 0, sizeof w->texts);
    w->texts[0].given.text = as_text(" a b\nC d\n\n k \xFF c. E\n");
    w->texts[1].given = (ferry_submission){.lines = lines, .count = COUNT(lines), .priority = 1};
    w->texts[2].given =
        (ferry_submission){.lines = lines, .request = w->row ? &with_terms : &with_prefixes, .count = COUNT(lines)};
    for (int i = 0; i < TEXTS; i++) w->texts[i].watched = i != 1;
}

static void create(work *w)
{
    const ferry_service_options room = {.size = sizeof room, .max_texts = TEXTS};
    w->translator = make_translator(w);
    w->service = new_service(w->translator, &room);
}

/* Bytes that the service holds, but for its translator, while one thread is held. */
static size_t bytes_of_others(const work *w)
{
    size_t waiting, running;
    const size_t bytes = ferry_service_state(w->service, &waiting, &running);
    assert_int_equal(waiting + running, 0);
    return bytes - ferry_translator_memory(w->translator, NULL);
}

/* The texts that were reported leave nothing; another thread may be freeing one of them. */
static void check_nothing_left(const work *w)
{
    hold_service(w->service);
    for (int i = 0; i < 10000 && bytes_of_others(w) != w->others; i++) ferry_thread_sleep(1e-3);
    assert_int_equal(bytes_of_others(w), w->others);
    release_service();
}

/* ---- submitting ---- */

static void begin_submitting(void *user)
{
    work *w = user;
    create(w);
    hold_service(w->service);
    w->others = bytes_of_others(w);
    release_service();
    set_texts(w);
}

/* Returns the first error, of a submission or of a text. */
static ferry_status run_submitting(void *user, ferry_error *error)
{
    work *w = user;
    ferry_status status = FERRY_OK;
    int accepted = 0;
    for (int i = 0; i < TEXTS; i++) {
        ferry_error why;
        const ferry_status found = submit(w->service, &w->texts[i], &why);
        EXPECT((w->texts[i].ticket != 0) == (found == FERRY_OK));
        accepted += found == FERRY_OK;
        if (status == FERRY_OK && found != FERRY_OK) *error = why;
        if (status == FERRY_OK) status = found;
    }
    EXPECT(count_waits(&reported, accepted));
    for (int i = 0; i < TEXTS && status == FERRY_OK; i++) {
        *error = w->texts[i].error;
        status = w->texts[i].status;
    }
    return status;
}

static void check_texts(const work *w)
{
    for (int i = 0; i < TEXTS; i++) {
        const sent *s = &w->texts[i];
        assert_int_equal(s->place > 0, s->ticket != 0);
        assert_int_equal(s->result != NULL, s->place > 0 && s->status == FERRY_OK);
        if (s->result != NULL) assert_true(is_same_result(s->result, w->expected[i]));
    }
    free_results(w->texts, TEXTS);
}

/* All places are free again, and all bytes. */
static void end_submitting(void *user, ferry_status status)
{
    work *w = user;
    (void)status;
    check_texts(w);
    check_nothing_left(w);
    set_texts(w);
    atomic_store(&reported, 0);
    for (int i = 0; i < TEXTS; i++) CHECK(submit(w->service, &w->texts[i], &error));
    end_service(w->service, TEXTS);
    check_texts(w);
}

/* ---- creating ---- */

static void begin_creating(void *user)
{
    work *w = user;
    w->translator = make_translator(w);
}

static ferry_status run_creating(void *user, ferry_error *error)
{
    work *w = user;
    return ferry_service_create(w->translator, NULL, &w->service, error);
}

/* The translator of a service that was not created is the caller's. */
static void end_creating(void *user, ferry_status status)
{
    const work *w = user;
    ferry_result *result;
    assert_int_equal(w->service != NULL, status == FERRY_OK);
    if (status == FERRY_OK) {
        CHECK(ferry_service_destroy(w->service, &error));
        return;
    }
    CHECK(ferry_translate_text(w->translator, w->texts[0].given.text, &result, &error));
    assert_true(is_same_result(result, w->expected[0]));
    ferry_result_destroy(result);
    ferry_translator_destroy(w->translator);
}

/* ---- all of them ---- */

static void expect_results(work *w)
{
    set_texts(w);
    create(w);
    for (int i = 0; i < TEXTS; i++) CHECK(submit(w->service, &w->texts[i], &error));
    end_service(w->service, TEXTS);
    for (int i = 0; i < TEXTS; i++) w->expected[i] = w->texts[i].result;
}

PIECES_TEST(test_services)
{
    static work w;
    for (int row = 0; row < 2; row++)
        for (int32_t threads = 1; threads <= 2; threads++) {
            w = (work){.options = default_options(model), .row = row != 0};
            w.options.max_length = 6;
            w.options.beam = 1;
            w.options.threads = threads;
            w.options.batch = 2;
            expect_results(&w);
            const ferry_short_text title = ferry_format("a service of %d models, threads %d", 1 + row, (int)threads);
            fail_each(&(fault){title.text, &w, begin_submitting, run_submitting, end_submitting});
            fail_each(&(fault){"creating it", &w, begin_creating, run_creating, end_creating});
            for (int i = 0; i < TEXTS; i++) ferry_result_destroy(w.expected[i]);
        }
}
