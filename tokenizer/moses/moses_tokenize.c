/* sacremoses' MosesTokenizer. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "moses_data.h"
#include "moses_private.h"

static const ferry_moses_rule white_space[] = {{"~s+", " "}, {NULL, NULL}};
static const ferry_moses_rule junk[] = {{"~j", ""}, {NULL, NULL}};
static const ferry_moses_rule special[] = {{"~x", " ~1 "}, {NULL, NULL}};
static const ferry_moses_rule hyphens[] = {{"~w-=~w", "~1 @-@ "}, {NULL, NULL}};
/* Not those within numbers. */
static const ferry_moses_rule commas[] = {{"^~N,", "~1 ~2 "}, {",^~N", " ~1 ~2"}, {"~N,$", "~1 ~2 "}, {NULL, NULL}};

static const ferry_moses_rule english[] = {
    {"^~a'^~a", "~1 ~2 ~3"}, {"~q'~a", "~1 ~2 ~3"}, {"~a'^~a", "~1 ~2 ~3"},
    {"~a'~a", "~1 ~2~3"},    {"~N's", "~1 ~2~3"},   {NULL, NULL},
};
static const ferry_moses_rule french_italian[] = {
    {"^~a'^~a", "~1 ~2 ~3"}, {"^~a'~a", "~1 ~2 ~3"}, {"~a'^~a", "~1 ~2 ~3"}, {"~a'~a", "~1~2 ~3"}, {NULL, NULL},
};
static const ferry_moses_rule other_languages[] = {{"'", " ~1 "}, {NULL, NULL}};

static const ferry_moses_rule last_stop[] = {{".'$", " ~1 ~2 "}, {NULL, NULL}};

/* The ampersand first. */
static const ferry_moses_rule escapes[] = {
    {"&", "&amp;"},   {"|", "&#124;"}, {"<", "&lt;"},  {">", "&gt;"}, {"'", "&apos;"},
    {"\"", "&quot;"}, {"[", "&#91;"},  {"]", "&#93;"}, {NULL, NULL},
};

ferry_status ferry_moses_escape(ferry_view text, ferry_string *words, ferry_error *error)
{
    ferry_moses_text work = {0};
    ferry_string escaped = {0};
    ferry_moses_text_set(&work, text);
    ferry_moses_apply(&work, escapes);
    ferry_status status = ferry_moses_write(&work, text.size, &escaped, NULL, error);
    if (status == FERRY_OK) status = ferry_string_append(words, (ferry_view){escaped.data, escaped.size}, error);
    ferry_moses_text_destroy(&work);
    free(escaped.data);
    return status;
}

/* ---- several full stops are a word ---- */

static void put_text(ferry_moses_text *text, const char *more, uint32_t place)
{
    for (; *more != '\0'; more++) ferry_moses_put(text, (uint32_t)*more, place);
}

/* "..." → " DOTDOTDOTMULTI ", as the original: a text that has this by itself is changed, too. */
static void hide_stops(ferry_moses_text *text)
{
    for (size_t i = 0; i < text->count;) {
        size_t end = i;
        while (end < text->count && text->cells[end].character == '.') end++;
        if (end - i < 2) {
            if (end == i) end++;
            ferry_moses_copy(text, i, end);
            i = end;
            continue;
        }
        put_text(text, " ", text->cells[i].place);
        for (; i < end; i++) put_text(text, "DOT", text->cells[i].place);
        put_text(text, "MULTI ", text->cells[end - 1].place);
    }
    ferry_moses_swap(text);
}

/* Whether `word` is at cell `at`. */
static bool has_text(const ferry_moses_text *text, size_t at, const char *word)
{
    const size_t size = strlen(word);
    if (text->count - at < size) return false;
    for (size_t i = 0; i < size; i++)
        if (text->cells[at + i].character != (uint32_t)word[i]) return false;
    return true;
}

static void show_stops(ferry_moses_text *text)
{
    for (size_t i = 0; i < text->count;) {
        size_t end = i;
        while (has_text(text, end, "DOT")) end += 3;
        if (end > i && has_text(text, end, "MULTI")) {
            for (; i < end; i += 3) ferry_moses_put(text, '.', text->cells[i].place);
            i += 5;
            continue;
        }
        if (end == i) end++;
        ferry_moses_copy(text, i, end);
        i = end;
    }
    ferry_moses_swap(text);
}

/* ---- a full stop at the end of a word ---- */

static int compare_prefix(const ferry_moses_prefix *prefix, const char *word, size_t size)
{
    return ferry_view_compare(prefix->word, (ferry_view){word, size});
}

enum { LONGEST_PREFIX = 128 }; /* bytes; tests say that no list has a longer one */

static const ferry_moses_prefix *find_prefix(const ferry_moses_language *language, const ferry_moses_cell *word,
                                             size_t count)
{
    char bytes[LONGEST_PREFIX + 4];
    size_t size = 0, low = 0, high = language->prefix_count;
    for (size_t i = 0; i < count && size <= LONGEST_PREFIX; i++)
        size += ferry_utf8_put(word[i].character, bytes + size);
    while (low < high && size <= LONGEST_PREFIX) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare_prefix(&language->prefixes[middle], bytes, size);
        if (order == 0) return &language->prefixes[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* "U.S", "e.g" */
static bool has_stop_and_letter(const ferry_moses_language *language, const ferry_moses_cell *word, size_t count)
{
    const uint32_t letters = FERRY_MOSES_ALPHA | (language->letters & ~(uint32_t)FERRY_MOSES_ALNUM);
    bool stop = false, letter = false;
    for (size_t i = 0; i < count; i++) {
        stop = stop || word[i].character == '.';
        letter = letter || (ferry_moses_classes(word[i].character) & letters) != 0;
    }
    return stop && letter;
}

/* Whether the full stop after a word is part of it; next is 0 after the last word, and otherwise the character that the
 * next word begins with. */
static bool keeps_stop(const ferry_moses_language *language, const ferry_moses_cell *word, size_t count, uint32_t next)
{
    const ferry_moses_prefix *prefix = find_prefix(language, word, count);
    return has_stop_and_letter(language, word, count) || (prefix != NULL && !prefix->numeric) ||
           (ferry_moses_classes(next) & FERRY_MOSES_LOWER) != 0 || (prefix != NULL && next >= '0' && next <= '9');
}

static void split_stops(const ferry_moses_language *language, ferry_moses_text *text)
{
    size_t begin, end = 0;
    for (bool more = ferry_moses_next_word(text, &begin, &end); more;) {
        size_t next_begin, next_end = end;
        const size_t last = end - 1;
        more = ferry_moses_next_word(text, &next_begin, &next_end);
        const uint32_t next = more ? text->cells[next_begin].character : 0;
        const bool splits = last > begin && text->cells[last].character == '.' &&
                            !keeps_stop(language, text->cells + begin, last - begin, next);
        ferry_moses_copy(text, begin, splits ? last : end);
        if (splits) put_text(text, " .", text->cells[last].place);
        if (more) put_text(text, " ", text->cells[last].place);
        begin = next_begin;
        end = next_end;
    }
    ferry_moses_swap(text);
}

void ferry_moses_split(const ferry_moses *moses, const ferry_moses_language *language, ferry_moses_text *text)
{
    text->letters = language->letters;
    ferry_moses_apply(text, white_space);
    ferry_moses_apply(text, junk);
    ferry_moses_strip(text);
    ferry_moses_apply(text, special);
    if (moses->config.fsmt) ferry_moses_apply(text, hyphens);
    hide_stops(text);
    ferry_moses_apply(text, commas);
    const bool contracts = ferry_moses_speaks_one_of(language, "fr it");
    ferry_moses_apply(text, ferry_moses_speaks(language, "en") ? english
                            : contracts                        ? french_italian
                                                               : other_languages);
    split_stops(language, text);
    ferry_moses_apply(text, last_stop);
    show_stops(text);
    ferry_moses_apply(text, escapes);
    ferry_moses_apply(text, white_space);
    ferry_moses_strip(text);
}
