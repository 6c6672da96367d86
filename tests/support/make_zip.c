#include "make_zip.h"

#include <zlib.h>

enum { MOST_PARTS = 32 };

typedef struct member {
    zip_part part; /* as it is stored */
    uint16_t method;
    uint32_t crc;
    size_t size;
} member;

/* What local header and directory entry have in common, from the method on. */
static void put_facts(made_file *archive, const member *m)
{
    put(archive, m->method, 2);
    put(archive, 0, 4);
    put(archive, m->crc, 4);
    put(archive, m->part.size, 4);
    put(archive, m->size, 4);
    put(archive, strlen(m->part.name), 2);
    put(archive, 0, 2);
}

static ferry_view make_archive(const member *members, size_t count)
{
    size_t offsets[MOST_PARTS];
    made_file archive = {.size = 0};
    for (size_t i = 0; i < count; i++) {
        offsets[i] = archive.size;
        put(&archive, 0x04034b50, 4);
        put(&archive, 20, 2 + 2);
        put_facts(&archive, &members[i]);
        put_text(&archive, members[i].part.name);
        put_bytes(&archive, members[i].part.data, members[i].part.size);
    }
    const size_t directory = archive.size;
    for (size_t i = 0; i < count; i++) {
        put(&archive, 0x02014b50, 4);
        put(&archive, 20, 2 + 2 + 2);
        put_facts(&archive, &members[i]);
        put(&archive, 0, 2 + 2 + 2 + 4);
        put(&archive, offsets[i], 4);
        put_text(&archive, members[i].part.name);
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

ferry_view make_zip(const zip_part *parts, size_t count)
{
    member members[MOST_PARTS];
    assert_true(count <= MOST_PARTS);
    for (size_t i = 0; i < count; i++)
        members[i] = (member){parts[i], 0, (uint32_t)crc32_z(0, parts[i].data, parts[i].size), parts[i].size};
    return make_archive(members, count);
}

void write_zip(const char *path, const zip_part *parts, size_t count)
{
    const ferry_view archive = make_zip(parts, count);
    write_bytes(path, archive.data, archive.size);
}

/* ---- compressed data ---- */

/* Compresses the next bytes into the file. */
static void squeeze(z_stream *stream, made_file *file, ferry_view bytes, int flush)
{
    unsigned char out[1 << 12];
    stream->next_in = (Bytef *)(uintptr_t)bytes.data;
    stream->avail_in = (uInt)bytes.size;
    do {
        stream->next_out = out;
        stream->avail_out = sizeof out;
        assert_int_not_equal(deflate(stream, flush), Z_STREAM_ERROR);
        put_bytes(file, out, sizeof out - stream->avail_out);
    } while (stream->avail_out == 0);
}

/* In blocks, so that a large size takes little memory. */
static void squeeze_all(made_file *file, int window_bits, const repeated *bytes, size_t *size, uint32_t *crc)
{
    enum { BLOCK = 1 << 16 };
    const ferry_view ends[] = {text_view(bytes->start), text_view(bytes->end)};
    const size_t together = BLOCK / bytes->unit.size + 1;
    made_file block = {.size = 0};
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    for (size_t i = 0; i < together; i++) put_bytes(&block, bytes->unit.data, bytes->unit.size);
    squeeze(&stream, file, ends[0], Z_NO_FLUSH);
    *crc = (uint32_t)crc32_z(0, (const Bytef *)ends[0].data, ends[0].size);
    for (size_t left = bytes->times, step; left > 0; left -= step) {
        step = left < together ? left : together;
        const ferry_view units = {(const char *)block.data, step * bytes->unit.size};
        squeeze(&stream, file, units, Z_NO_FLUSH);
        *crc = (uint32_t)crc32_z(*crc, (const Bytef *)units.data, units.size);
    }
    squeeze(&stream, file, ends[1], Z_FINISH);
    *crc = (uint32_t)crc32_z(*crc, (const Bytef *)ends[1].data, ends[1].size);
    *size = stream.total_in;
    deflateEnd(&stream);
}

void put_gzip(made_file *file, const repeated *bytes)
{
    size_t size;
    uint32_t crc;
    squeeze_all(file, 16 + MAX_WBITS, bytes, &size, &crc);
}

size_t write_deflated(const char *path, const char *name, const repeated *bytes)
{
    made_file file = {.size = 0};
    member m = {.method = 8};
    squeeze_all(&file, -MAX_WBITS, bytes, &m.size, &m.crc);
    m.part = (zip_part){name, file.data, file.size};
    const ferry_view archive = make_archive(&m, 1);
    write_bytes(path, archive.data, archive.size);
    return archive.size;
}
