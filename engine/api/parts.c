#include "parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cuts.h"
#include "seen.h"
#include "tokenizer/sentences.h"

/* Of source tokens: lines of several sentences that have more are split by FERRY_SPLIT_AUTO. docs/decoding.md tells how
 * it was chosen. */
enum { MOST_TOGETHER = 10 };

enum {
    MOST_BYTES = 64,     /* of text for a source token: a line with more is too long, whatever it contains */
    MOST_TEXT = 1 << 20, /* bytes that are tokenized at once, however many tokens a part may have */
    FEW_BYTES = 4,       /* of text for a source token, as a first guess */
    GUESSES = 3          /* of a part's end, before its place is found by halving */
};

void ferry_parts_destroy(ferry_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        free(parts->parts[i].ids.ids);
        free(parts->parts[i].prefix.ids);
        free(parts->parts[i].ranges.ranges);
        ferry_result_line_clear(&parts->parts[i].result);
    }
    free(parts->parts);
    memset(parts, 0, sizeof *parts);
}

ferry_status ferry_parts_add(ferry_parts *parts, ferry_part **part, ferry_error *error)
{
    *part = NULL;
    /* Nearly every line has one. */
    const size_t count = parts->count + 1;
    ferry_part *grown =
        count == 1 ? malloc(sizeof *grown) : ferry_array_grow(parts->parts, &parts->capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "the parts of a line", count * sizeof *grown);
    parts->parts = grown;
    *part = &grown[parts->count++];
    memset(*part, 0, sizeof **part);
    return FERRY_OK;
}

bool ferry_parts_is_long(size_t bytes, size_t limit)
{
    return bytes / MOST_BYTES > limit || bytes > MOST_TEXT;
}

/* ---- splitting ---- */

typedef struct splitter {
    const ferry_translator *translator;
    const atomic_bool *stop;
    ferry_parts *parts;
    ferry_view tag;      /* of the line, for each part */
    ferry_view rest;     /* of the line, after the parts */
    size_t limit;        /* source tokens */
    size_t guess;        /* bytes of the next part */
    size_t sentence;     /* bytes of the rest to the end of its first sentence; 0: not known */
    size_t inside;       /* bytes of the rest in which that does not end */
    ferry_ids trial;     /* ids of the last text that was tried */
    ferry_ranges ranges; /* of these ids, if tokens are wanted */
} splitter;

static ferry_status encode(splitter *s, ferry_view text, bool ranges, ferry_error *error)
{
    const ferry_model *model = s->translator->model;
    return ferry_languages_encode_part(&model->languages, model->tokenizer, s->translator->pair, s->tag, text,
                                       &s->trial, ranges ? &s->ranges : NULL, error);
}

/* Whether the rest's first bytes are short enough for a part. */
static ferry_status try_part(splitter *s, size_t bytes, bool *fits, ferry_error *error)
{
    *fits = false;
    if (atomic_load(s->stop)) return ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled");
    FERRY_TRY(encode(s, (ferry_view){s->rest.data, bytes}, ferry_translator_wants_tokens(s->translator), error));
    *fits = s->trial.count <= s->limit;
    return FERRY_OK;
}

/* Exchanges the ids of the last trial for those of the part. */
static void swap_trial(splitter *s, ferry_part *part)
{
    const ferry_ids ids = s->trial;
    const ferry_ranges ranges = s->ranges;
    s->trial = part->ids;
    s->ranges = part->ranges;
    part->ids = ids;
    part->ranges = ranges;
}

/* Finds the longest part that ends at a cut of this kind before *high; of 0 bytes, if none is short enough. Lowers
 * *high to where the first one is not. */
static ferry_status find_cut(splitter *s, ferry_cut cut, size_t *high, size_t *size, ferry_part *part,
                             ferry_error *error)
{
    size_t guess = s->guess;
    for (int tries = 0;; tries++) {
        bool fits;
        if (tries >= GUESSES || guess <= *size || guess >= *high) guess = *size + (*high - *size) / 2;
        const size_t at = ferry_cut_near(s->rest, *size, *high, guess, cut);
        if (at == *size) return FERRY_OK;
        FERRY_TRY(try_part(s, at, &fits, error));
        guess = at * s->limit / (s->trial.count + 1);
        if (!fits) {
            *high = at;
            continue;
        }
        swap_trial(s, part);
        *size = at;
    }
}

/* How much of the rest may be tokenized at once. */
static size_t most_text(const splitter *s)
{
    const size_t most = s->limit < MOST_TEXT / MOST_BYTES ? s->limit * MOST_BYTES : MOST_TEXT;
    return most < s->rest.size ? most : s->rest.size;
}

/* Finds where the rest's first sentence ends, or where the text does that is tokenized at once: then false. A long
 * sentence is not searched again for each of its parts. */
static bool find_sentence(splitter *s, size_t *end)
{
    const ferry_view window = {s->rest.data, most_text(s)};
    if (s->sentence == 0 && (s->inside < window.size / 2 || window.size == s->rest.size)) {
        *end = ferry_sentence_end(window, 0, s->translator->sentences);
        if (window.size == s->rest.size || !ferry_utf8_is_blank((ferry_view){window.data + *end, window.size - *end}))
            s->sentence = *end;
        else
            s->inside = window.size;
    }
    *end = s->sentence > 0 ? s->sentence : window.size;
    return s->sentence > 0;
}

/* Tries the rest's first bytes, and before, if they are many, the first of them: where those are too many tokens by
 * far, all are. Where a word is cut, its pieces are more than those of the whole word, so that a few do not count.
 * *probe and *tokens: the bytes that were tried first, and their tokens. */
static ferry_status try_text(splitter *s, size_t bytes, size_t *probe, size_t *tokens, bool *fits, ferry_error *error)
{
    *probe = 2 * s->guess < bytes ? 2 * s->guess : bytes;
    while (!ferry_cut_is_at(s->rest, *probe, FERRY_CUT_CHARACTER)) ++*probe;
    FERRY_TRY(try_part(s, *probe, fits, error));
    *tokens = s->trial.count;
    if (*probe >= bytes || *tokens > s->limit + MOST_BYTES) return FERRY_OK;
    return try_part(s, bytes, fits, error);
}

/* Finds the part with which the rest begins: a sentence, else as much of it as is short enough. */
static ferry_status find_part(splitter *s, size_t *size, ferry_part *part, ferry_error *error)
{
    size_t window, probe, tokens;
    bool fits;
    const bool sentence = find_sentence(s, &window);
    const size_t first = sentence || window < 2 * s->guess ? window : 2 * s->guess;
    FERRY_TRY(try_text(s, first, &probe, &tokens, &fits, error));
    if (sentence && fits) {
        *size = window;
        swap_trial(s, part);
        return FERRY_OK;
    }
    part->cut = true;
    size_t high = tokens > s->limit + MOST_BYTES ? probe : window + 1;
    s->guess = probe * s->limit / (tokens + 1);
    if (s->guess > window) s->guess = window;
    *size = 0;
    for (int cut = FERRY_CUT_BLANK; *size == 0 && cut < FERRY_CUTS; cut++)
        FERRY_TRY(find_cut(s, (ferry_cut)cut, &high, size, part, error));
    s->guess = *size;
    if (*size > 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_LIMIT,
                      "one character has %zu source tokens, with those that the model adds; max_source is %zu",
                      s->trial.count, s->limit);
}

/* The rest loses its first bytes. */
static ferry_view take(splitter *s, size_t bytes)
{
    const ferry_view taken = {s->rest.data, bytes};
    s->rest = (ferry_view){s->rest.data + bytes, s->rest.size - bytes};
    s->sentence = s->sentence > bytes ? s->sentence - bytes : 0;
    s->inside = s->inside > bytes ? s->inside - bytes : 0;
    return taken;
}

static ferry_view take_space(splitter *s)
{
    return take(s, ferry_utf8_leading_space(s->rest));
}

static ferry_status split_rest(splitter *s, ferry_error *error)
{
    ferry_part *part;
    take_space(s);
    for (ferry_view gap = {s->rest.data, 0}; s->rest.size > 0; gap = take_space(s)) {
        size_t size;
        FERRY_TRY(ferry_parts_add(s->parts, &part, error));
        part->gap = gap;
        FERRY_TRY(find_part(s, &size, part, error));
        part->text = take(s, size);
    }
    return FERRY_OK;
}

/* Whether sentences follow the line's first one. */
static bool has_several(const splitter *s)
{
    const size_t space = ferry_utf8_leading_space(s->rest);
    if (space == s->rest.size) return false;
    const size_t end = ferry_sentence_end(s->rest, space, s->translator->sentences);
    return !ferry_utf8_is_blank((ferry_view){s->rest.data + end, s->rest.size - end});
}

/* As one part, if it is short enough and not to be split. */
static ferry_status take_whole(splitter *s, bool *fits, ferry_error *error)
{
    const ferry_split split = s->translator->options.split;
    ferry_part *part;
    size_t probe, tokens;
    *fits = false;
    if (ferry_parts_is_long(s->rest.size, s->limit) || (split == FERRY_SPLIT_ALL && has_several(s))) return FERRY_OK;
    FERRY_TRY(try_text(s, s->rest.size, &probe, &tokens, fits, error));
    if (*fits && split == FERRY_SPLIT_AUTO && s->trial.count > MOST_TOGETHER && has_several(s)) *fits = false;
    if (!*fits) return FERRY_OK;
    FERRY_TRY(ferry_parts_add(s->parts, &part, error));
    part->text = s->rest;
    swap_trial(s, part);
    return FERRY_OK;
}

/* ---- what the model sees of a part ---- */

static ferry_status find_unknown(splitter *s, ferry_part *part, ferry_error *error)
{
    FERRY_TRY(encode(s, part->text, true, error));
    for (size_t i = s->trial.count; i-- > 0;) {
        const ferry_range range = s->ranges.ranges[i];
        if (s->trial.ids[i] == s->translator->model->file.text.source_unk_id && range.begin < range.end)
            part->first_unknown = (ferry_view){part->text.data + range.begin, range.end - range.begin};
    }
    return FERRY_OK;
}

/* Beside the ids of an empty text, which are `frame`. Of a text that stays as it is for unknown ids, this is said if it
 * has letters. */
static ferry_status look_at(splitter *s, const ferry_seen *frame, ferry_part *part, ferry_error *error)
{
    const ferry_seen seen = ferry_seen_count(&s->translator->model->file.text, &part->ids);
    const bool nothing = seen.known <= frame->known || ferry_text_sight(part->text) == FERRY_SIGHT_NOTHING;
    part->unknowns = seen.unknown > frame->unknown ? seen.unknown - frame->unknown : 0;
    if (part->unknowns > 0 && !nothing) FERRY_TRY(find_unknown(s, part, error));
    if (!nothing) return FERRY_OK;
    if (part->unknowns > 0 && ferry_text_sight(part->text) == FERRY_SIGHT_LETTER)
        part->quality.flags = FERRY_QUALITY_UNKNOWN;
    if (s->tag.size > 0) part->text = ferry_utf8_trim(part->text);
    part->ids.count = part->ranges.count = 0;
    return FERRY_OK;
}

static ferry_status look_at_all(splitter *s, ferry_error *error)
{
    FERRY_TRY(encode(s, (ferry_view){s->rest.data, 0}, false, error));
    const ferry_seen frame = ferry_seen_count(&s->translator->model->file.text, &s->trial);
    for (size_t i = 0; i < s->parts->count; i++) FERRY_TRY(look_at(s, &frame, &s->parts->parts[i], error));
    return FERRY_OK;
}

ferry_status ferry_parts_split(const ferry_translator *translator, ferry_view line, const atomic_bool *stop,
                               ferry_parts *parts, ferry_error *error)
{
    const size_t limit = (size_t)ferry_translator_source_limit(translator);
    const size_t tag = ferry_tokenizer_tag_size(translator->model->tokenizer, line);
    splitter s = {.translator = translator,
                  .stop = stop,
                  .parts = parts,
                  .rest = line,
                  .limit = limit,
                  .guess = FEW_BYTES * limit};
    bool whole;
    FERRY_TRY(ferry_languages_check_line(&translator->model->languages, translator->model->tokenizer, translator->pair,
                                         line, error));
    s.tag = take(&s, tag);
    ferry_status status = take_whole(&s, &whole, error);
    if (status == FERRY_OK && !whole) status = split_rest(&s, error);
    if (status == FERRY_OK) status = look_at_all(&s, error);
    free(s.trial.ids);
    free(s.ranges.ranges);
    return status;
}

/* ---- joining ---- */

static const ferry_result_hypothesis *hypothesis_of(const ferry_part *part, size_t k)
{
    return &part->result.hypotheses[k < part->result.count ? k : part->result.count - 1];
}

static ferry_status allocate(const ferry_parts *parts, bool aligned, size_t k, ferry_result_hypothesis *joined,
                             ferry_error *error)
{
    size_t text = 1, tokens = 1, weights = 1; /* as malloc(0) may return NULL */
    for (size_t i = 0; i < parts->count; i++) {
        const ferry_result_hypothesis *hypothesis = hypothesis_of(&parts->parts[i], k);
        text += parts->parts[i].gap.size + hypothesis->size;
        tokens += (size_t)hypothesis->length;
        weights += (size_t)hypothesis->length * parts->parts[i].ids.count;
    }
    if (tokens > INT32_MAX) return ferry_fail_memory(error, "the tokens of a line", tokens * sizeof *joined->ids);
    joined->text = malloc(text);
    joined->ids = malloc(tokens * sizeof *joined->ids);
    joined->token_scores = malloc(tokens * sizeof *joined->token_scores);
    if (joined->text == NULL || joined->ids == NULL || joined->token_scores == NULL)
        return ferry_fail_memory(error, "a line in parts", text + tokens * (sizeof(int32_t) + sizeof(float)));
    if (!aligned) return FERRY_OK;
    joined->ranges = malloc(tokens * sizeof *joined->ranges);
    joined->weights = malloc(weights * sizeof *joined->weights);
    joined->blocks = malloc(parts->count * sizeof *joined->blocks);
    if (joined->ranges != NULL && joined->weights != NULL && joined->blocks != NULL) return FERRY_OK;
    return ferry_fail_memory(error, "tokens of a line in parts", weights * sizeof *joined->weights);
}

static void append_text(ferry_result_hypothesis *joined, const char *data, size_t size)
{
    if (size > 0) memcpy(joined->text + joined->size, data, size);
    joined->size += size;
}

/* Ranges and weights of a hypothesis of `part`, whose tokens and text come next, and whose source tokens begin at
 * `first`; *weights: where its weights go, and then those of the next part. */
static void append_tokens(ferry_result_hypothesis *joined, const ferry_part *part, const ferry_result_hypothesis *from,
                          size_t first, float **weights)
{
    const size_t length = (size_t)from->length, source = part->ids.count, begin = (size_t)joined->length;
    for (size_t t = 0; t < length; t++)
        joined->ranges[begin + t] =
            (ferry_range){joined->size + from->ranges[t].begin, joined->size + from->ranges[t].end};
    if (length == 0) return;
    memcpy(*weights, from->weights, length * source * sizeof **weights);
    joined->blocks[joined->block_count++] =
        (ferry_result_block){.end = begin + length, .first = first, .count = source, .weights = *weights};
    *weights += length * source;
}

/* Tokens of the line's prefix that the score does not count. */
static int32_t uncounted(const ferry_parts *parts, const ferry_options *options)
{
    int32_t tokens = 0;
    for (size_t i = 0; i < parts->count; i++)
        tokens += ferry_search_uncounted(options, (int32_t)parts->parts[i].prefix.count);
    return tokens;
}

static ferry_status join_hypotheses(const ferry_parts *parts, const ferry_options *options, size_t k,
                                    ferry_result_hypothesis *joined, ferry_error *error)
{
    const bool aligned = options->alignment != 0;
    double sum = 0;
    float coverage = 0;
    FERRY_TRY(allocate(parts, aligned, k, joined, error));
    float *weights = joined->weights;
    size_t first = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const ferry_part *part = &parts->parts[i];
        const ferry_result_hypothesis *from = hypothesis_of(part, k);
        append_text(joined, part->gap.data, part->gap.size);
        if (aligned) append_tokens(joined, part, from, first, &weights);
        append_text(joined, from->text, from->size);
        joined->text[joined->size] = '\0';
        first += part->ids.count;
        coverage += from->coverage;
        for (int32_t t = 0; t < from->length; t++) {
            sum += (double)from->token_scores[t];
            joined->ids[joined->length] = from->ids[t];
            joined->token_scores[joined->length++] = from->token_scores[t];
        }
    }
    if (options->scores != 0)
        joined->score =
            ferry_decoding_score(options, (float)sum, joined->length - uncounted(parts, options)) + coverage;
    return FERRY_OK;
}

/* The first of the line's parts that failed, or NULL. */
static const ferry_part *failed_part(const ferry_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->parts[i].result.outcome.error != NULL) return &parts->parts[i];
    return NULL;
}

static ferry_name unknowns_of(const ferry_part *part)
{
    const size_t words = part->quality.unknowns;
    if (part->ids.count == 0) return ferry_name_format("is the text itself: the model knows none of its characters");
    const ferry_name source = ferry_name_format("is of a text with unknown tokens: %zu, the first '%s'", part->unknowns,
                                                ferry_printable_view(part->first_unknown).text);
    const ferry_name target =
        ferry_name_format("has unknown words: %zu; --replace-unknowns puts the source's in their place", words);
    if (words == 0) return source;
    return part->unknowns == 0 ? target : ferry_name_format("%s; it %s", source.text, target.text);
}

/* What a warning says about a part's translation; `kind` 0: that it replaces another one. */
static ferry_name words_of(const ferry_part *part, int kind)
{
    const ferry_quality_signs *quality = &part->quality;
    switch (kind) {
    case FERRY_QUALITY_CUT: return ferry_name_format("ended at max_length %d", (int)quality->limit);
    case FERRY_QUALITY_LOOP:
        if (quality->loop.length == 1)
            return ferry_name_format("repeats itself: the same token %zu times in a row", quality->loop.times);
        return ferry_name_format("repeats itself: the same %zu tokens %zu times in a row", quality->loop.length,
                                 quality->loop.times);
    case FERRY_QUALITY_UNKNOWN: return unknowns_of(part);
    case FERRY_QUALITY_SHORT:
        if (quality->blank) return ferry_name_format("is blank");
        return ferry_name_format("has %d tokens, the source %zu", (int)part->result.hypotheses[0].length,
                                 part->ids.count);
    default: return ferry_name_format("replaces one that repeated itself");
    }
}

static bool has(const ferry_part *part, int kind)
{
    return kind != 0 ? (part->quality.flags & kind) != 0 : part->again;
}

/* One warning for all parts of this kind. */
static ferry_status warn_of(const ferry_parts *parts, int kind, ferry_result_line *line, ferry_error *error)
{
    size_t count = 0, first = 0;
    for (size_t i = 0; i < parts->count; i++)
        if (has(&parts->parts[i], kind) && count++ == 0) first = i;
    if (count == 0) return FERRY_OK;
    const ferry_name words = words_of(&parts->parts[first], kind);
    line->outcome.quality |= kind;
    if (parts->count == 1) return ferry_result_line_warn(line, error, "the translation %s", words.text);
    return ferry_result_line_warn(line, error, "the translation of part %zu %s (of all parts: %zu)", first + 1,
                                  words.text, count);
}

/* Whether it has to be said that the line has several parts: nobody asked for them, or sentences are cut. */
static bool is_notable(const ferry_parts *parts, const ferry_translator *translator)
{
    bool cut = translator->options.split == FERRY_SPLIT_NONE;
    for (size_t i = 0; i < parts->count; i++) cut = cut || parts->parts[i].cut;
    return parts->count > 1 && cut;
}

static ferry_status warn(const ferry_parts *parts, const ferry_translator *translator, ferry_result_line *line,
                         ferry_error *error)
{
    static const int kinds[] = {FERRY_QUALITY_CUT, FERRY_QUALITY_LOOP, FERRY_QUALITY_SHORT, FERRY_QUALITY_UNKNOWN, 0};
    size_t tokens = 0;
    for (size_t i = 0; i < parts->count; i++) tokens += parts->parts[i].ids.count;
    if (is_notable(parts, translator))
        FERRY_TRY(ferry_result_line_warn(line, error, "split into %zu parts: %zu source tokens, max_source is %d",
                                         parts->count, tokens, (int)ferry_translator_source_limit(translator)));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) FERRY_TRY(warn_of(parts, kinds[k], line, error));
    return FERRY_OK;
}

ferry_status ferry_parts_join(const ferry_parts *parts, const ferry_translator *translator, ferry_result_line *line,
                              ferry_error *error)
{
    const ferry_part *failed = failed_part(parts);
    if (failed != NULL)
        return ferry_result_line_fail(line, failed->result.outcome.status, failed->result.outcome.error, error);
    FERRY_TRY(warn(parts, translator, line, error));
    if (parts->count == 1) {
        ferry_result_line_move(line, &parts->parts[0].result);
        return FERRY_OK;
    }
    size_t count = 0;
    for (size_t i = 0; i < parts->count; i++)
        if (parts->parts[i].result.count > count) count = parts->parts[i].result.count;
    FERRY_TRY(ferry_result_line_begin(line, count, error));
    for (size_t k = 0; k < count; k++)
        FERRY_TRY(join_hypotheses(parts, &translator->options, k, &line->hypotheses[k], error));
    return FERRY_OK;
}
