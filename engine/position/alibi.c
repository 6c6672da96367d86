/* ALiBi (Press et al. 2022, section 3): attention with linear biases,
 *
 *     score(i, j) - m_h·|i - j|
 *
 * where the paper's slopes are m_h = 2^(-8(h + 1)/H) for a power of two H; other H take the slopes of the next lower
 * power of two n, followed by every second slope of 2n. With `slopes: given`, a tensor holds them. */
#include "position.h"
#include "schemes.h"

#include <math.h>
#include <stdlib.h>

enum { SLOPES };
static const ferry_position_parameter parameters[] = {
    {"slopes", FERRY_POSITION_CHOICE, "`formula`: Press et al. 2022; `given`: the tensor",
     .choices = {"formula", "given"}, .default_value = "formula"},
    {0},
};
static const ferry_position_tensor tensors[] = {
    {"slopes", "H", "m_h", .when = "slopes=given", .kept = true},
    {0},
};

static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    (void)binding;
    const int32_t H = position->stack.heads;
    int32_t n = 1;
    float *slopes;
    if (position->tensors[SLOPES] != NULL) return FERRY_OK;
    FERRY_TRY(ferry_position_allocate(position, 0, 1, (size_t)H, &slopes, error));
    while (n <= H / 2) n *= 2;
    for (int32_t h = 0; h < H; h++) {
        const double exponent = h < n ? (double)(h + 1) / (double)n : (double)(2 * (h - n) + 1) / (double)(2 * n);
        slopes[h] = (float)exp2(-8 * exponent);
    }
    position->tensors[SLOPES] = slopes;
    return FERRY_OK;
}

static void score(const ferry_position *position, const ferry_position_tile *tile)
{
    const float slope = position->tensors[SLOPES][tile->head];
    for (int32_t i = 0; i < tile->queries; i++) {
        float *row = tile->scores + (size_t)i * tile->ld_scores;
        const int32_t at = tile->first + i, keys = ferry_position_visible(position, tile, i);
        for (int32_t j = 0; j < keys; j++) row[j] -= slope * (float)abs(at - j);
    }
}

const ferry_position_scheme ferry_position_alibi = {.name = "alibi",
                                                    .title = "ALiBi",
                                                    .paper = "Press et al. 2022",
                                                    .for_long_texts = true,
                                                    .parameters = parameters,
                                                    .tensors = tensors,
                                                    .bind = bind,
                                                    .score = score,
                                                    .key_operations = "layers*H"};
