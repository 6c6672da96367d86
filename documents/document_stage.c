/* Models in a row: what one makes of a block is what the next one reads. */
#include "array.h"
#include "document_parts.h"

typedef struct stage {
    ferry_document *document;
    const ferry_document_pieces *pieces;
    size_t term; /* the next one */
    size_t open; /* the item of the innermost element, whose partner is that of the next one; SIZE_MAX: none */
} stage;

static ferry_status add_item(stage *s, const ferry_document_item *item)
{
    ferry_document *document = s->document;
    return ferry_array_append(&document->items, &document->item_count, &document->item_capacity, item, sizeof *item,
                              document->error);
}

/* Bytes begin … end - 1 of the translation: all of a term, or none (NULL). */
static ferry_status add_part(stage *s, size_t begin, size_t end, const ferry_term *term)
{
    ferry_document *document = s->document;
    ferry_document_item item = {.kind = FERRY_DOCUMENT_TEXT};
    if (begin == end) return FERRY_OK;
    if (term != NULL) {
        item.is_term = true;
        item.targets = term->targets;
        item.target_count = term->target_count;
    }
    item.text_begin = document->text.size;
    FERRY_TRY(
        ferry_buffer_append(&document->text, (ferry_view){s->pieces->text.data + begin, end - begin}, document->error));
    item.text_end = document->text.size;
    return add_item(s, &item);
}

/* Bytes begin … end - 1 of the translation, with their terms. */
static ferry_status add_text(stage *s, size_t begin, size_t end)
{
    const ferry_document_pieces *pieces = s->pieces;
    for (; s->term < pieces->term_count && pieces->terms[s->term].end <= end; s->term++) {
        const ferry_term *term = &pieces->terms[s->term];
        FERRY_TRY(add_part(s, begin, term->begin, NULL));
        FERRY_TRY(add_part(s, term->begin, term->end, term));
        begin = term->end;
    }
    return add_part(s, begin, end, NULL);
}

/* A copy of an item. */
static ferry_status add_copy(stage *s, size_t index)
{
    ferry_document *document = s->document;
    ferry_document_item item = document->items[index];
    const size_t place = document->item_count;
    if (item.kind == FERRY_DOCUMENT_OPEN) {
        item.partner = s->open;
        s->open = place;
    } else if (item.kind == FERRY_DOCUMENT_CLOSE) {
        item.partner = s->open;
        s->open = document->items[item.partner].partner;
        document->items[item.partner].partner = place;
    }
    return add_item(s, &item);
}

ferry_status ferry_document_take_pieces(ferry_document *document, ferry_document_block *block,
                                        const ferry_document_pieces *pieces)
{
    stage s = {.document = document, .pieces = pieces, .open = SIZE_MAX};
    const uintptr_t items = (uintptr_t)document->items; /* which may move */
    const size_t first = document->item_count;
    for (size_t i = 0, after; i < pieces->count; i = after) {
        const ferry_document_piece *piece = &pieces->pieces[i];
        for (after = i; after < pieces->count && pieces->pieces[after].item == NULL;) after++;
        if (after > i) {
            FERRY_TRY(add_text(&s, piece->blank_begin, pieces->pieces[after - 1].text_end));
            continue;
        }
        FERRY_TRY(add_text(&s, piece->blank_begin, piece->text_begin));
        FERRY_TRY(add_copy(&s, ((uintptr_t)piece->item - items) / sizeof *piece->item));
        after = i + 1;
    }
    block->first_item = first;
    block->after_item = document->item_count;
    return FERRY_OK;
}
