/* NULL and impossible arguments: one row for each parameter of each public function. Those of fallible functions are
 * ARGUMENT errors that name the parameter; other functions answer with 0, NULL or an empty text. */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "engine/api/options.h"
#include "engine/api/translator.h"
#include "engine/lines/model.h"
#include "tests/support/files.h"
#include "tests/support/small_model.h"

static ferry_model *model;
static ferry_translator *translator;
static ferry_result *result;

static int set_up(void **state)
{
    static const ferry_text line = {"b c", 3};
    (void)state;
    model = open_small_model(&(small_model){.tokenizer = "pieces"}, NULL);
    CHECK(ferry_translator_create(model, NULL, &translator, &error));
    CHECK(ferry_translate(translator, &line, 1, &result, &error));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
    return 0;
}

/* ---- rows ---- */

static void check_row(const char *row, ferry_status status, ferry_status without_error, const ferry_error *error,
                      const char *argument, const char *named)
{
    if (status != FERRY_ERROR_ARGUMENT || without_error != FERRY_ERROR_ARGUMENT || error->status != status)
        fail_msg("%s: status %d, without an error %d", row, (int)status, (int)without_error);
    if (strstr(error->message, named) == NULL) fail_msg("%s: '%s' does not name '%s'", row, error->message, named);
    if (error->argument == NULL || strcmp(error->argument, argument) != 0)
        fail_msg("%s: argument '%s', expected '%s'", row, error->argument != NULL ? error->argument : "NULL", argument);
}

/* The function with these arguments and an error is an ARGUMENT error of `wrong` whose message contains `named`;
 * without an error object, too. */
#define REFUSED_IN(function, parameter, wrong, named, ...)                                                             \
    do {                                                                                                               \
        ferry_error error = {0};                                                                                       \
        const ferry_status with = function(__VA_ARGS__, &error), without = function(__VA_ARGS__, NULL);                \
        check_row(#function "." #parameter, with, without, &error, wrong, named);                                      \
    } while (0)
#define REFUSED_NAMING(function, parameter, named, ...) REFUSED_IN(function, parameter, #parameter, named, __VA_ARGS__)
#define REFUSED(function, parameter, ...) REFUSED_NAMING(function, parameter, #parameter ": ", __VA_ARGS__)
/* `made`, which it would set, becomes NULL. */
#define REFUSED_NULL(function, parameter, made, ...)                                                                   \
    do {                                                                                                               \
        made = (void *)&made;                                                                                          \
        REFUSED(function, parameter, __VA_ARGS__);                                                                     \
        assert_null(made);                                                                                             \
    } while (0)
#define ANSWERS(function, parameter, condition)                                                                        \
    do {                                                                                                               \
        if (!(condition)) fail_msg("%s.%s: %s", #function, #parameter, #condition);                                    \
    } while (0)

static bool is_empty(ferry_text text)
{
    return text.data != NULL && text.size == 0;
}

/* ---- ferry.h ---- */

TEST_WITH(test_models, set_up, tear_down)
{
    _Alignas(64) static const char bytes[128];
    ferry_model *opened;
    const char *path = scratch_file("small.gguf");
    const int fd = open(path, O_RDONLY);
    ANSWERS(ferry_status_name, status, strcmp(ferry_status_name((ferry_status)99), "unknown status") == 0);
    REFUSED_NULL(ferry_model_open, path, opened, NULL, 0, &opened);
    REFUSED(ferry_model_open, flags, path, 4, &opened);
    REFUSED(ferry_model_open, flags, path, -1, &opened);
    REFUSED(ferry_model_open, model, path, 0, NULL);
    REFUSED_NULL(ferry_model_open_fd, fd, opened, -1, 0, 0, 0, &opened);
    REFUSED(ferry_model_open_fd, offset, fd, 1, 0, 0, &opened);
    REFUSED(ferry_model_open_fd, offset, fd, UINT64_MAX - 63, 0, 0, &opened);
    REFUSED(ferry_model_open_fd, length, fd, 0, UINT64_MAX, 0, &opened);
    REFUSED(ferry_model_open_fd, flags, fd, 0, 0, 1 << 30, &opened);
    REFUSED(ferry_model_open_fd, model, fd, 0, 0, 0, NULL);
    close(fd);
    REFUSED_NULL(ferry_model_open_memory, data, opened, NULL, 64, 0, &opened);
    REFUSED(ferry_model_open_memory, data, bytes + 8, 64, 0, &opened);
    REFUSED(ferry_model_open_memory, size, bytes, SIZE_MAX, 0, &opened);
    REFUSED(ferry_model_open_memory, flags, bytes, 64, 8, &opened);
    REFUSED(ferry_model_open_memory, model, bytes, 64, 0, NULL);
    ANSWERS(ferry_model_close, model, (ferry_model_close(NULL), true));
    REFUSED(ferry_model_verify, model, NULL);
    ANSWERS(ferry_model_info_key, index, ferry_model_info_key(SIZE_MAX) == NULL);
    ANSWERS(ferry_model_info, model, ferry_model_info(NULL, "name") == NULL);
    ANSWERS(ferry_model_info, key, ferry_model_info(model, NULL) == NULL);
    ANSWERS(ferry_model_reads, model, ferry_model_reads(NULL, as_text("a")) == 1);
    ANSWERS(ferry_model_reads, text, ferry_model_reads(model, (ferry_text){NULL, 2}) == 2);
    ANSWERS(ferry_model_language_count, model, ferry_model_language_count(NULL) == 0);
    ANSWERS(ferry_model_language, model, ferry_model_language(NULL, 0) == NULL);
    ANSWERS(ferry_model_language, index, ferry_model_language(model, SIZE_MAX) == NULL);
}

/* An error object that is used again. */
TEST_WITH(test_an_error_after_another, set_up, tear_down)
{
    ferry_error error;
    ferry_model *opened;
    assert_int_equal(ferry_model_open(NULL, 0, &opened, &error), FERRY_ERROR_ARGUMENT);
    assert_string_equal(error.argument, "path");
    assert_int_equal(ferry_model_open(scratch_file("missing"), 0, &opened, &error), FERRY_ERROR_IO);
    assert_null(error.argument);
}

TEST_WITH(test_options, set_up, tear_down)
{
    ferry_options options;
    ferry_translator *created;
    ANSWERS(ferry_options_default, model,
            ferry_options_default(NULL, &options, sizeof options) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_options_default, options, ferry_options_default(model, NULL, sizeof options) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_options_default, size, ferry_options_default(model, &options, 8) == FERRY_ERROR_ARGUMENT);
    ferry_search_options search;
    ANSWERS(ferry_search_options_default, model,
            ferry_search_options_default(NULL, &search, sizeof search) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_search_options_default, options,
            ferry_search_options_default(model, NULL, sizeof search) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_search_options_default, size,
            ferry_search_options_default(model, &search, 8) == FERRY_ERROR_ARGUMENT);
    REFUSED_NULL(ferry_translator_create, model, created, NULL, NULL, &created);
    REFUSED(ferry_translator_create, translator, model, NULL, NULL);
    CHECK(ferry_options_default(model, &options, sizeof options));
    CHECK(ferry_search_options_default(model, &search, sizeof search));
    options.search = &search;
    search.suppressed_ids = NULL;
    search.suppressed_count = 3;
    created = translator;
    REFUSED_IN(ferry_translator_create, options, "suppressed_ids", "option suppressed_ids: expected 3 ids, found NULL",
               model, &options, &created);
    assert_null(created);
    search.suppressed_count = SIZE_MAX;
    REFUSED_IN(ferry_translator_create, options, "suppressed_count", "option suppressed_count: ", model, &options,
               &created);
    ANSWERS(ferry_translator_destroy, translator, (ferry_translator_destroy(NULL), true));
    ANSWERS(ferry_translator_align, translator, ferry_translator_align(NULL, 1) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_translator_align, on, ferry_translator_align(translator, 0) == FERRY_OK);
    ANSWERS(ferry_translator_job, translator, ferry_translator_job(NULL) == 0);
    ANSWERS(ferry_translator_cancel, translator, (ferry_translator_cancel(NULL, 1), true));
    ANSWERS(ferry_translator_cancel, job, (ferry_translator_cancel(translator, 0), true));
    ANSWERS(ferry_translator_memory, translator, ferry_translator_memory(NULL, NULL) == 0);
    ANSWERS(ferry_translator_memory, peak, ferry_translator_memory(translator, NULL) > 0);
}

/* The options with which others may have any value. */
static ferry_decoding liberal_options(const char *name)
{
    ferry_decoding decoding = model->file.generation.decoding;
    const bool draws = strcmp(name, "temperature") == 0 || strcmp(name, "top_k") == 0 || strcmp(name, "top_p") == 0;
    decoding.options.sample = draws;
    if (strcmp(name, "nbest") == 0) decoding.options.beam = 2;
    if (strcmp(name, "patience") == 0 || strcmp(name, "coverage_penalty") == 0) {
        decoding.search.policy = FERRY_POLICY_CTRANSLATE2;
        decoding.options.beam = 100;
    }
    return decoding;
}

/* An option gets a number: the check of all options (which begins no threads) and a new translator say the same. */
static void check_value(const char *name, size_t place, const void *value, bool accepted)
{
    ferry_decoding decoding = liberal_options(name);
    memcpy((char *)&decoding + place, value, sizeof(int32_t));
    decoding.options.search = &decoding.search;
    if (accepted) {
        CHECK(ferry_options_check(&decoding, &model->file, &error));
        return;
    }
    ferry_translator *created;
    REFUSED_IN(ferry_translator_create, options, name, ferry_format("option %s: ", name).text, model, &decoding.options,
               &created);
}

/* Every option with the first and the last number of its range, and with those beyond. */
TEST_WITH(test_values_of_options, set_up, tear_down)
{
    enum { SIZE = 1 << 20, LAST_ID = 20 };
    static const struct {
        const char *name;
        size_t place;
        double least, most;
        enum { INTEGER, REAL, ABOVE } kind; /* ABOVE: a real number that is not the least */
    } rows[] = {
#define OPTION(kind, name, least, most) {#name, offsetof(ferry_decoding, options.name), least, most, kind}
#define SEARCH(kind, name, least, most)                                                                                \
    {                                                                                                                  \
#name, offsetof(ferry_decoding, search.name), least, most, kind                                                \
    }
        SEARCH(INTEGER, policy, 0, 2),
        OPTION(INTEGER, beam, 1, 1024),
        OPTION(INTEGER, nbest, 1, 2),
        OPTION(REAL, length_penalty, -1000, 1000),
        SEARCH(REAL, word_penalty, -1000, 1000),
        SEARCH(INTEGER, early_stopping, 0, 2),
        OPTION(INTEGER, max_source, 0, SIZE),
        OPTION(INTEGER, max_length, 0, SIZE),
        OPTION(REAL, length_factor, 0, 1024),
        OPTION(INTEGER, length_extra, 0, SIZE),
        OPTION(INTEGER, min_length, 0, SIZE),
        OPTION(REAL, repetition_penalty, (double)1e-3f, 1000),
        OPTION(INTEGER, no_repeat_ngram, 0, SIZE),
        SEARCH(INTEGER, renormalize, 0, 1),
        SEARCH(INTEGER, forced_first_id, -1, LAST_ID),
        SEARCH(INTEGER, forced_last_id, -1, LAST_ID),
        OPTION(INTEGER, shortlist, 0, 1),
        OPTION(INTEGER, scores, 0, 1),
        OPTION(INTEGER, threads, 1, 1024),
        OPTION(INTEGER, batch, 1, 65536),
        OPTION(INTEGER, alignment, 0, 1),
        OPTION(INTEGER, replace_unknowns, 0, 1),
        OPTION(INTEGER, alternatives, 0, 1),
        OPTION(INTEGER, sample, 0, 1),
        OPTION(ABOVE, temperature, 0, 1000),
        OPTION(INTEGER, top_k, 0, 1 << 20),
        OPTION(ABOVE, top_p, 0, 1),
        OPTION(INTEGER, split, 0, 2),
        OPTION(INTEGER, on_loop, 0, 1),
        OPTION(INTEGER, on_number, 0, 1),
        SEARCH(ABOVE, patience, 0, 100),
        SEARCH(REAL, coverage_penalty, -1000, 1000),
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const float least = (float)rows[i].least, most = (float)rows[i].most;
        const bool above = rows[i].kind == ABOVE, real = rows[i].kind != INTEGER;
        const float reals[] = {above ? 0.02f : least,
                               most,
                               above ? least : nextafterf(least, -INFINITY),
                               nextafterf(most, INFINITY),
                               NAN,
                               INFINITY,
                               -INFINITY};
        const int32_t integers[] = {(int32_t)least,    (int32_t)most, (int32_t)least - 1,
                                    (int32_t)most + 1, INT32_MAX,     INT32_MIN};
        for (size_t k = 0; k < (real ? COUNT(reals) : COUNT(integers)); k++)
            check_value(rows[i].name, rows[i].place, real ? (const void *)&reals[k] : &integers[k], k < 2);
    }
}

/* A model whose own lengths contradict each other can be used; a length of the user's meets those of the model. */
TEST_WITH(test_lengths_of_the_model, set_up, tear_down)
{
    ferry_model_file file = model->file;
    ferry_decoding *own = &file.generation.decoding, decoding;
    own->options.search = &own->search;
    own->options.min_length = 50;
    own->options.max_length = 10;
    decoding = *own;
    CHECK(ferry_options_check(&decoding, &file, &error));
    decoding.options.max_length = 20; /* the one of the two that is not the model's is at fault */
    REFUSE(ferry_options_check(&decoding, &file, &error), FERRY_ERROR_ARGUMENT,
           "option max_length: expected min_length, which is 50, or more, found 20");
    decoding.options.max_length = 10;
    decoding.options.min_length = 11;
    REFUSE(ferry_options_check(&decoding, &file, &error), FERRY_ERROR_ARGUMENT,
           "option min_length: expected at most max_length, which is 10, found 11");
}

/* As many as the vocabulary has, which are 21; the ids are within it. */
TEST_WITH(test_suppressed_ids, set_up, tear_down)
{
    enum { VOCAB = 21 };
    static const struct {
        int32_t first, middle, last;
        size_t count;
        const char *message; /* NULL: accepted */
    } rows[] = {
        {0, 1, VOCAB - 1, VOCAB, NULL},
        {0, 1, VOCAB - 1, VOCAB + 1, "option suppressed_count: expected at most 21 ids, found 22"},
        {-1, 1, 2, 3, "option suppressed_ids: expected a number from 0 to 20, found -1"},
        {0, VOCAB, 2, 3, "option suppressed_ids: expected a number from 0 to 20, found 21"},
        {0, 1, VOCAB, 3, "option suppressed_ids: expected a number from 0 to 20, found 21"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int32_t ids[VOCAB + 1] = {rows[i].first, rows[i].middle};
        ids[rows[i].count - 1] = rows[i].last;
        ferry_translator *created;
        ferry_options options = default_options(model);
        ferry_search_options *search = own_search(&options, model);
        search->suppressed_ids = ids;
        search->suppressed_count = rows[i].count;
        if (rows[i].message == NULL) {
            created = new_translator(model, &options);
            assert_ptr_not_equal(created->options.search->suppressed_ids, ids);
            ferry_translator_destroy(created);
        } else
            REFUSE(ferry_translator_create(model, &options, &created, &error), FERRY_ERROR_ARGUMENT, rows[i].message);
    }
}

TEST_WITH(test_translating, set_up, tear_down)
{
    static const ferry_text lines[] = {{"b", 1}, {NULL, 0}, {NULL, 2}}, endless[] = {{"b", (size_t)PTRDIFF_MAX + 1}};
    ferry_result *made;
    REFUSED_NULL(ferry_translate, translator, made, NULL, lines, 1, &made);
    REFUSED(ferry_translate, lines, translator, NULL, 1, &made);
    REFUSED_NAMING(ferry_translate, lines, "lines: expected 2 bytes at lines[2], found NULL", translator, lines, 3,
                   &made);
    REFUSED(ferry_translate, count, translator, lines, PTRDIFF_MAX / sizeof *lines + 1, &made);
    REFUSED_NAMING(ferry_translate, lines, " bytes at lines[0], found ", translator, endless, 1, &made);
    REFUSED(ferry_translate, count, translator, lines, SIZE_MAX, &made);
    REFUSED(ferry_translate, count, translator, lines, SIZE_MAX / sizeof *lines, &made);
    REFUSED(ferry_translate, result, translator, lines, 1, NULL);
    REFUSED_NULL(ferry_translate_text, translator, made, NULL, lines[0], &made);
    REFUSED_NAMING(ferry_translate_text, text, "text: expected 2 bytes, found NULL", translator, lines[2], &made);
    REFUSED_NAMING(ferry_translate_text, text, "text: expected at most ", translator, endless[0], &made);
    REFUSED(ferry_translate_text, result, translator, lines[0], NULL);
    CHECK(ferry_translate(translator, NULL, 0, &made, &error));
    assert_int_equal(ferry_result_count(made), 0);
    ferry_result_destroy(made);
    CHECK(ferry_translate(translator, lines, 2, &made, &error)); /* an empty line may be NULL */
    assert_int_equal(ferry_result_hypothesis_count(made, 1), 1);
    ferry_result_destroy(made);
}

/* Checks the error for a request of two lines. `named`: its field. */
static void check_request(ferry_request wrong, const char *named, const char *message)
{
    static const ferry_text lines[] = {{"b \xC3\xA9", 4}, {"b\xFF", 2}};
    ferry_result *made = (void *)&made;
    wrong.size = wrong.size == 0 ? sizeof wrong : 1;
    REFUSED_IN(ferry_translate_with, request, named, message, translator, lines, 2, &wrong, &made);
    assert_null(made);
}

/* The same for two terms, the first of which is right. */
static void check_term(ferry_term wrong, const char *message)
{
    static const ferry_text target = {"c", 1};
    const ferry_term terms[] = {{.line = 0, .begin = 1, .end = 2, .targets = &target, .target_count = 1}, wrong};
    check_request((ferry_request){.terms = terms, .term_size = sizeof *terms, .term_count = 2},
                  strstr(message, "targets:") == message ? "targets" : "terms", message);
}

TEST_WITH(test_requests, set_up, tear_down)
{
    static const ferry_text line = {"b", 1}, none = {NULL, 2}, endless = {"b", (size_t)PTRDIFF_MAX + 1},
                            blank = {" ", 1};
    static const ferry_text prefixes[] = {{"b", 1}, {NULL, 2}};
    const ferry_request right = {.size = sizeof right};
    ferry_result *made;
    REFUSED_NULL(ferry_translate_with, translator, made, NULL, &line, 1, &right, &made);
    REFUSED(ferry_translate_with, lines, translator, NULL, 1, &right, &made);
    REFUSED(ferry_translate_with, count, translator, &line, SIZE_MAX, &right, &made);
    REFUSED(ferry_translate_with, result, translator, &line, 1, &right, NULL);
    CHECK(ferry_translate_with(translator, &line, 1, NULL, &made, &error));
    ferry_result_destroy(made);
    const ferry_request prefixed = {.size = sizeof prefixed, .prefixes = prefixes};
    REFUSED_NULL(ferry_translate_text_with, translator, made, NULL, line, &right, &made);
    REFUSED(ferry_translate_text_with, text, translator, none, &right, &made);
    REFUSED_IN(ferry_translate_text_with, request, "prefixes", "prefixes: expected NULL for a text", translator, line,
               &prefixed, &made);
    REFUSED(ferry_translate_text_with, result, translator, line, &right, NULL);
    check_request((ferry_request){.size = 1}, "request", "request: expected ferry_request.size 40");
    check_request((ferry_request){.prefixes = prefixes}, "prefixes",
                  "prefixes: expected 2 bytes at prefixes[1], found NULL");
    check_request((ferry_request){.prefixes = &endless}, "prefixes", "prefixes: expected at most ");
    check_request((ferry_request){.on_number = 2}, "on_number", "on_number: expected 0 or 1, found 2");
    check_request((ferry_request){.term_count = 1}, "terms", "terms: expected 1 terms, found NULL");
    check_request((ferry_request){.terms = (void *)&right, .term_count = 1, .term_size = 8}, "term_size",
                  "term_size: expected sizeof(ferry_term), 40 to 4096, found 8");
    check_request((ferry_request){.terms = (void *)&right, .term_count = 1, .term_size = 4097}, "term_size",
                  "term_size: expected sizeof(ferry_term), 40 to 4096, found 4097");
    const ferry_term right_place = {.line = 1, .begin = 0, .end = 1, .targets = &line, .target_count = 1};
    ferry_term term = right_place;
    term.line = 2;
    check_term(term, "terms: expected a line below 2 at terms[1], found 2");
    term = right_place;
    term.end = 0;
    check_term(term, "terms: expected bytes of 2 at terms[1], found 0 to 0");
    term.end = 3;
    check_term(term, "terms: expected bytes of 2 at terms[1], found 0 to 3");
    term.line = 0;
    term.end = 2;
    check_term(term, "terms: expected terms[1] behind the one before it, found line 0, 0");
    term = right_place;
    term.begin = 1;
    term.end = 2;
    check_term(term, "terms: expected well-formed UTF-8 at terms[1], found 1 to 2 of line 1");
    term.line = 0;
    term.begin = 3;
    term.end = 4;
    check_term(term, "terms: expected well-formed UTF-8 at terms[1], found 3 to 4 of line 0");
    term = right_place;
    term.targets = NULL;
    check_term(term, "terms: expected targets at terms[1], found NULL");
    term.targets = &none;
    check_term(term, "targets: expected 2 bytes at targets[0], found NULL");
    term.targets = &blank;
    check_term(term, "terms: expected a text at terms[1].targets[0], found a blank one");
}

TEST(test_glossaries)
{
    static const ferry_glossary_entry entry = {.source = {"b", 1}};
    ferry_glossary *made;
    REFUSED_NULL(ferry_glossary_create, entries, made, NULL, sizeof entry, 1, &made);
    REFUSED_NULL(ferry_glossary_create, entry_size, made, &entry, 31, 1, &made);
    REFUSED_NAMING(ferry_glossary_create, entry_size, "expected sizeof(ferry_glossary_entry), 32 to 4096, found 4104",
                   &entry, 4104, 1, &made);
    REFUSED(ferry_glossary_create, glossary, &entry, sizeof entry, 1, NULL);
    CHECK(ferry_glossary_create(&entry, sizeof entry, 0, &made, &error));
    ANSWERS(ferry_glossary_create, count, made != NULL);
    ferry_glossary_destroy(made);
    ANSWERS(ferry_glossary_destroy, glossary, (ferry_glossary_destroy(NULL), true));
}

static void ignore(void *user, ferry_ticket ticket, ferry_result *told, const ferry_error *error)
{
    (void)user, (void)ticket, (void)error;
    ferry_result_destroy(told);
}

/* Checks the error for a submission. `named`: its field. */
static void check_submission(ferry_service *service, ferry_submission wrong, const char *named, const char *message)
{
    ferry_ticket ticket = 1;
    wrong.size = wrong.size == 0 ? sizeof wrong : 1;
    REFUSED_IN(ferry_service_submit, submission, named, message, service, &wrong, &ticket);
    assert_int_equal(ticket, 0);
}

static int see_nothing(void *user, size_t done, size_t total)
{
    (void)user;
    return done > total;
}

static void check_submissions(ferry_service *service)
{
    static const ferry_text text = {"b c", 3}, none = {NULL, 2}, endless = {"", SIZE_MAX};
    ferry_ticket ticket;
    ferry_submission right = {.size = sizeof right, .text = text, .priority = -100, .done = ignore};
    REFUSED(ferry_service_submit, service, NULL, &right, &ticket);
    REFUSED(ferry_service_submit, submission, service, NULL, &ticket);
    check_submission(service, right, "submission", "submission: expected ferry_submission.size 88");
    check_submission(service, (ferry_submission){.done = ignore, .text = none}, "text",
                     "text: expected 2 bytes, found NULL");
    check_submission(service, (ferry_submission){.done = ignore, .text = endless}, "text", "text: expected at most ");
    check_submission(service, (ferry_submission){.done = ignore, .text = text, .lines = &text, .count = 1}, "text",
                     "text: expected an empty one with lines, found 3 bytes");
    check_submission(service, (ferry_submission){.done = ignore, .count = 1}, "lines",
                     "lines: expected 1 texts, found NULL");
    check_submission(service, (ferry_submission){.done = ignore, .lines = &text, .count = SIZE_MAX}, "count",
                     "count: expected at most ");
    const ferry_request request = {.size = sizeof request, .prefixes = &none};
    const ferry_request prefixed = {.size = sizeof prefixed, .prefixes = &text};
    check_submission(service, (ferry_submission){.done = ignore, .text = text, .request = &prefixed}, "prefixes",
                     "prefixes: expected NULL for a text");
    check_submission(service, (ferry_submission){.done = ignore, .lines = &text, .request = &request, .count = 1},
                     "prefixes", "prefixes: expected 2 bytes at prefixes[0], found NULL");
    const ferry_request watched = {.size = sizeof watched, .progress = see_nothing};
    check_submission(service, (ferry_submission){.done = ignore, .text = text, .request = &watched}, "progress",
                     "progress: expected NULL in the request of a submission");
    check_submission(service, (ferry_submission){.text = text}, "done", "done: expected a function, found NULL");
    check_submission(service, (ferry_submission){.done = ignore, .priority = 101}, "priority",
                     "priority: expected -100 to 100, found 101");
    check_submission(service, (ferry_submission){.done = ignore, .wait = -1}, "wait", "wait: expected 0 to ");
    ANSWERS(ferry_service_submit, submission, ferry_service_submit(service, &right, NULL, NULL) == FERRY_OK);
    while (ferry_service_submit(service, &right, &ticket, NULL) == FERRY_ERROR_LIMIT) continue;
    ANSWERS(ferry_service_submit, ticket, ticket == 2);
}

TEST_WITH(test_services_and_rows, set_up, tear_down)
{
    ferry_translator *row;
    ferry_service *service;
    REFUSED_NULL(ferry_translator_then, first, row, NULL, translator, &row);
    REFUSED_NULL(ferry_translator_then, second, row, translator, NULL, &row);
    REFUSED(ferry_translator_then, second, translator, translator, &row);
    REFUSED(ferry_translator_then, both, translator, translator, NULL);
    ANSWERS(ferry_translator_stage, translator, ferry_translator_stage(NULL, 0) == NULL);
    ANSWERS(ferry_translator_stage, index, ferry_translator_stage(translator, 1) == NULL);
    REFUSED_NULL(ferry_service_create, translator, service, NULL, NULL, &service);
    service = (void *)&service;
    REFUSED_IN(ferry_service_create, options, "options", "options: expected ferry_service_options.size 24", translator,
               &(ferry_service_options){0}, &service);
    assert_null(service);
    REFUSED(ferry_service_create, service, translator, NULL, NULL);
    CHECK(ferry_service_create(translator, &(ferry_service_options){sizeof(ferry_service_options), 1, 5}, &service,
                               &error));
    check_submissions(service);
    ANSWERS(ferry_service_state, service, ferry_service_state(NULL, NULL, NULL) == 0);
    ANSWERS(ferry_service_state, waiting, ferry_service_state(service, NULL, NULL) > 0);
    ANSWERS(ferry_service_state, running, ferry_service_state(service, NULL, NULL) > 0);
    ANSWERS(ferry_service_stop, cancel, true);
    ANSWERS(ferry_service_cancel, service, (ferry_service_cancel(NULL, 1), true));
    ANSWERS(ferry_service_cancel, ticket, (ferry_service_cancel(service, 0), true));
    ANSWERS(ferry_service_stop, service, (ferry_service_stop(NULL, 1), true));
    ferry_service_stop(service, 2);
    ANSWERS(ferry_service_destroy, service, ferry_service_destroy(NULL, NULL) == FERRY_OK);
    ANSWERS(ferry_service_destroy, error, ferry_service_destroy(service, NULL) == FERRY_OK);
    translator = NULL; /* the service's */
}

TEST_WITH(test_scoring, set_up, tear_down)
{
    static const ferry_text lines[] = {{"b", 1}, {NULL, 0}, {NULL, 2}};
    ferry_result *made;
    REFUSED_NULL(ferry_score, translator, made, NULL, lines, lines, 1, &made);
    REFUSED(ferry_score, sources, translator, NULL, lines, 1, &made);
    REFUSED_NAMING(ferry_score, sources, "sources: expected 2 bytes at sources[2], found NULL", translator, lines,
                   lines, 3, &made);
    REFUSED(ferry_score, targets, translator, lines, NULL, 1, &made);
    REFUSED_NAMING(ferry_score, targets, "targets: expected 2 bytes at targets[0], found NULL", translator, lines,
                   lines + 2, 1, &made);
    REFUSED(ferry_score, count, translator, lines, lines, SIZE_MAX, &made);
    REFUSED(ferry_score, result, translator, lines, lines, 1, NULL);
    CHECK(ferry_score(translator, NULL, NULL, 0, &made, &error));
    assert_int_equal(ferry_result_count(made), 0);
    ferry_result_destroy(made);
}

TEST_WITH(test_results, set_up, tear_down)
{
    const size_t past = SIZE_MAX;
    ANSWERS(ferry_result_destroy, result, (ferry_result_destroy(NULL), true));
    ANSWERS(ferry_result_count, result, ferry_result_count(NULL) == 0);
    ANSWERS(ferry_result_outcome, result, ferry_result_outcome(NULL, 0)->status == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_outcome, line, ferry_result_outcome(result, 1)->status == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_hypothesis_count, result, ferry_result_hypothesis_count(NULL, 0) == 0);
    ANSWERS(ferry_result_hypothesis_count, line, ferry_result_hypothesis_count(result, 1) == 0);
    ANSWERS(ferry_result_text, result, is_empty(ferry_result_text(NULL, 0, 0)));
    ANSWERS(ferry_result_text, line, is_empty(ferry_result_text(result, past, 0)));
    ANSWERS(ferry_result_text, hypothesis, is_empty(ferry_result_text(result, 0, past)));
    ANSWERS(ferry_result_score, result, ferry_result_score(NULL, 0, 0) == 0);
    ANSWERS(ferry_result_score, line, ferry_result_score(result, past, 0) == 0);
    ANSWERS(ferry_result_score, hypothesis, ferry_result_score(result, 0, 1) == 0);
    ANSWERS(ferry_result_term, result, ferry_result_term(NULL, 0, 0) == NULL);
    ANSWERS(ferry_result_term, line, ferry_result_term(result, past, 0) == NULL);
    ANSWERS(ferry_result_term, index, ferry_result_term(result, 0, 0) == NULL);
    ANSWERS(ferry_result_token_count, result, ferry_result_token_count(NULL, 0, 0) == 0);
    ANSWERS(ferry_result_token_count, line, ferry_result_token_count(result, past, 0) == 0);
    ANSWERS(ferry_result_token_count, hypothesis, ferry_result_token_count(result, 0, 1) == 0);
    ferry_result *text;
    CHECK(ferry_translate_text(translator, (ferry_text){"b", 1}, &text, &error));
    ANSWERS(ferry_result_sentence_count, result,
            ferry_result_sentence_count(NULL) == 0 && ferry_result_sentence_count(result) == 0);
    ANSWERS(ferry_result_sentence, result, ferry_result_sentence(NULL, 0) == NULL);
    ANSWERS(ferry_result_sentence, index,
            ferry_result_sentence(text, 1) == NULL && ferry_result_sentence(result, 0) == NULL);
    ferry_result_destroy(text);
}

static bool has_no_weights(const ferry_result *of, size_t line, size_t hypothesis, size_t token)
{
    size_t first = 9, count = 9;
    return ferry_result_weights(of, line, hypothesis, token, &first, &count) == NULL && first == 0 && count == 0;
}

TEST_WITH(test_tokens, set_up, tear_down)
{
    const ferry_text line = {"d", 1};
    const size_t past = SIZE_MAX;
    ferry_result *made;
    ferry_token token;
    ferry_options options = default_options(model);
    options.alignment = 1;
    made = translated(model, &options, &line, 1);
#define SOURCE(of, line, index, token, size) ferry_result_source_token(of, line, index, token, size)
#define TARGET(of, line, h, index, token, size) ferry_result_token(of, line, h, index, token, size)
    ANSWERS(ferry_result_source_token_count, result, ferry_result_source_token_count(NULL, 0) == 0);
    ANSWERS(ferry_result_source_token_count, line, ferry_result_source_token_count(made, 1) == 0);
    ANSWERS(ferry_result_source_token, result, SOURCE(NULL, 0, 0, &token, sizeof token) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_source_token, line, SOURCE(made, 1, 0, &token, sizeof token) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_source_token, index, SOURCE(made, 0, past, &token, sizeof token) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_source_token, token, SOURCE(made, 0, 0, NULL, sizeof token) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_source_token, size, SOURCE(made, 0, 0, &token, 0) == FERRY_OK);
    ANSWERS(ferry_result_token, result, TARGET(NULL, 0, 0, 0, &token, sizeof token) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_token, line, TARGET(made, 1, 0, 0, &token, sizeof token) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_token, hypothesis, TARGET(made, 0, 9, 0, &token, sizeof token) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_token, index, TARGET(made, 0, 0, past, &token, sizeof token) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_token, token, TARGET(made, 0, 0, 0, NULL, sizeof token) == FERRY_ERROR_ARGUMENT);
    ANSWERS(ferry_result_token, size, TARGET(made, 0, 0, 0, &token, 0) == FERRY_OK);
    ANSWERS(ferry_result_weights, result, has_no_weights(NULL, 0, 0, 0));
    ANSWERS(ferry_result_weights, line, has_no_weights(made, 1, 0, 0));
    ANSWERS(ferry_result_weights, hypothesis, has_no_weights(made, 0, 9, 0));
    ANSWERS(ferry_result_weights, token, has_no_weights(made, 0, 0, past));
    ANSWERS(ferry_result_weights, first, ferry_result_weights(made, 0, 0, 0, NULL, NULL) != NULL);
    ANSWERS(ferry_result_weights, count, ferry_result_weights(made, 0, 0, 0, NULL, NULL) != NULL);
    ANSWERS(ferry_result_sentences, result,
            ferry_result_sentences(NULL) == NULL && ferry_result_sentences(made) == NULL);
    ferry_result_destroy(made);
    assert_int_equal(ferry_result_source_token_count(result, 0), 0); /* without options.alignment */
    assert_int_equal(TARGET(result, 0, 0, 0, &token, sizeof token), FERRY_ERROR_ARGUMENT);
    assert_true(has_no_weights(result, 0, 0, 0));
}

/* ---- ferry_inspect.h ---- */

TEST_WITH(test_inspecting, set_up, tear_down)
{
    static const ferry_inspect_shape shape = {16, 2, 16, 1, 1, 40}, odd = {15, 2, 16, 1, 1, 40};
    ferry_model *opened;
    ferry_text text;
    REFUSED(ferry_inspect_open, path, NULL, NULL, NULL, &opened);
    REFUSED_NAMING(ferry_inspect_open, isa, "isa: expected kernels that this machine can run, found 'sse9'",
                   scratch_file("small.gguf"), "sse9", NULL, &opened);
    REFUSED_NAMING(ferry_inspect_open, position, "position: 'theta=2'", scratch_file("small.gguf"), NULL, "theta=2",
                   &opened);
    REFUSED(ferry_inspect_open, model, scratch_file("small.gguf"), NULL, NULL, NULL);
    REFUSED(ferry_inspect_open_fd, fd, -1, "model", NULL, &opened);
    REFUSED(ferry_inspect_open_fd, name, 0, NULL, NULL, &opened);
    REFUSED_NAMING(ferry_inspect_open_fd, isa, "isa: expected kernels that this machine can run, found 'sse9'", 0,
                   "model", "sse9", &opened);
    REFUSED(ferry_inspect_open_fd, model, 0, "model", NULL, NULL);
    REFUSED(ferry_inspect_untrained, encoding, NULL, &shape, NULL, &opened);
    REFUSED(ferry_inspect_untrained, shape, "none", NULL, NULL, &opened);
    REFUSED_IN(ferry_inspect_untrained, shape, "heads", "heads: ", "none", &odd, NULL, &opened);
    REFUSED_NAMING(ferry_inspect_untrained, isa, "isa: expected kernels that this machine can run, found 'sse9'",
                   "none", &shape, "sse9", &opened);
    REFUSED(ferry_inspect_untrained, model, "none", &shape, NULL, NULL);
    ANSWERS(ferry_inspect_name, model, is_empty(ferry_inspect_name(NULL)));
    ANSWERS(ferry_inspect_encoding, index, ferry_inspect_encoding(SIZE_MAX) == NULL);
    ANSWERS(ferry_inspect_isa, model, ferry_inspect_isa(NULL) == NULL);
    REFUSED(ferry_inspect_describe, model, NULL, &text);
    REFUSED(ferry_inspect_describe, text, model, NULL);
    ANSWERS(ferry_inspect_free, data, (ferry_inspect_free(NULL), true));
    ANSWERS(ferry_inspect_get_sizes, model, ferry_inspect_get_sizes(NULL).d_model == 0);
    ANSWERS(ferry_inspect_get_training, model, is_empty(ferry_inspect_get_training(NULL).text));
    ANSWERS(ferry_inspect_piece, model, is_empty(ferry_inspect_piece(NULL, FERRY_INSPECT_ENCODER, 0)));
    ANSWERS(ferry_inspect_piece, side, is_empty(ferry_inspect_piece(model, (ferry_inspect_stack)7, 1)));
    ANSWERS(ferry_inspect_piece, id, is_empty(ferry_inspect_piece(model, FERRY_INSPECT_ENCODER, -1)));
    ANSWERS(ferry_inspect_get_scheme, model, ferry_inspect_get_scheme(NULL, FERRY_INSPECT_ENCODER).name == NULL);
    ANSWERS(ferry_inspect_get_scheme, stack, ferry_inspect_get_scheme(model, (ferry_inspect_stack)7).name == NULL);
}

TEST_WITH(test_inspecting_texts, set_up, tear_down)
{
    static const ferry_text line = {"b c", 3}, wrong = {NULL, 3};
    int32_t *ids, *offsets, lead;
    size_t count;
    REFUSED(ferry_inspect_tokenize, model, NULL, line, NULL, NULL, &ids, &count);
    REFUSED_NAMING(ferry_inspect_tokenize, text, "text: expected 3 bytes at text[0], found NULL", model, wrong, NULL,
                   NULL, &ids, &count);
    REFUSED_NAMING(ferry_inspect_tokenize, from, "option from", model, line, "nowhere", NULL, &ids, &count);
    REFUSED_NAMING(ferry_inspect_tokenize, to, "option to", model, line, NULL, "nowhere", &ids, &count);
    REFUSED(ferry_inspect_tokenize, ids, model, line, NULL, NULL, NULL, &count);
    REFUSED(ferry_inspect_tokenize, count, model, line, NULL, NULL, &ids, NULL);
    REFUSED(ferry_inspect_targets, model, NULL, &line, 1, &ids, &offsets, &lead);
    REFUSED(ferry_inspect_targets, texts, model, NULL, 1, &ids, &offsets, &lead);
    REFUSED(ferry_inspect_targets, count, model, &line, -1, &ids, &offsets, &lead);
    REFUSED(ferry_inspect_targets, ids, model, &line, 1, NULL, &offsets, &lead);
    REFUSED(ferry_inspect_targets, offsets, model, &line, 1, &ids, NULL, &lead);
    REFUSED(ferry_inspect_targets, lead, model, &line, 1, &ids, &offsets, NULL);
}

/* One sentence, its decoder inputs, and room for whatever is computed. */
static const int32_t source[] = {2, 3}, starts[] = {0, 2}, inputs[] = {0, 4, 5}, target_starts[] = {0, 3};
static float numbers[4096];

TEST_WITH(test_inspecting_activations, set_up, tear_down)
{
    REFUSED(ferry_inspect_encode, model, NULL, source, starts, 1, numbers);
    REFUSED(ferry_inspect_encode, ids, model, NULL, starts, 1, numbers);
    REFUSED(ferry_inspect_encode, offsets, model, source, NULL, 1, numbers);
    REFUSED(ferry_inspect_encode, count, model, source, starts, 0, numbers);
    REFUSED(ferry_inspect_encode, output, model, source, starts, 1, NULL);
    REFUSED(ferry_inspect_hidden, model, NULL, 1, source, starts, 1, inputs, target_starts, numbers);
    REFUSED(ferry_inspect_hidden, stack, model, 2, source, starts, 1, inputs, target_starts, numbers);
    REFUSED(ferry_inspect_hidden, ids, model, 1, NULL, starts, 1, inputs, target_starts, numbers);
    REFUSED(ferry_inspect_hidden, offsets, model, 0, source, NULL, 1, inputs, target_starts, numbers);
    REFUSED(ferry_inspect_hidden, count, model, 1, source, starts, -1, inputs, target_starts, numbers);
    REFUSED(ferry_inspect_hidden, target_ids, model, 1, source, starts, 1, NULL, target_starts, numbers);
    REFUSED(ferry_inspect_hidden, target_offsets, model, 1, source, starts, 1, inputs, NULL, numbers);
    REFUSED(ferry_inspect_hidden, hidden, model, 1, source, starts, 1, inputs, target_starts, NULL);
    REFUSED(ferry_inspect_logits, model, NULL, source, starts, 1, inputs, target_starts, 0, numbers);
    REFUSED(ferry_inspect_logits, ids, model, NULL, starts, 1, inputs, target_starts, 0, numbers);
    REFUSED(ferry_inspect_logits, offsets, model, source, NULL, 1, inputs, target_starts, 0, numbers);
    REFUSED(ferry_inspect_logits, count, model, source, starts, 0, inputs, target_starts, 0, numbers);
    REFUSED(ferry_inspect_logits, target_ids, model, source, starts, 1, NULL, target_starts, 0, numbers);
    REFUSED(ferry_inspect_logits, target_offsets, model, source, starts, 1, inputs, NULL, 0, numbers);
    REFUSED(ferry_inspect_logits, pass, model, source, starts, 1, inputs, target_starts, 2, numbers);
    REFUSED(ferry_inspect_logits, logits, model, source, starts, 1, inputs, target_starts, 0, NULL);
    REFUSED(ferry_inspect_attention, model, NULL, 2, 0, 0, source, 2, inputs, 3, numbers);
    REFUSED(ferry_inspect_attention, kind, model, 3, 0, 0, source, 2, inputs, 3, numbers);
    REFUSED(ferry_inspect_attention, layer, model, 2, 2, 0, source, 2, inputs, 3, numbers);
    REFUSED(ferry_inspect_attention, head, model, 2, 0, -2, source, 2, inputs, 3, numbers);
    REFUSED(ferry_inspect_attention, ids, model, 2, 0, 0, NULL, 2, inputs, 3, numbers);
    REFUSED(ferry_inspect_attention, S, model, 0, 0, 0, source, 0, NULL, 0, numbers);
    REFUSED(ferry_inspect_attention, target_ids, model, 2, 0, 0, source, 2, NULL, 3, numbers);
    REFUSED(ferry_inspect_attention, T, model, 2, 0, 0, source, 2, inputs, 0, numbers);
    REFUSED(ferry_inspect_attention, weights, model, 2, 0, 0, source, 2, inputs, 3, NULL);
}

TEST_WITH(test_inspecting_positions, set_up, tear_down)
{
    REFUSED(ferry_inspect_position_rows, model, NULL, 1, 2, numbers);
    REFUSED(ferry_inspect_position_rows, stack, model, (ferry_inspect_stack)-1, 2, numbers);
    REFUSED(ferry_inspect_position_rows, count, model, 1, 0, numbers);
    REFUSED(ferry_inspect_position_rows, rows, model, 1, 2, NULL);
    REFUSED(ferry_inspect_position_scores, model, NULL, 1, 0, 0, 2, NULL, NULL, numbers);
    REFUSED(ferry_inspect_position_scores, stack, model, 2, 0, 0, 2, NULL, NULL, numbers);
    REFUSED(ferry_inspect_position_scores, layer, model, 1, 2, 0, 2, NULL, NULL, numbers);
    REFUSED(ferry_inspect_position_scores, head, model, 1, 0, 3, 2, NULL, NULL, numbers);
    REFUSED(ferry_inspect_position_scores, count, model, 1, 0, 0, INT32_MAX, NULL, NULL, numbers);
    REFUSED(ferry_inspect_position_scores, scores, model, 1, 0, 0, 2, NULL, NULL, NULL);
    const bool scored = ferry_inspect_position_scores(model, 1, 0, 0, 2, NULL, NULL, numbers, NULL) == FERRY_OK;
    ANSWERS(ferry_inspect_position_scores, q, scored);
    ANSWERS(ferry_inspect_position_scores, k, scored);
}

TEST_WITH(test_inspecting_time, set_up, tear_down)
{
    ferry_inspect_timer *timer;
    double seconds;
    REFUSED(ferry_inspect_timer_create, model, NULL, 2, 2, &timer);
    REFUSED(ferry_inspect_timer_create, source_tokens, model, 0, 2, &timer);
    REFUSED(ferry_inspect_timer_create, target_tokens, model, 2, -1, &timer);
    REFUSED(ferry_inspect_timer_create, timer, model, 2, 2, NULL);
    CHECK(ferry_inspect_timer_create(model, 2, 2, &timer, &error));
    REFUSED(ferry_inspect_timer_run, timer, NULL, &seconds);
    REFUSED(ferry_inspect_timer_run, seconds, timer, NULL);
    ferry_inspect_timer_destroy(timer);
    ANSWERS(ferry_inspect_timer_destroy, timer, (ferry_inspect_timer_destroy(NULL), true));
    ANSWERS(ferry_inspect_timer_memory, timer, ferry_inspect_timer_memory(NULL).thread == 0);
    ANSWERS(ferry_inspect_profile_start, translator, (ferry_inspect_profile_start(NULL), true));
    ANSWERS(ferry_inspect_profile_phase, translator, ferry_inspect_profile_phase(NULL, 0).name == NULL);
    ANSWERS(ferry_inspect_profile_phase, index, ferry_inspect_profile_phase(translator, SIZE_MAX).name == NULL);
    ANSWERS(ferry_inspect_profile_work, translator, ferry_inspect_profile_work(NULL).steps == 0);
}

TEST_WITH(test_inspecting_generation, set_up, tear_down)
{
    static const int32_t wrong[] = {2, 99};
    ferry_result *made;
    REFUSED(ferry_inspect_generate, translator, NULL, source, starts, 1, &made);
    REFUSED(ferry_inspect_generate, ids, translator, NULL, starts, 1, &made);
    REFUSED_NAMING(ferry_inspect_generate, ids, "id 99", translator, wrong, starts, 1, &made);
    REFUSED(ferry_inspect_generate, offsets, translator, source, NULL, 1, &made);
    REFUSED(ferry_inspect_generate, count, translator, source, starts, -1, &made);
    REFUSED(ferry_inspect_generate, result, translator, source, starts, 1, NULL);
    ANSWERS(ferry_inspect_result_ids, result, ferry_inspect_result_ids(NULL, 0, 0) == NULL);
    ANSWERS(ferry_inspect_result_ids, line, ferry_inspect_result_ids(result, 1, 0) == NULL);
    ANSWERS(ferry_inspect_result_ids, hypothesis, ferry_inspect_result_ids(result, 0, 1) == NULL);
    ANSWERS(ferry_inspect_result_token_scores, result, ferry_inspect_result_token_scores(NULL, 0, 0) == NULL);
    ANSWERS(ferry_inspect_result_token_scores, line, ferry_inspect_result_token_scores(result, 1, 0) == NULL);
    ANSWERS(ferry_inspect_result_token_scores, hypothesis, ferry_inspect_result_token_scores(result, 0, 1) == NULL);
    ANSWERS(ferry_inspect_target_limit, translator, ferry_inspect_target_limit(NULL, 5) == 0);
    ANSWERS(ferry_inspect_target_limit, source_tokens, ferry_inspect_target_limit(translator, SIZE_MAX) > 0);
}

/* ---- nothing is left out ---- */

/* Whether this file has a row for the parameter; each row with a message has one for `error`. */
static bool is_covered(const char *file, const char *function, const char *parameter)
{
    const bool is_error = strcmp(parameter, "error") == 0;
    return strstr(file, ferry_format("(%s, %s,", function, parameter).text) != NULL ||
           (is_error && strstr(file, ferry_format("REFUSED(%s, ", function).text) != NULL) ||
           (is_error && strstr(file, ferry_format("REFUSED_NAMING(%s, ", function).text) != NULL);
}

static char *text_of(const char *name)
{
    const ferry_view bytes = mapped_bytes(in_directory(FERRY_SOURCE_DIR, name));
    char *text = kept_memory(bytes.size + 1);
    memcpy(text, bytes.data, bytes.size);
    return text;
}

/* The identifier that ends before `end`. */
static ferry_short_text identifier_before(const char *start, const char *end)
{
    while (end > start && !isalnum((unsigned char)end[-1]) && end[-1] != '_') end--;
    const char *first = end;
    while (first > start && (isalnum((unsigned char)first[-1]) || first[-1] == '_')) first--;
    return ferry_format("%.*s", (int)(end - first), first);
}

/* "FERRY_API type function(type parameter, …);": every parameter has its rows. Returns how many were seen. */
static size_t check_declaration(const char *file, const char *start, const char *end)
{
    const char *open = memchr(start, '(', (size_t)(end - start));
    assert_non_null(open);
    const ferry_short_text function = identifier_before(start, open);
    size_t seen = 0;
    for (const char *at = open + 1; at < end; seen++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        const ferry_short_text parameter = identifier_before(at, stop);
        if (strcmp(parameter.text, "void") != 0 && !is_covered(file, function.text, parameter.text))
            fail_msg("%s: no row for %s", function.text, parameter.text);
        at = stop + 1;
    }
    return seen;
}

TEST(test_every_parameter_has_a_row)
{
    static const char *const headers[] = {"engine/ferry.h", "engine/ferry_inspect.h"};
    const char *rows = text_of("tests/api/test_arguments.c");
    size_t seen = 0;
    for (size_t h = 0; h < COUNT(headers); h++) {
        for (char *at = text_of(headers[h]); (at = strstr(at, "\nFERRY_API ")) != NULL;) {
            char *end = strchr(at, ';');
            *end = '\0';
            seen += check_declaration(rows, at, end);
            at = end + 1;
        }
    }
    if (seen < 170) fail_msg("only %zu parameters", seen);
}
