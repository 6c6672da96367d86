/* What readers call: blocks and their parts. */
#include "document.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "kept_text.h"

static ferry_document_block *open_block(ferry_document *document)
{
    assert(document->block_count > 0);
    return &document->blocks[document->block_count - 1];
}

/* The source from the block's beginning up to here is covered by its items. */
static size_t covered(ferry_document *document)
{
    const ferry_document_block *block = open_block(document);
    return document->item_count == block->first_item ? block->begin : document->items[document->item_count - 1].end;
}

static ferry_status push_item(ferry_document *document, const ferry_document_item *item)
{
    const size_t count = document->item_count + 1;
    ferry_document_item *grown = ferry_array_grow(document->items, &document->item_capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(document->error, "a document", count * sizeof *grown);
    document->items = grown;
    grown[document->item_count++] = *item;
    return FERRY_OK;
}

/* An item, and before it what nothing was said about. */
static ferry_status add_item(ferry_document *document, const ferry_document_item *item)
{
    const size_t at = covered(document);
    assert(at <= item->begin && item->begin <= item->end && item->end <= document->source.size);
    if (at < item->begin) {
        const ferry_document_item gap = {.kind = FERRY_DOCUMENT_POINT, .begin = at, .end = item->begin};
        FERRY_TRY(push_item(document, &gap));
    }
    return push_item(document, item);
}

ferry_status ferry_document_begin_block(ferry_document *document, size_t begin)
{
    const size_t count = document->block_count + 1;
    assert(begin >= (count > 1 ? document->blocks[count - 2].end : 0) && begin <= document->source.size);
    ferry_document_block *grown = ferry_array_grow(document->blocks, &document->block_capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(document->error, "a document", count * sizeof *grown);
    document->blocks = grown;
    grown[document->block_count++] = (ferry_document_block){.begin = begin, .first_item = document->item_count};
    return FERRY_OK;
}

static ferry_status add_with_text(ferry_document *document, ferry_document_kind kind, size_t begin, size_t end,
                                  ferry_view text)
{
    if (text.data == NULL) text = (ferry_view){document->source.data + begin, end - begin};
    ferry_document_item item = {.kind = kind, .begin = begin, .end = end, .text_begin = document->text.size};
    FERRY_TRY(ferry_string_append(&document->text, text, document->error));
    item.text_end = document->text.size;
    return add_item(document, &item);
}

ferry_status ferry_document_text(ferry_document *document, size_t begin, size_t end, ferry_view decoded)
{
    return begin < end ? add_with_text(document, FERRY_DOCUMENT_TEXT, begin, end, decoded) : FERRY_OK;
}

ferry_status ferry_document_kept(ferry_document *document, size_t begin, size_t end, ferry_view shown)
{
    return add_with_text(document, FERRY_DOCUMENT_KEPT, begin, end, shown);
}

ferry_status ferry_document_open(ferry_document *document, size_t begin, size_t end)
{
    return add_item(document, &(ferry_document_item){.kind = FERRY_DOCUMENT_OPEN, .begin = begin, .end = end});
}

ferry_status ferry_document_close(ferry_document *document, size_t begin, size_t end)
{
    return add_item(document, &(ferry_document_item){.kind = FERRY_DOCUMENT_CLOSE, .begin = begin, .end = end});
}

ferry_status ferry_document_point(ferry_document *document, size_t begin, size_t end)
{
    return add_item(document, &(ferry_document_item){.kind = FERRY_DOCUMENT_POINT, .begin = begin, .end = end});
}

ferry_status ferry_document_break(ferry_document *document, size_t begin, size_t end, bool blank)
{
    const ferry_document_item item = {.kind = FERRY_DOCUMENT_BREAK, .blank = blank, .begin = begin, .end = end};
    return add_item(document, &item);
}

ferry_status ferry_document_wrap(ferry_document *document, size_t width, ferry_view line_end)
{
    ferry_document_block *block = open_block(document);
    block->width = width;
    block->line_end_begin = document->line_ends.size;
    FERRY_TRY(ferry_string_append(&document->line_ends, line_end, document->error));
    block->line_end_end = document->line_ends.size;
    return FERRY_OK;
}

/* ---- the end of a block ---- */

/* Appends what the items from … (all of them text) have of bytes begin … end - 1 of the document's text. */
static ferry_status push_text(ferry_document *document, const ferry_document_item *from, size_t begin, size_t end)
{
    for (; begin < end; from++) {
        if (from->text_end <= begin) continue;
        ferry_document_item part = *from;
        if (part.end - part.begin == part.text_end - part.text_begin) {
            const size_t most = part.text_end < end ? part.text_end : end;
            part.end = part.begin + (most - part.text_begin);
            part.begin += begin - part.text_begin;
            part.text_begin = begin;
            part.text_end = most;
        }
        begin = part.text_end;
        FERRY_TRY(push_item(document, &part));
    }
    return FERRY_OK;
}

/* Where byte `at` of the document's text is in the source: of text that was decoded, where its first byte is, or where
 * its last byte ends. */
static size_t source_of(const ferry_document_item *from, size_t *at, bool is_end)
{
    while (from->text_end < *at || (!is_end && from->text_end == *at)) from++;
    if (from->end - from->begin == from->text_end - from->text_begin) return from->begin + (*at - from->text_begin);
    *at = is_end ? from->text_end : from->text_begin;
    return is_end ? from->end : from->begin;
}

/* Appends `count` items of text that follow each other, with what has to be kept in them. */
static ferry_status push_run(ferry_document *document, const ferry_document_item *run, size_t count)
{
    const size_t begin = run->text_begin, end = run[count - 1].text_end;
    const ferry_view text = {document->text.data + begin, end - begin};
    size_t at = begin;
    for (ferry_kept found; ferry_kept_find(text, at - begin, &found);) {
        ferry_document_item kept = {.kind = FERRY_DOCUMENT_KEPT};
        kept.text_begin = begin + found.begin;
        kept.text_end = begin + found.end;
        kept.begin = source_of(run, &kept.text_begin, false);
        kept.end = source_of(run, &kept.text_end, true);
        if (kept.text_begin > at) FERRY_TRY(push_text(document, run, at, kept.text_begin));
        FERRY_TRY(push_item(document, &kept));
        at = kept.text_end;
    }
    return push_text(document, run, at, end);
}

/* Finds what has to be kept in the block's text. */
static ferry_status split_text(ferry_document *document, size_t first)
{
    const size_t count = document->item_count - first;
    ferry_document_item *items = malloc((count + 1) * sizeof *items);
    if (items == NULL) return ferry_fail_memory(document->error, "a document", count * sizeof *items);
    if (count > 0) memcpy(items, document->items + first, count * sizeof *items);
    document->item_count = first;
    ferry_status status = FERRY_OK;
    for (size_t i = 0, next; i < count && status == FERRY_OK; i = next) {
        for (next = i; next < count && items[next].kind == FERRY_DOCUMENT_TEXT; next++) continue;
        if (next > i)
            status = push_run(document, items + i, next - i);
        else
            status = push_item(document, &items[next++]);
    }
    free(items);
    return status;
}

/* Each CLOSE belongs to the last OPEN that has none; what has no partner stands alone. */
static void pair(ferry_document *document, size_t first)
{
    const size_t none = SIZE_MAX;
    size_t open = none;
    for (size_t i = first; i < document->item_count; i++) {
        ferry_document_item *item = &document->items[i];
        if (item->kind == FERRY_DOCUMENT_OPEN) {
            item->partner = open;
            open = i;
        } else if (item->kind == FERRY_DOCUMENT_CLOSE && open == none) {
            item->kind = FERRY_DOCUMENT_POINT;
        } else if (item->kind == FERRY_DOCUMENT_CLOSE) {
            const size_t outer = document->items[open].partner;
            document->items[open].partner = i;
            item->partner = open;
            open = outer;
        }
    }
    while (open != none) {
        document->items[open].kind = FERRY_DOCUMENT_POINT;
        open = document->items[open].partner;
    }
}

/* Whether there is something for a model: a letter, which is none of ASCII's other characters. */
static bool has_letters(const ferry_document *document, const ferry_document_block *block)
{
    for (size_t i = block->first_item; i < block->after_item; i++) {
        const ferry_document_item *item = &document->items[i];
        if (item->kind != FERRY_DOCUMENT_TEXT) continue;
        for (size_t at = item->text_begin; at < item->text_end; at++) {
            const unsigned char c = (unsigned char)document->text.data[at];
            if ((c | 32) >= 'a' && ((c | 32) <= 'z' || c >= 0x80)) return true;
        }
    }
    return false;
}

ferry_status ferry_document_end_block(ferry_document *document, size_t end)
{
    const size_t first = open_block(document)->first_item;
    FERRY_TRY(add_item(document, &(ferry_document_item){.kind = FERRY_DOCUMENT_POINT, .begin = end, .end = end}));
    document->item_count--; /* which only covers what was before it */
    FERRY_TRY(split_text(document, first));
    pair(document, first);
    ferry_document_block *block = open_block(document);
    block->end = end;
    block->after_item = document->item_count;
    block->has_letters = has_letters(document, block);
    return FERRY_OK;
}

/* ---- edits ---- */

size_t ferry_document_find_block(const ferry_document *document, size_t at)
{
    size_t low = 0, high = document->block_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (document->blocks[middle].begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ferry_status ferry_document_add_edit(ferry_document *document, const ferry_document_edit *edit)
{
    const size_t count = document->edit_count + 1;
    ferry_document_edit *grown = ferry_array_grow(document->edits, &document->edit_capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(document->error, "a document", count * sizeof *grown);
    document->edits = grown;
    grown[document->edit_count++] = *edit;
    size_t block = ferry_document_find_block(document, edit->copy_begin);
    for (; block < document->block_count && document->blocks[block].end <= edit->copy_end; block++)
        document->blocks[block].elsewhere = true;
    return FERRY_OK;
}

/* ---- the document ---- */

ferry_status ferry_document_read(ferry_document *document, const ferry_document_format *format, ferry_view source,
                                 ferry_error *error)
{
    *document = (ferry_document){.format = format, .source = source, .error = error};
    FERRY_TRY(ferry_string_reserve(&document->text, 1, error)); /* pointers to nothing are allowed, too */
    FERRY_TRY(ferry_string_reserve(&document->written, 1, error));
    return format->read != NULL ? format->read(document) : FERRY_OK;
}

void ferry_document_destroy(ferry_document *document)
{
    free(document->items);
    free(document->blocks);
    free(document->edits);
    free(document->text.data);
    free(document->line_ends.data);
    free(document->written.data);
    *document = (ferry_document){.format = NULL};
}
