/* Importers: what a directory says is what the model file says, bit by bit; what Ferry cannot do is refused by name. */
#define _GNU_SOURCE /* memmem */
#include "support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../engine/base/half.h"
#include "../models/import.h"
#include "../models/model_file.h"

/* ---- directories made from others ---- */

/* In `file`, `from` becomes `to`; from NULL: the whole text; to NULL: the file is left out. */
typedef struct edit {
    const char *file, *from, *to;
} edit;

static void write_bytes(const char *path, const void *data, size_t size)
{
    unlink(path); /* not through a link */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static char *in_directory(const char *directory, const char *name)
{
    char *path = malloc(strlen(directory) + strlen(name) + 2);
    sprintf(path, "%s/%s", directory, name);
    return path;
}

static void apply_edit(const char *directory, const edit *change)
{
    ferry_error error;
    ferry_mapped_file map;
    char *path = in_directory(directory, change->file);
    if (change->to == NULL) {
        unlink(path);
    } else if (change->from == NULL) {
        write_bytes(path, change->to, strlen(change->to));
    } else {
        CHECK(ferry_mapped_file_open(path, &map, &error));
        const size_t from = strlen(change->from), to = strlen(change->to), size = map.bytes.size;
        const char *place = memmem(map.bytes.data, size, change->from, from);
        if (place == NULL) fail_msg("%s has no '%s'", path, change->from);
        const size_t before = (size_t)(place - map.bytes.data);
        char *text = malloc(size + to);
        memcpy(text, map.bytes.data, before);
        memcpy(text + before, change->to, to);
        memcpy(text + before + to, place + from, size - before - from);
        write_bytes(path, text, size - from + to);
        free(text);
        ferry_mapped_file_close(&map);
    }
    free(path);
}

/* A scratch directory with links to the files of `source`, edited. The caller frees the path. */
static char *variant(const char *source, const edit *edits, size_t count)
{
    static int number = 0;
    char name[32];
    snprintf(name, sizeof name, "variant-%d", number++);
    char *directory = scratch_path(name);
    assert_int_equal(mkdir(directory, 0700), 0);
    DIR *list = opendir(source);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        char *from = in_directory(source, entry->d_name), *to = in_directory(directory, entry->d_name);
        assert_int_equal(symlink(from, to), 0);
        free(from);
        free(to);
    }
    closedir(list);
    for (size_t i = 0; i < count; i++) apply_edit(directory, &edits[i]);
    return directory;
}

/* ---- tensors edited ---- */

typedef struct item {
    char name[96];
    ferry_tensor tensor; /* f32, or i64 */
} item;

typedef struct item_list {
    ferry_safetensors file;
    item items[200];
    size_t count;
} item_list;

static item_list *read_items(const char *directory)
{
    ferry_error error;
    item_list *list = calloc(1, sizeof *list);
    char *path = in_directory(directory, "model.safetensors");
    CHECK(ferry_safetensors_open(path, &list->file, &error));
    for (size_t i = 0; i < list->file.tensor_count; i++) {
        const ferry_tensor *tensor = &list->file.tensors[i];
        item *made = &list->items[list->count++];
        snprintf(made->name, sizeof made->name, "%.*s", (int)tensor->name.size, tensor->name.data);
        made->tensor = *tensor;
    }
    free(path);
    return list;
}

static void free_items(item_list *list)
{
    ferry_safetensors_close(&list->file);
    free(list);
}

static item *find_item(item_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0) return &list->items[i];
    }
    fail_msg("no tensor '%s'", name);
    return NULL;
}

static item *add_item(item_list *list, const char *name, int64_t rows, int64_t columns, const void *data)
{
    assert_true(list->count < 200);
    item *made = &list->items[list->count++];
    snprintf(made->name, sizeof made->name, "%s", name);
    made->tensor = (ferry_tensor){.dims = 2, .shape = {rows, columns, 1, 1}, .data = data};
    made->tensor.bytes = (size_t)(rows * columns) * sizeof(float);
    return made;
}

static void remove_item(item_list *list, const char *name)
{
    item *found = find_item(list, name);
    *found = list->items[--list->count];
}

static size_t put_value(unsigned char *out, float value, ferry_type type)
{
    const double wide = (double)value;
    const uint16_t half = type == FERRY_F16 ? ferry_f32_to_f16(value) : (uint16_t)(ferry_f32_bits(value) >> 16);
    const void *data = type == FERRY_F32 ? (const void *)&value : type == FERRY_F64 ? (const void *)&wide : &half;
    memcpy(out, data, ferry_type_size(type));
    return ferry_type_size(type);
}

static const char *dtype_name(ferry_type type)
{
    return type == FERRY_F32 ? "F32" : type == FERRY_F16 ? "F16" : type == FERRY_BF16 ? "BF16" : "F64";
}

/* Items first, first + step, … as directory/name, their numbers stored as `type` (bf16: cut). */
static void write_items(const item_list *list, const char *directory, const char *name, ferry_type type, size_t first,
                        size_t step)
{
    size_t room = 1 << 16, at = 8, used = 0;
    for (size_t i = 0; i < list->count; i++) room += list->items[i].tensor.bytes * 2 + 200;
    char *header = malloc(room);
    unsigned char *data = malloc(room);
    at += (size_t)sprintf(header + at, "{");
    for (size_t i = first; i < list->count; i += step) {
        const ferry_tensor *tensor = &list->items[i].tensor;
        const float *numbers = tensor->data;
        char shape[100];
        const size_t begin = used;
        for (int64_t j = 0; j < ferry_tensor_count(tensor); j++) used += put_value(data + used, numbers[j], type);
        at += (size_t)sprintf(header + at, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                              i == first ? "" : ",", list->items[i].name, dtype_name(type),
                              ferry_tensor_shape_text(tensor, shape, sizeof shape), begin, used);
    }
    at += (size_t)sprintf(header + at, "}");
    const uint64_t length = at - 8;
    memcpy(header, &length, 8);
    char *whole = malloc(at + used), *path = in_directory(directory, name);
    memcpy(whole, header, at);
    memcpy(whole + at, data, used);
    write_bytes(path, whole, at + used);
    free(whole);
    free(path);
    free(header);
    free(data);
}

/* ---- converting ---- */

static void convert(const char *source, ferry_type type, ferry_model_file *file)
{
    ferry_error error;
    const ferry_import_options options = {.type = type};
    char *path = scratch_path("model.gguf");
    CHECK(ferry_import(source, path, &options, &error));
    CHECK(ferry_model_file_open(path, ferry_kernels_find(NULL), file, &error));
    unlink(path);
    free(path);
}

static void refuse_as(const char *source, ferry_type type, ferry_status status, const char *what)
{
    ferry_error error = {0};
    struct stat information;
    const ferry_import_options options = {.type = type};
    char *path = scratch_path("refused.gguf"), *part = scratch_path("refused.gguf.part");
    const ferry_status found = ferry_import(source, path, &options, &error);
    if (found != status || strstr(error.message, what) == NULL) {
        fail_msg("expected %d '%s', found %d '%s'", status, what, found, error.message);
    }
    assert_int_not_equal(stat(path, &information), 0);
    assert_int_not_equal(stat(part, &information), 0);
    free(path);
    free(part);
}

static void refuse_edit(const char *source, const char *file, const char *from, const char *to, ferry_status status,
                        const char *what)
{
    const edit change = {file, from, to};
    char *directory = variant(source, &change, 1);
    refuse_as(directory, FERRY_F32, status, what);
    free(directory);
}

static bool has_text(ferry_view view, const char *text)
{
    return ferry_view_equal(view, (ferry_view){text, strlen(text)});
}

static bool text_key(const ferry_model_file *file, const char *key, const char *expected)
{
    ferry_view text;
    return ferry_gguf_get_text(&file->gguf, key, &text, NULL) == FERRY_OK && has_text(text, expected);
}

/* ---- weights ---- */

/* What the model must hold for numbers of a source: themselves, or rounded to f16. */
typedef struct expectation {
    const ferry_safetensors *source;
    const char *prefix;
    bool rounded;
    size_t checked; /* tensors */
} expectation;

static const float *source_numbers(expectation *expected, const char *name, int64_t count)
{
    char full[128];
    snprintf(full, sizeof full, "%s%s", expected->prefix, name);
    const ferry_tensor *tensor = ferry_safetensors_find(expected->source, full);
    if (tensor == NULL) fail_msg("no tensor '%s'", full);
    assert_int_equal(tensor->type, FERRY_F32);
    assert_int_equal(ferry_tensor_count(tensor), count);
    expected->checked++;
    return tensor->data;
}

static void check_panels(expectation *expected, const char *name, const float *panels, int32_t N, int32_t K)
{
    const float *numbers = source_numbers(expected, name, (int64_t)N * K);
    float *row = malloc((size_t)K * sizeof *row);
    assert_int_equal((uintptr_t)panels % 64, 0);
    for (int32_t n = 0; n < N; n++) {
        ferry_panels_row(row, panels, K, n);
        for (int32_t k = 0; k < K; k++) {
            const float number = numbers[(size_t)n * (size_t)K + (size_t)k];
            const float wanted = expected->rounded ? ferry_f16_to_f32(ferry_f32_to_f16(number)) : number;
            if (ferry_f32_bits(row[k]) != ferry_f32_bits(wanted)) fail_msg("%s[%d][%d] differs", name, n, k);
        }
    }
    for (int32_t n = N; n % FERRY_LANES != 0; n++) {
        ferry_panels_row(row, panels, K, n);
        for (int32_t k = 0; k < K; k++) assert_true(row[k] == 0);
    }
    free(row);
}

static void check_vector(expectation *expected, const char *name, const float *vector, int32_t n)
{
    assert_memory_equal(vector, source_numbers(expected, name, n), (size_t)n * sizeof *vector);
}

static void check_linear(expectation *expected, const char *name, const ferry_matrix *matrix)
{
    char full[128];
    snprintf(full, sizeof full, "%s.weight", name);
    check_panels(expected, full, matrix->panels, matrix->N, matrix->K);
    snprintf(full, sizeof full, "%s.bias", name);
    check_vector(expected, full, matrix->bias, matrix->N);
}

static void check_norm(expectation *expected, const char *name, const ferry_norm *norm, int32_t D)
{
    char full[128];
    snprintf(full, sizeof full, "%s.weight", name);
    check_vector(expected, full, norm->weight, D);
    snprintf(full, sizeof full, "%s.bias", name);
    check_vector(expected, full, norm->bias, D);
}

static void check_attention(expectation *expected, const char *layer, const char *module,
                            const ferry_attention_weights *attention, const ferry_norm *norm, int32_t D)
{
    const char *const names[] = {"q_proj", "k_proj", "v_proj", "out_proj"};
    const ferry_matrix *const matrices[] = {&attention->q, &attention->k, &attention->v, &attention->out};
    char full[100];
    for (int i = 0; i < 4; i++) {
        snprintf(full, sizeof full, "%s.%s.%s", layer, module, names[i]);
        check_linear(expected, full, matrices[i]);
    }
    snprintf(full, sizeof full, "%s.%s_layer_norm", layer, module);
    check_norm(expected, full, norm, D);
}

static void check_stack(expectation *expected, const char *name, const ferry_stack *stack, bool decoder, int32_t D)
{
    for (int32_t i = 0; i < stack->layer_count; i++) {
        const ferry_layer *layer = &stack->layers[i];
        char path[64], full[100];
        snprintf(path, sizeof path, "%s.layers.%d", name, i);
        check_attention(expected, path, "self_attn", &layer->self, &layer->self_norm, D);
        if (decoder) check_attention(expected, path, "encoder_attn", &layer->cross, &layer->cross_norm, D);
        snprintf(full, sizeof full, "%s.fc1", path);
        check_linear(expected, full, &layer->ffn_up);
        snprintf(full, sizeof full, "%s.fc2", path);
        check_linear(expected, full, &layer->ffn_down);
        snprintf(full, sizeof full, "%s.final_layer_norm", path);
        check_norm(expected, full, &layer->ffn_norm, D);
    }
    char full[64];
    snprintf(full, sizeof full, "%s.layer_norm", name);
    if (stack->pre_norm) check_norm(expected, full, &stack->final_norm, D);
}

static void check_layers(expectation *expected, const ferry_transformer *model)
{
    check_stack(expected, "encoder", &model->encoder, false, model->d_model);
    check_stack(expected, "decoder", &model->decoder, true, model->d_model);
}

/* ---- the export layout ---- */

/* What the source calls a tensor of the positional encoding, and the model file: N is a layer. */
typedef struct position_tensor {
    const char *source, *name;
} position_tensor;

typedef struct export_row {
    const char *name, *position;
    const char *keys[4];        /* "layout split": of both stacks */
    position_tensor tensors[4]; /* of both stacks */
} export_row;

/* A parameter of any type, as text. */
static void check_position_key(const ferry_model_file *file, const char *stack, const char *expected)
{
    char key[64], full[100], value[64] = "absent";
    ferry_view text;
    int64_t integer;
    float real;
    snprintf(key, sizeof key, "%.*s", (int)strcspn(expected, " "), expected);
    snprintf(full, sizeof full, "ferry.%s.position.%s", stack, key);
    if (ferry_gguf_get_text(&file->gguf, full, &text, NULL) == FERRY_OK)
        snprintf(value, sizeof value, "%.*s", (int)text.size, text.data);
    else if (ferry_gguf_get_integer(&file->gguf, full, 0, INT32_MAX, &integer, NULL) == FERRY_OK)
        snprintf(value, sizeof value, "%d", (int)integer);
    else if (ferry_gguf_get_f32(&file->gguf, full, &real, NULL) == FERRY_OK)
        snprintf(value, sizeof value, "%.1f", (double)real);
    assert_string_equal(value, expected + strlen(key) + 1);
}

static void check_position_tensor(expectation *expected, const ferry_model_file *file, bool decoder, int32_t layers,
                                  const position_tensor *pair)
{
    const bool of_layer = strncmp(pair->source, "self_attn", 9) == 0;
    for (int32_t i = 0; i < (of_layer ? layers : 1); i++) {
        char source[100], name[100], layer[32];
        snprintf(layer, sizeof layer, "layers.%d.", i);
        snprintf(source, sizeof source, "%s.%s%s", decoder ? "decoder" : "encoder", of_layer ? layer : "",
                 pair->source);
        snprintf(layer, sizeof layer, "blk.%d.", i);
        snprintf(name, sizeof name, "%s.%sposition.%s", decoder ? "dec" : "enc", of_layer ? layer : "", pair->name);
        const ferry_tensor *tensor = ferry_gguf_tensor(&file->gguf, name);
        if (tensor == NULL) fail_msg("no tensor '%s'", name);
        assert_int_equal(tensor->type, FERRY_F32);
        check_vector(expected, source, tensor->data, (int32_t)ferry_tensor_count(tensor));
    }
}

static void check_export(const export_row *row, ferry_type type)
{
    ferry_error error;
    ferry_safetensors source;
    ferry_model_file file;
    char folder[100];
    const char *name = row->name;
    snprintf(folder, sizeof folder, "positions/%s", name);
    char *directory = data_path(folder), *weights = in_directory(directory, "model.safetensors");
    CHECK(ferry_safetensors_open(weights, &source, &error));
    convert(directory, type, &file);
    const ferry_transformer *model = &file.transformer;
    expectation expected = {&source, "", type == FERRY_F16, 0};
    const bool pre = strstr(name, "-pre") != NULL;
    check_panels(&expected, "shared.weight", model->decoder.embedding, model->decoder.vocab_size, model->d_model);
    check_layers(&expected, model);
    assert_ptr_equal(model->encoder.embedding, model->decoder.embedding);
    assert_ptr_equal(model->output.panels, model->decoder.embedding);
    if (model->output.bias != NULL) {
        check_vector(&expected, "final_logits_bias", model->output.bias, model->output.N);
    }
    assert_int_equal(model->d_model, pre ? 48 : 64);
    assert_int_equal(model->encoder.layer_count, pre ? 3 : 2);
    assert_int_equal(model->encoder.heads, pre ? 6 : 4);
    assert_int_equal(model->decoder.head_width, pre ? 8 : 16);
    assert_int_equal(model->decoder.ffn_width, pre ? 96 : 128);
    assert_int_equal(model->decoder.vocab_size, pre ? 61 : 97);
    assert_int_equal(model->encoder.activation, pre ? FERRY_RELU : FERRY_SWISH);
    assert_int_equal(model->encoder.pre_norm, pre);
    assert_true(model->decoder.norm_eps == 1e-5f);
    assert_true(model->embedding_scale == (pre ? sqrtf(48) : 8));
    assert_true(model->encoder.attention_scale == (pre ? 1 / sqrtf(8) : 0.25f));
    assert_int_equal(model->start_id, pre ? 60 : 96);
    assert_int_equal(model->eos_ids[0], 0);
    assert_int_equal(model->decoding.suppressed_ids[0], model->pad_id);
    assert_true(model->decoding.renormalize);
    assert_int_equal(model->decoding.beam, 1);
    assert_false(file.text.present);
    assert_true(has_text(file.name, name));
    assert_true(has_text(file.origin.kind, "seq2seq-export-1"));
    assert_int_equal(file.origin.file_count, 2);
    assert_true(has_text(file.origin.files[1], "model.safetensors"));
    assert_true(text_key(&file, "ferry.encoder.position.type", row->position));
    for (size_t i = 0; i < 4 && row->keys[i] != NULL; i++) {
        check_position_key(&file, "encoder", row->keys[i]);
        check_position_key(&file, "decoder", row->keys[i]);
    }
    for (size_t i = 0; i < 4 && row->tensors[i].name != NULL; i++) {
        check_position_tensor(&expected, &file, false, model->encoder.layer_count, &row->tensors[i]);
        check_position_tensor(&expected, &file, true, model->decoder.layer_count, &row->tensors[i]);
    }
    assert_int_equal(expected.checked + (model->output.bias == NULL), source.tensor_count);
    assert_int_equal(file.widened_bytes > 0, type == FERRY_F16);
    ferry_model_file_close(&file);
    ferry_safetensors_close(&source);
    free(directory);
    free(weights);
}

static void test_export_round_trip(void **state)
{
    (void)state;
    static const export_row rows[] = {
        {.name = "none-post", .position = "none"},
        {.name = "none-pre", .position = "none"},
        {"learned-post", "learned", {"max_positions 64"}, {{"embed_positions.weight", "weight"}}},
        {"learned-pre", "learned", {"max_positions 40"}, {{"embed_positions.weight", "weight"}}},
        {"sinusoidal-post", "sinusoidal", {"layout interleaved", "exponent_divisor half", "first 0"}, {{0}}},
        {"sinusoidal_split-pre", "sinusoidal", {"layout split", "exponent_divisor half", "first 0"}, {{0}}},
        {"sinusoidal_marian-post", "sinusoidal", {"layout split", "exponent_divisor half_minus_one"}, {{0}}},
        {"shaw-pre", "shaw", {"clip 7"}, {{"self_attn.rel_k", "rel_k"}, {"self_attn.rel_v", "rel_v"}}},
        {"t5-post", "t5", {"num_buckets 8", "max_distance 20"}, {{"rel_bias.weight", "bias"}}},
        {"transformer_xl-pre",
         "transformer_xl",
         {NULL},
         {{"self_attn.r_proj.weight", "r_proj"}, {"self_attn.u", "u"}, {"self_attn.v", "v"}}},
        {"deberta-post",
         "deberta",
         {"clip 4", "p2c paper"},
         {{"rel_embeddings.weight", "rel_embeddings"},
          {"self_attn.pos_q.weight", "pos_q"},
          {"self_attn.pos_q.bias", "pos_q_bias"},
          {"self_attn.pos_k.weight", "pos_k"}}},
        {"deberta_released-pre",
         "deberta",
         {"clip 7", "p2c released"},
         {{"rel_embeddings.weight", "rel_embeddings"},
          {"self_attn.pos_q.weight", "pos_q"},
          {"self_attn.pos_q.bias", "pos_q_bias"},
          {"self_attn.pos_k.weight", "pos_k"}}},
        {"rope-post", "rope", {"theta 10000.0", "layout half", "dims 16"}, {{0}}},
        {"rope_interleaved-pre", "rope", {"theta 10000.0", "layout interleaved", "dims 8"}, {{0}}},
        {"alibi-post", "alibi", {"slopes formula"}, {{0}}},
        {.name = "mixed-pre", .position = "rope"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_export(&rows[i], FERRY_F32);
        check_export(&rows[i], FERRY_F16);
    }
}

static void test_position_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name, *from, *to;
        ferry_status status;
        const char *message;
    } rows[] = {
        {"none-post", "\"none\"", "\"nope\"", FERRY_ERROR_UNSUPPORTED, "position type 'nope' is not supported"},
        {"none-post", "\"none\"", "\"none\", \"clip\": 7", FERRY_ERROR_UNSUPPORTED,
         "position: 'clip': type 'none' has no such parameter"},
        {"none-post", "\"none\"", "\"rope\"", FERRY_ERROR_FORMAT, "'theta' is missing"},
        {"none-post", "\"none\"", "\"sinusoidal\"", FERRY_ERROR_FORMAT, "'layout' is missing"},
        {"none-post", "\"type\": \"none\"", "\"encoder\": {\"type\": \"none\"}", FERRY_ERROR_FORMAT,
         "position: expected 'encoder' and 'decoder', found one"},
        {"learned-post", "\"max_positions\": 64", "\"max_positions\": 65", FERRY_ERROR_FORMAT,
         "tensor 'encoder.embed_positions.weight': expected shape [65, 64], found [64, 64]"},
        {"sinusoidal-post", "\"interleaved\"", "\"woven\"", FERRY_ERROR_FORMAT,
         "position: 'layout': expected 'interleaved' or 'split'"},
        {"shaw-post", "\"clip\": 4", "\"clip\": 0", FERRY_ERROR_FORMAT, "'clip': expected 1 to 65536, found 0"},
        {"shaw-post", "\"clip\": 4", "\"clip\": 5", FERRY_ERROR_FORMAT,
         "tensor 'encoder.layers.0.self_attn.rel_k': expected shape [11, 16], found [9, 16]"},
        {"t5-post", "\"num_buckets\": 8", "\"num_buckets\": 3", FERRY_ERROR_FORMAT, "'num_buckets': expected 4 to"},
        {"t5-post", "\"max_distance\": 20", "\"max_distance\": 2", FERRY_ERROR_FORMAT, "'max_distance': expected 3 to"},
        {"transformer_xl-post", "\"type\": \"transformer_xl\"", "\"type\": \"alibi\"", FERRY_ERROR_UNSUPPORTED,
         "tensor 'decoder.layers.0.self_attn.r_proj.weight' is unknown"},
        {"deberta_released-post", "\"released\"", "\"leaked\"", FERRY_ERROR_FORMAT,
         "position: 'p2c': expected 'paper' or 'released'"},
        {"rope-post", "10000.0", "1", FERRY_ERROR_FORMAT, "position: 'theta': expected a number between 1 and 1e12"},
        {"rope-post", "10000.0", "10000.0, \"dims\": 5", FERRY_ERROR_FORMAT,
         "position: 'dims': expected an even number, found 5"},
        {"rope-post", "10000.0", "10000.0, \"dims\": 18", FERRY_ERROR_FORMAT, "'dims': expected 2 to 16, found 18"},
        {"alibi-post", "\"alibi\"", "\"alibi\", \"slopes\": \"given\"", FERRY_ERROR_FORMAT,
         "tensor 'encoder.slopes' is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char folder[100];
        snprintf(folder, sizeof folder, "positions/%s", rows[i].name);
        char *directory = data_path(folder);
        refuse_edit(directory, "config.json", rows[i].from, rows[i].to, rows[i].status, rows[i].message);
        free(directory);
    }
}

static void test_given_slopes(void **state)
{
    (void)state;
    ferry_model_file file;
    char *post = data_path("positions/alibi-post");
    const edit change = {"config.json", "\"alibi\"", "\"alibi\", \"slopes\": \"given\""};
    char *directory = variant(post, &change, 1);
    item_list *list = read_items(directory);
    const float slopes[] = {1, 0.5f, 0.25f, 0.125f}, others[] = {4, 3, 2, 1};
    add_item(list, "encoder.slopes", 4, 1, slopes)->tensor.dims = 1;
    add_item(list, "decoder.slopes", 4, 1, others)->tensor.dims = 1;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    convert(directory, FERRY_F16, &file);
    check_position_key(&file, "encoder", "slopes given");
    assert_memory_equal(ferry_gguf_tensor(&file.gguf, "enc.position.slopes")->data, slopes, sizeof slopes);
    assert_memory_equal(ferry_gguf_tensor(&file.gguf, "dec.position.slopes")->data, others, sizeof others);
    ferry_model_file_close(&file);
    free_items(list);
    free(directory);
    free(post);
}

static void test_export_refusals(void **state)
{
    (void)state;
    char *post = data_path("positions/none-post");
    const char *config = "config.json";
    refuse_edit(
        post, config, "seq2seq-export-1", "seq2seq-export-2", FERRY_ERROR_UNSUPPORTED,
        "config.json: expected model_type 'marian' or format 'seq2seq-export-1', found format 'seq2seq-export-2'");
    refuse_edit(post, config, "swish", "mish", FERRY_ERROR_UNSUPPORTED, "activation 'mish' is not supported");
    refuse_edit(post, config, "\"d_model\": 64,", "", FERRY_ERROR_FORMAT, "config.json: 'd_model' is missing");
    refuse_edit(post, config, "\"d_model\": 64,", "\"d_model\": 0,", FERRY_ERROR_FORMAT, "'d_model': expected 1 to");
    refuse_edit(post, config, "\"d_model\": 64,", "\"d_model\": 64, \"d_model\": 64,", FERRY_ERROR_FORMAT, "duplicate");
    refuse_edit(post, config, "\"attention_heads\": 4", "\"attention_heads\": 5", FERRY_ERROR_FORMAT,
                "d_model 64 is no multiple of attention_heads 5");
    refuse_edit(post, config, "\"eos_token_id\": 0", "\"eos_token_id\": 97", FERRY_ERROR_FORMAT,
                "'eos_token_id': expected 0 to 96, found 97");
    refuse_edit(post, config, "\"ffn_dim\": 128", "\"ffn_dim\": 127", FERRY_ERROR_FORMAT,
                "model.safetensors: tensor 'encoder.layers.0.fc1.weight': expected shape [127, 64], found [128, 64]");
    refuse_edit(post, config, "\"encoder_layers\": 2", "\"encoder_layers\": 3", FERRY_ERROR_FORMAT,
                "tensor 'encoder.layers.2.self_attn.q_proj.weight' is missing");
    refuse_edit(post, config, "\"encoder_layers\": 2", "\"encoder_layers\": 1", FERRY_ERROR_UNSUPPORTED,
                "tensor 'encoder.layers.1.fc1.bias' is unknown");
    refuse_edit(post, "model.safetensors", NULL, NULL, FERRY_ERROR_UNSUPPORTED, "expected model.safetensors or");
    refuse_edit(post, config, NULL, NULL, FERRY_ERROR_UNSUPPORTED, "config.json is missing");
    refuse_edit(post, config, NULL, "{", FERRY_ERROR_FORMAT, "config.json: line 1");
    refuse_edit(post, config, NULL, "{}", FERRY_ERROR_UNSUPPORTED, "expected 'model_type' or 'format', found neither");
    free(post);
}

static void test_untied_export_and_a_scheme_for_each_stack(void **state)
{
    (void)state;
    ferry_model_file file;
    char *post = data_path("positions/learned-post");
    const edit edits[] = {
        {"config.json", "\"tied_embeddings\": true", "\"tied_embeddings\": false"},
        {"config.json", "\"type\": \"learned\",\n  \"max_positions\": 64",
         "\"encoder\": {\"type\": \"none\"}, \"decoder\": {\"type\": \"learned\", \"max_positions\": 64}"}};
    char *directory = variant(post, edits, 2);
    item_list *list = read_items(directory);
    const item shared = *find_item(list, "shared.weight");
    const float *numbers = shared.tensor.data;
    float *other = malloc(shared.tensor.bytes);
    for (int i = 0; i < 97 * 64; i++) other[i] = numbers[i] + 1;
    remove_item(list, "shared.weight");
    remove_item(list, "encoder.embed_positions.weight");
    add_item(list, "encoder.embed_tokens.weight", 97, 64, numbers);
    add_item(list, "decoder.embed_tokens.weight", 97, 64, other);
    add_item(list, "lm_head.weight", 97, 64, numbers);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    convert(directory, FERRY_F32, &file);
    float row[64];
    ferry_panels_row(row, file.transformer.encoder.embedding, 64, 5);
    assert_true(row[3] == numbers[5 * 64 + 3]);
    ferry_panels_row(row, file.transformer.decoder.embedding, 64, 5);
    assert_true(row[3] == other[5 * 64 + 3]);
    ferry_panels_row(row, file.transformer.output.panels, 64, 96);
    assert_true(row[63] == numbers[96 * 64 + 63]);
    assert_string_equal(file.transformer.encoder.position.scheme->name, "none");
    assert_string_equal(file.transformer.decoder.position.scheme->name, "learned");
    ferry_model_file_close(&file);
    free(other);
    free_items(list);
    free(directory);
    free(post);
}

/* Without vocab.json, ids are SentencePiece's; with it, its. */
static void test_export_with_text(void **state)
{
    (void)state;
    ferry_model_file file;
    char *post = data_path("positions/none-post"), *spm = data_path("models/marian-separate/source.spm");
    char *directory = variant(post, NULL, 0), *link = in_directory(directory, "source.spm");
    assert_int_equal(symlink(spm, link), 0);
    refuse_as(directory, FERRY_F32, FERRY_ERROR_FORMAT, "the SentencePiece model has ");
    const edit vocabulary = {"vocab.json", NULL, "{\"</s>\": 0, \"<unk>\": 1, \"\\u2581the\": 2, \"<pad>\": 96}"};
    apply_edit(directory, &vocabulary);
    convert(directory, FERRY_F32, &file);
    assert_true(file.text.present);
    assert_int_equal(file.text.source_count, 97);
    assert_true(has_text(file.text.source_pieces[2], "\xe2\x96\x81the"));
    assert_int_equal(file.text.source_pieces[50].size, 0);
    assert_int_equal(file.text.source_unk_id, 1);
    assert_int_equal(file.text.suffix_ids[0], 0);
    assert_int_equal(file.text.special_count, 3);
    assert_false(file.text.leading_tag);
    ferry_model_file_close(&file);
    free(link);
    free(directory);
    free(post);
    free(spm);
}

/* ---- MarianMT ---- */

static void check_same_tensors(const ferry_model_file *a, const ferry_model_file *b)
{
    assert_int_equal(a->gguf.tensor_count, b->gguf.tensor_count);
    for (size_t i = 0; i < a->gguf.tensor_count; i++) {
        const ferry_tensor *x = &a->gguf.tensors[i], *y = &b->gguf.tensors[i];
        assert_true(ferry_view_equal(x->name, y->name));
        assert_int_equal(x->bytes, y->bytes);
        assert_memory_equal(x->data, y->data, x->bytes);
    }
}

static void check_marian_separate(ferry_type type)
{
    ferry_error error;
    ferry_safetensors source;
    ferry_model_file file;
    char *directory = data_path("models/marian-separate"), *weights = in_directory(directory, "model.safetensors");
    CHECK(ferry_safetensors_open(weights, &source, &error));
    convert(directory, type, &file);
    const ferry_transformer *model = &file.transformer;
    expectation expected = {&source, "model.", type == FERRY_F16, 0};
    check_layers(&expected, model);
    check_panels(&expected, "encoder.embed_tokens.weight", model->encoder.embedding, 901, 64);
    check_panels(&expected, "decoder.embed_tokens.weight", model->decoder.embedding, 701, 64);
    expected.prefix = "";
    check_panels(&expected, "lm_head.weight", model->output.panels, 701, 64);
    if (model->output.bias != NULL) check_vector(&expected, "final_logits_bias", model->output.bias, 701);
    assert_int_equal(model->encoder.ffn_width, 128);
    assert_int_equal(model->decoder.ffn_width, 96);
    assert_int_equal(model->encoder.activation, FERRY_GELU);
    assert_false(model->encoder.pre_norm);
    assert_int_equal(model->start_id, 700);
    assert_int_equal(model->pad_id, 700);
    assert_int_equal(model->decoding.beam, 1);
    assert_int_equal(model->decoding.max_length, 0);
    assert_int_equal(model->decoding.forced_last_id, 0);
    assert_true(model->decoding.renormalize);
    assert_int_equal(model->decoding.suppressed_count, 1);
    assert_int_equal(model->decoding.suppressed_ids[0], 700);
    assert_true(text_key(&file, "ferry.encoder.position.layout", "split"));
    assert_true(text_key(&file, "ferry.encoder.position.exponent_divisor", "half"));
    assert_int_equal(file.text.source_count, 901);
    assert_int_equal(file.text.target_count, 701);
    assert_true(has_text(file.text.source_pieces[900], "<pad>"));
    assert_true(has_text(file.text.target_pieces[700], "<pad>"));
    assert_true(file.text.source_model.size == 254175 && file.text.target_model.size == 250719);
    assert_true(file.text.leading_tag);
    assert_int_equal(file.text.special_count, 3);
    ferry_model_file_close(&file);
    ferry_safetensors_close(&source);
    free(directory);
    free(weights);
}

static void test_marian_separate(void **state)
{
    (void)state;
    check_marian_separate(FERRY_F32);
    check_marian_separate(FERRY_F16);
}

static void test_marian_joint(void **state)
{
    (void)state;
    ferry_error error;
    ferry_safetensors source;
    ferry_model_file file;
    char *directory = shared_path("models/tatoeba-en-de/huggingface");
    if (directory == NULL) not_run("round trip of tatoeba-en-de");
    char *weights = in_directory(directory, "model.safetensors");
    CHECK(ferry_safetensors_open(weights, &source, &error));
    convert(directory, FERRY_F32, &file);
    const ferry_transformer *model = &file.transformer;
    expectation expected = {&source, "model.", false, 0};
    check_layers(&expected, model);
    check_panels(&expected, "shared.weight", model->encoder.embedding, 8001, 256);
    assert_ptr_equal(model->output.panels, model->decoder.embedding);
    assert_int_equal(model->encoder.activation, FERRY_SWISH);
    assert_true(model->embedding_scale == 16);
    assert_int_equal(model->decoding.beam, 4);
    assert_int_equal(model->decoding.max_length, 511);
    assert_int_equal(model->decoding.forced_last_id, 0);
    assert_int_equal(model->decoding.suppressed_ids[0], 8000);
    assert_ptr_equal(file.text.source_pieces, file.text.target_pieces);
    assert_ptr_equal(file.text.source_model.data, file.text.target_model.data);
    assert_null(ferry_gguf_find(&file.gguf, "ferry.tokenizer.target.pieces"));
    ferry_model_file_close(&file);
    ferry_safetensors_close(&source);
    free(directory);
    free(weights);
}

static void test_shards_equal_one_file(void **state)
{
    (void)state;
    ferry_model_file whole, sharded;
    char *source = data_path("models/marian-separate");
    const edit no_weights = {"model.safetensors", NULL, NULL};
    char *directory = variant(source, &no_weights, 1);
    item_list *list = read_items(source);
    char *index = malloc(1 << 16);
    size_t at = (size_t)sprintf(index, "{\"weight_map\": {");
    for (size_t i = 0; i < list->count; i++) {
        at += (size_t)sprintf(index + at, "%s\"%s\": \"part-%zu.safetensors\"", i > 0 ? "," : "", list->items[i].name,
                              i % 3);
    }
    sprintf(index + at, "}}");
    const edit with_index = {"model.safetensors.index.json", NULL, index};
    apply_edit(directory, &with_index);
    write_items(list, directory, "part-0.safetensors", FERRY_F32, 0, 3);
    write_items(list, directory, "part-1.safetensors", FERRY_F32, 1, 3);
    write_items(list, directory, "part-2.safetensors", FERRY_F32, 2, 3);
    convert(source, FERRY_F32, &whole);
    convert(directory, FERRY_F32, &sharded);
    check_same_tensors(&whole, &sharded);
    ferry_model_file_close(&whole);
    ferry_model_file_close(&sharded);
    free(index);
    free_items(list);
    free(directory);
    free(source);
}

/* Numbers of every element type: a source of 16-bit floats gives the file that the same numbers as f32 give. */
static void test_element_types(void **state)
{
    (void)state;
    static const ferry_type types[] = {FERRY_F16, FERRY_BF16, FERRY_F64};
    char *source = data_path("models/marian-separate");
    for (size_t t = 0; t < 3; t++) {
        ferry_model_file narrow, wide;
        char *directory = variant(source, NULL, 0), *twin = variant(source, NULL, 0);
        item_list *list = read_items(source);
        write_items(list, directory, "model.safetensors", types[t], 0, 1);
        float *rounded[200];
        for (size_t i = 0; i < list->count; i++) {
            ferry_tensor *tensor = &list->items[i].tensor;
            const float *numbers = tensor->data;
            rounded[i] = malloc(tensor->bytes);
            memcpy(rounded[i], numbers, tensor->bytes);
            for (size_t j = 0; j < tensor->bytes / 4 && types[t] == FERRY_F16; j++) {
                rounded[i][j] = ferry_f16_to_f32(ferry_f32_to_f16(numbers[j]));
            }
            for (size_t j = 0; j < tensor->bytes / 4 && types[t] == FERRY_BF16; j++) {
                rounded[i][j] = ferry_bf16_to_f32((uint16_t)(ferry_f32_bits(numbers[j]) >> 16));
            }
            tensor->data = rounded[i];
        }
        write_items(list, twin, "model.safetensors", FERRY_F32, 0, 1);
        convert(directory, FERRY_F32, &narrow);
        convert(twin, FERRY_F32, &wide);
        check_same_tensors(&narrow, &wide);
        ferry_model_file_close(&narrow);
        ferry_model_file_close(&wide);
        for (size_t i = 0; i < list->count; i++) free(rounded[i]);
        free_items(list);
        free(directory);
        free(twin);
    }
    free(source);
}

static void test_bare_model_names(void **state)
{
    (void)state;
    ferry_model_file whole, bare;
    char *source = data_path("models/marian-separate"), *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    for (size_t i = 0; i < list->count; i++) {
        char *name = list->items[i].name;
        if (strncmp(name, "model.", 6) == 0) memmove(name, name + 6, strlen(name) - 5);
    }
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    convert(source, FERRY_F32, &whole);
    convert(directory, FERRY_F32, &bare);
    check_same_tensors(&whole, &bare);
    ferry_model_file_close(&whole);
    ferry_model_file_close(&bare);
    free_items(list);
    free(directory);
    free(source);
}

/* marian-separate with its target's vocabulary for both sides: a joint model. */
static char *joint_directory(const char *source)
{
    const edit edits[] = {
        {"config.json", "\"share_encoder_decoder_embeddings\": false", "\"share_encoder_decoder_embeddings\": true"},
        {"config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true"},
        {"config.json", "\"vocab_size\": 901", "\"vocab_size\": 701"},
        {"tokenizer_config.json", "\"separate_vocabs\": true", "\"separate_vocabs\": false"},
        {"vocab.json", NULL, NULL},
    };
    char *directory = variant(source, edits, sizeof edits / sizeof edits[0]);
    char *from = in_directory(source, "target_vocab.json"), *to = in_directory(directory, "vocab.json");
    assert_int_equal(symlink(from, to), 0);
    free(from);
    free(to);
    return directory;
}

static void test_tied_names(void **state)
{
    (void)state;
    static const char *const carriers[] = {"model.shared.weight", "model.decoder.embed_tokens.weight",
                                           "model.encoder.embed_tokens.weight", "lm_head.weight"};
    char *source = data_path("models/marian-separate"), *directory = joint_directory(source);
    item_list *list = read_items(source);
    const float *numbers = find_item(list, "model.decoder.embed_tokens.weight")->tensor.data;
    const float *other = find_item(list, "lm_head.weight")->tensor.data;
    remove_item(list, "model.encoder.embed_tokens.weight");
    remove_item(list, "model.decoder.embed_tokens.weight");
    remove_item(list, "lm_head.weight");
    const size_t rest = list->count;
    for (size_t i = 0; i < 4; i++) {
        ferry_model_file file;
        list->count = rest;
        add_item(list, carriers[i], 701, 64, numbers);
        write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
        convert(directory, FERRY_F32, &file);
        float row[64];
        ferry_panels_row(row, file.transformer.encoder.embedding, 64, 17);
        assert_memory_equal(row, numbers + 17 * 64, sizeof row);
        assert_ptr_equal(file.transformer.output.panels, file.transformer.encoder.embedding);
        ferry_model_file_close(&file);
    }
    add_item(list, carriers[0], 701, 64, other);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_as(
        directory, FERRY_F32, FERRY_ERROR_FORMAT,
        "tensors 'model.shared.weight' and 'lm_head.weight' differ, but the configuration says that they are one");
    list->count = rest;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_as(directory, FERRY_F32, FERRY_ERROR_FORMAT, "no tensor holds the embeddings");
    free_items(list);
    free(directory);
    free(source);
}

static void test_stored_position_tables(void **state)
{
    (void)state;
    enum { P = 40, D = 64 };
    static float table[P * D], other[P * D];
    ferry_model_file file;
    char *source = data_path("models/marian-separate"), *directory = variant(source, NULL, 0);
    for (int p = 0; p < P; p++) {
        for (int k = 0; k < D / 2; k++) {
            const double angle = p / pow(10000, 2.0 * k / D);
            table[p * D + k] = (float)sin(angle) + 5e-4f;
            table[p * D + D / 2 + k] = (float)cos(angle);
        }
    }
    memcpy(other, table, sizeof table);
    other[P * D - 1] += 2e-3f;
    item_list *list = read_items(source);
    add_item(list, "model.encoder.embed_positions.weight", P, D, table);
    add_item(list, "model.decoder.embed_positions.weight", P, D, other);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    convert(directory, FERRY_F32, &file);
    assert_string_equal(file.transformer.encoder.position.scheme->name, "sinusoidal");
    assert_string_equal(file.transformer.decoder.position.scheme->name, "learned");
    assert_int_equal(file.transformer.decoder.position.limit, P);
    assert_memory_equal(ferry_gguf_tensor(&file.gguf, "dec.position.weight")->data, other, sizeof other);
    ferry_model_file_close(&file);
    free_items(list);
    free(directory);
    free(source);
}

static void test_logits_bias(void **state)
{
    (void)state;
    static float zeros[701];
    ferry_model_file file;
    char *source = data_path("models/marian-separate"), *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    float *bias = calloc(701, sizeof *bias);
    item *found = find_item(list, "final_logits_bias");
    found->tensor.data = zeros;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    convert(directory, FERRY_F32, &file);
    assert_null(file.transformer.output.bias);
    ferry_model_file_close(&file);
    bias[700] = 2;
    found->tensor.data = bias;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    convert(directory, FERRY_F32, &file);
    assert_memory_equal(file.transformer.output.bias, bias, 701 * sizeof *bias);
    ferry_model_file_close(&file);
    free(bias);
    free_items(list);
    free(directory);
    free(source);
}

static void test_marian_tensor_refusals(void **state)
{
    (void)state;
    static const float numbers[4] = {1};
    char *source = data_path("models/marian-separate"), *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    const size_t all = list->count;
    add_item(list, "model.encoder.version", 1, 1, numbers);
    add_item(list, "model.encoder.embed_positions.weights", 2, 2, numbers);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    ferry_model_file file;
    convert(directory, FERRY_F32, &file); /* left-overs are ignored */
    ferry_model_file_close(&file);
    list->count = all;
    add_item(list, "model.encoder.layernorm_embedding.weight", 2, 2, numbers);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_as(directory, FERRY_F32, FERRY_ERROR_UNSUPPORTED,
              "model.safetensors: tensor 'model.encoder.layernorm_embedding.weight' is unknown");
    list->count = all;
    item *norm = find_item(list, "model.decoder.layers.1.final_layer_norm.bias");
    norm->tensor.dims = 2;
    norm->tensor.shape[0] = 8;
    norm->tensor.shape[1] = 8;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_as(directory, FERRY_F32, FERRY_ERROR_FORMAT,
              "tensor 'model.decoder.layers.1.final_layer_norm.bias': expected shape [64], found [8, 8]");
    remove_item(list, "model.decoder.layers.1.final_layer_norm.bias");
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_as(directory, FERRY_F32, FERRY_ERROR_FORMAT,
              "tensor 'model.decoder.layers.1.final_layer_norm.bias' is missing");
    free_items(list);
    free(directory);
    free(source);
}

static void test_values_too_large(void **state)
{
    (void)state;
    ferry_model_file file;
    char *source = data_path("models/marian-separate"), *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    ferry_tensor *tensor = &find_item(list, "model.encoder.layers.0.fc1.weight")->tensor;
    float *numbers = malloc(tensor->bytes);
    memcpy(numbers, tensor->data, tensor->bytes);
    numbers[100] = 70000;
    tensor->data = numbers;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_as(directory, FERRY_F16, FERRY_ERROR_UNSUPPORTED,
              "tensor 'model.encoder.layers.0.fc1.weight': a value is too large for f16");
    convert(directory, FERRY_F32, &file);
    ferry_model_file_close(&file);
    refuse_as(directory, FERRY_BF16, FERRY_ERROR_ARGUMENT, "type: expected f32 or f16, found bf16");
    free(numbers);
    free_items(list);
    free(directory);
    free(source);
}

static void test_marian_config_refusals(void **state)
{
    (void)state;
    char *source = data_path("models/marian-separate");
    const char *config = "config.json";
    refuse_edit(source, config, "\"marian\"", "\"bert\"", FERRY_ERROR_UNSUPPORTED, "found model_type 'bert'");
    refuse_edit(source, config, "MarianMTModel", "MarianModel", FERRY_ERROR_UNSUPPORTED,
                "architecture 'MarianModel' does not translate");
    refuse_edit(source, config, "\"gelu\"", "\"gelu_new\"", FERRY_ERROR_UNSUPPORTED,
                "activation 'gelu_new' is not supported");
    refuse_edit(source, config, "{", "{\"quantization_config\": {},", FERRY_ERROR_UNSUPPORTED, "quantization_config");
    refuse_edit(source, config, "\"share_encoder_decoder_embeddings\": false",
                "\"share_encoder_decoder_embeddings\": true", FERRY_ERROR_FORMAT,
                "vocab_size 901 but decoder_vocab_size 701");
    refuse_edit(source, "vocab.json", NULL, NULL, FERRY_ERROR_IO, "vocab.json: cannot open");
    refuse_edit(source, "vocab.json", "\"</s>\": 0", "\"</s>\": 901", FERRY_ERROR_FORMAT,
                "piece '</s>': expected an id from 0 to 900");
    refuse_edit(source, "vocab.json", "\"</s>\": 0", "\"</s>\": 7", FERRY_ERROR_FORMAT, "both have id 7");
    refuse_edit(source, "target_vocab.json", "\"</s>\": 0", "\"<s>\": 0", FERRY_ERROR_FORMAT, "'</s>' is missing");
    refuse_edit(source, "source.spm", NULL, NULL, FERRY_ERROR_IO, "source.spm: cannot open");
    refuse_edit(source, "source.spm", NULL, "version https://git-lfs.github.com/spec/v1\n", FERRY_ERROR_UNSUPPORTED,
                "source.spm: this is a Git LFS pointer");
    refuse_edit(source, "source.spm", NULL, "nonsense", FERRY_ERROR_FORMAT, "source.spm");
    refuse_edit(source, "model.safetensors", NULL, "version https://git-lfs.github.com/spec/v1\n",
                FERRY_ERROR_UNSUPPORTED, "model.safetensors: this is a Git LFS pointer");
    free(source);
}

/* ---- decoding defaults ---- */

static void convert_generation(const char *source, const char *generation, ferry_model_file *file)
{
    const edit change = {"generation_config.json", NULL, generation};
    char *directory = variant(source, &change, 1);
    convert(directory, FERRY_F32, file);
    free(directory);
}

static void test_generation_config(void **state)
{
    (void)state;
    ferry_model_file file;
    const ferry_decoding *decoding = &file.transformer.decoding;
    char *source = data_path("models/marian-separate");
    convert_generation(source,
                       "{\"num_beams\": 6, \"length_penalty\": 2, \"early_stopping\": \"never\", \"max_length\": 100,"
                       " \"min_length\": 5, \"no_repeat_ngram_size\": 3, \"repetition_penalty\": 1.5,"
                       " \"bad_words_ids\": [[700], [3], [0]], \"suppress_tokens\": [9, 3],"
                       " \"forced_bos_token_id\": 8, \"eos_token_id\": [0, 4], \"decoder_start_token_id\": 6}",
                       &file);
    assert_int_equal(decoding->beam, 6);
    assert_true(decoding->length_penalty == 2);
    assert_int_equal(decoding->early_stopping, FERRY_EARLY_STOPPING_NEVER);
    assert_int_equal(decoding->max_length, 99);
    assert_int_equal(decoding->min_length, 4);
    assert_int_equal(decoding->no_repeat_ngram, 3);
    assert_true(decoding->repetition_penalty == 1.5f);
    assert_int_equal(decoding->suppressed_count, 3);
    assert_int_equal(decoding->suppressed_ids[0], 700);
    assert_int_equal(decoding->suppressed_ids[1], 3);
    assert_int_equal(decoding->suppressed_ids[2], 9);
    assert_int_equal(decoding->forced_first_id, 8);
    assert_int_equal(decoding->forced_last_id, -1); /* config.json's is not asked */
    assert_int_equal(file.transformer.start_id, 6);
    assert_int_equal(file.transformer.eos_count, 2);
    assert_int_equal(file.transformer.eos_ids[1], 4);
    ferry_model_file_close(&file);

    convert_generation(source, "{\"max_length\": 20, \"early_stopping\": true, \"min_new_tokens\": 7}", &file);
    assert_int_equal(decoding->max_length, 20);
    assert_int_equal(decoding->min_length, 7);
    assert_int_equal(decoding->early_stopping, FERRY_EARLY_STOPPING_TRUE);
    ferry_model_file_close(&file);

    convert_generation(source, "{\"max_length\": 90, \"max_new_tokens\": 30, \"early_stopping\": false}", &file);
    assert_int_equal(decoding->max_length, 30);
    assert_int_equal(decoding->early_stopping, FERRY_EARLY_STOPPING_FALSE);
    ferry_model_file_close(&file);
    free(source);
}

/* Without generation_config.json, config.json and the class's defaults decide. */
static void test_generation_without_its_file(void **state)
{
    (void)state;
    ferry_model_file file;
    char *source = data_path("models/marian-separate");
    const edit edits[] = {{"generation_config.json", NULL, NULL},
                          {"config.json", "\"forced_eos_token_id\": 0,", "\"num_beams\": 3,"}};
    char *directory = variant(source, edits, 2);
    convert(directory, FERRY_F32, &file);
    assert_int_equal(file.transformer.decoding.beam, 3);
    assert_int_equal(file.transformer.decoding.forced_last_id, 0);
    ferry_model_file_close(&file);
    free(directory);
    free(source);
}

static void test_generation_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ferry_status status;
        const char *what;
    } rows[] = {
        {"{\"do_sample\": true}", FERRY_ERROR_UNSUPPORTED, "generation_config.json: 'do_sample' is not supported"},
        {"{\"num_beam_groups\": 2}", FERRY_ERROR_UNSUPPORTED, "'num_beam_groups' is not supported"},
        {"{\"bad_words_ids\": [[1, 2]]}", FERRY_ERROR_UNSUPPORTED, "'bad_words_ids': number 0 is no list of one id"},
        {"{\"bad_words_ids\": 5}", FERRY_ERROR_FORMAT, "'bad_words_ids': expected a list of lists"},
        {"{\"bad_words_ids\": [[701]]}", FERRY_ERROR_FORMAT, "'bad_words_ids': expected ids from 0 to 700"},
        {"{\"forced_eos_token_id\": [0, 1]}", FERRY_ERROR_UNSUPPORTED, "'forced_eos_token_id' with several ids"},
        {"{\"eos_token_id\": 701}", FERRY_ERROR_FORMAT, "'eos_token_id': expected ids from 0 to 700"},
        {"{\"eos_token_id\": 5}", FERRY_ERROR_FORMAT,
         "target_vocab.json: '</s>' has id 0, but the configuration's eos_token_id is 5"},
        {"{\"early_stopping\": \"maybe\"}", FERRY_ERROR_FORMAT, "'early_stopping': expected true, false or \"never\""},
        {"{\"num_beams\": 0}", FERRY_ERROR_FORMAT, "'num_beams': expected 1 to 1024, found 0"},
        {"{\"length_penalty\": \"1\"}", FERRY_ERROR_FORMAT, "'length_penalty': expected a number"},
    };
    char *source = data_path("models/marian-separate");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refuse_edit(source, "generation_config.json", NULL, rows[i].text, rows[i].status, rows[i].what);
    }
    free(source);
}

/* ---- recognising ---- */

static void test_sources_that_are_no_model(void **state)
{
    (void)state;
    char *several = data_path("models"), *file = data_path("positions/none-post/config.json");
    char *missing = data_path("nothing");
    refuse_as(several, FERRY_F32, FERRY_ERROR_UNSUPPORTED,
              "holds several models: name one of them: marian-separate, tatoeba-en-de");
    refuse_as(file, FERRY_F32, FERRY_ERROR_UNSUPPORTED, "expected the directory of a model, found a file");
    refuse_as(missing, FERRY_F32, FERRY_ERROR_IO, "cannot open");
    free(several);
    free(file);
    free(missing);
}

static void test_name_and_licence(void **state)
{
    (void)state;
    ferry_error error;
    ferry_model_file file;
    char *source = data_path("positions/none-post"), *path = scratch_path("named.gguf");
    const edit licence = {"LICENSE", NULL, "Do what you like.\n"};
    char *directory = variant(source, &licence, 1);
    const ferry_import_options options = {.type = FERRY_F32, .name = "opus-mt"};
    CHECK(ferry_import(directory, path, &options, &error));
    CHECK(ferry_model_file_open(path, ferry_kernels_find(NULL), &file, &error));
    assert_true(has_text(file.name, "opus-mt"));
    assert_int_equal(memcmp(file.origin.name.data, "variant-", 8), 0);
    assert_true(has_text(file.origin.licence, "Do what you like.\n"));
    assert_int_equal(file.origin.file_count, 3);
    assert_int_equal(file.origin.sizes[1], 18);
    ferry_model_file_close(&file);
    free(directory);
    free(path);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_export_round_trip),
        cmocka_unit_test(test_export_refusals),
        cmocka_unit_test(test_given_slopes),
        cmocka_unit_test(test_position_refusals),
        cmocka_unit_test(test_untied_export_and_a_scheme_for_each_stack),
        cmocka_unit_test(test_export_with_text),
        cmocka_unit_test(test_marian_separate),
        cmocka_unit_test(test_marian_joint),
        cmocka_unit_test(test_shards_equal_one_file),
        cmocka_unit_test(test_element_types),
        cmocka_unit_test(test_bare_model_names),
        cmocka_unit_test(test_tied_names),
        cmocka_unit_test(test_stored_position_tables),
        cmocka_unit_test(test_logits_bias),
        cmocka_unit_test(test_marian_tensor_refusals),
        cmocka_unit_test(test_values_too_large),
        cmocka_unit_test(test_marian_config_refusals),
        cmocka_unit_test(test_generation_config),
        cmocka_unit_test(test_generation_without_its_file),
        cmocka_unit_test(test_generation_refusals),
        cmocka_unit_test(test_sources_that_are_no_model),
        cmocka_unit_test(test_name_and_licence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
