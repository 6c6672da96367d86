/* Relative positions in keys and values (Shaw et al. 2018, equations 3 to 5):
 *
 *     score(i, j) = q_i·(k_j + rel_k[r])/√K,  context_i = Σ_j a(i, j)·(v_j + rel_v[r]),  r = clamp(j - i, -L, L) + L
 *
 * Nothing is added to cached keys and values: q_i meets each row of rel_k once, and the weights of a row's keys are
 * summed before they meet rel_v. rel_k stands as panels, rel_v as values. */
#include <string.h>

#include "clipped.h"
#include "schemes.h"

typedef struct shaw {
    ferry_clipped distances;
    int32_t blocks;       /* of 4 distances */
    float *keys;          /* rel_k [layers], as panels */
    const float **values; /* rel_v [layers][blocks] → [4][P] */
} shaw;

/* Row-major rel_v [count, K] → [blocks][4][P] at `to`, and where its blocks begin. */
static void take_values(const shaw *parameters, const float *rel_v, size_t K, size_t P, float *to, const float **blocks)
{
    const size_t count = (size_t)parameters->distances.count;
    memset(to, 0, (size_t)parameters->blocks * FERRY_BLOCK_POSITIONS * P * sizeof *to);
    for (size_t r = 0; r < count; r++) memcpy(to + r * P, rel_v + r * K, K * sizeof *to);
    for (int32_t b = 0; b < parameters->blocks; b++) blocks[b] = to + (size_t)b * FERRY_BLOCK_POSITIONS * P;
}

static ferry_status bind(ferry_position *position, const ferry_position_source *source, const ferry_kernels *kernels,
                         ferry_error *error)
{
    (void)kernels;
    const int32_t layers = position->stack.layers, K = position->stack.head_width;
    const size_t P = ferry_round_up((size_t)K, FERRY_LANES);
    int32_t clip;
    FERRY_TRY(ferry_clipped_parameter(source, &clip, error));
    const int32_t count = 2 * clip + 1, blocks = (count + FERRY_BLOCK_POSITIONS - 1) / FERRY_BLOCK_POSITIONS;
    const size_t key_floats = ferry_panels_count(count, K), value_floats = (size_t)blocks * FERRY_BLOCK_POSITIONS * P;
    size_t pointers, floats;
    if (!ferry_mul_size((size_t)layers * (size_t)blocks, sizeof(float *), &pointers) ||
        !ferry_mul_size((size_t)layers, key_floats + value_floats, &floats))
        return ferry_fail_memory(error, "tables of distances", SIZE_MAX);
    float *tables;
    FERRY_TRY(ferry_clipped_allocate(position, sizeof(shaw) + pointers, floats, &tables, error));
    shaw *parameters = position->parameters;
    parameters->distances = (ferry_clipped){.count = count, .zero = clip};
    parameters->blocks = blocks;
    parameters->keys = tables;
    parameters->values = (const float **)(void *)(parameters + 1);
    float *values = tables + (size_t)layers * key_floats;
    const int64_t shape[] = {count, K};
    for (int32_t layer = 0; layer < layers; layer++) {
        const float *rel_k, *rel_v;
        FERRY_TRY(source->tensor(source->user, "rel_k", layer, 2, shape, &rel_k, error));
        FERRY_TRY(source->tensor(source->user, "rel_v", layer, 2, shape, &rel_v, error));
        ferry_panels_pack(tables + (size_t)layer * key_floats, rel_k, count, K);
        take_values(parameters, rel_v, (size_t)K, P, values + (size_t)layer * value_floats,
                    parameters->values + (size_t)layer * (size_t)blocks);
    }
    return FERRY_OK;
}

static size_t scratch(const ferry_position *position, int32_t queries, int32_t keys)
{
    const shaw *parameters = position->parameters;
    return (size_t)queries *
           (ferry_clipped_width(&parameters->distances, queries, keys) + (size_t)position->stack.head_width);
}

static void score(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  const ferry_position_tile *tile)
{
    (void)state;
    const shaw *parameters = position->parameters;
    const size_t layer_floats = ferry_panels_count(parameters->distances.count, position->stack.head_width);
    ferry_clipped_scores(&parameters->distances, position, kernels,
                         parameters->keys + (size_t)tile->layer * layer_floats, tile);
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
    const ferry_clipped_keys split = ferry_clipped_split(distances, position, keys);
    memset(s, 0, (size_t)range.rows * sizeof *s);
    s -= range.base;
    if (split.left > 0) s[0] = sum(a, split.left);
    memcpy(s + split.first, a + split.left, (size_t)(split.right - split.left) * sizeof *s);
    if (split.right < keys) s[distances->count - 1] = sum(a + split.right, keys - split.right);
}

static void context(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                    const ferry_position_tile *tile)
{
    (void)state;
    const shaw *parameters = position->parameters;
    const int32_t K = position->stack.head_width;
    const ferry_clipped_range range = ferry_clipped_meets(&parameters->distances, tile, position->stack.causal);
    const size_t width = ferry_round_up((size_t)range.rows, FERRY_LANES);
    float *sums = tile->scratch, *terms = sums + (size_t)tile->queries * width;
    for (int32_t i = 0; i < tile->queries; i++)
        sum_by_row(&parameters->distances, range, tile->first + i, ferry_position_visible(position, tile, i),
                   tile->scores + (size_t)i * tile->ld_scores, sums + (size_t)i * width);
    const ferry_past values = {
        .blocks =
            parameters->values + (size_t)tile->layer * (size_t)parameters->blocks + range.base / FERRY_BLOCK_POSITIONS,
        .stride = ferry_round_up((size_t)K, FERRY_LANES),
        .heads = 1,
        .width = K,
        .count = range.rows,
    };
    kernels->context(terms, (size_t)K, sums, width, tile->queries, &values);
    for (int32_t i = 0; i < tile->queries; i++)
        kernels->add(tile->context + (size_t)i * tile->ld_context, terms + (size_t)i * (size_t)K, (size_t)K);
}

static void cost(const ferry_position *position, ferry_position_cost *result)
{
    const shaw *parameters = position->parameters;
    const int64_t layers = position->stack.layers, heads = layers * position->stack.heads;
    const int64_t K = position->stack.head_width, P = (int64_t)ferry_round_up((size_t)K, FERRY_LANES);
    const int64_t keys = (int64_t)ferry_panels_count(parameters->distances.count, position->stack.head_width);
    const int64_t rows = position->stack.causal ? parameters->distances.zero + 1 : parameters->distances.count;
    result->model_bytes = layers * (keys + parameters->blocks * FERRY_BLOCK_POSITIONS * P) * (int64_t)sizeof(float);
    result->token_operations = heads * 2 * rows * K;
    result->key_operations = heads * 2;
}

/* The clipping distance of the paper's experiments. */
static const ferry_position_parameter usual[] = {{.key = "clip", .number = 16}, {.key = NULL}};

const ferry_position_scheme ferry_position_shaw = {
    .name = "shaw", .usual = usual, .bind = bind, .scratch = scratch, .score = score, .context = context, .cost = cost};
