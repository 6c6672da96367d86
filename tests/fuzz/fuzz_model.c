/* Any bytes as a model file: refused, or a model that can be described and can translate. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include "engine/ferry_inspect.h"
#include "tests/support/limited_options.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

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

static void use(const ferry_model *model)
{
    static const int32_t ids[] = {1, 0}, offsets[] = {0, 2};
    const ferry_text line = {"a b", 3};
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    ferry_text description;
    ferry_error error;

    if (ferry_inspect_describe(model, &description, &error) == FERRY_OK) ferry_inspect_free(description.data);
    inspect(model);
    (void)ferry_model_verify(model, &error);
    ferry_options_default(model, &options, sizeof options);
    options.max_length = 4;
    limit_options(model, &options);
    if (ferry_translator_create(model, &options, &translator, &error) != FERRY_OK) return;
    if (ferry_inspect_generate(translator, ids, offsets, 1, &result, &error) == FERRY_OK) ferry_result_destroy(result);
    if (ferry_translate(translator, &line, 1, &result, &error) == FERRY_OK) ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    ferry_model *model;
    ferry_error error;
    const int file = memfd_create("model", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (ferry_model_open(path, 0, &model, &error) == FERRY_OK) {
        use(model);
        ferry_model_close(model);
    }
    close(file);
    return 0;
}
