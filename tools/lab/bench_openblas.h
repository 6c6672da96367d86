/* Which CPU OpenBLAS has detected. OpenBLAS is what the kernels are compared with, in speed and in tests; where the
 * library itself uses it, docs/performance.md says. */
#ifndef FERRY_LAB_BENCH_OPENBLAS_H
#define FERRY_LAB_BENCH_OPENBLAS_H

#include <stdbool.h>

/* The kind of CPU ("Haswell", "SkylakeX", ...), static. */
const char *ferry_openblas_core(void);
/* Whether OpenBLAS uses the widest vectors of this CPU. It treats a CPU that it does not know as an old one. */
bool ferry_openblas_matches_cpu(void);

#endif
