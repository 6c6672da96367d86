#include "decoder.h"

#include "layer.h"

ferry_status ferry_decoder_begin(ferry_state *state, const float *encoder_output, const int32_t *offsets, int32_t count,
                                 ferry_sequence *sentences, ferry_error *error)
{
    const ferry_stack *stack = &state->model->decoder;
    const ferry_rows rows = {encoder_output, offsets[count], ferry_sentence_groups(state->model, offsets + 1)};
    const size_t width = (size_t)(stack->heads * stack->head_width), floats = (size_t)rows.count * width;
    for (int32_t s = 0; s < count; s++)
        FERRY_TRY(ferry_sequence_extend(&state->decoder_cache, &sentences[s], offsets[s + 1] - offsets[s], error));
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    bool failed = false;
    float *k = ferry_arena_take(&state->context.arena, floats, sizeof *k, &failed);
    float *v = ferry_arena_take(&state->context.arena, floats, sizeof *v, &failed);
    if (failed) return ferry_fail_memory(error, "cross-attention", 2 * floats * sizeof *k);
    for (int32_t layer = 0; layer < stack->layer_count; layer++) {
        const ferry_attention_weights *weights = &stack->layers[layer].cross;
        float *const outputs[] = {k, v};
        const ferry_matrix *const matrices[] = {&weights->k, &weights->v};
        FERRY_TRY(ferry_linear_many(&state->context, outputs, &rows, matrices, 2, error));
        for (int32_t s = 0; s < count; s++) {
            const size_t start = (size_t)offsets[s] * width;
            ferry_sequence_write(&state->decoder_cache, &sentences[s], layer, 0, offsets[s + 1] - offsets[s], k + start,
                                 v + start);
        }
    }
    ferry_arena_end(&state->context.arena, mark);
    return FERRY_OK;
}

ferry_status ferry_decode(ferry_state *state, const ferry_decoder_rows *input, float *hidden, ferry_error *error)
{
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    const ferry_attended *self = &input->self, *cross = &input->cross;
    const size_t sentences = (size_t)cross->span_count;
    int32_t *ends = ferry_arena_alloc(&state->context.arena, sentences, sizeof *ends);
    if (ends == NULL) return ferry_fail_memory(error, "sentences", sentences * sizeof *ends);
    for (size_t s = 0; s < sentences; s++) ends[s] = cross->spans[s].row + cross->spans[s].rows;
    ferry_pass pass = {
        .state = state,
        .stack = &state->model->decoder,
        .rows = input->rows,
        .group_ends = ferry_sentence_groups(state->model, ends),
        .self = {ferry_state_hypothesis_cache(state), self->sequences, self->spans, self->span_count},
        .cross = {&state->decoder_cache, cross->sequences, cross->spans, cross->span_count},
        .position_state = &state->decoder_positions,
        .x = hidden,
    };
    const ferry_status status = ferry_pass_run(&pass, input->ids, error);
    if (status == FERRY_OK)
        state->context.kernels->scale(hidden, state->model->output_scale,
                                      (size_t)input->rows * (size_t)state->model->d_model);
    ferry_arena_end(&state->context.arena, mark);
    return status;
}
