/* Any bytes as a gzip file: refused, or inflated bytes that can all be read. */
#include "fuzz.h"

#include "models/containers/reader.h"
#include "models/containers/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_mapped_file file = {.hold = FERRY_FILE_MAPPED};
    ferry_error error;
    ferry_budget budget;
    ferry_budget_begin(&budget, 0);
    if (ferry_gzip_inflate((ferry_view){(const char *)data, size}, "input", &budget.account, &file, &error) != FERRY_OK)
        return 0;
    read_all(file.bytes);
    ferry_mapped_file_close(&file);
    return 0;
}
