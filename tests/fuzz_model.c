/* Any bytes as a model file: refused, or a model that can be described and can translate. */
#define _GNU_SOURCE /* memfd_create */
#include "../engine/ferry_inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    ferry_options_default(model, &options);
    options.max_length = 4;
    if (options.beam > 3) options.beam = 3;
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
    if (ferry_model_open(path, &model, &error) == FERRY_OK) {
        use(model);
        ferry_model_close(model);
    }
    close(file);
    return 0;
}
