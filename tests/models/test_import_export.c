/* The export layout: what a directory says is what the model file says, bit by bit, for every positional encoding. */
#include "tests/support/import_support.h"

#include <unistd.h>

/* What the source calls a tensor of the positional encoding, and the model file: N is a layer. */
typedef struct position_tensor {
    const char *source, *name;
} position_tensor;

typedef struct export_row {
    const char *name, *position;
    const char *keys[4];        /* "layout split": of both stacks */
    position_tensor tensors[6]; /* of both stacks */
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
    ferry_safetensors source;
    char folder[100];
    const char *name = row->name;
    snprintf(folder, sizeof folder, "positions/%s", name);
    char *directory = data_file("%s", folder), *weights = in_directory(directory, "model.safetensors");
    CHECK(ferry_safetensors_open(weights, &source, &error));
    const ferry_model_file *file = converted_as(directory, type);
    const ferry_transformer *model = &file->transformer;
    expectation expected = {&source, "", type == FERRY_F16, 0};
    const bool pre = strstr(name, "-pre") != NULL;
    check_panels(&expected, "shared.weight", model->decoder.embedding.panels, model->decoder.vocab_size,
                 model->d_model);
    check_layers(&expected, model);
    assert_ptr_equal(model->encoder.embedding.panels, model->decoder.embedding.panels);
    assert_ptr_equal(model->output.panels, model->decoder.embedding.panels);
    if (model->output.bias != NULL) check_vector(&expected, "final_logits_bias", model->output.bias, model->output.N);
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
    assert_int_equal(file->generation.start_id, pre ? 60 : 96);
    assert_int_equal(file->generation.eos_ids[0], 0);
    assert_int_equal(file->generation.decoding.suppressed_ids[0], file->generation.pad_id);
    assert_true(file->generation.decoding.renormalize);
    assert_int_equal(file->generation.decoding.beam, 1);
    assert_false(file->text.present);
    assert_true(has_text(file->name, name));
    assert_true(has_text(file->origin.kind, "seq2seq-export-1"));
    assert_int_equal(file->origin.file_count, 2);
    assert_true(has_text(ferry_texts_at(file->origin.files, 1), "model.safetensors"));
    assert_true(text_key(file, "ferry.encoder.position.type", row->position));
    for (size_t i = 0; i < 4 && row->keys[i] != NULL; i++) {
        check_position_key(file, "encoder", row->keys[i]);
        check_position_key(file, "decoder", row->keys[i]);
    }
    for (size_t i = 0; i < COUNT(row->tensors) && row->tensors[i].name != NULL; i++) {
        check_position_tensor(&expected, file, false, model->encoder.layer_count, &row->tensors[i]);
        check_position_tensor(&expected, file, true, model->decoder.layer_count, &row->tensors[i]);
    }
    assert_int_equal(expected.checked + (model->output.bias == NULL), source.weights.count);
    assert_int_equal(file->widened_bytes > 0, type == FERRY_F16);
    ferry_safetensors_close(&source);
}

TEST(test_export_round_trip)
{
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
        {"kerple-post", "kerple", {NULL}, {{"self_attn.kerple_p", "kerple_p"}, {"self_attn.kerple_a", "kerple_a"}}},
        {"fire-pre",
         "fire",
         {"width 32"},
         {{"self_attn.fire_c", "fire_c"},
          {"self_attn.fire_threshold", "fire_threshold"},
          {"self_attn.fire_w1", "fire_w1"},
          {"self_attn.fire_b1", "fire_b1"},
          {"self_attn.fire_w2", "fire_w2"},
          {"self_attn.fire_b2", "fire_b2"}}},
        {.name = "mixed-pre", .position = "rope"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_export(&rows[i], FERRY_F32);
        check_export(&rows[i], FERRY_F16);
    }
}

TEST(test_position_refusals)
{
    static const struct {
        const char *name, *from, *to;
        ferry_status status;
        const char *message;
    } rows[] = {
        {"none-post", "\"none\"", "\"nope\"", FERRY_ERROR_UNSUPPORTED, "'position.type': 'nope' is not supported"},
        {"none-post", "\"none\"", "\"none\", \"clip\": 7", FERRY_ERROR_UNSUPPORTED,
         "'position.clip': type 'none' has no such parameter"},
        {"none-post", "\"none\"", "\"rope\"", FERRY_ERROR_FORMAT, "'position.theta' is missing"},
        {"none-post", "\"none\"", "\"sinusoidal\"", FERRY_ERROR_FORMAT, "'position.layout' is missing"},
        {"none-post", "\"type\": \"none\"", "\"encoder\": {\"type\": \"none\"}", FERRY_ERROR_FORMAT,
         "'position': expected 'encoder' and 'decoder', found one"},
        {"none-post", "\"type\": \"none\"", "\"encoder\": {\"type\": \"none\"}, \"decoder\": {\"type\": \"learned\"}",
         FERRY_ERROR_FORMAT, "'position.decoder.max_positions' is missing"},
        {"learned-post", "\"max_positions\": 64", "\"max_positions\": 65", FERRY_ERROR_FORMAT,
         "tensor 'encoder.embed_positions.weight': expected shape [65, 64], found [64, 64]"},
        {"sinusoidal-post", "\"interleaved\"", "\"woven\"", FERRY_ERROR_FORMAT,
         "'position.layout': expected 'interleaved' or 'split'"},
        {"shaw-post", "\"clip\": 4", "\"clip\": 0", FERRY_ERROR_FORMAT,
         "'position.clip': expected 1 to 65536, found 0"},
        {"shaw-post", "\"clip\": 4", "\"clip\": 5", FERRY_ERROR_FORMAT,
         "tensor 'encoder.layers.0.self_attn.rel_k': expected shape [11, 16], found [9, 16]"},
        {"t5-post", "\"num_buckets\": 8", "\"num_buckets\": 3", FERRY_ERROR_FORMAT,
         "'position.num_buckets': expected 4 to"},
        {"t5-post", "\"max_distance\": 20", "\"max_distance\": 2", FERRY_ERROR_FORMAT,
         "'position.max_distance': expected 3 to"},
        {"transformer_xl-post", "\"type\": \"transformer_xl\"", "\"type\": \"alibi\"", FERRY_ERROR_UNSUPPORTED,
         "tensor 'decoder.layers.0.self_attn.r_proj.weight' is unknown"},
        {"deberta_released-post", "\"released\"", "\"leaked\"", FERRY_ERROR_FORMAT,
         "'position.p2c': expected 'paper' or 'released'"},
        {"rope-post", "10000.0", "1", FERRY_ERROR_FORMAT, "'position.theta': expected a number between 1 and 1e12"},
        {"rope-post", "10000.0", "10000.0, \"dims\": 5", FERRY_ERROR_FORMAT,
         "'position.dims': expected an even number, found 5"},
        {"rope-post", "10000.0", "10000.0, \"dims\": 18", FERRY_ERROR_FORMAT,
         "'position.dims': expected 2 to 16, found 18"},
        {"alibi-post", "\"alibi\"", "\"alibi\", \"slopes\": \"given\"", FERRY_ERROR_FORMAT,
         "tensor 'encoder.slopes' is missing"},
        {"alibi-post", "\"alibi\"", "\"kerple\"", FERRY_ERROR_FORMAT,
         "tensor 'encoder.layers.0.self_attn.kerple_p' is missing"},
        {"fire-post", "\"width\": 32", "\"width\": 0", FERRY_ERROR_FORMAT,
         "'position.width': expected 1 to 65536, found 0"},
        {"fire-post", "\"width\": 32", "\"width\": 65537", FERRY_ERROR_FORMAT,
         "'position.width': expected 1 to 65536, found 65537"},
        {"fire-post", "\"width\": 32", "\"width\": 33", FERRY_ERROR_FORMAT,
         "tensor 'encoder.layers.0.self_attn.fire_w1': expected shape [33], found [32]"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char folder[100];
        snprintf(folder, sizeof folder, "positions/%s", rows[i].name);
        char *directory = data_file("%s", folder);
        refuse_edit(directory, "config.json", rows[i].from, rows[i].to, rows[i].status, rows[i].message);
    }
}

/* An id like any other, though the samples have it for the end. */
TEST(test_id_zero)
{
    const edit edits[] = {{"config.json", "\"pad_token_id\": 96", "\"pad_token_id\": 0"},
                          {"config.json", "\"decoder_start_token_id\": 96", "\"decoder_start_token_id\": 0"},
                          {"config.json", "\"eos_token_id\": 0", "\"eos_token_id\": 3"}};
    const ferry_generation *ids = &converted(variant(data_file("positions/none-post"), edits, 3))->generation;
    assert_true(ids->pad_id == 0 && ids->start_id == 0 && ids->eos_ids[0] == 3);
    assert_int_equal(ids->decoding.suppressed_count, 1);
    assert_int_equal(ids->decoding.suppressed_ids[0], 0);
}

TEST(test_given_slopes)
{
    char *post = data_file("positions/alibi-post");
    const edit change = {"config.json", "\"alibi\"", "\"alibi\", \"slopes\": \"given\""};
    char *directory = variant(post, &change, 1);
    item_list *list = read_items(directory);
    const float slopes[] = {1, 0.5f, 0.25f, 0.125f}, others[] = {4, 3, 2, 1};
    add_item(list, "encoder.slopes", 4, 1, slopes)->tensor.dims = 1;
    add_item(list, "decoder.slopes", 4, 1, others)->tensor.dims = 1;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    const ferry_model_file *file = converted_as(directory, FERRY_F16);
    check_position_key(file, "encoder", "slopes given");
    assert_memory_equal(ferry_gguf_tensor(&file->gguf, "enc.position.slopes")->data, slopes, sizeof slopes);
    assert_memory_equal(ferry_gguf_tensor(&file->gguf, "dec.position.slopes")->data, others, sizeof others);
}

TEST(test_tables_of_layers)
{
    static const char *const stacks[] = {"encoder", "decoder"};
    char *post = data_file("positions/t5-post");
    const edit change = {"config.json", "\"t5\"", "\"t5\", \"tables\": \"layer\""};
    char *directory = variant(post, &change, 1);
    item_list *list = read_items(directory);
    float numbers[4][8 * 4];
    for (int i = 0; i < 4; i++) {
        char name[64];
        for (int j = 0; j < 8 * 4; j++) numbers[i][j] = (float)(100 * i + j);
        snprintf(name, sizeof name, "%s.layers.%d.self_attn.rel_bias.weight", stacks[i / 2], i % 2);
        add_item(list, name, 8, 4, numbers[i]);
    }
    remove_item(list, "encoder.rel_bias.weight");
    remove_item(list, "decoder.rel_bias.weight");
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    const ferry_model_file *file = converted(directory);
    check_position_key(file, "encoder", "tables layer");
    assert_memory_equal(ferry_gguf_tensor(&file->gguf, "enc.blk.1.position.bias")->data, numbers[1], sizeof numbers[1]);
    assert_memory_equal(ferry_gguf_tensor(&file->gguf, "dec.blk.0.position.bias")->data, numbers[2], sizeof numbers[2]);
}

TEST(test_origin_of_an_export)
{
    char *post = data_file("positions/none-post");
    const edit edits[] = {{"config.json", "\"d_model\": 64,",
                           "\"d_model\": 64, \"name\": \"tiny\", \"training\": \"ten steps\", "
                           "\"trained_length\": 31,"}};
    const ferry_model_file *file = converted(variant(post, edits, COUNT(edits)));
    assert_true(has_text(file->name, "tiny"));
    assert_true(has_text(file->origin.name, "tiny"));
    assert_true(has_text(file->origin.training, "ten steps"));
    assert_int_equal(file->origin.trained_length, 31);
    assert_null(ferry_gguf_find(&converted(post)->gguf, "ferry.origin.training"));
}

TEST(test_export_refusals)
{
    static const refusal rows[] = {
        {"config.json", "seq2seq-export-1", "seq2seq-export-2", FERRY_ERROR_UNSUPPORTED,
         "config.json: format 'seq2seq-export-2' is not supported"},
        {"config.json", "swish", "mish", FERRY_ERROR_UNSUPPORTED, "activation 'mish' is not supported"},
        {"config.json", "\"d_model\": 64,", "", FERRY_ERROR_FORMAT, "config.json: 'd_model' is missing"},
        {"config.json", "\"d_model\": 64,", "\"d_model\": 0,", FERRY_ERROR_FORMAT, "'d_model': expected 1 to"},
        {"config.json", "\"d_model\": 64,", "\"d_model\": 64, \"d_model\": 64,", FERRY_ERROR_FORMAT, "duplicate"},
        {"config.json", "\"attention_heads\": 4", "\"attention_heads\": 5", FERRY_ERROR_FORMAT,
         "a width of 64 is not a multiple of its 5 attention heads"},
        {"config.json", "\"eos_token_id\": 0", "\"eos_token_id\": 97", FERRY_ERROR_FORMAT,
         "'eos_token_id': expected 0 to 96, found 97"},
        {"config.json", "\"ffn_dim\": 128", "\"ffn_dim\": 127", FERRY_ERROR_FORMAT,
         "model.safetensors: tensor 'encoder.layers.0.fc1.weight': expected shape [127, 64], found [128, 64]"},
        {"config.json", "\"encoder_layers\": 2", "\"encoder_layers\": 3", FERRY_ERROR_FORMAT,
         "tensor 'encoder.layers.2.self_attn.q_proj.weight' is missing"},
        {"config.json", "\"encoder_layers\": 2", "\"encoder_layers\": 1", FERRY_ERROR_UNSUPPORTED,
         "tensor 'encoder.layers.1.fc1.bias' is unknown"},
        {"config.json", "\"d_model\": 64,", "\"d_model\": 64, \"trained_length\": 0,", FERRY_ERROR_FORMAT,
         "'trained_length': expected 1 to"},
        {"model.safetensors", NULL, NULL, FERRY_ERROR_UNSUPPORTED,
         "expected model.safetensors, model.safetensors.index.json, pytorch_model.bin or"},
        {"config.json", NULL, NULL, FERRY_ERROR_UNSUPPORTED, "config.json is missing"},
        {"config.json", NULL, "{", FERRY_ERROR_FORMAT, "config.json: line 1"},
        {"config.json", NULL, "{}", FERRY_ERROR_UNSUPPORTED, "expected 'model_type' or 'format', found neither"},
    };
    char *post = data_file("positions/none-post");
    refuse_edits(post, rows, COUNT(rows));
}

TEST(test_untied_export_and_a_scheme_for_each_stack)
{
    char *post = data_file("positions/learned-post");
    const edit edits[] = {
        {"config.json", "\"tied_embeddings\": true", "\"tied_embeddings\": false"},
        {"config.json", "\"type\": \"learned\",\n  \"max_positions\": 64",
         "\"encoder\": {\"type\": \"none\"}, \"decoder\": {\"type\": \"learned\", \"max_positions\": 64}"}};
    char *directory = variant(post, edits, 2);
    item_list *list = read_items(directory);
    const item shared = *find_item(list, "shared.weight");
    const float *numbers = shared.tensor.data;
    float *other = kept_memory(shared.tensor.bytes);
    for (int i = 0; i < 97 * 64; i++) other[i] = numbers[i] + 1;
    remove_item(list, "shared.weight");
    remove_item(list, "encoder.embed_positions.weight");
    add_item(list, "encoder.embed_tokens.weight", 97, 64, numbers);
    add_item(list, "decoder.embed_tokens.weight", 97, 64, other);
    add_item(list, "lm_head.weight", 97, 64, numbers);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    const ferry_model_file *file = converted(directory);
    float row[64];
    ferry_panels_row(row, file->transformer.encoder.embedding.panels, 64, 5);
    assert_true(row[3] == numbers[5 * 64 + 3]);
    ferry_panels_row(row, file->transformer.decoder.embedding.panels, 64, 5);
    assert_true(row[3] == other[5 * 64 + 3]);
    ferry_panels_row(row, file->transformer.output.panels, 64, 96);
    assert_true(row[63] == numbers[96 * 64 + 63]);
    assert_string_equal(file->transformer.encoder.position.scheme->name, "none");
    assert_string_equal(file->transformer.decoder.position.scheme->name, "learned");
}

/* Without vocab.json, ids are SentencePiece's; with it, its. */
TEST(test_export_with_text)
{
    char *post = data_file("positions/none-post"), *spm = data_file("models/marian-separate/source.spm");
    char *directory = variant(post, NULL, 0);
    link_file(spm, directory, "source.spm");
    refuse_source(directory, FERRY_ERROR_FORMAT, "the SentencePiece model has ");
    const edit vocabulary = {"vocab.json", NULL, "{\"</s>\": 0, \"<unk>\": 1, \"\\u2581the\": 2, \"<pad>\": 96}"};
    apply_edit(directory, &vocabulary);
    const ferry_model_file *file = converted(directory);
    assert_true(file->text.present);
    assert_int_equal(file->text.source_count, 97);
    assert_true(has_text(ferry_texts_at(file->text.source_pieces, 2), "\xe2\x96\x81the"));
    assert_int_equal(ferry_texts_at(file->text.source_pieces, 50).size, 0);
    assert_int_equal(file->text.source_unk_id, 1);
    assert_int_equal(file->text.suffix_ids[0], 0);
    assert_int_equal(file->text.special_count, 3);
    assert_false(file->text.leading_tag);
}
