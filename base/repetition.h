/* What stands several times in a row. */
#ifndef FERRY_BASE_REPETITION_H
#define FERRY_BASE_REPETITION_H

#include <stddef.h>
#include <stdint.h>

typedef struct ferry_repetition {
    size_t length; /* ids; 0 if nothing is repeated */
    size_t times;  /* in a row, at least 1 */
} ferry_repetition;

/* The sequence of at most `most` ids that stands in a row most often; of several, the shortest. */
ferry_repetition ferry_repetition_find(const int32_t *ids, size_t count, size_t most);

#endif
