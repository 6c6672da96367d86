#include "argument_checks.h"

#include "base/bytes.h"

ferry_status ferry_check_bytes(const char *argument, size_t size, ferry_error *error)
{
    if (size <= PTRDIFF_MAX) return FERRY_OK;
    return ferry_fail_argument(error, argument, "expected at most %td, found %zu", (ptrdiff_t)PTRDIFF_MAX, size);
}

ferry_status ferry_check_range(const char *argument, int32_t value, int32_t min, int32_t max, ferry_error *error)
{
    if (value >= min && value <= max) return FERRY_OK;
    return ferry_fail_argument(error, argument, "expected %d to %d, found %d", (int)min, (int)max, (int)value);
}

/* `place`: "" or where the text is among others. */
static ferry_status check_text(const char *argument, const char *place, ferry_text text, ferry_error *error)
{
    if (text.size > PTRDIFF_MAX)
        return ferry_fail_argument(error, argument, "expected at most %td bytes%s, found %zu", (ptrdiff_t)PTRDIFF_MAX,
                                   place, text.size);
    if (text.data != NULL || text.size == 0) return FERRY_OK;
    return ferry_fail_argument(error, argument, "expected %zu bytes%s, found NULL", text.size, place);
}

ferry_status ferry_check_text(const char *argument, ferry_text *text, ferry_error *error)
{
    FERRY_TRY(check_text(argument, "", *text, error));
    if (text->data == NULL) text->data = ""; /* C permits no offset of NULL */
    return FERRY_OK;
}

ferry_status ferry_check_texts(const char *argument, const ferry_text *texts, size_t count, ferry_error *error)
{
    if (count > PTRDIFF_MAX / sizeof *texts)
        return ferry_fail_argument(error, "count", "expected at most %zu, found %zu", PTRDIFF_MAX / sizeof *texts,
                                   count);
    if (count > 0 && texts == NULL)
        return ferry_fail_argument(error, argument, "expected %zu texts, found NULL", count);
    for (size_t i = 0; i < count; i++)
        if (check_text(argument, "", texts[i], NULL) != FERRY_OK)
            return check_text(argument, ferry_format(" at %s[%zu]", argument, i).text, texts[i], error);
    return FERRY_OK;
}
