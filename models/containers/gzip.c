#define _POSIX_C_SOURCE 200809L /* mmap */
#include "gzip.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "temporary.h"

enum { INPUT_STEP = 1 << 20, OUTPUT_STEP = 1 << 16, FACTOR = 64, SPARE = 64 << 20 };

typedef struct inflation {
    z_stream stream;
    ferry_view left; /* compressed bytes that the stream has not got yet */
    size_t size;     /* inflated bytes so far */
    size_t limit;
    const char *label;
    int descriptor;
} inflation;

static ferry_status fail_temporary(const inflation *state, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot write what it inflates to into a temporary file: %s",
                      state->label, strerror(errno));
}

/* One call of zlib; *ended is true behind the last stream. */
static ferry_status inflate_step(inflation *state, bool *ended, ferry_error *error)
{
    unsigned char out[OUTPUT_STEP];
    if (state->stream.avail_in == 0 && state->left.size > 0) {
        const size_t step = state->left.size < INPUT_STEP ? state->left.size : INPUT_STEP;
        state->stream.next_in = (Bytef *)(uintptr_t)state->left.data;
        state->stream.avail_in = (uInt)step;
        state->left = (ferry_view){state->left.data + step, state->left.size - step};
    }
    state->stream.next_out = out;
    state->stream.avail_out = sizeof out;
    const int code = inflate(&state->stream, Z_NO_FLUSH);
    const size_t made = sizeof out - state->stream.avail_out;
    if (code == Z_MEM_ERROR) return ferry_fail_memory(error, "a gzip stream", 1 << 16);
    if (code != Z_OK && code != Z_STREAM_END) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: not a gzip file, damaged or cut off", state->label);
    }
    if (made > state->limit - state->size) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: inflates to more than %zu bytes", state->label, state->limit);
    }
    state->size += made;
    if (!ferry_temporary_append(state->descriptor, out, made)) return fail_temporary(state, error);
    *ended = code == Z_STREAM_END && state->stream.avail_in == 0 && state->left.size == 0;
    if (code == Z_STREAM_END && !*ended) inflateReset(&state->stream); /* gzip files may be concatenated */
    return FERRY_OK;
}

static ferry_status inflate_all(inflation *state, ferry_error *error)
{
    bool ended = false;
    ferry_status status = FERRY_OK;
    if (inflateInit2(&state->stream, 16 + MAX_WBITS) != Z_OK) return ferry_fail_memory(error, "a gzip stream", 1 << 16);
    while (status == FERRY_OK && !ended) status = inflate_step(state, &ended, error);
    inflateEnd(&state->stream);
    return status;
}

ferry_status ferry_gzip_inflate(ferry_view bytes, const char *label, ferry_mapped_file *file, ferry_error *error)
{
    inflation state = {.left = bytes, .label = label, .descriptor = ferry_temporary_open()};
    if (state.descriptor < 0) return fail_temporary(&state, error);
    if (!ferry_mul_size(bytes.size, FACTOR, &state.limit) || !ferry_add_size(state.limit, SPARE, &state.limit)) {
        state.limit = SIZE_MAX;
    }
    ferry_status status = inflate_all(&state, error);
    if (status == FERRY_OK && state.size > 0) {
        void *data = mmap(NULL, state.size, PROT_READ, MAP_PRIVATE, state.descriptor, 0);
        if (data == MAP_FAILED) {
            status = ferry_fail(error, FERRY_ERROR_IO, "%s: cannot map: %s", label, strerror(errno));
        } else {
            file->bytes = (ferry_view){data, state.size};
        }
    }
    close(state.descriptor);
    return status;
}
