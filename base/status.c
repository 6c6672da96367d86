#include "status.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

ferry_status ferry_fail(ferry_error *error, ferry_status code, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = code;
        error->argument = NULL;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return code;
}

static void fail_named(ferry_error *error, const char *kind, const char *name, const char *format, va_list arguments)
{
    if (error == NULL) return;
    ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s%s: ", kind, name);
    error->argument = name;
    const size_t size = strlen(error->message);
    vsnprintf(error->message + size, sizeof error->message - size, format, arguments);
}

ferry_status ferry_fail_argument(ferry_error *error, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_named(error, "", name, format, arguments);
    va_end(arguments);
    return FERRY_ERROR_ARGUMENT;
}

ferry_status ferry_fail_option(ferry_error *error, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_named(error, "option ", name, format, arguments);
    va_end(arguments);
    return FERRY_ERROR_ARGUMENT;
}

ferry_status ferry_fail_memory(ferry_error *error, const char *purpose, size_t count, size_t size)
{
    const size_t bytes = size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size;
    return ferry_fail(error, FERRY_ERROR_MEMORY, "out of memory: %zu bytes for %s", bytes, purpose);
}

ferry_status ferry_check_stride(const char *name, const char *type, size_t size, size_t first_size, size_t alignment,
                                ferry_error *error)
{
    if (size >= first_size && size <= FERRY_MAX_STRUCT && size % alignment == 0) return FERRY_OK;
    return ferry_fail_argument(error, name, "expected sizeof(%s), %zu to %d, found %zu", type, first_size,
                               FERRY_MAX_STRUCT, size);
}
