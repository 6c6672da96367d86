#include "inflate.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

enum { INPUT_STEP = 1 << 20, OUTPUT_STEP = 1 << 16 };

static ferry_status no_file(ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_IO, "cannot inflate into a temporary file: %s", strerror(errno));
}

/* Inflates into the spool; *used counts bytes of `packed`. */
static ferry_status inflate_into(ferry_spool *spool, z_stream *stream, ferry_view packed, ferry_deflate_form form,
                                 uint64_t most, ferry_account *account, size_t *used, ferry_error *error)
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
        if (result == Z_MEM_ERROR) return ferry_fail_memory(error, "inflating", 0);
        if (result != Z_OK && result != Z_STREAM_END)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "cannot be inflated: damaged or cut off");
        if (made > most - spool->size)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "inflates to more than %" PRIu64 " bytes", most);
        if (!ferry_account_take(account, made)) return ferry_fail_memory(error, "a temporary file", made);
        if (!ferry_spool_append(spool, piece, made)) return no_file(error);
        *used = fed - stream->avail_in;
        if (result != Z_STREAM_END) continue;
        if (form == FERRY_DEFLATE_RAW || *used == packed.size) return FERRY_OK;
        inflateReset(stream);
    }
}

ferry_status ferry_inflate(ferry_view packed, ferry_deflate_form form, uint64_t most, ferry_account *account,
                           ferry_mapped_file *file, size_t *used, ferry_error *error)
{
    z_stream stream = {0};
    ferry_spool spool;
    *file = (ferry_mapped_file){.bytes = {"", 0}};
    *used = 0;
    if (inflateInit2(&stream, form == FERRY_DEFLATE_RAW ? -MAX_WBITS : 16 + MAX_WBITS) != Z_OK)
        return ferry_fail_memory(error, "inflating", 0);
    ferry_status status = FERRY_OK;
    if (!ferry_spool_open(&spool))
        status = no_file(error);
    else if ((status = inflate_into(&spool, &stream, packed, form, most, account, used, error)) != FERRY_OK)
        ferry_spool_discard(&spool);
    else if (!ferry_spool_finish(&spool, file))
        status = no_file(error);
    inflateEnd(&stream);
    return status;
}
