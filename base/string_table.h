/* A buffer of bytes that grows at its end, and a table of strings. */
#ifndef FERRY_BASE_STRING_TABLE_H
#define FERRY_BASE_STRING_TABLE_H

#include "bytes.h"
#include "status.h"

typedef struct ferry_arena ferry_arena;

/* A growing text. Empty when zeroed; not NUL-terminated. Its owner frees `data`. */
typedef struct ferry_buffer {
    char *data;
    size_t size;
    size_t capacity;
} ferry_buffer;

/* Reserves capacity for `extra` more bytes. Errors: MEMORY. */
ferry_status ferry_buffer_reserve(ferry_buffer *text, size_t extra, ferry_error *error);
/* Writes a NUL after the text, which `size` does not count: texts of public functions have one. Errors: MEMORY. */
ferry_status ferry_buffer_end(ferry_buffer *text, ferry_error *error);
/* Errors: MEMORY. */
ferry_status ferry_buffer_append(ferry_buffer *text, ferry_view more, ferry_error *error);

/* A table of strings that follow each other in memory, with `separator` bytes before each: 8 in a model file's array of
 * strings, where each is preceded by its length (engine/file/gguf.h), 0 in a table made by ferry_string_table_join.
 *
 *     bytes:  | separator | text 0 | separator | text 1 | separator | text 2 |
 *             offsets[0] = 0       offsets[1]           offsets[2]           offsets[3]
 *
 * A string takes 4 bytes in the table, where a view takes 16. The owner of the table keeps its count. */
typedef struct ferry_string_table {
    const char *bytes;  /* not owned */
    uint32_t separator; /* bytes before each string */
    uint32_t offsets[]; /* [count + 1] of the separators, from `bytes`; the last one is the end */
} ferry_string_table;

static inline ferry_view ferry_string_table_at(const ferry_string_table *texts, size_t index)
{
    const uint32_t begin = texts->offsets[index] + texts->separator;
    return (ferry_view){texts->bytes + begin, texts->offsets[index + 1] - begin};
}

/* A table of `count` strings, whose ends the caller sets. NULL if out of memory. Release it with free(). */
ferry_string_table *ferry_string_table_create(const char *bytes, uint32_t separator, size_t count);
/* Sets the end of string `index`, as an offset from `bytes`; the ends of earlier strings are set. False, and nothing is
 * set, if `end` exceeds 32 bits. */
bool ferry_string_table_set_end(ferry_string_table *texts, size_t index, size_t end);

/* Copies the strings `views` [count] to a table in `arena`. Errors: LIMIT (2³² bytes), MEMORY. */
ferry_status ferry_string_table_join(ferry_arena *arena, const ferry_view *views, size_t count,
                                     const ferry_string_table **texts, ferry_error *error);

#endif
