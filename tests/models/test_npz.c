/* NumPy archives: arrays of every form, inconsistent headers, and Marian's own file against its .bin. */
#include "tests/support/make_zip.h"

#define HEADER(descr, order, shape) "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

/* An .npy file of version `major` from its dictionary's text and its data. */
static ferry_view make_npy(int major, const char *dictionary, const void *data, size_t size)
{
    made_file file = {.size = 0};
    put_text(&file, "\x93NUMPY");
    put(&file, (uint64_t)major, 2);
    put(&file, strlen(dictionary), major == 1 ? 2 : 4);
    put_text(&file, dictionary);
    put_bytes(&file, data, size);
    return whole(&file);
}

static ferry_view archive_of(const char *name, ferry_view member)
{
    const zip_part file = {name, member.data, member.size};
    return make_zip(&file, 1);
}

static void check_entry(const ferry_weights *weights, const char *name, ferry_type type, int32_t dims, int64_t rows,
                        int64_t columns, const void *data)
{
    const ferry_weights_entry *entry = find_weights(weights, name);
    assert_int_equal(entry->tensor.type, type);
    assert_int_equal(entry->tensor.dims, dims);
    assert_int_equal(entry->tensor.shape[0], rows);
    assert_int_equal(entry->tensor.shape[1], columns);
    assert_int_equal(entry->strides[0], columns);
    assert_int_equal(entry->tensor.bytes, (size_t)(rows * columns) * ferry_type_size(type));
    assert_memory_equal(entry->tensor.data, data, entry->tensor.bytes);
    assert_true(entry->multiplier == 0);
}

TEST(test_arrays)
{
    static const float numbers[] = {1, 2, 3, 4, 5, 6};
    ferry_weights weights;
    const struct {
        const char *name;
        ferry_view npy;
    } rows[] = {
        {"b.npy", make_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n", numbers, 24)},
        {"a.npy", make_npy(2, "{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"<f8\"}", numbers, 24)},
        {"special:model.yml.npy", make_npy(1, HEADER("|i1", "False", "(4,)"), "a: b", 4)},
        {"scalar.npy", make_npy(1, HEADER("<f4", "False", "()"), numbers, 4)},
        {"half.npy", make_npy(1, HEADER("<f2", "False", "(1, 6)"), numbers, 12)},
    };
    zip_part files[5];
    for (size_t i = 0; i < 5; i++) files[i] = (zip_part){rows[i].name, rows[i].npy.data, rows[i].npy.size};
    CHECK(ferry_npz_read(make_zip(files, 5), "arrays.npz", NULL, &weights, &error));
    assert_int_equal(weights.count, 5);
    check_entry(&weights, "b", FERRY_F32, 2, 2, 3, numbers);
    check_entry(&weights, "a", FERRY_F64, 1, 3, 1, numbers);
    check_entry(&weights, "special:model.yml", FERRY_I8, 1, 4, 1, "a: b");
    check_entry(&weights, "scalar", FERRY_F32, 0, 1, 1, numbers);
    check_entry(&weights, "half", FERRY_F16, 2, 1, 6, numbers);
    assert_null(ferry_weights_find(&weights, "b.npy"));
    ferry_weights_close(&weights);
}

/* From version 3 on the header is UTF-8. */
TEST(test_versions)
{
    static const float numbers[] = {1, 2};
    for (int major = 1; major <= 4; major++) {
        ferry_weights weights;
        const ferry_view archive = archive_of("x.npy", make_npy(major, HEADER("<f4", "False", "(2,)"), numbers, 8));
        if (major == 4) {
            refuse_weights(ferry_npz_read, archive, FERRY_ERROR_FORMAT, "not a NumPy array");
            continue;
        }
        CHECK(ferry_npz_read(archive, "version.npz", NULL, &weights, &error));
        check_entry(&weights, "x", FERRY_F32, 1, 2, 1, numbers);
        ferry_weights_close(&weights);
    }
}

static void refuse(const char *name, int major, const char *dictionary, size_t size, ferry_status status,
                   const char *what)
{
    static const unsigned char zeros[64];
    refuse_weights(ferry_npz_read, archive_of(name, make_npy(major, dictionary, zeros, size)), status, what);
}

TEST(test_inconsistent_headers)
{
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
    static const struct {
        const char *name;
        int major;
        const char *header;
        size_t size;
        ferry_status status;
        const char *what;
    } rows[] = {
        {"a.npy", 1, HEADER("<f4", "True", "(1,)"), 4, FERRY_ERROR_UNSUPPORTED, "fortran_order"},
        {"a.npy", 1, HEADER(">f4", "False", "(1,)"), 4, FERRY_ERROR_UNSUPPORTED, "element type '>f4'"},
        {"a.npy", 1, HEADER("<c8", "False", "(1,)"), 8, FERRY_ERROR_UNSUPPORTED, "element type '<c8'"},
        {"a.npy", 1, HEADER("<f4", "False", "(2,)"), 4, FERRY_ERROR_FORMAT, "shape [2] of f32 does not fit its 4"},
        {"a.npy", 1, HEADER("<f4", "False", "(1,)"), 8, FERRY_ERROR_FORMAT, "does not fit its 8 bytes"},
        {"a.npy", 1, HEADER("<f4", "False", "(4611686018427387904,4)"), 0, FERRY_ERROR_FORMAT, "does not fit"},
        {"a.npy", 9, HEADER("<f4", "False", "(1,)"), 4, FERRY_ERROR_FORMAT, "tensor 'a': not a NumPy array"},
        {"a.txt", 1, HEADER("<f4", "False", "(1,)"), 4, FERRY_ERROR_FORMAT, "'a.txt': expected only members"},
        {".npy", 1, HEADER("<f4", "False", "(1,)"), 4, FERRY_ERROR_FORMAT, "tensor '.npy': expected only members"},
    };
    for (size_t i = 0; i < COUNT(headers); i++)
        refuse("a.npy", 1, headers[i], 4, FERRY_ERROR_FORMAT, "tensor 'a': expected a header");
    for (size_t i = 0; i < COUNT(rows); i++)
        refuse(rows[i].name, rows[i].major, rows[i].header, rows[i].size, rows[i].status, rows[i].what);
}

TEST(test_cut_header)
{
    ferry_weights weights;
    const ferry_view npy = make_npy(1, HEADER("<f4", "False", "(0,)"), NULL, 0);
    for (size_t size = 0; size < npy.size; size++)
        refuse_weights(ferry_npz_read, archive_of("a.npy", (ferry_view){npy.data, size}), FERRY_ERROR_FORMAT, "");
    CHECK(ferry_npz_read(archive_of("a.npy", npy), "whole.npz", NULL, &weights, &error));
    ferry_weights_close(&weights);
}

/* The two files were written from the same weights. */
TEST(test_equals_bin)
{
    ferry_weights npz, bin;
    char *npz_path = shared_file("models/bergamot-en-de/model.ende.npz");
    char *bin_path = shared_file("models/bergamot-en-de/model.ende.bin");
    CHECK(ferry_npz_read(mapped_bytes(npz_path), npz_path, NULL, &npz, &error));
    CHECK(ferry_marian_bin_read(mapped_bytes(bin_path), bin_path, NULL, &bin, &error));
    assert_int_equal(npz.count, large_data() ? 93 : 77);
    assert_int_equal(bin.count, npz.count);
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
}
