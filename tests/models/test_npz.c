/* NumPy archives: arrays of every form, headers that lie, and Marian's own file against its .bin. */
#include "tests/support/make_zip.h"

#include "base/system.h"
#include "models/containers/weights.h"

/* An .npy file of version `major` from its dictionary's text and its data. */
static size_t make_npy(int major, const char *dictionary, const void *data, size_t size, unsigned char *out)
{
    const size_t length = strlen(dictionary), prefix = major == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)major;
    out[7] = 0;
    for (size_t i = 8; i < prefix; i++) out[i] = (unsigned char)(length >> (8 * (i - 8)));
    memcpy(out + prefix, dictionary, length);
    if (size > 0) memcpy(out + prefix + length, data, size);
    return prefix + length + size;
}

static ferry_status read_archive(const zip_part *files, size_t count, unsigned char **bytes, ferry_weights *weights,
                                 ferry_error *error)
{
    size_t size;
    *bytes = make_zip(files, count, &size);
    return ferry_npz_read((ferry_view){(const char *)*bytes, size}, "liar.npz", weights, error);
}

static void check_entry(const ferry_weights *weights, const char *name, ferry_type type, int32_t dims, int64_t rows,
                        int64_t columns, const void *data)
{
    const ferry_weights_entry *entry = ferry_weights_find(weights, name);
    if (entry == NULL) fail_msg("'%s' is missing", name);
    assert_int_equal(entry->tensor.type, type);
    assert_int_equal(entry->tensor.dims, dims);
    assert_int_equal(entry->tensor.shape[0], rows);
    assert_int_equal(entry->tensor.shape[1], columns);
    assert_int_equal(entry->strides[0], columns);
    assert_int_equal(entry->tensor.bytes, (size_t)(rows * columns) * ferry_type_size(type));
    assert_memory_equal(entry->tensor.data, data, entry->tensor.bytes);
    assert_true(entry->multiplier == 0);
}

static void test_arrays(void **state)
{
    (void)state;
    static const float numbers[] = {1, 2, 3, 4, 5, 6};
    unsigned char npy[5][200];
    size_t sizes[5];
    unsigned char *bytes;
    ferry_error error;
    ferry_weights weights;
    sizes[0] = make_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n", numbers, 24, npy[0]);
    sizes[1] = make_npy(2, "{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"<f8\"}", numbers, 24, npy[1]);
    sizes[2] = make_npy(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (4,), }", "a: b", 4, npy[2]);
    sizes[3] = make_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", numbers, 4, npy[3]);
    sizes[4] = make_npy(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 6), }", numbers, 12, npy[4]);
    const zip_part files[] = {{"b.npy", npy[0], sizes[0]},
                              {"a.npy", npy[1], sizes[1]},
                              {"special:model.yml.npy", npy[2], sizes[2]},
                              {"scalar.npy", npy[3], sizes[3]},
                              {"half.npy", npy[4], sizes[4]}};
    CHECK(read_archive(files, 5, &bytes, &weights, &error));
    assert_int_equal(weights.count, 5);
    check_entry(&weights, "b", FERRY_F32, 2, 2, 3, numbers);
    check_entry(&weights, "a", FERRY_F64, 1, 3, 1, numbers);
    check_entry(&weights, "special:model.yml", FERRY_I8, 1, 4, 1, "a: b");
    check_entry(&weights, "scalar", FERRY_F32, 0, 1, 1, numbers);
    check_entry(&weights, "half", FERRY_F16, 2, 1, 6, numbers);
    assert_null(ferry_weights_find(&weights, "b.npy"));
    ferry_weights_close(&weights);
    free(bytes);
}

static void refuse(const char *name, int major, const char *dictionary, size_t size, ferry_status status,
                   const char *what)
{
    static const unsigned char zeros[64];
    unsigned char npy[300], *bytes;
    ferry_error error = {0};
    ferry_weights weights;
    const zip_part file = {name, npy, make_npy(major, dictionary, zeros, size, npy)};
    const ferry_status found = read_archive(&file, 1, &bytes, &weights, &error);
    if (found != status || strstr(error.message, what) == NULL || strstr(error.message, "liar.npz: ") == NULL) {
        fail_msg("%s: expected %d '%s', found %d '%s'", dictionary, status, what, found, error.message);
    }
    assert_int_equal(weights.count, 0);
    free(bytes);
}

#define HEADER(descr, order, shape) "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

static void test_lies(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f4', 'shape': (1,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        HEADER("<f4", "Maybe", "(1,)"),
        HEADER("<f4", "False", "(1"),
        HEADER("<f4", "False", "(-1,)"),
        HEADER("<f4", "False", "(1 1)"),
        HEADER("<f4", "False", "(1,1,1,1,1)"),
        HEADER("<f4", "False", "(99999999999999999999,)"),
        HEADER("<f4", "False", "1"),
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        refuse("a.npy", 1, headers[i], 4, FERRY_ERROR_FORMAT, "'a.npy': expected a header");
    }
    refuse("a.npy", 1, HEADER("<f4", "True", "(1,)"), 4, FERRY_ERROR_UNSUPPORTED, "fortran_order");
    refuse("a.npy", 1, HEADER(">f4", "False", "(1,)"), 4, FERRY_ERROR_UNSUPPORTED, "element type '>f4'");
    refuse("a.npy", 1, HEADER("<c8", "False", "(1,)"), 8, FERRY_ERROR_UNSUPPORTED, "element type '<c8'");
    refuse("a.npy", 1, HEADER("<f4", "False", "(2,)"), 4, FERRY_ERROR_FORMAT, "shape [2] of f32 does not fit its 4");
    refuse("a.npy", 1, HEADER("<f4", "False", "(1,)"), 8, FERRY_ERROR_FORMAT, "does not fit its 8 bytes");
    refuse("a.npy", 1, HEADER("<f4", "False", "(4611686018427387904,4)"), 0, FERRY_ERROR_FORMAT, "does not fit");
    refuse("a.npy", 9, HEADER("<f4", "False", "(1,)"), 4, FERRY_ERROR_FORMAT, "'a.npy': not a NumPy array");
    refuse("a.txt", 1, HEADER("<f4", "False", "(1,)"), 4, FERRY_ERROR_FORMAT, "'a.txt': expected only members");
    refuse(".npy", 1, HEADER("<f4", "False", "(1,)"), 4, FERRY_ERROR_FORMAT, "'.npy': expected only members");
}

static void test_cut_header(void **state)
{
    (void)state;
    unsigned char npy[100], *bytes;
    ferry_error error;
    ferry_weights weights;
    const size_t whole = make_npy(1, HEADER("<f4", "False", "(0,)"), NULL, 0, npy);
    for (size_t size = 0; size <= whole; size++) {
        const zip_part file = {"a.npy", npy, size};
        const ferry_status status = read_archive(&file, 1, &bytes, &weights, &error);
        assert_int_equal(status, size == whole ? FERRY_OK : FERRY_ERROR_FORMAT);
        if (status == FERRY_OK) ferry_weights_close(&weights);
        free(bytes);
    }
}

/* The two files were written from the same weights. */
static void test_equals_bin(void **state)
{
    (void)state;
    ferry_error error;
    ferry_mapped_file maps[2];
    ferry_weights npz, bin;
    char *paths[2] = {shared_path("models/bergamot-en-de/model.ende.npz"),
                      shared_path("models/bergamot-en-de/model.ende.bin")};
    if (paths[0] == NULL || paths[1] == NULL) {
        not_run("the Bergamot student");
        return;
    }
    for (int i = 0; i < 2; i++) CHECK(ferry_mapped_file_open(paths[i], &maps[i], &error));
    CHECK(ferry_npz_read(maps[0].bytes, paths[0], &npz, &error));
    CHECK(ferry_marian_bin_read(maps[1].bytes, paths[1], &bin, &error));
    assert_int_equal(npz.count, 93);
    assert_int_equal(bin.count, 93);
    for (size_t i = 0; i < npz.count; i++) {
        const ferry_tensor *a = &npz.entries[i].tensor, *b = &bin.entries[i].tensor;
        assert_true(ferry_view_equal(a->name, b->name));
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->bytes < b->bytes ? a->bytes : b->bytes, a->bytes); /* a .bin pads the configuration */
        assert_memory_equal(a->data, b->data, a->bytes);
        if (strncmp(a->name.data, "special:", 8) != 0) assert_int_equal(a->bytes, b->bytes);
    }
    ferry_weights_close(&npz);
    ferry_weights_close(&bin);
    for (int i = 0; i < 2; i++) {
        ferry_mapped_file_close(&maps[i]);
        free(paths[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_cut_header),
        cmocka_unit_test(test_equals_bin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
