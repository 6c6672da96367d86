/* What `ferry bench` can measure. Each function returns the exit status. */
#ifndef FERRY_LAB_CMD_BENCH_H
#define FERRY_LAB_CMD_BENCH_H

#include "tools/command.h"

/* Translating a file. */
int ferry_bench_translate(const ferry_call *call);
/* How soon a call that is cancelled returns. */
int ferry_bench_cancel(const ferry_call *call);
/* A service beside one call, and its urgent lines. */
int ferry_bench_service(const ferry_call *call);

#endif
