#include "state.h"

#include <string.h>

#include "base/system.h"

/* ---- profile ---- */

const char *ferry_phase_name(ferry_phase phase)
{
#define TEXT(name, text) text,
    static const char *const names[] = {FERRY_PHASE_LIST(TEXT)};
    return names[phase];
}

void ferry_profile_leave(ferry_profile *profile, ferry_phase next)
{
    if (!profile->on) return;
    const double now = ferry_clock();
    if (profile->phase != FERRY_PHASE_IDLE) profile->seconds[profile->phase] += now - profile->since;
    profile->phase = next;
    profile->since = now;
}

/* ---- the state ---- */

void ferry_state_init(ferry_state *state, const ferry_transformer *model, const ferry_kernels *kernels)
{
    memset(state, 0, sizeof *state);
    state->model = model;
    state->context.kernels = kernels;
    ferry_cache_init(&state->encoder_cache, 1, model->encoder.heads, model->encoder.head_width);
    ferry_cache_init(&state->decoder_cache, model->decoder.layer_count, model->decoder.heads,
                     model->decoder.head_width);
    ferry_cache_init_states(&state->ssru_cache, model->decoder.layer_count, model->d_model);
    state->context.arena.account = &state->account;
    state->encoder_positions.account = state->decoder_positions.account = &state->account;
    state->encoder_cache.account = state->decoder_cache.account = state->ssru_cache.account = &state->account;
}

void ferry_state_destroy(ferry_state *state)
{
    ferry_state_trim(state, 0, 0);
}

void ferry_state_set_exact(ferry_state *state, bool exact)
{
    state->context.arena.exact = exact;
    state->encoder_cache.exact = state->decoder_cache.exact = state->ssru_cache.exact = exact;
}

void ferry_state_trim(ferry_state *state, size_t bytes, size_t tokens)
{
    if (state->context.arena.reserved >= bytes)
        ferry_arena_destroy(&state->context.arena); /* also without chunks, because it remembers sizes */
    if (state->encoder_positions.bytes > bytes) ferry_position_state_destroy(&state->encoder_positions);
    if (state->decoder_positions.bytes > bytes) ferry_position_state_destroy(&state->decoder_positions);
    ferry_cache_shrink(&state->encoder_cache, bytes, 0);
    ferry_cache_shrink(&state->decoder_cache, bytes, tokens);
    ferry_cache_shrink(&state->ssru_cache, bytes, 0);
}
