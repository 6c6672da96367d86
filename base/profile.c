#include "profile.h"

#include "system.h"

const char *ferry_phase_name(ferry_phase phase)
{
    static const char *const names[FERRY_PHASE_COUNT] = {
        [FERRY_PHASE_IDLE] = "idle",
        [FERRY_PHASE_TOKENIZING] = "tokenizing",
        [FERRY_PHASE_ENCODER] = "encoder",
        [FERRY_PHASE_SOURCE_KEYS] = "source_keys",
        [FERRY_PHASE_SELF_ATTENTION] = "self_attention",
        [FERRY_PHASE_CROSS_ATTENTION] = "cross_attention",
        [FERRY_PHASE_FEED_FORWARD] = "feed_forward",
        [FERRY_PHASE_DECODER_REST] = "decoder_rest",
        [FERRY_PHASE_SHORTLIST] = "shortlist",
        [FERRY_PHASE_OUTPUT_LAYER] = "output_layer",
        [FERRY_PHASE_SEARCH] = "search",
        [FERRY_PHASE_DETOKENIZING] = "detokenizing",
        [FERRY_PHASE_OTHER] = "other",
    };
    return names[phase];
}

void ferry_profile_switch(ferry_profile *profile, ferry_phase phase)
{
    const double now = ferry_clock();
    if (profile->phase != FERRY_PHASE_IDLE) profile->seconds[profile->phase] += now - profile->since;
    profile->phase = phase;
    profile->since = now;
}
