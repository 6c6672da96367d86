/* Names from files, sanitized for messages. */
#ifndef FERRY_BASE_PRINTABLE_H
#define FERRY_BASE_PRINTABLE_H

#include "bytes.h"

typedef struct ferry_printable {
    char text[80]; /* NUL-terminated */
} ferry_printable;

/* The start of the view, control characters replaced by '?'; ends in "..." if truncated. */
ferry_printable ferry_printable_view(ferry_view view);

#endif
