/* What every call of a translator begins and ends with: nobody else may call it meanwhile, a cancel belongs to one
 * call, and the floating-point environment is the default one. */
#ifndef FERRY_API_CALL_H
#define FERRY_API_CALL_H

#include "base/threads.h"
#include "translator.h"

typedef struct ferry_call {
    ferry_translator *translator;
    ferry_floats floats; /* the caller's */
} ferry_call;

/* ARGUMENT, without touching anything, where another call is in progress. A cancel that came since the last call ended
 * is this call's. */
ferry_status ferry_call_begin(ferry_translator *translator, ferry_call *call, ferry_error *error);
/* Returns `status`, that of the call; one that was refused (ARGUMENT) leaves a cancel to the next. */
ferry_status ferry_call_end(const ferry_call *call, ferry_status status);

#endif
