/* Files of merges: subword-nmt's codes and FSMT's merges.txt. What is read and what is refused is what their programs
 * read, or could read otherwise. */
#include "tests/support/refusals.h"

#include "models/containers/vocabulary_files.h"

/* `expected`: the merges, each followed by "|". */
static void check_codes(bool fsmt, ferry_view text, int32_t version, const char *expected)
{
    ferry_arena arena = {0};
    ferry_bpe_codes codes;
    char found[256] = "";
    CHECK(ferry_bpe_codes_read(text, "codes.txt", fsmt, &arena, &codes, &error));
    for (int32_t i = 0; i < codes.count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%.*s|",
                 (int)ferry_texts_at(codes.merges, (size_t)i).size, ferry_texts_at(codes.merges, (size_t)i).data);
    assert_string_equal(found, expected);
    assert_int_equal(codes.version, version);
    ferry_arena_destroy(&arena);
}

static ferry_status try_codes(bool fsmt, ferry_view text, ferry_error *error)
{
    ferry_arena arena = {0};
    ferry_bpe_codes codes;
    const ferry_status status = ferry_bpe_codes_read(text, "in", fsmt, &arena, &codes, error);
    assert_true(status == FERRY_OK || (codes.merges == NULL && codes.count == 0));
    ferry_arena_destroy(&arena);
    return status;
}

static ferry_status read_codes(ferry_view text, ferry_error *error)
{
    return try_codes(false, text, error);
}

static ferry_status read_fsmt_codes(ferry_view text, ferry_error *error)
{
    return try_codes(true, text, error);
}

TEST(test_read_codes)
{
    check_codes(false, BYTES("#version: 0.2\ne n\ne r</w>\n"), 2, "e n|e r</w>|");
    check_codes(false, BYTES("#version: 0.2.0 \r\ne n\r\n \re r \n\n\n"), 2, "e n|e r|");
    check_codes(false, BYTES("#version: 0.2.0.0\ne n"), 2, "e n|");
    check_codes(false, BYTES("#version: 0.1\ne n"), 1, "e n|");
    check_codes(false, BYTES("#version: 0.1.0\ne n\nlonger text</w>"), 1, "e n|longer text</w>|");
    check_codes(false, BYTES("e n\n#version: 0.2\n"), 1, "e n|#version: 0.2|");
    check_codes(false, BYTES("\u00E9\u00A0 \t\n# #\n"), 1, "\u00E9\u00A0 \t|# #|");
}

TEST(test_read_fsmt_codes)
{
    check_codes(true, BYTES("e n</w> 3456\nt h\n\n#version: 0.2\n a b  \r\nb c"), 2, "e n</w>|t h|#version: 0.2|a b|");
    check_codes(true, BYTES("a b"), 2, "");
}

#define VERSIONS "in, line 1: expected '#version: 0.1' or '#version: 0.2', found "
#define TWO_TEXTS "expected two texts with one blank between them"

TEST(test_refused_codes)
{
    const refused rows[] = {
        {BYTES("#version: 0.3\na b\n"), FERRY_ERROR_UNSUPPORTED, VERSIONS "'#version: 0.3'"},
        {BYTES("#version: 0.20\na b\n"), FERRY_ERROR_UNSUPPORTED, VERSIONS "'#version: 0.20'"},
        {BYTES("#version: \na b\n"), FERRY_ERROR_UNSUPPORTED, VERSIONS "'#version: '"},
        {BYTES("#version:0.2\na b\n"), FERRY_ERROR_UNSUPPORTED, VERSIONS "'#version:0.2'"},
        {BYTES("a b\nab c 5\n"), FERRY_ERROR_FORMAT, "in, line 2: " TWO_TEXTS ", found 'ab c 5'"},
        {BYTES("a b\n\na c\n"), FERRY_ERROR_FORMAT, "in, line 2: " TWO_TEXTS ", found ''"},
        {BYTES("a  b\n"), FERRY_ERROR_FORMAT, "in, line 1: " TWO_TEXTS ", found 'a  b'"},
        {BYTES("ab\x1b\n"), FERRY_ERROR_FORMAT, "in, line 1: " TWO_TEXTS ", found 'ab\\x1b'"},
        {BYTES("a b\na \xC3\n"), FERRY_ERROR_FORMAT, "in, line 2: expected UTF-8, found 'a \\xc3'"},
        {BYTES("a\rb c\n"), FERRY_ERROR_UNSUPPORTED, "in, line 1: expected no white space but blanks, found 'a\\rb c'"},
        MALFORMED(BYTES("#version: 0.2\n\n"), "expected 1 to 4194304 merges, found 0"),
        MALFORMED(BYTES(""), "expected 1 to 4194304 merges, found 0"),
    };
    const refused fsmt[] = {
        {BYTES("a b 5\na\n"), FERRY_ERROR_FORMAT, "in, line 2: " TWO_TEXTS ", and a count, found 'a'"},
        {BYTES("a\u00A0 b 5\n"), FERRY_ERROR_UNSUPPORTED,
         "in, line 1: expected no white space but blanks, found 'a\u00A0 b 5'"},
        {BYTES("a b\x1F 5\n"), FERRY_ERROR_UNSUPPORTED,
         "in, line 1: expected no white space but blanks, found 'a b\\x1f 5'"},
        {BYTES("a b\x1C 5\n"), FERRY_ERROR_UNSUPPORTED,
         "in, line 1: expected no white space but blanks, found 'a b\\x1c 5'"},
    };
    check_refused(read_codes, rows, COUNT(rows));
    check_refused(read_fsmt_codes, fsmt, COUNT(fsmt));
    check_codes(true, BYTES("a\x1B b 5\n"), 2, "a\x1B b|");
}

/* As many as a model file has, and one more; no memory. */
TEST(test_many_codes)
{
    enum { MOST = 1 << 22 };
    char *text = kept_memory(4 * (MOST + 1));
    ferry_memory memory = {.limit = 1};
    ferry_account account = {.memory = &memory};
    ferry_arena arena = {.account = &account};
    ferry_bpe_codes codes;
    for (size_t i = 0; i <= MOST; i++) memcpy(text + 4 * i, "a b\n", 4);
    CHECK(read_codes((ferry_view){text, 4 * MOST}, &error));
    REFUSE_SAYING(read_codes((ferry_view){text, 4 * (MOST + 1)}, &error), FERRY_ERROR_LIMIT,
                  "in: expected 1 to 4194304 merges, found 4194305");
    REFUSE(ferry_bpe_codes_read(BYTES("a b\n"), "codes.txt", false, &arena, &codes, &error), FERRY_ERROR_MEMORY,
           "merges");
    ferry_arena_destroy(&arena);
}
