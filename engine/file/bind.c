#include "bind_tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

enum {
    MAX_LAYERS = 1024,
    MAX_HEADS = 4096,
    MAX_WIDTH = 1 << 16,
    MAX_FFN_WIDTH = 1 << 20,
    MAX_VOCABULARY = 1 << 24,
    MAX_TARGET = 1 << 20,
    MAX_BEAM = 1024,
    MAX_LENGTH_FACTOR = 1024
};

static const ferry_bind_section encoder_section = {"encoder", "enc"};
static const ferry_bind_section decoder_section = {"decoder", "dec"};

static ferry_bind_name stack_key(const ferry_bind_section *section, const char *key)
{
    ferry_bind_name result;
    snprintf(result.text, sizeof result.text, "ferry.%s.%s", section->keys, key);
    return result;
}

/* ---- choices ---- */

/* Keys that may be missing: *value stays as it is then. */
static ferry_status get_optional_bool(const ferry_gguf *gguf, const char *key, bool *value, ferry_error *error)
{
    return ferry_gguf_find(gguf, key) != NULL ? ferry_gguf_get_bool(gguf, key, value, error) : FERRY_OK;
}

static ferry_status get_optional_i32(const ferry_gguf *gguf, const char *key, int32_t least, int32_t most,
                                     int32_t *value, ferry_error *error)
{
    return ferry_gguf_find(gguf, key) != NULL ? ferry_gguf_get_i32(gguf, key, least, most, value, error) : FERRY_OK;
}

static ferry_status get_optional_f32(const ferry_gguf *gguf, const char *key, float *value, ferry_error *error)
{
    return ferry_gguf_find(gguf, key) != NULL ? ferry_gguf_get_f32(gguf, key, value, error) : FERRY_OK;
}

static ferry_status check_positive(const ferry_gguf *gguf, const char *key, float value, ferry_error *error)
{
    if (value > 0.0f) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected a positive number, found %g", gguf->file, key,
                      (double)value);
}

ferry_status ferry_model_get_choice(const ferry_gguf *gguf, const char *key, const char *const *choices,
                                    int32_t *choice, ferry_error *error)
{
    ferry_view text;
    FERRY_TRY(ferry_gguf_get_text(gguf, key, &text, error));
    for (*choice = 0; choices[*choice] != NULL; ++*choice) {
        if (ferry_view_is(text, choices[*choice])) return FERRY_OK;
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: key '%s': '%s' is not supported by this build", gguf->file,
                      key, ferry_printable_view(text).text);
}

static ferry_status get_stack_choice(const ferry_binder *binder, const ferry_bind_section *section, const char *key,
                                     const char *const *choices, int32_t *choice, ferry_error *error)
{
    return ferry_model_get_choice(binder->gguf, stack_key(section, key).text, choices, choice, error);
}

static ferry_status get_size(const ferry_binder *binder, const ferry_bind_section *section, const char *key,
                             int32_t most, int32_t *size, ferry_error *error)
{
    return ferry_gguf_get_i32(binder->gguf, stack_key(section, key).text, 1, most, size, error);
}

/* ---- positions ---- */

typedef struct position_user {
    ferry_binder *binder;
    const ferry_bind_section *section;
} position_user;

static ferry_bind_name position_key(const position_user *user, const char *key)
{
    ferry_bind_name result;
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
    return ferry_bind_f32(position->binder, ferry_bind_tensor_name(position->section, layer, "position", what).text,
                          dims, shape, data, error);
}

/* An SSRU has no scores: only what is added to embeddings reaches it. */
static ferry_status check_position(const ferry_binder *binder, const ferry_bind_section *section,
                                   const ferry_stack *stack, ferry_error *error)
{
    const ferry_position_scheme *scheme = stack->position.scheme;
    const bool attends = scheme->rotate != NULL || scheme->score != NULL || scheme->context != NULL;
    if (section != &decoder_section || !binder->file->transformer.ssru || !attends) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: ferry.%s.position.type: '%s' needs self-attention, not an SSRU",
                      binder->gguf->file, section->keys, scheme->name);
}

static ferry_status bind_position(ferry_binder *binder, const ferry_bind_section *section, ferry_stack *stack,
                                  ferry_error *error)
{
    position_user user = {binder, section};
    const ferry_position_source source = {&user, position_text, position_integer, position_real, position_tensor};
    const ferry_position_stack place = {
        .layers = stack->layer_count,
        .d_model = binder->file->transformer.d_model,
        .heads = stack->heads,
        .head_width = stack->head_width,
        .causal = stack->causal,
    };
    ferry_view type;
    ferry_error inner = {0};
    FERRY_TRY(ferry_gguf_get_text(binder->gguf, stack_key(section, "position.type").text, &type, error));
    ferry_status status = ferry_position_bind(type, &place, &source, binder->kernels, &stack->position, &inner);
    if (status == FERRY_OK) return check_position(binder, section, stack, error);
    return ferry_fail(error, status, "%s: ferry.%s.position: %s", binder->gguf->file, section->keys, inner.message);
}

/* ---- stacks ---- */

static ferry_status bind_stack_sizes(ferry_binder *binder, const ferry_bind_section *section, ferry_stack *stack,
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

static ferry_status bind_stack_choices(ferry_binder *binder, const ferry_bind_section *section, ferry_stack *stack,
                                       ferry_error *error)
{
    static const char *const activations[] = {[FERRY_RELU] = "relu",
                                              [FERRY_GELU] = "gelu",
                                              [FERRY_SWISH] = "swish",
                                              [FERRY_GELU_TANH] = "gelu_tanh",
                                              [FERRY_GELU_SIGMOID] = "gelu_sigmoid",
                                              NULL};
    static const char *const norms[] = {[FERRY_LAYER_NORM] = "layernorm", [FERRY_RMS_NORM] = "rms", NULL};
    static const char *const places[] = {"post", "pre", NULL};
    int32_t choice;
    FERRY_TRY(get_stack_choice(binder, section, "activation", activations, &choice, error));
    stack->activation = (ferry_activation)choice;
    FERRY_TRY(get_optional_bool(binder->gguf, stack_key(section, "ffn_gated").text, &stack->gated, error));
    FERRY_TRY(get_stack_choice(binder, section, "norm", norms, &choice, error));
    stack->norm = (ferry_norm_kind)choice;
    FERRY_TRY(get_stack_choice(binder, section, "norm_position", places, &choice, error));
    stack->pre_norm = choice == 1;
    const ferry_bind_name eps = stack_key(section, "norm_eps");
    FERRY_TRY(ferry_gguf_get_f32(binder->gguf, eps.text, &stack->norm_eps, error));
    FERRY_TRY(check_positive(binder->gguf, eps.text, stack->norm_eps, error));
    return ferry_gguf_get_f32(binder->gguf, stack_key(section, "attention_scale").text, &stack->attention_scale, error);
}

static ferry_status bind_attention(ferry_binder *binder, const ferry_bind_section *section, int32_t layer,
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
        FERRY_TRY(ferry_bind_matrix(binder, section, layer, what, bias, out ? D : inner, out ? inner : D, matrices[i],
                                    error));
    }
    return FERRY_OK;
}

static ferry_status bind_ssru(ferry_binder *binder, const ferry_bind_section *section, int32_t layer, bool bias,
                              ferry_ssru_weights *ssru, ferry_error *error)
{
    const int32_t D = binder->file->transformer.d_model;
    FERRY_TRY(ferry_bind_matrix(binder, section, layer, "ssru_input", false, D, D, &ssru->input, error));
    return ferry_bind_matrix(binder, section, layer, "ssru_forget", bias, D, D, &ssru->forget, error);
}

static ferry_status bind_feed_forward(ferry_binder *binder, const ferry_bind_section *section, int32_t i, bool bias,
                                      const ferry_stack *stack, ferry_layer *layer, ferry_error *error)
{
    const int32_t D = binder->file->transformer.d_model, F = stack->ffn_width;
    FERRY_TRY(ferry_bind_matrix(binder, section, i, "ffn_up", bias, F, D, &layer->ffn_up, error));
    if (stack->gated) FERRY_TRY(ferry_bind_matrix(binder, section, i, "ffn_gate", bias, F, D, &layer->ffn_gate, error));
    FERRY_TRY(ferry_bind_matrix(binder, section, i, "ffn_down", bias, D, F, &layer->ffn_down, error));
    return ferry_bind_norm(binder, section, i, "ffn_norm", stack->norm, &layer->ffn_norm, error);
}

static ferry_status bind_layer(ferry_binder *binder, const ferry_bind_section *section, int32_t i, bool bias,
                               const ferry_stack *stack, ferry_layer *layer, ferry_error *error)
{
    const bool decoder = section == &decoder_section;
    if (decoder && binder->file->transformer.ssru)
        FERRY_TRY(bind_ssru(binder, section, i, bias, &layer->ssru, error));
    else
        FERRY_TRY(bind_attention(binder, section, i, "attn", bias, stack, &layer->self, error));
    FERRY_TRY(ferry_bind_norm(binder, section, i, "attn_norm", stack->norm, &layer->self_norm, error));
    if (decoder) {
        FERRY_TRY(bind_attention(binder, section, i, "cross_attn", bias, stack, &layer->cross, error));
        FERRY_TRY(ferry_bind_norm(binder, section, i, "cross_attn_norm", stack->norm, &layer->cross_norm, error));
    }
    return bind_feed_forward(binder, section, i, bias, stack, layer, error);
}

/* The norms at a stack's beginning and end. */
static ferry_status bind_stack_norms(ferry_binder *binder, const ferry_bind_section *section, ferry_stack *stack,
                                     ferry_error *error)
{
    bool first = false, last;
    FERRY_TRY(get_optional_bool(binder->gguf, stack_key(section, "embedding_norm").text, &first, error));
    FERRY_TRY(ferry_gguf_get_bool(binder->gguf, stack_key(section, "final_norm").text, &last, error));
    if (first) FERRY_TRY(ferry_bind_norm(binder, section, -1, "embd_norm", stack->norm, &stack->embedding_norm, error));
    if (!last) return FERRY_OK;
    return ferry_bind_norm(binder, section, -1, "output_norm", stack->norm, &stack->final_norm, error);
}

static ferry_status bind_stack(ferry_binder *binder, const ferry_bind_section *section, ferry_stack *stack,
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
    return bind_stack_norms(binder, section, stack, error);
}

static ferry_status bind_embeddings(ferry_binder *binder, ferry_error *error)
{
    ferry_transformer *model = &binder->file->transformer;
    ferry_stack *encoder = &model->encoder, *decoder = &model->decoder;
    const int32_t D = model->d_model;
    bool tied;
    FERRY_TRY(ferry_gguf_get_bool(binder->gguf, "ferry.tied_embeddings", &tied, error));
    if (!tied) {
        FERRY_TRY(ferry_bind_weight(binder, "enc.token_embd", encoder->vocab_size, D, &encoder->embedding, error));
        return ferry_bind_weight(binder, "dec.token_embd", decoder->vocab_size, D, &decoder->embedding, error);
    }
    if (encoder->vocab_size != decoder->vocab_size) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tied embeddings need one vocabulary, found sizes %" PRId32 " and %" PRId32,
                          binder->gguf->file, encoder->vocab_size, decoder->vocab_size);
    }
    return ferry_bind_weight(binder, "token_embd", decoder->vocab_size, D, &decoder->embedding, error);
}

static ferry_status bind_output(ferry_binder *binder, ferry_error *error)
{
    ferry_transformer *model = &binder->file->transformer;
    const int32_t V = model->decoder.vocab_size;
    bool tied, bias;
    FERRY_TRY(ferry_gguf_get_bool(binder->gguf, "ferry.tied_output", &tied, error));
    FERRY_TRY(ferry_gguf_get_bool(binder->gguf, "ferry.output_bias", &bias, error));
    if (!tied) FERRY_TRY(ferry_bind_weight(binder, "output", V, model->d_model, &model->output, error));
    return bias ? ferry_bind_vector(binder, "output.bias", V, &model->output.bias, error) : FERRY_OK;
}

void ferry_model_tie(ferry_model_file *file)
{
    ferry_transformer *model = &file->transformer;
    const float *bias = model->output.bias;
    if (model->encoder.embedding.N == 0) model->encoder.embedding = model->decoder.embedding;
    if (model->output.N == 0) model->output = model->decoder.embedding;
    model->output.bias = bias;
}

/* ---- decoding ---- */

static ferry_status bind_ids(ferry_binder *binder, ferry_error *error)
{
    ferry_transformer *model = &binder->file->transformer;
    ferry_generation *generation = &binder->file->generation;
    const ferry_gguf *gguf = binder->gguf;
    const int32_t last = model->decoder.vocab_size - 1;
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.start_id", -1, last, &generation->start_id, error));
    FERRY_TRY(ferry_gguf_get_i32s(gguf, "ferry.eos_ids", 0, last, &binder->file->arena, &generation->eos_ids,
                                  &generation->eos_count, error));
    if (generation->eos_count == 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key 'ferry.eos_ids': expected at least one id", gguf->file);
    }
    return ferry_gguf_get_i32(gguf, "ferry.pad_id", -1, last, &generation->pad_id, error);
}

static ferry_status bind_alignment(const ferry_gguf *gguf, const ferry_transformer *model, ferry_generation *generation,
                                   ferry_error *error)
{
    generation->alignment_layer = generation->alignment_head = -1;
    FERRY_TRY(get_optional_i32(gguf, "ferry.alignment_layer", -1, model->decoder.layer_count - 1,
                               &generation->alignment_layer, error));
    return get_optional_i32(gguf, "ferry.alignment_head", -1, model->decoder.heads - 1, &generation->alignment_head,
                            error);
}

/* When max_length leaves the limit to the source's length. */
static ferry_status bind_length(const ferry_gguf *gguf, ferry_options *decoding, ferry_error *error)
{
    static const char factor[] = "ferry.decoding.length_factor";
    decoding->length_factor = 3;
    decoding->length_extra = 50;
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.max_length", 0, MAX_TARGET, &decoding->max_length, error));
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.min_length", 0, MAX_TARGET, &decoding->min_length, error));
    FERRY_TRY(get_optional_i32(gguf, "ferry.decoding.length_extra", 0, MAX_TARGET, &decoding->length_extra, error));
    FERRY_TRY(get_optional_f32(gguf, factor, &decoding->length_factor, error));
    if (decoding->length_factor > 0 && decoding->length_factor <= MAX_LENGTH_FACTOR) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected a number above 0, up to %d, found %g",
                      gguf->file, factor, (int)MAX_LENGTH_FACTOR, (double)decoding->length_factor);
}

static ferry_status bind_decoding(ferry_binder *binder, ferry_error *error)
{
    static const char *const policies[] = {[FERRY_POLICY_HUGGINGFACE] = "huggingface",
                                           [FERRY_POLICY_MARIAN] = "marian",
                                           [FERRY_POLICY_CTRANSLATE2] = "ctranslate2",
                                           NULL};
    static const char *const stopping[] = {[FERRY_EARLY_STOPPING_FALSE] = "false",
                                           [FERRY_EARLY_STOPPING_TRUE] = "true",
                                           [FERRY_EARLY_STOPPING_NEVER] = "never",
                                           NULL};
    ferry_transformer *model = &binder->file->transformer;
    ferry_generation *generation = &binder->file->generation;
    ferry_options *decoding = &generation->decoding;
    const ferry_gguf *gguf = binder->gguf;
    const int32_t last = model->decoder.vocab_size - 1;
    int32_t choice;
    FERRY_TRY(ferry_model_get_choice(gguf, "ferry.decoding.policy", policies, &choice, error));
    decoding->policy = (ferry_policy)choice;
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.beam", 1, MAX_BEAM, &decoding->beam, error));
    FERRY_TRY(ferry_gguf_get_f32(gguf, "ferry.decoding.length_penalty", &decoding->length_penalty, error));
    FERRY_TRY(get_optional_f32(gguf, "ferry.decoding.word_penalty", &decoding->word_penalty, error));
    FERRY_TRY(ferry_model_get_choice(gguf, "ferry.decoding.early_stopping", stopping, &choice, error));
    decoding->early_stopping = (ferry_early_stopping)choice;
    FERRY_TRY(bind_length(gguf, decoding, error));
    FERRY_TRY(ferry_gguf_get_f32(gguf, "ferry.decoding.repetition_penalty", &decoding->repetition_penalty, error));
    FERRY_TRY(check_positive(gguf, "ferry.decoding.repetition_penalty", decoding->repetition_penalty, error));
    FERRY_TRY(
        ferry_gguf_get_i32(gguf, "ferry.decoding.no_repeat_ngram", 0, MAX_TARGET, &decoding->no_repeat_ngram, error));
    bool renormalize, shortlist = true;
    FERRY_TRY(ferry_gguf_get_bool(gguf, "ferry.decoding.renormalize", &renormalize, error));
    decoding->renormalize = renormalize;
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.forced_first_id", -1, last, &decoding->forced_first_id, error));
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.decoding.forced_last_id", -1, last, &decoding->forced_last_id, error));
    FERRY_TRY(get_optional_bool(gguf, "ferry.decoding.shortlist", &shortlist, error));
    decoding->shortlist = shortlist;
    decoding->size = sizeof *decoding;
    decoding->nbest = decoding->scores = decoding->threads = 1;
    decoding->batch = 64;
    int32_t suppressed = 0;
    FERRY_TRY(ferry_gguf_get_i32s(gguf, "ferry.decoding.suppressed_ids", 0, last, &binder->file->arena,
                                  &decoding->suppressed_ids, &suppressed, error));
    decoding->suppressed_count = (size_t)suppressed;
    return FERRY_OK;
}

/* ---- the shortlist ---- */

/* Every list lies behind the one before it, up to `count` ids. */
static ferry_status check_offsets(const ferry_gguf *gguf, const uint32_t *offsets, int32_t lists, int64_t count,
                                  ferry_error *error)
{
    bool ascending = offsets[0] == 0 && (int64_t)offsets[lists] == count;
    for (int32_t s = 0; ascending && s < lists; s++) ascending = offsets[s] <= offsets[s + 1];
    if (ascending) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: tensor 'shortlist.offsets': expected ascending numbers from 0 to %" PRId64, gguf->file,
                      count);
}

static ferry_status check_list(const ferry_gguf *gguf, const ferry_shortlist *shortlist, int32_t source, int32_t vocab,
                               ferry_error *error)
{
    int32_t least = 0;
    for (uint32_t i = shortlist->offsets[source]; i < shortlist->offsets[source + 1]; i++) {
        const int32_t id = shortlist->ids[i];
        if (id < least || id >= vocab) {
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "%s: tensor 'shortlist.ids': list of %" PRId32 ": expected ascending ids below %" PRId32
                              ", found %" PRId32,
                              gguf->file, source, vocab, id);
        }
        least = id + 1;
    }
    return FERRY_OK;
}

static ferry_status bind_shortlist(ferry_binder *binder, ferry_error *error)
{
    static const char first[] = "ferry.shortlist.first";
    ferry_transformer *model = &binder->file->transformer;
    ferry_shortlist *shortlist = &binder->file->generation.shortlist;
    const ferry_gguf *gguf = binder->gguf;
    const int32_t source_vocab = model->encoder.vocab_size, target_vocab = model->decoder.vocab_size;
    const ferry_tensor *lists = ferry_gguf_tensor(gguf, "shortlist.ids");
    const int64_t shape[] = {source_vocab + 1}, ids_shape[] = {lists != NULL ? lists->shape[0] : 0};
    const void *offsets = NULL, *ids = NULL;
    if (ferry_gguf_find(gguf, first) == NULL) return FERRY_OK;
    FERRY_TRY(ferry_gguf_get_i32(gguf, first, 0, target_vocab, &shortlist->first, error));
    FERRY_TRY(ferry_gguf_get_bool(gguf, "ferry.shortlist.shared", &shortlist->shared, error));
    if (shortlist->shared && source_vocab != target_vocab) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: ferry.shortlist.shared: expected one vocabulary, found sizes %" PRId32 " and %" PRId32,
                          gguf->file, source_vocab, target_vocab);
    }
    FERRY_TRY(ferry_bind_find(binder, "shortlist.offsets", FERRY_I32, 1, shape, &offsets, error));
    FERRY_TRY(ferry_bind_find(binder, "shortlist.ids", FERRY_I32, 1, ids_shape, &ids, error));
    shortlist->offsets = offsets;
    shortlist->ids = ids;
    FERRY_TRY(check_offsets(gguf, shortlist->offsets, source_vocab, ids_shape[0], error));
    for (int32_t s = 0; s < source_vocab; s++) FERRY_TRY(check_list(gguf, shortlist, s, target_vocab, error));
    return FERRY_OK;
}

/* ---- the whole ---- */

static ferry_status bind_everything(ferry_binder *binder, ferry_error *error)
{
    static const char *const blocks[] = {"attention", "ssru", NULL};
    ferry_transformer *model = &binder->file->transformer;
    const ferry_gguf *gguf = binder->gguf;
    int32_t choice;
    if (gguf->alignment % FERRY_ARENA_ALIGNMENT != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: general.alignment: expected a multiple of %d, found %zu",
                          gguf->file, FERRY_ARENA_ALIGNMENT, gguf->alignment);
    }
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.d_model", 1, MAX_WIDTH, &model->d_model, error));
    FERRY_TRY(ferry_gguf_get_f32(gguf, "ferry.embedding_scale", &model->embedding_scale, error));
    model->output_scale = 1;
    model->decoder.causal = true;
    FERRY_TRY(get_optional_f32(gguf, "ferry.output_scale", &model->output_scale, error));
    FERRY_TRY(get_optional_bool(gguf, "ferry.inputs_by_sentence", &model->sentence_inputs, error));
    FERRY_TRY(bind_stack_sizes(binder, &encoder_section, &model->encoder, error));
    FERRY_TRY(bind_stack_sizes(binder, &decoder_section, &model->decoder, error));
    FERRY_TRY(bind_ids(binder, error));
    FERRY_TRY(bind_decoding(binder, error));
    FERRY_TRY(ferry_model_get_choice(gguf, "ferry.decoder.block", blocks, &choice, error));
    model->ssru = choice == 1;
    FERRY_TRY(bind_alignment(gguf, model, &binder->file->generation, error));
    FERRY_TRY(bind_embeddings(binder, error));
    FERRY_TRY(bind_stack(binder, &encoder_section, &model->encoder, error));
    FERRY_TRY(bind_stack(binder, &decoder_section, &model->decoder, error));
    FERRY_TRY(bind_output(binder, error));
    FERRY_TRY(bind_shortlist(binder, error));
    return ferry_bind_check_leftovers(binder, error);
}

ferry_status ferry_model_bind(ferry_model_file *file, const ferry_kernels *kernels, ferry_widening **widenings,
                              size_t *count, ferry_error *error)
{
    const size_t tensors = file->gguf.tensor_count;
    ferry_binder binder = {.file = file, .gguf = &file->gguf, .kernels = kernels};
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
