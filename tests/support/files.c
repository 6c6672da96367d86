#define _XOPEN_SOURCE 700 /* mkdir, symlink */
#include "files.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"

void *kept_memory(size_t size)
{
    static struct kept {
        struct kept *next;
        max_align_t data[];
    } * all; /* reachable, so no leak */
    struct kept *block = malloc(sizeof *block + size);
    assert_non_null(block);
    block->next = all;
    all = block;
    return block->data;
}

/* ---- paths ---- */

static char *kept_path(char *path)
{
    char *copy = kept_memory(strlen(path) + 1);
    strcpy(copy, path);
    free(path);
    return copy;
}

char *in_directory(const char *directory, const char *name)
{
    char *path = kept_memory(strlen(directory) + strlen(name) + 2);
    sprintf(path, "%s/%s", directory, name);
    return path;
}

char *data_file(const char *name, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, name);
    assert_true(vsnprintf(text, sizeof text, name, arguments) < (int)sizeof text);
    va_end(arguments);
    return kept_path(data_path(text));
}

char *shared_file(const char *name, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, name);
    assert_true(vsnprintf(text, sizeof text, name, arguments) < (int)sizeof text);
    va_end(arguments);
    char *path = shared_path(text);
    if (path == NULL) not_run(text);
    return kept_path(path);
}

char *scratch_file(const char *name)
{
    return kept_path(scratch_path(name));
}

char *scratch_directory(const char *name)
{
    char *path = scratch_file(name);
    assert_int_equal(mkdir(path, 0700), 0);
    return path;
}

/* ---- reading, writing ---- */

ferry_view mapped_bytes(const char *path)
{
    ferry_error error;
    ferry_mapped_file map; /* stays mapped */
    CHECK(ferry_mapped_file_open(path, &map, &error));
    return map.bytes;
}

void write_bytes(const char *path, const void *data, size_t size)
{
    unlink(path); /* not through a link */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void write_text(const char *directory, const char *name, const char *text)
{
    write_bytes(in_directory(directory, name), text, strlen(text));
}

void link_file(const char *target, const char *directory, const char *name)
{
    assert_int_equal(symlink(target, in_directory(directory, name)), 0);
}

ferry_view text_view(const char *text)
{
    return (ferry_view){text, strlen(text)};
}

bool has_text(ferry_view view, const char *text)
{
    return ferry_view_equal(view, text_view(text));
}

/* ---- small files made byte by byte ---- */

void put_bytes(made_file *file, const void *data, size_t size)
{
    if (file->size + size > file->capacity) {
        const size_t capacity = 2 * (file->size + size) + 64;
        unsigned char *larger = kept_memory(capacity);
        if (file->size > 0) memcpy(larger, file->data, file->size);
        file->data = larger;
        file->capacity = capacity;
    }
    if (size > 0) memcpy(file->data + file->size, data, size);
    file->size += size;
}

void put(made_file *file, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        put_bytes(file, &(unsigned char){(unsigned char)(i < 8 ? value >> (8 * i) : 0)}, 1);
    }
}

void put_text(made_file *file, const char *text)
{
    put_bytes(file, text, strlen(text));
}

ferry_view cut_to(const made_file *file, size_t size)
{
    unsigned char *copy = kept_memory(size);
    if (size > 0) memcpy(copy, file->data, size);
    return (ferry_view){(const char *)copy, size};
}

ferry_view whole(const made_file *file)
{
    return cut_to(file, file->size);
}

made_file with_byte(const made_file *file, size_t at, unsigned char byte)
{
    made_file copy = {.size = 0};
    assert_true(at < file->size);
    put_bytes(&copy, file->data, file->size);
    copy.data[at] = byte;
    return copy;
}

/* ---- refusals ---- */

void check_refusal(ferry_status found, const ferry_error *error, ferry_status status, const char *what)
{
    if (found != status || strstr(error->message, what) == NULL) {
        fail_msg("expected %d '%s', found %d '%s'", status, what, found, error->message);
    }
}

void refuse_weights(weights_reader *read, ferry_view bytes, ferry_status status, const char *what)
{
    ferry_error error = {0};
    ferry_weights weights;
    check_refusal(read(bytes, "damaged.bin", &weights, &error), &error, status, what);
    if (strstr(error.message, "damaged.bin: ") == NULL) fail_msg("no file in '%s'", error.message);
    assert_int_equal(weights.count, 0);
    assert_null(weights.entries);
}

void refuse_damage(weights_reader *read, const made_file *file, const damage *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const made_file copy = with_byte(file, rows[i].at, rows[i].byte);
        refuse_weights(read, whole(&copy), rows[i].status, rows[i].what);
    }
}

ferry_weights_entry *find_weights(const ferry_weights *weights, const char *name)
{
    ferry_weights_entry *entry = ferry_weights_find(weights, name);
    if (entry == NULL) fail_msg("'%s' is missing", name);
    return entry;
}
