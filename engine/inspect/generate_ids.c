/* A translator's search from ids to ids. */
#include <stdlib.h>
#include <string.h>

#include "engine/api/argument_checks.h"
#include "engine/api/call.h"
#include "engine/api/job.h"
#include "engine/api/row.h"
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
    if (part->ids.ids == NULL) return ferry_fail_memory(error, "ids", bytes);
    memcpy(part->ids.ids, ids, bytes);
    part->ids.count = (size_t)length;
    atomic_store(&job->lines[line].left, 1);
    return FERRY_OK;
}

ferry_status ferry_inspect_generate(ferry_translator *translator, const int32_t *ids, const int32_t *offsets,
                                    int32_t count, ferry_result **result, ferry_error *error)
{
    ferry_job job = {.translator = translator, .count = (size_t)count};
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_NEEDS(ids);
    FERRY_NEEDS(offsets);
    FERRY_TRY(ferry_row_refuse(translator, error));
    FERRY_TRY(ferry_check_range("count", count, 0, INT32_MAX, error));
    ferry_call call;
    FERRY_TRY(ferry_call_begin(translator, &call, error));
    ferry_status status = ferry_job_begin(&job, error);
    for (int32_t s = 0; status == FERRY_OK && s < count; s++)
        status = take_ids(&job, (size_t)s, ids + offsets[s], offsets[s + 1] - offsets[s], error);
    return ferry_call_end(&call, ferry_job_finish(&job, status, result, error));
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
