#include "tokenizer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/moses/moses.h"
#include "segmenter.h"
#include "unicode.h"

struct ferry_tokenizer {
    ferry_tokenizer_config config;
    ferry_segmenter source;
    _Atomic(ferry_segmenter *) target;        /* NULL until ferry_tokenizer_encode_target; it may be &source */
    bool *special;                            /* [config.target_count] */
    ferry_moses *source_moses, *target_moses; /* NULL: none */
};

/* Whether the tokenizer segments texts; otherwise the caller does. */
static bool segments(const ferry_tokenizer *tokenizer)
{
    return tokenizer->source.spm != NULL || tokenizer->source.rules != NULL;
}

/* Whether a text is words between blanks and merges, as in subword-nmt and FSMT. */
static bool has_subwords(const ferry_tokenizer *tokenizer)
{
    return tokenizer->config.kind > FERRY_TOKENIZER_BPE;
}

/* ---- creation ---- */

/* ids [size] must be below `count`. */
static ferry_status check_ids(const char *what, const int32_t *ids, int32_t size, int32_t count, ferry_error *error)
{
    for (int32_t i = 0; i < size; i++)
        if (ids[i] < 0 || ids[i] >= count)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected ids from 0 to %d, found %d", what, count - 1,
                              ids[i]);
    return FERRY_OK;
}

static bool is_one_model(const ferry_tokenizer_config *config)
{
    return config->source_model.data == config->target_model.data && config->source_merges == config->target_merges;
}

static ferry_status fill(ferry_tokenizer *tokenizer, const ferry_tokenizer_config *config, ferry_error *error)
{
    const size_t size = (size_t)config->target_count + 1;
    const bool shared = config->source_pieces == config->target_pieces, fsmt = config->kind == FERRY_TOKENIZER_FSMT;
    tokenizer->config = *config;
    FERRY_TRY(check_ids("source unknown id", &config->source_unk_id, 1, config->source_count, error));
    FERRY_TRY(check_ids("source prefix", config->prefix_ids, config->prefix_count, config->source_count, error));
    FERRY_TRY(check_ids("source suffix", config->suffix_ids, config->suffix_count, config->source_count, error));
    FERRY_TRY(check_ids("special target ids", config->special_ids, config->special_count, config->target_count, error));
    tokenizer->special = calloc(size, sizeof *tokenizer->special);
    if (tokenizer->special == NULL)
        return ferry_fail_memory(error, "the special ids", size, sizeof *tokenizer->special);
    for (int32_t i = 0; i < config->special_count; i++) tokenizer->special[config->special_ids[i]] = true;
    if (config->source_moses.size > 0) {
        if (!has_subwords(tokenizer))
            return ferry_fail(error, FERRY_ERROR_FORMAT, "Moses' words: expected merges of subword-nmt or FSMT");
        if (config->target_moses.size == 0)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "Moses' words: expected a language of the target side, too");
        FERRY_TRY(ferry_moses_create(config->source_moses, fsmt, &tokenizer->source_moses, error));
        FERRY_TRY(ferry_moses_create(config->target_moses, fsmt, &tokenizer->target_moses, error));
    }
    FERRY_TRY(ferry_segmenter_create(&tokenizer->source, config, false, config->source_unk_id,
                                     shared ? tokenizer->special : NULL, NULL, error));
    if (shared && is_one_model(config)) atomic_store(&tokenizer->target, &tokenizer->source);
    return FERRY_OK;
}

ferry_status ferry_tokenizer_create(const ferry_tokenizer_config *config, ferry_tokenizer **tokenizer,
                                    ferry_error *error)
{
    ferry_tokenizer *made = *tokenizer = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a tokenizer", 1, sizeof *made);
    const ferry_status status = fill(made, config, error);
    if (status == FERRY_OK) return FERRY_OK;
    ferry_tokenizer_destroy(made);
    *tokenizer = NULL;
    return status;
}

/* NULL is allowed. */
static void free_segmenter(ferry_segmenter *segmenter)
{
    if (segmenter != NULL) ferry_segmenter_destroy(segmenter);
    free(segmenter);
}

void ferry_tokenizer_destroy(ferry_tokenizer *tokenizer)
{
    if (tokenizer == NULL) return;
    ferry_segmenter *target = atomic_load(&tokenizer->target);
    if (target != &tokenizer->source) free_segmenter(target);
    ferry_segmenter_destroy(&tokenizer->source);
    ferry_moses_destroy(tokenizer->source_moses);
    ferry_moses_destroy(tokenizer->target_moses);
    free(tokenizer->special);
    free(tokenizer);
}

/* ---- the target side, created at its first use ---- */

int32_t ferry_tokenizer_target_unknown(const ferry_tokenizer *tokenizer)
{
    static const char *const names[] = {"<unk>", "UNK"};
    const ferry_tokenizer_config *config = &tokenizer->config;
    if (config->source_pieces == config->target_pieces) return config->source_unk_id;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int32_t id = 0; id < config->target_count; id++)
            if (ferry_view_is(ferry_string_table_at(config->target_pieces, (size_t)id), names[i])) return id;
    return -1;
}

static ferry_status create_target(const ferry_tokenizer *tokenizer, ferry_segmenter *made, ferry_error *error)
{
    const ferry_tokenizer_config *config = &tokenizer->config;
    const bool merges = config->kind >= FERRY_TOKENIZER_BPE;
    const int32_t unk = ferry_tokenizer_target_unknown(tokenizer);
    if ((config->source_model.size > 0 && config->target_model.size == 0) ||
        (merges && !is_one_model(config) && config->target_merge_count == 0))
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "the model file has no %s of the target side: convert the original again, with that file "
                          "beside the source's",
                          merges ? "merges" : "SentencePiece model");
    if (unk < 0) return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "the target vocabulary has no piece '<unk>'");
    return ferry_segmenter_create(made, config, true, unk, tokenizer->special,
                                  is_one_model(config) ? tokenizer->source.spm : NULL, error);
}

/* Threads that call this at the same time each create a segmenter; the first one is kept. */
static ferry_status find_target(const ferry_tokenizer *tokenizer, const ferry_segmenter **target, ferry_error *error)
{
    ferry_tokenizer *own = (ferry_tokenizer *)(uintptr_t)tokenizer; /* const for its users */
    ferry_segmenter *kept = atomic_load(&own->target);
    *target = kept;
    if (kept != NULL) return FERRY_OK;
    ferry_segmenter *made = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a tokenizer", 1, sizeof *made);
    const ferry_status status = create_target(tokenizer, made, error);
    const bool keep = status == FERRY_OK && atomic_compare_exchange_strong(&own->target, &kept, made);
    if (!keep) free_segmenter(made);
    *target = keep ? made : kept;
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

/* Appends ids without text, with an empty range at `offset`. */
static ferry_status append_added(const int32_t *added, int32_t count, size_t offset, ferry_ids *ids,
                                 ferry_ranges *ranges, ferry_error *error)
{
    for (int32_t i = 0; i < count; i++) {
        FERRY_TRY(ferry_ids_insert(ids, ids->count, added[i], error));
        if (ranges != NULL) FERRY_TRY(ferry_ranges_insert(ranges, ranges->count, (ferry_range){offset, offset}, error));
    }
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
        const int32_t id = ferry_segmenter_find(&tokenizer->source, tag);
        FERRY_TRY(append_added(&id, 1, 0, ids, ranges, error));
    }
    FERRY_TRY(ferry_segmenter_append(&tokenizer->source, tokenizer->source_moses, text, ids, ranges, error));
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
    const ferry_segmenter *target;
    FERRY_TRY(find_target(tokenizer, &target, error));
    ids->count = 0;
    if (ranges != NULL) ranges->count = 0;
    return ferry_segmenter_append(target, tokenizer->target_moses, text, ids, ranges, error);
}

/* ---- ids → text ---- */

/* The byte of a piece like <0xE2>; -1 for other pieces. SentencePiece writes capital digits. */
static int byte_of(ferry_view piece)
{
    if (piece.size != 6 || memcmp(piece.data, "<0x", 3) != 0 || piece.data[5] != '>') return -1;
    const int high = ferry_hex_digit(piece.data[3]), low = ferry_hex_digit(piece.data[4]);
    return high < 0 || low < 0 || piece.data[3] > 'F' || piece.data[4] > 'F' ? -1 : high * 16 + low;
}

typedef struct decoding {
    const ferry_tokenizer *tokenizer;
    ferry_buffer *text;
    ferry_range *ranges; /* NULL: not wanted */
    size_t run;          /* bytes at the end of *text that come from byte pieces */
    size_t first;        /* the index of the first id of the run */
    bool skip_blanks;    /* drop every "▁" of the next piece */
    size_t unended;      /* 1 + index of the last id if its piece ends with "@@", else 0 */
    ferry_error *error;
} decoding;

/* Ends the run before id number `index`. FERRY_BYTES_EACH, as in SentencePiece: each ill-formed byte becomes U+FFFD.
 * FERRY_BYTES_RUN: if the run has ill-formed bytes, each of its bytes does. Ranges of bytes become ranges of
 * characters. */
static ferry_status end_run(decoding *into, size_t index)
{
    ferry_buffer *text = into->text;
    ferry_range *ranges = into->ranges;
    const size_t run = into->run, start = text->size - run;
    if (run == 0) return FERRY_OK;
    FERRY_TRY(ferry_buffer_reserve(text, 2 * run, into->error));
    const bool broken = into->tokenizer->config.decoder_bytes == FERRY_BYTES_RUN &&
                        !ferry_utf8_is_valid((ferry_view){text->data + start, run});
    /* The bytes move to the end of the tripled space, so that each is read before it is overwritten. */
    const ferry_view bytes = {memmove(text->data + start + 2 * run, text->data + start, run), run};
    size_t i = into->first;
    text->size = start;
    into->run = 0;
    for (size_t at = 0; at < run;) {
        const size_t begin = at, to = text->size;
        uint32_t c;
        const bool valid = !broken && ferry_utf8_next(bytes, &at, &c), white = valid && ferry_utf8_is_space(c);
        if (!valid) at = begin + 1;
        text->size += valid ? at - begin : 3;
        memmove(text->data + to, valid ? bytes.data + begin : "\xEF\xBF\xBD", text->size - to);
        for (; ranges != NULL && i < index && ranges[i].begin < start + at; i++)
            ranges[i] = (ferry_range){to, ranges[i].begin < ranges[i].end && !white ? text->size : to};
    }
    for (; ranges != NULL && i < index; i++) ranges[i] = (ferry_range){text->size, text->size};
    return FERRY_OK;
}

static ferry_status append(decoding *into, ferry_view more)
{
    return ferry_buffer_append(into->text, more, into->error);
}

static ferry_status append_blank(decoding *into)
{
    return append(into, ferry_text_view(" "));
}

/* Appends the piece with a blank for each "▁", or with nothing if `skip_blanks`. */
static ferry_status append_piece(decoding *into, ferry_view piece, bool skip_blanks)
{
    ferry_buffer *text = into->text;
    FERRY_TRY(ferry_buffer_reserve(text, piece.size, into->error));
    for (size_t i = 0; i < piece.size;) {
        const bool blank = piece.size - i >= 3 && memcmp(piece.data + i, FERRY_PIECE_BLANK, 3) == 0;
        if (!blank || !skip_blanks) text->data[text->size++] = blank ? ' ' : piece.data[i];
        i += blank ? 3 : 1;
    }
    return FERRY_OK;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static const char goes_on[] = "@@", ends_word[] = "</w>";

/* Appends the piece of id number `index`. subword-nmt: it follows without a blank if the last piece ended with "@@"
 * (`continues`), which the caller has removed. FSMT: it always does, and "</w>" at its end becomes a blank. `whole`: it
 * is a text that replaces the id's, and is escaped if Moses' rules will unescape the result. */
static ferry_status append_subword(decoding *into, ferry_view piece, bool whole, bool continues, size_t index)
{
    const bool marks_ends = into->tokenizer->config.kind == FERRY_TOKENIZER_FSMT;
    const bool ends = marks_ends && !whole && ferry_view_ends(piece, ends_word);
    if (ends) piece.size -= sizeof ends_word - 1;
    if (!marks_ends) into->unended = !whole && ferry_view_ends(piece, goes_on) ? index + 1 : 0;
    if (!marks_ends && !continues && into->text->size > 0) FERRY_TRY(append_blank(into));
    if (whole && into->tokenizer->target_moses != NULL)
        FERRY_TRY(ferry_moses_escape(piece, into->text, into->error));
    else
        FERRY_TRY(append(into, piece));
    return ends || (marks_ends && whole) ? append_blank(into) : FERRY_OK;
}

/* Appends the text of an id. Its range is what *text grows by, without the blank before it. */
static ferry_status append_id(decoding *into, size_t index, int32_t id, const ferry_word *word)
{
    const ferry_tokenizer *tokenizer = into->tokenizer;
    const bool segmented = segments(tokenizer), skip_blanks = into->skip_blanks, whole = word != NULL;
    const ferry_view piece = whole ? word->text : ferry_string_table_at(tokenizer->config.target_pieces, (size_t)id);
    const int byte = segmented && !whole && tokenizer->config.decoder_bytes != FERRY_BYTES_NONE ? byte_of(piece) : -1;
    ferry_buffer *text = into->text;
    into->skip_blanks = false;
    if (byte < 0) FERRY_TRY(end_run(into, index));
    const bool continues = into->unended > 0;
    if (continues) {
        const size_t size = text->size -= sizeof goes_on - 1;
        for (size_t i = into->unended - 1; into->ranges != NULL && i < index; i++)
            into->ranges[i] = (ferry_range){min_size(into->ranges[i].begin, size), min_size(into->ranges[i].end, size)};
    }
    const size_t begin = text->size;
    if (byte >= 0) {
        const char bytes[] = {(char)byte};
        if (into->run++ == 0) into->first = index;
        FERRY_TRY(append(into, (ferry_view){bytes, 1}));
    } else if (has_subwords(tokenizer)) {
        FERRY_TRY(append_subword(into, piece, whole, continues, index));
    } else if (segmented && !whole) {
        FERRY_TRY(append_piece(into, piece, skip_blanks));
    } else {
        /* Without a segmenter, pieces are separated by blanks, and "▁" and <0xNN> have no meaning. */
        if (segmented ? word->after_blank && !skip_blanks : begin > 0) FERRY_TRY(append_blank(into));
        FERRY_TRY(append(into, piece));
    }
    if (into->ranges == NULL) return FERRY_OK;
    const ferry_view all = {text->data, text->size};
    into->ranges[index] = byte >= 0 ? (ferry_range){begin, begin + 1} : ferry_range_trim(all, begin, all.size);
    return FERRY_OK;
}

static void trim(ferry_buffer *text, ferry_decoder_blanks blanks, ferry_range *ranges, size_t count)
{
    size_t leading = 0, size = text->size;
    if (size == 0) return;
    const ferry_view trimmed = ferry_utf8_trim((ferry_view){text->data, size});
    if (blanks == FERRY_BLANKS_TRIM) {
        leading = (size_t)(trimmed.data - text->data);
        size = trimmed.size;
    }
    if (blanks == FERRY_BLANKS_FIRST_BLANK && text->data[0] == ' ') {
        leading = 1;
        size--;
    }
    for (size_t i = 0; ranges != NULL && i < count; i++)
        ranges[i] = (ferry_range){min_size(ranges[i].begin - min_size(ranges[i].begin, leading), size),
                                  min_size(ranges[i].end - min_size(ranges[i].end, leading), size)};
    memmove(text->data, text->data + leading, size);
    text->size = size;
}

/* ---- Moses' words → text ---- */

/* Moves *at past the characters of `text` whose end in the words, offsets[end], is at most `offset`. */
static size_t advance(ferry_view text, const size_t *offsets, size_t *at, size_t offset)
{
    for (size_t next = *at; *at < text.size; *at = next) {
        ferry_unicode_next(text, &next);
        if (offsets[next] > offset) break;
    }
    return *at;
}

/* Replaces *words by their text, and ranges [count] in the words (NULL: none) by ranges in the text. Ids whose pieces
 * ("&", "apos", ";") became one character together all have the range of the last of them. */
static ferry_status join_words(const ferry_moses *moses, ferry_buffer *words, ferry_range *ranges, size_t count,
                               ferry_error *error)
{
    const ferry_view before = {words->data, words->size};
    ferry_buffer joined = {0};
    size_t *offsets = NULL, begin = 0, end = 0, parts = 0;
    const ferry_status status = ferry_moses_detokenize(moses, before, &joined, ranges != NULL ? &offsets : NULL, error);
    const ferry_view text = {joined.data, joined.size};
    for (size_t i = 0; status == FERRY_OK && ranges != NULL && i < count; i++) {
        const ferry_range range = ranges[i];
        size_t last = range.end;
        while (last < before.size && before.data[last] == ' ') last++;
        const size_t from = advance(text, offsets, &begin, range.begin), to = advance(text, offsets, &end, last);
        const bool empty = range.begin == range.end;
        ranges[i] = empty ? (ferry_range){from, from} : ferry_range_trim(text, from, to);
        if (empty)
            parts = 0;
        else if (ranges[i].begin == ranges[i].end)
            parts++;
        else
            for (; parts > 0; parts--) ranges[i - parts] = ranges[i];
    }
    free(offsets);
    free(status == FERRY_OK ? words->data : joined.data);
    if (status == FERRY_OK) *words = joined;
    return status;
}

/* ---- ids → text: the functions ---- */

ferry_status ferry_tokenizer_decode_ranges(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                           const ferry_word *words, ferry_buffer *text, ferry_range *ranges,
                                           ferry_error *error)
{
    const ferry_tokenizer_config *config = &tokenizer->config;
    const int32_t known = config->target_count;
    decoding into = {.tokenizer = tokenizer,
                     .text = text,
                     .ranges = ranges,
                     .skip_blanks = config->decoder_blanks == FERRY_BLANKS_FIRST_PIECE,
                     .error = error};
    text->size = 0;
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < 0 || ids[i] >= known)
            return ferry_fail_argument(error, "ids", "expected 0 to %d, found %d", known - 1, ids[i]);
        const ferry_word *word = words != NULL && words[i].text.size > 0 ? &words[i] : NULL;
        /* `tokenizers` ignores an id without a piece. */
        const bool has_text =
            !tokenizer->special[ids[i]] &&
            (tokenizer->source.rules == NULL || ferry_string_table_at(config->target_pieces, (size_t)ids[i]).size > 0);
        if (word != NULL || has_text)
            FERRY_TRY(append_id(&into, i, ids[i], word));
        else if (ranges != NULL)
            ranges[i] = (ferry_range){text->size, text->size};
    }
    FERRY_TRY(end_run(&into, count));
    if (segments(tokenizer) || has_subwords(tokenizer)) trim(text, config->decoder_blanks, ranges, count);
    if (tokenizer->target_moses == NULL) return FERRY_OK;
    return join_words(tokenizer->target_moses, text, ranges, count, error);
}

ferry_status ferry_tokenizer_decode(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                    ferry_buffer *text, ferry_error *error)
{
    return ferry_tokenizer_decode_ranges(tokenizer, ids, count, NULL, text, NULL, error);
}
