#include "bleu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

/* ---- tokenizer 13a: texts are replaced, then one regular expression after the other ---- */

static void put(ferry_symbols *to, const char *ascii)
{
    for (; *ascii != '\0'; ascii++) to->at[to->count++] = (uint32_t)(unsigned char)*ascii;
}

static bool begins(const ferry_symbols *text, size_t at, const char *ascii)
{
    for (; *ascii != '\0'; ascii++, at++)
        if (at >= text->count || text->at[at] != (uint32_t)(unsigned char)*ascii) return false;
    return true;
}

typedef struct replacement {
    const char *from, *to;
} replacement;
static const replacement replacements[] = {
    {"<skipped>", ""}, {"-\n", ""}, {"\n", " "}, {"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"},
};

/* In place: no replacement is longer than what it replaces. */
static void replace(ferry_symbols *text, const replacement *r)
{
    ferry_symbols to = {text->at, 0};
    for (size_t at = 0; at < text->count;) {
        if (begins(text, at, r->from)) {
            put(&to, r->to);
            at += strlen(r->from);
        } else {
            to.at[to.count++] = text->at[at++];
        }
    }
    text->count = to.count;
}

static bool is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_no_digit(uint32_t c)
{
    return !is_digit(c);
}

static bool is_period(uint32_t c)
{
    return c == '.' || c == ',';
}

static bool is_dash(uint32_t c)
{
    return c == '-';
}

/* [\{-\~\[-\` -\&\(-\+\:-\@\/]: ASCII without letters, digits, ' , - and . */
static bool is_symbol(uint32_t c)
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
           (c >= ':' && c <= '@') || c == '/';
}

/* One character, or two in a row, and what takes their place: 1 and 2 stand for them. Matches do not overlap. */
typedef struct rule {
    bool (*first)(uint32_t c);
    bool (*second)(uint32_t c); /* NULL: one character */
    const char *form;
} rule;
static const rule rules[] = {
    {is_symbol, NULL, " 1 "},
    {is_no_digit, is_period, "1 2 "},
    {is_period, is_no_digit, " 1 2"},
    {is_digit, is_dash, "1 2 "},
};
enum { LONGEST_FORM = 4 };

static ferry_status apply(ferry_arena *arena, const rule *r, ferry_symbols *text, ferry_error *error)
{
    const size_t taken = r->second != NULL ? 2 : 1;
    ferry_symbols to = {ferry_arena_alloc(arena, text->count, LONGEST_FORM * sizeof *to.at), 0};
    if (to.at == NULL) return ferry_fail_memory(error, "a tokenized text", text->count);
    for (size_t i = 0; i < text->count;) {
        const uint32_t *c = text->at + i;
        const bool matches = i + taken <= text->count && r->first(c[0]) && (r->second == NULL || r->second(c[1]));
        for (const char *f = matches ? r->form : "1"; *f != '\0'; f++)
            to.at[to.count++] = *f == '1' ? c[0] : *f == '2' ? c[1] : (uint32_t)*f;
        i += matches ? taken : 1;
    }
    *text = to;
    return FERRY_OK;
}

/* Words are what white space separates in the result. */
static ferry_status tokenize(ferry_arena *arena, ferry_text source, ferry_symbols *text, ferry_error *error)
{
    ferry_symbols plain;
    FERRY_TRY(ferry_symbols_of_text(arena, source, &plain, error));
    while (plain.count > 0 && ferry_is_python_space(plain.at[plain.count - 1])) plain.count--;
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++) replace(&plain, &replacements[i]);
    text->count = plain.count + 2;
    text->at = ferry_arena_alloc(arena, text->count, sizeof *text->at);
    if (text->at == NULL) return ferry_fail_memory(error, "a tokenized text", text->count);
    text->at[0] = text->at[plain.count + 1] = ' ';
    if (plain.count > 0) memcpy(text->at + 1, plain.at, plain.count * sizeof *plain.at);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) FERRY_TRY(apply(arena, &rules[i], text, error));
    return FERRY_OK;
}

/* ---- words become numbers ---- */

typedef struct word {
    const uint32_t *at; /* [count] */
    size_t count;
    uint32_t *number; /* where its number goes */
} word;

static int compare_words(const void *a, const void *b)
{
    const word *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    for (size_t i = 0; i < x->count; i++)
        if (x->at[i] != y->at[i]) return x->at[i] < y->at[i] ? -1 : 1;
    return 0;
}

/* Appends the words of `text` to `words`, whose numbers go to *numbers. */
static size_t split(const ferry_symbols *text, word *words, ferry_symbols *numbers)
{
    size_t count = 0;
    for (size_t at = 0; at < text->count;) {
        size_t end = at;
        while (end < text->count && !ferry_is_python_space(text->at[end])) end++;
        if (end > at) words[count++] = (word){text->at + at, end - at, numbers->at + numbers->count++};
        at = end + 1;
    }
    return count;
}

/* Equal words get equal numbers. */
static ferry_status number_words(ferry_arena *arena, const ferry_symbols texts[2], ferry_symbols numbers[2],
                                 ferry_error *error)
{
    bool failed = false;
    word *words = ferry_arena_take(arena, texts[0].count + texts[1].count + 1, sizeof *words, &failed);
    for (size_t i = 0; i < 2; i++)
        numbers[i] = (ferry_symbols){ferry_arena_take(arena, texts[i].count + 1, sizeof(uint32_t), &failed), 0};
    if (failed) return ferry_fail_memory(error, "the words of a text", texts[0].count + texts[1].count);
    const size_t first = split(&texts[0], words, &numbers[0]);
    const size_t count = first + split(&texts[1], words + first, &numbers[1]);
    qsort(words, count, sizeof *words, compare_words);
    uint32_t number = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_words(&words[i - 1], &words[i]) != 0) number++;
        *words[i].number = number;
    }
    return FERRY_OK;
}

/* ---- counts and score ---- */

static ferry_status count(ferry_arena *arena, ferry_text hypothesis, ferry_text reference, double *counts,
                          ferry_error *error)
{
    ferry_symbols texts[2], words[2];
    FERRY_TRY(tokenize(arena, hypothesis, &texts[0], error));
    FERRY_TRY(tokenize(arena, reference, &texts[1], error));
    FERRY_TRY(number_words(arena, texts, words, error));
    counts[0] = (double)words[0].count;
    counts[1] = (double)words[1].count;
    for (size_t n = 1; n <= FERRY_BLEU_ORDERS; n++)
        counts[1 + FERRY_BLEU_ORDERS + n] = ferry_ngram_count(words[0].count, n);
    return ferry_shared_ngrams(arena, &words[0], &words[1], FERRY_BLEU_ORDERS, counts + 2, error);
}

ferry_status ferry_bleu_count(ferry_text hypothesis, ferry_text reference, double counts[FERRY_BLEU_COUNTS],
                              ferry_error *error)
{
    ferry_arena arena = {0};
    const ferry_status status = count(&arena, hypothesis, reference, counts, error);
    ferry_arena_destroy(&arena);
    return status;
}

double ferry_bleu_score(const double sums[FERRY_BLEU_COUNTS])
{
    const double *shared = sums + 2, *all = shared + FERRY_BLEU_ORDERS;
    double logarithms = 0, smoothing = 1;
    bool any = false;
    for (size_t n = 0; n < FERRY_BLEU_ORDERS; n++) any = any || shared[n] > 0;
    if (!any || all[FERRY_BLEU_ORDERS - 1] == 0) return 0;
    for (size_t n = 0; n < FERRY_BLEU_ORDERS; n++) {
        if (shared[n] == 0) smoothing *= 2;
        logarithms += log(shared[n] > 0 ? shared[n] / all[n] : 1 / (smoothing * all[n]));
    }
    const double brevity = sums[0] < sums[1] ? exp(1 - sums[1] / sums[0]) : 1;
    return 100 * brevity * exp(logarithms / FERRY_BLEU_ORDERS);
}
