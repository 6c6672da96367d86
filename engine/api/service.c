/* A service: each text is a job in the queue of its translator; in a chain, in the queue of one stage after the
 * other. The workers run until the service is destroyed. */
#include <stdlib.h>
#include <string.h>

#include "argument_checks.h"
#include "call.h"
#include "chain.h"
#include "engine/lines/join.h"
#include "translator.h"

typedef struct ticket ticket;

struct ticket {
    ferry_call call; /* of its sentences; the first member, so that job.user, the call, is also the ticket */
    bool queued;     /* the job is in the queue of its stage, or with its workers */
    size_t stage;
    ferry_result *before; /* of the previous stage; NULL in the first one */
    ferry_text *between;  /* the lines of this stage; NULL in the first one */
    ferry_service *service;
    ferry_ticket number;
    ferry_text text; /* a copy */
    ferry_text_lines lines;
    ferry_stop stop; /* above the jobs of its stages */
    ferry_service_done done;
    void *user;
    ticket *next; /* in a chain of the service's table */
};

struct ferry_service {
    ferry_translator *translator;
    int64_t process; /* the process in which the threads of the schedules run */
    size_t capacity;
    ferry_mutex mutex; /* protects the following fields; locked before the mutex of a queue, never after it */
    ferry_condition left;
    ticket **table; /* [table_size] tickets whose callbacks have not returned, in chains by number % table_size */
    size_t table_size, open;
    size_t count; /* number of tickets that are not reported */
    ferry_ticket number;
    bool stopped;    /* no more texts are accepted */
    ferry_stop stop; /* above all tickets */
};

/* The service that called the callback in which this thread is; NULL: none. */
static _Thread_local const ferry_service *caller;

/* ---- the table of tickets; with the mutex locked ---- */

static ticket **chain_of(const ferry_service *service, ferry_ticket number)
{
    return &service->table[number & (service->table_size - 1)];
}

static void list_ticket(ferry_service *service, ticket *t)
{
    ticket **chain = chain_of(service, t->number);
    t->next = *chain;
    *chain = t;
}

/* Where the ticket of this number is linked; NULL if it is not. */
static ticket **find_ticket(const ferry_service *service, ferry_ticket number)
{
    if (service->table_size == 0) return NULL;
    ticket **at = chain_of(service, number);
    while (*at != NULL && (*at)->number != number) at = &(*at)->next;
    return *at != NULL ? at : NULL;
}

/* Makes room for one more ticket. */
static bool grow_table(ferry_service *service)
{
    const size_t size = service->table_size, grown = size > 0 ? 2 * size : 64;
    ticket **const old = service->table;
    if (service->open < size) return true;
    ticket **table = calloc(grown, sizeof *table);
    if (table == NULL) return false;
    service->table = table;
    service->table_size = grown;
    for (size_t i = 0; i < size; i++)
        for (ticket *t = old[i], *next; t != NULL; t = next) {
            next = t->next;
            list_ticket(service, t);
        }
    free(old);
    return true;
}

/* ---- tickets ---- */

static void destroy_ticket(ticket *t)
{
    ferry_result_destroy(t->before);
    free(t->between);
    free(t->lines.texts);
    free((char *)(uintptr_t)t->text.data);
    free(t);
}

/* Adds a ticket with a copy of the text to the service's list. Errors: LIMIT (the service is full), CANCELLED (it is
 * stopped), MEMORY. */
static ferry_status open_ticket(ferry_service *service, ferry_text text, ticket **opened, ferry_error *error)
{
    ticket *t = calloc(1, sizeof *t);
    char *copy = malloc(text.size + 1);
    ferry_status status = FERRY_OK;
    *opened = t;
    if (t == NULL || copy == NULL) {
        free(t);
        free(copy);
        return ferry_fail_memory(error, "a text", sizeof *t + text.size, 1);
    }
    memcpy(copy, text.data, text.size);
    t->service = service;
    t->text = (ferry_text){copy, text.size};
    t->stop.above = &service->stop;
    ferry_mutex_lock(&service->mutex);
    if (service->stopped)
        status = ferry_fail(error, FERRY_ERROR_CANCELLED, "the service is stopped");
    else if (service->count == service->capacity)
        status = ferry_fail(error, FERRY_ERROR_LIMIT, "the service is full: it has %zu texts", service->capacity);
    else if (!grow_table(service))
        status = ferry_fail_memory(error, "texts", 2 * service->table_size, sizeof *service->table);
    if (status == FERRY_OK) {
        t->number = ++service->number;
        list_ticket(service, t);
        service->open++;
        service->count++;
    }
    ferry_mutex_unlock(&service->mutex);
    if (status != FERRY_OK) destroy_ticket(t);
    return status;
}

static void close_ticket(ticket *t)
{
    ferry_service *service = t->service;
    ferry_mutex_lock(&service->mutex);
    *find_ticket(service, t->number) = t->next;
    if (--service->open == 0) ferry_condition_wake_all(&service->left);
    ferry_mutex_unlock(&service->mutex);
    destroy_ticket(t);
}

static void uncount(ferry_service *service)
{
    ferry_mutex_lock(&service->mutex);
    service->count--;
    ferry_mutex_unlock(&service->mutex);
}

static void report(ferry_job *job);

/* Makes a call of the ticket's stage from the lines. */
static ferry_status prepare(ticket *t, const ferry_text *lines, int priority, ferry_error *error)
{
    ferry_result *unfinished = NULL;
    t->call = (ferry_call){.translator = ferry_translator_stage(t->service->translator, t->stage),
                           .texts = lines,
                           .count = t->lines.count,
                           .job = {.stop.above = &t->stop, .priority = priority, .ended = report}};
    const ferry_status status = ferry_call_begin(&t->call, error);
    if (status != FERRY_OK) {
        ferry_call_end(&t->call, status, &unfinished, NULL);
        ferry_result_destroy(unfinished);
    }
    return status;
}

/* Queues the job. From here on, it may end at any time. */
static void enqueue(ticket *t)
{
    ferry_service *service = t->service;
    ferry_mutex_lock(&service->mutex);
    t->queued = true;
    ferry_queue_add(&t->call.translator->schedule.queue, &t->call.job);
    ferry_mutex_unlock(&service->mutex);
}

/* Ends the call. Makes the result of the text, or prepares the next stage and sets *more. */
static ferry_status finish(ticket *t, bool *more, ferry_result **result, ferry_error *error)
{
    const bool last = t->stage + 1 == ferry_chain_length(t->service->translator);
    ferry_result *sentences = NULL;
    ferry_status status = ferry_call_end(&t->call, FERRY_OK, &sentences, error);
    if (ferry_chain_merge(sentences, t->before, error) != FERRY_OK) status = FERRY_ERROR_MEMORY;
    t->before = NULL;
    if (status == FERRY_OK && !last) {
        free(t->between);
        t->between = ferry_chain_lines(sentences, error);
        t->stage++;
        status = t->between != NULL ? prepare(t, t->between, t->call.job.priority, error) : FERRY_ERROR_MEMORY;
        *more = status == FERRY_OK;
        if (*more) t->before = sentences;
        if (*more) return FERRY_OK;
    }
    if (status == FERRY_ERROR_CANCELLED && !last) status = ferry_chain_cancel(sentences, error);
    if (status == FERRY_OK || status == FERRY_ERROR_CANCELLED)
        return ferry_text_join(t->text, &t->lines, status, sentences, result, error);
    ferry_result_destroy(sentences);
    return status;
}

/* ferry_job.ended: called by a worker. */
static void report(ferry_job *job)
{
    ticket *t = job->user;
    ferry_error error;
    ferry_result *result = NULL;
    bool more = false;
    ferry_mutex_lock(&t->service->mutex);
    t->queued = false;
    ferry_mutex_unlock(&t->service->mutex);
    const ferry_status status = finish(t, &more, &result, &error);
    if (more) {
        enqueue(t);
        return;
    }
    uncount(t->service);
    caller = t->service;
    t->done(t->user, t->number, result, status == FERRY_OK ? NULL : &error);
    caller = NULL;
    close_ticket(t);
}

/* With the service's mutex locked. */
static void cancel(ticket *t)
{
    ferry_stop_now(&t->stop);
    if (t->queued) ferry_queue_remove(&t->call.translator->schedule.queue, &t->call.job);
}

/* ---- the service ---- */

/* Ends the first `count` stages. */
static void close_stages(ferry_service *service, size_t count)
{
    for (size_t i = 0; i < count; i++) ferry_schedule_close(&ferry_translator_stage(service->translator, i)->schedule);
}

static void destroy(ferry_service *service)
{
    ferry_condition_destroy(&service->left);
    ferry_mutex_destroy(&service->mutex);
    free(service->table);
    free(service);
}

ferry_status ferry_service_create(ferry_translator *translator, size_t capacity, ferry_service **service,
                                  ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(service);
    *service = NULL;
    FERRY_NEEDS(translator);
    if (capacity == 0) return ferry_fail_argument(error, "capacity", "expected at least 1, found 0");
    FERRY_TRY(ferry_translator_check_text(translator, error));
    ferry_service *created = calloc(1, sizeof *created);
    if (created == NULL) return ferry_fail_memory(error, "a service", 1, sizeof *created);
    created->translator = translator;
    created->process = ferry_process_id();
    created->capacity = capacity;
    ferry_mutex_create(&created->mutex);
    ferry_condition_create(&created->left);
    /* The translator is busy as long as the service lives. */
    ferry_status status = ferry_translator_begin(translator, error);
    const size_t count = status == FERRY_OK ? ferry_chain_length(translator) : 0;
    for (size_t i = 0; i < count && status == FERRY_OK; i++) {
        status = ferry_schedule_serve(&ferry_translator_stage(translator, i)->schedule, error);
        if (status != FERRY_OK) close_stages(created, i);
    }
    if (status != FERRY_OK && count > 0) ferry_translator_end(translator, FERRY_ERROR_ARGUMENT);
    if (status == FERRY_OK)
        *service = created;
    else
        destroy(created);
    return status;
}

ferry_status ferry_service_submit(ferry_service *service, ferry_text text, int priority, ferry_service_done done,
                                  void *user, ferry_ticket *number, ferry_error *error)
{
    FERRY_FENV;
    if (number != NULL) *number = 0;
    FERRY_NEEDS(service);
    FERRY_NEEDS(done);
    FERRY_TRY(ferry_check_text("text", &text, error));
    FERRY_TRY(ferry_check_range("priority", priority, -FERRY_PRIORITY_LIMIT, FERRY_PRIORITY_LIMIT, error));
    if (service->process != ferry_process_id())
        return ferry_fail_argument(error, "service", "expected one of this process, found its parent's");
    ticket *t;
    FERRY_TRY(open_ticket(service, text, &t, error));
    t->done = done;
    t->user = user;
    ferry_status status =
        ferry_text_split(&ferry_translator_stage(service->translator, 0)->rules, t->text, &t->lines, error);
    if (status == FERRY_OK) status = prepare(t, t->lines.texts, priority, error);
    if (status != FERRY_OK) {
        uncount(service);
        close_ticket(t);
        return status;
    }
    if (number != NULL) *number = t->number;
    enqueue(t);
    return FERRY_OK;
}

void ferry_service_cancel(ferry_service *service, ferry_ticket number)
{
    if (service == NULL || service->process != ferry_process_id()) return;
    ferry_mutex_lock(&service->mutex);
    ticket **found = find_ticket(service, number);
    if (found != NULL) cancel(*found);
    ferry_mutex_unlock(&service->mutex);
}

void ferry_service_stop(ferry_service *service, int cancel_texts)
{
    if (service == NULL || service->process != ferry_process_id()) return;
    ferry_mutex_lock(&service->mutex);
    service->stopped = true;
    ferry_mutex_unlock(&service->mutex);
    if (cancel_texts == 0) return;
    ferry_stop_now(&service->stop);
    ferry_translator *stage;
    for (size_t i = 0; (stage = ferry_translator_stage(service->translator, i)) != NULL; i++)
        ferry_queue_wake(&stage->schedule.queue);
}

ferry_status ferry_service_destroy(ferry_service *service, ferry_error *error)
{
    if (service == NULL || service->process != ferry_process_id()) return FERRY_OK;
    if (caller == service) return ferry_fail_argument(error, "service", "expected none that has called this function");
    ferry_service_stop(service, 0);
    ferry_mutex_lock(&service->mutex);
    while (service->open > 0) ferry_condition_wait(&service->left, &service->mutex);
    ferry_mutex_unlock(&service->mutex);
    close_stages(service, ferry_chain_length(service->translator));
    ferry_translator_destroy(service->translator);
    destroy(service);
    return FERRY_OK;
}
