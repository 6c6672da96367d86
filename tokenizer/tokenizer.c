#include "tokenizer_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "ranges.h"

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

static int32_t find_or_unknown(const ferry_tokenizer_side *side, ferry_view piece)
{
    int32_t id = ferry_vocabulary_find(&side->vocabulary, piece);
    return id >= 0 ? id : side->unk;
}

/* The model's id of every SentencePiece id, so that encoding looks up only unknown text. */
static ferry_status map_pieces(ferry_tokenizer_side *side, ferry_error *error)
{
    size_t count = (size_t)ferry_spm_count(side->spm);
    side->id_of_spm = calloc(count, sizeof *side->id_of_spm);
    if (side->id_of_spm == NULL) return ferry_fail_memory(error, "the ids of pieces", count * sizeof(int32_t));
    for (size_t i = 0; i < count; i++)
        side->id_of_spm[i] = find_or_unknown(side, ferry_spm_piece(side->spm, (int32_t)i));
    return FERRY_OK;
}

static void empty_side(ferry_tokenizer_side *side)
{
    ferry_spm_destroy(side->own_spm);
    ferry_text_rules_destroy(side->rules);
    ferry_unigram_destroy(&side->unigram);
    ferry_bpe_destroy(side->bpe);
    ferry_vocabulary_destroy(&side->vocabulary);
    free(side->id_of_spm);
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

/* NULL is allowed. */
static void destroy_side(ferry_tokenizer_side *side)
{
    if (side != NULL) empty_side(side);
    free(side);
}

static ferry_status fill_words(ferry_tokenizer_side *side, const ferry_tokenizer_config *config, ferry_error *error)
{
    const ferry_unigram_config unigram = {.pieces = config->source_pieces,
                                          .scores = config->scores,
                                          .count = config->source_count,
                                          .unknown = config->source_unk,
                                          .byte_fallback = config->byte_fallback};
    ferry_text_rules_config rules = config->rules;
    rules.pieces = config->source_pieces;
    rules.piece_count = config->source_count;
    if (config->source_pieces != config->target_pieces)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "a tokenizer of words: expected one vocabulary for both sides");
    if (config->scores != NULL) FERRY_TRY(ferry_unigram_create(&unigram, &side->unigram, error));
    return ferry_text_rules_create(&rules, &side->rules, error);
}

/* For side->vocabulary and side->unk. */
static ferry_status fill_merges(ferry_tokenizer_side *side, const ferry_tokenizer_config *config, bool target,
                                ferry_error *error)
{
    const ferry_bpe_config bpe = {
        .kind = config->bpe,
        .merges = target ? config->target_merges : config->source_merges,
        .merge_count = target ? config->target_merge_count : config->source_merge_count,
        .vocabulary = &side->vocabulary,
        .unknown = side->unk,
        .word_end = config->word_end,
        .fuse_unknown = config->fuse_unknown,
        .byte_fallback = config->byte_fallback,
        .whole_words = config->whole_words,
    };
    return ferry_bpe_create(&bpe, target ? "target merges" : "source merges", &side->bpe, error);
}

static ferry_status fill_source(ferry_tokenizer_side *side, const ferry_tokenizer_config *config, ferry_error *error)
{
    side->unk = config->source_unk;
    FERRY_TRY(ferry_vocabulary_create(config->source_pieces, config->source_count, &side->vocabulary, error));
    if (config->scores != NULL || config->bpe == FERRY_BPE_TOKENIZERS) FERRY_TRY(fill_words(side, config, error));
    if (config->bpe != FERRY_BPE_NONE) return fill_merges(side, config, false, error);
    if (config->source_model.size == 0) return FERRY_OK;
    FERRY_TRY(ferry_spm_create(config->source_model, "source SentencePiece model", &side->own_spm, error));
    side->spm = side->own_spm;
    return map_pieces(side, error);
}

static bool is_one_model(const ferry_tokenizer_config *config)
{
    return config->source_model.data == config->target_model.data && config->source_merges == config->target_merges;
}

static ferry_status fill_moses(ferry_tokenizer *tokenizer, ferry_error *error)
{
    const ferry_tokenizer_config *config = &tokenizer->config;
    const bool fsmt = config->bpe == FERRY_BPE_FSMT;
    if (!ferry_tokenizer_has_subwords(tokenizer))
        return ferry_fail(error, FERRY_ERROR_FORMAT, "Moses' words: expected merges of subword-nmt or FSMT");
    if (config->target_moses.size == 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "Moses' words: expected a language of the target side, too");
    FERRY_TRY(ferry_moses_create(config->source_moses, fsmt, &tokenizer->source_moses, error));
    return ferry_moses_create(config->target_moses, fsmt, &tokenizer->target_moses, error);
}

static ferry_status fill(ferry_tokenizer *tokenizer, const ferry_tokenizer_config *config, ferry_error *error)
{
    tokenizer->config = *config;
    FERRY_TRY(mark_special(tokenizer, error));
    if (config->source_moses.size > 0) FERRY_TRY(fill_moses(tokenizer, error));
    if (config->source_pieces == config->target_pieces) tokenizer->source.special = tokenizer->special;
    FERRY_TRY(fill_source(&tokenizer->source, config, error));
    if (config->source_pieces == config->target_pieces && is_one_model(config))
        atomic_store(&tokenizer->target, &tokenizer->source);
    return FERRY_OK;
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
    ferry_tokenizer_side *target = atomic_load(&tokenizer->target);
    if (target != &tokenizer->source) destroy_side(target);
    empty_side(&tokenizer->source);
    ferry_moses_destroy(tokenizer->source_moses);
    ferry_moses_destroy(tokenizer->target_moses);
    free(tokenizer->special);
    free(tokenizer);
}

/* ---- the target's side, at its first use ---- */

int32_t ferry_tokenizer_target_unknown(const ferry_tokenizer *tokenizer)
{
    static const char *const names[] = {"<unk>", "UNK"};
    const ferry_tokenizer_config *config = &tokenizer->config;
    if (config->source_pieces == config->target_pieces) return config->source_unk;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int32_t id = 0; id < config->target_count; id++)
            if (ferry_view_is(ferry_texts_at(config->target_pieces, (size_t)id), names[i])) return id;
    return -1;
}

static ferry_status fill_target(const ferry_tokenizer *tokenizer, ferry_tokenizer_side *side, ferry_error *error)
{
    const ferry_tokenizer_config *config = &tokenizer->config;
    const bool segments = config->source_model.size > 0, merges = config->bpe != FERRY_BPE_NONE;
    if ((segments && config->target_model.size == 0) ||
        (merges && !is_one_model(config) && config->target_merge_count == 0))
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "the model file has no %s of the target side: convert the original again, with that file "
                          "beside the source's",
                          merges ? "merges" : "SentencePiece model");
    side->special = tokenizer->special;
    side->unk = ferry_tokenizer_target_unknown(tokenizer);
    if (side->unk < 0) return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "the target vocabulary has no piece '<unk>'");
    FERRY_TRY(ferry_vocabulary_create(config->target_pieces, config->target_count, &side->vocabulary, error));
    if (merges) return fill_merges(side, config, true, error);
    if (!segments) return FERRY_OK;
    side->spm = tokenizer->source.spm;
    if (!is_one_model(config)) {
        FERRY_TRY(ferry_spm_create(config->target_model, "target SentencePiece model", &side->own_spm, error));
        side->spm = side->own_spm;
    }
    return map_pieces(side, error);
}

/* Of threads that come here at once, each makes one, and the first one's is kept. */
static ferry_status find_target(const ferry_tokenizer *tokenizer, const ferry_tokenizer_side **side, ferry_error *error)
{
    ferry_tokenizer *own = (ferry_tokenizer *)(uintptr_t)tokenizer; /* constant for its users */
    ferry_tokenizer_side *kept = atomic_load(&own->target);
    *side = kept;
    if (kept != NULL) return FERRY_OK;
    ferry_tokenizer_side *made = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a tokenizer", sizeof *made);
    const ferry_status status = fill_target(tokenizer, made, error);
    const bool keep = status == FERRY_OK && atomic_compare_exchange_strong(&own->target, &kept, made);
    if (!keep) destroy_side(made);
    *side = keep ? made : kept;
    return status;
}

/* ---- text → ids ---- */

size_t ferry_tokenizer_tag_size(const ferry_tokenizer *tokenizer, ferry_view text)
{
    if (!tokenizer->config.leading_tag || text.size < 4 || memcmp(text.data, ">>", 2) != 0) return 0;
    for (size_t at = 2; at + 2 <= text.size; at++)
        if (memcmp(text.data + at, "<<", 2) == 0) return at + 2;
    return 0;
}

bool ferry_tokenizer_has_piece(const ferry_tokenizer *tokenizer, ferry_view piece)
{
    return ferry_vocabulary_find(&tokenizer->source.vocabulary, piece) >= 0;
}

/* Of a text, which is segmented as it is, or cleaned: then a place of the clean text maps to one of the original. */
typedef struct encoding {
    const ferry_tokenizer_side *side;
    bool target;
    const ferry_moses *moses; /* NULL: none */
    ferry_ids *ids;
    ferry_ranges *ranges;  /* NULL: not wanted */
    ferry_borders borders; /* of the segmented text */
    const size_t *places;  /* in the original; NULL: the same */
    ferry_view text;       /* the original */
    size_t parts;          /* ids at the end that are parts of one character, whose range is still to come */
    ferry_error *error;
} encoding;

/* Whether a piece whose range is empty has part of a character: it is not only white space, or "▁", which stands for
 * it, and its text in the original is nothing, or the white space that its "▁" stands for. */
static bool is_part(ferry_view piece, bool nothing, bool follows_part)
{
    static const char blank[] = "\u2581";
    const size_t size = sizeof blank - 1, whole = piece.size;
    for (; piece.size >= size && memcmp(piece.data, blank, size) == 0; piece.size -= size) piece.data += size;
    if (nothing && follows_part) return true;
    return (nothing || piece.size < whole) && !ferry_utf8_is_blank(piece);
}

static ferry_range original(const encoding *into, ferry_range range)
{
    if (into->places == NULL) return range;
    const ferry_range found = {into->places[range.begin], into->places[range.end]};
    return into->moses != NULL ? ferry_range_trim(into->text, found.begin, found.end) : found;
}

static ferry_status append_range(encoding *into, const ferry_spm_part *part)
{
    ferry_ranges *ranges = into->ranges;
    const ferry_range whole = original(into, (ferry_range){part->begin, part->end});
    const ferry_range range = original(into, ferry_borders_range(&into->borders, part->begin, part->end));
    FERRY_TRY(ferry_ranges_insert(ranges, ranges->count, range, into->error));
    if (range.begin == range.end && is_part(part->piece, whole.begin == whole.end, into->parts > 0)) {
        into->parts++;
        return FERRY_OK;
    }
    for (ferry_range *earlier = &ranges->ranges[ranges->count - 1]; into->parts > 0; into->parts--) *--earlier = range;
    return FERRY_OK;
}

static ferry_status append_part(encoding *into, const ferry_spm_part *part, int32_t id)
{
    FERRY_TRY(append_ids(into->ids, &id, 1, into->error));
    return into->ranges != NULL ? append_range(into, part) : FERRY_OK;
}

static ferry_status take_piece(void *user, const ferry_spm_part *part)
{
    encoding *into = user;
    const ferry_tokenizer_side *side = into->side;
    if (part->id != ferry_spm_unknown(side->spm)) return append_part(into, part, side->id_of_spm[part->id]);
    const int32_t id = find_or_unknown(side, part->piece);
    return append_part(into, part, side->special != NULL && side->special[id] ? side->unk : id);
}

/* ---- words ---- */

/* The word that is segmented, and where the part before it ended. */
typedef struct word_encoding {
    encoding *into;
    ferry_unigram_scratch scratch;
    ferry_bpe_scratch bpe_scratch;
    const ferry_rule_word *word;
    size_t done;
} word_encoding;

/* What is between two parts belongs to the second. */
static ferry_status take_id(void *user, size_t begin, size_t end, int32_t id)
{
    word_encoding *words = user;
    const ferry_view text = words->word->text;
    const size_t place = words->word->from[end];
    ferry_spm_part part = {.piece = {text.data + begin, end - begin}, .begin = words->done, .end = words->done};
    if (place > words->done) words->done = part.end = place;
    return append_part(words->into, &part, id);
}

static ferry_status take_word(void *user, const ferry_rule_word *word)
{
    word_encoding *words = user;
    words->word = word;
    const ferry_tokenizer_side *side = words->into->side;
    if (word->id >= 0) return take_id(words, 0, word->text.size, word->id);
    if (side->bpe != NULL)
        return ferry_bpe_segment(side->bpe, word->text, &words->bpe_scratch, take_id, words, words->into->error);
    return ferry_unigram_segment(&side->unigram, word->text, &words->scratch, take_id, words, words->into->error);
}

static ferry_status append_words(encoding *into, ferry_view text)
{
    word_encoding words = {.into = into};
    const ferry_status status = ferry_text_rules_apply(into->side->rules, text, take_word, &words, into->error);
    free(words.scratch.nodes);
    ferry_bpe_scratch_destroy(&words.bpe_scratch);
    return status;
}

/* ---- words between blanks ---- */

/* The word that is segmented. */
typedef struct subword_encoding {
    encoding *into;
    ferry_bpe_scratch scratch;
    const char *word;
    size_t place; /* in the text */
} subword_encoding;

static ferry_status take_subword(void *user, size_t begin, size_t end, int32_t id)
{
    const subword_encoding *words = user;
    const ferry_spm_part part = {.piece = {words->word + begin, end - begin},
                                 .begin = words->place + begin,
                                 .end = words->place + end};
    return append_part(words->into, &part, id);
}

static bool ends_line(char c)
{
    return c == ' ' || c == '\r' || c == '\n';
}

/* For subword-nmt, other white space is part of a word, but for the ends of a line. */
static ferry_status append_subwords(encoding *into, ferry_view text)
{
    subword_encoding words = {.into = into};
    ferry_status status = FERRY_OK;
    size_t at = 0;
    while (text.size > 0 && ends_line(text.data[text.size - 1])) text.size--;
    while (at < text.size && ends_line(text.data[at])) at++;
    while (at < text.size && status == FERRY_OK) {
        const char *blank = memchr(text.data + at, ' ', text.size - at);
        const size_t end = blank != NULL ? (size_t)(blank - text.data) : text.size;
        words.word = text.data + at;
        words.place = at;
        status = ferry_bpe_segment(into->side->bpe, (ferry_view){words.word, end - at}, &words.scratch, take_subword,
                                   &words, into->error);
        at = end + 1;
    }
    ferry_bpe_scratch_destroy(&words.scratch);
    return status;
}

/* ---- all of it ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Only ASCII white space separates pieces: other blanks may be part of one. */
static ferry_status append_pieces(encoding *into, ferry_view text)
{
    for (size_t at = 0; at < text.size;) {
        size_t end = at;
        while (end < text.size && !is_space(text.data[end])) end++;
        if (end > at) {
            const ferry_spm_part part = {.piece = {text.data + at, end - at}, .begin = at, .end = end};
            FERRY_TRY(append_part(into, &part, find_or_unknown(into->side, part.piece)));
        }
        at = end + 1;
    }
    return FERRY_OK;
}

static ferry_status segment(encoding *into, ferry_view text)
{
    into->borders.text = text;
    if (into->side->rules != NULL) return append_words(into, text);
    if (into->side->bpe != NULL) return append_subwords(into, text);
    if (into->side->spm == NULL) return append_pieces(into, text);
    return ferry_spm_encode(into->side->spm, text, take_piece, into, into->error);
}

static ferry_status clean(const encoding *into, ferry_view text, ferry_string *output, size_t **places)
{
    size_t **const wanted = into->ranges != NULL ? places : NULL;
    if (into->moses == NULL) return ferry_punctuation_clean(text, output, wanted, into->error);
    return ferry_moses_tokenize(into->moses, text, output, wanted, into->error);
}

static ferry_status clean_and_segment(encoding *into, ferry_view text)
{
    ferry_string output = {0};
    size_t *places = NULL;
    ferry_status status = clean(into, text, &output, &places);
    into->places = places;
    if (status == FERRY_OK) status = segment(into, (ferry_view){output.data, output.size});
    free(output.data);
    free(places);
    return status;
}

static ferry_status append_text(const ferry_tokenizer *tokenizer, encoding *into, ferry_view text)
{
    into->moses = into->target ? tokenizer->target_moses : tokenizer->source_moses;
    into->text = text;
    const bool cleans = tokenizer->config.opus_punctuation || into->moses != NULL;
    return (cleans ? clean_and_segment : segment)(into, text);
}

/* Ids without text, at `place`. */
static ferry_status append_added(const int32_t *added, size_t count, size_t place, ferry_ids *ids, ferry_ranges *ranges,
                                 ferry_error *error)
{
    FERRY_TRY(append_ids(ids, added, count, error));
    for (size_t i = 0; ranges != NULL && i < count; i++)
        FERRY_TRY(ferry_ranges_insert(ranges, ranges->count, (ferry_range){place, place}, error));
    return FERRY_OK;
}

ferry_status ferry_tokenizer_encode_ranges(const ferry_tokenizer *tokenizer, ferry_view tag, ferry_view text,
                                           ferry_ids *ids, ferry_ranges *ranges, ferry_error *error)
{
    const ferry_tokenizer_config *config = &tokenizer->config;
    ids->count = 0;
    if (ranges != NULL) ranges->count = 0;
    FERRY_TRY(append_added(config->prefix_ids, config->prefix_count, 0, ids, ranges, error));
    if (tag.size > 0) {
        const int32_t id = find_or_unknown(&tokenizer->source, tag);
        FERRY_TRY(append_added(&id, 1, 0, ids, ranges, error));
    }
    encoding into = {.side = &tokenizer->source, .ids = ids, .ranges = ranges, .error = error};
    FERRY_TRY(append_text(tokenizer, &into, text));
    return append_added(config->suffix_ids, config->suffix_count, text.size, ids, ranges, error);
}

ferry_status ferry_tokenizer_encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids,
                                    ferry_error *error)
{
    const size_t tag = ferry_tokenizer_tag_size(tokenizer, text);
    const ferry_view rest = tag > 0 ? (ferry_view){text.data + tag, text.size - tag} : text;
    return ferry_tokenizer_encode_ranges(tokenizer, (ferry_view){text.data, tag}, rest, ids, NULL, error);
}

ferry_status ferry_tokenizer_encode_target(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids,
                                           ferry_ranges *ranges, ferry_error *error)
{
    const ferry_tokenizer_side *side;
    FERRY_TRY(find_target(tokenizer, &side, error));
    ids->count = 0;
    if (ranges != NULL) ranges->count = 0;
    encoding into = {.side = side, .target = true, .ids = ids, .ranges = ranges, .error = error};
    return append_text(tokenizer, &into, text);
}
