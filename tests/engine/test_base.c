/* base/: what files and names are read and put together with, at the ends of its ranges. */
#include "tests/support/tokenizer_support.h"

#include "base/bytes.h"
#include "base/system.h"

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
    static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
    for (int c = -128; c < 128; c++) {
        const char *at_lower = c > 0 ? strchr(lower, c) : NULL, *at_upper = c > 0 ? strchr(upper, c) : NULL;
        const int expected = at_lower != NULL   ? (int)(at_lower - lower)
                             : at_upper != NULL ? (int)(at_upper - upper)
                                                : -1;
        assert_int_equal(ferry_hex_digit((char)c), expected);
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
        uint32_t *grown = ferry_array_grow(array, &capacity, (size_t)i + 1, sizeof *array);
        assert_non_null(grown);
        array = grown;
        assert_true(capacity > i);
        assert_true(capacity == before || capacity >= 2 * before);
        moves += capacity != before;
        array[i] = i;
    }
    assert_in_range(moves, 1, 14);
    for (uint32_t i = 0; i < 10000; i++) assert_int_equal(array[i], i);

    /* Far more at once; then what is there already. */
    const size_t many = 10 * capacity;
    array = ferry_array_grow(array, &capacity, many, sizeof *array);
    assert_true(array != NULL && capacity >= many && array[9999] == 9999);
    const size_t enough = capacity;
    assert_ptr_equal(ferry_array_grow(array, &capacity, enough, sizeof *array), array);
    assert_int_equal(capacity, enough);

    /* count·size does not fit into size_t. */
    static const size_t too_many[] = {SIZE_MAX / 4 + 1, SIZE_MAX / 2, SIZE_MAX};
    for (size_t i = 0; i < COUNT(too_many); i++) {
        assert_null(ferry_array_grow(array, &capacity, too_many[i], sizeof *array));
        assert_int_equal(capacity, enough);
        assert_int_equal(array[9999], 9999);
    }
    free(array);
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
