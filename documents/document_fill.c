/* Elements that came back empty although they had text, in formats in which "**" and "**" with nothing between are
 * text: they take the next word of their parent, or the last one before; without such, the element beside them. Only so
 * many pieces beside them are looked at that time is linear; without a word there, they stay empty. */
#include <string.h>

#include "document_parts.h"

enum { MOST_PIECES = 256 };

static const size_t none = SIZE_MAX;

static bool is_kind(const ferry_written_piece *piece, ferry_span_kind kind)
{
    return piece->span != NULL && piece->span->kind == kind;
}

static bool is_word(const ferry_written_piece *piece)
{
    return piece->span == NULL || piece->span->kind == FERRY_SPAN_KEPT;
}

/* Pieces first … last. */
typedef struct range {
    size_t first, last;
} range;

/* The next word behind piece `at`, or the next one before it, that is within no other element; or else the first
 * element there that has a word. first `none`: there is neither. */
static range find_neighbor(const ferry_written_pieces *pieces, size_t at, bool behind)
{
    const ferry_span_kind enter = behind ? FERRY_SPAN_OPEN : FERRY_SPAN_CLOSE;
    const ferry_span_kind leave = behind ? FERRY_SPAN_CLOSE : FERRY_SPAN_OPEN;
    range element = {none, none};
    size_t depth = 0, begin = at;
    bool has_word = false;
    for (size_t i = 0; i < MOST_PIECES && (behind ? ++at < pieces->count : at-- > 0); i++) {
        const ferry_written_piece *piece = &pieces->pieces[at];
        if (is_word(piece) && depth == 0) return (range){at, at};
        has_word = has_word || is_word(piece);
        if (is_kind(piece, enter) && depth++ == 0) {
            begin = at;
            has_word = false;
        }
        if (!is_kind(piece, leave)) continue;
        if (depth == 0) break; /* of the parent */
        if (--depth == 0 && has_word && element.first == none)
            element = behind ? (range){begin, at} : (range){at, begin};
    }
    return element;
}

/* The blanks before `from` come before `to`, if there are none. Between these two is no text. */
static void move_blanks(ferry_written_piece *from, ferry_written_piece *to)
{
    if (to->blank_begin == to->text_begin) {
        to->blank_begin = from->blank_begin;
        if (to->span != NULL) to->text_begin = to->text_end = from->text_begin;
        to->may_break = from->may_break;
    }
    from->blank_begin = from->text_begin;
    from->may_break = false;
}

static void move(ferry_written_piece *pieces, size_t to, size_t from, size_t count)
{
    memmove(pieces + to, pieces + from, count * sizeof *pieces);
}

/* Pieces i and i + 1, an element, come around others. The blanks before them stay where they are; none come to
 * the beginning of an element or the segment. */
static void surround(ferry_written_pieces *all, size_t i, range others)
{
    ferry_written_piece *pieces = all->pieces, open = pieces[i], close = pieces[i + 1];
    const size_t count = others.last - others.first + 1;
    size_t first = others.first, next = i + 2;
    while (next < all->count && next - i < MOST_PIECES && is_kind(&pieces[next], FERRY_SPAN_CLOSE)) next++;
    if (next < all->count) move_blanks(&open, &pieces[next]);
    open.blank_begin = open.text_begin;
    close.blank_begin = close.text_begin;
    open.may_break = close.may_break = false;
    if (first > i) {
        move(pieces, i, i + 2, first - i - 2);
        move(pieces, first - 1, first, count);
        first -= 2;
    } else {
        move(pieces, others.last + 3, others.last + 1, i - others.last - 1);
        move(pieces, first + 1, first, count);
    }
    pieces[first] = open;
    pieces[first + 1 + count] = close;
    move_blanks(&pieces[first + 1], &pieces[first]);
    for (size_t n = 0; n < MOST_PIECES && first > 0 && is_kind(&pieces[first - 1], FERRY_SPAN_OPEN); n++, first--)
        move_blanks(&pieces[first], &pieces[first - 1]);
    if (first == 0) pieces[0].blank_begin = pieces[0].text_begin;
}

/* Whether pieces i and i + 1 are an element that is empty, and was not. */
static bool is_emptied(const ferry_document *document, const ferry_written_pieces *pieces, size_t i)
{
    const ferry_span *open = pieces->pieces[i].span;
    if (!is_kind(&pieces->pieces[i], FERRY_SPAN_OPEN)) return false;
    const ferry_span *close = &document->spans[open->partner];
    return open + 1 != close && pieces->pieces[i + 1].span == close;
}

void ferry_document_fill(const ferry_document *document, ferry_written_pieces *pieces)
{
    for (size_t i = pieces->count; i-- > 0;) {
        if (i + 1 >= pieces->count || !is_emptied(document, pieces, i)) continue;
        const range behind = find_neighbor(pieces, i + 1, true), before = find_neighbor(pieces, i, false);
        const bool takes_before = behind.first == none || (behind.first < behind.last && before.first == before.last);
        const range taken = takes_before && before.first != none ? before : behind;
        if (taken.first == none) continue;
        surround(pieces, i, taken);
        if (taken.first < i) i += 2; /* what was between is there now */
    }
}
