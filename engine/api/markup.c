/* Markup: its text is translated sentence by sentence, and its tags are put where their words went. */
#include <stdlib.h>
#include <string.h>

#include "argument_checks.h"
#include "base/utf8.h"
#include "markup_parse.h"
#include "markup_place.h"
#include "text.h"

/* A sentence of the text, and the items that go with it: those within it, and at its ends those of elements that begin
 * or end within it. All others stay where they are, between the sentences. */
typedef struct sentence {
    size_t begin, end;             /* bytes of the text */
    size_t first_item, after_item; /* items first_item … after_item - 1 */
    size_t inside, outside;        /* of these, inside … outside - 1 are within the text, others at its ends */
} sentence;

typedef struct call {
    ferry_view source;
    ferry_markup markup;
    ferry_sentence_list list;
    sentence *sentences; /* [list.count] */
    size_t capacity;
    ferry_string output;
    ferry_error *error;
} call;

/* ---- sentences ---- */

/* Where the sentence that begins at `begin` ends. Content that is kept has no end of a sentence: *item is the first
 * item that may be after `begin`, and moves on. */
static size_t find_end(const call *c, const ferry_sentence_language *language, size_t begin, size_t *item)
{
    const ferry_markup *markup = &c->markup;
    const ferry_view text = {markup->text.data, markup->text.size};
    size_t end = ferry_sentence_end(text, begin, language);
    for (; *item < markup->item_count && markup->items[*item].at < end; ++*item) {
        const ferry_markup_item *open = &markup->items[*item];
        if (!open->kept || open->kind != FERRY_MARKUP_OPEN || markup->items[open->partner].at <= end) continue;
        end = markup->items[open->partner].at;
        while (end < text.size && text.data[end] == ' ') end++;
        if (end < text.size && text.data[end] != '\n')
            end = ferry_sentence_end(text, end, language);
        else
            end = markup->items[open->partner].at;
    }
    return end;
}

/* Whether the element goes from the sentence's beginning to its end. */
static bool is_whole(const call *c, const ferry_markup_item *open, const sentence *s)
{
    return open->kind == FERRY_MARKUP_OPEN && open->at <= s->begin && c->markup.items[open->partner].at >= s->end;
}

/* Finds the sentence's items, those from `item` on being free: *kept, if it is nothing but kept content. */
static void find_items(const call *c, sentence *s, size_t item, bool *kept)
{
    const ferry_markup_item *items = c->markup.items;
    const size_t count = c->markup.item_count;
    const ferry_view rest = {c->markup.text.data + s->end, c->markup.text.size - s->end};
    const size_t next = s->end + ferry_utf8_leading_space(rest);
    *kept = false;
    for (; item < count && items[item].at <= s->begin; item++) {
        if (items[item].kind != FERRY_MARKUP_OPEN) continue;
        *kept = *kept || (items[item].kept && is_whole(c, &items[item], s));
        const size_t close = items[items[item].partner].at;
        if (close > s->begin && (close < s->end || items[item].kept)) break;
    }
    s->first_item = item;
    while (item < count && items[item].at <= s->begin) item++;
    s->inside = item;
    while (item < count && items[item].at < s->end) item++;
    s->outside = s->after_item = item;
    for (; item < count && items[item].at <= next; item++)
        if (items[item].kind == FERRY_MARKUP_CLOSE && items[item].partner >= s->first_item &&
            items[item].partner < s->outside)
            s->after_item = item + 1;
}

static ferry_status add_sentence(call *c, const sentence *s)
{
    const size_t count = c->list.count + 1;
    const ferry_text text = {c->markup.text.data + s->begin, s->end - s->begin};
    sentence *grown = ferry_array_grow(c->sentences, &c->capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(c->error, "sentences", count * sizeof *grown);
    c->sentences = grown;
    FERRY_TRY(ferry_sentence_list_add(&c->list, text, c->error));
    grown[count - 1] = *s;
    return FERRY_OK;
}

static ferry_status split(call *c, const ferry_sentence_language *language, bool *tagged)
{
    const ferry_view text = {c->markup.text.data, c->markup.text.size};
    size_t item = 0, free_item = 0;
    for (size_t at = 0; at < text.size;) {
        at += ferry_utf8_leading_space((ferry_view){text.data + at, text.size - at});
        if (at == text.size) break;
        sentence s = {.begin = at, .end = find_end(c, language, at, &item)};
        bool kept;
        find_items(c, &s, free_item, &kept);
        at = s.end;
        free_item = kept ? s.outside : s.after_item;
        if (kept) continue;
        FERRY_TRY(add_sentence(c, &s));
        *tagged = *tagged || s.first_item < s.after_item;
    }
    return FERRY_OK;
}

/* ---- output ---- */

static ferry_status write_bytes(call *c, const char *data, size_t size)
{
    return ferry_string_append(&c->output, (ferry_view){data, size}, c->error);
}

static ferry_status write_source(call *c, size_t begin, size_t end)
{
    return begin < end ? write_bytes(c, c->source.data + begin, end - begin) : FERRY_OK;
}

/* Text in which the characters of `special` become references. */
static ferry_status write_escaped(call *c, const char *data, size_t size, const char *special)
{
    static const char *const names[] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;"};
    size_t written = 0;
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\0' || strchr(special, data[i]) == NULL) continue;
        const char *name = names[(unsigned char)data[i]];
        FERRY_TRY(write_bytes(c, data + written, i - written));
        FERRY_TRY(write_bytes(c, name, strlen(name)));
        written = i + 1;
    }
    return size > 0 ? write_bytes(c, data + written, size - written) : FERRY_OK;
}

static ferry_status write_text(call *c, const char *data, size_t size)
{
    return write_escaped(c, data, size, "&<>");
}

/* Text of the source, with its references, without ill-formed UTF-8. Beside other text, a "<" that began no tag could.
 */
static ferry_status write_repaired(call *c, size_t begin, size_t end)
{
    const ferry_view source = {c->source.data + begin, end - begin};
    char *repaired = source.size < SIZE_MAX / 3 ? malloc(3 * source.size + 1) : NULL;
    bool replaced;
    if (repaired == NULL) return ferry_fail_memory(c->error, "a sentence", source.size);
    const ferry_status status = write_escaped(c, repaired, ferry_utf8_repair(source, repaired, &replaced), "<>");
    free(repaired);
    return status;
}

static bool is_in_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (unsigned char)c >= 0x80;
}

static bool is_blank(const call *c, size_t at)
{
    return at < c->markup.text.size && c->markup.text.data[at] == ' ';
}

/* An element whose text is kept: instead of bytes begin … end - 1 of the target, or beside a word of it. `beside`:
 * behind another one. Where a blank was in the source, there is one. */
static ferry_status write_kept(call *c, ferry_view target, size_t begin, size_t end, const ferry_markup_item *item,
                               bool beside)
{
    const size_t after = c->markup.items[item->partner].at;
    const bool inserted = begin == end, word = begin > 0 && is_in_word(target.data[begin - 1]);
    const bool spaced = c->output.size > 0 && c->output.data[c->output.size - 1] == ' ';
    if (!spaced && (beside || word) && (inserted || (item->at > 0 && is_blank(c, item->at - 1))))
        FERRY_TRY(write_bytes(c, " ", 1));
    FERRY_TRY(write_source(c, item->begin, item->end));
    const bool parted = end < target.size && is_in_word(target.data[end]) && (inserted || is_blank(c, after));
    return parted ? write_bytes(c, " ", 1) : FERRY_OK;
}

/* The translation, with its items. */
static ferry_status write_placed(call *c, ferry_view target, const sentence *s, const ferry_placed *placed)
{
    size_t at = 0, kept_end = SIZE_MAX;
    for (size_t i = 0; i < s->after_item - s->first_item; i++) {
        const ferry_markup_item *item = &c->markup.items[s->first_item + placed[i].item];
        if (!item->kept || item->kind == FERRY_MARKUP_OPEN)
            FERRY_TRY(write_text(c, target.data + at, placed[i].at - at));
        if (!item->kept)
            FERRY_TRY(write_source(c, item->begin, item->end));
        else if (item->kind == FERRY_MARKUP_OPEN) /* its end follows */
            FERRY_TRY(write_kept(c, target, placed[i].at, placed[i + 1].at, item, placed[i].at == kept_end));
        if (item->kept) kept_end = placed[i].at;
        at = placed[i].at;
    }
    return write_text(c, target.data + at, target.size - at);
}

/* ---- tags in sentences ---- */

static void read_weights(const ferry_result_hypothesis *hypothesis, ferry_place_weights *weights)
{
    size_t token = 0;
    for (size_t i = 0; i < hypothesis->block_count; i++) {
        const ferry_result_block *block = &hypothesis->blocks[i];
        for (const float *values = block->weights; token < block->end; values += block->count)
            weights[token++] = (ferry_place_weights){.values = values, .first = block->first, .count = block->count};
    }
}

static ferry_status place(call *c, const ferry_result_line *line, const sentence *s, ferry_place_weights *weights,
                          ferry_placed *placed)
{
    const ferry_result_hypothesis *hypothesis = &line->hypotheses[0];
    if (s->first_item == s->after_item) return write_text(c, hypothesis->text, hypothesis->size);
    const ferry_place_sentence aligned = {
        .source = {c->markup.text.data + s->begin, s->end - s->begin},
        .target = {hypothesis->text != NULL ? hypothesis->text : "", hypothesis->size},
        .items = c->markup.items + s->first_item,
        .first_item = s->first_item,
        .item_count = s->after_item - s->first_item,
        .begin = s->begin,
        .source_tokens = line->source_ranges,
        .target_tokens = hypothesis->ranges,
        .weights = weights,
        .source_count = line->source_count,
        .target_count = (size_t)hypothesis->length,
    };
    read_weights(hypothesis, weights);
    FERRY_TRY(ferry_markup_place(&aligned, placed, c->error));
    return write_placed(c, aligned.target, s, placed);
}

/* The source's bytes begin … end - 1, in which the sentence and its items are. */
static ferry_status write_untranslated(call *c, const sentence *s, size_t begin, size_t end)
{
    for (size_t i = s->first_item; i < s->after_item; i++) {
        const ferry_markup_item *item = &c->markup.items[i];
        if (item->begin < begin) continue; /* the end of content that is kept */
        FERRY_TRY(write_repaired(c, begin, item->begin));
        FERRY_TRY(write_source(c, item->begin, item->end));
        begin = item->end;
    }
    return write_repaired(c, begin, end);
}

/* Whether the sentence stays as it is: it failed, or nothing of it was for the model. */
static bool stays(const ferry_result_line *line)
{
    return line->outcome.status != FERRY_OK || line->hypotheses[0].length == 0;
}

static ferry_status write_translation(call *c, const ferry_result_line *line, const sentence *s)
{
    const size_t items = s->after_item - s->first_item;
    const size_t tokens = (size_t)line->hypotheses[0].length;
    ferry_place_weights *weights = calloc(tokens + 1, sizeof *weights);
    ferry_placed *placed = calloc(items + 1, sizeof *placed);
    ferry_status status;
    if (weights == NULL || placed == NULL)
        status = ferry_fail_memory(c->error, "the tags of a sentence", items * sizeof *placed);
    else
        status = place(c, line, s, weights, placed);
    free(weights);
    free(placed);
    return status;
}

/* Writes the markup from *at to the end of the sentence. */
static ferry_status write_sentence(call *c, const ferry_result_line *line, const sentence *s, ferry_sentence *range,
                                   size_t *at)
{
    const ferry_markup_item *items = c->markup.items;
    const size_t begin = ferry_markup_source_begin(&c->markup, s->begin);
    const size_t end = ferry_markup_source_end(&c->markup, s->end);
    range->source_begin = s->first_item < s->inside ? items[s->first_item].begin : begin;
    range->source_end = s->outside < s->after_item ? items[s->after_item - 1].end : end;
    if (stays(line)) {
        FERRY_TRY(write_source(c, *at, range->source_begin));
        range->target_begin = c->output.size;
        FERRY_TRY(write_untranslated(c, s, range->source_begin, range->source_end));
        range->target_end = c->output.size;
        *at = range->source_end;
        return FERRY_OK;
    }
    for (size_t i = s->first_item; i < s->inside; i++) {
        FERRY_TRY(write_source(c, *at, items[i].begin));
        *at = items[i].end;
    }
    FERRY_TRY(write_source(c, *at, begin));
    range->target_begin = c->output.size;
    FERRY_TRY(write_translation(c, line, s));
    range->target_end = c->output.size;
    *at = end;
    for (size_t i = s->outside; i < s->after_item; i++) {
        FERRY_TRY(write_source(c, *at, items[i].begin));
        *at = items[i].end;
    }
    return FERRY_OK;
}

static ferry_status join(void *user, ferry_result *result, ferry_error *error)
{
    call *c = user;
    size_t at = 0;
    c->error = error;
    if (c->markup.repaired)
        FERRY_TRY(ferry_result_line_warn(&result->lines[0], error, "invalid UTF-8 was read as U+FFFD"));
    for (size_t i = 0; i < c->list.count; i++)
        FERRY_TRY(write_sentence(c, &result->sentences->lines[i], &c->sentences[i], &result->ranges[i], &at));
    FERRY_TRY(write_source(c, at, c->source.size));
    FERRY_TRY(ferry_string_end(&c->output, error));
    result->lines[0].hypotheses[0].text = c->output.data;
    result->lines[0].hypotheses[0].size = c->output.size;
    c->output = (ferry_string){0};
    return FERRY_OK;
}

/* ---- the call ---- */

static ferry_status translate(ferry_translator *translator, call *c, ferry_result **result)
{
    const int32_t wanted = translator->options.alignment;
    bool tagged = false;
    FERRY_TRY(ferry_markup_parse(c->source, &c->markup, c->error));
    FERRY_TRY(split(c, translator->sentences, &tagged));
    if (tagged) translator->options.alignment = 1;
    const ferry_status status = ferry_text_translate(translator, &c->list, join, c, result, c->error);
    translator->options.alignment = wanted;
    return status;
}

ferry_status ferry_translate_markup(ferry_translator *translator, ferry_text markup, ferry_result **result,
                                    ferry_error *error)
{
    call c = {.source = {markup.data, markup.size}, .error = error};
    ferry_call begun;
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_TRY(ferry_text_begin(translator, "markup", markup, &begun, error));
    const ferry_status status = translate(translator, &c, result);
    ferry_markup_destroy(&c.markup);
    free(c.list.texts);
    free(c.sentences);
    free(c.output.data);
    return ferry_call_end(&begun, status);
}
