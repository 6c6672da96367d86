/* The OPUS-MT form of a model, the real one or its small twin: what its files say, and Marian's own n-best lists with
 * scores and alignments. */
#include "tests/support/marian_golden.h"

static char *source_path(void)
{
    return shared_file("models/tatoeba-en-de/marian");
}

TEST(test_what_the_files_say)
{
    static const char large[] =
        "d_model 256; embedding_scale 16; alignment_layer 2; encoder.layers 3; encoder.heads 8; "
        "encoder.ffn_width 1024; decoder.vocab_size 8000",
                      small[] = "d_model 64; embedding_scale 8; alignment_layer 1; encoder.layers 2; encoder.heads 4; "
                                "encoder.ffn_width 160; decoder.vocab_size 1000";
    const ferry_model_file *file = converted(source_path());
    check_file_keys(file, large_data() ? large : small);
    check_file_keys(file, "origin.kind opus-mt; start_id -1; pad_id -1; eos_ids 0; alignment_head 0; "
                          "decoder.block attention; decoder.activation swish; decoder.norm_position post; "
                          "encoder.norm_eps 1e-06; decoder.final_norm false; tied_embeddings true; tied_output true; "
                          "output_bias true; encoder.position.layout split; "
                          "decoder.position.exponent_divisor half_minus_one");
    check_file_keys(file,
                    "decoding.policy marian; decoding.beam 6; decoding.length_penalty 1; decoding.word_penalty 0; "
                    "decoding.max_length 0; decoding.length_factor 3; decoding.length_extra 0; "
                    "decoding.suppressed_ids 1; tokenizer.source.unk_id 1; tokenizer.source.suffix_ids 0; "
                    "tokenizer.source.opus_punctuation false; tokenizer.source.leading_tag false; "
                    "languages.names absent");
    assert_int_equal(file->text.source_model.size, large_data() ? 379885 : 15381);
    assert_true(has_text(ferry_texts_at(file->text.target_pieces, 2), large_data() ? "\u2581Monate" : "\u2581every"));
}

/* ---- golden runs ---- */

static double number_after(const char *command, const char *option)
{
    const char *at = strstr(command, option);
    assert_non_null(at);
    return strtod(at + strlen(option), NULL);
}

TEST(test_golden)
{
    const char *name;
    json_t *run, *root = load_json(in_directory(source_path(), "golden.json")), *runs = json_object_get(root, "runs");
    golden_model model = golden_open(source_path());
    model.pieces = true;
    assert_int_equal(json_object_size(runs), 5);
    json_object_foreach (runs, name, run) {
        const char *command = json_string_value(run);
        ferry_options options;
        ferry_options_default(model.model, &options, sizeof options);
        assert_true(number_after(command, "--max-length-factor") == 3);
        options.beam = options.nbest = (int32_t)number_after(command, "--beam-size");
        options.length_penalty = (float)number_after(command, "--normalize");
        options.word_penalty = (float)number_after(command, "--word-penalty");
        options.alignment = 1;
        if (strstr(command, "--allow-unk") != NULL) options.suppressed_count = 0;
        const size_t lines = golden_check_run(&model, &options, json_object_get(root, "lines"), name);
        assert_int_equal(lines, large_data() ? 60 : 17);
    }
}
