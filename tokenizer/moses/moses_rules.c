#include "moses_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/unicode.h"

enum { MAX_TEXT = 64 << 20 }; /* bytes */

/* ---- languages ---- */

const ferry_moses_prefix_list ferry_moses_prefixes[] = {
#include "moses_prefixes.inc"
};
const size_t ferry_moses_prefix_count = sizeof ferry_moses_prefixes / sizeof *ferry_moses_prefixes;

bool ferry_moses_speaks(const ferry_moses *moses, const char *codes)
{
    const size_t size = strlen(moses->code);
    for (const char *code = codes; size > 0 && code != NULL; code = strchr(code, ' ')) {
        code += *code == ' ';
        if (strncmp(code, moses->code, size) == 0 && (code[size] == ' ' || code[size] == '\0')) return true;
    }
    return false;
}

/* ---- characters ---- */

const ferry_moses_range ferry_moses_ranges[] = {
#include "moses_classes.inc"
};
const size_t ferry_moses_range_count = sizeof ferry_moses_ranges / sizeof *ferry_moses_ranges;

static int compare_range(const void *key, const void *element)
{
    const ferry_moses_range *range = element;
    const uint32_t character = *(const uint32_t *)key;
    return (character > range->last) - (character < range->first);
}

uint32_t ferry_moses_classes(uint32_t character)
{
    const ferry_moses_range *found =
        bsearch(&character, ferry_moses_ranges, ferry_moses_range_count, sizeof *ferry_moses_ranges, compare_range);
    return found != NULL ? found->classes : 0;
}

bool ferry_moses_is_space(uint32_t character)
{
    return (character >= 0x1C && character <= 0x1F) || ferry_utf8_is_space(character);
}

bool ferry_moses_is_one_of(uint32_t character, const char *list)
{
    return character != 0 && character < 0x80 && strchr(list, (int)character) != NULL;
}

static bool is_in_class(uint32_t character, char name, uint32_t letters)
{
    switch (name) {
    case 'w': return (ferry_moses_classes(character) & letters) != 0;
    case 'a': return (ferry_moses_classes(character) & FERRY_MOSES_ALPHA) != 0;
    case 'N': return (ferry_moses_classes(character) & FERRY_MOSES_NUMBER) != 0;
    case 'd': return ferry_unicode_is_digit(character);
    case 's': return ferry_moses_is_space(character);
    case 'j': return character < 0x20;
    case 'z': return character < 0x80 && ((character | 0x20) >= 'a' && (character | 0x20) <= 'z');
    case 'p': return ferry_moses_is_one_of(character, ".!:?;,");
    case 'c': return ferry_moses_is_one_of(character, ",.");
    case 'q': return (ferry_moses_classes(character) & (FERRY_MOSES_ALPHA | FERRY_MOSES_NUMBER)) == 0;
    case 'x':
        return !ferry_moses_is_one_of(character, ".'`,-") && !ferry_moses_is_space(character) &&
               (ferry_moses_classes(character) & letters) == 0;
    default: return ferry_unicode_is_control(character); /* 'C' */
    }
}

/* ---- a text ---- */

/* Makes room for `extra` more characters in text->other. */
static bool reserve(ferry_moses_text *text, size_t extra)
{
    const size_t count = text->other_count + extra;
    if (text->failed || count <= text->other_capacity) return !text->failed;
    ferry_moses_cell *grown = ferry_array_grow(text->other, &text->other_capacity, count, sizeof *grown);
    text->failed = grown == NULL;
    if (grown != NULL) text->other = grown;
    return grown != NULL;
}

void ferry_moses_put(ferry_moses_text *text, uint32_t character, uint32_t offset)
{
    if (reserve(text, 1)) text->other[text->other_count++] = (ferry_moses_cell){character, offset};
}

void ferry_moses_copy(ferry_moses_text *text, size_t begin, size_t end)
{
    const size_t count = end - begin;
    if (count == 0 || !reserve(text, count)) return;
    memcpy(text->other + text->other_count, text->cells + begin, count * sizeof *text->cells);
    text->other_count += count;
}

void ferry_moses_swap(ferry_moses_text *text)
{
    const ferry_moses_text old = *text;
    text->cells = old.other;
    text->count = old.failed ? 0 : old.other_count;
    text->capacity = old.other_capacity;
    text->other = old.cells;
    text->other_count = 0;
    text->other_capacity = old.capacity;
}

ferry_status ferry_moses_text_set(ferry_moses_text *text, ferry_view bytes, ferry_error *error)
{
    if (bytes.size > MAX_TEXT)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "a text to tokenize: expected at most %d bytes, found %zu",
                          MAX_TEXT, bytes.size);
    for (size_t at = 0; at < bytes.size;) {
        const uint32_t begin = (uint32_t)at;
        ferry_moses_put(text, ferry_unicode_next(bytes, &at), begin);
    }
    ferry_moses_swap(text);
    return FERRY_OK;
}

static ferry_status write_text(const ferry_moses_text *text, size_t size, ferry_string *output, size_t **offsets,
                               ferry_error *error)
{
    size_t bytes, capacity = 0;
    output->size = 0;
    if (text->failed || !ferry_mul_size(text->count, 4, &bytes)) return ferry_fail_memory(error, "tokenizing", size, 1);
    FERRY_TRY(ferry_string_reserve(output, bytes, error));
    if (offsets != NULL) *offsets = ferry_array_grow(NULL, &capacity, bytes + 1, sizeof **offsets);
    if (offsets != NULL && *offsets == NULL) return ferry_fail_memory(error, "tokenizing", bytes + 1, sizeof **offsets);
    for (size_t i = 0; i < text->count; i++) {
        size_t at = output->size;
        output->size += ferry_utf8_put(text->cells[i].character, output->data + at);
        for (; offsets != NULL && at < output->size; at++) (*offsets)[at] = text->cells[i].offset;
    }
    if (offsets == NULL) return FERRY_OK;
    size_t next = (*offsets)[output->size] = size;
    for (size_t i = output->size; i-- > 0; next = (*offsets)[i]) /* a blank has the offset of the next byte */
        if (output->data[i] == ' ' || (*offsets)[i] > next) (*offsets)[i] = next;
    return FERRY_OK;
}

ferry_status ferry_moses_text_finish(ferry_moses_text *text, size_t size, ferry_string *output, size_t **offsets,
                                     ferry_error *error)
{
    const ferry_status status = write_text(text, size, output, offsets, error);
    free(text->cells);
    free(text->other);
    return status;
}

void ferry_moses_strip(ferry_moses_text *text)
{
    size_t begin = 0, end = text->count;
    while (begin < end && ferry_moses_is_space(text->cells[begin].character)) begin++;
    while (begin < end && ferry_moses_is_space(text->cells[end - 1].character)) end--;
    if (begin > 0) memmove(text->cells, text->cells + begin, (end - begin) * sizeof *text->cells);
    text->count = end - begin;
}

bool ferry_moses_next_word(const ferry_moses_text *text, size_t *begin, size_t *end)
{
    size_t at = *end;
    while (at < text->count && ferry_moses_is_space(text->cells[at].character)) at++;
    *begin = at;
    while (at < text->count && !ferry_moses_is_space(text->cells[at].character)) at++;
    *end = at;
    return *begin < at;
}

/* ---- rules ---- */

enum { MAX_ITEMS = 16 };

typedef struct item {
    uint32_t character; /* if `class` is 0 */
    char class;         /* X of ~X; 0: none */
    char repeat;        /* '+', '*', or 0 */
    bool other;         /* any other character */
    bool ahead;         /* not part of the match */
} item;

typedef struct pattern {
    item items[MAX_ITEMS];
    size_t count;
    bool to_end;
    uint32_t letters;
} pattern;

static pattern read_pattern(const char *source, uint32_t letters)
{
    pattern made = {.letters = letters};
    const ferry_view view = ferry_text_view(source);
    item next = {0};
    for (size_t at = 0; at < view.size;) {
        const uint32_t character = ferry_unicode_next(view, &at);
        if (character == '^') {
            next.other = true;
        } else if (character == '=') {
            next.ahead = true;
        } else if (character == '$') {
            made.to_end = true;
        } else if (character == '+' || character == '*') {
            made.items[made.count - 1].repeat = (char)character;
        } else {
            if (character == '~') next.class = view.data[at++];
            next.character = character;
            made.items[made.count++] = next;
            next = (item){0};
        }
    }
    return made;
}

static bool matches_item(const pattern *p, size_t k, uint32_t character)
{
    const item *wanted = &p->items[k];
    const bool same =
        wanted->class == 0 ? character == wanted->character : is_in_class(character, wanted->class, p->letters);
    return same != wanted->other;
}

/* The end of the match of item `k` at `at`; `at` if it matches no character. */
static size_t end_of_item(const ferry_moses_text *text, const pattern *p, size_t k, size_t at)
{
    size_t end = at;
    while (end < text->count && matches_item(p, k, text->cells[end].character)) {
        end++;
        if (p->items[k].repeat == 0) break;
    }
    return end;
}

/* Whether the pattern matches at `at`: item k then matches cells ends[k] … ends[k + 1] - 1. Backtracks by one character
 * if the item after a "*" needs it. */
static bool matches(const ferry_moses_text *text, const pattern *p, size_t at, size_t *ends)
{
    ends[0] = at;
    for (size_t k = 0; k < p->count; k++) {
        ends[k + 1] = end_of_item(text, p, k, ends[k]);
        if (ends[k + 1] > ends[k] || p->items[k].repeat == '*') continue;
        if (k == 0 || p->items[k - 1].repeat != '*' || ends[k] == ends[k - 1]) return false;
        ends[k]--;
        ends[k + 1] = end_of_item(text, p, k, ends[k]);
        if (ends[k + 1] == ends[k]) return false;
    }
    return !p->to_end || ends[p->count] == text->count;
}

/* The offset of new characters, which no item has matched. */
static uint32_t offset_of_new(const ferry_moses_text *text, const pattern *p, const char *replacement,
                              const size_t *ends)
{
    for (size_t k = 0; k < p->count; k++) {
        const char reference[] = {'~', (char)('1' + k), '\0'};
        if (!p->items[k].ahead && strstr(replacement, reference) == NULL) return text->cells[ends[k]].offset;
    }
    return text->cells[ends[p->count] - 1].offset;
}

static void replace(ferry_moses_text *text, const pattern *p, const char *replacement, const size_t *ends)
{
    const ferry_view view = ferry_text_view(replacement);
    const uint32_t offset = offset_of_new(text, p, replacement, ends);
    for (size_t at = 0; at < view.size;) {
        const uint32_t character = ferry_unicode_next(view, &at);
        if (character == '~') {
            const size_t k = (size_t)(view.data[at++] - '1');
            ferry_moses_copy(text, ends[k], ends[k + 1]);
        } else {
            ferry_moses_put(text, character, offset);
        }
    }
}

static void apply(ferry_moses_text *text, const ferry_moses_rule *rule)
{
    const pattern p = read_pattern(rule->pattern, text->letters);
    size_t ends[MAX_ITEMS + 1], copied = 0;
    bool found = false;
    for (size_t at = 0; at < text->count;) {
        if (!matches(text, &p, at, ends)) {
            /* If the other items do not match after a run of the first, they match after no part of the run. */
            const size_t end = p.items[0].repeat != 0 ? end_of_item(text, &p, 0, at) : at;
            at = end > at ? end : at + 1;
            continue;
        }
        found = true;
        ferry_moses_copy(text, copied, at);
        replace(text, &p, rule->replacement, ends);
        at = copied = ends[p.items[p.count - 1].ahead ? p.count - 1 : p.count];
    }
    if (!found) return;
    ferry_moses_copy(text, copied, text->count);
    ferry_moses_swap(text);
}

void ferry_moses_apply(ferry_moses_text *text, const ferry_moses_rule *rules)
{
    for (; rules->pattern != NULL && !text->failed; rules++) apply(text, rules);
}
