/* sacremoses' MosesDetokenizer. */
#include <stdlib.h>
#include <string.h>

#include "moses.h"
#include "moses_rules.h"

static const ferry_moses_rule hyphens[] = {{" @-@ ", "-"}, {NULL, NULL}};

/* The ampersand last. "&bar;", "&bra;" and "&ket;" come from older versions of Moses. */
static const ferry_moses_rule escapes[] = {
    {"&bar;", "|"},   {"&#124;", "|"}, {"&lt;", "<"},  {"&gt;", ">"},  {"&bra;", "["}, {"&ket;", "]"},
    {"&quot;", "\""}, {"&apos;", "'"}, {"&#91;", "["}, {"&#93;", "]"}, {"&amp;", "&"}, {NULL, NULL},
};

/* A word: cells [count]. */
typedef struct word {
    const ferry_moses_cell *cells;
    size_t count;
} word;

/* One kind of quotation marks, and whether an odd number of them has come. */
typedef struct quotation {
    word mark;
    bool odd;
} quotation;

typedef struct joining {
    const ferry_moses *moses;
    ferry_moses_text *text;
    word *words; /* [count] */
    size_t count;
    quotation *quotations; /* [quotation_count], ascending */
    size_t quotation_count;
    bool closed; /* no blank before the next word */
} joining;

/* ---- words ---- */

static uint32_t character(const word *w, size_t at)
{
    return w->cells[at].character;
}

static uint32_t last_character(const word *w)
{
    return character(w, w->count - 1);
}

static bool consists_of(const word *w, bool (*belongs)(uint32_t))
{
    for (size_t i = 0; i < w->count; i++)
        if (!belongs(character(w, i))) return false;
    return true;
}

static bool is_alpha(uint32_t c)
{
    return (ferry_moses_classes(c) & FERRY_MOSES_DETOKENIZER_ALPHA) != 0;
}

static bool is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

/* Currency symbols and opening marks. */
static bool is_opening(uint32_t c)
{
    return ferry_moses_is_one_of(c, "([{") || c == U'¿' || c == U'¡' ||
           (ferry_moses_classes(c) & FERRY_MOSES_CURRENCY) != 0;
}

static bool is_closing(uint32_t c)
{
    return ferry_moses_is_one_of(c, ",.?!:;\\%}])");
}

static bool is_low_or_high(uint32_t c)
{
    return c == U'„' || c == U'“';
}

static bool is_quotation(uint32_t c)
{
    return ferry_moses_is_one_of(c, "'\"`") || is_low_or_high(c);
}

/* Characters of scripts without blanks. */
static bool is_cjk(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x1100, 0x11FF},   {0x2E80, 0xA4CF},   {0xA840, 0xA87F},   {0xAC00, 0xD7AF},
        {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},   {0xFF65, 0xFFDC},   {0x17000, 0x18AFF},
        {0x1B000, 0x1B12F}, {0x1B170, 0x1B2FF}, {0x20000, 0x2FFFF},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

/* ---- quotation marks ---- */

static int compare_quotations(const void *first, const void *second)
{
    const word *a = &((const quotation *)first)->mark, *b = &((const quotation *)second)->mark;
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (character(a, i) != character(b, i)) return character(a, i) < character(b, i) ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

/* „ and “ count as ". */
static quotation quotation_of(const word *w)
{
    static const ferry_moses_cell straight = {'"', 0};
    return (quotation){consists_of(w, is_low_or_high) ? (word){&straight, 1} : *w, false};
}

/* ---- one word ---- */

static void put(joining *into, const word *w, bool closes_next)
{
    const size_t begin = (size_t)(w->cells - into->text->cells);
    ferry_moses_copy(into->text, begin, begin + w->count);
    into->closed = closes_next;
}

static void put_apart(joining *into, const word *w, bool closes_next)
{
    if (!into->closed) ferry_moses_put(into->text, ' ', w->cells[0].offset);
    put(into, w, closes_next);
}

static void put_quotation(joining *into, size_t at)
{
    const word *w = &into->words[at];
    const quotation key = quotation_of(w);
    quotation *mark = bsearch(&key, into->quotations, into->quotation_count, sizeof key, compare_quotations);
    const uint32_t single = w->count == 1 ? character(w, 0) : 0;
    if (is_low_or_high(single) && ferry_moses_speaks(into->moses, "cs")) mark->odd = single == U'“';
    const bool possessive =
        !mark->odd && ferry_moses_speaks(into->moses, "en") && single == '\'' && at > 0 && last_character(w - 1) == 's';
    if (possessive || mark->odd)
        put(into, w, false);
    else
        put_apart(into, w, true);
    if (!possessive) mark->odd = !mark->odd;
}

/* As in sacremoses: tests the last two words of the text, where Moses tests the two words before this one. */
static bool is_czech_number(const joining *into, size_t at)
{
    const word *w = &into->words[at], *last = &into->words[into->count - 1];
    return at > 1 && ferry_moses_speaks(into->moses, "cs") && consists_of(last - 1, is_digit) && last->count == 1 &&
           ferry_moses_is_one_of(character(last, 0), ".,") && consists_of(w, is_digit);
}

static bool ends_in_apostrophe(const word *w)
{
    return w->count > 1 && last_character(w) == '\'' && is_alpha(character(w, w->count - 2));
}

/* "li", "mail", "mailem", in any case. */
static bool is_czech_tail(const word *w)
{
    static const char mail[] = "mail";
    if (w->count == 2) return (character(w, 0) | 0x20) == 'l' && (character(w, 1) | 0x20) == 'i';
    if (w->count < 4) return false;
    for (size_t i = 0; i < 4; i++)
        if ((character(w, i) | 0x20) != (uint32_t)mail[i]) return false;
    return true;
}

static bool is_czech_compound(const joining *into, size_t at)
{
    const word *w = &into->words[at];
    return at + 2 < into->count && ferry_moses_speaks(into->moses, "cs") && ends_in_apostrophe(w) && w[1].count == 1 &&
           (character(w + 1, 0) == '-' || character(w + 1, 0) == U'–') && is_czech_tail(w + 2);
}

/* Appends word number `at`. Returns the index of the next word. */
static size_t join_word(joining *into, size_t at)
{
    const word *w = &into->words[at];
    const bool contraction = at > 0 && character(w, 0) == '\'' && w->count > 1 && is_alpha(character(w, 1)) &&
                             ferry_moses_speaks(into->moses, "en");
    const bool elision = at + 1 < into->count && ends_in_apostrophe(w) && is_alpha(character(w + 1, 0)) &&
                         ferry_moses_speaks(into->moses, "fr it ga");
    if (is_cjk(character(w, 0)) && !ferry_moses_speaks(into->moses, "ko")) {
        (at > 0 && is_cjk(last_character(w - 1)) ? put : put_apart)(into, w, false);
    } else if (consists_of(w, is_opening)) {
        put_apart(into, w, true);
    } else if (consists_of(w, is_closing)) {
        if (w->count == 1 && ferry_moses_is_one_of(character(w, 0), "?!:;\\%") && ferry_moses_speaks(into->moses, "fr"))
            ferry_moses_put(into->text, ' ', w->cells[0].offset);
        put(into, w, false);
    } else if (contraction || is_czech_number(into, at)) {
        put(into, w, false);
    } else if (elision) {
        put_apart(into, w, true);
    } else if (is_czech_compound(into, at)) {
        put_apart(into, w, true);
        put(into, w + 1, true);
        at++;
    } else if (consists_of(w, is_quotation)) {
        put_quotation(into, at);
    } else {
        put_apart(into, w, false);
    }
    return at + 1;
}

/* ---- the text ---- */

/* Lists the words, and their quotation marks with repetitions. False: out of memory. */
static bool list_words(joining *into)
{
    size_t begin, end = 0, word_capacity = 0, quotation_capacity = 0;
    while (ferry_moses_next_word(into->text, &begin, &end)) {
        word *w = ferry_array_add(&into->words, &into->count, &word_capacity, sizeof *w);
        if (w == NULL) return false;
        *w = (word){into->text->cells + begin, end - begin};
        if (!consists_of(w, is_quotation)) continue;
        quotation *mark = ferry_array_add(&into->quotations, &into->quotation_count, &quotation_capacity, sizeof *mark);
        if (mark == NULL) return false;
        *mark = quotation_of(w);
    }
    return true;
}

static void join(const ferry_moses *moses, ferry_moses_text *text)
{
    joining into = {.moses = moses, .text = text};
    size_t kept = 0;
    if (!list_words(&into)) text->failed = true;
    if (into.quotation_count > 0)
        qsort(into.quotations, into.quotation_count, sizeof *into.quotations, compare_quotations);
    for (size_t i = 0; i < into.quotation_count; i++) /* one of each kind stays */
        if (i == 0 || compare_quotations(&into.quotations[kept - 1], &into.quotations[i]) != 0)
            into.quotations[kept++] = into.quotations[i];
    into.quotation_count = kept;
    for (size_t at = 0; at < into.count && !text->failed;) at = join_word(&into, at);
    free(into.words);
    free(into.quotations);
    ferry_moses_swap(text);
    ferry_moses_strip(text);
}

ferry_status ferry_moses_detokenize(const ferry_moses *moses, ferry_view words, ferry_buffer *text, size_t **offsets,
                                    ferry_error *error)
{
    ferry_moses_text work = {0};
    if (offsets != NULL) *offsets = NULL;
    FERRY_TRY(ferry_moses_text_set(&work, words, error));
    /* " WORDS ": every word has a blank on both sides. */
    ferry_moses_put(&work, ' ', 0);
    ferry_moses_copy(&work, 0, work.count);
    ferry_moses_put(&work, ' ', (uint32_t)words.size);
    ferry_moses_swap(&work);
    ferry_moses_apply(&work, hyphens);
    ferry_moses_apply(&work, escapes);
    join(moses, &work);
    return ferry_moses_text_finish(&work, words.size, text, offsets, error);
}
