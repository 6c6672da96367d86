/* int8 products (int8.h) by dot products of 4 inputs. A step multiplies 4 inputs of a row by 4 weights of each of
 * several outputs. Its instruction:
 *
 *     vpdpbusd  on x86: of WIDTH outputs
 *     sdot      on ARM: of 4 outputs; one load of 16 inputs serves four steps
 *     smull     on ARM without dot products: 2 groups of 4 inputs by 2 outputs, products of 16 bits
 *     pmaddwd   on x86 without AVX, i32x4.dot_i16x8_s in WebAssembly: pairs of inputs of 16 bits, of 4 outputs
 *     i32x4.relaxed_dot_i8x16_i7x16_add_s in relaxed WebAssembly: of 4 outputs
 *
 * Plain C: products of 16 bits in 32-bit lanes. */
#include "int8.h"

/* For every ISA: its tiles (rows, panels); INPUTS of a row that are read at a time; OFFSET, added to every q before the
 * multiplication, so that sums start at -OFFSET·Σ x̂; CHAINS, independent sums of a small tile that hide the latency of
 * additions. */
#if defined(__AVX512VNNI__)
#define TILE_ROWS 14
#define TILES(TILE) TILES_UP_TO_14(TILE, 1) TILES_UP_TO_14(TILE, 2) TILES_UP_TO_6(TILE, 4)
#define NIBBLES_TILES(TILE) TILES_UP_TO_8(TILE, 1) TILES_UP_TO_8(TILE, 2) TILES_UP_TO_6(TILE, 4)
#define PLANES_TILES(TILE) TILES_UP_TO_14(TILE, 1) TILES_UP_TO_14(TILE, 2)
#define STEPS_TILES(TILE) TILES_UP_TO_14(TILE, 1) TILES_UP_TO_6(TILE, 2) TILES_UP_TO_3(TILE, 4)
#define INPUTS GROUP
#define OFFSET 128
#define CHAINS(rows, panels)                                                                                           \
    ((rows) * (panels) > 9 ? 1 : (rows) * (panels) > 4 ? 2 : (rows) * (panels) > 2 ? 4 : 8 / ((rows) * (panels)))
#elif defined(__AVXVNNI__)
#define TILE_ROWS 6
#define TILES(TILE) TILES_UP_TO_6(TILE, 1)
#define NIBBLES_TILES TILES
#define PLANES_TILES TILES
#define STEPS_TILES TILES
#define INPUTS GROUP
#define OFFSET 128
#define CHAINS(rows, panels) ((rows) > 2 ? 1 : 4 / (rows))
#elif defined(__ARM_FEATURE_DOTPROD)
#define TILE_ROWS 5
#define TILES(TILE) TILES_UP_TO_4(TILE, 1) TILE(5, 1) TILE(1, 2) TILE(2, 2)
#define NIBBLES_TILES(TILE) TILES_UP_TO_4(TILE, 1) TILE(1, 2) TILE(2, 2)
#define PLANES_TILES TILES
#define STEPS_TILES TILES
#define LANES 4
#define INPUTS (LANES * GROUP)
#define OFFSET 0
#define CHAINS(rows, panels) ((rows) * (panels) > 2 ? 1 : 4 / ((rows) * (panels)))
#elif defined(__SSE2__) || defined(__wasm_simd128__)
#define TILE_ROWS 4
#define TILES(TILE) TILES_UP_TO_4(TILE, 1)
#define STEPS_TILES TILES
#define INPUTS GROUP
#define OFFSET 0
#define CHAINS(rows, panels) 1
#else
#define TILE_ROWS 2
#define TILES(TILE) TILE(1, 1) TILE(2, 1)
#define STEPS_TILES TILES
#if defined(FERRY_NEON)
#define INPUTS (2 * GROUP)
#else
#define INPUTS GROUP
#endif
#define OFFSET 0
#define CHAINS(rows, panels) 1
#endif

#if defined(NIBBLES_TILES) || !defined(FERRY_NEON)
/* acc [size] becomes the sum of all chains [size]. */
INLINE void add_chains(sum_vec *acc, int size, int chains)
{
    UNROLL for (int c = 1; c < chains; c++)
    {
        UNROLL for (int v = 0; v < size; v++) acc[v] += acc[c * size + v];
    }
}
#endif

#if !defined(FERRY_NEON)
/* ---- x86 (vpdpbusd), WebAssembly, and plain C ---- */

#if WIDTH > 4
typedef byte_vec operand;

INLINE sum_vec multiply_add(sum_vec acc, operand w, operand x, kind what)
{
    (void)what;
#if WIDTH == 16
    return (sum_vec)_mm512_dpbusd_epi32((__m512i)acc, (__m512i)w, (__m512i)x);
#else
    return (sum_vec)_mm256_dpbusd_avx_epi32((__m256i)acc, (__m256i)w, (__m256i)x);
#endif
}
#elif defined(__wasm_relaxed_simd__)
/* The instruction gives the same result on every machine if no weight is -128, which importers ensure, and the other
 * operand is in 0 … 127: |x̂|, whose sign moves to the weight; or a nibble. */
typedef int8_t signed_bytes __attribute__((vector_size(16), may_alias));
typedef uint8_t unsigned_bytes __attribute__((vector_size(16), may_alias));
typedef struct operand {
    signed_bytes int8, signs; /* -1 for negative inputs */
    signed_bytes own;         /* inputs with their signs */
} operand;

INLINE operand load_inputs(const int8_t *x)
{
    const signed_bytes int8 = (signed_bytes)((int_vec){0} + four_bytes(x)), signs = int8 >> 7;
    return (operand){(int8 ^ signs) - signs, signs, int8};
}

INLINE operand load_weights(const int8_t *w, const int8_t *lower, kind what)
{
    (void)lower;
    const signed_bytes line = *(const signed_bytes *)w;
    if (what == INT8) return (operand){.int8 = line};
    if (what == FIRST_NIBBLES) return (operand){.int8 = line & NIBBLE_MAX};
    return (operand){.int8 = (signed_bytes)((unsigned_bytes)line >> NIBBLE_SHIFT)};
}

INLINE sum_vec multiply_add(sum_vec acc, operand w, operand x, kind what)
{
    if (what != INT8)
        return (sum_vec)wasm_i32x4_relaxed_dot_i8x16_i7x16_add((v128_t)x.own, (v128_t)w.int8, (v128_t)acc);
    const signed_bytes signed_w = (w.int8 ^ x.signs) - x.signs;
    return (sum_vec)wasm_i32x4_relaxed_dot_i8x16_i7x16_add((v128_t)signed_w, (v128_t)x.int8, (v128_t)acc);
}
#else
/* Bytes as halves of 16-bit lanes, in either order: low·low + high·high is at most 2·128·127 < 2^15. */
typedef int16_t halves __attribute__((vector_size(16), may_alias));
typedef uint16_t unsigned_halves __attribute__((vector_size(16), may_alias));
typedef struct operand {
    halves low, high;
} operand;

INLINE operand split(halves both)
{
    return (operand){.low = (halves)((unsigned_halves)both << 8) >> 8, .high = both >> 8};
}

INLINE operand load_inputs(const int8_t *x)
{
    return split((halves)((int_vec){0} + four_bytes(x)));
}

INLINE operand load_weights(const int8_t *w, const int8_t *lower, kind what)
{
    (void)lower;
    const halves line = *(const halves *)w;
    if (what == INT8) return split(line);
    const halves nibbles = what == FIRST_NIBBLES ? line : line >> NIBBLE_SHIFT;
    return (operand){.low = nibbles & NIBBLE_MAX, .high = nibbles >> 8 & NIBBLE_MAX};
}

INLINE sum_vec multiply_add(sum_vec acc, operand w, operand x, kind what)
{
    (void)what;
#if defined(__SSE2__)
    return acc + (sum_vec)_mm_madd_epi16((__m128i)w.low, (__m128i)x.low) +
           (sum_vec)_mm_madd_epi16((__m128i)w.high, (__m128i)x.high);
#elif defined(__wasm_simd128__)
    return acc + (sum_vec)wasm_i32x4_dot_i16x8((v128_t)w.low, (v128_t)x.low) +
           (sum_vec)wasm_i32x4_dot_i16x8((v128_t)w.high, (v128_t)x.high);
#else
    const sum_vec both = (sum_vec)(w.low * x.low + w.high * x.high);
    return acc + (sum_vec)((int_vec)(both << 16) >> 16) + (sum_vec)((int_vec)both >> 16);
#endif
}
#endif

/* acc[r, v] += the products of one group of inputs; panels are panel_size apart. */
INLINE void add_step(sum_vec *acc, int rows, int panels, const int8_t *x, const int8_t *w, const int8_t *lower,
                     kind what, size_t panel_size)
{
    operand columns[MAX_PANELS * PARTS];
    UNROLL for (int v = 0; v < panels * PARTS; v++)
    {
        const size_t at = (size_t)(v / PARTS) * panel_size + (size_t)(v % PARTS * WIDTH * GROUP);
        columns[v] = load_weights(w + at, lower + at, what);
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        const operand row = load_inputs(x + r * GROUP);
        UNROLL for (int v = 0; v < panels * PARTS; v++)
        {
            acc[r * panels * PARTS + v] = multiply_add(acc[r * panels * PARTS + v], columns[v], row, what);
        }
    }
}

/* Called in every step; `left` counts down. Over more than two panels the hardware's own prefetching keeps up. */
INLINE void prefetch_lines(const ahead *next, size_t left, int panels)
{
    if (panels <= 2 && (left & next->skip) == 0)
        UNROLL for (int p = 0; p < panels; p++) __builtin_prefetch(next->at + p * FERRY_LINE_BYTES, 0, 2);
}

/* acc [rows, panels·PARTS] += Σ x̂·q over all groups, in `chains` chains that are added at the end. */
INLINE void accumulate(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w, size_t groups,
                       ahead next)
{
    const int size = rows * panels * PARTS;
    const size_t panel_size = groups * FERRY_LINE_BYTES, together = (size_t)chains;
    size_t left = groups;
    for (; left >= together; left -= together) {
        UNROLL for (int c = 0; c < chains; c++, x += rows * GROUP, w += FERRY_LINE_BYTES, next.at += next.step)
        {
            prefetch_lines(&next, left, panels);
            add_step(acc + c * size, rows, panels, x, w, w, INT8, panel_size);
        }
    }
    for (; left > 0; left--, x += rows * GROUP, w += FERRY_LINE_BYTES)
        add_step(acc, rows, panels, x, w, w, INT8, panel_size);
    add_chains(acc, size, chains);
}

#if defined(NIBBLES_TILES)
/* The same over all lines, with nibbles, Σ x̂·u, or codes of both planes; `first` is the kind of the first groups. A
 * second chain has the second groups. */
INLINE void accumulate_lines(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w,
                             const int8_t *lower, size_t lines, ahead next, kind first)
{
    const int size = rows * panels * PARTS, second = chains > 1 ? size : 0;
    const size_t panel_size = lines * FERRY_LINE_BYTES;
    ahead next_lower = {next.at - w + lower, next.step, next.skip};
    for (size_t left = lines; left > 0; left--, x += NIBBLE_GROUPS * rows * GROUP) {
        /* One row of nibbles: the whole next group of panels, into the first-level cache. */
        if (rows == 1 && first == FIRST_NIBBLES)
            UNROLL for (int p = 0; p < panels; p++) __builtin_prefetch(next.at + p * FERRY_LINE_BYTES, 0, 3);
        else
            prefetch_lines(&next, left, panels);
        if (first == FIRST_CODES) prefetch_lines(&next_lower, left, panels);
        add_step(acc, rows, panels, x, w, lower, first, panel_size);
        add_step(acc + second, rows, panels, x + rows * GROUP, w, lower, (kind)(first + 1), panel_size);
        next.at += next.step;
        next_lower.at += next.step;
        w += FERRY_LINE_BYTES;
        lower += FERRY_LINE_BYTES;
    }
    add_chains(acc, size, chains > 1 ? 2 : 1);
}
#endif

/* acc + s·sum, of sums that fit in 16 bits: a product of pairs (sum, its sign) by (s, 0). */
INLINE sum_vec multiply_steps(sum_vec acc, int_vec steps, sum_vec sum)
{
#if WIDTH == 16
    return (sum_vec)_mm512_dpwssd_epi32((__m512i)acc, (__m512i)sum, (__m512i)(steps & UINT16_MAX));
#elif WIDTH == 8
    return (sum_vec)_mm256_dpwssd_avx_epi32((__m256i)acc, (__m256i)sum, (__m256i)(steps & UINT16_MAX));
#elif defined(__SSE2__)
    return acc + (sum_vec)_mm_madd_epi16((__m128i)sum, (__m128i)(steps & UINT16_MAX));
#elif defined(__wasm_simd128__)
    return acc + (sum_vec)wasm_i32x4_dot_i16x8((v128_t)sum, (v128_t)(steps & UINT16_MAX));
#else
    return acc + (sum_vec)steps * sum;
#endif
}

/* acc [rows, panels·PARTS] = Σ s·(Σ x̂·(u - 8)) over all groups of 32 inputs. */
INLINE void accumulate_steps(sum_vec *acc, int rows, int panels, const int8_t *x, step_panel at, size_t panel_size,
                             ahead next)
{
    const int size = rows * panels * PARTS;
    for (; at.groups > 0; at.groups--, at.starts += rows, at.steps += FERRY_LANES) {
        sum_vec sums[MAX_SUMS];
        UNROLL for (int v = 0; v < size; v++) sums[v] = (sum_vec){0} + (uint32_t)at.starts[v / (panels * PARTS)];
        UNROLL for (int line = 0; line < STEP_LINES; line++, x += NIBBLE_GROUPS * rows * GROUP)
        {
            UNROLL for (int p = 0; p < panels; p++) __builtin_prefetch(next.at + p * FERRY_LINE_BYTES, 0, 3);
            next.at += next.step;
            add_step(sums, rows, panels, x, at.nibbles, at.nibbles, FIRST_NIBBLES, panel_size);
            add_step(sums, rows, panels, x + rows * GROUP, at.nibbles, at.nibbles, SECOND_NIBBLES, panel_size);
            at.nibbles += FERRY_LINE_BYTES;
        }
        UNROLL for (int v = 0; v < panels * PARTS; v++)
        {
            const int_vec steps = load_steps(at.steps + (size_t)(v / PARTS) * panel_size + v % PARTS * WIDTH);
            UNROLL for (int i = v; i < size; i += panels * PARTS) acc[i] = multiply_steps(acc[i], steps, sums[i]);
        }
    }
}

#elif defined(__ARM_FEATURE_DOTPROD)
/* ---- sdot: 16 inputs of a row at a time ---- */

/* The lane must be a constant for every compiler. */
INLINE sum_vec multiply_lane(sum_vec acc, int8x16_t w, int8x16_t x, int lane)
{
    switch (lane) {
    case 0: return (sum_vec)vdotq_laneq_s32((int32x4_t)acc, w, x, 0);
    case 1: return (sum_vec)vdotq_laneq_s32((int32x4_t)acc, w, x, 1);
    case 2: return (sum_vec)vdotq_laneq_s32((int32x4_t)acc, w, x, 2);
    default: return (sum_vec)vdotq_laneq_s32((int32x4_t)acc, w, x, 3);
    }
}

INLINE int8x16_t load_weights(const int8_t *w, const int8_t *lower, kind what)
{
    const uint8x16_t line = vld1q_u8((const uint8_t *)w), sign = vdupq_n_u8(128);
    if (what == INT8) return vreinterpretq_s8_u8(line);
    if (what == FIRST_CODES)
        return vreinterpretq_s8_u8(veorq_u8(vsliq_n_u8(vld1q_u8((const uint8_t *)lower), line, NIBBLE_SHIFT), sign));
    if (what == SECOND_CODES)
        return vreinterpretq_s8_u8(veorq_u8(vsriq_n_u8(line, vld1q_u8((const uint8_t *)lower), NIBBLE_SHIFT), sign));
    return vreinterpretq_s8_u8(what == FIRST_NIBBLES ? vandq_u8(line, vdupq_n_u8(NIBBLE_MAX))
                                                     : vshrq_n_u8(line, NIBBLE_SHIFT));
}

/* acc[r, v] += the products of one group of inputs, a lane of row[r]. Panels are panel_size apart. */
INLINE void add_lane(sum_vec *acc, int rows, int panels, const int8x16_t *row, int lane, const int8_t *w,
                     const int8_t *lower, kind what, size_t panel_size)
{
    UNROLL for (int v = 0; v < panels * PARTS; v++)
    {
        const size_t at = (size_t)(v / PARTS) * panel_size + (size_t)(v % PARTS * WIDTH * GROUP);
        const int8x16_t column = load_weights(w + at, lower + at, what);
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
    UNROLL for (int r = 0; r < rows; r++) row[r] = vld1q_s8(x + r * INPUTS);
}

/* acc [rows, panels·PARTS] += Σ x̂·q over all groups, in `chains` chains that are added at the end. */
INLINE void accumulate(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w, size_t groups,
                       ahead next)
{
    const int size = rows * panels * PARTS;
    const size_t panel_size = groups * FERRY_LINE_BYTES;
    int8x16_t row[TILE_ROWS];
    size_t left = groups;
    for (; left >= LANES; left -= LANES, x += rows * INPUTS) {
        load_rows(row, rows, x);
        UNROLL for (int lane = 0; lane < LANES; lane++, w += FERRY_LINE_BYTES)
        {
            UNROLL for (int p = 0; p < panels; p++) __builtin_prefetch(next.at + p * FERRY_LINE_BYTES, 0, 2);
            add_lane(acc + lane % chains * size, rows, panels, row, lane, w, w, INT8, panel_size);
            next.at += next.step;
        }
    }
    if (left > 0) {
        load_rows(row, rows, x);
        UNROLL for (int lane = 0; lane < LANES - 1; lane++, w += FERRY_LINE_BYTES)
        {
            if ((size_t)lane < left) add_lane(acc, rows, panels, row, lane, w, w, INT8, panel_size);
        }
    }
    add_chains(acc, size, chains);
}

/* The same over all lines, with nibbles, Σ x̂·u, or codes of both planes; `first` is the kind of the first groups. */
INLINE void accumulate_lines(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w,
                             const int8_t *lower, size_t lines, ahead next, kind first)
{
    const int size = rows * panels * PARTS;
    const size_t panel_size = lines * FERRY_LINE_BYTES;
    const int8_t *next_lower = next.at - w + lower;
    const kind second = (kind)(first + 1);
    int8x16_t row[TILE_ROWS];
    size_t left = lines;
    for (; left >= LANES / NIBBLE_GROUPS; left -= LANES / NIBBLE_GROUPS, x += rows * INPUTS) {
        load_rows(row, rows, x);
        UNROLL for (int lane = 0; lane < LANES; lane += NIBBLE_GROUPS)
        {
            UNROLL for (int p = 0; p < panels; p++)
            {
                __builtin_prefetch(next.at + p * FERRY_LINE_BYTES, 0, 2);
                if (first == FIRST_CODES) __builtin_prefetch(next_lower + p * FERRY_LINE_BYTES, 0, 2);
            }
            add_lane(acc + lane % chains * size, rows, panels, row, lane, w, lower, first, panel_size);
            add_lane(acc + (lane + 1) % chains * size, rows, panels, row, lane + 1, w, lower, second, panel_size);
            next.at += next.step;
            next_lower += next.step;
            w += FERRY_LINE_BYTES;
            lower += FERRY_LINE_BYTES;
        }
    }
    if (left > 0) {
        load_rows(row, rows, x);
        add_lane(acc, rows, panels, row, 0, w, lower, first, panel_size);
        add_lane(acc, rows, panels, row, 1, w, lower, second, panel_size);
    }
    add_chains(acc, size, chains);
}

/* acc [rows, panels·PARTS] = Σ s·(Σ x̂·(u - 8)) over all groups of 32 inputs. */
INLINE void accumulate_steps(sum_vec *acc, int rows, int panels, const int8_t *x, step_panel at, size_t panel_size,
                             ahead next)
{
    const int size = rows * panels * PARTS;
    int8x16_t row[TILE_ROWS];
    for (; at.groups > 0; at.groups--, at.starts += rows, at.steps += FERRY_LANES) {
        sum_vec sums[TILE_ROWS * PARTS];
        UNROLL for (int v = 0; v < size; v++) sums[v] = (sum_vec){0} + (uint32_t)at.starts[v / (panels * PARTS)];
        UNROLL for (int line = 0; line < STEP_LINES; line++, at.nibbles += FERRY_LINE_BYTES)
        {
            const int lane = line * NIBBLE_GROUPS % LANES;
            if (lane == 0) {
                load_rows(row, rows, x);
                x += rows * INPUTS;
            }
            UNROLL for (int p = 0; p < panels; p++) __builtin_prefetch(next.at + p * FERRY_LINE_BYTES, 0, 2);
            next.at += next.step;
            add_lane(sums, rows, panels, row, lane, at.nibbles, at.nibbles, FIRST_NIBBLES, panel_size);
            add_lane(sums, rows, panels, row, lane + 1, at.nibbles, at.nibbles, SECOND_NIBBLES, panel_size);
        }
        UNROLL for (int v = 0; v < panels * PARTS; v++)
        {
            const int_vec steps = load_steps(at.steps + (size_t)(v / PARTS) * panel_size + v % PARTS * WIDTH);
            UNROLL for (int i = v; i < size; i += panels * PARTS) acc[i] += (sum_vec)steps * sums[i];
        }
    }
}

#else
/* ---- smull: two groups of inputs at a time ---- */

/* acc[r, v] += the products of two groups, or of the last one (!two). Every output has two lanes. Two products are at
 * most 2·128·127 < 2^15. */
INLINE void add_groups(int32x4_t *acc, int rows, bool two, const int8_t *x, const int8_t *w)
{
    int8x16_t row[2 * TILE_ROWS];
    UNROLL for (int i = 0; i < 2 * rows; i++) row[i] = vreinterpretq_s8_s32(vdupq_n_s32(four_bytes(x + i * GROUP)));
    UNROLL for (int v = 0; v < PARTS; v++, w += WIDTH * GROUP)
    {
        const int8x16_t first = vld1q_s8(w), second = two ? vld1q_s8(w + FERRY_LINE_BYTES) : vdupq_n_s8(0);
        UNROLL for (int r = 0; r < rows; r++)
        {
            const int8x16_t a = row[2 * r], b = row[2 * r + 1];
            int32x4_t *sums = &acc[2 * (r * PARTS + v)];
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

/* sums [rows, PARTS] = Σ x̂·q over all groups. */
INLINE void accumulate(sum_vec *sums, int rows, int panels, int chains, const int8_t *x, const int8_t *w, size_t groups,
                       ahead next)
{
    int32x4_t acc[2 * TILE_ROWS * PARTS] = {{0}};
    size_t left = groups;
    (void)panels;
    (void)chains;
    for (; left >= 2; left -= 2, x += rows * INPUTS, w += 2 * FERRY_LINE_BYTES, next.at += 2 * next.step) {
        __builtin_prefetch(next.at, 0, 2);
        __builtin_prefetch(next.at + next.step, 0, 2);
        add_groups(acc, rows, true, x, w);
    }
    if (left > 0) add_groups(acc, rows, false, x, w);
    UNROLL for (int i = 0; i < rows * PARTS; i++) sums[i] = (sum_vec)vpaddq_s32(acc[2 * i], acc[2 * i + 1]);
}

/* sums[2 i …] += the products of a line of nibbles and two groups of row i: 8 lanes for 2 outputs. Of 32 inputs each
 * lane has at most 8·15·127 < 2^15. */
INLINE void add_nibbles(int16x8_t *sums, int rows, const int8_t *x, const int8_t *w)
{
    const uint8x16_t line = vld1q_u8((const uint8_t *)w);
    const int8x16_t first = vreinterpretq_s8_u8(vandq_u8(line, vdupq_n_u8(NIBBLE_MAX)));
    const int8x16_t second = vreinterpretq_s8_u8(vshrq_n_u8(line, NIBBLE_SHIFT));
    UNROLL for (int r = 0; r < rows; r++, x += INPUTS)
    {
        const int8x16_t a = vreinterpretq_s8_s32(vdupq_n_s32(four_bytes(x)));
        const int8x16_t b = vreinterpretq_s8_s32(vdupq_n_s32(four_bytes(x + GROUP)));
        sums[2 * r] = vmlal_s8(sums[2 * r], vget_low_s8(first), vget_low_s8(a));
        sums[2 * r + 1] = vmlal_high_s8(sums[2 * r + 1], first, a);
        sums[2 * r] = vmlal_s8(sums[2 * r], vget_low_s8(second), vget_low_s8(b));
        sums[2 * r + 1] = vmlal_high_s8(sums[2 * r + 1], second, b);
    }
}

/* acc [rows, PARTS] += Σ s·(Σ x̂·(u - 8)) over all groups of 32 inputs. */
INLINE void accumulate_steps(sum_vec *acc, int rows, int panels, const int8_t *x, step_panel at, size_t panel_size,
                             ahead next)
{
    (void)panels;
    (void)panel_size;
    for (; at.groups > 0; at.groups--, at.starts += rows, at.steps += FERRY_LANES) {
        UNROLL for (int v = 0; v < PARTS; v++)
        {
            const int32x4_t steps = (int32x4_t)load_steps(at.steps + v * WIDTH);
            int16x8_t sums[2 * TILE_ROWS] = {{0}};
            UNROLL for (int line = 0; line < STEP_LINES; line++)
            {
                add_nibbles(sums, rows, x + line * rows * INPUTS,
                            at.nibbles + line * FERRY_LINE_BYTES + v * WIDTH * GROUP);
            }
            UNROLL for (int r = 0; r < rows; r++)
            {
                const int16x8_t pairs = vpaddq_s16(sums[2 * r], sums[2 * r + 1]);
                const int32x4_t sum = vpadalq_s16(vdupq_n_s32(at.starts[r]), pairs);
                acc[r * PARTS + v] += (sum_vec)vmulq_s32(sum, steps);
            }
            __builtin_prefetch(next.at, 0, 2);
            next.at += next.step;
        }
        x += STEP_LINES * rows * INPUTS;
        at.nibbles += STEP_LINES * FERRY_LINE_BYTES;
    }
}
#endif

/* ---- product ---- */

void FERRY_KERNEL(quantize)(ferry_rows_i8 *inputs, const float *x, int32_t row)
{
    const partition parts = part_rows(inputs->rows, TILE_ROWS, 1);
    const block part = block_of_row(&parts, row);
    const int32_t K = inputs->K;
    row_lanes lanes = {.nibbles = inputs->nibbles, .stride = (size_t)part.rows};
    int8_t *int8 = inputs->int8 + (size_t)part.first * row_bytes(K, INPUTS) + (row - part.first) * INPUTS;
    if (inputs->steps) lanes.starts = inputs->starts + part.first * (K / FERRY_STEP_INPUTS) + row - part.first;
    const float a = inputs->inverse_scales[row];
    const int32_t sum = inputs->rows == 1 ? quantize_pieces(int8, PIECE_INPUTS, x, K, a, &lanes)
                                          : quantize_steps(int8, INPUTS, (size_t)part.rows * INPUTS, x, K, a, &lanes);
    finish_inputs(inputs, row, &lanes, sum);
}

INLINE void multiply_tile(const product *job, int32_t row, int32_t panel, const ahead *next, int rows, int panels,
                          kind what)
{
    const int size = rows * panels * PARTS, chains = CHAINS(rows, panels);
    sum_vec acc[MAX_SUMS];
    const int8_t *x = job->x->int8 + (size_t)row * row_bytes(job->x->K, INPUTS);
    const int8_t *w = job->weights + (size_t)panel * job->panel_size;
    const int32_t *sums = job->x->sums + row;
    UNROLL for (int v = 0; v < chains * size; v++) acc[v] = (sum_vec){0};
    if (what != FIRST_NIBBLES)
        UNROLL for (int v = 0; v < size; v++) acc[v] -= OFFSET * (uint32_t)sums[v / (panels * PARTS)];
    if (what == INT8) accumulate(acc, rows, panels, chains, x, w, job->groups, *next);
#if defined(NIBBLES_TILES)
    if (what != INT8) {
        const int8_t *lower = what == FIRST_CODES ? job->lower + (size_t)panel * job->panel_size : w;
        accumulate_lines(acc, rows, panels, chains, x, w, lower, job->panel_size / FERRY_LINE_BYTES, *next, what);
    }
    if (what == FIRST_NIBBLES) UNROLL for (int v = 0; v < size; v++)
        {
            acc[v] = (acc[v] << NIBBLE_SHIFT) + (uint32_t)sums[v / (panels * PARTS)];
        }
#endif
    end_tile(job, row, panel, acc, rows, panels);
}

#define INT8_TILE(rows, panels) TILE_FUNCTION(int8_tile, rows, panels, INT8)
#define INT8_ENTRY(rows, panels) TILE_ENTRY(int8_tile, rows, panels)
TILES(INT8_TILE)
static tile_row int8_tiles[TILE_ROWS + 1] = {TILES(INT8_ENTRY)};
#if defined(NIBBLES_TILES)
#define NIBBLES_TILE(rows, panels) TILE_FUNCTION(nibbles_tile, rows, panels, FIRST_NIBBLES)
#define NIBBLES_ENTRY(rows, panels) TILE_ENTRY(nibbles_tile, rows, panels)
NIBBLES_TILES(NIBBLES_TILE)
static tile_row nibbles_tiles[TILE_ROWS + 1] = {NIBBLES_TILES(NIBBLES_ENTRY)};
#define PLANES_TILE(rows, panels) TILE_FUNCTION(planes_tile, rows, panels, FIRST_CODES)
#define PLANES_ENTRY(rows, panels) TILE_ENTRY(planes_tile, rows, panels)
PLANES_TILES(PLANES_TILE)
static tile_row planes_tiles[TILE_ROWS + 1] = {PLANES_TILES(PLANES_ENTRY)};
#else
#define nibbles_tiles NULL
#define planes_tiles NULL
#endif

INLINE void multiply_steps_tile(const product *job, int32_t row, int32_t panel, const ahead *next, int rows, int panels)
{
    const int8_t *x = job->x->int8 + (size_t)row * row_bytes(job->x->K, INPUTS);
    sum_vec acc[MAX_SUMS];
    UNROLL for (int v = 0; v < rows * panels * PARTS; v++) acc[v] = (sum_vec){0};
    accumulate_steps(acc, rows, panels, x, find_steps(job, row, panel), job->panel_size, *next);
    end_tile(job, row, panel, acc, rows, panels);
}

#define STEPS_ENTRY(rows, panels) TILE_ENTRY(steps_tile, rows, panels)
STEPS_TILES(STEPS_TILE_FUNCTION)
static tile_row steps_tiles[TILE_ROWS + 1] = {STEPS_TILES(STEPS_ENTRY)};

void FERRY_KERNEL(product_i8)(float *y, size_t ldy, const ferry_rows_i8 *x, const ferry_matrix *matrix)
{
    const product job = new_product(y, ldy, x, matrix);
    run_tiles(&job,
              matrix->kind == FERRY_MATRIX_NIBBLES  ? nibbles_tiles
              : matrix->kind == FERRY_MATRIX_PLANES ? planes_tiles
              : matrix->kind == FERRY_MATRIX_STEPS  ? steps_tiles
                                                    : int8_tiles,
              TILE_ROWS, 1);
}
