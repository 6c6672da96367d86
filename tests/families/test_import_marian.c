/* The OPUS-MT form of a model, the real one or its small twin, against Marian's own n-best lists with
 * scores and alignments. */
#include "tests/support/marian_golden.h"

static char *source_path(void)
{
    return shared_file("models/tatoeba-en-de/marian");
}

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
        ferry_search_options *search = own_search(&options, model.model);
        search->word_penalty = (float)number_after(command, "--word-penalty");
        options.alignment = 1;
        if (strstr(command, "--allow-unk") != NULL) search->suppressed_count = 0;
        const size_t lines = golden_check_run(&model, &options, json_object_get(root, "lines"), name);
        assert_int_equal(lines, large_data() ? 60 : 17);
    }
}
