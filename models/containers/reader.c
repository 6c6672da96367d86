#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

ferry_cursor ferry_cursor_begin(ferry_view bytes)
{
    return (ferry_cursor){(const uint8_t *)bytes.data, bytes.size, 0};
}

ferry_reader ferry_reader_begin(ferry_view bytes, const char *file, ferry_error *error)
{
    return (ferry_reader){ferry_cursor_begin(bytes), file, error};
}

ferry_status ferry_reader_fail(const ferry_reader *in, ferry_status code, const char *format, ...)
{
    ferry_error what;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what.message, sizeof what.message, format, arguments);
    va_end(arguments);
    return ferry_fail(in->error, code, "%s: %s", in->file, what.message);
}

ferry_status ferry_fail_named(ferry_error *error, ferry_status code, const char *file, const char *kind,
                              ferry_view name, const char *format, ...)
{
    ferry_error what;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what.message, sizeof what.message, format, arguments);
    va_end(arguments);
    return ferry_fail(error, code, "%s: %s '%s': %s", file, kind, ferry_printable_view(name).text, what.message);
}

bool ferry_read_fields(ferry_cursor *cursor, const char *widths, void *record)
{
    char *member = record;
    for (char *end; *widths != '\0'; widths = end) {
        const long width = strtol(widths, &end, 10);
        uint64_t value = 0;
        ferry_view bytes;
        if (!ferry_read_bytes(cursor, (uint64_t)labs(width), &bytes)) return false;
        if (width < 0) continue;
        for (size_t i = bytes.size; i-- > 0;) value = value << 8 | (uint8_t)bytes.data[i];
        memcpy(member, &value, sizeof value);
        member += sizeof value;
    }
    return true;
}

bool ferry_read_text(ferry_cursor *cursor, const char *text)
{
    const size_t size = strlen(text);
    if (ferry_cursor_left(cursor) < size || memcmp(cursor->data + cursor->at, text, size) != 0) return false;
    cursor->at += size;
    return true;
}
