/* Named characters of HTML: &eacute; */
#ifndef FERRY_API_MARKUP_ENTITIES_H
#define FERRY_API_MARKUP_ENTITIES_H

#include <stdint.h>

#include "base/bytes.h"

/* The character that `name` ("eacute") stands for; false if it is not known. */
bool ferry_markup_entity(ferry_view name, uint32_t *code_point);

#endif
