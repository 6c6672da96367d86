#include "encoder.h"

#include "layer.h"

ferry_status ferry_encode(ferry_state *state, const int32_t *ids, const int32_t *offsets, int32_t count, float *output,
                          ferry_error *error)
{
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    bool failed = false;
    ferry_attention_span *spans = ferry_arena_take(&state->context.arena, (size_t)count, sizeof *spans, &failed);
    ferry_sequence *sequences = ferry_arena_take(&state->context.arena, (size_t)count, sizeof *sequences, &failed);
    if (failed) return ferry_fail_memory(error, "sentences", (size_t)count * (sizeof *spans + sizeof *sequences));
    for (int32_t s = 0; s < count; s++) {
        const int32_t length = offsets[s + 1] - offsets[s];
        spans[s] = (ferry_attention_span){.row = offsets[s], .rows = length, .first = 0, .sequence = s};
        FERRY_TRY(ferry_sequence_begin(&state->context.arena, length, &sequences[s], error));
    }
    ferry_pass pass = {
        .state = state,
        .stack = &state->model->encoder,
        .rows = offsets[count],
        .group_ends = ferry_sentence_groups(state->model, offsets + 1),
        .self = {&state->encoder_cache, sequences, spans, count},
        .position_state = &state->encoder_positions,
        .x = output,
    };
    const ferry_status status = ferry_pass_run(&pass, ids, error);
    for (int32_t s = 0; s < count; s++) ferry_sequence_release(&state->encoder_cache, &sequences[s]);
    ferry_arena_end(&state->context.arena, mark);
    return status;
}
