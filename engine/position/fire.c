/* FIRE, functional interpolation for relative positions (Li et al. 2023): a learned function of the distance relative
 * to the length so far,
 *
 *     score(i, j) + f_h(x),  x = psi(|i - j|)/(psi(max(|L|, i, j)) + 10⁻⁶),  psi(d) = ln(1 + |c|·d)
 *     f_h(x) = b2_h + Σ_n w2_hn·max(0, w1_n·x + b1_n)
 *
 * with c, L, w1, b1, w2 and b2 of each layer. The paper has decoders only, where i ≥ j; in the encoder max(…, j) keeps
 * x in 0 … 1.
 *
 * Each unit n turns on or off at x = -b1/w1, and f_h is a straight line in between: bind computes slope and intercept
 * of every segment. Along a row of keys x grows with the distance, so the segments come in order. The numbers of 16
 * positions in the state's rows: layer 0 psi [16], 1/(psi(max(|L|, …)) + 10⁻⁶) [16] · layer 1 … */
#include "position.h"
#include "schemes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { WIDTH };                        /* parameter */
enum { C, THRESHOLD, W1, B1, W2, B2 }; /* tensors */
/* The default width, c and L are the paper's. The ranges of w1 and b1 are the authors' initialization. */
static const ferry_position_parameter parameters[] = {
    {"width", FERRY_POSITION_INTEGER, "hidden units of f", .min = "1", .max = "65536", .unit = "width",
     .default_value = "32"},
    {0},
};
static const ferry_position_tensor tensors[] = {
    {"fire_c", "1",
     "c of score + f(x)_h with x = ψ(|i - j|)/(ψ(max(|L|, i, j)) + 10⁻⁶), ψ(d) = ln(1 + |c|·d); finite, like the "
     "others",
     .per_layer = true, .numbers = FERRY_POSITION_FINITE, .default_min = 0.1f, .default_max = 0.1f},
    {"fire_threshold", "1", "L", .per_layer = true, .numbers = FERRY_POSITION_FINITE, .default_min = 512,
     .default_max = 512},
    {"fire_w1", "width", "w1 of f(x)_h = b2_h + Σ_n w2_hn·max(0, w1_n·x + b1_n)", .per_layer = true,
     .numbers = FERRY_POSITION_FINITE, .default_min = -1, .default_max = 1},
    {"fire_b1", "width", "b1", .per_layer = true, .numbers = FERRY_POSITION_FINITE, .default_min = -1,
     .default_max = 1},
    {"fire_w2", "H, width", "w2", .per_layer = true, .numbers = FERRY_POSITION_FINITE},
    {"fire_b2", "H", "b2", .per_layer = true, .numbers = FERRY_POSITION_FINITE},
    {0},
};

/* f_h(x) = slope·x + intercept up to `end`. */
typedef struct segment {
    float end, slope, intercept;
} segment;

typedef struct scale {
    float c, threshold; /* absolute values */
} scale;

typedef struct fire {
    size_t segments; /* width + 1 for each head */
    segment *table;  /* [layers, H, segments] */
    scale scales[];  /* [layers] */
} fire;

/* ---- the function ---- */

/* Where a unit turns on or off. */
typedef struct bend {
    double x;
    int32_t unit;
} bend;

static int compare_bends(const void *a, const void *b)
{
    const bend *left = a, *right = b;
    if (left->x != right->x) return left->x < right->x ? -1 : 1;
    return left->unit < right->unit ? -1 : 1;
}

/* The segments of head h; false if f_h or its sum with a score can overflow float32. */
static bool derive_head(const float *const *weights, int32_t width, int32_t h, const bend *bends, int32_t count,
                        segment *segments)
{
    const float *w1 = weights[W1], *b1 = weights[B1], *w2 = weights[W2] + (size_t)h * (size_t)width;
    double slope = 0, intercept = (double)weights[B2][h];
    for (int32_t n = 0; n < width; n++) {
        if (b1[n] < 0) continue; /* off at 0 */
        slope += (double)w2[n] * (double)w1[n];
        intercept += (double)w2[n] * (double)b1[n];
    }
    for (int32_t s = 0;; s++) {
        if (fabs(slope) + fabs(intercept) > (double)FLT_MAX / 2) return false;
        segments[s] = (segment){s < count ? (float)bends[s].x : INFINITY, (float)slope, (float)intercept};
        if (s == count) return true;
        const int32_t n = bends[s].unit;
        const double change = w1[n] > 0 ? (double)w2[n] : -(double)w2[n]; /* on or off */
        slope += change * (double)w1[n];
        intercept += change * (double)b1[n];
    }
}

static ferry_status derive_layer(ferry_position *position, const ferry_position_binding *binding, int32_t layer,
                                 bend *bends, ferry_error *error)
{
    fire *own = position->derived;
    const int32_t width = (int32_t)position->values[WIDTH], H = position->stack.heads;
    const float *weights[B2 + 1];
    for (size_t t = C; t <= B2; t++) FERRY_TRY(ferry_position_take(position, binding, t, layer, &weights[t], error));
    own->scales[layer] = (scale){fabsf(*weights[C]), fabsf(*weights[THRESHOLD])};
    int32_t count = 0; /* of bends from 0 to 1, in ascending order */
    for (int32_t n = 0; n < width; n++) {
        const double w1 = (double)weights[W1][n], b1 = (double)weights[B1][n];
        if ((b1 < 0) != (w1 + b1 < 0)) bends[count++] = (bend){-b1 / w1, n};
    }
    qsort(bends, (size_t)count, sizeof *bends, compare_bends);
    segment *segments = own->table + (size_t)layer * (size_t)H * own->segments;
    for (int32_t h = 0; h < H; h++, segments += own->segments)
        if (!derive_head(weights, width, h, bends, count, segments))
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "fire_w2 of layer %d: the values of head %d are beyond float32", (int)layer, (int)h);
    return FERRY_OK;
}

static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    const size_t layers = (size_t)position->stack.layers, heads = layers * (size_t)position->stack.heads;
    const size_t width = (size_t)position->values[WIDTH], floats = (width + 1) * (sizeof(segment) / sizeof(float));
    float *table;
    FERRY_TRY(ferry_position_allocate(position, sizeof(fire) + layers * sizeof(scale), heads, floats, &table, error));
    fire *own = position->derived;
    own->segments = width + 1;
    position->derived_bytes += layers * sizeof(scale);
    own->table = (segment *)(void *)table;
    bend *bends = malloc(width * sizeof *bends);
    if (bends == NULL) return ferry_fail_memory(error, "fire positions", width, sizeof *bends);
    ferry_status status = FERRY_OK;
    for (int32_t layer = 0; layer < position->stack.layers && status == FERRY_OK; layer++)
        status = derive_layer(position, binding, layer, bends, error);
    free(bends);
    return status;
}

/* ---- scores ---- */

static void fill(const ferry_position *position, const ferry_kernels *kernels, float *rows, int32_t first, int32_t end)
{
    (void)kernels;
    const fire *own = position->derived;
    const size_t layers = (size_t)position->stack.layers;
    for (int32_t p = first; p < end; p++)
        for (size_t layer = 0; layer < layers; layer++) {
            const double c = (double)own->scales[layer].c, last = fmax((double)p, (double)own->scales[layer].threshold);
            float *psi = rows + ((size_t)(p / FERRY_LANES) * layers + layer) * 2 * FERRY_LANES + p % FERRY_LANES;
            psi[0] = (float)log1p(c * (double)p);
            psi[FERRY_LANES] = (float)(1 / (log1p(c * last) + 1e-6));
        }
}

/* One query of one head. */
typedef struct query {
    const float *rows; /* of the layer */
    size_t group;      /* floats of 16 positions in all layers */
    const segment *segments;
    int32_t at; /* its position */
} query;

/* psi of positions p … p + 15 (p is a multiple of 16), then 1/(psi(max(|L|, …)) + 10⁻⁶). */
static const float *find_group(const query *q, int32_t p)
{
    return q->rows + (size_t)(p / FERRY_LANES) * q->group;
}

/* x of keys to the left at distances d … d + count - 1 (d is a multiple of 16). The query has the larger position. */
static void take_left(const query *q, int32_t d, int32_t count, float *restrict x)
{
    const float *psi = find_group(q, d), factor = find_group(q, q->at)[FERRY_LANES + q->at % FERRY_LANES];
    for (int32_t l = 0; l < count; l++) x[l] = psi[l] * factor;
}

/* x of keys to the right. The key has the larger position. */
static void take_right(const query *q, int32_t d, int32_t count, float *restrict x)
{
    const int32_t key = q->at + d, slot = key % FERRY_LANES, rest = FERRY_LANES - slot;
    const float *psi = find_group(q, d), *factors = find_group(q, key) + FERRY_LANES;
    for (int32_t l = 0; l < count && l < rest; l++) x[l] = psi[l] * factors[slot + l];
    for (int32_t l = rest; l < count; l++) x[l] = psi[l] * factors[q->group + (size_t)(l - rest)];
}

/* scores[step·d] += f_h(x): to the left (step -1) for d = 0 … last, to the right (step 1) for d = 1 … last. The inner
 * loop adds a run of keys in one segment and one group. */
static inline void add_side(const query *q, int32_t step, int32_t last, float *restrict scores)
{
    const segment *now = q->segments;
    for (int32_t d = 0; d <= last; d += FERRY_LANES) {
        float x[FERRY_LANES];
        const int32_t count = last - d < FERRY_LANES ? last - d + 1 : FERRY_LANES;
        if (step < 0)
            take_left(q, d, count, x);
        else
            take_right(q, d, count, x);
        for (int32_t l = step > 0 && d == 0 ? 1 : 0, end; l < count; l = end) {
            while (x[l] > now->end) now++;
            end = count;
            if (x[count - 1] > now->end) end = l + 1;
            while (end < count && x[end] <= now->end) end++;
            const segment line = *now;
            for (int32_t k = l; k < end; k++) scores[step * (d + k)] += line.slope * x[k] + line.intercept;
        }
    }
}

static void score(const ferry_position *position, const ferry_position_tile *tile)
{
    const fire *own = position->derived;
    const size_t head = (size_t)tile->layer * (size_t)position->stack.heads + (size_t)tile->head;
    query q = {.rows = tile->state->rows + (size_t)tile->layer * 2 * FERRY_LANES,
               .group = (size_t)position->stack.layers * 2 * FERRY_LANES,
               .segments = own->table + head * own->segments};
    for (int32_t i = 0; i < tile->queries; i++) {
        q.at = tile->first + i;
        float *scores = tile->scores + (size_t)i * tile->ld_scores + q.at;
        add_side(&q, -1, q.at, scores);
        if (!position->stack.causal) add_side(&q, 1, tile->keys - 1 - q.at, scores);
    }
}

const ferry_position_scheme ferry_position_fire = {.name = "fire",
                                                   .title = "FIRE",
                                                   .paper = "Li et al. 2023",
                                                   .for_long_texts = true,
                                                   .parameters = parameters,
                                                   .tensors = tensors,
                                                   .bind = bind,
                                                   .row = "layers*2",
                                                   .fill = fill,
                                                   .score = score,
                                                   .key_operations = "layers*H*2"};
