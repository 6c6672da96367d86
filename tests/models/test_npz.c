/* NumPy archives: arrays of every form, and inconsistent headers. */
#include "tests/support/make_zip.h"
#include "tests/support/refusals.h"

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
        {"special:model.yml.npy", make_npy(3, HEADER("|i1", "False", "(4,)"), "a: b", 4)},
        {"scalar.npy", make_npy(1, HEADER("<f4", "False", "()"), numbers, 4)},
        {"half.npy", make_npy(1, HEADER("<f2", "False", "(1, 6)"), numbers, 12)},
        {"deep.npy", make_npy(1, HEADER("<i1", "False", "( 2,3 ,1,\t4 )"), numbers, 24)},
        {"i2.npy", make_npy(1, HEADER("<i2", "False", "(3,)"), numbers, 6)},
        {"i4.npy", make_npy(1, HEADER("<i4", "False", "(3,)"), numbers, 12)},
        {"i8.npy", make_npy(1, HEADER("<i8", "False", "(3,)"), numbers, 24)},
    };
    zip_part files[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++) files[i] = (zip_part){rows[i].name, rows[i].npy.data, rows[i].npy.size};
    CHECK(ferry_npz_read(make_zip(files, COUNT(rows)), "arrays.npz", NULL, &weights, &error));
    assert_int_equal(weights.count, COUNT(rows));
    check_entry(&weights, "b", FERRY_F32, 2, 2, 3, numbers);
    check_entry(&weights, "a", FERRY_F64, 1, 3, 1, numbers);
    check_entry(&weights, "special:model.yml", FERRY_I8, 1, 4, 1, "a: b");
    check_entry(&weights, "scalar", FERRY_F32, 0, 1, 1, numbers);
    check_entry(&weights, "half", FERRY_F16, 2, 1, 6, numbers);
    check_entry(&weights, "i2", FERRY_I16, 1, 3, 1, numbers);
    check_entry(&weights, "i4", FERRY_I32, 1, 3, 1, numbers);
    check_entry(&weights, "i8", FERRY_I64, 1, 3, 1, numbers);
    const ferry_weights_entry *deep = find_weights(&weights, "deep");
    assert_int_equal(deep->tensor.dims, 4);
    assert_memory_equal(deep->tensor.shape, ((int64_t[]){2, 3, 1, 4}), sizeof deep->tensor.shape);
    assert_memory_equal(deep->strides, ((int64_t[]){12, 4, 4, 1}), sizeof deep->strides);
    assert_null(ferry_weights_find(&weights, "b.npy"));
    ferry_weights_close(&weights);
}

/* An archive of this member, with zeros as its elements. */
static ferry_view npz(const char *name, int major, const char *dictionary, size_t size)
{
    return archive_of(name, make_npy(major, dictionary, kept_memory(size), size));
}

#define NO_HEADER "tensor 'a': expected a header with descr, fortran_order and a shape of at most 4 dimensions"

TEST(test_inconsistent_headers)
{
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f4', 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4\", 'fortran_order': False, 'shape': (1,)}",
        HEADER("<f4", "Maybe", "(1,)"),
        HEADER("<f4", "False", "(1"),
        HEADER("<f4", "False", "(-1,)"),
        HEADER("<f4", "False", "(1 1)"),
        HEADER("<f4", "False", "(1,1,1,1,1)"),
        HEADER("<f4", "False", "(9223372036854775808,)"),
        HEADER("<f4", "False", "1"),
    };
    refused rows[COUNT(headers)];
    for (size_t i = 0; i < COUNT(headers); i++)
        rows[i] = (refused){npz("a.npy", 1, headers[i], 4), FERRY_ERROR_FORMAT, "in: " NO_HEADER};
    check_refused_weights(ferry_npz_read, rows, COUNT(rows));
}

TEST(test_refused)
{
    static const char one[] = HEADER("<f4", "False", "(1,)");
    const ferry_view good = make_npy(1, one, "zero", 4), bad = make_npy(4, one, "zero", 4);
    const zip_part last_bad[] = {{"a.npy", good.data, good.size}, {"b.npy", bad.data, bad.size}};
    const refused rows[] = {
        UNSUPPORTED(npz("a.npy", 1, HEADER("<f4", "True", "(1,)"), 4), "tensor 'a': fortran_order is not supported"),
        UNSUPPORTED(npz("a.npy", 1, HEADER(">f4", "False", "(1,)"), 4),
                    "tensor 'a': element type '>f4' is not supported"),
        UNSUPPORTED(npz("a.npy", 1, HEADER("<f44", "False", "(1,)"), 4),
                    "tensor 'a': element type '<f44' is not supported"),
        MALFORMED(npz("a.npy", 1, HEADER("<f4", "False", "(2,)"), 7),
                  "tensor 'a': shape [2] of f32 does not fit its 7 bytes"),
        MALFORMED(npz("a.npy", 1, HEADER("<f4", "False", "(2,)"), 9),
                  "tensor 'a': shape [2] of f32 does not fit its 9 bytes"),
        MALFORMED(npz("a.npy", 1, HEADER("<f4", "False", "(4611686018427387904,4)"), 0),
                  "tensor 'a': shape [4611686018427387904, 4] of f32 does not fit its 0 bytes"),
        MALFORMED(npz("a.npy", 1, HEADER("<f4", "False", "(9223372036854775807,)"), 0),
                  "tensor 'a': shape [9223372036854775807] of f32 does not fit its 0 bytes"),
        MALFORMED(npz("a.npy", 0, one, 4), "tensor 'a': not a NumPy array, or cut off in its header"),
        MALFORMED(make_zip(last_bad, 2), "tensor 'b': not a NumPy array, or cut off in its header"),
        MALFORMED(npz("a.txt", 1, one, 4), "tensor 'a.txt': expected only members that end in .npy"),
        MALFORMED(npz(".npy", 1, one, 4), "tensor '.npy': expected only members that end in .npy"),
    };
    check_refused_weights(ferry_npz_read, rows, COUNT(rows));
}

/* An archive is found by its end; its member is cut. */
static ferry_status read_member(ferry_view npy, ferry_error *error)
{
    ferry_weights weights;
    FERRY_TRY(ferry_npz_read(archive_of("a.npy", npy), "in", NULL, &weights, error));
    ferry_weights_close(&weights);
    return FERRY_OK;
}

TEST(test_cut_header)
{
    const ferry_view npy = make_npy(1, HEADER("<f4", "False", "(0,)"), NULL, 0);
    const made_file sound = {(unsigned char *)(uintptr_t)npy.data, npy.size, 0};
    check_refused_cuts(read_member, &sound, 0, FERRY_ERROR_FORMAT);
    CHECK(read_member(npy, &error));
}
