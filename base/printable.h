/* Names from files, made fit for messages. */
#ifndef FERRY_BASE_PRINTABLE_H
#define FERRY_BASE_PRINTABLE_H

#include "bytes.h"

typedef struct ferry_printable {
    char text[80]; /* NUL-terminated */
} ferry_printable;

/* The view's beginning, control characters replaced by '?'; "..." where it was cut. */
ferry_printable ferry_printable_view(ferry_view view);

#endif
