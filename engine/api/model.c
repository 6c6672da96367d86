#include "model.h"

#include <stdlib.h>
#include <string.h>

const char *ferry_version(void)
{
    return FERRY_VERSION;
}

static ferry_status create_tokenizer(ferry_model *model, ferry_error *error)
{
    const ferry_model_text *text = &model->file.text;
    if (!text->present) return FERRY_OK;
    const ferry_tokenizer_config config = {
        .source_model = text->source_model,
        .source_pieces = text->source_pieces,
        .source_count = text->source_count,
        .target_pieces = text->target_pieces,
        .target_count = text->target_count,
        .source_unk = text->source_unk_id,
        .target_special = text->special_ids,
        .target_special_count = (size_t)text->special_count,
        .prefix_ids = text->prefix_ids,
        .prefix_count = (size_t)text->prefix_count,
        .suffix_ids = text->suffix_ids,
        .suffix_count = (size_t)text->suffix_count,
        .opus_punctuation = text->opus_punctuation,
        .leading_tag = text->leading_tag,
    };
    return ferry_tokenizer_create(&config, &model->tokenizer, error);
}

ferry_status ferry_model_find_kernels(const char *isa, const ferry_kernels **kernels, ferry_error *error)
{
    *kernels = ferry_kernels_find(isa);
    if (*kernels != NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "kernels '%s': unknown, or this machine cannot run them", isa);
}

ferry_status ferry_model_open_on(const char *path, const char *isa, ferry_model **model, ferry_error *error)
{
    *model = NULL;
    const ferry_kernels *kernels;
    FERRY_TRY(ferry_model_find_kernels(isa, &kernels, error));
    ferry_model *opened = calloc(1, sizeof *opened);
    if (opened == NULL) return ferry_fail_memory(error, "a model", sizeof *opened);
    opened->kernels = kernels;
    ferry_status status = ferry_model_file_open(path, kernels, &opened->file, error);
    if (status == FERRY_OK) status = create_tokenizer(opened, error);
    if (status == FERRY_OK)
        status = ferry_languages_create(&opened->file.text.languages, &opened->file.arena, &opened->languages, error);
    if (status != FERRY_OK) {
        ferry_model_close(opened);
        return status;
    }
    *model = opened;
    return FERRY_OK;
}

ferry_status ferry_model_open(const char *path, int flags, ferry_model **model, ferry_error *error)
{
    (void)flags;
    return ferry_model_open_on(path, "", model, error);
}

void ferry_model_close(ferry_model *model)
{
    if (model == NULL) return;
    ferry_tokenizer_destroy(model->tokenizer);
    ferry_model_file_close(&model->file);
    free(model);
}
