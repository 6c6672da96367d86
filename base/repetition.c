#include "repetition.h"

ferry_repetition ferry_repetition_find(const int32_t *ids, size_t count, size_t most)
{
    ferry_repetition found = {.length = 0, .times = 1};
    for (size_t n = 1; n <= most; n++)
        for (size_t i = 0, equal = 0; i + n < count; i++) {
            equal = ids[i] == ids[i + n] ? equal + 1 : 0;
            if (1 + equal / n > found.times) found = (ferry_repetition){.length = n, .times = 1 + equal / n};
        }
    return found;
}
