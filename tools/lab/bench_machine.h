/* What one thread of this machine can do at the most: instructions in registers, and reading. */
#ifndef FERRY_LAB_BENCH_MACHINE_H
#define FERRY_LAB_BENCH_MACHINE_H

#include <stddef.h>

/* An instruction, or a few, that products are made of. */
typedef struct bench_peak {
    const char *name; /* "fma", "mul_add"; "maddubs", "vnni", "amx", "sdot"; NULL: none is known */
    /* Multiplications, each with its addition, a second: of independent chains of them for a part of a millisecond. */
    double (*measure)(void);
} bench_peak;

/* The peaks that products of the kernels `isa` can be held against, for float32 and for int8. The last one of int8 is
 * that of the kernels' own instruction; AMX may be held against VNNI, too, which every machine with AMX has. */
enum { BENCH_PEAKS = 2 };
typedef struct bench_peaks {
    const char *isa;
    bench_peak f32, i8[BENCH_PEAKS];
} bench_peaks;

/* Static; without any peak where `isa` is not known. */
const bench_peaks *bench_peaks_find(const char *isa);

/* Reads all but the last (size modulo 256) bytes, 64-byte aligned, with the widest loads that `isa` names. */
void bench_read(const char *isa, const void *data, size_t size);

/* The thread's own time in seconds, which waiting for the processor does not lengthen. */
double bench_seconds(void);

#endif
