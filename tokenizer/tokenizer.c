#include "tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "punctuation.h"
#include "sentencepiece_c.h"
#include "vocabulary.h"

struct ferry_tokenizer {
    ferry_tokenizer_config config;
    ferry_spm *spm; /* NULL: a text is pieces */
    ferry_vocabulary source;
    int32_t *id_of_spm; /* [pieces of spm] */
    bool *special;      /* [config.target_count] */
};

/* ---- results that grow ---- */

static ferry_status reserve_ids(ferry_ids *ids, size_t extra, ferry_error *error)
{
    int32_t *grown = ferry_array_grow(ids->ids, &ids->capacity, ids->count + extra, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "tokenizing", ids->count + extra);
    ids->ids = grown;
    return FERRY_OK;
}

static ferry_status append_ids(ferry_ids *ids, const int32_t *more, size_t count, ferry_error *error)
{
    if (count == 0) return FERRY_OK;
    FERRY_TRY(reserve_ids(ids, count, error));
    memcpy(ids->ids + ids->count, more, count * sizeof *more);
    ids->count += count;
    return FERRY_OK;
}

ferry_status ferry_ids_insert(ferry_ids *ids, size_t at, int32_t id, ferry_error *error)
{
    FERRY_TRY(reserve_ids(ids, 1, error));
    memmove(ids->ids + at + 1, ids->ids + at, (ids->count - at) * sizeof *ids->ids);
    ids->ids[at] = id;
    ids->count++;
    return FERRY_OK;
}

ferry_status ferry_string_reserve(ferry_string *text, size_t extra, ferry_error *error)
{
    size_t size;
    char *grown = NULL;
    if (ferry_add_size(text->size, extra, &size)) grown = ferry_array_grow(text->data, &text->capacity, size, 1);
    if (grown == NULL) return ferry_fail_memory(error, "tokenizing", extra);
    text->data = grown;
    return FERRY_OK;
}

/* ---- creation ---- */

/* ids [size] must be below `count`. */
static ferry_status check_ids(const char *what, const int32_t *ids, size_t size, int32_t count, ferry_error *error)
{
    for (size_t i = 0; i < size; i++) {
        if (ids[i] >= 0 && ids[i] < count) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected ids from 0 to %d, found %d", what, count - 1,
                          ids[i]);
    }
    return FERRY_OK;
}

static ferry_status check_config(const ferry_tokenizer_config *config, ferry_error *error)
{
    FERRY_TRY(check_ids("source unknown id", &config->source_unk, 1, config->source_count, error));
    FERRY_TRY(check_ids("source prefix", config->prefix_ids, config->prefix_count, config->source_count, error));
    FERRY_TRY(check_ids("source suffix", config->suffix_ids, config->suffix_count, config->source_count, error));
    return check_ids("special target ids", config->target_special, config->target_special_count, config->target_count,
                     error);
}

static int32_t find_or_unknown(const ferry_tokenizer *tokenizer, ferry_view piece)
{
    int32_t id = ferry_vocabulary_find(&tokenizer->source, piece);
    return id >= 0 ? id : tokenizer->config.source_unk;
}

/* The model's id of every SentencePiece id, so that encoding looks up only unknown text. */
static ferry_status map_pieces(ferry_tokenizer *tokenizer, ferry_error *error)
{
    size_t count = (size_t)ferry_spm_count(tokenizer->spm);
    tokenizer->id_of_spm = calloc(count, sizeof *tokenizer->id_of_spm);
    if (tokenizer->id_of_spm == NULL) return ferry_fail_memory(error, "the ids of pieces", count * sizeof(int32_t));
    for (size_t i = 0; i < count; i++)
        tokenizer->id_of_spm[i] = find_or_unknown(tokenizer, ferry_spm_piece(tokenizer->spm, (int32_t)i));
    return FERRY_OK;
}

static ferry_status mark_special(ferry_tokenizer *tokenizer, ferry_error *error)
{
    const ferry_tokenizer_config *config = &tokenizer->config;
    const size_t size = (size_t)config->target_count + 1;
    tokenizer->special = calloc(size, sizeof *tokenizer->special);
    if (tokenizer->special == NULL) return ferry_fail_memory(error, "the special ids", size);
    for (size_t i = 0; i < config->target_special_count; i++) tokenizer->special[config->target_special[i]] = true;
    return FERRY_OK;
}

static ferry_status fill(ferry_tokenizer *tokenizer, const ferry_tokenizer_config *config, ferry_error *error)
{
    tokenizer->config = *config;
    FERRY_TRY(mark_special(tokenizer, error));
    FERRY_TRY(ferry_vocabulary_create(config->source_pieces, config->source_count, &tokenizer->source, error));
    if (config->source_model.size == 0) return FERRY_OK;
    FERRY_TRY(ferry_spm_create(config->source_model, "source SentencePiece model", &tokenizer->spm, error));
    return map_pieces(tokenizer, error);
}

ferry_status ferry_tokenizer_create(const ferry_tokenizer_config *config, ferry_tokenizer **tokenizer,
                                    ferry_error *error)
{
    *tokenizer = NULL;
    FERRY_TRY(check_config(config, error));
    ferry_tokenizer *made = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a tokenizer", sizeof *made);
    ferry_status status = fill(made, config, error);
    if (status != FERRY_OK) {
        ferry_tokenizer_destroy(made);
        return status;
    }
    *tokenizer = made;
    return FERRY_OK;
}

void ferry_tokenizer_destroy(ferry_tokenizer *tokenizer)
{
    if (tokenizer == NULL) return;
    ferry_spm_destroy(tokenizer->spm);
    ferry_vocabulary_destroy(&tokenizer->source);
    free(tokenizer->id_of_spm);
    free(tokenizer->special);
    free(tokenizer);
}

/* ---- text → ids ---- */

size_t ferry_tokenizer_tag_size(const ferry_tokenizer *tokenizer, ferry_view text)
{
    if (!tokenizer->config.leading_tag || text.size < 4 || memcmp(text.data, ">>", 2) != 0) return 0;
    for (size_t at = 2; at + 2 <= text.size; at++)
        if (memcmp(text.data + at, "<<", 2) == 0) return at + 2;
    return 0;
}

typedef struct encoding {
    const ferry_tokenizer *tokenizer;
    ferry_ids *ids;
    ferry_error *error;
} encoding;

static ferry_status take_piece(void *user, ferry_view piece, int32_t spm_id)
{
    encoding *into = user;
    const ferry_tokenizer *tokenizer = into->tokenizer;
    bool unknown = spm_id == ferry_spm_unknown(tokenizer->spm);
    int32_t id = unknown ? find_or_unknown(tokenizer, piece) : tokenizer->id_of_spm[spm_id];
    return append_ids(into->ids, &id, 1, into->error);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Only ASCII white space separates pieces: other blanks may be part of one. */
static ferry_status append_pieces(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids, ferry_error *error)
{
    for (size_t at = 0; at < text.size;) {
        size_t end = at;
        while (end < text.size && !is_space(text.data[end])) end++;
        if (end > at) {
            const int32_t id = find_or_unknown(tokenizer, (ferry_view){text.data + at, end - at});
            FERRY_TRY(append_ids(ids, &id, 1, error));
        }
        at = end + 1;
    }
    return FERRY_OK;
}

static ferry_status segment(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids, ferry_error *error)
{
    encoding into = {tokenizer, ids, error};
    if (tokenizer->spm == NULL) return append_pieces(tokenizer, text, ids, error);
    return ferry_spm_encode(tokenizer->spm, text, take_piece, &into, error);
}

static ferry_status clean_and_segment(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids,
                                      ferry_error *error)
{
    ferry_string clean = {0};
    ferry_status status = ferry_punctuation_clean(text, &clean, error);
    if (status == FERRY_OK) status = segment(tokenizer, (ferry_view){clean.data, clean.size}, ids, error);
    free(clean.data);
    return status;
}

ferry_status ferry_tokenizer_encode_tagged(const ferry_tokenizer *tokenizer, ferry_view tag, ferry_view text,
                                           ferry_ids *ids, ferry_error *error)
{
    ids->count = 0;
    FERRY_TRY(append_ids(ids, tokenizer->config.prefix_ids, tokenizer->config.prefix_count, error));
    if (tag.size > 0) {
        int32_t id = find_or_unknown(tokenizer, tag);
        FERRY_TRY(append_ids(ids, &id, 1, error));
    }
    FERRY_TRY((tokenizer->config.opus_punctuation ? clean_and_segment : segment)(tokenizer, text, ids, error));
    return append_ids(ids, tokenizer->config.suffix_ids, tokenizer->config.suffix_count, error);
}

ferry_status ferry_tokenizer_encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids,
                                    ferry_error *error)
{
    const size_t tag = ferry_tokenizer_tag_size(tokenizer, text);
    const ferry_view rest = tag > 0 ? (ferry_view){text.data + tag, text.size - tag} : text;
    return ferry_tokenizer_encode_tagged(tokenizer, (ferry_view){text.data, tag}, rest, ids, error);
}

/* ---- ids → text ---- */

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

/* Appends `piece`: a byte piece as its byte, counted in *run, the number of such bytes at the end of *text; others with
 * blanks for "▁", after repairing the run. */
static ferry_status append_piece(ferry_string *text, ferry_view piece, size_t *run, ferry_error *error)
{
    const int byte = byte_of(piece);
    if (byte >= 0) {
        FERRY_TRY(ferry_string_reserve(text, 1, error));
        text->data[text->size++] = (char)byte;
        ++*run;
        return FERRY_OK;
    }
    FERRY_TRY(repair_bytes(text, *run, error));
    *run = 0;
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
    FERRY_TRY(ferry_string_reserve(text, piece.size + 1, error));
    if (text->size > 0) text->data[text->size++] = ' ';
    if (piece.size > 0) memcpy(text->data + text->size, piece.data, piece.size);
    text->size += piece.size;
    return FERRY_OK;
}

static void trim(ferry_string *text)
{
    ferry_view trimmed = ferry_utf8_trim((ferry_view){text->data, text->size});
    if (trimmed.size > 0) memmove(text->data, trimmed.data, trimmed.size);
    text->size = trimmed.size;
}

ferry_status ferry_tokenizer_decode(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                    ferry_string *text, ferry_error *error)
{
    const ferry_tokenizer_config *config = &tokenizer->config;
    size_t run = 0;
    text->size = 0;
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < 0 || ids[i] >= config->target_count)
            return ferry_fail(error, FERRY_ERROR_ARGUMENT, "target id: expected 0 to %d, found %d",
                              config->target_count - 1, ids[i]);
        if (tokenizer->special[ids[i]]) continue;
        const ferry_view piece = config->target_pieces[ids[i]];
        FERRY_TRY(tokenizer->spm != NULL ? append_piece(text, piece, &run, error) : join_piece(text, piece, error));
    }
    if (tokenizer->spm == NULL) return FERRY_OK;
    FERRY_TRY(repair_bytes(text, run, error));
    trim(text);
    return FERRY_OK;
}
