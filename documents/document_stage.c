/* Models in a row: what one makes of a block is what the next one reads. */
#include "array.h"
#include "document_parts.h"

typedef struct stage {
    ferry_document *document;
    const ferry_document_pieces *pieces;
    size_t open; /* the item of the innermost element, whose partner is that of the next one; SIZE_MAX: none */
} stage;

static ferry_status add_item(stage *s, const ferry_document_item *item)
{
    ferry_document *document = s->document;
    return ferry_array_append(&document->items, &document->item_count, &document->item_capacity, item, sizeof *item,
                              document->error);
}

/* Bytes begin … end - 1 of the translation: text, or a term of the glossary, which is kept. */
static ferry_status add_text(stage *s, size_t begin, size_t end, bool is_term)
{
    ferry_document *document = s->document;
    ferry_document_item item = {.kind = is_term ? FERRY_DOCUMENT_KEPT : FERRY_DOCUMENT_TEXT, .is_term = is_term};
    if (begin == end) return FERRY_OK;
    item.text_begin = document->text.size;
    FERRY_TRY(
        ferry_buffer_append(&document->text, (ferry_view){s->pieces->text.data + begin, end - begin}, document->error));
    item.text_end = document->text.size;
    return add_item(s, &item);
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

/* Pieces that go on where the one before ended: the same text, or the same term. */
static size_t end_of_run(const ferry_document_pieces *pieces, size_t first)
{
    size_t after = first + 1;
    while (after < pieces->count && pieces->pieces[after].item == NULL &&
           pieces->pieces[after].is_term == pieces->pieces[first].is_term)
        after++;
    return after;
}

ferry_status ferry_document_take_pieces(ferry_document *document, ferry_document_block *block,
                                        const ferry_document_pieces *pieces)
{
    stage s = {.document = document, .pieces = pieces, .open = SIZE_MAX};
    const uintptr_t items = (uintptr_t)document->items; /* which may move */
    const size_t first = document->item_count;
    for (size_t i = 0, after; i < pieces->count; i = after) {
        const ferry_document_piece *piece = &pieces->pieces[i];
        after = piece->item != NULL ? i + 1 : end_of_run(pieces, i);
        FERRY_TRY(add_text(&s, piece->blank_begin, piece->text_begin, false));
        if (piece->item != NULL)
            FERRY_TRY(add_copy(&s, ((uintptr_t)piece->item - items) / sizeof *piece->item));
        else
            FERRY_TRY(add_text(&s, piece->text_begin, pieces->pieces[after - 1].text_end, piece->is_term));
    }
    block->first_item = first;
    block->after_item = document->item_count;
    return FERRY_OK;
}
