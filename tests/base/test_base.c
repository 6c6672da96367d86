/* base/: what files and names are read and put together with, at the ends of its ranges. */
#include "tests/support/tokenizer_support.h"

#if defined(__linux__)
#include <sys/resource.h>
#endif

#include "base/system.h"
#include "base/texts.h"

TEST(test_view_contains)
{
    static const struct {
        ferry_view view;
        const char *part;
        bool expected;
    } rows[] = {
        {VIEW("abcab"), "abc", true}, {VIEW("abcab"), "cab", true}, {VIEW("abcab"), "abcab", true},
        {VIEW("abcab"), "bc", true},  {VIEW("abcab"), "", true},    {VIEW("abcab"), "abcabc", false},
        {VIEW("abcab"), "ba", false}, {VIEW("aab"), "ab", true},    {VIEW("a\0b"), "b", true},
        {{"abc", 2}, "bc", false}, /* of the view, not of the text in which it is */
        {VIEW(""), "a", false},       {{NULL, 0}, "a", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(ferry_view_contains(rows[i].view, rows[i].part), rows[i].expected);
}

TEST(test_hex_digit)
{
    for (int c = -128; c < 128; c++) {
        const char digit[] = {(char)c, '\0'};
        const bool known = c > 0 && strspn(digit, "0123456789abcdefABCDEF") == 1;
        assert_int_equal(ferry_hex_digit((char)c), known ? strtol(digit, NULL, 16) : -1);
    }
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

TEST(test_order_of_texts)
{
    static const struct {
        ferry_view a, b;
        int order;
    } rows[] = {{VIEW("a"), VIEW("ab"), -1}, {VIEW("ab"), VIEW("a"), 1},  {VIEW("b"), VIEW("ab"), 1},
                {VIEW("ab"), VIEW("ab"), 0}, {VIEW(""), {NULL, 0}, 0},    {VIEW(""), VIEW("\0"), -1},
                {VIEW("a"), VIEW("b"), -1},  {VIEW("\xC3"), VIEW("z"), 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(sign(ferry_view_compare(rows[i].a, rows[i].b)), rows[i].order);
        assert_int_equal(ferry_view_equal(rows[i].a, rows[i].b), rows[i].order == 0);
    }
    static const struct {
        const char *a, *b;
        size_t size;
        int order;
        bool begins, ends; /* a with b */
    } letters[] = {{"AZaz", "azAZ", 4, 0, false, false}, {"abx", "aby", 2, 0, false, false},
                   {"abx", "aby", 3, -1, false, false},  {"ab", "a", 2, 1, true, false},
                   {"ab", "ab", 9, 0, true, true},       {"[", "{", 1, -1, false, false},
                   {"@", "`", 0, 0, false, false},       {"@", "`", 1, -1, false, false},
                   {"cab", "ab", 1, 1, false, true},     {"b", "ab", 1, 1, false, false}};
    for (size_t i = 0; i < COUNT(letters); i++) {
        assert_int_equal(sign(ferry_compare_letters(letters[i].a, letters[i].b, letters[i].size)), letters[i].order);
        assert_int_equal(ferry_text_begins(letters[i].a, letters[i].b), letters[i].begins);
        assert_int_equal(ferry_text_ends(letters[i].a, letters[i].b), letters[i].ends);
    }
}

TEST(test_names_are_cut)
{
    char text[301];
    memset(text, 'x', 300);
    text[300] = 0;
    for (int size = 253; size <= 300; size++) {
        const ferry_name name = ferry_name_format("%.*s", size, text);
        assert_int_equal(strlen(name.text), size < 255 ? size : 255);
        assert_memory_equal(name.text, text, strlen(name.text));
    }
    assert_string_equal(ferry_name_format("blk.%d.%s", 7, "attn_q").text, "blk.7.attn_q");
    assert_string_equal(ferry_name_format("%s", "").text, "");
}

TEST(test_arrays_grow)
{
    uint32_t *array = NULL;
    size_t capacity = 0, moves = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        const size_t before = capacity;
        array = ferry_array_grow(array, &capacity, (size_t)i + 1, sizeof *array);
        assert_true(array != NULL && capacity > i && (capacity == before || capacity >= 2 * before));
        moves += capacity != before;
        array[i] = i;
    }
    assert_in_range(moves, 1, 14);
    /* Far more at once; what is there already; and count·size that does not fit into size_t. */
    const size_t many = 10 * capacity, too_many[] = {SIZE_MAX / 4 + 1, SIZE_MAX / 2, SIZE_MAX};
    array = ferry_array_grow(array, &capacity, many, sizeof *array);
    assert_true(array != NULL && capacity >= many);
    const size_t enough = capacity;
    assert_ptr_equal(ferry_array_grow(array, &capacity, enough, sizeof *array), array);
    for (size_t i = 0; i < COUNT(too_many); i++)
        assert_null(ferry_array_grow(array, &capacity, too_many[i], sizeof *array));
    assert_int_equal(capacity, enough);
    for (uint32_t i = 0; i < 10000; i++) assert_int_equal(array[i], i);
    free(array);
}

/* Places have 32 bits. Sizes are added before any byte is read: the last sum is 0 where size_t has no room for it. */
TEST(test_joined_texts)
{
    static const ferry_view views[] = {VIEW("one"), VIEW(""), {NULL, 0}, VIEW("t\0o"), VIEW("\u2581")},
                            large[][2] = {{{"", UINT32_MAX}, {"", 1}},
                                          {{"", UINT32_MAX}, {"", SIZE_MAX - UINT32_MAX + 1}}};
    ferry_arena arena = {0};
    const ferry_texts *texts;
    CHECK(ferry_texts_join(&arena, views, COUNT(views), &texts, &error));
    for (size_t i = 0; i < COUNT(views); i++) assert_true(ferry_view_equal(ferry_texts_at(texts, i), views[i]));
    CHECK(ferry_texts_join(&arena, NULL, 0, &texts, &error));
    assert_non_null(texts);
    for (size_t i = 0; i < COUNT(large); i++) {
        REFUSE_SAYING(ferry_texts_join(&arena, large[i], 2, &texts, &error), FERRY_ERROR_LIMIT,
                      "a list of 2 texts: they have 2^32 bytes or more");
        assert_null(texts);
    }
    ferry_arena_destroy(&arena);
}

/* As a model file has them, with their lengths before them. */
TEST(test_texts_with_gaps)
{
    static const char bytes[] = "12345678one12345678"
                                "12345678\0";
    ferry_texts *texts = ferry_texts_create(bytes, 8, 3);
    assert_non_null(texts);
    assert_true(ferry_texts_set_end(texts, 0, 11) && ferry_texts_set_end(texts, 1, 19) &&
                ferry_texts_set_end(texts, 2, 28));
    assert_true(ferry_view_equal(ferry_texts_at(texts, 0), VIEW("one")));
    assert_true(ferry_view_equal(ferry_texts_at(texts, 1), VIEW("")));
    assert_true(ferry_view_equal(ferry_texts_at(texts, 2), VIEW("\0")));
    free(texts);
    texts = ferry_texts_create("", 0, 1);
    assert_true(ferry_texts_set_end(texts, 0, UINT32_MAX));
    assert_int_equal(ferry_texts_at(texts, 0).size, UINT32_MAX);
#if SIZE_MAX > UINT32_MAX
    assert_false(ferry_texts_set_end(texts, 0, (size_t)UINT32_MAX + 1));
    assert_int_equal(ferry_texts_at(texts, 0).size, UINT32_MAX);
#endif
    free(texts);
    assert_null(ferry_texts_create("", 0, SIZE_MAX));
    assert_null(ferry_texts_create("", 0, SIZE_MAX / 4));
}

TEST(test_large_memory)
{
    enum { PAGE = 2 << 20 };
    static const struct {
        size_t size, expected, alignment;
    } rows[] = {
        {1, 64, 64},
        {63, 64, 64},
        {64, 64, 64},
        {65, 128, 64},
        {PAGE - 64, PAGE - 64, 64},
        {PAGE - 1, PAGE, 64},
#if !defined(_WIN32) /* which has no huge pages for users */
        {PAGE, PAGE, PAGE},
        {PAGE + 1, 2 * PAGE, PAGE},
#endif
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t size = ferry_large_size(rows[i].size);
        char *memory = ferry_large_alloc(size);
        assert_non_null(memory);
        assert_int_equal(size, rows[i].expected);
        assert_int_equal((uintptr_t)memory % rows[i].alignment, 0);
        memory[0] = memory[size - 1] = 1;
        ferry_aligned_free(memory);
    }
    for (size_t less = 0; less < 3; less++) assert_int_equal(ferry_large_size(SIZE_MAX - less), 0);
    assert_null(ferry_large_alloc(0));
}

#if defined(__linux__)
/* Whether the system has huge pages or not, most are small after the first one, each with a fault of its own. */
TEST(test_large_memory_without_patience)
{
    enum { SIZE = 32 << 20, LARGEST_SMALL = 1 << 16 };
    struct rusage before, after;
    char *memory = ferry_large_alloc(SIZE);
    assert_non_null(memory);
    ferry_pages_forget(memory, SIZE); /* of who had it before */
    getrusage(RUSAGE_SELF, &before);
    ferry_large_touch(memory, SIZE, -1);
    getrusage(RUSAGE_SELF, &after);
    assert_in_range(after.ru_minflt - before.ru_minflt, SIZE / 2 / LARGEST_SMALL, SIZE);
    ferry_large_free(memory, SIZE);
}
#endif
