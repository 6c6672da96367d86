#include "stand_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/string_table.h"
#include "base/utf8.h"

typedef struct line {
    ferry_sentence range;
    ferry_outcome outcome;
    ferry_buffer text;
    ferry_token *source, *target; /* [source_count], [target_count] */
    size_t *from;                 /* [target_count] the source token of each, which has all of its weight */
    float *weights;               /* [2 part + 1]: a 1 in the middle; those of a token are `part` of them */
    size_t source_count, target_count;
    size_t part; /* source tokens that are translated at once: those of a part are aligned to each other alone */
} line;

struct ferry_result {
    ferry_buffer text;
    line *lines; /* [count] */
    size_t count;
};

/* The terms of a request from number `index` on. */
typedef struct terms_left {
    const ferry_request *request;
    size_t index;
} terms_left;

static const ferry_term *next_term(const terms_left *terms)
{
    const ferry_request *request = terms->request;
    if (terms->index >= request->term_count) return NULL;
    return (const ferry_term *)(const void *)((const char *)request->terms + terms->index * request->term_size);
}

enum { LONGEST_PART = 512 }; /* as the library's */

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL) abort();
    return memory;
}

static void append(ferry_buffer *out, const char *data, size_t size)
{
    if (ferry_buffer_append(out, (ferry_view){data, size}, NULL) != FERRY_OK) abort();
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_of_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* General punctuation, arrows and symbols: U+2000 to U+2BFF. */
static bool is_symbol(const char *bytes)
{
    return (unsigned char)bytes[0] == 0xE2 && (unsigned char)bytes[1] < 0xB0;
}

/* Terms, words, and what is neither a word nor a blank. *terms: those of the text from byte `begin` on, and what is
 * behind them. */
static size_t read_tokens(ferry_view text, size_t begin, terms_left *terms, ferry_token *tokens)
{
    size_t count = 0;
    for (size_t at = 0, end; at < text.size; at = end) {
        const ferry_term *term = next_term(terms);
        const size_t next = term != NULL && term->begin - begin < text.size ? term->begin - begin : text.size;
        end = at + 1;
        if (text.data[at] == ' ') continue;
        if (at == next) {
            end = term->end - begin;
            terms->index++;
        } else if (is_symbol(text.data + at)) {
            end = at + 3;
        } else if (is_of_word(text.data[at])) {
            while (end < next && is_of_word(text.data[end]) && !is_symbol(text.data + end)) end++;
        }
        tokens[count++] =
            (ferry_token){.id = at == next ? 1 + (int32_t)term->target_count : 0, .begin = at, .end = end};
    }
    return count;
}

/* `is_term`: it comes back as it is. */
static void change(const ferry_translator *translator, ferry_view word, bool is_term, ferry_buffer *out)
{
    if (is_term || translator->way == STAND_IN_SAME) {
        append(out, word.data, word.size);
        return;
    }
    if (translator->way == STAND_IN_HOSTILE) {
        append(out, translator->given, strlen(translator->given));
        return;
    }
    for (size_t i = 0; i < word.size; i++) {
        const char c = word.data[i], upper = (char)(is_letter(c) ? c & ~32 : c);
        append(out, translator->way == STAND_IN_UPPER ? &upper : &c, 1);
        if (translator->way == STAND_IN_LONGER && is_letter(c)) append(out, &c, 1);
    }
}

/* Each word changed, with the blanks as they are. */
static void translate_words(const ferry_translator *translator, ferry_view source, line *l)
{
    size_t at = 0;
    l->target = allocate(l->source_count, sizeof *l->target);
    l->from = allocate(l->source_count, sizeof *l->from);
    for (size_t i = 0; i < l->source_count; i++) {
        append(&l->text, source.data + at, l->source[i].begin - at);
        l->target[i].begin = l->text.size;
        change(translator, (ferry_view){source.data + l->source[i].begin, l->source[i].end - l->source[i].begin},
               l->source[i].id != 0, &l->text);
        l->target[i].end = l->text.size;
        l->from[i] = i;
        at = l->source[i].end;
    }
    l->target_count = l->source_count;
    append(&l->text, source.data + at, source.size - at);
}

/* Of lines "WORD\2TRANSLATION", the translation of the one whose word the source begins with, or which has none. */
static const char *find_given(const char *given, ferry_view source, const line *l)
{
    const size_t first = l->source_count > 0 ? l->source[0].end : 0;
    for (const char *bar; (bar = strchr(given, 2)) != NULL; given = strchr(bar, '\n') + 1)
        if (bar == given || ((size_t)(bar - given) == first && memcmp(given, source.data, first) == 0)) return bar + 1;
    return given;
}

/* See stand_in.h. */
static void take_given(const ferry_translator *translator, ferry_view source, line *l)
{
    const char *given = find_given(translator->given, source, l);
    l->target = allocate(strlen(given), sizeof *l->target);
    l->from = allocate(strlen(given), sizeof *l->from);
    for (size_t size; *given != '\0' && *given != '\n'; given += size) {
        size = strcspn(given, " \1\n");
        if (size == 0) {
            append(&l->text, given, *given == ' ');
            size = 1;
            continue;
        }
        const char *at = memchr(given, '\f', size);
        const size_t bytes = at != NULL ? (size_t)(at - given) : size, i = l->target_count++;
        const size_t from = at != NULL ? (size_t)atoi(at + 1) : i;
        l->target[i].begin = l->text.size;
        if (bytes == 0)
            append(&l->text, source.data + l->source[from].begin, l->source[from].end - l->source[from].begin);
        append(&l->text, given, bytes);
        l->target[i].end = l->text.size;
        l->from[i] = from;
    }
}

/* A translation that lacks a term with a target has the flag. */
static void look_for_terms(ferry_view source, line *l)
{
    for (size_t i = 0; i < l->source_count; i++) {
        const ferry_token *token = &l->source[i];
        const ferry_view term = {source.data + token->begin, token->end - token->begin};
        bool found = token->id < 2;
        for (size_t at = 0; at + term.size <= l->text.size && !found; at++)
            found = memcmp(l->text.data + at, term.data, term.size) == 0;
        if (!found) l->outcome.quality |= FERRY_QUALITY_TERM;
    }
}

static void translate_line(const ferry_translator *translator, ferry_view source, size_t begin, terms_left *terms,
                           line *l)
{
    l->source = allocate(source.size, sizeof *l->source);
    l->source_count = read_tokens(source, begin, terms, l->source);
    if (translator->way == STAND_IN_GIVEN)
        take_given(translator, source, l);
    else
        translate_words(translator, source, l);
    append(&l->text, "", 1);
    l->text.size--;
    const bool whole = translator->way == STAND_IN_GIVEN || l->source_count < LONGEST_PART;
    l->part = whole ? l->source_count : LONGEST_PART;
    l->weights = allocate(2 * l->part + 1, sizeof *l->weights);
    l->weights[l->part] = 1;
    l->outcome.quality = translator->quality;
    if (translator->way == STAND_IN_GIVEN) look_for_terms(source, l);
}

ferry_status ferry_translate_text_with(ferry_translator *translator, ferry_text text, const ferry_request *request,
                                       ferry_result **result, ferry_error *error)
{
    terms_left terms = {.request = request};
    ferry_result *made = allocate(1, sizeof *made);
    (void)error;
    made->lines = allocate(text.size, sizeof *made->lines);
    translator->calls++;
    translator->aligned_calls += translator->aligned;
    for (size_t at = 0, end; at < text.size; at = end + 1) {
        const char *next = memchr(text.data + at, '\n', text.size - at);
        end = next != NULL ? (size_t)(next - text.data) : text.size;
        size_t last = end;
        while (last > at && text.data[last - 1] == ' ') last--;
        if (last == at) continue;
        line *l = &made->lines[made->count++];
        l->range = (ferry_sentence){.source_begin = at, .source_end = last};
        translate_line(translator, (ferry_view){text.data + at, last - at}, at, &terms, l);
        if (!translator->aligned) l->source_count = 0;
        if (request->progress != NULL && request->progress(request->user, end, text.size) != 0) break;
    }
    *result = made;
    return FERRY_OK;
}

const ferry_language *ferry_model_language(const ferry_model *model, size_t index)
{
    static const ferry_language languages[] = {
        {"eng_Latn", "en eng", "English", FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_DEFAULT_SOURCE},
        {"de", "deu", "German", FERRY_LANGUAGE_TARGET | FERRY_LANGUAGE_DEFAULT_TARGET},
        {"tur_Latn", "tr", "Turkish", FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET},
    };
    (void)model;
    return index < sizeof languages / sizeof *languages ? &languages[index] : NULL;
}

size_t ferry_model_reads(const ferry_model *model, ferry_text text)
{
    const ferry_view view = {text.data, text.size};
    size_t at = 0;
    (void)model;
    for (size_t next = 0; at < text.size; at = next) {
        uint32_t c;
        if (ferry_utf8_next(view, &next, &c) && c >= STAND_IN_UNREAD && c < 0x2E80) break;
    }
    return at;
}

ferry_status ferry_translator_align(ferry_translator *translator, int on)
{
    translator->aligned = on != 0;
    return FERRY_OK;
}

ferry_translator *ferry_translator_stage(const ferry_translator *translator, size_t index)
{
    while (index-- > 0 && translator != NULL) translator = translator->next;
    return (ferry_translator *)(uintptr_t)translator;
}

void ferry_result_destroy(ferry_result *result)
{
    if (result == NULL) return;
    for (size_t i = 0; i < result->count; i++) {
        free(result->lines[i].text.data);
        free(result->lines[i].source);
        free(result->lines[i].target);
        free(result->lines[i].from);
        free(result->lines[i].weights);
    }
    free(result->lines);
    free(result);
}

size_t ferry_result_sentence_count(const ferry_result *result)
{
    return result->count;
}

const ferry_sentence *ferry_result_sentence(const ferry_result *result, size_t index)
{
    return &result->lines[index].range;
}

const ferry_result *ferry_result_sentences(const ferry_result *result)
{
    return result;
}

const ferry_outcome *ferry_result_outcome(const ferry_result *result, size_t index)
{
    return &result->lines[index].outcome;
}

ferry_text ferry_result_text(const ferry_result *result, size_t index, size_t hypothesis)
{
    (void)hypothesis;
    return (ferry_text){result->lines[index].text.data, result->lines[index].text.size};
}

size_t ferry_result_token_count(const ferry_result *result, size_t index, size_t hypothesis)
{
    (void)hypothesis;
    return result->lines[index].target_count;
}

size_t ferry_result_source_token_count(const ferry_result *result, size_t index)
{
    return result->lines[index].source_count;
}

ferry_status ferry_result_source_token(const ferry_result *result, size_t index, size_t token, ferry_token *to,
                                       size_t size)
{
    memcpy(to, &result->lines[index].source[token], size);
    return FERRY_OK;
}

ferry_status ferry_result_token(const ferry_result *result, size_t index, size_t hypothesis, size_t token,
                                ferry_token *to, size_t size)
{
    (void)hypothesis;
    memcpy(to, &result->lines[index].target[token], size);
    return FERRY_OK;
}

const float *ferry_result_weights(const ferry_result *result, size_t index, size_t hypothesis, size_t token,
                                  size_t *first, size_t *count)
{
    const line *l = &result->lines[index];
    (void)hypothesis;
    const size_t from = l->from[token];
    const bool is_aligned = from < l->source_count;
    *first = is_aligned ? from / l->part * l->part : 0;
    *count = l->source_count - *first < l->part ? l->source_count - *first : l->part;
    return l->weights + (is_aligned ? l->part - (from - *first) : l->part + 1);
}
