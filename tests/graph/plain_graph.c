#include "plain_graph.h"

#include "engine/kernels/linear.h"

enum { D = 24, MOST_ROWS = 48, MOST_WIDTH = 32 }; /* of small_model.h */

typedef double row[MOST_WIDTH];

static void apply(const ferry_matrix *matrix, const double *x, double *y)
{
    float weights[MOST_WIDTH];
    for (int32_t n = 0; n < matrix->N; n++) {
        ferry_matrix_row(matrix, n, weights);
        y[n] = matrix->bias != NULL ? (double)matrix->bias[n] : 0;
        for (int32_t k = 0; k < matrix->K; k++) y[n] += x[k] * (double)weights[k];
    }
}

static void normalize(const ferry_stack *stack, const ferry_norm *norm, const double *x, double *y)
{
    double mean = 0, square = 0;
    for (int i = 0; i < D; i++) mean += x[i] / D;
    if (stack->norm == FERRY_RMS_NORM) mean = 0;
    for (int i = 0; i < D; i++) square += (x[i] - mean) * (x[i] - mean) / D;
    for (int i = 0; i < D; i++)
        y[i] = (x[i] - mean) / sqrt(square + (double)stack->norm_eps) * (double)norm->weight[i] +
               (norm->bias != NULL ? (double)norm->bias[i] : 0);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double activate(ferry_activation activation, double x)
{
    switch (activation) {
    case FERRY_RELU: return x > 0 ? x : 0;
    case FERRY_GELU: return 0.5 * x * erfc(-x * sqrt(0.5));
    case FERRY_SWISH: return x * sigmoid(x);
    case FERRY_GELU_TANH: return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case FERRY_GELU_SIGMOID: return x * sigmoid(1.702 * x);
    }
    return NAN;
}

/* y[i] = attention of u[i] over m[0 … keys - 1], or m[0 … i] when causal. */
static void attend(const ferry_stack *stack, const ferry_attention_weights *weights, row *u, int32_t rows, row *m,
                   int32_t keys, bool causal, row *y)
{
    static row q, k[MOST_ROWS], v[MOST_ROWS], context;
    const int32_t K = stack->head_width;
    for (int32_t j = 0; j < keys; j++) {
        apply(&weights->k, m[j], k[j]);
        apply(&weights->v, m[j], v[j]);
    }
    for (int32_t i = 0; i < rows; i++) {
        const int32_t seen = causal ? i + 1 : keys;
        apply(&weights->q, u[i], q);
        memset(context, 0, sizeof context);
        for (int32_t h = 0; h < stack->heads; h++) {
            double scores[MOST_ROWS], sum = 0;
            for (int32_t j = 0; j < seen; j++) {
                scores[j] = 0;
                for (int32_t d = h * K; d < (h + 1) * K; d++) scores[j] += q[d] * k[j][d];
                scores[j] = exp(scores[j] * (double)stack->attention_scale);
                sum += scores[j];
            }
            for (int32_t j = 0; j < seen; j++)
                for (int32_t d = h * K; d < (h + 1) * K; d++) context[d] += scores[j] / sum * v[j][d];
        }
        apply(&weights->out, context, y[i]);
    }
}

static void recur(const ferry_ssru_weights *weights, row *u, int32_t rows, row *y)
{
    row c = {0}, f, w;
    for (int32_t i = 0; i < rows; i++) {
        apply(&weights->forget, u[i], f);
        apply(&weights->input, u[i], w);
        for (int d = 0; d < D; d++) {
            c[d] = sigmoid(f[d]) * c[d] + (1 - sigmoid(f[d])) * w[d];
            y[i][d] = c[d] > 0 ? c[d] : 0;
        }
    }
}

static void feed_forward(const ferry_stack *stack, const ferry_layer *layer, row *u, int32_t rows, row *y)
{
    row up, gate;
    for (int32_t i = 0; i < rows; i++) {
        apply(&layer->ffn_up, u[i], up);
        if (stack->gated) apply(&layer->ffn_gate, u[i], gate);
        for (int32_t f = 0; f < stack->ffn_width; f++)
            up[f] = stack->gated ? activate(stack->activation, gate[f]) * up[f] : activate(stack->activation, up[f]);
        apply(&layer->ffn_down, up, y[i]);
    }
}

static void embed(const ferry_transformer *model, const ferry_stack *stack, const int32_t *ids, int32_t rows, row *x)
{
    float embedding[MOST_WIDTH];
    const bool positions = strcmp(stack->position.scheme->name, "none") != 0;
    for (int32_t i = 0; i < rows; i++) {
        memset(embedding, 0, sizeof embedding);
        if (ids[i] >= 0) ferry_matrix_row(&stack->embedding, ids[i], embedding);
        for (int d = 0; d < D; d++) x[i][d] = (double)(embedding[d] * model->embedding_scale);
        for (int k = 0; k < D / 2 && positions; k++) {
            const double angle = i / pow(10000, (double)k / (D / 2 - 1));
            x[i][k] += sin(angle);
            x[i][D / 2 + k] += cos(angle);
        }
        if (stack->embedding_norm.weight != NULL) normalize(stack, &stack->embedding_norm, x[i], x[i]);
    }
}

/* A sublayer's input and output around it. */
static void enter(const ferry_stack *stack, const ferry_norm *norm, row *x, int32_t rows, row *u)
{
    for (int32_t i = 0; i < rows; i++) {
        memcpy(u[i], x[i], sizeof(row));
        if (stack->pre_norm) normalize(stack, norm, x[i], u[i]);
    }
}

static void leave(const ferry_stack *stack, const ferry_norm *norm, row *x, int32_t rows, row *y)
{
    for (int32_t i = 0; i < rows; i++) {
        for (int d = 0; d < D; d++) x[i][d] += y[i][d];
        if (!stack->pre_norm) normalize(stack, norm, x[i], x[i]);
    }
}

/* Appends x [rows] to *states, unless that is NULL. */
static void keep_state(float **states, row *x, int32_t rows)
{
    for (int32_t i = 0; i < rows && *states != NULL; i++)
        for (int d = 0; d < D; d++) *(*states)++ = (float)x[i][d];
}

/* x [rows] of the ids; `memory` is the encoder's output, NULL in the encoder itself. states [layers + 1, rows, D]: what
 * enters each layer, and x; NULL: not asked for. */
static void run_stack(const ferry_transformer *model, const int32_t *ids, int32_t rows, row *memory, int32_t keys,
                      row *x, float *states)
{
    static row u[MOST_ROWS], y[MOST_ROWS];
    const ferry_stack *stack = memory != NULL ? &model->decoder : &model->encoder;
    embed(model, stack, ids, rows, x);
    for (int32_t l = 0; l < stack->layer_count; l++) {
        const ferry_layer *layer = &stack->layers[l];
        keep_state(&states, x, rows);
        enter(stack, &layer->self_norm, x, rows, u);
        if (memory != NULL && model->ssru)
            recur(&layer->ssru, u, rows, y);
        else
            attend(stack, &layer->self, u, rows, u, rows, memory != NULL, y);
        leave(stack, &layer->self_norm, x, rows, y);
        if (memory != NULL) {
            enter(stack, &layer->cross_norm, x, rows, u);
            attend(stack, &layer->cross, u, rows, memory, keys, false, y);
            leave(stack, &layer->cross_norm, x, rows, y);
        }
        enter(stack, &layer->ffn_norm, x, rows, u);
        feed_forward(stack, layer, u, rows, y);
        leave(stack, &layer->ffn_norm, x, rows, y);
    }
    for (int32_t i = 0; i < rows && stack->final_norm.weight != NULL; i++)
        normalize(stack, &stack->final_norm, x[i], x[i]);
    keep_state(&states, x, rows);
}

void plain_logits(const ferry_transformer *model, const int32_t *source, int32_t length, const int32_t *inputs,
                  int32_t rows, float *encoder, float *decoder, float *logits)
{
    static row memory[MOST_ROWS], x[MOST_ROWS];
    row output;
    assert_true(model->d_model == D && length <= MOST_ROWS && rows <= MOST_ROWS && model->output.N <= MOST_WIDTH);
    run_stack(model, source, length, NULL, 0, memory, encoder);
    run_stack(model, inputs, rows, memory, length, x, decoder);
    for (int32_t i = 0; i < rows; i++) {
        for (int d = 0; d < D; d++) x[i][d] *= (double)model->output_scale;
        apply(&model->output, x[i], output);
        for (int32_t n = 0; n < model->output.N; n++) logits[i * model->output.N + n] = (float)output[n];
    }
}
