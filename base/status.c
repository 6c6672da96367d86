#include "status.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

ferry_status ferry_fail(ferry_error *error, ferry_status code, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = code;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return code;
}

ferry_status ferry_fail_memory(ferry_error *error, const char *purpose, size_t count, size_t size)
{
    const size_t bytes = size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size;
    return ferry_fail(error, FERRY_ERROR_MEMORY, "out of memory: %zu bytes for %s", bytes, purpose);
}
