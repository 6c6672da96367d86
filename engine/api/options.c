#include "options.h"

#include <math.h>
#include <string.h>

#include "model.h"

enum { MAX_BEAM = 1024, MAX_LENGTH = 1 << 20, MAX_THREADS = 1024, MAX_BATCH = 1 << 16 };

void ferry_options_default(const ferry_model *model, ferry_options *options)
{
    *options = model->file.generation.decoding;
}

static ferry_status check_range(const char *option, int32_t value, int32_t least, int32_t most, ferry_error *error)
{
    if (value >= least && value <= most) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option %s: expected a number from %d to %d, found %d", option,
                      (int)least, (int)most, (int)value);
}

static ferry_status check_finite(const char *option, float value, ferry_error *error)
{
    if (isfinite(value)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option %s: expected a finite number, found %g", option,
                      (double)value);
}

ferry_status ferry_options_check(const ferry_options *options, const ferry_transformer *model, ferry_error *error)
{
    const int32_t vocab = model->decoder.vocab_size;
    if (options->size != sizeof *options)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                          "ferry_options.size: expected %zu, found %zu; fill options with ferry_options_default",
                          sizeof *options, options->size);
    FERRY_TRY(check_range("policy", (int32_t)options->policy, 0, 2, error));
    FERRY_TRY(check_range("beam", options->beam, 1, MAX_BEAM, error));
    FERRY_TRY(check_range("nbest", options->nbest, 1, options->beam, error));
    FERRY_TRY(check_finite("length_penalty", options->length_penalty, error));
    FERRY_TRY(check_finite("word_penalty", options->word_penalty, error));
    FERRY_TRY(check_range("early_stopping", (int32_t)options->early_stopping, 0, 2, error));
    FERRY_TRY(check_range("max_length", options->max_length, 0, MAX_LENGTH, error));
    FERRY_TRY(check_finite("length_factor", options->length_factor, error));
    if (options->length_factor < 0.0f)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option length_factor: expected a number from 0 on, found %g",
                          (double)options->length_factor);
    FERRY_TRY(check_range("length_extra", options->length_extra, 0, MAX_LENGTH, error));
    FERRY_TRY(check_range("min_length", options->min_length, 0, MAX_LENGTH, error));
    if (!isfinite(options->repetition_penalty) || options->repetition_penalty <= 0.0f)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                          "option repetition_penalty: expected a positive number, found %g",
                          (double)options->repetition_penalty);
    FERRY_TRY(check_range("no_repeat_ngram", options->no_repeat_ngram, 0, MAX_LENGTH, error));
    FERRY_TRY(check_range("renormalize", options->renormalize, 0, 1, error));
    FERRY_TRY(check_range("forced_first_id", options->forced_first_id, -1, vocab - 1, error));
    FERRY_TRY(check_range("forced_last_id", options->forced_last_id, -1, vocab - 1, error));
    FERRY_TRY(check_range("shortlist", options->shortlist, 0, 1, error));
    FERRY_TRY(check_range("scores", options->scores, 0, 1, error));
    FERRY_TRY(check_range("threads", options->threads, 1, MAX_THREADS, error));
    FERRY_TRY(check_range("batch", options->batch, 1, MAX_BATCH, error));
    if (options->suppressed_count > (size_t)vocab)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option suppressed_count: expected at most %d ids, found %zu",
                          (int)vocab, options->suppressed_count);
    for (size_t i = 0; i < options->suppressed_count; i++)
        FERRY_TRY(check_range("suppressed_ids", options->suppressed_ids[i], 0, vocab - 1, error));
    return FERRY_OK;
}
