/* Damaged and unusual SentencePiece models: refused, or harmless. */
#define _POSIX_C_SOURCE 200809L /* dup2, fileno */
#include <stdio.h>
#include <unistd.h>

#include "tests/support/tokenizer_support.h"

#include "tests/support/random.h"
#include "tokenizer/sentencepiece_c.h"

/* ---- damage ---- */

static ferry_status ignore_piece(void *user, ferry_view piece, int32_t id)
{
    *(size_t *)user += piece.size + (size_t)id;
    return FERRY_OK;
}

/* Loads `proto`; a model that loads must also survive a text. */
static ferry_status try_model(ferry_view proto, ferry_error *error)
{
    ferry_spm *spm;
    size_t used = 0;
    ferry_status status = ferry_spm_create(proto, "model", &spm, error);
    if (status == FERRY_OK) ferry_spm_encode(spm, VIEW("aaaa Ünïcödé — ﬁne ½\0\xE2 漢字"), ignore_piece, &used, NULL);
    assert_true((status == FERRY_OK) == (spm != NULL));
    ferry_spm_destroy(spm);
    return status;
}

TEST(test_random_bytes_are_refused)
{
    char bytes[256];
    uint32_t random = 1;
    ferry_error error;
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)next_random(&random);
        assert_int_not_equal(try_model((ferry_view){bytes, next_random(&random) % sizeof bytes}, &error), FERRY_OK);
    }
}

TEST(test_damaged_models)
{
    ferry_view proto = read_file(BYTE_FALLBACK);
    char *damaged = kept_memory(proto.size);
    uint32_t random = 2;
    int refused = 0;
    CHECK(try_model(proto, &error));
    for (size_t size = 0; size < proto.size; size += 1 + size / 8)
        assert_int_not_equal(try_model((ferry_view){proto.data, size}, &(ferry_error){0}), FERRY_OK);
    for (int round = 0; round < 300; round++) {
        memcpy(damaged, proto.data, proto.size);
        for (int i = 0; i < 4; i++) damaged[next_random(&random) % proto.size] = (char)next_random(&random);
        if (try_model((ferry_view){damaged, proto.size}, &(ferry_error){0}) != FERRY_OK) refused++;
    }
    assert_true(refused > 0);
}

/* ---- protos written by hand ---- */

static void put_tag(made_file *writer, int number, size_t length)
{
    const uint8_t tag[] = {(uint8_t)(number << 3 | 2), (uint8_t)(length | 0x80), (uint8_t)(length >> 7 | 0x80),
                           (uint8_t)(length >> 14)};
    put_bytes(writer, tag, sizeof tag);
}

static void put_piece(made_file *writer, ferry_view piece, uint8_t type)
{
    put_tag(writer, 1, 4 + piece.size + 2);
    put_tag(writer, 1, piece.size);
    put_bytes(writer, piece.data, piece.size);
    put_bytes(writer, (const uint8_t[]){3 << 3, type}, 2);
}

/* A proto of <unk>, "a", `piece` of `type`, and a normalization table of units [count], replacement "b". */
static ferry_status try_proto(ferry_view piece, uint8_t type, const uint32_t *units, size_t count, ferry_error *error)
{
    made_file proto = {.size = 0};
    uint32_t size = (uint32_t)(count * sizeof *units);
    put_piece(&proto, VIEW("<unk>"), 2);
    put_piece(&proto, VIEW("a"), 1);
    if (piece.size > 0) put_piece(&proto, piece, type);
    if (count > 0) {
        put_tag(&proto, 3, 4 + 4 + size + 2);
        put_tag(&proto, 2, 4 + size + 2);
        put(&proto, size, 4);
        put_bytes(&proto, units, size);
        put_bytes(&proto, "b", 2);
    }
    return try_model(whole(&proto), error);
}

TEST(test_odd_pieces)
{
    enum { NORMAL = 1, UNKNOWN = 2, USER_DEFINED = 4, BYTE = 6 };
    char longest[65];
    memset(longest, 'a', sizeof longest);
    CHECK(try_proto(VIEW("b"), NORMAL, NULL, 0, &error));
    REFUSE(try_proto(VIEW("a"), NORMAL, NULL, 0, &error), FERRY_ERROR_FORMAT, "");
    REFUSE(try_proto(VIEW("b"), UNKNOWN, NULL, 0, &error), FERRY_ERROR_FORMAT, "");
    REFUSE(try_proto(VIEW("<0x41>"), BYTE, NULL, 0, &error), FERRY_ERROR_FORMAT, "");
    REFUSE(try_proto(VIEW("\0b"), NORMAL, NULL, 0, &error), FERRY_ERROR_FORMAT, "model: SentencePiece: ");
    CHECK(try_proto((ferry_view){longest, 64}, USER_DEFINED, NULL, 0, &error));
    CHECK(try_proto((ferry_view){longest, 65}, NORMAL, NULL, 0, &error));
    REFUSE_SAYING(try_proto((ferry_view){longest, 65}, USER_DEFINED, NULL, 0, &error), FERRY_ERROR_UNSUPPORTED,
                  "model: user-defined piece: expected at most 64 bytes, found 65");

    static char deep[1 << 20];
    memset(deep, 'a', sizeof deep);
    CHECK(try_proto((ferry_view){deep, 2048}, NORMAL, NULL, 0, &error));
    REFUSE_SAYING(try_proto((ferry_view){deep, sizeof deep}, NORMAL, NULL, 0, &error), FERRY_ERROR_UNSUPPORTED,
                  "model: piece: expected at most 2048 bytes, found 1048576");
}

/* A self test that fails: SentencePiece would print it, and refuse the model. */
TEST(test_self_test_is_not_run)
{
    ferry_view proto = read_file(BYTE_FALLBACK);
    made_file tested = {.size = 0};
    put_tag(&tested, 4, 4 + 4 + 4);
    put_tag(&tested, 1, 4 + 4);
    put_tag(&tested, 1, 4); /* a sample: 1 input, 2 expected, which is missing */
    put_bytes(&tested, "abcd", 4);
    put_bytes(&tested, proto.data, proto.size);
    FILE *errors = tmpfile();
    int console = dup(STDERR_FILENO);
    assert_non_null(errors);
    dup2(fileno(errors), STDERR_FILENO);
    ferry_status status = try_model(whole(&tested), &(ferry_error){0});
    dup2(console, STDERR_FILENO);
    close(console);
    assert_int_equal(status, FERRY_OK);
    assert_int_equal(lseek(fileno(errors), 0, SEEK_END), 0);
    fclose(errors);

    put_tag(&tested, 4, 4);
    put_bytes(&tested, "\x0A\x02\x0A", 4);
    REFUSE_SAYING(try_model(whole(&tested), &error), FERRY_ERROR_FORMAT, "model: expected one self test, found two");
}

/* A table whose rules are "a", "aa", … up to `keys` letters: node k is unit 256 k + 'a', its base 256 (k + 1). */
static void chain(uint32_t *units, size_t count, uint32_t keys)
{
    memset(units, 0, count * sizeof *units);
    units[0] = 256u << 10;
    for (uint32_t k = 1; k <= keys; k++) {
        uint32_t at = 256 * k + 'a', base = 256 * (k + 1);
        units[at] = (at ^ base) << 10 | 1u << 8 | 'a';
        units[base] = 1u << 31;
    }
}

TEST(test_normalization_tables)
{
    enum { COUNT = 256 * 36 };
    static uint32_t units[COUNT];
    chain(units, COUNT, 32);
    CHECK(try_proto(VIEW(""), 0, units, COUNT, &error));
    REFUSE(try_proto(VIEW(""), 0, units, 256 * 33, &error), FERRY_ERROR_FORMAT, "");
    units[256 * 33] = 1u << 31 | 2; /* the replacements have bytes 0 and 1 */
    REFUSE_SAYING(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_ERROR_FORMAT,
                  "model: normalization table leads out of its 36864 bytes");

    chain(units, COUNT, 33);
    REFUSE(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_ERROR_UNSUPPORTED, "");
    chain(units, COUNT, 1);
    units[256 + 'a'] = (uint32_t)'a' << 10 | 1u << 8 | 'a'; /* leads to itself: endless rules */
    units[256] = 1u << 31;
    REFUSE(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_ERROR_UNSUPPORTED, "");
    REFUSE(try_proto(VIEW(""), 0, units, 1, &error), FERRY_ERROR_FORMAT, "");
}
