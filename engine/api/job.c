#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/search/output_columns.h"

/* ---- what workers share ---- */

void ferry_job_stop(ferry_job *job, const ferry_error *error)
{
    int expected = FERRY_OK;
    if (atomic_compare_exchange_strong(&job->status, &expected, (int)error->status)) job->error = *error;
    atomic_store(job->stop, true);
}

/* The first failure of a job's workers. */
static ferry_status status_of(ferry_job *job, ferry_error *error)
{
    const ferry_status status = (ferry_status)atomic_load(&job->status);
    if (status != FERRY_OK && error != NULL) *error = job->error;
    return status;
}

static void report_progress(ferry_job *job)
{
    const ferry_translator *translator = job->translator;
    const ferry_options *options = &translator->options;
    if (options->progress == NULL || job->count == 0 || ferry_job_stopped(job)) return;
    const size_t done = translator->row_index * job->count + atomic_load(&job->done);
    if (options->progress(options->user, done / translator->row_length, job->count) != 0) atomic_store(job->stop, true);
}

/* ---- results ---- */

void ferry_job_finish_line(ferry_job *job, size_t line)
{
    job->lines[line].finished = true;
    atomic_fetch_add(&job->done, 1);
}

/* The last part to be translated finishes its line. */
static ferry_status finish_part(ferry_job *job, size_t line, ferry_error *error)
{
    ferry_job_line *from = &job->lines[line];
    ferry_result_line *result = &job->result->lines[line];
    if (atomic_fetch_sub(&from->left, 1) > 1) return FERRY_OK;
    FERRY_TRY(ferry_parts_join(&from->parts, job->translator, result, error));
    if (job->tokens && result->outcome.status == FERRY_OK) {
        const ferry_text text = job->texts != NULL ? job->texts[line] : (ferry_text){NULL, 0};
        FERRY_TRY(ferry_tokens_list(&from->parts, from->repaired, (ferry_view){text.data, text.size}, result, error));
    }
    ferry_job_finish_line(job, line);
    return FERRY_OK;
}

static ferry_status answer_with_itself(ferry_result_line *line, ferry_view text, ferry_error *error)
{
    FERRY_TRY(ferry_result_line_begin(line, 1, error));
    ferry_result_hypothesis *hypothesis = &line->hypotheses[0];
    hypothesis->text = calloc(text.size + 1, 1);
    if (hypothesis->text == NULL) return ferry_fail_memory(error, "a line", text.size, 1);
    if (text.size > 0) memcpy(hypothesis->text, text.data, text.size);
    hypothesis->size = text.size;
    return FERRY_OK;
}

/* ---- a line becomes ids ---- */

/* *valid: the text without ill-formed UTF-8, itself, or else *repaired, which the caller frees. */
static ferry_status repair(const char *what, ferry_text text, ferry_view *valid, char **repaired, ferry_error *error)
{
    *valid = (ferry_view){text.data, text.size};
    *repaired = NULL;
    if (ferry_utf8_is_valid(*valid)) return FERRY_OK;
    *repaired = text.size > SIZE_MAX / 3 ? NULL : malloc(3 * text.size);
    if (*repaired == NULL) return ferry_fail_memory(error, what, text.size, 1);
    valid->size = ferry_utf8_repair(*valid, *repaired);
    valid->data = *repaired;
    return FERRY_OK;
}

ferry_status ferry_job_repair(ferry_job *job, size_t line, ferry_view *text, ferry_error *error)
{
    FERRY_TRY(repair("a line", job->texts[line], text, &job->lines[line].repaired, error));
    if (job->lines[line].repaired == NULL) return FERRY_OK;
    return ferry_result_line_warn(&job->result->lines[line], error, "invalid UTF-8 was read as U+FFFD");
}

/* The ids of a prefix, for the part. ARGUMENT: the target's vocabulary cannot spell it. */
static ferry_status encode_prefix(const ferry_translator *translator, ferry_text prefix, ferry_ids *ids,
                                  ferry_error *error)
{
    ferry_view text;
    ferry_ranges ranges = {0};
    char *repaired;
    FERRY_TRY(repair("a prefix", prefix, &text, &repaired, error));
    ferry_status status = ferry_tokenizer_encode_target(translator->model->tokenizer, text, ids, &ranges, error);
    const size_t unknown = status == FERRY_OK ? ferry_ids_find(ids->ids, ids->count, translator->unknown_id) : 0;
    if (status == FERRY_OK && unknown < ids->count) {
        const ferry_range range = ranges.ranges[unknown];
        status = ferry_fail(error, FERRY_ERROR_ARGUMENT, "the prefix has text that the model cannot write: '%s'",
                            ferry_printable_view((ferry_view){text.data + range.begin, range.end - range.begin}).text);
    }
    free(ranges.ranges);
    free(repaired);
    return status;
}

/* Gives the line's prefix to the first of its parts that is translated. LIMIT: it is too long; ARGUMENT: as above. */
static ferry_status prepare_prefix(ferry_job *job, size_t line, ferry_error *error)
{
    const ferry_translator *translator = job->translator;
    const ferry_parts *parts = &job->lines[line].parts;
    size_t first = 0;
    while (first < parts->count && parts->parts[first].ids.count == 0) first++;
    if (job->prefixes == NULL || job->prefixes[line].size == 0 || first == parts->count) return FERRY_OK;
    ferry_part *part = &parts->parts[first];
    FERRY_TRY(encode_prefix(translator, job->prefixes[line], &part->prefix, error));
    const size_t count = part->prefix.count + (translator->options.search->forced_first_id >= 0);
    const size_t most = (size_t)ferry_translator_target_length(translator, part->ids.count);
    if (part->prefix.count == 0 || count < most) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_LIMIT,
                      "the prefix has %zu tokens, with those that the model adds; expected fewer than max_length %zu",
                      count, most);
}

/* A line becomes parts with ids; those without ids are finished. */
static ferry_status split_line(ferry_job *job, size_t line, ferry_error *error)
{
    ferry_parts *parts = &job->lines[line].parts;
    ferry_view text;
    FERRY_TRY(ferry_job_repair(job, line, &text, error));
    if (!ferry_utf8_is_blank(text)) FERRY_TRY(ferry_parts_split(job->translator, text, job->stop, parts, error));
    if (parts->count == 0) {
        FERRY_TRY(answer_with_itself(&job->result->lines[line], text, error));
        ferry_job_finish_line(job, line);
        return FERRY_OK;
    }
    FERRY_TRY(prepare_prefix(job, line, error));
    atomic_store(&job->lines[line].left, parts->count);
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->parts[i].ids.count > 0) continue;
        FERRY_TRY(answer_with_itself(&parts->parts[i].result, parts->parts[i].text, error));
        FERRY_TRY(finish_part(job, line, error));
    }
    return FERRY_OK;
}

/* An error that is the line's own is its result; any other stops the job. */
static void prepare_line(ferry_job *job, size_t line)
{
    ferry_error error;
    ferry_status status = (job->prepare != NULL ? job->prepare : split_line)(job, line, &error);
    if (status == FERRY_ERROR_LIMIT || status == FERRY_ERROR_ARGUMENT) {
        status = ferry_result_line_fail(&job->result->lines[line], status, error.message, &error);
        ferry_parts_destroy(&job->lines[line].parts);
        if (status == FERRY_OK) ferry_job_finish_line(job, line);
    }
    if (status != FERRY_OK) ferry_job_stop(job, &error);
}

static void prepare_item(void *user, int32_t worker, size_t item)
{
    ferry_job *job = user;
    ferry_profile *profile = ferry_translator_profile(job->translator, worker);
    ferry_profile_enter(profile, FERRY_PHASE_TOKENIZING);
    if (!ferry_job_stopped(job)) prepare_line(job, item);
    ferry_profile_leave(profile, FERRY_PHASE_IDLE);
}

/* ---- sentences ---- */

/* Longest first: what takes longest starts first, and scratch memory has its final size early. */
static int compare_sentences(const void *a, const void *b)
{
    const ferry_job_sentence *x = a, *y = b;
    if (x->part->ids.count != y->part->ids.count) return x->part->ids.count > y->part->ids.count ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

ferry_status ferry_job_list(ferry_job *job, ferry_error *error)
{
    const bool service = job->translator->queue.report != NULL;
    size_t most = 0;
    for (size_t i = 0; service && i < job->count && status_of(job, NULL) == FERRY_OK; i++) prepare_line(job, i);
    if (!service && job->texts != NULL) ferry_pool_run(job->translator->pool, prepare_item, job, job->count);
    FERRY_TRY(status_of(job, error));
    for (size_t i = 0; i < job->count; i++) most += job->lines[i].parts.count;
    job->sentences = calloc(most + 1, sizeof *job->sentences);
    if (job->sentences == NULL) return ferry_fail_memory(error, "sentences", most, sizeof *job->sentences);
    for (size_t i = 0; i < job->count; i++)
        for (size_t p = 0; p < job->lines[i].parts.count; p++) {
            ferry_part *part = &job->lines[i].parts.parts[p];
            if (part->ids.count > 0)
                job->sentences[job->sentence_count++] = (ferry_job_sentence){.job = job, .line = i, .part = part};
        }
    qsort(job->sentences, job->sentence_count, sizeof *job->sentences, compare_sentences);
    for (size_t i = job->sentence_count; i-- > 0; job->waiting = &job->sentences[i])
        job->sentences[i].next = job->waiting;
    return FERRY_OK;
}

ferry_job_sentence *ferry_job_take(ferry_job_share *share)
{
    ferry_job_sentence *sentence = share->first;
    if (share->job == NULL) ferry_queue_report(&share->translator->queue);
    if (!share->alone) sentence = ferry_queue_take(&share->translator->queue, share->held, false);
    share->first = NULL;
    share->held += sentence != NULL;
    return sentence;
}

void ferry_job_put(ferry_job_share *share, ferry_job_sentence *sentence, ferry_queue_target target)
{
    share->held--;
    ferry_queue_put(&share->translator->queue, sentence, target);
}

void ferry_job_finish_sentence(ferry_job_share *share, ferry_job_sentence *sentence)
{
    ferry_error error;
    ferry_job *job = sentence->job;
    if (finish_part(job, sentence->line, &error) != FERRY_OK) ferry_job_stop(job, &error);
    ferry_job_put(share, sentence, FERRY_QUEUE_DONE);
    if (share->job != NULL && share->worker == 0) report_progress(share->job);
}

void ferry_job_fail_sentence(ferry_job_share *share, ferry_job_sentence *sentence, const ferry_error *why)
{
    const bool own = why->status == FERRY_ERROR_LIMIT || why->status == FERRY_ERROR_FORMAT;
    ferry_error error = *why;
    if (why->status == FERRY_ERROR_LIMIT && !share->alone) {
        ferry_job_put(share, sentence, FERRY_QUEUE_ALONE);
        return;
    }
    if (!own || ferry_result_line_fail(&sentence->part->result, why->status, why->message, &error) != FERRY_OK ||
        finish_part(sentence->job, sentence->line, &error) != FERRY_OK)
        ferry_job_stop(sentence->job, &error);
    ferry_job_put(share, sentence, FERRY_QUEUE_DONE);
}

/* ---- workers ---- */

static void work(ferry_job_share *share, const ferry_job *job)
{
    ferry_profile *profile = ferry_translator_profile(share->translator, share->worker);
    ferry_profile_enter(profile, FERRY_PHASE_OTHER);
    (job->work != NULL ? job->work : ferry_job_translate_share)(share);
    ferry_profile_leave(profile, FERRY_PHASE_IDLE);
}

static void work_item(void *user, int32_t worker, size_t item)
{
    ferry_job *job = user;
    (void)item;
    work(&(ferry_job_share){.translator = job->translator, .job = job, .worker = worker}, job);
}

void ferry_job_translate_alone(ferry_translator *translator, ferry_job *job, int32_t worker)
{
    ferry_job_share share = {.translator = translator, .job = job, .worker = worker, .alone = true};
    ferry_error error;
    share.first = ferry_queue_take(&translator->queue, 0, true);
    if (share.first != NULL) {
        share.held = 1;
        ferry_logit_bound_destroy(&translator->bound);
        for (int32_t t = 0; t < translator->options.threads; t++) ferry_generator_destroy(&translator->generators[t]);
        work(&share, share.first->job);
    }
    /* Without it, the next texts of a service only take longer. */
    if (job == NULL) ferry_job_make_bound(translator, SIZE_MAX, &error);
}

ferry_status ferry_job_make_bound(ferry_translator *translator, size_t tokens, ferry_error *error)
{
    const ferry_shortlist *shortlist = &translator->model->file.generation.shortlist;
    if (translator->bound.exact != NULL) return FERRY_OK;
    return ferry_output_bound(&translator->generators[0].state, &translator->options,
                              shortlist->offsets != NULL ? shortlist : NULL, tokens, &translator->bound, error);
}

/* ---- the job ---- */

ferry_status ferry_job_begin(ferry_job *job, ferry_error *error)
{
    if (job->stop == NULL) job->stop = &job->translator->stop;
    if (job->translator->options.alignment != 0) job->tokens = true;
    FERRY_TRY(ferry_result_create(job->count, &job->result, error));
    job->lines = calloc(job->count + 1, sizeof *job->lines);
    if (job->lines == NULL) return ferry_fail_memory(error, "lines", job->count, sizeof *job->lines);
    return FERRY_OK;
}

static ferry_status run(ferry_job *job, ferry_error *error)
{
    ferry_translator *translator = job->translator;
    const size_t threads = (size_t)translator->options.threads;
    FERRY_TRY(ferry_job_list(job, error));
    for (size_t i = 0; i < job->sentence_count; i++) translator->source_tokens += job->sentences[i].part->ids.count;
    if (job->work == NULL) FERRY_TRY(ferry_job_make_bound(translator, translator->source_tokens, error));
    ferry_queue_add(&translator->queue, job);
    do {
        ferry_pool_run(translator->pool, work_item, job, job->sentence_count < threads ? job->sentence_count : threads);
        while (job->waiting == NULL && job->alone != NULL) ferry_job_translate_alone(translator, job, 0);
    } while (job->waiting != NULL);
    ferry_queue_remove(&translator->queue, job);
    report_progress(job);
    return FERRY_OK;
}

ferry_status ferry_job_end(ferry_job *job, ferry_status status, ferry_result **result, ferry_error *error)
{
    const size_t done = atomic_load(&job->done);
    if (status == FERRY_OK) status = status_of(job, error);
    bool complete = status == FERRY_OK || status == FERRY_ERROR_CANCELLED;
    if (complete && done < job->count) {
        /* Lines that are not finished were cancelled. */
        status = ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled: %zu of %zu lines are finished", done, job->count);
        for (size_t i = 0; i < job->count && complete; i++)
            complete = job->lines[i].finished || ferry_result_line_fail(&job->result->lines[i], FERRY_ERROR_CANCELLED,
                                                                        "cancelled", error) == FERRY_OK;
        if (!complete) status = FERRY_ERROR_MEMORY;
    } else if (complete) {
        status = FERRY_OK;
    }
    for (size_t i = 0; job->lines != NULL && i < job->count; i++) {
        ferry_parts_destroy(&job->lines[i].parts);
        free(job->lines[i].repaired);
    }
    free(job->lines);
    free(job->sentences);
    if (complete)
        *result = job->result;
    else
        ferry_result_destroy(job->result);
    return status;
}

ferry_status ferry_job_finish(ferry_job *job, ferry_status status, ferry_result **result, ferry_error *error)
{
    if (status == FERRY_OK) status = run(job, error);
    return ferry_job_end(job, status, result, error);
}

/* ---- calls ---- */

ferry_status ferry_job_check(const ferry_translator *translator, ferry_error *error)
{
    const ferry_translator *stage;
    size_t i = 0;
    while ((stage = ferry_translator_stage(translator, i)) != NULL && stage->model->tokenizer != NULL) i++;
    if (stage == NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "the model has no tokenizer: it came without one and speaks in ids only");
}

/* ferry_translate_prefixed (`prefixes` may be NULL) within a call, of arguments that were checked, through all stages
 * of a row: what one makes of the lines, the next translates. *result is NULL. */
static ferry_status translate(ferry_translator *translator, const ferry_text *texts, const ferry_text *prefixes,
                              size_t count, ferry_result **result, ferry_error *error)
{
    const size_t stages = ferry_translator_stage_count(translator);
    ferry_status status = FERRY_OK;
    for (size_t i = 0; i < stages && status == FERRY_OK; i++) {
        ferry_result *before = *result; /* NULL: this is the first stage */
        ferry_text *lines = before != NULL ? ferry_row_lines(before, error) : NULL;
        ferry_job job = {.translator = ferry_translator_stage(translator, i),
                         .texts = before != NULL ? lines : texts,
                         .prefixes = prefixes,
                         .count = count};
        *result = NULL;
        status = before != NULL && lines == NULL ? FERRY_ERROR_MEMORY
                                                 : ferry_job_finish(&job, ferry_job_begin(&job, error), result, error);
        free(lines);
        if (ferry_row_merge(*result, before, error) != FERRY_OK) status = FERRY_ERROR_MEMORY;
        if (status == FERRY_ERROR_CANCELLED && i + 1 < stages) status = ferry_row_cancel(*result, error);
    }
    if (status == FERRY_OK || status == FERRY_ERROR_CANCELLED) return status;
    ferry_result_destroy(*result);
    *result = NULL;
    return status;
}

ferry_status ferry_translate(ferry_translator *translator, const ferry_text *lines, size_t count, ferry_result **result,
                             ferry_error *error)
{
    FERRY_FLOATS;
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_TRY(ferry_check_texts("lines", lines, count, error));
    FERRY_TRY(ferry_job_check(translator, error));
    FERRY_TRY(ferry_call_begin(translator, error));
    return ferry_call_end(translator, translate(translator, lines, NULL, count, result, error));
}

ferry_status ferry_translate_prefixed(ferry_translator *translator, const ferry_text *lines, const ferry_text *prefixes,
                                      size_t count, ferry_result **result, ferry_error *error)
{
    FERRY_FLOATS;
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_TRY(ferry_check_texts("lines", lines, count, error));
    FERRY_TRY(ferry_check_texts("prefixes", prefixes, count, error));
    FERRY_TRY(ferry_row_refuse(translator, error));
    FERRY_TRY(ferry_job_check(translator, error));
    FERRY_TRY(ferry_call_begin(translator, error));
    return ferry_call_end(translator, translate(translator, lines, prefixes, count, result, error));
}

ferry_status ferry_translate_text(ferry_translator *translator, ferry_text text, ferry_result **result,
                                  ferry_error *error)
{
    FERRY_FLOATS;
    ferry_text_lines lines = {0};
    ferry_result *sentences = NULL;
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_TRY(ferry_check_text("text", &text, error));
    FERRY_TRY(ferry_job_check(translator, error));
    FERRY_TRY(ferry_call_begin(translator, error));
    ferry_status status = ferry_text_split(translator, text, &lines, error);
    if (status == FERRY_OK) status = translate(translator, lines.texts, NULL, lines.count, &sentences, error);
    if (status == FERRY_OK || status == FERRY_ERROR_CANCELLED)
        status = ferry_text_join(text, &lines, status, sentences, result, error);
    free(lines.texts);
    return ferry_call_end(translator, status);
}
