#include "layer.h"

#include <string.h>

static size_t row_floats(const ferry_pass *pass, int32_t width)
{
    return (size_t)pass->rows * (size_t)width;
}

static int32_t attention_width(const ferry_stack *stack)
{
    return stack->heads * stack->head_width;
}

ferry_status ferry_pass_begin(ferry_pass *pass, ferry_state *state, const ferry_stack *stack, int32_t rows,
                              ferry_error *error)
{
    const int32_t D = state->model->d_model;
    const int32_t sublayers[] = {4 * attention_width(stack), 2 * D,
                                 stack->gated ? 2 * stack->ffn_width : stack->ffn_width};
    int32_t widest = 0;
    for (int i = 0; i < 3; i++) widest = sublayers[i] > widest ? sublayers[i] : widest;
    memset(pass, 0, sizeof *pass);
    pass->state = state;
    pass->stack = stack;
    pass->rows = rows;
    ferry_arena *arena = &state->context.arena;
    pass->x = ferry_arena_alloc(arena, row_floats(pass, D), sizeof(float));
    pass->y = ferry_arena_alloc(arena, row_floats(pass, D), sizeof(float));
    pass->h = ferry_arena_alloc(arena, stack->pre_norm ? row_floats(pass, D) : 0, sizeof(float));
    pass->work = ferry_arena_alloc(arena, row_floats(pass, widest), sizeof(float));
    if (pass->x == NULL || pass->y == NULL || pass->h == NULL || pass->work == NULL)
        return ferry_fail_memory(error, "activations", row_floats(pass, 3 * D + widest) * sizeof(float));
    return FERRY_OK;
}

void ferry_embed(const ferry_pass *pass, const int32_t *ids)
{
    const ferry_transformer *model = pass->state->model;
    const int32_t D = model->d_model;
    for (int32_t i = 0; i < pass->rows; i++) {
        float *row = pass->x + (size_t)i * (size_t)D;
        if (ids[i] < 0)
            memset(row, 0, (size_t)D * sizeof *row);
        else
            ferry_matrix_row(&pass->stack->embedding, ids[i], row);
    }
    pass->state->context.kernels->scale(pass->x, model->embedding_scale, row_floats(pass, D));
}

static ferry_status linear(const ferry_pass *pass, float *y, const float *x, const ferry_matrix *matrix,
                           ferry_error *error)
{
    return ferry_linear(&pass->state->context, y, x, pass->rows, matrix, error);
}

/* y = norm(x), or norm(x + residual); y may be x. */
static void normalize(const ferry_pass *pass, float *y, const float *x, const float *residual, const ferry_norm *norm)
{
    const ferry_kernels *kernels = pass->state->context.kernels;
    const ferry_stack *stack = pass->stack;
    const int32_t D = pass->state->model->d_model;
    if (stack->norm == FERRY_RMS_NORM)
        kernels->rms_norm(y, x, residual, norm->weight, stack->norm_eps, pass->rows, D);
    else
        kernels->layer_norm(y, x, residual, norm->weight, norm->bias, stack->norm_eps, pass->rows, D);
}

/* The input of a sublayer. */
static const float *sublayer_input(const ferry_pass *pass, const ferry_norm *norm)
{
    if (!pass->stack->pre_norm) return pass->x;
    normalize(pass, pass->h, pass->x, NULL, norm);
    return pass->h;
}

/* Takes the sublayer's y into x. */
static void sublayer_output(const ferry_pass *pass, const ferry_norm *norm)
{
    const ferry_state *state = pass->state;
    if (pass->stack->pre_norm)
        state->context.kernels->add(pass->x, pass->y, row_floats(pass, state->model->d_model));
    else
        normalize(pass, pass->x, pass->x, pass->y, norm);
}

ferry_status ferry_layer_self_attention(const ferry_pass *pass, int32_t layer, const ferry_self_attention *self,
                                        ferry_error *error)
{
    ferry_state *state = pass->state;
    const ferry_stack *stack = pass->stack;
    const ferry_layer *weights = &stack->layers[layer];
    const ferry_position *position = &stack->position;
    const ferry_position_scheme *scheme = position->scheme;
    const int32_t width = attention_width(stack);
    const bool decoder = stack == &state->model->decoder;
    const int32_t cache_layer = decoder ? layer : 0;
    float *q = pass->work, *k = q + row_floats(pass, width), *v = k + row_floats(pass, width);
    float *context = v + row_floats(pass, width);

    const float *input = sublayer_input(pass, &weights->self_norm);
    float *const outputs[] = {q, k, v};
    const ferry_matrix *const matrices[] = {&weights->self.q, &weights->self.k, &weights->self.v};
    FERRY_TRY(ferry_linear_many(&state->context, outputs, input, pass->rows, matrices, 3, error));
    for (int32_t s = 0; s < self->span_count; s++) {
        const ferry_attention_span *span = &self->spans[s];
        const size_t start = (size_t)span->row * (size_t)width;
        if (scheme->rotate != NULL) {
            scheme->rotate(position, self->position_state, q + start, span->first, span->rows);
            scheme->rotate(position, self->position_state, k + start, span->first, span->rows);
        }
        ferry_sequence_write(self->cache, &self->sequences[span->sequence], cache_layer, span->first, span->rows,
                             k + start, v + start);
    }
    const ferry_attention_call call = {
        .cache = self->cache,
        .sequences = self->sequences,
        .spans = self->spans,
        .span_count = self->span_count,
        .layer = layer,
        .cache_layer = cache_layer,
        .causal = decoder,
        .scale = scheme->score_scale != NULL ? scheme->score_scale(position) : stack->attention_scale,
        .position = position,
        .position_state = self->position_state,
        .kind = decoder ? FERRY_ATTENTION_DECODER : FERRY_ATTENTION_ENCODER,
        .probe = state->probe,
    };
    FERRY_TRY(ferry_attend(&state->context, &call, q, pass->rows, context, error));
    FERRY_TRY(linear(pass, pass->y, context, &weights->self.out, error));
    sublayer_output(pass, &weights->self_norm);
    return FERRY_OK;
}

ferry_status ferry_layer_ssru(const ferry_pass *pass, int32_t layer, const ferry_self_attention *self,
                              ferry_error *error)
{
    ferry_context *context = &pass->state->context;
    const ferry_layer *weights = &pass->stack->layers[layer];
    const int32_t D = pass->state->model->d_model;
    float *input = pass->work, *forget = input + row_floats(pass, D);

    float *const outputs[] = {input, forget};
    const ferry_matrix *const matrices[] = {&weights->ssru.input, &weights->ssru.forget};
    FERRY_TRY(
        ferry_linear_many(context, outputs, sublayer_input(pass, &weights->self_norm), pass->rows, matrices, 2, error));
    for (int32_t s = 0; s < self->span_count; s++) {
        const ferry_attention_span *span = &self->spans[s];
        float *c = ferry_cache_state(self->cache, &self->sequences[span->sequence], layer);
        if (span->first == 0) memset(c, 0, (size_t)D * sizeof *c);
        for (int32_t row = span->row; row < span->row + span->rows; row++) {
            const size_t start = (size_t)row * (size_t)D;
            context->kernels->ssru(pass->y + start, c, forget + start, input + start, D);
        }
    }
    sublayer_output(pass, &weights->self_norm);
    return FERRY_OK;
}

ferry_status ferry_layer_cross_attention(const ferry_pass *pass, int32_t layer, const ferry_sequence *sentences,
                                         const ferry_attention_span *spans, int32_t span_count, ferry_error *error)
{
    ferry_state *state = pass->state;
    const ferry_layer *weights = &pass->stack->layers[layer];
    float *q = pass->work, *context = q + row_floats(pass, attention_width(pass->stack));

    FERRY_TRY(linear(pass, q, sublayer_input(pass, &weights->cross_norm), &weights->cross.q, error));
    const ferry_attention_call call = {
        .cache = &state->decoder_cache,
        .sequences = sentences,
        .spans = spans,
        .span_count = span_count,
        .layer = layer,
        .cache_layer = layer,
        .scale = pass->stack->attention_scale,
        .kind = FERRY_ATTENTION_CROSS,
        .probe = state->probe,
    };
    FERRY_TRY(ferry_attend(&state->context, &call, q, pass->rows, context, error));
    FERRY_TRY(linear(pass, pass->y, context, &weights->cross.out, error));
    sublayer_output(pass, &weights->cross_norm);
    return FERRY_OK;
}

ferry_status ferry_layer_feed_forward(const ferry_pass *pass, int32_t layer, ferry_error *error)
{
    const ferry_stack *stack = pass->stack;
    const ferry_layer *weights = &stack->layers[layer];
    const ferry_kernels *kernels = pass->state->context.kernels;
    const size_t floats = row_floats(pass, stack->ffn_width);
    float *up = pass->work, *gate = up + floats;
    float *inner = stack->gated ? gate : up; /* what the activation changes */

    float *const outputs[] = {up, gate};
    const ferry_matrix *const matrices[] = {&weights->ffn_up, &weights->ffn_gate};
    FERRY_TRY(ferry_linear_many(&pass->state->context, outputs, sublayer_input(pass, &weights->ffn_norm), pass->rows,
                                matrices, stack->gated ? 2 : 1, error));
    kernels->activate(stack->activation, inner, floats);
    if (stack->gated) kernels->multiply(inner, up, floats);
    FERRY_TRY(linear(pass, pass->y, inner, &weights->ffn_down, error));
    sublayer_output(pass, &weights->ffn_norm);
    return FERRY_OK;
}

void ferry_stack_embedding_norm(const ferry_pass *pass)
{
    const ferry_norm *norm = &pass->stack->embedding_norm;
    if (norm->weight != NULL) normalize(pass, pass->x, pass->x, NULL, norm);
}

void ferry_stack_final_norm(const ferry_pass *pass)
{
    const ferry_norm *norm = &pass->stack->final_norm;
    if (norm->weight != NULL) normalize(pass, pass->x, pass->x, NULL, norm);
}
