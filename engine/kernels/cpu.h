/* The instruction sets that this CPU can run. */
#ifndef FERRY_KERNELS_CPU_H
#define FERRY_KERNELS_CPU_H

/* Each level includes those below it of the same architecture; numbered from PLAIN. */
typedef enum ferry_cpu_level {
    FERRY_CPU_PLAIN,
    /* x86-64 */
    FERRY_CPU_AVX2,        /* with FMA and F16C */
    FERRY_CPU_AVX512,      /* with F, BW, DQ and VL */
    FERRY_CPU_AVX512_VNNI, /* and dot products of int8 */
    FERRY_CPU_AMX,         /* and tiles of int8, which the process is permitted to use */
    /* AArch64 */
    FERRY_CPU_NEON = FERRY_CPU_PLAIN + 1,
    FERRY_CPU_NEON_DOTPROD, /* and dot products of int8 */
} ferry_cpu_level;

/* The highest level that both the CPU and its operating system support. Requests Linux's permission to use AMX tiles
 * where there are any; further calls change nothing. Thread-safe. */
ferry_cpu_level ferry_cpu_detect(void);

#endif
