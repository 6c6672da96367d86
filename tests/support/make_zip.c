#include "make_zip.h"

#include <zlib.h>

enum { MOST_PARTS = 32 };

/* ---- compressed data ---- */

/* Compresses the next bytes into the file. */
static void squeeze(z_stream *stream, made_file *file, ferry_view bytes, int flush, uint32_t *crc)
{
    unsigned char out[1 << 12];
    *crc = (uint32_t)crc32_z(*crc, (const Bytef *)bytes.data, bytes.size);
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
    const size_t together = BLOCK / (bytes->unit.size + 1) + 1;
    made_file block = {.size = 0};
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    for (size_t i = 0; i < together; i++) put_bytes(&block, bytes->unit.data, bytes->unit.size);
    *crc = 0;
    squeeze(&stream, file, ends[0], Z_NO_FLUSH, crc);
    for (size_t left = bytes->times, step; left > 0; left -= step) {
        step = left < together ? left : together;
        squeeze(&stream, file, (ferry_view){(const char *)block.data, step * bytes->unit.size}, Z_NO_FLUSH, crc);
    }
    squeeze(&stream, file, ends[1], Z_FINISH, crc);
    *size = stream.total_in;
    deflateEnd(&stream);
}

void put_gzip(made_file *file, const repeated *bytes)
{
    size_t size;
    uint32_t crc;
    squeeze_all(file, 16 + MAX_WBITS, bytes, &size, &crc);
}

/* ---- archives ---- */

typedef struct written {
    uint32_t crc;
    size_t size, stored_size, offset;
} written;

static written put_member(made_file *f, const zip_member *m)
{
    const char *name = m->local_name != NULL ? m->local_name : m->name;
    const ferry_view data = {m->data, m->bytes > 0 || m->data == NULL ? m->bytes : strlen(m->data)};
    const repeated plain = {"", data, m->times > 0 ? m->times : 1, ""};
    written w = {(uint32_t)crc32_z(0, (const Bytef *)data.data, data.size), data.size, data.size, f->size};
    made_file packed = {.size = 0};
    if (m->deflate)
        squeeze_all(&packed, -MAX_WBITS, m->repeated != NULL ? m->repeated : &plain, &w.size, &w.crc);
    else
        put_bytes(&packed, data.data, data.size);
    w.stored_size = packed.size;
    PUT(f, {0x04034b50, 4}, {20, 2}, {8, 2}, {m->deflate ? 8 : 0, 2}, {0, 4 + 4 + 4 + 4}, {strlen(name), 2}, {4, 2});
    put_text(f, name);
    put(f, 0x00004246, 4); /* an unused extra field */
    put_bytes(f, packed.data, packed.size);
    return w;
}

static void put_entry(made_file *f, const zip_member *m, const written *w)
{
    const uint64_t size = w->size + (uint64_t)m->size, stored_size = w->stored_size + (uint64_t)m->stored_size;
    const uint64_t offset = w->offset + (uint64_t)m->moved;
    PUT(f, {0x02014b50, 4}, {20, 2}, {20, 2}, {(uint64_t)(8 + m->flags), 2},
        {(uint64_t)((m->deflate ? 8 : 0) + m->method), 2}, {0, 4}, {w->crc ^ m->crc, 4},
        {m->zip64 ? UINT32_MAX : stored_size, 4}, {m->zip64 ? UINT32_MAX : size, 4}, {strlen(m->name), 2},
        {m->zip64 ? 4 + 4 + 24 : 0, 2}, {0, 2 + 2 + 2 + 4}, {m->zip64 ? UINT32_MAX : offset, 4});
    put_text(f, m->name);
    if (!m->zip64) return;
    PUT(f, {0x00005555, 4}, {1, 2}, {24, 2}, {size, 8}, {stored_size, 8}, {offset, 8}); /* some other field first */
}

made_zip begin_zip(const zip_member *members, size_t count)
{
    made_zip zip = {.end = 0};
    written w[MOST_PARTS];
    assert_true(count <= MOST_PARTS);
    for (size_t i = 0; i < count; i++) w[i] = put_member(&zip.file, &members[i]);
    zip.directory = zip.file.size;
    for (size_t i = 0; i < count; i++) put_entry(&zip.file, &members[i], &w[i]);
    return zip;
}

void end_zip(made_zip *zip, size_t count, const char *comment)
{
    made_file *f = &zip->file;
    zip->end = f->size;
    PUT(f, {0x06054b50, 4}, {0, 4}, {count, 2}, {count, 2}, {zip->end - zip->directory, 4}, {zip->directory, 4},
        {strlen(comment), 2});
    put_text(f, comment);
}

void end_zip64(made_zip *zip, uint64_t count)
{
    made_file *f = &zip->file;
    const size_t record = f->size;
    PUT(f, {0x06064b50, 4}, {44, 8}, {45, 2 + 2 + 4 + 4}, {count, 8}, {count, 8}, {record - zip->directory, 8},
        {zip->directory + zip->shift, 8}, {0x07064b50, 4}, {0, 4}, {record + zip->shift, 8}, {1, 4});
    zip->end = f->size;
    PUT(f, {0x06054b50, 4}, {0, 4}, {UINT64_MAX, 8}, {UINT64_MAX, 4}, {0, 2});
}

made_zip whole_zip(const zip_member *members, size_t count)
{
    made_zip zip = begin_zip(members, count);
    end_zip(&zip, count, "");
    return zip;
}

ferry_view make_zip(const zip_part *parts, size_t count)
{
    zip_member members[MOST_PARTS];
    assert_true(count <= MOST_PARTS);
    for (size_t i = 0; i < count; i++)
        members[i] =
            (zip_member){.name = parts[i].name, .data = parts[i].size > 0 ? parts[i].data : "", .bytes = parts[i].size};
    const made_zip zip = whole_zip(members, count);
    return whole(&zip.file);
}

void write_zip(const char *path, const zip_part *parts, size_t count)
{
    const ferry_view archive = make_zip(parts, count);
    write_bytes(path, archive.data, archive.size);
}

size_t write_deflated(const char *path, const char *name, const repeated *bytes)
{
    const zip_member member = {.name = name, .deflate = true, .repeated = bytes};
    const made_zip zip = whole_zip(&member, 1);
    write_bytes(path, zip.file.data, zip.file.size);
    return zip.file.size;
}
