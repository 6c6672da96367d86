#include "document_glossary.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/unicode.h"

/* ---- terms ---- */

/* The character at *at of a source, which moves behind it; white space is one blank. */
static uint32_t read_character(ferry_view source, size_t *at)
{
    uint32_t c;
    ferry_utf8_next(source, at, &c);
    if (!ferry_utf8_is_space(c)) return c;
    *at += ferry_utf8_leading_space((ferry_view){source.data + *at, source.size - *at});
    return ' ';
}

/* Writes the source's key to `key`. Returns its bytes: at most twice those of the source, as no small letter has more
 * than two where its capital has one. */
static size_t write_key(ferry_view source, char *key)
{
    size_t size = 0;
    for (size_t at = 0; at < source.size;)
        size += ferry_utf8_put(ferry_unicode_lower(read_character(source, &at)), key + size);
    return size;
}

static ferry_status check_entry(const ferry_document_term *entry, size_t index, ferry_error *error)
{
    const ferry_view source = {entry->source.data, entry->source.size},
                     target = {entry->target.data, entry->target.size};
    const char *wanted = NULL;
    if (ferry_utf8_is_blank(source))
        wanted = "a source, found none";
    else if (source.size > FERRY_MOST_TERM)
        wanted = "a source of at most 256 bytes, found more";
    else if (!ferry_utf8_is_valid(source) || (target.size > 0 && !ferry_utf8_is_valid(target)))
        wanted = "UTF-8, found other bytes";
    if (wanted == NULL) return FERRY_OK;
    return ferry_fail_argument(error, "glossary", "entry %zu, '%.*s': expected %s", index + 1,
                               source.size < 40 ? (int)source.size : 40, source.size > 0 ? source.data : "", wanted);
}

static int compare_terms(const void *a, const void *b)
{
    const ferry_glossary_term *x = a, *y = b;
    const int order = ferry_view_compare(x->key, y->key);
    return order != 0 ? order : ferry_view_compare(x->source, y->source);
}

ferry_status ferry_glossary_create(const ferry_document_term *entries, size_t count, ferry_glossary *glossary,
                                   ferry_error *error)
{
    size_t room = 0;
    *glossary = (ferry_glossary){.count = 0};
    for (size_t i = 0; i < count; i++) {
        FERRY_TRY(check_entry(&entries[i], i, error));
        room += 2 * entries[i].source.size;
    }
    glossary->keys = malloc(room + 1);
    glossary->terms = calloc(count + 1, sizeof *glossary->terms);
    if (glossary->keys == NULL || glossary->terms == NULL)
        return ferry_fail_memory(error, "a glossary", room + count * sizeof *glossary->terms, 1);
    char *key = glossary->keys;
    for (size_t i = 0; i < count; i++) {
        ferry_glossary_term *term = &glossary->terms[i];
        term->source = ferry_utf8_trim((ferry_view){entries[i].source.data, entries[i].source.size});
        term->target = (ferry_view){entries[i].target.data, entries[i].target.size};
        term->key = (ferry_view){key, write_key(term->source, key)};
        key += term->key.size;
    }
    glossary->count = count;
    qsort(glossary->terms, count, sizeof *glossary->terms, compare_terms);
    for (size_t i = 1; i < count; i++) {
        const ferry_glossary_term *term = &glossary->terms[i];
        if (compare_terms(term - 1, term) != 0 || ferry_view_equal(term[-1].target, term->target)) continue;
        return ferry_fail_argument(error, "glossary", "expected one target of '%.*s', found two",
                                   (int)term->source.size, term->source.data);
    }
    return FERRY_OK;
}

void ferry_glossary_destroy(ferry_glossary *glossary)
{
    free(glossary->terms);
    free(glossary->keys);
    *glossary = (ferry_glossary){.count = 0};
}

/* ---- the search ---- */

/* The first of terms begin … end - 1 whose key has at least `byte` at `place`. */
static size_t find_byte(const ferry_glossary *glossary, size_t begin, size_t end, size_t place, int byte)
{
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        const ferry_view key = glossary->terms[middle].key;
        if (place >= key.size || (unsigned char)key.data[place] < byte)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

bool ferry_glossary_step(const ferry_glossary *glossary, ferry_glossary_search *s, uint32_t c)
{
    char bytes[4];
    const size_t size = ferry_utf8_put(ferry_unicode_lower(c), bytes);
    for (size_t i = 0; i < size; i++, s->size++) {
        const int byte = (unsigned char)bytes[i];
        s->begin = find_byte(glossary, s->begin, s->end, s->size, byte);
        s->end = find_byte(glossary, s->begin, s->end, s->size, byte + 1);
    }
    if (s->begin == s->end || sizeof s->found - s->found_size < sizeof bytes) return false;
    s->found_size += ferry_utf8_put(c, s->found + s->found_size);
    return true;
}

/* Whether the text is the source, but for capitals in the place of small letters, and white space. */
static bool is_term(ferry_view source, ferry_view found)
{
    for (size_t at = 0, found_at = 0; at < source.size;) {
        const uint32_t c = read_character(source, &at);
        uint32_t other;
        if (!ferry_utf8_next(found, &found_at, &other)) return false;
        if (c != other && c != ferry_unicode_lower(other)) return false;
    }
    return true;
}

const ferry_glossary_term *ferry_glossary_complete(const ferry_glossary *glossary, const ferry_glossary_search *s)
{
    /* Those with capitals come first. */
    for (size_t i = s->begin; i < s->end && glossary->terms[i].key.size == s->size; i++)
        if (is_term(glossary->terms[i].source, (ferry_view){s->found, s->found_size})) return &glossary->terms[i];
    return NULL;
}

const ferry_glossary_term *ferry_glossary_find(const ferry_glossary *glossary, ferry_view text)
{
    ferry_glossary_search search = {.end = glossary != NULL ? glossary->count : 0};
    for (size_t at = 0; at < text.size;) {
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c) || !ferry_glossary_step(glossary, &search, c)) return NULL;
    }
    return search.begin < search.end ? ferry_glossary_complete(glossary, &search) : NULL;
}

/* Two capitals at least, and no small letter. */
static bool is_in_capitals(ferry_view text)
{
    size_t upper = 0;
    for (size_t at = 0; at < text.size;) {
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c)) return false;
        if (ferry_unicode_character(c) == FERRY_CHARACTER_LOWER) return false;
        upper += ferry_unicode_character(c) == FERRY_CHARACTER_UPPER;
    }
    return upper > 1;
}

ferry_status ferry_glossary_write(const ferry_glossary_term *term, ferry_view found, ferry_buffer *out,
                                  ferry_error *error)
{
    if (term->target.size == 0) return ferry_buffer_append(out, found, error);
    if (!is_in_capitals(found) || is_in_capitals(term->source)) return ferry_buffer_append(out, term->target, error);
    for (size_t at = 0; at < term->target.size;) {
        uint32_t c;
        char bytes[4];
        ferry_utf8_next(term->target, &at, &c);
        const ferry_view upper = {bytes, ferry_utf8_put(ferry_unicode_upper(c), bytes)};
        FERRY_TRY(ferry_buffer_append(out, upper, error));
    }
    return FERRY_OK;
}
