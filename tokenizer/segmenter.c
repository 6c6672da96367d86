#include "segmenter.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/moses/moses.h"
#include "bpe.h"
#include "sentencepiece_c.h"
#include "text_rules.h"
#include "unicode.h"

/* ---- creation ---- */

static ferry_status fill_words(ferry_segmenter *segmenter, const ferry_tokenizer_config *config, ferry_error *error)
{
    const ferry_unigram_config unigram = {.pieces = config->source_pieces,
                                          .scores = config->scores,
                                          .count = config->source_count,
                                          .unknown = config->source_unk_id,
                                          .byte_fallback = config->byte_fallback};
    ferry_text_rules_config rules = config->rules;
    rules.pieces = config->source_pieces;
    rules.piece_count = config->source_count;
    if (config->source_pieces != config->target_pieces)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "a tokenizer of words: expected one vocabulary for both sides");
    if (config->scores != NULL) FERRY_TRY(ferry_unigram_create(&unigram, &segmenter->unigram, error));
    return ferry_text_rules_create(&rules, &segmenter->rules, error);
}

ferry_status ferry_segmenter_create(ferry_segmenter *segmenter, const ferry_tokenizer_config *config, bool target,
                                    int32_t unk, const bool *special, const ferry_spm *spm, ferry_error *error)
{
    const bool merges = config->kind >= FERRY_TOKENIZER_BPE;
    const ferry_bpe_config bpe = {
        .kind = config->kind,
        .merges = target ? config->target_merges : config->source_merges,
        .merge_count = (size_t)(target ? config->target_merge_count : config->source_merge_count),
        .vocabulary = &segmenter->vocabulary,
        .unknown = unk,
        .word_end = config->word_end,
        .fuse_unknown = config->fuse_unknown,
        .byte_fallback = config->byte_fallback,
        .whole_words = config->whole_words,
    };
    segmenter->unk = unk;
    segmenter->special = special;
    segmenter->opus_punctuation = config->opus_punctuation;
    FERRY_TRY(ferry_vocabulary_create(target ? config->target_pieces : config->source_pieces,
                                      target ? config->target_count : config->source_count, &segmenter->vocabulary,
                                      error));
    if (!target && (config->scores != NULL || config->kind == FERRY_TOKENIZER_BPE))
        FERRY_TRY(fill_words(segmenter, config, error));
    if (merges) return ferry_bpe_create(&bpe, target ? "target merges" : "source merges", &segmenter->bpe, error);
    if (config->source_model.size == 0) return FERRY_OK;
    if (spm == NULL)
        FERRY_TRY(ferry_spm_create(target ? config->target_model : config->source_model,
                                   target ? "target SentencePiece model" : "source SentencePiece model",
                                   &segmenter->own_spm, error));
    segmenter->spm = spm != NULL ? spm : segmenter->own_spm;
    segmenter->spm_unknown = ferry_spm_unknown(segmenter->spm);
    /* So that encoding looks up only unknown text. */
    const size_t count = (size_t)ferry_spm_count(segmenter->spm);
    segmenter->id_of_spm = calloc(count, sizeof *segmenter->id_of_spm);
    if (segmenter->id_of_spm == NULL) return ferry_fail_memory(error, "the ids of pieces", count, sizeof(int32_t));
    for (size_t i = 0; i < count; i++)
        segmenter->id_of_spm[i] = ferry_segmenter_find(segmenter, ferry_spm_piece(segmenter->spm, (int32_t)i));
    return FERRY_OK;
}

void ferry_segmenter_destroy(ferry_segmenter *segmenter)
{
    ferry_spm_destroy(segmenter->own_spm);
    ferry_text_rules_destroy(segmenter->rules);
    ferry_unigram_destroy(&segmenter->unigram);
    ferry_bpe_destroy(segmenter->bpe);
    ferry_vocabulary_destroy(&segmenter->vocabulary);
    free(segmenter->id_of_spm);
}

int32_t ferry_segmenter_find(const ferry_segmenter *segmenter, ferry_view piece)
{
    const int32_t id = ferry_vocabulary_find(&segmenter->vocabulary, piece);
    return id >= 0 ? id : segmenter->unk;
}

/* ---- ids and ranges ---- */

/* The encoding of one text. The segmented text is the original, or a cleaned copy: `offsets` then map it to the
 * original. */
typedef struct encoding {
    const ferry_segmenter *segmenter;
    ferry_ids *ids;
    ferry_ranges *ranges;  /* NULL: no ranges are wanted */
    ferry_view text;       /* the segmented text */
    size_t border;         /* the last border of characters found in `text` */
    ferry_view original;   /* the caller's text */
    const size_t *offsets; /* [text.size + 1] in `original`; NULL: the same */
    bool trims;            /* ranges from `offsets` may have white space at their ends */
    size_t parts;          /* last ids whose range is still empty: parts of a character that is not complete */
    /* The word that is segmented: */
    ferry_view word;
    size_t offset;        /* of the word in `text`, if `from` is NULL */
    const uint32_t *from; /* [word.size + 1] offsets of its bytes in `text`, or NULL */
    size_t done;          /* with `from`: the end of the last part */
    ferry_unigram_scratch unigram;
    ferry_bpe_scratch bpe;
    ferry_error *error;
} encoding;

/* The first border of characters at or after `offset`; the last one found, if that is later. */
static size_t next_border(encoding *into, size_t offset)
{
    while (into->border < offset && into->border < into->text.size) ferry_unicode_next(into->text, &into->border);
    return into->border;
}

static ferry_range in_original(const encoding *into, ferry_range range)
{
    if (into->offsets == NULL) return range;
    const ferry_range found = {into->offsets[range.begin], into->offsets[range.end]};
    return into->trims ? ferry_range_trim(into->original, found.begin, found.end) : found;
}

/* Whether a piece whose range is empty is a part of a character: it has more than white space and "▁", and its text in
 * the original is empty (`nothing`) or the white space that its "▁" stands for. */
static bool is_part(ferry_view piece, bool nothing, bool follows_part)
{
    const size_t size = sizeof FERRY_PIECE_BLANK - 1, whole = piece.size;
    for (; piece.size >= size && memcmp(piece.data, FERRY_PIECE_BLANK, size) == 0; piece.size -= size)
        piece.data += size;
    if (nothing && follows_part) return true;
    return (nothing || piece.size < whole) && !ferry_utf8_is_blank(piece);
}

/* Appends an id and its range, on borders of characters and without white space at either end. A part that ends within
 * a character gets all of the character. */
static ferry_status append_part(encoding *into, const ferry_spm_part *part, int32_t id)
{
    ferry_ranges *ranges = into->ranges;
    FERRY_TRY(ferry_ids_insert(into->ids, into->ids->count, id, into->error));
    if (ranges == NULL) return FERRY_OK;
    const ferry_range whole = in_original(into, (ferry_range){part->begin, part->end});
    const size_t begin = next_border(into, part->begin), end = next_border(into, part->end);
    const ferry_range range = in_original(into, ferry_range_trim(into->text, begin, end));
    FERRY_TRY(ferry_ranges_insert(ranges, ranges->count, range, into->error));
    if (range.begin == range.end && is_part(part->piece, whole.begin == whole.end, into->parts > 0)) {
        into->parts++;
        return FERRY_OK;
    }
    for (ferry_range *earlier = &ranges->ranges[ranges->count - 1]; into->parts > 0; into->parts--) *--earlier = range;
    return FERRY_OK;
}

/* ---- segmenting ---- */

static ferry_status take_spm_part(void *user, const ferry_spm_part *part)
{
    encoding *into = user;
    const ferry_segmenter *segmenter = into->segmenter;
    if (part->id != segmenter->spm_unknown) return append_part(into, part, segmenter->id_of_spm[part->id]);
    const int32_t id = ferry_segmenter_find(segmenter, part->piece);
    return append_part(into, part, segmenter->special != NULL && segmenter->special[id] ? segmenter->unk : id);
}

/* Appends a piece of the word. Bytes of `text` between two pieces belong to the second. */
static ferry_status take_piece(void *user, size_t begin, size_t end, int32_t id)
{
    encoding *into = user;
    ferry_spm_part part = {{into->word.data + begin, end - begin}, id, into->offset + begin, into->offset + end};
    if (into->from != NULL) {
        part.begin = part.end = into->done;
        if (into->from[end] > into->done) into->done = part.end = into->from[end];
    }
    return append_part(into, &part, id);
}

static ferry_status take_word(void *user, const ferry_rule_word *word)
{
    encoding *into = user;
    const ferry_segmenter *segmenter = into->segmenter;
    into->word = word->text;
    into->from = word->from;
    if (word->id >= 0) return take_piece(into, 0, word->text.size, word->id);
    if (segmenter->bpe != NULL)
        return ferry_bpe_segment(segmenter->bpe, word->text, &into->bpe, take_piece, into, into->error);
    return ferry_unigram_segment(&segmenter->unigram, word->text, &into->unigram, take_piece, into, into->error);
}

static bool ends_line(char c)
{
    return c == ' ' || c == '\r' || c == '\n';
}

/* Words between blanks. In subword-nmt, other white space is part of a word; CR and LF at the ends are removed. */
static ferry_status append_subwords(encoding *into, ferry_view text)
{
    size_t at = 0;
    while (text.size > 0 && ends_line(text.data[text.size - 1])) text.size--;
    while (at < text.size && ends_line(text.data[at])) at++;
    while (at < text.size) {
        const char *blank = memchr(text.data + at, ' ', text.size - at);
        const size_t end = blank != NULL ? (size_t)(blank - text.data) : text.size;
        into->word = (ferry_view){text.data + at, end - at};
        into->offset = at;
        FERRY_TRY(ferry_bpe_segment(into->segmenter->bpe, into->word, &into->bpe, take_piece, into, into->error));
        at = end + 1;
    }
    return FERRY_OK;
}

/* Only ASCII white space separates pieces; other white space may be part of a piece. */
static ferry_status append_pieces(encoding *into, ferry_view text)
{
    for (size_t at = 0; at < text.size;) {
        size_t end = at;
        while (end < text.size && text.data[end] != ' ' && !(text.data[end] >= '\t' && text.data[end] <= '\r')) end++;
        if (end > at) {
            const ferry_spm_part part = {.piece = {text.data + at, end - at}, .begin = at, .end = end};
            FERRY_TRY(append_part(into, &part, ferry_segmenter_find(into->segmenter, part.piece)));
        }
        at = end + 1;
    }
    return FERRY_OK;
}

static ferry_status segment(encoding *into)
{
    const ferry_segmenter *segmenter = into->segmenter;
    const ferry_view text = into->text;
    if (segmenter->rules != NULL) return ferry_text_rules_apply(segmenter->rules, text, take_word, into, into->error);
    if (segmenter->bpe != NULL) return append_subwords(into, text);
    if (segmenter->spm != NULL) return ferry_spm_encode(segmenter->spm, text, take_spm_part, into, into->error);
    return append_pieces(into, text);
}

ferry_status ferry_segmenter_append(const ferry_segmenter *segmenter, const ferry_moses *moses, ferry_view text,
                                    ferry_ids *ids, ferry_ranges *ranges, ferry_error *error)
{
    encoding into = {.segmenter = segmenter, .ids = ids, .ranges = ranges, .original = text, .error = error};
    ferry_buffer clean = {0};
    size_t *offsets = NULL, **const wanted = ranges != NULL ? &offsets : NULL;
    ferry_status status = FERRY_OK;
    if (moses != NULL)
        status = ferry_moses_tokenize(moses, text, &clean, wanted, error);
    else if (segmenter->opus_punctuation)
        status = ferry_punctuation_clean(text, &clean, wanted, error);
    into.text = moses != NULL || segmenter->opus_punctuation ? (ferry_view){clean.data, clean.size} : text;
    into.offsets = offsets;
    into.trims = moses != NULL;
    if (status == FERRY_OK) status = segment(&into);
    free(into.unigram.nodes);
    ferry_bpe_scratch_destroy(&into.bpe);
    free(clean.data);
    free(offsets);
    return status;
}
