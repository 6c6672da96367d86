#include <string.h>

#include "job.h"

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

static bool has_sentences(const ferry_job *job)
{
    return job->waiting != NULL || job->alone != NULL;
}

/* The job is put among those with sentences, in their order. */
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

/* A job without sentences, here or with workers, has ended. */
static void settle(ferry_queue *queue, ferry_job *job)
{
    if (queue->report == NULL || has_sentences(job) || job->held > 0) return;
    job->next = queue->ended;
    queue->ended = job;
    ferry_condition_wake_all(&queue->changed);
}

/* The job loses its sentences. */
static void empty(ferry_queue *queue, ferry_job *job)
{
    if (!has_sentences(job)) return;
    unlink_job(queue, job);
    for (; job->waiting != NULL; job->waiting = job->waiting->next) queue->waiting--;
    for (; job->alone != NULL; job->alone = job->alone->next) queue->waiting--;
    settle(queue, job);
}

/* The job whose turn it is. Those that were stopped leave. */
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
    for (const ferry_job_sentence *s = job->waiting; s != NULL; s = s->next) queue->waiting++;
    if (has_sentences(job))
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

/* ---- sentences ---- */

ferry_job_sentence *ferry_queue_take(ferry_queue *queue, size_t held, bool alone)
{
    ferry_job_sentence *sentence = NULL;
    ferry_mutex_lock(&queue->mutex);
    ferry_job *job = first_job(queue);
    const size_t workers = (size_t)queue->workers, even = (queue->held + queue->waiting + workers - 1) / workers;
    const bool may = alone || (held < even && !queue->alone);
    if (job != NULL && may && (job->waiting != NULL) != alone) {
        ferry_job_sentence **list = alone ? &job->alone : &job->waiting;
        sentence = *list;
        *list = sentence->next;
        if (!has_sentences(job)) unlink_job(queue, job);
        job->held++;
        queue->waiting--;
        queue->held++;
    }
    ferry_mutex_unlock(&queue->mutex);
    return sentence;
}

void ferry_queue_put(ferry_queue *queue, ferry_job_sentence *sentence, ferry_queue_target target)
{
    ferry_job *job = sentence->job;
    ferry_mutex_lock(&queue->mutex);
    job->held--;
    queue->held--;
    if (target != FERRY_QUEUE_DONE && !ferry_job_stopped(job)) {
        ferry_job_sentence **at = target == FERRY_QUEUE_ALONE ? &job->alone : &job->waiting;
        const bool linked = has_sentences(job);
        sentence->next = *at;
        *at = sentence;
        queue->waiting++;
        if (!linked) link_job(queue, job);
        ferry_condition_wake_all(&queue->changed);
    }
    settle(queue, job);
    ferry_mutex_unlock(&queue->mutex);
}

/* ---- workers of a service ---- */

static ferry_queue_task choose(ferry_queue *queue)
{
    const ferry_job *job = first_job(queue);
    if (queue->ended != NULL) return FERRY_QUEUE_REPORT;
    if (job == NULL || queue->alone) return FERRY_QUEUE_NOTHING;
    if (job->waiting != NULL) return FERRY_QUEUE_TRANSLATE;
    return queue->working == 0 ? FERRY_QUEUE_TRANSLATE_ALONE : FERRY_QUEUE_NOTHING;
}

ferry_queue_task ferry_queue_wait(ferry_queue *queue, ferry_queue_task last)
{
    ferry_queue_task task;
    ferry_mutex_lock(&queue->mutex);
    if (last == FERRY_QUEUE_TRANSLATE || last == FERRY_QUEUE_TRANSLATE_ALONE) {
        queue->working--;
        queue->alone = false;
        ferry_condition_wake_all(&queue->changed);
    }
    while ((task = choose(queue)) == FERRY_QUEUE_NOTHING && !queue->closed)
        ferry_condition_wait(&queue->changed, &queue->mutex);
    if (task == FERRY_QUEUE_TRANSLATE || task == FERRY_QUEUE_TRANSLATE_ALONE) queue->working++;
    queue->alone = queue->alone || task == FERRY_QUEUE_TRANSLATE_ALONE;
    ferry_mutex_unlock(&queue->mutex);
    return task;
}

void ferry_queue_report(ferry_queue *queue)
{
    ferry_job *job;
    do {
        ferry_mutex_lock(&queue->mutex);
        job = queue->ended;
        if (job != NULL) queue->ended = job->next;
        ferry_mutex_unlock(&queue->mutex);
        if (job != NULL) queue->report(job);
    } while (job != NULL);
}

void ferry_queue_close(ferry_queue *queue)
{
    ferry_mutex_lock(&queue->mutex);
    queue->closed = true;
    ferry_condition_wake_all(&queue->changed);
    ferry_mutex_unlock(&queue->mutex);
}
