/* Small zip archives of stored members, for the tests of what reads archives. */
#ifndef FERRY_SUPPORT_MAKE_ZIP_H
#define FERRY_SUPPORT_MAKE_ZIP_H

#include <zlib.h>

#include "support.h"

typedef struct zip_part {
    const char *name;
    const void *data;
    size_t size;
} zip_part;

static inline void zip_put(unsigned char **at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) *(*at)++ = (unsigned char)(i < 8 ? value >> (8 * i) : 0);
}

static inline void zip_put_bytes(unsigned char **at, const void *data, size_t size)
{
    if (size > 0) memcpy(*at, data, size);
    *at += size;
}

/* What local header and directory entry have in common, from the time on. */
static inline void zip_put_facts(unsigned char **at, const zip_part *part)
{
    zip_put(at, 0, 4);
    zip_put(at, crc32_z(0, part->data, part->size), 4);
    zip_put(at, part->size, 4);
    zip_put(at, part->size, 4);
    zip_put(at, strlen(part->name), 2);
    zip_put(at, 0, 2);
}

/* The archive as malloc'ed bytes. */
static inline unsigned char *make_zip(const zip_part *parts, size_t count, size_t *size)
{
    size_t capacity = 22;
    for (size_t i = 0; i < count; i++) capacity += parts[i].size + 2 * strlen(parts[i].name) + 30 + 46;
    unsigned char *archive = malloc(capacity), *at = archive;
    size_t offsets[32];
    assert_true(archive != NULL && count <= 32);
    for (size_t i = 0; i < count; i++) {
        offsets[i] = (size_t)(at - archive);
        zip_put(&at, 0x04034b50, 4);
        zip_put(&at, 20, 2 + 2 + 2);
        zip_put_facts(&at, &parts[i]);
        zip_put_bytes(&at, parts[i].name, strlen(parts[i].name));
        zip_put_bytes(&at, parts[i].data, parts[i].size);
    }
    const size_t directory = (size_t)(at - archive);
    for (size_t i = 0; i < count; i++) {
        zip_put(&at, 0x02014b50, 4);
        zip_put(&at, 20, 2 + 2 + 2 + 2);
        zip_put_facts(&at, &parts[i]);
        zip_put(&at, 0, 2 + 2 + 2 + 4);
        zip_put(&at, offsets[i], 4);
        zip_put_bytes(&at, parts[i].name, strlen(parts[i].name));
    }
    const size_t end = (size_t)(at - archive);
    zip_put(&at, 0x06054b50, 4);
    zip_put(&at, 0, 4);
    zip_put(&at, count, 2);
    zip_put(&at, count, 2);
    zip_put(&at, end - directory, 4);
    zip_put(&at, directory, 4);
    zip_put(&at, 0, 2);
    *size = (size_t)(at - archive);
    return archive;
}

#endif
