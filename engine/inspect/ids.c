/* From ids to ids: a translator's search, and given translations as the decoder's inputs. */
#include <stdlib.h>
#include <string.h>

#include "engine/api/argument_checks.h"
#include "engine/api/chain.h"
#include "engine/lines/detokenize.h"
#include "engine/lines/join.h"
#include "engine/api/translator.h"
#include "engine/ferry_inspect.h"
#include "engine/lines/line.h"
#include "engine/lines/model.h"

/* ---- translation ---- */

/* One call. Each sentence is a line of one part without text, and a task. */
typedef struct generation {
    ferry_translator *translator;
    ferry_job job;
    ferry_line *lines; /* [count] */
    size_t count;
    ferry_result *result;
} generation;

/* Copies sentence number `line`, checked, and makes its task. */
static ferry_status take_ids(generation *g, size_t line, const int32_t *ids, int32_t length, ferry_error *error)
{
    const ferry_stack *encoder = &g->translator->model->file.transformer.encoder;
    const size_t bytes = (size_t)length * sizeof *ids;
    ferry_part *part;
    if (length < 0) return ferry_fail_argument(error, "offsets", "they descend in sentence %zu", line);
    if (length == 0) return ferry_result_line_begin(&g->result->lines[line], 1, error);
    if (encoder->position.limit > 0 && length > encoder->position.limit)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "a sentence of %d tokens: the model's positions end at %d",
                          (int)length, (int)encoder->position.limit);
    for (int32_t i = 0; i < length; i++)
        if (ids[i] < 0 || ids[i] >= encoder->vocab_size)
            return ferry_fail_argument(error, "ids", "sentence %zu: id %d is not below the vocabulary's %d", line,
                                       (int)ids[i], (int)encoder->vocab_size);
    FERRY_TRY(ferry_parts_add(&g->lines[line].parts, &part, error));
    part->ids.ids = malloc(bytes);
    if (part->ids.ids == NULL) return ferry_fail_memory(error, "ids", bytes, 1);
    memcpy(part->ids.ids, ids, bytes);
    part->ids.count = (size_t)length;
    g->job.tasks[g->job.task_count++] =
        (ferry_task){.source = part->ids.ids, .source_count = length, .item = line, .tag = part};
    return FERRY_OK;
}

static ferry_task_answer done(ferry_job *job, ferry_task *task, const ferry_task_outcome *outcome)
{
    generation *g = job->user;
    const ferry_line_rules *rules = &g->translator->rules;
    const ferry_part_ending ending = {.search = outcome->search, .weights = outcome->weights, .why = outcome->why};
    ferry_error error;
    bool again;
    ferry_status status = ferry_part_end(g->translator->model, rules, &ending, task->tag, &again, &error);
    if (again) {
        task->no_repeat_ngram = FERRY_AGAIN_NGRAM;
        return FERRY_TASK_AGAIN;
    }
    if (status == FERRY_OK)
        status = ferry_line_join(&g->lines[task->item], rules, (ferry_text){NULL, 0}, rules->options->alignment != 0,
                                 &g->result->lines[task->item], &error);
    if (status != FERRY_OK) ferry_job_fail(job, &error);
    return FERRY_TASK_FINISHED;
}

static bool wants_weights(const ferry_job *job, const ferry_task *task, const ferry_search *search)
{
    (void)job, (void)task, (void)search;
    return true;
}

static ferry_status generate(generation *g, const int32_t *ids, const int32_t *offsets, ferry_error *error)
{
    size_t finished = 0;
    FERRY_TRY(ferry_result_create(g->count, &g->result, error));
    g->lines = calloc(g->count + 1, sizeof *g->lines);
    g->job.tasks = calloc(g->count + 1, sizeof *g->job.tasks);
    if (g->lines == NULL || g->job.tasks == NULL)
        return ferry_fail_memory(error, "sentences", g->count, sizeof *g->job.tasks);
    for (size_t s = 0; s < g->count; s++)
        FERRY_TRY(take_ids(g, s, ids + offsets[s], offsets[s + 1] - offsets[s], error));
    ferry_job_sort(&g->job);
    FERRY_TRY(ferry_schedule_run(&g->translator->schedule, &g->job, error));
    FERRY_TRY(ferry_job_status(&g->job, error));
    for (size_t s = 0; s < g->count; s++) {
        ferry_result_line *line = &g->result->lines[s];
        const bool cancelled = line->hypotheses == NULL && line->outcome.status == FERRY_OK;
        if (cancelled) FERRY_TRY(ferry_result_line_fail(line, FERRY_ERROR_CANCELLED, "cancelled", error));
        finished += !cancelled;
    }
    if (finished == g->count) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled: %zu of %zu lines are finished", finished, g->count);
}

ferry_status ferry_inspect_generate(ferry_translator *translator, const int32_t *ids, const int32_t *offsets,
                                    int32_t count, ferry_result **result, ferry_error *error)
{
    FERRY_FENV;
    generation g = {.translator = translator, .count = (size_t)count};
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_NEEDS(ids);
    FERRY_NEEDS(offsets);
    FERRY_TRY(ferry_chain_refuse(translator, error));
    FERRY_TRY(ferry_check_range("count", count, 0, INT32_MAX, error));
    FERRY_TRY(ferry_translator_begin(translator, error));
    g.job.stop.above = translator->stop;
    g.job.wants_weights = translator->options.alignment != 0 ? wants_weights : NULL;
    g.job.done = done;
    g.job.user = &g;
    const ferry_status status = generate(&g, ids, offsets, error);
    for (size_t s = 0; g.lines != NULL && s < g.count; s++) ferry_line_destroy(&g.lines[s]);
    free(g.lines);
    free(g.job.tasks);
    if (status == FERRY_OK || status == FERRY_ERROR_CANCELLED)
        *result = g.result;
    else
        ferry_result_destroy(g.result);
    return ferry_translator_end(translator, status);
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
    if (translator == NULL || translator->stages != NULL) return 0;
    return ferry_decoding_target_limit(&translator->options, &translator->model->file.transformer, source_tokens);
}

/* Appends the start token, `tag` (-1: none) and the ids of the text. */
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
