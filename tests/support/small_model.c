#include "small_model.h"

#include <float.h>

#include "base/tensor.h"
#include "engine/kernels/coarse.h"
#include "engine/kernels/linear.h"
#include "models/plan/steps.h"
#include "random.h"

enum { MOST_TENSORS = 160 };

typedef struct built_tensor {
    char name[64];
    ferry_type type;
    int32_t dims;
    int64_t shape[3];
    void *data;
    size_t bytes;
} built_tensor;

typedef struct builder {
    small_model model;
    uint32_t random;
    built_tensor tensors[MOST_TENSORS];
    size_t count;
} builder;

static float draw(builder *b, float width)
{
    return width * ((float)next_random(&b->random) / 8388608.0f - 1.0f);
}

/* ---- tensors ---- */

static void *add(builder *b, const char *name, const char *part, ferry_type type, int32_t dims, const int64_t *shape)
{
    assert_true(b->count < MOST_TENSORS);
    built_tensor *tensor = &b->tensors[b->count++];
    snprintf(tensor->name, sizeof tensor->name, "%s%s%s", name, part[0] != 0 ? "." : "", part);
    tensor->type = type;
    tensor->dims = dims;
    tensor->bytes = ferry_type_size(type);
    for (int32_t i = 0; i < dims; i++) {
        tensor->shape[i] = shape[i];
        tensor->bytes *= (size_t)shape[i];
    }
    return tensor->data = kept_memory(tensor->bytes);
}

static void add_vector(builder *b, const char *name, const char *part, int32_t n, float center, float width)
{
    const int64_t shape[] = {n};
    float *values = add(b, name, part, FERRY_F32, 1, shape);
    for (int32_t i = 0; i < n; i++) values[i] = center + draw(b, width);
}

static void add_number(builder *b, const char *name, const char *part, float value)
{
    const int64_t one = 1;
    *(float *)add(b, name, part, FERRY_F32, 1, &one) = value;
}

static void add_codes(builder *b, const char *name, const float *weight, int32_t N, int32_t K, float width)
{
    const int64_t shape[] = {(N + 15) / 16, (K + 3) / 4, 64}, count_shape[] = {N};
    int8_t *codes = add(b, name, "weight", FERRY_I8, 3, shape), *panel = kept_memory(16 * (size_t)K);
    float *scales = kept_memory((size_t)N * sizeof *scales);
    const float multiplier = 127.0f / width;
    const bool rows = b->model.scales == SMALL_ROW_SCALES || b->model.scales == SMALL_BOTH;
    for (int32_t first = 0; first < N; first += 16) {
        const int32_t count = N - first < 16 ? N - first : 16;
        for (int32_t r = 0; r < count; r++) {
            const float *row = weight + (size_t)(first + r) * (size_t)K;
            int8_t *out = panel + (size_t)r * (size_t)K;
            if (rows) ferry_int8_quantize(row, K, out, &scales[first + r]);
            for (int32_t k = 0; k < K && !rows; k++) out[k] = (int8_t)rintf(row[k] * multiplier);
        }
        ferry_int8_pack(codes + ferry_int8_size(first, K), panel, count, K);
    }
    if (rows) memcpy(add(b, name, "scale", FERRY_F32, 1, count_shape), scales, (size_t)N * sizeof *scales);
    if (!rows || b->model.scales == SMALL_BOTH) add_number(b, name, "multiplier", multiplier);
    if (b->model.scales == SMALL_INPUT_MULTIPLIER) add_number(b, name, "input_multiplier", 127.0f / 4);
}

static void add_steps(builder *b, const char *name, const float *weight, int32_t N, int32_t K)
{
    const int64_t shape[] = {(N + 15) / 16, K / 8 + (K + 127) / 128, 64}, count_shape[] = {N};
    uint8_t *panels = add(b, name, "weight", FERRY_I8, 3, shape);
    int8_t *steps = kept_memory((size_t)K / 2), *q = kept_memory(16 * (size_t)K);
    float *scales = add(b, name, "scale", FERRY_F32, 1, count_shape), *row = kept_memory((size_t)K * sizeof *row);
    for (int32_t n = 0; n < N; n++) {
        const int32_t r = n % 16;
        ferry_int8_quantize(weight + n * K, K, q + r * K, &scales[n]);
        for (int32_t k = 0; k < K; k++) row[k] = weight[n * K + k] / scales[n];
        ferry_steps_quantize(row, K, NULL, steps + r * (K / 32), q + r * K);
        if (b->model.steps == SMALL_STEPS_LIE) memset(steps + r * (K / 32), n % 2 == 0 ? 127 : -128, (size_t)K / 32);
        if (r == 15 || n == N - 1) ferry_steps_pack(panels + ferry_steps_size(n - r, K), steps, q, r + 1, K);
    }
}

/* Panels of [N, K]; int8 where `type` says so. */
static void add_matrix_of(builder *b, const char *name, int32_t N, int32_t K, ferry_type type)
{
    const float width = sqrtf(3.0f / (float)K);
    float *weight = kept_memory((size_t)N * (size_t)K * sizeof *weight);
    for (int32_t i = 0; i < N * K; i++) weight[i] = ferry_f16_to_f32(ferry_f32_to_f16(draw(b, width)));
    const bool layer = strstr(name, ".blk.") != NULL, steps = b->model.steps != SMALL_NO_STEPS && K % 32 == 0;
    if (type == FERRY_I8 && steps && (layer || b->model.steps == SMALL_STEPS_OF_EMBEDDING)) {
        add_steps(b, name, weight, N, K);
    } else if (type == FERRY_I8) {
        add_codes(b, name, weight, N, K, width);
    } else {
        const int64_t shape[] = {(N + 15) / 16, K, 16};
        const size_t count = ferry_panels_count(N, K);
        float *panels = kept_memory(count * sizeof *panels);
        void *data = add(b, name, "weight", type, 3, shape);
        ferry_panels_pack(panels, weight, N, K);
        for (size_t i = 0; i < count && type == FERRY_F16; i++) ((uint16_t *)data)[i] = ferry_f32_to_f16(panels[i]);
        if (type == FERRY_F32) memcpy(data, panels, count * sizeof *panels);
    }
}

static built_tensor *find_tensor(builder *b, const char *name)
{
    built_tensor *tensor = b->tensors;
    while (strcmp(tensor->name, name) != 0) tensor++;
    return tensor;
}

/* The output matrix `name` [N, K], which has been added, as it is used. */
static ferry_matrix output_floats(builder *b, const char *name, int32_t N, int32_t K)
{
    const void *data = find_tensor(b, ferry_format("%s.weight", name).text)->data;
    ferry_matrix matrix = {FERRY_MATRIX_FLOATS, .N = N, .K = K, .weights = data};
    if (b->model.type == FERRY_F16) {
        float *panels = kept_memory(ferry_panels_count(N, K) * sizeof *panels);
        for (size_t i = 0; i < ferry_panels_count(N, K); i++) panels[i] = ferry_f16_to_f32(((const uint16_t *)data)[i]);
        matrix.panels = panels;
    }
    return matrix;
}

/* That of the output matrix `name` [N, K], which has been added. */
static void add_coarse(builder *b, const char *name, int32_t N, int32_t K)
{
    const small_coarse kind = b->model.coarse;
    const ferry_matrix output = output_floats(b, name, N, K);
    const size_t panels = ((size_t)N + 15) / 16, columns = ((size_t)K + 3) / 4;
    const size_t panel = columns * 64, size = panels * panel;
    const int64_t type_shape[] = {(int64_t)panels, K, 16}, scale_shape[] = {N + (kind == SMALL_COARSE_SCALES)};
    const int64_t shape[] = {(int64_t)panels + (kind == SMALL_COARSE_ROWS),
                             (int64_t)columns + (kind == SMALL_COARSE_COLUMNS), 64};
    float *scales = kept_memory((panels + 1) * 16 * sizeof *scales);
    int8_t *codes = kept_memory(size), *last = codes + size - 64 + 4 * (size_t)((N - 1) % 16);
    uint32_t random = 3;
    ferry_coarse coarse = {.error = 0};
    for (size_t p = 0; p < panels; p++) ferry_coarsen_panel(&output, p, codes + p * panel, scales + 16 * p, &coarse);
    for (size_t i = 0; i < size && kind == SMALL_COARSE_RANDOM; i++) codes[i] = (int8_t)(next_random(&random) >> 8);
    if (kind == SMALL_COARSE_LAST_CODE) *last = (int8_t)(*last + 1);
    for (int32_t n = 0; n < N && kind == SMALL_COARSE_SCALES_LIE; n++) scales[n] = n % 2 == 0 ? FLT_MAX : 0;
    if (kind == SMALL_COARSE_BOUND_LIES) coarse.error = coarse.norm = 0;
    if (kind == SMALL_COARSE_NO_NUMBER) scales[N - 1] = NAN;
    if (kind == SMALL_COARSE_NEGATIVE) scales[0] = -1;
    if (kind == SMALL_COARSE_ERROR) coarse.error = INFINITY;
    if (kind == SMALL_COARSE_NORM) coarse.norm = NAN;
    if (kind == SMALL_COARSE_TYPE)
        add(b, "output_coarse", "weight", FERRY_F32, 3, type_shape);
    else if (kind != SMALL_COARSE_SCALES_ALONE)
        memcpy(add(b, "output_coarse", "weight", FERRY_I8, 3, shape), codes, size);
    if (kind != SMALL_COARSE_WITHOUT_SCALES)
        memcpy(add(b, "output_coarse", "scale", FERRY_F32, 1, scale_shape), scales, (size_t)N * sizeof *scales);
    if (kind == SMALL_COARSE_EARLY || kind == SMALL_COARSE_SCALES_ALONE) return;
    add_number(b, "output_coarse", "error", coarse.error);
    if (kind != SMALL_COARSE_WITHOUT_NORM) add_number(b, "output_coarse", "norm", coarse.norm);
}

/* Divides the output matrix `name` [N, K] of int8, which has been added, into planes. */
static void divide_planes(builder *b, const char *name, int32_t N, int32_t K)
{
    const small_coarse kind = b->model.coarse;
    built_tensor *upper = find_tensor(b, ferry_format("%s.weight", name).text);
    float *scales = find_tensor(b, ferry_format("%s.scale", name).text)->data;
    const int64_t lines = (K + 7) / 8;
    const int64_t shape[] = {upper->shape[0] + (kind == SMALL_COARSE_ROWS), lines + (kind == SMALL_COARSE_COLUMNS), 64};
    const ferry_type type = kind == SMALL_COARSE_TYPE ? FERRY_F32 : FERRY_I8;
    uint8_t *lower = kept_memory(upper->bytes);
    const int8_t *codes = upper->data;
    const size_t panel = ferry_int8_size(16, K);
    upper->shape[1] = lines;
    upper->bytes = (size_t)(upper->shape[0] * lines) * 64;
    upper->data = kept_memory(upper->bytes + panel);
    for (size_t p = 0; p < (size_t)upper->shape[0] && K % 8 == 0; p++)
        ferry_planes_from_panel(codes + p * panel, K, (uint8_t *)upper->data + p * panel / 2, lower + p * panel / 2);
    const ferry_matrix planes = {.N = N, .K = K, .lower = lower, .scales = scales};
    const float error = kind == SMALL_COARSE_BOUND_LIES ? 0
                        : kind == SMALL_COARSE_ERROR    ? 64
                                                        : ferry_planes_error(&planes);
    if (kind == SMALL_COARSE_NEGATIVE) scales[0] = -1;
    if (kind != SMALL_COARSE_SCALES_ALONE) memcpy(add(b, name, "lower", type, 3, shape), lower, upper->bytes);
    if (kind != SMALL_COARSE_WITHOUT_NORM) add_number(b, name, "error", error);
}

static void add_matrix(builder *b, const char *name, int32_t N, int32_t K, bool bias)
{
    add_matrix_of(b, name, N, K, b->model.type);
    if (bias) add_vector(b, name, "bias", N, 0, 0.3f);
}

static void add_norm(builder *b, const char *name)
{
    add_vector(b, name, "weight", b->model.d_model, 1, 0.3f);
    if (!b->model.rms) add_vector(b, name, "bias", b->model.d_model, 0, 0.3f);
}

static const char *layer_name(char *text, size_t size, const char *stack, int32_t layer, const char *what)
{
    snprintf(text, size, "%s.blk.%d.%s", stack, (int)layer, what);
    return text;
}

static void add_attention(builder *b, const char *stack, int32_t layer, const char *kind)
{
    static const char *const suffixes[] = {"q", "k", "v", "o"};
    const int32_t D = b->model.d_model, inner = b->model.heads * b->model.head_width;
    for (int i = 0; i < 4; i++) {
        char what[32], name[64];
        snprintf(what, sizeof what, "%s_%s", kind, suffixes[i]);
        add_matrix(b, layer_name(name, sizeof name, stack, layer, what), i == 3 ? D : inner, i == 3 ? inner : D,
                   b->model.linear_bias);
    }
}

static void add_layer(builder *b, const char *stack, int32_t layer)
{
    const small_model *model = &b->model;
    const bool decoder = strcmp(stack, "dec") == 0;
    const int32_t D = model->d_model, F = model->ffn_width;
    char name[64];
#define NAME(what) layer_name(name, sizeof name, stack, layer, what)
    if (decoder && model->ssru) {
        add_matrix(b, NAME("ssru_input"), D, D, false);
        add_matrix(b, NAME("ssru_forget"), D, D, model->linear_bias);
    } else {
        add_attention(b, stack, layer, "attn");
    }
    add_norm(b, NAME("attn_norm"));
    if (decoder) {
        add_attention(b, stack, layer, "cross_attn");
        add_norm(b, NAME("cross_attn_norm"));
    }
    add_matrix(b, NAME("ffn_up"), F, D, model->linear_bias);
    if (model->gated) add_matrix(b, NAME("ffn_gate"), F, D, model->linear_bias);
    add_matrix(b, NAME("ffn_down"), D, F, model->linear_bias);
    add_norm(b, NAME("ffn_norm"));
#undef NAME
}

static bool has_final_norm(const small_model *model)
{
    return model->final_norm > 0 || (model->final_norm == 0 && model->pre_norm);
}

static void add_shortlist(builder *b, const small_shortlist *shortlist)
{
    const int64_t lists[] = {b->model.source_vocab + 1}, count[] = {shortlist->count};
    memcpy(add(b, "shortlist.offsets", "", FERRY_I32, 1, lists), shortlist->offsets, (size_t)lists[0] * 4);
    memcpy(add(b, "shortlist.ids", "", FERRY_I32, 1, count), shortlist->ids, (size_t)count[0] * 4);
}

static void add_tensors(builder *b)
{
    const small_model *model = &b->model;
    const int32_t V = model->vocab, D = model->d_model;
    if (model->untied) {
        add_matrix_of(b, "enc.token_embd", model->source_vocab, D, model->mixed ? FERRY_F16 : model->type);
        add_matrix_of(b, "dec.token_embd", V, D, model->type);
        add_matrix_of(b, "output", V, D, model->mixed ? FERRY_F32 : model->type);
    } else {
        add_matrix_of(b, "token_embd", V, D, model->type);
    }
    const char *output = model->untied ? "output" : "token_embd";
    if (model->coarse != SMALL_NO_COARSE && model->type == FERRY_I8)
        divide_planes(b, output, V, D);
    else if (model->coarse != SMALL_NO_COARSE)
        add_coarse(b, output, V, D);
    add_vector(b, "output", "bias", V, 0, 0.3f);
    for (int s = 0; s < 2; s++) {
        const char *stack = s == 0 ? "enc" : "dec";
        for (int32_t i = 0; i < model->layers; i++) add_layer(b, stack, i);
        if (model->embedding_norm) add_norm(b, s == 0 ? "enc.embd_norm" : "dec.embd_norm");
        if (has_final_norm(model)) add_norm(b, s == 0 ? "enc.output_norm" : "dec.output_norm");
    }
    if (model->shortlist != NULL) add_shortlist(b, model->shortlist);
}

/* ---- keys ---- */

static const char *stack_key(char *text, size_t size, const char *stack, const char *key)
{
    snprintf(text, size, "ferry.%s.%s", stack, key);
    return text;
}

static void put_stack(ferry_gguf_writer *writer, const small_model *model, const char *stack)
{
    char key[64];
    const bool decoder = strcmp(stack, "decoder") == 0;
    const struct {
        const char *key;
        int32_t value;
    } sizes[] = {{"layers", model->layers},
                 {"heads", model->heads},
                 {"head_width", model->head_width},
                 {"ffn_width", model->ffn_width},
                 {"vocab_size", decoder ? model->vocab : model->source_vocab}};
#define KEY(name) stack_key(key, sizeof key, stack, name)
    for (int i = 0; i < 5; i++) ferry_gguf_put_u32(writer, KEY(sizes[i].key), (uint32_t)sizes[i].value);
    ferry_gguf_put_string(writer, KEY("activation"), model->activation != NULL ? model->activation : "relu");
    if (model->gated) ferry_gguf_put_bool(writer, KEY("ffn_gated"), true);
    ferry_gguf_put_string(writer, KEY("norm"), model->rms ? "rms" : "layernorm");
    ferry_gguf_put_string(writer, KEY("norm_position"), model->pre_norm ? "pre" : "post");
    ferry_gguf_put_f32(writer, KEY("norm_eps"), 1e-5f);
    if (model->embedding_norm) ferry_gguf_put_bool(writer, KEY("embedding_norm"), true);
    ferry_gguf_put_bool(writer, KEY("final_norm"), has_final_norm(model));
    ferry_gguf_put_bool(writer, KEY("linear_bias"), model->linear_bias);
    ferry_gguf_put_f32(writer, KEY("attention_scale"), 1.0f / sqrtf((float)model->head_width));
    ferry_gguf_put_string(writer, KEY("position.type"),
                          !decoder                  ? "none"
                          : model->position != NULL ? model->position
                                                    : "sinusoidal");
    if (decoder && model->position == NULL) {
        ferry_gguf_put_string(writer, KEY("position.layout"), "split");
        ferry_gguf_put_string(writer, KEY("position.exponent_divisor"), "half_minus_one");
        ferry_gguf_put_u32(writer, KEY("position.first"), 0);
    }
#undef KEY
}

static void put_graph(ferry_gguf_writer *writer, const small_model *model)
{
    const int32_t eos = 0;
    ferry_gguf_put_u32(writer, "ferry.d_model", (uint32_t)model->d_model);
    ferry_gguf_put_f32(writer, "ferry.embedding_scale", 2.0f);
    ferry_gguf_put_bool(writer, "ferry.tied_embeddings", !model->untied);
    ferry_gguf_put_bool(writer, "ferry.tied_output", !model->untied);
    ferry_gguf_put_bool(writer, "ferry.output_bias", true);
    if (model->output_scale > 0) ferry_gguf_put_f32(writer, "ferry.output_scale", model->output_scale);
    if (model->sentence_inputs) ferry_gguf_put_bool(writer, "ferry.inputs_by_sentence", true);
    put_stack(writer, model, "encoder");
    put_stack(writer, model, "decoder");
    ferry_gguf_put_string(writer, "ferry.decoder.block", model->ssru ? "ssru" : "attention");
    ferry_gguf_put(writer, "ferry.start_id", FERRY_GGUF_I32, &(int32_t){model->zero_start ? -1 : 0});
    ferry_gguf_put_array(writer, "ferry.eos_ids", FERRY_GGUF_I32, &eos, 1);
    ferry_gguf_put(writer, "ferry.pad_id", FERRY_GGUF_I32, &(int32_t){-1});
    if (model->shortlist == NULL) return;
    ferry_gguf_put_u32(writer, "ferry.shortlist.first", (uint32_t)model->shortlist->first);
    ferry_gguf_put_bool(writer, "ferry.shortlist.shared", model->shortlist->shared);
}

static void put_decoding(ferry_gguf_writer *writer, const small_model *model)
{
    ferry_gguf_put_string(writer, "ferry.decoding.policy", model->policy != NULL ? model->policy : "huggingface");
    ferry_gguf_put_u32(writer, "ferry.decoding.beam", 1);
    ferry_gguf_put_f32(writer, "ferry.decoding.length_penalty", 1);
    ferry_gguf_put_string(writer, "ferry.decoding.early_stopping", "false");
    ferry_gguf_put_u32(writer, "ferry.decoding.max_length", 0);
    ferry_gguf_put_u32(writer, "ferry.decoding.min_length", 0);
    ferry_gguf_put_f32(writer, "ferry.decoding.repetition_penalty", 1);
    ferry_gguf_put_u32(writer, "ferry.decoding.no_repeat_ngram", 0);
    ferry_gguf_put_bool(writer, "ferry.decoding.renormalize", false);
    ferry_gguf_put(writer, "ferry.decoding.forced_first_id", FERRY_GGUF_I32, &(int32_t){-1});
    ferry_gguf_put(writer, "ferry.decoding.forced_last_id", FERRY_GGUF_I32, &(int32_t){-1});
    ferry_gguf_put_array(writer, "ferry.decoding.suppressed_ids", FERRY_GGUF_I32, NULL, 0);
}

static ferry_view piece_of(const small_model *model, int32_t id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    const char *piece = model->pieces != NULL ? model->pieces[id] : NULL;
    if (model->pieces == NULL) return (ferry_view){letters + id, 1};
    return piece != NULL ? (ferry_view){piece, strlen(piece)} : (ferry_view){0};
}

static void put_text(ferry_gguf_writer *writer, const small_model *model)
{
    const int32_t eos = 0;
    ferry_view pieces[26];
    ferry_gguf_put_string(writer, "ferry.tokenizer.kind", model->tokenizer != NULL ? model->tokenizer : "none");
    if (model->tokenizer == NULL) return;
    assert_true(model->vocab <= 26 && model->source_vocab <= model->vocab);
    for (int32_t i = 0; i < model->vocab; i++) pieces[i] = piece_of(model, i);
    ferry_gguf_put_u32(writer, "ferry.tokenizer.source.unk_id", 1);
    ferry_gguf_put_bool(writer, "ferry.tokenizer.source.leading_tag", model->leading_tag);
    ferry_gguf_put_array(writer, "ferry.tokenizer.source.prefix_ids", FERRY_GGUF_I32, NULL, 0);
    ferry_gguf_put_array(writer, "ferry.tokenizer.source.suffix_ids", FERRY_GGUF_I32, &eos, 1);
    ferry_gguf_put_array(writer, "ferry.tokenizer.target.special_ids", FERRY_GGUF_I32, &eos, 1);
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.pieces", pieces, (size_t)model->source_vocab);
    if (model->vocab != model->source_vocab)
        ferry_gguf_put_texts(writer, "ferry.tokenizer.target.pieces", pieces, (size_t)model->vocab);
}

/* ---- the whole ---- */

static void set_sizes(small_model *model)
{
    const struct {
        int32_t *size, usual;
    } sizes[] = {{&model->layers, 2},     {&model->d_model, 24},   {&model->heads, 3},
                 {&model->head_width, 7}, {&model->ffn_width, 19}, {&model->vocab, 21}};
    for (int i = 0; i < 6; i++)
        if (*sizes[i].size == 0) *sizes[i].size = sizes[i].usual;
    if (model->source_vocab == 0) model->source_vocab = model->vocab;
}

void put_small_languages(ferry_gguf_writer *writer)
{
    static const ferry_view names[] = {{"eng_Latn en eng", 15}, {"deu_Latn de deu", 15}}, prompt = {"to German: ", 11};
    static const int32_t roles[] = {1, 3}, source_ids[] = {4, 5}, target_ids[] = {-1, 20}, source = -1, target = 1;
    ferry_gguf_put_texts(writer, "ferry.languages.names", names, 2);
    ferry_gguf_put_array(writer, "ferry.languages.roles", FERRY_GGUF_I32, roles, 2);
    ferry_gguf_put_array(writer, "ferry.languages.source_ids", FERRY_GGUF_I32, source_ids, 2);
    ferry_gguf_put_array(writer, "ferry.languages.target_ids", FERRY_GGUF_I32, target_ids, 2);
    ferry_gguf_put_string(writer, "ferry.languages.source_tag", "suffix");
    ferry_gguf_put_string(writer, "ferry.languages.target_tag", "first");
    ferry_gguf_put_texts(writer, "ferry.languages.prompts", &prompt, 1);
    ferry_gguf_put_array(writer, "ferry.languages.prompt_sources", FERRY_GGUF_I32, &source, 1);
    ferry_gguf_put_array(writer, "ferry.languages.prompt_targets", FERRY_GGUF_I32, &target, 1);
    ferry_gguf_put(writer, "ferry.languages.default_source", FERRY_GGUF_I32, &(int32_t){0});
    ferry_gguf_put(writer, "ferry.languages.default_target", FERRY_GGUF_I32, &(int32_t){1});
    ferry_gguf_put_bool(writer, "ferry.tokenizer.source.opus_punctuation", true);
}

void write_small_model(const char *path, const small_model *model)
{
    const char *word = model->feature != NULL ? model->feature : "";
    const ferry_view features[] = {{"encoder-decoder", 15}, {"panels16", 8}, {word, strlen(word)}};
    ferry_gguf_writer *writer;
    builder *b = kept_memory(sizeof *b);
    b->model = *model;
    b->random = 7;
    set_sizes(&b->model);
    add_tensors(b);
    CHECK(ferry_gguf_writer_create(path, NULL, NULL, &writer, &error));
    ferry_gguf_put_string(writer, "general.architecture", "ferry");
    ferry_gguf_put_string(writer, "general.name", "small");
    ferry_gguf_put_u32(writer, "ferry.format", 1);
    ferry_gguf_put_texts(writer, "ferry.features", features, word[0] != 0 ? 3 : 2);
    put_graph(writer, &b->model);
    put_decoding(writer, &b->model);
    put_text(writer, &b->model);
    if (model->keys != NULL) model->keys(writer);
    for (size_t i = 0; i < b->count; i++)
        ferry_gguf_declare(writer, b->tensors[i].name, b->tensors[i].type, b->tensors[i].dims, b->tensors[i].shape);
    CHECK(ferry_gguf_writer_start(writer, &error));
    for (size_t i = 0; i < b->count; i++)
        CHECK(ferry_gguf_writer_append(writer, b->tensors[i].data, b->tensors[i].bytes, &error));
    CHECK(ferry_gguf_writer_finish(writer, &error));
    ferry_gguf_writer_destroy(writer);
}

ferry_model *open_small_model(const small_model *model, const char *isa)
{
    ferry_model *opened;
    const char *path = scratch_file("small.gguf");
    write_small_model(path, model);
    CHECK(ferry_inspect_open(path, isa, NULL, &opened, &error));
    return opened;
}
