#include "text_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "pieces.h"
#include "sentencepiece_check.h"
#include "tokenizer_config.h"
#include "unicode.h"

/* Unicode's compatibility forms grow a character to at most 11 times its bytes, to 13 times with "▁" for blanks. */
enum { FLAG_BITS = 3, MAX_TEXT = 1 << 26, MAX_GROWTH = 16, MORE_BYTES = 1 << 16, MAX_GRAPHEME = 6 };

/* Normalizers first, then the steps that make words, from SPLIT_SPACE on. */
typedef enum step_kind {
    PRECOMPILED,
    REPLACE,
    REPLACE_BLANKS,
    REPLACE_SPACE,
    PREPEND,
    STRIP_LEFT,
    STRIP_RIGHT,
    SPLIT_SPACE,
    ADD_METASPACE,
    SPLIT_METASPACE,
    STEP_KINDS
} step_kind;

typedef struct step {
    step_kind kind;
    ferry_view arguments[2];
    size_t min; /* REPLACE_BLANKS and REPLACE_SPACE: shorter runs are not replaced */
} step;

struct ferry_text_rules {
    step steps[FERRY_RULES_MAX_STEPS];
    size_t step_count, normalizers; /* the first `normalizers` steps normalize */
    ferry_charsmap charsmap;
    /* Added tokens that are searched in the original and in the normalized text; values are id << FLAG_BITS | flags. */
    ferry_byte_trie raw, normalized;
};

/* A part of the text at some stage. */
typedef struct section {
    ferry_view text;
    const uint32_t *from; /* [text.size + 1] offsets in the original text */
} section;

/* The result of a stage for a section. */
typedef struct rewriting {
    const ferry_text_rules *rules;
    char *text;
    uint32_t *from;
    size_t size, text_capacity, from_capacity;
    size_t max; /* limit of `size` */
    ferry_error *error;
} rewriting;

/* ---- steps that rewrite a section ---- */

static ferry_status reserve(rewriting *to, size_t extra)
{
    const size_t size = to->size + extra;
    if (size > to->max)
        return ferry_fail(to->error, FERRY_ERROR_LIMIT,
                          "text: expected at most %zu bytes after normalization, found more", to->max);
    char *text = ferry_array_grow(to->text, &to->text_capacity, size + 1, 1);
    if (text != NULL) to->text = text;
    uint32_t *from = ferry_array_grow(to->from, &to->from_capacity, size + 1, sizeof *from);
    if (from != NULL) to->from = from;
    return text != NULL && from != NULL ? FERRY_OK : ferry_fail_memory(to->error, "tokenizing", size, sizeof *from);
}

/* Appends `text`, which stands for the original text at `offset`. */
static ferry_status put(rewriting *to, ferry_view text, uint32_t offset)
{
    FERRY_TRY(reserve(to, text.size));
    if (text.size > 0) memcpy(to->text + to->size, text.data, text.size);
    for (size_t i = 0; i < text.size; i++) to->from[to->size++] = offset;
    return FERRY_OK;
}

static ferry_status copy(rewriting *to, const section *in, size_t begin, size_t end)
{
    const size_t size = end - begin;
    FERRY_TRY(reserve(to, size));
    if (size == 0) return FERRY_OK;
    memcpy(to->text + to->size, in->text.data + begin, size);
    memcpy(to->from + to->size, in->from + begin, size * sizeof *to->from);
    to->size += size;
    return FERRY_OK;
}

/* Replaces a grapheme of less than MAX_GRAPHEME bytes as a whole if a rule matches its beginning; otherwise replaces
 * each of its characters that a rule matches. */
static ferry_status put_grapheme(const section *in, size_t begin, size_t end, rewriting *to)
{
    const ferry_charsmap *rules = &to->rules->charsmap;
    const ferry_view text = {in->text.data, end};
    ferry_view replacement;
    if (end - begin < MAX_GRAPHEME &&
        ferry_charsmap_find(rules, (ferry_view){text.data + begin, end - begin}, &replacement))
        return put(to, replacement, in->from[begin]);
    for (size_t at = begin, first; at < end;) {
        first = at;
        ferry_unicode_next(text, &at);
        if (ferry_charsmap_find(rules, (ferry_view){text.data + first, at - first}, &replacement))
            FERRY_TRY(put(to, replacement, in->from[first]));
        else
            FERRY_TRY(copy(to, in, first, at));
    }
    return FERRY_OK;
}

static ferry_status put_precompiled(const step *how, const section *in, rewriting *to)
{
    int32_t state = 0;
    uint32_t last = 0;
    size_t begin = 0;
    (void)how;
    for (size_t at = 0; at < in->text.size;) {
        const size_t border = at;
        const uint32_t character = ferry_unicode_next(in->text, &at);
        if (border > 0 && ferry_unicode_breaks(last, character, &state)) {
            FERRY_TRY(put_grapheme(in, begin, border, to));
            begin = border;
        }
        last = character;
    }
    FERRY_TRY(put_grapheme(in, begin, in->text.size, to));
    /* Characters removed at the beginning count as part of the first that is kept: "first" of a Metaspace asks whether
     * that one begins the text. */
    const uint32_t first = to->size > 0 ? to->from[0] : 0;
    for (size_t i = 0; i < to->size && to->from[i] == first; i++) to->from[i] = in->from[0];
    return FERRY_OK;
}

static ferry_status put_replaced(const step *how, const section *in, rewriting *to)
{
    const ferry_view text = in->text, pattern = how->arguments[0];
    size_t begin = 0;
    for (size_t at = 0; at + pattern.size <= text.size;) {
        if (memcmp(text.data + at, pattern.data, pattern.size) != 0) {
            at++;
            continue;
        }
        FERRY_TRY(copy(to, in, begin, at));
        FERRY_TRY(put(to, how->arguments[1], in->from[at]));
        begin = at += pattern.size;
    }
    return copy(to, in, begin, text.size);
}

/* Replaces runs of at least how->min blanks, or characters of white space. */
static ferry_status put_runs(const step *how, const section *in, rewriting *to)
{
    const ferry_view text = in->text;
    size_t begin = 0, run = 0; /* the current run: its offset and its characters */
    for (size_t at = 0, next = 0; at <= text.size; at = next) {
        const uint32_t character = at < text.size ? ferry_unicode_next(text, &next) : 0;
        if (how->kind == REPLACE_SPACE ? ferry_utf8_is_space(character) : character == ' ') {
            run++;
            continue;
        }
        if (run >= how->min)
            FERRY_TRY(put(to, how->arguments[1], in->from[begin]));
        else
            FERRY_TRY(copy(to, in, begin, at));
        if (at == text.size) break;
        FERRY_TRY(copy(to, in, at, next));
        begin = next;
        run = 0;
    }
    return FERRY_OK;
}

static ferry_status put_prepended(const step *how, const section *in, rewriting *to)
{
    FERRY_TRY(put(to, how->arguments[0], in->from[0]));
    return copy(to, in, 0, in->text.size);
}

static ferry_status put_metaspace(const step *how, const section *in, rewriting *to)
{
    const ferry_view metaspace = ferry_text_view(FERRY_PIECE_BLANK), text = in->text, scheme = how->arguments[0];
    const step blanks = {.arguments = {ferry_text_view(" "), metaspace}};
    const bool starts =
        text.data[0] == ' ' || (text.size >= metaspace.size && memcmp(text.data, metaspace.data, metaspace.size) == 0);
    const bool wanted = ferry_view_is(scheme, "always") || (ferry_view_is(scheme, "first") && in->from[0] == 0);
    if (wanted && !starts) FERRY_TRY(put(to, metaspace, in->from[0]));
    return put_replaced(&blanks, in, to);
}

static ferry_status put_stripped(const step *how, const section *in, rewriting *to)
{
    const ferry_view text = in->text, trimmed = ferry_utf8_trim(text);
    const size_t begin = (size_t)(trimmed.data - text.data), end = trimmed.size > 0 ? begin + trimmed.size : 0;
    return how->kind == STRIP_LEFT ? copy(to, in, begin, text.size) : copy(to, in, 0, end);
}

static const struct {
    const char *name;
    size_t arguments;
    ferry_status (*rewrite)(const step *how, const section *in, rewriting *to); /* NULL: it splits */
} kinds[STEP_KINDS] = {
    [PRECOMPILED] = {"precompiled", 0, put_precompiled}, [REPLACE] = {"replace", 2, put_replaced},
    [REPLACE_BLANKS] = {"replace-blanks", 2, put_runs},  [REPLACE_SPACE] = {"replace-space", 2, put_runs},
    [PREPEND] = {"prepend", 1, put_prepended},           [STRIP_LEFT] = {"strip-left", 0, put_stripped},
    [STRIP_RIGHT] = {"strip-right", 0, put_stripped},    [SPLIT_SPACE] = {"split-space", 0, NULL},
    [ADD_METASPACE] = {"metaspace", 1, put_metaspace},   [SPLIT_METASPACE] = {"split-metaspace", 0, NULL},
};

/* ---- the stages of a text ----
 *
 * Added tokens of the original text, normalizers, added tokens of the normalized text, steps that make words, sink. */

typedef struct path {
    const ferry_text_rules *rules;
    size_t last; /* the stage that calls the sink */
    ferry_rule_sink sink;
    void *user;
    rewriting rewritings[FERRY_RULES_MAX_STEPS + 2]; /* by stage */
} path;

static ferry_status run_stage(path *p, size_t stage, const section *in);

static ferry_status run_slice(path *p, size_t stage, const section *in, size_t begin, size_t end)
{
    return run_stage(p, stage, &(section){{in->text.data + begin, end - begin}, in->from + begin});
}

static ferry_status emit(const path *p, const section *in, size_t begin, size_t end, int32_t id)
{
    const ferry_rule_word word = {{in->text.data + begin, end - begin}, in->from + begin, id};
    return p->sink(p->user, &word);
}

/* Finds the first added token at or after *begin; if several begin there, the longest. */
static bool find_added(const ferry_byte_trie *trie, ferry_view text, size_t *begin, size_t *end, int32_t *value)
{
    for (; *begin < text.size; ++*begin) {
        uint32_t node = 0;
        *value = -1;
        for (size_t at = *begin; at < text.size;) {
            node = ferry_byte_trie_child(trie, node, (uint8_t)text.data[at++]);
            if (node == 0) break;
            if (trie->nodes[node].value < 0) continue;
            *value = trie->nodes[node].value;
            *end = at;
        }
        if (*value >= 0) return true;
    }
    return false;
}

/* Emits the added tokens, and runs the next stage on the text between them. The search continues right after a token,
 * even if another token begins in white space that the token has taken (FERRY_ADDED_RSTRIP). */
static ferry_status take_added(path *p, size_t stage, const ferry_byte_trie *trie, const section *in)
{
    const ferry_view text = in->text;
    size_t done = 0, at = 0, end = 0;
    int32_t value;
    for (; trie->node_count > 1 && find_added(trie, text, &at, &end, &value); at = end) {
        size_t start = at, stop = end;
        if ((value & FERRY_ADDED_LSTRIP) != 0) {
            uint32_t character;
            for (size_t left = start; start > done; start = left)
                if (!ferry_utf8_previous(text, &left, &character) || !ferry_utf8_is_space(character)) break;
            if (start < done) start = done;
        }
        if ((value & FERRY_ADDED_RSTRIP) != 0)
            stop += ferry_utf8_leading_space((ferry_view){text.data + stop, text.size - stop});
        if (stop < start) stop = start;
        if (done < start) FERRY_TRY(run_slice(p, stage + 1, in, done, start));
        FERRY_TRY(emit(p, in, start, stop, value >> FLAG_BITS));
        done = stop;
    }
    return run_slice(p, stage + 1, in, done, text.size);
}

/* Splits at white space, which is removed, or before each "▁". */
static ferry_status split(path *p, size_t stage, bool at_space, const section *in)
{
    const uint32_t metaspace = U'\u2581';
    size_t begin = 0;
    for (size_t at = 0; at < in->text.size;) {
        const size_t border = at;
        const uint32_t character = ferry_unicode_next(in->text, &at);
        if (at_space ? !ferry_utf8_is_space(character) : character != metaspace) continue;
        FERRY_TRY(run_slice(p, stage + 1, in, begin, border));
        begin = at_space ? at : border;
    }
    return run_slice(p, stage + 1, in, begin, in->text.size);
}

static ferry_status run_stage(path *p, size_t stage, const section *in)
{
    const ferry_text_rules *rules = p->rules;
    if (in->text.size == 0) return FERRY_OK; /* it yields no word */
    if (stage == p->last) return emit(p, in, 0, in->text.size, -1);
    if (stage == 0) return take_added(p, stage, &rules->raw, in);
    if (stage == rules->normalizers + 1) return take_added(p, stage, &rules->normalized, in);
    const step *how = &rules->steps[stage - (stage <= rules->normalizers ? 1 : 2)];
    if (kinds[how->kind].rewrite == NULL) return split(p, stage, how->kind == SPLIT_SPACE, in);
    rewriting *to = &p->rewritings[stage];
    to->size = 0;
    FERRY_TRY(reserve(to, in->text.size));
    FERRY_TRY(kinds[how->kind].rewrite(how, in, to));
    to->from[to->size] = in->from[in->text.size];
    return run_stage(p, stage + 1, &(section){{to->text, to->size}, to->from});
}

/* Runs stages first … last - 1 on `text`; `sink` receives the results. */
static ferry_status run(const ferry_text_rules *rules, size_t first, size_t last, ferry_view text, ferry_rule_sink sink,
                        void *user, ferry_error *error)
{
    enum { REWRITINGS = FERRY_RULES_MAX_STEPS + 2 };
    if (text.size > MAX_TEXT)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "text: expected at most %d bytes, found %zu", (int)MAX_TEXT,
                          text.size);
    path p = {.rules = rules, .last = last, .sink = sink, .user = user};
    for (size_t i = 0; i < REWRITINGS; i++)
        p.rewritings[i] = (rewriting){.rules = rules, .max = MAX_GROWTH * text.size + MORE_BYTES, .error = error};
    rewriting *repaired = &p.rewritings[0];
    ferry_status status = reserve(repaired, text.size);
    for (size_t at = 0, begin; status == FERRY_OK && at < text.size;) {
        begin = at;
        const bool replaced = ferry_unicode_next(text, &at) == 0xFFFD;
        status = put(repaired, replaced ? ferry_text_view("\uFFFD") : (ferry_view){text.data + begin, at - begin},
                     (uint32_t)begin);
    }
    if (status == FERRY_OK) {
        repaired->from[repaired->size] = (uint32_t)text.size;
        status = run_stage(&p, first, &(section){{repaired->text, repaired->size}, repaired->from});
    }
    for (size_t i = 0; i < REWRITINGS; i++) {
        free(p.rewritings[i].text);
        free(p.rewritings[i].from);
    }
    return status;
}

ferry_status ferry_text_rules_apply(const ferry_text_rules *rules, ferry_view text, ferry_rule_sink sink, void *user,
                                    ferry_error *error)
{
    return run(rules, 0, rules->step_count + 2, text, sink, user, error);
}

typedef struct normalization {
    ferry_buffer *normal;
    ferry_error *error;
} normalization;

static ferry_status append_word(void *user, const ferry_rule_word *word)
{
    const normalization *to = user;
    return ferry_buffer_append(to->normal, word->text, to->error);
}

ferry_status ferry_text_rules_normalize(const ferry_text_rules *rules, ferry_view text, ferry_buffer *normal,
                                        ferry_error *error)
{
    normalization to = {normal, error};
    return run(rules, 1, rules->normalizers + 1, text, append_word, &to, error);
}

/* ---- creation: steps ---- */

static ferry_status fail_argument(const step *made, size_t index, const char *expected, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_FORMAT, "tokenizer's step '%s': argument %zu: expected %s, found '%s'",
                      kinds[made->kind].name, index + 1, expected, ferry_printable_view(made->arguments[index]).text);
}

static ferry_status check_arguments(step *made, ferry_error *error)
{
    const ferry_view first = made->arguments[0];
    for (size_t i = 0; i < kinds[made->kind].arguments; i++)
        if (made->arguments[i].size > FERRY_RULES_MAX_TEXT || !ferry_utf8_is_valid(made->arguments[i]))
            return fail_argument(made, i, "at most 512 bytes of UTF-8", error);
    switch (made->kind) {
    case REPLACE: return first.size > 0 ? FERRY_OK : fail_argument(made, 0, "a text", error);
    case REPLACE_BLANKS:
    case REPLACE_SPACE:
        if (first.size != 1 || first.data[0] < '1' || first.data[0] > '9')
            return fail_argument(made, 0, "1 to 9", error);
        made->min = (size_t)(first.data[0] - '0');
        return FERRY_OK;
    case ADD_METASPACE:
        if (ferry_view_is(first, "always") || ferry_view_is(first, "first") || ferry_view_is(first, "never"))
            return FERRY_OK;
        return fail_argument(made, 0, "always, first or never", error);
    default: return FERRY_OK;
    }
}

static ferry_status read_steps(ferry_text_rules *rules, const ferry_text_rules_config *config, ferry_error *error)
{
    for (size_t at = 0; at < config->step_count;) {
        if (rules->step_count == FERRY_RULES_MAX_STEPS)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "tokenizer: expected at most %d steps, found more",
                              (int)FERRY_RULES_MAX_STEPS);
        step *made = &rules->steps[rules->step_count++];
        const ferry_view name = ferry_string_table_at(config->steps, at++);
        for (made->kind = 0; made->kind < STEP_KINDS; made->kind++)
            if (ferry_view_is(name, kinds[made->kind].name)) break;
        if (made->kind == STEP_KINDS)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "tokenizer's step '%s' is not supported by this build",
                              ferry_printable_view(name).text);
        const size_t count = kinds[made->kind].arguments;
        if (config->step_count - at < count)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "tokenizer's step '%s': expected %zu arguments, found %zu",
                              kinds[made->kind].name, count, config->step_count - at);
        for (size_t i = 0; i < count; i++) made->arguments[i] = ferry_string_table_at(config->steps, at++);
        FERRY_TRY(check_arguments(made, error));
        if (made->kind >= SPLIT_SPACE) continue;
        if (++rules->normalizers < rules->step_count)
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "tokenizer's step '%s': expected before the steps that make words, found behind one",
                              kinds[made->kind].name);
        if (made->kind == PRECOMPILED && config->charsmap.size == 0)
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "tokenizer's step 'precompiled': the table of rules is missing");
    }
    return FERRY_OK;
}

/* ---- creation: added tokens ---- */

/* Appends the text of an added token, normalized if it is searched in normalized text. */
static ferry_status append_added(const ferry_text_rules *rules, ferry_view text, bool normalized, ferry_buffer *texts,
                                 ferry_error *error)
{
    if (!normalized) return ferry_buffer_append(texts, text, error);
    const size_t begin = texts->size;
    FERRY_TRY(ferry_text_rules_normalize(rules, text, texts, error));
    if (texts->size - begin > FERRY_RULES_MAX_TEXT || texts->size == begin)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "added token '%s': expected 1 to %d bytes after normalization, found %zu",
                          ferry_printable_view(text).text, (int)FERRY_RULES_MAX_TEXT, texts->size - begin);
    return FERRY_OK;
}

/* Lists the added tokens that are `normalized` or not: entries [*count], their bytes in *texts, and the ends there. */
static ferry_status list_added(const ferry_text_rules *rules, const ferry_text_rules_config *config, bool normalized,
                               ferry_byte_entry *entries, size_t *ends, ferry_buffer *texts, size_t *count,
                               ferry_error *error)
{
    for (size_t i = 0; i < config->added_count; i++) {
        const int32_t id = config->added_ids[i], flags = config->added_flags[i];
        if (id < 0 || id >= config->piece_count || flags < 0 || flags > FERRY_ADDED_FLAGS)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "added token %zu: expected an id below %d and flags to %d", i,
                              (int)config->piece_count, (int)FERRY_ADDED_FLAGS);
        const ferry_view text = ferry_string_table_at(config->pieces, (size_t)id);
        if (text.size > FERRY_RULES_MAX_TEXT || !ferry_utf8_is_valid(text))
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "added token '%s': expected at most %d bytes of UTF-8",
                              ferry_printable_view(text).text, (int)FERRY_RULES_MAX_TEXT);
        if (text.size == 0 || ((flags & FERRY_ADDED_NORMALIZED) != 0) != normalized) continue;
        FERRY_TRY(append_added(rules, text, normalized, texts, error));
        entries[*count].value = id << FLAG_BITS | flags;
        ends[(*count)++] = texts->size;
    }
    for (size_t i = 0, begin = 0; i < *count; begin = ends[i++])
        entries[i].text = (ferry_view){texts->data + begin, ends[i] - begin};
    return FERRY_OK;
}

static ferry_status create_trie(const ferry_text_rules *rules, const ferry_text_rules_config *config, bool normalized,
                                ferry_byte_trie *trie, ferry_error *error)
{
    ferry_buffer texts = {0};
    size_t count = 0;
    ferry_byte_entry *entries = calloc(config->added_count + 1, sizeof *entries);
    size_t *ends = calloc(config->added_count + 1, sizeof *ends);
    ferry_status status = entries != NULL && ends != NULL
                              ? list_added(rules, config, normalized, entries, ends, &texts, &count, error)
                              : ferry_fail_memory(error, "added tokens", config->added_count, sizeof *entries);
    if (status == FERRY_OK) status = ferry_byte_trie_create(entries, count, trie, error);
    free(texts.data);
    free(ends);
    free(entries);
    return status;
}

ferry_status ferry_text_rules_create(const ferry_text_rules_config *config, ferry_text_rules **rules,
                                     ferry_error *error)
{
    ferry_text_rules *made = *rules = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a tokenizer", 1, sizeof *made);
    ferry_status status = read_steps(made, config, error);
    if (status == FERRY_OK) status = ferry_charsmap_create(config->charsmap, "tokenizer", &made->charsmap, error);
    if (status == FERRY_OK) status = create_trie(made, config, false, &made->raw, error);
    if (status == FERRY_OK) status = create_trie(made, config, true, &made->normalized, error);
    if (status == FERRY_OK) return FERRY_OK;
    ferry_text_rules_destroy(made);
    *rules = NULL;
    return status;
}

void ferry_text_rules_destroy(ferry_text_rules *rules)
{
    if (rules == NULL) return;
    ferry_charsmap_destroy(&rules->charsmap);
    ferry_byte_trie_destroy(&rules->raw);
    ferry_byte_trie_destroy(&rules->normalized);
    free(rules);
}
