/* MarianMT: configurations that are refused, and defaults of decoding. */
#include "tests/support/import_support.h"

TEST(test_marian_config_refusals)
{
    static const refusal rows[] = {
        {"config.json", "\"marian\"", "\"bert\"", FERRY_ERROR_UNSUPPORTED, "found 'bert'"},
        {"config.json", "MarianMTModel", "MarianModel", FERRY_ERROR_UNSUPPORTED,
         "architecture 'MarianModel' does not translate"},
        {"config.json", "\"gelu\"", "\"mish\"", FERRY_ERROR_UNSUPPORTED, "activation 'mish' is not supported"},
        {"config.json", "{", "{\"quantization_config\": {},", FERRY_ERROR_UNSUPPORTED, "quantization_config"},
        {"config.json", "\"share_encoder_decoder_embeddings\": false", "\"share_encoder_decoder_embeddings\": true",
         FERRY_ERROR_FORMAT, "vocab_size 901 but decoder_vocab_size 701"},
        {"vocab.json", NULL, NULL, FERRY_ERROR_IO, "vocab.json: cannot open"},
        {"vocab.json", "\"</s>\": 0", "\"</s>\": 901", FERRY_ERROR_FORMAT,
         "piece '</s>': expected an id from 0 to 900"},
        {"vocab.json", "\"</s>\": 0", "\"</s>\": 7", FERRY_ERROR_FORMAT, "both have id 7"},
        {"target_vocab.json", "\"</s>\": 0", "\"<s>\": 0", FERRY_ERROR_FORMAT, "'</s>' is missing"},
        {"source.spm", NULL, NULL, FERRY_ERROR_IO, "source.spm: cannot open"},
        {"source.spm", NULL, "version https://git-lfs.github.com/spec/v1\n", FERRY_ERROR_UNSUPPORTED,
         "source.spm: this is a Git LFS pointer"},
        {"source.spm", NULL, "nonsense", FERRY_ERROR_FORMAT, "source.spm"},
        {"model.safetensors", NULL, "version https://git-lfs.github.com/spec/v1\n", FERRY_ERROR_UNSUPPORTED,
         "model.safetensors: this is a Git LFS pointer"},
    };
    char *source = data_file("models/marian-separate");
    refuse_edits(source, rows, COUNT(rows));
}

/* ---- decoding defaults ---- */

static const ferry_model_file *converted_generation(const char *generation)
{
    const edit change = {"generation_config.json", NULL, generation};
    return converted(variant(data_file("models/marian-separate"), &change, 1));
}

TEST(test_generation_config)
{
    const ferry_model_file *file = converted_generation(
        "{\"num_beams\": 6, \"length_penalty\": 2, \"early_stopping\": \"never\", \"max_length\": 100,"
        " \"min_length\": 5, \"no_repeat_ngram_size\": 3, \"repetition_penalty\": 1.5,"
        " \"bad_words_ids\": [[700], [3], [0]], \"suppress_tokens\": [9, 3],"
        " \"forced_bos_token_id\": 8, \"eos_token_id\": [0, 4], \"decoder_start_token_id\": 6}");
    const ferry_options *decoding = &file->generation.decoding;
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
    assert_int_equal(file->generation.start_id, 6);
    assert_int_equal(file->generation.eos_count, 2);
    assert_int_equal(file->generation.eos_ids[1], 4);

    file = converted_generation("{\"max_length\": 20, \"early_stopping\": true, \"min_new_tokens\": 7}");
    decoding = &file->generation.decoding;
    assert_int_equal(decoding->max_length, 19);
    assert_int_equal(decoding->min_length, 7);
    assert_int_equal(decoding->early_stopping, FERRY_EARLY_STOPPING_TRUE);

    file = converted_generation("{\"max_length\": 1e30, \"early_stopping\": true}"); /* no limit */
    assert_int_equal(file->generation.decoding.max_length, 4096);
    file = converted_generation("{\"max_length\": 9999999999999999999, \"early_stopping\": true}"); /* above 2^63 */
    assert_int_equal(file->generation.decoding.max_length, 4096);
    file = converted_generation("{\"max_length\": 4098, \"early_stopping\": true}");
    assert_int_equal(file->generation.decoding.max_length, 4096);
    file = converted_generation("{\"max_length\": 4096, \"max_new_tokens\": 1000000000, \"early_stopping\": true}");
    assert_int_equal(file->generation.decoding.max_length, 4096);
    file = converted_generation("{\"max_length\": 4096, \"early_stopping\": true}");
    assert_int_equal(file->generation.decoding.max_length, 4095);

    file = converted_generation("{\"max_length\": 90, \"max_new_tokens\": 30, \"early_stopping\": false}");
    decoding = &file->generation.decoding;
    assert_int_equal(decoding->max_length, 30);
    assert_int_equal(decoding->early_stopping, FERRY_EARLY_STOPPING_FALSE);
}

/* Without generation_config.json, config.json decides, but not the class's defaults: in transformers 5 they are not
 * what the file says. */
TEST(test_generation_without_its_file)
{
    char *source = data_file("models/marian-separate");
    const edit edits[] = {{"generation_config.json", NULL, NULL},
                          {"config.json", "{", "{\"num_beams\": 3,"},
                          {"config.json", "\"forced_eos_token_id\": 0,", ""}};
    const ferry_model_file *file = converted(variant(source, edits, 2));
    assert_int_equal(file->generation.decoding.beam, 3);
    assert_int_equal(file->generation.decoding.forced_last_id, 0);
    file = converted(variant(source, edits, 3));
    assert_int_equal(file->generation.decoding.forced_last_id, -1);
}

#define SIXTEEN ",0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"

TEST(test_generation_refusals)
{
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
        {"{\"eos_token_id\": [0" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "]}", FERRY_ERROR_UNSUPPORTED,
         "ferry.eos_ids: a model file has at most 64, found 65"},
        {"{\"min_length\": 600}", FERRY_ERROR_FORMAT, "'min_length': expected 0 to 512, found 600"},
        {"{\"num_beams\": 0}", FERRY_ERROR_FORMAT, "'num_beams': expected 1 to 64, found 0"},
        {"{\"length_penalty\": \"1\"}", FERRY_ERROR_FORMAT, "'length_penalty': expected a number"},
    };
    char *source = data_file("models/marian-separate");
    for (size_t i = 0; i < COUNT(rows); i++)
        refuse_edit(source, "generation_config.json", NULL, rows[i].text, rows[i].status, rows[i].what);
}
