/* Lists of a plan in which each is compared with every other have an end; names are found by halving. */
#include "tests/support/import_support.h"

#include "models/plan/plan.h"

static ferry_import_source *source;
static ferry_import_plan plan;

static int begin(void **state)
{
    static int number = 0;
    (void)state;
    CHECK(
        ferry_import_source_open(scratch_directory(ferry_name_format("lists-%d", number++).text), 0, &source, &error));
    ferry_import_plan_init(&plan, source);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ferry_import_plan_destroy(&plan);
    ferry_import_source_close(source);
    return 0;
}

TEST_WITH(test_ids, begin, end)
{
    for (int32_t id = 0; id < FERRY_IMPORT_MAX_IDS; id++)
        for (int twice = 0; twice < 2; twice++) CHECK(ferry_import_special(&plan, &id, 1, &error));
    assert_int_equal(plan.text.special_count, FERRY_IMPORT_MAX_IDS);
    const int32_t known = 5, more[] = {7, FERRY_IMPORT_MAX_IDS};
    CHECK(ferry_import_special(&plan, &known, 1, &error));
    REFUSE(ferry_import_special(&plan, more, 2, &error), FERRY_ERROR_LIMIT, ": a list of more than 8192 ids");
}

TEST_WITH(test_languages, begin, end)
{
    ferry_import_tags list = {NULL, NULL, 0};
    for (int32_t i = 0; i < FERRY_IMPORT_MAX_LANGUAGES; i++)
        CHECK(ferry_import_add_tag(&plan, &list, (ferry_view){"deu_Latn", 8}, i, &error));
    REFUSE(ferry_import_add_tag(&plan, &list, (ferry_view){"deu_Latn", 8}, 0, &error), FERRY_ERROR_LIMIT,
           ": more than 2048 languages");
}

TEST_WITH(test_long_tags, begin, end)
{
    char tag[FERRY_IMPORT_MAX_TAG + 1];
    int32_t id = 0;
    ferry_view view = {tag, sizeof tag - 1};
    const ferry_import_tags list = {&view, &id, 1};
    memset(tag, 'a', sizeof tag);
    CHECK(ferry_import_languages(&plan, &list, FERRY_TAG_NONE, FERRY_TAG_PREFIX, &error));
    view.size++;
    REFUSE(ferry_import_languages(&plan, &list, FERRY_TAG_NONE, FERRY_TAG_PREFIX, &error), FERRY_ERROR_FORMAT,
           "expected the tag of a language, found 'aaaa");
}

TEST_WITH(test_prefixes, begin, end)
{
    static const char *const names[] = {"a", "b/c", "b/c/", "b/d", "b/d/e", "b/d/f", "ba"};
    static const struct {
        const char *prefix;
        bool found;
    } rows[] = {{"", true},     {"a", false},     {"b", true},    {"b/c", true}, {"b/c/", false}, {"b/d", true},
                {"b/d/", true}, {"b/d/f", false}, {"b/e", false}, {"c", false},  {"0", false}};
    assert_false(ferry_import_has_prefix(&plan, ""));
    CHECK(ferry_weights_reserve(&plan.weights, COUNT(names), &error));
    for (size_t i = 0; i < COUNT(names); i++) plan.weights.entries[i].tensor.name = text_view(names[i]);
    plan.weights.count = COUNT(names);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (ferry_import_has_prefix(&plan, rows[i].prefix) != rows[i].found) fail_msg("'%s'", rows[i].prefix);
}
