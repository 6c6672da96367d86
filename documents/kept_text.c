#include "kept_text.h"

#include <string.h>

enum { MOST_BRACES = 256, MOST_NAME = 64 }; /* bytes that are looked at, so that time is linear */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* ---- what begins at byte `at`: where it ends, or `at` ---- */

/* The bytes from `at` that `belongs` accepts, `most` of them at most. */
static size_t skip(ferry_view text, size_t at, bool (*belongs)(char), size_t most)
{
    const size_t begin = at;
    while (at < text.size && at - begin < most && belongs(text.data[at])) at++;
    return at;
}

/* The byte after a '{' at `at` and its '}', without the end of a line between. */
static size_t find_braces(ferry_view text, size_t at)
{
    int depth = 0;
    for (size_t i = at; i < text.size && i - at < MOST_BRACES && text.data[i] != '\n'; i++) {
        depth += (text.data[i] == '{') - (text.data[i] == '}');
        if (depth == 0) return i == at ? at : i + 1;
    }
    return at;
}

/* The flags, width and precision of printf, but for blanks as flags: "100 % of". */
static bool is_printf_number(char c)
{
    return is_digit(c) || is_one_of(c, "-+#'.*$");
}

static bool is_printf_size(char c)
{
    return is_one_of(c, "hlLqjztZ");
}

/* A number that ends before byte `at`; "0%o" has none. */
static bool follows_number(ferry_view text, size_t at)
{
    if (at == 0 || !is_digit(text.data[at - 1])) return false;
    return text.data[at - 1] != '0' || (at > 1 && is_digit(text.data[at - 2]));
}

/* %d %-5.2f %1$s %zu %<PRIu64> %% %(name)s %{name} %1, strftime's %Y; "100%d" is none. */
static size_t find_percent(ferry_view text, size_t at)
{
    size_t end = at + 1;
    if (end == text.size || follows_number(text, at)) return at;
    if (text.data[end] == '%') return end + 1;
    if (text.data[end] == '{') return find_braces(text, end) > end ? find_braces(text, end) : at;
    if (text.data[end] == '(') {
        end = skip(text, end + 1, is_name, MOST_NAME);
        if (end == at + 2 || end == text.size || text.data[end] != ')') return at;
        end++;
    }
    const size_t numbers = end;
    end = skip(text, end, is_printf_number, MOST_NAME);
    const size_t digits = skip(text, numbers, is_digit, 2);
    if (end < text.size && text.data[end] == '<') {
        end = skip(text, end + 1, is_name, MOST_NAME);
        return end < text.size && text.data[end] == '>' ? end + 1 : at;
    }
    const size_t sizes = end;
    end = skip(text, end, is_printf_size, 2);
    if (end > sizes && (end == text.size || !is_letter(text.data[end]))) end--; /* strftime's %h */
    if (end < text.size && (is_letter(text.data[end]) || text.data[end] == '@')) return end + 1;
    return numbers == at + 1 && digits > numbers ? digits : at;
}

/* $name $name$ ${name}; "$5" is none. */
static size_t find_dollar(ferry_view text, size_t at)
{
    const size_t begin = at + 1;
    if (begin == text.size || is_digit(text.data[begin])) return at;
    if (text.data[begin] == '{') return find_braces(text, begin) > begin ? find_braces(text, begin) : at;
    const size_t end = skip(text, begin, is_name, text.size);
    if (end == begin || (at > 0 && is_name(text.data[at - 1]))) return at;
    return end < text.size && text.data[end] == '$' ? end + 1 : end;
}

static bool is_of_address(char c)
{
    return (unsigned char)c > ' ' && !is_one_of(c, "<>\"`\x7F");
}

/* Without the punctuation of the sentence that the address is in. */
static size_t trim_address(ferry_view text, size_t begin, size_t end)
{
    const bool opens = end > begin && memchr(text.data + begin, '(', end - begin) != NULL;
    while (end > begin && is_one_of(text.data[end - 1], opens ? ".,;:!?'*_]}" : ".,;:!?'*_)]}")) end--;
    return end;
}

static bool begins(ferry_view text, size_t at, const char *prefix)
{
    const size_t size = strlen(prefix);
    return text.size - at >= size && ferry_compare_letters(text.data + at, prefix, size) == 0;
}

/* scheme://… www.… mailto:… */
static size_t find_address(ferry_view text, size_t at)
{
    size_t begin = skip(text, at, is_letter, MOST_NAME);
    if (begin > at && begins(text, begin, "://"))
        begin += 3;
    else if (begins(text, at, "www.") || begins(text, at, "mailto:"))
        begin = at + (text.data[begin] == ':' ? 7 : 4);
    else
        return at;
    const size_t end = trim_address(text, begin, skip(text, begin, is_of_address, text.size));
    return end > begin ? end : at;
}

static bool is_of_mailbox(char c)
{
    return is_name(c) || is_one_of(c, ".+-");
}

static bool is_of_host(char c)
{
    return is_letter(c) || is_digit(c) || is_one_of(c, ".-");
}

/* user@host.org */
static size_t find_mail(ferry_view text, size_t at)
{
    const size_t host = skip(text, at, is_of_mailbox, MOST_NAME);
    if (host == at || host == text.size || text.data[host] != '@') return at;
    size_t end = skip(text, host + 1, is_of_host, text.size);
    while (end > host + 1 && !is_letter(text.data[end - 1])) end--;
    return memchr(text.data + host, '.', end - host) != NULL ? end : at;
}

/* <https://…> <user@host.org>, with the brackets. */
static size_t find_bracketed(ferry_view text, size_t at)
{
    size_t end = find_address(text, at + 1);
    if (end == at + 1) end = find_mail(text, at + 1);
    return end > at + 1 && end < text.size && text.data[end] == '>' ? end + 1 : at;
}

static bool is_of_path(char c)
{
    return is_name(c) || (unsigned char)c >= 0x80 || is_one_of(c, "/.+~*:=@-");
}

/* /usr/share ./file ../file ~/file; "and/or", " / " are none. */
static size_t find_path(ferry_view text, size_t at)
{
    size_t begin = at + (begins(text, at, "./") || begins(text, at, "~/")) + 2 * (size_t)begins(text, at, "../");
    if (begin == text.size || text.data[begin] != '/') return at;
    const size_t end = trim_address(text, begin, skip(text, begin, is_of_path, text.size));
    begin += 1;
    while (begin < end && !is_name(text.data[begin])) begin++;
    return begin < end ? end : at;
}

static bool is_of_option(char c)
{
    return is_name(c) || c == '-';
}

/* --option */
static size_t find_option(ferry_view text, size_t at)
{
    if (!begins(text, at, "--") || text.size - at < 3 || !is_letter(text.data[at + 2])) return at;
    return skip(text, at + 2, is_of_option, text.size);
}

/* ---- the search ---- */

typedef size_t finder(ferry_view text, size_t at);

bool ferry_kept_find(ferry_view text, size_t begin, ferry_kept *found)
{
    static finder *const of_words[] = {find_address, find_mail}; /* at the beginning of a word */
    static finder *const of_names[] = {find_path, find_option};  /* behind a blank, a quote, a parenthesis */
    for (size_t at = begin; at < text.size; at++) {
        const char c = text.data[at], before = at > 0 ? text.data[at - 1] : ' ';
        size_t end = at;
        if (c == '%') end = find_percent(text, at);
        if (c == '$') end = find_dollar(text, at);
        if (c == '{') end = find_braces(text, at);
        if (c == '<') end = find_bracketed(text, at);
        for (size_t i = 0; i < 2 && end == at && is_name(c) && !is_name(before); i++) end = of_words[i](text, at);
        for (size_t i = 0; i < 2 && end == at && is_one_of(before, " \t\n\"'`(["); i++) end = of_names[i](text, at);
        if (end == at) continue;
        *found = (ferry_kept){at, end};
        return true;
    }
    return false;
}
