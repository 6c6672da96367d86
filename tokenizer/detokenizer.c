/* Ids → text. */
#include <stdlib.h>
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

/* Reads a character; none of them is valid if the whole run counts as broken. */
static bool next_character(ferry_view bytes, bool broken, size_t *at)
{
    uint32_t code_point;
    if (!broken) return ferry_utf8_next(bytes, at, &code_point);
    ++*at;
    return false;
}

/* Replaces the ill-formed ones of the last `run` bytes of *text by U+FFFD, each byte separately, as SentencePiece does;
 * all of them if the run is broken. */
static ferry_status repair_bytes(ferry_string *text, size_t run, bool broken, ferry_error *error)
{
    ferry_view bytes = {text->data + text->size - run, run};
    if (ferry_utf8_is_valid(bytes)) return FERRY_OK;
    FERRY_TRY(ferry_string_reserve(text, 2 * run, error));
    char *output = text->data + text->size - run;
    /* Moved to the end of the tripled space, the bytes are read before they are overwritten. */
    bytes.data = memmove(output + 2 * run, output, run);
    text->size -= run;
    for (size_t at = 0; at < run;) {
        size_t begin = at;
        bool valid = next_character(bytes, broken, &at);
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
static void share_characters(const ferry_string *text, size_t run, bool broken, ferry_range *ranges, size_t count)
{
    const size_t start = text->size - run;
    const ferry_view bytes = {text->data + start, run};
    size_t i = 0, to = start;
    for (size_t at = 0; at < run;) {
        const size_t begin = at;
        const bool valid = next_character(bytes, broken, &at);
        if (!valid) at = begin + 1;
        const ferry_range character = {to, to + (valid ? at - begin : 3)};
        const bool white = valid && ferry_utf8_is_blank((ferry_view){bytes.data + begin, at - begin});
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
    ferry_decoder_bytes bytes;
    bool skip_blanks; /* of the next piece */
    size_t unended;   /* 1 + index of the id before, whose piece ends with "@@"; 0: it is another one */
} decoding;

/* Before id number `index`. */
static ferry_status end_run(decoding *into, size_t index, ferry_error *error)
{
    const size_t run = into->run;
    if (run == 0) return FERRY_OK;
    const ferry_view bytes = {into->text->data + into->text->size - run, run};
    const bool broken = into->bytes == FERRY_BYTES_RUN && !ferry_utf8_is_valid(bytes);
    into->run = 0;
    if (into->ranges != NULL)
        share_characters(into->text, run, broken, into->ranges + into->first, index - into->first);
    return repair_bytes(into->text, run, broken, error);
}

static ferry_status append_byte(decoding *into, int byte, size_t index, ferry_error *error)
{
    FERRY_TRY(ferry_string_reserve(into->text, 1, error));
    if (into->run++ == 0) into->first = index;
    into->text->data[into->text->size++] = (char)byte;
    return FERRY_OK;
}

/* With blanks for "▁", or without. */
static ferry_status append_piece(ferry_string *text, ferry_view piece, bool skip_blanks, ferry_error *error)
{
    FERRY_TRY(ferry_string_reserve(text, piece.size, error));
    for (size_t i = 0; i < piece.size;) {
        bool blank = piece.size - i >= 3 && memcmp(piece.data + i, "\xE2\x96\x81", 3) == 0;
        if (!blank || !skip_blanks) text->data[text->size++] = blank ? ' ' : piece.data[i];
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

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool ends_with(ferry_view piece, ferry_view end)
{
    return piece.size >= end.size && memcmp(piece.data + piece.size - end.size, end.data, end.size) == 0;
}

static const ferry_view goes_on = {"@@", 2}, ends_word = {"</w>", 4};

/* Leaves out the "@@" that the text ends with, before id number `index`. Whether there is one. */
static bool end_unended(decoding *into, size_t index)
{
    const size_t first = into->unended;
    if (first == 0) return false;
    const size_t size = into->text->size -= goes_on.size;
    for (size_t i = first - 1; into->ranges != NULL && i < index; i++)
        into->ranges[i] = (ferry_range){least(into->ranges[i].begin, size), least(into->ranges[i].end, size)};
    return true;
}

/* A piece of subword-nmt continues that before it if that ended with "@@", and comes after a blank otherwise; of FSMT,
 * each continues that before it, and "</w>" at its end becomes a blank. A whole word is somebody else's. */
static ferry_status append_subword(decoding *into, bool marks_ends, ferry_view piece, bool whole, bool continues,
                                   size_t index, ferry_error *error)
{
    if (!marks_ends) {
        into->unended = !whole && ends_with(piece, goes_on) ? index + 1 : 0;
        return continues ? ferry_string_append(into->text, piece, error) : join_piece(into->text, piece, error);
    }
    const bool ends = !whole && ends_with(piece, ends_word);
    if (ends) piece.size -= ends_word.size;
    FERRY_TRY(ferry_string_append(into->text, piece, error));
    return ends || whole ? ferry_string_append(into->text, ferry_text_view(" "), error) : FERRY_OK;
}

/* The word comes from a text, and goes into what Moses' rules make a text of. */
static ferry_status append_whole(decoding *into, const ferry_moses *moses, bool marks_ends, ferry_view word,
                                 bool continues, size_t index, ferry_error *error)
{
    ferry_string escaped = {0};
    ferry_status status = FERRY_OK;
    if (moses != NULL) status = ferry_moses_escape(word, &escaped, error);
    if (moses != NULL) word = (ferry_view){escaped.data, escaped.size};
    if (status == FERRY_OK) status = append_subword(into, marks_ends, word, true, continues, index, error);
    free(escaped.data);
    return status;
}

static ferry_status append_word(ferry_string *text, const ferry_word *word, bool skip_blank, ferry_error *error)
{
    if (word->after_blank && !skip_blank) FERRY_TRY(ferry_string_append(text, ferry_text_view(" "), error));
    return ferry_string_append(text, word->text, error);
}

/* Leaves `leading` bytes out, and all behind the next `size`. */
static void cut(ferry_string *text, size_t leading, size_t size, ferry_range *ranges, size_t count)
{
    for (size_t i = 0; ranges != NULL && i < count; i++)
        ranges[i] = (ferry_range){least(ranges[i].begin - least(ranges[i].begin, leading), size),
                                  least(ranges[i].end - least(ranges[i].end, leading), size)};
    memmove(text->data, text->data + leading, size);
    text->size = size;
}

static void trim(ferry_string *text, ferry_decoder_blanks blanks, ferry_range *ranges, size_t count)
{
    if (text->size == 0) return;
    const ferry_view trimmed = ferry_utf8_trim((ferry_view){text->data, text->size});
    if (blanks == FERRY_BLANKS_TRIM) cut(text, (size_t)(trimmed.data - text->data), trimmed.size, ranges, count);
    if (blanks == FERRY_BLANKS_FIRST_BLANK && text->data[0] == ' ') cut(text, 1, text->size - 1, ranges, count);
}

/* An id with text: its bytes are what *text grows by, but for the blank before a piece that is joined. */
static ferry_status append_id(const ferry_tokenizer *tokenizer, decoding *into, size_t index, int32_t id,
                              const ferry_word *word, ferry_error *error)
{
    const bool segmented = ferry_tokenizer_segments(tokenizer), skip_blanks = into->skip_blanks;
    const ferry_view piece =
        word != NULL && !segmented ? word->text : ferry_texts_at(tokenizer->config.target_pieces, (size_t)id);
    const int byte = segmented && word == NULL && into->bytes != FERRY_BYTES_NONE ? byte_of(piece) : -1;
    into->skip_blanks = false;
    if (byte < 0) FERRY_TRY(end_run(into, index, error));
    const bool continues = end_unended(into, index);
    const size_t begin = into->text->size;
    if (byte >= 0)
        FERRY_TRY(append_byte(into, byte, index, error));
    else if (ferry_tokenizer_has_subwords(tokenizer) && word != NULL)
        FERRY_TRY(append_whole(into, tokenizer->target_moses, tokenizer->config.bpe == FERRY_BPE_FSMT, piece, continues,
                               index, error));
    else if (ferry_tokenizer_has_subwords(tokenizer))
        FERRY_TRY(append_subword(into, tokenizer->config.bpe == FERRY_BPE_FSMT, piece, false, continues, index, error));
    else if (segmented && word != NULL)
        FERRY_TRY(append_word(into->text, word, skip_blanks, error));
    else
        FERRY_TRY(segmented ? append_piece(into->text, piece, skip_blanks, error)
                            : join_piece(into->text, piece, error));
    if (into->ranges == NULL) return FERRY_OK;
    const ferry_view text = {into->text->data, into->text->size};
    into->ranges[index] = byte >= 0 ? (ferry_range){begin, begin + 1} : ferry_range_trim(text, begin, text.size);
    return FERRY_OK;
}

/* For `tokenizers`, an id without a piece is not there at all. */
static bool has_text(const ferry_tokenizer *tokenizer, int32_t id)
{
    if (tokenizer->special[id]) return false;
    return tokenizer->source.rules == NULL || ferry_texts_at(tokenizer->config.target_pieces, (size_t)id).size > 0;
}

ferry_status ferry_tokenizer_decode_ranges(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                           const ferry_word *words, ferry_string *text, ferry_range *ranges,
                                           ferry_error *error)
{
    const ferry_tokenizer_config *config = &tokenizer->config;
    const int32_t known = config->target_count;
    decoding into = {.text = text,
                     .ranges = ranges,
                     .bytes = config->bytes,
                     .skip_blanks = config->blanks == FERRY_BLANKS_FIRST_PIECE};
    text->size = 0;
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < 0 || ids[i] >= known)
            return ferry_fail(error, FERRY_ERROR_ARGUMENT, "target id: expected 0 to %d, found %d", known - 1, ids[i]);
        const ferry_word *word = words != NULL && words[i].text.size > 0 ? &words[i] : NULL;
        if (word != NULL || has_text(tokenizer, ids[i]))
            FERRY_TRY(append_id(tokenizer, &into, i, ids[i], word, error));
        else if (ranges != NULL)
            ranges[i] = (ferry_range){text->size, text->size};
    }
    FERRY_TRY(end_run(&into, count, error));
    if (ferry_tokenizer_segments(tokenizer) || ferry_tokenizer_has_subwords(tokenizer))
        trim(text, config->blanks, ranges, count);
    return tokenizer->target_moses != NULL
               ? ferry_tokenizer_join_words(tokenizer->target_moses, text, ranges, count, error)
               : FERRY_OK;
}

ferry_status ferry_tokenizer_decode(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                    ferry_string *text, ferry_error *error)
{
    return ferry_tokenizer_decode_ranges(tokenizer, ids, count, NULL, text, NULL, error);
}
