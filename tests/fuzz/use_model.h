/* Does with a model that may be damaged what little work shows: it is described, and translates. */
#ifndef FERRY_FUZZ_USE_MODEL_H
#define FERRY_FUZZ_USE_MODEL_H

#include "fuzz.h"

#include "engine/ferry_inspect.h"
#include "tests/support/limited_options.h"

static inline void use_model(const ferry_model *model)
{
    static const ferry_text lines[] = {{"a b", 3}, {"The house.", 10}};
    static const int32_t ids[] = {1, 0}, offsets[] = {0, 2};
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    ferry_text description;
    if (ferry_inspect_describe(model, &description, NULL) == FERRY_OK) ferry_inspect_free(description.data);
    if (ferry_options_default(model, &options, sizeof options) != FERRY_OK) abort();
    options.max_length = 4;
    options.min_length = 0;
    limit_options(model, &options);
    if (ferry_translator_create(model, &options, &translator, NULL) != FERRY_OK) return;
    if (ferry_inspect_generate(translator, ids, offsets, 1, &result, NULL) == FERRY_OK) ferry_result_destroy(result);
    if (ferry_translate(translator, lines, 2, &result, NULL) == FERRY_OK) ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

#endif
