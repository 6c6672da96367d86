/* Placeholders and templates, which need no blank before them. */
#include "characters.h"
#include "entities.h"
#include "html_tags.h"
#include "placeholders.h"

/* ---- brackets ---- */

size_t ferry_find_after(ferry_view text, size_t at, const char *end)
{
    for (size_t i = at; i < text.size && i - at < FERRY_MOST_INSIDE && text.data[i] != '\n'; i++)
        if (text.data[i] == *end && begins(text, i, end)) return i + strlen(end);
    return 0;
}

/* Brackets of one kind, well nested: in one line, unless they are doubled. */
static size_t find_nested(ferry_view text, size_t at)
{
    const char open = byte_at(text, at), close = open == '(' ? ')' : '}';
    int depth = 0;
    const bool lines = is_one_of(byte_at(text, at + 1), "{%#");
    for (size_t i = at; i < text.size && i - at < FERRY_MOST_INSIDE && (lines || text.data[i] != '\n'); i++) {
        depth += (text.data[i] == open) - (text.data[i] == close);
        if (depth == 0) return i + 1;
    }
    return 0;
}

size_t ferry_find_argument_type(ferry_view text, size_t at)
{
    static const char white[] = " \t\r\n";
    static const char types[] = " number date time list duration spellout ordinal plural select selectordinal ";
    const size_t name = skip_set(text, at + 1, white), end = skip_name(text, name, "-.()[]", FERRY_MOST_NAME);
    const size_t comma = skip_set(text, end, white), type = skip_set(text, comma + 1, white);
    if (end == name || byte_at(text, comma) != ',') return 0;
    return ferry_name_is_listed(view_part(text, type, skip(text, type, is_letter, 16)), types) ? type : 0;
}

bool ferry_is_remark(ferry_view group)
{
    size_t blanks = 0, end = group.size - 1 - (group.data[group.size - 2] == '\\'); /* \{…\} */
    for (size_t i = 1; i < end; i++) {
        if (!is_word(group.data[i]) && !is_one_of(group.data[i], " .,'!?-")) return false;
        blanks += group.data[i] == ' ';
    }
    return blanks > 1 || (blanks > 0 && is_one_of(group.data[end - 1], ".!?"));
}

/* {name}; not a remark. */
static size_t find_braces(ferry_view text, size_t at)
{
    const size_t end = find_nested(text, at);
    if (end == 0 || ferry_find_argument_type(text, at) > 0) return end;
    return ferry_is_remark(view_part(text, at, end)) ? 0 : end;
}

/* What ends with the next `end` in its line, after `least` bytes: formulas, code, templates, <#if x> </#if>. */
static const struct {
    const char *begin, *end;
    size_t least;
} enclosed[] = {
    {"$$", "$$", 3}, {"$", "$", 2},   {"\\(", "\\)", 3}, {"\\[", "\\]", 3}, {"``", "``", 2},  {"`", "`", 1},
    {"[%", "%]", 2}, {"<%", "%>", 2}, {"</%", "%>", 2},  {"<?", "?>", 2},   {"</?", "?>", 2}, {"<#", ">", 2},
    {"</#", ">", 2}, {"<@", ">", 2},  {"</@", ">", 2},   {"*|", "|*", 2},
};

/* "$5 and $6", "`a' and `b'" have none. */
static size_t find_enclosed(ferry_view text, size_t at, bool formulas)
{
    const size_t count = sizeof enclosed / sizeof *enclosed;
    const char c = text.data[at];
    size_t i = 0;
    while (i < count && (c != enclosed[i].begin[0] || !begins(text, at, enclosed[i].begin))) i++;
    if (!formulas && i < count && strcmp(enclosed[i].begin, "$") == 0) return 0;
    const size_t end = i < count ? ferry_find_after(text, at + enclosed[i].least, enclosed[i].end) : 0;
    if (end == 0) return 0;
    const size_t mark = strlen(enclosed[i].end);
    const char after = byte_at(text, end);
    const unsigned char first = (unsigned char)text.data[at + mark], last = (unsigned char)text.data[end - mark - 1];
    if (c == '`' && (is_one_of((char)first, "` \t") || is_one_of((char)last, " \t") || after == '`')) return 0;
    return c == '$' && mark == 1 && (first <= ' ' || last <= ' ' || is_digit(after)) ? 0 : end;
}

/* [b] [/b] [/caption] [url=x] [*] [[x]], and [code] and [img] with what they have inside. */
static size_t find_brackets(ferry_view text, size_t at)
{
    static const char names[] = " align attach b br center code color email font h1 h2 h3 h4 hr i img indent li list "
                                "media noparse ol php pre quote s size spoiler strike sub sup table td th tr u ul url "
                                "youtube ";
    const char first = byte_at(text, at + 1);
    const bool ends = first == '/';
    const size_t begin = at + 1 + (ends || first == '['), end = skip_name(text, begin, "", FERRY_MOST_NAME);
    const ferry_view name = view_part(text, begin, end);
    if (begins(text, at, "[*]")) return at + 3;
    if (first == '[') return name.size > 0 && begins(text, end, "]]") ? end + 2 : 0;
    if (ends && name.size > 1 && byte_at(text, end) == ']') return end + 1;
    if (!ferry_name_is_listed(name, names) || name.data[0] < 'a') return 0;
    if (byte_at(text, end) == '=') return ferry_find_after(text, end, "]");
    if (byte_at(text, end) != ']') return 0;
    if (name.size == 1 && !ends && at > 0 && is_name(text.data[at - 1])) return 0; /* "a[i]" */
    const bool has_code = !ends && ferry_name_is_listed(name, " code img noparse php pre youtube ");
    const size_t close = has_code ? ferry_find_after(text, end, "[/") : 0;
    const size_t after = close > 0 ? ferry_find_after(text, close, "]") : 0;
    return after > 0 ? after : end + 1;
}

/* ---- placeholders ---- */

/* %d %-5.2f %1$s %[1]s %zu %<PRIu64> %% %(name)s %{name} %1 %L1 %name %name% %%name%%, strftime's %Y; "100%d" is none.
 */
static size_t find_percent(ferry_view text, size_t at)
{
    size_t end = at + 1;
    if (at > 0 && is_digit(text.data[at - 1]) && (text.data[at - 1] != '0' || (at > 1 && is_digit(text.data[at - 2]))))
        return 0; /* behind a number; "0%o" is behind none */
    if (byte_at(text, end) == '%') {
        const size_t name = skip_name(text, end + 1, "", FERRY_MOST_NAME);
        return name > end + 1 && begins_exactly(text, name, "%%") ? name + 2 : end + 1;
    }
    if (byte_at(text, end) == '{') return find_braces(text, end);
    if (byte_at(text, end) == '(') {
        end = skip_name(text, end + 1, "", FERRY_MOST_NAME);
        if (end == at + 2 || byte_at(text, end) != ')') return 0;
        end++;
    }
    if (byte_at(text, end) == '[') { /* Go's %[1]d */
        const size_t index = skip(text, end + 1, is_digit, 3);
        if (index == end + 1 || byte_at(text, index) != ']') return 0;
        end = index + 1;
    }
    const size_t numbers = end, digits = skip(text, end + (byte_at(text, end) == 'L'), is_digit, 2);
    /* Flags, width and precision, but for blanks as flags: "100 % of". */
    while (end - numbers < FERRY_MOST_NAME && is_one_of(byte_at(text, end), "0123456789-+#'.*$")) end++;
    if (byte_at(text, end) == '<') {
        end = skip_name(text, end + 1, "", FERRY_MOST_NAME);
        return byte_at(text, end) == '>' ? end + 1 : 0;
    }
    const size_t sizes = end;
    while (end - sizes < 2 && is_one_of(byte_at(text, end), "hlLqjztZ")) end++;
    if (end > sizes && !is_letter(byte_at(text, end))) end--; /* strftime's %h */
    if (byte_at(text, end) == '@') return end + 1;
    if (numbers == at + 1 && digits > numbers && is_digit(text.data[digits - 1]) &&
        (digits > end || !is_letter(byte_at(text, end))))
        return digits; /* Qt's */
    if (!is_letter(byte_at(text, end))) return 0;
    if (byte_at(text, end) >= 'a' && is_capital(byte_at(text, end + 1))) return end + 1;
    size_t name = skip_name(text, end + 1, "", FERRY_MOST_NAME); /* what touches it, or %name% */
    while (text.data[name - 1] == '_') name--;
    const bool is_between = name > end + 1 && name > at + 3 && byte_at(text, name) == '%';
    return name + (is_between && !is_letter(byte_at(text, name + 1)));
}

/* $name $NAME-name $name$ $t(name) ${name} $(name); "$5" is none. */
static size_t find_dollar(ferry_view text, size_t at)
{
    const char first = byte_at(text, at + 1);
    if (first == '{') return find_braces(text, at + 1);
    if (first == '(') return find_nested(text, at + 1);
    const size_t end = skip_name(text, at + 1, is_capital(first) ? "-" : "", FERRY_MOST_NAME);
    if (end == at + 1 || is_digit(first) || (at > 0 && is_name(text.data[at - 1]))) return 0;
    const size_t call = byte_at(text, end) == '(' ? find_nested(text, end) : 0;
    return call > 0 ? call : end + (byte_at(text, end) == '$');
}

/* \n \name \u00e9 \. */
static size_t find_escape(ferry_view text, size_t at)
{
    const char first = byte_at(text, at + 1), second = byte_at(text, at + 2);
    if (is_one_of(first, "_*[]()~`>#+-=|{}.!") && byte_at(text, at - (at > 0)) != '\\') return at + 2;
    if (!is_letter(first)) return 0;
    if (at > 0 && is_name(text.data[at - 1]) && !is_one_of(first, "nrtNh")) return 0; /* "name\x" is the net's */
    if (first == 'n' || (is_one_of(first, "rtNh") && (!is_letter(second) || is_capital(second)))) return at + 2;
    return skip_name(text, at + 1, "", FERRY_MOST_NAME);
}

size_t ferry_find_placeholder(ferry_view text, size_t at, bool formulas)
{
    char bytes[8];
    const char c = byte_at(text, at);
    if (c <= ' ' || is_name(c)) return 0;
    size_t size = 0, end = find_enclosed(text, at, formulas);
    if (end > 0) return end;
    switch (c) {
    case '%': return find_percent(text, at);
    case '$': return find_dollar(text, at);
    case '{': return find_braces(text, at);
    case '\'': /* ICU's quoted braces, with what they have inside: '{'name'}' */
        end = begins(text, at, "'{'") ? find_nested(text, at + 1) : 0;
        return end > 0 && begins(text, end - 2, "'}'") ? end + 1 : 0;
    case '[': return find_brackets(text, at);
    case '\\': return find_escape(text, at);
    case '#': return byte_at(text, at + 1) == '{' ? find_nested(text, at + 1) : 0;
    case '&': size = ferry_entity_read(view_part(text, at, text.size), bytes, &size); return size > 0 ? at + size : 0;
    case '<': /* <https://…> <user@host.org>, with the brackets */
        end = ferry_find_address(text, at + 1);
        return end > 0 && byte_at(text, end) == '>' ? end + 1 : 0;
    default: return 0;
    }
}
