/* Whether what goes wrong with translations is the fault of a damaged model file. */
#ifndef FERRY_TOOLS_DAMAGE_CHECK_H
#define FERRY_TOOLS_DAMAGE_CHECK_H

#include <stdbool.h>

#include "engine/ferry.h"

typedef struct ferry_damage {
    bool looked; /* the file was compared with its content hash */
    bool found;  /* a message was printed */
} ferry_damage;

/* Compares the model's file with its content hash, once, if the line failed because of the model's numbers or its
 * translation is doubtful. */
void ferry_damage_check(ferry_damage *damage, const ferry_model *model, const ferry_result *result, size_t line);

#endif
