/* GGUF: what the writer writes, the reader reads; a file with an error is refused by name. */
#include <float.h>

#include "tests/support/refusals.h"

#include "models/plan/gguf_write.h"
#include "tests/support/sanitized.h"

static const float values[] = {1, 2, 3, 4, 5, 6};

/* Keys of every kind, three tensors. */
static const char *write_sample(void)
{
    const char *path = new_scratch_file("sample.gguf");
    static const int32_t ids[] = {-1, 7};
    static const uint64_t sizes[] = {1ull << 40};
    const ferry_view texts[] = {text_view("one"), text_view(""), {"t\0o", 3}};
    const int64_t vector[] = {6}, matrix[] = {2, 3}, half[] = {3};
    const uint16_t halves[] = {0x3c00, 0, 0x8000};
    ferry_gguf_writer *writer;
    CHECK(ferry_gguf_writer_create(path, NULL, NULL, &writer, &error));
    ferry_gguf_put_u32(writer, "a.u32", 4000000000u);
    ferry_gguf_put(writer, "a.i32", FERRY_GGUF_I32, &(int32_t){-5});
    ferry_gguf_put_f32(writer, "a.f32", 0.5f);
    ferry_gguf_put_bool(writer, "a.bool", true);
    ferry_gguf_put_string(writer, "a.text", "hello");
    ferry_gguf_put_array(writer, "a.bytes", FERRY_GGUF_U8, "proto", 5);
    ferry_gguf_put_texts(writer, "a.texts", texts, 3);
    ferry_gguf_put_array(writer, "a.i32s", FERRY_GGUF_I32, ids, 2);
    ferry_gguf_put_array(writer, "a.none", FERRY_GGUF_I32, NULL, 0);
    ferry_gguf_put_array(writer, "a.u64s", FERRY_GGUF_U64, sizes, 1);
    ferry_gguf_declare(writer, "t.vector", FERRY_F32, 1, vector);
    ferry_gguf_declare(writer, "t.matrix", FERRY_F32, 2, matrix);
    ferry_gguf_declare(writer, "t.halves", FERRY_F16, 1, half);
    CHECK(ferry_gguf_writer_start(writer, &error));
    CHECK(ferry_gguf_writer_append(writer, values, sizeof values, &error));
    CHECK(ferry_gguf_writer_append(writer, values, 2 * sizeof *values, &error));
    CHECK(ferry_gguf_writer_append(writer, values + 2, 4 * sizeof *values, &error));
    CHECK(ferry_gguf_writer_append(writer, halves, sizeof halves, &error));
    CHECK(ferry_gguf_writer_finish(writer, &error));
    ferry_gguf_writer_destroy(writer);
    return path;
}

static made_file sample(void)
{
    return file_copy(write_sample());
}

TEST(test_round_trip)
{
    ferry_gguf gguf;
    ferry_arena arena = {0};
    int64_t integer;
    float number;
    bool flag;
    ferry_view text;
    const ferry_string_table *texts;
    const void *numbers;
    size_t count;
    const char *path = write_sample();
    CHECK(ferry_gguf_open(mapped_bytes(path), path, &gguf, &error));
    assert_int_equal(gguf.value_count, 11);
    assert_int_equal(gguf.alignment, 64);
    CHECK(ferry_gguf_get_integer(&gguf, "a.u32", 0, INT64_MAX, &integer, &error));
    assert_int_equal(integer, 4000000000u);
    CHECK(ferry_gguf_get_integer(&gguf, "a.i32", -10, 10, &integer, &error));
    assert_int_equal(integer, -5);
    CHECK(ferry_gguf_get_f32(&gguf, "a.f32", &number, &error));
    assert_true(number == 0.5f);
    CHECK(ferry_gguf_get_bool(&gguf, "a.bool", &flag, &error));
    assert_true(flag);
    CHECK(ferry_gguf_get_text(&gguf, "a.text", &text, &error));
    assert_true(ferry_view_equal(text, text_view("hello")));
    CHECK(ferry_gguf_get_bytes(&gguf, "a.bytes", &text, &error));
    assert_true(ferry_view_equal(text, text_view("proto")));
    CHECK(ferry_gguf_get_texts(&gguf, "a.texts", &texts, &count, &error));
    assert_int_equal(count, 3);
    assert_true(ferry_view_equal(ferry_string_table_at(texts, 0), text_view("one")));
    assert_int_equal(ferry_string_table_at(texts, 1).size, 0);
    assert_true(ferry_view_equal(ferry_string_table_at(texts, 2), (ferry_view){"t\0o", 3}));
    CHECK(ferry_gguf_get_integers(&gguf, "a.i32s", -1, 7, sizeof(int32_t), &arena, &numbers, &count, &error));
    assert_int_equal(count, 2);
    assert_int_equal(((const int32_t *)numbers)[0], -1);
    assert_int_equal(((const int32_t *)numbers)[1], 7);
    CHECK(ferry_gguf_get_integers(&gguf, "a.none", 0, 7, sizeof(int32_t), &arena, &numbers, &count, &error));
    assert_int_equal(count, 0);
    CHECK(ferry_gguf_get_integers(&gguf, "a.u64s", 0, INT64_MAX, 8, &arena, &numbers, &count, &error));
    assert_int_equal(((const uint64_t *)numbers)[0], 1ull << 40);

    const ferry_tensor *matrix = ferry_gguf_tensor(&gguf, "t.matrix");
    assert_non_null(matrix);
    assert_int_equal(matrix->dims, 2);
    assert_int_equal(matrix->shape[0], 2);
    assert_int_equal(matrix->shape[1], 3);
    assert_int_equal((uintptr_t)matrix->data % 64, 0);
    assert_memory_equal(matrix->data, values, sizeof values);
    assert_int_equal(ferry_gguf_tensor(&gguf, "t.halves")->bytes, 6);
    assert_null(ferry_gguf_tensor(&gguf, "t.other"));
    ferry_arena_destroy(&arena);
    ferry_gguf_close(&gguf);
}

TEST(test_getters_name_file_and_key)
{
    ferry_gguf gguf;
    ferry_arena arena = {0};
    int64_t number;
    size_t count;
    const void *numbers;
    ferry_view text;
    made_file file = sample();
    const ferry_view all = {(const char *)file.data, file.size};
    CHECK(ferry_gguf_open(all, "sample.gguf", &gguf, &error));
    REFUSE_SAYING(ferry_gguf_get_integer(&gguf, "a.missing", 0, 1, &number, &error), FERRY_ERROR_FORMAT,
                  "sample.gguf: key 'a.missing' is missing");
    REFUSE_SAYING(ferry_gguf_get_integer(&gguf, "a.i32", 0, 9, &number, &error), FERRY_ERROR_FORMAT,
                  "sample.gguf: key 'a.i32': expected 0 to 9, found -5");
    REFUSE_SAYING(ferry_gguf_get_integer(&gguf, "a.text", 0, 9, &number, &error), FERRY_ERROR_FORMAT,
                  "sample.gguf: key 'a.text': expected an integer");
    REFUSE_SAYING(ferry_gguf_get_text(&gguf, "a.i32", &text, &error), FERRY_ERROR_FORMAT,
                  "sample.gguf: key 'a.i32': expected a text");
    REFUSE(ferry_gguf_get_text(&gguf, "a.texts", &text, &error), FERRY_ERROR_FORMAT, "");
    REFUSE_SAYING(ferry_gguf_get_integers(&gguf, "a.i32s", 0, 9, sizeof(int32_t), &arena, &numbers, &count, &error),
                  FERRY_ERROR_FORMAT, "sample.gguf: key 'a.i32s': expected 0 to 9, found -1");
    ferry_arena_destroy(&arena);
    ferry_gguf_close(&gguf);
}

/* ---- places and refusals ---- */

/* The index of the first occurrence of `text`. */
static size_t find(const made_file *file, const char *text)
{
    const unsigned char *found =
        (const unsigned char *)find_text((ferry_view){(const char *)file->data, file->size}, text);
    assert_non_null(found);
    return (size_t)(found - file->data);
}

/* Reads all data of what is accepted, so that the sanitizers see one byte too many. */
static ferry_status read_gguf(ferry_view input, ferry_error *error)
{
    ferry_gguf gguf;
    volatile unsigned char sum = 0;
    const ferry_status status = ferry_gguf_open(input, "in", &gguf, error);
    if (status != FERRY_OK) assert_true(gguf.values == NULL && strncmp(error->message, "in: ", 4) == 0);
    for (size_t i = 0; status == FERRY_OK && i < gguf.tensor_count; i++) {
        const unsigned char *data = gguf.tensors[i].data;
        for (size_t j = 0; j < gguf.tensors[i].bytes; j++) sum = (unsigned char)(sum + data[j]);
    }
    ferry_gguf_close(&gguf);
    return status;
}

/* ---- files made here ---- */

static made_file begin_file(uint64_t tensors, uint64_t keys)
{
    made_file file = {.size = 0};
    put_text(&file, "GGUF");
    put(&file, FERRY_GGUF_VERSION, 4);
    put(&file, tensors, 8);
    put(&file, keys, 8);
    return file;
}

static void put_key(made_file *file, const char *name, size_t length, ferry_gguf_type type, uint64_t value, size_t size)
{
    put(file, length, 8);
    put_bytes(file, name, length);
    put(file, type, 4);
    put(file, value, size);
}

/* `count` bytes, after an alignment if that is not 0. */
static made_file tensor_file(size_t name_length, uint32_t dims, uint64_t count, uint64_t alignment)
{
    made_file file = begin_file(1, alignment > 0);
    if (alignment > 0) put_key(&file, "general.alignment", 17, FERRY_GGUF_U64, alignment, 8);
    put(&file, name_length, 8);
    for (size_t i = 0; i < name_length; i++) put_text(&file, "n");
    put(&file, dims, 4);
    for (uint32_t d = 0; d < dims; d++) put(&file, d == 0 ? count : 1, 8);
    put(&file, FERRY_I8, 4);
    put(&file, 0, 8);
    const size_t step = alignment > 0 ? (size_t)alignment : 32;
    put(&file, 0, (step - file.size % step) % step);
    put(&file, 7, (size_t)count);
    return file;
}

/* The smallest files, and the longest names. */
TEST(test_ends_of_ranges)
{
    static char name[65536];
    memset(name, 'k', sizeof name);
    for (uint64_t keys = 0; keys <= 2; keys++) { /* 14 bytes each, and nothing else */
        made_file file = begin_file(0, keys);
        for (uint64_t i = 0; i < keys; i++) put_key(&file, i == 0 ? "a" : "b", 1, FERRY_GGUF_BOOL, i, 1);
        CHECK(read_gguf(whole(&file), &error));
    }
    for (size_t length = 65535; length <= 65536; length++) {
        made_file file = begin_file(0, 1);
        put_key(&file, name, length, FERRY_GGUF_U8, 1, 1);
        if (length == 65535)
            CHECK(read_gguf(whole(&file), &error));
        else
            REFUSE(read_gguf(whole(&file), &error), FERRY_ERROR_FORMAT, "key number 0 is cut off, empty or too long");
    }
    static const struct {
        size_t name;
        uint32_t dims;
        uint64_t count, alignment;
        const char *message; /* NULL: accepted */
    } rows[] = {
        {1, 1, 1, 0, NULL},
        {1, 1, 32, 0, NULL},
        {1, 4, 1, 0, NULL},
        {1, 5, 1, 0, "expected 1 to 4 dimensions"},
        {63, 1, 1, 0, NULL},
        {64, 1, 1, 0, "name of tensor number 0 is cut off, empty or too long"},
        {1, 1, 3, 1, NULL},
        {1, 1, 3, 2, NULL},
        {1, 1, 3, 3, "general.alignment: expected a power of two, found 3"},
        {1, 1, 3, 1 << 20, NULL},
        {1, 1, 3, 1 << 21, "key 'general.alignment': expected 1 to 1048576, found 2097152"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        made_file file = tensor_file(rows[i].name, rows[i].dims, rows[i].count, rows[i].alignment);
        if (rows[i].message != NULL) {
            REFUSE(read_gguf(whole(&file), &error), FERRY_ERROR_FORMAT, rows[i].message);
            continue;
        }
        CHECK(read_gguf(whole(&file), &error));
        const size_t end = file.size, step = rows[i].alignment > 0 ? (size_t)rows[i].alignment : 32;
        put(&file, 0, (step - end % step) % step); /* padding, which may follow */
        CHECK(read_gguf(whole(&file), &error));
        put(&file, 0, 1);
        REFUSE(read_gguf(whole(&file), &error), FERRY_ERROR_FORMAT, "expected the end at byte");
        file.size = end - 1;
        REFUSE(read_gguf(whole(&file), &error), FERRY_ERROR_FORMAT,
               "its data go beyond the file: the file was cut off");
    }
}

/* The least and the largest number of each type. */
TEST(test_numbers_of_each_type)
{
    static const struct {
        ferry_gguf_type type;
        size_t size;
        uint64_t bits;
        int64_t number;
    } rows[] = {
        {FERRY_GGUF_U8, 1, 0xFF, 255},
        {FERRY_GGUF_I8, 1, 0x80, -128},
        {FERRY_GGUF_I8, 1, 0x7F, 127},
        {FERRY_GGUF_U16, 2, 0xFFFF, 65535},
        {FERRY_GGUF_I16, 2, 0x8000, -32768},
        {FERRY_GGUF_I16, 2, 0x7FFF, 32767},
        {FERRY_GGUF_U32, 4, 0xFFFFFFFF, UINT32_MAX},
        {FERRY_GGUF_I32, 4, 0x80000000, INT32_MIN},
        {FERRY_GGUF_I32, 4, 0x7FFFFFFF, INT32_MAX},
        {FERRY_GGUF_U64, 8, INT64_MAX, INT64_MAX},
        {FERRY_GGUF_I64, 8, UINT64_C(1) << 63, INT64_MIN},
        {FERRY_GGUF_I64, 8, UINT64_MAX, -1},
        {FERRY_GGUF_I64, 8, INT64_MAX, INT64_MAX},
    };
    for (size_t i = 0; i <= sizeof rows / sizeof *rows; i++) {
        const bool beyond = i == sizeof rows / sizeof *rows;
        const int64_t expected = beyond ? 0 : rows[i].number;
        int64_t found;
        ferry_gguf gguf;
        made_file file = begin_file(0, 1);
        put_key(&file, "n", 1, beyond ? FERRY_GGUF_U64 : rows[i].type, beyond ? UINT64_C(1) << 63 : rows[i].bits,
                beyond ? 8 : rows[i].size);
        CHECK(ferry_gguf_open(whole(&file), "n.gguf", &gguf, &error));
        if (beyond) {
            REFUSE_SAYING(ferry_gguf_get_integer(&gguf, "n", INT64_MIN, INT64_MAX, &found, &error), FERRY_ERROR_FORMAT,
                          "n.gguf: key 'n': expected an integer");
        } else {
            CHECK(ferry_gguf_get_integer(&gguf, "n", expected, expected, &found, &error));
            assert_true(found == expected);
            if (expected < INT64_MAX)
                REFUSE(ferry_gguf_get_integer(&gguf, "n", expected + 1, INT64_MAX, &found, &error), FERRY_ERROR_FORMAT,
                       "found");
            if (expected > INT64_MIN)
                REFUSE(ferry_gguf_get_integer(&gguf, "n", INT64_MIN, expected - 1, &found, &error), FERRY_ERROR_FORMAT,
                       "found");
        }
        ferry_gguf_close(&gguf);
    }
}

/* As far as a float reaches, of either width. */
TEST(test_largest_floats)
{
    static const struct {
        double number;
        bool accepted;
    } rows[] = {{(double)FLT_MAX, true}, {-(double)FLT_MAX, true}, {3.5e38, false}, {-3.5e38, false},
                {INFINITY, false},       {-INFINITY, false},       {NAN, false},    {0, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int wide = 0; wide < 2; wide++) {
            const float narrow = (float)rows[i].number;
            uint32_t narrow_bits;
            uint64_t bits;
            float found;
            ferry_gguf gguf;
            made_file file = begin_file(0, 1);
            memcpy(&narrow_bits, &narrow, sizeof narrow);
            memcpy(&bits, &rows[i].number, sizeof bits);
            put_key(&file, "x", 1, wide ? FERRY_GGUF_F64 : FERRY_GGUF_F32, wide ? bits : narrow_bits, wide ? 8 : 4);
            CHECK(ferry_gguf_open(whole(&file), "x.gguf", &gguf, &error));
            if (rows[i].accepted) {
                CHECK(ferry_gguf_get_f32(&gguf, "x", &found, &error));
                assert_true(found == narrow);
            } else {
                REFUSE_SAYING(ferry_gguf_get_f32(&gguf, "x", &found, &error), FERRY_ERROR_FORMAT,
                              "x.gguf: key 'x': expected a finite number");
            }
            ferry_gguf_close(&gguf);
        }
}

/* ---- files with errors ---- */

/* One byte is changed, `offset` bytes after the beginning of `anchor`. */
TEST(test_false_bytes)
{
    static const struct {
        const char *anchor;
        int offset, value;
        ferry_status status;
        const char *message;
    } rows[] = {
        {"GGUF", 0, 'X', FERRY_ERROR_FORMAT, "not a GGUF file"},
        {"GGUF", 4, 2, FERRY_ERROR_UNSUPPORTED, "expected GGUF version 3, found 2"},
        {"GGUF", 15, 1, FERRY_ERROR_FORMAT, "tensors do not fit"},
        {"GGUF", 23, 1, FERRY_ERROR_FORMAT, "keys do not fit"},
        {"GGUF", 8, 2, FERRY_ERROR_FORMAT, "expected the end at byte"},
        {"GGUF", 16, 10, FERRY_ERROR_FORMAT, "in: "},
        {"a.u32", -8, 0, FERRY_ERROR_FORMAT, "key number 1 is cut off, empty or too long"},
        {"a.u32", -1, 1, FERRY_ERROR_FORMAT, "key number 1 is cut off"},
        {"a.u32", 5, 13, FERRY_ERROR_FORMAT, "key 'a.u32': unknown type 13"},
        {"a.bool", 10, 2, FERRY_ERROR_FORMAT, "key 'a.bool': expected a bool (0 or 1), found 2"},
        {"a.text", 17, 1, FERRY_ERROR_FORMAT, "key 'a.text': the file ends in its text"},
        {"a.texts", 22, 1, FERRY_ERROR_FORMAT, "texts do not fit"},
        {"a.texts", 30, 1, FERRY_ERROR_FORMAT, "the file ends in text 0 of 3"},
        {"a.texts", 11, 9, FERRY_ERROR_FORMAT, "arrays of arrays"},
        {"a.i32s", 10, 99, FERRY_ERROR_FORMAT, "key 'a.i32s': unknown type 99"},
        {"a.i32s", 21, 1, FERRY_ERROR_FORMAT, "key 'a.i32s': the file ends in its value"},
        {"general.alignment", 21, 0, FERRY_ERROR_FORMAT, "general.alignment"},
        {"general.alignment", 21, 128, FERRY_ERROR_FORMAT, "t.matrix"},
        {"t.vector", -8, 0, FERRY_ERROR_FORMAT, "name of tensor number 0"},
        {"t.vector", 8, 0, FERRY_ERROR_FORMAT, "tensor 't.vector': expected 1 to 4 dimensions"},
        {"t.vector", 12, 0, FERRY_ERROR_FORMAT, "tensor 't.vector': its shape is cut off or impossible"},
        {"t.vector", 19, 0x80, FERRY_ERROR_FORMAT, "tensor 't.vector': its shape is cut off or impossible"},
        {"t.vector", 13, 2, FERRY_ERROR_FORMAT, "tensor 't.vector': its shape is larger than the file"},
        {"t.vector", 12, 17, FERRY_ERROR_FORMAT, "tensor 't.matrix': expected its data at offset 128"},
        {"t.vector", 20, 2, FERRY_ERROR_UNSUPPORTED, "tensor 't.vector': element type 2 is not supported"},
        {"t.vector", 28, 1, FERRY_ERROR_FORMAT, "tensor 't.vector'"},
        {"t.matrix", 32, 0, FERRY_ERROR_FORMAT, "tensor 't.matrix': expected its data at offset 64, found offset 0"},
        {"t.matrix", 39, 1, FERRY_ERROR_FORMAT, "tensor 't.matrix'"},
    };
    const made_file file = sample();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t at = find(&file, rows[i].anchor) + (size_t)rows[i].offset;
        assert_int_not_equal(file.data[at], rows[i].value);
        REFUSE(read_gguf(edited(&file, at, (unsigned char)rows[i].value), &error), rows[i].status, rows[i].message);
    }
}

/* Names that occur twice, as the first, as middle and as the last ones of their table. */
TEST(test_names_that_occur_twice)
{
    static const char *const becomes[] = {"t.vector", "t.halves"};
    for (size_t i = 0; i < 2; i++) {
        made_file file = sample();
        memcpy(file.data + find(&file, "t.matrix"), becomes[i], 8);
        REFUSE(read_gguf(whole(&file), &error), FERRY_ERROR_FORMAT,
               ferry_format("tensor '%s' occurs twice", becomes[i]).text);
    }
    for (size_t twice = 0; twice < 5; twice++) { /* of the keys a, b, c, d, e */
        made_file file = begin_file(0, 6);
        for (size_t key = 0; key < 6; key++) {
            const char name = (char)('a' + (key == 5 ? twice : key));
            put_key(&file, &name, 1, FERRY_GGUF_U8, 1, 1);
        }
        REFUSE(read_gguf(whole(&file), &error), FERRY_ERROR_FORMAT,
               ferry_format("key '%c' occurs twice", (char)('a' + twice)).text);
    }
}

/* ---- arrays of many texts ---- */

/* A file whose only key is an array of `count` texts, up to the first of them. */
static made_file begin_texts(uint64_t count)
{
    made_file file = begin_file(0, 1);
    put_key(&file, "a.texts", 7, FERRY_GGUF_ARRAY, FERRY_GGUF_TEXT, 4);
    put(&file, count, 8);
    return file;
}

/* Four bytes for each. */
TEST(test_memory_of_texts)
{
    enum { TEXTS = 1 << 20, MOST = 5 << 20 };
    ferry_gguf gguf;
    made_file file = begin_texts(TEXTS);
    for (size_t i = 0; i < TEXTS; i++) put(&file, 0, 8);
    const ferry_view bytes = whole(&file);
    const size_t before = own_memory();
    CHECK(ferry_gguf_open(bytes, "texts.gguf", &gguf, &error));
    assert_in_range(own_memory(), 0, before + MOST);
    assert_int_equal(ferry_string_table_at(gguf.values[0].texts, TEXTS - 1).size, 0);
    ferry_gguf_close(&gguf);
}

#if SIZE_MAX > UINT32_MAX && !defined(SANITIZED) /* which may write to what is never used here */
/* Two texts that have, with their lengths, exactly 2³² - 1 bytes, and one more. */
TEST(test_texts_beyond_32_bits)
{
    const uint64_t sizes[] = {UINT32_MAX - 8 - 8, 1};
    const made_file head = begin_texts(2);
    const size_t first = head.size + 8, second = first + (size_t)sizes[0] + 8;
    unsigned char *bytes = calloc(second + 1, 1);
    ferry_gguf gguf;
    if (bytes == NULL) skip();
    memcpy(bytes, head.data, head.size);
    memcpy(bytes + head.size, &sizes[0], 8);
    CHECK(ferry_gguf_open((ferry_view){(const char *)bytes, second}, "large.gguf", &gguf, &error));
    assert_ptr_equal(ferry_string_table_at(gguf.values[0].texts, 0).data, bytes + first);
    assert_int_equal(ferry_string_table_at(gguf.values[0].texts, 0).size, sizes[0]);
    assert_ptr_equal(ferry_string_table_at(gguf.values[0].texts, 1).data, bytes + second);
    assert_int_equal(ferry_string_table_at(gguf.values[0].texts, 1).size, 0);
    ferry_gguf_close(&gguf);
    memcpy(bytes + second - 8, &sizes[1], 8);
    REFUSE_SAYING(ferry_gguf_open((ferry_view){(const char *)bytes, second + 1}, "large.gguf", &gguf, &error),
                  FERRY_ERROR_FORMAT,
                  "large.gguf: key 'a.texts': expected texts of less than 2^32 bytes together, found 4294967296 in "
                  "text 1 of 2");
    assert_null(gguf.values);
    free(bytes);
}
#endif

/* ---- robustness ---- */

TEST(test_every_truncation_is_refused)
{
    made_file file = sample();
    CHECK(read_gguf(whole(&file), &error));
    file.size -= 63; /* the last tensor is followed by padding, which may be missing */
    check_refused_cuts(read_gguf, &file, 0, FERRY_ERROR_FORMAT);
}
