/* Attention of heads over cached keys and values, compiled once per ISA (isa.h). Multiply-adds are fused on every ISA,
 * so that all give the same bytes. In plain C without hardware support they are slow.
 *
 * Keys are stored in lines of 4 positions × 4 d (kernels.h). A line is multiplied by 4 elements of q, repeated. A score
 * is the sum of four chains, over d, d + 4, … for d = 0 … 3, added as (0 + 2) + (1 + 3). Four blocks are processed at a
 * time and give 16 scores. An element of the context is one chain in ascending position. */
#include "isa.h"

#include <string.h>
#if WIDTH > 4
#include <immintrin.h>
#endif

#define BLOCKS (FERRY_LANES / FERRY_BLOCK_POSITIONS) /* blocks of 16 scores */
/* In registers: rows of 16 scores; lines (rows or heads) and panels of the context. */
#if WIDTH == 16
#define SCORE_ROWS 4
#define CONTEXT_LINES 4
#define CONTEXT_PANELS 4
#elif WIDTH == 8
#define SCORE_ROWS 1
#define CONTEXT_LINES 2
#define CONTEXT_PANELS 2
#elif defined(FERRY_NEON)
#define SCORE_ROWS 1
#define CONTEXT_LINES 2
#define CONTEXT_PANELS 2
#else
#define SCORE_ROWS 1
#define CONTEXT_LINES 1
#define CONTEXT_PANELS 1
#endif

#if defined(_WIN32) && !defined(__FMA__)
/* fmaf(): MinGW-w64's rounds twice. Here the product is exact in double and the sum is rounded to odd; the second
 * rounding then equals a single one (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008). */
INLINE float fused_number(float x, float y, float z)
{
    const double product = (double)x * (double)y, sum = product + (double)z, back = sum - product;
    const double lost = (product - (sum - back)) + ((double)z - back);
    uint64_t bits;
    double odd;
    memcpy(&bits, &sum, sizeof bits);
    if ((lost > 0 || lost < 0) && bits % 2 == 0) bits += (lost > 0) == (sum > 0) ? 1 : UINT64_MAX;
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}
#else
#define fused_number __builtin_fmaf
#endif

/* acc + x·w, rounded once */
INLINE vec fused(vec x, vec w, vec acc)
{
#if WIDTH == 16
    return _mm512_fmadd_ps(x, w, acc);
#elif WIDTH == 8
    return _mm256_fmadd_ps(x, w, acc);
#elif defined(FERRY_NEON)
    return vfmaq_f32(acc, x, w);
#else
    UNROLL for (int l = 0; l < WIDTH; l++) acc[l] = fused_number(x[l], w[l], acc[l]);
    return acc;
#endif
}

/* ---- scores ---- */

/* q[0..4), repeated to the width of a vector. */
INLINE vec repeat(const float *q)
{
#if WIDTH == 16
    return _mm512_broadcast_f32x4(_mm_loadu_ps(q));
#elif WIDTH == 8
    return _mm256_set_m128(_mm_loadu_ps(q), _mm_loadu_ps(q));
#else
    return load(q);
#endif
}

/* acc [rows, BLOCKS·PARTS] += q[r, 0..4)·line, for the line at keys[b] + at of each of `blocks` blocks. */
INLINE void add_lines(vec *acc, const float *q, size_t ldq, const float *const *keys, size_t at, int rows, int blocks)
{
    vec line[BLOCKS * PARTS];
    UNROLL for (int v = 0; v < blocks * PARTS; v++)
    {
        line[v] = *(const vec *)(keys[v / PARTS] + at + v % PARTS * WIDTH);
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        vec x = repeat(q + (size_t)r * ldq);
        UNROLL for (int v = 0; v < blocks * PARTS; v++)
        {
            acc[r * BLOCKS * PARTS + v] = fused(x, line[v], acc[r * BLOCKS * PARTS + v]);
        }
    }
}

/* y [16] = the sums of the four chains of each position. */
INLINE void store_sums(float *y, const vec *acc)
{
#if WIDTH == 16
    vec a = _mm512_unpacklo_ps(acc[0], acc[1]) + _mm512_unpackhi_ps(acc[0], acc[1]);
    vec b = _mm512_unpacklo_ps(acc[2], acc[3]) + _mm512_unpackhi_ps(acc[2], acc[3]);
    vec sums = (vec)_mm512_unpacklo_pd((__m512d)a, (__m512d)b) + (vec)_mm512_unpackhi_pd((__m512d)a, (__m512d)b);
    const __m512i by_position = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    store(y, _mm512_permutexvar_ps(by_position, sums));
#elif WIDTH == 8
    vec sums[PARTS]; /* slots 0 and 1 of each block; 2 and 3 */
    UNROLL for (int p = 0; p < PARTS; p++)
    {
        vec a = _mm256_unpacklo_ps(acc[p], acc[2 + p]) + _mm256_unpackhi_ps(acc[p], acc[2 + p]);
        vec b = _mm256_unpacklo_ps(acc[4 + p], acc[6 + p]) + _mm256_unpackhi_ps(acc[4 + p], acc[6 + p]);
        sums[p] = (vec)_mm256_unpacklo_pd((__m256d)a, (__m256d)b) + (vec)_mm256_unpackhi_pd((__m256d)a, (__m256d)b);
    }
    UNROLL for (int half = 0; half < 2; half++) /* blocks 0 and 1; 2 and 3 */
    {
        vec mixed = half == 0 ? _mm256_unpacklo_ps(sums[0], sums[1]) : _mm256_unpackhi_ps(sums[0], sums[1]);
        __m128 even = _mm256_castps256_ps128(mixed), odd = _mm256_extractf128_ps(mixed, 1);
        _mm_storeu_ps(y + half * 8, _mm_unpacklo_ps(even, odd));
        _mm_storeu_ps(y + half * 8 + 4, _mm_unpackhi_ps(even, odd));
    }
#elif defined(FERRY_NEON)
    vec sums[FERRY_LANES / 2]; /* 0 + 2, 1 + 3 of positions 2i and 2i + 1 */
    UNROLL for (int i = 0; i < FERRY_LANES / 2; i++)
    {
        const float64x2_t even = (float64x2_t)acc[2 * i], odd = (float64x2_t)acc[2 * i + 1];
        sums[i] = (vec)vzip1q_f64(even, odd) + (vec)vzip2q_f64(even, odd);
    }
    UNROLL for (int i = 0; i < BLOCKS; i++) store(y + i * WIDTH, vpaddq_f32(sums[2 * i], sums[2 * i + 1]));
#else
    for (int i = 0; i < FERRY_LANES; i++) y[i] = (acc[i][0] + acc[i][2]) + (acc[i][1] + acc[i][3]);
#endif
}

/* Scores of queries with the keys of a head, at `offset` in each of `blocks` blocks. Other scores become 0. */
INLINE void scores_tile(float *y, size_t ldy, const float *q, size_t ldq, const float *const *first, size_t offset,
                        int32_t width, int rows, int blocks)
{
    const float *keys[BLOCKS];
    vec acc[SCORE_ROWS * BLOCKS * PARTS];
    UNROLL for (int b = 0; b < blocks; b++) keys[b] = first[b] + offset;
    UNROLL for (int v = 0; v < rows * BLOCKS * PARTS; v++) acc[v] = (vec){0};
    size_t d = 0, K = (size_t)width;
    for (; d + FERRY_LINE_ELEMENTS <= K; d += FERRY_LINE_ELEMENTS)
        add_lines(acc, q + d, ldq, keys, d * FERRY_BLOCK_POSITIONS, rows, blocks);
    if (d < K) {
        float rest[SCORE_ROWS * FERRY_LINE_ELEMENTS] = {0};
        for (int r = 0; r < rows; r++)
            memcpy(rest + r * FERRY_LINE_ELEMENTS, q + (size_t)r * ldq + d, (K - d) * sizeof *rest);
        add_lines(acc, rest, FERRY_LINE_ELEMENTS, keys, d * FERRY_BLOCK_POSITIONS, rows, blocks);
    }
    UNROLL for (int r = 0; r < rows; r++) store_sums(y + (size_t)r * ldy, acc + r * BLOCKS * PARTS);
}

INLINE void scores_rows(float *y, size_t ldy, const float *q, size_t ldq, const ferry_kv_view *kv, size_t offset,
                        int rows)
{
    for (int32_t j = 0; j < kv->count; j += FERRY_LANES) {
        const float *const *first = kv->blocks + j / FERRY_BLOCK_POSITIONS;
        switch ((kv->count - j + FERRY_BLOCK_POSITIONS - 1) / FERRY_BLOCK_POSITIONS) {
        case 1: scores_tile(y + j, ldy, q, ldq, first, offset, kv->width, rows, 1); break;
        case 2: scores_tile(y + j, ldy, q, ldq, first, offset, kv->width, rows, 2); break;
        case 3: scores_tile(y + j, ldy, q, ldq, first, offset, kv->width, rows, 3); break;
        default: scores_tile(y + j, ldy, q, ldq, first, offset, kv->width, rows, BLOCKS); break;
        }
    }
}

void FERRY_KERNEL(scores)(float *y, size_t ldy, const float *q, size_t ldq, int32_t rows, const ferry_kv_view *kv)
{
    for (int32_t head = 0; head < kv->heads; head++) {
        size_t offset = kv->offset + (size_t)head * kv->head;
        const float *queries = q + (size_t)head * (size_t)kv->width;
        int32_t row = 0;
        for (; row + SCORE_ROWS <= rows; row += SCORE_ROWS)
            scores_rows(y + (size_t)row * ldy, ldy, queries + (size_t)row * ldq, ldq, kv, offset, SCORE_ROWS);
        for (; row < rows; row++)
            scores_rows(y + (size_t)row * ldy, ldy, queries + (size_t)row * ldq, ldq, kv, offset, 1);
        y += (size_t)rows * ldy;
    }
}

/* ---- context ---- */

/* Lines of the context that are computed together: rows of one head, or one row of several heads. */
typedef struct context_lines {
    float *y;
    const float *a;
    size_t values;         /* offset of the first line's values */
    size_t step_y, step_a; /* floats from line to line */
} context_lines;

/* `panels` panels of each line, from `column` on. */
INLINE void context_tile(const context_lines *c, size_t step_v, const ferry_kv_view *kv, int32_t column, int lines,
                         int panels)
{
    vec acc[CONTEXT_LINES * CONTEXT_PANELS * PARTS];
    const int vectors = panels * PARTS;
    UNROLL for (int v = 0; v < lines * vectors; v++) acc[v] = (vec){0};
    for (int32_t j = 0; j < kv->count; j += FERRY_BLOCK_POSITIONS) {
        const float *values = kv->blocks[j / FERRY_BLOCK_POSITIONS] + c->values + column, *a = c->a + j;
        int32_t slots = kv->count - j < FERRY_BLOCK_POSITIONS ? kv->count - j : FERRY_BLOCK_POSITIONS;
        for (int32_t s = 0; s < slots; s++) {
            UNROLL for (int v = 0; v < lines * vectors; v++)
            {
                vec x = a[(size_t)(v / vectors) * c->step_a + (size_t)s] - (vec){0};
                vec w = *(const vec *)(values + (size_t)(v / vectors) * step_v + v % vectors * WIDTH);
                acc[v] = fused(x, w, acc[v]);
            }
            values += kv->stride;
        }
    }
    UNROLL for (int i = 0; i < lines; i++)
    {
        float *y = c->y + (size_t)i * c->step_y + column, edge[CONTEXT_PANELS * FERRY_LANES];
        bool whole = kv->width - column >= panels * FERRY_LANES;
        UNROLL for (int v = 0; v < vectors; v++) store((whole ? y : edge) + v * WIDTH, acc[i * vectors + v]);
        if (!whole) memcpy(y, edge, (size_t)(kv->width - column) * sizeof *y);
    }
}

INLINE void context_columns(const context_lines *c, size_t step_v, const ferry_kv_view *kv, int lines)
{
    for (int32_t column = 0; column < kv->width;) {
        int32_t panels = (kv->width - column + FERRY_LANES - 1) / FERRY_LANES;
        if (CONTEXT_PANELS >= 4 && panels >= 4) {
            context_tile(c, step_v, kv, column, lines, CONTEXT_PANELS);
            column += 4 * FERRY_LANES;
        } else if (CONTEXT_PANELS >= 2 && panels >= 2) {
            context_tile(c, step_v, kv, column, lines, CONTEXT_PANELS >= 2 ? 2 : 1);
            column += 2 * FERRY_LANES;
        } else {
            context_tile(c, step_v, kv, column, lines, 1);
            column += FERRY_LANES;
        }
    }
}

/* All lines, CONTEXT_LINES at a time. step_v: floats from line to line of values, a constant 0 if lines share them. */
INLINE void context_all(context_lines c, size_t step_v, const ferry_kv_view *kv, int32_t lines)
{
    for (int32_t i = 0, count; i < lines; i += count) {
        count = lines - i < CONTEXT_LINES ? 1 : CONTEXT_LINES;
        if (count == CONTEXT_LINES)
            context_columns(&c, step_v, kv, CONTEXT_LINES);
        else
            context_columns(&c, step_v, kv, 1);
        c.y += (size_t)count * c.step_y;
        c.a += (size_t)count * c.step_a;
        c.values += (size_t)count * step_v;
    }
}

void FERRY_KERNEL(context)(float *y, size_t ldy, const float *a, size_t lda, int32_t rows, const ferry_kv_view *kv)
{
    context_lines c = {.y = y, .a = a, .values = kv->offset};
    if (rows == 1) {
        c.step_y = (size_t)kv->width;
        c.step_a = lda;
        context_all(c, kv->head, kv, kv->heads);
        return;
    }
    c.step_y = ldy;
    c.step_a = lda;
    for (int32_t head = 0; head < kv->heads; head++) {
        context_all(c, 0, kv, rows);
        c.y += kv->width;
        c.a += (size_t)rows * lda;
        c.values += kv->head;
    }
}
