/* Options for a model file that may be damaged. Without cmocka, for fuzz targets, too. */
#ifndef FERRY_SUPPORT_LIMITED_OPTIONS_H
#define FERRY_SUPPORT_LIMITED_OPTIONS_H

#include "engine/ferry.h"

/* Little work whatever beam the file asks for, and a pair of languages if it has any. */
static inline void limit_options(const ferry_model *model, ferry_options *options)
{
    const size_t languages = ferry_model_language_count(model);
    if (options->beam > 3) options->beam = 3;
    if (languages == 0) return;
    options->from = ferry_model_language(model, 0)->tag;
    options->to = ferry_model_language(model, languages - 1)->tag;
}

#endif
