/* The schemes that position.c lists, one file each. */
#ifndef FERRY_POSITION_SCHEMES_H
#define FERRY_POSITION_SCHEMES_H

#include "position.h"

/* Keys that query `i` of a tile sees. */
static inline int32_t ferry_position_visible(const ferry_position *position, const ferry_position_tile *tile, int32_t i)
{
    return position->stack.causal ? tile->first + i + 1 : tile->keys;
}

extern const ferry_position_scheme ferry_position_learned;
extern const ferry_position_scheme ferry_position_sinusoidal;
extern const ferry_position_scheme ferry_position_shaw;
extern const ferry_position_scheme ferry_position_t5;
extern const ferry_position_scheme ferry_position_transformer_xl;
extern const ferry_position_scheme ferry_position_deberta;
extern const ferry_position_scheme ferry_position_rope;
extern const ferry_position_scheme ferry_position_alibi;
extern const ferry_position_scheme ferry_position_kerple;
extern const ferry_position_scheme ferry_position_fire;

#endif
