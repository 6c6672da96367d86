/* Where the time of a translator's calls went. */
#include "engine/api/translator.h"
#include "engine/ferry_inspect.h"

void ferry_inspect_profile_start(ferry_translator *translator)
{
    for (int32_t i = 0; translator != NULL && i < translator->options.threads; i++) {
        *ferry_translator_profile(translator, i) = (ferry_profile){.on = true};
        translator->generators[i].state.context.work = (ferry_work){0};
    }
}

ferry_inspect_phase ferry_inspect_profile_phase(const ferry_translator *translator, size_t index)
{
    ferry_inspect_phase sum = {0};
    if (translator == NULL || index >= FERRY_PHASE_COUNT - 1) return sum;
    const ferry_phase phase = (ferry_phase)(index + 1); /* without idleness */
    sum.name = ferry_phase_name(phase);
    for (int32_t i = 0; i < translator->options.threads; i++) {
        sum.seconds += ferry_translator_profile(translator, i)->seconds[phase];
        sum.calls += ferry_translator_profile(translator, i)->calls[phase];
    }
    return sum;
}

ferry_inspect_work ferry_inspect_profile_work(const ferry_translator *translator)
{
    ferry_inspect_work sum = {0};
    for (int32_t i = 0; translator != NULL && i < translator->options.threads; i++) {
        const ferry_work *work = &translator->generators[i].state.context.work;
        sum.float_products += work->float_products;
        sum.int8_products += work->int8_products;
        sum.weight_bytes += work->weight_bytes;
        sum.steps += ferry_translator_profile(translator, i)->calls[FERRY_PHASE_DECODER_REST];
    }
    return sum;
}
