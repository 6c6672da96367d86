#include "clipped.h"

#include "position.h"
#include "schemes.h"

static int32_t clamp(int32_t value, int32_t min, int32_t max)
{
    return value < min ? min : value > max ? max : value;
}

ferry_clipped_keys ferry_clipped_find_keys(const ferry_clipped *clipped, int32_t position, int32_t keys)
{
    const int32_t left = clamp(position - clipped->zero + 1, 0, keys);
    return (ferry_clipped_keys){
        .left = left,
        .right = clamp(position - clipped->zero + clipped->count - 1, left, keys),
        .first = left - position + clipped->zero,
    };
}

ferry_clipped_range ferry_clipped_find_range(const ferry_clipped *clipped, const ferry_position_tile *tile, bool causal)
{
    const int32_t nearest = causal ? 0 : tile->keys - 1 - tile->first;
    const int32_t furthest = -(tile->first + tile->queries - 1);
    const int32_t base = clamp(furthest + clipped->zero, 0, clipped->count - 1) / FERRY_LANES * FERRY_LANES;
    return (ferry_clipped_range){base, clamp(nearest + clipped->zero, 0, clipped->count - 1) - base + 1};
}

size_t ferry_clipped_width(const ferry_clipped *clipped, int32_t queries, int32_t keys)
{
    const size_t apart = (size_t)queries + (size_t)keys + FERRY_LANES, count = (size_t)clipped->count;
    return ferry_round_up(apart < count ? apart : count, FERRY_LANES);
}

static void add_constant(float *x, float value, int32_t n)
{
    for (int32_t j = 0; j < n; j++) x[j] += value;
}

void ferry_clipped_add(const ferry_clipped *clipped, const ferry_kernels *kernels, const float *terms, int32_t position,
                       int32_t keys, float *scores)
{
    const ferry_clipped_keys split = ferry_clipped_find_keys(clipped, position, keys);
    if (split.left > 0) add_constant(scores, terms[0], split.left);
    kernels->add(scores + split.left, terms + split.first, (size_t)(split.right - split.left));
    if (split.right < keys) add_constant(scores + split.right, terms[clipped->count - 1], keys - split.right);
}

void ferry_clipped_scores(const ferry_clipped *clipped, const ferry_position *position, const float *panels,
                          const ferry_position_tile *tile)
{
    const int32_t K = position->stack.head_width;
    const ferry_clipped_range range = ferry_clipped_find_range(clipped, tile, position->stack.causal);
    const size_t width = ferry_round_up((size_t)range.rows, FERRY_LANES);
    tile->kernels->product(tile->scratch, width, tile->q, tile->ldq, tile->queries,
                           panels + (size_t)range.base * (size_t)K, K, range.rows, NULL);
    for (int32_t i = 0; i < tile->queries; i++)
        ferry_clipped_add(clipped, tile->kernels, tile->scratch + (size_t)i * width - range.base, tile->first + i,
                          ferry_position_visible(position, tile, i), tile->scores + (size_t)i * tile->ld_scores);
}
