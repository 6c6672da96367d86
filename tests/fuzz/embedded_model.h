/* A small model for targets whose input is not the model: with a vocabulary of pieces, and languages. It is a part of
 * the program, which may run where there is no source tree. */
#ifndef FERRY_FUZZ_EMBEDDED_MODEL_H
#define FERRY_FUZZ_EMBEDDED_MODEL_H

#include "fuzz.h"

#include "engine/ferry_inspect.h"
#include "tests/support/limited_options.h"

__asm__(".section .rodata\n"
        ".balign 64\n"
        "embedded_model:\n"
        ".incbin \"" FUZZ_DATA "/corpus/fuzz_model/gated_languages_i8.gguf\"\n"
        "embedded_model_end:\n"
        ".text\n");
extern const unsigned char embedded_model[], embedded_model_end[];

static inline ferry_view embedded_bytes(void)
{
    return (ferry_view){(const char *)embedded_model, (size_t)(embedded_model_end - embedded_model)};
}

/* Opened once. */
static inline const ferry_model *open_embedded_model(void)
{
    static ferry_model *model;
    const ferry_view bytes = embedded_bytes();
    if (model == NULL && ferry_model_open_memory(bytes.data, bytes.size, 0, &model, NULL) != FERRY_OK) abort();
    return model;
}

enum { CHOICES = 24 };

/* A translator between two of its languages, with options that `choose` sets; created once for each choice. */
static inline ferry_translator *find_translator(uint8_t choice, void choose(ferry_options *options, uint8_t choice))
{
    static ferry_translator *translators[CHOICES];
    const ferry_model *model = open_embedded_model();
    ferry_options options;
    if (translators[choice] != NULL) return translators[choice];
    if (ferry_options_default(model, &options, sizeof options) != FERRY_OK) abort();
    limit_options(model, &options);
    choose(&options, choice);
    if (ferry_translator_create(model, &options, &translators[choice], NULL) != FERRY_OK) abort();
    return translators[choice];
}

#endif
