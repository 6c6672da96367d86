/* Models opened for research: a file with other positions, and a synthetic model. */
#include <math.h>
#include <string.h>

#include "base/system.h"
#include "engine/api/argument_checks.h"
#include "engine/api/info.h"
#include "engine/lines/model.h"
#include "engine/api/opening.h"
#include "engine/ferry_inspect.h"
#include "engine/file/schema.h"
#include "engine/kernels/linear.h"

/* ---- other parameters of positional encodings than those of the file ---- */

typedef struct override {
    const ferry_position *own; /* as the file has it */
    const char *words;         /* "theta=40000 scaling=linear" */
} override;

/* The text after "key=" in the words; NULL: the key is absent. */
static const char *find_word(const char *words, const char *key, size_t *length)
{
    const size_t size = strlen(key);
    for (const char *word = words; *word != '\0'; word += *length + (word[*length] == ' ')) {
        *length = strcspn(word, " ");
        if (strncmp(word, key, size) != 0 || word[size] != '=') continue;
        *length -= size + 1;
        return word + size + 1;
    }
    return NULL;
}

static bool find_parameter(void *user, const ferry_position_parameter *declared, ferry_view *text, double *number)
{
    const override *o = user;
    size_t length = 0;
    char *end;
    const char *word = find_word(o->words, declared->key, &length);
    if (word == NULL) { /* as the file has it */
        const size_t i = (size_t)(declared - o->own->scheme->parameters);
        if (!ferry_position_has(o->own, i)) return false;
        *number = o->own->values[i];
        if (declared->kind == FERRY_POSITION_CHOICE) *text = ferry_text_view(declared->choices[(int)*number]);
        return true;
    }
    *text = (ferry_view){word, length};
    const double value = ferry_parse_double(word, &end);
    const bool fits =
        declared->kind == FERRY_POSITION_REAL || (value >= -1e15 && value <= 1e15 && (double)(int64_t)value == value);
    if (length > 0 && end == word + length && fits) *number = value;
    return true;
}

static ferry_status find_tensor(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                                const int64_t *shape, const float **data, ferry_error *error)
{
    (void)user, (void)layer, (void)dims, (void)shape, (void)data;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "needs the tensor '%s', which the model lacks", declared->name);
}

static ferry_status bind_again(ferry_model *model, ferry_position *own, const char *words, ferry_error *error)
{
    override o = {own, words};
    const ferry_position_source source = {&o, find_parameter, find_tensor};
    ferry_position changed;
    ferry_error inner = {0};
    const ferry_status status =
        ferry_position_bind(ferry_text_view(own->scheme->name), &own->stack, &source, model->kernels, &changed, &inner);
    if (status == FERRY_ERROR_MEMORY) return ferry_fail(error, status, "%s", inner.message);
    if (status != FERRY_OK) return ferry_fail_argument(error, "position", "'%s': %s", words, inner.message);
    ferry_position_unbind(own);
    *own = changed;
    return FERRY_OK;
}

static ferry_status change_positions(ferry_model *model, const char *words, ferry_error *error)
{
    ferry_position *const both[] = {&model->file.transformer.encoder.position,
                                    &model->file.transformer.decoder.position};
    ferry_position *changed[2];
    int count = 0;
    for (int i = 0; i < 2; i++) {
        /* An encoding with weights keeps its parameters. */
        if (both[i]->scheme->parameters == NULL || ferry_position_has_weights(both[i])) continue;
        FERRY_TRY(bind_again(model, both[i], words, error));
        changed[count++] = both[i];
    }
    for (const char *word = words; *word != '\0'; word += strcspn(word, " "), word += *word == ' ') {
        const ferry_view key = {word, strcspn(word, "= ")};
        bool taken = false;
        for (int i = 0; i < count && word[key.size] == '='; i++) {
            const size_t parameter = ferry_position_parameter_index(changed[i], key);
            taken = taken || (changed[i]->scheme->parameters[parameter].key != NULL &&
                              ferry_position_has(changed[i], parameter));
        }
        if (!taken)
            return ferry_fail_argument(error, "position",
                                       "'%s': the model's encodings have no parameter that '%.*s' could change", words,
                                       (int)strcspn(word, " "), word);
    }
    return ferry_model_info_create(model, error);
}

/* The kernels that `isa` names (NULL or "": the best of this machine); ARGUMENT when they cannot run here. */
static ferry_status find_kernels(const char *isa, const ferry_kernels **kernels, ferry_error *error)
{
    *kernels = ferry_kernels_find(isa);
    if (*kernels != NULL) return FERRY_OK;
    return ferry_fail_argument(error, "isa", "expected kernels that this machine can run, found '%s'", isa);
}

ferry_status ferry_inspect_open(const char *path, const char *isa, const char *position, ferry_model **model,
                                ferry_error *error)
{
    const ferry_kernels *kernels;
    ferry_mapped_file map;
    FERRY_NEEDS(model);
    *model = NULL;
    FERRY_NEEDS(path);
    FERRY_TRY(find_kernels(isa, &kernels, error));
    FERRY_TRY(ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &map, error));
    FERRY_TRY(ferry_model_create(map, path, kernels, model, error));
    const ferry_status status = position != NULL ? change_positions(*model, position, error) : FERRY_OK;
    if (status == FERRY_OK) return FERRY_OK;
    ferry_model_close(*model);
    *model = NULL;
    return status;
}

ferry_status ferry_inspect_open_fd(int fd, const char *name, const char *isa, ferry_model **model, ferry_error *error)
{
    const ferry_kernels *kernels;
    ferry_mapped_file map;
    FERRY_NEEDS(model);
    *model = NULL;
    FERRY_NEEDS(name);
    if (fd < 0) return ferry_fail_argument(error, "fd", "expected an open file, found %d", fd);
    FERRY_TRY(find_kernels(isa, &kernels, error));
    FERRY_TRY(ferry_mapped_file_open_part(fd, name, 0, 0, FERRY_FILE_MAPPED, &map, error));
    return ferry_model_create(map, name, kernels, model, error);
}

/* ---- a synthetic model: random weights, everything else as in the Transformer of Vaswani et al. 2017 ---- */

enum { END = 0, PADDING = 1 }; /* ids */

typedef struct maker {
    ferry_model_file *file;
    const ferry_kernels *kernels;
    uint64_t random;
    float *panels; /* the unused part of file->widened */
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
    if (values == NULL) return ferry_fail_memory(error, "weights", n, sizeof *values);
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

/* ---- stacks ---- */

static ferry_status make_stack(maker *m, ferry_stack *stack, ferry_error *error)
{
    const ferry_transformer *model = &m->file->transformer;
    const size_t count = (size_t)stack->layer_count, D = (size_t)model->d_model;
    stack->layers = ferry_arena_alloc(&m->file->arena, count, sizeof *stack->layers);
    if (stack->layers == NULL) return ferry_fail_memory(error, "the layers of a model", count, sizeof *stack->layers);
    memset(stack->layers, 0, count * sizeof *stack->layers);
    for (size_t i = 0; i < count; i++)
        for (const ferry_tensor_row *row = ferry_layer_tensors; row->name != NULL; row++) {
            void *target = ferry_tensor_target(row, &stack->layers[i]);
            if (!ferry_tensor_applies(row, model, stack)) continue;
            if (row->form == FERRY_TENSOR_NORM) {
                ferry_norm *norm = target;
                FERRY_TRY(make_vector(m, D, 1.0f, 0.0f, &norm->weight, error));
                FERRY_TRY(make_vector(m, D, 0.0f, 0.0f, &norm->bias, error));
            } else {
                const int32_t N = ferry_tensor_size(row->N, model, stack), K = ferry_tensor_size(row->K, model, stack);
                ferry_matrix *matrix = target;
                *matrix = (ferry_matrix){.N = N, .K = K, .panels = make_panels(m, N, K)};
                FERRY_TRY(make_vector(m, (size_t)N, 0.0f, spread(K), &matrix->bias, error));
            }
        }
    return FERRY_OK;
}

/* ---- positions ---- */

static ferry_status make_tensor(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                                const int64_t *shape, const float **data, ferry_error *error)
{
    (void)layer;
    const float min = declared->default_min, max = declared->default_max;
    size_t count = 1;
    for (int32_t i = 0; i < dims; i++)
        if (!ferry_mul_size(count, (size_t)shape[i], &count)) return ferry_fail_memory(error, "weights", SIZE_MAX, 1);
    if (min == 0.0f && max == 0.0f) return make_vector(user, count, 0.0f, spread(shape[dims - 1]), data, error);
    return make_vector(user, count, (min + max) / 2, (max - min) / 2, data, error);
}

static ferry_status bind_position(maker *m, const char *encoding, ferry_stack *stack, ferry_error *error)
{
    const ferry_position_source source = {.user = m, .tensor = make_tensor}; /* default parameters */
    const ferry_position_stack sizes = ferry_position_stack_of(stack, m->file->transformer.d_model);
    ferry_error inner = {0};
    const ferry_status status =
        ferry_position_bind(ferry_text_view(encoding), &sizes, &source, m->kernels, &stack->position, &inner);
    if (status == FERRY_OK) return FERRY_OK;
    /* No file was read. */
    if (status == FERRY_ERROR_FORMAT) return ferry_fail_argument(error, "shape", "%s", inner.message);
    return ferry_fail(error, status, "an untrained model: %s", inner.message);
}

/* ---- the model ---- */

/* Each size of the shape, against the limit of the stack's key, or d_model's. */
static ferry_status check_shape(const ferry_inspect_shape *shape, ferry_error *error)
{
    const struct {
        const char *name, *key;
        int32_t value, min;
    } sizes[] = {
        {"d_model", "d_model", shape->d_model, 1},
        {"heads", "heads", shape->heads, 1},
        {"ffn_width", "ffn_width", shape->ffn_width, 1},
        {"encoder_layers", "layers", shape->encoder_layers, 1},
        {"decoder_layers", "layers", shape->decoder_layers, 1},
        {"vocab", "vocab_size", shape->vocab, PADDING + 2},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const ferry_key *key = ferry_schema_find(FERRY_KEYS_ENCODER, sizes[i].key);
        if (key == NULL) key = ferry_schema_find(FERRY_KEYS_GRAPH, sizes[i].key);
        if (sizes[i].value < sizes[i].min || sizes[i].value > key->max)
            return ferry_fail_argument(error, sizes[i].name, "expected %d to %.0f, found %d", (int)sizes[i].min,
                                       key->max, (int)sizes[i].value);
    }
    if (shape->d_model % shape->heads == 0) return FERRY_OK;
    return ferry_fail_argument(error, "heads", "expected a divisor of d_model %d, found %d", (int)shape->d_model,
                               (int)shape->heads);
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
        .linear_bias = true,
        .vocab_size = shape->vocab,
    };
}

/* The end of sentence is suppressed, so that every length can be generated. */
static void configure(ferry_model_file *file, const ferry_inspect_shape *shape)
{
    static const char name[] = "untrained";
    static const int32_t eos_ids[] = {END}, never[] = {END, PADDING};
    file->name = (ferry_view){name, sizeof name - 1};
    file->type = FERRY_F32;
    ferry_schema_defaults(&(ferry_schema_values){.transformer = &file->transformer,
                                                 .generation = &file->generation,
                                                 .text = &file->text,
                                                 .languages = &file->languages,
                                                 .origin = &file->origin});
    file->transformer = (ferry_transformer){
        .d_model = shape->d_model,
        .embedding_scale = sqrtf((float)shape->d_model),
        .encoder = stack_of(shape, shape->encoder_layers),
        .decoder = stack_of(shape, shape->decoder_layers),
        .output_scale = 1.0f,
    };
    file->transformer.decoder.causal = true;
    file->generation.start_id = file->generation.pad_id = PADDING;
    file->generation.eos_ids = eos_ids;
    file->generation.eos_count = 1;
    file->generation.decoding.search.suppressed_ids = never;
    file->generation.decoding.search.suppressed_count = 2;
}

/* The positions come last: models of different encodings share all other weights. */
static ferry_status make_model(maker *m, const char *encoding, const ferry_inspect_shape *shape, ferry_error *error)
{
    ferry_transformer *model = &m->file->transformer;
    /* Matrices of encoder, decoder and embedding. In 64 bits the checked sizes cannot overflow. */
    const int32_t D = shape->d_model, F = shape->ffn_width;
    const uint64_t attention = 4 * (uint64_t)ferry_panels_count(D, D);
    const uint64_t ffn = (uint64_t)ferry_panels_count(F, D) + (uint64_t)ferry_panels_count(D, F);
    const uint64_t bytes = sizeof(float) * ((uint64_t)shape->encoder_layers * (attention + ffn) +
                                            (uint64_t)shape->decoder_layers * (2 * attention + ffn) +
                                            (uint64_t)ferry_panels_count(shape->vocab, D));
    configure(m->file, shape);
    if (bytes > SIZE_MAX / 2) return ferry_fail_memory(error, "the model's matrices", SIZE_MAX, 1);
    FERRY_TRY(ferry_model_file_reserve(m->file, (size_t)bytes, error));
    m->panels = m->file->widened;
    model->output = (ferry_matrix){.N = shape->vocab, .K = D, .panels = make_panels(m, shape->vocab, D)};
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
    FERRY_FENV;
    FERRY_NEEDS(model);
    *model = NULL;
    FERRY_NEEDS(encoding);
    FERRY_NEEDS(shape);
    FERRY_TRY(check_shape(shape, error));
    const ferry_kernels *kernels;
    FERRY_TRY(find_kernels(isa, &kernels, error));
    ferry_model *made = ferry_model_allocate(kernels, error);
    if (made == NULL) return FERRY_ERROR_MEMORY;
    maker m = {.file = &made->file, .kernels = kernels, .random = 1};
    ferry_status status = make_model(&m, encoding, shape, error);
    if (status == FERRY_OK) status = ferry_model_info_create(made, error);
    if (status == FERRY_OK)
        *model = made;
    else
        ferry_model_close(made);
    return status;
}
