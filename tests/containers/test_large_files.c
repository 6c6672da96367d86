/* Files beyond 4 GB, made sparse, and the 64-bit fields of zip archives: what lies behind 4 GB is found, and no number
 * loses its upper half. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/make_zip.h"
#include "tests/support/refusals.h"

#define LARGE (INT64_C(5) << 30)
enum { LARGE_ROWS = 5 << 20, LARGE_COLUMNS = 1 << 10 };

enum { AFTER = 8 };
static const float after[8] = {1.5f, -2}; /* and padding */

static void write_at(int descriptor, const void *data, size_t size, uint64_t at)
{
    if (pwrite(descriptor, data, size, (off_t)at) != (ssize_t)size) not_run("files beyond 4 GB");
}

/* `head`, zeros up to `at`, and `tail`, mapped. */
static ferry_view sparse_file(const char *name, ferry_view head, uint64_t at, const void *tail, size_t size)
{
    const char *path = scratch_file(name);
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(descriptor >= 0);
    write_at(descriptor, head.data, head.size, 0);
    write_at(descriptor, tail, size, at);
    close(descriptor);
    const ferry_view bytes = mapped_bytes(path);
    assert_int_equal(bytes.size, at + size);
    return bytes;
}

/* The tensor, which must exist. */
static ferry_weights_entry *find_weights(const ferry_weights *weights, const char *name)
{
    ferry_weights_entry *entry = ferry_weights_find(weights, name);
    if (entry == NULL) fail_msg("'%s' is missing", name);
    return entry;
}

static void check_after(const ferry_tensor *tensor)
{
    assert_non_null(tensor);
    assert_int_equal(tensor->bytes, AFTER);
    assert_memory_equal(tensor->data, after, AFTER);
}

/* ---- weights ---- */

TEST(test_gguf)
{
    static const struct {
        const char *name;
        uint64_t dims, shape[2], type, offset;
    } tensors[] = {{"large", 2, {LARGE_COLUMNS, LARGE_ROWS}, 24, 0}, {"after", 1, {2}, 0, LARGE}};
    made_file head = {.size = 0};
    ferry_gguf gguf;
    put_text(&head, "GGUF");
    PUT(&head, {3, 4}, {2, 8}, {0, 8});
    for (size_t i = 0; i < 2; i++) {
        put(&head, strlen(tensors[i].name), 8);
        put_text(&head, tensors[i].name);
        put(&head, tensors[i].dims, 4);
        for (size_t d = 0; d < tensors[i].dims; d++) put(&head, tensors[i].shape[d], 8);
        PUT(&head, {tensors[i].type, 4}, {tensors[i].offset, 8});
    }
    put(&head, 0, 32 - head.size % 32);
    const ferry_view bytes = sparse_file("large.gguf", whole(&head), head.size + LARGE, after, sizeof after);
    CHECK(ferry_gguf_open(bytes, "large.gguf", &gguf, &error));
    assert_int_equal(ferry_gguf_tensor(&gguf, "large")->bytes, LARGE);
    check_after(ferry_gguf_tensor(&gguf, "after"));
    ferry_gguf_close(&gguf);
    REFUSE(ferry_gguf_open((ferry_view){bytes.data, bytes.size - (UINT64_C(1) << 32)}, "cut.gguf", &gguf, &error),
           FERRY_ERROR_FORMAT, "cut.gguf: ");
}

/* Of a file of this beginning, the large tensor and the other one. */
static void check_large(ferry_weights_reader *read, const char *name, const made_file *head)
{
    const ferry_view bytes = sparse_file(name, whole(head), head->size + LARGE, after, AFTER);
    ferry_weights weights;
    CHECK(ferry_weights_read(read, bytes, "large", NULL, &weights, &error));
    const ferry_weights_entry *large = find_weights(&weights, "large");
    assert_int_equal(large->tensor.bytes, LARGE);
    assert_int_equal(large->strides[0], LARGE_COLUMNS);
    check_after(&find_weights(&weights, "after")->tensor);
    ferry_weights_close(&weights);
    REFUSE(ferry_weights_read(read, (ferry_view){bytes.data, bytes.size - (UINT64_C(1) << 32)}, "cut", NULL, &weights,
                              &error),
           FERRY_ERROR_FORMAT, "cut: ");
}

TEST(test_safetensors)
{
    static const char header[] =
        "{\"after\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[5368709120,5368709128]},"
        "\"large\":{\"dtype\":\"I8\",\"shape\":[5242880,1024],\"data_offsets\":[0,5368709120]}}";
    made_file head = {.size = 0};
    put(&head, sizeof header - 1, 8);
    put_text(&head, header);
    check_large(ferry_safetensors_read, "large.safetensors", &head);
}

TEST(test_marian_bin)
{
    static const uint64_t numbers[] = {1, 2, 6, 0x101, 2, LARGE, 6, 0x404, 1, AFTER};
    made_file head = {.size = 0};
    for (size_t i = 0; i < COUNT(numbers); i++) put(&head, numbers[i], 8);
    put_bytes(&head, "large\0after", 12);
    PUT(&head, {LARGE_ROWS, 4}, {LARGE_COLUMNS, 4}, {2, 4}, {0, 8}); /* no padding */
    check_large(ferry_marian_bin_read, "large.bin", &head);
}

/* ---- archives ---- */

TEST(test_zip)
{
    const zip_member members[] = {
        {.name = "large.bin", .data = "", .size = LARGE, .stored_size = LARGE, .zip64 = true},
        {.name = "small.txt", .data = "hello", .moved = LARGE, .zip64 = true},
    };
    made_zip all = begin_zip(members, 2);
    ferry_view text;
    ferry_zip *zip;
    all.shift = LARGE;
    end_zip64(&all, 2);
    const size_t small = begin_zip(members, 1).directory;
    const ferry_view bytes =
        sparse_file("large.zip", cut_to(&all.file, small), small + LARGE, all.file.data + small, all.file.size - small);
    CHECK(ferry_zip_open(bytes, "large.zip", NULL, &zip, &error));
    assert_int_equal(ferry_zip_count(zip), 2);
    CHECK(ferry_zip_member(zip, 1, &text, &error));
    assert_true(has_text(text, "hello"));
    ferry_zip_close(zip);
    REFUSE(ferry_zip_open((ferry_view){bytes.data + (UINT64_C(1) << 32), bytes.size - (UINT64_C(1) << 32)}, "cut.zip",
                          NULL, &zip, &error),
           FERRY_ERROR_FORMAT, "cut.zip: not a sound zip archive");
}

/* The archive with one number of `size` bytes changed. */
static ferry_view changed(size_t at, size_t size, uint64_t value)
{
    const made_file file = file_copy(data_file("corpus/fuzz_zip/zip64.zip"));
    for (size_t i = 0; i < size; i++) file.data[at + i] = (unsigned char)(value >> (8 * i));
    return whole(&file);
}

static ferry_status open_archive(ferry_view bytes, ferry_error *error)
{
    ferry_zip *zip;
    FERRY_TRY(ferry_zip_open(bytes, "in", NULL, &zip, error));
    ferry_zip_close(zip);
    return FERRY_OK;
}

#define UNSOUND "not a sound zip archive: "

/* One number of an archive of one member "a.npy" that needs none of its ZIP64 fields. */
TEST(test_zip64_fields)
{
    enum { EXTRA = 0x71, SIZE = 0x73, STORED = 0x7b, HEADER = 0x83, HERE = 0xa3, ENTRIES = 0xab };
    enum { DIRECTORY_SIZE = 0xb3, DIRECTORY = 0xbb, LOCATOR = 0xc3, RECORD = 0xcb };
    static const uint64_t over = UINT64_C(1) << 32, half = UINT64_C(1) << 63;
    static const char sizes[] = "in: member 'a.npy': is stored, but with two sizes";
    static const char beyond[] = "in: member 'a.npy': reaches into the directory or past the end of the file";
    static const char nowhere[] = "in: member 'a.npy': is not where the directory says";
    static const char lacks[] = "in: member 'a.npy': lacks the sizes of its ZIP64 field";
    static const char parts[] = "in: zip archives of several parts are not supported";
    static const char record[] = "in: " UNSOUND "its ZIP64 record is not where the locator says";
    const refused rows[] = {
        {changed(SIZE, 8, over + 5), FERRY_ERROR_FORMAT, sizes},
        {changed(SIZE, 8, half + 5), FERRY_ERROR_FORMAT, sizes},
        {changed(SIZE, 8, UINT64_MAX), FERRY_ERROR_FORMAT, sizes},
        {changed(STORED, 8, over + 5), FERRY_ERROR_FORMAT, beyond},
        {changed(STORED, 8, half), FERRY_ERROR_FORMAT, beyond},
        {changed(STORED, 8, UINT64_MAX), FERRY_ERROR_FORMAT, beyond},
        {changed(HEADER, 8, over), FERRY_ERROR_FORMAT, nowhere},
        {changed(HEADER, 8, half), FERRY_ERROR_FORMAT, nowhere},
        {changed(HEADER, 8, UINT64_MAX), FERRY_ERROR_FORMAT, nowhere},
        {changed(EXTRA - 2, 2, 2), FERRY_ERROR_FORMAT, lacks}, /* another field */
        {changed(EXTRA, 2, 0), FERRY_ERROR_FORMAT, lacks},
        {changed(EXTRA, 2, 23), FERRY_ERROR_FORMAT, lacks},
        {changed(EXTRA, 2, 25), FERRY_ERROR_FORMAT, lacks},
        {changed(EXTRA, 2, UINT16_MAX), FERRY_ERROR_FORMAT, lacks},
        {changed(HERE, 8, 2), FERRY_ERROR_UNSUPPORTED, parts},
        {changed(ENTRIES, 8, over + 1), FERRY_ERROR_UNSUPPORTED, parts},
        MALFORMED(changed(DIRECTORY_SIZE, 8, over + 0x4f),
                  UNSOUND "expected a directory that ends at byte 139, found 4294967375 bytes of it at 60"),
        MALFORMED(changed(DIRECTORY, 8, over + 0x3c),
                  UNSOUND "expected a directory that ends at byte 139, found 79 bytes of it at 4294967356"),
        MALFORMED(changed(DIRECTORY, 8, UINT64_MAX),
                  UNSOUND "expected a directory that ends at byte 139, found 79 bytes of it at 18446744073709551615"),
        {changed(RECORD, 8, 0), FERRY_ERROR_FORMAT, record},
        {changed(RECORD, 8, LOCATOR), FERRY_ERROR_FORMAT, record},
        {changed(RECORD, 8, over + 0x8b), FERRY_ERROR_FORMAT, record},
        {changed(RECORD, 8, UINT64_MAX), FERRY_ERROR_FORMAT, record},
    };
    check_refused(open_archive, rows, COUNT(rows));
}
