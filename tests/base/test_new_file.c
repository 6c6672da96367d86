/* Files that appear complete or not at all: what a name means, what is refused, what is kept. */
#define _GNU_SOURCE /* seteuid, PATH_MAX */
#include "tests/support/files.h"

#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/files/new_file.h"

enum { NOBODY = 65534, MOST_LINKS = 40 };

static void check_text(const char *path, const char *text)
{
    assert_true(has_text(mapped_bytes(path), text));
    assert_int_equal(unfinished_files(path), 0);
}

/* Writes `text` to `path`, which is in `file` then. */
static void write_to(const char *path, const char *file, const char *text)
{
    CHECK(write_new_file(path, text, &error));
    check_text(file, text);
}

static void finish(ferry_new_file *file)
{
    CHECK(ferry_new_file_finish(file, &error));
    ferry_new_file_close(file);
}

static struct stat status_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status;
}

static mode_t permissions(const char *path)
{
    return status_of(path).st_mode & 07777;
}

/* Nothing is created, so this is harmless even where it is wrong. */
static void refuse_name(const char *path, const char *what)
{
    ferry_new_file file;
    REFUSE(ferry_new_file_open(path, &file, &error), FERRY_ERROR_IO, what);
    ferry_new_file_close(&file);
}

/* ---- links ---- */

TEST(test_links_stay)
{
    char *folder = scratch_directory("links"), *other = in_directory(folder, "other");
    assert_int_equal(mkdir(other, 0700), 0);
    char *target = in_directory(other, "target"), *made = in_directory(other, "made");
    const struct {
        const char *name, *link, *file;
    } rows[] = {{"absolute", target, target},  {"relative", "other/target", target},
                {"twice", "relative", target}, {"other/up", "../other/./target", target},
                {"dangling", made, made},      {"dangling-relative", "other/made", made}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *path = in_directory(folder, rows[i].name);
        unlink(made);
        write_bytes(target, "old", 3);
        link_file(rows[i].link, folder, rows[i].name);
        write_to(path, rows[i].file, rows[i].name);
        assert_true(S_ISLNK(status_of(path).st_mode));
        assert_true(S_ISREG(status_of(rows[i].file).st_mode));
        assert_int_equal(unfinished_files(path), 0);
    }
}

TEST(test_too_many_links)
{
    char *folder = scratch_directory("chain");
    link_file("loop", folder, "loop");
    refuse_name(in_directory(folder, "loop"), "chain/loop: cannot create: Too many levels of symbolic links");
    for (int i = 1; i <= MOST_LINKS + 1; i++)
        link_file(ferry_name_format("%d", i - 1).text, folder, ferry_name_format("%d", i).text);
    write_to(in_directory(folder, ferry_name_format("%d", MOST_LINKS).text), in_directory(folder, "0"), "end");
    refuse_name(in_directory(folder, ferry_name_format("%d", MOST_LINKS + 1).text),
                "cannot create: Too many levels of symbolic links");
}

/* Where everybody may create files, a link of another user may have been planted. */
TEST(test_links_of_others)
{
    if (geteuid() != 0) {
        print_message("not run: links of another user, which only root can make\n");
        skip();
    }
    char *folder = scratch_directory("shared"), *victim = scratch_file("victim");
    char *link = in_directory(folder, "link");
    write_text(folder, "../victim", "precious");
    link_file("../victim", folder, "link");
    assert_int_equal(lchown(link, NOBODY, NOBODY), 0);
    assert_int_equal(chmod(folder, 01777), 0);
    refuse_name(link, "shared/link: cannot create: Permission denied");
    assert_int_equal(chmod(folder, 0777), 0); /* here they could replace the file itself as well */
    write_to(link, victim, "new");
    assert_int_equal(chmod(folder, 01777), 0);
    assert_int_equal(chown(folder, NOBODY, NOBODY), 0); /* who owns the folder may do that anyway */
    write_to(link, victim, "newer");
}

/* ---- what is refused ---- */

TEST(test_special_files)
{
    char *folder = scratch_directory("special");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int socket_file = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
    assert_int_equal(bind(socket_file, (const struct sockaddr *)&address, sizeof address), 0);
    close(socket_file);
    assert_int_equal(mkfifo(in_directory(folder, "pipe"), 0600), 0);
    link_file("pipe", folder, "link");
    refuse_name(in_directory(folder, "socket"), "special/socket: expected a regular file, found a socket");
    refuse_name(in_directory(folder, "pipe"), "special/pipe: expected a regular file, found a pipe");
    refuse_name(in_directory(folder, "link"), "special/link: expected a regular file, found a pipe");
    refuse_name(folder, "special: expected a regular file, found a directory");
    refuse_name(in_directory(folder, ""), "special/: expected a regular file, found a directory");
    refuse_name(in_directory(folder, ".."), "special/..: expected a regular file, found a directory");
    refuse_name("/dev/null", "/dev/null: expected a regular file, found a device");
}

TEST(test_no_such_place)
{
    char *folder = scratch_directory("place"), long_name[257] = "", long_path[PATH_MAX + 1];
    write_text(folder, "file", "");
    refuse_name("", ": cannot create: No such file or directory");
    refuse_name(in_directory(folder, "none/file"), "place/none/file: cannot create: No such file or directory");
    refuse_name(in_directory(folder, "none/"), "place/none/: cannot create: No such file or directory");
    refuse_name(in_directory(folder, "file/"), "place/file/: cannot create: Not a directory");
    refuse_name(in_directory(folder, "file/name"), "place/file/name: cannot create: Not a directory");
    memset(long_name, 'n', 255);
    write_to(in_directory(folder, long_name), in_directory(folder, long_name), "long");
    memset(long_name, 'n', 256);
    refuse_name(in_directory(folder, long_name), "nnn: cannot create: File name too long");
    for (size_t i = 0; i < PATH_MAX; i++) long_path[i] = i % 2 == 0 ? '.' : '/';
    long_path[PATH_MAX] = '\0';
    refuse_name(long_path, "./././");
}

/* As a user who may not write the file or its folder. */
TEST(test_read_only)
{
    char *folder = scratch_directory("read-only"), *path = in_directory(folder, "file");
    const uid_t user = geteuid();
    write_text(folder, "file", "old");
    assert_int_equal(chmod(scratch_file("."), 0711), 0);
    if (user == 0) {
        assert_int_equal(chown(folder, NOBODY, NOBODY) | chown(path, NOBODY, NOBODY), 0);
        assert_int_equal(seteuid(NOBODY), 0);
    }
    const bool reached = chmod(path, 0400) == 0;
    if (reached) {
        refuse_name(path, "read-only/file: cannot replace: Permission denied");
        chmod(path, 0600);
        chmod(folder, 0500);
        refuse_name(path, "read-only/file: cannot create a file beside it: Permission denied");
        refuse_name(in_directory(folder, "new"), "read-only/new: cannot create a file beside it: Permission denied");
        chmod(folder, 0700);
        CHECK(write_new_file(path, "new", &error));
    }
    assert_int_equal(seteuid(user), 0);
    if (!reached) {
        print_message("not run: read-only files, because not everybody may enter the temporary folder\n");
        skip();
    }
    check_text(path, "new");
}

/* ---- what is kept ---- */

TEST(test_permissions)
{
    char *folder = scratch_directory("permissions"), *path = in_directory(folder, "file");
    const mode_t before = umask(027);
    write_to(path, path, "new");
    assert_int_equal(permissions(path), 0640);
    assert_int_equal(chmod(path, 04606), 0);
    write_to(path, path, "newer");
    assert_int_equal(permissions(path), 0606); /* whatever the umask, but not the bits that change the user */
    umask(022);
    if (geteuid() == 0) { /* who alone may replace the file of another user in a folder like the temporary one */
        assert_int_equal(chown(path, NOBODY, NOBODY), 0);
        write_to(path, path, "newest");
        assert_int_equal(permissions(path), 0604);
        assert_int_equal(status_of(path).st_uid, 0);
    }
    umask(before);
}

TEST(test_other_names_keep_the_old_file)
{
    char *folder = scratch_directory("names"), *path = in_directory(folder, "file");
    write_text(folder, "file", "old");
    assert_int_equal(link(path, in_directory(folder, "other")), 0);
    write_to(path, path, "new");
    check_text(in_directory(folder, "other"), "old");
}

/* ---- writing ---- */

TEST(test_two_writers)
{
    char *path = in_directory(scratch_directory("two"), "file");
    ferry_new_file a, b;
    CHECK(ferry_new_file_open(path, &a, &error));
    CHECK(ferry_new_file_open(path, &b, &error));
    assert_int_equal(unfinished_files(path), 0);
    for (int i = 0; i < 3; i++) {
        CHECK(ferry_new_file_write(&a, "a", 1, &error));
        CHECK(ferry_new_file_write(&b, "bb", 2, &error));
        assert_int_equal(unfinished_files(path), 2);
    }
    CHECK(ferry_new_file_write_at(&a, 1, "A", 1, &error));
    CHECK(ferry_new_file_write(&a, ".", 1, &error));
    CHECK(ferry_new_file_finish(&b, &error));
    assert_true(has_text(mapped_bytes(path), "bbbbbb"));
    finish(&a);
    ferry_new_file_close(&b);
    check_text(path, "aAa.");
}

TEST(test_empty_and_unfinished)
{
    char *path = in_directory(scratch_directory("empty"), "file");
    ferry_new_file file;
    CHECK(ferry_new_file_open(path, &file, &error));
    CHECK(ferry_new_file_write(&file, "lost", 4, &error));
    assert_int_equal(unfinished_files(path), 1);
    ferry_new_file_close(&file);
    check_no_file(path);
    CHECK(ferry_new_file_open(path, &file, &error));
    finish(&file);
    check_text(path, "");
}

/* The place is found once: neither the working directory nor a link matters afterwards. */
TEST(test_place_stays)
{
    char before[PATH_MAX], *folder = scratch_directory("stays");
    ferry_new_file file;
    link_file("target", folder, "link");
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    CHECK(ferry_new_file_open("link", &file, &error));
    assert_int_equal(chdir(before), 0);
    assert_int_equal(unlink(in_directory(folder, "link")), 0);
    CHECK(ferry_new_file_write(&file, "here", 4, &error));
    finish(&file);
    check_text(in_directory(folder, "target"), "here");
}
