#include "state.h"

#include <string.h>

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

static void trim_cache(ferry_cache *cache, size_t bytes, size_t tokens)
{
    if (cache->reserved > bytes && cache->reserved > tokens * ferry_cache_token_bytes(cache))
        ferry_cache_destroy(cache);
}

void ferry_state_trim(ferry_state *state, size_t bytes, size_t tokens)
{
    if (state->context.arena.reserved >= bytes)
        ferry_arena_destroy(&state->context.arena); /* without chunks, too: it would remember sizes */
    if (state->encoder_positions.bytes > bytes) ferry_position_state_destroy(&state->encoder_positions);
    if (state->decoder_positions.bytes > bytes) ferry_position_state_destroy(&state->decoder_positions);
    trim_cache(&state->encoder_cache, bytes, 0);
    trim_cache(&state->decoder_cache, bytes, tokens);
    trim_cache(&state->ssru_cache, bytes, 0);
}

void ferry_state_spare(ferry_state *state, size_t bytes)
{
    ferry_arena_forget(&state->context.arena, bytes);
    trim_cache(&state->encoder_cache, bytes, 0);
}

size_t ferry_state_allocations(const ferry_state *state)
{
    return state->context.arena.allocations + state->encoder_cache.allocations + state->decoder_cache.allocations +
           state->ssru_cache.allocations;
}
