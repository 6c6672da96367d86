/* Parts of tokenizer.json: "normalizer" and "pre_tokenizer", which become steps of tokenizer/text_rules.h; "decoder":
 * how pieces are joined; "model": Unigram and BPE. */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/bpe.h"
#include "tokenizer/pieces.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer_json.h"

enum { MAX_DEPTH = 8 };

static const char metaspace[] = "\u2581";

static ferry_status unsupported(const ferry_json_node *node, const char *expected)
{
    return ferry_node_fail(node, FERRY_ERROR_UNSUPPORTED, expected);
}

/* A step of text_rules.h: its name, and words [count] after it. */
static ferry_status add_step(ferry_tokenizer_json *json, const ferry_json_node *node, const char *name,
                             const ferry_view *words, size_t count)
{
    if (json->step_count + 1 + count > FERRY_TOKENIZER_JSON_STEPS) return unsupported(node, "fewer steps");
    json->steps[json->step_count++] = ferry_text_view(name);
    for (size_t i = 0; i < count; i++) json->steps[json->step_count++] = words[i];
    return FERRY_OK;
}

/* ---- normalizers ---- */

/* Decodes RFC 4648, section 4, into bytes [text.size / 4 * 3]. False if the text is malformed. */
static bool decode_base64(ferry_view text, char *bytes, size_t *size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t padding = 0;
    *size = 0;
    if (text.size % 4 != 0) return false;
    while (padding < 2 && padding < text.size && text.data[text.size - 1 - padding] == '=') padding++;
    for (size_t at = 0; at < text.size; at += 4) {
        uint32_t bits = 0;
        for (size_t i = at; i < at + 4; i++) {
            const char *digit = i < text.size - padding ? memchr(digits, text.data[i], sizeof digits - 1) : digits;
            if (digit == NULL) return false;
            bits = bits << 6 | (uint32_t)(digit - digits);
        }
        for (int shift = 16; shift >= 0; shift -= 8) bytes[(*size)++] = (char)(bits >> shift & 0xFF);
    }
    *size -= padding;
    return true;
}

static ferry_status add_precompiled(ferry_tokenizer_json *json, const ferry_json_node *part)
{
    const ferry_json_node map = ferry_node_get(part, "precompiled_charsmap");
    ferry_view text;
    size_t size;
    FERRY_TRY(ferry_node_text(&map, &text));
    if (json->plan->text.rules.charsmap.size > 0) return unsupported(part, "one normalizer 'Precompiled'");
    char *bytes = ferry_arena_alloc(&json->plan->arena, text.size + 1, 1);
    if (bytes == NULL) return ferry_fail_memory(json->error, "a normalization table", text.size, 1);
    if (!decode_base64(text, bytes, &size) || size == 0)
        return ferry_node_fail(&map, FERRY_ERROR_FORMAT, "bytes in base 64");
    json->plan->text.rules.charsmap = (ferry_view){bytes, size};
    return add_step(json, part, "precompiled", NULL, 0);
}

/* A pattern is a text, or one of the regular expressions of published files. */
static ferry_status add_replace(ferry_tokenizer_json *json, const ferry_json_node *part)
{
    static const struct {
        const char *regex, *step, *min;
    } runs[] = {{" {2,}", "replace-blanks", "2"},
                {" +", "replace-blanks", "1"},
                {"\\s{2,}", "replace-space", "2"},
                {"\\s+", "replace-space", "1"}};
    const ferry_json_node pattern = ferry_node_get(part, "pattern");
    const ferry_json_node text = ferry_node_get(&pattern, "String"), regex = ferry_node_get(&pattern, "Regex");
    ferry_view from, to;
    FERRY_TRY(ferry_node_text_of(part, "content", &to));
    if (text.value != NULL) {
        FERRY_TRY(ferry_node_text(&text, &from));
        if (from.size == 0) return unsupported(&text, "a text that is not empty");
        return add_step(json, part, "replace", (ferry_view[]){from, to}, 2);
    }
    FERRY_TRY(ferry_node_text(&regex, &from));
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (!ferry_view_is(from, runs[i].regex)) continue;
        return add_step(json, part, runs[i].step, (ferry_view[]){ferry_text_view(runs[i].min), to}, 2);
    }
    return unsupported(&regex, "' {2,}', ' +', '\\s{2,}' or '\\s+'");
}

static ferry_status add_normalizer(ferry_tokenizer_json *json, const ferry_json_node *part)
{
    if (ferry_node_is(part, "Precompiled")) return add_precompiled(json, part);
    if (ferry_node_is(part, "Replace")) return add_replace(json, part);
    if (ferry_node_is(part, "Prepend")) {
        ferry_view text;
        FERRY_TRY(ferry_node_text_of(part, "prepend", &text));
        return add_step(json, part, "prepend", &text, 1);
    }
    if (ferry_node_is(part, "Strip")) {
        const ferry_json_node left = ferry_node_get(part, "strip_left"), right = ferry_node_get(part, "strip_right");
        bool strips[2];
        FERRY_TRY(ferry_node_flag(&left, &strips[0]));
        FERRY_TRY(ferry_node_flag(&right, &strips[1]));
        if (strips[0]) FERRY_TRY(add_step(json, part, "strip-left", NULL, 0));
        return strips[1] ? add_step(json, part, "strip-right", NULL, 0) : FERRY_OK;
    }
    return unsupported(part, "a normalizer Precompiled, Replace, Prepend, Strip or Sequence");
}

/* ---- pre-tokenizers ---- */

/* `add_prefix_space` is older than `prepend_scheme`. */
static ferry_status read_scheme(const ferry_json_node *part, ferry_view *scheme)
{
    static const char *const schemes[] = {"always", "first", "never"};
    const ferry_json_node sign = ferry_node_get(part, "replacement"), key = ferry_node_get(part, "prepend_scheme");
    bool prefix = true;
    ferry_view text;
    FERRY_TRY(ferry_node_text(&sign, &text));
    if (!ferry_view_is(text, metaspace)) return unsupported(&sign, "'\u2581'");
    FERRY_TRY(ferry_node_flag_of(part, "add_prefix_space", &prefix));
    *scheme = ferry_text_view(prefix ? "always" : "never");
    if (key.value == NULL) return FERRY_OK;
    FERRY_TRY(ferry_node_text(&key, scheme));
    if (!prefix && !ferry_view_is(*scheme, "never"))
        return ferry_node_fail(&key, FERRY_ERROR_FORMAT, "'never', as add_prefix_space is false");
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (ferry_view_is(*scheme, schemes[i])) return FERRY_OK;
    return ferry_node_fail(&key, FERRY_ERROR_FORMAT, "'always', 'first' or 'never'");
}

static ferry_status add_pre_tokenizer(ferry_tokenizer_json *json, const ferry_json_node *part)
{
    bool split = true;
    ferry_view scheme;
    if (ferry_node_is(part, "WhitespaceSplit")) return add_step(json, part, "split-space", NULL, 0);
    if (!ferry_node_is(part, "Metaspace"))
        return unsupported(part, "a pre-tokenizer Metaspace, WhitespaceSplit or Sequence");
    FERRY_TRY(read_scheme(part, &scheme));
    FERRY_TRY(ferry_node_flag_of(part, "split", &split));
    FERRY_TRY(add_step(json, part, "metaspace", &scheme, 1));
    return split ? add_step(json, part, "split-metaspace", NULL, 0) : FERRY_OK;
}

/* Adds every part of a value: of a "Sequence" those in its list `key`, in order and at any depth; a value of another
 * type is its only part. */
static ferry_status add_each(ferry_tokenizer_json *json, const ferry_json_node *node, const char *key, int depth,
                             ferry_status (*add_part)(ferry_tokenizer_json *json, const ferry_json_node *part))
{
    if (node->value == NULL && depth == 0) return FERRY_OK;
    if (!ferry_node_is(node, "Sequence")) return add_part(json, node);
    const ferry_json_node list = ferry_node_get(node, key);
    if (!json_is_array(list.value)) return ferry_node_fail(&list, FERRY_ERROR_FORMAT, "a list");
    if (depth == MAX_DEPTH) return unsupported(node, "fewer sequences in sequences");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const ferry_json_node part = ferry_node_at(&list, i);
        FERRY_TRY(add_each(json, &part, key, depth + 1, add_part));
    }
    return FERRY_OK;
}

ferry_status ferry_tokenizer_json_steps(ferry_tokenizer_json *json)
{
    const ferry_json_node normalizer = ferry_node_get(&json->root, "normalizer"),
                          words = ferry_node_get(&json->root, "pre_tokenizer");
    ferry_tokenizer_config *text = &json->plan->text;
    FERRY_TRY(add_each(json, &normalizer, "normalizers", 0, add_normalizer));
    FERRY_TRY(add_each(json, &words, "pretokenizers", 0, add_pre_tokenizer));
    text->rules.step_count = json->step_count;
    return ferry_string_table_join(&json->plan->arena, json->steps, json->step_count, &text->rules.steps, json->error);
}

/* ---- the decoder ---- */

/* The last decoder of a Sequence. Each may occur once, in this order. */
typedef enum decoder_stage { STAGE_NONE, STAGE_METASPACE, STAGE_REPLACE, STAGE_BYTES, STAGE_FUSE, STAGE_STRIP } stage;

static ferry_status read_replace(ferry_tokenizer_config *text, const ferry_json_node *part)
{
    const ferry_json_node pattern = ferry_node_get(part, "pattern"), to = ferry_node_get(part, "content"),
                          from = ferry_node_get(&pattern, "String");
    ferry_view sign, blank;
    FERRY_TRY(ferry_node_text(&from, &sign));
    FERRY_TRY(ferry_node_text(&to, &blank));
    if (!ferry_view_is(sign, metaspace)) return unsupported(&from, "'\u2581'");
    if (!ferry_view_is(blank, " ")) return unsupported(&to, "' '");
    text->decoder_blanks = FERRY_BLANKS_KEEP;
    return FERRY_OK;
}

static ferry_status read_strip(ferry_tokenizer_config *text, const ferry_json_node *part)
{
    const ferry_json_node sign = ferry_node_get(part, "content"), start = ferry_node_get(part, "start"),
                          stop = ferry_node_get(part, "stop");
    ferry_view content;
    int32_t count;
    if (text->decoder_blanks == FERRY_BLANKS_FIRST_PIECE) return unsupported(part, "no Strip behind Metaspace");
    FERRY_TRY(ferry_node_text(&sign, &content));
    if (!ferry_view_is(content, " ")) return unsupported(&sign, "' '");
    if (ferry_node_integer(&stop, 0, 0, &count) != FERRY_OK) return FERRY_ERROR_UNSUPPORTED;
    if (ferry_node_integer(&start, 0, 1, &count) != FERRY_OK) return FERRY_ERROR_UNSUPPORTED;
    if (count > 0) text->decoder_blanks = FERRY_BLANKS_FIRST_BLANK;
    return FERRY_OK;
}

static ferry_status read_decoder(ferry_tokenizer_config *text, const ferry_json_node *part, stage *done)
{
    static const struct {
        const char *type;
        stage stage, first, last; /* stages that may precede it */
    } rows[] = {{"Metaspace", STAGE_METASPACE, STAGE_NONE, STAGE_NONE},
                {"Replace", STAGE_REPLACE, STAGE_NONE, STAGE_NONE},
                {"ByteFallback", STAGE_BYTES, STAGE_METASPACE, STAGE_REPLACE},
                {"Fuse", STAGE_FUSE, STAGE_METASPACE, STAGE_BYTES},
                {"Strip", STAGE_STRIP, STAGE_FUSE, STAGE_FUSE}};
    stage next = STAGE_NONE;
    ferry_view scheme;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ferry_node_is(part, rows[i].type) && rows[i].first <= *done && *done <= rows[i].last) next = rows[i].stage;
    *done = next;
    switch (next) {
    case STAGE_METASPACE:
        FERRY_TRY(read_scheme(part, &scheme));
        text->decoder_blanks = ferry_view_is(scheme, "never") ? FERRY_BLANKS_KEEP : FERRY_BLANKS_FIRST_PIECE;
        return FERRY_OK;
    case STAGE_REPLACE: return read_replace(text, part);
    case STAGE_BYTES: text->decoder_bytes = FERRY_BYTES_RUN; return FERRY_OK;
    case STAGE_FUSE: return FERRY_OK;
    case STAGE_STRIP: return read_strip(text, part);
    case STAGE_NONE: break;
    }
    return unsupported(part,
                       "Metaspace, or Replace of '\u2581' by ' ', then ByteFallback, Fuse and Strip or some of them");
}

ferry_status ferry_tokenizer_json_decoder(ferry_tokenizer_json *json)
{
    const ferry_json_node decoder = ferry_node_get(&json->root, "decoder"), list = ferry_node_get(&decoder, "decoders");
    const bool sequence = ferry_node_is(&decoder, "Sequence") && json_array_size(list.value) > 0;
    stage done = STAGE_NONE;
    json->plan->text.decoder_bytes = FERRY_BYTES_NONE;
    if (!sequence) return read_decoder(&json->plan->text, &decoder, &done);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const ferry_json_node part = ferry_node_at(&list, i);
        FERRY_TRY(read_decoder(&json->plan->text, &part, &done));
    }
    return FERRY_OK;
}

/* ---- the model ---- */

static ferry_status check_count(const ferry_tokenizer_json *json, const ferry_json_node *node, size_t count)
{
    if (count <= (size_t)json->piece_count) return FERRY_OK;
    return ferry_fail(json->error, FERRY_ERROR_FORMAT,
                      "%s: '%s': expected at most %d pieces, as the embeddings have, found %zu", node->file,
                      node->path.text, (int)json->piece_count, count);
}

/* All words are known. */
static ferry_status join_words(ferry_tokenizer_json *json, size_t count)
{
    json->word_count = (int32_t)count;
    return ferry_string_table_join(&json->plan->arena, json->pieces, count, &json->words, json->error);
}

/* ---- Unigram ---- */

static ferry_status read_unigram(ferry_tokenizer_json *json, const ferry_json_node *model)
{
    ferry_tokenizer_config *text = &json->plan->text;
    const ferry_json_node vocabulary = ferry_node_get(model, "vocab"), unknown = ferry_node_get(model, "unk_id");
    const size_t count = json_array_size(vocabulary.value);
    if (!json_is_array(vocabulary.value) || count == 0)
        return ferry_node_fail(&vocabulary, FERRY_ERROR_FORMAT, "a list of pieces");
    FERRY_TRY(check_count(json, &vocabulary, count));
    FERRY_TRY(ferry_node_integer(&unknown, 0, (int32_t)count - 1, &text->source_unk_id));
    FERRY_TRY(ferry_node_flag_of(model, "byte_fallback", &text->byte_fallback));
    double *scores = ferry_arena_alloc(&json->plan->arena, (size_t)json->piece_count, sizeof *scores);
    if (scores == NULL) return ferry_fail_memory(json->error, "scores", (size_t)json->piece_count, sizeof *scores);
    for (size_t id = 0; id < count; id++) { /* ["piece", -3.5] */
        const ferry_json_node pair = ferry_node_at(&vocabulary, id);
        const ferry_json_node piece = ferry_node_at(&pair, 0), number = ferry_node_at(&pair, 1);
        if (!json_is_array(pair.value) || json_array_size(pair.value) != 2)
            return ferry_node_fail(&pair, FERRY_ERROR_FORMAT, "a piece and its score");
        FERRY_TRY(ferry_node_text(&piece, &json->pieces[id]));
        if (json->pieces[id].size > FERRY_UNIGRAM_MAX_PIECE)
            return ferry_node_fail(&piece, FERRY_ERROR_UNSUPPORTED, "at most 512 bytes");
        if (!json_is_number(number.value)) return ferry_node_fail(&number, FERRY_ERROR_FORMAT, "a number");
        scores[id] = json_number_value(number.value);
    }
    for (size_t id = count; id < (size_t)json->piece_count; id++) scores[id] = NAN;
    text->scores = scores;
    return join_words(json, count);
}

/* ---- BPE ---- */

static ferry_status read_vocabulary(ferry_tokenizer_json *json, const ferry_json_node *vocabulary)
{
    const char *piece;
    json_t *value;
    const size_t count = json_object_size(vocabulary->value);
    FERRY_TRY(check_count(json, vocabulary, count));
    json_object_foreach ((json_t *)(uintptr_t)vocabulary->value, piece, value) {
        const size_t size = strlen(piece); /* keys have no NUL */
        ferry_json_node node = *vocabulary;
        int32_t id;
        node.value = value;
        node.path = ferry_format("%s.%s", vocabulary->path.text, ferry_printable_view((ferry_view){piece, size}).text);
        FERRY_TRY(ferry_node_integer(&node, 0, (int32_t)count - 1, &id));
        if (json->pieces[id].data != NULL)
            return ferry_node_fail(&node, FERRY_ERROR_FORMAT, "an id that no other piece has");
        json->pieces[id] = (ferry_view){piece, size};
    }
    return join_words(json, count);
}

/* Copies a piece of a pair to *end. */
static ferry_status copy_piece(const ferry_json_node *node, char **end)
{
    ferry_view text;
    FERRY_TRY(ferry_node_text(node, &text));
    if (ferry_view_contains(text, " ")) return ferry_node_fail(node, FERRY_ERROR_UNSUPPORTED, "a text without a blank");
    if (text.size > 0) memcpy(*end, text.data, text.size);
    *end += text.size;
    return FERRY_OK;
}

/* "left right", or ["left", "right"] at *end. */
static ferry_status read_merge(const ferry_json_node *merge, char **end, ferry_view *text)
{
    const ferry_json_node left = ferry_node_at(merge, 0), right = ferry_node_at(merge, 1);
    if (json_is_string(merge->value)) return ferry_node_text(merge, text);
    if (json_array_size(merge->value) != 2) return ferry_node_fail(merge, FERRY_ERROR_FORMAT, "two pieces");
    char *begin = *end;
    FERRY_TRY(copy_piece(&left, end));
    *(*end)++ = ' ';
    FERRY_TRY(copy_piece(&right, end));
    *text = (ferry_view){begin, (size_t)(*end - begin)};
    return FERRY_OK;
}

static ferry_status read_merges(ferry_tokenizer_json *json, const ferry_json_node *list)
{
    ferry_arena *arena = &json->plan->arena;
    const size_t count = json_array_size(list->value);
    const json_t *pair;
    size_t bytes = 1, at;
    if (!json_is_array(list->value)) return ferry_node_fail(list, FERRY_ERROR_FORMAT, "a list");
    if (count > FERRY_BPE_MAX_MERGES)
        return ferry_fail(json->error, FERRY_ERROR_LIMIT, "%s: '%s': expected at most %d merges, found %zu", list->file,
                          list->path.text, (int)FERRY_BPE_MAX_MERGES, count);
    json_array_foreach (list->value, at, pair)
        bytes += json_string_length(json_array_get(pair, 0)) + json_string_length(json_array_get(pair, 1)) + 1;
    ferry_view *merges = ferry_arena_alloc(arena, count + 1, sizeof *merges);
    char *end = ferry_arena_alloc(arena, bytes, 1);
    int32_t kept = 0;
    if (merges == NULL || end == NULL)
        return ferry_fail_memory(json->error, "merges", bytes + count * sizeof *merges, 1);
    for (size_t i = 0; i < count; i++) {
        const ferry_json_node merge = ferry_node_at(list, i);
        const char *version = json_string_value(merge.value);
        if (version != NULL && ferry_text_begins(version, "#version")) continue; /* of the merges */
        FERRY_TRY(read_merge(&merge, &end, &merges[kept++]));
    }
    ferry_tokenizer_config *text = &json->plan->text;
    FERRY_TRY(ferry_string_table_join(arena, merges, (size_t)kept, &text->source_merges, json->error));
    text->target_merges = text->source_merges;
    text->source_merge_count = text->target_merge_count = kept;
    return FERRY_OK;
}

/* Refuses options with which the package drops uncovered text or chooses at random. */
static ferry_status read_choices(ferry_tokenizer_json *json, const ferry_json_node *model)
{
    ferry_tokenizer_config *text = &json->plan->text;
    const ferry_json_node dropout = ferry_node_get(model, "dropout"),
                          prefix = ferry_node_get(model, "continuing_subword_prefix"),
                          end = ferry_node_get(model, "end_of_word_suffix"),
                          unknown = ferry_node_get(model, "unk_token");
    ferry_view piece;
    if (dropout.value != NULL && (!json_is_number(dropout.value) || json_number_value(dropout.value) != 0))
        return ferry_node_fail(&dropout, FERRY_ERROR_UNSUPPORTED, "null or 0");
    if (prefix.value != NULL && (!json_is_string(prefix.value) || json_string_length(prefix.value) > 0))
        return ferry_node_fail(&prefix, FERRY_ERROR_UNSUPPORTED, "null or ''");
    if (end.value != NULL) FERRY_TRY(ferry_node_text(&end, &text->word_end));
    FERRY_TRY(ferry_node_flag_of(model, "fuse_unk", &text->fuse_unknown));
    FERRY_TRY(ferry_node_flag_of(model, "byte_fallback", &text->byte_fallback));
    FERRY_TRY(ferry_node_flag_of(model, "ignore_merges", &text->whole_words));
    if (unknown.value == NULL) return ferry_node_fail(&unknown, FERRY_ERROR_UNSUPPORTED, "a piece");
    FERRY_TRY(ferry_node_text(&unknown, &piece));
    for (int32_t id = 0; id < json->word_count; id++) {
        if (!ferry_view_equal(json->pieces[id], piece)) continue;
        text->source_unk_id = id;
        return FERRY_OK;
    }
    return ferry_node_fail(&unknown, FERRY_ERROR_FORMAT, "a piece of the vocabulary");
}

static ferry_status read_bpe(ferry_tokenizer_json *json, const ferry_json_node *model)
{
    ferry_tokenizer_config *text = &json->plan->text;
    const ferry_json_node vocabulary = ferry_node_get(model, "vocab"), merges = ferry_node_get(model, "merges");
    if (json_object_size(vocabulary.value) == 0)
        return ferry_node_fail(&vocabulary, FERRY_ERROR_FORMAT, "pieces and their ids");
    FERRY_TRY(read_vocabulary(json, &vocabulary));
    FERRY_TRY(read_merges(json, &merges));
    FERRY_TRY(read_choices(json, model));
    text->kind = FERRY_TOKENIZER_BPE;
    /* Creating the merges finds those of missing pieces. */
    ferry_vocabulary words;
    ferry_bpe *bpe;
    FERRY_TRY(ferry_vocabulary_create(json->words, json->word_count, &words, json->error));
    const ferry_bpe_config config = {.kind = FERRY_TOKENIZER_BPE,
                                     .merges = text->source_merges,
                                     .merge_count = (size_t)text->source_merge_count,
                                     .vocabulary = &words,
                                     .unknown = text->source_unk_id,
                                     .word_end = text->word_end,
                                     .fuse_unknown = text->fuse_unknown,
                                     .byte_fallback = text->byte_fallback,
                                     .whole_words = text->whole_words};
    const ferry_status status = ferry_bpe_create(&config, json->root.file, &bpe, json->error);
    ferry_bpe_destroy(bpe);
    ferry_vocabulary_destroy(&words);
    return status;
}

ferry_status ferry_tokenizer_json_model(ferry_tokenizer_json *json)
{
    const ferry_json_node model = ferry_node_get(&json->root, "model"), words = ferry_node_get(&model, "vocab"),
                          merges = ferry_node_get(&model, "merges");
    /* Old files lack the type. */
    const bool untyped = ferry_node_get(&model, "type").value == NULL;
    if (ferry_node_is(&model, "Unigram") || (untyped && json_is_array(words.value))) return read_unigram(json, &model);
    if (ferry_node_is(&model, "BPE") || (untyped && merges.value != NULL)) return read_bpe(json, &model);
    return ferry_node_fail(&model, FERRY_ERROR_UNSUPPORTED, "a model Unigram or BPE");
}
