/* A model that is made, not read: random weights, everything else as in the Transformer of Vaswani et al. 2017. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ferry_inspect.h"
#include "engine/api/model.h"

enum {
    MAX_LAYERS = 1024,
    MAX_WIDTH = 1 << 16,
    MAX_FFN_WIDTH = 1 << 20,
    MAX_VOCABULARY = 1 << 24,
    END = 0, /* ids */
    PADDING = 1
};

typedef struct maker {
    ferry_model_file *file;
    const ferry_kernels *kernels;
    uint64_t random;
    float *panels; /* rest of file->widened */
} maker;

/* ---- numbers ---- */

/* xorshift64* (Vigna 2016, "An experimental exploration of Marsaglia's xorshift generators, scrambled"): uniform in
 * [-1, 1). */
static float draw(uint64_t *random)
{
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return (float)((int64_t)(*random * UINT64_C(0x2545F4914F6CDD1D)) >> 40) * 0x1p-23f;
}

/* Half the width of the uniform distribution whose variance is 1/n. */
static float spread(int64_t n)
{
    return sqrtf(3.0f / (float)n);
}

static ferry_status make_vector(maker *m, size_t n, float center, float width, const float **data, ferry_error *error)
{
    float *values = ferry_arena_alloc(&m->file->arena, n, sizeof *values);
    if (values == NULL) return ferry_fail_memory(error, "weights", n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = width > 0.0f ? center + width * draw(&m->random) : center;
    m->file->parameters += (int64_t)n;
    *data = values;
    return FERRY_OK;
}

/* Panels of [N, K]. */
static const float *make_panels(maker *m, int32_t N, int32_t K)
{
    float *panels = m->panels, *out = panels;
    const float width = spread(K);
    for (int32_t first = 0; first < N; first += FERRY_LANES)
        for (int32_t k = 0; k < K; k++)
            for (int32_t lane = 0; lane < FERRY_LANES; lane++)
                *out++ = first + lane < N ? width * draw(&m->random) : 0.0f;
    m->panels = out;
    m->file->parameters += (int64_t)N * K;
    return panels;
}

static ferry_status make_matrix(maker *m, int32_t N, int32_t K, ferry_matrix *matrix, ferry_error *error)
{
    *matrix = (ferry_matrix){.N = N, .K = K, .panels = make_panels(m, N, K)};
    return make_vector(m, (size_t)N, 0.0f, spread(K), &matrix->bias, error);
}

static ferry_status make_norm(maker *m, ferry_norm *norm, ferry_error *error)
{
    const size_t D = (size_t)m->file->transformer.d_model;
    FERRY_TRY(make_vector(m, D, 1.0f, 0.0f, &norm->weight, error));
    return make_vector(m, D, 0.0f, 0.0f, &norm->bias, error);
}

/* ---- stacks ---- */

static ferry_status make_attention(maker *m, ferry_attention_weights *weights, ferry_error *error)
{
    const int32_t D = m->file->transformer.d_model;
    FERRY_TRY(make_matrix(m, D, D, &weights->q, error));
    FERRY_TRY(make_matrix(m, D, D, &weights->k, error));
    FERRY_TRY(make_matrix(m, D, D, &weights->v, error));
    return make_matrix(m, D, D, &weights->out, error);
}

static ferry_status make_layer(maker *m, bool decoder, int32_t ffn_width, ferry_layer *layer, ferry_error *error)
{
    const int32_t D = m->file->transformer.d_model;
    memset(layer, 0, sizeof *layer);
    FERRY_TRY(make_attention(m, &layer->self, error));
    FERRY_TRY(make_norm(m, &layer->self_norm, error));
    if (decoder) {
        FERRY_TRY(make_attention(m, &layer->cross, error));
        FERRY_TRY(make_norm(m, &layer->cross_norm, error));
    }
    FERRY_TRY(make_matrix(m, ffn_width, D, &layer->ffn_up, error));
    FERRY_TRY(make_matrix(m, D, ffn_width, &layer->ffn_down, error));
    return make_norm(m, &layer->ffn_norm, error);
}

static ferry_status make_stack(maker *m, ferry_stack *stack, ferry_error *error)
{
    const bool decoder = stack == &m->file->transformer.decoder;
    const size_t count = (size_t)stack->layer_count;
    stack->layers = ferry_arena_alloc(&m->file->arena, count, sizeof *stack->layers);
    if (stack->layers == NULL) return ferry_fail_memory(error, "the layers of a model", count * sizeof *stack->layers);
    for (size_t i = 0; i < count; i++) FERRY_TRY(make_layer(m, decoder, stack->ffn_width, &stack->layers[i], error));
    return FERRY_OK;
}

/* ---- positions ---- */

typedef struct position_user {
    maker *maker;
    const ferry_position_parameter *usual;
} position_user;

static const ferry_position_parameter *find_usual(const position_user *user, const char *key)
{
    for (const ferry_position_parameter *p = user->usual; p != NULL && p->key != NULL; p++)
        if (strcmp(p->key, key) == 0) return p;
    return NULL;
}

static bool usual_text(void *user, const char *key, ferry_view *value)
{
    const ferry_position_parameter *parameter = find_usual(user, key);
    if (parameter == NULL || parameter->text == NULL) return false;
    *value = (ferry_view){parameter->text, strlen(parameter->text)};
    return true;
}

static bool usual_real(void *user, const char *key, double *value)
{
    const ferry_position_parameter *parameter = find_usual(user, key);
    if (parameter == NULL || parameter->text != NULL) return false;
    *value = parameter->number;
    return true;
}

static bool usual_integer(void *user, const char *key, int64_t *value)
{
    double number;
    if (!usual_real(user, key, &number) || number != floor(number)) return false;
    *value = (int64_t)number;
    return true;
}

static ferry_status make_tensor(void *user, const char *name, int32_t layer, int32_t dims, const int64_t *shape,
                                const float **data, ferry_error *error)
{
    (void)name;
    (void)layer;
    size_t count = 1;
    for (int32_t i = 0; i < dims; i++)
        if (!ferry_mul_size(count, (size_t)shape[i], &count)) return ferry_fail_memory(error, "weights", SIZE_MAX);
    return make_vector(((position_user *)user)->maker, count, 0.0f, spread(shape[dims - 1]), data, error);
}

static ferry_status bind_position(maker *m, const char *encoding, ferry_stack *stack, ferry_error *error)
{
    const ferry_view name = {encoding, strlen(encoding)};
    const ferry_position_scheme *scheme = ferry_position_find(name);
    position_user user = {m, scheme != NULL ? scheme->usual : NULL};
    const ferry_position_source source = {&user, usual_text, usual_integer, usual_real, make_tensor};
    const ferry_position_stack place = {
        .layers = stack->layer_count,
        .d_model = m->file->transformer.d_model,
        .heads = stack->heads,
        .head_width = stack->head_width,
        .causal = stack->causal,
    };
    ferry_error inner = {0};
    const ferry_status status = ferry_position_bind(name, &place, &source, m->kernels, &stack->position, &inner);
    if (status == FERRY_OK) return FERRY_OK;
    /* Nothing was read: what does not fit is the shape. */
    return ferry_fail(error, status == FERRY_ERROR_FORMAT ? FERRY_ERROR_ARGUMENT : status, "an untrained model: %s",
                      inner.message);
}

/* ---- the whole ---- */

static ferry_status check_size(const char *name, int32_t value, int32_t least, int32_t most, ferry_error *error)
{
    if (value >= least && value <= most) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected %d to %d, found %d", name, (int)least, (int)most,
                      (int)value);
}

static ferry_status check_shape(const ferry_inspect_shape *shape, ferry_error *error)
{
    FERRY_TRY(check_size("d_model", shape->d_model, 1, MAX_WIDTH, error));
    FERRY_TRY(check_size("heads", shape->heads, 1, shape->d_model, error));
    FERRY_TRY(check_size("ffn_width", shape->ffn_width, 1, MAX_FFN_WIDTH, error));
    FERRY_TRY(check_size("encoder_layers", shape->encoder_layers, 1, MAX_LAYERS, error));
    FERRY_TRY(check_size("decoder_layers", shape->decoder_layers, 1, MAX_LAYERS, error));
    FERRY_TRY(check_size("vocab", shape->vocab, PADDING + 2, MAX_VOCABULARY, error));
    if (shape->d_model % shape->heads == 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "heads: expected a divisor of d_model %d, found %d",
                      (int)shape->d_model, (int)shape->heads);
}

/* Matrices of encoder, decoder and embedding. In 64 bits the checked sizes cannot overflow. */
static uint64_t panel_bytes(const ferry_inspect_shape *shape)
{
    const uint64_t attention = 4 * (uint64_t)ferry_panels_count(shape->d_model, shape->d_model);
    const uint64_t ffn = (uint64_t)ferry_panels_count(shape->ffn_width, shape->d_model) +
                         (uint64_t)ferry_panels_count(shape->d_model, shape->ffn_width);
    return sizeof(float) * ((uint64_t)shape->encoder_layers * (attention + ffn) +
                            (uint64_t)shape->decoder_layers * (2 * attention + ffn) +
                            (uint64_t)ferry_panels_count(shape->vocab, shape->d_model));
}

static ferry_stack stack_of(const ferry_inspect_shape *shape, int32_t layers)
{
    const int32_t head_width = shape->d_model / shape->heads;
    return (ferry_stack){
        .layer_count = layers,
        .heads = shape->heads,
        .head_width = head_width,
        .ffn_width = shape->ffn_width,
        .activation = FERRY_RELU,
        .norm_eps = 1e-5f,
        .attention_scale = 1.0f / sqrtf((float)head_width),
        .vocab_size = shape->vocab,
    };
}

/* No sentence ends by itself, so that every length can be asked for. */
static void configure(ferry_model_file *file, const ferry_inspect_shape *shape)
{
    static const char name[] = "untrained";
    static const int32_t eos_ids[] = {END}, never[] = {END, PADDING};
    file->name = (ferry_view){name, sizeof name - 1};
    file->type = FERRY_F32;
    file->transformer = (ferry_transformer){
        .d_model = shape->d_model,
        .embedding_scale = sqrtf((float)shape->d_model),
        .encoder = stack_of(shape, shape->encoder_layers),
        .decoder = stack_of(shape, shape->decoder_layers),
        .output_scale = 1.0f,
    };
    file->transformer.decoder.causal = true;
    file->generation = (ferry_generation){
        .start_id = PADDING,
        .eos_ids = eos_ids,
        .eos_count = 1,
        .pad_id = PADDING,
        .alignment_layer = -1,
        .alignment_head = -1,
        .decoding = {.size = sizeof(ferry_options),
                     .beam = 1,
                     .nbest = 1,
                     .scores = 1,
                     .threads = 1,
                     .batch = 64,
                     .length_factor = 3.0f,
                     .length_extra = 50,
                     .length_penalty = 1.0f,
                     .repetition_penalty = 1.0f,
                     .forced_first_id = -1,
                     .forced_last_id = -1,
                     .suppressed_ids = never,
                     .suppressed_count = 2},
    };
}

static ferry_status reserve_panels(maker *m, const ferry_inspect_shape *shape, ferry_error *error)
{
    const uint64_t bytes = panel_bytes(shape);
    if (bytes > SIZE_MAX / 2) return ferry_fail_memory(error, "the model's matrices", SIZE_MAX);
    FERRY_TRY(ferry_model_file_reserve(m->file, (size_t)bytes, error));
    m->panels = m->file->widened;
    return FERRY_OK;
}

/* The positions come last: models of different encodings share all other weights. */
static ferry_status make_model(maker *m, const char *encoding, const ferry_inspect_shape *shape, ferry_error *error)
{
    ferry_transformer *model = &m->file->transformer;
    configure(m->file, shape);
    FERRY_TRY(reserve_panels(m, shape, error));
    model->output = (ferry_matrix){.N = shape->vocab, .K = shape->d_model};
    model->output.panels = make_panels(m, shape->vocab, shape->d_model);
    model->decoder.embedding = model->encoder.embedding = model->output;
    FERRY_TRY(make_stack(m, &model->encoder, error));
    FERRY_TRY(make_stack(m, &model->decoder, error));
    FERRY_TRY(bind_position(m, encoding, &model->encoder, error));
    return bind_position(m, encoding, &model->decoder, error);
}

const char *ferry_inspect_encoding(size_t index)
{
    const ferry_position_scheme *scheme = ferry_position_at(index);
    return scheme != NULL ? scheme->name : NULL;
}

ferry_status ferry_inspect_untrained(const char *encoding, const ferry_inspect_shape *shape, const char *isa,
                                     ferry_model **model, ferry_error *error)
{
    *model = NULL;
    FERRY_TRY(check_shape(shape, error));
    const ferry_kernels *kernels;
    FERRY_TRY(ferry_model_find_kernels(isa, &kernels, error));
    ferry_model *made = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a model", sizeof *made);
    made->kernels = kernels;
    maker m = {.file = &made->file, .kernels = kernels, .random = 1};
    const ferry_status status = make_model(&m, encoding, shape, error);
    if (status != FERRY_OK) {
        ferry_model_close(made);
        return status;
    }
    *model = made;
    return FERRY_OK;
}
