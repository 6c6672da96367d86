/* Any bytes as a model file: refused, or a model that can be described and can translate. */
#include "memory_file.h"
#include "use_model.h"

enum { MOST_LOGITS = 1 << 16 };

/* The graph alone: teacher-forced, both ways, and attention. */
static void inspect(const ferry_model *model)
{
    static const int32_t ids[] = {1, 0}, offsets[] = {0, 2};
    static float logits[MOST_LOGITS], weights[4];
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const int32_t inputs[] = {sizes.start_id, 0};
    ferry_error error;
    if (sizes.target_vocab > MOST_LOGITS / 2) return;
    for (int pass = 0; pass < 2; pass++)
        if (ferry_inspect_logits(model, ids, offsets, 1, inputs, offsets, (ferry_inspect_pass)pass, logits, &error) !=
            FERRY_OK)
            return;
    for (int kind = 0; kind < 3; kind++)
        (void)ferry_inspect_attention(model, (ferry_inspect_attention_kind)kind, 0, 0, ids, 2, inputs, 2, weights,
                                      &error);
}

/* Greedy search without scores, by a coarse output matrix: the file's, or after so many tokens one in memory. */
static void search_greedily(const ferry_model *model)
{
    static const int32_t ids[33] = {1}, offsets[] = {0, 33};
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    if (ferry_options_default(model, &options, sizeof options) != FERRY_OK) abort();
    options.beam = 1;
    options.scores = options.shortlist = 0;
    options.max_length = 3;
    options.min_length = 0;
    limit_options(model, &options);
    if (ferry_translator_create(model, &options, &translator, NULL) != FERRY_OK) return;
    if (ferry_inspect_generate(translator, ids, offsets, 1, &result, NULL) == FERRY_OK) ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    ferry_model *model;
    ferry_error error;
    const int file = make_file((ferry_view){(const char *)data, size}, path);
    if (ferry_model_open(path, 0, &model, &error) == FERRY_OK) {
        inspect(model);
        (void)ferry_model_verify(model, &error);
        use_model(model);
        search_greedily(model);
        ferry_model_close(model);
    }
    close(file);
    return 0;
}
