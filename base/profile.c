#include "profile.h"

#include "system.h"

const char *ferry_phase_name(ferry_phase phase)
{
#define TEXT(name, text) text,
    static const char *const names[] = {FERRY_PHASE_LIST(TEXT)};
    return names[phase];
}

void ferry_profile_switch(ferry_profile *profile, ferry_phase phase)
{
    const double now = ferry_clock();
    if (profile->phase != FERRY_PHASE_IDLE) profile->seconds[profile->phase] += now - profile->since;
    profile->phase = phase;
    profile->since = now;
}
