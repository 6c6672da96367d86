#include "system.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

ferry_status ferry_expect_regular_file(const char *name, ferry_file_kind kind, ferry_error *error)
{
    static const char *const names[] = {"regular file", "directory", "link", "pipe", "socket", "device"};
    if (kind == FERRY_KIND_FILE) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_IO, "%s: expected a regular file, found a %s", name, names[kind]);
}

/* ---- bytes of files ---- */

static ferry_status out_of_memory(const char *name, uint64_t bytes, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_MEMORY, "%s: out of memory: %" PRIu64 " bytes for a copy", name, bytes);
}

static bool allocate_copy(size_t size, ferry_mapped_file *file)
{
    char *data = ferry_pages_allocate(size);
    if (data == NULL) return false;
    *file = (ferry_mapped_file){.bytes = {data, size}, .hold = FERRY_FILE_COPIED};
    return true;
}

/* Reads into the copy. A file that is truncated during reading is an error here; with a mapping, it would kill the
 * process. */
static ferry_status read_part(int descriptor, const char *name, uint64_t offset, const ferry_mapped_file *copy,
                              ferry_error *error)
{
    char *data = (char *)(uintptr_t)copy->bytes.data;
    const int64_t count = ferry_descriptor_read_at(descriptor, data, copy->bytes.size, offset);
    if (count < 0) return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot read: %s", name, strerror(errno));
    if ((size_t)count == copy->bytes.size) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_IO, "%s: ended at byte %" PRIu64 ", expected %" PRIu64, name,
                      offset + (uint64_t)count, offset + copy->bytes.size);
}

static ferry_status map_part(int descriptor, const char *name, uint64_t offset, size_t length, ferry_mapped_file *file,
                             ferry_error *error)
{
    const char *data = ferry_pages_map(descriptor, offset, length);
    if (data == NULL)
        return ferry_fail(error, errno == ENOMEM ? FERRY_ERROR_MEMORY : FERRY_ERROR_IO, "%s: cannot map: %s", name,
                          strerror(errno));
    file->bytes = (ferry_view){data, length};
    return FERRY_OK;
}

/* Whether the part lies within a file of `size` bytes. A *length of 0 becomes the bytes from `offset` to the end. */
static ferry_status check_part(const char *name, uint64_t size, uint64_t offset, uint64_t *length, ferry_error *error)
{
    if (offset > size)
        return ferry_fail_argument(error, "offset", "%s has %" PRIu64 " bytes, found %" PRIu64, name, size, offset);
    if (*length > size - offset)
        return ferry_fail_argument(error, "length", "%s has %" PRIu64 " bytes from there, found %" PRIu64, name,
                                   size - offset, *length);
    if (*length == 0) *length = size - offset;
    return *length <= PTRDIFF_MAX ? FERRY_OK : out_of_memory(name, *length, error);
}

ferry_status ferry_mapped_file_open_part(int descriptor, const char *name, uint64_t offset, uint64_t length,
                                         ferry_file_hold hold, ferry_mapped_file *file, ferry_error *error)
{
    ferry_file_info information;
    memset(file, 0, sizeof *file);
    if (!ferry_file_examine_open(descriptor, &information))
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot examine: %s", name, strerror(errno));
    FERRY_TRY(ferry_expect_regular_file(name, information.kind, error));
    FERRY_TRY(check_part(name, information.size, offset, &length, error));
    file->bytes.data = ""; /* of an empty file: C permits no arithmetic on NULL */
    if (length == 0) return FERRY_OK;
    if (hold == FERRY_FILE_MAPPED) return map_part(descriptor, name, offset, (size_t)length, file, error);
    if (!allocate_copy((size_t)length, file)) return out_of_memory(name, length, error);
    const ferry_status status = read_part(descriptor, name, offset, file, error);
    if (status != FERRY_OK) ferry_mapped_file_close(file);
    return status;
}

ferry_status ferry_mapped_file_open(const char *path, ferry_file_hold hold, ferry_mapped_file *file, ferry_error *error)
{
    memset(file, 0, sizeof *file);
    const int descriptor = ferry_descriptor_open(path); /* ferry_mapped_file_open_part refuses pipes and terminals */
    if (descriptor < 0) return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", path, strerror(errno));
    const ferry_status status = ferry_mapped_file_open_part(descriptor, path, 0, 0, hold, file, error);
    ferry_descriptor_close(descriptor);
    return status;
}

ferry_status ferry_mapped_file_open_memory(ferry_view bytes, ferry_file_hold hold, ferry_mapped_file *file,
                                           ferry_error *error)
{
    *file = (ferry_mapped_file){.bytes = bytes, .hold = FERRY_FILE_BORROWED};
    if (hold == FERRY_FILE_BORROWED || bytes.size == 0) return FERRY_OK;
    if (!allocate_copy(bytes.size, file)) return out_of_memory("memory", bytes.size, error);
    memcpy((char *)(uintptr_t)file->bytes.data, bytes.data, bytes.size);
    return FERRY_OK;
}

void ferry_mapped_file_close(ferry_mapped_file *file)
{
    if (file->bytes.size > 0 && file->hold != FERRY_FILE_BORROWED)
        ferry_pages_release(file->bytes.data, file->bytes.size, file->hold == FERRY_FILE_MAPPED);
    memset(file, 0, sizeof *file);
}

void ferry_mapped_file_release(const ferry_mapped_file *file, size_t offset, size_t size)
{
    /* Only then: the contents of a copy would be lost. */
    if (file->hold == FERRY_FILE_MAPPED) ferry_pages_forget(file->bytes.data + offset, size);
}

/* ---- random numbers ---- */

void ferry_random_bytes(void *bytes, size_t size)
{
    uint8_t *data = bytes;
    if (ferry_entropy(bytes, size)) return;
    /* The clock and the address of the stack. */
    uint64_t state = (uint64_t)(uintptr_t)&state ^ (uint64_t)(ferry_clock() * 1e9);
    for (size_t i = 0; i < size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data[i] = (uint8_t)(state >> 56);
    }
}
