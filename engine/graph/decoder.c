#include "decoder.h"

#include "layer.h"

/* Sentences whose keys and values of cross-attention are being prepared. */
typedef struct cross_input {
    const float *encoder_output; /* [offsets[count], D] */
    const int32_t *offsets;
    int32_t count;
    ferry_sequence *sentences;
    float *k, *v; /* scratch [offsets[count], H·K] */
} cross_input;

static ferry_status write_cross(ferry_state *state, int32_t layer, const cross_input *input, ferry_error *error)
{
    const ferry_attention_weights *weights = &state->model->decoder.layers[layer].cross;
    const int32_t *offsets = input->offsets;
    const size_t width = (size_t)weights->k.N;
    float *const outputs[] = {input->k, input->v};
    const ferry_matrix *const matrices[] = {&weights->k, &weights->v};
    const ferry_rows rows = {input->encoder_output, offsets[input->count],
                             ferry_sentence_groups(state->model, offsets + 1)};
    FERRY_TRY(ferry_linear_many(&state->context, outputs, &rows, matrices, 2, error));
    for (int32_t s = 0; s < input->count; s++) {
        const size_t start = (size_t)offsets[s] * width;
        ferry_sequence_write(&state->decoder_cache, &input->sentences[s], layer, 0, offsets[s + 1] - offsets[s],
                             input->k + start, input->v + start);
    }
    return FERRY_OK;
}

ferry_status ferry_decoder_begin(ferry_state *state, const float *encoder_output, const int32_t *offsets, int32_t count,
                                 ferry_sequence *sentences, ferry_error *error)
{
    const ferry_stack *stack = &state->model->decoder;
    for (int32_t s = 0; s < count; s++)
        FERRY_TRY(ferry_sequence_extend(&state->decoder_cache, &sentences[s], offsets[s + 1] - offsets[s], error));
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    const size_t floats = (size_t)offsets[count] * (size_t)(stack->heads * stack->head_width);
    const cross_input input = {
        .encoder_output = encoder_output,
        .offsets = offsets,
        .count = count,
        .sentences = sentences,
        .k = ferry_arena_alloc(&state->context.arena, floats, sizeof(float)),
        .v = ferry_arena_alloc(&state->context.arena, floats, sizeof(float)),
    };
    ferry_status status = FERRY_OK;
    if (input.k == NULL || input.v == NULL)
        status = ferry_fail_memory(error, "cross-attention", 2 * floats * sizeof(float));
    for (int32_t layer = 0; status == FERRY_OK && layer < stack->layer_count; layer++)
        status = write_cross(state, layer, &input, error);
    ferry_arena_end(&state->context.arena, mark);
    return status;
}

ferry_status ferry_decode(ferry_state *state, const ferry_decoder_rows *input, float *hidden, ferry_error *error)
{
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    const size_t sentences = (size_t)input->cross_span_count;
    int32_t *ends = ferry_arena_alloc(&state->context.arena, sentences, sizeof *ends);
    if (ends == NULL) return ferry_fail_memory(error, "sentences", sentences * sizeof *ends);
    for (size_t s = 0; s < sentences; s++) ends[s] = input->cross_spans[s].row + input->cross_spans[s].rows;
    ferry_pass pass = {
        .state = state,
        .stack = &state->model->decoder,
        .rows = input->rows,
        .group_ends = ferry_sentence_groups(state->model, ends),
        .self = {ferry_state_hypothesis_cache(state), input->hypotheses, input->spans, input->span_count},
        .cross = {&state->decoder_cache, input->sentences, input->cross_spans, input->cross_span_count},
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
