/* MarianMT directories: what they say is what the model file says; what Ferry cannot do is refused by name. The layers'
 * numbers are checked by golden logits. */
#include "tests/support/import_support.h"

TEST(test_marian_joint)
{
    const ferry_model_file *file = converted(shared_file("models/tatoeba-en-de/huggingface"));
    const ferry_transformer *model = &file->transformer;
    check_file_keys(file, "tied_embeddings true; tied_output true; encoder.activation swish; decoding.beam 4; "
                          "decoding.max_length 511; decoding.forced_last_id 0; tokenizer.target.pieces absent; "
                          "tokenizer.target.model absent");
    check_file_keys(file, large_data() ? "embedding_scale 16; decoding.suppressed_ids 8000; d_model 256"
                                       : "embedding_scale 8; decoding.suppressed_ids 1000; d_model 64");
    assert_ptr_equal(model->output.panels, model->decoder.embedding.panels);
    assert_ptr_equal(model->encoder.embedding.panels, model->decoder.embedding.panels);
    assert_ptr_equal(file->text.source_pieces, file->text.target_pieces);
}

/* ---- tensors that are edited ---- */

static char *with_items(const char *source, const item_list *list, ferry_type type)
{
    char *directory = variant(source, NULL, 0);
    write_items(list, directory, "model.safetensors", type, 0, 1);
    return directory;
}

TEST(test_wide_numbers)
{
    char *source = data_file("models/marian-separate");
    check_same_tensors(converted(source), converted(with_items(source, read_items(source), FERRY_F64)));
}

/* Zeros are no bias, and one number is one, be it the first or the last. */
TEST(test_logits_bias)
{
    static float zeros[701], first[701] = {2}, last[701];
    const float *const rows[] = {zeros, first, last};
    char *source = data_file("models/marian-separate");
    last[700] = -2;
    for (size_t i = 0; i < COUNT(rows); i++) {
        item_list *list = read_items(source);
        find_item(list, "final_logits_bias")->tensor.data = rows[i];
        const ferry_matrix *output = &converted(with_items(source, list, FERRY_F32))->transformer.output;
        assert_int_equal(output->bias == NULL, i == 0);
        if (i > 0) assert_memory_equal(output->bias, rows[i], sizeof zeros);
    }
}

TEST(test_marian_tensor_refusals)
{
    static const char *const ignored[] = {"model.encoder.version",
                                          "model.encoder.embed_positions._float_tensor",
                                          "model.encoder.embed_positions.weights",
                                          "model.decoder.layers.0.self_attn.masked_bias",
                                          "model.num_batches_tracked",
                                          "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
    static const float numbers[4] = {1};
    char *source = data_file("models/marian-separate");
    item_list *list = read_items(source);
    const size_t all = list->count;
    for (size_t i = 0; i < COUNT(ignored); i++) add_item(list, ignored[i], 2, 2, numbers);
    check_same_tensors(converted(source), converted(with_items(source, list, FERRY_F32)));
    list->count = all;
    add_item(list, "model.encoder.layernorm_embedding.weight", 2, 2, numbers);
    refuse_source(with_items(source, list, FERRY_F32), FERRY_ERROR_UNSUPPORTED,
                  "model.safetensors: tensor 'model.encoder.layernorm_embedding.weight' is unknown");
    list->count = all;
    ferry_tensor *norm = &find_item(list, "model.decoder.layers.1.final_layer_norm.bias")->tensor;
    *norm = (ferry_tensor){.dims = 2, .shape = {8, 8, 1, 1}, .data = norm->data, .bytes = norm->bytes};
    refuse_source(with_items(source, list, FERRY_F32), FERRY_ERROR_FORMAT,
                  "tensor 'model.decoder.layers.1.final_layer_norm.bias': expected shape [64], found [8, 8]");
}
