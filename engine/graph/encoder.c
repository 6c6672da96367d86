#include "encoder.h"

#include <string.h>

#include "layer.h"

/* Sentence s as span s over its own sequence of keys and values. */
static ferry_status begin_sentences(ferry_state *state, const int32_t *offsets, int32_t count,
                                    ferry_sequence *sequences, ferry_attention_span *spans, ferry_error *error)
{
    for (int32_t s = 0; s < count; s++) {
        const int32_t length = offsets[s + 1] - offsets[s];
        spans[s] = (ferry_attention_span){.row = offsets[s], .rows = length, .first = 0, .sequence = s};
        FERRY_TRY(ferry_position_extend(&state->model->encoder.position, &state->encoder_positions,
                                        state->context.kernels, length, error));
        FERRY_TRY(ferry_sequence_begin(&state->context.arena, length, &sequences[s], error));
        FERRY_TRY(ferry_sequence_extend(&state->encoder_cache, &sequences[s], length, error));
    }
    return FERRY_OK;
}

static ferry_status run_layers(ferry_pass *pass, const ferry_self_attention *self, const int32_t *ids,
                               ferry_error *error)
{
    const ferry_position *position = &pass->stack->position;
    const int32_t D = pass->state->model->d_model;
    ferry_embed(pass, ids);
    for (int32_t s = 0; s < self->span_count && position->scheme->embed != NULL; s++)
        position->scheme->embed(position, self->position_state, pass->state->context.kernels,
                                pass->x + (size_t)self->spans[s].row * (size_t)D, 0, self->spans[s].rows);
    ferry_stack_embedding_norm(pass);
    for (int32_t layer = 0; layer < pass->stack->layer_count; layer++) {
        FERRY_TRY(ferry_layer_self_attention(pass, layer, self, error));
        FERRY_TRY(ferry_layer_feed_forward(pass, layer, error));
    }
    ferry_stack_final_norm(pass);
    return FERRY_OK;
}

ferry_status ferry_encode(ferry_state *state, const int32_t *ids, const int32_t *offsets, int32_t count, float *output,
                          ferry_error *error)
{
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    ferry_attention_span *spans = ferry_arena_alloc(&state->context.arena, (size_t)count, sizeof *spans);
    ferry_sequence *sequences = ferry_arena_alloc(&state->context.arena, (size_t)count, sizeof *sequences);
    ferry_status status;
    if (spans == NULL || sequences == NULL) {
        status = ferry_fail_memory(error, "sentences", (size_t)count * (sizeof *spans + sizeof *sequences));
        goto done;
    }
    memset(sequences, 0, (size_t)count * sizeof *sequences);
    const ferry_self_attention self = {
        .cache = &state->encoder_cache,
        .sequences = sequences,
        .spans = spans,
        .span_count = count,
        .position_state = &state->encoder_positions,
    };
    ferry_pass pass;
    status = begin_sentences(state, offsets, count, sequences, spans, error);
    if (status == FERRY_OK) status = ferry_pass_begin(&pass, state, &state->model->encoder, offsets[count], error);
    if (status == FERRY_OK) {
        ferry_state_group_sentences(state, offsets, count);
        status = run_layers(&pass, &self, ids, error);
        ferry_state_ungroup(state);
    }
    if (status == FERRY_OK)
        memcpy(output, pass.x, (size_t)offsets[count] * (size_t)state->model->d_model * sizeof *output);
    for (int32_t s = 0; s < count; s++) ferry_sequence_release(&state->encoder_cache, &sequences[s]);
done:
    ferry_arena_end(&state->context.arena, mark);
    return status;
}
