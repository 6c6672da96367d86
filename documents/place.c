#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "words.h"

enum {
    SURE =
        2, /* what a word adds to a run of words: aligned to the element, and the element to it; if only aligned: 0 */
    OTHER = -1, /* aligned to its parent's text */
    PHRASE = 3  /* tokens of an element that has the words beside its run that are aligned to it, too */
};

static const size_t none = FERRY_NO_INDEX;

/* An element, or something that stands alone, of a part. Its descendants follow it. */
typedef struct node {
    size_t open, close;   /* items of its tags; none: it begins before the part, or ends after it, or stands alone */
    size_t parent, after; /* nodes; after: the first that is no descendant */
    size_t from, to;      /* bytes of the source between its tags */
    size_t first, last;   /* source tokens first … last - 1 */
    size_t a, b;          /* words a … b - 1 of the target; a == b: beside word a, */
    bool left;            /* then: it stands directly behind the word before that */
    bool begun, unended;  /* begins before the part; ends after it */
    size_t begin, end;    /* bytes of the target */
    size_t last_child, child_count; /* among the sorted children: those that are not written */
} node;

/* A child in the order of the target. */
typedef struct placed_node {
    size_t parent, a, rank, node;
} placed_node;

typedef struct placer {
    const ferry_place_sentence *sentence;
    const ferry_place_part *part;
    size_t first_item, last_item; /* items of the part */
    node *nodes;                  /* [count]; nodes[0] is the part */
    size_t count;
    size_t *owner;      /* [tokens] the innermost node of each token */
    size_t *child_of;   /* [tokens] the child of the node at work to which a token belongs, if it is its child */
    size_t *child_at;   /* [words] the same of the words of the target */
    int *score;         /* [count] of the best run of each node */
    ferry_placed *next; /* where to write */
    size_t *lost;       /* see ferry_place */
    size_t low;         /* byte of the target that has been reached */
} placer;

/* ---- the tree ---- */

/* The byte of the sentence before which an item of it stands; at an end for one that stands outside. */
static size_t place_of(const placer *p, size_t item)
{
    const size_t at = p->sentence->items[item].at, begin = p->sentence->begin, size = p->sentence->source.size;
    return at < begin ? 0 : at - begin < size ? at - begin : size;
}

/* Whether the tag's partner is another item of the part. */
static bool has_partner(const placer *p, size_t item)
{
    const size_t partner = p->sentence->items[item].partner - p->sentence->first_item;
    return partner >= p->first_item && partner < p->last_item;
}

static size_t add_node(placer *p, size_t parent, size_t from, size_t token)
{
    p->nodes[p->count] = (node){.open = none, .close = none, .parent = parent, .from = from, .first = token};
    return p->count++;
}

/* Ends a node; returns its parent. */
static size_t end_node(placer *p, size_t index, size_t to, size_t token)
{
    node *n = &p->nodes[index];
    n->to = to;
    n->last = token;
    n->after = p->count;
    return n->parent;
}

/* Elements that began before the part and end in it: the outermost ends last. */
static size_t add_begun(placer *p)
{
    size_t top = add_node(p, none, 0, 0);
    for (size_t i = p->last_item; i-- > p->first_item;) {
        if (p->sentence->items[i].kind != FERRY_MARK_CLOSE || has_partner(p, i)) continue;
        top = add_node(p, top, 0, 0);
        p->nodes[top].begun = true;
    }
    return top;
}

static void build(placer *p)
{
    const ferry_place_part *part = p->part;
    size_t top = add_begun(p), token = 0;
    for (size_t i = p->first_item; i < p->last_item; i++) {
        const size_t at = place_of(p, i);
        for (; token < part->token_count; token++) { /* a token is where its middle is */
            const ferry_place_token *t = &part->tokens[token];
            if (t->begin + (t->end - t->begin) / 2 >= at) break;
            p->owner[token] = top;
        }
        if (p->sentence->items[i].kind == FERRY_MARK_CLOSE) {
            p->nodes[top].close = i;
            top = end_node(p, top, at, token);
            continue;
        }
        const size_t added = add_node(p, top, at, token);
        p->nodes[added].open = i;
        if (p->sentence->items[i].kind == FERRY_MARK_POINT)
            end_node(p, added, at, token);
        else
            top = added;
    }
    for (; token < part->token_count; token++) p->owner[token] = top;
    while (top != none) {
        p->nodes[top].unended = true;
        top = end_node(p, top, p->sentence->source.size, token);
    }
}

/* An element that has part of a token only, and no token, takes it, unless it belongs to another element: then the
 * whole word is bold. */
static void take_token(placer *p, size_t index)
{
    node *n = &p->nodes[index];
    const ferry_place_token *tokens = p->part->tokens;
    size_t token = n->first;
    if (n->first != n->last || n->from == n->to) return;
    if (token > 0 && tokens[token - 1].end > n->from)
        token--;
    else if (token == p->part->token_count || tokens[token].begin >= n->to)
        return;
    const size_t owner = p->owner[token];
    if (owner >= index || p->nodes[owner].after <= index) return;
    p->owner[token] = index;
    for (size_t i = index; i != owner; i = p->nodes[i].parent) {
        node *up = &p->nodes[i];
        if (up->first == up->last) {
            up->first = token;
            up->last = token + 1;
        }
        if (token < up->first) up->first = token;
        if (token >= up->last) up->last = token + 1;
    }
}

/* The word after the `size` bytes that word `first` begins with, if a word ends with them; none: they are others. */
static size_t match_words(const placer *p, size_t first, const char *bytes, size_t size)
{
    const ferry_place_word *words = p->part->words;
    const size_t begin = words[first].begin;
    if (p->sentence->target.size - begin < size || memcmp(p->sentence->target.data + begin, bytes, size) != 0)
        return none;
    for (size_t w = first; w < p->part->word_count && words[w].end <= begin + size && !words[w].literal; w++)
        if (words[w].end == begin + size) return w + 1;
    return none;
}

/* Whether its text takes the place of its words. */
static bool is_kept(const placer *p, const node *n)
{
    return n->open != none && p->sentence->items[n->open].kept;
}

/* The first words from `first` on that are the text; *after: the one behind them, none: there are no such. */
static size_t find_words(const placer *p, size_t first, ferry_view text, size_t *after)
{
    *after = none;
    while (first < p->part->word_count && (*after = match_words(p, first, text.data, text.size)) == none) first++;
    return first;
}

/* A word that stands for what is kept is aligned to itself alone. */
static void align_literally(placer *p, size_t index)
{
    const node *n = &p->nodes[index];
    if (!is_kept(p, n)) return;
    const ferry_view text = {p->sentence->source.data + n->from, n->to - n->from};
    ferry_place_word *words = p->part->words;
    size_t after, another;
    const size_t first = find_words(p, 0, text, &after);
    if (after != none) find_words(p, after, text, &another);
    *p->lost += after == none || another != none || n->first == n->last;
    if (after == none || n->first == n->last) return;
    for (size_t t = n->first; t < n->last; t++) {
        const ferry_place_token *token = &p->part->tokens[t];
        for (size_t w = token->first; w != none && w <= token->last; w++)
            if (words[w].token == t) words[w].token = none;
    }
    for (size_t w = first; w < after; w++) {
        words[w].token = n->first;
        words[w].sure = words[w].literal = true;
    }
}

/* ---- words of the children of a node ---- */

static bool is_child_token(const placer *p, size_t parent, size_t token, size_t *child)
{
    if (token == none) return false;
    *child = p->child_of[token];
    if (*child >= p->count) return false;
    const node *n = &p->nodes[*child];
    return n->parent == parent && token >= n->first && token < n->last;
}

static int value_of(const placer *p, const node *n, size_t word)
{
    const size_t token = p->part->words[word].token;
    if (token == none) return OTHER;
    return token >= n->first && token < n->last ? SURE : -SURE;
}

/* An element that began before the part has its first words. */
static size_t place_begun(placer *p, node *n, size_t a, size_t b)
{
    int score = 0, best = 0;
    n->a = n->b = a;
    for (size_t w = a; w < b; w++) {
        score += value_of(p, n, w);
        if (score <= best) continue;
        best = score;
        n->b = w + 1;
    }
    return n->b;
}

/* One that ends after it, its last ones. */
static size_t place_unended(placer *p, node *n, size_t a, size_t b)
{
    int score = 0, best = 0;
    n->a = n->b = b;
    for (size_t w = b; w-- > a;) {
        score += value_of(p, n, w);
        if (score <= best) continue;
        best = score;
        n->a = w;
    }
    return n->a;
}

/* Gives each child the best run of its words among words a … b - 1: one that begins and ends with a sure word, and has
 * no word of another child. */
static void place_runs(placer *p, size_t parent, size_t a, size_t b)
{
    size_t run = none, begin = a, owner;
    int score = 0;
    for (size_t w = a; w < b; w++) {
        const ferry_place_word *word = &p->part->words[w];
        if (!is_child_token(p, parent, word->token, &owner)) {
            score += OTHER;
            continue;
        }
        if (owner != run || score <= 0) {
            run = none;
            score = 0;
        }
        if (!word->sure || p->nodes[owner].begun || p->nodes[owner].unended) continue;
        if (run == none) begin = w;
        run = owner;
        score += SURE;
        if (score <= p->score[run]) continue;
        p->score[run] = score;
        p->nodes[run].a = begin;
        p->nodes[run].b = w + 1;
    }
}

static bool is_free(const placer *p, size_t parent, size_t word)
{
    const size_t index = p->child_at[word];
    if (index >= p->count) return true;
    const node *n = &p->nodes[index];
    return n->parent != parent || word < n->a || word >= n->b;
}

static void mark_words(placer *p, size_t child)
{
    for (size_t w = p->nodes[child].a; w < p->nodes[child].b; w++) p->child_at[w] = child;
}

static bool is_beside(const placer *p, size_t parent, size_t child, size_t word)
{
    size_t owner;
    return p->part->words[word].spoken && is_free(p, parent, word) &&
           is_child_token(p, parent, p->part->words[word].token, &owner) && owner == child;
}

/* Gives a child that has a run and is no single word its words beside the run. */
static void extend(placer *p, size_t parent, size_t child, size_t a, size_t b)
{
    node *n = &p->nodes[child];
    if (n->a == n->b || n->last - n->first < PHRASE) return;
    while (n->a > a && is_beside(p, parent, child, n->a - 1)) n->a--;
    while (n->b < b && is_beside(p, parent, child, n->b)) n->b++;
    mark_words(p, child);
}

/* Gives a child without a run the free word to which its tokens are aligned most. */
static void place_word(placer *p, size_t parent, size_t child, size_t a, size_t b)
{
    node *n = &p->nodes[child];
    float best = 0;
    for (size_t t = n->first; t < n->last; t++) {
        const ferry_place_token *token = &p->part->tokens[t];
        if (token->weight <= best || token->word < a || token->word >= b || !is_free(p, parent, token->word)) continue;
        if (is_kept(p, n) && value_of(p, n, token->word) < 0) continue; /* it would take another text's place */
        best = token->weight;
        n->a = token->word;
        n->b = token->word + 1;
    }
    mark_words(p, child);
}

/* ---- what has no words ---- */

static bool is_space_at(ferry_view text, size_t at)
{
    return at >= text.size || text.data[at] == ' ' || text.data[at] == '\n' || text.data[at] == '\t';
}

/* Puts a child beside the word that is aligned to the token that it touches, or to the nearest one on that side. */
static void place_beside(placer *p, size_t parent, size_t child, size_t a, size_t b)
{
    node *n = &p->nodes[child];
    const node *up = &p->nodes[parent];
    const ferry_place_token *tokens = p->part->tokens;
    size_t word = none;
    n->left = n->from > 0 && !is_space_at(p->sentence->source, n->from - 1);
    for (size_t t = n->first; n->left && word == none && t-- > up->first;)
        word = tokens[t].last != none ? tokens[t].last : tokens[t].word;
    for (size_t t = n->first; !n->left && word == none && t < up->last; t++)
        word = tokens[t].first != none ? tokens[t].first : tokens[t].word;
    size_t at = word == none ? (n->left ? a : b) : word + n->left;
    if (at < a) at = a;
    if (at > b) at = b;
    if (at > a && at < b && !is_free(p, parent, at) && !is_free(p, parent, at - 1) &&
        p->child_at[at] == p->child_at[at - 1]) {
        const size_t inside = p->child_at[at]; /* behind what is before it in the source, too */
        at = inside < child ? p->nodes[inside].b : p->nodes[inside].a;
    }
    n->a = n->b = at;
}

/* ---- placing ---- */

static void place_children(placer *p, size_t parent)
{
    const node *up = &p->nodes[parent];
    size_t a = up->a, b = up->b;
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after) {
        node *n = &p->nodes[c];
        n->a = n->b = a;
        n->left = up->left;
        for (size_t t = n->first; t < n->last; t++) p->child_of[t] = c;
        if (n->begun) a = place_begun(p, n, a, b);
    }
    if (up->a == up->b) return;
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after)
        if (p->nodes[c].unended) b = place_unended(p, &p->nodes[c], a, b);
    place_runs(p, parent, a, b);
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after) mark_words(p, c);
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after) extend(p, parent, c, a, b);
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after) {
        const node *n = &p->nodes[c];
        if (!n->begun && !n->unended && n->a == n->b && n->first < n->last) place_word(p, parent, c, a, b);
    }
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after) {
        const node *n = &p->nodes[c];
        if (!n->begun && !n->unended && n->a == n->b) place_beside(p, parent, c, a, b);
    }
}

/* ---- in the order of the target ---- */

static size_t rank_of(const node *n)
{
    if (n->begun) return 0;
    if (n->unended) return 4;
    return n->a < n->b ? 3 : n->left ? 1 : 2;
}

static int compare_children(const void *a, const void *b)
{
    const placed_node *x = a, *y = b;
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The bytes of a node within those of its parent, not before what has been written. */
static void find_bytes(const placer *p, node *n)
{
    const ferry_place_word *words = p->part->words;
    const node *up = &p->nodes[n->parent];
    if (n->a < n->b) {
        n->begin = n->begun ? p->low : words[n->a].begin;
        n->end = n->unended ? up->end : words[n->b - 1].end;
    } else {
        const bool before = n->begun || (n->left && n->a == 0),
                   after = n->unended || (!n->left && n->a == p->part->word_count);
        n->begin = before ? p->low : after ? up->end : n->left ? words[n->a - 1].end : words[n->a].begin;
        n->end = n->begin;
    }
    if (n->begin > up->end) n->begin = up->end;
    if (n->begin < p->low) n->begin = p->low;
    if (n->end > up->end) n->end = up->end;
    if (n->end < n->begin) n->end = n->begin;
}

static void write_item(placer *p, size_t item, size_t at)
{
    if (item == none) return;
    p->low = at;
    *p->next++ = (ferry_placed){.item = item, .at = at};
}

static void write(placer *p, placed_node *children)
{
    for (size_t i = 1; i < p->count; i++) {
        const node *n = &p->nodes[i];
        children[i - 1] = (placed_node){.parent = n->parent, .a = n->a, .rank = rank_of(n), .node = i};
    }
    qsort(children, p->count - 1, sizeof *children, compare_children);
    for (size_t i = p->count - 1; i-- > 0;) {
        node *up = &p->nodes[children[i].parent];
        if (up->child_count++ == 0) up->last_child = i;
    }
    for (size_t at = 0; at != none;) {
        node *n = &p->nodes[at];
        if (n->child_count > 0) {
            at = children[n->last_child - --n->child_count].node;
            find_bytes(p, &p->nodes[at]);
            write_item(p, p->nodes[at].open, p->nodes[at].begin);
        } else {
            write_item(p, n->close, n->end);
            at = n->parent;
        }
    }
}

/* ---- parts ---- */

static ferry_status place_part(placer *p, ferry_arena *arena, ferry_error *error)
{
    const ferry_place_part *part = p->part;
    const size_t most = p->last_item - p->first_item + 1;
    bool failed = false;
    p->nodes = ferry_arena_take(arena, most, sizeof *p->nodes, &failed);
    p->score = ferry_arena_take(arena, most, sizeof *p->score, &failed);
    p->owner = ferry_arena_take(arena, part->token_count, sizeof *p->owner, &failed);
    p->child_of = ferry_arena_take(arena, part->token_count, sizeof *p->child_of, &failed);
    p->child_at = ferry_arena_take(arena, part->word_count, sizeof *p->child_at, &failed);
    placed_node *children = ferry_arena_take(arena, most, sizeof *children, &failed);
    if (failed) return ferry_fail_memory(error, "the tags of a sentence", most * sizeof *p->nodes);
    memset(p->score, 0, most * sizeof *p->score);
    for (size_t i = 0; i < part->token_count; i++) p->child_of[i] = none;
    for (size_t i = 0; i < part->word_count; i++) p->child_at[i] = none;
    p->count = 0;
    build(p);
    for (size_t i = 1; i < p->count; i++) take_token(p, i);
    for (size_t i = 1; i < p->count; i++) align_literally(p, i);
    node *root = &p->nodes[0];
    root->b = part->word_count;
    root->begin = p->low;
    root->end = part->word_count > 0 ? part->words[part->word_count - 1].end : p->low;
    for (size_t i = 0; i < p->count; i++) place_children(p, i);
    write(p, children);
    return FERRY_OK;
}

/* The items from p->first_item that belong to the part, which ends before byte `end` of the source. */
static void find_items(placer *p, size_t end)
{
    const ferry_mark *items = p->sentence->items;
    p->last_item = p->first_item;
    for (; p->last_item < p->sentence->item_count; p->last_item++) {
        const size_t at = place_of(p, p->last_item);
        if (at > end || (at == end && items[p->last_item].kind != FERRY_MARK_CLOSE)) return;
    }
}

static ferry_status place_parts(placer *p, ferry_arena *arena, ferry_error *error)
{
    const ferry_place_sentence *sentence = p->sentence;
    ferry_place_part parts[2] = {{0}};
    size_t i = 0;
    if (sentence->target_count > 0) FERRY_TRY(ferry_place_read_part(sentence, 0, arena, &parts[0], error));
    for (bool last = false; !last; i = !i) {
        const ferry_place_part *part = &parts[i];
        last = part->next >= sentence->target_count;
        if (!last) FERRY_TRY(ferry_place_read_part(sentence, part->next, arena, &parts[!i], error));
        p->part = part;
        p->last_item = sentence->item_count;
        if (!last) find_items(p, parts[!i].source_begin);
        FERRY_TRY(place_part(p, arena, error));
        p->first_item = p->last_item;
    }
    return FERRY_OK;
}

ferry_status ferry_place(const ferry_place_sentence *sentence, ferry_placed *placed, size_t *lost, ferry_error *error)
{
    placer p = {.sentence = sentence, .next = placed, .lost = lost};
    ferry_arena arena = {0};
    *lost = 0;
    if (sentence->item_count == 0) return FERRY_OK;
    const ferry_status status = place_parts(&p, &arena, error);
    ferry_arena_destroy(&arena);
    return status;
}
