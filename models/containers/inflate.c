#define _XOPEN_SOURCE 700 /* mkstemp, mmap */
#include "inflate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { INPUT_STEP = 1 << 20, OUTPUT_STEP = 1 << 16 };

static ferry_status no_file(ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_IO, "cannot inflate into a temporary file: %s", strerror(errno));
}

/* A descriptor, or -1 and errno. */
static int open_temporary(void)
{
    char path[4096];
    const char *place = getenv("TMPDIR");
    const int length = snprintf(path, sizeof path, "%s/ferry-XXXXXX", place != NULL && place[0] != 0 ? place : "/tmp");
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int descriptor = mkstemp(path);
    if (descriptor >= 0) unlink(path);
    return descriptor;
}

static bool append(int descriptor, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

/* Inflates into the file; *size counts the bytes, *used those of `packed`. */
static ferry_status inflate_into(int descriptor, z_stream *stream, ferry_view packed, ferry_deflate_form form,
                                 uint64_t most, ferry_account *account, uint64_t *size, size_t *used,
                                 ferry_error *error)
{
    unsigned char piece[OUTPUT_STEP];
    size_t fed = 0;
    *size = 0;
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
        if (result == Z_MEM_ERROR) return ferry_fail_memory(error, "inflating", 0);
        if (result != Z_OK && result != Z_STREAM_END)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "cannot be inflated: damaged or cut off");
        if (made > most - *size)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "inflates to more than %" PRIu64 " bytes", most);
        if (!ferry_account_take(account, made)) return ferry_fail_memory(error, "a temporary file", made);
        if (!append(descriptor, piece, made)) return no_file(error);
        *size += made;
        *used = fed - stream->avail_in;
        if (result != Z_STREAM_END) continue;
        if (form == FERRY_DEFLATE_RAW || *used == packed.size) return FERRY_OK;
        inflateReset(stream);
    }
}

static ferry_status map_file(int descriptor, uint64_t size, ferry_view *bytes, ferry_error *error)
{
    if (size == 0) return FERRY_OK;
    void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) return no_file(error);
    *bytes = (ferry_view){data, (size_t)size};
    return FERRY_OK;
}

ferry_status ferry_inflate(ferry_view packed, ferry_deflate_form form, uint64_t most, ferry_account *account,
                           ferry_view *bytes, size_t *used, ferry_error *error)
{
    z_stream stream = {0};
    uint64_t size = 0;
    *bytes = (ferry_view){"", 0};
    *used = 0;
    if (inflateInit2(&stream, form == FERRY_DEFLATE_RAW ? -MAX_WBITS : 16 + MAX_WBITS) != Z_OK)
        return ferry_fail_memory(error, "inflating", 0);
    const int descriptor = open_temporary();
    ferry_status result = descriptor >= 0
                              ? inflate_into(descriptor, &stream, packed, form, most, account, &size, used, error)
                              : no_file(error);
    if (result == FERRY_OK) result = map_file(descriptor, size, bytes, error);
    if (descriptor >= 0) close(descriptor);
    inflateEnd(&stream);
    return result;
}

void ferry_inflate_release(ferry_view bytes)
{
    if (bytes.size > 0) munmap((void *)(uintptr_t)bytes.data, bytes.size);
}
