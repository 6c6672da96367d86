/* int8 products (int8.h) by instructions that multiply small matrices. For few rows, which would leave a matrix mostly
 * empty, the dot products of int8_dots.c. */
#include "int8.h"

#if defined(FERRY_NEON)
/* ---- smmla: 2 rows × 8 inputs by 2 outputs × 8 inputs, zipped from two groups of a panel ---- */

#define TILE_ROWS 12
#define TILES(TILE) TILES_UP_TO_6(TILE, 1) TILES_7_TO_10(TILE, 1) TILE(11, 1) TILE(12, 1)
#define INPUTS (2 * GROUP)
#define ROW_STEP 2 /* rows of an instruction */

void FERRY_KERNEL(quantize)(ferry_rows_i8 *inputs, const float *x, int32_t row)
{
    if (inputs->rows == 1) {
        ferry_quantize_neon_dotprod(inputs, x, row);
        return;
    }
    const partition parts = part_rows(inputs->rows, TILE_ROWS, ROW_STEP);
    const block part = block_of_row(&parts, row);
    row_lanes lanes = {.nibbles = false};
    int8_t *int8 = inputs->int8 + (size_t)part.first * row_bytes(inputs->K, INPUTS) + (row - part.first) * INPUTS;
    const int32_t sum =
        quantize_steps(int8, INPUTS, (size_t)part.rows * INPUTS, x, inputs->K, inputs->inverse_scales[row], &lanes);
    finish_inputs(inputs, row, &lanes, sum);
}

/* acc[p, v] += the products of two groups, or of the last one (!two), for `parts` vectors of outputs: rows 2 p and
 * 2 p + 1 by outputs 2 v and 2 v + 1. */
INLINE void add_groups(int32x4_t *acc, int rows, int parts, bool two, const int8_t *x, const int8_t *w)
{
    int8x16_t columns[2 * PARTS];
    UNROLL for (int v = 0; v < parts; v++, w += WIDTH * GROUP)
    {
        const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(w));
        const int32x4_t second = two ? vreinterpretq_s32_s8(vld1q_s8(w + FERRY_LINE_BYTES)) : vdupq_n_s32(0);
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

/* More than six rows take half a panel at a time: its sums fill the registers, and more rows share the zipped weights.
 */
INLINE void multiply_tile(const product *job, int32_t row, int32_t panel, const ahead *ahead_of, int rows, int panels,
                          bool nibbles)
{
    const int parts = rows > 6 ? PARTS / 2 : PARTS;
    sum_vec sums[TILE_ROWS * PARTS];
    ahead next = *ahead_of;
    (void)nibbles;
    UNROLL for (int part = 0; part < PARTS; part += parts)
    {
        int32x4_t acc[2 * TILE_ROWS * PARTS] = {{0}};
        const int8_t *x = job->x->int8 + (size_t)row * row_bytes(job->x->K, INPUTS);
        const int8_t *w = job->weights + (size_t)panel * job->panel_size + part * WIDTH * GROUP;
        size_t left = job->groups;
        for (; left >= 2; left -= 2, x += rows * INPUTS, w += 2 * FERRY_LINE_BYTES) {
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
            UNROLL for (int v = 0; v < parts; v++)
            {
                const int32x4_t *both = &acc[r / 2 * 2 * parts + 2 * v];
                const int64x2_t a = vreinterpretq_s64_s32(both[0]), b = vreinterpretq_s64_s32(both[1]);
                sums[r * PARTS + part + v] = (sum_vec)(r % 2 == 0 ? vzip1q_s64(a, b) : vzip2q_s64(a, b));
            }
        }
    }
    end_tile(job, row, panel, sums, rows, panels);
}

#define INT8_TILE(rows, panels) TILE_FUNCTION(int8_tile, rows, panels, false)
#define INT8_ENTRY(rows, panels) TILE_ENTRY(int8_tile, rows, panels)
TILES(INT8_TILE)
static tile_row int8_tiles[TILE_ROWS + 1] = {TILES(INT8_ENTRY)};

void FERRY_KERNEL(product_i8)(float *y, size_t ldy, const ferry_rows_i8 *x, const ferry_matrix *matrix)
{
    if (x->rows == 1) {
        ferry_product_i8_neon_dotprod(y, ldy, x, matrix);
        return;
    }
    const product job = new_product(y, ldy, x, matrix);
    run_tiles(&job, int8_tiles, TILE_ROWS, ROW_STEP);
}

#else
/* ---- AMX tiles (Intel SDM volume 1, chapter 18) ----
 *
 *     A  [R, 64] of inputs    R rows, 64 inputs of each
 *     B  [16][16][4] of a panel: 16 groups of inputs for 16 outputs, as stored in memory
 *     C  [R, 16] of sums      C += A·B
 *
 * R = ⌈rows / ⌈rows/16⌉⌉: a smaller tile takes less time. The last tile of rows starts early enough to be complete, so
 * some rows are computed twice; likewise panels. Inputs are one block [⌈K/64⌉][rows][64]. A block of tiles keeps its
 * sums in registers over all of K. A group of panels stays in the cache until all rows are multiplied. The hardware's
 * own prefetching keeps up with the tiles. */

enum { MIN_ROWS = 4 }; /* fewer rows leave a tile mostly empty */
#define TILE_GROUPS (PIECE_INPUTS / GROUP)
#define TILE_BYTES (TILE_GROUPS * FERRY_LINE_BYTES) /* of B */
#define LINE 64                                     /* bytes of a row of any tile */
#define ALIGNED __attribute__((aligned(64)))

void FERRY_KERNEL(quantize)(ferry_rows_i8 *inputs, const float *x, int32_t row)
{
    if (inputs->rows < MIN_ROWS || inputs->nibbles || inputs->steps) {
        ferry_quantize_avx512vnni(inputs, x, row);
        return;
    }
    row_lanes lanes = {.nibbles = false};
    const int32_t sum = quantize_pieces(inputs->int8 + row * PIECE_INPUTS, (size_t)inputs->rows * PIECE_INPUTS, x,
                                        inputs->K, inputs->inverse_scales[row], &lanes);
    finish_inputs(inputs, row, &lanes, sum);
}

/* The operand of ldtilecfg. */
typedef struct tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_shapes;

typedef struct amx_product {
    product job;
    int32_t tile_rows;  /* R */
    int32_t tiles;      /* of rows */
    int32_t panels;     /* of the matrix */
    size_t steps;       /* of 64 inputs, without the remainder */
    size_t left;        /* bytes of a panel after the steps */
    size_t inputs_step; /* bytes from step to step */
    int32_t *sums;      /* of a block: [row tiles][R][panels, 16] */
    /* The current group of panels: */
    int32_t panel;              /* its first */
    int8_t (*last)[TILE_BYTES]; /* [its size] the remainder, padded with zeros */
} amx_product;

/* The tiles of a step. */
typedef struct operands {
    const int8_t *x[3], *w[MAX_PANELS];
} operands;

typedef void step_function(const operands *o);

/* Compilers do not know that tile instructions read memory. */
INLINE void finish_writing(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Tile registers 0 to 5 have the shape of A and C, 6 and 7 that of B. */
static void set_shapes(int32_t rows)
{
    tile_shapes shapes = {.palette = 1};
    for (int t = 0; t < 8; t++) {
        shapes.row_bytes[t] = LINE;
        shapes.rows[t] = t < 6 ? (uint8_t)rows : FERRY_LANES;
    }
    finish_writing();
    _tile_loadconfig(&shapes);
}

/* ---- steps: 64 inputs of some tiles of rows by some panels ---- */

INLINE void step_1x1(const operands *o)
{
    _tile_loadd(4, o->x[0], LINE);
    _tile_loadd(6, o->w[0], LINE);
    _tile_dpbssd(0, 4, 6);
}

INLINE void step_1x4(const operands *o)
{
    _tile_loadd(4, o->x[0], LINE);
    _tile_loadd(6, o->w[0], LINE);
    _tile_dpbssd(0, 4, 6);
    _tile_loadd(7, o->w[1], LINE);
    _tile_dpbssd(1, 4, 7);
    _tile_loadd(6, o->w[2], LINE);
    _tile_dpbssd(2, 4, 6);
    _tile_loadd(7, o->w[3], LINE);
    _tile_dpbssd(3, 4, 7);
}

INLINE void step_2x2(const operands *o)
{
    _tile_loadd(6, o->w[0], LINE);
    _tile_loadd(4, o->x[0], LINE);
    _tile_dpbssd(0, 4, 6);
    _tile_loadd(7, o->w[1], LINE);
    _tile_dpbssd(1, 4, 7);
    _tile_loadd(5, o->x[1], LINE);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
}

INLINE void step_3x1(const operands *o)
{
    _tile_loadd(6, o->w[0], LINE);
    _tile_loadd(3, o->x[0], LINE);
    _tile_dpbssd(0, 3, 6);
    _tile_loadd(4, o->x[1], LINE);
    _tile_dpbssd(1, 4, 6);
    _tile_loadd(5, o->x[2], LINE);
    _tile_dpbssd(2, 5, 6);
}

/* ---- blocks of tiles: their sums, then their outputs ---- */

/* The first row of tile t. */
static int32_t first_row(const amx_product *p, int32_t t)
{
    int32_t row = t * p->tile_rows, last = p->job.x->rows - p->tile_rows;
    return row < last ? row : last;
}

/* All of K for `rows` tiles of rows from t on by `panels` panels of the group from its panel `first` on, and their
 * outputs. Tile register r·panels + i has the sums of row tile r and panel i. */
INLINE void run_block(const amx_product *p, int32_t t, int rows, int32_t first, int panels, step_function *step)
{
    int32_t *at[4];
    const int tiles = rows * panels;
    const size_t line = (size_t)panels * LINE;
    operands o;
    for (int r = 0; r < rows; r++) o.x[r] = p->job.x->int8 + (size_t)first_row(p, t + r) * PIECE_INPUTS;
    for (int i = 0; i < panels; i++) o.w[i] = p->job.weights + (size_t)(p->panel + first + i) * p->job.panel_size;
    UNROLL for (int i = 0; i < 4; i++)
    {
        at[i] = p->sums + (i / panels * panels * MAX_TILE_ROWS + i % panels) * FERRY_LANES;
    }
    _tile_zero(0);
    if (tiles > 1) _tile_zero(1);
    if (tiles > 2) _tile_zero(2);
    if (tiles > 3) _tile_zero(3);
    for (size_t s = 0; s < p->steps; s++) {
        step(&o);
        UNROLL for (int r = 0; r < rows; r++) o.x[r] += p->inputs_step;
        UNROLL for (int i = 0; i < panels; i++) o.w[i] += TILE_BYTES;
    }
    if (p->left > 0) {
        for (int i = 0; i < panels; i++) o.w[i] = p->last[first + i];
        step(&o);
    }
    _tile_stored(0, at[0], line);
    if (tiles > 1) _tile_stored(1, at[1], line);
    if (tiles > 2) _tile_stored(2, at[2], line);
    if (tiles > 3) _tile_stored(3, at[3], line);
    for (int r = 0; r < rows; r++)
        finish_tile(&p->job, first_row(p, t + r), p->panel + first, (const sum_vec *)(const void *)at[r * panels],
                    p->tile_rows, panels);
}

/* ---- product ---- */

/* All rows by the panels from `panel` on, `size` of them. */
static void multiply_group(amx_product *p, int32_t panel, int32_t size)
{
    p->panel = panel;
    for (int32_t i = 0; p->left > 0 && i < size; i++)
        memcpy(p->last[i], p->job.weights + (size_t)(panel + i + 1) * p->job.panel_size - p->left, p->left);
    finish_writing();
    if (size == 1) {
        for (int32_t t = 0; t < p->tiles; t++) run_block(p, t, 1, 0, 1, step_1x1);
    } else if (p->tiles == 1) {
        run_block(p, 0, 1, 0, 4, step_1x4);
    } else {
        int32_t t = 0;
        if (p->tiles % 2 == 1) {
            run_block(p, 0, 3, 0, 1, step_3x1);
            run_block(p, 0, 3, 1, 1, step_3x1);
            t = 3;
        }
        for (; t < p->tiles; t += 2) run_block(p, t, 2, 0, 2, step_2x2);
    }
}

void FERRY_KERNEL(product_i8)(float *y, size_t ldy, const ferry_rows_i8 *x, const ferry_matrix *matrix)
{
    ALIGNED int8_t last[MAX_PANELS][TILE_BYTES] = {{0}};
    ALIGNED int32_t sums[4 * MAX_TILE_ROWS * FERRY_LANES];
    const int32_t rows = x->rows, tiles = (rows + MAX_TILE_ROWS - 1) / MAX_TILE_ROWS;
    if (rows < MIN_ROWS || x->nibbles || x->steps) {
        ferry_product_i8_avx512vnni(y, ldy, x, matrix);
        return;
    }
    const product job = new_product(y, ldy, x, matrix);
    amx_product p = {.job = job,
                     .tile_rows = (rows + tiles - 1) / tiles,
                     .tiles = tiles,
                     .panels = count_panels(&job),
                     .steps = job.groups / TILE_GROUPS,
                     .left = job.groups % TILE_GROUPS * FERRY_LINE_BYTES,
                     .inputs_step = (size_t)rows * PIECE_INPUTS,
                     .sums = sums,
                     .last = last};
    int32_t size = tiles == 1 ? 4 : 2;
    if (p.panels < size) size = 1;
    set_shapes(p.tile_rows);
    for (int32_t panel = 0; panel < p.panels; panel += size)
        multiply_group(&p, panel + size > p.panels ? p.panels - size : panel, size);
    _tile_release();
}
#endif
