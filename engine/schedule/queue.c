#include "queue.h"

#include <stdlib.h>
#include <string.h>

/* ---- a job ---- */

void ferry_job_fail(ferry_job *job, const ferry_error *error)
{
    int expected = FERRY_OK;
    if (atomic_compare_exchange_strong(&job->status, &expected, (int)error->status)) job->error = *error;
    ferry_stop_now(&job->stop);
}

ferry_status ferry_job_status(ferry_job *job, ferry_error *error)
{
    const ferry_status status = (ferry_status)atomic_load(&job->status);
    if (status != FERRY_OK && error != NULL) *error = job->error;
    return status;
}

static int compare_tasks(const void *a, const void *b)
{
    const ferry_task *x = a, *y = b;
    if (x->source_count != y->source_count) return x->source_count > y->source_count ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void ferry_job_sort(ferry_job *job)
{
    for (size_t i = 0; i < job->task_count; i++) {
        job->tasks[i].job = job;
        job->tasks[i].order = i;
    }
    if (job->task_count > 0) qsort(job->tasks, job->task_count, sizeof *job->tasks, compare_tasks);
    for (size_t i = job->task_count; i-- > 0; job->waiting = &job->tasks[i]) job->tasks[i].next = job->waiting;
}

/* ---- the queue ---- */

void ferry_queue_create(ferry_queue *queue, int32_t workers)
{
    memset(queue, 0, sizeof *queue);
    queue->workers = workers;
    ferry_mutex_create(&queue->mutex);
    ferry_condition_create(&queue->changed);
}

void ferry_queue_destroy(ferry_queue *queue)
{
    ferry_condition_destroy(&queue->changed);
    ferry_mutex_destroy(&queue->mutex);
}

/* ---- the order of jobs; with the mutex locked ---- */

static bool is_before(const ferry_job *a, const ferry_job *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->number < b->number;
}

static bool has_tasks(const ferry_job *job)
{
    return job->waiting != NULL || job->solo != NULL;
}

/* Inserts the job into the list of jobs with tasks. */
static void link_job(ferry_queue *queue, ferry_job *job)
{
    ferry_job **at = &queue->first;
    if (queue->last != NULL && is_before(queue->last, job)) at = &queue->last->next;
    while (*at != NULL && is_before(*at, job)) at = &(*at)->next;
    job->next = *at;
    *at = job;
    if (job->next == NULL) queue->last = job;
}

static void unlink_job(ferry_queue *queue, ferry_job *job)
{
    ferry_job *before = NULL;
    for (ferry_job *j = queue->first; j != job; j = j->next) before = j;
    *(before != NULL ? &before->next : &queue->first) = job->next;
    if (queue->last == job) queue->last = before;
}

/* Lists a job of a service as ended if no task is queued or held by a worker. */
static void settle(ferry_queue *queue, ferry_job *job)
{
    if (job->ended == NULL || has_tasks(job) || job->held > 0) return;
    job->next = queue->ended;
    queue->ended = job;
    ferry_condition_wake_all(&queue->changed);
}

/* Removes all queued tasks of the job. */
static void empty(ferry_queue *queue, ferry_job *job)
{
    if (!has_tasks(job)) return;
    unlink_job(queue, job);
    for (; job->waiting != NULL; job->waiting = job->waiting->next) queue->waiting--;
    for (; job->solo != NULL; job->solo = job->solo->next) queue->waiting--;
    settle(queue, job);
}

/* The first job, after removing stopped ones. */
static ferry_job *first_job(ferry_queue *queue)
{
    while (queue->first != NULL && ferry_job_stopped(queue->first)) empty(queue, queue->first);
    return queue->first;
}

/* ---- jobs ---- */

void ferry_queue_add(ferry_queue *queue, ferry_job *job)
{
    ferry_mutex_lock(&queue->mutex);
    job->number = ++queue->number;
    for (const ferry_task *s = job->waiting; s != NULL; s = s->next) queue->waiting++;
    if (has_tasks(job))
        link_job(queue, job);
    else
        settle(queue, job);
    if (ferry_job_stopped(job)) empty(queue, job);
    ferry_condition_wake_all(&queue->changed);
    ferry_mutex_unlock(&queue->mutex);
}

void ferry_queue_remove(ferry_queue *queue, ferry_job *job)
{
    ferry_mutex_lock(&queue->mutex);
    empty(queue, job);
    ferry_mutex_unlock(&queue->mutex);
}

/* ---- tasks ---- */

ferry_task *ferry_queue_take(ferry_queue *queue, size_t held, bool solo)
{
    ferry_task *task = NULL;
    ferry_mutex_lock(&queue->mutex);
    ferry_job *job = first_job(queue);
    const size_t workers = (size_t)queue->workers, even = (queue->held + queue->waiting + workers - 1) / workers;
    const bool may = solo || (held < even && !queue->solo);
    if (job != NULL && may && (job->waiting != NULL) != solo) {
        ferry_task **list = solo ? &job->solo : &job->waiting;
        task = *list;
        *list = task->next;
        if (!has_tasks(job)) unlink_job(queue, job);
        job->held++;
        queue->waiting--;
        queue->held++;
    }
    ferry_mutex_unlock(&queue->mutex);
    return task;
}

void ferry_queue_put(ferry_queue *queue, ferry_task *task, ferry_queue_target target)
{
    ferry_job *job = task->job;
    ferry_mutex_lock(&queue->mutex);
    job->held--;
    queue->held--;
    if (target != FERRY_QUEUE_DONE && !ferry_job_stopped(job)) {
        ferry_task **at = target == FERRY_QUEUE_SOLO ? &job->solo : &job->waiting;
        const bool linked = has_tasks(job);
        task->next = *at;
        *at = task;
        queue->waiting++;
        if (!linked) link_job(queue, job);
        ferry_condition_wake_all(&queue->changed);
    }
    settle(queue, job);
    ferry_mutex_unlock(&queue->mutex);
}

/* ---- workers of a service ---- */

static ferry_queue_turn choose(ferry_queue *queue)
{
    const ferry_job *job = first_job(queue);
    if (queue->ended != NULL) return FERRY_QUEUE_REPORT;
    if (job == NULL || queue->solo) return FERRY_QUEUE_NOTHING;
    if (job->waiting != NULL) return FERRY_QUEUE_TASKS;
    return queue->working == 0 ? FERRY_QUEUE_SOLO_TASK : FERRY_QUEUE_NOTHING;
}

ferry_queue_turn ferry_queue_wait(ferry_queue *queue, ferry_queue_turn last)
{
    ferry_queue_turn turn;
    ferry_mutex_lock(&queue->mutex);
    if (last == FERRY_QUEUE_TASKS || last == FERRY_QUEUE_SOLO_TASK) {
        queue->working--;
        queue->solo = false;
        ferry_condition_wake_all(&queue->changed);
    }
    while ((turn = choose(queue)) == FERRY_QUEUE_NOTHING && !queue->closed)
        ferry_condition_wait(&queue->changed, &queue->mutex);
    if (turn == FERRY_QUEUE_TASKS || turn == FERRY_QUEUE_SOLO_TASK) queue->working++;
    queue->solo = queue->solo || turn == FERRY_QUEUE_SOLO_TASK;
    ferry_mutex_unlock(&queue->mutex);
    return turn;
}

void ferry_queue_report(ferry_queue *queue)
{
    ferry_job *job;
    do {
        ferry_mutex_lock(&queue->mutex);
        job = queue->ended;
        if (job != NULL) queue->ended = job->next;
        ferry_mutex_unlock(&queue->mutex);
        if (job != NULL) job->ended(job);
    } while (job != NULL);
}

void ferry_queue_close(ferry_queue *queue)
{
    ferry_mutex_lock(&queue->mutex);
    queue->closed = true;
    ferry_condition_wake_all(&queue->changed);
    ferry_mutex_unlock(&queue->mutex);
}
