#include "gzip.h"

#include "inflate.h"

ferry_status ferry_gzip_inflate(ferry_view bytes, const char *label, ferry_account *account, ferry_mapped_file *file,
                                ferry_error *error)
{
    size_t used;
    ferry_error what;
    const ferry_status status = ferry_inflate(bytes, FERRY_DEFLATE_GZIP, UINT64_MAX, account, file, &used, &what);
    if (status != FERRY_OK) return ferry_fail(error, status, "%s: %s", label, what.message);
    return FERRY_OK;
}
