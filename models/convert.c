#include "convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/plan/plan.h"
#include "models/text/language_tags.h"
#include "models/text/segmenters.h"
#include "models/families/choices.h"
#include "models/families/families.h"

static bool is_weights(const char *name)
{
    return ferry_text_ends(name, ".safetensors") || ferry_text_ends(name, ".npz") || ferry_text_ends(name, ".bin");
}

/* "en-de/config.json" */
static bool is_inner_model(const ferry_import_plan *plan, const char *name)
{
    (void)plan;
    return strchr(name, '/') != NULL &&
           (is_weights(name) || ferry_text_ends(name, "/config.json") || ferry_text_ends(name, "/decoder.yml"));
}

/* For a directory or an archive, where the user named no file of it. */
static ferry_status check_one_model(const ferry_import_plan *plan, ferry_error *error)
{
    const ferry_source *source = plan->source;
    const bool configured = ferry_source_has(source, "config.json") || ferry_source_has(source, "decoder.yml");
    bool outer = false; /* weights of the source itself; "model/" is part of an Argos package */
    for (size_t i = 0; i < source->count; i++) {
        const char *name = source->files[i].name;
        outer |= strcmp(name, "model/model.bin") == 0 || (strchr(name, '/') == NULL && is_weights(name));
    }
    if (source->selected != NULL || (outer && configured)) return FERRY_OK;
    /* Names that are one model each: of a file in a folder, the folder's, once. */
    bool (*is_model)(const ferry_import_plan *, const char *) = outer ? ferry_import_is_marian_weights : is_inner_model;
    char list[256] = "";
    size_t count = 0, at = 0;
    ferry_view last = {"", 0};
    for (size_t i = 0; i < source->count; i++) {
        const char *name = source->files[i].name;
        const ferry_view model = {name, strcspn(name, "/")};
        if (!is_model(plan, name) || ferry_view_equal(model, last)) continue;
        last = model;
        if (at < sizeof list)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", count > 0 ? ", " : "",
                                   ferry_printable_view(model).text);
        count++;
    }
    if (count < 1 + (size_t)outer) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      count > 1 ? "%s: holds several models: name one of them: %s"
                                : "%s: holds a model in the folder '%s': name it",
                      source->path, list);
}

static ferry_status fail_unknown(const ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    if (config.object == NULL) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: no model that Ferry knows: config.json is missing, and so are weights of Marian (.npz, "
                          ".bin) and of CTranslate2 (model.bin)",
                          plan->source->path);
    }
    static const char *const keys[] = {"model_type", "format"};
    for (size_t i = 0; i < 2; i++) {
        const char *text = json_string_value(ferry_json_get(config, keys[i]));
        if (text == NULL) continue;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: %s '%s' is not supported", config.file, keys[i],
                          ferry_printable_text(text).text);
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected 'model_type' or 'format', found neither",
                      config.file);
}

/* config.json of transformers may lie beside CTranslate2's model. */
static bool is_huggingface(const ferry_import_plan *plan, ferry_json config)
{
    return ferry_import_is_huggingface(plan, config) && !ferry_import_is_ctranslate2(plan, config);
}

static ferry_status read_source(ferry_import_plan *plan, ferry_error *error)
{
    static const struct {
        bool (*is)(const ferry_import_plan *plan, ferry_json config);
        ferry_status (*read)(ferry_import_plan *plan, ferry_json config, ferry_error *error);
    } kinds[] = {{ferry_import_is_export_layout, ferry_import_export_layout},
                 {is_huggingface, ferry_import_huggingface},
                 {ferry_import_is_marian, ferry_import_marian},
                 {ferry_import_is_ctranslate2, ferry_import_ctranslate2}};
    ferry_json config;
    if (ferry_import_is_model_file(plan)) return ferry_import_model_file(plan, error);
    const char *selected = plan->source->selected;
    if (selected != NULL && !is_weights(selected) && !ferry_text_ends(selected, ".index.json"))
        return ferry_fail(
            error, FERRY_ERROR_UNSUPPORTED,
            "%s: expected a directory, a zip archive, a file of weights (.safetensors, .bin, .npz) or a model "
            "file of Ferry (.gguf)",
            plan->source->path);
    FERRY_TRY(check_one_model(plan, error));
    FERRY_TRY(ferry_import_optional_json(plan, "config.json", &config, error));
    if (ferry_import_is_export_layout(plan, config))
        FERRY_TRY(ferry_check_choices(config, FERRY_CHOICE_CONFIG, FERRY_CHOICES_EXPORT, error));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].is(plan, config)) return kinds[i].read(plan, config, error);
    return fail_unknown(plan, config, error);
}

static ferry_status read_license(ferry_import_plan *plan, ferry_error *error)
{
    static const char *const names[] = {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ferry_source_has(plan->source, names[i]))
            return ferry_source_map(plan->source, names[i], &plan->license, error);
    return FERRY_OK;
}

ferry_status ferry_import(const char *source_path, const char *output, const ferry_import_options *options,
                          ferry_error *error)
{
    static const ferry_import_options defaults = {.type = FERRY_F32};
    if (options == NULL) options = &defaults;
    if (options->type != FERRY_F32 && options->type != FERRY_F16 && options->type != FERRY_I8)
        return ferry_fail_argument(error, "type", "expected f32, f16 or i8, found %s", ferry_type_name(options->type));
    ferry_source *source;
    ferry_import_plan plan;
    FERRY_TRY(ferry_source_open(source_path, options->budget, &source, error));
    ferry_import_plan_init(&plan, source);
    if (source->snapshot != NULL && source->snapshot[0] != '\0' && options->noted != NULL)
        options->noted(options->user, ferry_format("reads %s of the folder of the hub", source->snapshot).text);
    ferry_status status = read_source(&plan, error);
    if (status == FERRY_OK && plan.file == NULL) status = ferry_import_find_segmenter(&plan, error);
    if (status == FERRY_OK && plan.file == NULL) status = ferry_import_check_vocabularies(&plan, options, error);
    if (status == FERRY_OK && plan.note != NULL && options->noted != NULL) options->noted(options->user, plan.note);
    if (status == FERRY_OK && options->pair != NULL) status = ferry_import_named_pair(&plan, options->pair, error);
    if (status == FERRY_OK && options->pair == NULL && plan.file == NULL)
        status = ferry_import_guess_pair(&plan, error);
    if (status == FERRY_OK && options->pair == NULL && plan.guessed[0] != NULL && options->noted != NULL)
        options->noted(options->user,
                       ferry_format("translates from '%s' into '%s', as its name says; the option pair overrides it",
                                    plan.guessed[0], plan.guessed[1])
                           .text);
    if (status == FERRY_OK) status = read_license(&plan, error);
    status = ferry_source_check(source, NULL, status, error);
    if (status == FERRY_OK)
        status = ferry_source_check(source, output, ferry_import_write(&plan, output, options, error), error);
    if (status == FERRY_OK && options->complete != NULL)
        options->complete(options->user, ferry_source_read_bytes(source));
    ferry_import_plan_destroy(&plan);
    ferry_source_close(source);
    return status;
}
