/* Arrays that grow at their ends. */
#ifndef FERRY_DOCUMENTS_ARRAY_H
#define FERRY_DOCUMENTS_ARRAY_H

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

/* Appends an element of `size` bytes to an array [*count] with room for *capacity. `array` points to the pointer to its
 * elements, which may be NULL. Errors: MEMORY. */
static inline ferry_status ferry_array_append(void *array, size_t *count, size_t *capacity, const void *element,
                                              size_t size, ferry_error *error)
{
    char *elements;
    memcpy(&elements, array, sizeof elements);
    elements = ferry_array_grow(elements, capacity, *count + 1, size);
    if (elements == NULL) return ferry_fail_memory(error, "a document", (*count + 1) * size, 1);
    memcpy(array, &elements, sizeof elements);
    memcpy(elements + (*count)++ * size, element, size);
    return FERRY_OK;
}

#endif
