/* The schemes that position.c lists; one file each. */
#ifndef FERRY_POSITION_SCHEMES_H
#define FERRY_POSITION_SCHEMES_H

#include "position.h"

extern const ferry_position_scheme ferry_position_learned;
extern const ferry_position_scheme ferry_position_sinusoidal;

#endif
