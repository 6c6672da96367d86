#include "argument_checks.h"

#include "base/bytes.h"

ferry_status ferry_check_bytes(const char *argument, size_t size, ferry_error *error)
{
    if (size <= PTRDIFF_MAX) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected at most %td, found %zu", argument,
                      (ptrdiff_t)PTRDIFF_MAX, size);
}

ferry_status ferry_check_range(const char *argument, int32_t value, int32_t least, int32_t most, ferry_error *error)
{
    if (value >= least && value <= most) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected %d to %d, found %d", argument, (int)least, (int)most,
                      (int)value);
}

ferry_status ferry_check_texts(const char *argument, const ferry_text *texts, size_t count, ferry_error *error)
{
    if (count > PTRDIFF_MAX / sizeof *texts)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "count: expected at most %zu, found %zu",
                          PTRDIFF_MAX / sizeof *texts, count);
    if (count > 0 && texts == NULL)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected %zu texts, found NULL", argument, count);
    for (size_t i = 0; i < count; i++) {
        if (texts[i].data == NULL && texts[i].size > 0)
            return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s[%zu].data: expected %zu bytes, found NULL", argument, i,
                              texts[i].size);
        if (texts[i].size > PTRDIFF_MAX)
            return ferry_check_bytes(ferry_name_format("%s[%zu].size", argument, i).text, texts[i].size, error);
    }
    return FERRY_OK;
}
