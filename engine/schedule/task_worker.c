#include "task_worker.h"

#include "engine/search/generate.h"
#include "engine/search/logits.h"
#include "queue.h"

enum {
    /* The maximum number of positions of keys and values of sentences in progress: BATCH_POSITIONS, and
     * BEAM_POSITIONS for each hypothesis of a beam. */
    BATCH_POSITIONS = 410,
    BEAM_POSITIONS = 130
};

/* ---- tasks ---- */

ferry_task *ferry_worker_take(ferry_worker *worker)
{
    ferry_task *task = worker->first;
    if (worker->job == NULL) ferry_queue_report(worker->queue);
    if (!worker->solo) task = ferry_queue_take(worker->queue, worker->held, false);
    worker->first = NULL;
    worker->held += task != NULL;
    return task;
}

static void put(ferry_worker *worker, ferry_task *task, ferry_queue_target target)
{
    worker->held--;
    ferry_queue_put(worker->queue, task, target);
}

void ferry_worker_end(ferry_worker *worker, ferry_task *task, const ferry_task_outcome *outcome)
{
    if (outcome->why != NULL && outcome->why->status == FERRY_ERROR_LIMIT && !worker->solo)
        put(worker, task, FERRY_QUEUE_SOLO);
    else if (task->job->done(task->job, task, outcome) == FERRY_TASK_AGAIN)
        put(worker, task, FERRY_QUEUE_AGAIN);
    else
        put(worker, task, FERRY_QUEUE_DONE);
}

/* ---- the source of ferry_generate ---- */

static int32_t max_length(const ferry_worker *worker, int32_t source)
{
    return ferry_decoding_target_limit(worker->options, worker->generator->state.model, (size_t)source);
}

static bool take_sentence(void *user, int32_t priority, ferry_generate_sentence *sentence)
{
    ferry_worker *worker = user;
    const ferry_generation *generation = worker->generation;
    if (worker->job == NULL && !worker->solo) ferry_queue_prepare(worker->queue, priority, worker->index);
    ferry_task *task = ferry_worker_take(worker);
    if (task == NULL) return false;
    *sentence = (ferry_generate_sentence){
        .ids = task->source,
        .length = task->source_count,
        .rules = {.options = *worker->options,
                  .eos_ids = generation->eos_ids,
                  .eos_count = generation->eos_count,
                  .start_id = generation->start_id,
                  .prefix = task->prefix,
                  .prefix_count = task->prefix_count,
                  .word_begins = task->word_begins,
                  .ends_word = task->ends_word,
                  .admitted = task->admitted,
                  .once = task->once,
                  .once_count = task->once_count},
        .priority = task->job->priority,
        .stop = &task->job->stop,
        .tag = task,
    };
    if (worker->options->sample != 0)
        sentence->rules.stream =
            ferry_sample_stream(task->source, task->source_count, task->prefix, task->prefix_count);
    if (task->no_repeat_ngram > 0) sentence->rules.options.no_repeat_ngram = task->no_repeat_ngram;
    sentence->rules.options.max_length = max_length(worker, task->source_count);
    return true;
}

static void give_sentence_back(void *user, void *tag)
{
    put(user, tag, FERRY_QUEUE_AGAIN);
}

static bool wants_weights(void *user, void *tag, const ferry_search *search)
{
    const ferry_task *task = tag;
    (void)user;
    return task->job->wants_weights != NULL && task->job->wants_weights(task->job, task, search);
}

static ferry_status list_choices(void *user, void *tag, const ferry_generate_finished *finished,
                                 const ferry_teacher_target **targets, int32_t *count, ferry_error *error)
{
    const ferry_worker *worker = user;
    const ferry_task *task = tag;
    const ferry_task_outcome outcome = {.search = finished->search,
                                        .weights = finished->weights,
                                        .worker = worker->index};
    return task->job->choices != NULL ? task->job->choices(task->job, task, &outcome, targets, count, error) : FERRY_OK;
}

static void report_step(void *user, void *tag, const ferry_search *search)
{
    const ferry_worker *worker = user;
    const ferry_task *task = tag;
    if (task->job->stepped != NULL) task->job->stepped(task->job, task, ferry_search_so_far(search), worker->index);
}

static void finish_sentence(void *user, void *tag, const ferry_generate_finished *finished)
{
    ferry_worker *worker = user;
    ferry_worker_end(
        worker, tag,
        &(ferry_task_outcome){.search = finished->search, .weights = finished->weights, .worker = worker->index});
}

static void fail_sentence(void *user, void *tag, const ferry_error *why)
{
    ferry_worker *worker = user;
    ferry_worker_end(worker, tag, &(ferry_task_outcome){.why = why, .worker = worker->index});
}

void ferry_worker_translate(ferry_worker *worker)
{
    const ferry_options *options = worker->options;
    const ferry_generation *generation = worker->generation;
    const ferry_job *job = worker->first != NULL ? worker->first->job : worker->job;
    const ferry_teacher_force_rules force = {
        .start_id = generation->start_id,
        .alignment = ferry_alignment_choose(generation, worker->generator->state.model),
    };
    const int32_t beam = ferry_search_width(options);
    const size_t threads = (size_t)options->threads, batch = (size_t)options->batch;
    /* In a call, a worker's width is at most an even share, so that no worker is idle. A service may use the full
     * batch, because its sentences can be preempted. */
    const size_t even = worker->job != NULL ? (worker->job->task_count + threads - 1) / threads : batch;
    const ferry_generate_source source = {
        .width = worker->solo ? 1 : (int32_t)(even < batch ? even : batch),
        .ranked = job == NULL,
        .positions = BATCH_POSITIONS + BEAM_POSITIONS * beam,
        .beam = beam,
        .max_length = max_length(worker, job != NULL ? job->tasks[0].source_count : worker->max_source),
        .shortlist = generation->shortlist.offsets != NULL ? &generation->shortlist : NULL,
        .bound = worker->bound->exact != NULL ? worker->bound : NULL,
        .force = &force,
        .next = take_sentence,
        .give_back = give_sentence_back,
        .wants_weights = wants_weights,
        .choices = list_choices,
        .finished = finish_sentence,
        .failed = fail_sentence,
        .stepped = worker->job == NULL || worker->job->stepped != NULL ? report_step : NULL,
        .user = worker,
    };
    ferry_generate(worker->generator, &source);
}
