#include "placing.h"

#include <stdlib.h>
#include <string.h>

#include "alignment.h"

enum {
    SURE = 2,   /* what a word adds to a run: aligned to the element, and the element to it; if only aligned: 0 */
    OTHER = -1, /* aligned to its parent's text */
    PHRASE = 3  /* tokens of an element that has the words beside its run that are aligned to it, too */
};

static const size_t none = FERRY_NO_INDEX;

/* An element, or something that stands alone, of a part. Its descendants follow it. */
typedef struct node {
    size_t open;          /* its first mark; none: it begins before the part */
    size_t close;         /* its last mark, for what stands alone the same; none: it ends after the part */
    size_t parent, after; /* nodes; after: the first that is no descendant */
    size_t from, to;      /* bytes of the source between its marks */
    size_t first, last;   /* source tokens first … last - 1 */
    int score;            /* of the best run of its words */
    size_t a, b;          /* words a … b - 1 of the target; a == b: beside word a, */
    bool left;            /* then: it stands directly behind the word before that */
    size_t end;           /* byte of the target */
    size_t next_child;    /* of the sorted nodes, the child to be written next; if that is no child: none is left */
} node;

typedef struct placer {
    const ferry_place_sentence *sentence;
    ferry_place_part part;
    size_t first_mark, after_mark; /* marks of the part */
    node *nodes;                   /* [count]; nodes[0] is the part */
    size_t count;
    size_t *token_owner; /* [tokens] the innermost node of each token; of the tokens of the node at work: its child */
    size_t *word_owner;  /* [words] the child of the node at work that has the word, if it is its child */
    ferry_placed *next;  /* where to write */
    size_t kept;         /* what comes next of what is kept */
    size_t low;          /* byte of the target that has been reached */
} placer;

/* ---- the tree ---- */

/* The byte of the sentence before which a mark stands; at an end for one that stands outside. */
static size_t place_of(const placer *p, size_t mark)
{
    const size_t at = p->sentence->marks[mark].at, begin = p->sentence->begin, size = p->sentence->source.size;
    return at < begin ? 0 : at - begin < size ? at - begin : size;
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
    const ferry_mark *marks = p->sentence->marks;
    size_t top = add_node(p, none, 0, 0);
    for (size_t i = p->after_mark; i-- > p->first_mark;)
        if (marks[i].kind == FERRY_MARK_CLOSE && marks[i].partner < p->first_mark) top = add_node(p, top, 0, 0);
    return top;
}

static void build(placer *p)
{
    size_t top = add_begun(p), token = 0;
    for (size_t i = p->first_mark; i < p->after_mark; i++) {
        const ferry_mark_kind kind = p->sentence->marks[i].kind;
        const size_t at = place_of(p, i);
        for (; token < p->part.token_count; token++) { /* a token is where its middle is */
            const ferry_place_token *t = &p->part.tokens[token];
            if (t->begin + (t->end - t->begin) / 2 >= at) break;
            p->token_owner[token] = top;
        }
        if (kind != FERRY_MARK_CLOSE) {
            top = add_node(p, top, at, token);
            p->nodes[top].open = i;
        }
        if (kind != FERRY_MARK_OPEN) {
            p->nodes[top].close = i;
            top = end_node(p, top, at, token);
        }
    }
    for (; token < p->part.token_count; token++) p->token_owner[token] = top;
    while (top != none) top = end_node(p, top, p->sentence->source.size, token);
}

/* An element that has part of a token only, and no token, takes it, unless it belongs to another element: then the
 * whole word is bold. */
static void take_token(placer *p, size_t index)
{
    const node *n = &p->nodes[index];
    const ferry_place_token *tokens = p->part.tokens;
    size_t token = n->first;
    if (n->first != n->last || n->from == n->to) return;
    if (token > 0 && tokens[token - 1].end > n->from)
        token--;
    else if (token == p->part.token_count || tokens[token].begin >= n->to)
        return;
    const size_t owner = p->token_owner[token];
    if (owner >= index || p->nodes[owner].after <= index) return;
    p->token_owner[token] = index;
    for (size_t i = index; i != owner; i = p->nodes[i].parent) {
        node *up = &p->nodes[i];
        if (token < up->first) up->first = token;
        if (token >= up->last) up->last = token + 1;
    }
}

/* The first words that are the text, and belong to no other that stayed as it was; *after: the one behind them, none:
 * there are no such. */
static size_t find_words(const placer *p, ferry_view text, size_t *after)
{
    const ferry_place_word *words = p->part.words;
    const ferry_view target = p->sentence->target;
    *after = none;
    for (size_t first = 0; first < p->part.word_count; first++) {
        const size_t begin = words[first].begin, end = begin + text.size;
        if (end > target.size || memcmp(target.data + begin, text.data, text.size) != 0) continue;
        for (size_t w = first; w < p->part.word_count && words[w].end <= end && !words[w].literal; w++) {
            if (words[w].end < end) continue;
            *after = w + 1;
            return first;
        }
    }
    return none;
}

/* Words first … after - 1 become one. */
static void join_words(placer *p, size_t first, size_t after)
{
    ferry_place_word *words = p->part.words;
    const size_t fewer = after - first - 1;
    words[first].end = words[after - 1].end;
    words[first].spoken = true;
    memmove(&words[first + 1], &words[after], (p->part.word_count - after) * sizeof *words);
    p->part.word_count -= fewer;
    for (size_t t = 0; fewer > 0 && t < p->part.token_count; t++) {
        ferry_place_token *token = &p->part.tokens[t];
        size_t *const places[] = {&token->first, &token->last, &token->word};
        for (size_t i = 0; i < 3; i++)
            if (*places[i] != none && *places[i] > first) *places[i] = *places[i] < after ? first : *places[i] - fewer;
    }
}

/* What is kept is aligned to itself alone. `token`: the first one of it. */
static void align_literally(placer *p, const ferry_model_placeholder *kept, size_t token)
{
    const size_t begin = kept->term.begin - p->sentence->begin, end = kept->term.end - p->sentence->begin;
    ferry_place_word *words = p->part.words;
    ferry_place_token *tokens = p->part.tokens;
    size_t after;
    const size_t first = find_words(p, (ferry_view){p->sentence->source.data + begin, end - begin}, &after);
    if (first == none) return;
    for (size_t t = token; t < p->part.token_count && tokens[t].begin < end; t++) {
        for (size_t w = tokens[t].first; w != none && w <= tokens[t].last; w++)
            if (words[w].token == t) words[w].token = none;
        tokens[t].first = tokens[t].last = tokens[t].word = first;
    }
    words[first].token = token;
    words[first].literal = true;
    join_words(p, first, after);
}

static void align_kept(placer *p)
{
    const ferry_place_sentence *s = p->sentence;
    for (size_t t = 0; t < p->part.token_count; t++) {
        while (p->kept < s->after_kept && s->kept[p->kept].term.end - s->begin <= p->part.tokens[t].begin) p->kept++;
        if (p->kept == s->after_kept || s->kept[p->kept].term.begin - s->begin >= p->part.tokens[t].end) continue;
        align_literally(p, &s->kept[p->kept++], t);
    }
}

/* ---- words of the children of a node ---- */

/* Whether it begins before the part, or ends after it. */
static bool is_at_edge(const node *n)
{
    return n->open == none || n->close == none;
}

static int value_of(const placer *p, const node *n, size_t word)
{
    const size_t token = p->part.words[word].token;
    if (token == none) return OTHER;
    return token >= n->first && token < n->last ? SURE : -SURE;
}

/* Of words a … b - 1, an element that began before the part has the first ones, and one that ends after it the last
 * ones. */
static void place_at_edge(const placer *p, node *n, size_t a, size_t b)
{
    int score = 0, best = 0;
    n->left = n->open == none;
    n->a = n->b = n->left ? a : b;
    for (size_t i = 0; i < b - a; i++) {
        const size_t word = n->left ? a + i : b - 1 - i;
        score += value_of(p, n, word);
        if (score <= best) continue;
        best = score;
        if (n->left)
            n->b = word + 1;
        else
            n->a = word;
    }
}

/* Gives each child the best run of its words among words a … b - 1: one that begins and ends with a sure word, and has
 * no word of another child. */
static void place_runs(placer *p, size_t parent, size_t a, size_t b)
{
    size_t run = none, begin = a;
    int score = 0;
    for (size_t w = a; w < b; w++) {
        const ferry_place_word *word = &p->part.words[w];
        const size_t owner = word->token != none ? p->token_owner[word->token] : parent;
        node *child = &p->nodes[owner];
        if (child->parent != parent) { /* it is none */
            score += OTHER;
            continue;
        }
        if (owner != run || score <= 0) {
            run = none;
            score = 0;
        }
        const bool sure = word->literal || p->part.tokens[word->token].word == w;
        if (!sure || is_at_edge(child)) continue;
        if (run == none) begin = w;
        run = owner;
        score += SURE;
        if (score <= child->score) continue;
        child->score = score;
        child->a = begin;
        child->b = w + 1;
    }
}

static bool is_free(const placer *p, size_t parent, size_t word)
{
    return p->nodes[p->word_owner[word]].parent != parent;
}

static void mark_words(placer *p, size_t child)
{
    for (size_t w = p->nodes[child].a; w < p->nodes[child].b; w++) p->word_owner[w] = child;
}

/* Whether the child may have a word beside its run. */
static bool may_have(const placer *p, size_t child, size_t word)
{
    const size_t token = p->part.words[word].token;
    return p->part.words[word].spoken && is_free(p, p->nodes[child].parent, word) && token != none &&
           p->token_owner[token] == child;
}

/* Gives a child that has a run and is no single word its words beside the run. */
static void extend(placer *p, size_t child, size_t a, size_t b)
{
    node *n = &p->nodes[child];
    if (n->a == n->b || n->last - n->first < PHRASE) return;
    while (n->a > a && may_have(p, child, n->a - 1)) n->a--;
    while (n->b < b && may_have(p, child, n->b)) n->b++;
    mark_words(p, child);
}

/* Gives a child without words the free one to which its tokens are aligned most. */
static void place_word(placer *p, size_t child, size_t a, size_t b)
{
    node *n = &p->nodes[child];
    float best = 0;
    for (size_t t = n->first; t < n->last; t++) {
        const ferry_place_token *token = &p->part.tokens[t];
        if (token->weight <= best || token->word < a || token->word >= b || !is_free(p, n->parent, token->word))
            continue;
        if (p->part.words[token->word].literal && value_of(p, n, token->word) < 0) continue; /* of what is kept */
        best = token->weight;
        n->a = token->word;
        n->b = token->word + 1;
    }
    mark_words(p, child);
}

/* ---- what has no words ---- */

/* Puts a child beside the word that is aligned to the token that it touches, or to the nearest one on that side. */
static void place_beside(placer *p, size_t child, size_t a, size_t b)
{
    node *n = &p->nodes[child];
    const node *up = &p->nodes[n->parent];
    const ferry_place_token *tokens = p->part.tokens;
    size_t word = none;
    n->left = n->from > 0 && p->sentence->source.data[n->from - 1] != ' ';
    for (size_t t = n->first; n->left && word == none && t-- > up->first;)
        word = tokens[t].last != none ? tokens[t].last : tokens[t].word;
    for (size_t t = n->first; !n->left && word == none && t < up->last; t++)
        word = tokens[t].first != none ? tokens[t].first : tokens[t].word;
    size_t at = word == none ? (n->left ? a : b) : word + n->left;
    if (at < a) at = a;
    if (at > b) at = b;
    if (at > a && at < b && !is_free(p, n->parent, at) && p->word_owner[at] == p->word_owner[at - 1]) {
        const size_t inside = p->word_owner[at]; /* behind what is before it in the source, too */
        at = inside < child ? p->nodes[inside].b : p->nodes[inside].a;
    }
    n->a = n->b = at;
}

/* ---- placing ---- */

static void place_children(placer *p, size_t parent)
{
    const node *up = &p->nodes[parent];
    size_t a = up->a, b = up->b;
    /* What began before the part is the first child, and what ends after it the last one. */
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after) {
        node *n = &p->nodes[c];
        n->a = n->b = a;
        n->left = up->left;
        for (size_t t = n->first; t < n->last; t++) p->token_owner[t] = c;
        if (is_at_edge(n)) place_at_edge(p, n, a, b);
        if (n->open == none) a = n->b;
        if (n->close == none) b = n->a;
    }
    if (up->a == up->b) return;
    place_runs(p, parent, a, b);
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after) mark_words(p, c);
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after) extend(p, c, a, b);
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after)
        if (!is_at_edge(&p->nodes[c]) && p->nodes[c].a == p->nodes[c].b) place_word(p, c, a, b);
    for (size_t c = parent + 1; c < up->after; c = p->nodes[c].after)
        if (!is_at_edge(&p->nodes[c]) && p->nodes[c].a == p->nodes[c].b) place_beside(p, c, a, b);
}

/* ---- in the order of the target ---- */

/* Beside the same word: what is directly behind the word before it, what is before it, and what has it. */
static int rank_of(const node *n)
{
    return n->a < n->b ? 2 : n->left ? 0 : 1;
}

/* Children of the same node side by side. */
static int compare_nodes(const void *a, const void *b)
{
    const node *x = *(node *const *)a, *y = *(node *const *)b;
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (rank_of(x) != rank_of(y)) return rank_of(x) - rank_of(y);
    return x < y ? -1 : x > y;
}

static void write_mark(placer *p, size_t mark, size_t at)
{
    if (mark == none) return;
    p->low = at;
    *p->next++ = (ferry_placed){.mark = mark, .at = at};
}

/* Begins a node within its parent, not before what has been written. */
static void write_open(placer *p, node *n)
{
    const ferry_place_word *words = p->part.words;
    const size_t most = p->nodes[n->parent].end;
    const bool left = n->left && n->a == n->b;
    size_t begin = left ? p->low : most;
    if (left && n->a > 0) begin = words[n->a - 1].end;
    if (!left && n->a < p->part.word_count) begin = words[n->a].begin;
    if (begin > most) begin = most;
    if (begin < p->low) begin = p->low;
    n->end = n->a < n->b ? words[n->b - 1].end : begin;
    if (n->end > most) n->end = most;
    if (n->end < begin) n->end = begin;
    write_mark(p, n->open, begin);
}

/* `sorted` [count]: for the nodes, the part last. */
static void write(placer *p, node **sorted)
{
    for (size_t i = 0; i < p->count; i++) sorted[i] = &p->nodes[i];
    qsort(sorted, p->count, sizeof *sorted, compare_nodes);
    for (size_t i = p->count - 1; i-- > 0;) p->nodes[sorted[i]->parent].next_child = i;
    for (size_t at = 0; at != none;) {
        node *n = &p->nodes[at], *child = sorted[n->next_child];
        if (child->parent == at) {
            n->next_child++;
            write_open(p, child);
            at = (size_t)(child - p->nodes);
        } else {
            if (n->close != n->open) write_mark(p, n->close, n->end);
            at = n->parent;
        }
    }
}

/* ---- parts ---- */

/* The marks from the last part's on that belong to the part. */
static void find_marks(placer *p)
{
    const size_t end = p->part.source_end;
    p->first_mark = p->after_mark;
    for (; p->after_mark < p->sentence->after_mark; p->after_mark++) {
        const size_t at = place_of(p, p->after_mark);
        if (at > end || (at == end && p->sentence->marks[p->after_mark].kind != FERRY_MARK_CLOSE)) return;
    }
}

static ferry_status place_part(placer *p, ferry_arena *arena, ferry_error *error)
{
    const ferry_place_part *part = &p->part;
    bool failed = false;
    find_marks(p);
    const size_t most = p->after_mark - p->first_mark + 1;
    p->nodes = ferry_arena_take(arena, most, sizeof *p->nodes, &failed);
    p->token_owner = ferry_arena_take(arena, part->token_count, sizeof *p->token_owner, &failed);
    p->word_owner = ferry_arena_take(arena, part->word_count, sizeof *p->word_owner, &failed);
    node **sorted = ferry_arena_take(arena, most, sizeof *sorted, &failed);
    if (failed) return ferry_fail_memory(error, "the tags of a sentence", most, sizeof *p->nodes);
    memset(p->word_owner, 0, part->word_count * sizeof *p->word_owner);
    p->count = 0;
    build(p);
    for (size_t i = 1; i < p->count; i++) take_token(p, i);
    align_kept(p);
    p->nodes[0].b = part->word_count;
    p->nodes[0].end = part->word_count > 0 ? part->words[part->word_count - 1].end : p->low;
    for (size_t i = 0; i < p->count; i++) place_children(p, i);
    write(p, sorted);
    return FERRY_OK;
}

ferry_status ferry_place(const ferry_place_sentence *sentence, ferry_placed *placed, ferry_error *error)
{
    placer p = {.sentence = sentence, .after_mark = sentence->first_mark, .next = placed, .kept = sentence->first_kept};
    ferry_arena arena = {0};
    ferry_status status;
    do {
        status = ferry_place_read_part(sentence, &arena, &p.part, error);
        if (status == FERRY_OK) status = place_part(&p, &arena, error);
    } while (status == FERRY_OK && p.part.source_end != none);
    ferry_arena_destroy(&arena);
    return status;
}
