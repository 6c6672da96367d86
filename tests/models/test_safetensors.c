/* safetensors: what is in a file, and that every inconsistent header is refused by name. */
#include "tests/support/refusals.h"

/* A file from its header's text and its data. */
static made_file make(const char *header, const void *data, size_t size)
{
    made_file file = {.size = 0};
    put(&file, strlen(header), 8);
    put_text(&file, header);
    put_bytes(&file, data, size);
    return file;
}

static ferry_status parse(ferry_view bytes, ferry_safetensors *tensors, ferry_error *error)
{
    memset(tensors, 0, sizeof *tensors);
    return ferry_safetensors_read(bytes, "liar.safetensors", NULL, &tensors->weights, error);
}

TEST(test_reads_what_is_there)
{
    static const float numbers[] = {1, 2, 3, 4, 5, 6, 7};
    ferry_safetensors tensors;
    made_file file = make("{\"__metadata__\":{\"format\":\"pt\"},"
                          "\"b\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[4,28]},"
                          "\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
                          "\"__mask\":{\"dtype\":\"BOOL\",\"shape\":[0],\"data_offsets\":[28,28]}}   ",
                          numbers, sizeof numbers);
    CHECK(parse(whole(&file), &tensors, &error));
    assert_int_equal(tensors.weights.count, 3);
    const ferry_tensor *a = ferry_safetensors_find(&tensors, "a"), *b = ferry_safetensors_find(&tensors, "b");
    assert_int_equal(a->dims, 0);
    assert_int_equal(ferry_tensor_count(a), 1);
    assert_int_equal(b->shape[0], 2);
    assert_int_equal(b->shape[1], 3);
    assert_int_equal(b->type, FERRY_F32);
    assert_memory_equal(b->data, numbers + 1, 24);
    assert_int_equal(ferry_safetensors_find(&tensors, "__mask")->type, FERRY_TYPE_OTHER);
    assert_null(ferry_safetensors_find(&tensors, "c"));
    ferry_safetensors_close(&tensors);
}

#define TENSOR(name, dtype, shape, offsets)                                                                            \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

#define ONE(dtype, shape, offsets) "{" TENSOR("a", dtype, shape, offsets) "}"

TEST(test_types)
{
    static const struct {
        const char *header;
        int type;
        size_t size;
    } rows[] = {{ONE("F32", "[2]", "[0,8]"), FERRY_F32, 8},         {ONE("F16", "[2]", "[0,4]"), FERRY_F16, 4},
                {ONE("BF16", "[2]", "[0,4]"), FERRY_BF16, 4},       {ONE("F64", "[2]", "[0,16]"), FERRY_F64, 16},
                {ONE("I8", "[2]", "[0,2]"), FERRY_I8, 2},           {ONE("I16", "[2]", "[0,4]"), FERRY_I16, 4},
                {ONE("I32", "[2]", "[0,8]"), FERRY_I32, 8},         {ONE("I64", "[2]", "[0,16]"), FERRY_I64, 16},
                {ONE("BOOL", "[2]", "[0,2]"), FERRY_TYPE_OTHER, 2}, {ONE("U8", "[2]", "[0,2]"), FERRY_TYPE_OTHER, 2},
                {ONE("U16", "[2]", "[0,4]"), FERRY_TYPE_OTHER, 4},  {ONE("U32", "[2]", "[0,8]"), FERRY_TYPE_OTHER, 8},
                {ONE("U64", "[2]", "[0,16]"), FERRY_TYPE_OTHER, 16}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_weights weights;
        const made_file file = make(rows[i].header, kept_memory(rows[i].size), rows[i].size);
        CHECK(ferry_safetensors_read(whole(&file), "w", NULL, &weights, &error));
        assert_int_equal(weights.entries[0].tensor.type, rows[i].type);
        assert_int_equal(weights.entries[0].tensor.bytes, rows[i].size);
        ferry_weights_close(&weights);
    }
}

/* Tensors without elements, whose other sizes have no product that fits. */
TEST(test_empty_tensors_of_any_shape)
{
    ferry_safetensors tensors;
    const ferry_tensor last = {.dims = 3, .shape = {INT64_C(1) << 62, 4, 0}};
    made_file file =
        make("{\"a\":{\"dtype\":\"F32\",\"shape\":[0,4611686018427387904,4],\"data_offsets\":[0,0]}}", "", 0);
    CHECK(parse(whole(&file), &tensors, &error));
    assert_int_equal(ferry_tensor_count(ferry_safetensors_find(&tensors, "a")), 0);
    assert_int_equal(ferry_tensor_count(&last), 0);
    ferry_safetensors_close(&tensors);
}

/* A file of this header and zeros. */
static ferry_view zeros(const char *header, size_t size)
{
    const made_file file = make(header, kept_memory(size), size);
    return whole(&file);
}

#define NO_FILE "not a safetensors file, or cut off in its header"
#define NO_PLACES "tensor 'a': expected dtype, shape and data_offsets"
#define NO_SHAPE "tensor 'a': expected a shape of at most 4 integers, none negative"

TEST(test_inconsistent_headers)
{
    const made_file empty = make("{}", NULL, 0);
    const refused rows[] = {
        MALFORMED(zeros("[]", 0), NO_FILE),
        MALFORMED(zeros("{", 0), NO_FILE),
        MALFORMED(zeros(" {}", 0), NO_FILE),
        UNSUPPORTED(BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123\n"),
                    "this is a Git LFS pointer, not the file: download it with 'git lfs pull'"),
        MALFORMED(edited(&empty, 0, 3), NO_FILE),
        MALFORMED(edited(&empty, 7, 0x80), NO_FILE),
        MALFORMED(zeros("{]", 0), "line 1, column 2: string or '}' expected near ']'"),
        MALFORMED(zeros("{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("a", "F32", "[1]", "[0,4]") "}", 4),
                  "line 1, column 57: duplicate object key near '\"a\"'"),
        MALFORMED(zeros("{\"a\":1}", 0), NO_PLACES),
        MALFORMED(zeros("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4), NO_PLACES),
        MALFORMED(zeros(ONE("F32", "[1]", "[0]"), 4), NO_PLACES),
        MALFORMED(zeros(ONE("F32", "[1]", "[0,4,4]"), 4), NO_PLACES),
        MALFORMED(zeros(ONE("F32", "[1]", "[-4,0]"), 4), NO_PLACES),
        MALFORMED(zeros(ONE("F32", "[1]", "[0,4.0]"), 4), NO_PLACES),
        MALFORMED(zeros(ONE("F32", "[1]", "[4,0]"), 4), NO_PLACES),
        MALFORMED(zeros(ONE("F32", "[1.5]", "[0,4]"), 4), NO_SHAPE),
        MALFORMED(zeros(ONE("F32", "[1,-1]", "[0,4]"), 4), NO_SHAPE),
        MALFORMED(zeros(ONE("F32", "7", "[0,4]"), 4), NO_SHAPE),
        MALFORMED(zeros(ONE("F32", "[1,1,1,1,1]", "[0,4]"), 4), NO_SHAPE),
        UNSUPPORTED(zeros(ONE("F8_E4M3", "[4]", "[0,4]"), 4), "tensor 'a': element type 'F8_E4M3' is not supported"),
        MALFORMED(zeros(ONE("F32", "[2]", "[0,4]"), 4), "tensor 'a': shape [2] of f32 does not fit its 4 bytes"),
        MALFORMED(zeros(ONE("U16", "[2]", "[0,2]"), 2),
                  "tensor 'a': shape [2] of unsupported does not fit its 2 bytes"),
        MALFORMED(zeros(ONE("F32", "[4611686018427387904,4]", "[0,0]"), 0),
                  "tensor 'a': shape [4611686018427387904, 4] of f32 does not fit its 0 bytes"),
        MALFORMED(zeros(ONE("F32", "[1]", "[0,4]"), 3), "tensor 'a': expected its data in 3 bytes, found 0 to 4"),
        MALFORMED(zeros(ONE("F32", "[1]", "[0,4]"), 5), "expected 4 bytes of data, found 5"),
        MALFORMED(zeros(ONE("F32", "[1]", "[4,8]"), 8), "tensor 'a': expected its data at byte 0 of 8, found 4 to 8"),
        MALFORMED(zeros("{" TENSOR("a", "F32", "[2]", "[0,8]") "," TENSOR("b", "F32", "[1]", "[4,8]") "}", 8),
                  "tensor 'b': expected its data at byte 8 of 8, found 4 to 8"),
    };
    check_refused_weights(ferry_safetensors_read, rows, COUNT(rows));
}

TEST(test_header_length)
{
    ferry_safetensors tensors;
    const made_file file = make("{}", NULL, 0);
    CHECK(parse(whole(&file), &tensors, &error));
    assert_int_equal(tensors.weights.count, 0);
    ferry_safetensors_close(&tensors);
}

/* What importers get: names of their own, row-major strides, small integers. */
TEST(test_entries)
{
    static const unsigned char data[18] = {1, 2, 3, 4, 5, 6};
    ferry_weights weights;
    made_file file = make("{" TENSOR("m", "I8", "[2,3]", "[0,6]") "," TENSOR("a", "I16", "[1,2,3]", "[6,18]") "}", data,
                          sizeof data);
    CHECK(ferry_safetensors_read(whole(&file), "w", NULL, &weights, &error));
    assert_int_equal(weights.count, 2);
    const ferry_weights_entry *m = find_weights(&weights, "m"), *a = find_weights(&weights, "a");
    assert_int_equal(m->tensor.type, FERRY_I8);
    assert_int_equal(a->tensor.type, FERRY_I16);
    assert_true(m->strides[0] == 3 && m->strides[1] == 1);
    assert_true(a->strides[0] == 6 && a->strides[1] == 3 && a->strides[2] == 1);
    assert_true(m->multiplier == 0);
    assert_string_equal(m->file, "w");
    assert_memory_equal(m->tensor.data, data, 6);
    ferry_weights_close(&weights);
}

TEST(test_truncation)
{
    enum { DATA = 32 };
    const made_file file = make("{" TENSOR("a", "F32", "[2,3]", "[0,24]") "," TENSOR("b", "BF16", "[4]", "[24,32]") "}",
                                kept_memory(DATA), DATA);
    check_refused_weights_cuts(ferry_safetensors_read, &file, 0, FERRY_ERROR_FORMAT);
}
