/* Pieces by text. */
#include "tests/support/tokenizer_support.h"

#include "tokenizer/pieces.h"

TEST(test_vocabulary)
{
    static const ferry_view pieces[] = {VIEW("a"), VIEW("b"),       VIEW("a"),       VIEW("a\0"),    VIEW("a\0b"),
                                        VIEW(""),  VIEW("p107399"), VIEW("p111895"), VIEW("p077988")};
    ferry_vocabulary vocabulary;
    const ferry_texts *listed = KEPT_TEXTS(pieces);
    for (int32_t count = 1; count < (int32_t)COUNT(pieces); count++) {
        CHECK(ferry_vocabulary_create(listed, count, &vocabulary, &error));
        for (int32_t id = 0; id < (int32_t)COUNT(pieces); id++)
            assert_int_equal(ferry_vocabulary_find(&vocabulary, pieces[id]), id == 2 ? 0 : id < count ? id : -1);
        ferry_vocabulary_destroy(&vocabulary);
    }
    CHECK(ferry_vocabulary_create(listed, COUNT(pieces), &vocabulary, &error));
    for (int32_t id = 0; id < (int32_t)COUNT(pieces); id++)
        assert_int_equal(ferry_vocabulary_find(&vocabulary, pieces[id]), id != 2 ? id : 0); /* the first of two */
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a\0c")), -1);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("p099285")), -1);
    ferry_vocabulary_destroy(&vocabulary);

    CHECK(ferry_vocabulary_create(NULL, 0, &vocabulary, &error));
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a")), -1);
    ferry_vocabulary_destroy(&vocabulary);
}

/* ---- pieces that were chosen to collide ---- */

/* Where a piece of this hash belongs. */
static size_t home(uint64_t hash, size_t capacity)
{
    return (size_t)((hash & UINT32_MAX) * capacity >> 32);
}

/* Slots that all pieces of a vocabulary are compared with when each is looked for. */
static size_t comparisons(const ferry_vocabulary *vocabulary)
{
    size_t sum = 0;
    for (size_t at = 0; at < vocabulary->capacity; at++) {
        const uint32_t slot = vocabulary->slots[at] & vocabulary->id_mask;
        if (slot == 0) continue;
        const ferry_view piece = ferry_texts_at(vocabulary->pieces, slot - 1);
        const size_t place = home(ferry_keyed_hash(vocabulary->key, piece.data, piece.size), vocabulary->capacity);
        sum += 1 + (at >= place ? at - place : at + vocabulary->capacity - place);
    }
    return sum;
}

/* FNV-1a, which has no key. */
static uint64_t foreseen_hash(const char *text)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (; *text != '\0'; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001B3u;
    return hash ^ hash >> 32;
}

TEST(test_colliding_pieces)
{
    enum { PIECES = 2000, CAPACITY = 2501 };
    static char names[PIECES][16];
    static ferry_view pieces[PIECES];
    ferry_vocabulary vocabulary, other;
    for (int32_t i = 0, name = 0; i < PIECES; name++) {
        const int size = snprintf(names[i], sizeof names[i], "p%d", name);
        if (home(foreseen_hash(names[i]), CAPACITY) != 0) continue;
        pieces[i] = (ferry_view){names[i], (size_t)size};
        i++;
    }
    const ferry_texts *listed = KEPT_TEXTS(pieces);
    CHECK(ferry_vocabulary_create(listed, PIECES, &vocabulary, &error));
    CHECK(ferry_vocabulary_create(listed, PIECES, &other, &error));
    assert_int_equal(vocabulary.capacity, CAPACITY);
    assert_true(comparisons(&vocabulary) < 8 * PIECES); /* 3 each are expected; in one place: 2,001,000 */
    for (int32_t i = 0; i < PIECES; i++) assert_int_equal(ferry_vocabulary_find(&vocabulary, pieces[i]), i);
    assert_memory_not_equal(&vocabulary.key, &other.key, sizeof other.key);
    ferry_vocabulary_destroy(&vocabulary);
    ferry_vocabulary_destroy(&other);
}

/* What CPython 3.11, whose hash is SipHash-1-3, answers with the key 0: PYTHONHASHSEED=0, hash(bytes(range(n))). */
TEST(test_keyed_hash)
{
    static const struct {
        size_t size;
        uint64_t hash;
    } rows[] = {{1, 0x68A914128E01E473u},
                {7, 0x2F098AB0C751325Au},
                {8, 0xEAD411E67EBE2EEAu},
                {15, 0xF30EB725BB91C9EAu},
                {63, 0x385D3E39E5F37359u}};
    uint8_t bytes[63];
    for (uint8_t i = 0; i < sizeof bytes; i++) bytes[i] = i;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(ferry_keyed_hash((ferry_hash_key){0}, bytes, rows[i].size) == rows[i].hash);
        assert_true(ferry_keyed_hash((ferry_hash_key){1, 0}, bytes, rows[i].size) != rows[i].hash);
        assert_true(ferry_keyed_hash((ferry_hash_key){0, 1}, bytes, rows[i].size) != rows[i].hash);
    }
}
