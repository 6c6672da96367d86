#include "reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"

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
        uint64_t value;
        ferry_view skipped;
        if (width < 0 ? !ferry_read_bytes(cursor, (uint64_t)-width, &skipped)
                      : !ferry_read_number(cursor, (size_t)width, &value))
            return false;
        if (width < 0) continue;
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

/* ---- text files ---- */

bool ferry_next_line(ferry_cursor *text, ferry_view *line)
{
    const size_t left = ferry_cursor_left(text);
    if (left == 0) return false;
    const char *start = (const char *)text->data + text->at, *end = memchr(start, '\n', left);
    *line = (ferry_view){start, end != NULL ? (size_t)(end - start) : left};
    text->at += line->size + (end != NULL);
    if (line->size > 0 && start[line->size - 1] == '\r') line->size--;
    return true;
}

ferry_view ferry_first_word(ferry_view text)
{
    const char *blank = text.size > 0 ? memchr(text.data, ' ', text.size) : NULL;
    return (ferry_view){text.data, blank != NULL ? (size_t)(blank - text.data) : text.size};
}

size_t ferry_count_lines(ferry_view text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.size; i++) count += text.data[i] == '\n';
    return count;
}

bool ferry_parse_integer(ferry_view text, int64_t *value)
{
    const bool negative = text.size > 0 && text.data[0] == '-';
    const size_t first = negative || (text.size > 0 && text.data[0] == '+');
    *value = 0;
    for (size_t i = first; i < text.size; i++) {
        const int64_t digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || *value > (INT64_MAX - digit) / 10) return false;
        *value = *value * 10 + digit;
    }
    if (negative) *value = -*value;
    return text.size > first;
}

bool ferry_parse_decimal(ferry_view text, double *value)
{
    char copy[512], *end;
    if (text.size == 0 || text.size >= sizeof copy) return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (strspn(copy, "0123456789+-.eE") != text.size)
        return false; /* strtod also reads inf, nan, blanks, hexadecimal */
    *value = ferry_parse_double(copy, &end);
    return end == copy + text.size && isfinite(*value);
}

/* ---- the budget of a source ---- */

enum { BUDGET_BASE = 256 << 20, BUDGET_FACTOR = 8 };

void ferry_budget_begin(ferry_budget *budget, uint64_t bytes)
{
    *budget = (ferry_budget){.follows_files = bytes == 0};
    budget->memory.limit = bytes == 0 ? BUDGET_BASE : bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
    budget->account.memory = &budget->memory;
}

void ferry_budget_add_file(ferry_budget *budget, uint64_t bytes)
{
    size_t *limit = &budget->memory.limit;
    if (!budget->follows_files) return;
    *limit = bytes < (SIZE_MAX - *limit) / BUDGET_FACTOR ? *limit + BUDGET_FACTOR * (size_t)bytes : SIZE_MAX;
}

ferry_status ferry_budget_check(const ferry_budget *budget, const char *file, ferry_status status, ferry_error *error)
{
    if (budget->account.refused == 0) return status;
    return ferry_fail(error, FERRY_ERROR_LIMIT,
                      "%s: would need %zu bytes of memory, temporary files and model file together; the budget of this "
                      "source is %zu bytes",
                      file, budget->account.refused, budget->memory.limit);
}
