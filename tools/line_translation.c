#include "line_translation.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/ferry_inspect.h"

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
    ferry_line_ids_release(&t->ids);
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

bool ferry_line_translation_prepare(ferry_line_translation *t, const ferry_lines *lines)
{
    if (ferry_is_given(t->call, FERRY_OPTION_IDS)) return ferry_line_ids_read(&t->ids, t->session->model, lines);
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
    if (ferry_is_given(t->call, FERRY_OPTION_PREFIXES))
        return ferry_translate_prefixed(translator, lines->texts, t->prefix_lines.texts, lines->count, result, error);
    if (ferry_is_given(t->call, FERRY_OPTION_PREFIX))
        return ferry_translate_prefixed(translator, lines->texts, t->prefixes, lines->count, result, error);
    return ferry_translate(translator, lines->texts, lines->count, result, error);
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
