#include "string_table.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

ferry_status ferry_buffer_reserve(ferry_buffer *text, size_t extra, ferry_error *error)
{
    size_t size;
    char *grown = NULL;
    if (ferry_add_size(text->size, extra, &size)) grown = ferry_array_grow(text->data, &text->capacity, size, 1);
    if (grown == NULL) return ferry_fail_memory(error, "text", extra, 1);
    text->data = grown;
    return FERRY_OK;
}

ferry_status ferry_buffer_end(ferry_buffer *text, ferry_error *error)
{
    FERRY_TRY(ferry_buffer_reserve(text, 1, error));
    text->data[text->size] = '\0';
    return FERRY_OK;
}

ferry_status ferry_buffer_append(ferry_buffer *text, ferry_view more, ferry_error *error)
{
    FERRY_TRY(ferry_buffer_reserve(text, more.size, error));
    if (more.size > 0) memcpy(text->data + text->size, more.data, more.size);
    text->size += more.size;
    return FERRY_OK;
}

/* Sets *bytes to the size of a table of `count` strings. False if it exceeds SIZE_MAX. */
static bool list_bytes(size_t count, size_t *bytes)
{
    return ferry_add_size(count, 1, bytes) && ferry_mul_size(*bytes, sizeof(uint32_t), bytes) &&
           ferry_add_size(*bytes, sizeof(ferry_string_table), bytes);
}

static void begin(ferry_string_table *texts, const char *bytes, uint32_t separator)
{
    texts->bytes = bytes;
    texts->separator = separator;
    texts->offsets[0] = 0;
}

ferry_string_table *ferry_string_table_create(const char *bytes, uint32_t separator, size_t count)
{
    size_t size;
    ferry_string_table *texts = list_bytes(count, &size) ? malloc(size) : NULL;
    if (texts != NULL) begin(texts, bytes, separator);
    return texts;
}

bool ferry_string_table_set_end(ferry_string_table *texts, size_t index, size_t end)
{
    if (end > UINT32_MAX) return false;
    texts->offsets[index + 1] = (uint32_t)end;
    return true;
}

ferry_status ferry_string_table_join(ferry_arena *arena, const ferry_view *views, size_t count,
                                     const ferry_string_table **texts, ferry_error *error)
{
    size_t size, end = 0;
    *texts = NULL;
    ferry_string_table *joined = list_bytes(count, &size) ? ferry_arena_alloc(arena, 1, size) : NULL;
    if (joined == NULL) return ferry_fail_memory(error, "a list of texts", count, sizeof(uint32_t));
    begin(joined, NULL, 0);
    for (size_t i = 0; i < count; i++)
        if (!ferry_add_size(end, views[i].size, &end) || !ferry_string_table_set_end(joined, i, end))
            return ferry_fail(error, FERRY_ERROR_LIMIT, "a list of %zu texts: they have 2^32 bytes or more", count);
    char *bytes = ferry_arena_alloc(arena, end + 1, 1);
    if (bytes == NULL) return ferry_fail_memory(error, "a list of texts", end, 1);
    for (size_t i = 0; i < count; i++)
        if (views[i].size > 0) memcpy(bytes + joined->offsets[i], views[i].data, views[i].size);
    joined->bytes = bytes;
    *texts = joined;
    return FERRY_OK;
}
