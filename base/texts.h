/* Texts: one that grows at its end, and lists of them. */
#ifndef FERRY_BASE_TEXTS_H
#define FERRY_BASE_TEXTS_H

#include "bytes.h"
#include "memory.h"
#include "status.h"

/* Empty when zeroed; not NUL-terminated. Its owner frees `data`. */
typedef struct ferry_string {
    char *data;
    size_t size;
    size_t capacity;
} ferry_string;

/* Reserves capacity for `extra` more bytes. Errors: MEMORY. */
ferry_status ferry_string_reserve(ferry_string *text, size_t extra, ferry_error *error);
/* Puts a NUL behind the text, which does not count: what callers of the library get has one. Errors: MEMORY. */
ferry_status ferry_string_end(ferry_string *text, ferry_error *error);
/* Errors: MEMORY. */
ferry_status ferry_string_append(ferry_string *text, ferry_view more, ferry_error *error);

/* A list of texts that lie one behind another in memory, with a separator of the same size before each: 8 bytes, its
 * length, in an array of texts of a model file (engine/file/gguf.h), and none between texts that were joined.
 *
 *     bytes:  | separator | text 0 | separator | text 1 | separator | text 2 |
 *             offsets[0] = 0       offsets[1]           offsets[2]           offsets[3]
 *
 * That takes 4 bytes for each text, where views take 16. The owner of the list keeps its count. */
typedef struct ferry_texts {
    const char *bytes;  /* someone else's */
    uint32_t separator; /* bytes before each text */
    uint32_t offsets[]; /* [count + 1] of the separators, from `bytes`; the last one is the end */
} ferry_texts;

static inline ferry_view ferry_texts_at(const ferry_texts *texts, size_t index)
{
    const uint32_t begin = texts->offsets[index] + texts->separator;
    return (ferry_view){texts->bytes + begin, texts->offsets[index + 1] - begin};
}

/* A list of `count` texts, whose ends the caller sets; release it with free(). NULL if out of memory. */
ferry_texts *ferry_texts_create(const char *bytes, uint32_t separator, size_t count);
/* Text `index` ends `end` bytes behind `bytes`; those before it are set. False, and nothing is set, where that does
 * not fit in 32 bits. */
bool ferry_texts_set_end(ferry_texts *texts, size_t index, size_t end);

/* The list of `views` [count] and a copy of their bytes, in `arena`. Errors: LIMIT (2³² bytes), MEMORY. */
ferry_status ferry_texts_join(ferry_arena *arena, const ferry_view *views, size_t count, const ferry_texts **texts,
                              ferry_error *error);

#endif
