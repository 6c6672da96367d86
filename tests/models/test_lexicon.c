/* Lexical shortlists: the format's own small numbers, lies, and the binary file of a real model against its text. */
#include "tests/support/support.h"

#include <zlib.h>

#include "base/system.h"
#include "models/containers/lexicon.h"
#include "tokenizer/sentencepiece_c.h"

enum { SPACE = 200, STUDENT_PIECES = 8000 };

typedef struct bytes {
    unsigned char data[SPACE];
    size_t size;
} bytes;

static void put(bytes *file, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) file->data[file->size++] = (unsigned char)(value >> (8 * i));
}

/* first 2, best 2, two source words. */
static bytes make(uint64_t checksum, const uint64_t offsets[3], const uint32_t *ids, size_t count)
{
    bytes file = {.size = 0};
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

static ferry_status read_bytes(const bytes *file, int32_t targets, ferry_arena *arena, ferry_lexicon *lexicon,
                               ferry_error *error)
{
    return ferry_lexicon_read((ferry_view){(const char *)file->data, file->size}, "lex.bin", 2, targets, arena, lexicon,
                              error);
}

static const uint64_t odd_offsets[] = {0, 2, 3}, even_offsets[] = {0, 2, 4};
static const uint32_t listed[] = {1, 3, 2, 5};

static void test_small_files(void **state)
{
    (void)state;
    ferry_error error;
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    const bytes odd = make(0xebe2625d42e62363, odd_offsets, listed, 3);
    const bytes even = make(0xd8734db0271e6971, even_offsets, listed, 4);
    assert_int_equal(odd.size, 84);
    assert_int_equal(even.size, 88);
    assert_true(ferry_is_binary_lexicon((ferry_view){(const char *)odd.data, odd.size}));
    assert_false(ferry_is_binary_lexicon((ferry_view){(const char *)odd.data, 7}));
    assert_false(ferry_is_binary_lexicon((ferry_view){"a b 0.5\n", 8}));
    CHECK(read_bytes(&odd, 6, &arena, &lexicon, &error));
    assert_int_equal(lexicon.first, 2);
    assert_int_equal(lexicon.source_count, 2);
    assert_int_equal(lexicon.offsets[2], 3);
    assert_memory_equal(lexicon.ids, listed, 12);
    CHECK(read_bytes(&even, 6, &arena, &lexicon, &error));
    assert_int_equal(lexicon.offsets[1], 2);
    assert_int_equal(lexicon.offsets[2], 4);
    assert_memory_equal(lexicon.ids, listed, 16);
    ferry_arena_destroy(&arena);
}

static void refuse(bytes file, int32_t targets, ferry_status status, const char *what)
{
    ferry_error error = {0};
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    const ferry_status found = read_bytes(&file, targets, &arena, &lexicon, &error);
    if (found != status || strstr(error.message, what) == NULL || strstr(error.message, "lex.bin: ") == NULL) {
        fail_msg("expected %d '%s', found %d '%s'", status, what, found, error.message);
    }
    ferry_arena_destroy(&arena);
}

static bytes with_byte(bytes file, size_t at, unsigned char byte)
{
    file.data[at] = byte;
    return file;
}

/* The format's checksum, so that the lies behind it are reached. */
static bytes honest(bytes file)
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

static void test_lies(void **state)
{
    (void)state;
    const bytes file = make(0xd8734db0271e6971, even_offsets, listed, 4);
    refuse(with_byte(file, 0, 0), 6, FERRY_ERROR_FORMAT, "not a binary shortlist");
    refuse(with_byte(file, 8, 0), 6, FERRY_ERROR_FORMAT,
           "checksum 0xd8734db0271e6900 expected, found 0xd8734db0271e69");
    refuse(with_byte(file, 72, 9), 6, FERRY_ERROR_FORMAT, "checksum");
    refuse(with_byte(file, 16, 7), 6, FERRY_ERROR_FORMAT, "the first 7 of 6 target ids");
    refuse(with_byte(file, 32, 4), 6, FERRY_ERROR_FORMAT, "expected lists for the 2 source ids, found 4 offsets");
    refuse(with_byte(file, 40, 3), 6, FERRY_ERROR_FORMAT, "do not make its 88 bytes");
    refuse(with_byte(file, 47, 0x80), 6, FERRY_ERROR_FORMAT, "do not make its 88 bytes");
    refuse(file, 5, FERRY_ERROR_FORMAT, "source id 1: expected ascending target ids below 5, found 5");
    refuse(honest(with_byte(file, 76, 1)), 6, FERRY_ERROR_FORMAT, "source id 0: expected ascending");
    refuse(honest(with_byte(file, 48, 1)), 6, FERRY_ERROR_FORMAT, "impossible offset 1 of source id 0");
    refuse(honest(with_byte(file, 56, 5)), 6, FERRY_ERROR_FORMAT, "impossible offset 5 of source id 1");
    refuse(honest(with_byte(file, 64, 3)), 6, FERRY_ERROR_FORMAT, "impossible offset 3 of source id 2");
    refuse(honest(with_byte(file, 64, 1)), 6, FERRY_ERROR_FORMAT, "impossible offset 1 of source id 2");
    bytes other = {.data = {0xd2, 0x02, 0x96, 0x49}, .size = 60};
    refuse(other, 6, FERRY_ERROR_UNSUPPORTED, "magic 1234567890");
    for (size_t size = 0; size < file.size; size++) {
        bytes cut = file;
        cut.size = size;
        refuse(cut, 6, FERRY_ERROR_FORMAT, "lex.bin: ");
    }
}

/* Empty lists at the end are fine. */
static void test_empty_lists(void **state)
{
    (void)state;
    static const uint64_t offsets[] = {0, 2, 2};
    ferry_error error;
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    const bytes file = honest(make(0, offsets, listed, 2));
    CHECK(read_bytes(&file, 6, &arena, &lexicon, &error));
    assert_int_equal(lexicon.offsets[1], lexicon.offsets[2]);
    ferry_arena_destroy(&arena);
}

/* ---- text ---- */

static const ferry_view sources[] = {{"</s>", 4}, {"<unk>", 5}, {"a", 1}, {"b", 1}};
static const ferry_view targets[] = {{"</s>", 4}, {"<unk>", 5}, {"x", 1}, {"y", 1}, {"z", 1}};

static ferry_status read_text(const char *text, ferry_arena *arena, ferry_lexicon *lexicon, ferry_error *error)
{
    return ferry_lexicon_read_text((ferry_view){text, strlen(text)}, "lex", sources, 4, targets, 5, 1, 1, arena,
                                   lexicon, error);
}

static void test_text(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {0, 0, 1, 3, 4};
    static const int32_t ids[] = {3, 2, 4, 1}; /* of unk, of a, of b */
    ferry_error error;
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    CHECK(read_text("z a 0.5\nx a 0.25\r\ny other 1\nNULL a 0.5\nx NULL 0.5\ny a 0\n\nstrange b 1e-3", &arena, &lexicon,
                    &error));
    assert_int_equal(lexicon.first, 5);
    assert_memory_equal(lexicon.offsets, offsets, sizeof offsets);
    assert_memory_equal(lexicon.ids, ids, sizeof ids);
    CHECK(read_text("x a 0.5\nx a 0.25\n", &arena, &lexicon, &error)); /* a pair that occurs twice counts once */
    assert_int_equal(lexicon.offsets[4], 1);
    assert_int_equal(read_text("x a 0.5\nx a\n", &arena, &lexicon, &error), FERRY_ERROR_FORMAT);
    assert_string_equal(error.message, "lex: line 2: expected 'target source probability'");
    assert_int_equal(read_text("x a 0.5 y\n", &arena, &lexicon, &error), FERRY_ERROR_FORMAT);
    assert_int_equal(read_text("x a 0,5\n", &arena, &lexicon, &error), FERRY_ERROR_FORMAT);
    ferry_arena_destroy(&arena);
}

enum { MANY = 104 };

/* Of more than 100 candidates the 100 most probable; of equal ones the higher id. */
static void test_best(void **state)
{
    (void)state;
    static char names[MANY][8], text[MANY * 24];
    ferry_view pieces[MANY];
    ferry_error error;
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    size_t at = 0;
    for (int i = 0; i < MANY; i++) {
        pieces[i] = (ferry_view){names[i], (size_t)snprintf(names[i], sizeof names[i], "p%d", i)};
        at += (size_t)snprintf(text + at, sizeof text - at, "p%d a %s\n", i, i == 50 ? "0.01" : i == 7 ? "0.9" : "0.5");
    }
    CHECK(ferry_lexicon_read_text((ferry_view){text, at}, "lex", sources, 4, pieces, MANY, 1, 1, &arena, &lexicon,
                                  &error));
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
        for (uint32_t i = binary->offsets[s]; i < binary->offsets[s + 1]; i++) {
            assert_non_null(bsearch(&binary->ids[i], text->ids + text->offsets[s], m, sizeof(int32_t), compare_ids));
        }
        equal += n == m && n > 0;
    }
    assert_true(equal > 1000);
}

static ferry_spm *open_vocabulary(const char *path, ferry_view *pieces)
{
    ferry_error error;
    ferry_mapped_file map;
    ferry_spm *spm;
    CHECK(ferry_mapped_file_open(path, &map, &error));
    CHECK(ferry_spm_create(map.bytes, path, &spm, &error));
    ferry_mapped_file_close(&map);
    assert_int_equal(ferry_spm_count(spm), STUDENT_PIECES);
    for (int32_t id = 0; id < STUDENT_PIECES; id++) pieces[id] = ferry_spm_piece(spm, id);
    return spm;
}

static void test_real_files(void **state)
{
    (void)state;
    static ferry_view pieces[STUDENT_PIECES];
    ferry_error error;
    ferry_arena arena = {0};
    ferry_mapped_file map;
    ferry_lexicon binary, text;
    size_t size;
    char *path = shared_path("models/bergamot-en-de/lex.50.50.ende.s2t.bin");
    char *text_path = shared_path("models/bergamot-en-de/lex.s2t.gz");
    char *spm_path = shared_path("models/bergamot-en-de/vocab.ende.spm");
    if (path == NULL || text_path == NULL || spm_path == NULL) {
        not_run("the shortlist of the Bergamot student");
        return;
    }
    ferry_spm *spm = open_vocabulary(spm_path, pieces);
    char *data = inflate_file(text_path, &size);
    CHECK(ferry_mapped_file_open(path, &map, &error));
    CHECK(ferry_lexicon_read(map.bytes, path, STUDENT_PIECES, STUDENT_PIECES, &arena, &binary, &error));
    CHECK(ferry_lexicon_read_text((ferry_view){data, size}, text_path, pieces, STUDENT_PIECES, pieces, STUDENT_PIECES,
                                  ferry_spm_unknown(spm), ferry_spm_unknown(spm), &arena, &text, &error));
    assert_int_equal(binary.first, 50);
    assert_int_equal(text.first, 100);
    compare_lists(&binary, &text);
    ferry_spm_destroy(spm);
    free(data);
    ferry_mapped_file_close(&map);
    ferry_arena_destroy(&arena);
    free(spm_path);
    free(text_path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_files), cmocka_unit_test(test_lies), cmocka_unit_test(test_empty_lists),
        cmocka_unit_test(test_text),        cmocka_unit_test(test_best), cmocka_unit_test(test_real_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
