/* Blocks as texts for the model, and what it makes of them as blocks. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "compose.h"

enum { CALL_BYTES = 16 * 1024 };

typedef struct work {
    ferry_document *document;
    const ferry_document_translator *translator;
    ferry_shown plain, aligned; /* blocks of one call each; those whose marks need no alignment */
    ferry_composition composition;
    ferry_document_block **again; /* [again_count] blocks for another attempt */
    size_t again_count, again_capacity;
} work;

/* ---- what becomes of a block ---- */

static ferry_status leave(work *w, ferry_document_block *block, const char *reason)
{
    block->failed = true;
    block->translated = false;
    return w->translator->left(w->translator->user, w->document, block->begin, reason);
}

static ferry_status try_again(work *w, ferry_document_block *block)
{
    const size_t count = w->again_count + 1;
    ferry_document_block **grown = ferry_array_grow(w->again, &w->again_capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(w->document->error, "a document", count * sizeof *grown);
    w->again = grown;
    grown[w->again_count++] = block;
    return FERRY_OK;
}

/* Whether the document has these bytes already. */
static bool is_same(const work *w, const ferry_document_block *block)
{
    const ferry_document *document = w->document;
    return ferry_view_equal((ferry_view){document->source.data + block->begin, block->end - block->begin},
                            (ferry_view){document->written.data + block->written_begin,
                                         block->written_end - block->written_begin});
}

/* A translation that is not read as the block was is given up. */
static ferry_status check_structure(const work *w, ferry_document_block *block, bool *same)
{
    const ferry_document *document = w->document;
    const ferry_view before = {document->source.data + block->begin, block->end - block->begin};
    const ferry_view after = {document->written.data + block->written_begin, block->written_end - block->written_begin};
    *same = true;
    if (block->format->check == NULL || block->is_attribute) return FERRY_OK;
    return block->format->check(before, after, same, document->error);
}

static ferry_status write_block(work *w, ferry_document_block *block)
{
    ferry_document *document = w->document;
    bool same;
    if (block->format->fills) ferry_document_fill(document, &w->composition.pieces);
    FERRY_TRY(ferry_document_lay_out(document, block, &w->composition.pieces));
    FERRY_TRY(check_structure(w, block, &same));
    block->translated = same && !is_same(w, block);
    if (!block->translated) document->written.size = block->written_begin;
    return same ? FERRY_OK : leave(w, block, "its markup would have changed");
}

/* Sentences first … after - 1 of the result are those of the block. */
static ferry_status take_block(work *w, const ferry_shown_block *of, size_t first, size_t after)
{
    ferry_composition *c = &w->composition;
    FERRY_TRY(ferry_compose(c, of, first, after));
    if (c->reason == NULL) return c->changed ? write_block(w, of->block) : FERRY_OK;
    return c->again ? try_again(w, of->block) : leave(w, of->block, c->reason);
}

/* ---- calls ---- */

static ferry_status tell_warnings(work *w, const ferry_shown_block *of, const ferry_result *result, size_t first,
                                  size_t after)
{
    for (size_t i = first; i < after; i++) {
        const char *warning = ferry_result_outcome(ferry_result_sentences(result), i)->warning;
        if (warning != NULL && w->translator->warn != NULL)
            FERRY_TRY(w->translator->warn(w->translator->user, w->document, of->block->begin, warning));
    }
    return FERRY_OK;
}

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
        if (of->block->translated) FERRY_TRY(tell_warnings(w, of, result, first, after));
        first = after;
    }
    return FERRY_OK;
}

/* One call for all blocks of `shown`. */
static ferry_status call(work *w, ferry_shown *shown, bool aligned)
{
    ferry_translator *translator = w->translator->translator;
    ferry_result *result = NULL;
    if (shown->block_count == 0) return FERRY_OK;
    ferry_translator_align(translator, aligned);
    const ferry_text text = {shown->text.data, shown->text.size};
    ferry_status status = ferry_translate_text(translator, text, &result, w->document->error);
    if (status == FERRY_OK) status = take_result(w, shown, result);
    ferry_result_destroy(result);
    ferry_shown_clear(shown);
    return status;
}

static ferry_status show(work *w, ferry_document_block *block)
{
    bool aligned;
    FERRY_TRY(ferry_shown_add(&w->plain, w->document, block, &aligned));
    if (aligned) {
        ferry_shown_remove(&w->plain);
        FERRY_TRY(ferry_shown_add(&w->aligned, w->document, block, &aligned));
    }
    FERRY_TRY(w->plain.text.size > CALL_BYTES ? call(w, &w->plain, false) : FERRY_OK);
    return w->aligned.text.size > CALL_BYTES ? call(w, &w->aligned, true) : FERRY_OK;
}

static ferry_status finish_calls(work *w)
{
    FERRY_TRY(call(w, &w->plain, false));
    return call(w, &w->aligned, true);
}

/* ---- all blocks ---- */

/* Text that is not UTF-8 cannot be translated and keep its bytes. */
static ferry_status show_first(work *w, ferry_document_block *block)
{
    const ferry_view bytes = {w->document->source.data + block->begin, block->end - block->begin};
    if (!block->has_letters) return FERRY_OK;
    if (!ferry_utf8_is_valid(bytes)) return leave(w, block, "it is not UTF-8");
    return show(w, block);
}

static ferry_status translate_blocks(work *w, ferry_document_block *blocks, size_t count, size_t *done, size_t total)
{
    for (size_t i = 0; i < count; i++) {
        FERRY_TRY(show_first(w, &blocks[i]));
        if (w->translator->progress != NULL && w->translator->progress(w->translator->user, ++*done, total) != 0)
            return ferry_fail(w->document->error, FERRY_ERROR_CANCELLED, "cancelled");
    }
    FERRY_TRY(finish_calls(w));
    for (size_t i = 0; i < w->again_count;) { /* calls can append to them */
        while (i < w->again_count) FERRY_TRY(show(w, w->again[i++]));
        FERRY_TRY(finish_calls(w));
    }
    w->again_count = 0;
    return FERRY_OK;
}

ferry_status ferry_blocks_translate(ferry_document *document, const ferry_document_translator *translator)
{
    work w = {.document = document, .translator = translator};
    size_t done = 0;
    const size_t total = document->block_count + document->attribute_count;
    ferry_status status = ferry_string_reserve(&w.composition.pieces.text, 1, document->error);
    ferry_document_find_columns(document);
    /* First attributes, which belong to the bytes of elements. */
    if (status == FERRY_OK)
        status = translate_blocks(&w, document->attributes, document->attribute_count, &done, total);
    if (status == FERRY_OK) status = translate_blocks(&w, document->blocks, document->block_count, &done, total);
    ferry_shown_destroy(&w.plain);
    ferry_shown_destroy(&w.aligned);
    free(w.composition.pieces.pieces);
    free(w.composition.pieces.text.data);
    free(w.again);
    return status;
}
