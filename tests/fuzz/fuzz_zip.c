/* Any bytes as a zip archive: refused, or members all of whose bytes can be read (or are refused one by one). */
#include "fuzz.h"

#include "models/containers/reader.h"
#include "models/containers/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_zip *zip;
    ferry_error error;
    ferry_budget budget;
    ferry_budget_begin(&budget, 0);
    if (ferry_zip_open((ferry_view){(const char *)data, size}, "input", &budget.account, &zip, &error) != FERRY_OK)
        return 0;
    for (size_t i = 0; i < ferry_zip_count(zip); i++) {
        ferry_view bytes;
        if (ferry_zip_find(zip, ferry_zip_name(zip, i)) != (ptrdiff_t)i) __builtin_trap();
        if (ferry_zip_member(zip, i, &bytes, &error) == FERRY_OK) read_all(bytes);
    }
    ferry_zip_close(zip);
    return 0;
}
