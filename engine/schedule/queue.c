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
    queue->highest = -1;
    ferry_mutex_create(&queue->mutex);
    ferry_condition_create(&queue->changed);
}

void ferry_queue_destroy(ferry_queue *queue)
{
    ferry_condition_destroy(&queue->changed);
    ferry_mutex_destroy(&queue->mutex);
}

/* ---- lists of jobs; with the mutex locked ---- */

/* `after` NULL: the job becomes the first one. */
static void link_after(ferry_job_list *list, ferry_job *after, ferry_job *job)
{
    job->previous = after;
    job->next = after != NULL ? after->next : list->first;
    *(job->next != NULL ? &job->next->previous : &list->last) = job;
    *(after != NULL ? &after->next : &list->first) = job;
}

/* Inserts the job after those of lower numbers. It belongs at the end, or near the beginning. */
static void insert(ferry_job_list *list, ferry_job *job)
{
    ferry_job *after = list->last;
    if (after != NULL && after->number > job->number) {
        after = NULL;
        for (ferry_job *j = list->first; j->number < job->number; j = j->next) after = j;
    }
    link_after(list, after, job);
}

static void unlink_from(ferry_job_list *list, const ferry_job *job)
{
    *(job->previous != NULL ? &job->previous->next : &list->first) = job->next;
    *(job->next != NULL ? &job->next->previous : &list->last) = job->previous;
}

/* ---- the order of jobs; with the mutex locked ---- */

/* Puts the job into the list where it belongs now, if it has tasks. */
static void place(ferry_queue *queue, ferry_job *job)
{
    const int32_t level = job->priority + FERRY_PRIORITY_LIMIT;
    ferry_queue_level *of = &queue->levels[level];
    ferry_job_list *list = job->queued == 0 ? NULL : job->taken < FERRY_QUEUE_HEAD ? &of->heads : &of->rests;
    if (list == job->list) return;
    if (job->list != NULL) unlink_from(job->list, job);
    if (list != NULL) insert(list, job);
    if (list != NULL && queue->highest < level) queue->highest = level;
    job->list = list;
}

/* Lists a job of a service as ended if no task is queued or held by a worker. */
static void settle(ferry_queue *queue, ferry_job *job)
{
    if (job->ended == NULL || job->queued > 0 || job->held > 0) return;
    link_after(&queue->ended, queue->ended.last, job);
    ferry_condition_wake_all(&queue->changed);
}

/* Removes all queued tasks of the job. */
static void empty(ferry_queue *queue, ferry_job *job)
{
    if (job->queued == 0) return;
    queue->waiting -= job->queued;
    job->queued = 0;
    job->waiting = job->solo = NULL;
    place(queue, job);
    settle(queue, job);
}

/* The first job, after removing stopped ones. */
static ferry_job *first_job(ferry_queue *queue)
{
    for (; queue->highest >= 0; queue->highest--) {
        const ferry_queue_level *level = &queue->levels[queue->highest];
        ferry_job *job;
        while ((job = level->heads.first != NULL ? level->heads.first : level->rests.first) != NULL) {
            if (!ferry_job_stopped(job)) return job;
            empty(queue, job);
        }
    }
    return NULL;
}

/* ---- jobs ---- */

void ferry_queue_add(ferry_queue *queue, ferry_job *job)
{
    ferry_mutex_lock(&queue->mutex);
    job->number = ++queue->number;
    job->queued = job->task_count;
    queue->waiting += job->queued;
    place(queue, job);
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
        job->taken++;
        job->queued--;
        place(queue, job);
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
        task->next = *at;
        *at = task;
        job->taken--;
        job->queued++;
        place(queue, job);
        queue->waiting++;
        ferry_condition_wake_all(&queue->changed);
    }
    settle(queue, job);
    ferry_mutex_unlock(&queue->mutex);
}

/* ---- workers of a service ---- */

static ferry_queue_turn choose(ferry_queue *queue)
{
    const ferry_job *job = first_job(queue);
    if (queue->ended.first != NULL) return FERRY_QUEUE_REPORT;
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
        job = queue->ended.first;
        if (job != NULL) unlink_from(&queue->ended, job);
        ferry_mutex_unlock(&queue->mutex);
        if (job != NULL) job->ended(job);
    } while (job != NULL);
}

void ferry_queue_wake(ferry_queue *queue)
{
    ferry_mutex_lock(&queue->mutex);
    ferry_condition_wake_all(&queue->changed);
    ferry_mutex_unlock(&queue->mutex);
}

void ferry_queue_close(ferry_queue *queue)
{
    ferry_mutex_lock(&queue->mutex);
    queue->closed = true;
    ferry_condition_wake_all(&queue->changed);
    ferry_mutex_unlock(&queue->mutex);
}
