#include "call.h"

ferry_status ferry_call_begin(ferry_translator *translator, ferry_call *call, ferry_error *error)
{
    if (atomic_exchange(&translator->busy, true))
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "translator: expected none with a call in progress");
    if (atomic_load(&translator->cancelled)) atomic_store(&translator->stop, true);
    *call = (ferry_call){translator, ferry_floats_begin()};
    return FERRY_OK;
}

/* A cancel that comes between two of these stores stops the next call. */
ferry_status ferry_call_end(const ferry_call *call, ferry_status status)
{
    ferry_translator *translator = call->translator;
    ferry_floats_end(&call->floats);
    atomic_store(&translator->stop, false);
    if (status != FERRY_ERROR_ARGUMENT) atomic_store(&translator->cancelled, false);
    atomic_store(&translator->busy, false);
    return status;
}
