#include "queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/system.h"

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
    queue->clock = ferry_clock;
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

/* Moves the job to the list; NULL: to none. */
static void move_to(ferry_job_list *list, ferry_job *job)
{
    if (list == job->list) return;
    if (job->list != NULL) unlink_from(job->list, job);
    if (list != NULL) insert(list, job);
    job->list = list;
}

/* Moves the job to the list where it belongs now: to none if it has no queued tasks, or a worker prepares it. */
static void place(ferry_queue *queue, ferry_job *job)
{
    const int32_t level = job->priority + FERRY_PRIORITY_LIMIT;
    ferry_job_list *lists = queue->levels[level].lists;
    if (job->prepared ? job->queued == 0 : job->held > 0) {
        move_to(NULL, job);
        return;
    }
    if (job->prepared)
        move_to(&lists[job->taken < FERRY_QUEUE_HEAD ? FERRY_QUEUE_HEADS : FERRY_QUEUE_RESTS], job);
    else
        move_to(&lists[job->taken == 0 ? FERRY_QUEUE_NEW : FERRY_QUEUE_PARTLY], job);
    if (queue->highest < level) queue->highest = level;
}

/* Removes the job's queued tasks, and its preparation. */
static void drop(ferry_queue *queue, ferry_job *job)
{
    queue->waiting -= job->queued;
    job->queued = 0;
    job->waiting = job->solo = NULL;
    move_to(NULL, job);
}

/* Lists a job of a service as ended if it is in no list, and no worker holds anything of it. */
static void settle(ferry_queue *queue, ferry_job *job)
{
    if (job->ended == NULL || job->list != NULL || job->held > 0) return;
    link_after(&queue->ended, queue->ended.last, job);
    ferry_condition_wake_all(&queue->changed);
}

/* Whether the job was stopped, or is stopped now because it was not begun in time. */
static bool is_over(const ferry_queue *queue, ferry_job *job)
{
    if (job->deadline > 0 && !job->has_begun && queue->clock() > job->deadline) ferry_stop_now(&job->stop);
    return ferry_job_stopped(job);
}

/* The first job of lists[0], else of lists[1]. Removes jobs that are over. */
static ferry_job *first_of(ferry_queue *queue, ferry_job_list *lists)
{
    ferry_job *job;
    while ((job = lists[0].first != NULL ? lists[0].first : lists[1].first) != NULL && is_over(queue, job)) {
        drop(queue, job);
        settle(queue, job);
    }
    return job;
}

/* The first job with queued tasks. */
static ferry_job *first_job(ferry_queue *queue)
{
    ferry_job *job = NULL;
    for (int32_t level = queue->highest; level >= 0 && job == NULL; level--)
        job = first_of(queue, &queue->levels[level].lists[FERRY_QUEUE_HEADS]);
    return job;
}

/* The first job that must be prepared, unless tasks of a higher priority wait. */
static ferry_job *first_unprepared(ferry_queue *queue)
{
    for (; queue->highest >= 0; queue->highest--) {
        ferry_job_list *lists = queue->levels[queue->highest].lists;
        ferry_job *job = first_of(queue, &lists[FERRY_QUEUE_NEW]);
        if (job != NULL || first_of(queue, &lists[FERRY_QUEUE_HEADS]) != NULL) return job;
    }
    return NULL;
}

/* ---- jobs ---- */

void ferry_queue_add(ferry_queue *queue, ferry_job *job)
{
    ferry_mutex_lock(&queue->mutex);
    job->number = ++queue->number;
    job->prepared = job->prepare == NULL;
    job->queued = job->task_count;
    queue->waiting += job->queued;
    place(queue, job);
    if (ferry_job_stopped(job)) drop(queue, job);
    settle(queue, job);
    ferry_condition_wake_all(&queue->changed);
    ferry_mutex_unlock(&queue->mutex);
}

void ferry_queue_remove(ferry_queue *queue, ferry_job *job)
{
    ferry_mutex_lock(&queue->mutex);
    if (job->list != NULL) {
        drop(queue, job);
        settle(queue, job);
    }
    ferry_mutex_unlock(&queue->mutex);
}

bool ferry_queue_prepare(ferry_queue *queue, int32_t priority, int32_t worker)
{
    ferry_mutex_lock(&queue->mutex);
    ferry_job *job = first_unprepared(queue);
    const bool found = job != NULL && job->priority >= priority;
    if (found) {
        job->taken++;
        job->held++;
        place(queue, job);
        ferry_mutex_unlock(&queue->mutex);
        const bool more = job->prepare(job, worker);
        ferry_mutex_lock(&queue->mutex);
        job->held--;
        if (!more) {
            job->prepared = true;
            job->taken = 0;
            job->queued = job->task_count;
            queue->waiting += job->queued;
        }
        if (!ferry_job_stopped(job))
            place(queue, job);
        else
            drop(queue, job);
        settle(queue, job);
        ferry_condition_wake_all(&queue->changed);
    }
    ferry_mutex_unlock(&queue->mutex);
    return found;
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
        if (!job->has_begun && job->begun != NULL) atomic_fetch_add(job->begun, 1);
        job->has_begun = true;
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
    if (ferry_job_stopped(job)) {
        drop(queue, job);
    } else if (target != FERRY_QUEUE_DONE) {
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
    const ferry_job *job = first_job(queue), *unprepared = first_unprepared(queue);
    if (queue->ended.first != NULL) return FERRY_QUEUE_REPORT;
    if (queue->solo) return FERRY_QUEUE_NOTHING;
    if (job != NULL && job->waiting != NULL) return FERRY_QUEUE_TASKS;
    if (unprepared != NULL) return FERRY_QUEUE_PREPARE;
    return job != NULL && queue->working == 0 ? FERRY_QUEUE_SOLO_TASK : FERRY_QUEUE_NOTHING;
}

static bool is_work(ferry_queue_turn turn)
{
    return turn != FERRY_QUEUE_NOTHING && turn != FERRY_QUEUE_REPORT;
}

ferry_queue_turn ferry_queue_wait(ferry_queue *queue, ferry_queue_turn last)
{
    ferry_queue_turn turn;
    ferry_mutex_lock(&queue->mutex);
    if (is_work(last)) {
        queue->working--;
        queue->solo = false;
        ferry_condition_wake_all(&queue->changed);
    }
    while ((turn = choose(queue)) == FERRY_QUEUE_NOTHING && !queue->closed)
        ferry_condition_wait(&queue->changed, &queue->mutex);
    queue->working += is_work(turn);
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
