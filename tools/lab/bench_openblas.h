/* What OpenBLAS takes this CPU for. It is the kernels' yardstick, and their oracle in tests; the library does without
 * it (docs/performance.md says why). */
#ifndef FERRY_LAB_BENCH_OPENBLAS_H
#define FERRY_LAB_BENCH_OPENBLAS_H

#include <stdbool.h>

/* The kind of CPU ("Haswell", "SkylakeX", ...), static. */
const char *ferry_openblas_core(void);
/* Whether that kind uses the vectors that this CPU has. OpenBLAS takes a CPU that it does not know for an old one. */
bool ferry_openblas_matches_cpu(void);

#endif
