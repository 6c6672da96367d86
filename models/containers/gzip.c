#include "gzip.h"

#include <errno.h>
#include <string.h>

#include "inflate.h"

enum { FACTOR = 64, SPARE = 64 << 20 };

ferry_status ferry_gzip_inflate(ferry_view bytes, const char *label, ferry_mapped_file *file, ferry_error *error)
{
    size_t limit, used;
    ferry_view inflated;
    if (!ferry_mul_size(bytes.size, FACTOR, &limit) || !ferry_add_size(limit, SPARE, &limit)) limit = SIZE_MAX;
    switch (ferry_inflate(bytes, FERRY_DEFLATE_GZIP, limit, &inflated, &used)) {
    case FERRY_INFLATE_DONE:
        if (inflated.size > 0) file->bytes = inflated;
        return FERRY_OK;
    case FERRY_INFLATE_BROKEN:
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: not a gzip file, damaged or cut off", label);
    case FERRY_INFLATE_TOO_LONG:
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: inflates to more than %zu bytes", label, limit);
    case FERRY_INFLATE_NO_MEMORY: return ferry_fail_memory(error, "a gzip stream", 1 << 16);
    default:
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot inflate into a temporary file: %s", label,
                          strerror(errno));
    }
}
