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
    PUT(&file, {1, 8}, {count, 8});
    for (size_t i = 0; i < count; i++)
        PUT(&file, {strlen(tensors[i].name) + 1, 8}, {tensors[i].type, 8}, {2, 8}, {tensors[i].size, 8});
    for (size_t i = 0; i < count; i++) put_bytes(&file, tensors[i].name, strlen(tensors[i].name) + 1);
    for (size_t i = 0; i < count; i++) PUT(&file, {(uint32_t)tensors[i].rows, 4}, {(uint32_t)tensors[i].columns, 4});
    const size_t pad = (file.size + 8) / 256 * 256 + 256 - (file.size + 8);
    PUT(&file, {pad, 8}, {0, pad});
    for (size_t i = 0; i < count; i++) {
        if (tensors[i].data != NULL) put_bytes(&file, tensors[i].data, tensors[i].size);
        if (tensors[i].data == NULL) put(&file, 0, tensors[i].size);
    }
    return file;
}

static ferry_view file_of(const char *name, uint64_t type, const void *data, size_t size)
{
    const made_file file = make(&(given){name, type, 1, 2, data, size}, 1);
    return whole(&file);
}

/* Float32, data padded to 256. */
TEST(test_layout)
{
    static const float data[64] = {1.5f, -2};
    const ferry_view file = file_of("b", 0x404, data, 256);
    assert_int_equal(file.size, 512);
    assert_int_equal((unsigned char)file.data[58], 190);
    check_weights(ferry_marian_bin_read, file, "b f32 [1, 2] 1.5 -2");
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
        const made_file file = make(tensors, i < 2 ? 2 : 1);
        check_weights(ferry_marian_bin_read, whole(&file),
                      i < 2 ? "decoder_Wemb i8 [2, 3] / 127 1 2 3 4 5 6; x_Wq i8 [2, 3] / 127 1 3 5 2 4 6"
                            : "x_Wq i16 [2, 3] / 1024 1 3 5 2 4 6");
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
        check_weights(ferry_marian_bin_read, file_of("b", rows[i].code, NULL, size),
                      rows[i].type == FERRY_TYPE_OTHER
                          ? ferry_name_format("b unsupported [1, 2] %zu bytes", size).text
                          : ferry_name_format("b %s [1, 2] 0 0", ferry_type_name((ferry_type)rows[i].type)).text);
    }
}

#define NO_TYPE(name) "tensor 'x_W': element type " name " is not supported"
#define TILES(name, code) NO_TYPE(name " (tiles for one machine: convert to " code ")")

TEST(test_types_refused)
{
    const refused rows[] = {
        UNSUPPORTED(file_of("x_W", 0x802, NULL, 256), NO_TYPE("packed16 (FBGEMM's own layout)")),
        UNSUPPORTED(file_of("x_W", 0x1801, NULL, 256), NO_TYPE("packed8avx2 (FBGEMM's own layout)")),
        UNSUPPORTED(file_of("x_W", 0x2801, NULL, 256), NO_TYPE("packed8avx512 (FBGEMM's own layout)")),
        UNSUPPORTED(file_of("x_W", 0x18001, NULL, 256), TILES("intgemm8ssse3", "intgemm8")),
        UNSUPPORTED(file_of("x_W", 0x11001, NULL, 256), TILES("intgemm8avx2", "intgemm8")),
        UNSUPPORTED(file_of("x_W", 0x12001, NULL, 256), TILES("intgemm8avx512", "intgemm8")),
        UNSUPPORTED(file_of("x_W", 0x13001, NULL, 256), TILES("intgemm8avx512vnni", "intgemm8")),
        UNSUPPORTED(file_of("x_W", 0x14002, NULL, 256), TILES("intgemm16sse2", "intgemm16")),
        UNSUPPORTED(file_of("x_W", 0x11002, NULL, 256), TILES("intgemm16avx2", "intgemm16")),
        UNSUPPORTED(file_of("x_W", 0x12002, NULL, 256), TILES("intgemm16avx512", "intgemm16")),
    };
    check_refused_weights(ferry_marian_bin_read, rows, COUNT(rows));
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
        PUT(&file, {rows[i].version, 8}, {rows[i].count, 8}, {0, rows[i].size});
        if (ferry_is_marian_bin(whole(&file)) != rows[i].is) fail_msg("row %zu", i);
        assert_false(ferry_is_marian_bin(cut_to(&file, 15)));
    }
}

TEST(test_truncation)
{
    const given tensors[] = {{"b", 0x404, 1, 2, NULL, 8}, {"x_W", 0x101, 1, 2, NULL, 2}};
    const made_file file = make(tensors, 2);
    check_refused_weights_cuts(ferry_marian_bin_read, &file, 0, FERRY_ERROR_FORMAT);
    check_weights(ferry_marian_bin_read, whole(&file), "b f32 [1, 2] 0 0; x_W i8 [1, 2] 0 0");
}
