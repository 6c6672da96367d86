#include "call.h"

#include <stdlib.h>

#include "base/pool.h"
#include "engine/lines/detokenize.h"
#include "engine/lines/join.h"
#include "engine/lines/pair.h"
#include "engine/lines/term_writing.h"
#include "translator.h"
#include "engine/lines/model.h"
#include "engine/graph/state.h"

/* ---- callbacks ---- */

static void report_progress(ferry_call *call)
{
    const ferry_translator *translator = call->translator;
    ferry_callbacks *callbacks = call->callbacks;
    if ((callbacks->progress == NULL && call->progress == NULL) || call->count == 0) return;
    ferry_mutex_lock(&callbacks->mutex);
    const size_t done = (translator->place * call->count + atomic_load(&call->done)) / translator->places;
    if (!ferry_job_stopped(&call->job) && callbacks->progress != NULL &&
        callbacks->progress(callbacks->user, done, call->count) != 0)
        ferry_stop_now(&call->job.stop);
    if (!ferry_job_stopped(&call->job) && call->progress != NULL && call->progress(call->user, done, call->count) != 0)
        ferry_stop_now(&call->job.stop);
    ferry_mutex_unlock(&callbacks->mutex);
}

/* Whether `partial` is called. */
static bool reports_partial(const ferry_call *call)
{
    const ferry_translator *translator = call->translator;
    const ferry_options *options = &translator->options;
    return call->callbacks->partial != NULL && options->beam == 1 && options->nbest == 1 &&
           translator->place + 1 == translator->places;
}

/* Calls `partial` for a line of at most one part. */
static void report_partial(ferry_call *call, size_t line, const char *text, size_t size)
{
    ferry_callbacks *callbacks = call->callbacks;
    if (call->job.stepped == NULL || call->lines[line].line.parts.count > 1) return;
    ferry_mutex_lock(&callbacks->mutex);
    if (!ferry_job_stopped(&call->job) && callbacks->partial(callbacks->user, line, (ferry_text){text, size}) != 0)
        ferry_stop_now(&call->job.stop);
    ferry_mutex_unlock(&callbacks->mutex);
}

/* ---- bytes; those of a service are counted ---- */

static void hold(ferry_call *call, size_t bytes)
{
    if (call->account == NULL) return;
    atomic_fetch_add(&call->held, bytes);
    atomic_fetch_add(call->account, bytes);
}

static void hold_parts(ferry_call *call, const ferry_parts *parts)
{
    size_t bytes = parts->capacity * sizeof *parts->parts;
    if (call->account == NULL) return;
    for (size_t i = 0; i < parts->count; i++)
        bytes += (parts->parts[i].ids.capacity + parts->parts[i].prefix.capacity) * sizeof(int32_t) +
                 parts->parts[i].ranges.capacity * sizeof(ferry_range);
    hold(call, bytes);
}

/* Whether translations with other numbers are made again. */
static bool mends_numbers(const ferry_call *call)
{
    return (call->on_number | call->translator->options.on_number) == FERRY_ON_NUMBER_RETRY;
}

/* ---- lines ---- */

static void finish_line(ferry_call *call, size_t line)
{
    call->lines[line].finished = true;
    atomic_fetch_add(&call->done, 1);
}

/* Joins the line after its last part. */
static ferry_status finish_part(ferry_call *call, size_t line, ferry_error *error)
{
    ferry_call_line *from = &call->lines[line];
    const bool tokens = call->targets != NULL || call->translator->options.alignment != 0;
    if (atomic_fetch_sub(&from->left, 1) > 1) return FERRY_OK;
    FERRY_TRY(ferry_line_join(&from->line, &call->translator->rules, call->texts[line], tokens,
                              &call->result->lines[line], error));
    if (call->account != NULL) hold(call, ferry_result_line_bytes(&call->result->lines[line]));
    finish_line(call, line);
    return FERRY_OK;
}

/* Splits *bytes bytes of a line into parts (ferry_line_split). Parts without ids are finished. */
static ferry_status split_line(ferry_call *call, size_t line, size_t *bytes, ferry_splitter *splitter, bool *more,
                               ferry_error *error)
{
    const ferry_translator *translator = call->translator;
    const ferry_text text = call->texts[line];
    const size_t offset = call->text != NULL ? (size_t)(text.data - call->text) : 0;
    const ferry_line_source from = {.model = translator->model,
                                    .rules = &translator->rules,
                                    .text = text,
                                    .prefix = call->prefixes != NULL ? call->prefixes[line] : (ferry_text){NULL, 0},
                                    .terms = call->text != NULL
                                                 ? ferry_terms_within(call->terms, offset, offset + text.size)
                                                 : ferry_terms_of_line(call->terms, line),
                                    .vocabulary = &translator->vocabulary,
                                    .offset = offset,
                                    .carried = translator->place + 1 < translator->places,
                                    .stop = &call->job.stop};
    ferry_call_line *to = &call->lines[line];
    const ferry_parts *parts = &to->line.parts;
    FERRY_TRY(ferry_line_split(&from, bytes, splitter, &to->line, &call->result->lines[line], more, error));
    if (*more) return FERRY_OK;
    if (parts->count == 0) finish_line(call, line);
    atomic_store(&to->left, parts->count);
    for (size_t i = 0; i < parts->count; i++)
        if (parts->parts[i].ids.count == 0) FERRY_TRY(finish_part(call, line, error));
    return FERRY_OK;
}

static ferry_status take_pair(ferry_call *call, size_t line, ferry_error *error)
{
    const ferry_translator *translator = call->translator;
    atomic_store(&call->lines[line].left, 1);
    return ferry_line_pair(translator->model, &translator->rules, call->texts[line], call->targets[line],
                           &call->lines[line].line, &call->result->lines[line], error);
}

/* Prepares *bytes bytes of a line. Returns whether it goes on. LIMIT and ARGUMENT are the result of the line. Any
 * other error stops the job. */
static bool prepare_line(ferry_call *call, size_t line, size_t *bytes, ferry_splitter *splitter)
{
    ferry_error error;
    bool more = false;
    ferry_status status =
        call->targets != NULL ? take_pair(call, line, &error) : split_line(call, line, bytes, splitter, &more, &error);
    if (status == FERRY_OK && more) return true;
    ferry_splitter_end(splitter);
    hold_parts(call, &call->lines[line].line.parts);
    if (status == FERRY_ERROR_LIMIT || status == FERRY_ERROR_ARGUMENT) {
        status = ferry_result_line_fail(&call->result->lines[line], status, error.message, &error);
        ferry_parts_destroy(&call->lines[line].line.parts);
        if (status == FERRY_OK) finish_line(call, line);
    }
    if (status != FERRY_OK) ferry_job_fail(&call->job, &error);
    return false;
}

static void prepare_item(void *user, int32_t worker, size_t item)
{
    ferry_call *call = user;
    ferry_profile *profile = ferry_schedule_profile(&call->translator->schedule, worker);
    ferry_splitter splitter = {0};
    size_t bytes = SIZE_MAX;
    ferry_profile_enter(profile, FERRY_PHASE_TOKENIZING);
    if (!ferry_job_stopped(&call->job)) prepare_line(call, item, &bytes, &splitter);
    ferry_profile_leave(profile, FERRY_PHASE_IDLE);
}

/* ---- tasks ---- */

static void stepped(ferry_job *job, const ferry_task *task, ferry_hypothesis so_far, int32_t worker)
{
    ferry_call *call = job->user;
    ferry_profile *profile = ferry_schedule_profile(&call->translator->schedule, worker);
    ferry_buffer text = {0};
    ferry_error error;
    if (call->lines[task->item].line.parts.count > 1) return;
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_DETOKENIZING);
    ferry_status status =
        ferry_part_decode(call->translator->model, task->tag, so_far.ids, (size_t)so_far.length, &text, &error);
    if (status == FERRY_OK) status = ferry_buffer_end(&text, &error);
    ferry_profile_leave(profile, around);
    if (status == FERRY_OK)
        report_partial(call, task->item, text.data, text.size);
    else
        ferry_job_fail(job, &error);
    free(text.data);
}

/* Sets the result of a part to the outcome of its task. */
static ferry_status end_part(ferry_call *call, ferry_part *part, const ferry_task_outcome *outcome, bool *again,
                             ferry_error *error)
{
    const ferry_translator *translator = call->translator;
    ferry_profile *profile = ferry_schedule_profile(&translator->schedule, outcome->worker);
    const ferry_part_ending ending = {outcome->search, outcome->weights, outcome->why, true,
                                      mends_numbers(call) && translator->vocabulary.numberless != NULL};
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_DETOKENIZING);
    const ferry_status status = ferry_part_end(translator->model, &translator->rules, &ending, part, again, error);
    ferry_profile_leave(profile, around);
    return status;
}

/* With another prefix, or because the translation loops. Without digits, it often would. */
static ferry_task_answer search_again(const ferry_call *call, const ferry_part *part, ferry_task *task)
{
    task->prefix = part->prefix.ids;
    task->prefix_count = (int32_t)part->prefix.count;
    if (part->numbered) task->admitted = call->translator->vocabulary.numberless;
    if (part->after_term) task->word_begins = call->translator->vocabulary.word_begins;
    task->ends_word = part->after_term;
    if (part->retried || part->numbered) task->no_repeat_ngram = FERRY_AGAIN_NGRAM;
    return FERRY_TASK_AGAIN;
}

static ferry_task_answer done(ferry_job *job, ferry_task *task, const ferry_task_outcome *outcome)
{
    ferry_call *call = job->user;
    ferry_part *part = task->tag;
    const ferry_result_line *result = &part->result;
    ferry_status status = FERRY_OK;
    ferry_error error;
    bool again = false;
    if (call->targets != NULL && outcome->why == NULL)
        ferry_pair_score(&call->translator->options, result->hypotheses);
    else
        status = end_part(call, part, outcome, &again, &error);
    if (again) return search_again(call, part, task);
    if (status == FERRY_OK && result->outcome.status == FERRY_OK)
        report_partial(call, task->item, result->hypotheses[0].text, result->hypotheses[0].size);
    if (status == FERRY_OK) status = finish_part(call, task->item, &error);
    if (status != FERRY_OK) ferry_job_fail(job, &error);
    /* In a call, `progress` is for the calling thread alone. */
    if (outcome->worker == 0 || job->ended != NULL) report_progress(call);
    return FERRY_TASK_FINISHED;
}

static bool wants_weights(const ferry_job *job, const ferry_task *task, const ferry_search *search)
{
    const ferry_call *call = job->user;
    return ferry_part_wants_weights(call->translator->model, &call->translator->rules, task->tag, search);
}

static ferry_status choices(const ferry_job *job, const ferry_task *task, const ferry_task_outcome *outcome,
                            const ferry_teacher_target **targets, int32_t *count, ferry_error *error)
{
    const ferry_call *call = job->user;
    const ferry_translator *translator = call->translator;
    const ferry_hypothesis best = ferry_search_hypothesis(outcome->search, 0);
    const ferry_terms_hypothesis hypothesis = {best.ids, (size_t)best.length, outcome->weights[0]};
    ferry_part *part = task->tag;
    FERRY_TRY(ferry_terms_write(translator->model, &translator->rules, &translator->vocabulary, &hypothesis,
                                mends_numbers(call) && !part->numbered, part, error));
    *targets = part->choices;
    *count = part->choice_count > 1 ? (int32_t)part->choice_count : 0;
    return FERRY_OK;
}

static ferry_task make_task(const ferry_call *call, size_t line, ferry_part *part)
{
    ferry_task task = {.source = part->ids.ids,
                       .source_count = (int32_t)part->ids.count,
                       .prefix = part->prefix.ids,
                       .prefix_count = (int32_t)part->prefix.count,
                       .word_begins = part->once_count > 0 ? call->translator->vocabulary.word_begins : NULL,
                       .once = part->once,
                       .once_count = part->once_count,
                       .item = line,
                       .tag = part};
    if (call->targets == NULL) return task;
    const ferry_result_hypothesis *target = part->result.hypotheses;
    task.target = (ferry_teacher_target){
        .ids = target->ids, .length = target->length, .weights = target->weights, .scores = target->token_scores};
    return task;
}

/* Makes a task of each part with ids. */
static ferry_status make_tasks(ferry_call *call, ferry_error *error)
{
    ferry_job *job = &call->job;
    size_t max = 0;
    for (size_t i = 0; i < call->count; i++) max += call->lines[i].line.parts.count;
    job->tasks = calloc(max + 1, sizeof *job->tasks);
    if (job->tasks == NULL) return ferry_fail_memory(error, "sentences", max, sizeof *job->tasks);
    hold(call, max * sizeof *job->tasks);
    for (size_t i = 0; i < call->count; i++) {
        const ferry_parts *parts = &call->lines[i].line.parts;
        for (size_t p = 0; p < parts->count; p++)
            if (parts->parts[p].ids.count > 0) job->tasks[job->task_count++] = make_task(call, i, &parts->parts[p]);
    }
    ferry_job_sort(job);
    return FERRY_OK;
}

/* ---- the call ---- */

/* Whether lines may have terms. */
static bool has_terms(const ferry_call *call)
{
    return call->terms.count > 0 || (call->targets == NULL && call->translator->options.glossary != NULL);
}

/* Fills in the fields of the job, from the translator. */
static void describe_job(ferry_call *call)
{
    ferry_translator *translator = call->translator;
    const ferry_options *options = &translator->options;
    ferry_job *job = &call->job;
    job->forced = call->targets != NULL;
    job->wants_weights =
        options->alignment != 0 || options->replace_unknowns != 0 || has_terms(call) || mends_numbers(call)
            ? wants_weights
            : NULL;
    job->choices = choices;
    if (job->ended == NULL) job->stop.above = translator->stop;
    job->done = done;
    job->stepped = reports_partial(call) ? stepped : NULL;
    job->user = call;
}

ferry_status ferry_call_open(ferry_call *call, ferry_error *error)
{
    if (call->callbacks == NULL) call->callbacks = &call->translator->callbacks;
    describe_job(call);
    FERRY_TRY(ferry_result_create(call->count, &call->result, error));
    call->lines = calloc(call->count + 1, sizeof *call->lines);
    if (call->lines == NULL) return ferry_fail_memory(error, "lines", call->count, sizeof *call->lines);
    hold(call, call->count * (sizeof *call->lines + sizeof *call->result->lines));
    if (has_terms(call)) return ferry_translator_read_vocabulary(call->translator, error);
    /* Without it, numbers are not mended. */
    if (mends_numbers(call)) ferry_translator_read_vocabulary(call->translator, NULL);
    return FERRY_OK;
}

bool ferry_call_prepare(ferry_call *call, size_t bytes)
{
    ferry_error error;
    while (call->next < call->count && bytes > 0 && !ferry_job_stopped(&call->job)) {
        bytes--; /* an empty line takes time, too */
        if (!prepare_line(call, call->next, &bytes, &call->splitter)) call->next++;
    }
    if (ferry_job_stopped(&call->job)) return false;
    if (call->next < call->count) return true;
    if (make_tasks(call, &error) == FERRY_OK)
        report_progress(call);
    else
        ferry_job_fail(&call->job, &error);
    return false;
}

/* Marks the lines that are not finished as CANCELLED. */
static ferry_status cancel_lines(ferry_call *call, ferry_error *error)
{
    for (size_t i = 0; i < call->count; i++)
        if (!call->lines[i].finished)
            FERRY_TRY(ferry_result_line_fail(&call->result->lines[i], FERRY_ERROR_CANCELLED, "cancelled", error));
    return ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled: %zu of %zu lines are finished",
                      atomic_load(&call->done), call->count);
}

/* The status of a call that was opened, after its job's. */
static ferry_status settle(ferry_call *call, ferry_status status, ferry_error *error)
{
    if (status != FERRY_OK && status != FERRY_ERROR_CANCELLED) return status;
    if (atomic_load(&call->done) < call->count || (call->count == 0 && ferry_job_stopped(&call->job)))
        return cancel_lines(call, error);
    return FERRY_OK;
}

ferry_status ferry_call_end(ferry_call *call, ferry_status status, ferry_result **result, ferry_error *error)
{
    if (status == FERRY_OK) status = ferry_job_status(&call->job, error);
    if (call->lines != NULL)
        status = settle(call, status, error);
    else if (status == FERRY_OK)
        status = ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled before the text was split");
    ferry_splitter_end(&call->splitter);
    for (size_t i = 0; call->lines != NULL && i < call->count; i++) ferry_line_destroy(&call->lines[i].line);
    free(call->lines);
    free(call->job.tasks);
    if (call->account != NULL) atomic_fetch_sub(call->account, atomic_load(&call->held));
    *result = NULL;
    if (call->lines != NULL && (status == FERRY_OK || status == FERRY_ERROR_CANCELLED))
        *result = call->result;
    else
        ferry_result_destroy(call->result);
    return status;
}

/* Opens the call, and prepares its lines with all threads. */
static ferry_status begin(ferry_call *call, ferry_error *error)
{
    FERRY_TRY(ferry_call_open(call, error));
    ferry_pool_run(call->translator->schedule.pool, prepare_item, call, call->count);
    FERRY_TRY(ferry_job_status(&call->job, error));
    return make_tasks(call, error);
}

ferry_status ferry_call_run(ferry_call *call, ferry_result **result, ferry_error *error)
{
    ferry_status status = begin(call, error);
    if (status == FERRY_OK) status = ferry_schedule_run(&call->translator->schedule, &call->job, error);
    if (status == FERRY_OK) report_progress(call);
    return ferry_call_end(call, status, result, error);
}
