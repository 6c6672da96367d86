/* ferry_options of programs that were compiled with another version's header: fewer or more bytes than this library's.
 */
#include "tests/support/shipped_model.h"

enum { FIRST_SIZE = sizeof(ferry_options), LARGEST_SIZE = 4096, SPARE = 64 };

/* As a newer header would have it. */
typedef union newer_options {
    ferry_options options;
    unsigned char bytes[LARGEST_SIZE + SPARE];
} newer_options;

PIECES_TEST(test_defaults_stay_within_the_size)
{
    static const size_t sizes[] = {FIRST_SIZE, FIRST_SIZE + 4, FIRST_SIZE + 16, LARGEST_SIZE};
    newer_options newer;
    ferry_options own = default_options(model);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(&newer, 0xAA, sizeof newer);
        assert_int_equal(ferry_options_default(model, &newer.options, sizes[i]), FERRY_OK);
        assert_int_equal(newer.options.size, sizes[i]);
        assert_int_equal(newer.options.beam, own.beam);
        assert_int_equal(newer.options.threads, 1);
        for (size_t at = sizeof own; at < sizes[i]; at++) assert_int_equal(newer.bytes[at], 0);
        for (size_t at = sizes[i]; at < sizeof newer; at++) assert_int_equal(newer.bytes[at], 0xAA);
    }
}

PIECES_TEST(test_impossible_sizes)
{
    static const size_t sizes[] = {0, 1, FIRST_SIZE - 1, LARGEST_SIZE + 1, SIZE_MAX};
    ferry_translator *translator;
    newer_options newer;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(&newer, 0xAA, sizeof newer);
        assert_int_equal(ferry_options_default(model, &newer.options, sizes[i]), FERRY_ERROR_ARGUMENT);
        for (size_t at = 0; at < sizeof newer; at++) assert_int_equal(newer.bytes[at], 0xAA);
        CHECK(ferry_options_default(model, &newer.options, FIRST_SIZE));
        newer.options.size = sizes[i];
        REFUSE(ferry_translator_create(model, &newer.options, &translator, &error), FERRY_ERROR_ARGUMENT,
               "ferry_options.size: expected ");
        assert_null(translator);
    }
}

PIECES_TEST(test_unknown_fields_must_be_zero)
{
    static const size_t places[] = {sizeof(ferry_options), sizeof(ferry_options) + 5, LARGEST_SIZE - 1};
    ferry_translator *translator;
    newer_options newer;
    CHECK(ferry_options_default(model, &newer.options, LARGEST_SIZE));
    CHECK(ferry_translator_create(model, &newer.options, &translator, &error));
    ferry_translator_destroy(translator);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char expected[128];
        snprintf(expected, sizeof expected,
                 "ferry_options: expected 0 at byte %zu, found 1: a field that version " FERRY_VERSION
                 " of the library does not know",
                 places[i]);
        newer.bytes[places[i]] = 1;
        REFUSE_SAYING(ferry_translator_create(model, &newer.options, &translator, &error), FERRY_ERROR_ARGUMENT,
                      expected);
        newer.bytes[places[i]] = 0;
    }
}
