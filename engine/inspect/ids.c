/* From ids to ids: a translator's search, and given translations as the decoder's inputs. */
#include <stdlib.h>
#include <string.h>

#include "engine/api/job.h"
#include "engine/ferry_inspect.h"

/* Copies sentence number `line`, checked. */
static ferry_status take_ids(ferry_job *job, size_t line, const int32_t *ids, int32_t length, ferry_error *error)
{
    const ferry_stack *encoder = &job->translator->model->file.transformer.encoder;
    const size_t bytes = (size_t)length * sizeof *ids;
    ferry_part *part;
    if (length < 0) return ferry_fail(error, FERRY_ERROR_ARGUMENT, "sentence %zu: its offsets descend", line);
    if (length == 0) {
        ferry_job_finish_line(job, line);
        return ferry_result_line_begin(&job->result->lines[line], 1, error);
    }
    if (encoder->position.limit > 0 && length > encoder->position.limit)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "a sentence of %d tokens: the model's positions end at %d",
                          (int)length, (int)encoder->position.limit);
    for (int32_t i = 0; i < length; i++)
        if (ids[i] < 0 || ids[i] >= encoder->vocab_size)
            return ferry_fail(error, FERRY_ERROR_ARGUMENT, "sentence %zu: id %d is not below the vocabulary's %d", line,
                              (int)ids[i], (int)encoder->vocab_size);
    FERRY_TRY(ferry_parts_add(&job->lines[line].parts, &part, error));
    part->ids.ids = malloc(bytes);
    if (part->ids.ids == NULL) return ferry_fail_memory(error, "ids", bytes, 1);
    memcpy(part->ids.ids, ids, bytes);
    part->ids.count = (size_t)length;
    atomic_store(&job->lines[line].left, 1);
    return FERRY_OK;
}

ferry_status ferry_inspect_generate(ferry_translator *translator, const int32_t *ids, const int32_t *offsets,
                                    int32_t count, ferry_result **result, ferry_error *error)
{
    FERRY_FLOATS;
    ferry_job job = {.translator = translator, .count = (size_t)count};
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_NEEDS(ids);
    FERRY_NEEDS(offsets);
    FERRY_TRY(ferry_row_refuse(translator, error));
    FERRY_TRY(ferry_check_range("count", count, 0, INT32_MAX, error));
    FERRY_TRY(ferry_call_begin(translator, error));
    ferry_status status = ferry_job_begin(&job, error);
    for (int32_t s = 0; status == FERRY_OK && s < count; s++)
        status = take_ids(&job, (size_t)s, ids + offsets[s], offsets[s + 1] - offsets[s], error);
    return ferry_call_end(translator, ferry_job_finish(&job, status, result, error));
}

const int32_t *ferry_inspect_result_ids(const ferry_result *result, size_t line, size_t hypothesis)
{
    const ferry_result_hypothesis *found = ferry_result_find(result, line, hypothesis);
    return found != NULL ? found->ids : NULL;
}

const float *ferry_inspect_result_token_scores(const ferry_result *result, size_t line, size_t hypothesis)
{
    const ferry_result_hypothesis *found = ferry_result_find(result, line, hypothesis);
    return found != NULL ? found->token_scores : NULL;
}

int32_t ferry_inspect_target_limit(const ferry_translator *translator, size_t source_tokens)
{
    return translator != NULL && translator->stages == NULL ? ferry_translator_target_length(translator, source_tokens)
                                                            : 0;
}

/* The start, the tag, if one begins every translation (else -1), and the text's own ids. */
static ferry_status append_target(const ferry_model *model, int32_t tag, ferry_text text, ferry_ids *one,
                                  ferry_ids *all, ferry_error *error)
{
    FERRY_TRY(ferry_tokenizer_encode_target(model->tokenizer, (ferry_view){text.data, text.size}, one, NULL, error));
    if (tag >= 0) FERRY_TRY(ferry_ids_insert(one, 0, tag, error));
    FERRY_TRY(ferry_ids_insert(one, 0, model->file.generation.start_id, error));
    const size_t count = all->count + one->count;
    if (count > INT32_MAX) return ferry_fail(error, FERRY_ERROR_LIMIT, "more than %d target ids", INT32_MAX);
    int32_t *grown = ferry_array_grow(all->ids, &all->capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "target ids", count, sizeof *grown);
    memcpy(grown + all->count, one->ids, one->count * sizeof *grown);
    *all = (ferry_ids){grown, count, all->capacity};
    return FERRY_OK;
}

ferry_status ferry_inspect_targets(const ferry_model *model, const ferry_text *texts, int32_t count, int32_t **ids,
                                   int32_t **offsets, int32_t *lead, ferry_error *error)
{
    FERRY_NEEDS(ids);
    *ids = NULL;
    FERRY_NEEDS(offsets);
    *offsets = NULL;
    FERRY_NEEDS(lead);
    FERRY_NEEDS(model);
    FERRY_TRY(ferry_check_range("count", count, 0, INT32_MAX - 1, error));
    FERRY_TRY(ferry_check_texts("texts", texts, (size_t)count, error));
    if (model->tokenizer == NULL) return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "the model has no tokenizer");
    const int32_t forced = model->file.generation.decoding.search.forced_first_id;
    ferry_language_pair pair;
    FERRY_TRY(ferry_languages_find(model, NULL, NULL, &pair, error));
    FERRY_TRY(ferry_languages_check(model, pair, forced, error));
    const int32_t tag = forced >= 0 ? forced : ferry_languages_first_id(model, pair);
    ferry_ids all = {0}, one = {0};
    *lead = tag >= 0 ? 2 : 1;
    int32_t *starts = calloc((size_t)count + 1, sizeof *starts);
    if (starts == NULL) return ferry_fail_memory(error, "target ids", (size_t)count + 1, sizeof *starts);
    ferry_status status = FERRY_OK;
    for (int32_t i = 0; status == FERRY_OK && i < count; i++) {
        status = append_target(model, tag, texts[i], &one, &all, error);
        starts[i + 1] = (int32_t)all.count;
    }
    free(one.ids);
    if (status != FERRY_OK) {
        free(all.ids);
        free(starts);
        return status;
    }
    *ids = all.ids;
    *offsets = starts;
    return FERRY_OK;
}
