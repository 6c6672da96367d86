#include "placeholders.h"

#include "base/utf8.h"
#include "characters.h"
#include "html_tags.h"
#include "tokenizer/unicode.h"

/* Letters of scripts that write blanks between words, without a table of them. */
static bool is_of_word(uint32_t c)
{
    return c < 0x80 ? is_name((char)c) : c >= 0xC0 && c < 0x2000 && c != 0xD7 && c != 0xF7;
}

/* Also ideographs and emoji, which joiners may be between. */
static bool can_be_split(uint32_t c)
{
    return is_of_word(c) || c > 0x206F;
}

static uint32_t character_before(ferry_view text, size_t at)
{
    uint32_t c = ' ';
    if (at > 0 && (unsigned char)text.data[at - 1] < 0x80) return (unsigned char)text.data[at - 1];
    return at == 0 || ferry_utf8_previous(text, &at, &c) ? c : 0xFFFD;
}

/* Behind a blank, an opening bracket or quote. */
static bool begins_name(ferry_view text, size_t at)
{
    const uint32_t c = character_before(text, at);
    return c < 0x80 ? is_one_of((char)c, " \t\r\n\"'`([{<=|,;>*") : !is_of_word(c) && c != 0x201D;
}

/* ---- addresses ---- */

static bool is_of_address(char c)
{
    return (c > ' ' && !is_one_of(c, "<>\"`\x7F")) || is_foreign(c);
}

/* Without what belongs to the sentence that the address is in: punctuation, a parenthesis that is closed only. */
static size_t trim_address(ferry_view text, size_t begin, size_t end)
{
    size_t open = 0, at = begin;
    for (; at < end && (text.data[at] != ')' || open > 0); at++)
        open += (size_t)(text.data[at] == '(') - (size_t)(text.data[at] == ')');
    while (at > begin && is_one_of(text.data[at - 1], ".,;:!?'*_]}")) at--;
    return at;
}

size_t ferry_find_address(ferry_view text, size_t at)
{
    size_t begin = skip(text, at, is_letter, FERRY_MOST_NAME);
    if (begin > at && begins(text, begin, "://"))
        begin += 3;
    else if (begins(text, at, "www.") || begins(text, at, "mailto:"))
        begin = at + (text.data[begin] == ':' ? 7 : 4);
    else
        begin = text.size;
    size_t end = trim_address(text, begin, skip(text, begin, is_of_address, text.size));
    if (end > begin) return end;
    /* user@host.org */
    const size_t host = skip_name(text, at, ".+-", FERRY_MOST_NUMBER);
    if (host == at || byte_at(text, host) != '@') return 0;
    end = skip_name(text, host + 1, ".-", FERRY_MOST_NAME);
    while (end > host + 1 && !is_letter(text.data[end - 1])) end--;
    return memchr(text.data + host, '.', end - host) != NULL ? end : 0;
}

/* ---- names ---- */

static const char of_path[] = "/.+~*:=@-\x80", of_windows_path[] = "/.+~*:=@-\x80\\";

/* /usr/share ./file ../file ~/file; "and/or", " / ", "</p>" are none. */
static size_t find_path(ferry_view text, size_t at)
{
    size_t begin = at + (begins(text, at, "./") || begins(text, at, "~/")) + 2 * (size_t)begins(text, at, "../");
    if (byte_at(text, begin) != '/' || (at > 0 && text.data[at] != '.' && text.data[at - 1] == '<')) return 0;
    while (begin - at < 8 && is_one_of(byte_at(text, begin), "/.*")) begin++;
    if (!is_name(byte_at(text, begin)) && !is_foreign(byte_at(text, begin))) return 0;
    return trim_address(text, begin, skip_name(text, begin, of_path, text.size));
}

/* The value after "=" at `at`, if one touches it. */
static size_t find_value(ferry_view text, size_t at)
{
    const char first = byte_at(text, at + 1), quote[] = {first, '\0'};
    if (byte_at(text, at) != '=' || !is_of_address(first == '"' ? 'a' : first) || is_one_of(first, "=]),;")) return 0;
    const size_t quoted = first == '"' || first == '\'' ? ferry_find_after(text, at + 2, quote) : 0;
    const size_t end = quoted > 0 ? quoted : trim_address(text, at + 1, skip(text, at + 1, is_of_address, text.size));
    return end > at + 1 ? end : 0;
}

/* --option --option=value -h -O2 -DX=1; not what someone says behind a dash: "-Where", "-I am". */
static size_t find_option(ferry_view text, size_t at)
{
    const bool is_long = byte_at(text, at + 1) == '-';
    const size_t begin = at + 1 + is_long, end = skip_name(text, begin, "-", text.size);
    if (!is_letter(byte_at(text, begin)) || text.data[end - 1] == '-') return 0;
    if (at > 1 && is_one_of(text.data[at - 1], "\"'") && text.data[at - 2] > ' ') return 0; /* "Yes"--he */
    const size_t value = find_value(text, end);
    if (is_long || value > 0) return value > 0 ? value : end;
    const bool is_spoken =
        is_one_of(text.data[begin], "AIOEY") && byte_at(text, end) == ' ' && byte_at(text, end + 1) >= 'a';
    const bool has_dash = text.data[begin] >= 'a' && skip_name(text, begin, "", text.size) < end; /* -mno-div */
    return (end == begin + 1 && !is_spoken) || is_digit(text.data[end - 1]) || has_dash ? end : 0;
}

/* :name: :+1: :name; ":)", ":D" are none. */
static size_t find_colons(ferry_view text, size_t at)
{
    size_t end = skip_name(text, at + 1, "+-", FERRY_MOST_NUMBER);
    if (byte_at(text, end) == ':' && end > at + 1 && !is_name(byte_at(text, end + 1))) return end + 1;
    end = skip_name(text, at + 1, "", FERRY_MOST_NAME);
    return end > at + 2 && is_letter(text.data[at + 1]) ? end : 0;
}

/* @name @scope/name @name@ #123 #tag !name .name *.txt */
static size_t find_marked(ferry_view text, size_t at)
{
    const char c = text.data[at], first = byte_at(text, at + 1);
    if (c == '#' && is_digit(first)) return skip(text, at + 1, is_digit, FERRY_MOST_NAME);
    if (c == '*' ? first != '.' || !is_letter(byte_at(text, at + 2)) : !is_letter(first) && first != '_') return 0;
    size_t end = skip_name(text, at + 1, of_path, FERRY_MOST_NAME);
    while (end > at + 1 && !is_name(text.data[end - 1]) && !is_foreign(text.data[end - 1])) end--;
    const bool is_word = c != '!' || (first >= 'a' && end == skip_name(text, at + 1, "", FERRY_MOST_NAME));
    if (end == at + 2 || !is_word) return 0;
    return end + (byte_at(text, end) == c && is_one_of(c, "@#")); /* @name@ */
}

static size_t find_name(ferry_view text, size_t at)
{
    const char c = text.data[at];
    size_t end = 0;
    if (is_one_of(c, "/~.")) end = find_path(text, at);
    if (c == '-') end = find_option(text, at);
    if (c == ':') end = find_colons(text, at);
    if (c == '\\' && byte_at(text, at + 1) == '\\' && is_name(byte_at(text, at + 2)))
        end = trim_address(text, at, skip_name(text, at, of_windows_path, FERRY_MOST_NAME));
    return end == 0 && is_one_of(c, ".#@!*") ? find_marked(text, at) : end;
}

/* ---- words ---- */

/* "main.c", "libx.so.1", "README.MD", but not "end.So": its ending, or that before numbers, is one of files. */
static bool is_file(ferry_view name)
{
    static const char endings[] =
        " 7z a apk asc avi bak bash bat bin bmp bz2 c cc cfg cmake conf cpp crt css csv cxx dat db deb desktop"
        " diff dll dmg doc docx eps epub exe flac gguf gif glade go gpg gradle gz h hpp htm html ico img ini"
        " ipynb iso jar java jpeg jpg js json jsx kt less lock log lua m4 md mk mkv mo mobi mov mp3 mp4 npz o odp"
        " ods odt ogg onnx otf patch pdf pem php pl plist pm png po pot ppt pptx properties ps psd py qml rar rb"
        " rpm rs rst rtf scss sh sig so spec sql srt svg swift tar tbz tex tgz tif tiff toml ts tsv tsx ttf txt"
        " ui vim vtt vue wasm wav webm webp woff woff2 xhtml xls xlsx xml xpi xsl xz yaml yml zip zst ";
    while (name.size > 0) {
        size_t dot = name.size, capitals = 0, digits = 0;
        while (dot > 0 && name.data[dot - 1] != '.') {
            dot--;
            capitals += is_capital(name.data[dot]);
            digits += is_digit(name.data[dot]);
        }
        const ferry_view ending = view_part(name, dot, name.size);
        if (dot < 2 || (ending.size == 1 && (dot < 3 || !is_letter(name.data[dot - 2]) || name.data[dot - 3] == '.')))
            return false;
        if (digits < ending.size || digits == 0)
            return (capitals == 0 || capitals + digits == ending.size) && ferry_name_is_listed(ending, endings);
        name.size = dot - 1;
    }
    return false;
}

/* README.md src/main.c src/lib/ snake_case example.org/x. *token: what was looked at. */
static size_t find_file(ferry_view text, size_t at, size_t *token)
{
    size_t end = skip_name(text, at, "/.+~*-\x80", FERRY_MOST_NAME), slashes = 0, last = at, first = 0;
    if (at < *token) return 0;
    *token = end;
    while (end > at && is_one_of(text.data[end - 1], ".+~*-")) end--;
    for (size_t i = at; i < end; i++) {
        if (text.data[i] == '_' && i > at && i + 1 < end && text.data[i - 1] != '_') return end;
        if (text.data[i] != '/') continue;
        if (slashes++ == 0) first = i;
        last = i + 1;
    }
    if (begins(text, at, "__") && begins(text, end - 2, "__") && end > at + 4) return end;
    if (is_file(view_part(text, last, end)) || (last == end && slashes > 1)) return end;
    if (slashes == 0) first = end;
    size_t dot = first;
    while (dot > at && text.data[dot - 1] != '.') dot--;
    if (dot < at + 3 || text.data[dot] < 'a' ||
        !ferry_name_is_listed(view_part(text, dot, first), " com de edu eu fr gov info io net org uk "))
        return 0;
    return slashes == 0 ? end : trim_address(text, first + 1, skip(text, first, is_of_address, text.size));
}

/* name() ls(1) std::string */
static size_t find_call(ferry_view text, size_t at)
{
    size_t end = skip_name(text, at, ".:", FERRY_MOST_NUMBER), digit = end + 1;
    if (begins(text, end, "()")) return end + 2;
    if (byte_at(text, end) == '(' && is_digit(byte_at(text, digit)) && text.data[at] >= 'a') {
        digit += 1 + is_letter(byte_at(text, digit + 1));
        if (byte_at(text, digit) == ')') return digit + 1;
    }
    while (end > at && !is_name(text.data[end - 1])) end--;
    return ferry_view_contains(view_part(text, at, end), "::") ? end : 0;
}

static bool is_hex(char c)
{
    return ferry_hex_digit(c) >= 0;
}

/* abc1234, and with more behind dashes; 0x1F. */
static size_t find_hash(ferry_view text, size_t at)
{
    const bool has_prefix = begins(text, at, "0x");
    const size_t begin = at + 2 * (size_t)has_prefix;
    size_t end = skip(text, begin, is_hex, FERRY_MOST_NAME), digits = 0, next;
    for (size_t i = begin; i < end; i++) digits += is_digit(text.data[i]);
    if (has_prefix) return end > begin ? end : 0;
    if (end - at < 7 || digits == 0 || digits == end - at) return 0;
    while (byte_at(text, end) == '-' && (next = skip(text, end + 1, is_hex, FERRY_MOST_NAME)) >= end + 5) end = next;
    return is_name(byte_at(text, end)) ? 0 : end;
}

/* Letters of a pattern of dates and times, each part all the same, from byte `at` on: "MM", "yyyyMMdd", "ssZ", "Do".
 * Adds to *count those of parts of several letters. Returns `at` if a word begins there. */
static size_t skip_pattern(ferry_view text, size_t at, size_t *count)
{
    size_t end = at, size = 0, sum = 0, before;
    while (is_one_of(byte_at(text, end), "dmyhsDMYHSEZaA")) {
        const size_t begin = end;
        before = size;
        end = skip_same(text, end);
        size = end - begin;
        if (size > 5 || (begin > at && text.data[begin] != 'Z' && (size == 1 || before == 1))) return at; /* "Mmm" */
        sum += size > 1 && !is_one_of(text.data[begin], "EaA") ? size : 0;
    }
    end += begins_exactly(text, at, "Do");
    if (is_name(byte_at(text, end)) && text.data[end] != 'T') return at;
    *count += sum;
    return end;
}

/* dd/MM/yyyy HH:mm:ss yyyy-MM-dd'T'HH:mm:ssZ "MMMM Do, YYYY" "h:mm a" YYYY; not "MM", "d/m". */
static size_t find_date_pattern(ferry_view text, size_t at)
{
    size_t end = at, next = at, parts = 0, count = 0;
    for (size_t word; next - at < FERRY_MOST_NUMBER && (word = skip_pattern(text, next, &count)) > next; parts++) {
        if (is_one_of(text.data[next], "aA") && (parts == 0 || word < text.size)) break; /* "a day" */
        end = word;
        next = skip_set(text, end, "/-.:, T'[]");
        if (next == end || next > end + 3) break;
    }
    return end > at && count > (parts > 1 ? 1 : 3) ? end : 0;
}

/* The byte after "-4.3-doc" or "++6" at `at`, what goes on a name with digits, or `at`. */
static size_t find_parts(ferry_view text, size_t at)
{
    size_t end = at;
    while (end - at < FERRY_MOST_NUMBER && is_one_of(byte_at(text, end), "-+._")) {
        const size_t name = end + 1 + begins_exactly(text, end, "++");
        if (!is_name(byte_at(text, name))) break;
        end = skip_name(text, name, "", FERRY_MOST_NAME);
    }
    end += end > at && byte_at(text, end) == '+' && !is_word(byte_at(text, end + 1)); /* GPL-1+ */
    return is_foreign(byte_at(text, end)) ? at : end;
}

/* "GPL-2" "UTF-8" "liblouis2-dev": a name with a digit in one of its parts, of which the first begins with a letter. */
static size_t find_version(ferry_view text, size_t at)
{
    const size_t first = skip_name(text, at, "", FERRY_MOST_NAME), end = find_parts(text, first);
    size_t digits = 0;
    for (size_t i = first; i < end; i++) digits += is_digit(text.data[i]);
    return is_letter(text.data[at]) && digits > 0 ? end : 0;
}

/* Words of letters and digits, or with a capital behind a small letter: v1.2.3 A320 1990s 80kg 1.80m camelCase. Not
 * 1st, 100th, 5pm: what becomes of such a number is the language's. */
static size_t find_mixed_word(ferry_view text, size_t at)
{
    static const char units[] =
        " bit cm fps g gb ghz h hz kb kg khz km kmh kw kwh l lb lbs m mb mg mhz min ml mm mph ms "
        "nm ns oz pt px rpm s tb w x ";
    size_t end = at, figures = at; /* behind the last digit, or such a capital */
    for (; is_letter(byte_at(text, end)) || is_digit(byte_at(text, end)) ||
           (is_one_of(byte_at(text, end), ".,") && figures == end && is_digit(byte_at(text, end + 1)));
         end++)
        if (is_digit(text.data[end]) || (is_capital(text.data[end]) && end > at && text.data[end - 1] >= 'a'))
            figures = end + 1;
    if (figures == at || is_word(byte_at(text, end))) return 0;
    if (end > figures && skip_set(text, figures, "xX") == end) return end; /* 3xx */
    const size_t parts = find_parts(text, end);
    if (parts > end && is_letter(text.data[at])) return parts;
    if (skip_set(text, at, "0123456789.,") < figures) return end;
    const ferry_view unit = view_part(text, figures, end);
    if (unit.size == 0 || ferry_name_is_listed(unit, " st nd rd th am pm ")) return 0;
    return figures - at > 2 || is_capital(text.data[end - 1]) || ferry_name_is_listed(unit, units) ? end : 0;
}

/* What begins where a word does. */
static size_t find_word(ferry_view text, size_t at, size_t *token)
{
    size_t end = ferry_find_address(text, at);
    if (end == 0 && is_letter(text.data[at]) && (begins(text, at + 1, ":\\") || begins(text, at + 1, ":/")) &&
        is_name(byte_at(text, at + 3)))
        end = trim_address(text, at, skip_name(text, at, of_windows_path, FERRY_MOST_NAME));
    if (end == 0 && !is_digit(text.data[at]) && begins_name(text, at))
        end = find_value(text, skip_name(text, at, "-", FERRY_MOST_NUMBER));
    if (end == 0) end = find_file(text, at, token);
    if (end == 0) end = find_call(text, at);
    if (end == 0) end = find_date_pattern(text, at);
    if (end == 0) end = find_hash(text, at);
    if (end == 0) end = find_version(text, at);
    return end == 0 ? find_mixed_word(text, at) : end;
}

/* ---- numbers ---- */

/* Bytes of what can be between the parts of a number: a dash, an apostrophe, a blank that does not break. */
static size_t count_separator(ferry_view text, size_t at)
{
    static const char *const separators[] = {"\xE2\x80\x93", "\xE2\x80\x99", "\xE2\x80\xAF", "\xC2\xA0"};
    if (is_one_of(byte_at(text, at), ".,:/-' T")) return 1;
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++)
        if (begins(text, at, separators[i])) return strlen(separators[i]);
    return 0;
}

/* 1234 1.2 1,234.56 24/12/2023 2023-12-24T18:30 18:30 030 1234567 +49 30 123; and if `small`, 12, 3:1, 24/7, 10-12. */
static size_t find_number(ferry_view text, size_t at, bool small)
{
    if (at > 1 && is_one_of(text.data[at - 1], ".,:/-'") && is_digit(text.data[at - 2]))
        return 0; /* looked at before */
    const bool is_phone = text.data[at] == '+';
    size_t end = skip(text, at + is_phone, is_digit, text.size), dashes = 0;
    bool is_kept = end - at > 2, has_parts = false;
    while (end - at < FERRY_MOST_NUMBER || is_kept) {
        const size_t begin = end + count_separator(text, end), next = skip(text, begin, is_digit, text.size);
        const size_t size = next - begin;
        const char c = byte_at(text, end);
        if (begin == end || size == 0) break;
        const bool is_blank = c == ' ' || begin == end + 2 || begins(text, end, "\xE2\x80\xAF");
        if ((is_blank && ((!is_phone && size != 3 && !(is_kept && size > 3)) || has_parts)) || (c == 'T' && dashes < 2))
            break;
        has_parts = has_parts || !is_blank;
        dashes += c == '/' || c == '-' || c == '.';
        is_kept = is_kept || size > 2 || c == '.' || c == ',' || (c == ':' && size == 2) || dashes > 1;
        end = next;
    }
    if (begins_exactly(text, end, "%%")) return end + 2;
    size_t open = skip_set(text, end, ".xyz*"); /* 5.1.x 1.y.z 15+ */
    if (is_word(byte_at(text, open))) open = end;
    while (open > end && text.data[open - 1] == '.') open--;
    if (open > end + 1 && text.data[end] == '.') return open;
    if (byte_at(text, end) == '+' && !is_name(byte_at(text, end + 1)) && small) return end + 1;
    /* "10 km" with a blank that does not break, "230 °C" */
    static const char *const blanks[] = {"\xC2\xA0", "\xE2\x80\xAF", "&nbsp;"};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
        const size_t unit = end + strlen(blanks[i]), unit_end = skip(text, unit, is_letter, 4);
        if (begins_exactly(text, end, blanks[i]) && unit_end > unit && unit_end < unit + 4 &&
            ferry_unit_size(view_part(text, unit, unit_end)) > 0)
            return unit_end;
    }
    const size_t degree = end + (byte_at(text, end) == ' ') + 2 * (size_t)begins(text, end, "\xC2\xA0");
    if (begins_exactly(text, degree, "\xC2\xB0")) return skip(text, degree + 2, is_letter, 1); /* 230 °C */
    const ferry_view rest = view_part(text, end, skip(text, end, is_letter, 3));
    if (small && !is_kept) return is_digit(text.data[at]) && !is_word(byte_at(text, end)) ? end : 0;
    return is_kept && !ferry_name_is_listed(rest, " st nd rd th ") ? end : 0;
}

/* ---- the search ---- */

/* What belongs to the character before it. */
static bool is_joined(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x300, 0x36F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0x1F3FB, 0x1F3FF}, {0xE0020, 0xE007F}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return is_within_words(c);
}

static bool is_raised_digit(uint32_t c)
{
    return c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 || (c >= 0x2074 && c <= 0x2079);
}

/* The first byte from `at` on of a character that the model has no piece for, and that belongs to none before it. */
static size_t find_unread(ferry_placeholder_search *search, size_t at)
{
    const ferry_view text = search->text;
    if (search->rules.reads == NULL) return text.size;
    while (search->unread <= at && at < text.size) {
        uint32_t c;
        at += search->rules.reads(search->rules.user, view_part(text, at, text.size));
        search->unread = at;
        if (at == text.size || !ferry_utf8_next(text, &at, &c) || !(is_joined(c) || is_hyphen(c))) break;
    }
    return search->unread;
}

size_t ferry_unit_size(ferry_view text)
{
    const size_t size = last_word_size(text), begin = text.size - size;
    return size > 3 || find_one_of(text, begin, "aeiouy") < text.size ? 0 : size;
}

/* Whether a word goes on with a character that is no part of one, before byte `at`: "10 ℃", "20 m²", "№ 5", "x²+y²",
 * "m/s²", "1⁄2", and before a number "≤ 5". */
static bool is_between(ferry_view text, size_t at, uint32_t before, uint32_t c, bool begins)
{
    const bool is_number = is_digit(byte_at(text, at));
    size_t next = at;
    uint32_t after = 0;
    if (at == text.size || !ferry_utf8_next(text, &next, &after)) return false;
    if (begins && ferry_unicode_is_sign(c)) return is_number || (after == ' ' && is_digit(byte_at(text, next)));
    if (c >= 0x80 && ferry_unicode_is_sign(c)) return is_number && before < 0x80 && is_digit((char)before);
    if (c == ' ' || (c >= 0x80 && ferry_utf8_is_space(c))) {
        if (before >= 0x80) return is_number && ferry_unicode_is_sign(before) && !is_raised_digit(before);
        next = skip_name(text, at, "/", 4);
        return is_digit((char)before) && next < text.size && ferry_utf8_next(text, &next, &after) &&
               ferry_unicode_is_replaced_sign(after);
    }
    if (c >= 0x80 || (!is_of_word(after) && !ferry_unicode_is_replaced_sign(after))) return false;
    return is_one_of((char)c, "+=*^") || (c == '/' && ferry_unit_size(view_part(text, 0, at - 1)) > 0);
}

/* A word that the model cannot read all of, with its number. What is raised behind a longer word is the number of a
 * note; signs that begin a sentence are its label. */
static size_t find_unread_word(ferry_placeholder_search *search, size_t at, ferry_placeholder_kind *kind)
{
    const ferry_view text = search->text;
    const size_t unread = find_unread(search, at);
    if (unread - at >= FERRY_MOST_NAME) return 0;
    size_t end = at, note = at;
    uint32_t c, before = character_before(text, at);
    bool is_label = at == 0 || (at > 1 && is_one_of(text.data[at - 2], ".!?:"));
    while (end < text.size && end - at < FERRY_MOST_NAME) {
        size_t next = end;
        if (!ferry_utf8_next(text, &next, &c)) break;
        const bool is_part = is_of_word(c) || ferry_unicode_is_replaced_sign(c) || (end > at && is_joined(c));
        if (end == at && c < 0x80 && is_one_of((char)c, FERRY_MARKS)) break; /* the net's */
        if (!is_part && !is_between(text, next, before, c, unread == end && end == at)) break;
        is_label = is_label && !is_of_word(c);
        end = next;
        if (!is_raised_digit(c)) note = end;
        before = c;
    }
    while (before < 0x80 && is_digit((char)before) && is_one_of(byte_at(text, end), ".,:-") &&
           is_digit(byte_at(text, end + 1)))
        end = skip(text, end + 1, is_digit, text.size);
    end += is_label && at == 0 && is_one_of(byte_at(text, end), ".)") && byte_at(text, end + 1) == ' ';
    const bool is_note = unread == note && ferry_unit_size(view_part(text, at, note)) == 0;
    *kind = is_label ? FERRY_PLACEHOLDER_SYMBOL : FERRY_PLACEHOLDER_WORD;
    return unread < end && !is_note ? end : 0;
}

/* Characters without a piece, controls, blanks that are no ' ', and what could be within a word, but is not. */
static size_t find_symbols(ferry_placeholder_search *search, size_t at, ferry_placeholder_kind *kind)
{
    const ferry_view text = search->text;
    const uint32_t before = character_before(text, at);
    size_t end = 0;
    *kind = FERRY_PLACEHOLDER_SPACE;
    for (size_t next = at; next < text.size;) {
        const size_t begin = next;
        uint32_t c, after = 0;
        if (!ferry_utf8_next(text, &next, &c)) break;
        const bool is_space = c >= 0x80 && ferry_utf8_is_space(c), is_part = is_joined(c);
        const bool is_control = is_mark(c) || (c >= 0x7F && c < 0xA0) || (c < ' ' && !is_one_of((char)c, "\t\n\r"));
        if (c < 0x80 && is_one_of((char)c, FERRY_MARKS) != search->rules.marks) break;
        if (end == 0 && is_within_words(c)) {
            if (is_within_words(before)) break; /* the first one of a run was asked about */
            for (size_t peek = next;
                 peek < text.size && ferry_utf8_next(text, &peek, &after) && is_within_words(after);)
                next = peek;
            if (can_be_split(before) && can_be_split(after)) break;
        } else if (is_part ? end == 0
                           : !is_space && !is_control && !ferry_is_placeholder(c) &&
                                 (c == ' ' || is_hyphen(c) || find_unread(search, begin) != begin)) {
            break;
        }
        if (!is_space && (!is_part || end == 0)) *kind = FERRY_PLACEHOLDER_SYMBOL;
        end = next;
    }
    return end;
}

/* What touches a placeholder or name: another one, also behind one sign, the rest of a path, a unit: "{n}px". Escapes
 * stay apart, as a line may end there. */
static size_t find_rest(ferry_view text, size_t end)
{
    for (size_t next = end; next > 0 && byte_at(text, end) != '\\'; end = next > 0 ? next : end) {
        if (begins_exactly(text, end, "()")) end += 2;
        const char c = byte_at(text, end);
        const size_t begin = end + is_one_of(c, "/:.-=_@~");
        next = byte_at(text, begin) != '\\' ? ferry_find_placeholder(text, begin, false) : 0;
        if (next > 0 || begin == end || !is_name(byte_at(text, begin)) || !is_one_of(c, "/_.")) continue;
        next = trim_address(text, begin, skip_name(text, begin, of_path, FERRY_MOST_NAME));
        if (c == '.' && !is_file(view_part(text, end - 2, next))) next = 0;
    }
    if (end > 1 && text.data[end - 1] == '}' && begins_exactly(text, end, "\xC2\xB0"))
        return skip(text, end + 2, is_letter, 1);
    const size_t unit =
        end > 1 && text.data[end - 1] == '}' && is_name(text.data[end - 2]) ? skip(text, end, is_letter, 4) : end;
    return unit - end < 4 && !is_word(byte_at(text, unit)) ? unit : end;
}

/* "%1 GB", "{n} km": with a unit of two or three letters; or of one that ends a sentence: "{n} s.". */
static size_t find_unit(ferry_view text, size_t end)
{
    const size_t next = skip(text, end + 1, is_word, 4), size = next - end - 1;
    const bool ends = size == 1 && is_one_of(text.data[end + 1], "ghlmsKVW") &&
                      (next == text.size || is_one_of(text.data[next], ".,;:!?)"));
    return byte_at(text, end) == ' ' && (size > 1 || ends) && size < 4 && skip(text, end + 1, is_letter, 3) == next &&
                   ferry_unit_size(view_part(text, end, next)) == size
               ? next
               : end;
}

/* "$27B", "§ 3": a sign, and the number that belongs to it; a plain amount, "$5", is the model's. */
static size_t find_amount(ferry_view text, size_t at, size_t *token)
{
    const bool is_section = text.data[at] != '$';
    const size_t number = skip_set(text, at + 1 + is_section, is_section ? " \xC2\xA0" : ""),
                 end = skip(text, number, is_digit, 9);
    if (end == number) return 0;
    return is_section ? skip(text, end, is_letter, 1) : find_word(text, number, token);
}

/* What is kept from byte `at` on; the byte after it, or 0. */
static size_t find_piece(ferry_placeholder_search *search, size_t at, size_t *token, ferry_placeholder_kind *kind)
{
    const ferry_view text = search->text;
    const char c = text.data[at];
    const uint32_t before = character_before(text, at);
    *kind = FERRY_PLACEHOLDER_SYMBOL;
    if (begins_exactly(text, at, "\x1B[") && search->rules.signs == NULL) {
        const size_t end = skip_terminal(text, at);
        return end > at ? end : 0;
    }
    *kind = FERRY_PLACEHOLDER_NAME;
    if (search->rules.signs != NULL) return is_one_of(c, search->rules.signs) ? at + 1 : 0;
    if (search->rules.marks && is_digit(c) && !is_of_word(before)) {
        *kind = FERRY_PLACEHOLDER_NUMBER;
        return find_number(text, at, true);
    }
    if (search->rules.marks) return find_symbols(search, at, kind);
    size_t end = ferry_find_placeholder(text, at, search->rules.formulas);
    *kind = FERRY_PLACEHOLDER_TEMPLATE;
    if (end > 0) return c == '\\' ? end : find_unit(text, find_rest(text, end));
    *kind = FERRY_PLACEHOLDER_NAME;
    if (is_name(c) && !is_of_word(before)) end = find_word(text, at, token);
    if (end == 0 && !is_name(c) && begins_name(text, at)) end = find_name(text, at);
    if (end > 0) return find_rest(text, end);
    if (c == '$' || begins_exactly(text, at, "\xC2\xA7")) end = find_amount(text, at, token);
    if (end > 0) return end;
    *kind = FERRY_PLACEHOLDER_NUMBER;
    const bool is_first = is_digit(c) && !(before < 0x80 && is_digit((char)before));
    if (is_first || (c == '+' && begins_name(text, at))) end = find_number(text, at, false);
    if (end > 0) return end;
    if (!is_of_word(before) || at > search->at) end = find_unread_word(search, at, kind);
    return end > 0 ? end : find_symbols(search, at, kind);
}

bool ferry_placeholder_next(ferry_placeholder_search *search, ferry_placeholder *found)
{
    const size_t size = search->text.size;
    size_t token = 0, end = 0, next;
    ferry_placeholder_kind kind, other;
    for (; search->at < size && end == 0; search->at += end == 0) end = find_piece(search, search->at, &token, &kind);
    if (end == 0) return false;
    /* Symbols, and words that a model cannot read, are part of another piece that they touch. */
    for (; end < size && (next = find_piece(search, end, &token, &other)) > 0; end = next) {
        const bool has_word = kind == FERRY_PLACEHOLDER_WORD || other == FERRY_PLACEHOLDER_WORD;
        const bool has_space = kind == FERRY_PLACEHOLDER_SPACE || other == FERRY_PLACEHOLDER_SPACE;
        if (kind != FERRY_PLACEHOLDER_SYMBOL && other != FERRY_PLACEHOLDER_SYMBOL && (!has_word || has_space)) break;
        if (kind == FERRY_PLACEHOLDER_SYMBOL) kind = other;
    }
    *found = (ferry_placeholder){search->at, end, kind};
    search->at = end;
    return true;
}
