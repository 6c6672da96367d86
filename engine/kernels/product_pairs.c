/* Products of many quantized rows with int8 matrices on AVX2, whose exact products of bytes (product_i8.c) take four
 * instructions for 32 multiplications, three of them on the same two ports. Half as many multiplications, and additions
 * instead, take four instructions of which one multiplies (S. Winograd, A New Algorithm for Inner Product, IEEE
 * Transactions on Computers C-17, 1968):
 *
 *     Σ_k x̂[k]·q[k] = Σ_i (x̂[2i] + q[2i + 1])·(x̂[2i + 1] + q[2i]) - Σ_i x̂[2i]·x̂[2i + 1] - Σ_i q[2i]·q[2i + 1]
 *
 * The integers are exact modulo 2^32, and so are their sums. A part of a panel is widened to 16 bits once, in the cache
 * next to the core, for a part of the rows. */
#include "product_i8.h"

#define PART_GROUPS 64 /* of a panel, widened together: 8 KiB */
#define PART_BLOCKS 16 /* of rows that use them: 64 rows of the usual 512 inputs stay in the second-level cache */
#define GROUP_VECTORS (2 * PARTS)
#define LINE 64

/* 16-bit integers, two for each of 8 outputs or inputs. */
typedef int16_t pairs __attribute__((vector_size(32), may_alias));

/* Some groups of a panel: of 8 outputs each, their odd codes q[1], q[3], then the even ones. */
typedef struct widened {
    pairs codes[PART_GROUPS][GROUP_VECTORS];
    sum_vec products[PARTS]; /* Σ q[2i]·q[2i + 1] over the groups of the panel so far */
} widened;

INLINE sum_vec multiply_pairs(pairs a, pairs b)
{
    return (sum_vec)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

/* Unsigned bytes of a by signed ones of b, added up in pairs. */
INLINE pairs multiply_bytes(pairs a, pairs b)
{
    return (pairs)_mm256_maddubs_epi16((__m256i)a, (__m256i)b);
}

static void widen(widened *w, const int8_t *codes, size_t groups)
{
    for (size_t g = 0; g < groups; g++) UNROLL for (int v = 0; v < PARTS; v++)
        {
            const pairs bytes = *(const pairs *)(const void *)(codes + g * PANEL_GROUP + v * WIDTH * GROUP);
            /* Shifts are made on two ports, multiplications on two others. */
            const pairs odd = bytes >> 8, even = multiply_bytes((pairs){0} + 1, bytes);
            w->codes[g][v] = odd;
            w->codes[g][PARTS + v] = even;
            w->products[v] += multiply_pairs(odd, even);
        }
}

INLINE pairs load_pair(const int8_t *x)
{
    return (pairs)_mm256_set1_epi32(four_bytes(x));
}

/* sums [rows, 16] += the products of a block's inputs with the widened groups. */
INLINE void add_groups(sum_vec *sums, int rows, const int8_t *x, const widened *w, size_t groups)
{
    sum_vec acc[TILE_ROWS * PARTS];
    UNROLL for (int i = 0; i < rows * PARTS; i++) acc[i] = sums[i];
    UNROLL_TWICE for (size_t g = 0; g < groups; g++, x += rows * PAIRS_GROUP) UNROLL for (int r = 0; r < rows; r++)
    {
        const pairs even = load_pair(x + r * PAIRS_GROUP), odd = load_pair(x + r * PAIRS_GROUP + GROUP);
        UNROLL for (int v = 0; v < PARTS; v++) acc[r * PARTS + v] +=
            multiply_pairs(even + w->codes[g][v], odd + w->codes[g][PARTS + v]);
    }
    UNROLL for (int i = 0; i < rows * PARTS; i++) sums[i] = acc[i];
}

static void add_block(sum_vec *sums, int32_t rows, const int8_t *x, const widened *w, size_t groups)
{
    switch (rows) {
    case 1: add_groups(sums, 1, x, w, groups); break;
    case 2: add_groups(sums, 2, x, w, groups); break;
    case 3: add_groups(sums, 3, x, w, groups); break;
    default: add_groups(sums, 4, x, w, groups);
    }
}

/* Some blocks of rows. */
typedef struct part {
    block blocks[PART_BLOCKS];
    int32_t count;
} part;

/* A part of the rows by one panel. */
static void multiply_panel(const product *job, widened *w, const part *p, int32_t panel)
{
    sum_vec sums[PART_BLOCKS][TILE_ROWS * PARTS] = {{{0}}};
    const int8_t *codes = job->codes + (size_t)panel * job->panel_size, *end = job->codes + job->codes_size;
    memset(w->products, 0, sizeof w->products);
    for (size_t done = 0, groups; done < job->groups; done += groups) {
        groups = job->groups - done < PART_GROUPS ? job->groups - done : PART_GROUPS;
        widen(w, codes, groups);
        codes += groups * PANEL_GROUP;
        const size_t share = groups * PANEL_GROUP / (size_t)p->count; /* of the next groups, which a block prefetches */
        const int8_t *next = codes, *stop = codes + share;
        for (int32_t b = 0; b < p->count; b++, stop += share) {
            const block rows = p->blocks[b];
            const size_t at = (size_t)rows.first * job->groups + done * (size_t)rows.rows;
            for (; next < stop && next < end; next += LINE) __builtin_prefetch(next, 0, 2);
            add_block(sums[b], rows.rows, job->x->codes + at * PAIRS_GROUP, w, groups);
        }
    }
    for (int32_t b = 0; b < p->count; b++) {
        const block rows = p->blocks[b];
        for (int32_t i = 0; i < rows.rows * PARTS; i++)
            sums[b][i] -= (uint32_t)job->x->sums[rows.first + i / PARTS] + w->products[i % PARTS];
        finish_tile(job, rows.first, panel, sums[b], rows.rows, 1);
    }
}

void ferry_product_pairs(const product *job)
{
    const int32_t panels = (int32_t)((job->N + FERRY_LANES - 1) / FERRY_LANES), blocks = count_blocks(job->x->rows);
    widened w;
    part p;
    for (int32_t first = 0; first < blocks; first += p.count) {
        p.count = blocks - first < PART_BLOCKS ? blocks - first : PART_BLOCKS;
        for (int32_t b = 0; b < p.count; b++) p.blocks[b] = input_block(job->x->rows, first + b);
        for (int32_t panel = 0; panel < panels; panel++) multiply_panel(job, &w, &p, panel);
    }
}
