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
    const int32_t attention = 4 * attention_width(stack);
    const int32_t widest = attention > stack->ffn_width ? attention : stack->ffn_width;
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
    for (int32_t i = 0; i < pass->rows; i++)
        ferry_panels_row(pass->x + (size_t)i * (size_t)D, pass->stack->embedding, D, ids[i]);
    pass->state->context.kernels->scale(pass->x, model->embedding_scale, row_floats(pass, D));
}

static void linear(const ferry_pass *pass, float *y, const float *x, const ferry_matrix *matrix)
{
    ferry_linear(&pass->state->context, y, x, pass->rows, matrix);
}

/* The input of a sublayer. */
static const float *sublayer_input(const ferry_pass *pass, const ferry_norm *norm)
{
    const ferry_stack *stack = pass->stack;
    if (!stack->pre_norm) return pass->x;
    pass->state->context.kernels->layer_norm(pass->h, pass->x, NULL, norm->weight, norm->bias, stack->norm_eps,
                                             pass->rows, pass->state->model->d_model);
    return pass->h;
}

/* Takes the sublayer's y into x. */
static void sublayer_output(const ferry_pass *pass, const ferry_norm *norm)
{
    const ferry_kernels *kernels = pass->state->context.kernels;
    const int32_t D = pass->state->model->d_model;
    if (pass->stack->pre_norm)
        kernels->add(pass->x, pass->y, row_floats(pass, D));
    else
        kernels->layer_norm(pass->x, pass->x, pass->y, norm->weight, norm->bias, pass->stack->norm_eps, pass->rows, D);
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
    linear(pass, q, input, &weights->self.q);
    linear(pass, k, input, &weights->self.k);
    linear(pass, v, input, &weights->self.v);
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
    linear(pass, pass->y, context, &weights->self.out);
    sublayer_output(pass, &weights->self_norm);
    return FERRY_OK;
}

ferry_status ferry_layer_cross_attention(const ferry_pass *pass, int32_t layer, const ferry_sequence *sentences,
                                         const ferry_attention_span *spans, int32_t span_count, ferry_error *error)
{
    ferry_state *state = pass->state;
    const ferry_layer *weights = &pass->stack->layers[layer];
    float *q = pass->work, *context = q + row_floats(pass, attention_width(pass->stack));

    linear(pass, q, sublayer_input(pass, &weights->cross_norm), &weights->cross.q);
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
    linear(pass, pass->y, context, &weights->cross.out);
    sublayer_output(pass, &weights->cross_norm);
    return FERRY_OK;
}

void ferry_layer_feed_forward(const ferry_pass *pass, int32_t layer)
{
    const ferry_stack *stack = pass->stack;
    const ferry_layer *weights = &stack->layers[layer];
    linear(pass, pass->work, sublayer_input(pass, &weights->ffn_norm), &weights->ffn_up);
    pass->state->context.kernels->activate(stack->activation, pass->work, row_floats(pass, stack->ffn_width));
    linear(pass, pass->y, pass->work, &weights->ffn_down);
    sublayer_output(pass, &weights->ffn_norm);
}

void ferry_stack_final_norm(const ferry_pass *pass)
{
    const ferry_norm *norm = &pass->stack->final_norm;
    if (norm->weight == NULL) return;
    pass->state->context.kernels->layer_norm(pass->x, pass->x, NULL, norm->weight, norm->bias, pass->stack->norm_eps,
                                             pass->rows, pass->state->model->d_model);
}
