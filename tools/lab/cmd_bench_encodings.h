/* `ferry bench encodings`. */
#ifndef FERRY_LAB_CMD_BENCH_ENCODINGS_H
#define FERRY_LAB_CMD_BENCH_ENCODINGS_H

#include "tools/command.h"

/* Measures models of random weights that differ by their positional encoding alone. Returns the exit status. */
int ferry_bench_encodings(const ferry_call *call);

#endif
