/* Codes of subword-nmt: "#version: 0.2", if there is a version, and then a merge in each line, the best first. */
#include <string.h>

#include "base/printable.h"
#include "base/utf8.h"
#include "models/containers/text_lines.h"
#include "plan.h"

enum { MOST_MERGES = 1 << 22 };

/* Without the blanks at its ends, which do not count. */
static ferry_view strip(ferry_view line)
{
    while (line.size > 0 && line.data[0] == ' ') line = (ferry_view){line.data + 1, line.size - 1};
    while (line.size > 0 && line.data[line.size - 1] == ' ') line.size--;
    return line;
}

/* "#version: 0.2" */
static ferry_status read_version(const char *label, ferry_view line, ferry_tokenizer_kind *kind, ferry_error *error)
{
    static const struct {
        const char *text;
        ferry_tokenizer_kind kind;
    } versions[] = {{"#version: 0.1", FERRY_TOKENIZER_SUBWORD_NMT_1}, {"#version: 0.2", FERRY_TOKENIZER_SUBWORD_NMT_2}};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        *kind = versions[i].kind;
        if (ferry_view_is(strip(line), versions[i].text)) return FERRY_OK;
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: line 1: expected '%s' or '%s', found '%s'", label,
                      versions[0].text, versions[1].text, ferry_printable_view(line).text);
}

/* Two symbols with a blank between them. */
static bool is_merge(ferry_view line)
{
    const char *blank = line.size > 0 ? memchr(line.data, ' ', line.size) : NULL;
    if (blank == NULL || !ferry_utf8_is_valid(line) || memchr(line.data, '\r', line.size) != NULL) return false;
    const size_t left = (size_t)(blank - line.data);
    return left > 0 && left + 1 < line.size && memchr(blank + 1, ' ', line.size - left - 1) == NULL;
}

static ferry_status read_lines(ferry_view codes, const char *label, ferry_view *merges, int32_t *count,
                               ferry_tokenizer_kind *kind, ferry_error *error)
{
    static const char version[] = "#version:";
    ferry_cursor text = {(const uint8_t *)codes.data, codes.size, 0};
    ferry_view line;
    *kind = FERRY_TOKENIZER_SUBWORD_NMT_1;
    for (size_t number = 1; ferry_next_line(&text, &line); number++) {
        if (number == 1 && line.size >= sizeof version - 1 && memcmp(line.data, version, sizeof version - 1) == 0) {
            FERRY_TRY(read_version(label, line, kind, error));
            continue;
        }
        line = strip(line);
        if (!is_merge(line))
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "%s: line %zu: expected two symbols with a blank between them, found '%s'", label, number,
                              ferry_printable_view(line).text);
        merges[(*count)++] = line;
    }
    return FERRY_OK;
}

/* Empty lines at the end do not count. */
static ferry_view without_end(ferry_view codes)
{
    while (codes.size > 0 && (codes.data[codes.size - 1] == '\n' || codes.data[codes.size - 1] == '\r')) codes.size--;
    return codes;
}

static ferry_status read_codes(ferry_import_plan *plan, const char *name, const ferry_view **merges, int32_t *count,
                               ferry_tokenizer_kind *kind, ferry_error *error)
{
    const char *label = ferry_import_source_label(plan->source, name);
    ferry_view codes;
    FERRY_TRY(ferry_import_map(plan, name, &codes, error));
    codes = without_end(codes);
    const size_t lines = ferry_count_lines(codes);
    if (lines > MOST_MERGES)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: expected at most %d merges, found %zu", label, MOST_MERGES,
                          lines);
    ferry_view *table = ferry_arena_alloc(&plan->arena, lines + 1, sizeof *table);
    if (table == NULL) return ferry_fail_memory(error, "merges", lines * sizeof *table);
    *merges = table;
    *count = 0;
    return read_lines(codes, label, table, count, kind, error);
}

ferry_status ferry_import_merges(ferry_import_plan *plan, const char *source, const char *target, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    ferry_tokenizer_kind target_kind;
    FERRY_TRY(read_codes(plan, source, &text->source_merges, &text->source_merge_count, &text->kind, error));
    text->target_merges = text->source_merges;
    text->target_merge_count = text->source_merge_count;
    if (target == NULL) return FERRY_OK;
    FERRY_TRY(read_codes(plan, target, &text->target_merges, &text->target_merge_count, &target_kind, error));
    if (target_kind == text->kind) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected the version of '%s', found another one",
                      ferry_import_source_label(plan->source, target), source);
}
