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

ferry_status ferry_pass_begin(ferry_pass *pass, ferry_error *error)
{
    const ferry_stack *stack = pass->stack;
    const int32_t D = pass->state->model->d_model;
    const int32_t sublayers[] = {4 * attention_width(stack), 2 * D,
                                 stack->gated ? 2 * stack->ffn_width : stack->ffn_width};
    int32_t widest = 0;
    for (int i = 0; i < 3; i++) widest = sublayers[i] > widest ? sublayers[i] : widest;
    ferry_arena *arena = &pass->state->context.arena;
    pass->y = ferry_arena_alloc(arena, row_floats(pass, D), sizeof(float));
    pass->h = ferry_arena_alloc(arena, stack->pre_norm ? row_floats(pass, D) : 0, sizeof(float));
    pass->work = ferry_arena_alloc(arena, row_floats(pass, widest), sizeof(float));
    if (pass->y == NULL || pass->h == NULL || pass->work == NULL)
        return ferry_fail_memory(error, "activations", row_floats(pass, 2 * D + widest) * sizeof(float));
    return FERRY_OK;
}

static ferry_status linear(const ferry_pass *pass, float *const *y, const float *x, const ferry_matrix *const *matrices,
                           int32_t count, ferry_error *error)
{
    const ferry_rows rows = {.x = x, .count = pass->rows, .group_ends = pass->group_ends};
    return ferry_linear_many(&pass->state->context, y, &rows, matrices, count, error);
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

/* ---- sublayers ---- */

static const float *sublayer_input(const ferry_pass *pass, const ferry_norm *norm)
{
    if (!pass->stack->pre_norm) return pass->x;
    normalize(pass, pass->h, pass->x, NULL, norm);
    return pass->h;
}

/* Adds the sublayer's y to x. */
static void add_output(const ferry_pass *pass, const ferry_norm *norm)
{
    const ferry_state *state = pass->state;
    if (pass->stack->pre_norm)
        state->context.kernels->add(pass->x, pass->y, row_floats(pass, state->model->d_model));
    else
        normalize(pass, pass->x, pass->x, pass->y, norm);
}

/* Attention of queries q [R, H·K], whose output projection gives y. */
static ferry_status attend(const ferry_pass *pass, ferry_attention_kind kind, int32_t layer, float *q, float *context,
                           const ferry_matrix *out, ferry_error *error)
{
    ferry_state *state = pass->state;
    const ferry_attention_call call = {
        .kind = kind,
        .stack = pass->stack,
        .layer = layer,
        .attended = kind == FERRY_ATTENTION_CROSS ? &pass->cross : &pass->self,
        .position_state = pass->position_state,
        .probe = state->probe,
    };
    FERRY_TRY(ferry_attend(&state->context, &call, q, pass->rows, context, error));
    return linear(pass, &pass->y, context, &out, 1, error);
}

static ferry_status run_self_attention(const ferry_pass *pass, int32_t layer, ferry_error *error)
{
    const ferry_stack *stack = pass->stack;
    const ferry_layer *weights = &stack->layers[layer];
    const ferry_position_scheme *scheme = stack->position.scheme;
    const ferry_attended *self = &pass->self;
    const ferry_attention_kind kind = stack->causal ? FERRY_ATTENTION_DECODER : FERRY_ATTENTION_ENCODER;
    const int32_t width = attention_width(stack);
    float *q = pass->work, *k = q + row_floats(pass, width), *v = k + row_floats(pass, width);
    float *context = v + row_floats(pass, width);

    float *const outputs[] = {q, k, v};
    const ferry_matrix *const matrices[] = {&weights->self.q, &weights->self.k, &weights->self.v};
    FERRY_TRY(linear(pass, outputs, sublayer_input(pass, &weights->self_norm), matrices, 3, error));
    for (int32_t s = 0; s < self->span_count; s++) {
        const ferry_attention_span *span = &self->spans[s];
        const size_t start = (size_t)span->row * (size_t)width;
        if (scheme->rotate != NULL) {
            scheme->rotate(&stack->position, pass->position_state, q + start, span->first, span->rows);
            scheme->rotate(&stack->position, pass->position_state, k + start, span->first, span->rows);
        }
        ferry_sequence_write(self->cache, &self->sequences[span->sequence], ferry_attention_cache_layer(kind, layer),
                             span->first, span->rows, k + start, v + start);
    }
    FERRY_TRY(attend(pass, kind, layer, q, context, &weights->self.out, error));
    add_output(pass, &weights->self_norm);
    return FERRY_OK;
}

ferry_status ferry_layer_ssru(const ferry_pass *pass, int32_t layer, ferry_error *error)
{
    const ferry_kernels *kernels = pass->state->context.kernels;
    const ferry_layer *weights = &pass->stack->layers[layer];
    const int32_t D = pass->state->model->d_model;
    float *input = pass->work, *forget = input + row_floats(pass, D);

    float *const outputs[] = {input, forget};
    const ferry_matrix *const matrices[] = {&weights->ssru.input, &weights->ssru.forget};
    FERRY_TRY(linear(pass, outputs, sublayer_input(pass, &weights->self_norm), matrices, 2, error));
    for (int32_t s = 0; s < pass->self.span_count; s++) {
        const ferry_attention_span *span = &pass->self.spans[s];
        float *c = ferry_cache_state(pass->self.cache, &pass->self.sequences[span->sequence], layer);
        if (span->first == 0) memset(c, 0, (size_t)D * sizeof *c);
        for (int32_t row = span->row; row < span->row + span->rows; row++) {
            const size_t start = (size_t)row * (size_t)D;
            kernels->ssru(pass->y + start, c, forget + start, input + start, D);
        }
    }
    add_output(pass, &weights->self_norm);
    return FERRY_OK;
}

static ferry_status run_cross_attention(const ferry_pass *pass, int32_t layer, ferry_error *error)
{
    const ferry_layer *weights = &pass->stack->layers[layer];
    const ferry_matrix *query = &weights->cross.q;
    float *q = pass->work, *context = q + row_floats(pass, attention_width(pass->stack));
    FERRY_TRY(linear(pass, &q, sublayer_input(pass, &weights->cross_norm), &query, 1, error));
    FERRY_TRY(attend(pass, FERRY_ATTENTION_CROSS, layer, q, context, &weights->cross.out, error));
    add_output(pass, &weights->cross_norm);
    return FERRY_OK;
}

static ferry_status run_feed_forward(const ferry_pass *pass, int32_t layer, ferry_error *error)
{
    const ferry_stack *stack = pass->stack;
    const ferry_layer *weights = &stack->layers[layer];
    const ferry_kernels *kernels = pass->state->context.kernels;
    const size_t floats = row_floats(pass, stack->ffn_width);
    float *up = pass->work, *gate = up + floats;
    float *inner = stack->gated ? gate : up; /* what the activation changes */

    float *const outputs[] = {up, gate};
    const ferry_matrix *const matrices[] = {&weights->ffn_up, &weights->ffn_gate}, *down = &weights->ffn_down;
    FERRY_TRY(linear(pass, outputs, sublayer_input(pass, &weights->ffn_norm), matrices, stack->gated ? 2 : 1, error));
    kernels->activate(stack->activation, inner, floats);
    if (stack->gated) kernels->multiply(inner, up, floats);
    FERRY_TRY(linear(pass, &pass->y, inner, &down, 1, error));
    add_output(pass, &weights->ffn_norm);
    return FERRY_OK;
}

/* ---- the stack ---- */

/* Blocks of the cache and rows by position, to the spans' ends. */
static ferry_status extend_past(const ferry_pass *pass, ferry_error *error)
{
    const ferry_attended *self = &pass->self;
    for (int32_t s = 0; s < self->span_count; s++) {
        const ferry_attention_span *span = &self->spans[s];
        const int32_t length = span->first + span->rows;
        FERRY_TRY(ferry_position_extend(&pass->stack->position, pass->position_state, pass->state->context.kernels,
                                        length, error));
        FERRY_TRY(ferry_sequence_extend(self->cache, &self->sequences[span->sequence], length, error));
    }
    return FERRY_OK;
}

/* x = embedding_scale·E[ids] + positions, and the embedding norm. */
static void embed(const ferry_pass *pass, const int32_t *ids)
{
    const ferry_transformer *model = pass->state->model;
    const ferry_kernels *kernels = pass->state->context.kernels;
    const ferry_position *position = &pass->stack->position;
    const ferry_norm *norm = &pass->stack->embedding_norm;
    const size_t D = (size_t)model->d_model;
    for (int32_t i = 0; i < pass->rows; i++) {
        float *row = pass->x + (size_t)i * D;
        if (ids[i] < 0)
            memset(row, 0, D * sizeof *row);
        else
            ferry_matrix_row(&pass->stack->embedding, ids[i], row);
    }
    kernels->scale(pass->x, model->embedding_scale, row_floats(pass, model->d_model));
    for (int32_t s = 0; s < pass->self.span_count && position->scheme->embed != NULL; s++) {
        const ferry_attention_span *span = &pass->self.spans[s];
        position->scheme->embed(position, pass->position_state, kernels, pass->x + (size_t)span->row * D, span->first,
                                span->rows);
    }
    if (norm->weight != NULL) normalize(pass, pass->x, pass->x, NULL, norm);
}

/* The profile counts the decoder's sublayers one by one, and the encoder as a whole. */
static void enter_phase(const ferry_pass *pass, ferry_phase phase)
{
    if (pass->stack->causal) ferry_profile_enter(&pass->state->profile, phase);
}

/* Whether the layer's cross-attention was all that is wanted. */
static bool ends_at(const ferry_pass *pass, int32_t layer)
{
    const ferry_attention_probe *probe = pass->state->probe;
    return pass->stack->causal && probe != NULL && probe->last && probe->layer == layer;
}

static ferry_status run_layer(const ferry_pass *pass, int32_t layer, ferry_error *error)
{
    enter_phase(pass, FERRY_PHASE_SELF_ATTENTION);
    FERRY_TRY(pass->stack->causal && pass->state->model->ssru ? ferry_layer_ssru(pass, layer, error)
                                                              : run_self_attention(pass, layer, error));
    enter_phase(pass, FERRY_PHASE_CROSS_ATTENTION);
    if (pass->stack->causal) FERRY_TRY(run_cross_attention(pass, layer, error));
    if (ends_at(pass, layer)) return FERRY_OK;
    enter_phase(pass, FERRY_PHASE_FEED_FORWARD);
    return run_feed_forward(pass, layer, error);
}

static void answer_hidden_probe(const ferry_pass *pass, int32_t layer)
{
    const ferry_hidden_probe *probe = pass->state->hidden;
    const size_t floats = row_floats(pass, pass->state->model->d_model);
    if (probe != NULL && probe->stack == pass->stack)
        memcpy(probe->states + (size_t)layer * floats, pass->x, floats * sizeof *pass->x);
}

ferry_status ferry_pass_run(ferry_pass *pass, const int32_t *ids, ferry_error *error)
{
    const ferry_norm *norm = &pass->stack->final_norm;
    const ferry_phase around = pass->state->profile.phase;
    const ferry_arena_mark mark = ferry_arena_begin(&pass->state->context.arena);
    ferry_status status = ferry_pass_begin(pass, error);
    if (status == FERRY_OK) status = extend_past(pass, error);
    if (status == FERRY_OK) embed(pass, ids);
    for (int32_t layer = 0; status == FERRY_OK && layer < pass->stack->layer_count; layer++) {
        answer_hidden_probe(pass, layer);
        status = run_layer(pass, layer, error);
        if (ends_at(pass, layer)) break;
    }
    ferry_profile_leave(&pass->state->profile, around);
    if (status == FERRY_OK && norm->weight != NULL) normalize(pass, pass->x, pass->x, NULL, norm);
    if (status == FERRY_OK) answer_hidden_probe(pass, pass->stack->layer_count);
    ferry_arena_end(&pass->state->context.arena, mark);
    return status;
}
