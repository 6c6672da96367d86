/* Files of merges: subword-nmt's codes and FSMT's merges.txt. What is read and what is refused is what their programs
 * read, or could read otherwise. */
#include "tests/support/files.h"

#include "models/containers/bpe_codes.h"

#define VIEW(literal) ((ferry_view){literal, sizeof(literal) - 1})

typedef ferry_status codes_reader(ferry_view bytes, const char *file, ferry_arena *arena, ferry_bpe_codes *codes,
                                  ferry_error *error);

/* `expected`: the merges, each followed by "|". */
static void check_codes(codes_reader *read, ferry_view text, int32_t version, const char *expected)
{
    ferry_arena arena = {0};
    ferry_bpe_codes codes;
    char found[256] = "";
    CHECK(read(text, "codes.txt", &arena, &codes, &error));
    for (int32_t i = 0; i < codes.count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%.*s|",
                 (int)ferry_texts_at(codes.merges, (size_t)i).size, ferry_texts_at(codes.merges, (size_t)i).data);
    assert_string_equal(found, expected);
    assert_int_equal(codes.version, version);
    ferry_arena_destroy(&arena);
}

static void refuse_codes(codes_reader *read, ferry_view text, ferry_status status, const char *what)
{
    ferry_arena arena = {0};
    ferry_bpe_codes codes;
    REFUSE_SAYING(read(text, "codes.txt", &arena, &codes, &error), status, what);
    assert_true(codes.merges == NULL && codes.count == 0);
    ferry_arena_destroy(&arena);
}

TEST(test_read_codes)
{
    check_codes(ferry_bpe_codes_read, VIEW("#version: 0.2\ne n\ne r</w>\n"), 2, "e n|e r</w>|");
    check_codes(ferry_bpe_codes_read, VIEW("#version: 0.2.0 \r\ne n\r\n \re r \n\n\n"), 2, "e n|e r|");
    check_codes(ferry_bpe_codes_read, VIEW("#version: 0.1\ne n"), 1, "e n|");
    check_codes(ferry_bpe_codes_read, VIEW("e n\n#version: 0.2\n"), 1, "e n|#version: 0.2|");
    check_codes(ferry_bpe_codes_read, VIEW("\u00E9\u00A0 \t\n# #\n"), 1, "\u00E9\u00A0 \t|# #|");
}

TEST(test_read_fsmt_codes)
{
    check_codes(ferry_bpe_codes_read_fsmt, VIEW("e n</w> 3456\nt h\n\n#version: 0.2\n a b  \r\nb c"), 2,
                "e n</w>|t h|#version: 0.2|a b|");
    check_codes(ferry_bpe_codes_read_fsmt, VIEW("a b"), 2, "");
}

TEST(test_refused_codes)
{
    codes_reader *const nmt = ferry_bpe_codes_read, *const fsmt = ferry_bpe_codes_read_fsmt;
    refuse_codes(nmt, VIEW("#version: 0.3\na b\n"), FERRY_ERROR_UNSUPPORTED,
                 "codes.txt, line 1: expected '#version: 0.1' or '#version: 0.2', found '#version: 0.3'");
    refuse_codes(nmt, VIEW("#version:0.2\na b\n"), FERRY_ERROR_UNSUPPORTED,
                 "codes.txt, line 1: expected '#version: 0.1' or '#version: 0.2', found '#version:0.2'");
    refuse_codes(nmt, VIEW("a b\nab c 5\n"), FERRY_ERROR_FORMAT,
                 "codes.txt, line 2: expected two texts with one blank between them, found 'ab c 5'");
    refuse_codes(nmt, VIEW("a b\n\na c\n"), FERRY_ERROR_FORMAT,
                 "codes.txt, line 2: expected two texts with one blank between them, found ''");
    refuse_codes(nmt, VIEW("a  b\n"), FERRY_ERROR_FORMAT,
                 "codes.txt, line 1: expected two texts with one blank between them, found 'a  b'");
    refuse_codes(nmt, VIEW("ab\x1b\n"), FERRY_ERROR_FORMAT,
                 "codes.txt, line 1: expected two texts with one blank between them, found 'ab\\x1b'");
    refuse_codes(nmt, VIEW("a \xC3\n"), FERRY_ERROR_FORMAT, "codes.txt, line 1: expected UTF-8, found 'a \\xc3'");
    refuse_codes(nmt, VIEW("a\rb c\n"), FERRY_ERROR_UNSUPPORTED,
                 "codes.txt, line 1: expected no white space but blanks, found 'a\\rb c'");
    refuse_codes(nmt, VIEW("#version: 0.2\n\n"), FERRY_ERROR_FORMAT,
                 "codes.txt: expected 1 to 4194304 merges, found 0");
    refuse_codes(fsmt, VIEW("a b 5\na\n"), FERRY_ERROR_FORMAT,
                 "codes.txt, line 2: expected two texts with one blank between them, and a count, found 'a'");
    refuse_codes(fsmt, VIEW("a\u00A0 b 5\n"), FERRY_ERROR_UNSUPPORTED,
                 "codes.txt, line 1: expected no white space but blanks, found 'a\u00A0 b 5'");
    refuse_codes(fsmt, VIEW("a b\x1F 5\n"), FERRY_ERROR_UNSUPPORTED,
                 "codes.txt, line 1: expected no white space but blanks, found 'a b\\x1f 5'");
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
    refuse_codes(ferry_bpe_codes_read, (ferry_view){text, 4 * (MOST + 1)}, FERRY_ERROR_LIMIT,
                 "codes.txt: expected 1 to 4194304 merges, found 4194305");
    REFUSE(ferry_bpe_codes_read(VIEW("a b\n"), "codes.txt", &arena, &codes, &error), FERRY_ERROR_MEMORY, "merges");
    ferry_arena_destroy(&arena);
}
