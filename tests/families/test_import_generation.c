/* MarianMT: configurations that are refused, and what generation_config.json becomes. */
#include "tests/support/refusals.h"

TEST(test_marian_config_refusals)
{
    static const refused_edit rows[] = {
        {"config.json", "MarianMTModel", "MarianModel", FERRY_ERROR_UNSUPPORTED,
         "…architecture 'MarianModel' does not translate"},
        {"config.json", "\"share_encoder_decoder_embeddings\": false", "\"share_encoder_decoder_embeddings\": true",
         FERRY_ERROR_FORMAT, "…vocab_size 901 but decoder_vocab_size 701"},
        {"vocab.json", NULL, NULL, FERRY_ERROR_IO, "…vocab.json: cannot open"},
        {"vocab.json", "\"</s>\": 0", "\"</s>\": 901", FERRY_ERROR_FORMAT,
         "…piece '</s>': expected an id from 0 to 900"},
        {"vocab.json", "\"</s>\": 0", "\"</s>\": 7", FERRY_ERROR_FORMAT, "…both have id 7"},
        {"vocab.json", "\"</s>\": 0", "\"<s>\": 0", FERRY_ERROR_FORMAT, "…vocab.json: '</s>' is missing"},
        {"vocab.json", "\"<unk>\": 1", "\"<u>\": 1", FERRY_ERROR_FORMAT, "…vocab.json: '<unk>' is missing"},
        {"target_vocab.json", "\"</s>\": 0", "\"<s>\": 0", FERRY_ERROR_FORMAT, "…'</s>' is missing"},
        {"source.spm", NULL, NULL, FERRY_ERROR_IO, "…source.spm: cannot open"},
        {"source.spm", NULL, "version https://git-lfs.github.com/spec/v1\n", FERRY_ERROR_UNSUPPORTED,
         "…source.spm: this is a Git LFS pointer"},
        {"source.spm", NULL, "nonsense", FERRY_ERROR_FORMAT, "…source.spm"},
        {"model.safetensors", NULL, "version https://git-lfs.github.com/spec/v1\n", FERRY_ERROR_UNSUPPORTED,
         "…model.safetensors: this is a Git LFS pointer"},
    };
    check_refused_edits(data_file("models/marian-separate"), rows, COUNT(rows));
}

/* ---- decoding defaults ---- */

/* Texts of generation_config.json, and what becomes of them. */
static void check_generation(const char *const (*rows)[2], size_t count)
{
    char *source = data_file("models/marian-separate");
    for (size_t i = 0; i < count; i++) {
        const edit change = {"generation_config.json", NULL, rows[i][0]};
        check_file_keys(converted(variant(source, &change, 1)), rows[i][1]);
    }
}

/* The start token does not count; limits of new tokens win. What is above a limit of the file means none. */
TEST(test_generation_search)
{
    static const char *const rows[][2] = {
        {"{}", "decoding.beam 1; decoding.max_length 0; decoding.min_length 0; decoding.no_repeat_ngram 0"},
        {"{\"num_beams\": 64, \"no_repeat_ngram_size\": 64}", "decoding.beam 64; decoding.no_repeat_ngram 64"},
        {"{\"max_length\": 2}", "decoding.max_length 1"},
        {"{\"max_length\": 4096}", "decoding.max_length 4095"},
        {"{\"max_length\": 4097}", "decoding.max_length 4096"},
        {"{\"max_length\": 4098}", "decoding.max_length 4096"},
        {"{\"max_length\": 1e30}", "decoding.max_length 4096"},
        {"{\"max_length\": 9999999999999999999}", "decoding.max_length 4096"}, /* above 2^63 */
        {"{\"max_new_tokens\": 1}", "decoding.max_length 1"},
        {"{\"max_new_tokens\": 4096}", "decoding.max_length 4096"},
        {"{\"max_new_tokens\": 4097}", "decoding.max_length 4096"},
        {"{\"max_length\": 90, \"max_new_tokens\": 30}", "decoding.max_length 30"},
        {"{\"max_length\": 20, \"max_new_tokens\": 30}", "decoding.max_length 30"},
        {"{\"min_length\": 1}", "decoding.min_length 0"},
        {"{\"min_length\": 512}", "decoding.min_length 511"},
        {"{\"min_new_tokens\": 512}", "decoding.min_length 512"},
        {"{\"min_length\": 9, \"min_new_tokens\": 0}", "decoding.min_length 0"},
        {"{\"early_stopping\": true, \"length_penalty\": 2, \"repetition_penalty\": 1.5}",
         "decoding.early_stopping true; decoding.length_penalty 2; decoding.repetition_penalty 1.5"},
        {"{\"early_stopping\": false}", "decoding.early_stopping false; decoding.length_penalty 1"},
        {"{\"early_stopping\": \"never\"}", "decoding.early_stopping never; decoding.renormalize true"},
    };
    static const refused_edit bad[] = {
        {"generation_config.json", NULL, "{\"num_beams\": 0}", FERRY_ERROR_FORMAT, "…expected 1 to 64, found 0"},
        {"generation_config.json", NULL, "{\"num_beams\": 65}", FERRY_ERROR_FORMAT, "…expected 1 to 64, found 65"},
        {"generation_config.json", NULL, "{\"no_repeat_ngram_size\": 65}", FERRY_ERROR_FORMAT, "…0 to 64, found 65"},
        {"generation_config.json", NULL, "{\"max_length\": 1}", FERRY_ERROR_FORMAT, "…expected 2 to 4097, found 1"},
        {"generation_config.json", NULL, "{\"max_new_tokens\": 0}", FERRY_ERROR_FORMAT, "…expected 1 to 4096, found 0"},
        {"generation_config.json", NULL, "{\"min_length\": 513}", FERRY_ERROR_FORMAT, "…expected 0 to 512, found 513"},
        {"generation_config.json", NULL, "{\"min_new_tokens\": 513}", FERRY_ERROR_FORMAT, "…0 to 512, found 513"},
        {"generation_config.json", NULL, "{\"length_penalty\": \"1\"}", FERRY_ERROR_FORMAT, "…expected a number"},
        {"generation_config.json", NULL, "{\"early_stopping\": \"maybe\"}", FERRY_ERROR_FORMAT,
         "…'early_stopping': expected true, false or \"never\""},
        {"generation_config.json", NULL, "{\"num_beam_groups\": 2}", FERRY_ERROR_UNSUPPORTED,
         "…generation_config.json: 'num_beam_groups' is not supported"},
    };
    check_generation(rows, COUNT(rows));
    check_refused_edits(data_file("models/marian-separate"), bad, COUNT(bad));
}

/* An id, a list of one, or of several where that has a meaning; the first and the last word of the vocabulary. The end
 * "</s>" (0) may be any of several ends, and is no bad word. */
TEST(test_generation_defaults)
{
    static const char *const rows[][2] = {
        {"{}", "decoding.forced_first_id -1; decoding.forced_last_id -1; decoding.suppressed_ids 700"},
        {"{\"forced_bos_token_id\": 0, \"forced_eos_token_id\": 700}",
         "decoding.forced_first_id 0; decoding.forced_last_id 700"},
        {"{\"forced_bos_token_id\": [8], \"forced_eos_token_id\": [4]}",
         "decoding.forced_first_id 8; decoding.forced_last_id 4"},
        {"{\"forced_bos_token_id\": [], \"forced_eos_token_id\": []}",
         "decoding.forced_first_id -1; decoding.forced_last_id -1"},
        {"{\"force_bos_token_to_be_generated\": true, \"bos_token_id\": 8}", "decoding.forced_first_id -1"},
        {"{\"force_bos_token_to_be_generated\": true, \"bos_token_id\": 8, \"_from_model_config\": true}",
         "decoding.forced_first_id 8"},
        {"{\"force_bos_token_to_be_generated\": false, \"bos_token_id\": 8, \"_from_model_config\": true}",
         "decoding.forced_first_id -1"},
        {"{\"bad_words_ids\": [[3], [0], [700], [9]]}", "decoding.suppressed_ids 700 3 9"},
        {"{\"bad_words_ids\": [[0], [3]]}", "decoding.suppressed_ids 700 3"},
        {"{\"bad_words_ids\": [[0]]}", "decoding.suppressed_ids 700"},
        {"{\"bad_words_ids\": [], \"suppress_tokens\": []}", "decoding.suppressed_ids 700"},
        {"{\"bad_words_ids\": [[3]], \"suppress_tokens\": [9, 3, 1]}", "decoding.suppressed_ids 700 3 9 1"},
        {"{\"suppress_tokens\": 9}", "decoding.suppressed_ids 700 9"},
        {"{\"decoder_start_token_id\": 6, \"bos_token_id\": 5}", "start_id 6; eos_ids 0"},
        {"{\"bos_token_id\": 5}", "start_id 5"},
        {"{\"eos_token_id\": [0, 700]}", "eos_ids 0 700; start_id 700; pad_id 700"},
        {"{\"eos_token_id\": [4, 0]}", "eos_ids 4 0"},
        {"{\"eos_token_id\": [4, 0, 5]}", "eos_ids 4 0 5"},
    };
    check_generation(rows, COUNT(rows));
}

#define SIXTEEN ",0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"

TEST(test_generation_refusals)
{
    static const refused_edit rows[] = {
        {"generation_config.json", NULL, "{\"bad_words_ids\": [[3], [1, 2]]}", FERRY_ERROR_UNSUPPORTED,
         "…number 1 is no list of one id"},
        {"generation_config.json", NULL, "{\"bad_words_ids\": [[]]}", FERRY_ERROR_UNSUPPORTED,
         "…'bad_words_ids': number 0 is no list of one id"},
        {"generation_config.json", NULL, "{\"bad_words_ids\": 5}", FERRY_ERROR_FORMAT,
         "…'bad_words_ids': expected a list of lists"},
        {"generation_config.json", NULL, "{\"bad_words_ids\": [[701]]}", FERRY_ERROR_FORMAT,
         "…'bad_words_ids': expected ids from 0 to 700"},
        {"generation_config.json", NULL, "{\"suppress_tokens\": [9, -1]}", FERRY_ERROR_FORMAT,
         "…'suppress_tokens': expected ids from 0 to 700"},
        {"generation_config.json", NULL, "{\"forced_eos_token_id\": [0, 1]}", FERRY_ERROR_UNSUPPORTED,
         "…'forced_eos_token_id' with several ids"},
        {"generation_config.json", NULL, "{\"forced_bos_token_id\": 701}", FERRY_ERROR_FORMAT,
         "…'forced_bos_token_id': expected ids from 0 to 700"},
        {"generation_config.json", NULL, "{\"forced_bos_token_id\": 1.0}", FERRY_ERROR_FORMAT,
         "…'forced_bos_token_id': expected ids from 0 to 700"},
        {"generation_config.json", NULL, "{\"eos_token_id\": [0, 701]}", FERRY_ERROR_FORMAT,
         "…'eos_token_id': expected ids from 0 to 700"},
        {"generation_config.json", NULL, "{\"eos_token_id\": [5, 6]}", FERRY_ERROR_FORMAT,
         "…target_vocab.json: '</s>' has id 0, but the configuration's eos_token_id is 5"},
        {"generation_config.json", NULL, "{\"eos_token_id\": []}", FERRY_ERROR_FORMAT,
         "…eos_token_id or pad_token_id is missing or beyond"},
        {"generation_config.json", NULL, "{\"eos_token_id\": [0" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "]}",
         FERRY_ERROR_UNSUPPORTED, "…ferry.eos_ids: a model file has at most 64, found 65"},
    };
    check_refused_edits(data_file("models/marian-separate"), rows, COUNT(rows));
}

/* Without the file, config.json decides, but not the class's defaults: in
 * transformers 5 they are not what the file says. */
TEST(test_generation_without_its_file)
{
    static const saying rows[] = {
        {{{"generation_config.json", NULL, NULL}, {"config.json", "{", "{\"num_beams\": 3,"}},
         "decoding.beam 3; decoding.forced_last_id 0"},
        {{{"generation_config.json", NULL, NULL}, {"config.json", "\"forced_eos_token_id\": 0,", ""}},
         "decoding.beam 1; decoding.forced_last_id -1"},
    };
    check_sayings(data_file("models/marian-separate"), rows, COUNT(rows));
}
