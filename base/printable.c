#include "printable.h"

#include <string.h>

#include "utf8.h"

/* Noncharacters of all planes, U+xxFFFE and U+xxFFFF, come in addition. */
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

/* In few calls: standard error has no buffer. */
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
