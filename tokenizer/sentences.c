#include "sentences.h"

#include <string.h>

#include "base/utf8.h"
#include "unicode.h"

enum {
    MAX_WORD = 32,        /* bytes of an abbreviation or starter */
    MAX_SHELTERED = 120,  /* bytes in quotes or brackets within which no sentence ends */
    MAX_SKIPPED = 8,      /* characters between white space and the word that follows a stop */
    LAST_DAY = 31,        /* the largest number that is an ordinal number before a full stop */
    LISTED_END = 1000,    /* above the number of any list item */
    REPLACEMENT = 0xFFFD, /* ill-formed bytes are read as this */
    NOTHING = 0x110000,   /* no character: the end of the text */
};

/* Characters that end a sentence before white space; characters that end one anywhere. (U"" has this type, C11 7.28;
 * macOS lacks the header that names it.) */
static const uint_least32_t
    stops[] = U".!?…‼⁇⁈⁉",
    wide_stops[] = U"\u3002\uFF01\uFF1F\uFF0E\uFF61\u0964\u0965\u061F\u06D4\u104B\u17D4\u17D5\u1362\u1367\u0589\u0F0D";
static const uint_least32_t line_ends[] = U"\n\r\v\f\x85\u2028\u2029", bullets[] = U"•⁃‣◦▪●";

/* No sentence ends within a pair, if it is closed within MAX_SHELTERED bytes and holds no whole sentences. */
static const struct pair {
    uint_least32_t opening, closing[3];
} pairs[] = {
    {'"', U"\""}, {'(', U")"},    {'[', U"]"},    {U'“', U"”"},   {U'„', U"“”"},  {U'«', U"»"},   {U'»', U"«"},
    {U'‹', U"›"}, {U'「', U"」"}, {U'『', U"』"}, {U'《', U"》"}, {U'（', U"）"}, {U'【', U"】"},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };
_Static_assert((int)PAIRS == (int)FERRY_SENTENCE_PAIRS, "a search has a place for each pair");

typedef ferry_sentence_search scanner;
typedef ferry_list_marker list_marker;
enum { NO_MARKER, FULL_STOP, BRACKET, BOTH }; /* list_marker.form */

/* ---- languages ---- */

#define COMMON                                                                                                         \
    .never = "dr prof st mr mrs ms", .before_number = "no nr nº n° p pp vol fig", .before_name = "jr sr inc ltd co corp"

static const ferry_sentence_language common = {COMMON};

static const ferry_sentence_language languages[] = {
#include "sentence_languages.inc"
};

const ferry_sentence_language *ferry_sentence_language_find(const char *names)
{
    for (const char *name = names != NULL ? names : ""; *name != '\0';
         name += strcspn(name, " "), name += *name == ' ') {
        const size_t size = strcspn(name, " _-"); /* of "deu_Latn" or "de-AT", "deu" and "de" */
        for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
            for (const char *own = languages[i].names; *own != '\0'; own += strcspn(own, " "), own += *own == ' ')
                if (strcspn(own, " ") == size && size > 0 && ferry_compare_letters(own, name, size) == 0)
                    return &languages[i];
    }
    return &common;
}

/* ---- characters ---- */

static bool has(const uint_least32_t *list, uint32_t c)
{
    while (*list != 0 && *list != c) list++;
    return *list != 0;
}

/* Reads the character at *at, and moves *at past it; NOTHING at the end. */
static uint32_t next(ferry_view text, size_t *at)
{
    return *at < text.size ? ferry_unicode_next(text, at) : NOTHING;
}

static uint32_t peek(ferry_view text, size_t at)
{
    return next(text, &at);
}

static bool is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

/* Whether `c` both opens and closes. */
static bool is_quote_mark(uint32_t c)
{
    return c == '"' || c == '\'' || c == U'»';
}

static bool may_open(uint32_t c)
{
    return is_quote_mark(c) || c == U'¿' || c == U'¡' || c == U'”' ||
           ferry_unicode_character(c) == FERRY_CHARACTER_OPENING;
}

static bool may_close(uint32_t c)
{
    const ferry_character kind = ferry_unicode_character(c);
    return is_quote_mark(c) || kind == FERRY_CHARACTER_CLOSING ||
           (kind == FERRY_CHARACTER_OPENING && c != '(' && c != '[');
}

/* ---- words ---- */

/* Whether `list` has `word`, in any case. */
static bool is_listed(const char *list, ferry_view word)
{
    char lower[MAX_WORD + 8];
    size_t size = 0;
    if (list == NULL || word.size == 0 || word.size > MAX_WORD) return false;
    for (size_t at = 0; at < word.size && size <= MAX_WORD;)
        size += ferry_utf8_put(ferry_unicode_lower(next(word, &at)), lower + size);
    if (size > MAX_WORD) return false;
    for (const char *from = list; *from != '\0';) {
        const size_t length = strcspn(from, " ");
        const size_t suffix = from[0] == '-' ? length - 1 : 0;
        if (length == size && memcmp(from, lower, size) == 0) return true;
        if (suffix > 0 && suffix < size && memcmp(from + 1, lower + size - suffix, suffix) == 0) return true;
        from += length + (from[length] == ' ');
    }
    return false;
}

/* The letters from `at` on. */
static ferry_view letters_at(ferry_view text, size_t at)
{
    size_t end = at;
    for (size_t after = at; end - at <= MAX_WORD && ferry_unicode_is_letter(next(text, &after));) end = after;
    return (ferry_view){text.data + at, end - at};
}

/* One letter, which is a capital, or letters with full stops between them: "J", "U.S", "z.B". */
static bool is_initials(ferry_view word)
{
    bool upper = false, dotted = false;
    for (size_t at = 0; at < word.size;) {
        const uint32_t c = next(word, &at);
        if (!ferry_unicode_is_letter(c)) return false;
        upper |= ferry_unicode_character(c) == FERRY_CHARACTER_UPPER;
        if (at == word.size) break;
        if (next(word, &at) != '.') return false;
        dotted = true;
    }
    return upper || dotted;
}

/* Whether `word` is numbers with full stops between them, each at most `max`. */
static bool is_number(ferry_view word, uint32_t max)
{
    uint32_t number = 0;
    for (size_t i = 0; i < word.size; i++) {
        const bool digit = is_digit((unsigned char)word.data[i]);
        if (!digit && (word.data[i] != '.' || i == 0)) return false;
        number = digit ? number * 10 + (uint32_t)(word.data[i] - '0') : 0;
        if (number > max) return false;
    }
    return word.size > 0;
}

static bool is_roman(ferry_view word)
{
    size_t i = 0;
    while (i < word.size && strchr("IVXLC", word.data[i]) != NULL && word.data[i] != 0) i++;
    return i == word.size && i > 0;
}

/* The begin of the part of the word that may be an abbreviation: in "l'Ing" after the apostrophe. */
static size_t abbreviation_in(ferry_view text, size_t word, size_t end)
{
    size_t begin = word;
    for (size_t at = word; at < end;) {
        const uint32_t c = next(text, &at);
        const bool number = ferry_unicode_character(c) == FERRY_CHARACTER_DASH && is_digit(peek(text, at));
        if (number || ((c == '\'' || c == U'’' || c == '/' || may_open(c)) && end - at > 1)) begin = at;
    }
    return begin;
}

/* ---- lists ---- */

static list_marker read_marker(ferry_view text, size_t at)
{
    list_marker marker = {.form = NO_MARKER};
    size_t after = at;
    uint32_t c = next(text, &after);
    marker.letter = c >= 'a' && c <= 'z';
    if (marker.letter) marker.value = c;
    for (; !marker.letter && is_digit(c) && marker.value < LISTED_END; c = next(text, &after))
        marker.value = marker.value * 10 + c - '0';
    if (marker.letter) c = next(text, &after);
    if (marker.value == 0 || marker.value >= LISTED_END) return marker;
    const bool stop = c == '.';
    if (stop) c = peek(text, after);
    const bool bracket = c == ')';
    if (stop && bracket) next(text, &after);
    marker.end = after;
    if ((stop || bracket) && ferry_utf8_is_space(peek(text, after)))
        marker.form = stop && bracket ? BOTH : stop ? FULL_STOP : BRACKET;
    return marker;
}

/* ---- the word after a stop ---- */

typedef struct follower {
    size_t word;    /* the begin of the word, after white space, dashes and opening marks */
    uint32_t first; /* its first character; NOTHING: the text or the line ends */
} follower;

static follower find_follower(ferry_view text, size_t at)
{
    follower f = {.first = NOTHING};
    size_t after = at;
    int skipped = 0;
    uint32_t c = next(text, &after);
    while (ferry_utf8_is_space(c) && !has(line_ends, c)) {
        at = after;
        c = next(text, &after);
    }
    while (skipped++ < MAX_SKIPPED && (may_open(c) || ferry_unicode_character(c) == FERRY_CHARACTER_DASH || c == ' ')) {
        at = after;
        c = next(text, &after);
    }
    f.word = at;
    if (!has(line_ends, c)) f.first = c;
    return f;
}

/* Whether a sentence is likely to begin with this word. (After the full stop of an abbreviation, is_inside decides.) */
static bool may_begin(follower f)
{
    switch (ferry_unicode_character(f.first)) {
    case FERRY_CHARACTER_UPPER:
    case FERRY_CHARACTER_LETTER:
    case FERRY_CHARACTER_NUMBER: return true;
    case FERRY_CHARACTER_LOWER:
    case FERRY_CHARACTER_MARK: return false;
    default: return f.first == NOTHING || strchr("+=&%/,;:)]}|", f.first < 0x80 ? (int)f.first : ' ') == NULL;
    }
}

/* ---- a stop ---- */

/* A run of stops and the closing marks after them. */
typedef struct stop_run {
    size_t begin, end;
    bool lone;     /* a single full stop, which may belong to an abbreviation */
    bool wide;     /* the last stop needs no white space after it */
    bool closed;   /* it has a closing mark */
    bool omission; /* " . . ." */
} stop_run;

static bool is_stop(const scanner *s, uint32_t c)
{
    const char *own = s->language->stops;
    return c != 0 && (has(stops, c) || has(wide_stops, c) || (own != NULL && c < 0x80 && strchr(own, (int)c) != NULL));
}

/* The end of a blank and `mark` at `at`: " ." of a spaced ellipsis, or " »", as French writes it. White space, the end
 * of the text, or a character that fits must follow. Otherwise `at`. */
static size_t spaced(ferry_view text, size_t at, uint32_t mark)
{
    size_t after = at;
    const uint32_t blank = next(text, &after);
    if (!ferry_utf8_is_space(blank) || has(line_ends, blank) || next(text, &after) != mark) return at;
    const uint32_t c = peek(text, after);
    const bool fits = mark == '.' ? may_close(c) : has(stops, c) || c == ',' || c == ')';
    return c == NOTHING || ferry_utf8_is_space(c) || fits ? after : at;
}

/* The end of a reference to a note, "[12]" or " [12]", at `at`; `at` if there is none. */
static size_t reference(ferry_view text, size_t at)
{
    const size_t bracket = peek(text, at) == ' ' ? at + 1 : at;
    size_t after = bracket + 1;
    if (peek(text, bracket) != '[') return at;
    while (after < text.size && is_digit((unsigned char)text.data[after])) after++;
    return after > bracket + 1 && peek(text, after) == ']' ? after + 1 : at;
}

/* Reads the run at `begin`. If ". . . ." follows a word, the run is only the first full stop, which ends the sentence;
 * the others are an ellipsis. */
static stop_run read_run(const scanner *s, size_t begin)
{
    stop_run run = {.begin = begin, .end = begin};
    size_t count = 0;
    for (size_t after = begin;; after = run.end) {
        const uint32_t c = next(s->text, &after);
        if (is_stop(s, c)) {
            count++;
            run.lone = count == 1 && c == '.';
            run.wide = has(wide_stops, c);
        } else if (c != NOTHING && may_close(c) &&
                   !(run.wide && ferry_unicode_character(c) == FERRY_CHARACTER_OPENING)) {
            run.closed = true;
        } else {
            after = spaced(s->text, run.end, '.');
            if (after > run.end) count++, run.lone = false;
            if (after == run.end) after = spaced(s->text, run.end, U'»');
            if (after == run.end) after = reference(s->text, run.end);
            if (after == run.end) break;
        }
        run.end = after;
    }
    const bool spaced = begin == s->begin || s->text.data[begin - 1] == ' ';
    const size_t size = run.end - begin; /* of ". . ." or ". . . ." */
    run.omission = spaced && count == 3 && size == 5;
    const follower f = find_follower(s->text, run.end);
    if (!spaced && count == 4 && size == 7 && f.first != NOTHING && may_begin(f)) run.end = begin + 1;
    return run;
}

/* Whether the full stop belongs to an abbreviation, an initial or an ordinal number within the sentence. */
static bool is_inside(const scanner *s, const stop_run *run, follower f)
{
    const ferry_sentence_language *language = s->language;
    const size_t begin = abbreviation_in(s->text, s->word, run->begin);
    const ferry_view word = {s->text.data + begin, run->begin - begin};
    if (f.first == NOTHING) return false;
    if (is_listed(language->never, word)) return true;
    const ferry_view other = letters_at(s->text, f.word);
    size_t initial = 0;
    next(other, &initial);
    /* Whether the next word begins sentences. The "A" of "A. Smith" does not: it is an initial. */
    const bool starter =
        !(initial == other.size && peek(s->text, f.word + initial) == '.') && is_listed(language->starters, other);
    if (is_listed(language->before_number, word) && (is_digit(f.first) || (is_roman(other) && !starter))) return true;
    if (is_initials(word)) {
        size_t letter = begin;
        next(s->text, &letter);
        if (letter == run->begin && (begin == s->begin || language->starters == NULL)) return true;
        return !starter && language->starters != NULL;
    }
    const bool ordinal = language->ordinals && (is_number(word, LAST_DAY) || is_roman(word));
    return (ordinal || is_listed(language->before_name, word)) && !starter;
}

/* Whether the run ends the sentence. */
static bool ends_with(const scanner *s, const stop_run *run)
{
    const uint32_t c = peek(s->text, run->end);
    if (run->end < s->shelter) return false;
    if (c == NOTHING) return true;
    if (run->wide && !ferry_utf8_is_space(c)) {
        const bool hiragana = c >= 0x3041 && c <= 0x309F, digit = c >= 0xFF10 && c <= 0xFF19;
        return !(run->closed && hiragana) && !(digit && peek(s->text, run->begin) == U'．') && !has(U"，、,", c);
    }
    if (!ferry_utf8_is_space(c)) return false;
    if (run->begin > s->begin && (s->text.data[run->begin - 1] == '[' || s->text.data[run->begin - 1] == '('))
        return false;
    const follower f = find_follower(s->text, run->end);
    if (run->wide || f.first == NOTHING) return true;
    if (run->omission) return false;
    const int item = read_marker(s->text, f.word).form;
    if (item == BRACKET || item == BOTH) return true;
    return may_begin(f) && !(run->lone && !run->closed && is_inside(s, run, f));
}

/* Whether a bullet, the marker of the list's next item, or the first marker of a new list stands at `at`. */
static bool begins_item(const scanner *s, size_t at, uint32_t c)
{
    if (has(bullets, c)) return true;
    if (s->item.form == NO_MARKER || !(is_digit(c) || (c >= 'a' && c <= 'z'))) return false;
    const list_marker marker = read_marker(s->text, at);
    const uint32_t first = marker.letter ? 'a' : 1;
    return marker.form == s->item.form && marker.letter == s->item.letter &&
           (marker.value == s->item.value + 1 || marker.value == first);
}

/* ---- quotes and brackets ---- */

/* Finds the mark that closes `c`, which stands before `at`, and sets the shelter to its end: no sentence ends between
 * them. No shelter: quoted speech, which ends in a stop or a comma, or has a comma after it; brackets around a whole
 * sentence. (In brackets within a sentence, stops mostly belong to abbreviations.) */
static void take_shelter(scanner *s, uint32_t c, size_t at)
{
    size_t p = 0;
    uint32_t before = c;
    while (p < PAIRS && pairs[p].opening != c) p++;
    if (p == PAIRS) return;
    const size_t end = s->text.size - at < MAX_SHELTERED ? s->text.size : at + MAX_SHELTERED;
    size_t after = at < s->searched[p] ? s->searched[p] : at, previous = after;
    if (after > at && !ferry_utf8_previous(s->text, &previous, &before)) before = REPLACEMENT;
    uint32_t last = before; /* the last character that is not white space */
    while (after < end) {
        const uint32_t other = next(s->text, &after);
        if (has(line_ends, other)) after = s->text.size; /* the sentence does not go on */
        if (has(pairs[p].closing, other) && (c != '"' || !ferry_utf8_is_space(before))) {
            const bool whole = c == '(' || c == '[' ? at == s->begin + 1 && is_stop(s, last)
                                                    : is_stop(s, last) || last == ',' || peek(s->text, after) == ',';
            if (!whole) s->shelter = after;
            return;
        }
        before = other;
        if (!ferry_utf8_is_space(other)) last = other;
    }
    s->searched[p] = after;
}

/* ---- the scan ---- */

void ferry_sentence_begin(ferry_sentence_search *s, ferry_view text, size_t begin,
                          const ferry_sentence_language *language)
{
    size_t item = begin, after = begin;
    *s = (ferry_sentence_search){.text = text,
                                 .language = language,
                                 .begin = begin,
                                 .at = begin,
                                 .word = begin,
                                 .visible = begin,
                                 .first = true};
    if (has(bullets, next(text, &after)))
        for (item = after; ferry_utf8_is_space(next(text, &after));) item = after;
    s->item = read_marker(text, item);
}

/* Reads the character at s->at, with the stops that follow it. Returns whether the sentence ends. */
static bool read_on(scanner *s)
{
    const size_t at = s->at;
    const uint32_t c = next(s->text, &s->at);
    if (has(line_ends, c)) return true;
    if (ferry_utf8_is_space(c)) {
        s->first = true;
        return false;
    }
    const bool open = at >= s->shelter, marked = at < s->item.end;
    if (s->first && at > s->begin && !marked && open && begins_item(s, at, c)) return true;
    if (s->first) s->word = at;
    if (open && (s->first || s->after_dash || !is_quote_mark(c))) take_shelter(s, c, s->at);
    s->after_dash = ferry_unicode_character(c) == FERRY_CHARACTER_DASH;
    s->first = may_open(c);
    if (is_stop(s, c) && !marked) {
        const stop_run run = read_run(s, at);
        s->visible = s->at = run.end;
        return ends_with(s, &run);
    }
    s->visible = s->at;
    return false;
}

bool ferry_sentence_go_on(ferry_sentence_search *s, size_t bytes)
{
    const size_t end = bytes < s->text.size - s->at ? s->at + bytes : s->text.size;
    while (s->at < end)
        if (read_on(s)) return true;
    return s->at == s->text.size;
}

bool ferry_sentence_ends_line(const ferry_sentence_search *s)
{
    size_t at = s->at;
    uint32_t c;
    return ferry_utf8_previous(s->text, &at, &c) && has(line_ends, c);
}

size_t ferry_sentence_end(ferry_view text, size_t begin, const ferry_sentence_language *language)
{
    ferry_sentence_search search;
    ferry_sentence_begin(&search, text, begin, language);
    ferry_sentence_go_on(&search, SIZE_MAX);
    return search.visible;
}
