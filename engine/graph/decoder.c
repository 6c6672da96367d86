#include "decoder.h"

#include <string.h>

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
    FERRY_TRY(
        ferry_linear_many(&state->context, outputs, input->encoder_output, offsets[input->count], matrices, 2, error));
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
    ferry_state_group_sentences(state, offsets, count);
    for (int32_t layer = 0; status == FERRY_OK && layer < stack->layer_count; layer++)
        status = write_cross(state, layer, &input, error);
    ferry_state_ungroup(state);
    ferry_arena_end(&state->context.arena, mark);
    return status;
}

static ferry_status run_layers(const ferry_pass *pass, const ferry_decoder_rows *input, ferry_error *error)
{
    ferry_state *state = pass->state;
    const ferry_position *position = &pass->stack->position;
    const size_t D = (size_t)state->model->d_model;
    const ferry_self_attention self = {
        .cache = ferry_state_hypothesis_cache(state),
        .sequences = input->hypotheses,
        .spans = input->spans,
        .span_count = input->span_count,
        .position_state = &state->decoder_positions,
    };
    ferry_embed(pass, input->ids);
    for (int32_t s = 0; s < input->span_count && position->scheme->embed != NULL; s++) {
        const ferry_attention_span *span = &input->spans[s];
        position->scheme->embed(position, self.position_state, state->context.kernels, pass->x + (size_t)span->row * D,
                                span->first, span->rows);
    }
    ferry_stack_embedding_norm(pass);
    const ferry_phase around = state->profile.phase;
    for (int32_t layer = 0; layer < pass->stack->layer_count; layer++) {
        ferry_profile_enter(&state->profile, FERRY_PHASE_SELF_ATTENTION);
        FERRY_TRY(state->model->ssru ? ferry_layer_ssru(pass, layer, &self, error)
                                     : ferry_layer_self_attention(pass, layer, &self, error));
        ferry_profile_enter(&state->profile, FERRY_PHASE_CROSS_ATTENTION);
        FERRY_TRY(ferry_layer_cross_attention(pass, layer, input->sentences, input->cross_spans,
                                              input->cross_span_count, error));
        ferry_profile_enter(&state->profile, FERRY_PHASE_FEED_FORWARD);
        FERRY_TRY(ferry_layer_feed_forward(pass, layer, error));
    }
    ferry_profile_leave(&state->profile, around);
    ferry_stack_final_norm(pass);
    return FERRY_OK;
}

/* The first row of each sentence, from the arena. */
static ferry_status sentence_offsets(ferry_state *state, const ferry_decoder_rows *input, const int32_t **offsets,
                                     ferry_error *error)
{
    const size_t count = (size_t)input->cross_span_count + 1;
    int32_t *rows = ferry_arena_alloc(&state->context.arena, count, sizeof *rows);
    if (rows == NULL) return ferry_fail_memory(error, "sentences", count * sizeof *rows);
    for (int32_t s = 0; s < input->cross_span_count; s++) rows[s] = input->cross_spans[s].row;
    rows[input->cross_span_count] = input->rows;
    *offsets = rows;
    return FERRY_OK;
}

ferry_status ferry_decode(ferry_state *state, const ferry_decoder_rows *input, float *hidden, ferry_error *error)
{
    const ferry_stack *stack = &state->model->decoder;
    for (int32_t s = 0; s < input->span_count; s++) {
        const ferry_attention_span *span = &input->spans[s];
        const int32_t length = span->first + span->rows;
        FERRY_TRY(
            ferry_position_extend(&stack->position, &state->decoder_positions, state->context.kernels, length, error));
        FERRY_TRY(ferry_sequence_extend(ferry_state_hypothesis_cache(state), &input->hypotheses[span->sequence], length,
                                        error));
    }
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    ferry_pass pass;
    const int32_t *offsets = NULL;
    const size_t floats = (size_t)input->rows * (size_t)state->model->d_model;
    ferry_status status = ferry_pass_begin(&pass, state, stack, input->rows, error);
    if (status == FERRY_OK) status = sentence_offsets(state, input, &offsets, error);
    if (status == FERRY_OK) {
        ferry_state_group_sentences(state, offsets, input->cross_span_count);
        status = run_layers(&pass, input, error);
        ferry_state_ungroup(state);
    }
    if (status == FERRY_OK) {
        memcpy(hidden, pass.x, floats * sizeof *hidden);
        state->context.kernels->scale(hidden, state->model->output_scale, floats);
    }
    ferry_arena_end(&state->context.arena, mark);
    return status;
}
