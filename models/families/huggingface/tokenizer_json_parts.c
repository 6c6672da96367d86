/* Parts of tokenizer.json: "normalizer" and "pre_tokenizer", which become steps of tokenizer/text_rules.h; "decoder":
 * how pieces are joined; "model": Unigram and BPE. */
#include <math.h>
#include <string.h>

#include "tokenizer_json.h"
#include "tokenizer/tokenizer.h"
#include "base/printable.h"
#include "tokenizer/unigram.h"

static const char metaspace[] = "\u2581";

static ferry_status unsupported(const ferry_json_place *place, const char *expected, ferry_error *error)
{
    return ferry_json_place_fail(place, FERRY_ERROR_UNSUPPORTED, expected, error);
}

static ferry_status add(ferry_tokenizer_json *json, const ferry_json_place *place, ferry_view word, ferry_error *error)
{
    if (json->step_count == FERRY_TOKENIZER_JSON_STEPS) return unsupported(place, "fewer steps", error);
    json->steps[json->step_count++] = word;
    return FERRY_OK;
}

static ferry_status add_name(ferry_tokenizer_json *json, const ferry_json_place *place, const char *name,
                             ferry_error *error)
{
    return add(json, place, ferry_text_view(name), error);
}

/* ---- normalizers ---- */

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* RFC 4648, section 4, into bytes [text.size / 4 * 3]; false: it is not that. */
static bool decode_base64(ferry_view text, char *bytes, size_t *size)
{
    size_t padding = 0;
    *size = 0;
    if (text.size % 4 != 0) return false;
    while (padding < 2 && padding < text.size && text.data[text.size - 1 - padding] == '=') padding++;
    for (size_t at = 0; at < text.size; at += 4) {
        uint32_t bits = 0;
        for (size_t i = at; i < at + 4; i++) {
            const int digit = i < text.size - padding ? digit_of(text.data[i]) : 0;
            if (digit < 0) return false;
            bits = bits << 6 | (uint32_t)digit;
        }
        for (int shift = 16; shift >= 0; shift -= 8) bytes[(*size)++] = (char)(bits >> shift & 0xFF);
    }
    *size -= padding;
    return true;
}

static ferry_status add_precompiled(ferry_tokenizer_json *json, const ferry_json_place *part, ferry_error *error)
{
    const ferry_json_place map = ferry_json_place_get(part, "precompiled_charsmap");
    ferry_view text;
    size_t size;
    FERRY_TRY(ferry_json_place_text(&map, &text, error));
    if (json->plan->text.charsmap.size > 0) return unsupported(part, "one normalizer 'Precompiled'", error);
    char *bytes = ferry_arena_alloc(&json->plan->arena, text.size + 1, 1);
    if (bytes == NULL) return ferry_fail_memory(error, "a normalization table", text.size);
    if (!decode_base64(text, bytes, &size) || size == 0)
        return ferry_json_place_fail(&map, FERRY_ERROR_FORMAT, "bytes in base 64", error);
    json->plan->text.charsmap = (ferry_view){bytes, size};
    return add_name(json, part, "precompiled", error);
}

/* Texts, and of regular expressions those that occur in published files. */
static ferry_status add_replace(ferry_tokenizer_json *json, const ferry_json_place *part, ferry_error *error)
{
    static const struct {
        const char *regex, *step, *least;
    } runs[] = {{" {2,}", "replace-blanks", "2"},
                {" +", "replace-blanks", "1"},
                {"\\s{2,}", "replace-space", "2"},
                {"\\s+", "replace-space", "1"}};
    const ferry_json_place pattern = ferry_json_place_get(part, "pattern"), by = ferry_json_place_get(part, "content");
    const ferry_json_place text = ferry_json_place_get(&pattern, "String"),
                           regex = ferry_json_place_get(&pattern, "Regex");
    ferry_view from, to;
    FERRY_TRY(ferry_json_place_text(&by, &to, error));
    if (text.value != NULL) {
        FERRY_TRY(ferry_json_place_text(&text, &from, error));
        if (from.size == 0) return unsupported(&text, "a text that is not empty", error);
        FERRY_TRY(add_name(json, part, "replace", error));
        FERRY_TRY(add(json, part, from, error));
        return add(json, part, to, error);
    }
    FERRY_TRY(ferry_json_place_text(&regex, &from, error));
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (!ferry_view_is(from, runs[i].regex)) continue;
        FERRY_TRY(add_name(json, part, runs[i].step, error));
        FERRY_TRY(add_name(json, part, runs[i].least, error));
        return add(json, part, to, error);
    }
    return unsupported(&regex, "' {2,}', ' +', '\\s{2,}' or '\\s+'", error);
}

static ferry_status add_normalizer(ferry_tokenizer_json *json, const ferry_json_place *part, ferry_error *error)
{
    if (ferry_json_place_is(part, "Precompiled")) return add_precompiled(json, part, error);
    if (ferry_json_place_is(part, "Replace")) return add_replace(json, part, error);
    if (ferry_json_place_is(part, "Prepend")) {
        const ferry_json_place prepend = ferry_json_place_get(part, "prepend");
        ferry_view text;
        FERRY_TRY(ferry_json_place_text(&prepend, &text, error));
        FERRY_TRY(add_name(json, part, "prepend", error));
        return add(json, part, text, error);
    }
    if (ferry_json_place_is(part, "Strip")) {
        const ferry_json_place left = ferry_json_place_get(part, "strip_left"),
                               right = ferry_json_place_get(part, "strip_right");
        bool strips[2];
        FERRY_TRY(ferry_json_place_flag(&left, &strips[0], error));
        FERRY_TRY(ferry_json_place_flag(&right, &strips[1], error));
        if (strips[0]) FERRY_TRY(add_name(json, part, "strip-left", error));
        return strips[1] ? add_name(json, part, "strip-right", error) : FERRY_OK;
    }
    return unsupported(part, "a normalizer Precompiled, Replace, Prepend, Strip or Sequence", error);
}

/* ---- pre-tokenizers ---- */

/* `add_prefix_space` is older than `prepend_scheme`. */
static ferry_status read_scheme(const ferry_json_place *part, ferry_view *scheme, ferry_error *error)
{
    static const char *const schemes[] = {"always", "first", "never"};
    const ferry_json_place sign = ferry_json_place_get(part, "replacement"),
                           key = ferry_json_place_get(part, "prepend_scheme"),
                           old = ferry_json_place_get(part, "add_prefix_space");
    bool prefix = true;
    ferry_view text;
    FERRY_TRY(ferry_json_place_text(&sign, &text, error));
    if (!ferry_view_is(text, metaspace)) return unsupported(&sign, "'\u2581'", error);
    if (old.value != NULL) FERRY_TRY(ferry_json_place_flag(&old, &prefix, error));
    *scheme = ferry_text_view(prefix ? "always" : "never");
    if (key.value == NULL) return FERRY_OK;
    FERRY_TRY(ferry_json_place_text(&key, scheme, error));
    if (!prefix && !ferry_view_is(*scheme, "never"))
        return ferry_json_place_fail(&key, FERRY_ERROR_FORMAT, "'never', as add_prefix_space is false", error);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (ferry_view_is(*scheme, schemes[i])) return FERRY_OK;
    return ferry_json_place_fail(&key, FERRY_ERROR_FORMAT, "'always', 'first' or 'never'", error);
}

static ferry_status add_pre_tokenizer(ferry_tokenizer_json *json, const ferry_json_place *part, ferry_error *error)
{
    bool split = true;
    ferry_view scheme;
    if (ferry_json_place_is(part, "WhitespaceSplit")) return add_name(json, part, "split-space", error);
    if (!ferry_json_place_is(part, "Metaspace"))
        return unsupported(part, "a pre-tokenizer Metaspace, WhitespaceSplit or Sequence", error);
    FERRY_TRY(read_scheme(part, &scheme, error));
    FERRY_TRY(ferry_json_place_flag_of(part, "split", &split, error));
    FERRY_TRY(add_name(json, part, "metaspace", error));
    FERRY_TRY(add(json, part, scheme, error));
    return split ? add_name(json, part, "split-metaspace", error) : FERRY_OK;
}

ferry_status ferry_tokenizer_json_steps(ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_json_place normalizer = ferry_json_place_get(&json->root, "normalizer"),
                           words = ferry_json_place_get(&json->root, "pre_tokenizer");
    ferry_model_text *text = &json->plan->text;
    FERRY_TRY(ferry_json_place_each(json, &normalizer, "normalizers", add_normalizer, error));
    FERRY_TRY(ferry_json_place_each(json, &words, "pretokenizers", add_pre_tokenizer, error));
    text->step_count = (int32_t)json->step_count;
    return ferry_texts_join(&json->plan->arena, json->steps, json->step_count, &text->steps, error);
}

/* ---- the decoder ---- */

/* What a Sequence of decoders did so far; each may come once, and only behind those before it. */
typedef enum decoder_stage { STAGE_NONE, STAGE_METASPACE, STAGE_REPLACE, STAGE_BYTES, STAGE_FUSE, STAGE_STRIP } stage;

static ferry_status read_metaspace(ferry_model_text *text, const ferry_json_place *part, ferry_error *error)
{
    ferry_view scheme;
    FERRY_TRY(read_scheme(part, &scheme, error));
    text->decoder_blanks = ferry_view_is(scheme, "never") ? FERRY_BLANKS_KEEP : FERRY_BLANKS_FIRST_PIECE;
    return FERRY_OK;
}

static ferry_status read_replace(ferry_model_text *text, const ferry_json_place *part, ferry_error *error)
{
    const ferry_json_place pattern = ferry_json_place_get(part, "pattern"), to = ferry_json_place_get(part, "content"),
                           from = ferry_json_place_get(&pattern, "String");
    ferry_view sign, blank;
    FERRY_TRY(ferry_json_place_text(&from, &sign, error));
    FERRY_TRY(ferry_json_place_text(&to, &blank, error));
    if (!ferry_view_is(sign, metaspace)) return unsupported(&from, "'\u2581'", error);
    if (!ferry_view_is(blank, " ")) return unsupported(&to, "' '", error);
    text->decoder_blanks = FERRY_BLANKS_KEEP;
    return FERRY_OK;
}

static ferry_status read_strip(ferry_model_text *text, const ferry_json_place *part, ferry_error *error)
{
    const ferry_json_place sign = ferry_json_place_get(part, "content"), start = ferry_json_place_get(part, "start"),
                           stop = ferry_json_place_get(part, "stop");
    ferry_view content;
    int32_t count;
    FERRY_TRY(ferry_json_place_text(&sign, &content, error));
    if (!ferry_view_is(content, " ")) return unsupported(&sign, "' '", error);
    if (ferry_json_place_integer(&stop, 0, 0, &count, error) != FERRY_OK) return FERRY_ERROR_UNSUPPORTED;
    if (ferry_json_place_integer(&start, 0, 1, &count, error) != FERRY_OK) return FERRY_ERROR_UNSUPPORTED;
    if (count > 0) text->decoder_blanks = FERRY_BLANKS_FIRST_BLANK;
    return FERRY_OK;
}

/* The stage that a part begins; STAGE_NONE: it may not come after `done`. */
static stage next_stage(const ferry_json_place *part, stage done)
{
    static const struct {
        const char *type;
        stage stage, after;
    } rows[] = {{"Metaspace", STAGE_METASPACE, STAGE_NONE},
                {"Replace", STAGE_REPLACE, STAGE_NONE},
                {"ByteFallback", STAGE_BYTES, STAGE_METASPACE},
                {"ByteFallback", STAGE_BYTES, STAGE_REPLACE},
                {"Fuse", STAGE_FUSE, STAGE_METASPACE},
                {"Fuse", STAGE_FUSE, STAGE_REPLACE},
                {"Fuse", STAGE_FUSE, STAGE_BYTES},
                {"Strip", STAGE_STRIP, STAGE_FUSE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].after == done && ferry_json_place_is(part, rows[i].type)) return rows[i].stage;
    return STAGE_NONE;
}

static ferry_status read_decoder(ferry_model_text *text, const ferry_json_place *part, stage *done, ferry_error *error)
{
    const bool stripped = text->decoder_blanks == FERRY_BLANKS_FIRST_PIECE;
    *done = next_stage(part, *done);
    switch (*done) {
    case STAGE_METASPACE: return read_metaspace(text, part, error);
    case STAGE_REPLACE: return read_replace(text, part, error);
    case STAGE_BYTES: text->decoder_bytes = FERRY_BYTES_RUN; return FERRY_OK;
    case STAGE_FUSE: return FERRY_OK;
    case STAGE_STRIP:
        return stripped ? unsupported(part, "no Strip behind Metaspace", error) : read_strip(text, part, error);
    case STAGE_NONE: break;
    }
    return unsupported(part,
                       "Metaspace, or Replace of '\u2581' by ' ', then ByteFallback, Fuse and Strip or some of them",
                       error);
}

ferry_status ferry_tokenizer_json_decoder(ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_json_place decoder = ferry_json_place_get(&json->root, "decoder"),
                           list = ferry_json_place_get(&decoder, "decoders");
    const bool sequence = ferry_json_place_is(&decoder, "Sequence") && json_array_size(list.value) > 0;
    stage done = STAGE_NONE;
    json->plan->text.decoder_bytes = FERRY_BYTES_NONE;
    if (!sequence) return read_decoder(&json->plan->text, &decoder, &done, error);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const ferry_json_place part = ferry_json_place_at(&list, i);
        FERRY_TRY(read_decoder(&json->plan->text, &part, &done, error));
    }
    return FERRY_OK;
}

/* ---- the model ---- */

static ferry_status check_count(const ferry_tokenizer_json *json, const ferry_json_place *place, size_t count,
                                ferry_error *error)
{
    if (count <= (size_t)json->piece_count) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: '%s': expected at most %d pieces, as the embeddings have, found %zu", place->file,
                      place->path.text, (int)json->piece_count, count);
}

/* All words are known. */
static ferry_status join_words(ferry_tokenizer_json *json, size_t count, ferry_error *error)
{
    json->word_count = (int32_t)count;
    return ferry_texts_join(&json->plan->arena, json->pieces, count, &json->words, error);
}

/* ---- Unigram ---- */

/* ["piece", -3.5] */
static ferry_status read_pair(ferry_tokenizer_json *json, const ferry_json_place *pair, size_t id, double *score,
                              ferry_error *error)
{
    const ferry_json_place text = ferry_json_place_at(pair, 0), number = ferry_json_place_at(pair, 1);
    if (!json_is_array(pair->value) || json_array_size(pair->value) != 2)
        return ferry_json_place_fail(pair, FERRY_ERROR_FORMAT, "a piece and its score", error);
    FERRY_TRY(ferry_json_place_text(&text, &json->pieces[id], error));
    if (json->pieces[id].size > FERRY_UNIGRAM_MAX_PIECE)
        return ferry_json_place_fail(&text, FERRY_ERROR_UNSUPPORTED, "at most 512 bytes", error);
    if (!json_is_number(number.value)) return ferry_json_place_fail(&number, FERRY_ERROR_FORMAT, "a number", error);
    *score = json_number_value(number.value);
    return FERRY_OK;
}

static ferry_status read_unigram(ferry_tokenizer_json *json, const ferry_json_place *model, ferry_error *error)
{
    ferry_model_text *text = &json->plan->text;
    const ferry_json_place vocabulary = ferry_json_place_get(model, "vocab"),
                           unknown = ferry_json_place_get(model, "unk_id");
    const size_t count = json_array_size(vocabulary.value);
    if (!json_is_array(vocabulary.value) || count == 0)
        return ferry_json_place_fail(&vocabulary, FERRY_ERROR_FORMAT, "a list of pieces", error);
    FERRY_TRY(check_count(json, &vocabulary, count, error));
    FERRY_TRY(ferry_json_place_integer(&unknown, 0, (int32_t)count - 1, &text->source_unk_id, error));
    FERRY_TRY(ferry_json_place_flag_of(model, "byte_fallback", &text->byte_fallback, error));
    double *scores = ferry_arena_alloc(&json->plan->arena, (size_t)json->piece_count, sizeof *scores);
    if (scores == NULL) return ferry_fail_memory(error, "scores", (size_t)json->piece_count * sizeof *scores);
    for (size_t id = 0; id < (size_t)json->piece_count; id++) {
        const ferry_json_place pair = ferry_json_place_at(&vocabulary, id);
        scores[id] = NAN;
        if (id < count) FERRY_TRY(read_pair(json, &pair, id, &scores[id], error));
    }
    text->scores = scores;
    return join_words(json, count, error);
}

/* ---- BPE ---- */

static ferry_status read_vocabulary(ferry_tokenizer_json *json, const ferry_json_place *vocabulary, ferry_error *error)
{
    const char *piece;
    json_t *value;
    const size_t count = json_object_size(vocabulary->value);
    FERRY_TRY(check_count(json, vocabulary, count, error));
    json_object_foreach ((json_t *)(uintptr_t)vocabulary->value, piece, value) {
        const size_t size = strlen(piece); /* keys have no NUL */
        ferry_json_place place = {value, vocabulary->file, vocabulary->path};
        place.path = ferry_name_format("%s.%s", place.path.text, ferry_printable_view((ferry_view){piece, size}).text);
        int32_t id;
        FERRY_TRY(ferry_json_place_integer(&place, 0, (int32_t)count - 1, &id, error));
        if (json->pieces[id].data != NULL)
            return ferry_json_place_fail(&place, FERRY_ERROR_FORMAT, "an id that no other piece has", error);
        json->pieces[id] = (ferry_view){piece, size};
    }
    return join_words(json, count, error);
}

/* Copies a piece of a pair to *end. */
static ferry_status copy_piece(const ferry_json_place *place, char **end, ferry_error *error)
{
    ferry_view text;
    FERRY_TRY(ferry_json_place_text(place, &text, error));
    if (ferry_view_contains(text, " "))
        return ferry_json_place_fail(place, FERRY_ERROR_UNSUPPORTED, "a text without a blank", error);
    if (text.size > 0) memcpy(*end, text.data, text.size);
    *end += text.size;
    return FERRY_OK;
}

/* "left right", or ["left", "right"] at *end. */
static ferry_status read_merge(const ferry_json_place *merge, char **end, ferry_view *text, ferry_error *error)
{
    const ferry_json_place left = ferry_json_place_at(merge, 0), right = ferry_json_place_at(merge, 1);
    if (json_is_string(merge->value)) return ferry_json_place_text(merge, text, error);
    if (json_array_size(merge->value) != 2)
        return ferry_json_place_fail(merge, FERRY_ERROR_FORMAT, "two pieces", error);
    char *begin = *end;
    FERRY_TRY(copy_piece(&left, end, error));
    *(*end)++ = ' ';
    FERRY_TRY(copy_piece(&right, end, error));
    *text = (ferry_view){begin, (size_t)(*end - begin)};
    return FERRY_OK;
}

static size_t pair_bytes(const json_t *list)
{
    const json_t *merge;
    size_t bytes = 1, i;
    json_array_foreach (list, i, merge)
        bytes += json_string_length(json_array_get(merge, 0)) + json_string_length(json_array_get(merge, 1)) + 1;
    return bytes;
}

/* A text that says which version the merges are is none of them. */
static bool is_version(const json_t *merge)
{
    return json_is_string(merge) && ferry_text_begins(json_string_value(merge), "#version");
}

static ferry_status read_merges(ferry_tokenizer_json *json, const ferry_json_place *list, ferry_error *error)
{
    ferry_arena *arena = &json->plan->arena;
    const size_t count = json_array_size(list->value), bytes = pair_bytes(list->value);
    if (!json_is_array(list->value)) return ferry_json_place_fail(list, FERRY_ERROR_FORMAT, "a list", error);
    if (count > FERRY_BPE_MAX_MERGES)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: '%s': expected at most %d merges, found %zu", list->file,
                          list->path.text, (int)FERRY_BPE_MAX_MERGES, count);
    ferry_view *merges = ferry_arena_alloc(arena, count + 1, sizeof *merges);
    char *end = ferry_arena_alloc(arena, bytes, 1);
    int32_t kept = 0;
    if (merges == NULL || end == NULL) return ferry_fail_memory(error, "merges", bytes + count * sizeof *merges);
    for (size_t i = 0; i < count; i++) {
        const ferry_json_place merge = ferry_json_place_at(list, i);
        if (!is_version(merge.value)) FERRY_TRY(read_merge(&merge, &end, &merges[kept++], error));
    }
    ferry_model_text *text = &json->plan->text;
    FERRY_TRY(ferry_texts_join(arena, merges, (size_t)kept, &text->source_merges, error));
    text->target_merges = text->source_merges;
    text->source_merge_count = text->target_merge_count = kept;
    return FERRY_OK;
}

/* Where the package leaves out what no piece covers, or chooses by chance, Ferry has no equal. */
static ferry_status read_choices(ferry_tokenizer_json *json, const ferry_json_place *model, ferry_error *error)
{
    ferry_model_text *text = &json->plan->text;
    const ferry_json_place dropout = ferry_json_place_get(model, "dropout"),
                           prefix = ferry_json_place_get(model, "continuing_subword_prefix"),
                           end = ferry_json_place_get(model, "end_of_word_suffix"),
                           unknown = ferry_json_place_get(model, "unk_token");
    ferry_view piece;
    if (dropout.value != NULL && (!json_is_number(dropout.value) || json_number_value(dropout.value) != 0))
        return ferry_json_place_fail(&dropout, FERRY_ERROR_UNSUPPORTED, "null or 0", error);
    if (prefix.value != NULL && (!json_is_string(prefix.value) || json_string_length(prefix.value) > 0))
        return ferry_json_place_fail(&prefix, FERRY_ERROR_UNSUPPORTED, "null or ''", error);
    if (end.value != NULL) FERRY_TRY(ferry_json_place_text(&end, &text->word_end, error));
    FERRY_TRY(ferry_json_place_flag_of(model, "fuse_unk", &text->fuse_unknown, error));
    FERRY_TRY(ferry_json_place_flag_of(model, "byte_fallback", &text->byte_fallback, error));
    FERRY_TRY(ferry_json_place_flag_of(model, "ignore_merges", &text->whole_words, error));
    if (unknown.value == NULL) return ferry_json_place_fail(&unknown, FERRY_ERROR_UNSUPPORTED, "a piece", error);
    FERRY_TRY(ferry_json_place_text(&unknown, &piece, error));
    for (int32_t id = 0; id < json->word_count; id++) {
        if (!ferry_view_equal(json->pieces[id], piece)) continue;
        text->source_unk_id = id;
        return FERRY_OK;
    }
    return ferry_json_place_fail(&unknown, FERRY_ERROR_FORMAT, "a piece of the vocabulary", error);
}

/* Finds merges of pieces that there are not. */
static ferry_status check_merges(const ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_model_text *text = &json->plan->text;
    ferry_vocabulary vocabulary;
    ferry_bpe *bpe;
    FERRY_TRY(ferry_vocabulary_create(json->words, json->word_count, &vocabulary, error));
    const ferry_bpe_config config = {.kind = FERRY_BPE_TOKENIZERS,
                                     .merges = text->source_merges,
                                     .merge_count = (size_t)text->source_merge_count,
                                     .vocabulary = &vocabulary,
                                     .unknown = text->source_unk_id,
                                     .word_end = text->word_end,
                                     .fuse_unknown = text->fuse_unknown,
                                     .byte_fallback = text->byte_fallback,
                                     .whole_words = text->whole_words};
    const ferry_status status = ferry_bpe_create(&config, json->root.file, &bpe, error);
    ferry_bpe_destroy(bpe);
    ferry_vocabulary_destroy(&vocabulary);
    return status;
}

static ferry_status read_bpe(ferry_tokenizer_json *json, const ferry_json_place *model, ferry_error *error)
{
    const ferry_json_place vocabulary = ferry_json_place_get(model, "vocab"),
                           merges = ferry_json_place_get(model, "merges");
    if (json_object_size(vocabulary.value) == 0)
        return ferry_json_place_fail(&vocabulary, FERRY_ERROR_FORMAT, "pieces and their ids", error);
    FERRY_TRY(read_vocabulary(json, &vocabulary, error));
    FERRY_TRY(read_merges(json, &merges, error));
    FERRY_TRY(read_choices(json, model, error));
    json->plan->text.kind = FERRY_TOKENIZER_BPE;
    return check_merges(json, error);
}

ferry_status ferry_tokenizer_json_model(ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_json_place model = ferry_json_place_get(&json->root, "model"),
                           words = ferry_json_place_get(&model, "vocab"),
                           merges = ferry_json_place_get(&model, "merges");
    /* Old files lack the type. */
    const bool untyped = ferry_json_place_get(&model, "type").value == NULL;
    if (ferry_json_place_is(&model, "Unigram") || (untyped && json_is_array(words.value)))
        return read_unigram(json, &model, error);
    if (ferry_json_place_is(&model, "BPE") || (untyped && merges.value != NULL)) return read_bpe(json, &model, error);
    return ferry_json_place_fail(&model, FERRY_ERROR_UNSUPPORTED, "a model Unigram or BPE", error);
}
