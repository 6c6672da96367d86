/* Blocks as texts for the model, and what it makes of them as segments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "compose.h"

enum { CALL_BYTES = 16 * 1024 };

typedef struct work {
    ferry_document *document;
    ferry_translator *translator; /* of this stage */
    bool last;                    /* no model follows */
    bool again;                   /* segments are shown whose translation lacked signs, and no others */
    ferry_model_text shown[2];    /* segments of one call each: those whose marks need no alignment, and the others */
    ferry_composition composition;
    const ferry_document_options *options;
    size_t done, total; /* segments that are dealt with, once for each model, and all */
    size_t called;      /* those of the call in progress */
    bool cancelled;     /* by the program, which is told of progress */
} work;

/* ---- what becomes of a segment ---- */

/* Whether the segment is one of those to be shown now. */
static bool is_shown(const work *w, const ferry_segment *segment)
{
    return segment->has_letters && !segment->failed && (segment->lacks != '\0') == w->again;
}

static ferry_status add_note(ferry_document *document, const ferry_segment *segment, const char *message)
{
    const ferry_document_note note = {.offset = segment->begin,
                                      .left = segment->failed,
                                      .message = ferry_text_copy(message)};
    if (note.message == NULL) return ferry_fail_memory(document->error, "a message", strlen(message), 1);
    const ferry_status status = ferry_array_append(&document->notes, &document->note_count, &document->note_capacity,
                                                   &note, sizeof note, document->error);
    if (status != FERRY_OK) free((char *)(uintptr_t)note.message);
    return status;
}

static ferry_status leave(work *w, ferry_segment *segment, const char *reason)
{
    segment->failed = true;
    segment->translated = false;
    return add_note(w->document, segment, reason);
}

/* The first point that keeps the order takes the place of the first one in the translation, and so on. */
static void put_in_order(const ferry_document *document, const ferry_segment *segment, ferry_written_pieces *pieces)
{
    bool (*const keeps_order)(ferry_view) = segment->format->keeps_order;
    const ferry_span *next = &document->spans[segment->first_read];
    for (size_t i = 0; i < pieces->count && keeps_order != NULL; i++) {
        const ferry_span **span = &pieces->pieces[i].span;
        if (*span == NULL || !keeps_order(ferry_span_source(document, *span))) continue;
        while (!keeps_order(ferry_span_source(document, next))) next++;
        *span = next++;
    }
}

/* A translation that is not read as the segment was is given up. */
static ferry_status write_segment(work *w, ferry_segment *segment)
{
    ferry_document *document = w->document;
    bool same = true;
    put_in_order(document, segment, &w->composition.pieces);
    FERRY_TRY(ferry_document_lay_out(document, segment, &w->composition.pieces));
    const ferry_view before = ferry_segment_source(document, segment), after = ferry_segment_written(document, segment);
    if (segment->format->check != NULL && (!segment->is_attribute || segment->format->write_attribute == NULL))
        FERRY_TRY(segment->format->check(before, after, &same, document->error));
    same = same && (!ferry_view_contains(after, "()") || ferry_view_contains(before, "()"));
    segment->translated = same && !ferry_view_equal(before, after);
    if (!segment->translated) document->written.size = segment->written_begin;
    return same ? FERRY_OK : leave(w, segment, "its markup would have changed");
}

/* Sentences first … after - 1 of the result are those of the segment. */
static ferry_status take_segment(work *w, const ferry_model_segment *of, size_t first, size_t after)
{
    ferry_composition *c = &w->composition;
    FERRY_TRY(ferry_compose(c, of, first, after));
    if (c->reason == NULL) {
        of->segment->changed = of->segment->changed || c->changed;
        if (of->segment->format->fills) ferry_document_fill(w->document, &c->pieces);
        if (!w->last) return ferry_document_take_pieces(w->document, of->segment, &c->pieces);
        return of->segment->changed ? write_segment(w, of->segment) : FERRY_OK;
    }
    const bool lacks_number = c->lacks[0] == FERRY_LACKS_NUMBER;
    if ((c->reason == c->message || lacks_number) && c->lacks[0] != '\0' && !w->again) {
        of->segment->lacks = c->lacks[0];
        return lacks_number ? FERRY_OK : ferry_document_keep_signs(w->document, of->segment, c->lacks);
    }
    const bool lacked_sign = w->again && of->segment->lacks != FERRY_LACKS_NUMBER;
    if (lacked_sign)
        snprintf(c->message, sizeof c->message, "the translation has other signs: it lacks %c", of->segment->lacks);
    return leave(w, of->segment, lacked_sign ? c->message : c->reason);
}

/* ---- calls ---- */

static ferry_status take_result(work *w, ferry_model_text *shown, const ferry_result *result)
{
    const size_t count = ferry_result_sentence_count(result);
    size_t first = 0;
    w->composition.document = w->document;
    w->composition.shown = shown;
    w->composition.result = result;
    for (size_t i = 0; i < shown->segment_count; i++) {
        const ferry_model_segment *of = &shown->segments[i];
        size_t after = first;
        while (after < count && ferry_result_sentence(result, after)->source_begin < of->end) after++;
        FERRY_TRY(take_segment(w, of, first, after));
        for (; first < after; first++) {
            const char *warning = ferry_result_outcome(ferry_result_sentences(result), first)->warning;
            const bool used = w->last ? of->segment->translated : is_shown(w, of->segment);
            if (warning != NULL && used) FERRY_TRY(add_note(w->document, of->segment, warning));
        }
    }
    return FERRY_OK;
}

static int tell(void *user, size_t lines_done, size_t lines_total)
{
    work *w = user;
    const size_t done = w->done + w->called * lines_done / lines_total;
    w->cancelled = w->options->progress(w->options->user, done, w->total) != 0;
    return w->cancelled;
}

static ferry_status check_cancelled(const work *w)
{
    return w->cancelled ? ferry_fail(w->document->error, FERRY_ERROR_CANCELLED, "cancelled") : FERRY_OK;
}

/* One call for all segments that are shown so. */
static ferry_status call(work *w, bool aligned)
{
    ferry_model_text *shown = &w->shown[aligned];
    ferry_result *result = NULL;
    if (shown->segment_count == 0) return FERRY_OK;
    ferry_translator_align(w->translator, aligned);
    const ferry_text text = {shown->text.data, shown->text.size};
    ferry_request request = ferry_model_text_request(shown);
    request.progress = w->options->progress != NULL ? tell : NULL;
    request.user = w;
    w->called = w->again ? 0 : shown->segment_count;
    ferry_status status = ferry_translate_text_with(w->translator, text, &request, &result, w->document->error);
    if (status == FERRY_OK) status = check_cancelled(w);
    if (status == FERRY_OK) status = take_result(w, shown, result);
    ferry_result_destroy(result);
    ferry_model_text_clear(shown);
    w->done += w->called;
    w->called = 0;
    return status;
}

static ferry_status show(work *w, ferry_segment *segment)
{
    bool aligned;
    FERRY_TRY(ferry_model_text_add(&w->shown[false], w->document, segment, w->last, &aligned));
    if (aligned) {
        ferry_model_text_remove(&w->shown[false]);
        FERRY_TRY(ferry_model_text_add(&w->shown[true], w->document, segment, w->last, &aligned));
    }
    return w->shown[aligned].text.size > CALL_BYTES ? call(w, aligned) : FERRY_OK;
}

static ferry_status finish_calls(work *w)
{
    FERRY_TRY(call(w, false));
    return call(w, true);
}

/* ---- all segments ---- */

/* Text that is not UTF-8 cannot be translated and keep its bytes. */
static ferry_status show_first(work *w, ferry_segment *segment)
{
    const bool shown = is_shown(w, segment);
    if (shown && ferry_utf8_is_valid(ferry_segment_source(w->document, segment))) return show(w, segment);
    w->done += !w->again;
    if (shown) return leave(w, segment, "it is not UTF-8");
    if (!w->again && w->options->progress != NULL) tell(w, 0, 1);
    return check_cancelled(w);
}

static ferry_status translate_once(work *w, ferry_segment *segments, size_t count)
{
    for (size_t i = 0; i < count; i++) FERRY_TRY(show_first(w, &segments[i]));
    return finish_calls(w);
}

/* With one model after the other; then those once more whose translation lacked signs. */
static ferry_status translate_segments(work *w, ferry_translator *translator, ferry_segment *segments, size_t count)
{
    size_t stages = 1;
    while (ferry_translator_stage(translator, stages) != NULL) stages++;
    w->total = stages * (w->document->segment_count + w->document->attribute_count);
    for (size_t i = 0; i < 2 * stages; i++) {
        w->translator = ferry_translator_stage(translator, i % stages);
        w->last = i % stages + 1 == stages;
        w->again = i >= stages;
        FERRY_TRY(translate_once(w, segments, count));
    }
    return FERRY_OK;
}

ferry_status ferry_segments_translate(ferry_document *document, ferry_translator *translator,
                                      const ferry_document_options *options)
{
    work w = {.document = document, .options = options};
    ferry_status status = ferry_buffer_reserve(&w.composition.pieces.text, 1, document->error);
    ferry_document_find_columns(document);
    /* First attributes, which belong to the bytes of elements. */
    if (status == FERRY_OK)
        status = translate_segments(&w, translator, document->attributes, document->attribute_count);
    if (status == FERRY_OK) status = translate_segments(&w, translator, document->segments, document->segment_count);
    ferry_model_text_destroy(&w.shown[false]);
    ferry_model_text_destroy(&w.shown[true]);
    free(w.composition.pieces.pieces);
    free(w.composition.pieces.text.data);
    free(w.composition.pieces.terms);
    return status;
}
