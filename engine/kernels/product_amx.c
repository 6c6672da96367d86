/* Products of quantized rows with int8 matrices on AMX tiles (Intel SDM volume 1, chapter 18). The bytes are those of
 * product_i8.c, since integer sums are exact.
 *
 *     A  [R, 64] of inputs    R rows, 64 inputs of each
 *     B  [16][16][4] of a panel: 16 groups of inputs for 16 outputs, as stored in memory
 *     C  [R, 16] of sums      C += A·B
 *
 * R = ⌈rows / ⌈rows/16⌉⌉, as a smaller tile takes less time; the last tile of rows starts early enough to be complete,
 * so that some rows may be computed twice. So may panels. A block of tiles keeps its sums in registers over all of K;
 * a group of panels stays in the cache while all rows pass. The hardware's own prefetching keeps up with the tiles. */
#include "product_i8.h"

#define CODES_TILE (FERRY_LANES * AMX_INPUTS) /* bytes of B */
#define LINE 64                               /* bytes of a row of any tile */
#define ALIGNED __attribute__((aligned(64)))

/* What ldtilecfg reads. */
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
    /* The current group of panels: */
    int32_t panel;              /* its first */
    int8_t (*last)[CODES_TILE]; /* [its size] the remainder, padded with zeros */
} amx_product;

/* The tiles that a step reads. */
typedef struct operands {
    const int8_t *x[3], *w[MAX_PANELS];
} operands;

typedef void step_function(const operands *o);

/* Compilers do not know which memory tile instructions read. */
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

/* Tiles t … t + rows - 1 by `panels` panels of the group from its panel `first` on. */
static operands new_operands(const amx_product *p, int32_t t, int rows, int32_t first, int panels)
{
    operands o;
    for (int r = 0; r < rows; r++) o.x[r] = p->job.x->codes + (size_t)first_row(p, t + r) * AMX_INPUTS;
    for (int i = 0; i < panels; i++) o.w[i] = p->job.codes + (size_t)(p->panel + first + i) * p->job.panel_size;
    return o;
}

/* Adds up tiles t … by panels of the group with `step`. */
INLINE void add_up(const amx_product *p, int32_t t, int rows, int32_t first, int panels, step_function *step)
{
    operands o = new_operands(p, t, rows, first, panels);
    _tile_zero(0);
    if (rows * panels > 1) _tile_zero(1);
    if (rows * panels > 2) _tile_zero(2);
    if (rows * panels > 3) _tile_zero(3);
    for (size_t s = 0; s < p->steps; s++) {
        step(&o);
        UNROLL for (int r = 0; r < rows; r++) o.x[r] += p->inputs_step;
        UNROLL for (int i = 0; i < panels; i++) o.w[i] += CODES_TILE;
    }
    if (p->left > 0) {
        for (int i = 0; i < panels; i++) o.w[i] = p->last[first + i];
        step(&o);
    }
}

static void finish(const amx_product *p, int32_t t, int32_t first, const int32_t *sums, int panels)
{
    finish_tile(&p->job, first_row(p, t), p->panel + first, (const sum_vec *)(const void *)sums, p->tile_rows, panels);
}

static void block_1x1(const amx_product *p, int32_t t, int32_t first)
{
    ALIGNED int32_t sums[MAX_TILE_ROWS * FERRY_LANES];
    add_up(p, t, 1, first, 1, step_1x1);
    _tile_stored(0, sums, LINE);
    finish(p, t, first, sums, 1);
}

static void block_1x4(const amx_product *p, int32_t t)
{
    ALIGNED int32_t sums[MAX_TILE_ROWS * 4 * FERRY_LANES];
    add_up(p, t, 1, 0, 4, step_1x4);
    _tile_stored(0, sums, 4 * LINE);
    _tile_stored(1, sums + FERRY_LANES, 4 * LINE);
    _tile_stored(2, sums + 2 * FERRY_LANES, 4 * LINE);
    _tile_stored(3, sums + 3 * FERRY_LANES, 4 * LINE);
    finish(p, t, 0, sums, 4);
}

static void block_2x2(const amx_product *p, int32_t t)
{
    ALIGNED int32_t sums[2][MAX_TILE_ROWS * 2 * FERRY_LANES];
    add_up(p, t, 2, 0, 2, step_2x2);
    _tile_stored(0, sums[0], 2 * LINE);
    _tile_stored(1, sums[0] + FERRY_LANES, 2 * LINE);
    _tile_stored(2, sums[1], 2 * LINE);
    _tile_stored(3, sums[1] + FERRY_LANES, 2 * LINE);
    for (int r = 0; r < 2; r++) finish(p, t + r, 0, sums[r], 2);
}

static void block_3x1(const amx_product *p, int32_t t, int32_t first)
{
    ALIGNED int32_t sums[3][MAX_TILE_ROWS * FERRY_LANES];
    add_up(p, t, 3, first, 1, step_3x1);
    _tile_stored(0, sums[0], LINE);
    _tile_stored(1, sums[1], LINE);
    _tile_stored(2, sums[2], LINE);
    for (int r = 0; r < 3; r++) finish(p, t + r, first, sums[r], 1);
}

/* ---- product ---- */

/* All rows by the panels from `panel` on, `size` of them. */
static void multiply_group(amx_product *p, int32_t panel, int32_t size)
{
    p->panel = panel;
    for (int32_t i = 0; p->left > 0 && i < size; i++)
        memcpy(p->last[i], p->job.codes + (size_t)(panel + i + 1) * p->job.panel_size - p->left, p->left);
    finish_writing();
    if (size == 1) {
        for (int32_t t = 0; t < p->tiles; t++) block_1x1(p, t, 0);
    } else if (p->tiles == 1) {
        block_1x4(p, 0);
    } else {
        int32_t t = 0;
        if (p->tiles % 2 == 1) {
            block_3x1(p, 0, 0);
            block_3x1(p, 0, 1);
            t = 3;
        }
        for (; t < p->tiles; t += 2) block_2x2(p, t);
    }
}

static void product_tiles(const product *job)
{
    ALIGNED int8_t last[MAX_PANELS][CODES_TILE] = {{0}};
    const int32_t rows = job->x->rows, tiles = (rows + MAX_TILE_ROWS - 1) / MAX_TILE_ROWS;
    amx_product p = {.job = *job,
                     .tile_rows = (rows + tiles - 1) / tiles,
                     .tiles = tiles,
                     .panels = (int32_t)((job->N + FERRY_LANES - 1) / FERRY_LANES),
                     .steps = job->groups / FERRY_LANES,
                     .left = job->groups % FERRY_LANES * PANEL_GROUP,
                     .inputs_step = (size_t)rows * AMX_INPUTS,
                     .last = last};
    int32_t size = tiles == 1 ? 4 : 2;
    if (p.panels < size) size = 1;
    set_shapes(p.tile_rows);
    for (int32_t panel = 0; panel < p.panels; panel += size)
        multiply_group(&p, panel + size > p.panels ? p.panels - size : panel, size);
    _tile_release();
}

void FERRY_KERNEL(product_i8)(float *y, size_t ldy, const ferry_rows_i8 *x, const int8_t *codes, int32_t N,
                              const float *scales, float multiplier, const float *bias)
{
    if (x->rows < MIN_AMX_ROWS) {
        ferry_product_i8_avx512vnni(y, ldy, x, codes, N, scales, multiplier, bias);
        return;
    }
    const product job = new_product(y, ldy, x, codes, N, scales, multiplier, bias);
    product_tiles(&job);
}
