/* For the sources of int8 products (linear.h), which are compiled once per ISA (isa.h). Integer sums are exact in any
 * order, and the float32 operations after them are the same on every ISA. One algorithm per file:
 *
 *     int8_dots.c     dot products of 4 inputs         plain, avxvnni, avx512vnni, neon, neon_dotprod
 *     int8_pairs.c    sums of pairs in 16 bits         avx2, avx512
 *     int8_matrix.c   products of small matrices       amx, neon_i8mm
 *
 * Each file stores its inputs in the order in which its tiles read them, in blocks of rows as equal as possible:
 *
 *     block: [⌈K/L⌉][rows of the block][L]    L: inputs of a row that are read at a time
 *     panel: [⌈K/4⌉][16 outputs][4]           acc[i, n] += Σ_(4 inputs) x̂[i, k]·q[n, k]
 *
 * Bytes of inputs past K are undefined: the weights there are 0. A tile multiplies a block by some panels, over all of
 * K, and keeps its sums in registers. */
#ifndef FERRY_KERNELS_INT8_H
#define FERRY_KERNELS_INT8_H

#include "isa.h"

#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#define GROUP FERRY_INT8_GROUP
#define PIECE_INPUTS 64 /* L of a single row, and of AMX */
#define MAX_PANELS 4    /* of a tile */
#define MAX_TILE_ROWS 16
#define MAX_SUMS 48 /* vectors of sums in a tile, over all chains */

/* Nibble u stands for q̂ = 16 u - NIBBLE_OFFSET (kernels.h). A line has the nibbles of two groups. */
#define NIBBLE_SHIFT 4
#define NIBBLE_OFFSET 120.5
#define NIBBLE_MAX 15
#define NIBBLE_GROUPS (FERRY_NIBBLE_GROUP / GROUP)

typedef uint32_t sum_vec __attribute__((vector_size(4 * WIDTH), may_alias)); /* partial sums may wrap */

INLINE int32_t four_bytes(const int8_t *x)
{
    int32_t four;
    memcpy(&four, x, sizeof four);
    return four;
}

/* Keeps a sum in its register and the additions in their order. Otherwise compilers load and multiply ahead until no
 * registers are left. */
#if defined(FERRY_NEON)
#define PIN(sum) __asm__ volatile("" : "+w"(sum))
#elif WIDTH > 4
#define PIN(sum) __asm__("" : "+v"(sum))
#endif

/* What is read of a line of weights: int8, q + 128, or of its first or second group the nibbles, or both planes joined.
 */
typedef enum kind { INT8, JOINED, FIRST_NIBBLES, SECOND_NIBBLES, FIRST_CODES, SECOND_CODES } kind;

#if WIDTH > 4
/* The instructions multiply unsigned bytes by signed ones: (q + 128)·x̂, or u·x̂. */
typedef uint8_t byte_vec __attribute__((vector_size(4 * WIDTH), may_alias));
typedef uint16_t byte_pairs __attribute__((vector_size(4 * WIDTH), may_alias));

/* Four inputs of a row, repeated. */
INLINE byte_vec load_inputs(const int8_t *x)
{
    return (byte_vec)((int_vec){0} + four_bytes(x));
}

/* Four q + 128, or u, of each of WIDTH outputs. `lower`: the line of the lower plane, of codes. */
INLINE byte_vec load_weights(const int8_t *w, const int8_t *lower, kind what)
{
    const byte_vec line = *(const byte_vec *)w;
    if (what == INT8) return line ^ 0x80;
    if (what == JOINED) return line;
    if (what == FIRST_CODES || what == SECOND_CODES) {
        const byte_pairs u = (byte_pairs)line, l = *(const byte_pairs *)lower;
#if WIDTH == 16 /* mask ? low : high */
        const byte_vec high = (byte_vec)(what == FIRST_CODES ? u << NIBBLE_SHIFT : u);
        const byte_vec low = (byte_vec)(what == FIRST_CODES ? l : l >> NIBBLE_SHIFT);
        return (byte_vec)_mm512_ternarylogic_epi32(_mm512_set1_epi8(NIBBLE_MAX), (__m512i)low, (__m512i)high, 0xca);
#else
        const byte_vec swapped = ((byte_vec)(u << NIBBLE_SHIFT) ^ (byte_vec)l) & 0xf0; /* of both groups */
        if (what == FIRST_CODES) return (byte_vec)l ^ swapped;
        return line ^ (byte_vec)((byte_pairs)swapped >> NIBBLE_SHIFT);
#endif
    }
    return (what == FIRST_NIBBLES ? line : (byte_vec)((byte_pairs)line >> NIBBLE_SHIFT)) & NIBBLE_MAX;
}
#endif

/* ---- quantizing a row ---- */

/* Sums over the inputs of a row so far, by lanes. */
typedef struct row_lanes {
    int_vec sums;    /* Σ x̂ */
    int_vec squares; /* Σ x̂², for nibbles only */
    int_vec nans;    /* not 0: an input is a NaN */
    bool nibbles;
    int32_t *starts; /* of the row's sums of 32 inputs, `stride` apart; NULL: not needed */
    size_t stride;
    int_vec before; /* `sums` before the current 32 inputs */
} row_lanes;

INLINE int32_t add_lanes(int_vec x)
{
    typedef int32_t quad __attribute__((vector_size(16)));
    quad quads[WIDTH / 4];
    memcpy(quads, &x, sizeof x);
    UNROLL for (int q = 1; q < WIDTH / 4; q++) quads[0] += quads[q];
    return (quads[0][0] + quads[0][2]) + (quads[0][1] + quads[0][3]);
}

/* The nearest integer to min(max(x, -127), 127), ties to even; -127 if x is a NaN. Adding 1.5·2^23 rounds to an integer
 * in the low bits. */
INLINE int_vec round_clamped(vec x)
{
#if defined(FERRY_NEON)
    /* Of a NaN and a number these return the number. */
    return vcvtnq_s32_f32(vminnmq_f32(vmaxnmq_f32(x, vdupq_n_f32(-127.0f)), vdupq_n_f32(127.0f)));
#else
    const float shift = 0x1.8p23f;
#if WIDTH == 16
    x = _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-127.0f)), _mm512_set1_ps(127.0f));
#elif WIDTH == 8
    x = _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(-127.0f)), _mm256_set1_ps(127.0f));
#else
    const vec low = (vec){0} - 127.0f, high = (vec){0} + 127.0f;
    const int_vec above = x > low, below = x < high;
    const int_vec larger = (above & (int_vec)x) | (~above & (int_vec)low);
    x = (vec)((below & larger) | (~below & above & (int_vec)high) | (~above & larger));
#endif
    return (int_vec)(x + shift) - (int_vec)((vec){0} + shift);
#endif
}

/* After the first or second half of 32 inputs. */
INLINE void end_half(row_lanes *row, int32_t k)
{
    if (row->starts == NULL || k % FERRY_STEP_INPUTS == 0) return;
    *row->starts = 8 * add_lanes(row->before - row->sums);
    row->starts += row->stride;
    row->before = row->sums;
}

/* int8 [16] = x̂ of x [16]. */
INLINE void quantize_lanes(int8_t *int8, const float *x, float a, row_lanes *row)
{
    int_vec integers[PARTS];
    UNROLL for (int v = 0; v < PARTS; v++)
    {
        const vec values = load(x + v * WIDTH);
        integers[v] = round_clamped(values * a);
        if (row->nibbles) row->squares += integers[v] * integers[v];
        row->nans |= values != values;
    }
    UNROLL for (int v = 0; v < PARTS; v++) row->sums += integers[v];
#if defined(FERRY_NEON)
    const int16x8_t low = vuzp1q_s16((int16x8_t)integers[0], (int16x8_t)integers[1]);
    const int16x8_t high = vuzp1q_s16((int16x8_t)integers[2], (int16x8_t)integers[3]);
    vst1q_s8(int8, vuzp1q_s8((int8x16_t)low, (int8x16_t)high));
#elif WIDTH == 8
    /* The instructions pack each half of a register by itself. */
    const __m256i halves = _mm256_packs_epi32((__m256i)integers[0], (__m256i)integers[1]);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi16(halves, halves), _MM_SHUFFLE(3, 1, 2, 0));
    _mm_storeu_si128((__m128i *)(void *)int8,
                     _mm_shuffle_epi32(_mm256_castsi256_si128(packed), _MM_SHUFFLE(3, 1, 2, 0)));
#else
    typedef int8_t narrow __attribute__((vector_size(WIDTH), may_alias, aligned(1)));
    UNROLL for (int v = 0; v < PARTS; v++)
    {
        *(narrow *)(int8 + v * WIDTH) = __builtin_convertvector(integers[v], narrow);
    }
#endif
}

/* The last x̂ of a row, `count` < 16, padded with zeros. Returns their sum, which is not added to row->sums. */
static inline int32_t quantize_edge(int8_t *int8, const float *x, int32_t count, float a, row_lanes *row)
{
    float edge[FERRY_LANES] = {0};
    const int_vec before = row->sums;
    int32_t sum = 0;
    memcpy(edge, x, (size_t)count * sizeof *edge);
    quantize_lanes(int8, edge, a, row);
    row->sums = before;
    for (int32_t l = 0; l < FERRY_LANES; l++) {
        int8[l] = l < count ? int8[l] : 0; /* 0·a is a NaN if a is infinite */
        sum += int8[l];
    }
    return sum;
}

/* Row x [K] in steps of `length` inputs that are `stride` bytes apart. Returns Σ x̂. */
INLINE int32_t quantize_steps(int8_t *int8, int length, size_t stride, const float *x, int32_t K, float a,
                              row_lanes *row)
{
    int8_t lanes[FERRY_LANES];
    int32_t k = 0, sum = 0;
    for (; k + FERRY_LANES <= K; k += FERRY_LANES) {
        quantize_lanes(lanes, x + k, a, row);
        for (int l = 0; l < FERRY_LANES; l += length, int8 += stride) memcpy(int8, lanes + l, (size_t)length);
        end_half(row, k);
    }
    if (k < K) {
        sum = quantize_edge(lanes, x + k, K - k, a, row);
        for (int l = 0; l < K - k; l += length, int8 += stride) memcpy(int8, lanes + l, (size_t)length);
    }
    return sum + add_lanes(row->sums);
}

/* Row x [K] in pieces of 64 inputs that are `stride` bytes apart. Returns Σ x̂. */
INLINE int32_t quantize_pieces(int8_t *int8, size_t stride, const float *x, int32_t K, float a, row_lanes *row)
{
    int32_t k = 0, sum = 0;
    for (; k + PIECE_INPUTS <= K; k += PIECE_INPUTS, int8 += stride)
        UNROLL for (int l = 0; l < PIECE_INPUTS; l += FERRY_LANES)
        {
            quantize_lanes(int8 + l, x + k + l, a, row);
            end_half(row, l);
        }
    for (; k < K; k += FERRY_LANES, int8 += FERRY_LANES)
        if (k + FERRY_LANES <= K) {
            quantize_lanes(int8, x + k, a, row);
            end_half(row, k);
        } else {
            sum = quantize_edge(int8, x + k, K - k, a, row);
        }
    return sum + add_lanes(row->sums);
}

/* Sets the start value of the row's products, from sum = Σ x̂, and its scale. */
INLINE void finish_inputs(const ferry_rows_i8 *inputs, int32_t row, const row_lanes *lanes, int32_t sum)
{
    /* 16·Σ x̂·u + sum is the bound Σ x̂·q̂ + |x̂|·|q - q̂|, rounded up. Roundings before that are less than what the error
     * was rounded up by: it is at least √K/2. */
    if (inputs->nibbles)
        sum = (int32_t)ceil((double)inputs->nibbles_error * sqrt((double)add_lanes(lanes->squares)) -
                            NIBBLE_OFFSET * (double)sum);
    inputs->sums[row] = sum;
    if (add_lanes(lanes->nans) != 0) inputs->inverse_scales[row] = NAN; /* int8 has none: the product makes it */
    inputs->scales[row] = 1.0f / inputs->inverse_scales[row];
}

/* ---- blocks of rows ---- */

/* Rows are divided into `count` blocks of at most tile_rows rows. A block has `steps` steps, the first `larger` blocks
 * one more. A step is the row_step rows of one instruction. */
typedef struct partition {
    int32_t rows, count, row_step, steps, larger;
} partition;

typedef struct block {
    int32_t first, rows;
} block;

INLINE partition part_rows(int32_t rows, int32_t tile_rows, int32_t row_step)
{
    const int32_t steps = (rows + row_step - 1) / row_step, count = (rows + tile_rows - 1) / tile_rows;
    return (partition){rows, count, row_step, .steps = steps / count, .larger = steps % count};
}

INLINE block input_block(const partition *parts, int32_t b)
{
    const int32_t first = (b * parts->steps + (b < parts->larger ? b : parts->larger)) * parts->row_step;
    const int32_t size = (parts->steps + (b < parts->larger)) * parts->row_step, left = parts->rows - first;
    return (block){.first = first, .rows = left < size ? left : size};
}

/* The block that contains a row. */
INLINE block block_of_row(const partition *parts, int32_t row)
{
    const int32_t step = row / parts->row_step, longer = parts->larger * (parts->steps + 1);
    return input_block(parts, step < longer ? step / (parts->steps + 1) : (step - parts->larger) / parts->steps);
}

/* Bytes of the inputs of a row in a block. */
INLINE size_t row_bytes(int32_t K, int32_t length)
{
    return ((size_t)K + (size_t)length - 1) / (size_t)length * (size_t)length;
}

/* ---- products ---- */

typedef struct product {
    float *y; /* [rows, N] */
    size_t ldy, N;
    const ferry_rows_i8 *x;
    const ferry_matrix *matrix;
    const int8_t *weights;
    const int8_t *lower; /* planes: the lower one */
    size_t groups;       /* ⌈K/4⌉ */
    size_t panel_size;   /* bytes from panel to panel: a line per group, or per two groups of nibbles; lines of steps */
} product;

INLINE int32_t count_panels(const product *job)
{
    return (int32_t)((job->N + FERRY_LANES - 1) / FERRY_LANES);
}

INLINE product new_product(float *y, size_t ldy, const ferry_rows_i8 *x, const ferry_matrix *matrix)
{
    const size_t groups = ((size_t)x->K + GROUP - 1) / GROUP;
    const bool whole = matrix->kind == FERRY_MATRIX_INT8 || matrix->kind == FERRY_MATRIX_JOINED;
    size_t lines = whole ? groups : groups / NIBBLE_GROUPS;
    if (matrix->kind == FERRY_MATRIX_STEPS) lines += ferry_step_lines((size_t)x->K);
    return (product){.y = y,
                     .ldy = ldy,
                     .N = (size_t)matrix->N,
                     .x = x,
                     .matrix = matrix,
                     .weights = matrix->int8,
                     .lower = (const int8_t *)matrix->lower,
                     .groups = groups,
                     .panel_size = lines * FERRY_LINE_BYTES};
}

/* Lines of nibbles with one step. */
enum { STEP_LINES = FERRY_STEP_INPUTS / FERRY_NIBBLE_GROUP };

/* A tile's place in a matrix of steps. */
typedef struct step_panel {
    const int8_t *steps, *nibbles;
    size_t groups;         /* of 32 inputs */
    const int32_t *starts; /* [groups][rows of the block] */
} step_panel;

INLINE step_panel find_steps(const product *job, int32_t row, int32_t panel)
{
    const size_t K = (size_t)job->x->K, groups = K / FERRY_STEP_INPUTS;
    const int8_t *steps = job->weights + (size_t)panel * job->panel_size;
    return (step_panel){steps, steps + ferry_step_lines(K) * FERRY_LINE_BYTES, groups,
                        job->x->starts + (size_t)row * groups};
}

/* sum / divisor, rounded once. With fused multiply-adds: the reciprocal and two Newton steps on the remainder. The
 * second step rounds correctly (Markstein, IBM Journal of Research and Development 34, 1990, theorem 8) if nothing
 * overflows or underflows: near_one. */
INLINE vec divide(vec sum, float divisor, float reciprocal, bool near_one)
{
#if WIDTH == 16
#define ADD_PRODUCT(acc, a, b) _mm512_fmadd_ps(a, b, acc)
#define SUBTRACT_PRODUCT(acc, a, b) _mm512_fnmadd_ps(a, b, acc)
#elif WIDTH == 8
#define ADD_PRODUCT(acc, a, b) _mm256_fmadd_ps(a, b, acc)
#define SUBTRACT_PRODUCT(acc, a, b) _mm256_fnmadd_ps(a, b, acc)
#elif defined(FERRY_NEON)
#define ADD_PRODUCT vfmaq_f32
#define SUBTRACT_PRODUCT vfmsq_f32
#endif
#if defined(ADD_PRODUCT)
    if (near_one) {
        const vec u = divisor - (vec){0}, v = reciprocal - (vec){0};
        vec quotient = sum * v;
        quotient = ADD_PRODUCT(quotient, SUBTRACT_PRODUCT(sum, quotient, u), v);
        return ADD_PRODUCT(quotient, SUBTRACT_PRODUCT(sum, quotient, u), v);
    }
#else
    (void)reciprocal;
    (void)near_one;
#endif
    return sum / divisor;
}

INLINE vec finish_sum(sum_vec sum, float input_scale, vec scale)
{
    return __builtin_convertvector((int_vec)sum, vec) * (input_scale * scale);
}

/* Sums [rows, vectors] → y, with a scale for each column. scales and bias begin at the first column. */
INLINE void finish_rows(float *y, size_t ldy, const sum_vec *sums, int rows, int vectors, const float *input_scales,
                        const float *scales, const float *bias)
{
    for (int v = 0; v < vectors; v++, y += WIDTH, sums++) {
        const vec scale = load(scales + v * WIDTH);
        vec offset = {0};
        if (bias != NULL) offset = load(bias + v * WIDTH);
        float *at = y;
        const sum_vec *sum = sums;
        for (int r = 0; r < rows; r++, at += ldy, sum += vectors) {
            vec value = finish_sum(*sum, input_scales[r], scale);
            if (bias != NULL) value += offset;
            store(at, value);
        }
    }
}

/* The same with one multiplier for all columns. */
INLINE void divide_rows(float *y, size_t ldy, const sum_vec *sums, int rows, int vectors, const float *inverse_scales,
                        float multiplier, const float *bias)
{
    for (int r = 0; r < rows; r++, y += ldy) {
        const float divisor = inverse_scales[r] * multiplier, reciprocal = 1.0f / divisor;
        const bool near_one = divisor > 0x1p-60f && divisor < 0x1p60f;
        for (int v = 0; v < vectors; v++, sums++) {
            vec value = divide(__builtin_convertvector((int_vec)*sums, vec), divisor, reciprocal, near_one);
            if (bias != NULL) value += load(bias + v * WIDTH);
            store(y + v * WIDTH, value);
        }
    }
}

/* edge = the last `columns` elements of `lanes`, padded with zeros. */
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
    enum { EDGE = MAX_PANELS * FERRY_LANES };
    float edge[MAX_TILE_ROWS][EDGE], edge_scales[EDGE], edge_bias[EDGE];
    const size_t column = (size_t)first_panel * FERRY_LANES, columns = job->N - column;
    const bool whole = columns >= (size_t)panels * FERRY_LANES;
    float *y = job->y + (size_t)first_row * job->ldy + column, *target = whole ? y : edge[0];
    const size_t ld = whole ? job->ldy : EDGE;
    const ferry_matrix *matrix = job->matrix;
    const float *scales = matrix->scales != NULL ? matrix->scales + column : NULL;
    const float *bias = matrix->bias != NULL ? matrix->bias + column : NULL;
    if (!whole && scales != NULL) scales = fill_up(edge_scales, scales, columns);
    if (!whole && bias != NULL) bias = fill_up(edge_bias, bias, columns);
    if (scales != NULL)
        finish_rows(target, ld, sums, rows, panels * PARTS, job->x->scales + first_row, scales, bias);
    else
        divide_rows(target, ld, sums, rows, panels * PARTS, job->x->inverse_scales + first_row, matrix->multiplier,
                    bias);
    for (int r = 0; !whole && r < rows; r++, y += job->ldy) memcpy(y, edge[r], columns * sizeof *y);
}

/* Sums acc [rows, panels·PARTS], in registers, → y. Most tiles are complete and have scales and a bias: for these, the
 * same as finish_tile without the way through memory. */
INLINE void end_tile(const product *job, int32_t row, int32_t panel, const sum_vec *acc, int rows, int panels)
{
    const ferry_matrix *matrix = job->matrix;
    if (matrix->scales == NULL || matrix->bias == NULL || (size_t)(panel + panels) * FERRY_LANES > job->N) {
        sum_vec sums[MAX_SUMS];
        UNROLL for (int v = 0; v < rows * panels * PARTS; v++) sums[v] = acc[v]; /* a copy: acc stays in registers */
        finish_tile(job, row, panel, sums, rows, panels);
        return;
    }
    const size_t column = (size_t)panel * FERRY_LANES;
    const float *input_scales = job->x->scales + row, *scales = matrix->scales + column, *bias = matrix->bias + column;
    float *y = job->y + (size_t)row * job->ldy + column;
    UNROLL for (int v = 0; v < panels * PARTS; v++)
    {
        const vec scale = load(scales + v * WIDTH), offset = load(bias + v * WIDTH);
        UNROLL for (int r = 0; r < rows; r++)
        {
            const vec value = finish_sum(acc[r * panels * PARTS + v], input_scales[r], scale);
            store(y + (size_t)r * job->ldy + v * WIDTH, value + offset);
        }
    }
}

/* ---- tiles ---- */

/* A tile prefetches its share of the next group of panels: from `at` on, `step` bytes in each of its steps. If `step`
 * is less than a line, only every second or fourth step prefetches (skip is 1 or 3). */
typedef struct ahead {
    const int8_t *at;
    size_t step, skip;
} ahead;

typedef void tile_function(const product *job, int32_t row, int32_t panel, const ahead *next);
typedef tile_function *const tile_row[MAX_PANELS + 1]; /* by panels; a table of tiles is a list of these, by rows */

/* A tile of one size, and its entry in a table. Each source file defines multiply_tile. */
#define TILE_FUNCTION(name, rows, panels, what)                                                                        \
    static void name##_##rows##x##panels(const product *job, int32_t row, int32_t panel, const ahead *next)            \
    {                                                                                                                  \
        multiply_tile(job, row, panel, next, rows, panels, what);                                                      \
    }
#define STEPS_TILE_FUNCTION(rows, panels)                                                                              \
    static void steps_tile_##rows##x##panels(const product *job, int32_t row, int32_t panel, const ahead *next)        \
    {                                                                                                                  \
        multiply_steps_tile(job, row, panel, next, rows, panels);                                                      \
    }
#define TILE_ENTRY(name, rows, panels) [rows][panels] = name##_##rows##x##panels,

/* The prefetches of the first of `count` tiles over a group of `size` panels. The next tile's begin `share` bytes
 * later. */
INLINE ahead look_ahead(const product *job, int32_t panel, int32_t size, size_t count, size_t *share)
{
    const size_t bytes = (size_t)size * job->panel_size, end = (size_t)count_panels(job) * job->panel_size;
    const int8_t *from = job->matrix->ahead != NULL ? job->matrix->ahead : job->weights;
    size_t at = (size_t)(panel + size) * job->panel_size;
    if (job->matrix->ahead != NULL)
        at -= bytes;
    else if (at + bytes > end)
        at = end - bytes;
    *share = bytes / count;
    return (
        ahead){.at = from + at, .step = (size_t)size * FERRY_LINE_BYTES / count, .skip = count >= 4 ? 3 : count >= 2};
}

/* All tiles. The loops, from the outside: chunks of blocks that fit in the second-level cache; groups of panels, read
 * from memory once per chunk; the blocks of the chunk, which share the group in the cache and prefetch the next one. */
static __attribute__((unused)) void run_tiles(const product *job, tile_row *table, int32_t tile_rows, int32_t row_step)
{
    enum { NEAR_BYTES = 256 << 10 }; /* inputs of a chunk: a part of the second-level cache */
    const partition parts = part_rows(job->x->rows, tile_rows, row_step);
    const int32_t together = 1 + (int32_t)(NEAR_BYTES / (job->groups * GROUP * (size_t)tile_rows));
    const int32_t panels = count_panels(job);
    for (int32_t first = 0, end; first < parts.count; first = end) {
        end = parts.count - first < together ? parts.count : first + together;
        const int32_t largest = input_block(&parts, first).rows;
        for (int32_t panel = 0, size; panel < panels; panel += size) {
            size_t share;
            size = MAX_PANELS;
            while (panel + size > panels || table[largest][size] == NULL) size /= 2;
            ahead next = look_ahead(job, panel, size, (size_t)(end - first), &share);
            for (int32_t b = first; b < end; b++, next.at += share) {
                const block rows = input_block(&parts, b);
                table[rows.rows][size](job, rows.first, panel, &next);
            }
        }
    }
}

#endif
