/* Blocks as texts for the model, and what it makes of them as blocks. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "base/utf8.h"
#include "compose.h"

enum { CALL_BYTES = 16 * 1024 };

typedef struct work {
    ferry_document *document;
    ferry_translator *translator; /* of this stage */
    bool last;                    /* no model follows */
    ferry_shown shown[2];         /* blocks of one call each: those whose marks need no alignment, and the others */
    ferry_composition composition;
    size_t done; /* blocks that were shown, once for each model */
} work;

/* ---- what becomes of a block ---- */

static ferry_status add_note(ferry_document *document, const ferry_document_block *block, const char *message)
{
    const ferry_document_note note = {.offset = block->begin,
                                      .left = block->failed,
                                      .message = ferry_text_copy(message)};
    if (note.message == NULL) return ferry_fail_memory(document->error, "a message", strlen(message), 1);
    const ferry_status status = ferry_array_append(&document->notes, &document->note_count, &document->note_capacity,
                                                   &note, sizeof note, document->error);
    if (status != FERRY_OK) free((char *)(uintptr_t)note.message);
    return status;
}

static ferry_status leave(work *w, ferry_document_block *block, const char *reason)
{
    block->failed = true;
    block->translated = false;
    return add_note(w->document, block, reason);
}

/* A translation that is not read as the block was is given up. */
static ferry_status write_block(work *w, ferry_document_block *block)
{
    ferry_document *document = w->document;
    bool same = true;
    FERRY_TRY(ferry_document_lay_out(document, block, &w->composition.pieces));
    const ferry_view before = ferry_block_source(document, block), after = ferry_block_written(document, block);
    if (block->format->check != NULL && !block->is_attribute)
        FERRY_TRY(block->format->check(before, after, &same, document->error));
    block->translated = same && !ferry_view_equal(before, after);
    if (!block->translated) document->written.size = block->written_begin;
    return same ? FERRY_OK : leave(w, block, "its markup would have changed");
}

/* Sentences first … after - 1 of the result are those of the block. */
static ferry_status take_block(work *w, const ferry_shown_block *of, size_t first, size_t after)
{
    ferry_composition *c = &w->composition;
    FERRY_TRY(ferry_compose(c, of, first, after));
    if (c->reason == NULL) {
        of->block->changed = of->block->changed || c->changed;
        if (of->block->format->fills) ferry_document_fill(w->document, &c->pieces);
        if (!w->last) return ferry_document_take_pieces(w->document, of->block, &c->pieces);
        return of->block->changed ? write_block(w, of->block) : FERRY_OK;
    }
    return leave(w, of->block, c->reason);
}

/* ---- calls ---- */

static ferry_status take_result(work *w, ferry_shown *shown, const ferry_result *result)
{
    const size_t count = ferry_result_sentence_count(result);
    size_t first = 0;
    w->composition.document = w->document;
    w->composition.shown = shown;
    w->composition.result = result;
    for (size_t i = 0; i < shown->block_count; i++) {
        const ferry_shown_block *of = &shown->blocks[i];
        size_t after = first;
        while (after < count && ferry_result_sentence(result, after)->source_begin < of->end) after++;
        FERRY_TRY(take_block(w, of, first, after));
        for (; first < after; first++) {
            const char *warning = ferry_result_outcome(ferry_result_sentences(result), first)->warning;
            const bool used = w->last ? of->block->translated : !of->block->failed;
            if (warning != NULL && used) FERRY_TRY(add_note(w->document, of->block, warning));
        }
    }
    return FERRY_OK;
}

/* One call for all blocks that are shown so. */
static ferry_status call(work *w, bool aligned)
{
    ferry_shown *shown = &w->shown[aligned];
    ferry_result *result = NULL;
    if (shown->block_count == 0) return FERRY_OK;
    ferry_translator_align(w->translator, aligned);
    const ferry_text text = {shown->text.data, shown->text.size};
    const ferry_request request = ferry_shown_request(shown);
    ferry_status status = ferry_translate_text_with(w->translator, text, &request, &result, w->document->error);
    if (status == FERRY_OK) status = take_result(w, shown, result);
    ferry_result_destroy(result);
    ferry_shown_clear(shown);
    return status;
}

static ferry_status show(work *w, ferry_document_block *block)
{
    bool aligned;
    FERRY_TRY(ferry_shown_add(&w->shown[false], w->document, block, w->last, &aligned));
    if (aligned) {
        ferry_shown_remove(&w->shown[false]);
        FERRY_TRY(ferry_shown_add(&w->shown[true], w->document, block, w->last, &aligned));
    }
    return w->shown[aligned].text.size > CALL_BYTES ? call(w, aligned) : FERRY_OK;
}

static ferry_status finish_calls(work *w)
{
    FERRY_TRY(call(w, false));
    return call(w, true);
}

/* ---- all blocks ---- */

/* Text that is not UTF-8 cannot be translated and keep its bytes. */
static ferry_status show_first(work *w, ferry_document_block *block)
{
    if (!block->has_letters || block->failed) return FERRY_OK;
    if (!ferry_utf8_is_valid(ferry_block_source(w->document, block))) return leave(w, block, "it is not UTF-8");
    return show(w, block);
}

static ferry_status report(const work *w, size_t total, const ferry_document_options *options)
{
    if (options->progress == NULL || options->progress(options->user, w->done, total) == 0) return FERRY_OK;
    return ferry_fail(w->document->error, FERRY_ERROR_CANCELLED, "cancelled");
}

static ferry_status translate_once(work *w, ferry_document_block *blocks, size_t count, size_t total,
                                   const ferry_document_options *options)
{
    for (size_t i = 0; i < count; i++) {
        FERRY_TRY(show_first(w, &blocks[i]));
        w->done++;
        FERRY_TRY(report(w, total, options));
    }
    return finish_calls(w);
}

/* With one model after the other. */
static ferry_status translate_blocks(work *w, ferry_translator *translator, ferry_document_block *blocks, size_t count,
                                     const ferry_document_options *options)
{
    size_t stages = 1;
    while (ferry_translator_stage(translator, stages) != NULL) stages++;
    const size_t total = stages * (w->document->block_count + w->document->attribute_count);
    for (size_t i = 0; i < stages; i++) {
        w->translator = ferry_translator_stage(translator, i);
        w->last = i + 1 == stages;
        FERRY_TRY(translate_once(w, blocks, count, total, options));
    }
    return FERRY_OK;
}

ferry_status ferry_blocks_translate(ferry_document *document, ferry_translator *translator,
                                    const ferry_document_options *options)
{
    work w = {.document = document};
    ferry_status status = ferry_buffer_reserve(&w.composition.pieces.text, 1, document->error);
    ferry_document_find_columns(document);
    /* First attributes, which belong to the bytes of elements. */
    if (status == FERRY_OK)
        status = translate_blocks(&w, translator, document->attributes, document->attribute_count, options);
    if (status == FERRY_OK) status = translate_blocks(&w, translator, document->blocks, document->block_count, options);
    ferry_shown_destroy(&w.shown[false]);
    ferry_shown_destroy(&w.shown[true]);
    free(w.composition.pieces.pieces);
    free(w.composition.pieces.text.data);
    free(w.composition.pieces.terms);
    return status;
}
