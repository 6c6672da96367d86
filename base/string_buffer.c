#include "string_buffer.h"

#include <string.h>

ferry_status ferry_string_reserve(ferry_string *text, size_t extra, ferry_error *error)
{
    size_t size;
    char *grown = NULL;
    if (ferry_add_size(text->size, extra, &size)) grown = ferry_array_grow(text->data, &text->capacity, size, 1);
    if (grown == NULL) return ferry_fail_memory(error, "text", extra);
    text->data = grown;
    return FERRY_OK;
}

ferry_status ferry_string_end(ferry_string *text, ferry_error *error)
{
    FERRY_TRY(ferry_string_reserve(text, 1, error));
    text->data[text->size] = '\0';
    return FERRY_OK;
}

ferry_status ferry_string_append(ferry_string *text, ferry_view more, ferry_error *error)
{
    FERRY_TRY(ferry_string_reserve(text, more.size, error));
    if (more.size > 0) memcpy(text->data + text->size, more.data, more.size);
    text->size += more.size;
    return FERRY_OK;
}
