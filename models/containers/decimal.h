/* Decimal numbers in text files, whatever the locale of the process. */
#ifndef FERRY_CONTAINERS_DECIMAL_H
#define FERRY_CONTAINERS_DECIMAL_H

#include "base/bytes.h"

/* Digits with perhaps a sign, a point and an exponent ("-1.5e-07"), and nothing else; finite. Up to 15 digits and
 * powers of ten up to 22 are exact, others may be off in the last bits. */
bool ferry_parse_decimal(ferry_view text, double *value);
/* Digits with perhaps a sign. */
bool ferry_parse_integer(ferry_view text, int64_t *value);

#endif
