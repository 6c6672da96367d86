#include "make_zip.h"

#include <zlib.h>

enum { MOST_PARTS = 32 };

/* What local header and directory entry have in common, from the time on. */
static void put_facts(made_file *archive, const zip_part *part)
{
    put(archive, 0, 4);
    put(archive, crc32_z(0, part->data, part->size), 4);
    put(archive, part->size, 4);
    put(archive, part->size, 4);
    put(archive, strlen(part->name), 2);
    put(archive, 0, 2);
}

ferry_view make_zip(const zip_part *parts, size_t count)
{
    size_t offsets[MOST_PARTS];
    made_file archive = {.size = 0};
    assert_true(count <= MOST_PARTS);
    for (size_t i = 0; i < count; i++) {
        offsets[i] = archive.size;
        put(&archive, 0x04034b50, 4);
        put(&archive, 20, 2 + 2 + 2);
        put_facts(&archive, &parts[i]);
        put_text(&archive, parts[i].name);
        put_bytes(&archive, parts[i].data, parts[i].size);
    }
    const size_t directory = archive.size;
    for (size_t i = 0; i < count; i++) {
        put(&archive, 0x02014b50, 4);
        put(&archive, 20, 2 + 2 + 2 + 2);
        put_facts(&archive, &parts[i]);
        put(&archive, 0, 2 + 2 + 2 + 4);
        put(&archive, offsets[i], 4);
        put_text(&archive, parts[i].name);
    }
    const size_t end = archive.size;
    put(&archive, 0x06054b50, 4);
    put(&archive, 0, 4);
    put(&archive, count, 2);
    put(&archive, count, 2);
    put(&archive, end - directory, 4);
    put(&archive, directory, 4);
    put(&archive, 0, 2);
    return whole(&archive);
}

void write_zip(const char *path, const zip_part *parts, size_t count)
{
    const ferry_view archive = make_zip(parts, count);
    write_bytes(path, archive.data, archive.size);
}
