/* Random numbers that are the same in every run. */
#ifndef FERRY_SUPPORT_RANDOM_H
#define FERRY_SUPPORT_RANDOM_H

#include <stdint.h>

/* 24 bits. The caller begins with any *state. */
static inline uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
