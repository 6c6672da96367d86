/* Spools in memory, for systems without unnamed temporary files. */
#include "file_system.h"

#include <string.h>

enum { FIRST_SPOOL = 1 << 20 };

bool ferry_spool_open(ferry_spool *spool)
{
    *spool = (ferry_spool){.descriptor = -1};
    return true;
}

bool ferry_spool_append(ferry_spool *spool, const void *bytes, size_t size)
{
    size_t needed;
    if (size == 0) return true;
    if (!ferry_add_size(spool->size, size, &needed)) needed = SIZE_MAX;
    if (needed > spool->capacity) {
        const size_t doubled = spool->capacity < SIZE_MAX / 2 ? 2 * spool->capacity : SIZE_MAX,
                     capacity = needed > doubled ? ferry_round_up(needed, FIRST_SPOOL) : doubled;
        char *grown = ferry_pages_allocate(capacity);
        if (grown == NULL) return false;
        if (spool->size > 0) memcpy(grown, spool->memory, spool->size);
        ferry_spool_discard(spool);
        spool->memory = grown;
        spool->capacity = capacity;
    }
    memcpy(spool->memory + spool->size, bytes, size);
    spool->size = needed;
    return true;
}

bool ferry_spool_finish(ferry_spool *spool, ferry_mapped_file *file)
{
    *file =
        (ferry_mapped_file){.bytes = {spool->size > 0 ? spool->memory : "", spool->size}, .hold = FERRY_FILE_COPIED};
    return true;
}

void ferry_spool_discard(ferry_spool *spool)
{
    if (spool->memory != NULL) ferry_pages_release(spool->memory, spool->capacity, false);
}
