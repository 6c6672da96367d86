/* Elements that came back empty although they had text, in formats in which "**" and "**" with nothing between are
 * text: they take the next word of their parent, or the last one before; without such, the element beside them. Time
 * is linear. */
#include <string.h>

#include "base/arena.h"
#include "document_parts.h"

static const size_t none = SIZE_MAX;

/* A piece in a list, which is a ring: piece `end` is before the first one and behind the last one. */
typedef struct link {
    size_t before, behind; /* its neighbors */
    size_t partner;        /* of OPEN, CLOSE: the other one */
    size_t next_word;      /* of a word: the next one behind it in its parent */
    size_t place;          /* where it was, or what is now within it */
    bool has_word;         /* of CLOSE: a word is in the element */
    bool is_bare;          /* of OPEN that another one is before: blanks that were before it are before that */
} link;

/* An element whose children are gone through, from the last one to the first. */
typedef struct level {
    size_t word, element;               /* the first ones behind; of an element that has a word: its OPEN */
    size_t word_before, element_before; /* up to where they are looked for before it; none: not yet */
    size_t after;                       /* the first piece behind the element that is no CLOSE */
} level;

typedef struct filler {
    const ferry_document *document;
    ferry_document_piece *pieces; /* [end] */
    link *links;                  /* [end + 1] */
    level *level;                 /* the innermost */
    size_t end;
} filler;

static bool is_kind(const filler *f, size_t i, ferry_document_kind kind)
{
    return i != f->end && f->pieces[i].item != NULL && f->pieces[i].item->kind == kind;
}

static bool is_word(const filler *f, size_t i)
{
    return f->pieces[i].item == NULL || is_kind(f, i, FERRY_DOCUMENT_KEPT);
}

/* ---- lists ---- */

static void join(filler *f, size_t before, size_t behind)
{
    f->links[before].behind = behind;
    f->links[behind].before = before;
}

/* Finds neighbors, partners and which elements have words. */
static void read_links(filler *f)
{
    size_t open = f->end;
    for (size_t i = 0; i < f->end; i++) {
        link *l = &f->links[i];
        l->place = i;
        join(f, i > 0 ? i - 1 : f->end, i);
        if (is_word(f, i)) f->links[open].has_word = true;
        if (is_kind(f, i, FERRY_DOCUMENT_OPEN)) {
            l->partner = open;
            open = i;
        } else if (is_kind(f, i, FERRY_DOCUMENT_CLOSE)) {
            const size_t outer = f->links[open].partner;
            l->has_word = f->links[open].has_word;
            if (l->has_word) f->links[outer].has_word = true;
            l->partner = open;
            f->links[open].partner = i;
            open = outer;
        }
    }
    join(f, f->end - 1, f->end);
}

/* ---- blanks ---- */

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

/* ---- empty elements ---- */

/* The element, which is empty, comes around pieces first … last. The blanks before it stay where they are; none come to
 * the beginning of an element or the block. */
static void surround(filler *f, size_t open, size_t first, size_t last)
{
    ferry_document_piece *pieces = f->pieces;
    const size_t close = f->links[open].partner, behind = f->links[close].behind;
    const size_t next = is_kind(f, behind, FERRY_DOCUMENT_CLOSE) ? f->level->after : behind;
    if (next != f->end) move_blanks(&pieces[open], &pieces[next]);
    pieces[open].blank_begin = pieces[open].text_begin;
    pieces[close].blank_begin = pieces[close].text_begin;
    pieces[open].may_break = pieces[close].may_break = false;
    join(f, f->links[open].before, behind);
    join(f, f->links[first].before, open);
    join(f, open, first);
    join(f, close, f->links[last].behind);
    join(f, last, close);
    f->links[open].place = f->links[first].place;
    f->links[close].has_word = true;
    move_blanks(&pieces[first], &pieces[open]);
    size_t at = open, outer = f->links[at].before;
    for (; is_kind(f, outer, FERRY_DOCUMENT_OPEN); outer = f->links[at].before) {
        if (f->links[at].is_bare && !pieces[at].may_break && !has_blanks(&pieces[at])) break;
        move_blanks(&pieces[at], &pieces[outer]);
        f->links[at].is_bare = true;
        at = outer;
    }
    if (outer == f->end) pieces[at].blank_begin = pieces[at].text_begin;
}

/* The last word before child `at` of the level, or the last element that has one: its CLOSE. Looks at nothing that was
 * looked at before. */
static size_t find_before(const filler *f, size_t at, bool is_element, size_t *from)
{
    if (*from == none) *from = f->links[at].before;
    while (*from != f->end && !is_kind(f, *from, FERRY_DOCUMENT_OPEN)) {
        const bool closes = is_kind(f, *from, FERRY_DOCUMENT_CLOSE);
        if (is_element ? closes && f->links[*from].has_word : is_word(f, *from)) return *from;
        *from = f->links[closes ? f->links[*from].partner : *from].before;
    }
    return none;
}

/* Returns the piece that is now before the place where the element was. */
static size_t fill(filler *f, size_t open)
{
    level *l = f->level;
    link *links = f->links;
    const size_t before = links[open].before;
    size_t taken = l->word;
    if (taken != none) {
        l->word = links[taken].next_word;
        surround(f, open, taken, taken);
        if (l->element == none || links[l->element].place > links[open].place) l->element = open;
    } else if ((taken = find_before(f, open, false, &l->word_before)) != none) {
        surround(f, open, taken, taken);
        l->word_before = links[open].before;
    } else if ((taken = l->element) != none) {
        surround(f, open, taken, links[taken].partner);
        l->element = open;
    } else if ((taken = find_before(f, open, true, &l->element_before)) != none) {
        surround(f, open, links[taken].partner, taken);
        l->element_before = links[open].partner;
    }
    return before == taken ? links[open].partner : before;
}

/* Whether the piece begins an element that is empty, and was not. */
static bool is_emptied(const filler *f, size_t open, size_t behind)
{
    if (!is_kind(f, open, FERRY_DOCUMENT_OPEN)) return false;
    const ferry_document_item *item = f->pieces[open].item, *close = &f->document->items[item->partner];
    return item + 1 != close && behind != f->end && f->pieces[behind].item == close;
}

/* Goes through all pieces once, from the last one to the first. */
static void fill_all(filler *f)
{
    *f->level = (level){none, none, none, none, f->end};
    for (size_t i = f->links[f->end].before, before; i != f->end; i = before) {
        before = f->links[i].before;
        if (is_kind(f, i, FERRY_DOCUMENT_OPEN)) {
            f->level--;
            if (f->links[f->links[i].partner].has_word)
                f->level->element = i;
            else if (is_emptied(f, i, f->links[i].behind))
                before = fill(f, i);
            continue;
        }
        if (f->level->word_before == i) f->level->word_before = none;
        if (f->level->element_before == i) f->level->element_before = none;
        if (is_word(f, i)) {
            f->links[i].next_word = f->level->word;
            f->level->word = i;
        } else if (is_kind(f, i, FERRY_DOCUMENT_CLOSE)) {
            const size_t behind = f->links[i].behind;
            const size_t after = is_kind(f, behind, FERRY_DOCUMENT_CLOSE) ? f->level->after : behind;
            *++f->level = (level){none, none, none, none, after};
        }
    }
}

ferry_status ferry_document_fill(const ferry_document *document, ferry_document_pieces *pieces)
{
    filler f = {.document = document, .pieces = pieces->pieces, .end = pieces->count};
    size_t first = 0;
    while (first < f.end && !is_emptied(&f, first, first + 1)) first++;
    if (first == f.end) return FERRY_OK;
    ferry_arena arena = {0};
    bool failed = false;
    f.links = ferry_arena_take(&arena, f.end + 1, sizeof *f.links, &failed);
    f.level = ferry_arena_take(&arena, f.end + 1, sizeof *f.level, &failed);
    ferry_document_piece *before = ferry_arena_take(&arena, f.end, sizeof *before, &failed);
    if (!failed) {
        memset(f.links, 0, (f.end + 1) * sizeof *f.links);
        read_links(&f);
        fill_all(&f);
        memcpy(before, f.pieces, f.end * sizeof *before);
        for (size_t i = 0, at = f.end; i < f.end; i++) pieces->pieces[i] = before[at = f.links[at].behind];
    }
    ferry_arena_destroy(&arena);
    return failed ? ferry_fail_memory(document->error, "a translation", f.end * sizeof *f.links) : FERRY_OK;
}
