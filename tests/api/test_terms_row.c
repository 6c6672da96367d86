/* Terms of models in a row: opaque for the first model; the second one writes their targets where they came out. */
#include "tests/support/row.h"
#include "tests/support/service_support.h"

typedef struct sample {
    const char *line, *word, *target; /* target NULL: the word comes back as it is */
} sample;

static const sample rows[] = {
    {"The landlord will come tomorrow.", "landlord", "Vermieter"},
    {"My dog likes to run in the garden.", "garden", "Park"},
    {"Please write to qx-7@example.org today.", "qx-7@example.org", NULL},
    {"landlord", "landlord", "Vermieter"}, /* alone */
    {"<b>", "<b>", NULL},
    {"Tom bought a red car. He is a good actor, and I like him.", "actor", "Darsteller"}, /* in parts */
    {"I like it\xFF in zq9.", "zq9", NULL},
    {"Yes.", NULL, NULL},
};
enum { ROWS = sizeof rows / sizeof *rows };

static ferry_text targets[ROWS];

static ferry_request make_request(ferry_text *lines, ferry_term *terms)
{
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        lines[i] = as_text(rows[i].line);
        if (rows[i].word == NULL) continue;
        const size_t begin = (size_t)(strstr(rows[i].line, rows[i].word) - rows[i].line);
        terms[count] = (ferry_term){.line = i, .begin = begin, .end = begin + strlen(rows[i].word)};
        if (rows[i].target != NULL) {
            targets[i] = as_text(rows[i].target);
            terms[count].targets = &targets[i];
            terms[count].target_count = 1;
        }
        count++;
    }
    return (
        ferry_request){.size = sizeof(ferry_request), .terms = terms, .term_size = sizeof *terms, .term_count = count};
}

static ferry_result *translated_with(ferry_translator *translator, const ferry_text *lines, size_t count,
                                     const ferry_request *request)
{
    ferry_result *result;
    CHECK(ferry_translate_with(translator, lines, count, request, &result, &error));
    return result;
}

/* What two calls make of the lines: opaque terms, and then the targets in the place of the words. */
static ferry_result *translated_twice(const ferry_options *options, const ferry_text *lines, const ferry_request *given)
{
    ferry_term opaque[ROWS], second[ROWS];
    ferry_text between[ROWS];
    ferry_request request = *given;
    ferry_translator *translator = new_translator(model, options);
    memcpy(opaque, given->terms, given->term_count * sizeof *opaque);
    for (size_t t = 0; t < given->term_count; t++) opaque[t].target_count = 0;
    request.terms = opaque;
    ferry_result *once = translated_with(translator, lines, ROWS, &request);
    for (size_t i = 0; i < ROWS; i++) between[i] = ferry_result_text(once, i, 0);
    for (size_t t = 0; t < given->term_count; t++) {
        second[t] = given->terms[t];
        const ferry_text text = between[second[t].line];
        const char *found = strstr(text.data, rows[second[t].line].word);
        assert_non_null(found);
        second[t].begin = (size_t)(found - text.data);
        second[t].end = second[t].begin + strlen(rows[second[t].line].word);
    }
    request.terms = second;
    ferry_result *twice = translated_with(translator, between, ROWS, &request);
    ferry_result_destroy(once);
    ferry_translator_destroy(translator);
    return twice;
}

static void check_rows(const ferry_result *found, const ferry_result *expected)
{
    for (size_t i = 0; i < ROWS; i++) {
        const char *wanted = rows[i].target != NULL ? rows[i].target : rows[i].word;
        assert_true(is_same_text(ferry_result_text(found, i, 0), ferry_result_text(expected, i, 0)));
        if (wanted == NULL) continue;
        const char *first = strstr(ferry_result_text(found, i, 0).data, wanted);
        assert_non_null(first);
        assert_null(strstr(first + 1, wanted));
        assert_int_equal(ferry_result_outcome(found, i)->quality & FERRY_QUALITY_TERM, 0);
    }
}

SHIPPED_TEST(test_terms_through_two_models)
{
    ferry_text lines[ROWS];
    ferry_term terms[ROWS];
    const ferry_request request = make_request(lines, terms);
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_options options = row_options();
        options.beam = beam;
        ferry_result *expected = translated_twice(&options, lines, &request);
        ferry_translator *row = new_row(&options, &options);
        ferry_result *found = translated_with(row, lines, ROWS, &request);
        check_rows(found, expected);
        ferry_result_destroy(found);
        ferry_service *service = new_service(row, NULL);
        sent *text = new_texts(1);
        text->given.lines = lines;
        text->given.count = ROWS;
        text->given.request = &request;
        CHECK(submit(service, text, &error));
        end_service(service, 1);
        check_rows(text->result, expected);
        free_results(text, 1);
        ferry_result_destroy(expected);
    }
}

/* The terms of a text count its bytes. */
SHIPPED_TEST(test_terms_of_a_text_through_two_models)
{
    const char *const text = "How are you? The landlord will come tomorrow.\nMy dog likes to run in the zq9 garden.";
    const ferry_text target = as_text("Vermieter");
    const char *const landlord = strstr(text, "landlord"), *const code = strstr(text, "zq9");
    const ferry_term terms[] = {{.begin = (size_t)(landlord - text),
                                 .end = (size_t)(landlord - text) + strlen("landlord"),
                                 .targets = &target,
                                 .target_count = 1},
                                {.begin = (size_t)(code - text), .end = (size_t)(code - text) + strlen("zq9")}};
    const ferry_request request = {
        .size = sizeof request, .terms = terms, .term_size = sizeof *terms, .term_count = sizeof terms / sizeof *terms};
    const ferry_options options = row_options();
    ferry_translator *row = new_row(&options, &options);
    ferry_result *result;
    CHECK(ferry_translate_text_with(row, as_text(text), &request, &result, &error));
    const char *const found = ferry_result_text(result, 0, 0).data;
    assert_non_null(strstr(found, "Vermieter"));
    assert_null(strstr(found, "landlord"));
    assert_non_null(strstr(found, "zq9"));
    assert_int_equal(ferry_result_outcome(result, 0)->quality & FERRY_QUALITY_TERM, 0);
    ferry_result_destroy(result);
    ferry_translator_destroy(row);
}

/* The targets of the first translator's glossary are those of the last model. */
SHIPPED_TEST(test_a_glossary_through_two_models)
{
    const ferry_text target = as_text("Vermieter"),
                     lines[] = {as_text("The landlord will come tomorrow."), as_text("I like Ferry and my dog.")};
    const ferry_glossary_entry entries[] = {{as_text("landlord"), &target, 1}, {as_text("Ferry"), NULL, 0}};
    ferry_options first = row_options(), second = row_options();
    ferry_glossary *glossary;
    ferry_translator *a, *b, *row;
    ferry_result *result;
    CHECK(ferry_glossary_create(entries, sizeof *entries, 2, &glossary, &error));
    first.glossary = glossary;
    row = new_row(&first, &second);
    CHECK(ferry_translate(row, lines, 2, &result, &error));
    assert_non_null(strstr(ferry_result_text(result, 0, 0).data, "Vermieter"));
    assert_null(strstr(ferry_result_text(result, 0, 0).data, "landlord"));
    assert_non_null(strstr(ferry_result_text(result, 1, 0).data, "Ferry"));
    ferry_result_destroy(result);
    ferry_translator_destroy(row);
    second.beam = second.sample = 1;
    a = new_translator(model, &first);
    b = new_translator(model, &second);
    REFUSE(ferry_translator_then(a, b, &row, &error), FERRY_ERROR_ARGUMENT, "sample");
    ferry_translator_destroy(a);
    ferry_translator_destroy(b);
    ferry_glossary_destroy(glossary);
}

SHIPPED_TEST(test_options_of_either_model)
{
    ferry_text lines[ROWS];
    ferry_term terms[ROWS];
    ferry_result *result;
    const ferry_request request = make_request(lines, terms);
    for (int i = 0; i < 2; i++) {
        ferry_options plain = row_options(), draws = row_options();
        plain.beam = draws.beam = draws.sample = 1;
        ferry_translator *row = new_row(i == 0 ? &draws : &plain, i == 0 ? &plain : &draws);
        REFUSE(ferry_translate_with(row, lines, ROWS, &request, &result, &error), FERRY_ERROR_ARGUMENT, "sample");
        ferry_translator_destroy(row);
    }
}
