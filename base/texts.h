/* A list of texts that lie one behind another in memory, with the same number of bytes before each: 8, its length, in
 * an array of texts of a model file (engine/file/gguf.h), and none between texts that were joined.
 *
 *     bytes:  | gap | text 0 | gap | text 1 | gap | text 2 |
 *             0              places[1]      places[2]      places[3]
 *
 * That takes 4 bytes for each text, where views take 16. How many texts there are is said where the list is kept. */
#ifndef FERRY_BASE_TEXTS_H
#define FERRY_BASE_TEXTS_H

#include "arena.h"
#include "status.h"

typedef struct ferry_texts {
    const char *bytes; /* someone else's */
    uint32_t gap;
    uint32_t places[]; /* [count + 1] of the gap before each text, from `bytes`; the last one is the end */
} ferry_texts;

static inline ferry_view ferry_texts_at(const ferry_texts *texts, size_t index)
{
    const uint32_t begin = texts->places[index] + texts->gap;
    return (ferry_view){texts->bytes + begin, texts->places[index + 1] - begin};
}

/* A list of `count` texts, whose ends the caller sets; release it with free(). NULL if out of memory. */
ferry_texts *ferry_texts_create(const char *bytes, uint32_t gap, size_t count);
/* Text `index` ends `end` bytes behind `bytes`; those before it are set. False, and nothing is set, where that does
 * not fit in 32 bits. */
bool ferry_texts_set_end(ferry_texts *texts, size_t index, size_t end);

/* The list of `views` [count] and a copy of their bytes, in `arena`. Errors: LIMIT (2³² bytes), MEMORY. */
ferry_status ferry_texts_join(ferry_arena *arena, const ferry_view *views, size_t count, const ferry_texts **texts,
                              ferry_error *error);

#endif
