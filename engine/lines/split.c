#include "split.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "glossary.h"
#include "model.h"
#include "tokenizer/unicode.h"
#include "tokenizer/sentences.h"

/* FERRY_SPLIT_AUTO splits a line of several sentences if it has more than MAX_TOGETHER source tokens.
 * docs/decoding.md says how the number was chosen. */
enum { MAX_TOGETHER = 10 };

enum {
    MAX_BYTES = 64,     /* maximum bytes of text for each source token */
    MAX_TEXT = 1 << 20, /* maximum bytes that are tokenized at once */
    GUESSED_BYTES = 4,  /* bytes of text for each source token, as a first guess */
    GUESSES = 3         /* guesses of a part's end before bisection */
};

/* ---- texts ---- */

/* Moves *at over white space, to `end` at most. Returns whether a sentence begins there. */
static bool find_begin(ferry_view text, size_t *at, size_t end)
{
    uint32_t c;
    for (size_t after = *at; *at < end; *at = after)
        if (!ferry_utf8_next(text, &after, &c) || !ferry_utf8_is_space(c)) return true;
    return false;
}

/* ---- terms ---- */

/* Whether an entry of the glossary is around byte `at` of the text, at which a sentence may end. */
static bool is_within_entry(ferry_text_lines *lines, ferry_view text, size_t at)
{
    ferry_glossary_match match;
    while (ferry_glossary_next(lines->glossary, lines->terms, text, &lines->looked, at, &match))
        lines->entry_end = match.end;
    return lines->entry_end > at;
}

/* ferry_sentence_go_on; no sentence ends within a term, unless its line does. `offset`: of search->text in the line or
 * text of the terms. `lines`: of the text, if entries of a glossary count, too; or NULL. */
static bool go_on(ferry_sentence_search *search, size_t bytes, ferry_terms terms, size_t offset,
                  ferry_text_lines *lines)
{
    const size_t end = bytes < search->text.size - search->at ? search->at + bytes : search->text.size;
    bool ended = ferry_sentence_go_on(search, bytes);
    while (ended && search->at < search->text.size && !ferry_sentence_ends_line(search) &&
           (ferry_terms_around(terms, offset + search->visible) != NULL ||
            (lines != NULL && is_within_entry(lines, search->text, search->visible))))
        ended = search->at < end && ferry_sentence_go_on(search, end - search->at);
    return ended;
}

ferry_status ferry_text_split_on(const ferry_line_rules *rules, ferry_text whole, size_t bytes, ferry_text_lines *lines,
                                 bool *more, ferry_error *error)
{
    const ferry_view text = {whole.data, whole.size};
    const size_t end = bytes < text.size - lines->at ? lines->at + bytes : text.size;
    ferry_sentence_search *search = &lines->search;
    while (lines->at < end) {
        if (!lines->within) {
            lines->within = find_begin(text, &lines->at, end);
            if (!lines->within) break;
            ferry_sentence_begin(search, text, lines->at, rules->sentences);
            lines->glossary = rules->options->glossary;
            lines->looked = lines->entry_end = lines->at;
        }
        lines->within = !go_on(search, end - lines->at, lines->terms, 0, lines->glossary != NULL ? lines : NULL);
        lines->at = lines->within ? search->at : search->visible;
        if (lines->within) break;
        ferry_text *added = ferry_array_add(&lines->texts, &lines->count, &lines->capacity, sizeof *added);
        if (added == NULL)
            return ferry_fail_memory(error, "the sentences of a text", (lines->count + 1), sizeof *added);
        *added = (ferry_text){text.data + search->begin, search->visible - search->begin};
    }
    *more = lines->at < text.size;
    return FERRY_OK;
}

ferry_status ferry_text_split(const ferry_line_rules *rules, ferry_text text, ferry_text_lines *lines,
                              ferry_error *error)
{
    bool more;
    return ferry_text_split_on(rules, text, SIZE_MAX, lines, &more, error);
}

/* ---- cuts ---- */

bool ferry_cut_is_at(ferry_view text, size_t at, ferry_cut cut)
{
    uint32_t before = 0, after = 0;
    size_t previous = at, next = at;
    if (at == text.size) return true;
    if (((unsigned char)text.data[at] & 0xC0) == 0x80) return false; /* within a character */
    if (cut == FERRY_CUT_CHARACTER) return true;
    ferry_utf8_next(text, &next, &after);
    if (cut == FERRY_CUT_BLANK && !ferry_utf8_is_space(after)) return false;
    ferry_utf8_previous(text, &previous, &before);
    return cut == FERRY_CUT_BLANK ? !ferry_utf8_is_space(before) : !ferry_unicode_joins(before, after);
}

size_t ferry_cut_near(ferry_view text, size_t low, size_t high, size_t guess, ferry_cut cut)
{
    for (size_t at = guess; at > low; at--)
        if (ferry_cut_is_at(text, at, cut)) return at;
    for (size_t at = guess + 1; at < high; at++)
        if (ferry_cut_is_at(text, at, cut)) return at;
    return low;
}

/* ---- parts ---- */

void ferry_parts_destroy(ferry_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        free(parts->parts[i].ids.ids);
        free(parts->parts[i].prefix.ids);
        free(parts->parts[i].terms);
        free(parts->parts[i].once);
        free((char *)(uintptr_t)parts->parts[i].original.data);
        free(parts->parts[i].ranges.ranges);
        ferry_result_line_clear(&parts->parts[i].result);
    }
    free(parts->parts);
    memset(parts, 0, sizeof *parts);
}

ferry_status ferry_parts_add(ferry_parts *parts, ferry_part **part, ferry_error *error)
{
    *part = NULL;
    /* Nearly every line has one part: room for more is made with the second. */
    const size_t count = parts->count + 1;
    ferry_part *grown =
        count == 1 ? malloc(sizeof *grown) : ferry_array_grow(parts->parts, &parts->capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "the parts of a line", count, sizeof *grown);
    parts->parts = grown;
    *part = &grown[parts->count++];
    memset(*part, 0, sizeof **part);
    return FERRY_OK;
}

bool ferry_parts_is_long(size_t bytes, size_t limit)
{
    return bytes / MAX_BYTES > limit || bytes > MAX_TEXT;
}

/* ---- the splitter ---- */

typedef ferry_splitter splitter;

static ferry_status encode(splitter *s, ferry_view text, bool ranges, ferry_error *error)
{
    return ferry_languages_encode_part(s->model, s->rules->pair, s->tag, text, &s->trial, ranges ? &s->ranges : NULL,
                                       error);
}

/* Sets the trial to the ids of the first `bytes` of the rest. *fits: they are few enough for a part. */
static ferry_status try_part(splitter *s, size_t bytes, bool *fits, ferry_error *error)
{
    *fits = false;
    if (ferry_stopped(s->stop)) return ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled");
    FERRY_TRY(encode(s, (ferry_view){s->rest.data, bytes}, s->wants_ranges, error));
    *fits = s->trial.count <= s->limit;
    return FERRY_OK;
}

/* Exchanges the ids of the last trial for those of the part. */
static void swap_trial(splitter *s, ferry_part *part)
{
    const ferry_ids ids = s->trial;
    const ferry_ranges ranges = s->ranges;
    s->trial = part->ids;
    s->ranges = part->ranges;
    part->ids = ids;
    part->ranges = ranges;
}

/* Tries the first `bytes` of the rest. If there are more than 2 × guess, a probe of this size comes first: the rest
 * is too long if the probe has more than limit + MAX_BYTES tokens. (The probe may cut a word, which then has more
 * pieces than the whole word.) *probe and *tokens: the bytes of the first trial, and its tokens. */
static ferry_status try_text(splitter *s, size_t bytes, size_t *probe, size_t *tokens, bool *fits, ferry_error *error)
{
    *probe = 2 * s->guess < bytes ? 2 * s->guess : bytes;
    while (!ferry_cut_is_at(s->rest, *probe, FERRY_CUT_CHARACTER)) ++*probe;
    FERRY_TRY(try_part(s, *probe, fits, error));
    *tokens = s->trial.count;
    if (*probe >= bytes || *tokens > s->limit + MAX_BYTES) return FERRY_OK;
    return try_part(s, bytes, fits, error);
}

/* ferry_cut_near; one before a term rather than within it. */
static size_t cut_near(const splitter *s, size_t low, size_t high, size_t guess, ferry_cut cut)
{
    const size_t at = ferry_cut_near(s->rest, low, high, guess, cut), offset = (size_t)(s->rest.data - s->begin);
    const ferry_term *term = ferry_terms_around(s->terms, offset + at);
    if (at == low || term == NULL || term->begin <= offset + low) return at;
    const size_t before = ferry_cut_near(s->rest, low, high, term->begin - offset, cut);
    return before > low && before <= term->begin - offset ? before : at;
}

/* Finds the longest part that ends at a cut of this kind before *high. *size: its bytes; 0 if no part is short
 * enough. Lowers *high to the first cut that is too far. */
static ferry_status find_cut(splitter *s, ferry_cut cut, size_t *high, size_t *size, ferry_part *part,
                             ferry_error *error)
{
    size_t guess = s->guess;
    for (int tries = 0;; tries++) {
        bool fits;
        if (tries >= GUESSES || guess <= *size || guess >= *high) guess = *size + (*high - *size) / 2;
        const size_t at = cut_near(s, *size, *high, guess, cut);
        if (at == *size) return FERRY_OK;
        FERRY_TRY(try_part(s, at, &fits, error));
        guess = at * s->limit / (s->trial.count + 1);
        if (!fits) {
            *high = at;
            continue;
        }
        swap_trial(s, part);
        *size = at;
    }
}

/* Finds the end of the rest's first sentence. Returns false if it is beyond the text that can be tokenized at once:
 * *end is then the end of this text. A long sentence is not searched again for each of its parts. */
static bool find_sentence(splitter *s, size_t *end)
{
    const size_t max = s->limit < MAX_TEXT / MAX_BYTES ? s->limit * MAX_BYTES : MAX_TEXT;
    const ferry_view window = {s->rest.data, max < s->rest.size ? max : s->rest.size};
    if (s->sentence == 0 && (s->inside < window.size / 2 || window.size == s->rest.size)) {
        ferry_sentence_search search;
        ferry_sentence_begin(&search, window, 0, s->rules->sentences);
        go_on(&search, SIZE_MAX, s->terms, (size_t)(s->rest.data - s->begin), NULL);
        *end = search.visible;
        if (window.size == s->rest.size || !ferry_utf8_is_blank((ferry_view){window.data + *end, window.size - *end}))
            s->sentence = *end;
        else
            s->inside = window.size;
    }
    *end = s->sentence > 0 ? s->sentence : window.size;
    return s->sentence > 0;
}

/* Finds the first part of the rest: a sentence, or the longest beginning of one that is short enough. */
static ferry_status find_part(splitter *s, size_t *size, ferry_part *part, ferry_error *error)
{
    size_t window, probe, tokens;
    bool fits;
    const bool sentence = find_sentence(s, &window);
    const size_t first = sentence || window < 2 * s->guess ? window : 2 * s->guess;
    FERRY_TRY(try_text(s, first, &probe, &tokens, &fits, error));
    if (sentence && fits) {
        *size = window;
        swap_trial(s, part);
        return FERRY_OK;
    }
    part->cut = true;
    size_t high = tokens > s->limit + MAX_BYTES ? probe : window + 1;
    s->guess = probe * s->limit / (tokens + 1);
    if (s->guess > window) s->guess = window;
    *size = 0;
    for (int cut = FERRY_CUT_BLANK; *size == 0 && cut < FERRY_CUTS; cut++)
        FERRY_TRY(find_cut(s, (ferry_cut)cut, &high, size, part, error));
    s->guess = *size;
    if (*size > 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_LIMIT,
                      "one character has %zu source tokens, special tokens included; max_source is %zu", s->trial.count,
                      s->limit);
}

/* Removes the first `bytes` from the rest, and returns them. */
static ferry_view take(splitter *s, size_t bytes)
{
    const ferry_view taken = {s->rest.data, bytes};
    s->rest = (ferry_view){s->rest.data + bytes, s->rest.size - bytes};
    s->sentence = s->sentence > bytes ? s->sentence - bytes : 0;
    s->inside = s->inside > bytes ? s->inside - bytes : 0;
    return taken;
}

/* Whether the rest has several sentences. */
static bool has_several(const splitter *s)
{
    const size_t space = ferry_utf8_leading_space(s->rest);
    if (space == s->rest.size) return false;
    const size_t end = ferry_sentence_end(s->rest, space, s->rules->sentences);
    return !ferry_utf8_is_blank((ferry_view){s->rest.data + end, s->rest.size - end});
}

/* Makes the rest one part, if it is short enough and options.split does not request several. *whole: it is done. */
static ferry_status take_whole(splitter *s, bool *whole, ferry_error *error)
{
    const ferry_split split = s->rules->options->split;
    ferry_part *part;
    size_t probe, tokens;
    *whole = !ferry_parts_is_long(s->rest.size, s->limit) && !(split == FERRY_SPLIT_ALL && has_several(s));
    if (*whole) FERRY_TRY(try_text(s, s->rest.size, &probe, &tokens, whole, error));
    if (*whole && split == FERRY_SPLIT_AUTO && s->trial.count > MAX_TOGETHER && has_several(s)) *whole = false;
    if (!*whole) return FERRY_OK;
    FERRY_TRY(ferry_parts_add(s->parts, &part, error));
    swap_trial(s, part);
    part->text = take(s, s->rest.size);
    return FERRY_OK;
}

/* Makes the beginning of the rest a part. */
static ferry_status take_part(splitter *s, ferry_error *error)
{
    ferry_part *part;
    size_t size;
    const ferry_view space = take(s, ferry_utf8_leading_space(s->rest));
    if (s->rest.size == 0) return FERRY_OK;
    FERRY_TRY(ferry_parts_add(s->parts, &part, error));
    part->separator = s->parts->count > 1 ? space : (ferry_view){s->rest.data, 0};
    FERRY_TRY(find_part(s, &size, part, error));
    part->text = take(s, size);
    return FERRY_OK;
}

/* Finds the unknown text of a part, and removes the ids if the part is invisible to the model. An invisible part that
 * has unknown ids and letters gets FERRY_QUALITY_UNKNOWN. */
static ferry_status look_at_part(splitter *s, ferry_part *part, ferry_error *error)
{
    const ferry_tokenizer_config *text = &s->model->file.text;
    const ferry_piece_counts counts = ferry_count_pieces(text, &part->ids);
    const bool visible =
        counts.visible > s->frame.visible && ferry_text_visibility(part->text) != FERRY_VISIBILITY_NONE;
    part->unknowns = counts.unknown > s->frame.unknown ? counts.unknown - s->frame.unknown : 0;
    if (!visible) {
        if (part->unknowns > 0 && ferry_text_visibility(part->text) == FERRY_VISIBILITY_LETTER)
            part->quality.flags = FERRY_QUALITY_UNKNOWN;
        if (s->tag.size > 0) part->text = ferry_utf8_trim(part->text);
        part->ids.count = part->ranges.count = 0;
    } else if (part->unknowns > 0) {
        FERRY_TRY(encode(s, part->text, true, error));
        for (size_t i = s->trial.count; i-- > 0;) {
            const ferry_range range = s->ranges.ranges[i];
            if (s->trial.ids[i] == text->source_unk_id && range.begin < range.end)
                part->first_unknown = (ferry_view){part->text.data + range.begin, range.end - range.begin};
        }
    }
    return FERRY_OK;
}

ferry_status ferry_splitter_begin(const ferry_model *model, const ferry_line_rules *rules, ferry_view line,
                                  const ferry_stop *stop, ferry_parts *parts, ferry_splitter *s, ferry_error *error)
{
    *s = (ferry_splitter){.model = model,
                          .rules = rules,
                          .stop = stop,
                          .parts = parts,
                          .wants_ranges = ferry_line_rules_want_tokens(rules),
                          .begin = line.data,
                          .rest = line,
                          .limit = (size_t)rules->source_limit,
                          .guess = GUESSED_BYTES * (size_t)rules->source_limit};
    FERRY_TRY(ferry_languages_check_line(model, rules->pair, line, error));
    s->tag = take(s, ferry_tokenizer_tag_size(model->tokenizer, line));
    FERRY_TRY(encode(s, (ferry_view){s->rest.data, 0}, false, error));
    s->frame = ferry_count_pieces(&model->file.text, &s->trial);
    return FERRY_OK;
}

ferry_status ferry_splitter_next(ferry_splitter *s, bool *more, ferry_error *error)
{
    const size_t count = s->parts->count;
    bool whole = false;
    if (count == 0) FERRY_TRY(take_whole(s, &whole, error));
    if (!whole) FERRY_TRY(take_part(s, error));
    if (s->parts->count > count) s->parts->parts[count].tag = s->tag;
    if (s->parts->count > count) FERRY_TRY(look_at_part(s, &s->parts->parts[count], error));
    *more = s->rest.size > 0;
    return FERRY_OK;
}

void ferry_splitter_end(ferry_splitter *s)
{
    free(s->trial.ids);
    free(s->ranges.ranges);
    *s = (ferry_splitter){0};
}
