/* What the sources of kernels share; nobody else includes this.
 *
 * These sources are compiled once for every ISA, with FERRY_ISA_NAME (plain, avx2, avx512; neon) and that ISA's
 * compiler flags (kernels.cmake). Each compilation defines its share of the lists as ferry_<kernel>_<isa>. For
 * avx512vnni and neon_dotprod only inputs_i8.c and product_i8.c are compiled, for amx inputs_i8.c and product_amx.c:
 * everything else is avx512's, or neon's. Every AArch64 has NEON, so that FERRY_NEON tells neon from plain. */
#ifndef FERRY_KERNELS_ISA_H
#define FERRY_KERNELS_ISA_H

#include "cpu.h"
#include "kernels.h"

#if defined(FERRY_NEON)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__)
#define WIDTH 16 /* floats of one vector register */
#elif defined(__AVX2__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
#define PARTS (FERRY_LANES / WIDTH) /* vectors of one panel row, or of 16 lanes */

#define FERRY_KERNEL_LIST_I8(KERNEL, isa)                                                                              \
    KERNEL(isa, largest)                                                                                               \
    KERNEL(isa, quantize)                                                                                              \
    KERNEL(isa, product_i8)

#define FERRY_KERNEL_LIST(KERNEL, isa)                                                                                 \
    KERNEL(isa, product)                                                                                               \
    KERNEL(isa, scores)                                                                                                \
    KERNEL(isa, context)                                                                                               \
    KERNEL(isa, layer_norm)                                                                                            \
    KERNEL(isa, rms_norm)                                                                                              \
    KERNEL(isa, softmax)                                                                                               \
    KERNEL(isa, add_exp)                                                                                               \
    KERNEL(isa, argmax)                                                                                                \
    KERNEL(isa, add_top)                                                                                               \
    KERNEL(isa, activate)                                                                                              \
    KERNEL(isa, ssru)                                                                                                  \
    KERNEL(isa, add)                                                                                                   \
    KERNEL(isa, multiply)                                                                                              \
    KERNEL(isa, scale)                                                                                                 \
    KERNEL(isa, widen_f16)

/* The ISAs of this architecture. */
#if defined(__x86_64__)
#define FERRY_ISAS(ISA) FERRY_ISAS_PLAIN(ISA) FERRY_ISAS_X86_64(ISA)
#elif defined(__aarch64__)
#define FERRY_ISAS(ISA) FERRY_ISAS_PLAIN(ISA) FERRY_ISAS_AARCH64(ISA)
#else
#define FERRY_ISAS(ISA) FERRY_ISAS_PLAIN(ISA)
#endif

#define FERRY_DECLARE_KERNEL(isa, kernel) __typeof__(*((ferry_kernels *)0)->kernel) ferry_##kernel##_##isa;
#define FERRY_DECLARE_KERNELS(name, LEVEL, rest, fast)                                                                 \
    FERRY_KERNEL_LIST(FERRY_DECLARE_KERNEL, rest) FERRY_KERNEL_LIST_I8(FERRY_DECLARE_KERNEL, name)
FERRY_ISAS(FERRY_DECLARE_KERNELS)

#define FERRY_JOIN_EXPANDED(kernel, isa) ferry_##kernel##_##isa
#define FERRY_JOIN(kernel, isa) FERRY_JOIN_EXPANDED(kernel, isa)
#define FERRY_KERNEL(kernel) FERRY_JOIN(kernel, FERRY_ISA_NAME)

#define INLINE static inline __attribute__((always_inline))
/* Loops over a tile must vanish, or its accumulators do not stay in registers. Where clang inserts checks it would take
 * minutes over that. */
#if defined(__clang__)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer) || !defined(__OPTIMIZE__)
#define UNROLL
#else
#define UNROLL _Pragma("clang loop unroll(full)")
#endif
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

typedef float vec __attribute__((vector_size(4 * WIDTH), may_alias));
typedef float unaligned_vec __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

INLINE vec load(const float *x)
{
    return *(const unaligned_vec *)x;
}

INLINE void store(float *y, vec value)
{
    *(unaligned_vec *)y = value;
}

#endif
