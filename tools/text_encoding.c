#include "text_encoding.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "command.h"
#include "documents/entities.h"

/* ---- what the first bytes are ---- */

typedef struct signature {
    size_t offset, size;
    const char *bytes, *name;
} signature;

#define AT(offset, bytes, name)                                                                                        \
    {                                                                                                                  \
        offset, sizeof bytes - 1, bytes, name                                                                          \
    }

/* Long enough, or with bytes that text does not begin with. */
static const signature signatures[] = {
    AT(0, "\xFF\xFE\0\0", "UTF-32 (little-endian)"), /* before UTF-16's mark */
    AT(0, "\0\0\xFE\xFF", "UTF-32 (big-endian)"),
    AT(0, "\x1F\x8B", "a gzip file"),
    AT(0, "\3757zXZ\0", "an xz file"), /* octal: 'E' and '7' would be hexadecimal digits */
    AT(0, "\x28\xB5\x2F\xFD", "a zstd file"),
    AT(4, "1AY&SY", "a bzip2 file"),
    AT(0, "PK\3\4", "a zip file, as those of Word, Excel, OpenDocument and EPUB are"),
    AT(0, "7z\xBC\xAF\x27\x1C", "a 7z archive"),
    AT(0, "Rar!\x1A\x07", "a rar archive"),
    AT(257, "ustar\0", "a tar archive"),
    AT(257, "ustar  \0", "a tar archive"),
    AT(0, "%PDF-", "a PDF file"),
    AT(0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "a file of an old Word, Excel or PowerPoint"),
    AT(0, "\x89PNG\r\n\x1A\n", "a PNG picture"),
    AT(0, "\xFF\xD8\xFF", "a JPEG picture"),
    AT(0, "GIF87a", "a GIF picture"),
    AT(0, "GIF89a", "a GIF picture"),
    AT(0, "\177ELF", "an ELF program"),
    AT(0, "MZ\x90\0", "a Windows program"),
    AT(0, "SQLite format 3\0", "an SQLite database"),
    AT(0, "GGUF\3\0", "a model file (GGUF)"),
};

static const ferry_text_kind marks[] = {
    {FERRY_ENCODING_UTF8, 3, "\xEF\xBB\xBF"},
    {FERRY_ENCODING_UTF16_LE, 2, "\xFF\xFE"},
    {FERRY_ENCODING_UTF16_BE, 2, "\xFE\xFF"},
};

static bool has_at(ferry_view start, size_t offset, const char *bytes, size_t size)
{
    return start.size >= offset + size && memcmp(start.data + offset, bytes, size) == 0;
}

static const char *find_signature(ferry_view start)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const signature *s = &signatures[i];
        if (has_at(start, s->offset, s->bytes, s->size)) return s->name;
    }
    return NULL;
}

typedef struct counts {
    size_t nul[4];   /* NUL bytes, by their offset modulo 4 */
    size_t controls; /* these, and others that text does not have */
    size_t letters;  /* of ASCII */
    size_t wide;     /* characters of several bytes */
    size_t broken;   /* ill-formed sequences */
} counts;

static counts count_bytes(ferry_view start)
{
    counts c = {.controls = 0};
    for (size_t i = 0; i < start.size; i++) {
        const unsigned char byte = (unsigned char)start.data[i];
        if (byte == 0) c.nul[i % 4]++;
        /* Backspace (overstriking) and escape (colors) do occur in text. */
        if (byte < 0x20 && (byte < '\b' || byte > '\r') && byte != 0x1B) c.controls++;
        if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') c.letters++;
    }
    uint32_t code_point;
    const size_t cut = 3; /* bytes of a character that goes on beyond the end */
    for (size_t at = 0; at + cut < start.size;) {
        const size_t begin = at;
        if (!ferry_utf8_next(start, &at, &code_point))
            c.broken++;
        else if (at - begin > 1)
            c.wide++;
    }
    return c;
}

/* Of wide characters, the upper bytes are 0 in all (UTF-32) or in some (UTF-16: at least blanks), and the lower ones
 * never. */
static const char *binary_name(const counts *c, size_t size)
{
    const size_t *nul = c->nul, units = size / 4, even = nul[0] + nul[2], odd = nul[1] + nul[3];
    const size_t most = units / 64, some = units / 16;
    if (nul[0] <= most && nul[2] + most >= units && nul[3] + most >= units) return "UTF-32 (little-endian)";
    if (nul[3] <= most && nul[0] + most >= units && nul[1] + most >= units) return "UTF-32 (big-endian)";
    if (even <= most && odd > some) return "UTF-16 (little-endian) without a byte-order mark";
    if (odd <= most && even > some) return "UTF-16 (big-endian) without a byte-order mark";
    return "binary data";
}

ferry_text_kind ferry_text_recognize(ferry_view start)
{
    const char *found = find_signature(start);
    if (found != NULL) return (ferry_text_kind){FERRY_ENCODING_BINARY, 0, found};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (has_at(start, 0, marks[i].name, marks[i].mark))
            return (ferry_text_kind){marks[i].encoding, marks[i].mark, NULL};
    const counts c = count_bytes(start);
    /* Of 256 equally likely bytes one in ten is such a control character; in text that has any, they are rare. */
    if (c.controls > 2 && c.controls > start.size / 20)
        return (ferry_text_kind){FERRY_ENCODING_BINARY, 0, binary_name(&c, start.size)};
    if (c.broken < 3 || c.broken < c.wide) return (ferry_text_kind){FERRY_ENCODING_UTF8, 0, NULL};
    const bool latin = c.broken < c.letters / 3;
    return (ferry_text_kind){FERRY_ENCODING_OTHER, 0,
                             latin ? "ISO-8859-1 or Windows-1252"
                                   : "an encoding such as Windows-1251, KOI8-R, GB18030 or Shift_JIS"};
}

bool ferry_text_accept(const char *name, ferry_text_kind kind, const char *advice, bool quiet)
{
    if (kind.encoding == FERRY_ENCODING_BINARY) {
        ferry_complain("%s: expected text in UTF-8, found %s%s%s", name, kind.name, advice != NULL ? "; " : "",
                       advice != NULL ? advice : "");
        return false;
    }
    if (kind.encoding == FERRY_ENCODING_OTHER && !quiet)
        ferry_complain(
            "%s: expected text in UTF-8, found probably %s; each of its characters that is not ASCII is lost "
            "(iconv -f ENCODING -t UTF-8 converts it)",
            name, kind.name);
    return true;
}

/* ---- Windows-1252 ---- */

bool ferry_text_is_windows_1252(ferry_view text)
{
    counts c = {.controls = 0};
    for (size_t at = 0, begin = 0; at < text.size; begin = at) {
        uint32_t code_point;
        const bool well_formed = ferry_utf8_next(text, &at, &code_point);
        if (!well_formed && memchr("\x81\x8D\x8F\x90\x9D", text.data[begin], 5) != NULL) return false;
        c.broken += !well_formed;
        c.wide += well_formed && at - begin > 1;
        c.letters += (text.data[begin] | 32) >= 'a' && (text.data[begin] | 32) <= 'z';
    }
    return c.broken > c.wide && c.broken < c.letters / 3;
}

ferry_status ferry_windows_1252_decode(ferry_view text, ferry_buffer *out, ferry_error *error)
{
    for (size_t at = 0; at < text.size; at++) {
        char reference[8], bytes[8] = {text.data[at]};
        size_t size = 1;
        const int length = snprintf(reference, sizeof reference, "&#%u;", (unsigned char)text.data[at]);
        if ((unsigned char)*bytes >= 0x80) /* as HTML numbers the characters */
            ferry_entity_read((ferry_view){reference, (size_t)length}, bytes, &size);
        FERRY_TRY(ferry_buffer_append(out, (ferry_view){bytes, size}, error));
    }
    return FERRY_OK;
}

/* ---- UTF-16 ---- */

size_t ferry_utf16_room(size_t size)
{
    return size / 2 * 3 + 1;
}

static uint32_t unit_at(ferry_encoding encoding, ferry_view text, size_t at)
{
    const uint32_t a = (unsigned char)text.data[at], b = (unsigned char)text.data[at + 1];
    return encoding == FERRY_ENCODING_UTF16_LE ? b << 8 | a : a << 8 | b;
}

static bool is_first_surrogate(uint32_t unit)
{
    return unit >= 0xD800 && unit < 0xDC00;
}

static bool is_second_surrogate(uint32_t unit)
{
    return unit >= 0xDC00 && unit < 0xE000;
}

size_t ferry_utf16_decode(ferry_encoding encoding, ferry_view text, bool last, char *output, size_t *used)
{
    size_t size = 0, at = 0;
    while (at + 2 <= text.size) {
        uint32_t c = unit_at(encoding, text, at);
        const bool first = is_first_surrogate(c), partner = first && at + 4 <= text.size;
        if (first && !partner && !last) break;
        at += 2;
        if (partner && is_second_surrogate(unit_at(encoding, text, at))) {
            c = 0x10000 + ((c - 0xD800) << 10) + (unit_at(encoding, text, at) - 0xDC00);
            at += 2;
        }
        if (is_first_surrogate(c) || is_second_surrogate(c))
            output[size++] = (char)0xFF;
        else
            size += ferry_utf8_put(c, output + size);
    }
    if (last && at < text.size) {
        output[size++] = (char)0xFF;
        at = text.size;
    }
    *used = at;
    return size;
}
