/* Shared by inputs_i8.c, product_i8.c and product_amx.c: the layout of quantized inputs, and outputs from sums. */
#ifndef FERRY_KERNELS_PRODUCT_I8_H
#define FERRY_KERNELS_PRODUCT_I8_H

#include "isa.h"

#include <string.h>
#if WIDTH > 4
#include <immintrin.h>
#endif

#define GROUP 4 /* consecutive inputs of an output */
#define PANEL_GROUP (FERRY_LANES * GROUP)

typedef int32_t int_vec __attribute__((vector_size(4 * WIDTH), may_alias));
typedef uint32_t sum_vec __attribute__((vector_size(4 * WIDTH), may_alias)); /* partial sums may wrap */

#if defined(__AMX_INT8__) || defined(__AMXINT8__) /* gcc and newer clangs, older clangs */
#define AMX
#elif WIDTH > 4 && !defined(__AVXVNNI__) && !defined(__AVX512VNNI__)
#define PAIRS
#endif
#if defined(FERRY_NEON) && defined(__ARM_FEATURE_DOTPROD)
#define DOT_PRODUCTS
#endif
#if (WIDTH > 4 && !defined(AMX)) || defined(DOT_PRODUCTS)
#define NIBBLES
#endif
#if defined(DOT_PRODUCTS) && defined(__ARM_FEATURE_MATMUL_INT8)
#define MATRIX_PRODUCTS
#endif

INLINE int32_t four_bytes(const int8_t *x)
{
    int32_t four;
    memcpy(&four, x, sizeof four);
    return four;
}

/* ---- inputs ---- */

/* Inputs are stored in blocks of at most TILE_ROWS rows, as equal as possible, in the order in which a tile reads them:
 * [⌈K/INPUTS⌉][rows of the block][INPUTS]. For AMX, from MIN_AMX_ROWS rows on, they are one block [⌈K/64⌉][rows][64].
 * Bytes past K may be anything: the codes that they are multiplied by are 0. */
#if defined(MATRIX_PRODUCTS)
#define TILE_ROWS 12
#define INPUTS 8
#elif defined(DOT_PRODUCTS)
#define TILE_ROWS 5
#define INPUTS 16
#elif defined(FERRY_NEON)
#define TILE_ROWS 2
#define INPUTS 8
#else
#define INPUTS GROUP
#if WIDTH == 16
#define TILE_ROWS 14
#elif defined(__AVXVNNI__)
#define TILE_ROWS 6
#elif WIDTH == 8
#define TILE_ROWS 4
#else
#define TILE_ROWS 2
#endif
#endif
#if defined(MATRIX_PRODUCTS)
#define ROW_STEP 2 /* rows of an instruction, which blocks do not separate */
#else
#define ROW_STEP 1
#endif
#define AMX_INPUTS 64  /* of a tile */
#define MIN_AMX_ROWS 4 /* fewer leave too much of a tile empty */

/* How rows are parted into blocks: steps of ROW_STEP rows in each block, and one more in the first `larger` ones. */
typedef struct partition {
    int32_t rows, count, steps, larger;
} partition;

typedef struct block {
    int32_t first, rows;
} block;

INLINE partition part_rows(int32_t rows)
{
    const int32_t steps = (rows + ROW_STEP - 1) / ROW_STEP, count = (rows + TILE_ROWS - 1) / TILE_ROWS;
    return (partition){.rows = rows, .count = count, .steps = steps / count, .larger = steps % count};
}

INLINE block input_block(const partition *parts, int32_t b)
{
    const int32_t first = (b * parts->steps + (b < parts->larger ? b : parts->larger)) * ROW_STEP;
    const int32_t most = (parts->steps + (b < parts->larger)) * ROW_STEP, left = parts->rows - first;
    return (block){.first = first, .rows = left < most ? left : most};
}

/* The block that contains a row. */
INLINE block block_of_row(int32_t rows, int32_t row)
{
    const partition parts = part_rows(rows);
    const int32_t step = row / ROW_STEP;
    return input_block(&parts, step < parts.larger * (parts.steps + 1) ? step / (parts.steps + 1)
                                                                       : (step - parts.larger) / parts.steps);
}

/* Bytes of the inputs of a row in a block. */
INLINE size_t row_bytes(int32_t K)
{
    return ((size_t)K + INPUTS - 1) / INPUTS * INPUTS;
}

/* Bytes of all blocks, at most. */
INLINE size_t blocks_size(int32_t rows, int32_t K)
{
    return (size_t)rows * (((size_t)K + AMX_INPUTS - 1) / AMX_INPUTS * AMX_INPUTS);
}

#if defined(PAIRS)
/* vpmaddubsw adds two products, (q + 128)·x̂, in 16 bits. As no q + 128 is negative, and none above 255, they fit if the
 * positive x̂ are no more than MOST_IN_PAIR together, and the negative ones neither. A group of which a pair exceeds
 * that is split into halves: one stands in the block, the other in a list of the row's rests.
 *
 * Where the matrices' limits are known (input_limits.h), the sums of FOURS groups are added in 16 bits before they are
 * widened, those of EIGHTS where inputs are small. They may wrap on the way: what counts is Σ q·x̂, without the 128,
 * which fits. So they start at an offset, -128·Σ x̂ modulo 2^16. Of groups that would exceed a limit together, some
 * stand in the list as a whole. Inputs of nibbles (below) are neither split nor limited. */
#define MOST_IN_PAIR 128 /* 255·128 < 2^15 */
#define FOURS 4
#define EIGHTS 8

typedef struct rest {
    int32_t inputs; /* four of them */
    uint32_t at;    /* where the codes of their group begin in a panel */
} rest;

/* Behind the blocks: how many groups are added together, in all blocks; and for each block its rows' lists of rests
 * side by side, filled up with zeros where others are longer, and the offsets. */
typedef struct rests {
    int32_t *together; /* 1, FOURS or EIGHTS */
    int32_t *counts;   /* [rows] the first one, once all rows are there: the most of any */
    rest *lists;       /* [2·⌈K/4⌉][rows of the block] half of each group, and what is left of it */
    int32_t *offsets;  /* [⌈K/16⌉, or half as many for EIGHTS][rows of the block] of both pairs */
} rests;

INLINE size_t rests_room(int32_t K)
{
    return 2 * (((size_t)K + GROUP - 1) / GROUP);
}

INLINE size_t offsets_room(int32_t K)
{
    return ((size_t)K + EIGHTS * GROUP - 1) / (EIGHTS * GROUP) * (EIGHTS / FOURS);
}

INLINE size_t rests_size(int32_t rows, int32_t K)
{
    return sizeof(int32_t) +
           (size_t)rows * (sizeof(int32_t) + rests_room(K) * sizeof(rest) + offsets_room(K) * sizeof(int32_t));
}

/* Those of the block that begins with row `first`. */
INLINE rests rests_of(const ferry_rows_i8 *x, int32_t first)
{
    int32_t *together = (int32_t *)(void *)(x->codes + blocks_size(x->rows, x->K)), *counts = together + 1;
    rest *lists = (rest *)(void *)(counts + x->rows);
    int32_t *offsets = (int32_t *)(void *)(lists + (size_t)x->rows * rests_room(x->K));
    return (rests){.together = together,
                   .counts = counts + first,
                   .lists = lists + (size_t)first * rests_room(x->K),
                   .offsets = offsets + (size_t)first * offsets_room(x->K)};
}
#endif

/* ---- product ---- */

/* Nibbles u stand for q̂ = 16 u - NIBBLE_OFFSET (kernels.h). */
#define NIBBLE_SHIFT 4
#define NIBBLE_OFFSET 128
#define NIBBLE_MOST 15
#define NIBBLE_GROUPS 2 /* of a line */

typedef struct product {
    float *y; /* [rows, N] */
    size_t ldy, N;
    const ferry_rows_i8 *x;
    const int8_t *codes;
    size_t groups;       /* ⌈K/4⌉ */
    size_t panel_size;   /* bytes from panel to panel: a line for each group, or for two groups of nibbles */
    size_t codes_size;   /* bytes of all panels */
    const float *scales; /* [N], or NULL for the multiplier */
    float multiplier;
    const float *bias; /* [N], or NULL */
} product;

/* Bytes of all panels. */
INLINE size_t panels_size(int32_t N, size_t panel_size)
{
    return ((size_t)N + FERRY_LANES - 1) / FERRY_LANES * panel_size;
}

INLINE product new_product(float *y, size_t ldy, const ferry_rows_i8 *x, const int8_t *codes, int32_t N,
                           const float *scales, float multiplier, const float *bias)
{
    size_t groups = ((size_t)x->K + GROUP - 1) / GROUP;
    return (product){.y = y,
                     .ldy = ldy,
                     .N = (size_t)N,
                     .x = x,
                     .codes = codes,
                     .groups = groups,
                     .panel_size = groups * PANEL_GROUP,
                     .codes_size = panels_size(N, groups * PANEL_GROUP),
                     .scales = scales,
                     .multiplier = multiplier,
                     .bias = bias};
}

/* ---- from sums to outputs ---- */

#define MAX_PANELS 4 /* of a tile */
#define MAX_TILE_ROWS 16

/* sum / unit, rounded once. With fused multiply-adds, by the reciprocal and two Newton steps on the remainder; the
 * second one rounds correctly (Markstein, IBM Journal of Research and Development 34, 1990, theorem 8) if nothing
 * overflows or underflows on the way, which `near_one` states. */
INLINE vec divide(vec sum, float unit, float reciprocal, bool near_one)
{
#if WIDTH == 16
    if (near_one) {
        const vec u = _mm512_set1_ps(unit), v = _mm512_set1_ps(reciprocal);
        vec quotient = sum * v;
        quotient = _mm512_fmadd_ps(_mm512_fnmadd_ps(quotient, u, sum), v, quotient);
        return _mm512_fmadd_ps(_mm512_fnmadd_ps(quotient, u, sum), v, quotient);
    }
#elif WIDTH == 8
    if (near_one) {
        const vec u = _mm256_set1_ps(unit), v = _mm256_set1_ps(reciprocal);
        vec quotient = sum * v;
        quotient = _mm256_fmadd_ps(_mm256_fnmadd_ps(quotient, u, sum), v, quotient);
        return _mm256_fmadd_ps(_mm256_fnmadd_ps(quotient, u, sum), v, quotient);
    }
#elif defined(FERRY_NEON)
    if (near_one) {
        const vec u = vdupq_n_f32(unit), v = vdupq_n_f32(reciprocal);
        vec quotient = sum * v;
        quotient = vfmaq_f32(quotient, vfmsq_f32(sum, quotient, u), v);
        return vfmaq_f32(quotient, vfmsq_f32(sum, quotient, u), v);
    }
#else
    (void)reciprocal;
    (void)near_one;
#endif
    return sum / unit;
}

INLINE vec finish_sum(sum_vec sum, float unit, vec scale)
{
    return __builtin_convertvector((int_vec)sum, vec) * (unit * scale);
}

/* Sums [rows, vectors] → y; scales and bias begin at its first column. */
INLINE void finish_rows(float *y, size_t ldy, const sum_vec *sums, int rows, int vectors, const float *units,
                        const float *scales, const float *bias)
{
    for (int v = 0; v < vectors; v++, y += WIDTH, sums++) {
        const vec scale = load(scales + v * WIDTH);
        vec offset = {0};
        if (bias != NULL) offset = load(bias + v * WIDTH);
        float *at = y;
        const sum_vec *sum = sums;
        for (int r = 0; r < rows; r++, at += ldy, sum += vectors) {
            vec value = finish_sum(*sum, units[r], scale);
            if (bias != NULL) value += offset;
            store(at, value);
        }
    }
}

/* The same where one multiplier serves all columns. */
INLINE void divide_rows(float *y, size_t ldy, const sum_vec *sums, int rows, int vectors, const float *factors,
                        float multiplier, const float *bias)
{
    for (int r = 0; r < rows; r++, y += ldy) {
        const float unit = factors[r] * multiplier, reciprocal = 1.0f / unit;
        const bool near_one = unit > 0x1p-60f && unit < 0x1p60f;
        for (int v = 0; v < vectors; v++, sums++) {
            vec value = divide(__builtin_convertvector((int_vec)*sums, vec), unit, reciprocal, near_one);
            if (bias != NULL) value += load(bias + v * WIDTH);
            store(y + v * WIDTH, value);
        }
    }
}

/* At the edge: the last `columns` of `lanes`, padded to whole vectors. */
static inline const float *fill_up(float *edge, const float *lanes, size_t columns)
{
    memset(edge, 0, MAX_PANELS * FERRY_LANES * sizeof *edge);
    memcpy(edge, lanes, columns * sizeof *edge);
    return edge;
}

/* Sums [rows, panels, 16] → y. */
static __attribute__((noinline, unused)) void finish_tile(const product *job, int32_t first_row, int32_t first_panel,
                                                          const sum_vec *sums, int rows, int panels)
{
    enum { MOST = MAX_PANELS * FERRY_LANES };
    float edge[MAX_TILE_ROWS][MOST], edge_scales[MOST], edge_bias[MOST];
    const size_t column = (size_t)first_panel * FERRY_LANES, columns = job->N - column;
    const bool whole = columns >= (size_t)panels * FERRY_LANES;
    float *y = job->y + (size_t)first_row * job->ldy + column, *target = whole ? y : edge[0];
    const size_t ld = whole ? job->ldy : MOST;
    const float *scales = job->scales != NULL ? job->scales + column : NULL;
    const float *bias = job->bias != NULL ? job->bias + column : NULL;
    if (!whole && scales != NULL) scales = fill_up(edge_scales, scales, columns);
    if (!whole && bias != NULL) bias = fill_up(edge_bias, bias, columns);
    if (scales != NULL)
        finish_rows(target, ld, sums, rows, panels * PARTS, job->x->units + first_row, scales, bias);
    else
        divide_rows(target, ld, sums, rows, panels * PARTS, job->x->factors + first_row, job->multiplier, bias);
    for (int r = 0; !whole && r < rows; r++, y += job->ldy) memcpy(y, edge[r], columns * sizeof *y);
}

#endif
