#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text_rules_private.h"

/* Unicode's compatibility forms make of a character up to 11 times its bytes, 13 times with "▁" for each blank. */
enum { FLAG_BITS = 3, MAX_TEXT = 1 << 26, MAX_GROWTH = 16, MORE_BYTES = 1 << 16 };

/* ---- a text on its way ---- */

/* Stages: added tokens as they are, normalizers, added tokens in normalized text, the steps that make words, the sink.
 */
typedef struct way {
    const ferry_text_rules *rules;
    size_t last; /* the stage that calls the sink */
    ferry_rule_sink sink;
    void *user;
    ferry_rewriting rewritings[FERRY_RULES_MAX_STEPS + 2]; /* of each stage */
    ferry_error *error;
} way;

static ferry_status go(way *to, size_t stage, const ferry_section *section);

static ferry_status go_slice(way *to, size_t stage, const ferry_section *section, size_t begin, size_t end)
{
    const ferry_section slice = {{section->text.data + begin, end - begin}, section->from + begin};
    return go(to, stage, &slice);
}

static ferry_status emit(way *to, const ferry_section *section, size_t begin, size_t end, int32_t id)
{
    const ferry_rule_word word = {{section->text.data + begin, end - begin}, section->from + begin, id};
    return to->sink(to->user, &word);
}

/* ---- added tokens ---- */

/* The first added token from *begin on, and of those that begin there the longest. */
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

/* The search goes on behind a token, even if that took white space along in which another one begins. */
static ferry_status take_added(way *to, size_t stage, const ferry_byte_trie *trie, const ferry_section *section)
{
    const ferry_view text = section->text;
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
        if (done < start) FERRY_TRY(go_slice(to, stage + 1, section, done, start));
        FERRY_TRY(emit(to, section, start, stop, value >> FLAG_BITS));
        done = stop;
    }
    return go_slice(to, stage + 1, section, done, text.size);
}

/* ---- steps ---- */

static ferry_status split_space(way *to, size_t stage, const ferry_section *section)
{
    const ferry_view text = section->text;
    size_t begin = 0;
    for (size_t at = 0; at < text.size;) {
        const size_t border = at;
        uint32_t character;
        ferry_utf8_next(text, &at, &character);
        if (!ferry_utf8_is_space(character)) continue;
        FERRY_TRY(go_slice(to, stage + 1, section, begin, border));
        begin = at;
    }
    return go_slice(to, stage + 1, section, begin, text.size);
}

/* Each "▁" begins a word. */
static ferry_status split_metaspace(way *to, size_t stage, const ferry_section *section)
{
    static const char blank[] = "\u2581";
    const ferry_view text = section->text;
    size_t begin = 0;
    for (size_t at = 1; at < text.size; at++) {
        if (text.size - at < sizeof blank - 1 || memcmp(text.data + at, blank, sizeof blank - 1) != 0) continue;
        FERRY_TRY(go_slice(to, stage + 1, section, begin, at));
        begin = at;
    }
    return go_slice(to, stage + 1, section, begin, text.size);
}

/* From here on an empty section has nothing to say. */
static ferry_status go(way *to, size_t stage, const ferry_section *section)
{
    const ferry_text_rules *rules = to->rules;
    if (section->text.size == 0) return FERRY_OK;
    if (stage == to->last) return emit(to, section, 0, section->text.size, -1);
    if (stage == 0) return take_added(to, stage, &rules->raw, section);
    if (stage == rules->normalizers + 1) return take_added(to, stage, &rules->normalized, section);
    const ferry_step *step = &rules->steps[stage - (stage <= rules->normalizers ? 1 : 2)];
    if (step->kind == FERRY_STEP_SPLIT_SPACE) return split_space(to, stage, section);
    if (step->kind == FERRY_STEP_SPLIT_METASPACE) return split_metaspace(to, stage, section);
    ferry_rewriting *rewritten = &to->rewritings[stage];
    FERRY_TRY(ferry_step_rewrite(rules, step, section, rewritten, to->error));
    const ferry_section next = {{rewritten->text, rewritten->size}, rewritten->from};
    return go(to, stage + 1, &next);
}

/* From one stage to another. */
static ferry_status run(const ferry_text_rules *rules, size_t first, size_t last, ferry_view text, ferry_rule_sink sink,
                        void *user, ferry_error *error)
{
    if (text.size > MAX_TEXT)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "text: expected at most %d bytes, found %zu", (int)MAX_TEXT,
                          text.size);
    way to = {.rules = rules, .last = last, .sink = sink, .user = user, .error = error};
    ferry_rewriting *repaired = &to.rewritings[0];
    for (size_t i = 0; i < sizeof to.rewritings / sizeof *to.rewritings; i++)
        to.rewritings[i].most = MAX_GROWTH * text.size + MORE_BYTES;
    ferry_status status = ferry_step_repair(text, repaired, error);
    const ferry_section whole = {{repaired->text, repaired->size}, repaired->from};
    if (status == FERRY_OK) status = go(&to, first, &whole);
    for (size_t i = 0; i < sizeof to.rewritings / sizeof *to.rewritings; i++) {
        free(to.rewritings[i].text);
        free(to.rewritings[i].from);
    }
    return status;
}

ferry_status ferry_text_rules_apply(const ferry_text_rules *rules, ferry_view text, ferry_rule_sink sink, void *user,
                                    ferry_error *error)
{
    return run(rules, 0, rules->step_count + 2, text, sink, user, error);
}

typedef struct normalization {
    ferry_string *normal;
    ferry_error *error;
} normalization;

static ferry_status append_word(void *user, const ferry_rule_word *word)
{
    const normalization *to = user;
    return ferry_string_append(to->normal, word->text, to->error);
}

ferry_status ferry_text_rules_normalize(const ferry_text_rules *rules, ferry_view text, ferry_string *normal,
                                        ferry_error *error)
{
    normalization to = {normal, error};
    return run(rules, 1, rules->normalizers + 1, text, append_word, &to, error);
}

/* ---- creation: steps ---- */

static const struct {
    const char *name;
    size_t arguments;
} kinds[FERRY_STEP_KINDS] = {
    [FERRY_STEP_PRECOMPILED] = {"precompiled", 0},
    [FERRY_STEP_REPLACE] = {"replace", 2},
    [FERRY_STEP_REPLACE_BLANKS] = {"replace-blanks", 2},
    [FERRY_STEP_REPLACE_SPACE] = {"replace-space", 2},
    [FERRY_STEP_PREPEND] = {"prepend", 1},
    [FERRY_STEP_STRIP_LEFT] = {"strip-left", 0},
    [FERRY_STEP_STRIP_RIGHT] = {"strip-right", 0},
    [FERRY_STEP_SPLIT_SPACE] = {"split-space", 0},
    [FERRY_STEP_METASPACE] = {"metaspace", 1},
    [FERRY_STEP_SPLIT_METASPACE] = {"split-metaspace", 0},
};

static ferry_status fail_argument(const ferry_step *step, size_t index, const char *expected, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_FORMAT, "tokenizer's step '%s': argument %zu: expected %s, found '%s'",
                      kinds[step->kind].name, index + 1, expected, ferry_printable_view(step->arguments[index]).text);
}

static ferry_status check_arguments(ferry_step *step, ferry_error *error)
{
    const ferry_view first = step->arguments[0];
    for (size_t i = 0; i < kinds[step->kind].arguments; i++)
        if (step->arguments[i].size > FERRY_RULES_MAX_TEXT || !ferry_utf8_is_valid(step->arguments[i]))
            return fail_argument(step, i, "at most 512 bytes of UTF-8", error);
    switch (step->kind) {
    case FERRY_STEP_REPLACE: return first.size > 0 ? FERRY_OK : fail_argument(step, 0, "a text", error);
    case FERRY_STEP_REPLACE_BLANKS:
    case FERRY_STEP_REPLACE_SPACE:
        if (first.size != 1 || first.data[0] < '1' || first.data[0] > '9')
            return fail_argument(step, 0, "1 to 9", error);
        step->least = (size_t)(first.data[0] - '0');
        return FERRY_OK;
    case FERRY_STEP_METASPACE:
        if (ferry_view_is(first, "always") || ferry_view_is(first, "first") || ferry_view_is(first, "never"))
            return FERRY_OK;
        return fail_argument(step, 0, "always, first or never", error);
    default: return FERRY_OK;
    }
}

static ferry_status read_step(const ferry_text_rules_config *config, size_t *at, ferry_step *step, ferry_error *error)
{
    const ferry_view name = ferry_texts_at(config->steps, (*at)++);
    for (step->kind = 0; step->kind < FERRY_STEP_KINDS; step->kind++)
        if (ferry_view_is(name, kinds[step->kind].name)) break;
    if (step->kind == FERRY_STEP_KINDS)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "tokenizer's step '%s' is not supported by this build",
                          ferry_printable_view(name).text);
    const size_t count = kinds[step->kind].arguments;
    if (config->step_count - *at < count)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "tokenizer's step '%s': expected %zu arguments, found %zu",
                          kinds[step->kind].name, count, config->step_count - *at);
    for (size_t i = 0; i < count; i++) step->arguments[i] = ferry_texts_at(config->steps, (*at)++);
    return check_arguments(step, error);
}

static ferry_status read_steps(ferry_text_rules *rules, const ferry_text_rules_config *config, ferry_error *error)
{
    for (size_t at = 0; at < config->step_count;) {
        if (rules->step_count == FERRY_RULES_MAX_STEPS)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "tokenizer: expected at most %d steps, found more",
                              (int)FERRY_RULES_MAX_STEPS);
        ferry_step *step = &rules->steps[rules->step_count++];
        FERRY_TRY(read_step(config, &at, step, error));
        if (step->kind >= FERRY_STEP_SPLIT_SPACE) continue;
        if (++rules->normalizers < rules->step_count)
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "tokenizer's step '%s': expected before the steps that make words, found behind one",
                              kinds[step->kind].name);
        if (step->kind == FERRY_STEP_PRECOMPILED && config->charsmap.size == 0)
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "tokenizer's step 'precompiled': the table of rules is missing");
    }
    return FERRY_OK;
}

/* ---- creation: added tokens ---- */

/* The text of an added token as it is looked for, at the end of *texts. */
static ferry_status append_added(const ferry_text_rules *rules, ferry_view text, bool normalized, ferry_string *texts,
                                 ferry_error *error)
{
    if (!normalized) return ferry_string_append(texts, text, error);
    const size_t begin = texts->size;
    FERRY_TRY(ferry_text_rules_normalize(rules, text, texts, error));
    if (texts->size - begin > FERRY_RULES_MAX_TEXT || texts->size == begin)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "added token '%s': expected 1 to %d bytes after normalization, found %zu",
                          ferry_printable_view(text).text, (int)FERRY_RULES_MAX_TEXT, texts->size - begin);
    return FERRY_OK;
}

/* `entries` and `ends` [added_count]. */
static ferry_status list_added(const ferry_text_rules *rules, const ferry_text_rules_config *config, bool normalized,
                               ferry_byte_entry *entries, size_t *ends, ferry_string *texts, size_t *count,
                               ferry_error *error)
{
    for (size_t i = 0; i < config->added_count; i++) {
        const int32_t id = config->added_ids[i], flags = config->added_flags[i];
        if (id < 0 || id >= config->piece_count || flags < 0 || flags > FERRY_ADDED_FLAGS)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "added token %zu: expected an id below %d and flags to %d", i,
                              (int)config->piece_count, (int)FERRY_ADDED_FLAGS);
        const ferry_view text = ferry_texts_at(config->pieces, (size_t)id);
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
    ferry_string texts = {0};
    size_t count = 0;
    ferry_byte_entry *entries = calloc(config->added_count + 1, sizeof *entries);
    size_t *ends = calloc(config->added_count + 1, sizeof *ends);
    ferry_status status = entries != NULL && ends != NULL
                              ? list_added(rules, config, normalized, entries, ends, &texts, &count, error)
                              : ferry_fail_memory(error, "added tokens", config->added_count * sizeof *entries);
    if (status == FERRY_OK) status = ferry_byte_trie_create(entries, count, trie, error);
    free(texts.data);
    free(ends);
    free(entries);
    return status;
}

static ferry_status fill(ferry_text_rules *rules, const ferry_text_rules_config *config, ferry_error *error)
{
    FERRY_TRY(read_steps(rules, config, error));
    FERRY_TRY(ferry_charsmap_create(config->charsmap, "tokenizer", &rules->charsmap, error));
    FERRY_TRY(create_trie(rules, config, false, &rules->raw, error));
    return create_trie(rules, config, true, &rules->normalized, error);
}

ferry_status ferry_text_rules_create(const ferry_text_rules_config *config, ferry_text_rules **rules,
                                     ferry_error *error)
{
    *rules = calloc(1, sizeof **rules);
    if (*rules == NULL) return ferry_fail_memory(error, "a tokenizer", sizeof **rules);
    const ferry_status status = fill(*rules, config, error);
    if (status == FERRY_OK) return FERRY_OK;
    ferry_text_rules_destroy(*rules);
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
