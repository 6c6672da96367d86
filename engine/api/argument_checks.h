/* Arguments of the public functions that are impossible. (FERRY_NEEDS refuses NULL.) */
#ifndef FERRY_API_ARGUMENT_CHECKS_H
#define FERRY_API_ARGUMENT_CHECKS_H

#include "base/status.h"

/* No object in memory is larger than PTRDIFF_MAX bytes. `argument` is the name of the size. */
ferry_status ferry_check_bytes(const char *argument, size_t size, ferry_error *error);
/* `value` is within least … most. */
ferry_status ferry_check_range(const char *argument, int32_t value, int32_t least, int32_t most, ferry_error *error);
/* The texts of a call, arrays that the caller calls `texts` and `count`. */
ferry_status ferry_check_texts(const char *argument, const ferry_text *texts, size_t count, ferry_error *error);

#endif
