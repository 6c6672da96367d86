#include "gzip.h"

#include "inflate.h"

enum { FACTOR = 64, SPARE = 64 << 20 };

ferry_status ferry_gzip_inflate(ferry_view bytes, const char *label, ferry_mapped_file *file, ferry_error *error)
{
    size_t limit, used;
    ferry_view inflated;
    ferry_error what;
    if (!ferry_mul_size(bytes.size, FACTOR, &limit) || !ferry_add_size(limit, SPARE, &limit)) limit = SIZE_MAX;
    const ferry_status status = ferry_inflate(bytes, FERRY_DEFLATE_GZIP, limit, &inflated, &used, &what);
    if (status != FERRY_OK) return ferry_fail(error, status, "%s: %s", label, what.message);
    if (inflated.size > 0) file->bytes = inflated;
    return FERRY_OK;
}
