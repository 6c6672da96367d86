/* Zip archives made here, byte by byte: what is read, and that every lie and every trick is refused by name. */
#include <zlib.h>

#include "models/containers/zip.h"
#include "tests/support/support.h"

enum { CAPACITY = 1 << 20, MAX_PARTS = 8 };

/* How one member departs from an honest one; zeros: not at all. */
typedef struct part {
    const char *name, *data;
    bool deflate;
    const char *local_name;    /* instead of `name` */
    int32_t method, flags;     /* added */
    uint32_t crc;              /* xor */
    int64_t size, stored_size; /* added to the true ones in the directory */
    int64_t moved;             /* added to the offset of the local header */
    bool zip64;                /* sizes and offset in an extra field */
    bool no_extra;             /* but the field is missing */
    size_t repeated;           /* data is this many times its first byte */
} part;

typedef struct archive {
    unsigned char *data;
    size_t size;
    size_t directory, end; /* offsets */
} archive;

static void put(archive *a, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) a->data[a->size++] = (unsigned char)(i < 8 ? value >> (8 * i) : 0);
}

static void put_bytes(archive *a, const void *data, size_t size)
{
    memcpy(a->data + a->size, data, size);
    a->size += size;
}

/* Raw deflate of `data`; returns the stored size. */
static size_t squeeze(const unsigned char *data, size_t size, unsigned char *out)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = CAPACITY;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

typedef struct written {
    uint32_t crc;
    size_t size, stored_size, offset;
} written;

static written put_member(archive *a, const part *p)
{
    static unsigned char stored[CAPACITY], plain[CAPACITY];
    const size_t size = p->repeated > 0 ? p->repeated : strlen(p->data);
    for (size_t i = 0; i < size; i++) plain[i] = (unsigned char)p->data[p->repeated > 0 ? 0 : i];
    written w = {(uint32_t)crc32(0, plain, (uInt)size), size, size, a->size};
    if (p->deflate) w.stored_size = squeeze(plain, size, stored);
    const char *name = p->local_name != NULL ? p->local_name : p->name;
    put(a, 0x04034b50, 4);
    put(a, 20, 2);
    put(a, 8, 2); /* as PyTorch: sizes stand in the directory only */
    put(a, p->deflate ? 8 : 0, 2);
    put(a, 0, 4 + 4 + 4 + 4);
    put(a, strlen(name), 2);
    put(a, 4, 2);
    put_bytes(a, name, strlen(name));
    put(a, 0x00004246, 4); /* an extra field of no use */
    put_bytes(a, p->deflate ? stored : plain, w.stored_size);
    return w;
}

static void put_entry(archive *a, const part *p, const written *w)
{
    const uint64_t size = w->size + (uint64_t)p->size, stored_size = w->stored_size + (uint64_t)p->stored_size;
    const uint64_t offset = w->offset + (uint64_t)p->moved;
    put(a, 0x02014b50, 4);
    put(a, 20, 2);
    put(a, 20, 2);
    put(a, (uint64_t)(8 + p->flags), 2);
    put(a, (uint64_t)((p->deflate ? 8 : 0) + p->method), 2);
    put(a, 0, 4);
    put(a, w->crc ^ p->crc, 4);
    put(a, p->zip64 ? UINT32_MAX : stored_size, 4);
    put(a, p->zip64 ? UINT32_MAX : size, 4);
    put(a, strlen(p->name), 2);
    put(a, p->zip64 && !p->no_extra ? 4 + 4 + 24 : 0, 2);
    put(a, 0, 2 + 2 + 2 + 4);
    put(a, p->zip64 ? UINT32_MAX : offset, 4);
    put_bytes(a, p->name, strlen(p->name));
    if (!p->zip64 || p->no_extra) return;
    put(a, 0x00005555, 4); /* some other field first */
    put(a, 1, 2);
    put(a, 24, 2);
    put(a, size, 8);
    put(a, stored_size, 8);
    put(a, offset, 8);
}

static void put_end(archive *a, size_t count, const char *comment)
{
    const size_t end = a->size;
    a->end = end;
    put(a, 0x06054b50, 4);
    put(a, 0, 4);
    put(a, count, 2);
    put(a, count, 2);
    put(a, end - a->directory, 4);
    put(a, a->directory, 4);
    put(a, strlen(comment), 2);
    put_bytes(a, comment, strlen(comment));
}

static archive begin_archive(const part *parts, size_t count)
{
    archive a = {malloc(CAPACITY), 0, 0, 0};
    written w[MAX_PARTS];
    assert_non_null(a.data);
    for (size_t i = 0; i < count; i++) w[i] = put_member(&a, &parts[i]);
    a.directory = a.size;
    for (size_t i = 0; i < count; i++) put_entry(&a, &parts[i], &w[i]);
    return a;
}

static archive make(const part *parts, size_t count)
{
    archive a = begin_archive(parts, count);
    put_end(&a, count, "");
    return a;
}

/* Opens from memory of exactly the archive's size, so that the sanitizers see a step beyond it. */
static ferry_status open_archive(archive *a, ferry_zip **zip, ferry_error *error)
{
    a->data = realloc(a->data, a->size);
    return ferry_zip_open((ferry_view){(const char *)a->data, a->size}, "trick.zip", zip, error);
}

static ferry_status read_all(ferry_zip *zip, ferry_error *error)
{
    ferry_status status = FERRY_OK;
    for (size_t i = 0; i < ferry_zip_count(zip) && status == FERRY_OK; i++) {
        ferry_view bytes;
        status = ferry_zip_member(zip, i, &bytes, error);
    }
    return status;
}

/* Refused when opened or when read. */
static void refuse_archive(archive *a, ferry_status expected, const char *what)
{
    ferry_error error = {0};
    ferry_zip *zip = NULL;
    ferry_status status = open_archive(a, &zip, &error);
    if (status == FERRY_OK) {
        status = read_all(zip, &error);
        ferry_zip_close(zip);
    }
    if (status != expected || strstr(error.message, what) == NULL || strstr(error.message, "trick.zip") == NULL) {
        fail_msg("expected %d '%s', found %d '%s'", expected, what, status, error.message);
    }
    free(a->data);
}

static void refuse(part p, ferry_status expected, const char *what)
{
    const part parts[] = {{.name = "first", .data = "1"}, p};
    archive a = make(parts, 2);
    refuse_archive(&a, expected, what);
}

static void check_member(ferry_zip *zip, const char *name, const char *data)
{
    ferry_error error;
    ferry_view bytes;
    const ptrdiff_t index = ferry_zip_find(zip, name);
    assert_true(index >= 0);
    assert_string_equal(ferry_zip_name(zip, (size_t)index), name);
    for (int i = 0; i < 2; i++) {
        CHECK(ferry_zip_member(zip, (size_t)index, &bytes, &error));
        assert_int_equal(bytes.size, strlen(data));
        assert_memory_equal(bytes.data, data, bytes.size);
    }
}

static void test_members(void **state)
{
    (void)state;
    ferry_error error;
    ferry_zip *zip;
    const part parts[] = {
        {.name = "special:model.yml.npy", .data = "a colon is normal"},
        {.name = "folder/", .data = ""},
        {.name = "folder/squeezed", .data = "squeezed squeezed squeezed squeezed squeezed", .deflate = true},
        {.name = "empty", .data = ""},
        {.name = "a..b", .data = "two dots inside a name", .zip64 = true},
        {.name = "nothing squeezed", .data = "", .deflate = true},
    };
    archive a = make(parts, 6);
    assert_true(ferry_is_zip((ferry_view){(const char *)a.data, a.size}));
    assert_false(ferry_is_zip((ferry_view){"PK", 2}));
    CHECK(open_archive(&a, &zip, &error));
    assert_int_equal(ferry_zip_count(zip), 5);
    assert_string_equal(ferry_zip_name(zip, 0), "a..b");
    assert_string_equal(ferry_zip_name(zip, 4), "special:model.yml.npy");
    for (size_t i = 0; i < 6; i++) {
        if (i != 1) check_member(zip, parts[i].name, parts[i].data);
    }
    assert_int_equal(ferry_zip_find(zip, "folder/"), -1);
    assert_int_equal(ferry_zip_find(zip, "absent"), -1);
    ferry_zip_close(zip);
    ferry_zip_close(NULL);
    free(a.data);
}

/* Stored members are used where they lie. */
static void test_stored_in_place(void **state)
{
    (void)state;
    ferry_error error;
    ferry_zip *zip;
    ferry_view bytes;
    const part one = {.name = "a", .data = "in place"};
    archive a = make(&one, 1);
    CHECK(open_archive(&a, &zip, &error));
    CHECK(ferry_zip_member(zip, 0, &bytes, &error));
    assert_ptr_equal(bytes.data, a.data + 30 + 1 + 4);
    ferry_zip_close(zip);
    free(a.data);
}

static void test_large_member(void **state)
{
    (void)state;
    ferry_error error;
    ferry_zip *zip;
    ferry_view bytes;
    const part one = {.name = "zeros", .data = "z", .repeated = 300000, .deflate = true};
    archive a = make(&one, 1);
    CHECK(open_archive(&a, &zip, &error));
    CHECK(ferry_zip_member(zip, 0, &bytes, &error));
    assert_int_equal(bytes.size, 300000);
    for (size_t i = 0; i < bytes.size; i++) assert_int_equal(bytes.data[i], 'z');
    ferry_zip_close(zip);
    free(a.data);
}

static void test_names(void **state)
{
    (void)state;
    const char *const names[] = {"../up", "a/../../up", "a/..", "..", "/etc/passwd", "a\\b", ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        refuse((part){.name = names[i], .data = "x"}, FERRY_ERROR_FORMAT, "not a relative name");
    }
    refuse((part){.name = "first", .data = "2"}, FERRY_ERROR_FORMAT, "member 'first' occurs twice");
    refuse((part){.name = "good", .local_name = "evil", .data = "x"}, FERRY_ERROR_FORMAT,
           "member 'good' has another name in its own header");
}

static void test_lies(void **state)
{
    (void)state;
    const char *text = "words words words words";
    refuse((part){.name = "b", .data = text, .crc = 1}, FERRY_ERROR_FORMAT, "member 'b' is damaged: wrong CRC-32");
    refuse((part){.name = "b", .data = text, .crc = 1, .deflate = true}, FERRY_ERROR_FORMAT, "wrong CRC-32");
    refuse((part){.name = "b", .data = text, .flags = 1}, FERRY_ERROR_UNSUPPORTED, "member 'b' is encrypted");
    refuse((part){.name = "b", .data = text, .flags = 0x2000}, FERRY_ERROR_UNSUPPORTED, "member 'b' is encrypted");
    refuse((part){.name = "b", .data = text, .method = 12}, FERRY_ERROR_UNSUPPORTED, "compression method 12");
    refuse((part){.name = "b", .data = text, .size = 1}, FERRY_ERROR_FORMAT, "stored, but with two sizes");
    refuse((part){.name = "b", .data = text, .deflate = true, .size = -1}, FERRY_ERROR_FORMAT,
           "inflates to more than the directory says");
    refuse((part){.name = "b", .data = text, .deflate = true, .size = 1}, FERRY_ERROR_FORMAT,
           "inflates to less than the directory says");
    refuse((part){.name = "b", .data = text, .deflate = true, .stored_size = -1}, FERRY_ERROR_FORMAT, "cut off");
    refuse((part){.name = "b", .data = text, .size = 1000, .stored_size = 1000}, FERRY_ERROR_FORMAT,
           "reaches into the directory or beyond the file");
    refuse((part){.name = "b", .data = text, .moved = 1}, FERRY_ERROR_FORMAT, "is not where the directory says");
    refuse((part){.name = "b", .data = text, .moved = 100000}, FERRY_ERROR_FORMAT, "is not where the directory says");
}

/* Stops at the size that the directory states, whatever the data would still give. */
static void test_bombs(void **state)
{
    (void)state;
    refuse((part){.name = "b", .data = "z", .repeated = 500000, .deflate = true, .size = -499999}, FERRY_ERROR_FORMAT,
           "inflates to more than the directory says");
    refuse((part){.name = "b", .data = "z", .deflate = true, .size = 80 << 20}, FERRY_ERROR_FORMAT,
           "its members would inflate to more than");
    const part half = {.name = "a", .data = "z", .deflate = true, .size = 40 << 20};
    part halves[2] = {half, half};
    halves[1].name = "b";
    archive a = make(halves, 2);
    refuse_archive(&a, FERRY_ERROR_FORMAT, "its members would inflate to more than");
}

static void test_overlaps(void **state)
{
    (void)state;
    /* Two entries of the directory for one local header under one name, then a member inside another's data. */
    const part inner = {.name = "b", .data = "inner"};
    archive in = {malloc(CAPACITY), 0, 0, 0};
    put_member(&in, &inner);
    in.data[in.size] = 0;
    const part one = {.name = "a", .data = "0123456789"};
    archive a = {malloc(CAPACITY), 0, 0, 0};
    written outer = put_member(&a, &one);
    outer.size = outer.stored_size = 10 + in.size;
    written nested = {(uint32_t)crc32(0, (const Bytef *)"inner", 5), 5, 5, a.size};
    put_bytes(&a, in.data, in.size);
    a.directory = a.size;
    put_entry(&a, &one, &outer);
    put_entry(&a, &inner, &nested);
    put_end(&a, 2, "");
    refuse_archive(&a, FERRY_ERROR_FORMAT, "member 'b' overlaps another");
    free(in.data);
}

static void test_truncated(void **state)
{
    (void)state;
    const part one = {.name = "a", .data = "some text", .deflate = true};
    archive whole = make(&one, 1);
    for (size_t size = 0; size < whole.size; size++) {
        archive a = whole;
        a.data = malloc(size + 1);
        memcpy(a.data, whole.data, size);
        a.size = size;
        refuse_archive(&a, FERRY_ERROR_FORMAT, "no end record");
    }
    free(whole.data);
}

static void test_around_the_archive(void **state)
{
    (void)state;
    ferry_error error;
    ferry_zip *zip;
    const part one = {.name = "a", .data = "text"};
    archive a = begin_archive(&one, 1);
    put_end(&a, 1, "a comment");
    CHECK(open_archive(&a, &zip, &error));
    check_member(zip, "a", "text");
    ferry_zip_close(zip);
    a.data[a.size - 1 - strlen("a comment")] = 1; /* the comment's length */
    refuse_archive(&a, FERRY_ERROR_FORMAT, "no end record");

    a = make(&one, 1);
    a.data = realloc(a.data, CAPACITY);
    memmove(a.data + 7, a.data, a.size);
    a.size += 7;
    refuse_archive(&a, FERRY_ERROR_FORMAT, "expected a directory that ends at byte");

    a = begin_archive(&one, 1);
    put(&a, 0, 5);
    put_end(&a, 1, "");
    refuse_archive(&a, FERRY_ERROR_FORMAT, "its directory is longer than its members");

    a = begin_archive(&one, 1);
    put_end(&a, 2, "");
    refuse_archive(&a, FERRY_ERROR_FORMAT, "2 members in a directory of 47 bytes");

    a = make(&one, 1);
    a.data[a.end + 4] = 1; /* this disk */
    refuse_archive(&a, FERRY_ERROR_UNSUPPORTED, "several parts");

    a = make(&one, 1);
    a.data[a.directory] = 0;
    refuse_archive(&a, FERRY_ERROR_FORMAT, "its directory is cut off or holds something else");
}

/* ---- ZIP64 ---- */

static archive make_zip64(const part *p, uint64_t count, uint64_t directory_size, uint64_t record_moved)
{
    archive a = begin_archive(p, 1);
    const size_t record = a.size;
    put(&a, 0x06064b50, 4);
    put(&a, 44, 8);
    put(&a, 45, 4);
    put(&a, 0, 4 + 4);
    put(&a, count, 8);
    put(&a, count, 8);
    put(&a, directory_size != 0 ? directory_size : record - a.directory, 8);
    put(&a, a.directory, 8);
    put(&a, 0x07064b50, 4);
    put(&a, 0, 4);
    put(&a, record + record_moved, 8);
    put(&a, 1, 4);
    a.end = a.size;
    put(&a, 0x06054b50, 4);
    put(&a, 0, 4);
    put(&a, UINT64_MAX, 2 + 2 + 4);
    put(&a, UINT64_MAX, 4);
    put(&a, 0, 2);
    return a;
}

static void test_zip64(void **state)
{
    (void)state;
    ferry_error error;
    ferry_zip *zip;
    part p = {.name = "a", .data = "large in theory", .zip64 = true};
    archive a = make_zip64(&p, 1, 0, 0);
    CHECK(open_archive(&a, &zip, &error));
    check_member(zip, "a", "large in theory");
    ferry_zip_close(zip);
    free(a.data);

    a = make_zip64(&p, UINT64_MAX, 0, 0);
    refuse_archive(&a, FERRY_ERROR_FORMAT, "18446744073709551615 members");
    a = make_zip64(&p, 1, UINT64_MAX, 0);
    refuse_archive(&a, FERRY_ERROR_FORMAT, "found 18446744073709551615 bytes of it");
    a = make_zip64(&p, 1, 0, UINT64_MAX / 2);
    refuse_archive(&a, FERRY_ERROR_FORMAT, "its ZIP64 record is not where the locator says");
    a = make_zip64(&p, 1, 0, 0);
    a.data[a.end - 20] = 0; /* the locator */
    refuse_archive(&a, FERRY_ERROR_FORMAT, "its ZIP64 record is missing");

    p.moved = INT64_MIN;
    a = make_zip64(&p, 1, 0, 0);
    refuse_archive(&a, FERRY_ERROR_FORMAT, "is not where the directory says");
    p.moved = 0;
    p.stored_size = p.size = -100;
    a = make_zip64(&p, 1, 0, 0);
    refuse_archive(&a, FERRY_ERROR_FORMAT, "reaches into the directory or beyond the file");
    p.stored_size = p.size = 0;
    p.no_extra = true;
    a = make_zip64(&p, 1, 0, 0);
    refuse_archive(&a, FERRY_ERROR_FORMAT, "lacks the sizes of its ZIP64 field");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_stored_in_place),
        cmocka_unit_test(test_large_member),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_around_the_archive),
        cmocka_unit_test(test_zip64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
