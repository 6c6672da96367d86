/* Decimal numbers in text files, whatever the locale of the process. */
#ifndef FERRY_CONTAINERS_DECIMAL_H
#define FERRY_CONTAINERS_DECIMAL_H

#include "base/bytes.h"

/* Digits with perhaps a sign, a point and an exponent ("-1.5e-07"), and nothing else, of at most 511 bytes; finite. */
bool ferry_parse_decimal(ferry_view text, double *value);
/* Digits with perhaps a sign. */
bool ferry_parse_integer(ferry_view text, int64_t *value);

#endif
