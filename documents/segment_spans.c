/* What the spans of a segment become: text is split at what is kept in it, and what belongs together is one span. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "characters.h"
#include "document_parts.h"
#include "html_tags.h"
#include "net.h"
#include "tokenizer/unicode.h"

bool ferry_is_symbol(ferry_view text)
{
    for (size_t at = 0; at < text.size;) {
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c) || c < 0x80 || ferry_unicode_character(c) <= FERRY_CHARACTER_NUMBER)
            return false;
    }
    return text.size > 0;
}

/* ---- text ---- */

/* Where byte `at` of the document's text is in the source: of text that was decoded, where its first byte is, or where
 * its last byte ends. */
static size_t source_of(const ferry_span *from, size_t *at, bool is_end)
{
    while (from->text_end < *at || (!is_end && from->text_end == *at)) from++;
    if (from->end - from->begin == from->text_end - from->text_begin) return from->begin + (*at - from->text_begin);
    *at = is_end ? from->text_end : from->text_begin;
    return is_end ? from->end : from->begin;
}

void ferry_span_cut(ferry_span *span, const ferry_span *from, size_t begin, size_t end)
{
    span->text_begin = begin;
    span->text_end = end;
    span->begin = source_of(from, &span->text_begin, false);
    span->end = source_of(from, &span->text_end, true);
}

/* Appends what the spans from … (all of them text) have of bytes begin … end - 1 of the document's text. */
static ferry_status push_text(ferry_document *document, const ferry_span *from, size_t begin, size_t end)
{
    for (; begin < end; from++) {
        if (from->text_end <= begin) continue;
        ferry_span part = *from;
        ferry_span_cut(&part, from, begin, from->text_end < end ? from->text_end : end);
        begin = part.text_end;
        FERRY_TRY(ferry_document_push_span(document, &part));
    }
    return FERRY_OK;
}

/* No word can stand for what tells a template what to do: {% if a %}. */
static bool is_directive(ferry_view piece)
{
    static const char *const starts[] = {"{%", "{{<", "{{%", "<#", "[b]", "[/"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (piece.size > strlen(starts[i]) && begins_exactly(piece, 0, starts[i])) return true;
    if (piece.size == 2 && *piece.data == '\\' && !is_letter(piece.data[1])) return true; /* an escape */
    return piece.size > 3 && begins_exactly(piece, 0, "<%") && piece.data[2] != '=';
}

/* Blanks that are no ' ', between words, are blanks for the model. */
static bool is_between_words(ferry_view text, const ferry_placeholder *blank)
{
    return blank->begin > 0 && blank->end < text.size && (unsigned char)text.data[blank->begin - 1] > ' ' &&
           (unsigned char)text.data[blank->end] > ' ';
}

/* A symbol before a sign takes the blank before it along: "good 😀." */
static bool takes_blank(ferry_view text, const ferry_placeholder *symbol)
{
    uint32_t c;
    size_t at = symbol->end;
    return symbol->begin > 0 && symbol->end < text.size && text.data[symbol->begin - 1] == ' ' &&
           ferry_utf8_next(text, &at, &c) && c > ' ' && ferry_unicode_character(c) > FERRY_CHARACTER_NUMBER;
}

/* Appends `count` spans of text that follow each other, with what has to be kept in them. */
static ferry_status push_run(ferry_document *document, const ferry_placeholder_rules *rules, const ferry_span *run,
                             size_t count)
{
    const size_t begin = run->text_begin, end = run[count - 1].text_end;
    const ferry_view text = {document->text.data + begin, end - begin};
    size_t at = begin;
    ferry_placeholder_search search = {.text = text, .rules = *rules};
    for (ferry_placeholder found; ferry_placeholder_next(&search, &found);) {
        found.begin -= found.kind == FERRY_PLACEHOLDER_SYMBOL && takes_blank(text, &found);
        ferry_span kept = {.kind = FERRY_SPAN_KEPT};
        kept.blank = found.kind == FERRY_PLACEHOLDER_SPACE && is_between_words(text, &found);
        ferry_span_cut(&kept, run, begin + found.begin, begin + found.end);
        if (found.kind == FERRY_PLACEHOLDER_SPACE || found.kind == FERRY_PLACEHOLDER_SYMBOL ||
            is_directive(view_part(text, found.begin, found.end)))
            kept.kind = FERRY_SPAN_POINT;
        if (kept.text_begin > at) FERRY_TRY(push_text(document, run, at, kept.text_begin));
        FERRY_TRY(ferry_document_push_span(document, &kept));
        at = kept.text_end;
        search.at = at - begin;
        while (at < end && run->text_end <= at) run++; /* so that time is linear */
    }
    return push_text(document, run, at, end);
}

/* Finds what has to be kept in the segment's text by the rules. */
static ferry_status split_text(ferry_document *document, const ferry_placeholder_rules *rules, size_t first)
{
    const size_t count = document->span_count - first;
    ferry_span *spans = malloc((count + 1) * sizeof *spans);
    if (spans == NULL) return ferry_fail_memory(document->error, "a document", count, sizeof *spans);
    if (count > 0) memcpy(spans, document->spans + first, count * sizeof *spans);
    document->span_count = first;
    ferry_status status = FERRY_OK;
    for (size_t i = 0, next; i < count && status == FERRY_OK; i = next) {
        for (next = i; next < count && spans[next].kind == FERRY_SPAN_TEXT; next++) continue;
        if (next > i)
            status = push_run(document, rules, spans + i, next - i);
        else
            status = ferry_document_push_span(document, &spans[next++]);
    }
    free(spans);
    return status;
}

static bool is_raising(const ferry_document *document, const ferry_span *span)
{
    ferry_inline_tag tag;
    return span->kind == FERRY_SPAN_OPEN && ferry_inline_tag_read(ferry_span_source(document, span), &tag) > 0 &&
           ferry_name_is_listed(tag.name, " sub sup ");
}

static bool is_address_sign(ferry_view text)
{
    return ferry_view_is(text, "@") || ferry_view_is(text, ".");
}

/* Whether spans i … i + 2 hide a sign of an address from programs that gather them: tom<i>&#64;</i>example. */
static bool is_hidden(const ferry_document *document, size_t i)
{
    const ferry_span *spans = &document->spans[i];
    return i + 3 < document->span_count && spans[0].kind == FERRY_SPAN_OPEN &&
           is_address_sign(ferry_span_text(document, &spans[1])) && ferry_span_is_literal(&spans[3]) &&
           spans[3].begin == spans[2].end && is_name(byte_at(ferry_span_text(document, &spans[3]), 0));
}

/* Whether spans i … i + 2 raise or lower a short text. */
static bool raises(const ferry_document *document, size_t i)
{
    const ferry_span *spans = &document->spans[i];
    if (i + 2 >= document->span_count || (spans[1].kind != FERRY_SPAN_TEXT && spans[1].kind != FERRY_SPAN_POINT) ||
        spans[2].kind != FERRY_SPAN_CLOSE)
        return false;
    const ferry_view text = ferry_span_text(document, spans + 1);
    return (is_raising(document, spans) || is_hidden(document, i)) && text.size <= 8 &&
           memchr(text.data, ' ', text.size) == NULL;
}

/* The last span of the element that begins with span `first`, if it stands alone: it has nothing but a symbol, as a
 * link "¶" to its heading, or the number of a note, raised, also "[3]", within any elements. Otherwise `first`. */
static size_t find_alone(const ferry_document *document, size_t first)
{
    enum { MOST = 16 }; /* spans */
    bool alone = false;
    for (size_t i = first, depth = 0; i < document->span_count && i - first < MOST; i++) {
        const ferry_span *span = &document->spans[i];
        const ferry_view text = ferry_span_text(document, span);
        const bool is_number = skip_set(text, 0, "0123456789[](),* ") == text.size;
        depth += span->kind == FERRY_SPAN_OPEN;
        alone = alone || !is_number || is_raising(document, span) || find_one_of(text, 0, "[]()") < text.size;
        if (depth == 0 || (!is_number && !ferry_is_symbol(text) && skip_set(text, 0, FERRY_MARKS) < text.size)) break;
        depth -= span->kind == FERRY_SPAN_CLOSE;
        if (depth == 0) return alone ? i : first;
    }
    return first;
}

/* Bytes at the end of a span that what is raised or lowered in the next spans, `tag` on, belongs to; 0: it is a note.
 */
static size_t raised_size(const ferry_document *document, const ferry_span *span, const ferry_span *tag)
{
    if (span->end != tag->begin || span->text_end != tag[1].text_begin) return 0;
    if (span->kind == FERRY_SPAN_KEPT) return span->text_end - span->text_begin;
    if (!ferry_span_is_literal(span)) return 0;
    const ferry_view raised = ferry_span_text(document, tag + 1), text = ferry_span_text(document, span);
    const bool has_all = ferry_is_symbol(raised) || ferry_view_is(raised, "TM") || is_address_sign(raised);
    return has_all ? last_word_size(text) : ferry_unit_size(text);
}

/* Adds the word that begins `next`, of `most` bytes at most, to the span that is kept before it. */
static void keep_word(const ferry_document *document, ferry_span *kept, ferry_span *next, size_t most)
{
    const ferry_view text = ferry_span_text(document, next);
    size_t size = 0;
    if (!ferry_span_is_literal(next) || next->begin != kept->end) return;
    while (size < text.size && is_word(text.data[size])) size++;
    if (size > most || next->text_begin != kept->text_end) return;
    kept->end = next->begin += size;
    kept->text_end = next->text_begin += size;
}

/* Whether spans i … i + 2 are an element of blanks. */
static bool is_blank_element(const ferry_document *document, size_t i)
{
    const ferry_span *spans = &document->spans[i];
    return i + 2 < document->span_count && spans[0].kind == FERRY_SPAN_OPEN && spans[1].kind == FERRY_SPAN_TEXT &&
           spans[2].kind == FERRY_SPAN_CLOSE && ferry_utf8_is_blank(ferry_span_text(document, &spans[1]));
}

/* What is raised or lowered within a word stays with it: "m<sup>2</sup>", "H<sub>2</sub>O". Another number is that of
 * a note, and stands alone. */
static void merge_raised(ferry_document *document, size_t first)
{
    ferry_span *spans = document->spans;
    size_t count = first;
    for (size_t i = first; i < document->span_count; i++) {
        ferry_span *last = count > first ? &spans[count - 1] : NULL;
        const bool raised = raises(document, i), hidden = raised && is_hidden(document, i);
        const size_t size = last != NULL && raised ? raised_size(document, last, &spans[i]) : 0;
        if (is_blank_element(document, i)) {
            spans[count++] =
                (ferry_span){.kind = FERRY_SPAN_POINT, .blank = true, .begin = spans[i].begin, .end = spans[i + 2].end};
            i += 2;
            continue;
        }
        if (size == 0) {
            const size_t end = find_alone(document, i);
            spans[count++] = spans[i];
            if (end > i) spans[count - 1].kind = FERRY_SPAN_POINT;
            spans[count - 1].end = spans[end].end;
            i = end;
            continue;
        }
        ferry_span kept = {.kind = FERRY_SPAN_KEPT, .end = spans[i + 2].end};
        kept.begin = last->kind == FERRY_SPAN_KEPT ? last->begin : last->end - size;
        kept.text_begin = last->text_end - size;
        kept.text_end = spans[i + 1].text_end;
        last->end = kept.begin;
        last->text_end = kept.text_begin;
        i += 2;
        if (i + 1 < document->span_count) keep_word(document, &kept, &spans[i + 1], hidden ? SIZE_MAX : 3);
        if (i + 1 < document->span_count && spans[i + 1].begin == spans[i + 1].end) i++;
        if (last->begin == last->end) count--;
        spans[count++] = kept;
    }
    document->span_count = count;
}

/* Elements that begin and end side by side are one: "_[" … "](address)_". */
static void merge_nested(ferry_document *document, size_t first)
{
    ferry_span *spans = document->spans, before = {.kind = FERRY_SPAN_TEXT}; /* the span before, as it was */
    size_t count = first;
    ferry_document_pair_spans(document, first, document->span_count);
    for (size_t i = first; i < document->span_count; i++) {
        const ferry_span span = spans[i];
        const bool is_mark = span.kind == FERRY_SPAN_OPEN || span.kind == FERRY_SPAN_CLOSE;
        const bool joins = is_mark && before.kind == span.kind && before.partner == span.partner + 1 &&
                           before.end == span.begin && before.text_begin == before.text_end &&
                           span.text_begin == span.text_end;
        if (joins)
            spans[count - 1].end = span.end;
        else
            spans[count++] = span;
        before = span;
    }
    document->span_count = count;
}

/* Whether the text between two pieces that are kept makes one of them: ", " " | " "/" "-". */
static bool is_joint(ferry_view text)
{
    return text.size < 5 && skip_set(text, 0, " ,;:/|-+&=.") == text.size && skip_blanks(text, 0) < text.size &&
           (memchr(text.data, '.', text.size) == NULL || memchr(text.data, ' ', text.size) == NULL);
}

/* Whether what is kept is a number, and no `code`. */
static bool is_of_digits(const ferry_document *document, const ferry_span *span)
{
    const ferry_view text = ferry_span_source(document, span);
    return skip_set(text, 0, "0123456789.,:/'+- ") == text.size;
}

/* Whether two pieces that are kept touch: {role}`code`. */
static bool is_glued(const ferry_document *document, const ferry_span *last, const ferry_span *next)
{
    return ferry_span_are_kept(last, next) && document->source.data[last->begin] != '\\' &&
           document->source.data[next->begin] != '\\' && !is_of_digits(document, last) && !is_of_digits(document, next);
}

/* Bytes of the quotation mark or parenthesis that ends `before` and has its partner, *close bytes, at the beginning of
 * `after`; or 0. */
static size_t enclosing_size(ferry_view before, ferry_view after, size_t *close)
{
    static const char *const pairs[][2] = {{"\"", "\""}, {"'", "'"}, {"(", ")"}, {"`", "'"},
                                           {"“", "”"},   {"‘", "’"}, {"«", "»"}, {"„", "“"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const size_t open = strlen(pairs[i][0]);
        *close = strlen(pairs[i][1]);
        if (!ferry_view_ends(before, pairs[i][0]) || !begins_exactly(after, 0, pairs[i][1])) continue;
        const bool within = (before.size > open && is_word(before.data[before.size - open - 1])) ||
                            (after.size > *close && is_word(after.data[*close]));
        return within ? 0 : open;
    }
    return 0;
}

/* Adds to what is kept the quotation marks or parentheses around it: '%s', (%d). Returns whether there are some. */
static bool enclose(const ferry_document *document, ferry_span *before, ferry_span *kept, ferry_span *after)
{
    size_t close;
    const bool touch = kept->kind == FERRY_SPAN_KEPT && before->end == kept->begin && kept->end == after->begin &&
                       before->text_end == kept->text_begin && kept->text_end == after->text_begin;
    if (!touch || before->kind != FERRY_SPAN_TEXT || after->kind != FERRY_SPAN_TEXT) return false;
    const ferry_view text = ferry_span_text(document, before), rest = ferry_span_text(document, after);
    const size_t open = enclosing_size(text, rest, &close);
    const bool has_open = document->text.data[kept->text_begin] == '`' && byte_at(rest, 0) == '\'' &&
                          !is_word(byte_at(rest, 1)); /* `a.txt' */
    if (has_open) close = 1;
    const bool begins = ferry_span_is_literal(before), ends = ferry_span_is_literal(after); /* or all is one mark */
    if ((open == 0 && !has_open) || (!begins && text.size != open) || (!ends && rest.size != close)) return false;
    before->end = kept->begin = begins ? before->end - open : before->begin;
    after->begin = kept->end = ends ? after->begin + close : after->end;
    before->text_end = kept->text_begin -= open;
    after->text_begin = kept->text_end += close;
    return true;
}

static void enclose_all(ferry_document *document, size_t first)
{
    ferry_span *spans = document->spans;
    size_t count = first;
    for (size_t i = first; i < document->span_count; i++) {
        ferry_span *next = i + 1 < document->span_count ? &spans[i + 1] : NULL;
        ferry_span kept = spans[i];
        while (count > first && next != NULL && enclose(document, &spans[count - 1], &kept, next)) continue;
        if (count > first && spans[count - 1].kind == FERRY_SPAN_TEXT && spans[count - 1].begin == spans[count - 1].end)
            count--;
        if (kept.kind != FERRY_SPAN_TEXT || kept.begin < kept.end) spans[count++] = kept;
    }
    document->span_count = count;
}

/* Lists of what is kept are one piece: `a`, `b`, `c`. Numbers are none, which the model sees. */
static void merge_lists(ferry_document *document, size_t first)
{
    ferry_span *spans = document->spans;
    size_t count = first;
    for (size_t i = first; i < document->span_count; i++) {
        ferry_span *last = count > first ? &spans[count - 1] : NULL;
        if (last != NULL && is_glued(document, last, &spans[i])) {
            ferry_span_extend(last, &spans[i]);
        } else {
            spans[count++] = spans[i];
            last = &spans[count - 1];
        }
        while (last->kind == FERRY_SPAN_KEPT && i + 2 < document->span_count && spans[i + 2].kind == FERRY_SPAN_KEPT &&
               ferry_span_is_literal(&spans[i + 1]) && is_joint(ferry_span_text(document, &spans[i + 1])) &&
               last->text_end == spans[i + 1].text_begin && spans[i + 1].text_end == spans[i + 2].text_begin &&
               !is_of_digits(document, last) && !is_of_digits(document, &spans[i + 2])) {
            i += 2;
            ferry_span_extend(last, &spans[i]);
        }
    }
    document->span_count = count;
}

/* The name of a tag in brackets of any kind, "{b}" "[url=x]" "<red>" "{{#if x}}", or of one that ends it, "{/b}";
 * empty: it is none. */
static ferry_view tag_name(ferry_view tag, bool *ends)
{
    size_t begin = skip_set(tag, 0, tag.size > 0 ? (char[]){tag.data[0], '\0'} : "");
    if (begin == 0 || !is_one_of(tag.data[0], "<[{") || ferry_view_ends(tag, "/>")) return (ferry_view){tag.data, 0};
    *ends = byte_at(tag, begin) == '/';
    begin += *ends || byte_at(tag, begin) == '#';
    return view_part(tag, begin, is_letter(byte_at(tag, begin)) ? skip_name(tag, begin, "-", 64) : begin);
}

/* Tags that no reader knows, of which one ends what another one begins, are an element. */
static ferry_status pair_tags(ferry_document *document, size_t first)
{
    enum { MOST_OPEN = 16 };
    size_t *open = malloc((document->span_count - first + 1) * sizeof *open), count = 0; /* SIZE_MAX: an element */
    if (open == NULL)
        return ferry_fail_memory(document->error, "the tags of a text", document->span_count, sizeof *open);
    for (size_t i = first; i < document->span_count; i++) {
        ferry_span *span = &document->spans[i];
        const bool is_tag = span->kind == FERRY_SPAN_KEPT || span->kind == FERRY_SPAN_POINT;
        bool ends = false;
        const ferry_view source = ferry_span_source(document, span);
        const ferry_view name = tag_name(is_tag ? source : (ferry_view){"", 0}, &ends);
        if (span->kind == FERRY_SPAN_OPEN) open[count++] = SIZE_MAX;
        if (span->kind == FERRY_SPAN_CLOSE)
            while (count > 0 && open[--count] != SIZE_MAX) continue;
        if (name.size == 0) continue;
        if (!ends) {
            open[count++] = i;
            continue;
        }
        span->kind = FERRY_SPAN_POINT;
        for (size_t k = count; k-- > 0 && count - k <= MOST_OPEN && open[k] != SIZE_MAX;) {
            ferry_span *begin = &document->spans[open[k]];
            const ferry_view tag = ferry_span_source(document, begin);
            if (*tag.data != *source.data || !ferry_view_equal(tag_name(tag, &ends), name)) continue;
            begin->kind = FERRY_SPAN_OPEN;
            span->kind = FERRY_SPAN_CLOSE;
            begin->text_begin = begin->text_end = span->text_begin = span->text_end = 0;
            count = k;
            break;
        }
    }
    free(open);
    return FERRY_OK;
}

/* ---- all of it ---- */

ferry_status ferry_document_find_spans(ferry_document *document, size_t first)
{
    ferry_placeholder_rules rules = document->kept;
    FERRY_TRY(split_text(document, &rules, first));
    merge_raised(document, first);
    FERRY_TRY(ferry_net_cast(document, first));
    rules.marks = true;
    FERRY_TRY(split_text(document, &rules, first));
    FERRY_TRY(pair_tags(document, first));
    enclose_all(document, first);
    merge_lists(document, first);
    merge_nested(document, first);
    return FERRY_OK;
}

/* The sign of prose, one of `(` `)` `"` `:`, that the span keeps; '\0': it keeps something else. */
static char prose_sign(const ferry_document *document, const ferry_span *span)
{
    const ferry_view text = ferry_span_text(document, span), source = ferry_span_source(document, span);
    const bool is_itself = ferry_view_equal(text, source) || is_one_of(byte_at(source, 0), "\\&"); /* not `:` */
    return span->kind == FERRY_SPAN_KEPT && text.size == 1 && is_itself && is_one_of(*text.data, "()\":") ? *text.data
                                                                                                          : '\0';
}

/* Signs of prose that are kept stand alone; parentheses and quotation marks with their partner are an element. */
static void pair_signs(ferry_document *document, size_t first)
{
    size_t open = SIZE_MAX;
    char close = '\0';
    for (size_t i = first; i < document->span_count; i++) {
        ferry_span *span = &document->spans[i];
        const char sign = prose_sign(document, span);
        if (span->kind == FERRY_SPAN_OPEN || span->kind == FERRY_SPAN_CLOSE) open = SIZE_MAX;
        if (sign == '\0') continue;
        span->kind = FERRY_SPAN_POINT;
        span->text_begin = span->text_end = 0;
        if (open != SIZE_MAX && sign == close) {
            document->spans[open].kind = FERRY_SPAN_OPEN;
            span->kind = FERRY_SPAN_CLOSE;
            open = SIZE_MAX;
        } else if (is_one_of(sign, "(\"")) {
            open = i;
            close = sign == '(' ? ')' : sign;
        }
    }
}

ferry_status ferry_document_keep_signs(ferry_document *document, ferry_segment *segment, const char *signs)
{
    const size_t first = document->span_count;
    for (size_t i = segment->first_read; i < segment->after_read; i++) {
        const ferry_span span = document->spans[i]; /* which may move */
        FERRY_TRY(ferry_document_push_span(document, &span));
    }
    const ferry_placeholder_rules rules = {.signs = signs};
    const ferry_status status = split_text(document, &rules, first);
    pair_signs(document, first);
    ferry_document_pair_spans(document, first, document->span_count);
    segment->first_span = first;
    segment->after_span = document->span_count;
    return status;
}
