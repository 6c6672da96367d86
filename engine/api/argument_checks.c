#include "argument_checks.h"

#include "base/bytes.h"

ferry_status ferry_check_bytes(const char *argument, size_t size, ferry_error *error)
{
    if (size <= PTRDIFF_MAX) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected at most %td, found %zu", argument,
                      (ptrdiff_t)PTRDIFF_MAX, size);
}

ferry_status ferry_check_range(const char *argument, int32_t value, int32_t min, int32_t max, ferry_error *error)
{
    if (value >= min && value <= max) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected %d to %d, found %d", argument, (int)min, (int)max,
                      (int)value);
}

ferry_status ferry_check_text(const char *argument, ferry_text *text, ferry_error *error)
{
    if (text->data == NULL && text->size > 0)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s.data: expected %zu bytes, found NULL", argument, text->size);
    if (text->data == NULL) text->data = ""; /* C permits no offset of NULL */
    return ferry_check_bytes(ferry_format("%s.size", argument).text, text->size, error);
}

ferry_status ferry_check_texts(const char *argument, const ferry_text *texts, size_t count, ferry_error *error)
{
    if (count > PTRDIFF_MAX / sizeof *texts)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "count: expected at most %zu, found %zu",
                          PTRDIFF_MAX / sizeof *texts, count);
    if (count > 0 && texts == NULL)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected %zu texts, found NULL", argument, count);
    for (size_t i = 0; i < count; i++) {
        ferry_text text = texts[i];
        if (text.size > PTRDIFF_MAX || (text.data == NULL && text.size > 0))
            return ferry_check_text(ferry_format("%s[%zu]", argument, i).text, &text, error);
    }
    return FERRY_OK;
}
