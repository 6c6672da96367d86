/* Lexical shortlists: the format's own small numbers, damage, and the binary file of a real model against its text. */
#include "tests/support/refusals.h"

#include "models/containers/zip.h"
#include "models/containers/lexicon.h"
#include "tokenizer/sentencepiece_c.h"

enum { MOST_PIECES = 8000 };

/* first 2, best 2, two source words. */
static made_file make(uint64_t checksum, const uint64_t offsets[3], const uint32_t *ids, size_t count)
{
    made_file file = {.size = 0};
    PUT(&file, {0xF11A48D5013417F5u, 8}, {checksum, 8}, {2, 8}, {2, 8}, {3, 8}, {count, 8});
    for (size_t i = 0; i < 3; i++) put(&file, offsets[i], 8);
    for (size_t i = 0; i < count; i++) put(&file, ids[i], 4);
    return file;
}

static const uint64_t even_offsets[] = {0, 2, 4};
static const uint32_t listed[] = {1, 3, 2, 5};

/* The first ids, and each source id's list: "2: 1 3|2|". */
static void check_lists(const ferry_lexicon *lexicon, const char *expected)
{
    made_file found = {.size = 0};
    put_text(&found, ferry_name_format("%d: ", lexicon->first).text);
    for (int32_t s = 0; s < lexicon->source_count; s++) {
        for (uint32_t i = lexicon->offsets[s]; i < lexicon->offsets[s + 1]; i++)
            put_text(&found, ferry_name_format("%s%d", i > lexicon->offsets[s] ? " " : "", lexicon->ids[i]).text);
        put_text(&found, "|");
    }
    put(&found, 0, 1);
    assert_string_equal((const char *)found.data, expected);
}

static ferry_status try_lexicon(ferry_view bytes, int32_t targets, const char *expected, ferry_error *error)
{
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    const ferry_status status = ferry_lexicon_read(bytes, "in", 2, targets, &arena, &lexicon, error);
    if (status == FERRY_OK) check_lists(&lexicon, expected);
    ferry_arena_destroy(&arena);
    return status;
}

static ferry_status read_bytes(ferry_view bytes, ferry_error *error)
{
    return try_lexicon(bytes, 6, "", error);
}

/* The format's checksum, so that what follows it is checked. */
static made_file honest(made_file file)
{
    uint64_t sum = 0;
    for (size_t at = 16; at + 8 <= file.size; at += 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8; i++) word |= (uint64_t)file.data[at + i] << (8 * i);
        sum ^= word + 0x9e3779b9u + (sum << 6) + (sum >> 2);
    }
    for (size_t i = 0; i < 8; i++) file.data[8 + i] = (unsigned char)(sum >> (8 * i));
    return file;
}

/* `edited` with the checksum of the changed file. */
static ferry_view honestly(const made_file *file, size_t at, unsigned char byte)
{
    const ferry_view changed = edited(file, at, byte);
    const made_file copy = honest((made_file){(unsigned char *)(uintptr_t)changed.data, changed.size, 0});
    return whole(&copy);
}

TEST(test_small_files)
{
    static const uint64_t odd_offsets[] = {0, 2, 3}, empty_last[] = {0, 2, 2};
    const made_file odd = make(0xebe2625d42e62363, odd_offsets, listed, 3);
    const made_file even = make(0xd8734db0271e6971, even_offsets, listed, 4);
    const made_file empty = honest(make(0, empty_last, listed, 2));
    assert_int_equal(odd.size, 84);
    assert_int_equal(even.size, 88);
    assert_true(ferry_is_binary_lexicon(whole(&odd)));
    assert_false(ferry_is_binary_lexicon(cut_to(&odd, 7)));
    assert_false(ferry_is_binary_lexicon(text_view("a b 0.5\n")));
    CHECK(try_lexicon(whole(&odd), 6, "2: 1 3|2|", &error));
    CHECK(try_lexicon(whole(&even), 6, "2: 1 3|2 5|", &error));
    CHECK(try_lexicon(whole(&empty), 6, "2: 1 3||", &error));
    CHECK(try_lexicon(honestly(&even, 16, 6), 6, "6: 1 3|2 5|", &error)); /* the first of all ids */
    CHECK(try_lexicon(honestly(&even, 84, 3), 6, "2: 1 3|2 3|", &error)); /* in another list */
    REFUSE_SAYING(try_lexicon(whole(&even), 5, "", &error), FERRY_ERROR_FORMAT,
                  "in: source id 1: expected ascending target ids below 5, found 5");
}

#define CHECKSUM(expected, found) "checksum 0x" expected " expected, found 0x" found

TEST(test_damage)
{
    const made_file file = make(0xd8734db0271e6971, even_offsets, listed, 4);
    const refused rows[] = {
        MALFORMED(edited(&file, 0, 0), "not a binary shortlist"),
        MALFORMED(edited(&file, 8, 0), CHECKSUM("d8734db0271e6900", "d8734db0271e6971")),
        MALFORMED(edited(&file, 16, 7), "the first 7 of 6 target ids"),
        MALFORMED(edited(&file, 32, 4), "expected lists for the 2 source ids, found 4 offsets"),
        MALFORMED(edited(&file, 32, 2), "expected lists for the 2 source ids, found 2 offsets"),
        MALFORMED(edited(&file, 40, 3), "3 offsets and 3 ids do not make its 88 bytes"),
        MALFORMED(edited(&file, 47, 0x80), "3 offsets and 9223372036854775812 ids do not make its 88 bytes"),
        MALFORMED(honestly(&file, 76, 1), "source id 0: expected ascending target ids below 6, found 1"),
        MALFORMED(honestly(&file, 84, 2), "source id 1: expected ascending target ids below 6, found 2"),
        MALFORMED(honestly(&file, 84, 6), "source id 1: expected ascending target ids below 6, found 6"),
        MALFORMED(honestly(&file, 48, 1), "impossible offset 1 of source id 0"),
        MALFORMED(honestly(&file, 56, 5), "impossible offset 5 of source id 1"),
        MALFORMED(honestly(&file, 64, 3), "impossible offset 3 of source id 2"),
        MALFORMED(honestly(&file, 64, 1), "impossible offset 1 of source id 2"),
        UNSUPPORTED(BYTES("\xd2\x02\x96\x49\0\0\0\0"), "this kind of shortlist (magic 1234567890) is not supported"),
    };
    check_refused(read_bytes, rows, COUNT(rows));
    check_refused_cuts(read_bytes, &file, 0, FERRY_ERROR_FORMAT);
}

/* Every bit of the number, and of all words that it covers: best, which nothing reads, and from the offsets on. */
TEST(test_checksum)
{
    const made_file file = make(0xd8734db0271e6971, even_offsets, listed, 4);
    for (size_t at = 8; at < file.size; at++) {
        if (at == 16) at = 24; /* sizes are checked before */
        if (at == 32) at = 48;
        for (int bit = 0; bit < 8; bit++)
            REFUSE(read_bytes(edited(&file, at, (unsigned char)(file.data[at] ^ 1 << bit)), &error), FERRY_ERROR_FORMAT,
                   "in: checksum");
    }
}

/* ---- text ---- */

static const ferry_view sources[] = {{"</s>", 4}, {"<unk>", 5}, {"a", 1}, {"b", 1}};
static const ferry_view targets[] = {{"</s>", 4}, {"<unk>", 5}, {"x", 1}, {"y", 1}, {"z", 1}};

static ferry_status read_text(ferry_view text, int32_t unknown, ferry_arena *arena, ferry_lexicon *lexicon,
                              ferry_error *error)
{
    const ferry_lexicon_words source = {KEPT_TEXTS(sources), 4, unknown}, target = {KEPT_TEXTS(targets), 5, unknown};
    return ferry_lexicon_read_text(text, "in", &source, &target, arena, lexicon, error);
}

static ferry_status try_text(ferry_view text, int32_t unknown, const char *expected, ferry_error *error)
{
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    const ferry_status status = read_text(text, unknown, &arena, &lexicon, error);
    if (status == FERRY_OK) check_lists(&lexicon, expected);
    ferry_arena_destroy(&arena);
    return status;
}

static ferry_status read_words(ferry_view text, ferry_error *error)
{
    return try_text(text, 1, "", error);
}

TEST(test_text)
{
    CHECK(try_text(BYTES("z a 0.5\nx a 0.25\r\ny other 1\nNULL a 0.5\nx NULL 0.5\ny a 0\n\nstrange \tb 1e-3"), 1,
                   "5: |3|2 4|1|", &error));
    CHECK(try_text(BYTES("x a 0.5\nx a 0.25\n"), 1, "5: ||2||", &error)); /* a pair that occurs twice counts once */
    /* Without an id for unknown words, lines with one are left out. */
    CHECK(try_text(BYTES("x a 0.5\nstrange a 0.5\nx strange 0.5\nstrange strange 0.5\ny b -1\n"), -1, "5: ||2||",
                   &error));
    const refused rows[] = {
        MALFORMED(BYTES("x a 0.5\nx a\n"), "line 2: expected 'target source probability'"),
        MALFORMED(BYTES("x a 0.5 y\n"), "line 1: expected 'target source probability'"),
        MALFORMED(BYTES("x a 0,5\n"), "line 1: expected 'target source probability'"),
    };
    check_refused(read_words, rows, COUNT(rows));
}

/* Sorting may take as much again as the lines do, for as long as it lasts. */
TEST(test_account)
{
    ferry_memory memory = {.limit = 1 << 20};
    ferry_account account = {.memory = &memory};
    ferry_arena arena = {.account = &account};
    ferry_lexicon lexicon;
    CHECK(read_text(BYTES("x a 0.5\nx a 0.25\n"), 1, &arena, &lexicon, &error));
    const size_t held = atomic_load(&memory.held);
    assert_true(atomic_load(&memory.peak) > held);
    memory.limit = held + 100;
    REFUSE(read_text(BYTES("x a 0.5\nx a 0.25\n"), 1, &arena, &lexicon, &error), FERRY_ERROR_MEMORY, "a shortlist");
    assert_true(account.refused > memory.limit);
    assert_int_equal(atomic_load(&memory.held), held);
    ferry_arena_destroy(&arena);
}

enum { MANY = 104 };

/* Of more than 100 candidates the 100 most probable; of equal ones the higher id. Of a pair, the last line counts. */
TEST(test_best)
{
    static char names[MANY][8], text[(MANY + 2) * 24];
    ferry_view pieces[MANY];
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    size_t at = (size_t)snprintf(text, sizeof text, "p20 a 0.001\np50 a 0.9\n");
    for (int i = 0; i < MANY; i++) {
        pieces[i] = (ferry_view){names[i], (size_t)snprintf(names[i], sizeof names[i], "p%d", i)};
        at += (size_t)snprintf(text + at, sizeof text - at, "p%d a %s\n", i, i == 50 ? "0.01" : i == 7 ? "0.9" : "0.5");
    }
    const ferry_lexicon_words source = {KEPT_TEXTS(sources), 4, 1}, target = {KEPT_TEXTS(pieces), MANY, 1};
    CHECK(ferry_lexicon_read_text((ferry_view){text, at}, "lex", &source, &target, &arena, &lexicon, &error));
    assert_int_equal(lexicon.first, 100);
    assert_int_equal(lexicon.offsets[3] - lexicon.offsets[2], 100);
    for (int i = 3, k = 0; i < MANY; i++) /* without the lowest ids of many equal ones, and the improbable one */
        if (i != 50) assert_int_equal(lexicon.ids[k++], i);
    ferry_arena_destroy(&arena);
}

/* ---- a real model ---- */

/* The binary file keeps 50 for each source piece, the text reader 100: each list is part of the other, and the same
 * where the text has no more than 50. */
static void compare_lists(const ferry_lexicon *binary, const ferry_lexicon *text)
{
    int equal = 0;
    for (int32_t s = 0; s < binary->source_count; s++) {
        const uint32_t n = binary->offsets[s + 1] - binary->offsets[s], m = text->offsets[s + 1] - text->offsets[s];
        if (s == binary->source_count - 1 && m == 0) continue; /* the writer puts some id into the last list */
        if (n != (m < 50 ? m : 50)) fail_msg("source id %d: %u ids, of %u in the text", s, n, m);
        for (uint32_t i = binary->offsets[s], k = text->offsets[s]; i < binary->offsets[s + 1]; i++) {
            while (k + 1 < text->offsets[s + 1] && text->ids[k] < binary->ids[i]) k++;
            assert_int_equal(text->ids[k], binary->ids[i]);
        }
        equal += n == m && n > 0;
    }
    assert_true(equal > binary->source_count / 8);
}

TEST(test_real_files)
{
    static ferry_view pieces[MOST_PIECES];
    const int32_t count = large_data() ? MOST_PIECES : 1000;
    ferry_arena arena = {0};
    ferry_lexicon binary, text;
    ferry_mapped_file inflated;
    ferry_spm *spm;
    char *path = shared_file("models/bergamot-en-de/lex.50.50.ende.s2t.bin");
    const ferry_view packed = mapped_bytes(shared_file("models/bergamot-en-de/lex.s2t.gz"));
    CHECK(ferry_spm_create(mapped_bytes(shared_file("models/bergamot-en-de/vocab.ende.spm")), "", &spm, &error));
    for (int32_t id = 0; id < count; id++) pieces[id] = ferry_spm_piece(spm, id);
    const ferry_lexicon_words own = {kept_texts(pieces, (size_t)count), count, ferry_spm_unknown(spm)};
    CHECK(ferry_gzip_inflate(packed, "lex.s2t.gz", NULL, &inflated, &error));
    CHECK(ferry_lexicon_read(mapped_bytes(path), path, count, count, &arena, &binary, &error));
    CHECK(ferry_lexicon_read_text(inflated.bytes, "lex.s2t.gz", &own, &own, &arena, &text, &error));
    assert_int_equal(binary.first, 50);
    assert_int_equal(text.first, 100);
    compare_lists(&binary, &text);
    ferry_mapped_file_close(&inflated);
    ferry_spm_destroy(spm);
    ferry_arena_destroy(&arena);
}
