/* The graph's blocks on small models: every choice against plain double-precision arithmetic, and what must not change
 * a byte: steps, batches, beams. */
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/small_model.h"

#include "engine/graph/pass.h"
#include "engine/graph/state.h"
#include "engine/kernels/linear.h"
#include "engine/lines/model.h"

enum { D = 24, V = 21, STATES = 2 + 1, MOST_ROWS = 48, MOST_WIDTH = 32 }; /* of small_model.h */

/* ---- the whole graph in plain double-precision arithmetic, without cache, batch or kernels ---- */

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

/* logits [rows, V] of the decoder's inputs, given source ids [length]; at most 48 of either. d_model is 24, nothing is
 * wider than 32, and positions are those of small_model.h. The states of both stacks, unless these are NULL: encoder
 * [layers + 1, length, 24], decoder [layers + 1, rows, 24]: what enters each layer, and what the stack returns. */
static void plain_logits(const ferry_transformer *model, const int32_t *source, int32_t length, const int32_t *inputs,
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

/* ---- every choice ---- */

static const int32_t source[] = {3, 20, 7, 7, 11, 0, 5, 19, 0}; /* two sentences: 6 and 3 ids */
static const int32_t source_offsets[] = {0, 6, 9};
/* Inputs of both, the first of more than a block of positions. */
static int32_t inputs[23 + 5];
static const int32_t input_offsets[] = {0, 23, 28};

static void set_inputs(const ferry_model *model)
{
    for (int32_t i = 0; i < 28; i++) inputs[i] = (i * 5 + i / 7) % V;
    inputs[0] = inputs[23] = ferry_inspect_get_sizes(model).start_id;
}

/* Sentence i of states [STATES, offsets[2], D] is that of the sentence alone. */
static double differs(const float *states, const int32_t *offsets, int i, const float *alone)
{
    const int32_t first = offsets[i], rows = offsets[i + 1] - first;
    double most = 0;
    for (int32_t n = 0; n < STATES; n++)
        most = fmax(most, largest_difference(states + (n * offsets[2] + first) * D, alone + n * rows * D,
                                             (size_t)(rows * D)));
    return most;
}

/* Each sentence alone has the bytes that it has together with the other. */
static void check_alone(const ferry_model *model, const float *together)
{
    float alone[28 * V];
    for (int s = 0; s < 2; s++) {
        const int32_t rows = input_offsets[s + 1] - input_offsets[s];
        const int32_t offsets[] = {0, source_offsets[s + 1] - source_offsets[s]}, target_offsets[] = {0, rows};
        CHECK(ferry_inspect_logits(model, source + source_offsets[s], offsets, 1, inputs + input_offsets[s],
                                   target_offsets, FERRY_INSPECT_ONE_PASS, alone, &error));
        assert_memory_equal(alone, together + input_offsets[s] * V, (size_t)(rows * V) * sizeof *alone);
    }
}

static void check_model(const small_model *small, const char *isa, const char *what)
{
    float expected[28 * V], one_pass[28 * V], steps[28 * V];
    float encoder[STATES * 9 * D], decoder[STATES * 28 * D], plain_encoder[STATES * 6 * D],
        plain_decoder[STATES * 23 * D];
    ferry_model *model = open_small_model(small, isa);
    set_inputs(model);
    CHECK(ferry_inspect_hidden(model, FERRY_INSPECT_ENCODER, source, source_offsets, 2, NULL, NULL, encoder, &error));
    CHECK(ferry_inspect_hidden(model, FERRY_INSPECT_DECODER, source, source_offsets, 2, inputs, input_offsets, decoder,
                               &error));
    for (int i = 0; i < 2; i++) {
        plain_logits(&model->file.transformer, source + source_offsets[i], source_offsets[i + 1] - source_offsets[i],
                     inputs + input_offsets[i], input_offsets[i + 1] - input_offsets[i], plain_encoder, plain_decoder,
                     expected + input_offsets[i] * V);
        const double e = differs(encoder, source_offsets, i, plain_encoder);
        const double d = differs(decoder, input_offsets, i, plain_decoder);
        if (!(e <= 2e-5) || !(d <= 2e-5)) fail_msg("%s: states differ by %g (encoder), %g (decoder)", what, e, d);
    }
    CHECK(ferry_inspect_logits(model, source, source_offsets, 2, inputs, input_offsets, FERRY_INSPECT_ONE_PASS,
                               one_pass, &error));
    CHECK(ferry_inspect_logits(model, source, source_offsets, 2, inputs, input_offsets, FERRY_INSPECT_STEP_BY_STEP,
                               steps, &error));
    const double difference = largest_difference(one_pass, expected, 28 * V);
    if (!(difference <= 5e-5)) fail_msg("%s: logits differ by %g", what, difference);
    assert_memory_equal(steps, one_pass, sizeof steps);
    check_alone(model, one_pass);
    ferry_model_close(model);
}

TEST(test_every_choice_against_plain_arithmetic)
{
    static const struct {
        const char *what;
        small_model model;
    } cases[] = {{"nothing special", {0}},
                 {"biases", {.linear_bias = true}},
                 {"pre-norm", {.pre_norm = true}},
                 {"pre-norm without a norm at the end", {.pre_norm = true, .final_norm = -1}},
                 {"post-norm with a norm at the end", {.final_norm = 1}},
                 {"rms post", {.rms = true}},
                 {"rms pre", {.rms = true, .pre_norm = true}},
                 {"embedding norm", {.embedding_norm = true, .linear_bias = true}},
                 {"gated", {.gated = true}},
                 {"gated, wide", {.gated = true, .linear_bias = true, .heads = 1, .head_width = 3, .ffn_width = 30}},
                 {"gated gelu, tanh form", {.gated = true, .activation = "gelu_tanh"}},
                 {"gelu, sigmoid form", {.activation = "gelu_sigmoid"}},
                 {"ssru", {.ssru = true}},
                 {"ssru with biases, narrow heads", {.ssru = true, .linear_bias = true, .heads = 1, .head_width = 5}},
                 {"ssru pre", {.ssru = true, .pre_norm = true}},
                 {"zero start", {.zero_start = true}},
                 {"output scale", {.output_scale = 0.2041f}},
                 {"untied", {.untied = true}},
                 {"as T5",
                  {.gated = true,
                   .rms = true,
                   .pre_norm = true,
                   .activation = "gelu_tanh",
                   .output_scale = 0.2f,
                   .position = "none"}},
                 {"as Marian", {.ssru = true, .linear_bias = true, .zero_start = true}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_model(&cases[i].model, NULL, cases[i].what);
        check_model(&cases[i].model, "plain", cases[i].what);
    }
}

/* The file's number of each stack, not one for both. */
TEST(test_each_stack_has_its_own_eps)
{
    const char *path = scratch_file("eps.gguf"), *names[] = {"ferry.encoder.norm_eps", "ferry.decoder.norm_eps"};
    static const float eps[] = {0.5f, 0.125f};
    const small_model small = {0};
    float expected[23 * V], found[23 * V];
    ferry_model *model;
    write_small_model(path, &small);
    made_file file = file_copy(path);
    for (int i = 0; i < 2; i++) {
        const char *key = find_text((ferry_view){(const char *)file.data, file.size}, names[i]);
        memcpy(file.data + (key - (const char *)file.data) + strlen(names[i]) + 4, &eps[i], 4); /* after its type */
    }
    write_bytes(path, file.data, file.size);
    CHECK(ferry_inspect_open(path, NULL, NULL, &model, &error));
    assert_true(model->file.transformer.encoder.norm_eps == eps[0] &&
                model->file.transformer.decoder.norm_eps == eps[1]);
    set_inputs(model);
    plain_logits(&model->file.transformer, source, 6, inputs, 23, NULL, NULL, expected);
    CHECK(ferry_inspect_logits(model, source, source_offsets, 1, inputs, input_offsets, FERRY_INSPECT_ONE_PASS, found,
                               &error));
    assert_true(largest_difference(found, expected, COUNT(found)) <= 5e-5);
    ferry_model_close(model);
}

/* ---- the SSRU ---- */

enum { BEAM = 5, STEPS = 40 };

/* A sentence of a model, its hypotheses and what they were given. */
typedef struct beam {
    ferry_state state;
    ferry_sequence sentence, hypotheses[BEAM];
    int32_t ids[BEAM][STEPS];
    int32_t rows, step;
} beam;

static void begin_beam(beam *b, const ferry_model *model)
{
    float encoded[6 * D];
    memset(b, 0, sizeof *b);
    ferry_state_init(&b->state, &model->file.transformer, model->kernels);
    ferry_arena *arena = &b->state.context.arena;
    CHECK(ferry_encode(&b->state, source, source_offsets, 1, encoded, &error));
    CHECK(ferry_sequence_begin(arena, 6, &b->sentence, &error));
    CHECK(ferry_decoder_begin(&b->state, encoded, source_offsets, 1, &b->sentence, &error));
    for (int r = 0; r < BEAM; r++) CHECK(ferry_sequence_begin(arena, STEPS, &b->hypotheses[r], &error));
}

/* Rows of `count` hypotheses, `rows` each from `first` on. */
static void decode(beam *b, const int32_t *ids, int32_t count, int32_t first, int32_t rows, float *hidden)
{
    ferry_attention_span spans[BEAM];
    const ferry_attention_span cross = {.row = 0, .rows = count * rows};
    for (int32_t r = 0; r < count; r++)
        spans[r] = (ferry_attention_span){.row = r * rows, .rows = rows, .first = first, .sequence = r};
    const ferry_decoder_rows call = {.ids = ids,
                                     .rows = count * rows,
                                     .self = {.sequences = b->hypotheses, .spans = spans, .span_count = count},
                                     .cross = {.sequences = &b->sentence, .spans = &cross, .span_count = 1}};
    CHECK(ferry_decode(&b->state, &call, hidden, &error));
}

/* The row of a hypothesis that was given `ids` from its beginning. */
static void recompute(const ferry_model *model, const int32_t *ids, int32_t count, float *last)
{
    float hidden[STEPS * D];
    beam fresh;
    begin_beam(&fresh, model);
    decode(&fresh, ids, 1, 0, count, hidden);
    memcpy(last, hidden + (count - 1) * D, D * sizeof *last);
    ferry_state_destroy(&fresh.state);
}

/* Random splits, deaths and growth: every row is what its own past gives. */
static void grow(beam *b, const ferry_model *model, uint32_t *random)
{
    float hidden[BEAM * D], expected[D];
    b->rows = 1;
    for (b->step = 0; b->step < STEPS; b->step++) {
        int32_t ids[BEAM], parents[BEAM], next[BEAM][STEPS];
        for (int32_t r = 0; r < b->rows; r++) ids[r] = b->ids[r][b->step] = (int32_t)(next_random(random) % V);
        decode(b, ids, b->rows, b->step, 1, hidden);
        for (int32_t r = 0; r < b->rows; r++) {
            recompute(model, b->ids[r], b->step + 1, expected);
            assert_memory_equal(hidden + r * D, expected, sizeof expected);
            assert_int_equal(b->hypotheses[r].length, b->step + 1);
        }
        const int32_t count = 1 + (int32_t)(next_random(random) % BEAM);
        for (int32_t r = 0; r < count; r++) {
            parents[r] = (int32_t)(next_random(random) % (uint32_t)b->rows);
            memcpy(next[r], b->ids[parents[r]], sizeof next[r]);
        }
        CHECK(ferry_sequence_reorder(ferry_state_hypothesis_cache(&b->state), &b->state.context.arena, b->hypotheses,
                                     b->rows, parents, count, &error));
        memcpy(b->ids, next, (size_t)count * sizeof next[0]);
        b->rows = count;
    }
}

static void check_beam(const small_model *small)
{
    uint32_t random = 3;
    beam b;
    ferry_model *model = open_small_model(small, NULL);
    begin_beam(&b, model);
    ferry_cache *cache = ferry_state_hypothesis_cache(&b.state);
    for (int round = 0; round < 2; round++) { /* the second one finds used blocks */
        grow(&b, model, &random);
        for (int r = 0; r < BEAM; r++) ferry_sequence_release(cache, &b.hypotheses[r]);
    }
    ferry_sequence_release(&b.state.decoder_cache, &b.sentence);
    /* Every block came back: as many sequences as there are blocks can begin without memory. */
    const size_t allocations = cache->allocations;
    for (size_t i = 0; i < cache->blocks; i++) {
        ferry_sequence taken;
        CHECK(ferry_sequence_begin(&b.state.context.arena, 1, &taken, &error));
        CHECK(ferry_sequence_extend(cache, &taken, 1, &error));
    }
    assert_int_equal(cache->allocations, allocations);
    ferry_state_destroy(&b.state);
    ferry_model_close(model);
}

TEST(test_reordered_beams_continue_their_parents)
{
    const small_model ssru = {.ssru = true, .linear_bias = true}, attention = {.linear_bias = true};
    check_beam(&ssru);
    check_beam(&attention);
}

TEST(test_an_ssru_has_no_attention_weights)
{
    float weights[6 * 3];
    const small_model small = {.ssru = true};
    const int32_t target[] = {0, 4, 5};
    ferry_model *model = open_small_model(&small, NULL);
    REFUSE(ferry_inspect_attention(model, FERRY_INSPECT_DECODER_SELF, 0, 0, source, 6, target, 3, weights, &error),
           FERRY_ERROR_UNSUPPORTED, "");
    CHECK(ferry_inspect_attention(model, FERRY_INSPECT_CROSS, 1, 2, source, 6, target, 3, weights, &error));
    assert_true(fabs((double)(weights[0] + weights[1] + weights[2] + weights[3] + weights[4] + weights[5]) - 1) < 1e-5);
    ferry_model_close(model);
}

/* ---- int8 ---- */

/* Rows of a sentence share the multiplier of their inputs where the model says so, and only theirs. */
TEST(test_int8_inputs_by_sentence)
{
    float by_row[9 * D], together[9 * D], alone[9 * D], logits[28 * V];
    small_model small = {.type = FERRY_I8, .scales = SMALL_MULTIPLIER, .linear_bias = true};
    ferry_model *model = open_small_model(&small, NULL);
    CHECK(ferry_inspect_encode(model, source, source_offsets, 2, by_row, &error));
    ferry_model_close(model);
    small.sentence_inputs = true;
    model = open_small_model(&small, NULL);
    set_inputs(model);
    CHECK(ferry_inspect_encode(model, source, source_offsets, 2, together, &error));
    CHECK(ferry_inspect_logits(model, source, source_offsets, 2, inputs, input_offsets, FERRY_INSPECT_ONE_PASS, logits,
                               &error));
    assert_true(largest_difference(by_row, together, 9 * D) > 0);
    assert_true(largest_difference(by_row, together, 9 * D) < 0.5);
    for (int s = 0; s < 2; s++) {
        const int32_t length = source_offsets[s + 1] - source_offsets[s];
        const int32_t offsets[] = {0, length};
        CHECK(ferry_inspect_encode(model, source + source_offsets[s], offsets, 1, alone, &error));
        assert_memory_equal(alone, together + source_offsets[s] * D, (size_t)(length * D) * sizeof *alone);
    }
    check_alone(model, logits);
    ferry_model_close(model);
}

/* What a pass of two sentences computes with `model`, from the same encoder's output. */
typedef struct pass_result {
    float encoded[9 * D], keys[16], hidden[4 * D];
} pass_result;

static void run_passes(const ferry_transformer *model, const ferry_kernels *kernels, const float *encoded,
                       pass_result *result)
{
    ferry_state s;
    ferry_sequence sentences[2], hypotheses[2];
    static const int32_t ids[] = {0, 17, 0, 4};
    const ferry_attention_span spans[] = {{.row = 0, .rows = 2, .sequence = 0}, {.row = 2, .rows = 2, .sequence = 1}};
    const ferry_decoder_rows call = {.ids = ids,
                                     .rows = 4,
                                     .self = {.sequences = hypotheses, .spans = spans, .span_count = 2},
                                     .cross = {.sequences = sentences, .spans = spans, .span_count = 2}};
    ferry_state_init(&s, model, kernels);
    for (int i = 0; i < 2; i++) {
        CHECK(ferry_sequence_begin(&s.context.arena, 6, &sentences[i], &error));
        CHECK(ferry_sequence_begin(&s.context.arena, 2, &hypotheses[i], &error));
    }
    CHECK(ferry_encode(&s, source, source_offsets, 2, result->encoded, &error));
    CHECK(ferry_decoder_begin(&s, encoded != NULL ? encoded : result->encoded, source_offsets, 2, sentences, &error));
    memcpy(result->keys, sentences[0].blocks[0], sizeof result->keys);
    CHECK(ferry_decode(&s, &call, result->hidden, &error));
    ferry_state_destroy(&s);
}

TEST(test_every_pass_groups_sentences)
{
    pass_result grouped, single;
    float logits[28 * V], hidden[28 * D], steps[28 * V];
    const small_model small = {.type = FERRY_I8, .scales = SMALL_MULTIPLIER, .sentence_inputs = true};
    ferry_model *model = open_small_model(&small, NULL);
    ferry_transformer by_row = model->file.transformer;
    by_row.sentence_inputs = false;
    run_passes(&model->file.transformer, model->kernels, NULL, &grouped);
    run_passes(&by_row, model->kernels, grouped.encoded, &single);
    assert_true(largest_difference(grouped.encoded, single.encoded, 9 * D) > 0);
    assert_true(largest_difference(grouped.keys, single.keys, 16) > 0);
    /* A row of the decoder depends on the sentence's others, even on later ones. */
    beam b;
    begin_beam(&b, model);
    static const int32_t ids[] = {0, 17};
    decode(&b, ids, 1, 0, 2, hidden);
    assert_memory_equal(hidden, grouped.hidden, 2 * D * sizeof *hidden);
    ferry_sequence_release(&b.state.decoder_cache, &b.hypotheses[0]);
    decode(&b, ids, 1, 0, 1, steps); /* without the second row */
    assert_true(largest_difference(hidden, steps, D) > 0);
    /* The output matrix sees the rows of a sentence together, too. */
    const int32_t offsets[] = {0, 2};
    CHECK(ferry_inspect_logits(model, source, source_offsets, 1, ids, offsets, FERRY_INSPECT_ONE_PASS, logits, &error));
    CHECK(
        ferry_linear(&b.state.context, steps, &(ferry_rows){hidden, 2, NULL}, &model->file.transformer.output, &error));
    assert_true(largest_difference(logits, steps, 2 * V) > 0);
    ferry_state_destroy(&b.state);
    ferry_model_close(model);
}
