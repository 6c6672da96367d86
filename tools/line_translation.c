#include "line_translation.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "command.h"
#include "engine/ferry_inspect.h"

/* ---- lines of ids ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The word at *at < text.size, and *at past it and past the blanks after it. */
static ferry_view take_word(ferry_text text, size_t *at)
{
    const size_t begin = *at;
    while (*at < text.size && !is_blank(text.data[*at])) ++*at;
    const ferry_view word = {text.data + begin, *at - begin};
    while (*at < text.size && is_blank(text.data[*at])) ++*at;
    return word;
}

/* -1: no id below `vocabulary`. */
static int32_t parse_id(ferry_view word, int32_t vocabulary)
{
    int64_t id = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '9') return -1;
        id = 10 * id + (word.data[i] - '0');
        if (id >= vocabulary) return -1;
    }
    return (int32_t)id;
}

static bool reserve(ferry_line_ids *ids, size_t lines, size_t words)
{
    int32_t *grown = ferry_array_grow(ids->ids, &ids->ids_capacity, words + 1, sizeof *grown);
    if (grown != NULL) ids->ids = grown;
    int32_t *offsets = ferry_array_grow(ids->offsets, &ids->offsets_capacity, lines + 1, sizeof *offsets);
    if (offsets != NULL) ids->offsets = offsets;
    bool *bad = ferry_array_grow(ids->bad, &ids->bad_capacity, lines + 1, sizeof *bad);
    if (bad != NULL) ids->bad = bad;
    if (grown != NULL && offsets != NULL && bad != NULL) return true;
    ferry_complain("cannot hold the ids of lines: out of memory");
    return false;
}

/* Reads a line into ids from `count` on. Returns where they end; -1, after a message, if the line is bad. */
static int32_t read_line(int32_t *ids, int32_t count, const ferry_inspect_sizes *sizes, ferry_text line, size_t number)
{
    const int32_t begin = count;
    size_t at = 0;
    while (at < line.size && is_blank(line.data[at])) at++;
    while (at < line.size) {
        const ferry_view word = take_word(line, &at);
        ids[count] = parse_id(word, sizes->source_vocab);
        if (ids[count++] >= 0) continue;
        const int last = (int)sizes->source_vocab - 1;
        const ferry_printable found = ferry_printable_view(word);
        ferry_fail_lines(number, 1, ferry_format("expected ids from 0 to %d, found '%s'", last, found.text).text);
        return -1;
    }
    if (sizes->encoder_positions == 0 || count - begin <= sizes->encoder_positions) return count;
    const ferry_short_text why = ferry_format("expected at most %d ids, as the model's positions permit, found %d",
                                              (int)sizes->encoder_positions, (int)(count - begin));
    ferry_fail_lines(number, 1, why.text);
    return -1;
}

/* Reads the batch of `lines`, with a message for each bad line. Prints a message and returns false if there is no
 * memory. */
static bool read_ids(ferry_line_ids *ids, const ferry_model *model, const ferry_lines *lines)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    size_t most = 0; /* a word has at least one byte, and one between it and the next */
    for (size_t i = 0; i < lines->count; i++) most += (lines->texts[i].size + 1) / 2;
    if (most >= INT32_MAX) {
        ferry_complain("line %zu: a line of ids is too long", lines->first + 1);
        return false;
    }
    if (!reserve(ids, lines->count, most)) return false;
    ids->offsets[0] = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const int32_t end = read_line(ids->ids, ids->offsets[i], &sizes, lines->texts[i], lines->first + i + 1);
        ids->bad[i] = end < 0;
        ids->offsets[i + 1] = end < 0 ? ids->offsets[i] : end;
    }
    return true;
}

static void release_ids(ferry_line_ids *ids)
{
    free(ids->ids);
    free(ids->offsets);
    free(ids->bad);
}

/* ---- batches ---- */

bool ferry_line_translation_open(ferry_line_translation *t, const ferry_call *call, const ferry_session *session)
{
    memset(t, 0, sizeof *t);
    t->call = call;
    t->session = session;
    t->prefix_lines.descriptor = -1;
    return !ferry_is_given(call, FERRY_OPTION_PREFIXES) ||
           ferry_lines_open(&t->prefix_lines, ferry_option_text(call, FERRY_OPTION_PREFIXES));
}

void ferry_line_translation_close(ferry_line_translation *t)
{
    ferry_lines_close(&t->prefix_lines);
    free(t->prefixes);
    free(t->terms);
    release_ids(&t->ids);
}

/* One text for each line. */
static bool repeat_prefix(ferry_line_translation *t, size_t count)
{
    const char *text = ferry_option_text(t->call, FERRY_OPTION_PREFIX);
    ferry_text *prefixes = ferry_array_grow(t->prefixes, &t->prefixes_capacity, count, sizeof *prefixes);
    if (prefixes == NULL) {
        ferry_complain("cannot hold lines: out of memory");
        return false;
    }
    t->prefixes = prefixes;
    for (size_t i = 0; i < count; i++) prefixes[i] = (ferry_text){text, strlen(text)};
    return true;
}

static bool read_prefixes(ferry_line_translation *t, size_t count)
{
    ferry_lines *lines = &t->prefix_lines;
    ferry_lines_exactly(lines, count);
    if (!lines->failed && lines->count < count)
        ferry_complain("%s: expected a line for each line of input, found only %zu", lines->name,
                       lines->first + lines->count);
    return lines->count == count;
}

bool ferry_line_keeps_next(ferry_placeholder_search *search, ferry_placeholder *kept)
{
    while (ferry_placeholder_next(search, kept)) {
        const ferry_view part = {search->text.data + kept->begin, kept->end - kept->begin};
        const bool is_address = ferry_view_contains(part, "://") || ferry_view_contains(part, "@");
        if (kept->kind == FERRY_PLACEHOLDER_TEMPLATE || (kept->kind == FERRY_PLACEHOLDER_NAME && is_address))
            return true;
    }
    return false;
}

/* Makes terms of what is kept. */
static bool find_kept(ferry_line_translation *t, const ferry_lines *lines)
{
    ferry_placeholder kept;
    t->term_count = 0;
    for (size_t i = 0; i < lines->count; i++) {
        ferry_placeholder_search search = {.text = {lines->texts[i].data, lines->texts[i].size}};
        while (ferry_line_keeps_next(&search, &kept)) {
            if (!ferry_utf8_is_valid((ferry_view){search.text.data + kept.begin, kept.end - kept.begin})) continue;
            ferry_term *term = ferry_array_add(&t->terms, &t->term_count, &t->terms_capacity, sizeof *term);
            if (term == NULL) {
                ferry_complain("cannot hold what lines keep: out of memory");
                return false;
            }
            *term = (ferry_term){.line = i, .begin = kept.begin, .end = kept.end};
        }
    }
    return true;
}

bool ferry_line_translation_prepare(ferry_line_translation *t, const ferry_lines *lines)
{
    if (ferry_is_given(t->call, FERRY_OPTION_KEEP) && !find_kept(t, lines)) return false;
    if (ferry_is_given(t->call, FERRY_OPTION_IDS)) return read_ids(&t->ids, t->session->model, lines);
    if (ferry_is_given(t->call, FERRY_OPTION_PREFIXES)) return read_prefixes(t, lines->count);
    return !ferry_is_given(t->call, FERRY_OPTION_PREFIX) || repeat_prefix(t, lines->count);
}

bool ferry_line_translation_skip(ferry_line_translation *t, const ferry_lines *lines)
{
    return !ferry_is_given(t->call, FERRY_OPTION_PREFIXES) || read_prefixes(t, lines->count);
}

ferry_status ferry_line_translation_run(const ferry_line_translation *t, const ferry_lines *lines,
                                        ferry_result **result, ferry_error *error)
{
    ferry_translator *translator = t->session->translator;
    if (ferry_is_given(t->call, FERRY_OPTION_IDS))
        return ferry_inspect_generate(translator, t->ids.ids, t->ids.offsets, (int32_t)lines->count, result, error);
    ferry_request request = {
        .size = sizeof request, .terms = t->terms, .term_size = sizeof *t->terms, .term_count = t->term_count};
    if (ferry_is_given(t->call, FERRY_OPTION_PREFIXES)) request.prefixes = t->prefix_lines.texts;
    if (ferry_is_given(t->call, FERRY_OPTION_PREFIX)) request.prefixes = t->prefixes;
    return ferry_translate_with(translator, lines->texts, lines->count, &request, result, error);
}

bool ferry_line_translation_is_bad(const ferry_line_translation *t, size_t index)
{
    return ferry_is_given(t->call, FERRY_OPTION_IDS) && t->ids.bad[index];
}

bool ferry_line_translation_finish(ferry_line_translation *t)
{
    ferry_lines *lines = &t->prefix_lines;
    if (lines->descriptor < 0 || !ferry_lines_next(lines, 1)) return !lines->failed;
    ferry_complain("%s: expected a line for each line of input, which has %zu, found more", lines->name, lines->first);
    return false;
}
