/* Checks of the public functions' arguments. (FERRY_NEEDS refuses NULL.) All return ARGUMENT, and name the argument. */
#ifndef FERRY_API_ARGUMENT_CHECKS_H
#define FERRY_API_ARGUMENT_CHECKS_H

#include "base/status.h"

/* `value` is within min … max. */
ferry_status ferry_check_range(const char *argument, int32_t value, int32_t min, int32_t max, ferry_error *error);
/* No object in memory is larger than PTRDIFF_MAX bytes. `argument` names the size. */
ferry_status ferry_check_bytes(const char *argument, size_t size, ferry_error *error);
/* Gives an empty text an address. */
ferry_status ferry_check_text(const char *argument, ferry_text *text, ferry_error *error);
/* `texts` [count]; the caller's name of `count` is "count". */
ferry_status ferry_check_texts(const char *argument, const ferry_text *texts, size_t count, ferry_error *error);

#endif
