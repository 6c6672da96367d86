/* For the sources of the kernels.
 *
 * They are compiled once for every ISA, with FERRY_ISA_NAME (plain, avx2, avx512; neon) and the ISA's compiler flags
 * (kernels.cmake). Each compilation defines its kernels as ferry_<kernel>_<isa>, by FERRY_KERNEL(<kernel>). If only the
 * int8 kernels of an ISA differ, only one of int8_*.c is compiled for it (int8.h); its other kernels are those of avx2,
 * avx512 or neon. For openblas only product_openblas.c is compiled, in builds with FERRY_OPENBLAS. Every AArch64 has
 * NEON; FERRY_NEON distinguishes neon from plain. */
#ifndef FERRY_KERNELS_ISA_H
#define FERRY_KERNELS_ISA_H

#include "kernels.h"

#if defined(FERRY_NEON)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define WIDTH 16 /* floats of one vector register */
#elif defined(__AVX2__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
#define PARTS (FERRY_LANES / WIDTH) /* vectors of one panel row, or of 16 lanes */

#define FERRY_JOIN_EXPANDED(kernel, isa) ferry_##kernel##_##isa
#define FERRY_JOIN(kernel, isa) FERRY_JOIN_EXPANDED(kernel, isa)
#define FERRY_KERNEL(kernel) FERRY_JOIN(kernel, FERRY_ISA_NAME)

/* Lists of tiles, (rows, panels). */
#define TILES_UP_TO_3(TILE, panels) TILE(1, panels) TILE(2, panels) TILE(3, panels)
#define TILES_UP_TO_4(TILE, panels) TILES_UP_TO_3(TILE, panels) TILE(4, panels)
#define TILES_UP_TO_6(TILE, panels) TILES_UP_TO_4(TILE, panels) TILE(5, panels) TILE(6, panels)
#define TILES_UP_TO_8(TILE, panels) TILES_UP_TO_6(TILE, panels) TILE(7, panels) TILE(8, panels)
#define TILES_7_TO_10(TILE, panels) TILE(7, panels) TILE(8, panels) TILE(9, panels) TILE(10, panels)
#define TILES_11_TO_14(TILE, panels) TILE(11, panels) TILE(12, panels) TILE(13, panels) TILE(14, panels)
#define TILES_UP_TO_14(TILE, panels)                                                                                   \
    TILES_UP_TO_6(TILE, panels) TILES_7_TO_10(TILE, panels) TILES_11_TO_14(TILE, panels)

#define INLINE static inline __attribute__((always_inline))
/* Loops over a tile must be unrolled completely: otherwise its accumulators do not stay in registers. With sanitizers
 * this would take clang minutes. */
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

typedef int32_t int_vec __attribute__((vector_size(4 * WIDTH), may_alias));

/* The steps of WIDTH outputs. (gcc widens bytes one by one without being told.) */
INLINE int_vec load_steps(const void *steps)
{
#if WIDTH == 16
    return (int_vec)_mm512_cvtepi8_epi32(_mm_load_si128(steps));
#elif WIDTH == 8
    return (int_vec)_mm256_cvtepi8_epi32(_mm_loadl_epi64(steps));
#elif defined(__SSE2__)
    const __m128i bytes = _mm_loadu_si32(steps), twice = _mm_unpacklo_epi8(bytes, bytes);
    return (int_vec)_mm_srai_epi32(_mm_unpacklo_epi16(twice, twice), 24);
#else
    typedef int8_t narrow __attribute__((vector_size(WIDTH), may_alias));
    return __builtin_convertvector(*(const narrow *)steps, int_vec);
#endif
}

#endif
