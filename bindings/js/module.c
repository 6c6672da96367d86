/* What JavaScript calls besides the functions of ferry.h and ferry_documents.h: memory, files, and a translator with
 * the few options that a page chooses. Its callbacks are JavaScript's. */
#include <stdlib.h>
#include <string.h>

#include "base/files_wasm.h"
#include "engine/ferry.h"
#include "models/convert.h"

#define EXPORT(name) __attribute__((export_name(#name))) name
#define IMPORT(name) __attribute__((import_module("ferry"), import_name(#name)))

#define FERRY_JS_SOURCE "model"
#define FERRY_JS_MODEL "model.gguf"

/* A result other than 0 cancels. */
IMPORT(progress) int ferry_js_progress(size_t done, size_t total);
IMPORT(partial) int ferry_js_partial(size_t sentence, const char *text, size_t size);

/* 64-byte aligned, as models have to be. */
void *EXPORT(ferry_js_allocate)(size_t size)
{
    enum { LINE = 64 };
    return size <= SIZE_MAX - LINE ? aligned_alloc(LINE, size / LINE * LINE + LINE) : NULL;
}

void EXPORT(ferry_js_free)(void *memory)
{
    free(memory);
}

static int progress(void *user, size_t done, size_t total)
{
    (void)user;
    return ferry_js_progress(done, total);
}

static int partial(void *user, size_t sentence, ferry_text text)
{
    (void)user;
    return ferry_js_partial(sentence, text.data, text.size);
}

/* from, to NULL: the model's default. beam 0: the model's. `watched`: whether `partial` is called. */
ferry_status EXPORT(ferry_js_translator)(const ferry_model *model, const char *from, const char *to, int32_t beam,
                                         int32_t alignment, int32_t watched, const ferry_glossary *glossary,
                                         ferry_translator **translator, ferry_error *error)
{
    ferry_options options;
    const ferry_status status = ferry_options_default(model, &options, sizeof options);
    if (status != FERRY_OK) return status;
    options.from = from;
    options.to = to;
    if (beam != 0) options.beam = beam;
    options.alignment = alignment;
    options.split = FERRY_SPLIT_ALL;
    options.progress = progress;
    options.partial = watched ? partial : NULL;
    options.glossary = glossary;
    return ferry_translator_create(model, &options, translator, error);
}

/* A file of the folder FERRY_JS_SOURCE, by its name, with memory of ferry_js_allocate, which it takes over. */
bool EXPORT(ferry_js_add_file)(const char *name, const char *data, size_t size)
{
    char path[256] = FERRY_JS_SOURCE "/";
    return strlen(name) < sizeof path - sizeof FERRY_JS_SOURCE && ferry_memory_file_add(strcat(path, name), data, size);
}

void EXPORT(ferry_js_remove_files)(void)
{
    ferry_memory_files_remove(NULL);
}

/* Opens what the files are converted to. The files are gone afterwards, but for the model's. */
ferry_status EXPORT(ferry_js_convert)(ferry_model **model, ferry_error *error)
{
    const ferry_import_options options = {.type = FERRY_F32};
    ferry_status status = ferry_import(FERRY_JS_SOURCE, FERRY_JS_MODEL, &options, error);
    ferry_memory_files_remove(FERRY_JS_MODEL);
    if (status == FERRY_OK) status = ferry_model_open(FERRY_JS_MODEL, 0, model, error);
    return status;
}
