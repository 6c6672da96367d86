/* safetensors: what is in a file, and that every lie of a header is refused by name. */
#include "tests/support/support.h"

/* A file's bytes from its header's text and its data. */
typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static bytes make(const char *header, const void *data, size_t size)
{
    const size_t length = strlen(header);
    bytes file = {malloc(8 + length + size + 1), 8 + length + size};
    for (size_t i = 0; i < 8; i++) file.data[i] = (unsigned char)((uint64_t)length >> (8 * i));
    memcpy(file.data + 8, header, length);
    if (size > 0) memcpy(file.data + 8 + length, data, size);
    return file;
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static ferry_status parse(const bytes *file, ferry_safetensors *tensors, ferry_error *error)
{
    return ferry_safetensors_parse((ferry_view){(const char *)file->data, file->size}, "liar.safetensors", tensors,
                                   error);
}

static void refuse(const char *header, size_t size, ferry_status status, const char *what)
{
    static const unsigned char zeros[64];
    ferry_error error = {0};
    ferry_safetensors tensors;
    bytes file = make(header, zeros, size);
    const ferry_status found = parse(&file, &tensors, &error);
    if (found != status || strstr(error.message, what) == NULL || strstr(error.message, "liar.safetensors") == NULL) {
        fail_msg("expected %d '%s', found %d '%s'", status, what, found, error.message);
    }
    free(file.data);
}

static void test_reads_what_is_there(void **state)
{
    (void)state;
    static const float numbers[] = {1, 2, 3, 4, 5, 6, 7};
    ferry_error error;
    ferry_safetensors tensors;
    bytes file = make("{\"__metadata__\":{\"format\":\"pt\"},"
                      "\"b\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[4,28]},"
                      "\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
                      "\"mask\":{\"dtype\":\"BOOL\",\"shape\":[0],\"data_offsets\":[28,28]}}   ",
                      numbers, sizeof numbers);
    CHECK(parse(&file, &tensors, &error));
    assert_int_equal(tensors.tensor_count, 3);
    const ferry_tensor *a = ferry_safetensors_find(&tensors, "a"), *b = ferry_safetensors_find(&tensors, "b");
    assert_int_equal(a->dims, 0);
    assert_int_equal(ferry_tensor_count(a), 1);
    assert_int_equal(b->shape[0], 2);
    assert_int_equal(b->shape[1], 3);
    assert_int_equal(b->type, FERRY_F32);
    assert_memory_equal(b->data, numbers + 1, 24);
    assert_int_equal(ferry_safetensors_find(&tensors, "mask")->type, FERRY_SAFETENSORS_OTHER);
    assert_null(ferry_safetensors_find(&tensors, "c"));
    ferry_safetensors_close(&tensors);
    free(file.data);
}

#define TENSOR(name, dtype, shape, offsets)                                                                            \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void test_lies(void **state)
{
    (void)state;
    refuse("[]", 0, FERRY_ERROR_FORMAT, "not a safetensors file");
    refuse("{", 0, FERRY_ERROR_FORMAT, "not a safetensors file");
    refuse("{]", 0, FERRY_ERROR_FORMAT, "line 1, column");
    refuse("{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("a", "F32", "[1]", "[0,4]") "}", 4, FERRY_ERROR_FORMAT,
           "duplicate");
    refuse("{\"a\":1}", 0, FERRY_ERROR_FORMAT, "tensor 'a': expected dtype, shape and data_offsets");
    refuse("{" TENSOR("a", "F32", "[1]", "[0]") "}", 4, FERRY_ERROR_FORMAT, "tensor 'a'");
    refuse("{" TENSOR("a", "F32", "[1]", "[-4,0]") "}", 4, FERRY_ERROR_FORMAT, "tensor 'a'");
    refuse("{" TENSOR("a", "F32", "[1]", "[4,0]") "}", 4, FERRY_ERROR_FORMAT, "tensor 'a'");
    refuse("{" TENSOR("a", "F32", "[1.5]", "[0,4]") "}", 4, FERRY_ERROR_FORMAT, "tensor 'a': impossible shape");
    refuse("{" TENSOR("a", "F32", "[-1]", "[0,4]") "}", 4, FERRY_ERROR_FORMAT, "tensor 'a': impossible shape");
    refuse("{" TENSOR("a", "F32", "7", "[0,4]") "}", 4, FERRY_ERROR_FORMAT, "tensor 'a': expected a shape");
    refuse("{" TENSOR("a", "F32", "[1,1,1,1,1]", "[0,4]") "}", 4, FERRY_ERROR_FORMAT, "at most 4 dimensions");
    refuse("{" TENSOR("a", "F8_E4M3", "[4]", "[0,4]") "}", 4, FERRY_ERROR_UNSUPPORTED,
           "tensor 'a': element type 'F8_E4M3' is not supported");
    refuse("{" TENSOR("a", "F32", "[2]", "[0,4]") "}", 4, FERRY_ERROR_FORMAT,
           "tensor 'a': shape [2] of F32 does not fit its 4 bytes");
    refuse("{" TENSOR("a", "F32", "[4611686018427387904,4]", "[0,0]") "}", 0, FERRY_ERROR_FORMAT, "does not fit");
    refuse("{" TENSOR("a", "F32", "[1]", "[0,4]") "}", 3, FERRY_ERROR_FORMAT, "tensor 'a': expected its data");
    refuse("{" TENSOR("a", "F32", "[1]", "[0,4]") "}", 5, FERRY_ERROR_FORMAT, "expected 4 bytes of data, found 5");
    refuse("{" TENSOR("a", "F32", "[1]", "[4,8]") "}", 8, FERRY_ERROR_FORMAT, "tensor 'a': expected its data");
    refuse("{" TENSOR("a", "F32", "[2]", "[0,8]") "," TENSOR("b", "F32", "[1]", "[4,8]") "}", 8, FERRY_ERROR_FORMAT,
           "tensor 'b': expected its data at byte 8 of 8, found 4 to 8");
}

static void test_header_length(void **state)
{
    (void)state;
    ferry_error error;
    ferry_safetensors tensors;
    bytes file = make("{}", NULL, 0);
    CHECK(parse(&file, &tensors, &error));
    ferry_safetensors_close(&tensors);
    file.data[0] = 3;
    assert_int_equal(parse(&file, &tensors, &error), FERRY_ERROR_FORMAT);
    file.data[0] = 2;
    file.data[7] = 0x80;
    assert_int_equal(parse(&file, &tensors, &error), FERRY_ERROR_FORMAT);
    free(file.data);
}

static void test_lfs_pointer(void **state)
{
    (void)state;
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123\n";
    ferry_error error;
    ferry_safetensors tensors;
    char *path = scratch_path("pointer.safetensors");
    write_file(path, pointer, sizeof pointer - 1);
    assert_int_equal(ferry_safetensors_open(path, &tensors, &error), FERRY_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "pointer.safetensors: this is a Git LFS pointer"));
    free(path);
}

/* What importers get: names of their own, row-major strides, small integers. */
static void test_entries(void **state)
{
    (void)state;
    static const unsigned char data[18] = {1, 2, 3, 4, 5, 6};
    ferry_error error;
    ferry_weights weights;
    bytes file = make("{" TENSOR("m", "I8", "[2,3]", "[0,6]") "," TENSOR("a", "I16", "[1,2,3]", "[6,18]") "}", data,
                      sizeof data);
    CHECK(ferry_safetensors_read((ferry_view){(const char *)file.data, file.size}, "w", &weights, &error));
    assert_int_equal(weights.count, 2);
    const ferry_weights_entry *m = ferry_weights_find(&weights, "m"), *a = ferry_weights_find(&weights, "a");
    assert_int_equal(m->tensor.type, FERRY_I8);
    assert_int_equal(a->tensor.type, FERRY_I16);
    assert_true(m->strides[0] == 3 && m->strides[1] == 1);
    assert_true(a->strides[0] == 6 && a->strides[1] == 3 && a->strides[2] == 1);
    assert_true(m->multiplier == 0);
    assert_string_equal(m->file, "w");
    assert_memory_equal(m->tensor.data, data, 6);
    ferry_weights_close(&weights);
    file.data[9] = 'x'; /* the header is no JSON any more */
    assert_int_equal(ferry_safetensors_read((ferry_view){(const char *)file.data, file.size}, "w", &weights, &error),
                     FERRY_ERROR_FORMAT);
    assert_int_equal(weights.count, 0);
    free(file.data);
}

/* ---- robustness ---- */

static void test_truncation_and_damage(void **state)
{
    (void)state;
    static const unsigned char zeros[32];
    ferry_error error;
    ferry_safetensors tensors;
    bytes whole = make("{" TENSOR("a", "F32", "[2,3]", "[0,24]") "," TENSOR("b", "BF16", "[4]", "[24,32]") "}", zeros,
                       sizeof zeros);
    for (size_t size = 0; size < whole.size; size++) {
        bytes cut = {malloc(size > 0 ? size : 1), size};
        memcpy(cut.data, whole.data, size);
        assert_int_not_equal(parse(&cut, &tensors, &error), FERRY_OK);
        assert_non_null(strstr(error.message, "liar.safetensors: "));
        free(cut.data);
    }
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        bytes copy = {malloc(whole.size), whole.size};
        memcpy(copy.data, whole.data, whole.size);
        for (int i = 0; i < 1 + round % 3; i++) {
            random = random * 1664525u + 1013904223u;
            copy.data[(random >> 8) % (whole.size - sizeof zeros)] = (unsigned char)(random >> 3);
        }
        if (parse(&copy, &tensors, &error) == FERRY_OK) ferry_safetensors_close(&tensors);
        free(copy.data);
    }
    free(whole.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_is_there),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_header_length),
        cmocka_unit_test(test_lfs_pointer),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_truncation_and_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
