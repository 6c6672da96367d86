#include "text.h"

#include <stdlib.h>
#include <string.h>

#include "argument_checks.h"
#include "base/utf8.h"
#include "call.h"
#include "job.h"
#include "row.h"

/* ---- splitting ---- */

static ferry_status add(ferry_text_lines *list, ferry_text sentence, ferry_error *error)
{
    ferry_text *grown = ferry_array_grow(list->texts, &list->capacity, list->count + 1, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "the sentences of a text", (list->count + 1) * sizeof *grown);
    list->texts = grown;
    list->texts[list->count++] = sentence;
    return FERRY_OK;
}

static size_t skip_space(ferry_view text, size_t at)
{
    return at + ferry_utf8_leading_space((ferry_view){text.data + at, text.size - at});
}

ferry_status ferry_text_split(const ferry_translator *translator, ferry_text whole, ferry_text_lines *lines,
                              ferry_error *error)
{
    const ferry_view text = {whole.data, whole.size};
    for (size_t at = skip_space(text, 0); at < text.size; at = skip_space(text, at)) {
        const size_t end = ferry_sentence_end(text, at, ferry_translator_stage(translator, 0)->sentences);
        FERRY_TRY(add(lines, (ferry_text){text.data + at, end - at}, error));
        at = end;
    }
    return FERRY_OK;
}

/* ---- joining ---- */

static bool is_translated(const ferry_result *sentences, size_t index)
{
    return sentences->lines[index].outcome.status == FERRY_OK;
}

/* Room for everything; what could not be translated may triple when it is repaired. */
static ferry_status allocate(const ferry_result *sentences, const ferry_text_lines *list, ferry_text text,
                             ferry_result_hypothesis *whole, ferry_error *error)
{
    size_t size = text.size + 1;
    bool fits = true;
    for (size_t i = 0; i < list->count; i++) {
        const size_t target = is_translated(sentences, i) ? ferry_result_text(sentences, i, 0).size : 0;
        const size_t repaired = is_translated(sentences, i) ? 0 : 2 * list->texts[i].size;
        fits = fits && ferry_add_size(size, target, &size) && ferry_add_size(size, repaired, &size);
    }
    whole->text = fits ? malloc(size) : NULL;
    return whole->text != NULL ? FERRY_OK : ferry_fail_memory(error, "a translated text", size);
}

static void append(ferry_result_hypothesis *whole, const char *data, size_t size)
{
    if (size > 0) memcpy(whole->text + whole->size, data, size);
    whole->size += size;
}

static void append_sentence(ferry_result_hypothesis *whole, const ferry_result *sentences, size_t index,
                            ferry_text source)
{
    bool replaced;
    const ferry_text target = ferry_result_text(sentences, index, 0);
    if (is_translated(sentences, index))
        append(whole, target.data, target.size);
    else
        whole->size += ferry_utf8_repair((ferry_view){source.data, source.size}, whole->text + whole->size, &replaced);
}

/* The outcome of the whole text. */
static ferry_status summarize(ferry_result *result, ferry_error *error)
{
    const ferry_result *sentences = result->sentences;
    ferry_result_line *line = &result->lines[0];
    size_t failed = 0, warned = 0;
    for (size_t i = 0; i < sentences->count; i++) {
        failed += !is_translated(sentences, i);
        warned += sentences->lines[i].outcome.warning != NULL;
        line->outcome.quality |= sentences->lines[i].outcome.quality;
    }
    for (size_t i = 0; failed > 0 && line->outcome.error == NULL; i++) {
        const ferry_outcome *outcome = &sentences->lines[i].outcome;
        if (outcome->status != FERRY_OK)
            FERRY_TRY(ferry_result_line_fail(line, outcome->status, outcome->error, error));
    }
    if (failed > 0)
        FERRY_TRY(ferry_result_line_warn(line, error, "sentences that are not translated: %zu of %zu", failed,
                                         sentences->count));
    if (warned > 0) FERRY_TRY(ferry_result_line_warn(line, error, "sentences with warnings: %zu", warned));
    return FERRY_OK;
}

static ferry_status join(ferry_text text, const ferry_text_lines *list, ferry_result *result, ferry_error *error)
{
    size_t at = 0;
    ferry_result_hypothesis *whole = &result->lines[0].hypotheses[0];
    FERRY_TRY(allocate(result->sentences, list, text, whole, error));
    for (size_t i = 0; i < list->count; i++) {
        const ferry_text source = list->texts[i];
        ferry_sentence *range = &result->ranges[i];
        range->source_begin = (size_t)(source.data - text.data);
        range->source_end = range->source_begin + source.size;
        append(whole, text.data + at, range->source_begin - at);
        range->target_begin = whole->size;
        append_sentence(whole, result->sentences, i, source);
        range->target_end = whole->size;
        at = range->source_end;
    }
    append(whole, text.data + at, text.size - at);
    whole->text[whole->size] = '\0';
    return FERRY_OK;
}

/* ---- the call ---- */

static ferry_status fail_cancelled(const ferry_result *sentences, ferry_error *error)
{
    size_t done = 0;
    for (size_t i = 0; i < sentences->count; i++) done += sentences->lines[i].outcome.status != FERRY_ERROR_CANCELLED;
    return ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled: %zu of %zu sentences are finished", done,
                      sentences->count);
}

static ferry_status finish(ferry_text text, const ferry_text_lines *list, ferry_result *result, ferry_error *error)
{
    FERRY_TRY(ferry_result_line_begin(&result->lines[0], 1, error));
    result->ranges = calloc(list->count + 1, sizeof *result->ranges);
    if (result->ranges == NULL) return ferry_fail_memory(error, "ranges", list->count * sizeof *result->ranges);
    FERRY_TRY(join(text, list, result, error));
    return summarize(result, error);
}

ferry_status ferry_text_join(ferry_text text, const ferry_text_lines *lines, ferry_status status,
                             ferry_result *sentences, ferry_result **result, ferry_error *error)
{
    ferry_result *created;
    if (ferry_result_create(1, &created, error) != FERRY_OK) {
        ferry_result_destroy(sentences);
        return FERRY_ERROR_MEMORY;
    }
    created->sentences = sentences;
    if (finish(text, lines, created, error) != FERRY_OK) {
        ferry_result_destroy(created);
        return FERRY_ERROR_MEMORY;
    }
    *result = created;
    return status == FERRY_ERROR_CANCELLED ? fail_cancelled(sentences, error) : FERRY_OK;
}

static ferry_status translate(ferry_translator *translator, ferry_text text, ferry_text_lines *lines,
                              ferry_result **result, ferry_error *error)
{
    ferry_result *sentences;
    FERRY_TRY(ferry_text_split(translator, text, lines, error));
    const ferry_status status = ferry_row_translate(translator, lines->texts, lines->count, &sentences, error);
    if (status != FERRY_OK && status != FERRY_ERROR_CANCELLED) return status;
    return ferry_text_join(text, lines, status, sentences, result, error);
}

ferry_status ferry_text_check(ferry_text *text, ferry_error *error)
{
    if (text->data == NULL && text->size > 0)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "text.data: expected %zu bytes, found NULL", text->size);
    if (text->data == NULL) text->data = ""; /* C permits no offset of NULL */
    return ferry_check_bytes("text.size", text->size, error);
}

ferry_status ferry_translate_text(ferry_translator *translator, ferry_text text, ferry_result **result,
                                  ferry_error *error)
{
    ferry_text_lines lines = {0};
    ferry_call call;
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_TRY(ferry_text_check(&text, error));
    FERRY_TRY(ferry_job_check(translator, error));
    FERRY_TRY(ferry_call_begin(translator, &call, error));
    const ferry_status status = translate(translator, text, &lines, result, error);
    free(lines.texts);
    return ferry_call_end(&call, status);
}

/* ---- its sentences ---- */

size_t ferry_result_sentence_count(const ferry_result *result)
{
    return result != NULL ? ferry_result_count(result->sentences) : 0;
}

const ferry_result *ferry_result_sentences(const ferry_result *result)
{
    return result != NULL ? result->sentences : NULL;
}

const ferry_sentence *ferry_result_sentence(const ferry_result *result, size_t index)
{
    return index < ferry_result_sentence_count(result) ? &result->ranges[index] : NULL;
}
