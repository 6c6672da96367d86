/* Scoring: pairs of lines, of which the targets are forced. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/graph/pass.h"
#include "engine/search/force.h"
#include "job.h"

/* Tokens of either side of the pairs that a worker scores together. */
enum { GROUP_TOKENS = 512 };

/* ---- a pair becomes ids ---- */

/* The target's ids: the forced tag, if there is one, before the text's, and the end of sentence after them. */
static ferry_status encode_target(const ferry_translator *translator, ferry_result_hypothesis *hypothesis,
                                  size_t *count, ferry_error *error)
{
    const int32_t first = translator->options.search->forced_first_id,
                  last = translator->model->file.generation.eos_ids[0];
    const ferry_view text = {hypothesis->text, hypothesis->size};
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    ferry_status status = ferry_tokenizer_encode_target(translator->model->tokenizer, text, &ids, &ranges, error);
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

/* Why a pair cannot be scored, if it cannot: a text of so many bytes has too many tokens, */
static ferry_status check_bytes(const char *side, size_t bytes, int32_t most, ferry_error *error)
{
    if (!ferry_parts_is_long(bytes, (size_t)most)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: expected at most %d tokens, found %zu bytes", side, (int)most,
                      bytes);
}

/* or it has. */
static ferry_status check_tokens(const char *side, size_t tokens, int32_t most, ferry_error *error)
{
    if (tokens > 0 && tokens <= (size_t)most) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: expected 1 to %d tokens, found %zu", side, (int)most, tokens);
}

/* The line gets one part; the target without ill-formed UTF-8 becomes the text of its hypothesis. */
static ferry_status encode_pair(ferry_job *job, size_t line, ferry_error *error)
{
    const ferry_translator *translator = job->translator;
    const ferry_view target = {job->targets[line].data, job->targets[line].size};
    ferry_view source;
    ferry_part *part;
    size_t count;
    FERRY_TRY(ferry_parts_add(&job->lines[line].parts, &part, error));
    atomic_store(&job->lines[line].left, 1);
    FERRY_TRY(ferry_job_repair(job, line, &source, error));
    FERRY_TRY(check_bytes("source", source.size, ferry_translator_source_limit(translator), error));
    FERRY_TRY(check_bytes("target", target.size, ferry_translator_scored_limit(translator), error));
    const size_t tag = ferry_tokenizer_tag_size(translator->model->tokenizer, source);
    part->text = (ferry_view){source.data + tag, source.size - tag};
    FERRY_TRY(ferry_languages_check_line(translator->model, translator->pair, source, error));
    FERRY_TRY(ferry_languages_encode_part(translator->model, translator->pair, (ferry_view){source.data, tag},
                                          part->text, &part->ids, &part->ranges, error));
    FERRY_TRY(ferry_result_line_begin(&part->result, 1, error));
    ferry_result_hypothesis *hypothesis = part->result.hypotheses;
    const bool valid = ferry_utf8_is_valid(target);
    const size_t most = valid ? target.size : 3 * target.size;
    hypothesis->text = malloc(most + 1);
    if (hypothesis->text == NULL) return ferry_fail_memory(error, "a target", most, 1);
    hypothesis->size = ferry_utf8_repair(target, hypothesis->text);
    hypothesis->text[hypothesis->size] = '\0';
    if (!valid) FERRY_TRY(ferry_result_line_warn(&job->result->lines[line], error, "invalid UTF-8 in the target"));
    FERRY_TRY(encode_target(translator, hypothesis, &count, error));
    FERRY_TRY(check_tokens("source", part->ids.count, ferry_translator_source_limit(translator), error));
    FERRY_TRY(check_tokens("target", count, ferry_translator_scored_limit(translator), error));
    if (translator->options.alignment == 0) return FERRY_OK;
    return ferry_tokens_begin_weights(hypothesis, part->ids.count, error);
}

/* ---- scoring ---- */

/* Sentences that are scored together, with their ids one after the other. */
typedef struct group {
    ferry_job_sentence *sentences[GROUP_TOKENS];
    int32_t count;
    size_t source, target; /* tokens */
} group;

/* Encodes the sources, and forces the targets. */
static ferry_status run_group(const ferry_translator *translator, ferry_state *state, const group *g,
                              ferry_sequence *sequences, ferry_error *error)
{
    const ferry_model_file *file = &translator->model->file;
    const ferry_search_options *search = translator->options.search;
    const ferry_force_rules rules = {
        .start_id = file->generation.start_id,
        .alignment = ferry_alignment_choose(&file->generation, &file->transformer),
        .suppressed_ids = search->suppressed_ids,
        .suppressed_count = search->renormalize != 0 ? search->suppressed_count : 0,
    };
    ferry_arena *arena = &state->context.arena;
    const size_t count = (size_t)g->count;
    bool failed = false;
    int32_t *ids = ferry_arena_take(arena, g->source, sizeof *ids, &failed);
    int32_t *offsets = ferry_arena_take(arena, count + 1, sizeof *offsets, &failed);
    ferry_forced *targets = ferry_arena_take(arena, count, sizeof *targets, &failed);
    if (failed) return ferry_arena_fail(arena, "pairs to score", g->source, sizeof *ids, error);
    offsets[0] = 0;
    for (int32_t i = 0; i < g->count; i++) {
        const ferry_ids *source = &g->sentences[i]->part->ids;
        const ferry_result_hypothesis *target = g->sentences[i]->part->result.hypotheses;
        memcpy(ids + offsets[i], source->ids, source->count * sizeof *ids);
        offsets[i + 1] = offsets[i] + (int32_t)source->count;
        targets[i] = (ferry_forced){.ids = target->ids,
                                    .length = target->length,
                                    .sentence = i,
                                    .weights = target->weights,
                                    .scores = target->token_scores};
        FERRY_TRY(ferry_sequence_begin(arena, (int32_t)source->count, &sequences[i], error));
    }
    FERRY_TRY(ferry_decoder_begin_sources(state, ids, offsets, g->count, sequences, error));
    return ferry_force(state, &rules, sequences, targets, g->count, error);
}

static ferry_status try_group(const ferry_translator *translator, ferry_state *state, const group *g,
                              ferry_error *error)
{
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    ferry_sequence *sequences = ferry_arena_alloc(&state->context.arena, (size_t)g->count, sizeof *sequences);
    if (sequences == NULL)
        return ferry_arena_fail(&state->context.arena, "pairs to score", (size_t)g->count, sizeof *sequences, error);
    memset(sequences, 0, (size_t)g->count * sizeof *sequences);
    const ferry_status status = run_group(translator, state, g, sequences, error);
    for (int32_t i = 0; i < g->count; i++) ferry_sequence_release(&state->decoder_cache, &sequences[i]);
    ferry_arena_end(&state->context.arena, mark);
    return status;
}

/* Where the group fails for one of its pairs, or for memory, each is scored alone. */
static void score_group(ferry_job_share *share, const group *g)
{
    const ferry_translator *translator = share->translator;
    ferry_state *state = &translator->generators[share->worker].state;
    ferry_error why;
    const ferry_status status = try_group(translator, state, g, &why);
    for (int32_t i = 0; i < g->count; i++) {
        ferry_job_sentence *sentence = g->sentences[i];
        if (status == FERRY_OK) {
            ferry_result_hypothesis *hypothesis = sentence->part->result.hypotheses;
            float sum = 0;
            if (translator->options.search->forced_first_id >= 0) hypothesis->token_scores[0] = 0;
            for (int32_t t = 0; t < hypothesis->length; t++) sum += hypothesis->token_scores[t];
            hypothesis->score = ferry_decoding_score(&translator->options, sum, hypothesis->length);
            ferry_job_finish_sentence(share, sentence);
        } else if (g->count > 1 && (status == FERRY_ERROR_FORMAT || status == FERRY_ERROR_LIMIT)) {
            const group one = {.sentences = {sentence}, .count = 1, .source = sentence->part->ids.count};
            score_group(share, &one);
        } else {
            ferry_job_fail_sentence(share, sentence, &why);
        }
    }
}

/* Takes pairs from the queue, and scores groups of them. */
static void score_share(ferry_job_share *share)
{
    const size_t batch = (size_t)share->translator->options.batch;
    ferry_job_sentence *next = ferry_job_take(share);
    while (next != NULL) {
        group g = {.count = 0};
        for (; next != NULL; next = ferry_job_take(share)) {
            const size_t source = next->part->ids.count, target = (size_t)next->part->result.hypotheses->length;
            const bool fits =
                (size_t)g.count < batch && g.source + source <= GROUP_TOKENS && g.target + target <= GROUP_TOKENS;
            if (g.count > 0 && !fits) break;
            g.sentences[g.count++] = next;
            g.source += source;
            g.target += target;
        }
        score_group(share, &g);
        if (next == NULL) next = ferry_job_take(share);
    }
}

/* ---- the call ---- */

ferry_status ferry_score(ferry_translator *translator, const ferry_text *sources, const ferry_text *targets,
                         size_t count, ferry_result **result, ferry_error *error)
{
    FERRY_FLOATS;
    ferry_job job = {.translator = translator,
                     .prepare = encode_pair,
                     .work = score_share,
                     .tokens = true,
                     .texts = sources,
                     .targets = targets,
                     .count = count};
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_TRY(ferry_check_texts("sources", sources, count, error));
    FERRY_TRY(ferry_check_texts("targets", targets, count, error));
    FERRY_TRY(ferry_row_refuse(translator, error));
    FERRY_TRY(ferry_job_check(translator, error));
    FERRY_TRY(ferry_call_begin(translator, error));
    return ferry_call_end(translator, ferry_job_finish(&job, ferry_job_begin(&job, error), result, error));
}
