/* The ISAs that have kernels, and what this CPU can run. */
#ifndef FERRY_KERNELS_CPU_H
#define FERRY_KERNELS_CPU_H

/* Ascending: each one includes those before it of its architecture. (Only AVX-VNNI may be missing.)
 *     ISA(name, LEVEL, product, i8, rest, fast, limited, nibbles, rows)
 * product, i8, rest: the ISAs whose kernels it uses for products of floats, for int8, and for all else (kernels.cmake
 * compiles no others); fast, limited: ferry_kernels.fast_i8, fast_limited; nibbles: the ISA of product_nibbles, or
 * none, and rows: ferry_kernels.nibbles_rows.
 */
#define FERRY_ALL_ROWS INT32_MAX
#define FERRY_ISAS_PLAIN(ISA) ISA(plain, PLAIN, plain, plain, plain, false, false, none, 0)
#define FERRY_ISAS_X86_64(ISA)                                                                                         \
    /* with FMA and F16C */                                                                                            \
    ISA(avx2, AVX2, avx2, avx2, avx2, true, true, avx2, FERRY_ALL_ROWS)                                                \
    /* dot products of int8 in AVX2's registers */                                                                     \
    ISA(avxvnni, AVX_VNNI, avx2, avxvnni, avx2, true, false, avxvnni, 8)                                               \
    /* F, BW, DQ and VL */                                                                                             \
    ISA(avx512, AVX512, avx512, avx512, avx512, true, true, avx512, FERRY_ALL_ROWS)                                    \
    ISA(avx512vnni, AVX512_VNNI, avx512, avx512vnni, avx512, true, false, avx512vnni, 8)                               \
    /* tiles of int8, which the process is permitted to use */                                                         \
    ISA(amx, AMX, avx512, amx, avx512, true, false, avx512vnni, 8)
#define FERRY_ISAS_AARCH64(ISA)                                                                                        \
    ISA(neon, NEON, neon, neon, neon, false, false, none, 0)                                                           \
    ISA(neon_dotprod, NEON_DOTPROD, neon, neon_dotprod, neon, true, false, neon_dotprod, 4)                            \
    /* products of matrices of int8 */                                                                                 \
    ISA(neon_i8mm, NEON_I8MM, neon, neon_i8mm, neon, true, false, neon_i8mm, 1)
/* Where it was built in. Whatever the CPU is, OpenBLAS knows itself what it has. */
#define FERRY_ISAS_OPENBLAS(ISA) ISA(openblas, PLAIN, openblas, plain, plain, false, false, none, 0)

/* "plain, openblas, avx2, …" */
#define FERRY_ISA_NEXT_NAME(name, LEVEL, product, i8, rest, fast, limited, nibbles, rows) ", " #name
#define FERRY_ISA_NAMES                                                                                                \
    "plain" FERRY_ISAS_OPENBLAS(FERRY_ISA_NEXT_NAME) FERRY_ISAS_X86_64(FERRY_ISA_NEXT_NAME)                            \
        FERRY_ISAS_AARCH64(FERRY_ISA_NEXT_NAME)

#define FERRY_ISA_LEVEL(name, LEVEL, product, i8, rest, fast, limited, nibbles, rows) FERRY_CPU_##LEVEL,
typedef enum ferry_cpu_level {
    FERRY_ISAS_PLAIN(FERRY_ISA_LEVEL) FERRY_ISAS_X86_64(FERRY_ISA_LEVEL) FERRY_ISAS_AARCH64(FERRY_ISA_LEVEL)
} ferry_cpu_level;

/* The highest level that both the CPU and its operating system support; AVX-VNNI does not count. Thread-safe. */
ferry_cpu_level ferry_cpu_detect(void);

#endif
