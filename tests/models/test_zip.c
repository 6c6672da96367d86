/* Zip archives built byte by byte: what is read, and that every inconsistent or hostile archive is refused by name. */
#include "tests/support/refusals.h"

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
    put(f, p->zip64 ? 4 + 4 + 24 : 0, 2);
    put(f, 0, 2 + 2 + 2 + 4);
    put(f, p->zip64 ? UINT32_MAX : offset, 4);
    put_text(f, p->name);
    if (!p->zip64) return;
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

/* Opened and read. */
static ferry_status read_archive(ferry_view bytes, ferry_error *error)
{
    ferry_zip *zip;
    FERRY_TRY(ferry_zip_open(bytes, "in", NULL, &zip, error));
    const ferry_status status = read_all(zip, error);
    ferry_zip_close(zip);
    return status;
}

/* An archive of a sound member and this one. */
static ferry_view with(part last)
{
    const part parts[] = {{.name = "first", .data = "1"}, last};
    const archive a = make(parts, 2);
    return whole(&a.file);
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
        {.name = "last folder/", .data = ""},
    };
    archive a = make(parts, 7);
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
    a = make(NULL, 0);
    assert_true(ferry_is_zip(whole(&a.file)));
    zip = open_archive(&a);
    assert_int_equal(ferry_zip_count(zip), 0);
    assert_int_equal(ferry_zip_find(zip, "absent"), -1);
    ferry_zip_close(zip);
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

#define UNSOUND "in: not a sound zip archive: "
#define NO_NAME(name) "in: member '" name "': not a relative name without '..' and '\\'"

TEST(test_names)
{
    const refused rows[] = {
        {with((part){.name = "../up", .data = "x"}), FERRY_ERROR_FORMAT, NO_NAME("../up")},
        {with((part){.name = "a/../../up", .data = "x"}), FERRY_ERROR_FORMAT, NO_NAME("a/../../up")},
        {with((part){.name = "a/..", .data = "x"}), FERRY_ERROR_FORMAT, NO_NAME("a/..")},
        {with((part){.name = "..", .data = "x"}), FERRY_ERROR_FORMAT, NO_NAME("..")},
        {with((part){.name = "/etc/passwd", .data = "x"}), FERRY_ERROR_FORMAT, NO_NAME("/etc/passwd")},
        {with((part){.name = "a\\b", .data = "x"}), FERRY_ERROR_FORMAT, NO_NAME("a\\b")},
        {with((part){.name = "", .data = "x"}), FERRY_ERROR_FORMAT, NO_NAME("")},
        {with((part){.name = "first", .data = "2"}), FERRY_ERROR_FORMAT, "in: member 'first': occurs twice"},
        {with((part){.name = "good", .local_name = "evil", .data = "x"}), FERRY_ERROR_FORMAT,
         "in: member 'good': has another name in its own header"},
    };
    check_refused(read_archive, rows, COUNT(rows));
}

#define WORDS .name = "b", .data = "words words words words"

TEST(test_inconsistent_members)
{
    static const char crc[] = "in: member 'b': is damaged: wrong CRC-32", encrypted[] = "in: member 'b': is encrypted";
    static const char beyond[] = "in: member 'b': reaches into the directory or past the end of the file";
    static const char nowhere[] = "in: member 'b': is not where the directory says";
    const refused rows[] = {
        {with((part){WORDS, .crc = 1}), FERRY_ERROR_FORMAT, crc},
        {with((part){WORDS, .crc = 1, .deflate = true}), FERRY_ERROR_FORMAT, crc},
        {with((part){WORDS, .flags = 1}), FERRY_ERROR_UNSUPPORTED, encrypted},
        {with((part){WORDS, .flags = 0x40}), FERRY_ERROR_UNSUPPORTED, encrypted},
        {with((part){WORDS, .flags = 0x2000}), FERRY_ERROR_UNSUPPORTED, encrypted},
        {with((part){WORDS, .method = 12}), FERRY_ERROR_UNSUPPORTED,
         "in: member 'b': compression method 12 is not supported"},
        {with((part){WORDS, .size = 1}), FERRY_ERROR_FORMAT, "in: member 'b': is stored, but with two sizes"},
        {with((part){WORDS, .deflate = true, .size = -1}), FERRY_ERROR_FORMAT,
         "in: member 'b': inflates to more than 22 bytes"},
        {with((part){WORDS, .deflate = true, .size = 1}), FERRY_ERROR_FORMAT,
         "in: member 'b': inflates to less than the directory says"},
        {with((part){WORDS, .deflate = true, .stored_size = -1}), FERRY_ERROR_FORMAT,
         "in: member 'b': cannot be inflated: damaged or cut off"},
        {with((part){WORDS, .size = 1, .stored_size = 1}), FERRY_ERROR_FORMAT, beyond},
        {with((part){WORDS, .size = 1000, .stored_size = 1000}), FERRY_ERROR_FORMAT, beyond},
        {with((part){WORDS, .moved = 1}), FERRY_ERROR_FORMAT, nowhere},
        {with((part){WORDS, .moved = 100000}), FERRY_ERROR_FORMAT, nowhere},
        /* Stops at the size that the directory states, whatever the data would still give. */
        {with((part){.name = "b", .data = "z", .repeated = 500000, .deflate = true, .size = -499999}),
         FERRY_ERROR_FORMAT, "in: member 'b': inflates to more than 1 bytes"},
    };
    check_refused(read_archive, rows, COUNT(rows));
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
    const refused row = {whole(&a.file), FERRY_ERROR_FORMAT, "in: member 'b': overlaps another"};
    check_refused(read_archive, &row, 1);
}

TEST(test_truncated)
{
    const part one = {.name = "a", .data = "some text", .deflate = true};
    const archive a = make(&one, 1);
    check_refused_cuts(read_archive, &a.file, 0, FERRY_ERROR_FORMAT);
}

/* An archive of one member "a" with this between it and its end, which has this comment. */
static archive with_comment(size_t between, const char *comment)
{
    const part one = {.name = "a", .data = "text"};
    archive a = begin_archive(&one, 1);
    put(&a.file, 0, between);
    put_end(&a, 1, comment);
    return a;
}

TEST(test_around_the_archive)
{
    char *longest = kept_memory(65536);
    memset(longest, '.', 65535);
    const archive plain = with_comment(0, ""), commented = with_comment(0, "a comment"), gap = with_comment(5, "");
    const char *const comments[] = {"", "a comment", longest};
    for (size_t i = 0; i < COUNT(comments); i++) {
        const archive a = with_comment(0, comments[i]);
        ferry_zip *zip = open_archive(&a);
        check_member(zip, "a", "text");
        ferry_zip_close(zip);
    }
    archive two = begin_archive(&(part){.name = "a", .data = "text"}, 1);
    put_end(&two, 2, "");
    made_file moved = {.size = 0};
    put_bytes(&moved, plain.file.data, 7);
    put_bytes(&moved, plain.file.data, plain.file.size);
    const refused rows[] = {
        {edited(&commented.file, commented.file.size - 10, 1), FERRY_ERROR_FORMAT, UNSOUND "no end record (cut off?)"},
        {whole(&moved), FERRY_ERROR_FORMAT,
         UNSOUND "expected a directory that ends at byte 93, found 47 bytes of it at 39"},
        {whole(&gap.file), FERRY_ERROR_FORMAT, UNSOUND "its directory is longer than its members"},
        {whole(&two.file), FERRY_ERROR_FORMAT, UNSOUND "2 members in a directory of 47 bytes (at most 65536)"},
        {edited(&plain.file, plain.end + 4, 1), FERRY_ERROR_UNSUPPORTED,
         "in: zip archives of several parts are not supported"},
        {edited(&plain.file, plain.end + 8, 2), FERRY_ERROR_UNSUPPORTED,
         "in: zip archives of several parts are not supported"},
        {edited(&plain.file, plain.directory, 0), FERRY_ERROR_FORMAT,
         UNSOUND "its directory is cut off or holds something else"},
    };
    check_refused(read_archive, rows, COUNT(rows));
}

/* ---- ZIP64 ---- */

static archive put_end64(archive a, uint64_t count)
{
    const size_t record = a.file.size;
    put(&a.file, 0x06064b50, 4);
    put(&a.file, 44, 8);
    put(&a.file, 45, 4);
    put(&a.file, 0, 4 + 4);
    put(&a.file, count, 8);
    put(&a.file, count, 8);
    put(&a.file, record - a.directory, 8);
    put(&a.file, a.directory, 8);
    put(&a.file, 0x07064b50, 4);
    put(&a.file, 0, 4);
    put(&a.file, record, 8);
    put(&a.file, 1, 4);
    a.end = a.file.size;
    put(&a.file, 0x06054b50, 4);
    put(&a.file, 0, 4);
    put(&a.file, UINT64_MAX, 2 + 2 + 4);
    put(&a.file, UINT64_MAX, 4);
    put(&a.file, 0, 2);
    return a;
}

/* A directory of so many entries, all zeros. */
static ferry_view many_members(size_t count)
{
    archive a = {.end = 0};
    put_bytes(&a.file, kept_memory(46 * count), 46 * count);
    a = put_end64(a, count);
    return whole(&a.file);
}

/* test_large_files changes its numbers, one at a time. */
TEST(test_zip64)
{
    const part large = {.name = "a", .data = "large in theory", .zip64 = true};
    const archive a = put_end64(begin_archive(&large, 1), 1), most = put_end64(begin_archive(&large, 1), UINT64_MAX);
    ferry_zip *zip = open_archive(&a);
    check_member(zip, "a", "large in theory");
    ferry_zip_close(zip);
    const refused rows[] = {
        {edited(&a.file, a.end - 20, 0), FERRY_ERROR_FORMAT, UNSOUND "its ZIP64 record is missing"},
        {whole(&most.file), FERRY_ERROR_FORMAT,
         UNSOUND "18446744073709551615 members in a directory of 79 bytes (at most 65536)"},
        {many_members(65536), FERRY_ERROR_FORMAT, UNSOUND "its directory is cut off or holds something else"},
        {many_members(65537), FERRY_ERROR_FORMAT,
         UNSOUND "65537 members in a directory of 3014702 bytes (at most 65536)"},
    };
    check_refused(read_archive, rows, COUNT(rows));
}
