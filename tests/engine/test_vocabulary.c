/* Pieces by text. */
#include "tests/support/tokenizer_support.h"

#include "tokenizer/vocabulary.h"

TEST(test_vocabulary)
{
    /* p107399 and p111895 have one hash, p077988 and p099285 another. */
    static const ferry_view pieces[] = {VIEW("a"), VIEW("b"),       VIEW("a"),       VIEW("a\0"),    VIEW("a\0b"),
                                        VIEW(""),  VIEW("p107399"), VIEW("p111895"), VIEW("p077988")};
    ferry_vocabulary vocabulary;
    CHECK(ferry_vocabulary_create(pieces, 9, &vocabulary, &error));
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a")), 0);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("b")), 1);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a\0")), 3);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a\0b")), 4);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("")), 5);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a\0c")), -1);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("p107399")), 6);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("p111895")), 7);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("p077988")), 8);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("p099285")), -1);
    ferry_vocabulary_destroy(&vocabulary);

    CHECK(ferry_vocabulary_create(NULL, 0, &vocabulary, &error));
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a")), -1);
    ferry_vocabulary_destroy(&vocabulary);
}

TEST(test_large_vocabulary)
{
    enum { COUNT = 58000 };
    static char names[COUNT][16];
    static ferry_view pieces[COUNT];
    ferry_vocabulary vocabulary;
    for (int32_t i = 0; i < COUNT; i++) {
        int size = snprintf(names[i], sizeof names[i], "▁%x", (unsigned)i * 2654435761u);
        pieces[i] = (ferry_view){names[i], (size_t)size};
    }
    assert_int_equal(ferry_vocabulary_create(pieces, COUNT, &vocabulary, NULL), FERRY_OK);
    for (int32_t i = 0; i < COUNT; i++) assert_int_equal(ferry_vocabulary_find(&vocabulary, pieces[i]), i);
    ferry_vocabulary_destroy(&vocabulary);
}
