/* Relative positions in keys and values (Shaw et al. 2018, equations 3 to 5):
 *
 *     score(i, j) = q_i·(k_j + rel_k[r])/√K,  context_i = Σ_j a(i, j)·(v_j + rel_v[r]),  r = clamp(j - i, -L, L) + L
 *
 * Nothing is added to cached keys and values: q_i is multiplied by each row of rel_k once, and the weights of a row's
 * keys are summed before they are multiplied by rel_v. rel_k is stored as panels, rel_v like cached values. */
#include <string.h>

#include "clipped.h"
#include "engine/kernels/linear.h"
#include "position.h"
#include "schemes.h"

enum { CLIP };         /* parameter */
enum { REL_K, REL_V }; /* tensors */
/* The default clip is that of the paper's experiments. */
static const ferry_position_parameter parameters[] = {
    {"clip", FERRY_POSITION_INTEGER, "distances are clamped to -clip … clip", .min = "1", .max = "65536",
     .unit = "distance", .default_value = "16"},
    {0},
};
static const ferry_position_tensor tensors[] = {
    {"rel_k", "2*clip+1, K", "row clamp(j - i, -clip, clip) + clip is added to the key", .per_layer = true},
    {"rel_v", "2*clip+1, K", "the same row is added to the value", .per_layer = true},
    {0},
};

typedef struct shaw {
    ferry_clipped distances;
    int32_t blocks;       /* of 4 distances */
    float *keys;          /* rel_k [layers], as panels */
    const float **values; /* rel_v [layers][blocks] → [4][P] */
} shaw;

static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    const int32_t layers = position->stack.layers, K = position->stack.head_width;
    const size_t P = ferry_round_up((size_t)K, FERRY_LANES);
    const int32_t clip = (int32_t)position->values[CLIP], count = 2 * clip + 1;
    const int32_t blocks = (count + FERRY_BLOCK_POSITIONS - 1) / FERRY_BLOCK_POSITIONS;
    const size_t key_floats = ferry_panels_count(count, K), value_floats = (size_t)blocks * FERRY_BLOCK_POSITIONS * P;
    size_t pointers;
    if (!ferry_mul_size((size_t)layers * (size_t)blocks, sizeof(float *), &pointers)) pointers = SIZE_MAX / 2;
    float *tables;
    FERRY_TRY(ferry_position_allocate(position, sizeof(shaw) + pointers, (size_t)layers, key_floats + value_floats,
                                      &tables, error));
    shaw *own = position->derived;
    *own = (shaw){.distances = {.count = count, .zero = clip},
                  .blocks = blocks,
                  .keys = tables,
                  .values = (const float **)(void *)(own + 1)};
    float *values = tables + (size_t)layers * key_floats;
    for (int32_t layer = 0; layer < layers; layer++) {
        const float *rel_k, *rel_v;
        FERRY_TRY(ferry_position_take(position, binding, REL_K, layer, &rel_k, error));
        FERRY_TRY(ferry_position_take(position, binding, REL_V, layer, &rel_v, error));
        ferry_panels_pack(tables + (size_t)layer * key_floats, rel_k, count, K);
        /* Row-major rel_v [count, K] → [blocks][4][P] */
        float *to = values + (size_t)layer * value_floats;
        memset(to, 0, value_floats * sizeof *to);
        for (size_t r = 0; r < (size_t)count; r++) memcpy(to + r * P, rel_v + r * (size_t)K, (size_t)K * sizeof *to);
        for (int32_t b = 0; b < blocks; b++)
            own->values[(size_t)layer * (size_t)blocks + (size_t)b] = to + (size_t)b * FERRY_BLOCK_POSITIONS * P;
    }
    return FERRY_OK;
}

static size_t scratch(const ferry_position *position, int32_t queries, int32_t keys)
{
    const shaw *own = position->derived;
    return (size_t)queries * (ferry_clipped_width(&own->distances, queries, keys) + (size_t)position->stack.head_width);
}

static void score(const ferry_position *position, const ferry_position_tile *tile)
{
    const shaw *own = position->derived;
    const size_t layer_floats = ferry_panels_count(own->distances.count, position->stack.head_width);
    ferry_clipped_scores(&own->distances, position, own->keys + (size_t)tile->layer * layer_floats, tile);
}

static float sum(const float *x, int32_t n)
{
    float total = 0;
    for (int32_t j = 0; j < n; j++) total += x[j];
    return total;
}

/* s[r] = Σ a[j] over the keys of row r. */
static void sum_by_row(const ferry_clipped *distances, ferry_clipped_range range, int32_t position, int32_t keys,
                       const float *a /* [keys] */, float *s /* [range.rows] */)
{
    const ferry_clipped_keys split = ferry_clipped_find_keys(distances, position, keys);
    memset(s, 0, (size_t)range.rows * sizeof *s);
    s -= range.base;
    if (split.left > 0) s[0] = sum(a, split.left);
    memcpy(s + split.first, a + split.left, (size_t)(split.right - split.left) * sizeof *s);
    if (split.right < keys) s[distances->count - 1] = sum(a + split.right, keys - split.right);
}

static void context(const ferry_position *position, const ferry_position_tile *tile)
{
    const shaw *own = position->derived;
    const int32_t K = position->stack.head_width;
    const ferry_clipped_range range = ferry_clipped_find_range(&own->distances, tile, position->stack.causal);
    const size_t width = ferry_round_up((size_t)range.rows, FERRY_LANES);
    float *sums = tile->scratch, *terms = sums + (size_t)tile->queries * width;
    for (int32_t i = 0; i < tile->queries; i++)
        sum_by_row(&own->distances, range, tile->first + i, ferry_position_visible(position, tile, i),
                   tile->scores + (size_t)i * tile->ld_scores, sums + (size_t)i * width);
    const ferry_kv_view values = {
        .blocks = own->values + (size_t)tile->layer * (size_t)own->blocks + range.base / FERRY_BLOCK_POSITIONS,
        .stride = ferry_round_up((size_t)K, FERRY_LANES),
        .heads = 1,
        .width = K,
        .count = range.rows,
    };
    tile->kernels->context(terms, (size_t)K, sums, width, tile->queries, &values);
    for (int32_t i = 0; i < tile->queries; i++)
        tile->kernels->add(tile->context + (size_t)i * tile->ld_context, terms + (size_t)i * (size_t)K, (size_t)K);
}

const ferry_position_scheme ferry_position_shaw = {.name = "shaw",
                                                   .title = "Shaw",
                                                   .paper = "Shaw et al. 2018",
                                                   .parameters = parameters,
                                                   .tensors = tensors,
                                                   .bind = bind,
                                                   .scratch = scratch,
                                                   .score = score,
                                                   .context = context,
                                                   .token_operations = "clip*directions+1*layers*H*K*2",
                                                   .key_operations = "layers*H*2"};
