#define _XOPEN_SOURCE 700 /* symlink */
#include "files.h"

#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "base/system.h"
#include "tools/system/terminal.h"

/* ---- reading, writing ---- */

ferry_view mapped_bytes(const char *path)
{
    ferry_mapped_file *map = kept_memory(sizeof *map); /* stays mapped */
#if defined(_WIN32)
    const ferry_file_hold hold = FERRY_FILE_COPIED; /* tests replace files, which cannot be done to mapped ones */
#else
    const ferry_file_hold hold = FERRY_FILE_MAPPED;
#endif
    CHECK(ferry_mapped_file_open(path, hold, map, &error));
    return map->bytes;
}

ferry_status open_model_file(const char *path, ferry_model_file *file, ferry_error *error)
{
    ferry_mapped_file map;
    FERRY_TRY(ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &map, error));
    FERRY_TRY(ferry_model_file_open(map, path, ferry_kernels_find(NULL), file, error));
    ferry_model_file_widen(file, ferry_kernels_find(NULL));
    return FERRY_OK;
}

made_file file_copy(const char *path)
{
    const ferry_view bytes = mapped_bytes(path);
    made_file copy = {kept_memory(bytes.size), bytes.size, bytes.size};
    memcpy(copy.data, bytes.data, bytes.size);
    return copy;
}

void write_bytes(const char *path, const void *data, size_t size)
{
    remove(path); /* not through a link */
    FILE *file = ferry_stream_open(path, "wb");
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
#if defined(_WIN32)
    const made_file copy = file_copy(target); /* links need a privilege */
    write_bytes(in_directory(directory, name), copy.data, copy.size);
#else
    assert_int_equal(symlink(target, in_directory(directory, name)), 0);
#endif
}

const char *find_text(ferry_view text, const char *part)
{
    const size_t size = strlen(part);
    for (size_t at = 0; at + size <= text.size; at++)
        if (memcmp(text.data + at, part, size) == 0) return text.data + at;
    return NULL;
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
    for (size_t i = 0; i < size; i++)
        put_bytes(file, &(unsigned char){(unsigned char)(i < 8 ? value >> (8 * i) : 0)}, 1);
}

void put_numbers(made_file *file, const sized_number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) put(file, numbers[i].value, numbers[i].size);
}

void put_text(made_file *file, const char *text)
{
    put_bytes(file, text, strlen(text));
}

ferry_view repeated_text(const char *start, const char *unit, size_t times, const char *end)
{
    made_file file = {.size = 0};
    put_text(&file, start);
    for (size_t i = 0; i < times; i++)
        for (const char *c = unit; *c != '\0'; c++)
            *c == '#' ? put_text(&file, ferry_name_format("%zu", i).text) : put_bytes(&file, c, 1);
    put_text(&file, end);
    return whole(&file);
}

made_file made_safetensors(ferry_view header, const void *data, size_t size)
{
    made_file file = {.size = 0};
    put(&file, header.size, 8);
    put_bytes(&file, header.data, header.size);
    put_bytes(&file, data, size);
    return file;
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
