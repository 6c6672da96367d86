#include "bind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

enum {
    MAX_LAYERS = 1024,
    MAX_HEADS = 4096,
    MAX_WIDTH = 1 << 16,
    MAX_FFN_WIDTH = 1 << 20,
    MAX_VOCABULARY = 1 << 24,
    MAX_TARGET = 1 << 20,
    MAX_BEAM = 1024
};

/* One stack's place in the file: "ferry.encoder.heads", "enc.blk.0.attn_q.weight". */
typedef struct stack_section {
    const char *keys;    /* "encoder" */
    const char *tensors; /* "enc" */
} stack_section;

static const stack_section encoder_section = {"encoder", "enc"};
static const stack_section decoder_section = {"decoder", "dec"};

typedef struct model_binder {
    ferry_model_file *file;
    const ferry_gguf *gguf;
    const ferry_kernels *kernels;
    bool *used; /* [gguf->tensor_count] */
    ferry_widening *widenings;
    size_t widening_count;
} model_binder;

typedef struct short_text {
    char text[96];
} short_text;

static short_text stack_key(const stack_section *section, const char *key)
{
    short_text result;
    snprintf(result.text, sizeof result.text, "ferry.%s.%s", section->keys, key);
    return result;
}

static short_text tensor_name(const stack_section *section, int32_t layer, const char *what, const char *part)
{
    short_text result;
    if (layer < 0) {
        snprintf(result.text, sizeof result.text, "%s.%s.%s", section->tensors, what, part);
    } else {
        snprintf(result.text, sizeof result.text, "%s.blk.%" PRId32 ".%s.%s", section->tensors, layer, what, part);
    }
    return result;
}

/* ---- tensors ---- */

static ferry_status find_tensor(model_binder *binder, const char *name, int32_t dims, const int64_t *shape,
                                const ferry_tensor **tensor, ferry_error *error)
{
    const char *file = binder->gguf->file;
    *tensor = ferry_gguf_tensor(binder->gguf, name);
    if (*tensor == NULL) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is missing", file, name);
    binder->used[*tensor - binder->gguf->tensors] = true;
    bool equal = (*tensor)->dims == dims;
    for (int32_t i = 0; equal && i < dims; i++) equal = (*tensor)->shape[i] == shape[i];
    if (equal) return FERRY_OK;
    ferry_tensor expected = {.dims = dims};
    memcpy(expected.shape, shape, (size_t)dims * sizeof *shape);
    char wanted[100], found[100];
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected shape %s, found %s", file, name,
                      ferry_tensor_shape_text(&expected, wanted, sizeof wanted),
                      ferry_tensor_shape_text(*tensor, found, sizeof found));
}

static ferry_status find_f32(model_binder *binder, const char *name, int32_t dims, const int64_t *shape,
                             const float **data, ferry_error *error)
{
    const ferry_tensor *tensor;
    FERRY_TRY(find_tensor(binder, name, dims, shape, &tensor, error));
    if (tensor->type != FERRY_F32) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected f32, found %s", binder->gguf->file,
                          name, ferry_type_name(tensor->type));
    }
    *data = tensor->data;
    binder->file->parameters += ferry_tensor_count(tensor);
    return FERRY_OK;
}

static ferry_status bind_vector(model_binder *binder, const char *name, int32_t n, const float **data,
                                ferry_error *error)
{
    const int64_t shape[] = {n};
    return find_f32(binder, name, 1, shape, data, error);
}

/* panels of [N, K] */
static ferry_status bind_panels(model_binder *binder, const char *name, int32_t N, int32_t K, const float **panels,
                                ferry_error *error)
{
    const int64_t shape[] = {(N + FERRY_LANES - 1) / FERRY_LANES, K, FERRY_LANES};
    const ferry_tensor *tensor;
    FERRY_TRY(find_tensor(binder, name, 3, shape, &tensor, error));
    binder->file->parameters += (int64_t)N * K;
    binder->file->type = tensor->type;
    if (tensor->type == FERRY_F32) {
        *panels = tensor->data;
        return FERRY_OK;
    }
    if (tensor->type != FERRY_F16) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': expected f32 or f16, found %s",
                          binder->gguf->file, name, ferry_type_name(tensor->type));
    }
    binder->widenings[binder->widening_count++] = (ferry_widening){tensor, panels};
    return FERRY_OK;
}

static ferry_status bind_matrix(model_binder *binder, const stack_section *section, int32_t layer, const char *what,
                                bool bias, int32_t N, int32_t K, ferry_matrix *matrix, ferry_error *error)
{
    matrix->N = N;
    matrix->K = K;
    const short_text weight = tensor_name(section, layer, what, "weight");
    FERRY_TRY(bind_panels(binder, weight.text, N, K, &matrix->panels, error));
    if (!bias) return FERRY_OK;
    return bind_vector(binder, tensor_name(section, layer, what, "bias").text, N, &matrix->bias, error);
}

static ferry_status bind_norm(model_binder *binder, const stack_section *section, int32_t layer, const char *what,
                              ferry_norm *norm, ferry_error *error)
{
    const int32_t D = binder->file->transformer.d_model;
    FERRY_TRY(bind_vector(binder, tensor_name(section, layer, what, "weight").text, D, &norm->weight, error));
    return bind_vector(binder, tensor_name(section, layer, what, "bias").text, D, &norm->bias, error);
}

static ferry_status check_leftovers(const model_binder *binder, ferry_error *error)
{
    for (size_t i = 0; i < binder->gguf->tensor_count; i++) {
        if (!binder->used[i]) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is unknown", binder->gguf->file,
                              ferry_printable_view(binder->gguf->tensors[i].name).text);
        }
    }
    return FERRY_OK;
}

/* ---- choices ---- */

static bool text_is(ferry_view view, const char *text)
{
    return ferry_view_equal(view, (ferry_view){text, strlen(text)});
}

/* Reads a text key that must be one of `choices`, NULL-terminated, and gives its index. */
static ferry_status get_choice(const ferry_gguf *gguf, const char *key, const char *const *choices, int32_t *choice,
                               ferry_error *error)
{
    ferry_view text;
    FERRY_TRY(ferry_gguf_get_text(gguf, key, &text, error));
    for (*choice = 0; choices[*choice] != NULL; ++*choice) {
        if (text_is(text, choices[*choice])) return FERRY_OK;
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: key '%s': '%s' is not supported by this build", gguf->file,
                      key, ferry_printable_view(text).text);
}

static ferry_status get_stack_choice(const model_binder *binder, const stack_section *section, const char *key,
                                     const char *const *choices, int32_t *choice, ferry_error *error)
{
    return get_choice(binder->gguf, stack_key(section, key).text, choices, choice, error);
}

static ferry_status get_size(const model_binder *binder, const stack_section *section, const char *key, int32_t most,
                             int32_t *size, ferry_error *error)
{
    return ferry_gguf_get_i32(binder->gguf, stack_key(section, key).text, 1, most, size, error);
}

/* ---- positions ---- */

typedef struct position_user {
    model_binder *binder;
    const stack_section *section;
} position_user;

static short_text position_key(const position_user *user, const char *key)
{
    short_text result;
    snprintf(result.text, sizeof result.text, "ferry.%s.position.%s", user->section->keys, key);
    return result;
}

static bool position_text(void *user, const char *key, ferry_view *value)
{
    const position_user *position = user;
    return ferry_gguf_get_text(position->binder->gguf, position_key(position, key).text, value, NULL) == FERRY_OK;
}

static bool position_integer(void *user, const char *key, int64_t *value)
{
    const position_user *position = user;
    return ferry_gguf_get_integer(position->binder->gguf, position_key(position, key).text, INT64_MIN, INT64_MAX, value,
                                  NULL) == FERRY_OK;
}

static bool position_real(void *user, const char *key, double *value)
{
    const position_user *position = user;
    float number;
    if (ferry_gguf_get_f32(position->binder->gguf, position_key(position, key).text, &number, NULL) != FERRY_OK)
        return false;
    *value = (double)number;
    return true;
}

static ferry_status position_tensor(void *user, const char *what, int32_t layer, int32_t dims, const int64_t *shape,
                                    const float **data, ferry_error *error)
{
    const position_user *position = user;
    return find_f32(position->binder, tensor_name(position->section, layer, "position", what).text, dims, shape, data,
                    error);
}

static ferry_status bind_position(model_binder *binder, const stack_section *section, ferry_stack *stack,
                                  ferry_error *error)
{
    position_user user = {binder, section};
    const ferry_position_source source = {&user, position_text, position_integer, position_real, position_tensor};
    const ferry_position_stack place = {
        .layers = stack->layer_count,
        .d_model = binder->file->transformer.d_model,
        .heads = stack->heads,
        .head_width = stack->head_width,
        .causal = section == &decoder_section,
    };
    ferry_view type;
    ferry_error inner = {0};
    FERRY_TRY(ferry_gguf_get_text(binder->gguf, stack_key(section, "position.type").text, &type, error));
    ferry_status status = ferry_position_bind(type, &place, &source, binder->kernels, &stack->position, &inner);
    if (status == FERRY_OK) return FERRY_OK;
    return ferry_fail(error, status, "%s: ferry.%s.position: %s", binder->gguf->file, section->keys, inner.message);
}

/* ---- stacks ---- */

static ferry_status bind_stack_sizes(model_binder *binder, const stack_section *section, ferry_stack *stack,
                                     ferry_error *error)
{
    FERRY_TRY(get_size(binder, section, "layers", MAX_LAYERS, &stack->layer_count, error));
    FERRY_TRY(get_size(binder, section, "heads", MAX_HEADS, &stack->heads, error));
    FERRY_TRY(get_size(binder, section, "head_width", MAX_WIDTH, &stack->head_width, error));
    FERRY_TRY(get_size(binder, section, "ffn_width", MAX_FFN_WIDTH, &stack->ffn_width, error));
    FERRY_TRY(get_size(binder, section, "vocab_size", MAX_VOCABULARY, &stack->vocab_size, error));
    if (stack->heads > MAX_FFN_WIDTH / stack->head_width) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: ferry.%s: %d heads of width %d are more than %d wide",
                          binder->gguf->file, section->keys, stack->heads, stack->head_width, MAX_FFN_WIDTH);
    }
    return FERRY_OK;
}

static ferry_status bind_stack_choices(model_binder *binder, const stack_section *section, ferry_stack *stack,
                                       ferry_error *error)
{
    static const char *const activations[] = {
        [FERRY_RELU] = "relu", [FERRY_GELU] = "gelu", [FERRY_SWISH] = "swish", NULL};
    static const char *const norms[] = {"layernorm", NULL};
    static const char *const places[] = {"post", "pre", NULL};
    int32_t choice;
    bool final_norm;
    FERRY_TRY(get_stack_choice(binder, section, "activation", activations, &choice, error));
    stack->activation = (ferry_activation)choice;
    FERRY_TRY(get_stack_choice(binder, section, "norm", norms, &choice, error));
    FERRY_TRY(get_stack_choice(binder, section, "norm_position", places, &choice, error));
    stack->pre_norm = choice == 1;
    FERRY_TRY(ferry_gguf_get_bool(binder->gguf, stack_key(section, "final_norm").text, &final_norm, error));
    if (final_norm != stack->pre_norm) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: ferry.%s.final_norm: a %s-norm stack with%s a final norm is not supported by this build",
                          binder->gguf->file, section->keys, places[choice], final_norm ? "" : "out");
    }
    FERRY_TRY(ferry_gguf_get_f32(binder->gguf, stack_key(section, "norm_eps").text, &stack->norm_eps, error));
    if (stack->norm_eps <= 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: ferry.%s.norm_eps: expected a positive number, found %g",
                          binder->gguf->file, section->keys, (double)stack->norm_eps);
    }
    return ferry_gguf_get_f32(binder->gguf, stack_key(section, "attention_scale").text, &stack->attention_scale, error);
}

static ferry_status bind_attention(model_binder *binder, const stack_section *section, int32_t layer,
                                   const char *prefix, bool bias, const ferry_stack *stack,
                                   ferry_attention_weights *attention, ferry_error *error)
{
    const int32_t D = binder->file->transformer.d_model;
    const int32_t inner = stack->heads * stack->head_width;
    const char *const suffixes[] = {"q", "k", "v", "o"};
    ferry_matrix *const matrices[] = {&attention->q, &attention->k, &attention->v, &attention->out};
    for (int i = 0; i < 4; i++) {
        char what[32];
        snprintf(what, sizeof what, "%s_%s", prefix, suffixes[i]);
        const bool out = i == 3;
        FERRY_TRY(
            bind_matrix(binder, section, layer, what, bias, out ? D : inner, out ? inner : D, matrices[i], error));
    }
    return FERRY_OK;
}

static ferry_status bind_layer(model_binder *binder, const stack_section *section, int32_t i, bool bias,
                               const ferry_stack *stack, ferry_layer *layer, ferry_error *error)
{
    const int32_t D = binder->file->transformer.d_model;
    FERRY_TRY(bind_attention(binder, section, i, "attn", bias, stack, &layer->self, error));
    FERRY_TRY(bind_norm(binder, section, i, "attn_norm", &layer->self_norm, error));
    if (section == &decoder_section) {
        FERRY_TRY(bind_attention(binder, section, i, "cross_attn", bias, stack, &layer->cross, error));
        FERRY_TRY(bind_norm(binder, section, i, "cross_attn_norm", &layer->cross_norm, error));
    }
    FERRY_TRY(bind_matrix(binder, section, i, "ffn_up", bias, stack->ffn_width, D, &layer->ffn_up, error));
    FERRY_TRY(bind_matrix(binder, section, i, "ffn_down", bias, D, stack->ffn_width, &layer->ffn_down, error));
    return bind_norm(binder, section, i, "ffn_norm", &layer->ffn_norm, error);
}

static ferry_status bind_stack(model_binder *binder, const stack_section *section, ferry_stack *stack,
                               ferry_error *error)
{
    bool bias;
    FERRY_TRY(bind_stack_choices(binder, section, stack, error));
    FERRY_TRY(ferry_gguf_get_bool(binder->gguf, stack_key(section, "linear_bias").text, &bias, error));
    FERRY_TRY(bind_position(binder, section, stack, error));
    const size_t bytes = (size_t)stack->layer_count * sizeof *stack->layers;
    stack->layers = ferry_arena_alloc(&binder->file->arena, (size_t)stack->layer_count, sizeof *stack->layers);
    if (stack->layers == NULL) return ferry_fail_memory(error, "the layers of a model", bytes);
    memset(stack->layers, 0, bytes);
    for (int32_t i = 0; i < stack->layer_count; i++) {
        FERRY_TRY(bind_layer(binder, section, i, bias, stack, &stack->layers[i], error));
    }
    if (!stack->pre_norm) return FERRY_OK;
    return bind_norm(binder, section, -1, "output_norm", &stack->final_norm, error);
}

static ferry_status bind_embeddings(model_binder *binder, ferry_error *error)
{
    ferry_transformer *model = &binder->file->transformer;
    ferry_stack *encoder = &model->encoder, *decoder = &model->decoder;
    const int32_t D = model->d_model;
    bool tied;
    FERRY_TRY(ferry_gguf_get_bool(binder->gguf, "ferry.tied_embeddings", &tied, error));
    if (!tied) {
        FERRY_TRY(bind_panels(binder, "enc.token_embd.weight", encoder->vocab_size, D, &encoder->embedding, error));
        return bind_panels(binder, "dec.token_embd.weight", decoder->vocab_size, D, &decoder->embedding, error);
    }
    if (encoder->vocab_size != decoder->vocab_size) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tied embeddings need one vocabulary, found sizes %" PRId32 " and %" PRId32,
                          binder->gguf->file, encoder->vocab_size, decoder->vocab_size);
    }
    return bind_panels(binder, "token_embd.weight", decoder->vocab_size, D, &decoder->embedding, error);
}

static ferry_status bind_output(model_binder *binder, ferry_error *error)
{
    ferry_transformer *model = &binder->file->transformer;
    const int32_t V = model->decoder.vocab_size;
    bool tied, bias;
    FERRY_TRY(ferry_gguf_get_bool(binder->gguf, "ferry.tied_output", &tied, error));
    FERRY_TRY(ferry_gguf_get_bool(binder->gguf, "ferry.output_bias", &bias, error));
    model->output.N = V;
    model->output.K = model->d_model;
    if (!tied) FERRY_TRY(bind_panels(binder, "output.weight", V, model->d_model, &model->output.panels, error));
    return bias ? bind_vector(binder, "output.bias", V, &model->output.bias, error) : FERRY_OK;
}

void ferry_model_tie(ferry_model_file *file)
{
    ferry_transformer *model = &file->transformer;
    if (model->encoder.embedding == NULL) model->encoder.embedding = model->decoder.embedding;
    if (model->output.panels == NULL) model->output.panels = model->decoder.embedding;
}

/* ---- decoding ---- */

static ferry_status bind_ids(model_binder *binder, ferry_error *error)
{
    ferry_transformer *model = &binder->file->transformer;
    const ferry_gguf *gguf = binder->gguf;
    const int32_t last = model->decoder.vocab_size - 1;
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.start_id", 0, last, &model->start_id, error));
    FERRY_TRY(ferry_gguf_get_i32s(gguf, "ferry.eos_ids", 0, last, &binder->file->arena, &model->eos_ids,
                                  &model->eos_count, error));
    if (model->eos_count == 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key 'ferry.eos_ids': expected at least one id", gguf->file);
    }
    return ferry_gguf_get_i32(gguf, "ferry.pad_id", -1, last, &model->pad_id, error);
}

static ferry_status bind_decoding(model_binder *binder, ferry_error *error)
{
    static const char *const policies[] = {"huggingface", NULL};
    static const char *const stopping[] = {[FERRY_EARLY_STOPPING_FALSE] = "false",
                                           [FERRY_EARLY_STOPPING_TRUE] = "true",
                                           [FERRY_EARLY_STOPPING_NEVER] = "never",
                                           NULL};
    ferry_transformer *model = &binder->file->transformer;
    ferry_decoding *decoding = &model->decoding;
    const ferry_gguf *gguf = binder->gguf;
    const int32_t last = model->decoder.vocab_size - 1;
    int32_t choice;
    FERRY_TRY(get_choice(gguf, "ferry.decoding.policy", policies, &choice, error));
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.beam", 1, MAX_BEAM, &decoding->beam, error));
    FERRY_TRY(ferry_gguf_get_f32(gguf, "ferry.decoding.length_penalty", &decoding->length_penalty, error));
    FERRY_TRY(get_choice(gguf, "ferry.decoding.early_stopping", stopping, &choice, error));
    decoding->early_stopping = (ferry_early_stopping)choice;
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.max_length", 0, MAX_TARGET, &decoding->max_length, error));
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.min_length", 0, MAX_TARGET, &decoding->min_length, error));
    FERRY_TRY(ferry_gguf_get_f32(gguf, "ferry.decoding.repetition_penalty", &decoding->repetition_penalty, error));
    if (decoding->repetition_penalty <= 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: key 'ferry.decoding.repetition_penalty': expected a positive number, found %g",
                          gguf->file, (double)decoding->repetition_penalty);
    }
    FERRY_TRY(
        ferry_gguf_get_i32(gguf, "ferry.decoding.no_repeat_ngram", 0, MAX_TARGET, &decoding->no_repeat_ngram, error));
    FERRY_TRY(ferry_gguf_get_bool(gguf, "ferry.decoding.renormalize", &decoding->renormalize, error));
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.forced_first_id", -1, last, &decoding->forced_first_id, error));
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.forced_last_id", -1, last, &decoding->forced_last_id, error));
    return ferry_gguf_get_i32s(gguf, "ferry.decoding.suppressed_ids", 0, last, &binder->file->arena,
                               &decoding->suppressed_ids, &decoding->suppressed_count, error);
}

/* ---- the whole ---- */

static ferry_status bind_everything(model_binder *binder, ferry_error *error)
{
    static const char *const blocks[] = {"attention", NULL};
    ferry_transformer *model = &binder->file->transformer;
    const ferry_gguf *gguf = binder->gguf;
    int32_t choice;
    if (gguf->alignment % FERRY_ARENA_ALIGNMENT != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: general.alignment: expected a multiple of %d, found %zu",
                          gguf->file, FERRY_ARENA_ALIGNMENT, gguf->alignment);
    }
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.d_model", 1, MAX_WIDTH, &model->d_model, error));
    FERRY_TRY(ferry_gguf_get_f32(gguf, "ferry.embedding_scale", &model->embedding_scale, error));
    FERRY_TRY(bind_stack_sizes(binder, &encoder_section, &model->encoder, error));
    FERRY_TRY(bind_stack_sizes(binder, &decoder_section, &model->decoder, error));
    FERRY_TRY(bind_ids(binder, error));
    FERRY_TRY(bind_decoding(binder, error));
    FERRY_TRY(get_choice(gguf, "ferry.decoder.block", blocks, &choice, error));
    FERRY_TRY(bind_embeddings(binder, error));
    FERRY_TRY(bind_stack(binder, &encoder_section, &model->encoder, error));
    FERRY_TRY(bind_stack(binder, &decoder_section, &model->decoder, error));
    FERRY_TRY(bind_output(binder, error));
    return check_leftovers(binder, error);
}

ferry_status ferry_model_bind(ferry_model_file *file, const ferry_kernels *kernels, ferry_widening **widenings,
                              size_t *count, ferry_error *error)
{
    const size_t tensors = file->gguf.tensor_count;
    model_binder binder = {.file = file, .gguf = &file->gguf, .kernels = kernels};
    ferry_status status;
    binder.used = calloc(tensors + 1, sizeof *binder.used);
    binder.widenings = calloc(tensors + 1, sizeof *binder.widenings);
    if (binder.used == NULL || binder.widenings == NULL) {
        status = ferry_fail_memory(error, "the tensors of a model file", tensors);
    } else {
        status = bind_everything(&binder, error);
    }
    free(binder.used);
    *widenings = binder.widenings;
    *count = binder.widening_count;
    return status;
}
