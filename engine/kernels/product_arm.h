/* For product_i8.c on ARM: the sums of a tile, by
 *
 *     smull  2 groups of 4 inputs of a row by 2 outputs, as products of 16 bits
 *     sdot   4 inputs of a row by 4 inputs of each of 4 outputs; one load of 16 inputs serves four steps
 *     smmla  2 rows × 8 inputs by 2 outputs × 8 inputs, which are zipped from two groups of a panel
 *
 * Where there are dot products, no ISA uses smull; where there are products of matrices, sdot is for single rows. */
#ifndef FERRY_KERNELS_PRODUCT_ARM_H
#define FERRY_KERNELS_PRODUCT_ARM_H

#include "product_i8.h"

#define OFFSET 0
#if defined(MATRIX_PRODUCTS)
#define TILES(TILE) TILES_UP_TO_6(TILE, 1) TILES_7_TO_10(TILE, 1) TILE(11, 1) TILE(12, 1) TILE(1, 2)
#define NIBBLES_TILES(TILE) TILE(1, 1) TILE(1, 2)
#elif defined(DOT_PRODUCTS)
#define TILES(TILE) TILES_UP_TO_4(TILE, 1) TILE(5, 1) TILE(1, 2) TILE(2, 2)
#define NIBBLES_TILES(TILE) TILES_UP_TO_4(TILE, 1) TILE(1, 2) TILE(2, 2)
#else
#define TILES(TILE) TILE(1, 1) TILE(2, 1)
#endif
#define CHAINS(rows, panels) ((rows) * (panels) > 2 ? 1 : 4 / ((rows) * (panels)))

/* Keeps a sum where it is. Compilers would load so far ahead that sums have to leave their registers (gcc). */
#define PIN(sum) __asm__ volatile("" : "+w"(sum))

#if defined(DOT_PRODUCTS)
/* ---- sdot: 16 inputs of a row at a time ---- */

#define LANES 4

/* The lane of an instruction has to be a constant for any compiler. */
INLINE sum_vec multiply_lane(sum_vec acc, int8x16_t w, int8x16_t x, int lane)
{
    switch (lane) {
    case 0: return (sum_vec)vdotq_laneq_s32((int32x4_t)acc, w, x, 0);
    case 1: return (sum_vec)vdotq_laneq_s32((int32x4_t)acc, w, x, 1);
    case 2: return (sum_vec)vdotq_laneq_s32((int32x4_t)acc, w, x, 2);
    default: return (sum_vec)vdotq_laneq_s32((int32x4_t)acc, w, x, 3);
    }
}

INLINE int8x16_t load_weights(const int8_t *w, kind what)
{
    const uint8x16_t line = vld1q_u8((const uint8_t *)w);
    if (what == CODES) return vreinterpretq_s8_u8(line);
    return vreinterpretq_s8_u8(what == FIRST_NIBBLES ? vandq_u8(line, vdupq_n_u8(NIBBLE_MOST))
                                                     : vshrq_n_u8(line, NIBBLE_SHIFT));
}

/* acc[r, v] += the products of one group of inputs: a lane of row[r]. Panels are panel_size apart. */
INLINE void add_lane(sum_vec *acc, int rows, int panels, const int8x16_t *row, int lane, const int8_t *w, kind what,
                     size_t panel_size)
{
    UNROLL for (int v = 0; v < panels * PARTS; v++)
    {
        const int8x16_t column = load_weights(w + (size_t)(v / PARTS) * panel_size + v % PARTS * WIDTH * GROUP, what);
        UNROLL for (int r = 0; r < rows; r++)
        {
            sum_vec *sum = &acc[r * panels * PARTS + v];
            *sum = multiply_lane(*sum, column, row[r], lane);
            PIN(*sum);
        }
    }
}

INLINE void load_rows(int8x16_t *row, int rows, const int8_t *x)
{
    UNROLL for (int r = 0; r < rows; r++) row[r] = vld1q_s8(x + r * LANES * GROUP);
}

INLINE void accumulate_lanes(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w,
                             size_t groups, ahead next)
{
    const int size = rows * panels * PARTS;
    const size_t panel_size = groups * PANEL_GROUP;
    int8x16_t row[TILE_ROWS];
    size_t left = groups;
    for (; left >= LANES; left -= LANES, x += rows * LANES * GROUP) {
        load_rows(row, rows, x);
        UNROLL for (int lane = 0; lane < LANES; lane++, w += PANEL_GROUP)
        {
            UNROLL for (int p = 0; p < panels; p++) __builtin_prefetch(next.at + p * PANEL_GROUP, 0, 2);
            add_lane(acc + lane % chains * size, rows, panels, row, lane, w, CODES, panel_size);
            next.at += next.step;
        }
    }
    if (left > 0) {
        load_rows(row, rows, x);
        UNROLL for (int lane = 0; lane < LANES - 1; lane++, w += PANEL_GROUP)
        {
            if ((size_t)lane < left) add_lane(acc, rows, panels, row, lane, w, CODES, panel_size);
        }
    }
    add_chains(acc, size, chains);
}

/* The same with nibbles, Σ x̂·u over all lines. */
INLINE void accumulate_nibbles(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w,
                               size_t lines, ahead next)
{
    const int size = rows * panels * PARTS;
    const size_t panel_size = lines * PANEL_GROUP;
    int8x16_t row[TILE_ROWS];
    size_t left = lines;
    for (; left >= LANES / NIBBLE_GROUPS; left -= LANES / NIBBLE_GROUPS, x += rows * LANES * GROUP) {
        load_rows(row, rows, x);
        UNROLL for (int lane = 0; lane < LANES; lane += NIBBLE_GROUPS, w += PANEL_GROUP)
        {
            UNROLL for (int p = 0; p < panels; p++) __builtin_prefetch(next.at + p * PANEL_GROUP, 0, 2);
            add_lane(acc + lane % chains * size, rows, panels, row, lane, w, FIRST_NIBBLES, panel_size);
            add_lane(acc + (lane + 1) % chains * size, rows, panels, row, lane + 1, w, SECOND_NIBBLES, panel_size);
            next.at += next.step;
        }
    }
    if (left > 0) {
        load_rows(row, rows, x);
        add_lane(acc, rows, panels, row, 0, w, FIRST_NIBBLES, panel_size);
        add_lane(acc, rows, panels, row, 1, w, SECOND_NIBBLES, panel_size);
    }
    add_chains(acc, size, chains);
}
#endif

#if !defined(DOT_PRODUCTS) || defined(MATRIX_PRODUCTS)
/* ---- smull, smmla: two groups of inputs at a time ---- */

/* Of `parts` vectors of outputs. Each has two vectors of sums for each row, in an order of its own: add_groups adds the
 * products of two groups, or of a last one; collect puts sums in order. */
#if defined(MATRIX_PRODUCTS)
/* acc[p, v]: rows 2 p and 2 p + 1 by outputs 2 v and 2 v + 1. */
INLINE void add_groups(int32x4_t *acc, int rows, int parts, bool two, const int8_t *x, const int8_t *w)
{
    int8x16_t columns[2 * PARTS];
    UNROLL for (int v = 0; v < parts; v++, w += WIDTH * GROUP)
    {
        const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(w));
        const int32x4_t second = two ? vreinterpretq_s32_s8(vld1q_s8(w + PANEL_GROUP)) : vdupq_n_s32(0);
        columns[2 * v] = vreinterpretq_s8_s32(vzip1q_s32(first, second));
        columns[2 * v + 1] = vreinterpretq_s8_s32(vzip2q_s32(first, second));
    }
    UNROLL for (int r = 0; r < rows; r += 2, x += 2 * INPUTS)
    {
        const int8x16_t pair = r + 1 < rows ? vld1q_s8(x) : vcombine_s8(vld1_s8(x), vdup_n_s8(0));
        UNROLL for (int v = 0; v < 2 * parts; v++)
        {
            int32x4_t *sum = &acc[r * parts + v];
            *sum = vmmlaq_s32(*sum, pair, columns[v]);
            PIN(*sum);
        }
    }
}

INLINE sum_vec collect(const int32x4_t *acc, int r, int parts, int v)
{
    const int32x4_t *sums = &acc[r / 2 * 2 * parts + 2 * v];
    const int64x2_t a = vreinterpretq_s64_s32(sums[0]), b = vreinterpretq_s64_s32(sums[1]);
    return (sum_vec)(r % 2 == 0 ? vzip1q_s64(a, b) : vzip2q_s64(a, b));
}
#else
/* acc[r, v]: every output in two lanes. Two products are at most 2·128·127 < 2^15. */
INLINE void add_groups(int32x4_t *acc, int rows, int parts, bool two, const int8_t *x, const int8_t *w)
{
    int8x16_t row[2 * TILE_ROWS];
    UNROLL for (int i = 0; i < 2 * rows; i++) row[i] = vreinterpretq_s8_s32(vdupq_n_s32(four_bytes(x + i * GROUP)));
    UNROLL for (int v = 0; v < parts; v++, w += WIDTH * GROUP)
    {
        const int8x16_t first = vld1q_s8(w), second = two ? vld1q_s8(w + PANEL_GROUP) : vdupq_n_s8(0);
        UNROLL for (int r = 0; r < rows; r++)
        {
            const int8x16_t a = row[2 * r], b = row[2 * r + 1];
            int32x4_t *sums = &acc[2 * (r * parts + v)];
            int16x8_t low = vmull_s8(vget_low_s8(first), vget_low_s8(a)), high = vmull_high_s8(first, a);
            low = vmlal_s8(low, vget_low_s8(second), vget_low_s8(b));
            high = vmlal_high_s8(high, second, b);
            sums[0] = vpadalq_s16(sums[0], low);
            sums[1] = vpadalq_s16(sums[1], high);
            PIN(sums[0]);
            PIN(sums[1]);
        }
    }
}

INLINE sum_vec collect(const int32x4_t *acc, int r, int parts, int v)
{
    const int32x4_t *sums = &acc[2 * (r * parts + v)];
    return (sum_vec)vpaddq_s32(sums[0], sums[1]);
}
#endif

/* More than six rows take half a panel at a time: its sums fill the registers, and more rows share what is zipped. */
INLINE void accumulate_groups(sum_vec *sums, int rows, const int8_t *inputs, const int8_t *panel, size_t groups,
                              ahead next)
{
    const int parts = rows > 6 ? PARTS / 2 : PARTS;
    UNROLL for (int part = 0; part < PARTS; part += parts)
    {
        int32x4_t acc[2 * TILE_ROWS * PARTS] = {{0}};
        const int8_t *x = inputs, *w = panel + part * WIDTH * GROUP;
        size_t left = groups;
        for (; left >= 2; left -= 2, x += rows * INPUTS, w += 2 * PANEL_GROUP) {
            if (part == 0) {
                __builtin_prefetch(next.at, 0, 2);
                __builtin_prefetch(next.at + next.step, 0, 2);
                next.at += 2 * next.step;
            }
            add_groups(acc, rows, parts, true, x, w);
        }
        if (left > 0) add_groups(acc, rows, parts, false, x, w);
        UNROLL for (int r = 0; r < rows; r++)
        {
            UNROLL for (int v = 0; v < parts; v++) sums[r * PARTS + part + v] = collect(acc, r, parts, v);
        }
    }
}
#endif

/* ---- all ---- */

/* acc [rows, panels·PARTS], initially 0, += Σ x̂·q over all groups. */
INLINE void accumulate(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w, size_t groups,
                       ahead next)
{
    (void)panels;
    (void)chains;
#if defined(DOT_PRODUCTS)
    if (rows == 1 || INPUTS == LANES * GROUP) {
        accumulate_lanes(acc, rows, panels, chains, x, w, groups, next);
        return;
    }
#endif
#if !defined(DOT_PRODUCTS) || defined(MATRIX_PRODUCTS)
    accumulate_groups(acc, rows, x, w, groups, next);
#endif
}

#endif
