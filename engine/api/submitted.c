#include "submitted.h"

#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "engine/lines/join.h"
#include "engine/lines/result.h"
#include "engine/graph/state.h"

/* Bytes that a worker splits or tokenizes before it takes sentences again. */
enum { PORTION = 16 << 10 };

/* ---- callbacks ---- */

/* The service that called the callback in which this thread is; NULL: none. */
static _Thread_local const ferry_service *caller;

bool ferry_submitted_is_calling(const ferry_service *service)
{
    return caller == service;
}

/* Ends a callback. An `answer` other than 0 cancels the text, in this stage and in later ones. */
static int end_callback(ferry_submitted *s, int answer)
{
    caller = NULL;
    if (answer != 0) ferry_stop_now(&s->stop);
    return answer;
}

static int report_progress(void *user, size_t done, size_t total)
{
    ferry_submitted *s = user;
    caller = s->service;
    return end_callback(s, s->given.progress(s->given.user, done, total));
}

static int report_partial(void *user, size_t line, ferry_text text)
{
    ferry_submitted *s = user;
    caller = s->service;
    return end_callback(s, s->given.partial(s->given.user, line, text));
}

void ferry_submitted_report(const ferry_submitted *s, ferry_result *result, const ferry_error *why)
{
    caller = s->service;
    s->given.done(s->given.user, s->number, result, why);
    caller = NULL;
}

/* ---- the copy ---- */

static void add(size_t *sum, size_t bytes)
{
    if (!ferry_add_size(*sum, bytes, sum)) *sum = SIZE_MAX;
}

static void add_texts(size_t *sum, const ferry_text *texts, size_t count)
{
    for (size_t i = 0; texts != NULL && i < count; i++) add(sum, sizeof *texts + texts[i].size);
}

size_t ferry_submission_size(const ferry_submission *given, const ferry_wanted *wanted)
{
    size_t size = given->text.size;
    add_texts(&size, given->lines, given->count);
    add_texts(&size, wanted->prefixes, given->count);
    for (size_t i = 0; i < wanted->terms.count; i++) {
        const ferry_term *term = ferry_terms_at(wanted->terms, i);
        add(&size, sizeof *term);
        add_texts(&size, term->targets, term->target_count);
    }
    return size;
}

/* Where the next array and the next bytes of a copy go. */
typedef struct copying {
    ferry_text *texts;
    char *bytes;
} copying;

static ferry_text copy_text(ferry_text text, copying *to)
{
    const ferry_text copy = {to->bytes, text.size};
    if (text.size > 0) memcpy(to->bytes, text.data, text.size);
    to->bytes += text.size;
    return copy;
}

static const ferry_text *copy_texts(const ferry_text *texts, size_t count, copying *to)
{
    ferry_text *copies = to->texts;
    if (texts == NULL) return NULL;
    for (size_t i = 0; i < count; i++) copies[i] = copy_text(texts[i], to);
    to->texts += count;
    return copies;
}

static ferry_terms copy_terms(ferry_terms terms, ferry_term *copies, copying *to)
{
    for (size_t i = 0; i < terms.count; i++) {
        copies[i] = *ferry_terms_at(terms, i);
        copies[i].targets = copy_texts(copies[i].targets, copies[i].target_count, to);
    }
    return (ferry_terms){copies, sizeof *copies, terms.count};
}

ferry_submitted *ferry_submitted_create(const ferry_submission *given, const ferry_wanted *wanted, size_t size,
                                        ferry_service *service)
{
    size_t arrays = given->count * ((given->lines != NULL) + (size_t)(wanted->prefixes != NULL));
    ferry_submitted *s = size < SIZE_MAX - sizeof *s ? malloc(sizeof *s + size) : NULL;
    if (s == NULL) return NULL;
    ferry_term *terms = (ferry_term *)(s + 1);
    copying to = {.texts = (ferry_text *)(terms + wanted->terms.count)};
    for (size_t i = 0; i < wanted->terms.count; i++) arrays += ferry_terms_at(wanted->terms, i)->target_count;
    to.bytes = (char *)(to.texts + arrays);
    memset(s, 0, sizeof *s);
    s->given = *given;
    s->given.request = NULL;
    s->given.text = copy_text(given->text, &to);
    s->given.lines = copy_texts(given->lines, given->count, &to);
    s->wanted.prefixes = copy_texts(wanted->prefixes, given->count, &to);
    s->wanted.on_number = wanted->on_number;
    s->wanted.terms = copy_terms(wanted->terms, terms, &to);
    s->service = service;
    s->size = size;
    s->callbacks.progress = given->progress != NULL ? report_progress : NULL;
    s->callbacks.partial = given->partial != NULL ? report_partial : NULL;
    s->callbacks.user = s;
    ferry_mutex_create(&s->callbacks.mutex);
    return s;
}

void ferry_submitted_destroy(ferry_submitted *s)
{
    if (s->call.account != NULL) atomic_fetch_sub(s->call.account, s->bytes + s->carried);
    ferry_mutex_destroy(&s->callbacks.mutex);
    ferry_result_destroy(s->before);
    free(s->between);
    free(s->sentences.texts);
    free(s);
}

/* ---- stages ---- */

static void hold(ferry_submitted *s, size_t *held, size_t bytes)
{
    *held += bytes;
    atomic_fetch_add(s->call.account, bytes);
}

/* Splits a portion of the text. When its lines are known, opens the call. */
static ferry_status split(ferry_submitted *s, ferry_error *error)
{
    bool more = false;
    ferry_call *call = &s->call;
    call->texts = s->given.lines;
    call->count = s->given.count;
    s->sentences.terms = s->wanted.terms;
    if (s->given.lines == NULL) call->text = s->given.text.data;
    if (s->given.lines == NULL) {
        FERRY_TRY(ferry_text_split_on(&call->translator->rules, s->given.text, PORTION, &s->sentences, &more, error));
        call->texts = s->sentences.texts;
        call->count = s->sentences.count;
    }
    if (more) return FERRY_OK;
    hold(s, &s->bytes, s->sentences.capacity * sizeof *s->sentences.texts);
    return ferry_call_open(call, error);
}

/* ferry_job.prepare */
static bool prepare(ferry_job *job, int32_t worker)
{
    ferry_submitted *s = job->user;
    ferry_profile *profile = ferry_schedule_profile(&s->call.translator->schedule, worker);
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_TOKENIZING);
    ferry_error error;
    bool more = true;
    if (s->call.lines == NULL && split(s, &error) != FERRY_OK) {
        ferry_job_fail(job, &error);
        more = false;
    } else if (s->call.lines != NULL) {
        more = ferry_call_prepare(&s->call, PORTION);
    }
    ferry_profile_leave(profile, around);
    return more;
}

/* Makes the call of the stage, except for its lines. */
static void make_call(ferry_submitted *s, const ferry_job *job, atomic_size_t *account)
{
    s->call = (ferry_call){.translator = ferry_translator_stage(s->translator, s->stage),
                           .prefixes = s->wanted.prefixes,
                           .terms = s->wanted.terms,
                           .on_number = s->wanted.on_number,
                           .callbacks = &s->callbacks,
                           .account = account,
                           .job = {.priority = s->given.priority,
                                   .begun = s->begun ? NULL : job->begun,
                                   .prepare = prepare,
                                   .ended = job->ended}};
    s->call.job.stop.above = &s->stop;
    s->call.job.user = &s->call;
}

void ferry_submitted_begin(ferry_submitted *s, ferry_translator *translator, const ferry_job *job,
                           atomic_size_t *account)
{
    s->translator = translator;
    s->stop.above = job->stop.above;
    make_call(s, job, account);
    if (s->given.wait > 0)
        s->call.job.deadline = s->call.translator->schedule.queue.clock() + 1e-3 * (double)s->given.wait;
    hold(s, &s->bytes, sizeof *s + s->size);
}

/* Counts what a stage hands to the next one, instead of what was handed to it. */
static void carry(ferry_submitted *s)
{
    size_t bytes =
        s->before->count * (sizeof *s->before->lines + sizeof *s->between) + s->wanted.terms.count * sizeof(ferry_term);
    for (size_t i = 0; i < s->before->count; i++) bytes += ferry_result_line_bytes(&s->before->lines[i]);
    atomic_fetch_sub(s->call.account, s->carried);
    s->carried = 0;
    hold(s, &s->carried, bytes);
}

/* Begins the next stage with the translations of this one, `lines`, which it takes over. */
static ferry_status begin_next(ferry_submitted *s, ferry_result *lines, ferry_error *error)
{
    ferry_result *unfinished;
    free(s->between);
    s->before = lines;
    s->between = ferry_chain_lines(lines, &s->wanted.terms, error);
    if (s->between == NULL) return FERRY_ERROR_MEMORY;
    carry(s);
    s->stage++;
    make_call(s, &s->call.job, s->call.account);
    s->call.texts = s->between;
    s->call.count = lines->count;
    const ferry_status status = ferry_call_open(&s->call, error);
    if (status != FERRY_OK) ferry_call_end(&s->call, status, &unfinished, NULL);
    return status;
}

ferry_status ferry_submitted_end(ferry_submitted *s, bool *more, ferry_result **result, ferry_error *error)
{
    const bool last = s->stage + 1 == ferry_chain_length(s->translator);
    ferry_result *lines;
    s->begun = s->begun || s->call.job.has_begun;
    ferry_status status = ferry_call_end(&s->call, FERRY_OK, &lines, error);
    if (ferry_chain_merge(lines, s->before, error) != FERRY_OK) status = FERRY_ERROR_MEMORY;
    s->before = *result = NULL;
    *more = status == FERRY_OK && !last;
    if (*more) {
        status = begin_next(s, lines, error);
        *more = status == FERRY_OK;
        return status;
    }
    if (status == FERRY_ERROR_CANCELLED && lines != NULL && !last) status = ferry_chain_cancel(lines, error);
    const bool complete = lines != NULL && (status == FERRY_OK || status == FERRY_ERROR_CANCELLED);
    if (complete && s->given.lines == NULL)
        return ferry_text_join(s->given.text, &s->sentences, status, lines, result, error);
    *result = complete ? lines : NULL;
    if (!complete) ferry_result_destroy(lines);
    return status;
}
