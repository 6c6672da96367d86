/* Where one thread's time goes: a clock that is always in one phase; off by default. */
#ifndef FERRY_BASE_PROFILE_H
#define FERRY_BASE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#define FERRY_PHASE_LIST(PHASE)                                                                                        \
    PHASE(IDLE, "idle") /* not counted */                                                                              \
    PHASE(TOKENIZING, "tokenizing")                                                                                    \
    PHASE(ENCODER, "encoder")                                                                                          \
    PHASE(SOURCE_KEYS, "source_keys") /* keys and values of the source, for cross-attention */                         \
    PHASE(SELF_ATTENTION, "self_attention")                                                                            \
    PHASE(CROSS_ATTENTION, "cross_attention")                                                                          \
    PHASE(FEED_FORWARD, "feed_forward")                                                                                \
    PHASE(DECODER_REST, "decoder_rest") /* embeddings, the final norm, blocks for keys and values */                   \
    PHASE(SHORTLIST, "shortlist")       /* selecting its words and their rows of the output matrix */                  \
    PHASE(OUTPUT_LAYER, "output_layer")                                                                                \
    PHASE(SEARCH, "search")                                                                                            \
    PHASE(DETOKENIZING, "detokenizing")                                                                                \
    PHASE(OTHER, "other")

#define FERRY_PHASE_ENUMERATOR(name, text) FERRY_PHASE_##name,
typedef enum ferry_phase { FERRY_PHASE_LIST(FERRY_PHASE_ENUMERATOR) FERRY_PHASE_COUNT } ferry_phase;

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
