/* Where sentences end: published cases and our own (tests/data/sentences), names of languages, and any bytes. */
#include "tests/support/tokenizer_support.h"

#include "base/utf8.h"
#include "tests/support/random.h"
#include "tokenizer/sentences.h"

static const char mark[] = "‖";

static size_t skip_space(ferry_view text, size_t at)
{
    uint32_t c;
    for (size_t after = at; after < text.size && ferry_utf8_next(text, &after, &c) && ferry_utf8_is_space(c);)
        at = after;
    return at;
}

/* The text with a mark after each sentence but the last. */
static char *marked(ferry_view text, const char *language)
{
    char *found = kept_memory((1 + strlen(mark)) * text.size + 1), *to = found;
    size_t written = 0;
    for (size_t at = skip_space(text, 0); at < text.size; at = skip_space(text, at)) {
        const size_t end = ferry_sentence_end(text, at, ferry_sentence_language_find(language));
        assert_in_range(end, at + 1, text.size);
        to += sprintf(to, "%s%.*s", written > 0 ? mark : "", (int)(end - written), text.data + written);
        at = written = end;
    }
    sprintf(to, "%.*s", (int)(text.size - written), text.data + written);
    return found;
}

/* ---- cases ---- */

/* "\n" and "\\" stand for a line end and a backslash. `plain`: without the marks. */
static void unescape(const char *from, char *expected, char *plain)
{
    while (*from != '\0') {
        if (strncmp(from, mark, strlen(mark)) == 0) {
            memcpy(expected, mark, strlen(mark));
            expected += strlen(mark);
            from += strlen(mark);
            continue;
        }
        const bool escaped = *from == '\\';
        if (escaped) from++;
        *expected++ = *plain++ = escaped && *from == 'n' ? '\n' : *from;
        from++;
    }
    *expected = *plain = '\0';
}

/* "LANGUAGE<tab>TEXT"; after "!", Ferry's sentences must differ (so that an improvement does not go unseen). */
static bool check_case(char *line)
{
    const bool differs = line[0] == '!';
    const char *language = take_until(&line, '\t') + differs;
    assert_non_null(line);
    char *expected = kept_memory(strlen(line) + 1), *plain = kept_memory(strlen(line) + 1);
    unescape(line, expected, plain);
    const char *found = marked(ferry_text_view(plain), language);
    const bool equal = strcmp(found, expected) == 0;
    if (equal == differs) print_message("%s%s\n found: %s\n", differs ? "! " : "", expected, found);
    return equal != differs;
}

static void check_cases(const char *name, size_t least)
{
    char *lines = read_lines(name);
    size_t count = 0, wrong = 0;
    for (char *line; (line = take_until(&lines, '\n')) != NULL && lines != NULL;) {
        if (line[0] == '#') continue;
        count++;
        if (!check_case(line)) wrong++;
    }
    assert_true(count >= least);
    if (wrong > 0) fail_msg("%s: %zu of %zu cases", name, wrong, count);
}

TEST(test_cases)
{
    check_cases("sentences/cases.tsv", 300); /* published ones */
    check_cases("sentences/own.tsv", 150);
    check_cases("sentences/quotations.tsv", 50);
}

/* ---- languages ---- */

/* ISO 639's codes, and names in English and in the language; after the first two-letter one, what has its table. */
TEST(test_names_of_languages)
{
    static const char *const rows[] = {"en eng english",
                                       "de deu ger german deutsch DE deu_Latn de-AT de_DE",
                                       "fr fra fre french français",
                                       "es spa spanish español castellano",
                                       "it ita italian italiano",
                                       "pt por portuguese português",
                                       "ru rus russian русский",
                                       "hy hye arm armenian",
                                       "el ell gre greek",
                                       ("da dan cs ces cze sk slk slo pl pol hu hun fi fin no nor nb nob nn nno is isl "
                                        "ice sl slv hr hrv sr srp bs bos et est lv lav lt lit tr tur"),
                                       "xx d germanic _de unde"};
    const ferry_sentence_language *found[COUNT(rows)], *common = ferry_sentence_language_find(NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_sentence_language *table = NULL;
        char *names = kept_memory(strlen(rows[i]) + 1);
        strcpy(names, rows[i]);
        for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
            if (table == NULL) table = ferry_sentence_language_find(name);
            assert_ptr_equal(ferry_sentence_language_find(name), table);
        }
        for (size_t k = 0; k < i; k++) assert_true(found[k] != table);
        found[i] = table;
    }
    assert_ptr_equal(found[COUNT(rows) - 1], common);
    assert_ptr_equal(ferry_sentence_language_find(""), common);
    assert_ptr_equal(ferry_sentence_language_find(" "), common);
    assert_ptr_equal(ferry_sentence_language_find("xx deu"), found[1]);
    assert_ptr_equal(ferry_sentence_language_find("nix German"), found[1]);
}

/* Unicode 15.0, 5.8: what ends a line; not their neighbors, nor the separators of data that ISO C calls no white space.
 */
TEST(test_line_ends)
{
    static const char *const ends[] = {"\n", "\r", "\v", "\f", "\xC2\x85", "\u2028", "\u2029"},
                             *const others[] = {"\t", "\x1C", "\xC2\x84", "\xC2\x86", "\u2027", "\u202A", "\u00A0"};
    for (size_t i = 0; i < COUNT(ends) + COUNT(others); i++) {
        const bool is_end = i < COUNT(ends);
        const ferry_name text = ferry_name_format("(a%sb)", is_end ? ends[i] : others[i - COUNT(ends)]);
        const ferry_view view = ferry_text_view(text.text);
        assert_int_equal(ferry_sentence_end(view, 0, ferry_sentence_language_find("")), is_end ? 2 : view.size);
    }
}

/* ---- any bytes ---- */

/* Sentences follow each other, begin and end with what is not white space, and contain no line end; and what is behind
 * a sentence's line does not matter for it. */
static void check_any(ferry_view text, const ferry_sentence_language *language)
{
    for (size_t at = skip_space(text, 0); at < text.size; at = skip_space(text, at)) {
        const size_t end = ferry_sentence_end(text, at, language);
        assert_in_range(end, at + 1, text.size);
        const ferry_view sentence = {text.data + at, end - at};
        assert_null(memchr(sentence.data, '\n', sentence.size));
        assert_int_equal(ferry_utf8_trim(sentence).size, sentence.size);
        const char *line_end = memchr(text.data + end, '\n', text.size - end);
        if (line_end != NULL) {
            char *line = kept_memory((size_t)(line_end - text.data - (ptrdiff_t)at) + 1);
            const ferry_view alone = {line, (size_t)(line_end - text.data) - at};
            memcpy(line, text.data + at, alone.size);
            assert_int_equal(ferry_sentence_end(alone, 0, language), sentence.size);
        }
        at = end;
    }
}

TEST(test_any_bytes)
{
    static const char *const units[] = {".",    "?",  "…",   " ",  "\n", "\"",   "(",    ")",     "[1]",      "«", "»",
                                        "。",   "」", "'",   "a",  "Z.", "1",    "№",    "\xFF",  "\xE2\x80", "é", "Dr",
                                        " . .", "• ", "2) ", "\0", "-",  "\xF4", "\xED", "z. B.", "XIV"};
    static const char *const names[] = {"en", "de", "xx", "hy", "ja"};
    uint32_t random = 7;
    for (int round = 0; round < 20000; round++) {
        char text[40];
        size_t size = 0;
        for (;;) {
            const char *unit = units[next_random(&random) % COUNT(units)];
            const size_t length = unit[0] == '\0' ? 1 : strlen(unit);
            if (size + length > sizeof text) break;
            memcpy(text + size, unit, length);
            size += length;
        }
        /* exactly as large as the text, so that sanitizers see what is read past it */
        const ferry_view copy = {memcpy(kept_memory(size), text, size), size};
        check_any(copy, ferry_sentence_language_find(names[round % (int)COUNT(names)]));
    }
}

/* Megabytes in which every character might begin or end something: the test would not end if time were not linear. */
TEST(test_long_texts)
{
    static const char *const units[] = {".", "a. ", "(",  "\"", " \"", "«",   ". . ", "1. ",       "1) 2) ", "a",
                                        " ", "。",  "」", "• ", "[1]", ".[1", "U.",   "e\xCC\x81", "««a,»"};
    const size_t size = 2000000;
    for (size_t u = 0; u < COUNT(units); u++) {
        char *text = kept_memory(size);
        const size_t length = strlen(units[u]);
        for (size_t at = 0; at < size; at++) text[at] = units[u][at % length];
        const ferry_view view = {text, size - size % length};
        const ferry_sentence_language *language = ferry_sentence_language_find("de");
        for (size_t at = skip_space(view, 0); at < view.size; at = skip_space(view, at))
            at = ferry_sentence_end(view, at, language);
    }
}
