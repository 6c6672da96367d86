/* KERPLE in its logarithmic form (Chi et al. 2022): a bias with two learned numbers for each head of each layer,
 *
 *     score(i, j) - p·ln(1 + a·|i - j|)
 *
 * It depends on the distance alone. The biases of 16 distances in the state's rows, so that those of a head lie side by
 * side: layer 0, head 0 [16] · layer 0, head 1 [16] · … */
#include "position.h"
#include "schemes.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { P, A };
/* The default ranges are the authors' initialization. */
static const ferry_position_tensor tensors[] = {
    {"kerple_p", "H", "p of score - p·ln(1 + a·|i - j|); finite, not negative", .per_layer = true,
     .numbers = FERRY_POSITION_NOT_NEGATIVE, .default_max = 2},
    {"kerple_a", "H", "a; finite, not negative", .per_layer = true, .numbers = FERRY_POSITION_NOT_NEGATIVE,
     .default_max = 1},
    {0},
};

static size_t all_heads(const ferry_position *position)
{
    return (size_t)position->stack.layers * (size_t)position->stack.heads;
}

/* position->derived: p of all heads, then a. */
static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    const size_t H = (size_t)position->stack.heads;
    float *p;
    FERRY_TRY(ferry_position_allocate(position, 0, 2, all_heads(position), &p, error));
    for (int32_t layer = 0; layer < position->stack.layers; layer++) {
        const float *layer_p, *layer_a;
        FERRY_TRY(ferry_position_take(position, binding, P, layer, &layer_p, error));
        FERRY_TRY(ferry_position_take(position, binding, A, layer, &layer_a, error));
        memcpy(p + (size_t)layer * H, layer_p, H * sizeof *p);
        memcpy(p + all_heads(position) + (size_t)layer * H, layer_a, H * sizeof *p);
    }
    return FERRY_OK;
}

static void fill(const ferry_position *position, const ferry_kernels *kernels, float *rows, int32_t first, int32_t end)
{
    (void)kernels;
    const size_t heads = all_heads(position);
    const float *p = position->derived, *a = p + heads;
    for (int32_t d = first; d < end; d++)
        for (size_t h = 0; h < heads; h++) {
            const double bias = (double)p[h] * log1p((double)a[h] * (double)d);
            const size_t group = (size_t)(d / FERRY_LANES) * heads;
            rows[(group + h) * FERRY_LANES + (size_t)(d % FERRY_LANES)] = -(float)fmin(bias, (double)FLT_MAX);
        }
}

/* Adds the bias of a head to the scores of one query, on both sides. Both add distance 0: its bias is 0. `heads`:
 * heads of all layers. */
static void add_row(const float *restrict bias, size_t heads, float *restrict scores, int32_t at, int32_t keys)
{
    for (int32_t d = 0; d <= at || d < keys - at; d += FERRY_LANES, bias += heads * FERRY_LANES) {
        const int32_t left = at - d < FERRY_LANES ? at - d + 1 : FERRY_LANES;
        const int32_t right = keys - at - d < FERRY_LANES ? keys - at - d : FERRY_LANES;
        for (int32_t l = 0; l < left; l++) scores[at - d - l] += bias[l];
        for (int32_t l = 0; l < right; l++) scores[at + d + l] += bias[l];
    }
}

static void score(const ferry_position *position, const ferry_position_tile *tile)
{
    const size_t head = (size_t)tile->layer * (size_t)position->stack.heads + (size_t)tile->head;
    for (int32_t i = 0; i < tile->queries; i++)
        add_row(tile->state->rows + head * FERRY_LANES, all_heads(position), tile->scores + (size_t)i * tile->ld_scores,
                tile->first + i, ferry_position_visible(position, tile, i));
}

const ferry_position_scheme ferry_position_kerple = {.name = "kerple",
                                                     .title = "KERPLE",
                                                     .paper = "Chi et al. 2022",
                                                     .for_long_texts = true,
                                                     .tensors = tensors,
                                                     .bind = bind,
                                                     .row = "layers*H",
                                                     .fill = fill,
                                                     .score = score,
                                                     .key_operations = "layers*H"};
