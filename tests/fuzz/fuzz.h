/* What the fuzz targets share. */
#ifndef FERRY_FUZZ_H
#define FERRY_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte, so that the sanitizers see those that are not there. */
static inline void read_all(ferry_view bytes)
{
    static volatile unsigned char seen;
    for (size_t i = 0; i < bytes.size; i++) seen = (unsigned char)(seen + (unsigned char)bytes.data[i]);
}

#endif
