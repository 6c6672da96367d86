#include "system.h"

void ferry_random_bytes(void *bytes, size_t size)
{
    uint8_t *data = bytes;
    if (ferry_entropy(bytes, size)) return;
    /* The clock, and where the system has put the stack. */
    uint64_t state = (uint64_t)(uintptr_t)&state ^ (uint64_t)(ferry_clock() * 1e9);
    for (size_t i = 0; i < size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data[i] = (uint8_t)(state >> 56);
    }
}
