#include "utf8.h"

#include <string.h>

/* Well-formed sequences by their lead byte: the number of continuation bytes, and the range of the first one (The
 * Unicode Standard 15.0, table 3-7). trailing 0: not a lead byte. */
typedef struct lead_rule {
    uint32_t trailing;
    uint8_t first_low, first_high;
} lead_rule;

static lead_rule rule_of(uint8_t lead)
{
    if (lead >= 0xC2 && lead <= 0xDF) return (lead_rule){1, 0x80, 0xBF};
    if (lead == 0xE0) return (lead_rule){2, 0xA0, 0xBF};
    if (lead == 0xED) return (lead_rule){2, 0x80, 0x9F};
    if (lead >= 0xE1 && lead <= 0xEF) return (lead_rule){2, 0x80, 0xBF};
    if (lead == 0xF0) return (lead_rule){3, 0x90, 0xBF};
    if (lead >= 0xF1 && lead <= 0xF3) return (lead_rule){3, 0x80, 0xBF};
    if (lead == 0xF4) return (lead_rule){3, 0x80, 0x8F};
    return (lead_rule){0, 0, 0};
}

bool ferry_utf8_next(ferry_view text, size_t *at, uint32_t *code_point)
{
    uint8_t lead = (uint8_t)text.data[(*at)++];
    if (lead < 0x80) {
        *code_point = lead;
        return true;
    }
    lead_rule rule = rule_of(lead);
    if (rule.trailing == 0) return false;
    uint32_t value = lead & (0x3Fu >> rule.trailing);
    uint8_t low = rule.first_low, high = rule.first_high;
    for (uint32_t i = 0; i < rule.trailing; i++) {
        if (*at >= text.size) return false;
        uint8_t byte = (uint8_t)text.data[*at];
        if (byte < low || byte > high) return false;
        value = value << 6 | (byte & 0x3Fu);
        (*at)++;
        low = 0x80;
        high = 0xBF;
    }
    *code_point = value;
    return true;
}

bool ferry_utf8_previous(ferry_view text, size_t *at, uint32_t *code_point)
{
    if (*at == 0) return false;
    do --*at;
    while (*at > 0 && ((unsigned char)text.data[*at] & 0xC0) == 0x80);
    size_t next = *at;
    return ferry_utf8_next(text, &next, code_point);
}

size_t ferry_utf8_put(uint32_t code_point, char *output)
{
    static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0}; /* by size */
    const size_t size = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code_point >>= 6) output[i] = (char)(0x80 | (code_point & 0x3F));
    output[0] = (char)(leads[size] | code_point);
    return size;
}

bool ferry_utf8_is_valid(ferry_view text)
{
    uint32_t code_point;
    for (size_t at = 0; at < text.size;)
        if (!ferry_utf8_next(text, &at, &code_point)) return false;
    return true;
}

size_t ferry_utf8_repair(ferry_view text, char *output)
{
    size_t size = 0;
    uint32_t code_point;
    for (size_t at = 0; at < text.size;) {
        size_t begin = at;
        bool valid = ferry_utf8_next(text, &at, &code_point);
        const char *bytes = valid ? text.data + begin : "\xEF\xBF\xBD";
        size_t count = valid ? at - begin : 3;
        memcpy(output + size, bytes, count);
        size += count;
    }
    return size;
}

bool ferry_utf8_is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

size_t ferry_utf8_leading_space(ferry_view text)
{
    size_t end = 0;
    uint32_t c;
    for (size_t at = 0; at < text.size && ferry_utf8_next(text, &at, &c) && ferry_utf8_is_space(c);) end = at;
    return end;
}

ferry_view ferry_utf8_trim(ferry_view text)
{
    const size_t begin = ferry_utf8_leading_space(text);
    size_t end = begin;
    uint32_t code_point;
    for (size_t at = begin; at < text.size;)
        if (!ferry_utf8_next(text, &at, &code_point) || !ferry_utf8_is_space(code_point)) end = at;
    return (ferry_view){text.size == 0 ? text.data : text.data + begin, end - begin};
}

bool ferry_utf8_is_blank(ferry_view text)
{
    return ferry_utf8_leading_space(text) == text.size;
}

/* Besides these: the noncharacters U+xxFFFE and U+xxFFFF of all planes. */
static const struct {
    uint32_t first, last;
} unprintable[] = {
    {0x0000, 0x001F},   /* control characters of ASCII */
    {0x007F, 0x009F},   /* DEL; C1, among them one-character forms of ESC [ and ESC ] */
    {0x061C, 0x061C},   /* Arabic letter mark */
    {0x200E, 0x200F},   /* left-to-right and right-to-left mark */
    {0x2028, 0x202E},   /* line and paragraph separator; bidirectional embeddings and overrides */
    {0x2066, 0x206F},   /* bidirectional isolates; deprecated: mirroring, shapes of letters and digits */
    {0xFDD0, 0xFDEF},   /* noncharacters */
    {0xFEFF, 0xFEFF},   /* byte order mark */
    {0xFFF9, 0xFFFB},   /* interlinear annotation */
    {0xE0000, 0xE007F}, /* tags */
};

bool ferry_is_printable(uint32_t code_point)
{
    if ((code_point & 0xFFFE) == 0xFFFE) return false;
    for (size_t i = 0; i < sizeof unprintable / sizeof *unprintable; i++)
        if (code_point <= unprintable[i].last) return code_point < unprintable[i].first;
    return true;
}

static size_t escape_character(uint32_t c, char *shown)
{
    if (c == '\n' || c == '\r' || c == '\t')
        return (size_t)snprintf(shown, FERRY_SHOWN_SIZE, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    return (size_t)snprintf(shown, FERRY_SHOWN_SIZE,
                            c < 0x80      ? "\\x%02x"
                            : c <= 0xFFFF ? "\\u%04x"
                                          : "\\U%08x",
                            (unsigned)c);
}

size_t ferry_printable_next(ferry_view text, size_t *at, char shown[FERRY_SHOWN_SIZE])
{
    const size_t begin = *at;
    uint32_t c;
    size_t size = 0;
    if (!ferry_utf8_next(text, at, &c)) {
        for (size_t i = begin; i < *at; i++)
            size += (size_t)snprintf(shown + size, FERRY_SHOWN_SIZE - size, "\\x%02x", (unsigned char)text.data[i]);
        return size;
    }
    if (!ferry_is_printable(c)) return escape_character(c, shown);
    size = *at - begin;
    memcpy(shown, text.data + begin, size);
    shown[size] = '\0';
    return size;
}

/* One fwrite() for each run of printable characters: standard error is unbuffered. */
size_t ferry_printable_write(FILE *out, ferry_view text)
{
    char shown[FERRY_SHOWN_SIZE];
    size_t characters = 0, written = 0;
    for (size_t at = 0; at < text.size;) {
        const size_t begin = at, size = ferry_printable_next(text, &at, shown);
        const bool escaped = size != at - begin; /* escapes are longer */
        characters += escaped ? size : 1;
        if (!escaped) continue;
        if (begin > written) fwrite(text.data + written, 1, begin - written, out);
        fwrite(shown, 1, size, out);
        written = at;
    }
    if (text.size > written) fwrite(text.data + written, 1, text.size - written, out);
    return characters;
}

ferry_printable ferry_printable_view(ferry_view view)
{
    ferry_printable result;
    char shown[FERRY_SHOWN_SIZE];
    size_t size = 0;
    for (size_t at = 0; at < view.size;) {
        const size_t more = ferry_printable_next(view, &at, shown);
        if (size + more > sizeof result.text - sizeof "...") {
            memcpy(result.text + size, "...", sizeof "...");
            return result;
        }
        memcpy(result.text + size, shown, more);
        size += more;
    }
    result.text[size] = '\0';
    return result;
}
