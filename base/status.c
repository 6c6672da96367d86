#include "status.h"

#include <stdarg.h>
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

ferry_status ferry_fail_memory(ferry_error *error, const char *purpose, size_t bytes)
{
    return ferry_fail(error, FERRY_ERROR_MEMORY, "out of memory: %zu bytes for %s", bytes, purpose);
}

const char *ferry_status_name(ferry_status status)
{
    switch (status) {
    case FERRY_OK: return "no error";
    case FERRY_ERROR_ARGUMENT: return "invalid argument";
    case FERRY_ERROR_MEMORY: return "out of memory";
    case FERRY_ERROR_IO: return "cannot read or write";
    case FERRY_ERROR_FORMAT: return "malformed file";
    case FERRY_ERROR_UNSUPPORTED: return "unsupported feature";
    case FERRY_ERROR_LIMIT: return "limit of the model exceeded";
    case FERRY_ERROR_CANCELLED: return "cancelled";
    }
    return "unknown status";
}
