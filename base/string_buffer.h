/* Text that grows at its end. */
#ifndef FERRY_BASE_STRING_BUFFER_H
#define FERRY_BASE_STRING_BUFFER_H

#include "bytes.h"
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

#endif
