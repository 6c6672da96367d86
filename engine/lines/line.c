#include "line.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "model.h"
#include "term_search.h"
#include "engine/search/decoding.h"

void ferry_line_destroy(ferry_line *line)
{
    ferry_parts_destroy(&line->parts);
    ferry_line_terms_destroy(&line->terms);
    free(line->repaired);
    line->repaired = NULL;
}

/* *valid: `text` if it is well-formed UTF-8, else *repaired, which the caller frees. */
static ferry_status repair(const char *what, ferry_text text, ferry_view *valid, char **repaired, ferry_error *error)
{
    *valid = (ferry_view){text.data, text.size};
    *repaired = NULL;
    if (ferry_utf8_is_valid(*valid)) return FERRY_OK;
    *repaired = text.size > SIZE_MAX / 3 ? NULL : malloc(3 * text.size);
    if (*repaired == NULL) return ferry_fail_memory(error, what, text.size, 1);
    valid->size = ferry_utf8_repair(*valid, *repaired);
    valid->data = *repaired;
    return FERRY_OK;
}

ferry_status ferry_line_repair(ferry_line *line, ferry_text given, ferry_view *text, ferry_result_line *result,
                               ferry_error *error)
{
    FERRY_TRY(repair("a line", given, text, &line->repaired, error));
    if (line->repaired == NULL) return FERRY_OK;
    return ferry_result_line_warn(result, error, "invalid UTF-8 was read as U+FFFD");
}

/* Encodes a prefix. Errors: ARGUMENT (the target vocabulary cannot spell it), MEMORY. */
static ferry_status encode_prefix(const ferry_model *model, int32_t unknown_id, ferry_text prefix, ferry_ids *ids,
                                  ferry_error *error)
{
    ferry_view text;
    ferry_ranges ranges = {0};
    char *repaired;
    FERRY_TRY(repair("a prefix", prefix, &text, &repaired, error));
    ferry_status status = ferry_tokenizer_encode_target(model->tokenizer, text, ids, &ranges, error);
    const size_t unknown = status == FERRY_OK ? ferry_ids_find(ids->ids, ids->count, unknown_id) : 0;
    if (status == FERRY_OK && unknown < ids->count) {
        const ferry_range range = ranges.ranges[unknown];
        status = ferry_fail(error, FERRY_ERROR_ARGUMENT, "the prefix has text that the model cannot write: '%s'",
                            ferry_printable_view((ferry_view){text.data + range.begin, range.end - range.begin}).text);
    }
    free(ranges.ranges);
    free(repaired);
    return status;
}

/* Gives the prefix to the first part with ids. */
static ferry_status take_prefix(const ferry_line_source *from, const ferry_parts *parts, ferry_error *error)
{
    const ferry_line_rules *rules = from->rules;
    size_t first = 0;
    while (first < parts->count && parts->parts[first].ids.count == 0) first++;
    if (from->prefix.size == 0 || first == parts->count) return FERRY_OK;
    ferry_part *part = &parts->parts[first];
    FERRY_TRY(encode_prefix(from->model, rules->unknown_id, from->prefix, &part->prefix, error));
    const size_t count = part->prefix.count + (rules->options->search->forced_first_id >= 0);
    const size_t max =
        (size_t)ferry_decoding_target_limit(rules->options, &from->model->file.transformer, part->ids.count);
    if (part->prefix.count == 0 || count < max) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_LIMIT,
                      "the prefix has %zu tokens, special tokens included; expected fewer than max_length %zu", count,
                      max);
}

const char *ferry_line_shown(const ferry_line *line, ferry_text given)
{
    return line->terms.shown != NULL ? line->terms.shown : line->repaired != NULL ? line->repaired : given.data;
}

/* The first portion: the parts begin, or the line is blank. */
static ferry_status begin(const ferry_line_source *from, ferry_splitter *splitter, ferry_line *line,
                          ferry_result_line *result, bool *more, ferry_error *error)
{
    ferry_view valid;
    bool alone;
    FERRY_TRY(ferry_line_repair(line, from->text, &valid, result, error));
    const ferry_view itself = valid;
    FERRY_TRY(ferry_line_terms_read(&line->terms, from, &valid, &alone, error));
    *more = !ferry_utf8_is_blank(valid) && !alone;
    if (!*more) FERRY_TRY(ferry_terms_carry(line->terms.terms, line->terms.count, result, error));
    if (!*more) return ferry_result_line_copy(result, itself, error);
    FERRY_TRY(ferry_splitter_begin(from->model, from->rules, valid, from->stop, &line->parts, splitter, error));
    splitter->wants_ranges = splitter->wants_ranges || line->terms.count > 0;
    if (line->terms.count > 0)
        splitter->terms = (ferry_terms){&line->terms.terms->term, sizeof *line->terms.terms, line->terms.count};
    return FERRY_OK;
}

/* A part that the model sees nothing of is its own translation. */
static ferry_status copy(ferry_part *part, ferry_error *error)
{
    for (size_t i = 0; i < part->term_count; i++)
        part->terms[i].found = (ferry_range){part->terms[i].term.begin, part->terms[i].term.end};
    FERRY_TRY(ferry_terms_carry(part->terms, part->term_count, &part->result, error));
    return ferry_result_line_copy(&part->result, part->text, error);
}

ferry_status ferry_line_split(const ferry_line_source *from, size_t *bytes, ferry_splitter *splitter, ferry_line *line,
                              ferry_result_line *result, bool *more, ferry_error *error)
{
    const ferry_parts *parts = &line->parts;
    *more = true;
    if (splitter->model == NULL) FERRY_TRY(begin(from, splitter, line, result, more, error));
    if (!*more) return FERRY_OK;
    while (*more && *bytes > 0) {
        const size_t rest = splitter->rest.size;
        FERRY_TRY(ferry_splitter_next(splitter, more, error));
        const size_t taken = rest - splitter->rest.size;
        *bytes -= taken < *bytes ? taken : *bytes;
    }
    if (*more) return FERRY_OK;
    FERRY_TRY(take_prefix(from, parts, error));
    FERRY_TRY(ferry_line_terms_share(&line->terms, ferry_line_shown(line, from->text), &line->parts, error));
    for (size_t i = 0; i < parts->count; i++)
        if (parts->parts[i].ids.count == 0) FERRY_TRY(copy(&parts->parts[i], error));
    return FERRY_OK;
}
