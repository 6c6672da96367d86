/* What the fuzz targets share. */
#ifndef FERRY_FUZZ_H
#define FERRY_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "base/string_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte, so that the sanitizers see those that are not there. */
static inline void read_all(ferry_view bytes)
{
    static volatile unsigned char seen;
    for (size_t i = 0; i < bytes.size; i++) seen = (unsigned char)(seen + (unsigned char)bytes.data[i]);
}

/* A list of these texts, in `arena`. */
static inline const ferry_string_table *join(const ferry_view *views, size_t count, ferry_arena *arena)
{
    const ferry_string_table *texts;
    if (ferry_string_table_join(arena, views, count, &texts, NULL) != FERRY_OK) abort();
    return texts;
}

#endif
