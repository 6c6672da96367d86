#include "bytes.h"

#include <string.h>

bool ferry_view_equal(ferry_view a, ferry_view b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int ferry_view_compare(ferry_view a, ferry_view b)
{
    const size_t size = a.size < b.size ? a.size : b.size;
    const int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

ferry_view ferry_text_view(const char *text)
{
    return (ferry_view){text, strlen(text)};
}

bool ferry_view_is(ferry_view view, const char *text)
{
    return ferry_view_equal(view, ferry_text_view(text));
}

bool ferry_text_begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool ferry_text_ends(const char *text, const char *end)
{
    const size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* The next `size` bytes as an unsigned little-endian number. */
static bool read_number(ferry_cursor *cursor, size_t size, uint64_t *value)
{
    if (ferry_cursor_left(cursor) < size) return false;
    uint64_t result = 0;
    for (size_t i = 0; i < size; i++) result |= (uint64_t)cursor->data[cursor->at + i] << (8 * i);
    cursor->at += size;
    *value = result;
    return true;
}

bool ferry_read_u8(ferry_cursor *cursor, uint8_t *value)
{
    uint64_t number;
    if (!read_number(cursor, sizeof *value, &number)) return false;
    *value = (uint8_t)number;
    return true;
}

bool ferry_read_u16(ferry_cursor *cursor, uint16_t *value)
{
    uint64_t number;
    if (!read_number(cursor, sizeof *value, &number)) return false;
    *value = (uint16_t)number;
    return true;
}

bool ferry_read_u32(ferry_cursor *cursor, uint32_t *value)
{
    uint64_t number;
    if (!read_number(cursor, sizeof *value, &number)) return false;
    *value = (uint32_t)number;
    return true;
}

bool ferry_read_u64(ferry_cursor *cursor, uint64_t *value)
{
    return read_number(cursor, sizeof *value, value);
}

bool ferry_read_f32(ferry_cursor *cursor, float *value)
{
    uint32_t bits;
    if (!ferry_read_u32(cursor, &bits)) return false;
    memcpy(value, &bits, sizeof *value);
    return true;
}

bool ferry_read_f64(ferry_cursor *cursor, double *value)
{
    uint64_t bits;
    if (!ferry_read_u64(cursor, &bits)) return false;
    memcpy(value, &bits, sizeof *value);
    return true;
}

bool ferry_read_bytes(ferry_cursor *cursor, uint64_t size, ferry_view *view)
{
    if (ferry_cursor_left(cursor) < size) return false;
    view->data = (const char *)cursor->data + cursor->at;
    view->size = (size_t)size;
    cursor->at += (size_t)size;
    return true;
}
