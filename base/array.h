/* Arrays that grow at their ends. */
#ifndef FERRY_BASE_ARRAY_H
#define FERRY_BASE_ARRAY_H

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

/* Appends an element of `size` bytes to an array [*count] with room for *capacity. `array` points to the pointer to its
 * elements, which may be NULL. Errors: MEMORY. */
static inline ferry_status ferry_array_append(void *array, size_t *count, size_t *capacity, const void *element,
                                              size_t size, ferry_error *error)
{
    void *added = ferry_array_add(array, count, capacity, size);
    if (added == NULL) return ferry_fail_memory(error, "an array", (*count + 1), size);
    memcpy(added, element, size);
    return FERRY_OK;
}

#endif
