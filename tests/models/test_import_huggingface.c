/* MarianMT directories: what they say is what the model file says, bit by bit; what Ferry cannot do is refused by name.
 */
#include "tests/support/import_support.h"

#include <unistd.h>

#include "base/half.h"

static void check_marian_separate(ferry_type type)
{
    ferry_safetensors source;
    char *directory = data_file("models/marian-separate"), *weights = in_directory(directory, "model.safetensors");
    CHECK(ferry_safetensors_open(weights, &source, &error));
    const ferry_model_file *file = converted_as(directory, type);
    const ferry_transformer *model = &file->transformer;
    expectation expected = {&source, "model.", type == FERRY_F16, 0};
    check_layers(&expected, model);
    check_panels(&expected, "encoder.embed_tokens.weight", model->encoder.embedding.panels, 901, 64);
    check_panels(&expected, "decoder.embed_tokens.weight", model->decoder.embedding.panels, 701, 64);
    expected.prefix = "";
    check_panels(&expected, "lm_head.weight", model->output.panels, 701, 64);
    if (model->output.bias != NULL) check_vector(&expected, "final_logits_bias", model->output.bias, 701);
    assert_int_equal(model->encoder.ffn_width, 128);
    assert_int_equal(model->decoder.ffn_width, 96);
    assert_int_equal(model->encoder.activation, FERRY_GELU);
    assert_false(model->encoder.pre_norm);
    assert_int_equal(file->generation.start_id, 700);
    assert_int_equal(file->generation.pad_id, 700);
    assert_int_equal(file->generation.decoding.beam, 1);
    assert_int_equal(file->generation.decoding.max_length, 0);
    assert_int_equal(file->generation.decoding.forced_last_id, 0);
    assert_true(file->generation.decoding.renormalize);
    assert_int_equal(file->generation.decoding.suppressed_count, 1);
    assert_int_equal(file->generation.decoding.suppressed_ids[0], 700);
    assert_true(text_key(file, "ferry.encoder.position.layout", "split"));
    assert_true(text_key(file, "ferry.encoder.position.exponent_divisor", "half"));
    assert_int_equal(file->text.source_count, 901);
    assert_int_equal(file->text.target_count, 701);
    assert_true(has_text(ferry_texts_at(file->text.source_pieces, 900), "<pad>"));
    assert_true(has_text(ferry_texts_at(file->text.target_pieces, 700), "<pad>"));
    assert_true(file->text.source_model.size == 254175 && file->text.target_model.size == 250719);
    assert_true(file->text.leading_tag);
    assert_int_equal(file->text.special_count, 3);
    ferry_safetensors_close(&source);
}

TEST(test_marian_separate)
{
    check_marian_separate(FERRY_F32);
    check_marian_separate(FERRY_F16);
}

TEST(test_marian_joint)
{
    ferry_safetensors source;
    char *directory = shared_file("models/tatoeba-en-de/huggingface"); /* the real model or its small twin */
    const int32_t pad = large_data() ? 8000 : 1000, width = large_data() ? 256 : 64;
    char *weights = in_directory(directory, "model.safetensors");
    CHECK(ferry_safetensors_open(weights, &source, &error));
    const ferry_model_file *file = converted(directory);
    const ferry_transformer *model = &file->transformer;
    expectation expected = {&source, "model.", false, 0};
    check_layers(&expected, model);
    check_panels(&expected, "shared.weight", model->encoder.embedding.panels, pad + 1, width);
    assert_ptr_equal(model->output.panels, model->decoder.embedding.panels);
    assert_int_equal(model->encoder.activation, FERRY_SWISH);
    assert_true(model->embedding_scale == sqrtf((float)width));
    assert_int_equal(file->generation.decoding.beam, 4);
    assert_int_equal(file->generation.decoding.max_length, 511);
    assert_int_equal(file->generation.decoding.forced_last_id, 0);
    assert_int_equal(file->generation.decoding.suppressed_ids[0], pad);
    assert_ptr_equal(file->text.source_pieces, file->text.target_pieces);
    assert_ptr_equal(file->text.source_model.data, file->text.target_model.data);
    assert_null(ferry_gguf_find(&file->gguf, "ferry.tokenizer.target.pieces"));
    ferry_safetensors_close(&source);
}

TEST(test_shards_equal_one_file)
{
    char *source = data_file("models/marian-separate");
    const edit no_weights = {"model.safetensors", NULL, NULL};
    char *directory = variant(source, &no_weights, 1);
    item_list *list = read_items(source);
    char *index = kept_memory(1 << 16);
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
    const ferry_model_file *whole = converted(source);
    const ferry_model_file *sharded = converted(directory);
    check_same_tensors(whole, sharded);
}

/* Numbers of every element type: a source of 16-bit floats gives the file that the same numbers as f32 give. */
TEST(test_element_types)
{
    static const ferry_type types[] = {FERRY_F16, FERRY_BF16, FERRY_F64};
    char *source = data_file("models/marian-separate");
    for (size_t t = 0; t < 3; t++) {
        char *directory = variant(source, NULL, 0), *twin = variant(source, NULL, 0);
        item_list *list = read_items(source);
        write_items(list, directory, "model.safetensors", types[t], 0, 1);
        float *rounded[200];
        for (size_t i = 0; i < list->count; i++) {
            ferry_tensor *tensor = &list->items[i].tensor;
            const float *numbers = tensor->data;
            rounded[i] = kept_memory(tensor->bytes);
            memcpy(rounded[i], numbers, tensor->bytes);
            for (size_t j = 0; j < tensor->bytes / 4 && types[t] == FERRY_F16; j++)
                rounded[i][j] = ferry_f16_to_f32(ferry_f32_to_f16(numbers[j]));
            for (size_t j = 0; j < tensor->bytes / 4 && types[t] == FERRY_BF16; j++)
                rounded[i][j] = ferry_bf16_to_f32((uint16_t)(ferry_f32_bits(numbers[j]) >> 16));
            tensor->data = rounded[i];
        }
        write_items(list, twin, "model.safetensors", FERRY_F32, 0, 1);
        const ferry_model_file *narrow = converted(directory);
        const ferry_model_file *wide = converted(twin);
        check_same_tensors(narrow, wide);
    }
}

TEST(test_bare_model_names)
{
    char *source = data_file("models/marian-separate"), *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    for (size_t i = 0; i < list->count; i++) {
        char *name = list->items[i].name;
        if (strncmp(name, "model.", 6) == 0) memmove(name, name + 6, strlen(name) - 5);
    }
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    const ferry_model_file *whole = converted(source);
    const ferry_model_file *bare = converted(directory);
    check_same_tensors(whole, bare);
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
        {"source.spm", NULL, NULL},
    };
    char *directory = variant(source, edits, COUNT(edits));
    link_file(in_directory(source, "target_vocab.json"), directory, "vocab.json");
    link_file(in_directory(source, "target.spm"), directory, "source.spm");
    return directory;
}

TEST(test_tied_names)
{
    static const char *const carriers[] = {"model.shared.weight", "model.decoder.embed_tokens.weight",
                                           "model.encoder.embed_tokens.weight", "lm_head.weight"};
    char *source = data_file("models/marian-separate"), *directory = joint_directory(source);
    item_list *list = read_items(source);
    const float *numbers = find_item(list, "model.decoder.embed_tokens.weight")->tensor.data;
    const float *other = find_item(list, "lm_head.weight")->tensor.data;
    remove_item(list, "model.encoder.embed_tokens.weight");
    remove_item(list, "model.decoder.embed_tokens.weight");
    remove_item(list, "lm_head.weight");
    const size_t rest = list->count;
    for (size_t i = 0; i < 4; i++) {
        list->count = rest;
        add_item(list, carriers[i], 701, 64, numbers);
        write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
        const ferry_model_file *file = converted(directory);
        float row[64];
        ferry_panels_row(row, file->transformer.encoder.embedding.panels, 64, 17);
        assert_memory_equal(row, numbers + 17 * 64, sizeof row);
        assert_ptr_equal(file->transformer.output.panels, file->transformer.encoder.embedding.panels);
    }
    add_item(list, carriers[0], 701, 64, other);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(
        directory, FERRY_ERROR_FORMAT,
        "tensors 'model.shared.weight' and 'lm_head.weight' differ, but the configuration says that they are one");
    list->count = rest;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_FORMAT, "no tensor holds the embeddings");
}

TEST(test_stored_position_tables)
{
    enum { P = 40, D = 64 };
    static float table[P * D], other[P * D];
    char *source = data_file("models/marian-separate"), *directory = variant(source, NULL, 0);
    for (int p = 0; p < P; p++) {
        for (int k = 0; k < D / 2; k++) {
            const double angle = p / pow(10000, 2.0 * k / D);
            table[p * D + k] = (float)sin(angle) + 5e-6f;
            table[p * D + D / 2 + k] = (float)cos(angle);
        }
    }
    memcpy(other, table, sizeof table);
    other[P * D - 1] += 3e-5f;
    item_list *list = read_items(source);
    add_item(list, "model.encoder.embed_positions.weight", P, D, table);
    add_item(list, "model.decoder.embed_positions.weight", P, D, other);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    const ferry_model_file *file = converted(directory);
    assert_string_equal(file->transformer.encoder.position.scheme->name, "sinusoidal");
    assert_string_equal(file->transformer.decoder.position.scheme->name, "learned");
    assert_int_equal(file->transformer.decoder.position.limit, P);
    assert_memory_equal(ferry_gguf_tensor(&file->gguf, "dec.position.weight")->data, other, sizeof other);
}

TEST(test_logits_bias)
{
    static float zeros[701];
    char *source = data_file("models/marian-separate"), *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    float *bias = kept_memory(701 * sizeof *bias);
    item *found = find_item(list, "final_logits_bias");
    found->tensor.data = zeros;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    const ferry_model_file *file = converted(directory);
    assert_null(file->transformer.output.bias);
    bias[700] = 2;
    found->tensor.data = bias;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    file = converted(directory);
    assert_memory_equal(file->transformer.output.bias, bias, 701 * sizeof *bias);
}

TEST(test_marian_tensor_refusals)
{
    static const float numbers[4] = {1};
    char *source = data_file("models/marian-separate"), *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    const size_t all = list->count;
    add_item(list, "model.encoder.version", 1, 1, numbers);
    add_item(list, "model.encoder.embed_positions.weights", 2, 2, numbers);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    converted(directory); /* leftovers are ignored */
    list->count = all;
    add_item(list, "model.encoder.layernorm_embedding.weight", 2, 2, numbers);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_UNSUPPORTED,
                  "model.safetensors: tensor 'model.encoder.layernorm_embedding.weight' is unknown");
    list->count = all;
    item *norm = find_item(list, "model.decoder.layers.1.final_layer_norm.bias");
    norm->tensor.dims = 2;
    norm->tensor.shape[0] = 8;
    norm->tensor.shape[1] = 8;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_FORMAT,
                  "tensor 'model.decoder.layers.1.final_layer_norm.bias': expected shape [64], found [8, 8]");
    remove_item(list, "model.decoder.layers.1.final_layer_norm.bias");
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_FORMAT, "tensor 'model.decoder.layers.1.final_layer_norm.bias' is missing");
}

TEST(test_values_too_large)
{
    char *source = data_file("models/marian-separate"), *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    ferry_tensor *tensor = &find_item(list, "model.encoder.layers.0.fc1.weight")->tensor;
    float *numbers = kept_memory(tensor->bytes);
    memcpy(numbers, tensor->data, tensor->bytes);
    numbers[100] = 70000;
    tensor->data = numbers;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_as(directory, FERRY_F16, FERRY_ERROR_UNSUPPORTED,
              "tensor 'model.encoder.layers.0.fc1.weight': a value is too large for f16");
    converted(directory);
    refuse_as(directory, FERRY_BF16, FERRY_ERROR_ARGUMENT, "type: expected f32, f16 or i8, found bf16");
}
