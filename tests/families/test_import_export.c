/* The export layout: what a directory says is what the model file says, for every positional encoding. Its numbers are
 * those that tests/graph/test_positions.c computes with. */
#include "tests/support/refusals.h"

#include "engine/kernels/linear.h"

/* What the model file says of both stacks' positions. */
TEST(test_every_encoding)
{
    static const char post[] =
        "d_model 64; embedding_scale 8; encoder.layers 2; encoder.heads 4; decoder.head_width 16; "
        "decoder.ffn_width 128; decoder.vocab_size 97; encoder.activation swish; "
        "decoder.norm_position post; encoder.attention_scale 0.25; start_id 96; decoding.suppressed_ids 96",
                      pre[] = "d_model 48; embedding_scale 6.9282; encoder.layers 3; encoder.heads 6; "
                              "decoder.head_width 8; decoder.ffn_width 96; decoder.vocab_size 61; "
                              "encoder.activation relu; decoder.norm_position pre; "
                              "encoder.attention_scale 0.353553; start_id 60; decoding.suppressed_ids 60",
                      both[] = "tied_embeddings true; tied_output true; decoder.norm_eps 1e-05; eos_ids 0; "
                               "decoding.renormalize true; decoding.beam 1; tokenizer.kind none; "
                               "origin.kind seq2seq-export-1; origin.files config.json|model.safetensors";
    static const char *const rows[][5] = {
        {"none-post", "type none"},
        {"none-pre", "type none"},
        {"learned-post", "type learned", "max_positions 64"},
        {"learned-pre", "type learned", "max_positions 40"},
        {"sinusoidal-post", "type sinusoidal", "layout interleaved", "exponent_divisor half", "first 0"},
        {"sinusoidal_split-pre", "type sinusoidal", "layout split", "exponent_divisor half", "first 0"},
        {"sinusoidal_marian-post", "type sinusoidal", "layout split", "exponent_divisor half_minus_one"},
        {"shaw-pre", "type shaw", "clip 7"},
        {"t5-post", "type t5", "num_buckets 8", "max_distance 20"},
        {"transformer_xl-pre", "type transformer_xl"},
        {"deberta-post", "type deberta", "clip 4", "p2c paper"},
        {"deberta_released-pre", "type deberta", "clip 7", "p2c released"},
        {"rope-post", "type rope", "theta 10000", "layout half", "dims 16"},
        {"rope_interleaved-pre", "type rope", "theta 10000", "layout interleaved", "dims 8"},
        {"alibi-post", "type alibi", "slopes formula"},
        {"kerple-post", "type kerple"},
        {"fire-pre", "type fire", "width 32"},
        {"mixed-pre"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_model_file *file = converted(data_file("positions/%s", rows[i][0]));
        check_file_keys(file, strstr(rows[i][0], "-pre") != NULL ? pre : post);
        check_file_keys(file, both);
        assert_true(has_text(file->name, rows[i][0]) && file->widened_bytes == 0);
        for (size_t k = 1; k < 5 && rows[i][k] != NULL; k++) {
            check_file_keys(file, ferry_name_format("encoder.position.%s", rows[i][k]).text);
            check_file_keys(file, ferry_name_format("decoder.position.%s", rows[i][k]).text);
        }
    }
}

TEST(test_position_refusals)
{
    static const struct {
        const char *name, *from, *to;
        ferry_status status;
        const char *message;
    } rows[] = {
        {"none-post", "\"none\"", "\"nope\"", FERRY_ERROR_UNSUPPORTED, "…'position.type': 'nope' is not supported"},
        {"none-post", "\"none\"", "\"none\", \"clip\": 7", FERRY_ERROR_UNSUPPORTED,
         "…'position.clip': type 'none' has no such parameter"},
        {"none-post", "\"none\"", "\"rope\"", FERRY_ERROR_FORMAT, "…'position.theta' is missing"},
        {"none-post", "\"none\"", "\"sinusoidal\"", FERRY_ERROR_FORMAT, "…'position.layout' is missing"},
        {"none-post", "\"type\": \"none\"", "\"encoder\": {\"type\": \"none\"}", FERRY_ERROR_FORMAT,
         "…'position': expected 'encoder' and 'decoder', found one"},
        {"none-post", "\"type\": \"none\"", "\"encoder\": {\"type\": \"none\"}, \"decoder\": {\"type\": \"learned\"}",
         FERRY_ERROR_FORMAT, "…'position.decoder.max_positions' is missing"},
        {"learned-post", "\"max_positions\": 64", "\"max_positions\": 65", FERRY_ERROR_FORMAT,
         "…tensor 'encoder.embed_positions.weight': expected shape [65, 64], found [64, 64]"},
        {"sinusoidal-post", "\"interleaved\"", "\"woven\"", FERRY_ERROR_FORMAT,
         "…'position.layout': expected 'interleaved' or 'split'"},
        {"shaw-post", "\"clip\": 4", "\"clip\": 0", FERRY_ERROR_FORMAT,
         "…'position.clip': expected 1 to 65536, found 0"},
        {"shaw-post", "\"clip\": 4", "\"clip\": 5", FERRY_ERROR_FORMAT,
         "…tensor 'encoder.layers.0.self_attn.rel_k': expected shape [11, 16], found [9, 16]"},
        {"t5-post", "\"num_buckets\": 8", "\"num_buckets\": 3", FERRY_ERROR_FORMAT,
         "…'position.num_buckets': expected 4 to"},
        {"t5-post", "\"max_distance\": 20", "\"max_distance\": 2", FERRY_ERROR_FORMAT,
         "…'position.max_distance': expected 3 to"},
        {"transformer_xl-post", "\"type\": \"transformer_xl\"", "\"type\": \"alibi\"", FERRY_ERROR_UNSUPPORTED,
         "…tensor 'decoder.layers.0.self_attn.r_proj.weight' is unknown"},
        {"deberta_released-post", "\"released\"", "\"leaked\"", FERRY_ERROR_FORMAT,
         "…'position.p2c': expected 'paper' or 'released'"},
        {"rope-post", "10000.0", "1", FERRY_ERROR_FORMAT, "…'position.theta': expected a number between 1 and 1e12"},
        {"rope-post", "10000.0", "10000.0, \"dims\": 5", FERRY_ERROR_FORMAT,
         "…'position.dims': expected an even number, found 5"},
        {"rope-post", "10000.0", "10000.0, \"dims\": 18", FERRY_ERROR_FORMAT,
         "…'position.dims': expected 2 to 16, found 18"},
        {"rope-post", "10000.0", "10000.0, \"factor\": 4", FERRY_ERROR_UNSUPPORTED,
         "…'position.factor': type 'rope' has no such parameter"},
        {"rope-post", "10000.0", "10000.0, \"scaling\": \"dynamic\"", FERRY_ERROR_FORMAT,
         "…'position.scaling': expected 'none', 'linear', 'llama3' or 'yarn', found 'dynamic'"},
        {"rope-post", "10000.0", "10000.0, \"scaling\": \"longrope\"", FERRY_ERROR_FORMAT,
         "…'position.scaling': expected 'none', 'linear', 'llama3' or 'yarn', found 'longrope'"},
        {"rope-post", "10000.0", "10000.0, \"scaling\": \"llama3\", \"factor\": 2", FERRY_ERROR_FORMAT,
         "…'position.original_length' is missing"},
        {"rope-post", "10000.0", "10000.0, \"scaling\": \"linear\", \"factor\": 2, \"fast\": 2",
         FERRY_ERROR_UNSUPPORTED, "…'position.fast': type 'rope' has no such parameter"},
        {"alibi-post", "\"alibi\"", "\"alibi\", \"slopes\": \"given\"", FERRY_ERROR_FORMAT,
         "…tensor 'encoder.slopes' is missing"},
        {"alibi-post", "\"alibi\"", "\"kerple\"", FERRY_ERROR_FORMAT,
         "…tensor 'encoder.layers.0.self_attn.kerple_p' is missing"},
        {"fire-post", "\"width\": 32", "\"width\": 0", FERRY_ERROR_FORMAT,
         "…'position.width': expected 1 to 65536, found 0"},
        {"fire-post", "\"width\": 32", "\"width\": 65537", FERRY_ERROR_FORMAT,
         "…'position.width': expected 1 to 65536, found 65537"},
        {"fire-post", "\"width\": 32", "\"width\": 33", FERRY_ERROR_FORMAT,
         "…tensor 'encoder.layers.0.self_attn.fire_w1': expected shape [33], found [32]"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const refused_edit row = {"config.json", rows[i].from, rows[i].to, rows[i].status, rows[i].message};
        check_refused_edits(data_file("positions/%s", rows[i].name), &row, 1);
    }
}

TEST(test_keys)
{
    static const saying rows[] = {
        {{{"config.json", "\"scale_embedding\": true", "\"scale_embedding\": false"}},
         "embedding_scale 1; origin.training absent"},
        {{{"config.json", "{", "{\"trained_length\": 1, "}}, "embedding_scale 8; origin.trained_length 1"},
        {{{"config.json", "{", "{\"trained_seed\": 5, \"trained_tokens\": 2500, "}},
         "origin.trained_seed 5; origin.trained_tokens 2500"},
        {{{"config.json", "{", "{\"name\": \"tiny\", \"training\": \"ten steps\", \"trained_length\": 31, "}},
         "origin.name tiny; origin.training ten steps; origin.trained_length 31"},
        {{{"config.json", "\"pad_token_id\": 96", "\"pad_token_id\": 0"},
          {"config.json", "\"decoder_start_token_id\": 96", "\"decoder_start_token_id\": 0"},
          {"config.json", "\"eos_token_id\": 0", "\"eos_token_id\": 3"}},
         "pad_id 0; start_id 0; eos_ids 3; decoding.suppressed_ids 0"},
    };
    check_sayings(data_file("positions/none-post"), rows, COUNT(rows));
}

/* A scaled rotation needs a build that knows it. */
TEST(test_scaled_rotation)
{
    static const saying rows[] = {
        {{{"config.json", "10000.0", "10000.0, \"scaling\": \"linear\", \"factor\": 2"}},
         "features "
         "encoder-decoder|panels16|type:f32|output-coarse:bound|decoder:attention|norm:layernorm|norm-position:post|"
         "activation:swish|position:rope|rotation:linear|policy:huggingface|tokenizer:none"},
    };
    check_sayings(data_file("positions/rope-post"), rows, COUNT(rows));
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
    const ferry_model_file *file = converted_with(directory, &(ferry_import_options){.type = FERRY_F16});
    check_file_keys(file, "encoder.position.slopes given");
    assert_true(file->widened_bytes > 0);
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
    check_file_keys(file, "encoder.position.tables layer");
    assert_memory_equal(ferry_gguf_tensor(&file->gguf, "enc.blk.1.position.bias")->data, numbers[1], sizeof numbers[1]);
    assert_memory_equal(ferry_gguf_tensor(&file->gguf, "dec.blk.0.position.bias")->data, numbers[2], sizeof numbers[2]);
}

TEST(test_export_refusals)
{
    static const refused_edit rows[] = {
        {"config.json", "seq2seq-export-1", "seq2seq-export-2", FERRY_ERROR_UNSUPPORTED,
         "…config.json: format 'seq2seq-export-2' is not supported"},
        {"config.json", "swish", "mish", FERRY_ERROR_UNSUPPORTED, "…activation 'mish' is not supported"},
        {"config.json", "\"d_model\": 64,", "", FERRY_ERROR_FORMAT, "…config.json: 'd_model' is missing"},
        {"config.json", "\"d_model\": 64,", "\"d_model\": 0,", FERRY_ERROR_FORMAT, "…'d_model': expected 1 to"},
        {"config.json", "\"d_model\": 64,", "\"d_model\": 64, \"d_model\": 64,", FERRY_ERROR_FORMAT, "…duplicate"},
        {"config.json", "\"attention_heads\": 4", "\"attention_heads\": 5", FERRY_ERROR_FORMAT,
         "…a width of 64 is not a multiple of its 5 attention heads"},
        {"config.json", "\"attention_heads\": 4", "\"attention_heads\": 0", FERRY_ERROR_FORMAT,
         "…'attention_heads': expected 1 to 1048576, found 0"},
        {"config.json", "\"encoder_layers\": 2", "\"encoder_layers\": 0", FERRY_ERROR_FORMAT,
         "…'encoder_layers': expected 1 to 1048576, found 0"},
        {"config.json", "\"decoder_layers\": 2", "\"decoder_layers\": 0", FERRY_ERROR_FORMAT,
         "…'decoder_layers': expected 1 to 1048576, found 0"},
        {"config.json", "\"decoder_layers\": 2", "\"decoder_layers\": 1", FERRY_ERROR_UNSUPPORTED,
         "…tensor 'decoder.layers.1.encoder_attn.k_proj.bias' is unknown"},
        {"config.json", "\"eos_token_id\": 0", "\"eos_token_id\": 97", FERRY_ERROR_FORMAT,
         "…'eos_token_id': expected 0 to 96, found 97"},
        {"config.json", "\"ffn_dim\": 128", "\"ffn_dim\": 127", FERRY_ERROR_FORMAT,
         "…model.safetensors: tensor 'encoder.layers.0.fc1.weight': expected shape [127, 64], found [128, 64]"},
        {"config.json", "\"encoder_layers\": 2", "\"encoder_layers\": 3", FERRY_ERROR_FORMAT,
         "…tensor 'encoder.layers.2.self_attn.q_proj.weight' is missing"},
        {"config.json", "\"encoder_layers\": 2", "\"encoder_layers\": 1", FERRY_ERROR_UNSUPPORTED,
         "…tensor 'encoder.layers.1.fc1.bias' is unknown"},
        {"config.json", "\"d_model\": 64,", "\"d_model\": 64, \"trained_length\": 0,", FERRY_ERROR_FORMAT,
         "…'trained_length': expected 1 to"},
        {"config.json", "\"d_model\": 64,", "\"d_model\": 64, \"trained_seed\": 0,", FERRY_ERROR_FORMAT,
         "…'trained_seed': expected 1 to"},
        {"config.json", "\"d_model\": 64,", "\"d_model\": 64, \"trained_tokens\": -1,", FERRY_ERROR_UNSUPPORTED,
         "…trained_tokens: a model file has a number from 0 to"},
        {"model.safetensors", NULL, NULL, FERRY_ERROR_UNSUPPORTED,
         "…expected model.safetensors, model.safetensors.index.json, pytorch_model.bin or"},
        {"config.json", NULL, NULL, FERRY_ERROR_UNSUPPORTED, "…config.json is missing"},
        {"config.json", NULL, "{", FERRY_ERROR_FORMAT, "…config.json: line 1"},
        {"config.json", NULL, "{}", FERRY_ERROR_UNSUPPORTED, "…expected 'model_type' or 'format', found neither"},
    };
    char *post = data_file("positions/none-post");
    check_refused_edits(post, rows, COUNT(rows));
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
    ferry_matrix_row(&file->transformer.encoder.embedding, 5, row);
    assert_true(row[3] == numbers[5 * 64 + 3]);
    ferry_matrix_row(&file->transformer.decoder.embedding, 5, row);
    assert_true(row[3] == other[5 * 64 + 3]);
    ferry_matrix_row(&file->transformer.output, 96, row);
    assert_true(row[63] == numbers[96 * 64 + 63]);
    assert_string_equal(file->transformer.encoder.position.scheme->name, "none");
    assert_string_equal(file->transformer.decoder.position.scheme->name, "learned");
}

/* Without vocab.json, ids are SentencePiece's: of each side's own model, if there are two; with it, its. */
TEST(test_export_with_text)
{
    const char *pre = data_file("positions/none-pre"), *first = data_file("huggingface/t5/spiece.model"),
               *second = data_file("huggingface/m2m100/sentencepiece.bpe.model");
    char *directory = variant(pre, NULL, 0);
    link_file(data_file("models/marian-separate/source.spm"), directory, "source.spm");
    refuse_source(directory, FERRY_ERROR_FORMAT, "source.spm: 900 words for the 61 rows of embeddings in ");
    for (int two = 0; two < 2; two++) {
        directory = variant(pre, NULL, 0);
        link_file(first, directory, "source.spm");
        if (two == 1) link_file(second, directory, "target.spm");
        const ferry_model_file *file = converted(directory);
        check_file_keys(file, "tokenizer.source.unk_id 2; tokenizer.source.suffix_ids 0; encoder.vocab_size 61");
        assert_true(has_text(ferry_texts_at(file->text.source_pieces, 1), "</s>"));
        assert_true(has_text(ferry_texts_at(file->text.target_pieces, 1), two == 1 ? "<s>" : "</s>"));
    }
    const edit vocabulary = {"vocab.json", NULL, "{\"</s>\": 0, \"<unk>\": 1, \"\\u2581the\": 2, \"<pad>\": 60}"};
    apply_edit(directory, &vocabulary);
    const ferry_model_file *file = converted(directory);
    check_file_keys(file,
                    "tokenizer.source.unk_id 1; tokenizer.source.suffix_ids 0; tokenizer.source.leading_tag false; "
                    "tokenizer.target.special_ids 0 60 1; tokenizer.target.pieces absent");
    assert_true(has_text(ferry_texts_at(file->text.source_pieces, 2), "\u2581the"));
    assert_int_equal(ferry_texts_at(file->text.source_pieces, 50).size, 0);
}
