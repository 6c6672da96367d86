#include "call.h"

/* Takes the first `count` stages. */
static bool take(const ferry_translator *translator, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!atomic_exchange(&ferry_translator_stage(translator, i)->busy, true)) continue;
        while (i-- > 0) atomic_store(&ferry_translator_stage(translator, i)->busy, false);
        return false;
    }
    return true;
}

ferry_status ferry_call_begin(ferry_translator *translator, ferry_call *call, ferry_error *error)
{
    ferry_translator *stage;
    if (!take(translator, ferry_translator_stage_count(translator)))
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "translator: expected none with a call in progress");
    for (size_t i = 0; (stage = ferry_translator_stage(translator, i)) != NULL; i++)
        if (atomic_load(&stage->cancelled)) atomic_store(&stage->stop, true);
    *call = (ferry_call){translator, ferry_floats_begin()};
    return FERRY_OK;
}

/* A cancel that comes between two of these stores stops the next call. */
ferry_status ferry_call_end(const ferry_call *call, ferry_status status)
{
    ferry_translator *stage;
    ferry_floats_end(&call->floats);
    for (size_t i = 0; (stage = ferry_translator_stage(call->translator, i)) != NULL; i++) {
        atomic_store(&stage->stop, false);
        if (status != FERRY_ERROR_ARGUMENT) atomic_store(&stage->cancelled, false);
        atomic_store(&stage->busy, false);
    }
    return status;
}
