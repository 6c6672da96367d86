/* Damaged and unusual SentencePiece models: refused, or harmless. */
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
    char *damaged = malloc(proto.size);
    uint32_t random = 2;
    int refused = 0;
    ferry_error error;
    assert_non_null(damaged);
    assert_int_equal(try_model(proto, &error), FERRY_OK);
    for (size_t size = 0; size < proto.size; size += 1 + size / 8) {
        assert_int_not_equal(try_model((ferry_view){proto.data, size}, &error), FERRY_OK);
    }
    for (int round = 0; round < 300; round++) {
        memcpy(damaged, proto.data, proto.size);
        for (int i = 0; i < 4; i++) damaged[next_random(&random) % proto.size] = (char)next_random(&random);
        if (try_model((ferry_view){damaged, proto.size}, &error) != FERRY_OK) refused++;
    }
    assert_true(refused > 0);
    free(damaged);
    free_view(proto);
}

/* ---- protos written by hand ---- */

typedef struct proto_writer {
    char bytes[65536];
    size_t size;
} proto_writer;

static void put(proto_writer *writer, const void *bytes, size_t size)
{
    assert_true(size <= sizeof writer->bytes - writer->size);
    memcpy(writer->bytes + writer->size, bytes, size);
    writer->size += size;
}

static void put_tag(proto_writer *writer, int number, size_t length)
{
    const uint8_t tag[] = {(uint8_t)(number << 3 | 2), (uint8_t)(length | 0x80), (uint8_t)(length >> 7 | 0x80),
                           (uint8_t)(length >> 14)};
    put(writer, tag, sizeof tag);
}

static void put_piece(proto_writer *writer, ferry_view piece, uint8_t type)
{
    put_tag(writer, 1, 4 + piece.size + 2);
    put_tag(writer, 1, piece.size);
    put(writer, piece.data, piece.size);
    put(writer, (const uint8_t[]){3 << 3, type}, 2);
}

/* A proto of <unk>, "a", `piece` of `type`, and a normalization table of units [count], replacement "b". */
static ferry_status try_proto(ferry_view piece, uint8_t type, const uint32_t *units, size_t count, ferry_error *error)
{
    proto_writer *proto = calloc(1, sizeof *proto);
    uint32_t size = (uint32_t)(count * sizeof *units);
    assert_non_null(proto);
    put_piece(proto, VIEW("<unk>"), 2);
    put_piece(proto, VIEW("a"), 1);
    if (piece.size > 0) put_piece(proto, piece, type);
    if (count > 0) {
        put_tag(proto, 3, 4 + 4 + size + 2);
        put_tag(proto, 2, 4 + size + 2);
        put(proto, &size, 4);
        put(proto, units, size);
        put(proto, "b", 2);
    }
    ferry_status status = try_model((ferry_view){proto->bytes, proto->size}, error);
    free(proto);
    return status;
}

TEST(test_odd_pieces)
{
    enum { NORMAL = 1, UNKNOWN = 2, USER_DEFINED = 4, BYTE = 6 };
    char longest[65];
    ferry_error error;
    memset(longest, 'a', sizeof longest);
    assert_int_equal(try_proto(VIEW("b"), NORMAL, NULL, 0, &error), FERRY_OK);
    assert_int_equal(try_proto(VIEW("a"), NORMAL, NULL, 0, &error), FERRY_ERROR_FORMAT);
    assert_int_equal(try_proto(VIEW("b"), UNKNOWN, NULL, 0, &error), FERRY_ERROR_FORMAT);
    assert_int_equal(try_proto(VIEW("<0x41>"), BYTE, NULL, 0, &error), FERRY_ERROR_FORMAT);
    assert_int_equal(try_proto(VIEW("\0b"), NORMAL, NULL, 0, &error), FERRY_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "model: SentencePiece: "));
    assert_int_equal(try_proto((ferry_view){longest, 64}, USER_DEFINED, NULL, 0, &error), FERRY_OK);
    assert_int_equal(try_proto((ferry_view){longest, 65}, NORMAL, NULL, 0, &error), FERRY_OK);
    assert_int_equal(try_proto((ferry_view){longest, 65}, USER_DEFINED, NULL, 0, &error), FERRY_ERROR_UNSUPPORTED);
    assert_string_equal(error.message, "model: user-defined piece: expected at most 64 bytes, found 65");
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
    uint32_t *units = calloc(COUNT, sizeof *units);
    ferry_error error;
    assert_non_null(units);
    chain(units, COUNT, 32);
    assert_int_equal(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_OK);
    assert_int_equal(try_proto(VIEW(""), 0, units, 256 * 33, &error), FERRY_ERROR_FORMAT);
    units[256 * 33] = 1u << 31 | 2; /* the replacements have bytes 0 and 1 */
    assert_int_equal(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_ERROR_FORMAT);
    assert_string_equal(error.message, "model: normalization table leads out of its 36864 bytes");

    chain(units, COUNT, 33);
    assert_int_equal(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_ERROR_UNSUPPORTED);
    chain(units, COUNT, 1);
    units[256 + 'a'] = (uint32_t)'a' << 10 | 1u << 8 | 'a'; /* leads to itself: endless rules */
    units[256] = 1u << 31;
    assert_int_equal(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_ERROR_UNSUPPORTED);
    assert_int_equal(try_proto(VIEW(""), 0, units, 1, &error), FERRY_ERROR_FORMAT);
    free(units);
}
