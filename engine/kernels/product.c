/* Products of rows with panels, compiled once per ISA (isa.h). AVX2, AVX-512 and NEON give the same bytes: their
 * multiply-adds are fused, by intrinsics. (A compiler that may contract them could do so in one tile and not in
 * another.)
 *
 * y[i, n] = (((0 + x[i, 0]·W[n, 0]) + x[i, 1]·W[n, 1]) + …) + bias[n], one chain per element. A tile, rows by panels,
 * keeps its chains in registers:
 *
 *              panel p    panel p + 1
 *     row i    acc acc    acc acc        for each k: acc[i, n] += x[i, k]·W[n, k]
 *     row i+1  acc acc    acc acc
 *
 * The loops around it, from the outside: blocks of rows; pieces of a block along k, which stay in the cache; groups of
 * panels, read from memory once per block; tiles of rows, which share the group in the cache and prefetch the next one.
 * Between two pieces the chains are stored in y, without rounding. */
#include "isa.h"

#include <string.h>
#if WIDTH > 4
#include <immintrin.h>
#endif

/* Tiles (rows, panels): the accumulators, one row of weights and one input fit in the registers. */
#if WIDTH == 16
#define TILE_ROWS 14
#define TILES(TILE) TILES_UP_TO_14(TILE, 1) TILES_UP_TO_14(TILE, 2) TILES_UP_TO_6(TILE, 4)
#elif WIDTH == 8
#define TILE_ROWS 6
#define TILES(TILE) TILES_UP_TO_6(TILE, 1) TILES_UP_TO_3(TILE, 2) TILE(1, 4)
#elif defined(FERRY_NEON)
#define TILE_ROWS 5
#define TILES(TILE) TILES_UP_TO_3(TILE, 1) TILE(4, 1) TILE(5, 1) TILE(1, 2) TILE(2, 2)
#else
#define TILE_ROWS 3
#define TILES(TILE) TILES_UP_TO_3(TILE, 1) TILE(1, 2)
#endif
#define MAX_PANELS 4
#define BLOCK_ROWS (TILE_ROWS * (56 / TILE_ROWS))
#define PIECE 512 /* steps along k: 56 rows of a piece are 112 KiB */

/* A tile prefetches line k of `panel`, in the next group, and of the panel `step` floats after it. */
typedef struct ahead {
    const float *panel;
    size_t step;
} ahead;

/* acc + x·w */
INLINE vec multiply_add(float x, vec w, vec acc)
{
#if WIDTH == 16
    return _mm512_fmadd_ps(_mm512_set1_ps(x), w, acc);
#elif WIDTH == 8
    return _mm256_fmadd_ps(_mm256_set1_ps(x), w, acc);
#elif defined(FERRY_NEON)
    return vfmaq_n_f32(acc, w, x);
#else
    return acc + x * w;
#endif
}

/* acc[r, v] += x[r, k]·w[v, k] for k < K, ascending; acc [rows, panels·PARTS]; w: the panels. Prefetches `requests`
 * panels. */
INLINE void accumulate(vec *acc, int rows, int panels, const float *x, size_t ldx, const float *const *w, size_t K,
                       int requests, ahead next)
{
    const float *quads[(TILE_ROWS + 3) / 4]; /* one pointer per four rows, as registers are few */
    UNROLL for (int q = 0; q < (rows + 3) / 4; q++) quads[q] = x + (size_t)q * 4 * ldx;
    for (size_t k = 0; k < K; k++) {
        UNROLL for (int p = 0; p < requests; p++)
        {
            __builtin_prefetch(next.panel + k * FERRY_LANES + (size_t)p * next.step, 0, 2);
        }
        vec weights[MAX_PANELS * PARTS];
        UNROLL for (int v = 0; v < panels * PARTS; v++)
        {
            weights[v] = *(const vec *)(w[v / PARTS] + k * FERRY_LANES + v % PARTS * WIDTH);
        }
        UNROLL for (int r = 0; r < rows; r++)
        {
            float factor = quads[r / 4][(size_t)(r % 4) * ldx + k];
            UNROLL for (int v = 0; v < panels * PARTS; v++)
            {
                acc[r * panels * PARTS + v] = multiply_add(factor, weights[v], acc[r * panels * PARTS + v]);
            }
        }
    }
}

/* Copies columns at the edge of y or bias, from or to a tile's buffer. */
static __attribute__((noinline)) void copy_columns(float *to, size_t ld_to, const float *from, size_t ld_from, int rows,
                                                   int32_t columns)
{
    for (int r = 0; r < rows; r++)
        memcpy(to + (size_t)r * ld_to, from + (size_t)r * ld_from, (size_t)columns * sizeof *to);
}

/* One piece of a block of rows, against all panels. */
typedef struct piece {
    float *y; /* [rows, N] */
    size_t ldy;
    const float *x; /* [rows, K] */
    size_t ldx;
    const float *w; /* the first panel at the piece's first k */
    size_t panel;   /* floats from panel to panel */
    size_t K;       /* steps of the piece along k */
    int32_t N;
    const float *bias; /* added by the last piece; may be NULL */
    bool first;
} piece;

INLINE void product_tile(const piece *job, int32_t row, int32_t panel, ahead next, int rows, int panels)
{
    const int vectors = panels * PARTS;
    vec acc[TILE_ROWS * MAX_PANELS * PARTS];
    const float *w[MAX_PANELS];
    float edge[(TILE_ROWS + 1) * MAX_PANELS * FERRY_LANES], *edge_bias = edge + rows * panels * FERRY_LANES;
    int32_t column = panel * FERRY_LANES, columns = job->N - column;
    bool whole = columns >= panels * FERRY_LANES;
    float *y = job->y + (size_t)row * job->ldy + column;
    float *target = whole ? y : edge;
    size_t ld = whole ? job->ldy : (size_t)panels * FERRY_LANES;
    UNROLL for (int p = 0; p < panels; p++) w[p] = job->w + (size_t)(panel + p) * job->panel;
    UNROLL for (int v = 0; v < rows * vectors; v++) acc[v] = (vec){0};
    if (!job->first) {
        if (!whole) copy_columns(edge, ld, y, job->ldy, rows, columns);
        UNROLL for (int v = 0; v < rows * vectors; v++)
        {
            acc[v] = load(target + (size_t)(v / vectors) * ld + v % vectors * WIDTH);
        }
    }
    /* Over more than two panels the hardware's own prefetching keeps up; requests would slow the loop down. */
    accumulate(acc, rows, panels, job->x + (size_t)row * job->ldx, job->ldx, w, job->K, panels <= 2 ? panels : 0, next);
    if (job->bias != NULL) {
        if (!whole) copy_columns(edge_bias, ld, job->bias + column, 0, 1, columns);
        const float *bias = whole ? job->bias + column : edge_bias;
        UNROLL for (int v = 0; v < vectors; v++)
        {
            const vec lanes = load(bias + v * WIDTH);
            UNROLL for (int r = 0; r < rows; r++) acc[r * vectors + v] += lanes;
        }
    }
    UNROLL for (int v = 0; v < rows * vectors; v++)
        store(target + (size_t)(v / vectors) * ld + v % vectors * WIDTH, acc[v]);
    if (!whole) copy_columns(y, job->ldy, edge, ld, rows, columns);
}

typedef void tile_function(const piece *job, int32_t row, int32_t panel, ahead next);

#define DEFINE_TILE(rows, panels)                                                                                      \
    static void tile_##rows##x##panels(const piece *job, int32_t row, int32_t panel, ahead next)                       \
    {                                                                                                                  \
        product_tile(job, row, panel, next, rows, panels);                                                             \
    }
TILES(DEFINE_TILE)

#define TILE_ENTRY(rows, panels) [rows][panels] = tile_##rows##x##panels,
static tile_function *const tiles[TILE_ROWS + 1][MAX_PANELS + 1] = {TILES(TILE_ENTRY)};

static void product_piece(const piece *job, int32_t rows)
{
    int32_t count = (rows + TILE_ROWS - 1) / TILE_ROWS;
    int32_t size = rows / count;
    int32_t larger = rows % count; /* tiles with one more row */
    int32_t panels = (job->N + FERRY_LANES - 1) / FERRY_LANES;
    int32_t group = MAX_PANELS;
    for (int32_t panel = 0; panel < panels; panel += group) {
        while (panel + group > panels || tiles[size + (larger > 0)][group] == NULL) group /= 2;
        for (int32_t t = 0, row = 0; t < count; t++) {
            int32_t tile = size + (t < larger);
            /* A single tile prefetches the whole next group; of several tiles, each prefetches one panel. */
            int32_t at = panel + group + t % group < panels ? panel + group + t % group : panels - 1;
            ahead next = {job->w + (size_t)at * job->panel, count == 1 && at + 1 < panels ? job->panel : 0};
            tiles[tile][group](job, row, panel, next);
            row += tile;
        }
    }
}

void FERRY_KERNEL(product)(float *y, size_t ldy, const float *x, size_t ldx, int32_t rows, const float *panels,
                           int32_t K, int32_t N, const float *bias)
{
    int32_t blocks = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (int32_t block = 0, row = 0; block < blocks; block++) {
        int32_t size = (rows - row) / (blocks - block);
        for (int32_t k = 0; k < K; k += PIECE) {
            int32_t steps = K - k < PIECE ? K - k : PIECE;
            piece job = {
                .y = y + (size_t)row * ldy,
                .ldy = ldy,
                .x = x + (size_t)row * ldx + k,
                .ldx = ldx,
                .w = panels + (size_t)k * FERRY_LANES,
                .panel = (size_t)K * FERRY_LANES,
                .K = (size_t)steps,
                .N = N,
                .bias = k + steps == K ? bias : NULL,
                .first = k == 0,
            };
            product_piece(&job, size);
        }
        row += size;
    }
}
