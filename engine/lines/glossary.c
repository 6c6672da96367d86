#include "glossary.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

enum {
    MAX_SOURCE = 256, /* bytes of a source: so that time is linear */
    FIRST_ENTRY = offsetof(ferry_glossary_entry, target_count) + sizeof(size_t) /* options.c */
};

typedef struct entry {
    ferry_view source; /* with one blank in place of white space */
    ferry_view key;    /* the source in small letters */
    const ferry_text *targets;
    size_t target_count;
} entry;

struct ferry_glossary {
    atomic_size_t users;
    entry *entries; /* [count], ascending by key, then source */
    size_t count;
    ferry_text *targets;
    char *bytes; /* of all texts */
};

/* The character at *at of a text, which moves behind it; white space is one blank. */
static uint32_t read_character(ferry_view text, size_t *at)
{
    const uint32_t c = ferry_unicode_next(text, at);
    if (!ferry_utf8_is_space(c)) return c;
    *at += ferry_utf8_leading_space((ferry_view){text.data + *at, text.size - *at});
    return ' ';
}

/* Two capitals at least, and no small letter. */
static bool is_in_capitals(ferry_view text)
{
    size_t capitals = 0;
    for (size_t at = 0; at < text.size;) {
        const ferry_character kind = ferry_unicode_character(ferry_unicode_next(text, &at));
        if (kind == FERRY_CHARACTER_LOWER) return false;
        capitals += kind == FERRY_CHARACTER_UPPER;
    }
    return capitals > 1;
}

/* ---- creation ---- */

static ferry_status check_text(ferry_text text, size_t index, const char *field, ferry_error *error)
{
    const ferry_view view = {text.data, text.size};
    const char *const found = text.data == NULL && text.size > 0 ? "NULL"
                              : ferry_utf8_is_blank(view)        ? "a blank one"
                              : !ferry_utf8_is_valid(view)       ? "ill-formed UTF-8"
                                                                 : NULL;
    if (found == NULL) return FERRY_OK;
    return ferry_fail_argument(error, "entries", "expected a text at entries[%zu].%s, found %s", index, field, found);
}

/* Checks an entry, and adds to *bytes and *targets what its copy needs. */
static ferry_status check_entry(const ferry_glossary_entry *given, size_t index, size_t *bytes, size_t *targets,
                                ferry_error *error)
{
    FERRY_TRY(check_text(given->source, index, "source", error));
    if (given->source.size > MAX_SOURCE)
        return ferry_fail_argument(error, "entries", "expected at most %d bytes at entries[%zu].source, found %zu",
                                   MAX_SOURCE, index, given->source.size);
    if (given->target_count > 0 && given->targets == NULL)
        return ferry_fail_argument(error, "entries", "expected targets at entries[%zu], found NULL", index);
    /* No small letter has more than twice the bytes of its capital. */
    bool fits =
        ferry_add_size(*bytes, 3 * given->source.size, bytes) && ferry_add_size(*targets, given->target_count, targets);
    for (size_t t = 0; t < given->target_count; t++) {
        FERRY_TRY(check_text(given->targets[t], index, ferry_format("targets[%zu]", t).text, error));
        fits = fits && ferry_add_size(*bytes, given->targets[t].size, bytes);
    }
    return fits ? FERRY_OK : ferry_fail_memory(error, "a glossary", SIZE_MAX, 1);
}

/* Copies an entry to the next bytes and targets. */
static entry copy_entry(const ferry_glossary_entry *given, char **bytes, ferry_text **targets)
{
    const ferry_view source = ferry_utf8_trim((ferry_view){given->source.data, given->source.size});
    entry copy = {.source = {*bytes, 0}, .targets = *targets, .target_count = given->target_count};
    for (size_t at = 0; at < source.size;)
        copy.source.size += ferry_utf8_put(read_character(source, &at), *bytes + copy.source.size);
    copy.key.data = *bytes + copy.source.size;
    for (size_t at = 0; at < copy.source.size;) {
        const uint32_t small = ferry_unicode_lower(ferry_unicode_next(copy.source, &at));
        copy.key.size += ferry_utf8_put(small, *bytes + copy.source.size + copy.key.size);
    }
    *bytes += copy.source.size + copy.key.size;
    for (size_t t = 0; t < given->target_count; t++) {
        const ferry_view target = ferry_utf8_trim((ferry_view){given->targets[t].data, given->targets[t].size});
        memcpy(*bytes, target.data, target.size);
        *(*targets)++ = (ferry_text){*bytes, target.size};
        *bytes += target.size;
    }
    return copy;
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int order = ferry_view_compare(x->key, y->key);
    return order != 0 ? order : ferry_view_compare(x->source, y->source);
}

static bool have_same_targets(const entry *a, const entry *b)
{
    bool same = a->target_count == b->target_count;
    for (size_t t = 0; same && t < a->target_count; t++)
        same = ferry_view_equal((ferry_view){a->targets[t].data, a->targets[t].size},
                                (ferry_view){b->targets[t].data, b->targets[t].size});
    return same;
}

static ferry_status check_order(const ferry_glossary *glossary, ferry_error *error)
{
    for (size_t i = 1; i < glossary->count; i++) {
        const entry *one = &glossary->entries[i - 1], *next = one + 1;
        if (compare_entries(one, next) == 0 && !have_same_targets(one, next))
            return ferry_fail_argument(error, "entries", "expected one entry with source '%s', found two",
                                       ferry_printable_view(next->source).text);
    }
    return FERRY_OK;
}

ferry_status ferry_glossary_create(const ferry_glossary_entry *entries, size_t entry_size, size_t count,
                                   ferry_glossary **glossary, ferry_error *error)
{
    size_t bytes = 0, targets = 0;
    FERRY_NEEDS(glossary);
    *glossary = NULL;
    if (count > 0 && entries == NULL)
        return ferry_fail_argument(error, "entries", "expected %zu entries, found NULL", count);
    FERRY_TRY(ferry_check_stride("entry_size", "ferry_glossary_entry", entry_size, FIRST_ENTRY,
                                 _Alignof(ferry_glossary_entry), error));
    for (size_t i = 0; i < count; i++)
        FERRY_TRY(check_entry((const void *)((const char *)entries + i * entry_size), i, &bytes, &targets, error));
    ferry_glossary *made = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a glossary", 1, sizeof *made);
    atomic_init(&made->users, 1);
    made->entries = calloc(count + 1, sizeof *made->entries);
    made->targets = calloc(targets + 1, sizeof *made->targets);
    made->bytes = malloc(bytes + 1);
    ferry_status status = FERRY_OK;
    if (made->entries == NULL || made->targets == NULL || made->bytes == NULL) {
        status = ferry_fail_memory(error, "a glossary", bytes, 1);
    } else {
        char *to = made->bytes;
        ferry_text *to_targets = made->targets;
        for (; made->count < count; made->count++)
            made->entries[made->count] =
                copy_entry((const void *)((const char *)entries + made->count * entry_size), &to, &to_targets);
        qsort(made->entries, count, sizeof *made->entries, compare_entries);
        status = check_order(made, error);
    }
    if (status == FERRY_OK)
        *glossary = made;
    else
        ferry_glossary_destroy(made);
    return status;
}

void ferry_glossary_share(const ferry_glossary *glossary)
{
    if (glossary != NULL) atomic_fetch_add(&((ferry_glossary *)(uintptr_t)glossary)->users, 1);
}

void ferry_glossary_destroy(ferry_glossary *glossary)
{
    if (glossary == NULL || atomic_fetch_sub(&glossary->users, 1) > 1) return;
    free(glossary->entries);
    free(glossary->targets);
    free(glossary->bytes);
    free(glossary);
}

/* ---- the search ---- */

/* The character that ends at byte `at`; a blank if it is ill-formed. */
static uint32_t character_before(ferry_view text, size_t at)
{
    uint32_t c;
    const ferry_view last = {text.data + at - (at < 4 ? at : 4), at < 4 ? at : 4};
    size_t next = last.size;
    return ferry_utf8_previous(last, &next, &c) && ferry_utf8_next(last, &next, &c) && next == last.size ? c : ' ';
}

/* Whether the word of the character `before` byte `at` goes on there; hyphens join words. */
static bool goes_on(uint32_t before, ferry_view text, size_t at)
{
    if (at >= text.size || !(ferry_unicode_is_of_word(before) || before == '-')) return false;
    const uint32_t c = ferry_unicode_next(text, &at);
    return ferry_unicode_is_of_word(c) || c == '-';
}

/* The first of entries begin … end - 1 whose key has at least `byte` at `place`. */
static size_t find_byte(const ferry_glossary *glossary, size_t begin, size_t end, size_t place, int byte)
{
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        const ferry_view key = glossary->entries[middle].key;
        if (place >= key.size || (unsigned char)key.data[place] < byte)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Whether the text, whose small letters are those of the source, has no small letter where the source has a capital. */
static bool has_capitals_of(ferry_view text, ferry_view source)
{
    for (size_t at = 0, text_at = 0; at < source.size;) {
        const uint32_t c = ferry_unicode_next(source, &at), other = read_character(text, &text_at);
        if (c != other && c != ferry_unicode_lower(other)) return false;
    }
    return true;
}

/* Finds the longest entry at byte `at` that ends at byte `limit` or before. */
static bool find_at(const ferry_glossary *glossary, ferry_view text, size_t at, size_t limit,
                    ferry_glossary_match *match)
{
    const size_t from = at;
    size_t begin = 0, end = glossary->count, size = 0; /* entries whose keys begin with the `size` bytes read */
    match->end = from;
    while (at < limit && begin < end) {
        char bytes[4];
        const uint32_t c = read_character(text, &at);
        const size_t count = ferry_utf8_put(ferry_unicode_lower(c), bytes);
        for (size_t i = 0; i < count; i++, size++) {
            begin = find_byte(glossary, begin, end, size, (unsigned char)bytes[i]);
            end = find_byte(glossary, begin, end, size, (unsigned char)bytes[i] + 1);
        }
        const bool complete = begin < end && glossary->entries[begin].key.size == size;
        if (!complete || at > limit || goes_on(c, text, at)) continue;
        const ferry_view found = {text.data + from, at - from};
        /* Capitals come first. */
        size_t i = begin;
        while (i < end && glossary->entries[i].key.size == size && !has_capitals_of(found, glossary->entries[i].source))
            i++;
        if (i == end || glossary->entries[i].key.size > size) continue;
        const entry *e = &glossary->entries[i];
        *match = (ferry_glossary_match){from, at, e->targets, e->target_count,
                                        is_in_capitals(found) && !is_in_capitals(e->source)};
    }
    return match->end > from;
}

bool ferry_glossary_next(const ferry_glossary *glossary, ferry_terms taken, ferry_view text, size_t *at, size_t until,
                         ferry_glossary_match *match)
{
    uint32_t before = character_before(text, *at);
    for (size_t i = ferry_terms_behind(taken, *at); *at < until;) {
        const ferry_term *term = i < taken.count ? ferry_terms_at(taken, i) : NULL;
        size_t next = *at;
        if (term != NULL && term->begin <= *at) {
            *at = term->end;
            before = character_before(text, *at);
            i++;
            continue;
        }
        const uint32_t c = ferry_unicode_next(text, &next);
        /* (A search from each blank of a run would make time quadratic.) */
        if (!ferry_utf8_is_space(c) && !goes_on(before, text, *at) &&
            find_at(glossary, text, *at, term != NULL ? term->begin : text.size, match)) {
            *at = match->end;
            return true;
        }
        before = c;
        *at = next;
    }
    return false;
}
