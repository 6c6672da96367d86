/* ferry_options and ferry_search_options of programs that were compiled with another version's header: fewer or more
 * bytes than this library's. */
#include "tests/support/files.h"
#include "tests/support/shipped_model.h"

enum { LARGEST_SIZE = 4096, SPARE = 64 };

/* As a newer header would have them. */
typedef union newer_options {
    ferry_options options;
    ferry_search_options search;
    size_t size;
    unsigned char bytes[LARGEST_SIZE + SPARE];
} newer_options;

/* Each of both structs. */
static const struct {
    const char *argument, *name;
    size_t size;
} structs[] = {{"options", "ferry_options", sizeof(ferry_options)},
               {"search", "ferry_search_options", sizeof(ferry_search_options)}};

static ferry_status set_defaults(size_t which, newer_options *newer, size_t size)
{
    return which == 0 ? ferry_options_default(model, &newer->options, size)
                      : ferry_search_options_default(model, &newer->search, size);
}

static ferry_status create(size_t which, const newer_options *newer, ferry_translator **translator, ferry_error *why)
{
    ferry_options options = default_options(model);
    options.search = &newer->search;
    return ferry_translator_create(model, which == 0 ? &newer->options : &options, translator, why);
}

PIECES_TEST(test_defaults_stay_within_the_size)
{
    newer_options newer;
    for (size_t which = 0; which < COUNT(structs); which++) {
        const size_t known = structs[which].size, sizes[] = {known, known + 4, known + 16, LARGEST_SIZE};
        for (size_t i = 0; i < COUNT(sizes); i++) {
            memset(&newer, 0xAA, sizeof newer);
            assert_int_equal(set_defaults(which, &newer, sizes[i]), FERRY_OK);
            assert_int_equal(newer.size, sizes[i]);
            if (which == 0) assert_int_equal(newer.options.beam, default_options(model).beam);
            if (which == 1) assert_int_equal(newer.search.forced_last_id, -1);
            for (size_t at = known; at < sizes[i]; at++) assert_int_equal(newer.bytes[at], 0);
            for (size_t at = sizes[i]; at < sizeof newer; at++) assert_int_equal(newer.bytes[at], 0xAA);
        }
    }
}

PIECES_TEST(test_impossible_sizes)
{
    ferry_translator *translator;
    newer_options newer;
    for (size_t which = 0; which < COUNT(structs); which++) {
        const size_t sizes[] = {0, 1, structs[which].size - 1, LARGEST_SIZE + 1, SIZE_MAX};
        for (size_t i = 0; i < COUNT(sizes); i++) {
            memset(&newer, 0xAA, sizeof newer);
            assert_int_equal(set_defaults(which, &newer, sizes[i]), FERRY_ERROR_ARGUMENT);
            for (size_t at = 0; at < sizeof newer; at++) assert_int_equal(newer.bytes[at], 0xAA);
            CHECK(set_defaults(which, &newer, structs[which].size));
            newer.size = sizes[i];
            REFUSE(create(which, &newer, &translator, &error), FERRY_ERROR_ARGUMENT,
                   ferry_format("%s: expected %s.size ", structs[which].argument, structs[which].name).text);
            assert_null(translator);
        }
    }
}

PIECES_TEST(test_unknown_fields_must_be_zero)
{
    ferry_translator *translator;
    newer_options newer;
    for (size_t which = 0; which < COUNT(structs); which++) {
        const size_t known = structs[which].size, places[] = {known, known + 5, LARGEST_SIZE - 1};
        CHECK(set_defaults(which, &newer, LARGEST_SIZE));
        CHECK(create(which, &newer, &translator, &error));
        ferry_translator_destroy(translator);
        for (size_t i = 0; i < COUNT(places); i++) {
            newer.bytes[places[i]] = 1;
            REFUSE_SAYING(create(which, &newer, &translator, &error), FERRY_ERROR_ARGUMENT,
                          ferry_format("%s: expected 0 at byte %zu of %s, found 1: a field that version " FERRY_VERSION
                                       " of the library does not know",
                                       structs[which].argument, places[i], structs[which].name)
                              .text);
            newer.bytes[places[i]] = 0;
        }
    }
}
