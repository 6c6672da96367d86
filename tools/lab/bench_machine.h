/* The limits of one thread of this machine: arithmetic in registers, and reading memory. */
#ifndef FERRY_LAB_BENCH_MACHINE_H
#define FERRY_LAB_BENCH_MACHINE_H

#include <stddef.h>

/* The instruction, or the few instructions, that a product consists of. */
typedef struct bench_peak {
    const char *name; /* "fma", "mul_add"; "maddubs", "vnni", "amx", "sdot", "smmla"; NULL: unknown */
    /* Multiplications (each with its addition) per second, in independent chains that run for part of a millisecond. */
    double (*measure)(void);
} bench_peak;

/* The peaks to compare products of the kernels `isa` with, for float32 and for int8. The last one of int8 is that of
 * the kernels' own instruction; AMX is compared with VNNI, too, which every machine with AMX has. */
enum { BENCH_PEAKS = 2 };
typedef struct bench_peaks {
    const char *isa;
    bench_peak f32, i8[BENCH_PEAKS];
} bench_peaks;

/* Static; without any peak if `isa` is unknown. */
const bench_peaks *bench_peaks_find(const char *isa);

/* Reads all but the last (size modulo 256) bytes of 64-byte aligned memory, with the widest loads of `isa`. */
void bench_read(const char *isa, const void *data, size_t size);

#endif
