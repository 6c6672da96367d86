#include "zip.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/files/file_system.h"
#include "base/memory.h"
#include "reader.h"

/* ---- inflating ---- */

enum { INPUT_STEP = 1 << 20, OUTPUT_STEP = 1 << 16 };

static ferry_status no_file(ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_IO, "cannot inflate into a temporary file: %s", strerror(errno));
}

/* Inflates into the spool; *used counts bytes of `packed`. */
static ferry_status inflate_into(ferry_spool *spool, z_stream *stream, ferry_view packed, bool gzip, uint64_t max,
                                 ferry_account *account, size_t *used, ferry_error *error)
{
    unsigned char piece[OUTPUT_STEP];
    size_t fed = 0;
    for (;;) {
        if (stream->avail_in == 0) {
            const size_t left = packed.size - fed, step = left < INPUT_STEP ? left : INPUT_STEP;
            stream->next_in = (z_const Bytef *)(uintptr_t)(packed.data + fed);
            stream->avail_in = (uInt)step;
            fed += step;
        }
        stream->next_out = piece;
        stream->avail_out = sizeof piece;
        const int result = inflate(stream, Z_NO_FLUSH);
        const size_t made = sizeof piece - stream->avail_out;
        if (result == Z_MEM_ERROR) return ferry_fail_memory(error, "inflating", 0, 1);
        if (result != Z_OK && result != Z_STREAM_END)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "cannot be inflated: damaged or cut off");
        if (made > max - spool->size)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "inflates to more than %" PRIu64 " bytes", max);
        if (!ferry_account_take(account, made)) return ferry_fail_memory(error, "a temporary file", made, 1);
        if (!ferry_spool_append(spool, piece, made)) return no_file(error);
        *used = fed - stream->avail_in;
        if (result != Z_STREAM_END) continue;
        if (!gzip || *used == packed.size) return FERRY_OK;
        inflateReset(stream);
    }
}

/* Inflates `packed` (gzip: RFC 1952, several streams may follow one another; otherwise RFC 1951, one stream) to at most
 * `max` bytes, which are taken from the account as they come, and not given back. *file is their mapping, and is empty
 * on failure; *used: how much of `packed` was read. The caller adds to the message what the bytes are. Errors: FORMAT
 * (damaged, cut off, too long), IO (the temporary file), MEMORY (or the account refused).
 */
static ferry_status inflate_bytes(ferry_view packed, bool gzip, uint64_t max, ferry_account *account,
                                  ferry_mapped_file *file, size_t *used, ferry_error *error)
{
    z_stream stream = {0};
    ferry_spool spool;
    *file = (ferry_mapped_file){.bytes = {"", 0}};
    *used = 0;
    if (inflateInit2(&stream, gzip ? 16 + MAX_WBITS : -MAX_WBITS) != Z_OK)
        return ferry_fail_memory(error, "inflating", 0, 1);
    ferry_status status = FERRY_OK;
    if (!ferry_spool_open(&spool))
        status = no_file(error);
    else if ((status = inflate_into(&spool, &stream, packed, gzip, max, account, used, error)) != FERRY_OK)
        ferry_spool_discard(&spool);
    else if (!ferry_spool_finish(&spool, file))
        status = no_file(error);
    inflateEnd(&stream);
    return status;
}

ferry_status ferry_gzip_inflate(ferry_view bytes, const char *label, ferry_account *account, ferry_mapped_file *file,
                                ferry_error *error)
{
    size_t used;
    ferry_error what;
    const ferry_status status = inflate_bytes(bytes, true, UINT64_MAX, account, file, &used, &what);
    return status == FERRY_OK ? FERRY_OK : ferry_fail(error, status, "%s: %s", label, what.message);
}

/* ---- archives ---- */

enum {
    ZIP_MAX_MEMBERS = 1 << 16,
    LOCAL_HEADER = 0x04034b50,
    DIRECTORY_ENTRY = 0x02014b50,
    END_RECORD = 0x06054b50,
    ZIP64_END_RECORD = 0x06064b50,
    ZIP64_LOCATOR = 0x07064b50,
    END_RECORD_SIZE = 22,
    ZIP64_LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    MAX_COMMENT = 65535,
    ENCRYPTED = 0x2041, /* flags: encrypted, strongly encrypted, headers masked */
    STORED = 0,
    DEFLATED = 8
};

typedef struct member {
    const char *name;
    uint32_t crc;
    uint16_t method;
    uint64_t header, data, stored_size; /* offsets and size in the archive */
    uint64_t size;
    bool ready;             /* `file` is checked */
    ferry_mapped_file file; /* borrowed from the archive, or a mapping of its own (deflated) */
} member;

struct ferry_zip {
    ferry_view bytes;
    const char *file;
    member *members; /* [count], by name */
    size_t count;
    ferry_arena arena; /* members, names */
};

/* Where the directory is, by the end records. */
typedef struct directory {
    uint64_t count, size, offset;
    uint64_t end; /* first byte of the end records: the directory must reach to it */
} directory;

static ferry_cursor cursor_at(const ferry_zip *zip, uint64_t offset)
{
    const size_t at = offset < zip->bytes.size ? (size_t)offset : zip->bytes.size;
    return (ferry_cursor){(const uint8_t *)zip->bytes.data, zip->bytes.size, at};
}

static ferry_status broken(const ferry_zip *zip, const char *what, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: not a sound zip archive: %s", zip->file, what);
}

#define member_fail(zip, m, code, error, ...)                                                                          \
    ferry_fail_named(error, code, (zip)->file, "member", ferry_text_view((m)->name), __VA_ARGS__)

bool ferry_is_zip(ferry_view bytes)
{
    ferry_cursor cursor = ferry_cursor_begin(bytes);
    uint32_t signature;
    return ferry_read_u32(&cursor, &signature) && (signature == LOCAL_HEADER || signature == END_RECORD);
}

static ferry_status refuse_parts(const ferry_zip *zip, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: zip archives of several parts are not supported", zip->file);
}

/* A ZIP64 record precedes the 32-bit one, even if it is not needed. */
static ferry_status read_zip64_end(const ferry_zip *zip, bool needed, directory *found, ferry_error *error)
{
    struct {
        uint64_t signature, disk, record, disks;
    } locator;
    struct {
        uint64_t signature, disk, start_disk, here, count, size, offset;
    } end;
    ferry_cursor cursor =
        cursor_at(zip, found->end < ZIP64_LOCATOR_SIZE ? UINT64_MAX : found->end - ZIP64_LOCATOR_SIZE);
    if (!ferry_read_fields(&cursor, "4 4 8 4", &locator) || locator.signature != ZIP64_LOCATOR)
        return needed ? broken(zip, "its ZIP64 record is missing", error) : FERRY_OK;
    cursor = cursor_at(zip, locator.record);
    if (!ferry_read_fields(&cursor, "4 -12 4 4 8 8 8 8", &end) || end.signature != ZIP64_END_RECORD)
        return broken(zip, "its ZIP64 record is not where the locator says", error);
    if (end.disk != 0 || end.start_disk != 0 || locator.disks > 1 || end.here != end.count)
        return refuse_parts(zip, error);
    found->end = locator.record;
    if (needed) *found = (directory){end.count, end.size, end.offset, locator.record};
    return FERRY_OK;
}

/* The last end record whose comment ends at the end of the file says where the directory is. */
static ferry_status find_directory(const ferry_zip *zip, directory *found, ferry_error *error)
{
    struct {
        uint64_t signature, disk, start_disk, here, count, size, offset, comment;
    } end;
    bool is_end = false;
    size_t at = zip->bytes.size; /* of the end record */
    for (size_t comment = 0; !is_end && comment <= MAX_COMMENT; comment++) {
        if (comment + END_RECORD_SIZE > zip->bytes.size) break;
        at = zip->bytes.size - END_RECORD_SIZE - comment;
        ferry_cursor cursor = cursor_at(zip, at);
        is_end = ferry_read_fields(&cursor, "4 2 2 2 2 4 4 2", &end) && end.signature == END_RECORD &&
                 end.comment == comment;
    }
    if (!is_end) return broken(zip, "no end record (cut off?)", error);
    const bool zip64 = end.count == UINT16_MAX || end.size == UINT32_MAX || end.offset == UINT32_MAX;
    if (!zip64 && (end.disk != 0 || end.start_disk != 0 || end.here != end.count)) return refuse_parts(zip, error);
    *found = (directory){end.count, end.size, end.offset, at};
    FERRY_TRY(read_zip64_end(zip, zip64, found, error));
    if (found->offset > found->end || found->size != found->end - found->offset) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: not a sound zip archive: expected a directory that ends at byte %" PRIu64
                          ", found %" PRIu64 " bytes of it at %" PRIu64,
                          zip->file, found->end, found->size, found->offset);
    }
    if (found->count > ZIP_MAX_MEMBERS || found->count > found->size / ENTRY_SIZE) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: not a sound zip archive: %" PRIu64 " members in a directory of %" PRIu64
                          " bytes (at most %d)",
                          zip->file, found->count, found->size, ZIP_MAX_MEMBERS);
    }
    return FERRY_OK;
}

/* ---- members ---- */

static ferry_status check_name(const ferry_zip *zip, ferry_view name, ferry_error *error)
{
    bool harmless = name.size > 0 && name.data[0] != '/' && memchr(name.data, 0, name.size) == NULL &&
                    memchr(name.data, '\\', name.size) == NULL;
    for (size_t begin = 0, end; harmless && begin < name.size; begin = end + 1) {
        const char *slash = memchr(name.data + begin, '/', name.size - begin);
        end = slash != NULL ? (size_t)(slash - name.data) : name.size;
        harmless = end - begin != 2 || memcmp(name.data + begin, "..", 2) != 0;
    }
    if (harmless) return FERRY_OK;
    return ferry_fail_named(error, FERRY_ERROR_FORMAT, zip->file, "member", name,
                            "not a relative name without '..' and '\\'");
}

/* Fields of 32 bits that are all ones have their value in the extra field 1, in this order. */
static bool read_zip64_extra(ferry_view extra, member *m)
{
    uint64_t *fields[] = {&m->size, &m->stored_size, &m->header};
    ferry_cursor cursor = ferry_cursor_begin(extra);
    uint16_t id, size;
    ferry_view field = {NULL, 0};
    while (ferry_read_u16(&cursor, &id) && ferry_read_u16(&cursor, &size) && ferry_read_bytes(&cursor, size, &field)) {
        if (id == 1) break;
        field.size = 0;
    }
    cursor = ferry_cursor_begin(field);
    for (size_t i = 0; i < 3; i++)
        if (*fields[i] == UINT32_MAX && !ferry_read_u64(&cursor, fields[i])) return false;
    return true;
}

/* An entry of the directory. */
static ferry_status read_entry(ferry_zip *zip, ferry_cursor *cursor, member *m, ferry_error *error)
{
    struct {
        uint64_t signature, flags, method, crc, stored_size, size, name_size, extra_size, comment_size, header;
    } entry;
    ferry_view name, extra, comment;
    if (!ferry_read_fields(cursor, "4 -4 2 2 -4 4 4 4 2 2 2 -8 4", &entry) || entry.signature != DIRECTORY_ENTRY ||
        !ferry_read_bytes(cursor, entry.name_size, &name) || !ferry_read_bytes(cursor, entry.extra_size, &extra) ||
        !ferry_read_bytes(cursor, entry.comment_size, &comment))
        return broken(zip, "its directory is cut off or holds something else", error);
    FERRY_TRY(check_name(zip, name, error));
    *m = (member){.name = ferry_arena_text(&zip->arena, name),
                  .crc = (uint32_t)entry.crc,
                  .method = (uint16_t)entry.method,
                  .header = entry.header,
                  .stored_size = entry.stored_size,
                  .size = entry.size};
    if (m->name == NULL) return ferry_fail_memory(error, "the name of a zip member", name.size, 1);
    if (!read_zip64_extra(extra, m))
        return member_fail(zip, m, FERRY_ERROR_FORMAT, error, "lacks the sizes of its ZIP64 field");
    if ((entry.flags & ENCRYPTED) != 0) return member_fail(zip, m, FERRY_ERROR_UNSUPPORTED, error, "is encrypted");
    if (m->method == STORED || m->method == DEFLATED) return FERRY_OK;
    return member_fail(zip, m, FERRY_ERROR_UNSUPPORTED, error, "compression method %u is not supported", m->method);
}

/* The local header repeats the name; the data follow it and end before the directory. */
static ferry_status find_data(const ferry_zip *zip, uint64_t directory_offset, member *m, ferry_error *error)
{
    struct {
        uint64_t signature, name_size, extra_size;
    } local;
    ferry_view name, extra;
    const char *problem = NULL;
    ferry_cursor cursor = cursor_at(zip, m->header);
    if (!ferry_read_fields(&cursor, "4 -22 2 2", &local) || local.signature != LOCAL_HEADER ||
        !ferry_read_bytes(&cursor, local.name_size, &name) || !ferry_read_bytes(&cursor, local.extra_size, &extra))
        return member_fail(zip, m, FERRY_ERROR_FORMAT, error, "is not where the directory says");
    m->data = cursor.at;
    if (!ferry_view_is(name, m->name))
        problem = "has another name in its own header";
    else if (m->data > directory_offset || m->stored_size > directory_offset - m->data)
        problem = "reaches into the directory or past the end of the file";
    else if (m->method == STORED && m->size != m->stored_size)
        problem = "is stored, but with two sizes";
    return problem == NULL ? FERRY_OK : member_fail(zip, m, FERRY_ERROR_FORMAT, error, "%s", problem);
}

static int compare_offsets(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return (x->header > y->header) - (x->header < y->header);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const member *)a)->name, ((const member *)b)->name);
}

static ferry_status read_directory(ferry_zip *zip, ferry_error *error)
{
    directory found = {0};
    FERRY_TRY(find_directory(zip, &found, error));
    const size_t count = (size_t)found.count;
    member *members = zip->members = ferry_arena_alloc(&zip->arena, count + 1, sizeof *members);
    if (members == NULL) return ferry_fail_memory(error, "the members of a zip archive", count, sizeof *members);
    ferry_cursor cursor = {(const uint8_t *)zip->bytes.data, (size_t)found.end, (size_t)found.offset};
    for (size_t i = 0; i < count; i++) {
        FERRY_TRY(read_entry(zip, &cursor, &members[i], error));
        FERRY_TRY(find_data(zip, found.offset, &members[i], error));
    }
    if (ferry_cursor_left(&cursor) > 0) return broken(zip, "its directory is longer than its members", error);
    qsort(members, count, sizeof *members, compare_offsets);
    uint64_t end = 0; /* of the member before */
    for (size_t i = 0; i < count; i++) {
        if (end > members[i].header)
            return member_fail(zip, &members[i], FERRY_ERROR_FORMAT, error, "overlaps another");
        end = members[i].data + members[i].stored_size;
        const char *name = members[i].name;
        if (name[strlen(name) - 1] != '/') members[zip->count++] = members[i];
    }
    qsort(members, zip->count, sizeof *members, compare_names);
    for (size_t i = 1; i < zip->count; i++)
        if (compare_names(&members[i - 1], &members[i]) == 0)
            return member_fail(zip, &members[i], FERRY_ERROR_FORMAT, error, "occurs twice");
    return FERRY_OK;
}

ferry_status ferry_zip_open(ferry_view bytes, const char *file, ferry_account *account, ferry_zip **zip,
                            ferry_error *error)
{
    *zip = calloc(1, sizeof **zip);
    if (*zip == NULL) return ferry_fail_memory(error, "a zip archive", 1, sizeof **zip);
    (*zip)->bytes = bytes;
    (*zip)->file = file;
    (*zip)->arena.account = account;
    const ferry_status status = read_directory(*zip, error);
    if (status != FERRY_OK) {
        ferry_zip_close(*zip);
        *zip = NULL;
    }
    return status;
}

size_t ferry_zip_count(const ferry_zip *zip)
{
    return zip->count;
}

const char *ferry_zip_name(const ferry_zip *zip, size_t index)
{
    return zip->members[index].name;
}

ptrdiff_t ferry_zip_find(const ferry_zip *zip, const char *name)
{
    const member wanted = {.name = name};
    const member *m =
        zip->count > 0 ? bsearch(&wanted, zip->members, zip->count, sizeof *zip->members, compare_names) : NULL;
    return m != NULL ? m - zip->members : -1;
}

static ferry_status read_member(const ferry_zip *zip, member *m, ferry_error *error)
{
    const ferry_view stored = {zip->bytes.data + m->data, (size_t)m->stored_size};
    m->file = (ferry_mapped_file){.bytes = stored, .hold = FERRY_FILE_BORROWED};
    if (m->method == DEFLATED) {
        ferry_error what;
        size_t used;
        const ferry_status status = inflate_bytes(stored, false, m->size, zip->arena.account, &m->file, &used, &what);
        if (status != FERRY_OK) return member_fail(zip, m, status, error, "%s", what.message);
        if (m->file.bytes.size != m->size || used != m->stored_size)
            return member_fail(zip, m, FERRY_ERROR_FORMAT, error, "inflates to less than the directory says");
    }
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    if (crc32_z(crc32(0, NULL, 0), (const Bytef *)m->file.bytes.data, m->file.bytes.size) != m->crc)
        return member_fail(zip, m, FERRY_ERROR_FORMAT, error, "is damaged: wrong CRC-32");
#endif
    return FERRY_OK;
}

ferry_status ferry_zip_member(ferry_zip *zip, size_t index, ferry_view *bytes, ferry_error *error)
{
    member *m = &zip->members[index];
    if (!m->ready) {
        const ferry_status status = read_member(zip, m, error);
        if (status != FERRY_OK) ferry_mapped_file_close(&m->file);
        FERRY_TRY(status);
    }
    m->ready = true;
    *bytes = m->file.bytes;
    return FERRY_OK;
}

void ferry_zip_close(ferry_zip *zip)
{
    if (zip == NULL) return;
    for (size_t i = 0; i < zip->count; i++) ferry_mapped_file_close(&zip->members[i].file);
    ferry_arena_destroy(&zip->arena);
    free(zip);
}
