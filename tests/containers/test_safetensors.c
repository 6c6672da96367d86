/* safetensors: what is in a file, and that every inconsistent header is refused by name. */
#include "tests/support/refusals.h"

static made_file make(const char *header, const void *data, size_t size)
{
    return made_safetensors(text_view(header), data, size);
}

static void check(const char *header, const void *data, size_t size, const char *expected)
{
    const made_file file = make(header, data, size);
    check_weights(ferry_safetensors_read, whole(&file), expected);
}

#define TENSOR(name, dtype, shape, offsets)                                                                            \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

#define ONE(dtype, shape, offsets) "{" TENSOR("a", dtype, shape, offsets) "}"

TEST(test_tensors)
{
    static const float numbers[] = {1, 2, 3, 4, 5, 6, 7};
    static const unsigned char codes[18] = {1, 2, 3, 4, 5, 6, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0};
    ferry_safetensors tensors = {0};
    check("{}", NULL, 0, "");
    check("{\"__metadata__\":{\"format\":\"pt\"}," TENSOR("b", "F32", "[2,3]", "[4,28]") "," TENSOR(
              "a", "F32", "[]", "[0,4]") "," TENSOR("__mask", "BOOL", "[0]", "[28,28]") "}   ",
          numbers, sizeof numbers, "__mask unsupported [0] 0 bytes; a f32 [] 1; b f32 [2, 3] 2 3 4 5 6 7");
    check("{" TENSOR("m", "I8", "[2,3]", "[0,6]") "," TENSOR("a", "I16", "[1,2,3]", "[6,18]") "}", codes, sizeof codes,
          "a i16 [1, 2, 3] 7 8 9 10 11 12; m i8 [2, 3] 1 2 3 4 5 6");
    /* Without elements, where the other sizes have no product that fits. */
    check(ONE("F32", "[0,4611686018427387904,4]", "[0,0]"), "", 0, "a f32 [0, 4611686018427387904, 4]");
    assert_int_equal(ferry_tensor_count(&(ferry_tensor){.dims = 3, .shape = {INT64_C(1) << 62, 4, 0}}), 0);
    const made_file file = make(ONE("F32", "[1]", "[0,4]"), numbers, 4);
    CHECK(ferry_weights_read(ferry_safetensors_read, whole(&file), "in", NULL, &tensors.weights, &error));
    assert_int_equal(ferry_weights_find(&tensors.weights, "a")->tensor.bytes, 4);
    assert_null(ferry_weights_find(&tensors.weights, "c"));
    ferry_safetensors_close(&tensors);
}

TEST(test_types)
{
    static const struct {
        const char *name;
        int type;
        size_t size;
    } rows[] = {{"F32", FERRY_F32, 8},        {"F16", FERRY_F16, 4},        {"BF16", FERRY_BF16, 4},
                {"F64", FERRY_F64, 16},       {"I8", FERRY_I8, 2},          {"I16", FERRY_I16, 4},
                {"I32", FERRY_I32, 8},        {"I64", FERRY_I64, 16},       {"BOOL", FERRY_TYPE_OTHER, 2},
                {"U8", FERRY_TYPE_OTHER, 2},  {"U16", FERRY_TYPE_OTHER, 4}, {"U32", FERRY_TYPE_OTHER, 8},
                {"U64", FERRY_TYPE_OTHER, 16}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t size = rows[i].size;
        const ferry_name header = ferry_name_format("{" TENSOR("a", "%s", "[2]", "[0,%zu]") "}", rows[i].name, size);
        check(header.text, kept_memory(size), size,
              rows[i].type == FERRY_TYPE_OTHER
                  ? ferry_name_format("a unsupported [2] %zu bytes", size).text
                  : ferry_name_format("a %s [2] 0 0", ferry_type_name((ferry_type)rows[i].type)).text);
    }
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

TEST(test_truncation)
{
    enum { DATA = 32 };
    const made_file file = make("{" TENSOR("a", "F32", "[2,3]", "[0,24]") "," TENSOR("b", "BF16", "[4]", "[24,32]") "}",
                                kept_memory(DATA), DATA);
    check_refused_weights_cuts(ferry_safetensors_read, &file, 0, FERRY_ERROR_FORMAT);
}
