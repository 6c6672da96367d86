#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/search/output_columns.h"

/* Source tokens of the sentences that a worker decodes together: bounds their keys and values. */
enum { BATCH_TOKENS = 512 };

/* ---- what workers share ---- */

static bool failed(ferry_job *job)
{
    return atomic_load(&job->status) != FERRY_OK;
}

static void fail(ferry_job *job, const ferry_error *error)
{
    int expected = FERRY_OK;
    if (atomic_compare_exchange_strong(&job->status, &expected, (int)error->status)) job->error = *error;
}

/* The first failure. */
static ferry_status take_status(ferry_job *job, ferry_error *error)
{
    if (failed(job) && error != NULL) *error = job->error;
    return (ferry_status)atomic_load(&job->status);
}

static void report_progress(ferry_job *job)
{
    const ferry_options *options = &job->translator->options;
    if (options->progress == NULL || failed(job)) return;
    if (options->progress(options->user, atomic_load(&job->done), job->count) == 0) return;
    ferry_error error;
    ferry_fail(&error, FERRY_ERROR_CANCELLED, "cancelled by the progress callback");
    fail(job, &error);
}

/* ---- a line becomes ids ---- */

static ferry_status answer_with_itself(ferry_result_line *line, ferry_view text, ferry_error *error)
{
    FERRY_TRY(ferry_result_line_begin(line, 1, error));
    ferry_result_hypothesis *hypothesis = &line->hypotheses[0];
    if (text.size == 0) return FERRY_OK;
    hypothesis->text = malloc(text.size);
    if (hypothesis->text == NULL) return ferry_fail_memory(error, "a line", text.size);
    memcpy(hypothesis->text, text.data, text.size);
    hypothesis->size = text.size;
    return FERRY_OK;
}

static ferry_status prepare_valid(ferry_job *job, ferry_job_source *source, ferry_view text, ferry_error *error)
{
    const ferry_model *model = job->translator->model;
    ferry_result_line *line = &job->result->lines[source->line];
    if (ferry_utf8_is_blank(text)) return answer_with_itself(line, text, error);
    const ferry_status status =
        ferry_languages_encode(&model->languages, model->tokenizer, job->translator->pair, text, &source->ids, error);
    const size_t limit = (size_t)model->file.transformer.encoder.position.limit, count = source->ids.count;
    const bool too_long = status == FERRY_OK && limit > 0 && count > limit;
    if (!too_long && status != FERRY_ERROR_LIMIT) return status;
    if (too_long)
        ferry_fail(error, FERRY_ERROR_LIMIT, "a sentence of %zu tokens: the model's positions end at %zu", count,
                   limit);
    source->ids.count = 0;
    return ferry_result_line_fail(line, FERRY_ERROR_LIMIT, error->message, error);
}

static ferry_status prepare(ferry_job *job, ferry_job_source *source, ferry_error *error)
{
    const ferry_view text = {job->lines[source->line].data, job->lines[source->line].size};
    if (ferry_utf8_is_valid(text)) return prepare_valid(job, source, text, error);
    bool replaced;
    char *repaired = text.size > SIZE_MAX / 3 ? NULL : malloc(3 * text.size);
    if (repaired == NULL) return ferry_fail_memory(error, "a line", text.size);
    const ferry_view valid = {repaired, ferry_utf8_repair(text, repaired, &replaced)};
    job->result->lines[source->line].warning = "invalid UTF-8 was read as U+FFFD";
    const ferry_status status = prepare_valid(job, source, valid, error);
    free(repaired);
    return status;
}

static void prepare_item(void *user, int32_t worker, size_t item)
{
    ferry_job *job = user;
    ferry_error error;
    ferry_profile *profile = ferry_translator_profile(job->translator, worker);
    ferry_profile_enter(profile, FERRY_PHASE_TOKENIZING);
    if (!failed(job) && prepare(job, &job->sources[item], &error) != FERRY_OK) fail(job, &error);
    ferry_profile_leave(profile, FERRY_PHASE_IDLE);
}

/* ---- the queue ---- */

/* Longest first: what takes longest starts first, and scratch memory has its final size early. */
static int compare_sources(const void *a, const void *b)
{
    const ferry_job_source *x = a, *y = b;
    if (x->ids.count != y->ids.count) return x->ids.count > y->ids.count ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void sort_sources(ferry_job *job)
{
    qsort(job->sources, job->count, sizeof *job->sources, compare_sources);
    while (job->sentences < job->count && job->sources[job->sentences].ids.count > 0)
        job->translator->source_tokens += job->sources[job->sentences++].ids.count;
    atomic_store(&job->done, job->count - job->sentences);
}

/* One worker's view of the job. */
typedef struct worker_share {
    ferry_job *job;
    int32_t worker;
    const ferry_job_source *alone; /* the one sentence to translate; NULL: those of the queue */
} worker_share;

/* NULL if there is none. */
static const ferry_job_source *take_source(worker_share *share)
{
    ferry_job *job = share->job;
    const ferry_job_source *alone = share->alone;
    if (alone != NULL) {
        share->alone = &job->sources[job->count]; /* nothing follows */
        return alone < share->alone ? alone : NULL;
    }
    const size_t index = failed(job) ? job->sentences : atomic_fetch_add(&job->taken, 1);
    return index < job->sentences ? &job->sources[index] : NULL;
}

static bool take_sentence(void *user, ferry_generate_sentence *sentence)
{
    worker_share *share = user;
    ferry_job *job = share->job;
    const ferry_generation *generation = &job->translator->model->file.generation;
    const ferry_job_source *source = take_source(share);
    if (source == NULL) return false;
    *sentence = (ferry_generate_sentence){
        .ids = source->ids.ids,
        .length = (int32_t)source->ids.count,
        .rules = {.options = job->translator->options,
                  .eos_ids = generation->eos_ids,
                  .eos_count = generation->eos_count,
                  .start_id = generation->start_id},
        .tag = (size_t)(source - job->sources),
    };
    sentence->rules.options.max_length = ferry_translator_target_length(job->translator, source->ids.count);
    return true;
}

static ferry_status write_text(const ferry_model *model, ferry_result_hypothesis *hypothesis, ferry_error *error)
{
    ferry_string text = {0};
    const ferry_status status =
        ferry_tokenizer_decode(model->tokenizer, hypothesis->ids, (size_t)hypothesis->length, &text, error);
    hypothesis->text = text.data;
    hypothesis->size = text.size;
    return status;
}

static ferry_status finish_sentence(void *user, size_t index, const ferry_search *search, ferry_error *error)
{
    const worker_share *share = user;
    ferry_job *job = share->job;
    ferry_result_line *line = &job->result->lines[job->sources[index].line];
    ferry_profile *profile = ferry_translator_profile(job->translator, share->worker);
    const int32_t count = ferry_search_count(search);
    FERRY_TRY(ferry_result_line_begin(line, (size_t)count, error));
    for (int32_t i = 0; i < count; i++) {
        const ferry_hypothesis hypothesis = ferry_search_hypothesis(search, i);
        FERRY_TRY(ferry_result_hypothesis_copy(&line->hypotheses[i], &hypothesis, error));
        if (job->translator->options.scores == 0) line->hypotheses[i].score = 0;
        if (job->lines == NULL) continue;
        const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_DETOKENIZING);
        FERRY_TRY(write_text(job->translator->model, &line->hypotheses[i], error));
        ferry_profile_leave(profile, around);
    }
    atomic_fetch_add(&job->done, 1);
    if (share->worker == 0) report_progress(job);
    /* Another worker's failure, or a cancellation, ends this one's work, too. */
    return failed(job) ? ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled") : FERRY_OK;
}

/* A line fails, unless memory may suffice for it without its neighbors. */
static ferry_status fail_sentence(void *user, size_t index, const ferry_error *why, ferry_error *error)
{
    const worker_share *share = user;
    ferry_job *job = share->job;
    ferry_job_source *source = &job->sources[index];
    if (why->status == FERRY_ERROR_LIMIT && share->alone == NULL) {
        source->alone = true;
        return FERRY_OK;
    }
    atomic_fetch_add(&job->done, 1);
    return ferry_result_line_fail(&job->result->lines[source->line], why->status, why->message, error);
}

/* Translates the queue, or one sentence alone. */
static void translate_share(worker_share *share)
{
    ferry_job *job = share->job;
    ferry_error error;
    ferry_translator *translator = job->translator;
    const ferry_shortlist *shortlist = &translator->model->file.generation.shortlist;
    const size_t batch = (size_t)translator->options.batch, threads = (size_t)translator->options.threads;
    const size_t even = (job->sentences + threads - 1) / threads; /* so that no worker takes what another could begin */
    if (failed(job)) return;
    const ferry_generate_source queue = {
        .width = share->alone != NULL ? 1 : (int32_t)(even < batch ? even : batch),
        .tokens = BATCH_TOKENS,
        .beam = translator->options.beam,
        .max_length = ferry_translator_target_length(translator, job->sources[0].ids.count),
        .shortlist = shortlist->offsets != NULL ? shortlist : NULL,
        .screen = translator->screen.exact != NULL ? &translator->screen : NULL,
        .next = take_sentence,
        .finished = finish_sentence,
        .failed = fail_sentence,
        .user = share,
    };
    ferry_profile *profile = ferry_translator_profile(translator, share->worker);
    ferry_profile_enter(profile, FERRY_PHASE_OTHER);
    if (ferry_generate(&translator->generators[share->worker], &queue, &error) != FERRY_OK) fail(job, &error);
    ferry_profile_leave(profile, FERRY_PHASE_IDLE);
}

static void translate_item(void *user, int32_t worker, size_t item)
{
    (void)item;
    translate_share(&(worker_share){.job = user, .worker = worker});
}

/* Sentences that ran into the memory limit, one after the other, each with all the memory. */
static void translate_alone(ferry_job *job)
{
    ferry_translator *translator = job->translator;
    for (size_t i = 0; i < job->sentences; i++) {
        if (!job->sources[i].alone) continue;
        ferry_screen_destroy(&translator->screen);
        for (int32_t t = 0; t < translator->options.threads; t++) ferry_generator_release(&translator->generators[t]);
        translate_share(&(worker_share){.job = job, .alone = &job->sources[i]});
    }
}

/* ---- the call ---- */

ferry_status ferry_job_begin(ferry_job *job, ferry_error *error)
{
    FERRY_TRY(ferry_result_create(job->count, &job->result, error));
    job->sources = calloc(job->count + 1, sizeof *job->sources);
    if (job->sources == NULL) return ferry_fail_memory(error, "lines", job->count * sizeof *job->sources);
    for (size_t i = 0; i < job->count; i++) job->sources[i].line = i;
    return FERRY_OK;
}

static ferry_status translate_sources(ferry_job *job, ferry_error *error)
{
    ferry_translator *translator = job->translator;
    const ferry_model_file *file = &translator->model->file;
    const ferry_shortlist *shortlist = &file->generation.shortlist;
    const size_t threads = (size_t)translator->options.threads;
    sort_sources(job);
    if (translator->screen.exact == NULL)
        FERRY_TRY(ferry_output_screen(&translator->generators[0].state, &translator->options,
                                      shortlist->offsets != NULL ? shortlist : NULL, translator->source_tokens,
                                      &translator->screen, error));
    ferry_pool_run(translator->pool, translate_item, job, job->sentences < threads ? job->sentences : threads);
    translate_alone(job);
    report_progress(job);
    return take_status(job, error);
}

ferry_status ferry_job_finish(ferry_job *job, ferry_status status, ferry_result **result, ferry_error *error)
{
    if (status == FERRY_OK) status = translate_sources(job, error);
    for (size_t i = 0; job->sources != NULL && i < job->count; i++) free(job->sources[i].ids.ids);
    free(job->sources);
    if (status != FERRY_OK)
        ferry_result_destroy(job->result);
    else
        *result = job->result;
    return status;
}

ferry_status ferry_translate(ferry_translator *translator, const ferry_text *lines, size_t count, ferry_result **result,
                             ferry_error *error)
{
    ferry_job job = {.translator = translator, .lines = lines, .count = count};
    *result = NULL;
    atomic_store(&translator->cancelled, false);
    if (translator->model->tokenizer == NULL)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "the model has no tokenizer: it came without one and speaks in ids only");
    ferry_status status = ferry_job_begin(&job, error);
    if (status == FERRY_OK) {
        ferry_pool_run(translator->pool, prepare_item, &job, count);
        status = take_status(&job, error);
    }
    return ferry_job_finish(&job, status, result, error);
}
