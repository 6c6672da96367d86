/* "normalizer", "pre_tokenizer" and "decoder" of tokenizer.json: steps of tokenizer/text_rules.h, and how pieces are
 * joined. */
#include "tokenizer_json.h"

#include <string.h>

#include "tokenizer/tokenizer.h"

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
