#include "zip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "inflate.h"
#include "reader.h"

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
    LONGEST_COMMENT = 65535,
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
    bool ready;             /* `bytes` is checked */
    ferry_mapped_file file; /* borrowed from the archive, or a mapping of its own (deflated) */
} member;

struct ferry_zip {
    ferry_view bytes;
    const char *file;
    member *members; /* [count], by name */
    size_t count;
    ferry_arena arena; /* members, names */
};

/* Where the end records say that the directory is. */
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

/* ---- end records ---- */

/* The last end record whose comment ends with the file. */
static bool find_end_record(const ferry_zip *zip, size_t *offset)
{
    const size_t size = zip->bytes.size;
    for (size_t comment = 0; comment <= LONGEST_COMMENT && comment + END_RECORD_SIZE <= size; comment++) {
        uint64_t fields[2]; /* signature, length of the comment */
        ferry_cursor cursor = cursor_at(zip, size - END_RECORD_SIZE - comment);
        *offset = cursor.at;
        if (ferry_read_fields(&cursor, "4 -16 2", fields) && fields[0] == END_RECORD && fields[1] == comment)
            return true;
    }
    return false;
}

static ferry_status refuse_parts(const ferry_zip *zip, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: zip archives of several parts are not supported", zip->file);
}

/* The ZIP64 record precedes the usual one, even where it is not needed. */
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

static ferry_status find_directory(const ferry_zip *zip, directory *found, ferry_error *error)
{
    size_t at;
    struct {
        uint64_t disk, start_disk, here, count, size, offset;
    } end;
    if (!find_end_record(zip, &at)) return broken(zip, "no end record (cut off?)", error);
    ferry_cursor cursor = cursor_at(zip, at + 4);
    if (!ferry_read_fields(&cursor, "2 2 2 2 4 4", &end)) return broken(zip, "its end record is cut off", error);
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
    if (m->name == NULL) return ferry_fail_memory(error, "the name of a zip member", name.size);
    if (!read_zip64_extra(extra, m))
        return member_fail(zip, m, FERRY_ERROR_FORMAT, error, "lacks the sizes of its ZIP64 field");
    if ((entry.flags & ENCRYPTED) != 0) return member_fail(zip, m, FERRY_ERROR_UNSUPPORTED, error, "is encrypted");
    if (m->method == STORED || m->method == DEFLATED) return FERRY_OK;
    return member_fail(zip, m, FERRY_ERROR_UNSUPPORTED, error, "compression method %u is not supported", m->method);
}

/* The local header repeats the name; the data follow it and end before the directory. */
static ferry_status place_member(const ferry_zip *zip, uint64_t directory_offset, member *m, ferry_error *error)
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

static int compare_places(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return (x->header > y->header) - (x->header < y->header);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const member *)a)->name, ((const member *)b)->name);
}

/* Members, in the order of their places, must not overlap. */
static ferry_status check_places(const ferry_zip *zip, ferry_error *error)
{
    uint64_t end = 0;
    for (const member *m = zip->members; m < zip->members + zip->count; m++) {
        if (end > m->header) return member_fail(zip, m, FERRY_ERROR_FORMAT, error, "overlaps another");
        end = m->data + m->stored_size;
    }
    return FERRY_OK;
}

static void leave_out_directories(ferry_zip *zip)
{
    size_t kept = 0;
    for (size_t i = 0; i < zip->count; i++) {
        const char *name = zip->members[i].name;
        if (name[strlen(name) - 1] != '/') zip->members[kept++] = zip->members[i];
    }
    zip->count = kept;
}

static ferry_status read_directory(ferry_zip *zip, ferry_error *error)
{
    directory found = {0};
    FERRY_TRY(find_directory(zip, &found, error));
    const size_t count = (size_t)found.count;
    zip->members = ferry_arena_alloc(&zip->arena, count + 1, sizeof *zip->members);
    if (zip->members == NULL) return ferry_fail_memory(error, "the members of a zip archive", count);
    ferry_cursor cursor = {(const uint8_t *)zip->bytes.data, (size_t)found.end, (size_t)found.offset};
    for (size_t i = 0; i < count; i++) {
        FERRY_TRY(read_entry(zip, &cursor, &zip->members[i], error));
        FERRY_TRY(place_member(zip, found.offset, &zip->members[i], error));
    }
    if (ferry_cursor_left(&cursor) > 0) return broken(zip, "its directory is longer than its members", error);
    zip->count = count;
    qsort(zip->members, zip->count, sizeof *zip->members, compare_places);
    FERRY_TRY(check_places(zip, error));
    leave_out_directories(zip);
    qsort(zip->members, zip->count, sizeof *zip->members, compare_names);
    for (size_t i = 1; i < zip->count; i++) {
        if (compare_names(&zip->members[i - 1], &zip->members[i]) != 0) continue;
        return member_fail(zip, &zip->members[i], FERRY_ERROR_FORMAT, error, "occurs twice");
    }
    return FERRY_OK;
}

ferry_status ferry_zip_open(ferry_view bytes, const char *file, ferry_account *account, ferry_zip **zip,
                            ferry_error *error)
{
    *zip = calloc(1, sizeof **zip);
    if (*zip == NULL) return ferry_fail_memory(error, "a zip archive", sizeof **zip);
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

/* ---- members' bytes ---- */

static ferry_status inflate_member(const ferry_zip *zip, member *m, ferry_error *error)
{
    ferry_account *account = zip->arena.account;
    const ferry_view packed = {zip->bytes.data + m->data, (size_t)m->stored_size};
    ferry_error what;
    size_t used;
    const ferry_status status = ferry_inflate(packed, FERRY_DEFLATE_RAW, m->size, account, &m->file, &used, &what);
    if (status != FERRY_OK) return member_fail(zip, m, status, error, "%s", what.message);
    if (m->file.bytes.size == m->size && used == m->stored_size) return FERRY_OK;
    return member_fail(zip, m, FERRY_ERROR_FORMAT, error, "inflates to less than the directory says");
}

static ferry_status read_member(const ferry_zip *zip, member *m, ferry_error *error)
{
    if (m->method == DEFLATED)
        FERRY_TRY(inflate_member(zip, m, error));
    else
        m->file =
            (ferry_mapped_file){.bytes = {zip->bytes.data + m->data, (size_t)m->size}, .hold = FERRY_FILE_BORROWED};
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
