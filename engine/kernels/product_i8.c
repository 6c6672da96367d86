/* Products of quantized rows with int8 matrices (linear.h): compiled once per ISA (isa.h). The integer sums are exact
 * everywhere, so that they may be added in any order; the float32 operations after them are the same everywhere.
 *
 * Inputs are stored in blocks of rows (product_i8.h), in the order in which a tile reads them:
 *
 *     block: [⌈K/4⌉][rows of the block][4]        (ARM's: product_arm.h)
 *     panel: [⌈K/4⌉][16 outputs][4]               acc[i, n] += Σ_(4 inputs) x̂[i, k]·q[n, k]
 *
 * A tile, a block by some panels over all of K, keeps its sums in registers. The loops around it, from the outside:
 * as many blocks as the cache near the core holds; groups of panels, streamed from memory; blocks, which share the
 * group in the cache and prefetch the next one. */
#include "product_i8.h"

#define NEAR_BYTES (256 << 10) /* of inputs: a part of a second-level cache */

/* Whether tiles prefetch into the nearest cache instead of the second: as measured, not where few blocks, or dot
 * products of four bytes, are through with a panel before the next one has come. */
#if defined(PAIRS)
#define PREFETCHES_NEAREST(blocks) ((blocks) >= 4)
#else
#define PREFETCHES_NEAREST(blocks) false
#endif

/* What a tile prefetches: its share of the next group of panels, `step` bytes further with every step; where steps are
 * shorter than a line, only every second or fourth one does so (skip is 1 or 3). */
typedef struct ahead {
    const int8_t *at;
    size_t step, skip;
    bool nearest;
} ahead;

/* What of a line of weights: codes, or nibbles of its first or second group. */
typedef enum kind { CODES, FIRST_NIBBLES, SECOND_NIBBLES } kind;

#if !defined(FERRY_NEON) || defined(DOT_PRODUCTS)
/* The first of the chains [size] becomes the sum of all. */
INLINE void add_chains(sum_vec *acc, int size, int chains)
{
    UNROLL for (int c = 1; c < chains; c++)
    {
        UNROLL for (int v = 0; v < size; v++) acc[v] += acc[c * size + v];
    }
}
#endif

#if defined(FERRY_NEON)
#include "product_arm.h" /* the sums of a tile */
#else
/* ---- one step: 4 inputs of a row by 4 inputs of WIDTH outputs ---- */

/* For every ISA: its tiles; `inputs` and `weights`, its instructions' operands for 4 inputs of a row and for the codes
 * of WIDTH outputs; OFFSET, which is added to every q before the multiplication, so that sums start at -OFFSET·Σ x̂; and
 * CHAINS, the number of chains into which the sums of a small tile are split to hide the latency of the additions. */
#if WIDTH > 4
/* Instructions multiply unsigned bytes by signed ones: (q + 128)·x̂. */
#define OFFSET 128
#if WIDTH == 16
typedef __m512i inputs;
typedef __m512i weights;

INLINE inputs load_inputs(const int8_t *x)
{
    return _mm512_set1_epi32(four_bytes(x));
}

INLINE weights load_weights(const int8_t *w, kind what)
{
    const __m512i line = _mm512_load_si512(w);
    if (what == CODES) return _mm512_xor_si512(line, _mm512_set1_epi8(-128));
    return _mm512_and_si512(what == FIRST_NIBBLES ? line : _mm512_srli_epi16(line, NIBBLE_SHIFT),
                            _mm512_set1_epi8(NIBBLE_MOST));
}
#else
typedef __m256i inputs;
typedef __m256i weights;

INLINE inputs load_inputs(const int8_t *x)
{
    return _mm256_set1_epi32(four_bytes(x));
}

INLINE weights load_weights(const int8_t *w, kind what)
{
    const __m256i line = _mm256_load_si256((const __m256i *)(const void *)w);
    if (what == CODES) return _mm256_xor_si256(line, _mm256_set1_epi8(-128));
    return _mm256_and_si256(what == FIRST_NIBBLES ? line : _mm256_srli_epi16(line, NIBBLE_SHIFT),
                            _mm256_set1_epi8(NIBBLE_MOST));
}
#endif

#if defined(__AVX512VNNI__)
#define TILES(TILE) TILES_UP_TO_14(TILE, 1) TILES_UP_TO_14(TILE, 2) TILES_UP_TO_6(TILE, 4)
#define NIBBLES_TILES(TILE) TILES_UP_TO_8(TILE, 1) TILES_UP_TO_8(TILE, 2) TILES_UP_TO_6(TILE, 4)
#define CHAINS(rows, panels)                                                                                           \
    ((rows) * (panels) > 9 ? 1 : (rows) * (panels) > 4 ? 2 : (rows) * (panels) > 2 ? 4 : 8 / ((rows) * (panels)))

INLINE sum_vec multiply_add(sum_vec acc, weights w, inputs x)
{
    return (sum_vec)_mm512_dpbusd_epi32((__m512i)acc, w, x);
}
#elif defined(__AVXVNNI__)
#define TILES(TILE) TILES_UP_TO_6(TILE, 1)
#define NIBBLES_TILES TILES
#define CHAINS(rows, panels) ((rows) > 2 ? 1 : 4 / (rows))

INLINE sum_vec multiply_add(sum_vec acc, weights w, inputs x)
{
    return (sum_vec)_mm256_dpbusd_avx_epi32((__m256i)acc, w, x);
}
#else
#define CHAINS(rows, panels) 1
typedef int16_t pair_sums __attribute__((vector_size(4 * WIDTH), may_alias));

#if WIDTH == 16
#define TILES(TILE) TILES_UP_TO_14(TILE, 1)
#define NIBBLES_TILES TILES

INLINE pair_sums multiply_pairs(weights w, inputs x)
{
    return (pair_sums)_mm512_maddubs_epi16(w, x);
}

INLINE sum_vec add_pairs(pair_sums pairs)
{
    return (sum_vec)_mm512_madd_epi16((__m512i)pairs, _mm512_set1_epi16(1));
}
#else
#define TILES(TILE) TILES_UP_TO_4(TILE, 1)
#define NIBBLES_TILES TILES

INLINE pair_sums multiply_pairs(weights w, inputs x)
{
    return (pair_sums)_mm256_maddubs_epi16(w, x);
}

INLINE sum_vec add_pairs(pair_sums pairs)
{
    return (sum_vec)_mm256_madd_epi16((__m256i)pairs, _mm256_set1_epi16(1));
}
#endif

INLINE sum_vec multiply_add(sum_vec acc, weights w, inputs x)
{
    return acc + add_pairs(multiply_pairs(w, x));
}
#endif
#else
/* Bytes as halves of 16-bit lanes, in either order: low·low + high·high is at most 2·128·127 < 2^15. */
#define TILES(TILE) TILE(1, 1) TILE(2, 1)
#define OFFSET 0
#define CHAINS(rows, panels) 1
typedef int16_t halves __attribute__((vector_size(16), may_alias));
typedef uint16_t unsigned_halves __attribute__((vector_size(16), may_alias));
typedef struct pairs {
    halves low, high;
} pairs;
typedef pairs inputs;
typedef pairs weights;

INLINE pairs split(halves bytes)
{
    return (pairs){.low = (halves)((unsigned_halves)bytes << 8) >> 8, .high = bytes >> 8};
}

INLINE inputs load_inputs(const int8_t *x)
{
    return split((halves)((int_vec){0} + four_bytes(x)));
}

INLINE weights load_weights(const int8_t *w, kind what)
{
    (void)what; /* codes */
    return split(*(const halves *)w);
}

INLINE sum_vec multiply_add(sum_vec acc, weights w, inputs x)
{
    sum_vec both = (sum_vec)(w.low * x.low + w.high * x.high);
    return acc + (sum_vec)((int_vec)(both << 16) >> 16) + (sum_vec)((int_vec)both >> 16);
}
#endif

/* ---- the sums of a tile ---- */

/* acc[r, v] += the products of one group of inputs; panels are panel_size apart. */
INLINE void add_step(sum_vec *acc, int rows, int panels, const int8_t *x, const int8_t *w, kind what, size_t panel_size)
{
    weights columns[MAX_PANELS * PARTS];
    UNROLL for (int v = 0; v < panels * PARTS; v++)
    {
        columns[v] = load_weights(w + (size_t)(v / PARTS) * panel_size + v % PARTS * WIDTH * GROUP, what);
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        inputs row = load_inputs(x + r * GROUP);
        UNROLL for (int v = 0; v < panels * PARTS; v++)
        {
            acc[r * panels * PARTS + v] = multiply_add(acc[r * panels * PARTS + v], columns[v], row);
        }
    }
}

INLINE void prefetch_lines(const ahead *next, int panels)
{
    /* Over more than two panels the hardware's own prefetching keeps up. */
    if (panels <= 2) UNROLL for (int p = 0; p < panels; p++)
        {
            if (next->nearest)
                __builtin_prefetch(next->at + p * PANEL_GROUP, 0, 3);
            else
                __builtin_prefetch(next->at + p * PANEL_GROUP, 0, 2);
        }
}

/* acc [rows, panels·PARTS] += Σ x̂·q over all groups, in `chains` chains side by side that are added at the end. */
INLINE void accumulate(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w, size_t groups,
                       ahead next)
{
    const int size = rows * panels * PARTS;
    const size_t panel_size = groups * PANEL_GROUP, together = (size_t)chains;
    size_t left = groups;
    for (; left >= together; left -= together) {
        UNROLL for (int c = 0; c < chains; c++)
        {
            if ((left & next.skip) == 0) prefetch_lines(&next, panels);
            add_step(acc + c * size, rows, panels, x, w, CODES, panel_size);
            next.at += next.step;
            x += rows * GROUP;
            w += PANEL_GROUP;
        }
    }
    for (; left > 0; left--) {
        add_step(acc, rows, panels, x, w, CODES, panel_size);
        x += rows * GROUP;
        w += PANEL_GROUP;
    }
    add_chains(acc, size, chains);
}
#endif

/* ---- product ---- */

#define MAX_SUMS 48 /* vectors of sums in any tile, all chains */

#if defined(PAIRS)
/* acc [rows, PARTS] += the products of a block's rests, as many of each row as one has. */
INLINE void add_rests(sum_vec *acc, int rows, rests lists, const int8_t *w)
{
    const rest *at = lists.lists;
    for (int32_t left = lists.counts[0]; left > 0; left--, at += rows) UNROLL for (int r = 0; r < rows; r++)
        {
            const inputs row = load_inputs((const int8_t *)&at[r].inputs);
            UNROLL for (int v = 0; v < PARTS; v++)
            {
                const weights columns = load_weights(w + at[r].at + v * WIDTH * GROUP, CODES);
                acc[r * PARTS + v] = multiply_add(acc[r * PARTS + v], columns, row);
            }
        }
}
#endif

#if defined(PAIRS)
/* Keeps the order of additions: compilers would take products first, for whose number there are no registers. */
#define PIN(sums) __asm__("" : "+v"(sums))

/* Sums in 16 bits [rows, PARTS]: they start at offsets, */
INLINE void start_sums(pair_sums *sums, int rows, const int32_t *offsets)
{
    UNROLL for (int i = 0; i < rows * PARTS; i++) sums[i] = (pair_sums)((int_vec){0} + offsets[i / PARTS]);
}

/* get the products of one group, two instructions for 64 multiplications (32 on AVX2), */
INLINE void add_group(pair_sums *sums, int rows, const int8_t *x, const int8_t *w, kind what)
{
    weights columns[PARTS];
    UNROLL for (int v = 0; v < PARTS; v++) columns[v] = load_weights(w + v * WIDTH * GROUP, what);
    UNROLL for (int r = 0; r < rows; r++)
    {
        const inputs row = load_inputs(x + r * GROUP);
        UNROLL for (int v = 0; v < PARTS; v++)
        {
            sums[r * PARTS + v] += multiply_pairs(columns[v], row);
            PIN(sums[r * PARTS + v]);
        }
    }
}

/* and are added to acc. */
INLINE void widen_sums(sum_vec *acc, int rows, const pair_sums *sums)
{
    UNROLL for (int i = 0; i < rows * PARTS; i++) acc[i] += add_pairs(sums[i]);
}

/* acc [rows, PARTS] += Σ x̂·q over all groups, `together` of which are added in 16 bits. */
INLINE void accumulate_together(sum_vec *acc, int rows, size_t together, const int8_t *x, const int32_t *offsets,
                                const int8_t *w, size_t groups, ahead next)
{
    pair_sums sums[TILE_ROWS * PARTS];
    size_t left = groups;
    for (; left >= together; left -= together, offsets += rows) {
        /* Into the first-level cache, unlike those of other tiles: the next panel is wanted in half the time. */
        if (next.skip >= 3)
            UNROLL for (size_t g = 0; g < together; g += 4) __builtin_prefetch(next.at + g * next.step, 0, 3);
        else
            UNROLL for (size_t g = 0; g < together; g++) __builtin_prefetch(next.at + g * next.step, 0, 3);
        next.at += together * next.step;
        start_sums(sums, rows, offsets);
        UNROLL for (size_t g = 0; g < together; g++, x += rows * GROUP, w += PANEL_GROUP)
            add_group(sums, rows, x, w, CODES);
        widen_sums(acc, rows, sums);
    }
    if (left == 0) return;
    start_sums(sums, rows, offsets);
    for (; left > 0; left--, x += rows * GROUP, w += PANEL_GROUP) add_group(sums, rows, x, w, CODES);
    widen_sums(acc, rows, sums);
}
#endif

#if defined(NIBBLES)
/* ---- nibbles ---- */

#if defined(PAIRS)
/* Sums in 16 bits get the products of the two groups of a line. */
INLINE void add_line(pair_sums *sums, int rows, const int8_t *x, const int8_t *w)
{
    add_group(sums, rows, x, w, FIRST_NIBBLES);
    add_group(sums, rows, x + rows * GROUP, w, SECOND_NIBBLES);
}

/* acc [rows, PARTS] += Σ x̂·u over all lines, four of which are added in 16 bits. */
INLINE void accumulate_nibbles(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w,
                               size_t lines, ahead next)
{
    enum { TOGETHER = EIGHTS / NIBBLE_GROUPS };
    const size_t step = (size_t)(NIBBLE_GROUPS * rows * GROUP);
    pair_sums sums[TILE_ROWS * PARTS];
    size_t left = lines;
    (void)panels;
    (void)chains;
    for (; left >= TOGETHER; left -= TOGETHER) {
        if (next.skip >= 3)
            __builtin_prefetch(next.at, 0, 3);
        else
            UNROLL for (size_t i = 0; i < TOGETHER; i++) __builtin_prefetch(next.at + i * next.step, 0, 3);
        next.at += TOGETHER * next.step;
        UNROLL for (int i = 0; i < rows * PARTS; i++) sums[i] = (pair_sums){0};
        UNROLL for (size_t i = 0; i < TOGETHER; i++, x += step, w += PANEL_GROUP) add_line(sums, rows, x, w);
        widen_sums(acc, rows, sums);
    }
    if (left == 0) return;
    UNROLL for (int i = 0; i < rows * PARTS; i++) sums[i] = (pair_sums){0};
    for (; left > 0; left--, x += step, w += PANEL_GROUP) add_line(sums, rows, x, w);
    widen_sums(acc, rows, sums);
}
#elif !defined(FERRY_NEON)
/* acc [rows, panels·PARTS] += Σ x̂·u over all lines, in `chains` chains side by side that are added at the end. */
INLINE void accumulate_nibbles(sum_vec *acc, int rows, int panels, int chains, const int8_t *x, const int8_t *w,
                               size_t lines, ahead next)
{
    const int size = rows * panels * PARTS;
    const size_t panel_size = lines * PANEL_GROUP;
    const int last = chains > 1 ? size : 0; /* the chain of second groups */
    for (size_t left = lines; left > 0; left--, x += NIBBLE_GROUPS * rows * GROUP, w += PANEL_GROUP) {
        if ((left & next.skip) == 0) prefetch_lines(&next, panels);
        next.at += next.step;
        add_step(acc, rows, panels, x, w, FIRST_NIBBLES, panel_size);
        add_step(acc + last, rows, panels, x + rows * GROUP, w, SECOND_NIBBLES, panel_size);
    }
    add_chains(acc, size, chains > 1 ? 2 : 1);
}
#endif
#endif

/* Most tiles are complete, and have scales and a bias: the same as finish_tile, without a way through memory. */
INLINE bool ends_in_registers(const product *job, int32_t panel, int panels)
{
    return job->scales != NULL && job->bias != NULL && (size_t)(panel + panels) * FERRY_LANES <= job->N;
}

INLINE void finish_in_registers(const product *job, int32_t row, int32_t panel, const sum_vec *acc, int rows,
                                int panels)
{
    const size_t column = (size_t)panel * FERRY_LANES;
    const float *units = job->x->units + row, *scales = job->scales + column, *bias = job->bias + column;
    float *y = job->y + (size_t)row * job->ldy + column;
    UNROLL for (int v = 0; v < panels * PARTS; v++)
    {
        const vec scale = load(scales + v * WIDTH), offset = load(bias + v * WIDTH);
        UNROLL for (int r = 0; r < rows; r++)
        {
            const vec value = finish_sum(acc[r * panels * PARTS + v], units[r], scale);
            store(y + (size_t)r * job->ldy + v * WIDTH, value + offset);
        }
    }
}

INLINE void end_tile(const product *job, int32_t row, int32_t panel, const sum_vec *acc, int rows, int panels)
{
    sum_vec sums[MAX_SUMS];
    if (ends_in_registers(job, panel, panels)) {
        finish_in_registers(job, row, panel, acc, rows, panels);
        return;
    }
    UNROLL for (int v = 0; v < rows * panels * PARTS; v++) sums[v] = acc[v]; /* acc itself stays in registers */
    finish_tile(job, row, panel, sums, rows, panels);
}

/* `together`: the number of groups that are added in 16 bits; panels and chains are 1 if it is not. */
INLINE void product_tile(const product *job, int32_t row, int32_t panel, const ahead *next, int rows, int panels,
                         int chains, int together)
{
    sum_vec acc[MAX_SUMS];
    const int8_t *x = job->x->codes + (size_t)row * row_bytes(job->x->K);
    const int8_t *w = job->codes + (size_t)panel * job->panel_size;
    UNROLL for (int v = 0; v < rows * panels * PARTS; v++)
    {
        acc[v] = (sum_vec){0} - OFFSET * ((sum_vec){0} + (uint32_t)job->x->sums[row + v / (panels * PARTS)]);
    }
    UNROLL for (int v = rows * panels * PARTS; v < chains * rows * panels * PARTS; v++) acc[v] = (sum_vec){0};
    if (together == 1) accumulate(acc, rows, panels, chains, x, w, job->groups, *next);
#if defined(PAIRS)
    const rests lists = rests_of(job->x, row);
    if (together > 1) accumulate_together(acc, rows, (size_t)together, x, lists.offsets, w, job->groups, *next);
    add_rests(acc, rows, lists, w);
#endif
    end_tile(job, row, panel, acc, rows, panels);
}

#if defined(NIBBLES)
INLINE void nibbles_tile(const product *job, int32_t row, int32_t panel, const ahead *next, int rows, int panels,
                         int chains)
{
    sum_vec acc[MAX_SUMS];
    const int8_t *x = job->x->codes + (size_t)row * row_bytes(job->x->K);
    const int8_t *w = job->codes + (size_t)panel * job->panel_size;
    UNROLL for (int v = 0; v < chains * rows * panels * PARTS; v++) acc[v] = (sum_vec){0};
    accumulate_nibbles(acc, rows, panels, chains, x, w, job->panel_size / PANEL_GROUP, *next);
    UNROLL for (int v = 0; v < rows * panels * PARTS; v++)
    {
        acc[v] = (acc[v] << NIBBLE_SHIFT) + (uint32_t)job->x->sums[row + v / (panels * PARTS)];
    }
    end_tile(job, row, panel, acc, rows, panels);
}
#endif

typedef void tile_function(const product *job, int32_t row, int32_t panel, const ahead *next);

#define DEFINE_TILE(rows, panels)                                                                                      \
    static void tile_##rows##x##panels(const product *job, int32_t row, int32_t panel, const ahead *next)              \
    {                                                                                                                  \
        product_tile(job, row, panel, next, rows, panels, CHAINS(rows, panels), 1);                                    \
    }
TILES(DEFINE_TILE)

#define TILE_ENTRY(rows, panels) [rows][panels] = tile_##rows##x##panels,
typedef tile_function *const tile_table[TILE_ROWS + 1][MAX_PANELS + 1];
static tile_table tiles = {TILES(TILE_ENTRY)};

#if defined(PAIRS)
#define DEFINE_FOURS_TILE(rows, panels)                                                                                \
    static void fours_tile_##rows(const product *job, int32_t row, int32_t panel, const ahead *next)                   \
    {                                                                                                                  \
        product_tile(job, row, panel, next, rows, panels, 1, FOURS);                                                   \
    }
TILES(DEFINE_FOURS_TILE)
#define DEFINE_EIGHTS_TILE(rows, panels)                                                                               \
    static void eights_tile_##rows(const product *job, int32_t row, int32_t panel, const ahead *next)                  \
    {                                                                                                                  \
        product_tile(job, row, panel, next, rows, panels, 1, EIGHTS);                                                  \
    }
TILES(DEFINE_EIGHTS_TILE)

#define FOURS_ENTRY(rows, panels) [rows][panels] = fours_tile_##rows,
#define EIGHTS_ENTRY(rows, panels) [rows][panels] = eights_tile_##rows,
static tile_table fours_tiles = {TILES(FOURS_ENTRY)};
static tile_table eights_tiles = {TILES(EIGHTS_ENTRY)};
#endif

#if defined(NIBBLES)
#define DEFINE_NIBBLES_TILE(rows, panels)                                                                              \
    static void nibbles_tile_##rows##x##panels(const product *job, int32_t row, int32_t panel, const ahead *next)      \
    {                                                                                                                  \
        nibbles_tile(job, row, panel, next, rows, panels, CHAINS(rows, panels));                                       \
    }
NIBBLES_TILES(DEFINE_NIBBLES_TILE)

#define NIBBLES_ENTRY(rows, panels) [rows][panels] = nibbles_tile_##rows##x##panels,
static tile_table nibbles_tiles = {NIBBLES_TILES(NIBBLES_ENTRY)};
#endif

/* The tiles for inputs. */
static tile_table *find_tiles(const ferry_rows_i8 *x)
{
#if defined(PAIRS)
    const int32_t together = *rests_of(x, 0).together;
    if (together > 1) return together == FOURS ? &fours_tiles : &eights_tiles;
#else
    (void)x;
#endif
    return &tiles;
}

/* What the first of `count` tiles over a group of `size` panels prefetches; each of the others, `share` bytes later. */
static ahead look_ahead(const product *job, int32_t panel, int32_t size, size_t count, size_t *share)
{
    size_t at = (size_t)(panel + size) * job->panel_size, bytes = (size_t)size * job->panel_size;
    if (at + bytes > job->codes_size) at = job->codes_size - bytes;
    *share = bytes / count;
    return (ahead){.at = job->codes + at,
                   .step = (size_t)size * PANEL_GROUP / count,
                   .skip = count >= 4 ? 3 : count >= 2,
                   .nearest = PREFETCHES_NEAREST(count)};
}

/* Blocks first … end - 1 by all panels. */
static void product_blocks(const product *job, const partition *parts, tile_table *table, int32_t first, int32_t end)
{
    const int32_t panels = (int32_t)((job->N + FERRY_LANES - 1) / FERRY_LANES);
    const int32_t largest = input_block(parts, first).rows;
    for (int32_t panel = 0, size; panel < panels; panel += size) {
        size_t share;
        size = MAX_PANELS;
        while (panel + size > panels || (*table)[largest][size] == NULL) size /= 2;
        ahead next = look_ahead(job, panel, size, (size_t)(end - first), &share);
        for (int32_t b = first; b < end; b++, next.at += share) {
            const block rows = input_block(parts, b);
            (*table)[rows.rows][size](job, rows.first, panel, &next);
        }
    }
}

static void product_all(const product *job, tile_table *table)
{
    const partition parts = part_rows(job->x->rows);
    const int32_t together = 1 + (int32_t)(NEAR_BYTES / (job->groups * GROUP * TILE_ROWS));
    for (int32_t first = 0; first < parts.count; first += together)
        product_blocks(job, &parts, table, first, parts.count - first < together ? parts.count : first + together);
}

void FERRY_KERNEL(product_i8)(float *y, size_t ldy, const ferry_rows_i8 *x, const int8_t *codes, int32_t N,
                              const float *scales, float multiplier, const float *bias)
{
    const product job = new_product(y, ldy, x, codes, N, scales, multiplier, bias);
    product_all(&job, find_tiles(x));
}

#if defined(NIBBLES)
void FERRY_KERNEL(product_nibbles)(float *y, size_t ldy, const ferry_rows_i8 *x, const uint8_t *nibbles, int32_t N,
                                   const float *scales, float multiplier, const float *bias)
{
    product job = new_product(y, ldy, x, (const int8_t *)nibbles, N, scales, multiplier, bias);
    job.panel_size /= NIBBLE_GROUPS;
    job.codes_size /= NIBBLE_GROUPS;
    product_all(&job, &nibbles_tiles);
}
#endif
