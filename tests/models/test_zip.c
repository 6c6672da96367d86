/* Zip archives built byte by byte: what is read, and that every inconsistent or hostile archive is refused by name. */
#include "tests/support/files.h"

#include <zlib.h>

#include "models/containers/zip.h"

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
    made_file file;
    size_t directory, end; /* offsets */
} archive;

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
    made_file *f = &a->file;
    written w = {(uint32_t)crc32(0, plain, (uInt)size), size, size, f->size};
    if (p->deflate) w.stored_size = squeeze(plain, size, stored);
    const char *name = p->local_name != NULL ? p->local_name : p->name;
    put(f, 0x04034b50, 4);
    put(f, 20, 2);
    put(f, 8, 2); /* as PyTorch: sizes stand in the directory only */
    put(f, p->deflate ? 8 : 0, 2);
    put(f, 0, 4 + 4 + 4 + 4);
    put(f, strlen(name), 2);
    put(f, 4, 2);
    put_text(f, name);
    put(f, 0x00004246, 4); /* an unused extra field */
    put_bytes(f, p->deflate ? stored : plain, w.stored_size);
    return w;
}

static void put_entry(archive *a, const part *p, const written *w)
{
    made_file *f = &a->file;
    const uint64_t size = w->size + (uint64_t)p->size, stored_size = w->stored_size + (uint64_t)p->stored_size;
    const uint64_t offset = w->offset + (uint64_t)p->moved;
    put(f, 0x02014b50, 4);
    put(f, 20, 2);
    put(f, 20, 2);
    put(f, (uint64_t)(8 + p->flags), 2);
    put(f, (uint64_t)((p->deflate ? 8 : 0) + p->method), 2);
    put(f, 0, 4);
    put(f, w->crc ^ p->crc, 4);
    put(f, p->zip64 ? UINT32_MAX : stored_size, 4);
    put(f, p->zip64 ? UINT32_MAX : size, 4);
    put(f, strlen(p->name), 2);
    put(f, p->zip64 && !p->no_extra ? 4 + 4 + 24 : 0, 2);
    put(f, 0, 2 + 2 + 2 + 4);
    put(f, p->zip64 ? UINT32_MAX : offset, 4);
    put_text(f, p->name);
    if (!p->zip64 || p->no_extra) return;
    put(f, 0x00005555, 4); /* some other field first */
    put(f, 1, 2);
    put(f, 24, 2);
    put(f, size, 8);
    put(f, stored_size, 8);
    put(f, offset, 8);
}

static void put_end(archive *a, size_t count, const char *comment)
{
    made_file *f = &a->file;
    a->end = f->size;
    put(f, 0x06054b50, 4);
    put(f, 0, 4);
    put(f, count, 2);
    put(f, count, 2);
    put(f, a->end - a->directory, 4);
    put(f, a->directory, 4);
    put(f, strlen(comment), 2);
    put_text(f, comment);
}

static archive begin_archive(const part *parts, size_t count)
{
    archive a = {.end = 0};
    written w[MAX_PARTS];
    for (size_t i = 0; i < count; i++) w[i] = put_member(&a, &parts[i]);
    a.directory = a.file.size;
    for (size_t i = 0; i < count; i++) put_entry(&a, &parts[i], &w[i]);
    return a;
}

static archive make(const part *parts, size_t count)
{
    archive a = begin_archive(parts, count);
    put_end(&a, count, "");
    return a;
}

static ferry_zip *open_archive(const archive *a)
{
    ferry_zip *zip;
    CHECK(ferry_zip_open(whole(&a->file), "trick.zip", NULL, &zip, &error));
    return zip;
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
static void refuse_view(ferry_view bytes, ferry_status expected, const char *what)
{
    ferry_error error = {0};
    ferry_zip *zip = NULL;
    ferry_status status = ferry_zip_open(bytes, "trick.zip", NULL, &zip, &error);
    if (status == FERRY_OK) {
        status = read_all(zip, &error);
        ferry_zip_close(zip);
    }
    check_refusal(status, &error, expected, what);
    assert_non_null(strstr(error.message, "trick.zip"));
}

static void refuse_archive(const archive *a, ferry_status expected, const char *what)
{
    refuse_view(whole(&a->file), expected, what);
}

typedef struct bad_part {
    ferry_status status;
    const char *what;
    part part;
} bad_part;

static void refuse_parts(const bad_part *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const part parts[] = {{.name = "first", .data = "1"}, rows[i].part};
        const archive a = make(parts, 2);
        refuse_archive(&a, rows[i].status, rows[i].what);
    }
}

static void check_member(ferry_zip *zip, const char *name, const char *data)
{
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

TEST(test_members)
{
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
    assert_true(ferry_is_zip(whole(&a.file)));
    assert_false(ferry_is_zip((ferry_view){"PK", 2}));
    zip = open_archive(&a);
    assert_int_equal(ferry_zip_count(zip), 5);
    assert_string_equal(ferry_zip_name(zip, 0), "a..b");
    assert_string_equal(ferry_zip_name(zip, 4), "special:model.yml.npy");
    for (size_t i = 0; i < 6; i++)
        if (i != 1) check_member(zip, parts[i].name, parts[i].data);
    assert_int_equal(ferry_zip_find(zip, "folder/"), -1);
    assert_int_equal(ferry_zip_find(zip, "absent"), -1);
    ferry_zip_close(zip);
    ferry_zip_close(NULL);
}

/* Stored members are used where they lie. */
TEST(test_stored_in_place)
{
    ferry_zip *zip;
    ferry_view bytes;
    const part one = {.name = "a", .data = "in place"};
    const archive a = make(&one, 1);
    const ferry_view file = whole(&a.file);
    CHECK(ferry_zip_open(file, "stored.zip", NULL, &zip, &error));
    CHECK(ferry_zip_member(zip, 0, &bytes, &error));
    assert_ptr_equal(bytes.data, file.data + 30 + 1 + 4);
    ferry_zip_close(zip);
}

TEST(test_large_member)
{
    ferry_zip *zip;
    ferry_view bytes;
    const part one = {.name = "zeros", .data = "z", .repeated = 300000, .deflate = true};
    archive a = make(&one, 1);
    zip = open_archive(&a);
    CHECK(ferry_zip_member(zip, 0, &bytes, &error));
    assert_int_equal(bytes.size, 300000);
    for (size_t i = 0; i < bytes.size; i++) assert_int_equal(bytes.data[i], 'z');
    ferry_zip_close(zip);
}

TEST(test_names)
{
    static const bad_part rows[] = {
        {FERRY_ERROR_FORMAT, "not a relative name", {.name = "../up", .data = "x"}},
        {FERRY_ERROR_FORMAT, "not a relative name", {.name = "a/../../up", .data = "x"}},
        {FERRY_ERROR_FORMAT, "not a relative name", {.name = "a/..", .data = "x"}},
        {FERRY_ERROR_FORMAT, "not a relative name", {.name = "..", .data = "x"}},
        {FERRY_ERROR_FORMAT, "not a relative name", {.name = "/etc/passwd", .data = "x"}},
        {FERRY_ERROR_FORMAT, "not a relative name", {.name = "a\\b", .data = "x"}},
        {FERRY_ERROR_FORMAT, "not a relative name", {.name = "", .data = "x"}},
        {FERRY_ERROR_FORMAT, "member 'first': occurs twice", {.name = "first", .data = "2"}},
        {FERRY_ERROR_FORMAT,
         "member 'good': has another name in its own header",
         {.name = "good", .local_name = "evil", .data = "x"}},
    };
    refuse_parts(rows, COUNT(rows));
}

#define WORDS "words words words words"

TEST(test_inconsistent_members)
{
    static const bad_part rows[] = {
        {FERRY_ERROR_FORMAT, "member 'b': is damaged: wrong CRC-32", {.name = "b", .data = WORDS, .crc = 1}},
        {FERRY_ERROR_FORMAT, "wrong CRC-32", {.name = "b", .data = WORDS, .crc = 1, .deflate = true}},
        {FERRY_ERROR_UNSUPPORTED, "member 'b': is encrypted", {.name = "b", .data = WORDS, .flags = 1}},
        {FERRY_ERROR_UNSUPPORTED, "member 'b': is encrypted", {.name = "b", .data = WORDS, .flags = 0x2000}},
        {FERRY_ERROR_UNSUPPORTED, "compression method 12", {.name = "b", .data = WORDS, .method = 12}},
        {FERRY_ERROR_FORMAT, "stored, but with two sizes", {.name = "b", .data = WORDS, .size = 1}},
        {FERRY_ERROR_FORMAT,
         "member 'b': inflates to more than ",
         {.name = "b", .data = WORDS, .deflate = true, .size = -1}},
        {FERRY_ERROR_FORMAT,
         "inflates to less than the directory says",
         {.name = "b", .data = WORDS, .deflate = true, .size = 1}},
        {FERRY_ERROR_FORMAT, "cut off", {.name = "b", .data = WORDS, .deflate = true, .stored_size = -1}},
        {FERRY_ERROR_FORMAT,
         "reaches into the directory or past the end of the file",
         {.name = "b", .data = WORDS, .size = 1000, .stored_size = 1000}},
        {FERRY_ERROR_FORMAT,
         "reaches into the directory or past the end of the file",
         {.name = "b", .data = WORDS, .size = 10, .stored_size = 10}},
        {FERRY_ERROR_FORMAT, "is not where the directory says", {.name = "b", .data = WORDS, .moved = 1}},
        {FERRY_ERROR_FORMAT, "is not where the directory says", {.name = "b", .data = WORDS, .moved = 100000}},
    };
    refuse_parts(rows, COUNT(rows));
}

/* Stops at the size that the directory states, whatever the data would still give. */
TEST(test_bombs)
{
    static const bad_part rows[] = {
        {FERRY_ERROR_FORMAT,
         "member 'b': inflates to more than ",
         {.name = "b", .data = "z", .repeated = 500000, .deflate = true, .size = -499999}},
    };
    refuse_parts(rows, COUNT(rows));
}

/* What was inflated is counted once for each time, even where it was of no use. */
TEST(test_account)
{
    const part good = {.name = "good", .data = "z", .repeated = 500000, .deflate = true};
    const part bad = {.name = "bad", .data = "z", .repeated = 500000, .deflate = true, .crc = 1};
    const archive a = make((part[]){good, bad}, 2);
    ferry_memory memory = {.limit = 1 << 21};
    ferry_account account = {.memory = &memory};
    ferry_zip *zip;
    ferry_view bytes;
    CHECK(ferry_zip_open(whole(&a.file), "trick.zip", &account, &zip, &error));
    const size_t list = atomic_load(&memory.held);
    assert_true(list > 0);
    for (size_t i = 0; i < 2; i++) CHECK(ferry_zip_member(zip, 1, &bytes, &error));
    assert_int_equal(atomic_load(&memory.held), list + 500000);
    for (size_t i = 0; i < 2; i++) REFUSE(ferry_zip_member(zip, 0, &bytes, &error), FERRY_ERROR_FORMAT, "CRC-32");
    assert_int_equal(atomic_load(&memory.held), list + 1500000);
    memory.limit = list + 1700000;
    REFUSE(ferry_zip_member(zip, 0, &bytes, &error), FERRY_ERROR_MEMORY, "member 'bad'");
    assert_true(account.needed > memory.limit);
    ferry_zip_close(zip);
    memory.limit = 100;
    REFUSE(ferry_zip_open(whole(&a.file), "trick.zip", &account, &zip, &error), FERRY_ERROR_MEMORY, "");
}

TEST(test_overlaps)
{
    /* Two entries of the directory for one local header under one name, then a member inside another's data. */
    const part one = {.name = "a", .data = "0123456789"}, inner = {.name = "b", .data = "inner"};
    archive in = {.end = 0}, a = {.end = 0};
    put_member(&in, &inner);
    written outer = put_member(&a, &one);
    outer.size = outer.stored_size = 10 + in.file.size;
    const written nested = {(uint32_t)crc32(0, (const Bytef *)"inner", 5), 5, 5, a.file.size};
    put_bytes(&a.file, in.file.data, in.file.size);
    a.directory = a.file.size;
    put_entry(&a, &one, &outer);
    put_entry(&a, &inner, &nested);
    put_end(&a, 2, "");
    refuse_archive(&a, FERRY_ERROR_FORMAT, "member 'b': overlaps another");
}

TEST(test_truncated)
{
    const part one = {.name = "a", .data = "some text", .deflate = true};
    const archive a = make(&one, 1);
    for (size_t size = 0; size < a.file.size; size++)
        refuse_view(cut_to(&a.file, size), FERRY_ERROR_FORMAT, "no end record");
}

TEST(test_around_the_archive)
{
    const part one = {.name = "a", .data = "text"};
    archive a = begin_archive(&one, 1);
    put_end(&a, 1, "a comment");
    ferry_zip *zip = open_archive(&a);
    check_member(zip, "a", "text");
    ferry_zip_close(zip);
    a.file.data[a.file.size - 1 - strlen("a comment")] = 1; /* the comment's length */
    refuse_archive(&a, FERRY_ERROR_FORMAT, "no end record");

    a = make(&one, 1);
    made_file moved = {.size = 0};
    put_bytes(&moved, a.file.data, 7);
    put_bytes(&moved, a.file.data, a.file.size);
    refuse_view(whole(&moved), FERRY_ERROR_FORMAT, "expected a directory that ends at byte");

    a = begin_archive(&one, 1);
    put(&a.file, 0, 5);
    put_end(&a, 1, "");
    refuse_archive(&a, FERRY_ERROR_FORMAT, "its directory is longer than its members");

    a = begin_archive(&one, 1);
    put_end(&a, 2, "");
    refuse_archive(&a, FERRY_ERROR_FORMAT, "2 members in a directory of 47 bytes");

    a = make(&one, 1);
    a.file.data[a.end + 4] = 1; /* this disk */
    refuse_archive(&a, FERRY_ERROR_UNSUPPORTED, "several parts");

    a = make(&one, 1);
    a.file.data[a.directory] = 0;
    refuse_archive(&a, FERRY_ERROR_FORMAT, "its directory is cut off or holds something else");
}

/* ---- ZIP64 ---- */

static archive make_zip64(const part *p, uint64_t count, uint64_t directory_size, uint64_t record_moved)
{
    archive a = begin_archive(p, 1);
    const size_t record = a.file.size;
    put(&a.file, 0x06064b50, 4);
    put(&a.file, 44, 8);
    put(&a.file, 45, 4);
    put(&a.file, 0, 4 + 4);
    put(&a.file, count, 8);
    put(&a.file, count, 8);
    put(&a.file, directory_size != 0 ? directory_size : record - a.directory, 8);
    put(&a.file, a.directory, 8);
    put(&a.file, 0x07064b50, 4);
    put(&a.file, 0, 4);
    put(&a.file, record + record_moved, 8);
    put(&a.file, 1, 4);
    a.end = a.file.size;
    put(&a.file, 0x06054b50, 4);
    put(&a.file, 0, 4);
    put(&a.file, UINT64_MAX, 2 + 2 + 4);
    put(&a.file, UINT64_MAX, 4);
    put(&a.file, 0, 2);
    return a;
}

TEST(test_zip64)
{
    static const struct {
        part part; /* of the name "a" */
        uint64_t count, directory_size, record_moved;
        const char *what;
    } rows[] = {
        {{0}, UINT64_MAX, 0, 0, "18446744073709551615 members"},
        {{0}, 1, UINT64_MAX, 0, "found 18446744073709551615 bytes of it"},
        {{0}, 1, 0, UINT64_MAX / 2, "its ZIP64 record is not where the locator says"},
        {{.moved = INT64_MIN}, 1, 0, 0, "is not where the directory says"},
        {{.size = -100, .stored_size = -100}, 1, 0, 0, "reaches into the directory or past the end of the file"},
        {{.no_extra = true}, 1, 0, 0, "lacks the sizes of its ZIP64 field"},
    };
    const part honest = {.name = "a", .data = "large in theory", .zip64 = true};
    archive a = make_zip64(&honest, 1, 0, 0);
    ferry_zip *zip = open_archive(&a);
    check_member(zip, "a", "large in theory");
    ferry_zip_close(zip);
    a.file.data[a.end - 20] = 0; /* the locator */
    refuse_archive(&a, FERRY_ERROR_FORMAT, "its ZIP64 record is missing");
    for (size_t i = 0; i < COUNT(rows); i++) {
        part p = rows[i].part;
        p.name = honest.name;
        p.data = honest.data;
        p.zip64 = true;
        a = make_zip64(&p, rows[i].count, rows[i].directory_size, rows[i].record_moved);
        refuse_archive(&a, FERRY_ERROR_FORMAT, rows[i].what);
    }
}
