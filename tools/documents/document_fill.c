/* Elements that came back empty although they had text, in formats in which "**" and "**" with nothing between are
 * text: they take the word, or the element, behind or before them. */
#include <string.h>

#include "document_parts.h"

static bool is_kind(const ferry_document_piece *piece, ferry_document_kind kind)
{
    return piece->item != NULL && piece->item->kind == kind;
}

static bool is_word(const ferry_document_piece *piece)
{
    return piece->item == NULL || piece->item->kind == FERRY_DOCUMENT_KEPT;
}

static const size_t none = SIZE_MAX;

/* The last piece of the word, or of the element with a word, that begins at piece `first`; `none`. */
static size_t find_last(const ferry_document_pieces *pieces, size_t first)
{
    size_t depth = 0;
    bool found = false;
    for (size_t i = first; i < pieces->count; i++) {
        const ferry_document_piece *piece = &pieces->pieces[i];
        found = found || is_word(piece);
        depth += is_kind(piece, FERRY_DOCUMENT_OPEN);
        if (depth == 0) return found && is_word(piece) ? i : none;
        depth -= is_kind(piece, FERRY_DOCUMENT_CLOSE);
        if (depth == 0) return found ? i : none;
    }
    return none;
}

/* The first piece of the one that ends before piece `after`; `none`. */
static size_t find_first(const ferry_document_pieces *pieces, size_t after)
{
    size_t depth = 0;
    bool found = false;
    for (size_t i = after; i-- > 0;) {
        const ferry_document_piece *piece = &pieces->pieces[i];
        found = found || is_word(piece);
        depth += is_kind(piece, FERRY_DOCUMENT_CLOSE);
        if (depth == 0) return found && is_word(piece) ? i : none;
        depth -= is_kind(piece, FERRY_DOCUMENT_OPEN);
        if (depth == 0) return found ? i : none;
    }
    return none;
}

static bool has_blanks(const ferry_document_piece *piece)
{
    return piece->blank_begin < piece->text_begin;
}

/* The blanks before `from` come before `to`, if there are none. Between these two is no text. */
static void move_blanks(ferry_document_piece *from, ferry_document_piece *to)
{
    if (!has_blanks(to)) {
        to->blank_begin = from->blank_begin;
        if (to->item != NULL) to->text_begin = to->text_end = from->text_begin;
        to->may_break = from->may_break;
    }
    from->blank_begin = from->text_begin;
    from->may_break = false;
}

/* Piece i opens an element and piece i + 1 closes it; pieces up to `last` come between. */
static void take_behind(ferry_document_piece *pieces, size_t i, size_t last)
{
    const ferry_document_piece close = pieces[i + 1];
    memmove(pieces + i + 1, pieces + i + 2, (last - i - 1) * sizeof *pieces);
    pieces[last] = close;
    move_blanks(&pieces[i + 1], &pieces[i]);
}

/* Pieces from `first` come between. The blanks before the element, which are behind it then, go to what
 * follows the elements that end there. */
static void take_before(ferry_document_pieces *all, size_t i, size_t first)
{
    ferry_document_piece *pieces = all->pieces, open = pieces[i];
    size_t next = i + 2;
    while (next < all->count && is_kind(&pieces[next], FERRY_DOCUMENT_CLOSE)) next++;
    if (next < all->count && has_blanks(&open)) move_blanks(&open, &pieces[next]);
    open.blank_begin = open.text_begin;
    open.may_break = false;
    memmove(pieces + first + 1, pieces + first, (i - first) * sizeof *pieces);
    pieces[first] = open;
    move_blanks(&pieces[first + 1], &pieces[first]);
}

/* Whether pieces i and i + 1 are an element that is empty, and was not. */
static bool is_emptied(const ferry_document *document, const ferry_document_pieces *pieces, size_t i)
{
    const ferry_document_item *open = pieces->pieces[i].item;
    if (!is_kind(&pieces->pieces[i], FERRY_DOCUMENT_OPEN)) return false;
    const ferry_document_item *close = &document->items[open->partner];
    return open + 1 != close && pieces->pieces[i + 1].item == close;
}

/* Words behind first, from the end on: so that an empty element before another one finds that filled. Then, from the
 * beginning on, words before. */
void ferry_document_fill(const ferry_document *document, ferry_document_pieces *pieces)
{
    for (size_t i = pieces->count; i-- > 0;) {
        if (i + 1 >= pieces->count || !is_emptied(document, pieces, i)) continue;
        pieces->pieces[i + 1].blank_begin = pieces->pieces[i + 1].text_begin;
        pieces->pieces[i + 1].may_break = false;
        const size_t last = find_last(pieces, i + 2);
        if (last != none) take_behind(pieces->pieces, i, last);
    }
    for (size_t i = 0; i + 1 < pieces->count; i++) {
        const size_t first = is_emptied(document, pieces, i) ? find_first(pieces, i) : none;
        if (first != none) take_before(pieces, i, first);
    }
}
