/* Zip archives built byte by byte: what is read, and that every inconsistent or hostile archive is refused by name. */
#include "tests/support/make_zip.h"
#include "tests/support/refusals.h"

#include "models/containers/zip.h"

/* Opened and read, each member twice; what they hold is appended to `found`, unless that is NULL: "name: data|". */
static ferry_status read_members(ferry_view bytes, made_file *found, ferry_error *error)
{
    ferry_zip *zip;
    FERRY_TRY(ferry_zip_open(bytes, "in", NULL, &zip, error));
    ferry_status status = FERRY_OK;
    for (size_t i = 0; i < 2 * ferry_zip_count(zip) && status == FERRY_OK; i++) {
        ferry_view data;
        const char *name = ferry_zip_name(zip, i / 2);
        assert_int_equal(ferry_zip_find(zip, name), i / 2);
        status = ferry_zip_member(zip, i / 2, &data, error);
        if (found == NULL || status != FERRY_OK) continue;
        put_text(found, i % 2 == 0 ? name : ": ");
        if (i % 2 != 0) put_bytes(found, data.data, data.size);
        if (i % 2 != 0) put_text(found, "|");
    }
    assert_int_equal(ferry_zip_find(zip, "absent"), -1);
    assert_int_equal(ferry_zip_find(zip, "folder/"), -1);
    ferry_zip_close(zip);
    return status;
}

static ferry_status read_archive(ferry_view bytes, ferry_error *error)
{
    return read_members(bytes, NULL, error);
}

static void check_members(const made_zip *a, const char *expected)
{
    made_file found = {.size = 0};
    assert_true(ferry_is_zip(whole(&a->file)));
    CHECK(read_members(whole(&a->file), &found, &error));
    put(&found, 0, 1);
    assert_string_equal((const char *)found.data, expected);
}

/* An archive of a sound member and this one. */
static ferry_view with(zip_member last)
{
    const zip_member parts[] = {{.name = "first", .data = "1"}, last};
    const made_zip a = whole_zip(parts, 2);
    return whole(&a.file);
}

TEST(test_members)
{
    const zip_member parts[] = {
        {.name = "special:model.yml.npy", .data = "a colon is normal"},
        {.name = "folder/", .data = ""},
        {.name = "folder/squeezed", .data = "squeezed squeezed squeezed squeezed squeezed", .deflate = true},
        {.name = "empty", .data = ""},
        {.name = "a..b", .data = "two dots inside a name", .zip64 = true},
        {.name = "nothing squeezed", .data = "", .deflate = true},
        {.name = "last folder/", .data = ""},
    };
    const made_zip a = whole_zip(parts, 7), none = whole_zip(NULL, 0);
    check_members(&a, "a..b: two dots inside a name|empty: |"
                      "folder/squeezed: squeezed squeezed squeezed squeezed squeezed|nothing squeezed: |"
                      "special:model.yml.npy: a colon is normal|");
    check_members(&none, "");
    assert_false(ferry_is_zip((ferry_view){"PK", 2}));
    ferry_zip_close(NULL);
}

#define UNSOUND "not a sound zip archive: "
#define NO_NAME(name) "member '" name "': not a relative name without '..' and '\\'"

TEST(test_names)
{
    const refused rows[] = {
        MALFORMED(with((zip_member){.name = "../up", .data = "x"}), NO_NAME("../up")),
        MALFORMED(with((zip_member){.name = "a/../../up", .data = "x"}), NO_NAME("a/../../up")),
        MALFORMED(with((zip_member){.name = "a/..", .data = "x"}), NO_NAME("a/..")),
        MALFORMED(with((zip_member){.name = "..", .data = "x"}), NO_NAME("..")),
        MALFORMED(with((zip_member){.name = "/etc/passwd", .data = "x"}), NO_NAME("/etc/passwd")),
        MALFORMED(with((zip_member){.name = "a\\b", .data = "x"}), NO_NAME("a\\b")),
        MALFORMED(with((zip_member){.name = "", .data = "x"}), NO_NAME("")),
        MALFORMED(with((zip_member){.name = "first", .data = "2"}), "member 'first': occurs twice"),
        MALFORMED(with((zip_member){.name = "good", .local_name = "evil", .data = "x"}),
                  "member 'good': has another name in its own header"),
    };
    check_refused(read_archive, rows, COUNT(rows));
}

#define WORDS .name = "b", .data = "words words words words"

TEST(test_inconsistent_members)
{
    static const char crc[] = "in: member 'b': is damaged: wrong CRC-32", encrypted[] = "in: member 'b': is encrypted";
    static const char beyond[] = "in: member 'b': reaches into the directory or past the end of the file";
    static const char nowhere[] = "in: member 'b': is not where the directory says";
    /* The second member's entry says that it is inside the first one's data, where its like is. */
    made_file data = {.size = 0};
    const made_zip inner = begin_zip(&(zip_member){.name = "b", .data = "inner"}, 1);
    put_text(&data, "0123456789");
    put_bytes(&data, inner.file.data, inner.directory);
    const zip_member members[] = {{.name = "a", .data = data.data, .bytes = data.size},
                                  {.name = "b", .data = "inner", .moved = -(int64_t)inner.directory}};
    const made_zip overlap = whole_zip(members, 2);
    const made_zip cut = whole_zip(&(zip_member){.name = "a", .data = "some text", .deflate = true}, 1);
    const refused rows[] = {
        MALFORMED(whole(&overlap.file), "member 'b': overlaps another"),
        {with((zip_member){WORDS, .crc = 1}), FERRY_ERROR_FORMAT, crc},
        {with((zip_member){WORDS, .crc = 1, .deflate = true}), FERRY_ERROR_FORMAT, crc},
        {with((zip_member){WORDS, .flags = 1}), FERRY_ERROR_UNSUPPORTED, encrypted},
        {with((zip_member){WORDS, .flags = 0x40}), FERRY_ERROR_UNSUPPORTED, encrypted},
        {with((zip_member){WORDS, .flags = 0x2000}), FERRY_ERROR_UNSUPPORTED, encrypted},
        UNSUPPORTED(with((zip_member){WORDS, .method = 12}), "member 'b': compression method 12 is not supported"),
        MALFORMED(with((zip_member){WORDS, .size = 1}), "member 'b': is stored, but with two sizes"),
        MALFORMED(with((zip_member){WORDS, .deflate = true, .size = -1}), "member 'b': inflates to more than 22 bytes"),
        MALFORMED(with((zip_member){WORDS, .deflate = true, .size = 1}),
                  "member 'b': inflates to less than the directory says"),
        MALFORMED(with((zip_member){WORDS, .deflate = true, .stored_size = -1}),
                  "member 'b': cannot be inflated: damaged or cut off"),
        {with((zip_member){WORDS, .size = 1, .stored_size = 1}), FERRY_ERROR_FORMAT, beyond},
        {with((zip_member){WORDS, .size = 1000, .stored_size = 1000}), FERRY_ERROR_FORMAT, beyond},
        {with((zip_member){WORDS, .moved = 1}), FERRY_ERROR_FORMAT, nowhere},
        {with((zip_member){WORDS, .moved = 100000}), FERRY_ERROR_FORMAT, nowhere},
        /* Stops at the size that the directory states, whatever the data would still give. */
        MALFORMED(with((zip_member){.name = "b", .data = "z", .times = 500000, .deflate = true, .size = -499999}),
                  "member 'b': inflates to more than 1 bytes"),
    };
    check_refused(read_archive, rows, COUNT(rows));
    check_refused_cuts(read_archive, &cut.file, 0, FERRY_ERROR_FORMAT);
}

/* What was inflated is counted once for each time, even where it was of no use. */
TEST(test_account)
{
    const zip_member good = {.name = "good", .data = "z", .times = 500000, .deflate = true};
    const zip_member bad = {.name = "bad", .data = "z", .times = 500000, .deflate = true, .crc = 1};
    const made_zip a = whole_zip((zip_member[]){good, bad}, 2);
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
    assert_true(account.refused > memory.limit);
    ferry_zip_close(zip);
    memory.limit = 100;
    REFUSE(ferry_zip_open(whole(&a.file), "trick.zip", &account, &zip, &error), FERRY_ERROR_MEMORY, "");
}

/* An archive of one member "a" with this between it and its end, which has this comment. */
static made_zip with_comment(size_t between, const char *comment)
{
    const zip_member one = {.name = "a", .data = "text"};
    made_zip a = begin_zip(&one, 1);
    put(&a.file, 0, between);
    end_zip(&a, 1, comment);
    return a;
}

TEST(test_around_the_archive)
{
    char *longest = kept_memory(65536);
    memset(longest, '.', 65535);
    const made_zip plain = with_comment(0, ""), commented = with_comment(0, "a comment"), gap = with_comment(5, "");
    const char *const comments[] = {"", "a comment", longest};
    for (size_t i = 0; i < COUNT(comments); i++) {
        const made_zip a = with_comment(0, comments[i]);
        check_members(&a, "a: text|");
    }
    made_zip two = begin_zip(&(zip_member){.name = "a", .data = "text"}, 1);
    end_zip(&two, 2, "");
    made_file moved = {.size = 0};
    put_bytes(&moved, plain.file.data, 7);
    put_bytes(&moved, plain.file.data, plain.file.size);
    const refused rows[] = {
        MALFORMED(edited(&commented.file, commented.file.size - 10, 1), UNSOUND "no end record (cut off?)"),
        MALFORMED(whole(&moved), UNSOUND "expected a directory that ends at byte 93, found 47 bytes of it at 39"),
        MALFORMED(whole(&gap.file), UNSOUND "its directory is longer than its members"),
        MALFORMED(whole(&two.file), UNSOUND "2 members in a directory of 47 bytes (at most 65536)"),
        UNSUPPORTED(edited(&plain.file, plain.end + 4, 1), "zip archives of several parts are not supported"),
        UNSUPPORTED(edited(&plain.file, plain.end + 8, 2), "zip archives of several parts are not supported"),
        MALFORMED(edited(&plain.file, plain.directory, 0), UNSOUND "its directory is cut off or holds something else"),
    };
    check_refused(read_archive, rows, COUNT(rows));
}

/* ---- ZIP64 ---- */

/* A directory of so many entries, all zeros. */
static ferry_view many_members(size_t count)
{
    made_zip a = {.end = 0};
    put_bytes(&a.file, kept_memory(46 * count), 46 * count);
    end_zip64(&a, count);
    return whole(&a.file);
}

/* test_large_files changes its numbers, one at a time. */
TEST(test_zip64)
{
    const zip_member large = {.name = "a", .data = "large in theory", .zip64 = true};
    made_zip a = begin_zip(&large, 1), most = begin_zip(&large, 1);
    end_zip64(&a, 1);
    end_zip64(&most, UINT64_MAX);
    const ferry_view no_locator = edited(&a.file, a.end - 20, 0);
    static const unsigned char small[] = {1, 0, 1, 0, 79, 0, 0, 0, 50, 0, 0, 0}; /* of the directory */
    for (size_t i = 0; i < 4; i++) { /* any of its numbers says that there is a record, which may be of no need, too */
        memcpy(a.file.data + a.end + 8, small, 4 * i);
        check_members(&a, "a: large in theory|");
    }
    const refused rows[] = {
        MALFORMED(no_locator, UNSOUND "its ZIP64 record is missing"),
        MALFORMED(whole(&most.file), UNSOUND "18446744073709551615 members in a directory of 79 bytes (at most 65536)"),
        MALFORMED(many_members(65536), UNSOUND "its directory is cut off or holds something else"),
        MALFORMED(many_members(65537), UNSOUND "65537 members in a directory of 3014702 bytes (at most 65536)"),
    };
    check_refused(read_archive, rows, COUNT(rows));
}
