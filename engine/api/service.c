/* A service: a table of texts. A text is a job in the queue of its translator. In a chain, it is a job of one stage
 * after the other. The workers run until the service is destroyed. */
#include <stddef.h>
#include <stdlib.h>

#include "argument_checks.h"
#include "chain.h"
#include "options.h"
#include "submitted.h"

enum { MAX_TEXTS = 1000, MAX_BYTES = 64 << 20 }; /* defaults */
/* The sizes of the structs in the header of 0.1.0, up to their last fields (options.c). */
enum {
    FIRST_OPTIONS = offsetof(ferry_service_options, max_bytes) + sizeof(size_t),
    FIRST_SUBMISSION = offsetof(ferry_submission, user) + sizeof(void *)
};

struct ferry_service {
    ferry_translator *translator;
    int64_t process; /* the process in which the threads of the schedules run */
    ferry_service_options options;
    ferry_mutex mutex; /* protects the following fields; locked before the mutex of a queue, never after it */
    ferry_condition left;
    ferry_submitted *
        *table; /* [table_size] texts whose callbacks have not returned, in chains by number % table_size */
    size_t table_size, open; /* open: number of texts in the table, and of submissions in progress */
    size_t count, bytes;     /* of texts that are not reported */
    ferry_ticket number;
    bool stopped; /* no more texts are accepted */

    ferry_stop stop;       /* above all texts */
    atomic_size_t running; /* number of texts that have begun and are not reported */
    atomic_size_t account; /* bytes of all texts, with their ids and results */
};

/* ---- the table of texts; with the mutex locked ---- */

static ferry_submitted **chain_of(const ferry_service *service, ferry_ticket number)
{
    return &service->table[number & (service->table_size - 1)];
}

static void list(ferry_service *service, ferry_submitted *s)
{
    ferry_submitted **chain = chain_of(service, s->number);
    s->next = *chain;
    *chain = s;
}

/* Where the text of this number is linked; NULL if it is not. */
static ferry_submitted **find(const ferry_service *service, ferry_ticket number)
{
    if (service->table_size == 0) return NULL;
    ferry_submitted **at = chain_of(service, number);
    while (*at != NULL && (*at)->number != number) at = &(*at)->next;
    return *at != NULL ? at : NULL;
}

/* Makes room for one more text. */
static bool grow_table(ferry_service *service)
{
    const size_t size = service->table_size, grown = size > 0 ? 2 * size : 64;
    ferry_submitted **const old = service->table;
    if (service->open < size) return true;
    ferry_submitted **table = calloc(grown, sizeof *table);
    if (table == NULL) return false;
    service->table = table;
    service->table_size = grown;
    for (size_t i = 0; i < size; i++)
        for (ferry_submitted *s = old[i], *next; s != NULL; s = next) {
            next = s->next;
            list(service, s);
        }
    free(old);
    return true;
}

/* ---- room for texts ---- */

/* Takes the place of a text of `size` bytes. Errors: LIMIT (the service is full), CANCELLED (it is stopped), MEMORY. */
static ferry_status take_place(ferry_service *service, size_t size, ferry_error *error)
{
    const size_t texts = service->options.max_texts, bytes = service->options.max_bytes;
    ferry_status status = FERRY_OK;
    ferry_mutex_lock(&service->mutex);
    if (service->stopped)
        status = ferry_fail(error, FERRY_ERROR_CANCELLED, "the service is stopped");
    else if (service->count >= texts)
        status = ferry_fail(error, FERRY_ERROR_LIMIT, "the service is full: it has %zu texts (max_texts)", texts);
    else if (size > bytes - service->bytes)
        status = ferry_fail(error, FERRY_ERROR_LIMIT,
                            "the service is full: expected a text of at most %zu bytes, found %zu; its other texts "
                            "have %zu (max_bytes %zu)",
                            bytes - service->bytes, size, service->bytes, bytes);
    else if (!grow_table(service))
        status = ferry_fail_memory(error, "texts", 2 * service->table_size, sizeof *service->table);
    if (status == FERRY_OK) {
        service->open++;
        service->count++;
        service->bytes += size;
    }
    ferry_mutex_unlock(&service->mutex);
    return status;
}

/* Another text may take the place; `begun`: of this one. */
static void leave_place(ferry_service *service, size_t size, bool begun)
{
    ferry_mutex_lock(&service->mutex);
    service->count--;
    service->bytes -= size;
    if (begun) atomic_fetch_sub(&service->running, 1);
    ferry_mutex_unlock(&service->mutex);
}

/* The last access to a text's service. With the mutex locked. */
static void leave(ferry_service *service)
{
    if (--service->open == 0) ferry_condition_wake_all(&service->left);
}

/* ---- a text ---- */

/* Queues the job of the stage. From here on, it may end at any time. With the mutex locked. */
static void enqueue(ferry_submitted *s)
{
    s->queued = true;
    ferry_queue_add(&s->call.translator->schedule.queue, &s->call.job);
}

static void close_text(ferry_submitted *s)
{
    ferry_service *service = s->service;
    ferry_mutex_lock(&service->mutex);
    *find(service, s->number) = s->next;
    ferry_mutex_unlock(&service->mutex);
    ferry_submitted_destroy(s);
    ferry_mutex_lock(&service->mutex);
    leave(service);
    ferry_mutex_unlock(&service->mutex);
}

/* ferry_job.ended: called by a worker. */
static void end_stage(ferry_job *job)
{
    ferry_submitted *s = job->user;
    ferry_service *service = s->service;
    ferry_error error;
    ferry_result *result;
    bool more;
    ferry_mutex_lock(&service->mutex);
    s->queued = false;
    ferry_mutex_unlock(&service->mutex);
    const ferry_status status = ferry_submitted_end(s, &more, &result, &error);
    if (more) {
        ferry_mutex_lock(&service->mutex);
        enqueue(s);
        ferry_mutex_unlock(&service->mutex);
        return;
    }
    leave_place(service, s->size, s->begun);
    ferry_submitted_report(s, result, status == FERRY_OK ? NULL : &error);
    close_text(s);
}

/* With the mutex locked. */
static void cancel(ferry_submitted *s)
{
    ferry_stop_now(&s->stop);
    if (s->queued) ferry_queue_remove(&s->call.translator->schedule.queue, &s->call.job);
}

/* ---- submitting ---- */

static ferry_status check_lines(const ferry_service *service, const ferry_submission *given, ferry_wanted *wanted,
                                ferry_error *error)
{
    if (given->lines != NULL || given->count > 0)
        FERRY_TRY(ferry_check_texts("lines", given->lines, given->count, error));
    if (given->lines != NULL && given->text.size > 0)
        return ferry_fail_argument(error, "text", "expected an empty one with lines, found %zu bytes",
                                   given->text.size);
    if (given->lines == NULL)
        return ferry_request_check_text(service->translator, given->request, &given->text, wanted, error);
    return ferry_request_check(service->translator, given->request, given->lines, given->count, wanted, error);
}

/* *complete becomes the submission, with all fields that this version knows. */
static ferry_status check(const ferry_service *service, const ferry_submission *given, ferry_submission *complete,
                          ferry_wanted *wanted, ferry_error *error)
{
    *complete = (ferry_submission){0};
    FERRY_TRY(ferry_struct_complete("submission", "ferry_submission", given, FIRST_SUBMISSION, complete,
                                    sizeof *complete, error));
    FERRY_TRY(ferry_check_text("text", &complete->text, error));
    FERRY_TRY(check_lines(service, complete, wanted, error));
    if (wanted->progress != NULL)
        return ferry_fail_argument(error, "progress", "expected NULL in the request of a submission");
    FERRY_TRY(ferry_check_range("priority", complete->priority, -FERRY_PRIORITY_LIMIT, FERRY_PRIORITY_LIMIT, error));
    FERRY_TRY(ferry_check_range("wait", complete->wait, 0, INT32_MAX, error));
    if (complete->done == NULL) return ferry_fail_argument(error, "done", "expected a function, found NULL");
    if (service->process == ferry_process_id()) return FERRY_OK;
    return ferry_fail_argument(error, "service", "expected one of this process, found its parent's");
}

ferry_status ferry_service_submit(ferry_service *service, const ferry_submission *submission, ferry_ticket *ticket,
                                  ferry_error *error)
{
    FERRY_FENV;
    ferry_submission given;
    ferry_wanted wanted;
    if (ticket != NULL) *ticket = 0;
    FERRY_NEEDS(service);
    FERRY_NEEDS(submission);
    FERRY_TRY(check(service, submission, &given, &wanted, error));
    const size_t size = ferry_submission_size(&given, &wanted);
    FERRY_TRY(take_place(service, size, error));
    ferry_submitted *s = ferry_submitted_create(&given, &wanted, size, service);
    if (s == NULL) leave_place(service, size, false);
    ferry_mutex_lock(&service->mutex);
    if (s != NULL) {
        const ferry_job job = {.stop.above = &service->stop, .begun = &service->running, .ended = end_stage};
        ferry_submitted_begin(s, service->translator, &job, &service->account);
        s->number = ++service->number;
        if (ticket != NULL) *ticket = s->number;
        list(service, s);
        enqueue(s);
    } else {
        leave(service);
    }
    ferry_mutex_unlock(&service->mutex);
    return s != NULL ? FERRY_OK : ferry_fail_memory(error, "a text", size, 1);
}

/* ---- the service ---- */

/* Ends the first `count` stages. */
static void close_stages(ferry_service *service, size_t count)
{
    for (size_t i = 0; i < count; i++) ferry_schedule_close(&ferry_translator_stage(service->translator, i)->schedule);
}

/* Starts the threads of all stages. The translator is busy as long as the service lives. */
static ferry_status start(ferry_service *service, ferry_error *error)
{
    ferry_translator *const translator = service->translator, *stage;
    FERRY_TRY(ferry_translator_begin(translator, error));
    for (size_t i = 0; (stage = ferry_translator_stage(translator, i)) != NULL; i++) {
        const ferry_status status = ferry_schedule_serve(&stage->schedule, error);
        if (status == FERRY_OK) continue;
        close_stages(service, i);
        return ferry_translator_end(translator, status);
    }
    return FERRY_OK;
}

static void destroy(ferry_service *service)
{
    ferry_condition_destroy(&service->left);
    ferry_mutex_destroy(&service->mutex);
    free(service->table);
    free(service);
}

ferry_status ferry_service_create(ferry_translator *translator, const ferry_service_options *options,
                                  ferry_service **service, ferry_error *error)
{
    FERRY_FENV;
    ferry_service_options complete = {0};
    FERRY_NEEDS(service);
    *service = NULL;
    FERRY_NEEDS(translator);
    if (options != NULL)
        FERRY_TRY(ferry_struct_complete("options", "ferry_service_options", options, FIRST_OPTIONS, &complete,
                                        sizeof complete, error));
    if (complete.max_texts == 0) complete.max_texts = MAX_TEXTS;
    if (complete.max_bytes == 0) complete.max_bytes = MAX_BYTES;
    FERRY_TRY(ferry_translator_check_text(translator, error));
    ferry_service *created = calloc(1, sizeof *created);
    if (created == NULL) return ferry_fail_memory(error, "a service", 1, sizeof *created);
    created->translator = translator;
    created->process = ferry_process_id();
    created->options = complete;
    ferry_mutex_create(&created->mutex);
    ferry_condition_create(&created->left);
    const ferry_status status = start(created, error);
    if (status == FERRY_OK)
        *service = created;
    else
        destroy(created);
    return status;
}

/* Whether the service is NULL, or of the parent of this process. */
static bool is_foreign(const ferry_service *service)
{
    return service == NULL || service->process != ferry_process_id();
}

void ferry_service_cancel(ferry_service *service, ferry_ticket number)
{
    if (is_foreign(service)) return;
    ferry_mutex_lock(&service->mutex);
    ferry_submitted **found = find(service, number);
    if (found != NULL) cancel(*found);
    ferry_mutex_unlock(&service->mutex);
}

size_t ferry_service_state(ferry_service *service, size_t *waiting, size_t *running)
{
    size_t count = 0, begun = 0, bytes = 0;
    if (!is_foreign(service)) {
        ferry_mutex_lock(&service->mutex);
        count = service->count;
        begun = atomic_load(&service->running);
        ferry_mutex_unlock(&service->mutex);
        bytes = atomic_load(&service->account) + ferry_translator_memory(service->translator, NULL);
    }
    if (waiting != NULL) *waiting = count - begun;
    if (running != NULL) *running = begun;
    return bytes;
}

void ferry_service_stop(ferry_service *service, int cancel_texts)
{
    if (is_foreign(service)) return;
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
    if (is_foreign(service)) return FERRY_OK;
    if (ferry_submitted_is_calling(service))
        return ferry_fail_argument(error, "service", "expected none that has called this function");
    ferry_service_stop(service, 0);
    ferry_mutex_lock(&service->mutex);
    while (service->open > 0) ferry_condition_wait(&service->left, &service->mutex);
    ferry_mutex_unlock(&service->mutex);
    close_stages(service, ferry_chain_length(service->translator));
    ferry_translator_destroy(service->translator);
    destroy(service);
    return FERRY_OK;
}
