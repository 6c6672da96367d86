#include "pass.h"

#include <string.h>

#include "state.h"
#include "engine/kernels/linear.h"

/* ---- a pass ---- */

/* A pass takes rows x [R, D] through the layers of a stack. Each layer is self-attention or an SSRU, cross-attention in
 * a decoder, and a feed-forward; each of these sublayers f is added by
 *
 *     post-norm:  x = norm(x + f(x))      pre-norm:  x = x + f(norm(x))
 */
typedef struct pass {
    ferry_state *state;
    const ferry_stack *stack;
    int32_t rows;              /* R */
    const int32_t *group_ends; /* of int8 inputs (ferry_sentence_groups) */
    ferry_kv_spans self;       /* the rows of a span are consecutive; the pass extends the sequences */
    ferry_kv_spans cross;      /* decoder only: from ferry_decoder_begin */
    ferry_position_state *position_state;
    float *x; /* [R, D] */
    /* Scratch, from take_scratch. */
    float *y;    /* [R, D] output of a sublayer */
    float *h;    /* [R, D] normalized input of a pre-norm sublayer */
    float *work; /* q, k, v and context [R, H·K] each, an SSRU's two products [R, D], or the feed-forward's inner rows
                    [R, F], twice when gated */
} pass;

static size_t row_floats(const pass *p, int32_t width)
{
    return (size_t)p->rows * (size_t)width;
}

static int32_t attention_width(const ferry_stack *stack)
{
    return stack->heads * stack->head_width;
}

static ferry_status take_scratch(pass *p, ferry_error *error)
{
    const ferry_stack *stack = p->stack;
    const int32_t D = p->state->model->d_model;
    const int32_t sublayers[] = {4 * attention_width(stack), 2 * D,
                                 stack->gated ? 2 * stack->ffn_width : stack->ffn_width};
    int32_t widest = 0;
    for (int i = 0; i < 3; i++) widest = sublayers[i] > widest ? sublayers[i] : widest;
    ferry_arena *arena = &p->state->context.arena;
    p->y = ferry_arena_alloc(arena, row_floats(p, D), sizeof(float));
    p->h = ferry_arena_alloc(arena, stack->pre_norm ? row_floats(p, D) : 0, sizeof(float));
    p->work = ferry_arena_alloc(arena, row_floats(p, widest), sizeof(float));
    if (p->y != NULL && p->h != NULL && p->work != NULL) return FERRY_OK;
    return ferry_arena_fail(arena, "activations", row_floats(p, 2 * D + widest), sizeof(float), error);
}

static ferry_status linear(const pass *p, float *const *y, const float *x, const ferry_matrix *const *matrices,
                           int32_t count, ferry_error *error)
{
    const ferry_rows rows = {.x = x, .count = p->rows, .group_ends = p->group_ends};
    return ferry_linear_many(&p->state->context, y, &rows, matrices, count, error);
}

/* y = norm(x), or norm(x + residual); y may be x. */
static void normalize(const pass *p, float *y, const float *x, const float *residual, const ferry_norm *norm)
{
    const ferry_kernels *kernels = p->state->context.kernels;
    const ferry_stack *stack = p->stack;
    const int32_t D = p->state->model->d_model;
    if (stack->norm == FERRY_RMS_NORM)
        kernels->rms_norm(y, x, residual, norm->weight, stack->norm_eps, p->rows, D);
    else
        kernels->layer_norm(y, x, residual, norm->weight, norm->bias, stack->norm_eps, p->rows, D);
}

/* ---- sublayers: y = f(x), [R, D] ---- */

typedef ferry_status sublayer(const pass *p, const float *x, int32_t layer, ferry_error *error);

/* Attention of queries q [R, H·K]. Sets y to its output projection. */
static ferry_status attend(const pass *p, ferry_attention_kind kind, int32_t layer, float *q, float *context,
                           const ferry_matrix *out, ferry_error *error)
{
    const ferry_attention_call call = {
        .kind = kind,
        .stack = p->stack,
        .layer = layer,
        .kv = kind == FERRY_ATTENTION_CROSS ? &p->cross : &p->self,
        .position_state = p->position_state,
        .probe = p->state->probe,
    };
    FERRY_TRY(ferry_attend(&p->state->context, &call, q, p->rows, context, error));
    return linear(p, &p->y, context, &out, 1, error);
}

static ferry_status self_attention(const pass *p, const float *x, int32_t layer, ferry_error *error)
{
    const ferry_attention_weights *weights = &p->stack->layers[layer].self;
    const ferry_position *position = &p->stack->position;
    const ferry_attention_kind kind = p->stack->causal ? FERRY_ATTENTION_DECODER : FERRY_ATTENTION_ENCODER;
    const int32_t width = attention_width(p->stack);
    float *q = p->work, *k = q + row_floats(p, width), *v = k + row_floats(p, width);
    float *context = v + row_floats(p, width);

    float *const outputs[] = {q, k, v};
    const ferry_matrix *const matrices[] = {&weights->q, &weights->k, &weights->v};
    FERRY_TRY(linear(p, outputs, x, matrices, 3, error));
    for (int32_t s = 0; s < p->self.span_count; s++) {
        const ferry_attention_span *span = &p->self.spans[s];
        const size_t start = (size_t)span->row * (size_t)width;
        if (position->scheme->rotate != NULL) {
            position->scheme->rotate(position, p->position_state, q + start, span->first, span->rows);
            position->scheme->rotate(position, p->position_state, k + start, span->first, span->rows);
        }
        ferry_kv_write(p->self.cache, &p->self.sequences[span->sequence], ferry_attention_cache_layer(kind, layer),
                       span->first, span->rows, k + start, v + start);
    }
    return attend(p, kind, layer, q, context, &weights->out, error);
}

static ferry_status ssru(const pass *p, const float *x, int32_t layer, ferry_error *error)
{
    const ferry_ssru_weights *weights = &p->stack->layers[layer].ssru;
    const int32_t D = p->state->model->d_model;
    float *input = p->work, *forget = input + row_floats(p, D);

    float *const outputs[] = {input, forget};
    const ferry_matrix *const matrices[] = {&weights->input, &weights->forget};
    FERRY_TRY(linear(p, outputs, x, matrices, 2, error));
    for (int32_t s = 0; s < p->self.span_count; s++) {
        const ferry_attention_span *span = &p->self.spans[s];
        float *c = p->self.sequences[span->sequence].blocks[0] + (size_t)layer * p->self.cache->layout.layer_floats;
        if (span->first == 0) memset(c, 0, (size_t)D * sizeof *c);
        for (int32_t row = span->row; row < span->row + span->rows; row++) {
            const size_t start = (size_t)row * (size_t)D;
            p->state->context.kernels->ssru(p->y + start, c, forget + start, input + start, D);
        }
    }
    return FERRY_OK;
}

static ferry_status cross_attention(const pass *p, const float *x, int32_t layer, ferry_error *error)
{
    const ferry_attention_weights *weights = &p->stack->layers[layer].cross;
    const ferry_matrix *query = &weights->q;
    float *q = p->work, *context = q + row_floats(p, attention_width(p->stack));
    FERRY_TRY(linear(p, &q, x, &query, 1, error));
    return attend(p, FERRY_ATTENTION_CROSS, layer, q, context, &weights->out, error);
}

static ferry_status feed_forward(const pass *p, const float *x, int32_t layer, ferry_error *error)
{
    const ferry_stack *stack = p->stack;
    const ferry_layer *weights = &stack->layers[layer];
    const ferry_kernels *kernels = p->state->context.kernels;
    const size_t floats = row_floats(p, stack->ffn_width);
    float *up = p->work, *gate = up + floats, *inner = stack->gated ? gate : up;

    float *const outputs[] = {up, gate};
    const ferry_matrix *const matrices[] = {&weights->ffn_up, &weights->ffn_gate}, *down = &weights->ffn_down;
    FERRY_TRY(linear(p, outputs, x, matrices, stack->gated ? 2 : 1, error));
    kernels->activate(stack->activation, inner, floats);
    if (stack->gated) kernels->multiply(inner, up, floats);
    return linear(p, &p->y, inner, &down, 1, error);
}

/* Adds y = f(x) to x, before or after the norm. The profile counts the decoder's sublayers one by one, and the encoder
 * as a whole. */
static ferry_status run_sublayer(const pass *p, sublayer *f, const ferry_norm *norm, int32_t layer, ferry_phase phase,
                                 ferry_error *error)
{
    const ferry_state *state = p->state;
    const bool pre_norm = p->stack->pre_norm;
    if (p->stack->causal) ferry_profile_enter(&p->state->profile, phase);
    if (pre_norm) normalize(p, p->h, p->x, NULL, norm);
    FERRY_TRY(f(p, pre_norm ? p->h : p->x, layer, error));
    if (pre_norm)
        state->context.kernels->add(p->x, p->y, row_floats(p, state->model->d_model));
    else
        normalize(p, p->x, p->x, p->y, norm);
    return FERRY_OK;
}

/* ---- the stack ---- */

/* Extends the cache's sequences and the tables by position to the ends of the spans. */
static ferry_status extend_kv(const pass *p, ferry_error *error)
{
    const ferry_kv_spans *self = &p->self;
    for (int32_t s = 0; s < self->span_count; s++) {
        const ferry_attention_span *span = &self->spans[s];
        const int32_t length = span->first + span->rows;
        FERRY_TRY(
            ferry_position_extend(&p->stack->position, p->position_state, p->state->context.kernels, length, error));
        FERRY_TRY(ferry_kv_extend(self->cache, &self->sequences[span->sequence], length, error));
    }
    return FERRY_OK;
}

/* x = embedding_scale·E[ids] + positions, and the embedding norm. */
static void embed(const pass *p, const int32_t *ids)
{
    const ferry_transformer *model = p->state->model;
    const ferry_kernels *kernels = p->state->context.kernels;
    const ferry_position *position = &p->stack->position;
    const ferry_norm *norm = &p->stack->embedding_norm;
    const size_t D = (size_t)model->d_model;
    for (int32_t i = 0; i < p->rows; i++) {
        float *row = p->x + (size_t)i * D;
        if (ids[i] < 0)
            memset(row, 0, D * sizeof *row);
        else
            ferry_matrix_row(&p->stack->embedding, ids[i], row);
    }
    kernels->scale(p->x, model->embedding_scale, row_floats(p, model->d_model));
    for (int32_t s = 0; s < p->self.span_count && position->scheme->embed != NULL; s++) {
        const ferry_attention_span *span = &p->self.spans[s];
        position->scheme->embed(position, p->position_state, kernels, p->x + (size_t)span->row * D, span->first,
                                span->rows);
    }
    if (norm->weight != NULL) normalize(p, p->x, p->x, NULL, norm);
}

/* Whether the pass ends after the layer's cross-attention (probe->last). */
static bool ends_at(const pass *p, int32_t layer)
{
    const ferry_attention_probe *probe = p->state->probe;
    return p->stack->causal && probe != NULL && probe->last && probe->layer == layer;
}

static ferry_status run_layer(const pass *p, int32_t layer, ferry_error *error)
{
    const bool causal = p->stack->causal;
    const ferry_layer *weights = &p->stack->layers[layer];
    sublayer *first = causal && p->state->model->ssru ? ssru : self_attention;
    FERRY_TRY(run_sublayer(p, first, &weights->self_norm, layer, FERRY_PHASE_SELF_ATTENTION, error));
    if (causal)
        FERRY_TRY(run_sublayer(p, cross_attention, &weights->cross_norm, layer, FERRY_PHASE_CROSS_ATTENTION, error));
    if (ends_at(p, layer)) return FERRY_OK;
    return run_sublayer(p, feed_forward, &weights->ffn_norm, layer, FERRY_PHASE_FEED_FORWARD, error);
}

static void answer_hidden_probe(const pass *p, int32_t layer)
{
    const ferry_hidden_probe *probe = p->state->hidden;
    const size_t floats = row_floats(p, p->state->model->d_model);
    if (probe != NULL && probe->stack == p->stack)
        memcpy(probe->states + (size_t)layer * floats, p->x, floats * sizeof *p->x);
}

static ferry_status run_pass(pass *p, const int32_t *ids, ferry_error *error)
{
    const ferry_norm *norm = &p->stack->final_norm;
    const ferry_phase around = p->state->profile.phase;
    const ferry_arena_mark mark = ferry_arena_begin(&p->state->context.arena);
    ferry_status status = take_scratch(p, error);
    if (status == FERRY_OK) status = extend_kv(p, error);
    if (status == FERRY_OK) embed(p, ids);
    for (int32_t layer = 0; status == FERRY_OK && layer < p->stack->layer_count; layer++) {
        answer_hidden_probe(p, layer);
        status = run_layer(p, layer, error);
        if (ends_at(p, layer)) break;
    }
    ferry_profile_leave(&p->state->profile, around);
    if (status == FERRY_OK && norm->weight != NULL) normalize(p, p->x, p->x, NULL, norm);
    if (status == FERRY_OK) answer_hidden_probe(p, p->stack->layer_count);
    ferry_arena_end(&p->state->context.arena, mark);
    return status;
}

/* ---- encoder and decoder ---- */

ferry_status ferry_encode(ferry_state *state, const int32_t *ids, const int32_t *offsets, int32_t count, float *output,
                          ferry_error *error)
{
    ferry_arena *arena = &state->context.arena;
    const ferry_arena_mark mark = ferry_arena_begin(arena);
    bool failed = false;
    ferry_attention_span *spans = ferry_arena_take(arena, (size_t)count, sizeof *spans, &failed);
    ferry_kv_sequence *sequences = ferry_arena_take(arena, (size_t)count, sizeof *sequences, &failed);
    if (failed) return ferry_arena_fail(arena, "sentences", (size_t)count, sizeof *spans + sizeof *sequences, error);
    for (int32_t s = 0; s < count; s++) {
        const int32_t length = offsets[s + 1] - offsets[s];
        spans[s] = (ferry_attention_span){.row = offsets[s], .rows = length, .first = 0, .sequence = s};
        FERRY_TRY(ferry_kv_begin(arena, length, &sequences[s], error));
    }
    pass p = {
        .state = state,
        .stack = &state->model->encoder,
        .rows = offsets[count],
        .group_ends = ferry_sentence_groups(state->model, offsets + 1),
        .self = {&state->encoder_cache, sequences, spans, count},
        .position_state = &state->encoder_positions,
        .x = output,
    };
    const ferry_status status = run_pass(&p, ids, error);
    for (int32_t s = 0; s < count; s++) ferry_kv_release(&state->encoder_cache, &sequences[s]);
    ferry_arena_end(arena, mark);
    return status;
}

ferry_status ferry_decoder_begin(ferry_state *state, const float *encoder_output, const int32_t *offsets, int32_t count,
                                 ferry_kv_sequence *sentences, ferry_error *error)
{
    const ferry_stack *stack = &state->model->decoder;
    const ferry_rows rows = {encoder_output, offsets[count], ferry_sentence_groups(state->model, offsets + 1)};
    const size_t width = (size_t)(stack->heads * stack->head_width), floats = (size_t)rows.count * width;
    for (int32_t s = 0; s < count; s++)
        FERRY_TRY(ferry_kv_extend(&state->decoder_cache, &sentences[s], offsets[s + 1] - offsets[s], error));
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    bool failed = false;
    float *k = ferry_arena_take(&state->context.arena, floats, sizeof *k, &failed);
    float *v = ferry_arena_take(&state->context.arena, floats, sizeof *v, &failed);
    if (failed) return ferry_arena_fail(&state->context.arena, "cross-attention", 2 * floats, sizeof *k, error);
    for (int32_t layer = 0; layer < stack->layer_count; layer++) {
        const ferry_attention_weights *weights = &stack->layers[layer].cross;
        float *const outputs[] = {k, v};
        const ferry_matrix *const matrices[] = {&weights->k, &weights->v};
        FERRY_TRY(ferry_linear_many(&state->context, outputs, &rows, matrices, 2, error));
        for (int32_t s = 0; s < count; s++) {
            const size_t start = (size_t)offsets[s] * width;
            ferry_kv_write(&state->decoder_cache, &sentences[s], layer, 0, offsets[s + 1] - offsets[s], k + start,
                           v + start);
        }
    }
    ferry_arena_end(&state->context.arena, mark);
    return FERRY_OK;
}

ferry_status ferry_decoder_begin_sources(ferry_state *state, const int32_t *ids, const int32_t *offsets, int32_t count,
                                         ferry_kv_sequence *sentences, ferry_error *error)
{
    ferry_arena *arena = &state->context.arena;
    const ferry_arena_mark mark = ferry_arena_begin(arena);
    const size_t floats = (size_t)offsets[count] * (size_t)state->model->d_model;
    float *encoded = ferry_arena_alloc(arena, floats, sizeof *encoded);
    if (encoded == NULL) return ferry_arena_fail(arena, "the encoder's output", floats, sizeof *encoded, error);
    const ferry_phase around = ferry_profile_enter(&state->profile, FERRY_PHASE_ENCODER);
    FERRY_TRY(ferry_encode(state, ids, offsets, count, encoded, error));
    ferry_profile_enter(&state->profile, FERRY_PHASE_SOURCE_KEYS);
    FERRY_TRY(ferry_decoder_begin(state, encoded, offsets, count, sentences, error));
    ferry_profile_leave(&state->profile, around);
    ferry_arena_end(arena, mark);
    return FERRY_OK;
}

ferry_status ferry_decode(ferry_state *state, const ferry_decoder_rows *input, float *hidden, ferry_error *error)
{
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    const ferry_kv_spans *self = &input->self, *cross = &input->cross;
    const size_t sentences = (size_t)cross->span_count;
    int32_t *ends = ferry_arena_alloc(&state->context.arena, sentences, sizeof *ends);
    if (ends == NULL) return ferry_arena_fail(&state->context.arena, "sentences", sentences, sizeof *ends, error);
    for (size_t s = 0; s < sentences; s++) ends[s] = cross->spans[s].row + cross->spans[s].rows;
    pass p = {
        .state = state,
        .stack = &state->model->decoder,
        .rows = input->rows,
        .group_ends = ferry_sentence_groups(state->model, ends),
        .self = {ferry_state_hypothesis_cache(state), self->sequences, self->spans, self->span_count},
        .cross = {&state->decoder_cache, cross->sequences, cross->spans, cross->span_count},
        .position_state = &state->decoder_positions,
        .x = hidden,
    };
    const ferry_status status = run_pass(&p, input->ids, error);
    if (status == FERRY_OK)
        state->context.kernels->scale(hidden, state->model->output_scale,
                                      (size_t)input->rows * (size_t)state->model->d_model);
    ferry_arena_end(&state->context.arena, mark);
    return status;
}
