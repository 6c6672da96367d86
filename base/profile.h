/* Where one thread's time goes: a clock that is always in one phase; off by default. */
#ifndef FERRY_BASE_PROFILE_H
#define FERRY_BASE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ferry_phase {
    FERRY_PHASE_IDLE, /* not counted */
    FERRY_PHASE_TOKENIZING,
    FERRY_PHASE_ENCODER,
    FERRY_PHASE_SOURCE_KEYS, /* keys and values of the source, for cross-attention */
    FERRY_PHASE_SELF_ATTENTION,
    FERRY_PHASE_CROSS_ATTENTION,
    FERRY_PHASE_FEED_FORWARD,
    FERRY_PHASE_DECODER_REST, /* embeddings, the final norm, blocks for keys and values */
    FERRY_PHASE_SHORTLIST,    /* selecting its words and their rows of the output matrix */
    FERRY_PHASE_OUTPUT_LAYER,
    FERRY_PHASE_SEARCH,
    FERRY_PHASE_DETOKENIZING,
    FERRY_PHASE_OTHER,
    FERRY_PHASE_COUNT
} ferry_phase;

/* All zeros: off, idle. A phase within another stops the outer one's clock. */
typedef struct ferry_profile {
    bool on;
    ferry_phase phase; /* the current one */
    double since;      /* its beginning */
    double seconds[FERRY_PHASE_COUNT];
    int64_t calls[FERRY_PHASE_COUNT];
} ferry_profile;

/* The phase's name, static. */
const char *ferry_phase_name(ferry_phase phase);
/* Ends the current phase and begins `phase`. */
void ferry_profile_switch(ferry_profile *profile, ferry_phase phase);

/* Begins a phase; returns the one around it, for ferry_profile_leave. */
static inline ferry_phase ferry_profile_enter(ferry_profile *profile, ferry_phase phase)
{
    const ferry_phase around = profile->phase;
    if (!profile->on) return around;
    ferry_profile_switch(profile, phase);
    profile->calls[phase]++;
    return around;
}

static inline void ferry_profile_leave(ferry_profile *profile, ferry_phase around)
{
    if (profile->on) ferry_profile_switch(profile, around);
}

#endif
