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
static void check_intgemm8(uint64_t type)
{
    static const unsigned char data[12] = {1, 2, 3, 4, 5, 6, 0, 0, 0xfe, 0x42}; /* 127 */
    ferry_weights weights;
    const given tensors[] = {{"x_Wq", type, 2, 3, data, 12}, {"decoder_Wemb", type, 2, 3, data, 12}};
    const made_file file = make(tensors, 2);
    CHECK(ferry_marian_bin_read(whole(&file), "codes.bin", NULL, &weights, &error));
    const ferry_weights_entry *weight = find_weights(&weights, "x_Wq"), *table = find_weights(&weights, "decoder_Wemb");
    assert_int_equal(weight->tensor.type, FERRY_I8);
    assert_int_equal(weight->tensor.bytes, 6);
    assert_int_equal(weight->strides[0], 1);
    assert_int_equal(weight->strides[1], 2);
    assert_int_equal(table->strides[0], 3);
    assert_int_equal(table->strides[1], 1);
    assert_true(weight->multiplier == 127 && table->multiplier == 127);
    ferry_weights_close(&weights);
}

TEST(test_intgemm)
{
    static const unsigned char wide[256] = {1, 0, 2, 0, 0, 0, 0x80, 0x44}; /* 1024 */
    static const uint64_t codes[] = {0x4102, 0x10002};
    ferry_weights weights;
    check_intgemm8(0x4101);
    check_intgemm8(0x10001);
    for (int i = 0; i < 2; i++) {
        const made_file file = make_one("x_W", codes[i], wide, 256);
        CHECK(ferry_marian_bin_read(whole(&file), "codes.bin", NULL, &weights, &error));
        const ferry_weights_entry *entry = find_weights(&weights, "x_W");
        assert_int_equal(entry->tensor.type, FERRY_I16);
        assert_int_equal(entry->tensor.bytes, 4);
        assert_int_equal(entry->strides[1], 1);
        assert_true(entry->multiplier == 1024);
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
        {edited(&file, 0, 2), FERRY_ERROR_UNSUPPORTED, "in: encrypted .bin files (version 2) are not supported"},
        {edited(&file, 0, 3), FERRY_ERROR_FORMAT, "in: not a Marian .bin file"},
        {edited(&file, 15, 0x80), FERRY_ERROR_FORMAT,
         "in: not a Marian .bin file: 9223372036854775809 tensors do not fit in 264 bytes"},
        {edited(&file, 16, 3), FERRY_ERROR_FORMAT, name},
        {edited(&file, 16, 1), FERRY_ERROR_FORMAT, name},
        {edited(&file, 49, 'x'), FERRY_ERROR_FORMAT, name},
        {edited(&file, 32, 5), FERRY_ERROR_FORMAT, "in: tensor 'b': expected at most 4 dimensions, found 5"},
        {edited(&file, 50, 0), FERRY_ERROR_FORMAT, shape},
        {edited(&file, 54, 0), FERRY_ERROR_FORMAT, shape},
        {edited(&file, 53, 0x80), FERRY_ERROR_FORMAT, shape},
        {edited(&file, 54, 3), FERRY_ERROR_FORMAT, "in: tensor 'b': shape [1, 3] of f32 does not fit its 8 bytes"},
        {edited(&file, 40, 7), FERRY_ERROR_FORMAT, "in: tensor 'b': shape [1, 2] of f32 does not fit its 7 bytes"},
        {edited(&file, 40, 9), FERRY_ERROR_FORMAT, data},
        {edited(&file, 47, 0x80), FERRY_ERROR_FORMAT, data},
        {edited(&file, 65, 0x80), FERRY_ERROR_FORMAT, "in: cut off in its padding"},
        {longer(&file, 1), FERRY_ERROR_FORMAT, "in: expected 264 bytes, found 265"},
        {whole(&twice), FERRY_ERROR_FORMAT, "in and in: tensor 'b' occurs twice"},
        {file_of("x_W", 0x403, NULL, 256), FERRY_ERROR_FORMAT, "in: tensor 'x_W': unknown element type 0x403"},
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

/* ---- the Bergamot student ---- */

static ferry_weights open_student(const char *name)
{
    ferry_weights weights;
    char *path = shared_file("models/bergamot-en-de/%s", name);
    CHECK(ferry_marian_bin_read(mapped_bytes(path), path, NULL, &weights, &error));
    return weights;
}

static float float_at(const ferry_tensor *tensor, int64_t i)
{
    float value;
    memcpy(&value, (const char *)tensor->data + 4 * i, 4);
    return value;
}

/* code = round(W · multiplier): half a step, and the rounding of the float32 product. */
static void compare_codes(const ferry_weights_entry *codes, const ferry_tensor *exact)
{
    const int64_t rows = exact->shape[0], columns = exact->shape[1];
    int largest = 0;
    for (int64_t i = 0; i < rows * columns; i++) {
        const int64_t place = i / columns * codes->strides[0] + i % columns * codes->strides[1];
        const int code = ((const int8_t *)codes->tensor.data)[place];
        const double step = fabs((double)float_at(exact, i) * (double)codes->multiplier - code);
        if (step > 0.50001) fail_msg("%.40s: element %d departs by %g steps", exact->name.data, (int)i, step);
        if (abs(code) > largest) largest = abs(code);
    }
    assert_int_equal(largest, 127);
}

static int matrices(void)
{
    return large_data() ? 3 * 6 + 2 * 8 + 1 : 2 * 6 + 2 * 8 + 1;
}

static void check_student(const char *name, size_t count)
{
    ferry_weights exact = open_student("model.ende.bin"), quantized = open_student(name);
    int compared = 0;
    assert_int_equal(quantized.count, count);
    for (size_t i = 0; i < exact.count; i++) {
        const ferry_tensor *tensor = &exact.entries[i].tensor;
        char text[100];
        snprintf(text, sizeof text, "%.*s", (int)tensor->name.size, tensor->name.data);
        const ferry_weights_entry *other = find_weights(&quantized, text);
        if (other->tensor.type == FERRY_I8 && tensor->type == FERRY_F32) {
            compare_codes(other, tensor);
            compared++;
        } else {
            assert_memory_equal(other->tensor.data, tensor->data, tensor->bytes);
        }
    }
    assert_int_equal(compared, matrices()); /* 6 of an encoder layer, 8 of a decoder layer, Wemb */
    ferry_weights_close(&quantized);
    ferry_weights_close(&exact);
}

TEST(test_student)
{
    const size_t tensors = large_data() ? 93 : 77; /* the other 36 or 30: multipliers */
    check_student("model.ende.intgemm8.bin", tensors);
    check_student("model.ende.intgemm.alphas.bin", tensors + (size_t)matrices() + 1);
}

/* Activation multipliers are the numbers that the calibration gave. */
TEST(test_student_alphas)
{
    const char *name;
    json_t *value, *alphas = load_json(shared_file("models/bergamot-en-de/alphas.json"));
    ferry_weights weights = open_student("model.ende.intgemm.alphas.bin");
    assert_int_equal(json_object_size(alphas), matrices());
    json_object_foreach (alphas, name, value) {
        char key[100];
        snprintf(key, sizeof key, "%s_QuantMultA", name);
        const ferry_weights_entry *entry = find_weights(&weights, key);
        const bool is_integer = entry->tensor.type == FERRY_I8; /* Wemb's, by accident of its name */
        assert_int_equal(is_integer, strcmp(name, "Wemb") == 0);
        const float found =
            is_integer ? (float)*(const int8_t *)entry->tensor.data / entry->multiplier : float_at(&entry->tensor, 0);
        assert_float_equal(found, (float)json_number_value(value), 1e-5);
    }
    ferry_weights_close(&weights);
}
