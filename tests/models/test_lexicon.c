/* Lexical shortlists: the format's own small numbers, damage, and the binary file of a real model against its text. */
#include "tests/support/files.h"

#include <zlib.h>

#include "models/containers/lexicon.h"
#include "tokenizer/sentencepiece_c.h"

enum { MOST_PIECES = 8000 };

/* first 2, best 2, two source words. */
static made_file make(uint64_t checksum, const uint64_t offsets[3], const uint32_t *ids, size_t count)
{
    made_file file = {.size = 0};
    put(&file, 0xF11A48D5013417F5u, 8);
    put(&file, checksum, 8);
    put(&file, 2, 8);
    put(&file, 2, 8);
    put(&file, 3, 8);
    put(&file, count, 8);
    for (size_t i = 0; i < 3; i++) put(&file, offsets[i], 8);
    for (size_t i = 0; i < count; i++) put(&file, ids[i], 4);
    return file;
}

static ferry_status read_lexicon(ferry_view bytes, ferry_arena *arena, ferry_lexicon *lexicon, ferry_error *error)
{
    return ferry_lexicon_read(bytes, "lex.bin", 2, 6, arena, lexicon, error);
}

static const uint64_t odd_offsets[] = {0, 2, 3}, even_offsets[] = {0, 2, 4};
static const uint32_t listed[] = {1, 3, 2, 5};

TEST(test_small_files)
{
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    const made_file odd = make(0xebe2625d42e62363, odd_offsets, listed, 3);
    const made_file even = make(0xd8734db0271e6971, even_offsets, listed, 4);
    assert_int_equal(odd.size, 84);
    assert_int_equal(even.size, 88);
    assert_true(ferry_is_binary_lexicon(whole(&odd)));
    assert_false(ferry_is_binary_lexicon(cut_to(&odd, 7)));
    assert_false(ferry_is_binary_lexicon(text_view("a b 0.5\n")));
    CHECK(read_lexicon(whole(&odd), &arena, &lexicon, &error));
    assert_int_equal(lexicon.first, 2);
    assert_int_equal(lexicon.source_count, 2);
    assert_int_equal(lexicon.offsets[2], 3);
    assert_memory_equal(lexicon.ids, listed, 12);
    CHECK(read_lexicon(whole(&even), &arena, &lexicon, &error));
    assert_int_equal(lexicon.offsets[1], 2);
    assert_int_equal(lexicon.offsets[2], 4);
    assert_memory_equal(lexicon.ids, listed, 16);
    ferry_arena_destroy(&arena);
}

static void refuse(ferry_view bytes, int32_t targets, ferry_status status, const char *what)
{
    ferry_error error = {0};
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    check_refusal(ferry_lexicon_read(bytes, "lex.bin", 2, targets, &arena, &lexicon, &error), &error, status, what);
    assert_non_null(strstr(error.message, "lex.bin: "));
    ferry_arena_destroy(&arena);
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

TEST(test_damage)
{
    static const struct {
        size_t at;
        unsigned char byte;
        bool honest; /* with the checksum of the changed file */
        const char *what;
    } rows[] = {
        {0, 0, false, "not a binary shortlist"},
        {8, 0, false, "checksum 0xd8734db0271e6900 expected, found 0xd8734db0271e69"},
        {72, 9, false, "checksum"},
        {16, 7, false, "the first 7 of 6 target ids"},
        {32, 4, false, "expected lists for the 2 source ids, found 4 offsets"},
        {40, 3, false, "do not make its 88 bytes"},
        {47, 0x80, false, "do not make its 88 bytes"},
        {76, 1, true, "source id 0: expected ascending"},
        {48, 1, true, "impossible offset 1 of source id 0"},
        {56, 5, true, "impossible offset 5 of source id 1"},
        {64, 3, true, "impossible offset 3 of source id 2"},
        {64, 1, true, "impossible offset 1 of source id 2"},
    };
    const made_file file = make(0xd8734db0271e6971, even_offsets, listed, 4);
    for (size_t i = 0; i < COUNT(rows); i++) {
        made_file copy = with_byte(&file, rows[i].at, rows[i].byte);
        if (rows[i].honest) copy = honest(copy);
        refuse(whole(&copy), 6, FERRY_ERROR_FORMAT, rows[i].what);
    }
    refuse(whole(&file), 5, FERRY_ERROR_FORMAT, "source id 1: expected ascending target ids below 5, found 5");
    made_file other = {.size = 0};
    put(&other, 0x499602d2, 60);
    refuse(whole(&other), 6, FERRY_ERROR_UNSUPPORTED, "magic 1234567890");
    for (size_t size = 0; size < file.size; size++) refuse(cut_to(&file, size), 6, FERRY_ERROR_FORMAT, "");
}

/* Every bit of the number, and of all words that it covers. */
TEST(test_checksum)
{
    const made_file file = make(0xd8734db0271e6971, even_offsets, listed, 4);
    for (size_t at = 8; at < file.size; at++) {
        if (at == 24) at = 48; /* best, which nothing reads; sizes, which are checked before */
        for (int bit = 0; bit < 8; bit++) {
            const made_file copy = with_byte(&file, at, (unsigned char)(file.data[at] ^ 1 << bit));
            refuse(whole(&copy), 6, FERRY_ERROR_FORMAT, at < 16 || at >= 48 ? "checksum" : "");
        }
    }
    const made_file best = with_byte(&file, 24, 3);
    refuse(whole(&best), 6, FERRY_ERROR_FORMAT, "checksum");
}

/* Empty lists at the end are fine. */
TEST(test_empty_lists)
{
    static const uint64_t offsets[] = {0, 2, 2};
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    const made_file file = honest(make(0, offsets, listed, 2));
    CHECK(read_lexicon(whole(&file), &arena, &lexicon, &error));
    assert_int_equal(lexicon.offsets[1], lexicon.offsets[2]);
    ferry_arena_destroy(&arena);
}

/* ---- text ---- */

static const ferry_view sources[] = {{"</s>", 4}, {"<unk>", 5}, {"a", 1}, {"b", 1}};
static const ferry_view targets[] = {{"</s>", 4}, {"<unk>", 5}, {"x", 1}, {"y", 1}, {"z", 1}};

static ferry_status read_text(const char *text, ferry_arena *arena, ferry_lexicon *lexicon, ferry_error *error)
{
    return ferry_lexicon_read_text(text_view(text), "lex", KEPT_TEXTS(sources), 4, KEPT_TEXTS(targets), 5, 1, 1, arena,
                                   lexicon, error);
}

TEST(test_text)
{
    static const uint32_t offsets[] = {0, 0, 1, 3, 4};
    static const int32_t ids[] = {3, 2, 4, 1}; /* of unk, of a, of b */
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    CHECK(read_text("z a 0.5\nx a 0.25\r\ny other 1\nNULL a 0.5\nx NULL 0.5\ny a 0\n\nstrange b 1e-3", &arena, &lexicon,
                    &error));
    assert_int_equal(lexicon.first, 5);
    assert_memory_equal(lexicon.offsets, offsets, sizeof offsets);
    assert_memory_equal(lexicon.ids, ids, sizeof ids);
    CHECK(read_text("x a 0.5\nx a 0.25\n", &arena, &lexicon, &error)); /* a pair that occurs twice counts once */
    assert_int_equal(lexicon.offsets[4], 1);
    REFUSE_SAYING(read_text("x a 0.5\nx a\n", &arena, &lexicon, &error), FERRY_ERROR_FORMAT,
                  "lex: line 2: expected 'target source probability'");
    REFUSE(read_text("x a 0.5 y\n", &arena, &lexicon, &error), FERRY_ERROR_FORMAT, "");
    REFUSE(read_text("x a 0,5\n", &arena, &lexicon, &error), FERRY_ERROR_FORMAT, "");
    ferry_arena_destroy(&arena);
}

/* Sorting may take as much again as the lines do, for as long as it lasts. */
TEST(test_account)
{
    ferry_memory memory = {.limit = 1 << 20};
    ferry_account account = {.memory = &memory};
    ferry_arena arena = {.account = &account};
    ferry_lexicon lexicon;
    CHECK(read_text("x a 0.5\nx a 0.25\n", &arena, &lexicon, &error));
    const size_t held = atomic_load(&memory.held);
    assert_true(atomic_load(&memory.peak) > held);
    memory.limit = held + 100;
    REFUSE(read_text("x a 0.5\nx a 0.25\n", &arena, &lexicon, &error), FERRY_ERROR_MEMORY, "a shortlist");
    assert_true(account.needed > memory.limit);
    assert_int_equal(atomic_load(&memory.held), held);
    ferry_arena_destroy(&arena);
}

enum { MANY = 104 };

/* Of more than 100 candidates the 100 most probable; of equal ones the higher id. */
TEST(test_best)
{
    static char names[MANY][8], text[MANY * 24];
    ferry_view pieces[MANY];
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    size_t at = 0;
    for (int i = 0; i < MANY; i++) {
        pieces[i] = (ferry_view){names[i], (size_t)snprintf(names[i], sizeof names[i], "p%d", i)};
        at += (size_t)snprintf(text + at, sizeof text - at, "p%d a %s\n", i, i == 50 ? "0.01" : i == 7 ? "0.9" : "0.5");
    }
    CHECK(ferry_lexicon_read_text((ferry_view){text, at}, "lex", KEPT_TEXTS(sources), 4, KEPT_TEXTS(pieces), MANY, 1, 1,
                                  &arena, &lexicon, &error));
    assert_int_equal(lexicon.first, 100);
    assert_int_equal(lexicon.offsets[3] - lexicon.offsets[2], 100);
    for (int i = 0, k = 0; i < MANY; i++) {
        if (i < 3 || i == 50) continue; /* the lowest ids of the many equal ones, and the improbable one */
        assert_int_equal(lexicon.ids[k++], i);
    }
    ferry_arena_destroy(&arena);
}

/* ---- a real model ---- */

static char *inflate_file(const char *path, size_t *size)
{
    gzFile file = gzopen(path, "rb");
    char *data = NULL;
    int got;
    *size = 0;
    assert_non_null(file);
    do {
        data = realloc(data, *size + (1 << 20));
        assert_non_null(data);
        got = gzread(file, data + *size, 1 << 20);
        assert_true(got >= 0);
        *size += (size_t)got;
    } while (got > 0);
    gzclose(file);
    return data;
}

static int compare_ids(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The binary file keeps 50 for each source piece, the text reader 100: each list is part of the other, and the same
 * where the text has no more than 50. */
static void compare_lists(const ferry_lexicon *binary, const ferry_lexicon *text)
{
    int equal = 0;
    for (int32_t s = 0; s < binary->source_count; s++) {
        const uint32_t n = binary->offsets[s + 1] - binary->offsets[s], m = text->offsets[s + 1] - text->offsets[s];
        if (s == binary->source_count - 1 && m == 0) continue; /* the writer puts some id into the last list */
        if (n != (m < 50 ? m : 50)) fail_msg("source id %d: %u ids, of %u in the text", s, n, m);
        for (uint32_t i = binary->offsets[s]; i < binary->offsets[s + 1]; i++)
            assert_non_null(bsearch(&binary->ids[i], text->ids + text->offsets[s], m, sizeof(int32_t), compare_ids));
        equal += n == m && n > 0;
    }
    assert_true(equal > binary->source_count / 8);
}

static int32_t student_pieces(void)
{
    return large_data() ? MOST_PIECES : 1000;
}

static ferry_spm *open_vocabulary(const char *path, ferry_view *pieces)
{
    ferry_spm *spm;
    CHECK(ferry_spm_create(mapped_bytes(path), path, &spm, &error));
    assert_int_equal(ferry_spm_count(spm), student_pieces());
    for (int32_t id = 0; id < student_pieces(); id++) pieces[id] = ferry_spm_piece(spm, id);
    return spm;
}

TEST(test_real_files)
{
    static ferry_view pieces[MOST_PIECES];
    const int32_t count = student_pieces();
    ferry_arena arena = {0};
    ferry_lexicon binary, text;
    size_t size;
    char *path = shared_file("models/bergamot-en-de/lex.50.50.ende.s2t.bin");
    char *text_path = shared_file("models/bergamot-en-de/lex.s2t.gz");
    ferry_spm *spm = open_vocabulary(shared_file("models/bergamot-en-de/vocab.ende.spm"), pieces);
    char *data = inflate_file(text_path, &size);
    CHECK(ferry_lexicon_read(mapped_bytes(path), path, count, count, &arena, &binary, &error));
    const ferry_texts *own = KEPT_TEXTS(pieces);
    CHECK(ferry_lexicon_read_text((ferry_view){data, size}, text_path, own, count, own, count, ferry_spm_unknown(spm),
                                  ferry_spm_unknown(spm), &arena, &text, &error));
    assert_int_equal(binary.first, 50);
    assert_int_equal(text.first, 100);
    compare_lists(&binary, &text);
    ferry_spm_destroy(spm);
    free(data);
    ferry_arena_destroy(&arena);
}
