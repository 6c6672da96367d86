/* The steps that rewrite a section of a text. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text_rules_private.h"
#include "unicode.h"

enum { MAX_GRAPHEME = 6 };

static const ferry_view metaspace = {"\u2581", sizeof "\u2581" - 1};

static ferry_status reserve(ferry_rewriting *to, size_t extra, ferry_error *error)
{
    const size_t size = to->size + extra;
    if (size > to->most)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "text: expected at most %zu bytes after normalization, found more",
                          to->most);
    char *text = ferry_array_grow(to->text, &to->text_capacity, size + 1, 1);
    if (text != NULL) to->text = text;
    uint32_t *from = ferry_array_grow(to->from, &to->from_capacity, size + 1, sizeof *from);
    if (from != NULL) to->from = from;
    return text != NULL && from != NULL ? FERRY_OK : ferry_fail_memory(error, "tokenizing", size * sizeof *from);
}

/* `text` in place of what begins at `place`. */
static ferry_status put(ferry_rewriting *to, ferry_view text, uint32_t place, ferry_error *error)
{
    FERRY_TRY(reserve(to, text.size, error));
    if (text.size > 0) memcpy(to->text + to->size, text.data, text.size);
    for (size_t i = 0; i < text.size; i++) to->from[to->size++] = place;
    return FERRY_OK;
}

static ferry_status copy(ferry_rewriting *to, const ferry_section *section, size_t begin, size_t end,
                         ferry_error *error)
{
    const size_t size = end - begin;
    FERRY_TRY(reserve(to, size, error));
    if (size == 0) return FERRY_OK;
    memcpy(to->text + to->size, section->text.data + begin, size);
    memcpy(to->from + to->size, section->from + begin, size * sizeof *to->from);
    to->size += size;
    return FERRY_OK;
}

ferry_status ferry_step_repair(ferry_view text, ferry_rewriting *to, ferry_error *error)
{
    uint32_t character;
    to->size = 0;
    FERRY_TRY(reserve(to, text.size, error));
    for (size_t at = 0; at < text.size;) {
        const size_t begin = at;
        const bool valid = ferry_utf8_next(text, &at, &character);
        if (!valid) at = begin + 1;
        const ferry_view bytes = valid ? (ferry_view){text.data + begin, at - begin} : ferry_text_view("\uFFFD");
        FERRY_TRY(put(to, bytes, (uint32_t)begin, error));
    }
    to->from[to->size] = (uint32_t)text.size;
    return FERRY_OK;
}

/* ---- precompiled ---- */

static ferry_status put_part(const ferry_text_rules *rules, const ferry_section *section, size_t begin, size_t end,
                             ferry_rewriting *to, bool *replaced, ferry_error *error)
{
    ferry_view replacement;
    *replaced =
        ferry_charsmap_find(&rules->charsmap, (ferry_view){section->text.data + begin, end - begin}, &replacement);
    return *replaced ? put(to, replacement, section->from[begin], error) : FERRY_OK;
}

/* A short grapheme as a whole if a rule fits its beginning, otherwise each of its characters. */
static ferry_status put_grapheme(const ferry_text_rules *rules, const ferry_section *section, size_t begin, size_t end,
                                 ferry_rewriting *to, ferry_error *error)
{
    const ferry_view text = {section->text.data, end};
    uint32_t character;
    bool replaced = false;
    if (end - begin < MAX_GRAPHEME) FERRY_TRY(put_part(rules, section, begin, end, to, &replaced, error));
    for (size_t at = begin; !replaced && at < end;) {
        const size_t first = at;
        bool known;
        ferry_utf8_next(text, &at, &character);
        FERRY_TRY(put_part(rules, section, first, at, to, &known, error));
        if (!known) FERRY_TRY(copy(to, section, first, at, error));
    }
    return FERRY_OK;
}

static ferry_status put_precompiled(const ferry_text_rules *rules, const ferry_section *section, ferry_rewriting *to,
                                    ferry_error *error)
{
    const ferry_view text = section->text;
    int32_t state = 0;
    uint32_t last = 0, character;
    size_t begin = 0;
    for (size_t at = 0; at < text.size;) {
        const size_t border = at;
        ferry_utf8_next(text, &at, &character);
        if (border > 0 && ferry_unicode_breaks(last, character, &state)) {
            FERRY_TRY(put_grapheme(rules, section, begin, border, to, error));
            begin = border;
        }
        last = character;
    }
    FERRY_TRY(put_grapheme(rules, section, begin, text.size, to, error));
    /* Characters that are removed at the beginning count as part of the first that is not (a Metaspace's "first" asks
     * whether that is the text's first). */
    const uint32_t first = to->size > 0 ? to->from[0] : 0;
    for (size_t i = 0; i < to->size && to->from[i] == first; i++) to->from[i] = section->from[0];
    return FERRY_OK;
}

/* ---- replacing ---- */

static ferry_status put_replaced(const ferry_step *step, const ferry_section *section, ferry_rewriting *to,
                                 ferry_error *error)
{
    const ferry_view text = section->text, pattern = step->arguments[0];
    size_t begin = 0;
    for (size_t at = 0; at + pattern.size <= text.size;) {
        if (memcmp(text.data + at, pattern.data, pattern.size) != 0) {
            at++;
            continue;
        }
        FERRY_TRY(copy(to, section, begin, at, error));
        FERRY_TRY(put(to, step->arguments[1], section->from[at], error));
        begin = at += pattern.size;
    }
    return copy(to, section, begin, text.size, error);
}

/* Runs of blanks, or of white space, that have at least so many characters. */
static ferry_status put_runs(const ferry_step *step, const ferry_section *section, ferry_rewriting *to,
                             ferry_error *error)
{
    const ferry_view text = section->text;
    size_t begin = 0, run = 0; /* the run has so many characters, and begins at `begin` */
    for (size_t at = 0, next = 0; at <= text.size; at = next) {
        uint32_t character = 0;
        if (at < text.size) ferry_utf8_next(text, &next, &character);
        const bool white = step->kind == FERRY_STEP_REPLACE_SPACE ? ferry_utf8_is_space(character) : character == ' ';
        if (at < text.size && white) {
            run++;
            continue;
        }
        if (run >= step->least)
            FERRY_TRY(put(to, step->arguments[1], section->from[begin], error));
        else
            FERRY_TRY(copy(to, section, begin, at, error));
        if (at == text.size) break;
        FERRY_TRY(copy(to, section, at, next, error));
        begin = next;
        run = 0;
    }
    return FERRY_OK;
}

static ferry_status put_prepended(const ferry_step *step, const ferry_section *section, ferry_rewriting *to,
                                  ferry_error *error)
{
    FERRY_TRY(put(to, step->arguments[0], section->from[0], error));
    return copy(to, section, 0, section->text.size, error);
}

static bool begins_with(ferry_view text, ferry_view start)
{
    return text.size >= start.size && memcmp(text.data, start.data, start.size) == 0;
}

static ferry_status put_metaspace(const ferry_step *step, const ferry_section *section, ferry_rewriting *to,
                                  ferry_error *error)
{
    const ferry_step blanks = {.arguments = {ferry_text_view(" "), metaspace}};
    const ferry_view text = section->text, scheme = step->arguments[0];
    const bool starts = text.data[0] == ' ' || begins_with(text, metaspace);
    const bool wanted = ferry_view_is(scheme, "always") || (ferry_view_is(scheme, "first") && section->from[0] == 0);
    if (wanted && !starts) FERRY_TRY(put(to, metaspace, section->from[0], error));
    return put_replaced(&blanks, section, to, error);
}

/* ---- stripping ---- */

static ferry_status put_stripped(const ferry_step *step, const ferry_section *section, ferry_rewriting *to,
                                 ferry_error *error)
{
    const ferry_view text = section->text, trimmed = ferry_utf8_trim(text);
    const size_t begin = ferry_utf8_leading_space(text);
    if (step->kind == FERRY_STEP_STRIP_LEFT) return copy(to, section, begin, text.size, error);
    return copy(to, section, 0, begin < text.size ? begin + trimmed.size : 0, error);
}

/* ---- all of them ---- */

ferry_status ferry_step_rewrite(const ferry_text_rules *rules, const ferry_step *step, const ferry_section *section,
                                ferry_rewriting *to, ferry_error *error)
{
    typedef ferry_status rewriter(const ferry_step *, const ferry_section *, ferry_rewriting *, ferry_error *);
    static rewriter *const rewriters[FERRY_STEP_KINDS] = {
        [FERRY_STEP_REPLACE] = put_replaced,    [FERRY_STEP_REPLACE_BLANKS] = put_runs,
        [FERRY_STEP_REPLACE_SPACE] = put_runs,  [FERRY_STEP_PREPEND] = put_prepended,
        [FERRY_STEP_STRIP_LEFT] = put_stripped, [FERRY_STEP_STRIP_RIGHT] = put_stripped,
        [FERRY_STEP_METASPACE] = put_metaspace};
    to->size = 0;
    FERRY_TRY(reserve(to, section->text.size, error));
    FERRY_TRY(step->kind == FERRY_STEP_PRECOMPILED ? put_precompiled(rules, section, to, error)
                                                   : rewriters[step->kind](step, section, to, error));
    to->from[to->size] = section->from[section->text.size];
    return FERRY_OK;
}
