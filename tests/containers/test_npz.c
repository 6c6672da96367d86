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

TEST(test_arrays)
{
    static const float numbers[] = {1, 2, 3, 4, 5, 6};
    static const char codes[24] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                   13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
    const struct {
        const char *name;
        ferry_view npy;
    } rows[] = {
        {"b.npy", make_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n", numbers, 24)},
        {"a.npy", make_npy(2, "{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"<f8\"}", kept_memory(24), 24)},
        {"special:model.yml.npy", make_npy(3, HEADER("|i1", "False", "(4,)"), "a: b", 4)},
        {"scalar.npy", make_npy(1, HEADER("<f4", "False", "()"), numbers, 4)},
        {"half.npy", make_npy(1, HEADER("<f2", "False", "(1, 6)"), codes, 12)},
        {"deep.npy", make_npy(1, HEADER("<i1", "False", "( 2,3 ,1,\t4 )"), codes, 24)},
        {"i2.npy", make_npy(1, HEADER("<i2", "False", "(3,)"), codes, 6)},
        {"i4.npy", make_npy(1, HEADER("<i4", "False", "(3,)"), kept_memory(12), 12)},
        {"i8.npy", make_npy(1, HEADER("<i8", "False", "(3,)"), kept_memory(24), 24)},
    };
    zip_part files[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++) files[i] = (zip_part){rows[i].name, rows[i].npy.data, rows[i].npy.size};
    check_weights(ferry_npz_read, make_zip(files, COUNT(rows)),
                  "a f64 [3] 0 0 0; b f32 [2, 3] 1 2 3 4 5 6; "
                  "deep i8 [2, 3, 1, 4] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; "
                  "half f16 [1, 6] 513 1027 1541 2055 2569 3083; i2 i16 [3] 513 1027 1541; i4 i32 [3] 0 0 0; "
                  "i8 i64 [3] 0 0 0; scalar f32 [] 1; special:model.yml i8 [4] 97 58 32 98");
}

/* An archive of this member, with zeros as its elements. */
static ferry_view npz(const char *name, int major, const char *dictionary, size_t size)
{
    return archive_of(name, make_npy(major, dictionary, kept_memory(size), size));
}

#define NO_HEADER "tensor 'a': expected a header with descr, fortran_order and a shape of at most 4 dimensions"

TEST(test_inconsistent_headers)
{
    static const char *const headers[] = {"",
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
                                          HEADER("<f4", "False", "1")};
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
static ferry_status read_member(ferry_reader *in, ferry_weights *weights)
{
    const ferry_view npy = {(const char *)in->cursor.data, in->cursor.size};
    in->cursor = ferry_cursor_begin(archive_of("a.npy", npy));
    return ferry_npz_read(in, weights);
}

TEST(test_cut_header)
{
    const ferry_view npy = make_npy(1, HEADER("<f4", "False", "(0,)"), NULL, 0);
    const made_file sound = {(unsigned char *)(uintptr_t)npy.data, npy.size, 0};
    check_refused_weights_cuts(read_member, &sound, 0, FERRY_ERROR_FORMAT);
    check_weights(ferry_npz_read, archive_of("a.npy", npy), "a f32 [0]");
}
