#include "pair.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "model.h"
#include "engine/search/decoding.h"
#include "line.h"

/* Sets the ids of the hypothesis: the forced tag `first` (negative: none), the ids of its text, and eos. */
static ferry_status encode_target(const ferry_model *model, int32_t first, ferry_result_hypothesis *hypothesis,
                                  size_t *count, ferry_error *error)
{
    const int32_t last = model->file.generation.eos_ids[0];
    const ferry_view text = {hypothesis->text, hypothesis->size};
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    ferry_status status = ferry_tokenizer_encode_target(model->tokenizer, text, &ids, &ranges, error);
    if (status == FERRY_OK && first >= 0) {
        status = ferry_ids_insert(&ids, 0, first, error);
        if (status == FERRY_OK) status = ferry_ranges_insert(&ranges, 0, (ferry_range){0, 0}, error);
    }
    if (status == FERRY_OK) status = ferry_ids_insert(&ids, ids.count, last, error);
    if (status == FERRY_OK)
        status = ferry_ranges_insert(&ranges, ranges.count, (ferry_range){text.size, text.size}, error);
    *count = ids.count;
    hypothesis->ids = ids.ids;
    hypothesis->ranges = ranges.ranges;
    if (status != FERRY_OK || ids.count > INT32_MAX) return status;
    hypothesis->length = (int32_t)ids.count;
    hypothesis->token_scores = malloc(ids.count * sizeof *hypothesis->token_scores);
    if (hypothesis->token_scores == NULL) return ferry_fail_memory(error, "scores", ids.count, sizeof(float));
    return FERRY_OK;
}

/* LIMIT if `bytes` alone prove more than `max` tokens. */
static ferry_status check_bytes(const char *side, size_t bytes, int32_t max, ferry_error *error)
{
    if (!ferry_parts_is_long(bytes, (size_t)max)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: expected at most %d tokens, found %zu bytes", side, (int)max,
                      bytes);
}

/* LIMIT unless 1 <= tokens <= max. */
static ferry_status check_tokens(const char *side, size_t tokens, int32_t max, ferry_error *error)
{
    if (tokens > 0 && tokens <= (size_t)max) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: expected 1 to %d tokens, found %zu", side, (int)max, tokens);
}

/* Copies the target's text to the hypothesis, without ill-formed UTF-8. */
static ferry_status take_target(ferry_view target, ferry_result_hypothesis *hypothesis, ferry_result_line *result,
                                ferry_error *error)
{
    const bool valid = ferry_utf8_is_valid(target);
    const size_t max = valid ? target.size : 3 * target.size;
    hypothesis->text = malloc(max + 1);
    if (hypothesis->text == NULL) return ferry_fail_memory(error, "a target", max, 1);
    hypothesis->size = ferry_utf8_repair(target, hypothesis->text);
    hypothesis->text[hypothesis->size] = '\0';
    return valid ? FERRY_OK : ferry_result_line_warn(result, error, "invalid UTF-8 in the target");
}

ferry_status ferry_line_pair(const ferry_model *model, const ferry_line_rules *rules, ferry_text source,
                             ferry_text target, ferry_line *line, ferry_result_line *result, ferry_error *error)
{
    ferry_view text;
    ferry_part *part;
    size_t count;
    FERRY_TRY(ferry_parts_add(&line->parts, &part, error));
    FERRY_TRY(ferry_line_repair(line, source, &text, result, error));
    FERRY_TRY(check_bytes("source", text.size, rules->source_limit, error));
    FERRY_TRY(check_bytes("target", target.size, rules->scored_limit, error));
    const ferry_view tag = {text.data, ferry_tokenizer_tag_size(model->tokenizer, text)};
    part->text = (ferry_view){text.data + tag.size, text.size - tag.size};
    FERRY_TRY(ferry_languages_check_line(model, rules->pair, text, error));
    FERRY_TRY(ferry_languages_encode_part(model, rules->pair, tag, part->text, &part->ids, &part->ranges, error));
    FERRY_TRY(ferry_result_line_begin(&part->result, 1, error));
    ferry_result_hypothesis *hypothesis = part->result.hypotheses;
    FERRY_TRY(take_target((ferry_view){target.data, target.size}, hypothesis, result, error));
    FERRY_TRY(encode_target(model, rules->options->search->forced_first_id, hypothesis, &count, error));
    FERRY_TRY(check_tokens("source", part->ids.count, rules->source_limit, error));
    FERRY_TRY(check_tokens("target", count, rules->scored_limit, error));
    if (rules->options->alignment == 0) return FERRY_OK;
    return ferry_result_begin_weights(hypothesis, part->ids.count, error);
}

void ferry_pair_score(const ferry_options *options, ferry_result_hypothesis *hypothesis)
{
    float sum = 0;
    if (options->search->forced_first_id >= 0) hypothesis->token_scores[0] = 0;
    for (int32_t t = 0; t < hypothesis->length; t++) sum += hypothesis->token_scores[t];
    hypothesis->score = ferry_decoding_score(options, sum, hypothesis->length);
}
