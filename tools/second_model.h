/* `ferry translate -m FIRST -m SECOND`: the translations of one model are translated by another. */
#ifndef FERRY_TOOLS_SECOND_MODEL_H
#define FERRY_TOOLS_SECOND_MODEL_H

#include "command.h"

/* The names of the language between, for each of the two. NULL: the model's default. */
typedef struct ferry_between {
    const char *to, *from;
} ferry_between;

/* Prints a message and returns false where an option has no meaning with two models. */
bool ferry_second_model_check(const ferry_call *call);
/* Finds the language of --via, else the one that the first model translates into and the second from. Prints a message
 * and returns false if there is none or if there are several. Tells where the models do not say what they translate. */
bool ferry_second_model_meet(const ferry_call *call, const ferry_model *first, const ferry_model *second,
                             ferry_between *between);

#endif
