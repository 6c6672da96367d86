/* Marian's .bin: the layout to the byte, both dialects of types, the order of int8 bytes, and what is refused. */
#include "tests/support/support.h"

#include "base/system.h"
#include "models/containers/weights.h"

enum { SPACE = 2000 };

/* A tensor to be written; `data` NULL: zeros. */
typedef struct given {
    const char *name;
    uint64_t type;
    int32_t rows, columns;
    const void *data;
    size_t size;
} given;

typedef struct bin {
    unsigned char data[SPACE];
    size_t size;
} bin;

static void put(bin *file, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) file->data[file->size++] = (unsigned char)(value >> (8 * i));
}

/* As Marian writes it, but for the padding of data, which is the caller's. */
static bin make(const given *tensors, size_t count)
{
    bin file = {.size = 0};
    put(&file, 1, 8);
    put(&file, count, 8);
    for (size_t i = 0; i < count; i++) {
        put(&file, strlen(tensors[i].name) + 1, 8);
        put(&file, tensors[i].type, 8);
        put(&file, 2, 8);
        put(&file, tensors[i].size, 8);
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(file.data + file.size, tensors[i].name, strlen(tensors[i].name) + 1);
        file.size += strlen(tensors[i].name) + 1;
    }
    for (size_t i = 0; i < count; i++) {
        put(&file, (uint32_t)tensors[i].rows, 4);
        put(&file, (uint32_t)tensors[i].columns, 4);
    }
    const size_t pad = (file.size + 8) / 256 * 256 + 256 - (file.size + 8);
    put(&file, pad, 8);
    for (size_t i = 0; i < pad; i++) put(&file, 0, 1);
    for (size_t i = 0; i < count; i++) {
        if (tensors[i].data != NULL) memcpy(file.data + file.size, tensors[i].data, tensors[i].size);
        file.size += tensors[i].size;
    }
    return file;
}

static ferry_status read_bin(const bin *file, ferry_weights *weights, ferry_error *error)
{
    return ferry_marian_bin_read((ferry_view){(const char *)file->data, file->size}, "liar.bin", weights, error);
}

/* One tensor `b`, shape (1, 2), float32, data padded to 256. */
static void test_layout(void **state)
{
    (void)state;
    static const float data[64] = {1.5f, -2};
    ferry_error error;
    ferry_weights weights;
    bin file = make(&(given){"b", 0x404, 1, 2, data, 256}, 1);
    assert_int_equal(file.size, 512);
    assert_int_equal(file.data[58], 190);
    CHECK(read_bin(&file, &weights, &error));
    const ferry_weights_entry *entry = ferry_weights_find(&weights, "b");
    assert_non_null(entry);
    assert_ptr_equal(entry->tensor.data, file.data + 256);
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
    ferry_error error;
    ferry_weights weights;
    const given tensors[] = {{"x_Wq", type, 2, 3, data, 12}, {"decoder_Wemb", type, 2, 3, data, 12}};
    bin file = make(tensors, 2);
    CHECK(read_bin(&file, &weights, &error));
    const ferry_weights_entry *weight = ferry_weights_find(&weights, "x_Wq");
    const ferry_weights_entry *table = ferry_weights_find(&weights, "decoder_Wemb");
    assert_int_equal(weight->tensor.type, FERRY_I8);
    assert_int_equal(weight->tensor.bytes, 6);
    assert_int_equal(weight->strides[0], 1);
    assert_int_equal(weight->strides[1], 2);
    assert_int_equal(table->strides[0], 3);
    assert_int_equal(table->strides[1], 1);
    assert_true(weight->multiplier == 127 && table->multiplier == 127);
    ferry_weights_close(&weights);
}

static void test_intgemm(void **state)
{
    (void)state;
    static const unsigned char wide[256] = {1, 0, 2, 0, 0, 0, 0x80, 0x44}; /* 1024 */
    static const uint64_t codes[] = {0x4102, 0x10002};
    ferry_error error;
    ferry_weights weights;
    check_intgemm8(0x4101);
    check_intgemm8(0x10001);
    for (int i = 0; i < 2; i++) {
        bin file = make(&(given){"x_W", codes[i], 1, 2, wide, 256}, 1);
        CHECK(read_bin(&file, &weights, &error));
        const ferry_weights_entry *entry = ferry_weights_find(&weights, "x_W");
        assert_int_equal(entry->tensor.type, FERRY_I16);
        assert_int_equal(entry->tensor.bytes, 4);
        assert_int_equal(entry->strides[1], 1);
        assert_true(entry->multiplier == 1024);
        ferry_weights_close(&weights);
    }
}

static void refuse(bin file, ferry_status status, const char *what)
{
    ferry_error error = {0};
    ferry_weights weights;
    const ferry_status found = read_bin(&file, &weights, &error);
    if (found != status || strstr(error.message, what) == NULL || strstr(error.message, "liar.bin: ") == NULL) {
        fail_msg("expected %d '%s', found %d '%s'", status, what, found, error.message);
    }
    assert_int_equal(weights.count, 0);
}

static bin with_byte(bin file, size_t at, unsigned char byte)
{
    file.data[at] = byte;
    return file;
}

static void test_types_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t code;
        const char *name;
    } types[] = {
        {0x802, "packed16"},
        {0x1801, "packed8avx2"},
        {0x2801, "packed8avx512"},
        {0x18001, "intgemm8ssse3"},
        {0x11001, "intgemm8avx2"},
        {0x12001, "intgemm8avx512"},
        {0x13001, "intgemm8avx512vnni"},
        {0x14002, "intgemm16sse2"},
        {0x11002, "intgemm16avx2"},
        {0x12002, "intgemm16avx512"},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char what[100];
        snprintf(what, sizeof what, "tensor 'x_W': element type %s (", types[i].name);
        refuse(make(&(given){"x_W", types[i].code, 1, 2, NULL, 256}, 1), FERRY_ERROR_UNSUPPORTED, what);
    }
    refuse(make(&(given){"x_W", 0x403, 1, 2, NULL, 256}, 1), FERRY_ERROR_FORMAT, "unknown element type 0x403");
}

static void test_lies(void **state)
{
    (void)state;
    const given tensor = {"b", 0x404, 1, 2, NULL, 8};
    const bin file = make(&tensor, 1);
    refuse(with_byte(file, 0, 2), FERRY_ERROR_UNSUPPORTED, "encrypted");
    refuse(with_byte(file, 0, 3), FERRY_ERROR_FORMAT, "not a Marian .bin file");
    refuse(with_byte(file, 15, 0x80), FERRY_ERROR_FORMAT, "not a Marian .bin file");
    refuse(with_byte(file, 16, 3), FERRY_ERROR_FORMAT, "tensor 0: its name");
    refuse(with_byte(file, 16, 1), FERRY_ERROR_FORMAT, "tensor 0: its name");
    refuse(with_byte(file, 49, 'x'), FERRY_ERROR_FORMAT, "tensor 0: its name");
    refuse(with_byte(file, 32, 5), FERRY_ERROR_FORMAT, "tensor 'b': expected at most 4 dimensions, found 5");
    refuse(with_byte(file, 50, 0), FERRY_ERROR_FORMAT, "tensor 'b': impossible shape");
    refuse(with_byte(file, 53, 0x80), FERRY_ERROR_FORMAT, "tensor 'b': impossible shape");
    refuse(with_byte(file, 54, 3), FERRY_ERROR_FORMAT, "tensor 'b': shape [1, 3] of f32 does not fit its 8 bytes");
    refuse(with_byte(file, 40, 7), FERRY_ERROR_FORMAT, "does not fit its 7 bytes");
    refuse(with_byte(file, 47, 0x80), FERRY_ERROR_FORMAT, "cut off in its data");
    refuse(with_byte(file, 65, 0x80), FERRY_ERROR_FORMAT, "cut off in its padding");
    bin longer = file;
    longer.size++;
    refuse(longer, FERRY_ERROR_FORMAT, "expected 264 bytes, found 265");
    const given twice[] = {tensor, tensor};
    refuse(make(twice, 2), FERRY_ERROR_FORMAT, "tensor 'b' occurs twice");
    refuse(make(&(given){"x_W", 0x4101, 1, 2, NULL, 256}, 1), FERRY_ERROR_FORMAT,
           "'x_W': expected a positive multiplier");
    refuse(make(&(given){"x_W", 0x4101, 1, 2, "\1\2\0\0\xc0\x7f", 6}, 1), FERRY_ERROR_FORMAT, "multiplier"); /* NaN */
    refuse(make(&(given){"x_W", 0x4101, 1, 2, NULL, 5}, 1), FERRY_ERROR_FORMAT, "multiplier");
}

static void test_truncation(void **state)
{
    (void)state;
    ferry_error error;
    ferry_weights weights;
    const given tensors[] = {{"b", 0x404, 1, 2, NULL, 8}, {"x_W", 0x101, 1, 2, NULL, 2}};
    const bin whole = make(tensors, 2);
    for (size_t size = 0; size < whole.size; size++) {
        char *cut = malloc(size + 1);
        memcpy(cut, whole.data, size);
        assert_int_equal(ferry_marian_bin_read((ferry_view){cut, size}, "cut.bin", &weights, &error),
                         FERRY_ERROR_FORMAT);
        free(cut);
    }
    CHECK(read_bin(&whole, &weights, &error));
    ferry_weights_close(&weights);
}

/* ---- the Bergamot student ---- */

typedef struct opened {
    char *path;
    ferry_mapped_file map;
    ferry_weights weights;
} opened;

static bool open_shared(const char *name, opened *file)
{
    ferry_error error;
    file->path = shared_path(name);
    if (file->path == NULL) return false;
    CHECK(ferry_mapped_file_open(file->path, &file->map, &error));
    CHECK(ferry_marian_bin_read(file->map.bytes, file->path, &file->weights, &error));
    return true;
}

static void close_file(opened *file)
{
    ferry_weights_close(&file->weights);
    ferry_mapped_file_close(&file->map);
    free(file->path);
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

static void check_student(const char *name, size_t count)
{
    opened exact, quantized;
    int compared = 0;
    if (!open_shared("models/bergamot-en-de/model.ende.bin", &exact)) {
        not_run("the Bergamot student");
        return;
    }
    assert_true(open_shared(name, &quantized));
    assert_int_equal(quantized.weights.count, count);
    for (size_t i = 0; i < exact.weights.count; i++) {
        const ferry_tensor *tensor = &exact.weights.entries[i].tensor;
        char text[100];
        snprintf(text, sizeof text, "%.*s", (int)tensor->name.size, tensor->name.data);
        const ferry_weights_entry *other = ferry_weights_find(&quantized.weights, text);
        assert_non_null(other);
        if (other->tensor.type == FERRY_I8 && tensor->type == FERRY_F32) {
            compare_codes(other, tensor);
            compared++;
        } else {
            assert_memory_equal(other->tensor.data, tensor->data, tensor->bytes);
        }
    }
    assert_int_equal(compared, 35); /* 6 of an encoder layer, 8 of a decoder layer, Wemb */
    close_file(&quantized);
    close_file(&exact);
}

static void test_student(void **state)
{
    (void)state;
    check_student("models/bergamot-en-de/model.ende.intgemm8.bin", 93);
    check_student("models/bergamot-en-de/model.ende.intgemm.alphas.bin", 129);
}

/* Activation multipliers are the numbers that the calibration gave. */
static void test_student_alphas(void **state)
{
    (void)state;
    opened file;
    const char *name;
    json_t *value;
    char *path = shared_path("models/bergamot-en-de/alphas.json");
    if (path == NULL || !open_shared("models/bergamot-en-de/model.ende.intgemm.alphas.bin", &file)) {
        not_run("the Bergamot student");
        return;
    }
    json_t *alphas = load_json(path);
    assert_int_equal(json_object_size(alphas), 35);
    json_object_foreach (alphas, name, value) {
        char key[100];
        snprintf(key, sizeof key, "%s_QuantMultA", name);
        const ferry_weights_entry *entry = ferry_weights_find(&file.weights, key);
        assert_non_null(entry);
        const bool is_integer = entry->tensor.type == FERRY_I8; /* Wemb's, by accident of its name */
        assert_int_equal(is_integer, strcmp(name, "Wemb") == 0);
        const float found =
            is_integer ? (float)*(const int8_t *)entry->tensor.data / entry->multiplier : float_at(&entry->tensor, 0);
        assert_float_equal(found, (float)json_number_value(value), 1e-5);
    }
    json_decref(alphas);
    free(path);
    close_file(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),         cmocka_unit_test(test_intgemm),    cmocka_unit_test(test_types_refused),
        cmocka_unit_test(test_lies),           cmocka_unit_test(test_truncation), cmocka_unit_test(test_student),
        cmocka_unit_test(test_student_alphas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
