/* Ids → text. */
#include <string.h>

#include "base/utf8.h"
#include "ranges.h"
#include "tokenizer_private.h"

/* The byte of a piece like <0xE2>, -1 for other pieces. SentencePiece writes capital digits. */
static int byte_of(ferry_view piece)
{
    if (piece.size != 6 || memcmp(piece.data, "<0x", 3) != 0 || piece.data[5] != '>') return -1;
    const int high = ferry_hex_digit(piece.data[3]), low = ferry_hex_digit(piece.data[4]);
    return high < 0 || low < 0 || piece.data[3] > 'F' || piece.data[4] > 'F' ? -1 : high * 16 + low;
}

/* Replaces the ill-formed ones of the last `run` bytes of *text by U+FFFD, each byte separately, as SentencePiece does.
 */
static ferry_status repair_bytes(ferry_string *text, size_t run, ferry_error *error)
{
    if (run == 0) return FERRY_OK;
    ferry_view bytes = {text->data + text->size - run, run};
    if (ferry_utf8_is_valid(bytes)) return FERRY_OK;
    FERRY_TRY(ferry_string_reserve(text, 2 * run, error));
    char *output = text->data + text->size - run;
    /* Moved to the end of the tripled space, the bytes are read before they are overwritten. */
    bytes.data = memmove(output + 2 * run, output, run);
    text->size -= run;
    uint32_t code_point;
    for (size_t at = 0; at < run;) {
        size_t begin = at;
        bool valid = ferry_utf8_next(bytes, &at, &code_point);
        for (; begin < at; begin++) {
            size_t count = valid ? 1 : 3;
            memmove(text->data + text->size, valid ? bytes.data + begin : "\xEF\xBF\xBD", count);
            text->size += count;
        }
    }
    return FERRY_OK;
}

/* From the ranges of single bytes, the last of *text [run], to those of the characters that repair_bytes makes of them.
 */
static void share_characters(const ferry_string *text, size_t run, ferry_range *ranges, size_t count)
{
    const size_t start = text->size - run;
    const ferry_view bytes = {text->data + start, run};
    size_t i = 0, to = start;
    uint32_t code_point;
    for (size_t at = 0; at < run;) {
        const size_t begin = at;
        const bool valid = ferry_utf8_next(bytes, &at, &code_point);
        if (!valid) at = begin + 1;
        const ferry_range character = {to, to + (valid ? at - begin : 3)};
        const bool white = valid && ferry_utf8_is_space(code_point);
        for (; i < count && ranges[i].begin < start + at; i++)
            ranges[i] = ranges[i].begin < ranges[i].end && !white ? character : (ferry_range){to, to};
        to = character.end;
    }
    for (; i < count; i++) ranges[i] = (ferry_range){to, to};
}

typedef struct decoding {
    ferry_string *text;
    ferry_range *ranges; /* NULL: not wanted */
    size_t run;          /* bytes of byte pieces at the end of *text */
    size_t first;        /* the index of the id that the run begins with */
} decoding;

/* Before id number `index`. */
static ferry_status end_run(decoding *into, size_t index, ferry_error *error)
{
    const size_t run = into->run;
    into->run = 0;
    if (run > 0 && into->ranges != NULL)
        share_characters(into->text, run, into->ranges + into->first, index - into->first);
    return repair_bytes(into->text, run, error);
}

static ferry_status append_byte(decoding *into, int byte, size_t index, ferry_error *error)
{
    FERRY_TRY(ferry_string_reserve(into->text, 1, error));
    if (into->run++ == 0) into->first = index;
    into->text->data[into->text->size++] = (char)byte;
    return FERRY_OK;
}

/* With blanks for "▁". */
static ferry_status append_piece(ferry_string *text, ferry_view piece, ferry_error *error)
{
    FERRY_TRY(ferry_string_reserve(text, piece.size, error));
    for (size_t i = 0; i < piece.size;) {
        bool blank = piece.size - i >= 3 && memcmp(piece.data + i, "\xE2\x96\x81", 3) == 0;
        text->data[text->size++] = blank ? ' ' : piece.data[i];
        i += blank ? 3 : 1;
    }
    return FERRY_OK;
}

/* Appends `piece` as it is, after a blank: without SentencePiece, "▁" and byte pieces are ordinary pieces. */
static ferry_status join_piece(ferry_string *text, ferry_view piece, ferry_error *error)
{
    if (text->size > 0) FERRY_TRY(ferry_string_append(text, ferry_text_view(" "), error));
    return ferry_string_append(text, piece, error);
}

static ferry_status append_word(ferry_string *text, const ferry_word *word, ferry_error *error)
{
    if (word->after_blank) FERRY_TRY(ferry_string_append(text, ferry_text_view(" "), error));
    return ferry_string_append(text, word->text, error);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void trim(ferry_string *text, ferry_range *ranges, size_t count)
{
    if (text->size == 0) return;
    const ferry_view trimmed = ferry_utf8_trim((ferry_view){text->data, text->size});
    const size_t leading = (size_t)(trimmed.data - text->data);
    for (size_t i = 0; ranges != NULL && i < count; i++)
        ranges[i] = (ferry_range){least(ranges[i].begin - least(ranges[i].begin, leading), trimmed.size),
                                  least(ranges[i].end - least(ranges[i].end, leading), trimmed.size)};
    memmove(text->data, trimmed.data, trimmed.size);
    text->size = trimmed.size;
}

/* An id with text: its bytes are what *text grows by, but for the blank before a piece that is joined. */
static ferry_status append_id(const ferry_tokenizer *tokenizer, decoding *into, size_t index, int32_t id,
                              const ferry_word *word, ferry_error *error)
{
    const bool segmented = tokenizer->source.spm != NULL;
    const ferry_view piece = word != NULL && !segmented ? word->text : tokenizer->config.target_pieces[id];
    const int byte = segmented && word == NULL ? byte_of(piece) : -1;
    if (byte < 0) FERRY_TRY(end_run(into, index, error));
    const size_t begin = into->text->size;
    if (byte >= 0)
        FERRY_TRY(append_byte(into, byte, index, error));
    else if (segmented && word != NULL)
        FERRY_TRY(append_word(into->text, word, error));
    else
        FERRY_TRY(segmented ? append_piece(into->text, piece, error) : join_piece(into->text, piece, error));
    if (into->ranges == NULL) return FERRY_OK;
    const ferry_view text = {into->text->data, into->text->size};
    into->ranges[index] = byte >= 0 ? (ferry_range){begin, begin + 1} : ferry_range_trim(text, begin, text.size);
    return FERRY_OK;
}

ferry_status ferry_tokenizer_decode_ranges(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                           const ferry_word *words, ferry_string *text, ferry_range *ranges,
                                           ferry_error *error)
{
    const int32_t known = tokenizer->config.target_count;
    decoding into = {.text = text, .ranges = ranges};
    text->size = 0;
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < 0 || ids[i] >= known)
            return ferry_fail(error, FERRY_ERROR_ARGUMENT, "target id: expected 0 to %d, found %d", known - 1, ids[i]);
        const ferry_word *word = words != NULL && words[i].text.size > 0 ? &words[i] : NULL;
        if (word != NULL || !tokenizer->special[ids[i]])
            FERRY_TRY(append_id(tokenizer, &into, i, ids[i], word, error));
        else if (ranges != NULL)
            ranges[i] = (ferry_range){text->size, text->size};
    }
    FERRY_TRY(end_run(&into, count, error));
    if (tokenizer->source.spm != NULL) trim(text, ranges, count);
    return FERRY_OK;
}

ferry_status ferry_tokenizer_decode(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                    ferry_string *text, ferry_error *error)
{
    return ferry_tokenizer_decode_ranges(tokenizer, ids, count, NULL, text, NULL, error);
}
