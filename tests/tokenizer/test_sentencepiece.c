/* Damaged and unusual SentencePiece models: refused, or harmless. */
#define _POSIX_C_SOURCE 200809L /* dup2, fileno */
#include <stdio.h>
#include <unistd.h>

#include "tests/support/tokenizer_support.h"

#include "tokenizer/sentencepiece_c.h"
#include "tokenizer/sentencepiece_check.h"

/* ---- damage ---- */

static ferry_status ignore_piece(void *user, const ferry_spm_part *part)
{
    *(size_t *)user += part->piece.size + (size_t)part->id;
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

enum { PROTO_NORMALIZER = 3, PROTO_DENORMALIZER = 5 };
enum { FORMAT = FERRY_ERROR_FORMAT, UNSUPPORTED = FERRY_ERROR_UNSUPPORTED };

static void put_first_pieces(made_file *proto)
{
    put_piece(proto, VIEW("<unk>"), 2);
    put_piece(proto, VIEW("a"), 1);
}

/* A proto of <unk>, "a", and a normalization table of units [count] as the field of that number. */
static ferry_view with_rules(int field, const uint32_t *units, size_t count, ferry_view replacements)
{
    const uint32_t size = (uint32_t)(count * sizeof *units);
    made_file proto = {.size = 0};
    put_first_pieces(&proto);
    put_tag(&proto, field, 4 + 4 + size + replacements.size);
    put_tag(&proto, 2, 4 + size + replacements.size);
    put(&proto, size, 4);
    put_bytes(&proto, units, size);
    put_bytes(&proto, replacements.data, replacements.size);
    return whole(&proto);
}

/* Fields as protocol buffers have them: complete, or cut short by a byte. */
TEST(test_fields)
{
    static const struct {
        ferry_view proto;
        const char *what; /* NULL: allowed */
    } rows[] = {
        {VIEW(""), NULL},
        {VIEW("\x10\x01"), NULL},
        {VIEW("\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), NULL},
        {VIEW("\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x01"), "found no field at byte 11"},
        {VIEW("\x10\x01\x10"), "model: expected a SentencePiece model, found no field at byte 3"},
        {VIEW("\x11ZZZZZZZZ"), NULL},
        {VIEW("\x11ZZZZZZZ"), "found no field at byte 1"},
        {VIEW("\x15ZZZZ"), NULL},
        {VIEW("\x15ZZZ"), "found no field at byte 1"},
        {VIEW("\x12\x02zz"), NULL},
        {VIEW("\x12\x02z"), "found no field at byte 2"},
        {VIEW("\x13"), "found no field at byte 1"},
        {VIEW("\x14"), "found no field at byte 1"},
        {VIEW("\xF8\xFF\xFF\xFF\x0F\x00"), NULL},
        {VIEW("\xF8\xFF\xFF\xFF\x1F\x00"), "found no field at byte 5"},
        {VIEW("\x0A\x01\x0A"), "found no field at byte 1"},
        {VIEW("\x1A\x01\x12"), "found no field at byte 1"},
        {VIEW("\x1A\x02\x12\x00"), NULL},
        {VIEW("\x1A\x07\x0A\x03\0\0\0\x10\x01"), NULL}, /* not a table: a name, and a number where one would be */
        {VIEW("\x1A\x05\x12\x03\0\0\0"), "model: normalization table is cut short at 3 bytes"},
        {VIEW("\x1A\x06\x12\x04\x01\0\0\0"), "model: normalization table is cut short at 4 bytes"},
        {VIEW("\x1A\x06\x12\x04\0\0\0\0"), "expected a multiple of 1024 bytes, found 0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_view self_test;
        REFUSE(ferry_spm_check(rows[i].proto, "model", &self_test, &error), FERRY_ERROR_FORMAT, rows[i].what);
    }
}

/* <unk>, "a", and one more. */
TEST(test_odd_pieces)
{
    enum { NORMAL = 1, UNKNOWN = 2, USER = 4, BYTE = 6 };
    static char letters[1 << 20];
    static const struct {
        ferry_view piece;
        uint8_t type;
        int status;
        const char *what;
    } rows[] = {
        {VIEW("b"), NORMAL, FERRY_OK, NULL},
        {VIEW("a"), NORMAL, FORMAT, ""},
        {VIEW("b"), UNKNOWN, FORMAT, ""},
        {VIEW("<0x41>"), BYTE, FORMAT, ""},
        {VIEW("\0b"), NORMAL, FORMAT, "model: SentencePiece: "},
        {{letters, 64}, USER, FERRY_OK, NULL},
        {{letters, 65}, NORMAL, FERRY_OK, NULL},
        {{letters, 65}, USER, UNSUPPORTED, "model: user-defined piece: expected at most 64 bytes, found 65"},
        {{letters, 512}, NORMAL, FERRY_OK, NULL},
        {{letters, 513}, NORMAL, UNSUPPORTED, "model: piece: expected at most 512 bytes, found 513"},
        {{letters, sizeof letters}, NORMAL, UNSUPPORTED, "at most 512 bytes, found 1048576"},
    };
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < COUNT(rows); i++) {
        made_file proto = {.size = 0};
        put_first_pieces(&proto);
        put_piece(&proto, rows[i].piece, rows[i].type);
        REFUSE(try_model(whole(&proto), &error), (ferry_status)rows[i].status, rows[i].what);
    }
}

/* A piece's text and type twice, of which SentencePiece takes the last: the longest counts, and the type with a limit.
 */
TEST(test_repeated_fields)
{
    static const char letters[513];
    static const struct {
        size_t first, second;
        ferry_view types;
        const char *what;
    } rows[] = {{512, 1, VIEW("\x18\x01"), NULL},
                {513, 1, VIEW("\x18\x01"), "model: piece: expected at most 512 bytes, found 513"},
                {1, 513, VIEW("\x18\x01"), "model: piece: expected at most 512 bytes, found 513"},
                {65, 64, VIEW("\x18\x04\x18\x01"), "model: user-defined piece: expected at most 64 bytes, found 65"},
                {64, 64, VIEW("\x18\x01\x18\x04"), NULL},
                /* 2^32 + 4, which becomes 4 */
                {65, 1, VIEW("\x18\x84\x80\x80\x80\x10"), "user-defined piece: expected at most 64 bytes"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        made_file proto = {.size = 0};
        ferry_view self_test;
        put_tag(&proto, 1, 4 + rows[i].first + 4 + rows[i].second + rows[i].types.size);
        put_tag(&proto, 1, rows[i].first);
        put_bytes(&proto, letters, rows[i].first);
        put_tag(&proto, 1, rows[i].second);
        put_bytes(&proto, letters, rows[i].second);
        put_bytes(&proto, rows[i].types.data, rows[i].types.size);
        REFUSE(ferry_spm_check(whole(&proto), "model", &self_test, &error), FERRY_ERROR_UNSUPPORTED, rows[i].what);
    }
}

/* What SentencePiece makes large objects of is limited. */
TEST(test_amounts)
{
    static const char zeros[512];
    static const struct {
        ferry_view piece; /* without data: another field */
        int count;        /* the most that are allowed */
        const char *what;
    } rows[] = {
        {VIEW("a"), FERRY_SPM_MAX_PIECES, "model: expected at most 1048576 pieces, found more"},
        {{zeros, 512}, 1 << 15, "model: expected at most 16777216 bytes of pieces, found more"},
        {{NULL, 0}, 1 << 18, "model: expected at most 1048576 bytes beside pieces and normalization, found more"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        made_file proto = {.size = 0};
        ferry_view self_test;
        for (int n = 0; n <= rows[i].count; n++) {
            const bool last = n == rows[i].count;
            if (last) CHECK(ferry_spm_check(whole(&proto), "model", &self_test, &error));
            if (rows[i].piece.data != NULL)
                put_piece(&proto, last ? VIEW("a") : rows[i].piece, 1);
            else
                put_tag(&proto, last ? 7 : 2, 0);
        }
        REFUSE_SAYING(ferry_spm_check(whole(&proto), "model", &self_test, &error), FERRY_ERROR_UNSUPPORTED,
                      rows[i].what);
    }
    made_file tested = {.size = 0}; /* a self test is none of it */
    ferry_view self_test;
    put_tag(&tested, 4, 1 << 20);
    for (size_t i = 0; i < 1 << 20; i += sizeof zeros) put_bytes(&tested, zeros, sizeof zeros);
    CHECK(ferry_spm_check(whole(&tested), "model", &self_test, &error));
    assert_int_equal(self_test.size, 4 + (1 << 20));
}

/* Neither damage nor a self test that fails, which SentencePiece would print; the self test is not run. */
TEST(test_nothing_is_printed)
{
    const ferry_view proto = read_file(BYTE_FALLBACK);
    made_file tested = {.size = 0};
    put_tag(&tested, 4, 4 + 4 + 4);
    put_tag(&tested, 1, 4 + 4);
    put_tag(&tested, 1, 4); /* a sample: 1 input, 2 expected, which is missing */
    put_bytes(&tested, "abcd", 4);
    put_bytes(&tested, proto.data, proto.size);
    FILE *errors = fopen(scratch_file("errors"), "w+b"); /* tmpfile() needs the root of a drive on Windows */
    const int console = dup(STDERR_FILENO);
    assert_non_null(errors);
    dup2(fileno(errors), STDERR_FILENO);
    size_t loaded = 0;
    for (size_t size = 0; size < proto.size; size += 1 + size / 8)
        loaded += try_model((ferry_view){proto.data, size}, &(ferry_error){0}) == FERRY_OK;
    const ferry_status status = try_model(whole(&tested), &(ferry_error){0});
    dup2(console, STDERR_FILENO);
    close(console);
    assert_int_equal(lseek(fileno(errors), 0, SEEK_END), 0);
    fclose(errors);
    assert_int_equal(loaded, 0);
    assert_int_equal(status, FERRY_OK);

    put_tag(&tested, 4, 4);
    put_bytes(&tested, "\x0A\x02\x0A", 4);
    REFUSE_SAYING(try_model(whole(&tested), &error), FERRY_ERROR_FORMAT, "model: expected one self test, found two");
}

/* A table whose rules are "a", "aa", … up to `keys` letters: node k is unit 256 k + 'a', its base 256 (k + 1). No text
 * gets to the other units. */
static void chain(uint32_t *units, size_t count, uint32_t keys)
{
    for (size_t i = 0; i < count; i++) units[i] = 1u << 31;
    units[0] = 256u << 10;
    for (uint32_t k = 1; k <= keys; k++) {
        uint32_t at = 256 * k + 'a', base = 256 * (k + 1);
        units[at] = (at ^ base) << 10 | 1u << 8 | 'a';
    }
}

/* Units that no text reaches may lead anywhere, and those that one reaches may not. Texts and rules cost in proportion
 * to their length, so that a rule must be short. */
TEST(test_normalization_tables)
{
    enum { LEAF = 1 << 8, FAR = 0x1FFFFF << 10 | 'b', LONGEST = 256 * 68 };
    static uint32_t units[LONGEST];
    static const struct {
        uint32_t keys;
        bool last; /* the last key alone is a rule */
        size_t at; /* unit that is another; 0: none */
        uint32_t unit;
        size_t count;
        int status;
        const char *what;
    } rows[] = {
        {32, false, 0, 0, 256 * 36, FERRY_OK, NULL},
        {32, false, 0, 0, 256 * 33, FORMAT, "model: normalization table leads out of its 33792 bytes"},
        /* the replacements have bytes 0 and 1 */
        {32, false, 256 * 33, 1u << 31 | 2, 256 * 36, FORMAT, "leads out of its 36864 bytes"},
        {33, false, 0, 0, 256 * 36, UNSUPPORTED,
         "model: normalization table: expected at most 32 rules for one place of a text, found more"},
        /* beside the second letter, another that leads nowhere, before it or behind it */
        {33, false, 512 + 'A', (512 ^ 'A' ^ 256 * 35) << 10 | 'A', 256 * 36, UNSUPPORTED, "at most 32 rules"},
        {33, false, 512 + 'b', (512 ^ 'b' ^ 256 * 35) << 10 | 'b', 256 * 36, UNSUPPORTED, "at most 32 rules"},
        {33, false, 0, 0, 1, FORMAT, "model: normalization table: expected a multiple of 1024 bytes, found 4"},
        {0, false, 299, 0xFF | 256 << 10, 300, FORMAT, "expected a multiple of 1024 bytes, found 1200"},
        {2, false, 256 * 4 - 1, FAR, 256 * 4, FERRY_OK, NULL},
        {2, false, 256 + 'b', FAR, 256 * 4, FORMAT, "leads out of its 4096 bytes"},
        {64, true, 0, 0, LONGEST, FERRY_OK, NULL},
        {65, true, 0, 0, LONGEST, UNSUPPORTED,
         "model: normalization table: expected rules of at most 64 bytes, found a longer one"},
        /* leads to itself, for as long as a text has letters; leads back to the first one's base */
        {1, false, 256 + 'a', 'a' << 10 | 'a', LONGEST, UNSUPPORTED, "rules of at most 64 bytes"},
        {2, false, 512 + 'a', ('a' ^ 768) << 10 | LEAF | 'a', LONGEST, UNSUPPORTED, "rules of at most 64 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        chain(units, LONGEST, rows[i].keys);
        for (uint32_t k = 1; rows[i].last && k < rows[i].keys; k++) units[256 * k + 'a'] &= ~(uint32_t)LEAF;
        if (rows[i].at > 0) units[rows[i].at] = rows[i].unit;
        REFUSE(try_model(with_rules(PROTO_NORMALIZER, units, rows[i].count, (ferry_view){"b", 2}), &error),
               (ferry_status)rows[i].status, rows[i].what);
    }
}

TEST(test_long_replacements)
{
    enum { SIZE = 256 * 4 };
    static uint32_t units[SIZE];
    char text[67];
    memset(text, 'b', sizeof text);
    chain(units, SIZE, 1);
    text[64] = '\0';
    CHECK(try_model(with_rules(PROTO_NORMALIZER, units, SIZE, (ferry_view){text, 65}), &error));
    text[64] = 'b';
    text[65] = '\0';
    for (int field = PROTO_NORMALIZER; field <= PROTO_DENORMALIZER; field += PROTO_DENORMALIZER - PROTO_NORMALIZER)
        REFUSE(try_model(with_rules(field, units, SIZE, (ferry_view){text, 66}), &error), FERRY_ERROR_UNSUPPORTED,
               "rules of at most 64 bytes");
    REFUSE(try_model(with_rules(PROTO_NORMALIZER, units, SIZE, (ferry_view){text, 65}), &error),
           FERRY_ERROR_UNSUPPORTED, "");
}

static ferry_status count_inside(void *user, const ferry_spm_part *part)
{
    *(int *)user += part->begin % 3 != 0;
    return FERRY_OK;
}

/* A rule that replaces the first byte of a character: SentencePiece then begins pieces within it, and Ferry does not.
 */
TEST(test_rules_within_characters)
{
    enum { SIZE = 256 * 4 };
    static uint32_t units[SIZE];
    static const ferry_view pieces[] = {VIEW("<unk>"), VIEW("a")}, text = VIEW("\u6F22\u6F22\u6F22");
    ferry_spm *spm;
    int inside = 0;
    chain(units, SIZE, 0);
    units[256 + 0xE6] = (256u + 0xE6 + 512) << 10 | 1u << 8 | 0xE6;
    const ferry_view proto = with_rules(PROTO_NORMALIZER, units, SIZE, (ferry_view){"a", 2});
    CHECK(ferry_spm_create(proto, "model", &spm, &error));
    CHECK(ferry_spm_encode(spm, text, count_inside, &inside, &error));
    assert_true(inside > 0);
    ferry_spm_destroy(spm);

    ferry_tokenizer_config config = one_vocabulary(pieces, COUNT(pieces));
    config.source_model = proto;
    const encoded_row row = {text, "0:|1:\u6F22|0:|1:\u6F22|0:|1:\u6F22|0:"};
    check_encoded(&config, SOURCE, &row, 1);
}
