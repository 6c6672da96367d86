#include "net.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "characters.h"
#include "document_parts.h"
#include "net_tokens.h"
#include "placeholders.h"
#include "tokenizer/unicode.h"

/* Bytes of document->text that become a span. */
typedef struct claim {
    ferry_span_kind kind;
    size_t begin, end;
    size_t first, last; /* the spans that have the first and the last of them */
} claim;

/* A brace that opens a group, and where it ends. */
typedef struct brace {
    size_t begin, end; /* end 0: nowhere */
    size_t last;       /* the span of its end */
} brace;

typedef struct net {
    ferry_document *document;
    const ferry_span *spans; /* [count] as they were */
    size_t count;
    claim *claims; /* ascending */
    brace *braces; /* ascending */
    size_t *open;  /* claims that are the left marks of words, or `none` for elements that begin: the innermost last */
    size_t claim_count, claim_capacity, brace_count, brace_capacity, open_count, open_capacity;
    size_t span, at;   /* reached: a byte of document->text, in this span */
    size_t end;        /* of the run of text that is read */
    size_t next_brace; /* the first that begins there or later */
    size_t page_from;  /* "]]" ends no group that begins in a span before this one */
} net;

static const size_t none = SIZE_MAX;

static ferry_view text_of(const net *n, size_t begin, size_t end)
{
    return (ferry_view){n->document->text.data + begin, end - begin};
}

static char text_at(const net *n, size_t at)
{
    return byte_at(text_of(n, 0, n->document->text.size), at);
}

static bool is_text(const net *n, size_t span)
{
    return span < n->count && n->spans[span].kind == FERRY_SPAN_TEXT;
}

/* The byte after the spans of text that follow each other from `span` on. */
static size_t run_end(const net *n, size_t span)
{
    while (is_text(n, span + 1)) span++;
    return n->spans[span].text_end;
}

/* ---- claims ---- */

static ferry_status add_claim(net *n, ferry_span_kind kind, size_t begin, size_t end, size_t first, size_t last)
{
    while (n->spans[first].text_end <= begin) first++;
    while (n->spans[last].text_end < end) last++;
    const claim c = {kind, begin, end, first, last};
    return ferry_array_append(&n->claims, &n->claim_count, &n->claim_capacity, &c, sizeof c, n->document->error);
}

static ferry_status push_open(net *n, size_t what)
{
    return ferry_array_append(&n->open, &n->open_count, &n->open_capacity, &what, sizeof what, n->document->error);
}

/* An element begins, or ends, and with it what it left open. */
static ferry_status note_element(net *n, const ferry_span *span)
{
    if (span->kind == FERRY_SPAN_OPEN) return push_open(n, none);
    while (span->kind == FERRY_SPAN_CLOSE && n->open_count > 0 && n->open[--n->open_count] != none) continue;
    return FERRY_OK;
}

/* "*[" and "]*" */
static bool are_mirrored(ferry_view left, ferry_view right)
{
    if (begins_exactly(left, 0, "[[")) left.size = 2; /* with the name of a page */
    if (left.size != right.size) return false;
    for (size_t i = 0; i < left.size; i++) {
        const char l = left.data[i], r = right.data[right.size - 1 - i];
        if (l != r && !(l == '[' && r == ']') && !(l == '{' && r == '}')) return false;
    }
    return true;
}

/* Marks before a word stand alone until their partner is found. */
static ferry_status add_left(net *n, size_t begin, size_t end)
{
    if (begin == end) return FERRY_OK;
    FERRY_TRY(add_claim(n, FERRY_SPAN_POINT, begin, end, n->span, n->span));
    return push_open(n, n->claim_count - 1);
}

/* Marks behind a word, the first `size` of bytes begin … end - 1, end the element of the marks before it. */
static ferry_status add_right(net *n, size_t begin, size_t end, size_t size)
{
    if (begin == end) return FERRY_OK;
    FERRY_TRY(add_claim(n, FERRY_SPAN_POINT, begin, end, n->span, n->span));
    const size_t top = n->open_count > 0 ? n->open[n->open_count - 1] : none;
    if (top == none ||
        !are_mirrored(text_of(n, n->claims[top].begin, n->claims[top].end), text_of(n, begin, begin + size)))
        return FERRY_OK;
    n->claims[top].kind = FERRY_SPAN_OPEN;
    n->claims[n->claim_count - 1].kind = FERRY_SPAN_CLOSE;
    n->open_count--;
    return FERRY_OK;
}

/* ---- groups ---- */

/* A brace in the text. */
static ferry_status read_brace(net *n, size_t span, size_t at)
{
    const brace opened = {.begin = at};
    const size_t top = n->open_count > 0 ? n->open[n->open_count - 1] : none;
    if (n->document->text.data[at] == '{') {
        FERRY_TRY(push_open(n, n->brace_count));
        return ferry_array_append(&n->braces, &n->brace_count, &n->brace_capacity, &opened, sizeof opened,
                                  n->document->error);
    }
    if (top == none) return FERRY_OK;
    n->braces[top].end = at + 1;
    n->braces[top].last = span;
    n->open_count--;
    return FERRY_OK;
}

/* Finds where braces end; elements that begin within them do, too. */
static ferry_status find_braces(net *n)
{
    for (size_t i = 0; i < n->count; i++) {
        const ferry_span *s = &n->spans[i];
        FERRY_TRY(note_element(n, s));
        for (size_t at = s->text_begin; s->kind == FERRY_SPAN_TEXT && at < s->text_end; at++)
            if (is_one_of(n->document->text.data[at], "{}")) FERRY_TRY(read_brace(n, i, at));
    }
    n->open_count = 0;
    return FERRY_OK;
}

/* The end of the braces that open at `at`, or 0; *last: the span that it is in. */
static size_t end_of_braces(net *n, size_t at, size_t *last)
{
    while (n->next_brace < n->brace_count && n->braces[n->next_brace].begin < at) n->next_brace++;
    const brace *b = &n->braces[n->next_brace];
    if (n->next_brace == n->brace_count || b->begin != at) return 0;
    *last = b->last;
    return b->end;
}

/* The byte after the first `end` from `at` on, however far, with none of the characters `stops` before it, or 0. *last:
 * the span that it is in, or the first element of which only a part is before it. */
static size_t find_after(const net *n, size_t at, const char *end, const char *stops, size_t *last)
{
    size_t depth = 0;
    for (size_t i = n->span; i < n->count; i++) {
        const ferry_span *s = &n->spans[i];
        if (depth == 0) *last = i;
        if (s->kind == FERRY_SPAN_BREAK && s->blank && is_one_of(' ', stops)) return 0;
        if (s->kind == FERRY_SPAN_CLOSE && depth-- == 0) return 0;
        depth += s->kind == FERRY_SPAN_OPEN;
        if (s->kind != FERRY_SPAN_TEXT) continue;
        const ferry_view text = text_of(n, 0, s->text_end + is_text(n, i + 1)); /* "]" and "]" may be decoded */
        for (size_t next = s->text_begin > at ? s->text_begin : at; next < s->text_end; next++) {
            if (begins_exactly(text, next, end)) return depth == 0 ? next + strlen(end) : 0;
            if (is_one_of(text.data[next], stops)) return 0;
        }
    }
    *last = n->count;
    return 0;
}

/* The byte after the next "]]", or 0; time for all of them is linear. */
static size_t end_of_page(net *n, size_t at, size_t *last)
{
    if (n->span < n->page_from) return 0;
    const size_t end = find_after(n, at, "]]", "", last);
    if (end == 0) n->page_from = *last;
    return end;
}

/* [x] [1] [12] */
static size_t end_of_short(const net *n, size_t at, size_t end)
{
    const ferry_view text = text_of(n, 0, end);
    size_t next = skip(text, at + 1, is_digit, end);
    uint32_t c;
    if (next == end) return 0;
    if (next == at + 1 && ferry_utf8_next(text, &next, &c) && is_one_of(c < 0x80 ? (char)c : 'x', "[]|*_")) return 0;
    return byte_at(text, next) == ']' && byte_at(text, next + 1) != '(' ? next + 1 : 0;
}

/* "name attribute="a"", "name /": the inside of a tag that has blanks. */
static bool is_tag(ferry_view inside)
{
    const char *const value = inside.size > 2 ? memchr(inside.data, '=', inside.size - 1) : NULL;
    return inside.size > 2 && (inside.data[inside.size - 1] == '/' || (value != NULL && is_one_of(value[1], "\"'")));
}

/* The end of the group that begins at `at` of a run of text that ends at `end`, or 0; *last: a span, where to look for
 * its end. *size > 0: these first marks of it belong to a word. */
static size_t find_group(net *n, size_t at, size_t end, size_t *last, size_t *size)
{
    const ferry_view text = text_of(n, 0, end);
    const char c = text.data[at], next = byte_at(text, at + 1);
    size_t found = 0;
    *last = n->span;
    *size = 0;
    if (c == '{') {
        found = end_of_braces(n, at, last);
        return found > 0 && ferry_is_remark(text_of(n, at, found)) ? 0 : found;
    }
    if (is_one_of(c, "BCFILX") && next == '<' && (at == 0 || !is_word(text.data[at - 1])))
        return find_after(n, at + 2, ">", "< \t\n\r", last);                       /* of manual pages: B<ls> */
    if (c == '(' && byte_at(text, skip_set(text, at + 1, " %*#&!?.,;:+-")) == ')') /* to fill in; (%), (…) */
        return skip_set(text, at + 1, " %*#&!?.,;:+-") + 1;
    if (c == '(' && is_one_of(next, "cCR") && byte_at(text, at + 2) == ')') return at + 3; /* (c) */
    if (c == '(' && next == '(') return find_after(n, at + 2, "))", " \t\n\r(", last);
    if (c == '<' && (at + 1 == end || is_word(next) || is_one_of(next, "/_"))) {
        found = find_after(n, at + 1, ">", "< \t\n\r", last);
        if (found > 0) return found;
        found = find_after(n, at + 1, ">", "<", last);
        return found > 0 && is_tag(text_of(n, at + 1, found - 1)) ? found : 0;
    }
    if (c == '|' && is_word(next) && (at == 0 || !is_word(text.data[at - 1]))) { /* |name| */
        const size_t bar = skip_name(text, at + 1, ".:-", FERRY_MOST_NAME);
        return byte_at(text, bar) == '|' && !is_word(byte_at(text, bar + 1)) ? bar + 1 : 0;
    }
    if (c == ']' && (next == '(' || next == '[')) {
        *size = 1;
        return find_after(n, at + 2, next == '(' ? ")" : "]", next == '(' ? "]" : "[", last);
    }
    if (c == '[' && next == '[') found = end_of_page(n, at + 2, last);
    const ferry_span *after = at + 1 == end && n->span + 1 < n->count ? &n->spans[n->span + 1] : NULL;
    const bool is_kept = after != NULL && after->kind == FERRY_SPAN_KEPT;
    if (c == '[' && (next == '-' || (is_kept && text_at(n, after->text_begin) == '-')))
        found = find_after(n, at + 1, "]", "[\n", last); /* [-f name] */
    if (c == '[' && next == '!') found = find_after(n, at + 2, "]", "[", last);
    if (c == '[' && is_letter(next)) { /* [caption id="x"] */
        const size_t name = skip_name(text, at + 1, "-", FERRY_MOST_NAME);
        if (byte_at(text, name) == ' ') found = find_after(n, name, "]", "[]", last);
        if (found > 0 && is_tag(text_of(n, name + 1, found - 1))) return found;
        found = 0;
    }
    if (c == '[' && is_letter(next)) { /* [sound:a.mp3] */
        const size_t colon = skip(text, at + 1, is_letter, end);
        if (byte_at(text, colon) == ':') found = find_after(n, colon + 1, "]", "[ \t\n\r", last);
        if (found == colon + 2) found = 0;
        const size_t word = skip_name(text, at + 1, "", FERRY_MOST_NAME), path = skip_name(text, at + 1, ".", SIZE_MAX);
        if (path > word + 1 && byte_at(text, path) == ']') return path + 1; /* [House.City] */
        const bool is_name = next >= 'a' || skip_set(text, at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == word;
        if (n->document->kept.brackets && is_name && byte_at(text, word) == ']' &&
            !is_one_of(byte_at(text, word + 1), "(["))
            found = word + 1;
    }
    return found > 0 || c != '[' ? found : end_of_short(n, at, end);
}

/* ---- tokens ---- */

/* Whether blanks are around the token, or elements. */
static bool is_free(const net *n, ferry_view token)
{
    const char *const text = n->document->text.data;
    const size_t begin = (size_t)(token.data - text), end = begin + token.size;
    const bool first = begin == n->spans[n->span].text_begin && (n->span == 0 || !is_text(n, n->span - 1));
    return (first || is_one_of(text[begin - 1], " \t\r\n")) && (end == n->end || is_one_of(text[end], " \t\r\n"));
}

/* Marks without a letter or digit: several of them, or a sign, or what touches a placeholder. */
static ferry_status read_marks(net *n, ferry_view token, bool touches)
{
    const bool has_pair = (touches || is_free(n, token)) && ferry_view_contains(token, "()");
    const ferry_view rest = has_pair ? token : ferry_token_trim_marks(token);
    const char *const alone = touches ? "|<>=#*[]{}^@\\_~$" : "|<>=#*[]$";
    const size_t begin = (size_t)(rest.data - n->document->text.data);
    if ((ferry_token_count_marks(rest, "") == 0 && !has_pair) || (rest.size == 1 && !is_one_of(*rest.data, alone)))
        return FERRY_OK;
    if (rest.size == 1 && !touches && !is_free(n, token)) return FERRY_OK;
    const bool quoted = is_one_of(*token.data, "\"'(") && rest.data == token.data + 1 && token.size > rest.size + 1;
    const ferry_span_kind kind = touches || quoted ? FERRY_SPAN_KEPT : FERRY_SPAN_POINT;
    return add_claim(n, kind, begin - quoted, begin + rest.size + quoted, n->span, n->span);
}

/* Whether what is kept has a letter or digit on both sides: "help{'@'}abc", "user_${id}_name". */
static bool is_bridge(const net *n, size_t span)
{
    const ferry_span *s = &n->spans[span];
    if (span == 0 || span + 1 >= n->count || s->kind != FERRY_SPAN_KEPT ||
        !is_one_of(text_at(n, s->text_begin), "{%$<["))
        return false;
    return is_text(n, span - 1) && s[-1].text_end == s->text_begin && s[1].text_begin == s->text_end &&
           is_name(text_at(n, s->text_begin - 1)) && is_name(text_at(n, s->text_end));
}

/* "Err:%lu": what is between a word and a placeholder that touches it belongs to that. */
static ferry_status add_glue(net *n, ferry_view token)
{
    const size_t end = (size_t)(token.data - n->document->text.data) + token.size;
    size_t last = n->span;
    while (is_text(n, last) && n->spans[last].text_end < end) last++;
    const bool touches = end == n->spans[last].text_end && last + 1 < n->count &&
                         n->spans[last + 1].kind == FERRY_SPAN_KEPT &&
                         is_one_of(text_at(n, n->spans[last + 1].text_begin), "%{$");
    return touches && is_one_of(token.data[token.size - 1], ":=")
               ? add_claim(n, FERRY_SPAN_KEPT, end - 1, end, n->span, n->span)
               : FERRY_OK;
}

/* Whether the token at n->at belongs to a word with such a piece. */
static bool is_bridged(const net *n, ferry_view token)
{
    const size_t begin = (size_t)(token.data - n->document->text.data), end = begin + token.size;
    size_t last = n->span;
    while (is_text(n, last) && n->spans[last].text_end < end) last++;
    const ferry_span *next = last + 1 < n->count ? &n->spans[last + 1] : NULL;
    if (next != NULL && end == n->spans[last].text_end && next->kind == FERRY_SPAN_KEPT &&
        is_name(text_at(n, next->text_begin)) && is_one_of(token.data[token.size - 1], ":=/-_.@"))
        return true; /* "image:a.png" */
    return (begin == n->spans[n->span].text_begin && n->span > 0 && is_bridge(n, n->span - 1)) ||
           (end == n->spans[last].text_end && is_bridge(n, last + 1));
}

/* "words==", if that began so. */
static size_t closing_marks(const net *n, ferry_view token)
{
    const size_t top = n->open_count > 0 ? n->open[n->open_count - 1] : none;
    if (top == none || token.size < 3 || n->claims[top].end - n->claims[top].begin != 2) return 0;
    const ferry_view left = text_of(n, n->claims[top].begin, n->claims[top].end);
    return is_one_of(*left.data, "=~+") && ferry_view_equal(left, view_part(token, token.size - 2, token.size)) ? 2 : 0;
}

/* A token with a letter or digit. */
static ferry_status read_word(net *n, ferry_view token)
{
    const ferry_view whole = ferry_token_trim(token);
    size_t left = ferry_token_left_marks(whole), right = ferry_token_right_marks(whole);
    if (left + right == 0) left = right = ferry_token_same_marks(whole);
    if (left + right == 0) left = ferry_token_doubled_marks(whole);
    if (left + right == 0) right = closing_marks(n, whole);
    ferry_view word = ferry_token_trim(view_part(whole, left, whole.size - right));
    const bool is_whole = is_bridged(n, token) || ferry_view_ends(whole, ".*"), /* a pattern */
        kept = is_whole || !ferry_token_is_read(word);
    if (kept && (left != right || is_whole)) {
        word = whole;
        left = right = 0;
    }
    const size_t begin = (size_t)(whole.data - n->document->text.data), end = begin + whole.size;
    const size_t of_word = (size_t)(word.data - n->document->text.data);
    const bool is_image = left > 0 && *whole.data == '[' && whole.data > token.data && whole.data[-1] == '!';
    FERRY_TRY(add_left(n, begin - is_image, begin + left));
    if (kept)
        FERRY_TRY(
            add_claim(n, FERRY_SPAN_KEPT, of_word, of_word + ferry_token_kept_size(word, token), n->span, n->span));
    FERRY_TRY(add_right(n, end - right, end, right));
    return kept ? FERRY_OK : add_glue(n, token);
}

static bool is_beside_kept(const net *n, size_t begin, size_t end)
{
    const claim *last = n->claim_count > 0 ? &n->claims[n->claim_count - 1] : NULL;
    if (last != NULL && last->end == begin && last->kind == FERRY_SPAN_KEPT) return true;
    const size_t first = n->span, after = n->span + 1;
    if (n->spans[first].text_begin == begin && first > 0 && n->spans[first - 1].kind == FERRY_SPAN_KEPT) return true;
    return n->spans[first].text_end == end && after < n->count && n->spans[after].kind == FERRY_SPAN_KEPT;
}

/* ---- runs of text ---- */

/* Bytes of "[[page|" in "[[page|a name]]", or 0. */
static size_t page_size(ferry_view group)
{
    const size_t bar = find_one_of(group, 0, "|") + 1;
    const bool is_only = find_one_of(group, bar, "|:") == group.size && find_one_of(group, 0, ":") > bar;
    return begins_exactly(group, 0, "[[") && bar < group.size && is_only &&
                   ferry_token_has_word(view_part(group, bar, group.size))
               ? bar
               : 0;
}

/* The group goes up to n->at, which moves back to what is read of it. */
static ferry_status add_group(net *n, size_t begin, size_t last, size_t size)
{
    const size_t end = n->at;
    const ferry_view group = text_of(n, begin, end);
    const bool is_short = *group.data == '[' && group.data[1] != '[' && (group.size == 3 || !is_letter(group.data[1]));
    const size_t page = page_size(group);
    if (size > 0) {
        FERRY_TRY(add_right(n, begin, end, size));
        n->span = last > n->span ? last : n->span;
        return FERRY_OK;
    }
    if (page > 0 && n->spans[n->span].text_end >= end) {
        n->at = begin + page;
        return add_left(n, begin, n->at);
    }
    const size_t first = n->span;
    n->span = last > first ? last : first;
    return add_claim(n, is_short || !ferry_token_has_word(group) ? FERRY_SPAN_POINT : FERRY_SPAN_KEPT, begin, end,
                     first, last);
}

/* The byte after the token at n->at of a run that ends at `end`: a blank, a group, a letter that is a word of its own.
 */
static size_t token_end(net *n, size_t end)
{
    const ferry_view text = text_of(n, 0, end);
    const size_t first = n->span;
    size_t at = n->at, last, size;
    for (size_t next = at; next < end; at = next) {
        while (n->spans[n->span].text_end <= at) n->span++; /* so that time is linear */
        const uint32_t c = ferry_unicode_next(text, &next);
        if (c <= ' ' || ferry_token_is_alone(c) || (at > n->at && find_group(n, at, end, &last, &size) > 0)) break;
        at = next;
    }
    n->span = first;
    return at;
}

/* The text from n->at on, up to its end or to that of a group that ends in another run. */
static ferry_status read_run(net *n)
{
    const size_t end = n->end = run_end(n, n->span);
    while (n->at < end) {
        size_t last, size;
        while (n->spans[n->span].text_end <= n->at) n->span++;
        const size_t group = find_group(n, n->at, end, &last, &size), begin = n->at;
        n->at = group > 0 ? group : token_end(n, end);
        if (group > 0) {
            FERRY_TRY(add_group(n, begin, last, size));
        } else if (n->at == begin) {
            ferry_unicode_next(text_of(n, 0, end), &n->at);
        } else {
            const ferry_view token = text_of(n, begin, n->at);
            if (ferry_token_is_smiley(token) && is_free(n, token))
                FERRY_TRY(add_claim(n, FERRY_SPAN_POINT, begin, n->at, n->span, n->span));
            else
                FERRY_TRY(ferry_token_has_word(token) ? read_word(n, token)
                                                      : read_marks(n, token, is_beside_kept(n, begin, n->at)));
        }
    }
    return FERRY_OK;
}

static ferry_status read_spans(net *n)
{
    FERRY_TRY(find_braces(n));
    while (n->span < n->count) {
        const ferry_span *s = &n->spans[n->span];
        if (s->kind == FERRY_SPAN_TEXT && s->text_end > n->at) {
            if (s->text_begin > n->at) n->at = s->text_begin;
            FERRY_TRY(read_run(n));
        } else {
            FERRY_TRY(note_element(n, s));
            n->span++;
        }
    }
    return FERRY_OK;
}

/* ---- spans of claims ---- */

/* What is kept side by side, one of them by the net, is one piece. */
static ferry_status push_span(net *n, const ferry_span *span, bool caught, bool *last_caught)
{
    ferry_document *d = n->document;
    ferry_span *last = d->span_count > 0 ? &d->spans[d->span_count - 1] : NULL;
    const bool joins = last != NULL && (caught || *last_caught) && ferry_span_are_kept(last, span);
    *last_caught = caught || (joins && *last_caught);
    if (!joins) return ferry_document_push_span(d, span);
    ferry_span_extend(last, span);
    return FERRY_OK;
}

/* The document gets its spans again, those of the claims in the place of their text. */
static ferry_status push_spans(net *n)
{
    bool caught = false;
    size_t i = 0, at = 0;
    for (size_t c = 0; c <= n->claim_count; c++) {
        const claim *next = c < n->claim_count ? &n->claims[c] : NULL;
        const size_t first = next != NULL ? next->first : n->count;
        if (next != NULL && next->begin < at) continue; /* what was decoded as one */
        for (; i < first; i++) {
            ferry_span s = n->spans[i];
            if (s.kind == FERRY_SPAN_TEXT && s.text_end <= at) continue;
            if (s.kind == FERRY_SPAN_TEXT && s.text_begin < at) ferry_span_cut(&s, &n->spans[i], at, s.text_end);
            FERRY_TRY(push_span(n, &s, false, &caught));
        }
        if (next == NULL) break;
        ferry_span s = {.kind = next->kind}, before = {.kind = FERRY_SPAN_TEXT};
        ferry_span_cut(&s, &n->spans[i], next->begin, next->end);
        const size_t from = n->spans[i].text_begin > at ? n->spans[i].text_begin : at;
        if (from < s.text_begin) {
            ferry_span_cut(&before, &n->spans[i], from, s.text_begin);
            FERRY_TRY(push_span(n, &before, false, &caught));
        }
        at = s.text_end;
        if (s.kind != FERRY_SPAN_KEPT) s.text_begin = s.text_end = 0;
        FERRY_TRY(push_span(n, &s, true, &caught));
        i = next->last;
    }
    return FERRY_OK;
}

ferry_status ferry_net_cast(ferry_document *document, size_t first)
{
    net n = {.document = document, .count = document->span_count - first};
    ferry_span *spans = malloc((n.count + 1) * sizeof *spans);
    if (spans == NULL) return ferry_fail_memory(document->error, "the spans of a text", n.count, sizeof *spans);
    if (n.count > 0) memcpy(spans, document->spans + first, n.count * sizeof *spans);
    n.spans = spans;
    ferry_status status = read_spans(&n);
    if (status == FERRY_OK && n.claim_count > 0) {
        document->span_count = first;
        status = push_spans(&n);
    }
    free(spans);
    free(n.claims);
    free(n.braces);
    free(n.open);
    return status;
}

/* ---- lines ---- */

/* The byte after the braces at `at`, or 0. */
static size_t after_braces(ferry_view line, size_t at)
{
    size_t depth = 0;
    for (; byte_at(line, at) == '{' || (depth > 0 && at < line.size); at++) {
        depth += (size_t)(line.data[at] == '{') - (size_t)(line.data[at] == '}');
        if (depth == 0) return at + 1;
    }
    return 0;
}

bool ferry_net_is_line(const ferry_document *document, size_t first, size_t after)
{
    const ferry_span *spans = document->spans;
    const ferry_view line = ferry_utf8_trim(view_part(document->source, spans[first].begin, spans[after - 1].end));
    const char c = byte_at(line, 0);
    const size_t same = line.size > 0 ? skip_same(line, 0) : 0, name = skip_blanks(line, same);
    const size_t name_end = skip_name(line, 0, "-", FERRY_MOST_NAME);
    if (line.size == 0) return false;
    if (same >= 3 && is_one_of(c, ":/!?+%") && byte_at(line, name) >= 'a' && byte_at(line, name) <= 'z') return true;
    if (skip_set(line, 0, FERRY_MARKS " \t") == line.size) return true;
    if (name_end > 0 && c >= 'a' && begins_exactly(line, name_end, ":: ")) return true;
    if (c == '[' && name_end == 0 && skip(line, 1, is_letter, 4) == 3 && byte_at(line, 3) == ':')
        return line.data[line.size - 1] == ']'; /* "[ar:Ann]", of lyrics */
    if (c == '!' && begins_exactly(line, 1, "[[")) return find_one_of(line, 0, "]") + 2 == line.size;
    if (c == '[' && ferry_find_placeholder(line, 0, false) == line.size) return true;
    const size_t command = c == '\\' ? skip(line, 1, is_letter, line.size) : 0;
    return command != 1 && after_braces(line, command) == line.size;
}
