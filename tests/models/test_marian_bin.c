/* Marian's .bin: the layout to the byte, both dialects of types, the order of int8 bytes, and what is refused. */
#include "tests/support/refusals.h"

/* A tensor to be written; `data` NULL: zeros. */
typedef struct given {
    const char *name;
    uint64_t type;
    int32_t rows, columns;
    const void *data;
    size_t size;
} given;

/* As Marian writes it, but for the padding of data, which is the caller's. */
static made_file make(const given *tensors, size_t count)
{
    made_file file = {.size = 0};
    put(&file, 1, 8);
    put(&file, count, 8);
    for (size_t i = 0; i < count; i++) {
        put(&file, strlen(tensors[i].name) + 1, 8);
        put(&file, tensors[i].type, 8);
        put(&file, 2, 8);
        put(&file, tensors[i].size, 8);
    }
    for (size_t i = 0; i < count; i++) put_bytes(&file, tensors[i].name, strlen(tensors[i].name) + 1);
    for (size_t i = 0; i < count; i++) {
        put(&file, (uint32_t)tensors[i].rows, 4);
        put(&file, (uint32_t)tensors[i].columns, 4);
    }
    const size_t pad = (file.size + 8) / 256 * 256 + 256 - (file.size + 8);
    put(&file, pad, 8);
    put(&file, 0, pad);
    for (size_t i = 0; i < count; i++) {
        if (tensors[i].data != NULL) put_bytes(&file, tensors[i].data, tensors[i].size);
        if (tensors[i].data == NULL) put(&file, 0, tensors[i].size);
    }
    return file;
}

static made_file make_one(const char *name, uint64_t type, const void *data, size_t size)
{
    return make(&(given){name, type, 1, 2, data, size}, 1);
}

/* One tensor `b`, shape (1, 2), float32, data padded to 256. */
TEST(test_layout)
{
    static const float data[64] = {1.5f, -2};
    ferry_weights weights;
    const made_file file = make_one("b", 0x404, data, 256);
    const ferry_view view = whole(&file);
    assert_int_equal(file.size, 512);
    assert_int_equal(file.data[58], 190);
    CHECK(ferry_marian_bin_read(view, "layout.bin", NULL, &weights, &error));
    const ferry_weights_entry *entry = find_weights(&weights, "b");
    assert_ptr_equal(entry->tensor.data, view.data + 256);
    assert_int_equal(entry->tensor.bytes, 8);
    assert_int_equal(entry->tensor.dims, 2);
    assert_int_equal(entry->tensor.shape[0], 1);
    assert_int_equal(entry->tensor.shape[1], 2);
    assert_int_equal(entry->strides[0], 2);
    assert_int_equal(entry->strides[1], 1);
    assert_true(entry->multiplier == 0);
    ferry_weights_close(&weights);
}

/* W [2, 3] is stored as its transpose, Wemb as it is; the multiplier is not aligned. */
TEST(test_intgemm)
{
    static const unsigned char narrow[12] = {1, 2, 3, 4, 5, 6, 0, 0, 0xfe, 0x42};                 /* 127 */
    static const unsigned char wide[16] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 0, 0, 0x80, 0x44}; /* 1024 */
    static const uint64_t codes[] = {0x4101, 0x10001, 0x4102, 0x10002};
    for (size_t i = 0; i < COUNT(codes); i++) {
        const size_t size = 6 * (codes[i] & 0xf);
        const void *data = i < 2 ? narrow : wide;
        const given tensors[] = {{"x_Wq", codes[i], 2, 3, data, size + 4},
                                 {"decoder_Wemb", codes[i], 2, 3, data, size + 6}};
        ferry_weights weights;
        const made_file file = make(tensors, i < 2 ? 2 : 1);
        CHECK(ferry_marian_bin_read(whole(&file), "codes.bin", NULL, &weights, &error));
        const ferry_weights_entry *weight = find_weights(&weights, "x_Wq");
        assert_int_equal(weight->tensor.type, i < 2 ? FERRY_I8 : FERRY_I16);
        assert_int_equal(weight->tensor.bytes, size);
        assert_true(weight->strides[0] == 1 && weight->strides[1] == 2);
        assert_true(weight->multiplier == (i < 2 ? 127 : 1024));
        if (i < 2) {
            const ferry_weights_entry *table = find_weights(&weights, "decoder_Wemb");
            assert_true(table->strides[0] == 3 && table->strides[1] == 1 && table->multiplier == 127);
        }
        ferry_weights_close(&weights);
    }
}

TEST(test_types)
{
    static const struct {
        uint64_t code;
        int type;
    } rows[] = {{0x101, FERRY_I8},         {0x102, FERRY_I16},        {0x104, FERRY_I32},
                {0x108, FERRY_I64},        {0x402, FERRY_F16},        {0x408, FERRY_F64},
                {0x201, FERRY_TYPE_OTHER}, {0x202, FERRY_TYPE_OTHER}, {0x204, FERRY_TYPE_OTHER},
                {0x208, FERRY_TYPE_OTHER}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t size = 2 * (rows[i].code & 0xf);
        ferry_weights weights;
        const made_file file = make_one("b", rows[i].code, NULL, size);
        CHECK(ferry_marian_bin_read(whole(&file), "types.bin", NULL, &weights, &error));
        assert_int_equal(weights.entries[0].tensor.type, rows[i].type);
        assert_int_equal(weights.entries[0].tensor.bytes, size);
        ferry_weights_close(&weights);
    }
}

static ferry_view file_of(const char *name, uint64_t type, const void *data, size_t size)
{
    const made_file file = make_one(name, type, data, size);
    return whole(&file);
}

TEST(test_types_refused)
{
    static const struct {
        uint64_t code;
        const char *name;
    } types[] = {
        {0x802, "packed16 (FBGEMM's own layout)"},
        {0x1801, "packed8avx2 (FBGEMM's own layout)"},
        {0x2801, "packed8avx512 (FBGEMM's own layout)"},
        {0x18001, "intgemm8ssse3 (tiles for one machine: convert to intgemm8)"},
        {0x11001, "intgemm8avx2 (tiles for one machine: convert to intgemm8)"},
        {0x12001, "intgemm8avx512 (tiles for one machine: convert to intgemm8)"},
        {0x13001, "intgemm8avx512vnni (tiles for one machine: convert to intgemm8)"},
        {0x14002, "intgemm16sse2 (tiles for one machine: convert to intgemm16)"},
        {0x11002, "intgemm16avx2 (tiles for one machine: convert to intgemm16)"},
        {0x12002, "intgemm16avx512 (tiles for one machine: convert to intgemm16)"},
    };
    for (size_t i = 0; i < COUNT(types); i++) {
        const ferry_name message =
            ferry_name_format("in: tensor 'x_W': element type %s is not supported", types[i].name);
        const refused row = {file_of("x_W", types[i].code, NULL, 256), FERRY_ERROR_UNSUPPORTED, message.text};
        check_refused_weights(ferry_marian_bin_read, &row, 1);
    }
}

TEST(test_damage)
{
    static const char name[] = "in: tensor 0: its name is not terminated by one NUL";
    static const char shape[] = "in: tensor 'b': impossible shape", data[] = "in: cut off in its data";
    static const char multiplier[] = "in: tensor 'x_W': expected a positive multiplier after its integers";
    const given tensor = {"b", 0x404, 1, 2, NULL, 8};
    const made_file file = make(&tensor, 1), twice = make((given[]){tensor, tensor}, 2);
    const refused rows[] = {
        UNSUPPORTED(edited(&file, 0, 2), "encrypted .bin files (version 2) are not supported"),
        MALFORMED(edited(&file, 0, 3), "not a Marian .bin file"),
        MALFORMED(edited(&file, 15, 0x80),
                  "not a Marian .bin file: 9223372036854775809 tensors do not fit in 264 bytes"),
        {edited(&file, 16, 3), FERRY_ERROR_FORMAT, name},
        {edited(&file, 16, 1), FERRY_ERROR_FORMAT, name},
        {edited(&file, 49, 'x'), FERRY_ERROR_FORMAT, name},
        MALFORMED(edited(&file, 32, 5), "tensor 'b': expected at most 4 dimensions, found 5"),
        {edited(&file, 50, 0), FERRY_ERROR_FORMAT, shape},
        {edited(&file, 54, 0), FERRY_ERROR_FORMAT, shape},
        {edited(&file, 53, 0x80), FERRY_ERROR_FORMAT, shape},
        MALFORMED(edited(&file, 54, 3), "tensor 'b': shape [1, 3] of f32 does not fit its 8 bytes"),
        MALFORMED(edited(&file, 40, 7), "tensor 'b': shape [1, 2] of f32 does not fit its 7 bytes"),
        {edited(&file, 40, 9), FERRY_ERROR_FORMAT, data},
        {edited(&file, 47, 0x80), FERRY_ERROR_FORMAT, data},
        MALFORMED(edited(&file, 65, 0x80), "cut off in its padding"),
        MALFORMED(longer(&file, 1), "expected 264 bytes, found 265"),
        {whole(&twice), FERRY_ERROR_FORMAT, "in and in: tensor 'b' occurs twice"},
        MALFORMED(file_of("x_W", 0x403, NULL, 256), "tensor 'x_W': unknown element type 0x403"),
        {file_of("x_W", 0x4101, NULL, 256), FERRY_ERROR_FORMAT, multiplier},
        {file_of("x_W", 0x4101, "\1\2\0\0\x80\xbf", 6), FERRY_ERROR_FORMAT, multiplier}, /* -1 */
        {file_of("x_W", 0x4101, "\1\2\0\0\xc0\x7f", 6), FERRY_ERROR_FORMAT, multiplier}, /* NaN */
        {file_of("x_W", 0x4101, "\1\2\0\0\x80\x7f", 6), FERRY_ERROR_FORMAT, multiplier}, /* infinite */
        {file_of("x_W", 0x4101, "\1\2\0\0\x80", 5), FERRY_ERROR_FORMAT, multiplier},
    };
    check_refused_weights(ferry_marian_bin_read, rows, COUNT(rows));
}

/* What Marian's files are known by: how many tensors they may have. */
TEST(test_recognition)
{
    static const struct {
        uint64_t version, count;
        size_t size; /* of what follows */
        bool is;
    } rows[] = {{1, 1, 32, true}, {1, 2, 64, true}, {1, 2, 63, false}, {1, 0, 32, false},
                {2, 0, 0, true},  {2, 99, 0, true}, {0, 1, 32, false}, {3, 1, 32, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        made_file file = {.size = 0};
        put(&file, rows[i].version, 8);
        put(&file, rows[i].count, 8);
        put(&file, 0, rows[i].size);
        if (ferry_is_marian_bin(whole(&file)) != rows[i].is) fail_msg("row %zu", i);
        assert_false(ferry_is_marian_bin(cut_to(&file, 15)));
    }
}

TEST(test_truncation)
{
    ferry_weights weights;
    const given tensors[] = {{"b", 0x404, 1, 2, NULL, 8}, {"x_W", 0x101, 1, 2, NULL, 2}};
    const made_file file = make(tensors, 2);
    check_refused_weights_cuts(ferry_marian_bin_read, &file, 0, FERRY_ERROR_FORMAT);
    CHECK(ferry_marian_bin_read(whole(&file), "whole.bin", NULL, &weights, &error));
    ferry_weights_close(&weights);
}
