/* What a positional encoding does, measured on a model through ferry_inspect.h, whatever the encoding is called. */
#ifndef FERRY_LAB_PLOT_EFFECTS_H
#define FERRY_LAB_PLOT_EFFECTS_H

#include <stdbool.h>

#include "engine/ferry_inspect.h"

/* In a head, the score of a query q and a key k at distance d = j - i is
 *
 *     q·R_d k + q·a_d + k·b_d + c_d
 *
 * R_d rotates, a_d and b_d are vectors, c_d is a number. */
typedef enum ferry_effect_kind {
    FERRY_EFFECT_BIAS,     /* c_d */
    FERRY_EFFECT_QUERY,    /* a_d */
    FERRY_EFFECT_KEY,      /* b_d */
    FERRY_EFFECT_ROTATION, /* the diagonal of R_d, divided by that of R_0: cosines of angles */
    FERRY_EFFECT_KINDS
} ferry_effect_kind;

typedef struct ferry_effect {
    float *values; /* [heads, rows, distances]; NULL: the same at all distances */
    int32_t heads; /* 1: all heads are equal */
    int32_t rows;  /* K, or 1 for a number */
} ferry_effect;

enum { FERRY_EFFECT_POSITIONS = 128 };

/* The encoding of one stack; distances for one layer. As many positions as the encoding has, at most
 * FERRY_EFFECT_POSITIONS. */
typedef struct ferry_effects {
    ferry_inspect_stack stack;
    ferry_inspect_scheme scheme;
    int32_t layers, layer;
    int32_t trained; /* tokens of the longest training example; 0: unknown */
    int32_t positions, D;
    float *rows;              /* [positions, D] added to embeddings; NULL: nothing is */
    int32_t first, distances; /* first … first + distances - 1; up to 0 in the decoder */
    ferry_effect scores[FERRY_EFFECT_KINDS];
} ferry_effects;

/* Negative `layer`: the last. Prints a message and returns false on failure; *effects is to be freed in any case. */
bool ferry_effects_measure(const ferry_model *model, ferry_inspect_stack stack, int32_t layer, ferry_effects *effects);
/* Allowed on a zeroed object. */
void ferry_effects_free(ferry_effects *effects);

/* Whether the decoder's effect shows nothing but the encoder's, of distances up to 0. */
bool ferry_effect_is_part(const ferry_effects *encoder, const ferry_effects *decoder, ferry_effect_kind kind);
bool ferry_effects_equal_rows(const ferry_effects *encoder, const ferry_effects *decoder);

#endif
