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
}

void ferry_state_destroy(ferry_state *state)
{
    ferry_arena_destroy(&state->context.arena);
    ferry_position_state_destroy(&state->encoder_positions);
    ferry_position_state_destroy(&state->decoder_positions);
    ferry_cache_destroy(&state->encoder_cache);
    ferry_cache_destroy(&state->decoder_cache);
    ferry_cache_destroy(&state->ssru_cache);
}

size_t ferry_state_allocations(const ferry_state *state)
{
    return state->context.arena.allocations + state->encoder_cache.allocations + state->decoder_cache.allocations +
           state->ssru_cache.allocations;
}
