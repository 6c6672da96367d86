#include "net_tokens.h"

#include "base/utf8.h"
#include "characters.h"
#include "document_parts.h"
#include "placeholders.h"
#include "tokenizer/unicode.h"

static bool is_end_mark(uint32_t c)
{
    return c < 0x80 ? is_one_of((char)c, ".,;:!?\"'`()") : ferry_unicode_character(c) > FERRY_CHARACTER_NUMBER;
}

bool ferry_token_is_alone(uint32_t c)
{
    return c >= 0x80 && (ferry_is_ideograph(c) || (ferry_unicode_is_letter(c) && !ferry_unicode_is_word_letter(c)));
}

size_t ferry_token_count_marks(ferry_view text, const char *others)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += is_one_of(text.data[i], FERRY_MARKS) && !is_one_of(text.data[i], others);
    return count;
}

bool ferry_token_has_word(ferry_view text)
{
    for (size_t at = 0; at < text.size;)
        if (ferry_unicode_character(ferry_unicode_next(text, &at)) <= FERRY_CHARACTER_NUMBER) return true;
    return false;
}

ferry_view ferry_token_trim(ferry_view token)
{
    uint32_t c;
    for (size_t at = 0; at < token.size && is_end_mark(ferry_unicode_next(token, &at));)
        token = view_part(token, at, token.size), at = 0;
    for (size_t at = token.size; ferry_utf8_previous(token, &at, &c) && is_end_mark(c);) token.size = at;
    return token;
}

ferry_view ferry_token_trim_marks(ferry_view token)
{
    while (token.size > 1 && is_one_of(*token.data, "\"'`(")) token = view_part(token, 1, token.size);
    while (token.size > 1 && is_one_of(token.data[token.size - 1], "\"'`).,;")) token.size--;
    return ferry_token_count_marks(token, ":;!") > 0 ? token : ferry_token_trim(token);
}

size_t ferry_token_left_marks(ferry_view token)
{
    return skip_set(token, 0, "*_[]{}|");
}

size_t ferry_token_right_marks(ferry_view token)
{
    size_t size = 0;
    while (size < token.size && is_one_of(token.data[token.size - 1 - size], "*_[]{}|")) size++;
    return size;
}

size_t ferry_token_same_marks(ferry_view token)
{
    const char c = byte_at(token, 0);
    size_t size = 0;
    if (!is_one_of(c, "=~^+")) return 0;
    while (2 * size < token.size && token.data[size] == c && token.data[token.size - 1 - size] == c) size++;
    return c == '+' && size != 2 ? 0 : size;
}

size_t ferry_token_doubled_marks(ferry_view token)
{
    const bool doubled = token.size > 2 && is_one_of(*token.data, "=~+") && token.data[1] == *token.data;
    return doubled && is_word(token.data[2]) ? 2 : 0;
}

/* "HTML": capitals without a vowel, which no language reads as a word. */
static bool is_abbreviation(ferry_view word)
{
    for (size_t at = 0; at < word.size; at++)
        if (!is_capital(word.data[at]) || is_one_of(word.data[at], "AEIOUY")) return false;
    return word.size > 1;
}

/* A part of "and/or", a word of letters; no part of "GNU/Linux", "TCP/UDP" or "hooks/post-update". *letters: how many;
 * *capital: they are capitals. */
static bool is_of_choice(ferry_view part, size_t *letters, bool *capital)
{
    *letters = 0;
    *capital = true;
    for (size_t at = 0; at < part.size; ++*letters) {
        const uint32_t c = ferry_unicode_next(part, &at);
        const ferry_character kind = ferry_unicode_character(c);
        if (c != '\'' && c != 0x2019 && kind > FERRY_CHARACTER_MARK) return false;
        *capital = *capital && kind == FERRY_CHARACTER_UPPER;
    }
    return *letters > 0 && !is_abbreviation(part);
}

/* "and/or": words of letters with single slashes between them, one of more than one letter. */
static bool is_choice(ferry_view token)
{
    bool is_long = false, has_name = false, has_word = false, capital;
    size_t letters;
    for (size_t at = 0, end; at <= token.size; at = end + 1) {
        end = find_one_of(token, at, "/");
        if (!is_of_choice(view_part(token, at, end), &letters, &capital)) return false;
        is_long = is_long || letters > 1;
        has_name = has_name || (capital && letters > 1);
        has_word = has_word || !capital;
    }
    return is_long && !(has_name && has_word);
}

/* "50%", "$5", "3:1" */
static bool is_number(ferry_view token)
{
    for (size_t at = 0; at < token.size;)
        if (ferry_unicode_character(ferry_unicode_next(token, &at)) <= FERRY_CHARACTER_MARK) return false;
    return ferry_token_count_marks(token, "$%:/+") == 0;
}

/* "EU:n", "12:e": an ending behind what has none. */
static bool has_ending(ferry_view token)
{
    const size_t colon = find_one_of(token, 0, ":");
    size_t letters = 0, at = 0;
    while (at < colon && (is_capital(token.data[at]) || is_digit(token.data[at]))) at++;
    if (colon == 0 || at < colon || colon == token.size) return false;
    for (at = colon + 1; at < token.size; letters++)
        if (ferry_unicode_character(ferry_unicode_next(token, &at)) != FERRY_CHARACTER_LOWER) return false;
    return letters > 0 && letters <= 4;
}

/* "org.example.App", "git.git": names with dots within, at least two of more than one character; of two, both of small
 * letters. */
static bool is_dotted(ferry_view word)
{
    size_t dots = 0, letters = 0, names = 0;
    bool small = true;
    for (size_t at = 0; at < word.size; at++) {
        const char c = word.data[at];
        if (!is_name(c) && (c != '.' || letters == 0)) return false;
        dots += c == '.';
        small = small && (c == '.' || (c >= 'a' && c <= 'z'));
        letters = c == '.' ? 0 : letters + 1;
        names += letters == 2;
    }
    return dots > 1 ? names > 1 : dots == 1 && names == 2 && small;
}

bool ferry_token_is_read(ferry_view word)
{
    if (is_dotted(word) || is_abbreviation(word)) return false;
    return ferry_token_count_marks(word, "") == 0 || is_choice(word) || is_number(word) || has_ending(word);
}

size_t ferry_token_kept_size(ferry_view word, ferry_view token)
{
    size_t open = 0, size = word.size;
    const size_t most = token.size - (size_t)(word.data - token.data);
    for (size_t i = 0; i < size; i++) open += (size_t)(word.data[i] == '(') - (size_t)(word.data[i] == ')' && open > 0);
    for (; open > 0 && size < most && word.data[size] == ')'; open--) size++;
    return size;
}

bool ferry_token_is_smiley(ferry_view token)
{
    const size_t nose = token.size == 3 && is_one_of(token.data[1], "-'o");
    if (token.size != 2 + nose) return false;
    return (is_one_of(token.data[0], ":;=") && is_one_of(token.data[1 + nose], "()|/\\*DPpOo3")) ||
           ferry_view_is(token, "<3");
}
