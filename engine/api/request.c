#include "request.h"

#include <stddef.h>

#include "argument_checks.h"
#include "base/utf8.h"
#include "chain.h"
#include "options.h"

/* The sizes of the structs in the header of 0.1.0, up to their last fields (options.c). */
enum {
    FIRST_REQUEST = offsetof(ferry_request, term_count) + sizeof(size_t),
    FIRST_TERM = offsetof(ferry_term, target_count) + sizeof(size_t)
};

/* `before`: the term before it, or NULL. */
static ferry_status check_place(const ferry_term *term, const ferry_term *before, size_t index, const ferry_text *lines,
                                size_t count, ferry_error *error)
{
    if (term->line >= count)
        return ferry_fail_argument(error, "terms", "expected a line below %zu at terms[%zu], found %zu", count, index,
                                   term->line);
    const size_t size = lines[term->line].size;
    if (term->begin >= term->end || term->end > size)
        return ferry_fail_argument(error, "terms", "expected bytes of %zu at terms[%zu], found %zu to %zu", size, index,
                                   term->begin, term->end);
    if (before != NULL && (before->line > term->line || (before->line == term->line && before->end > term->begin)))
        return ferry_fail_argument(error, "terms", "expected terms[%zu] behind the one before it, found line %zu, %zu",
                                   index, term->line, term->begin);
    if (ferry_utf8_is_valid((ferry_view){lines[term->line].data + term->begin, term->end - term->begin}))
        return FERRY_OK;
    return ferry_fail_argument(error, "terms", "expected well-formed UTF-8 at terms[%zu], found %zu to %zu of line %zu",
                               index, term->begin, term->end, term->line);
}

static ferry_status check_targets(const ferry_term *term, size_t index, ferry_error *error)
{
    if (term->target_count > 0 && term->targets == NULL)
        return ferry_fail_argument(error, "terms", "expected targets at terms[%zu], found NULL", index);
    FERRY_TRY(ferry_check_texts("targets", term->targets, term->target_count, error));
    for (size_t t = 0; t < term->target_count; t++)
        if (ferry_utf8_is_blank((ferry_view){term->targets[t].data, term->targets[t].size}))
            return ferry_fail_argument(error, "terms", "expected a text at terms[%zu].targets[%zu], found a blank one",
                                       index, t);
    return FERRY_OK;
}

/* Terms need one hypothesis, whose place among others does not depend on chance. */
static ferry_status check_options(const ferry_options *options, ferry_error *error)
{
    const char *const name = options->sample != 0         ? "sample"
                             : options->alternatives != 0 ? "alternatives"
                             : options->nbest > 1         ? "nbest"
                                                          : NULL;
    if (name == NULL) return FERRY_OK;
    return ferry_fail_argument(error, "terms", "expected none with option %s", name);
}

static ferry_status check_terms(const ferry_translator *translator, ferry_terms terms, const ferry_text *lines,
                                size_t count, ferry_error *error)
{
    if (terms.count == 0) return FERRY_OK;
    if (terms.terms == NULL) return ferry_fail_argument(error, "terms", "expected %zu terms, found NULL", terms.count);
    FERRY_TRY(ferry_check_stride("term_size", "ferry_term", terms.size, FIRST_TERM, _Alignof(ferry_term), error));
    const ferry_translator *stage;
    for (size_t i = 0; (stage = ferry_translator_stage(translator, i)) != NULL; i++)
        FERRY_TRY(check_options(&stage->options, error));
    for (size_t i = 0; i < terms.count; i++) {
        const ferry_term *term = ferry_terms_at(terms, i);
        FERRY_TRY(check_place(term, i > 0 ? ferry_terms_at(terms, i - 1) : NULL, i, lines, count, error));
        FERRY_TRY(check_targets(term, i, error));
    }
    return FERRY_OK;
}

ferry_status ferry_request_check(const ferry_translator *translator, const ferry_request *request,
                                 const ferry_text *lines, size_t count, ferry_wanted *wanted, ferry_error *error)
{
    ferry_request complete = {0};
    *wanted = (ferry_wanted){0};
    if (request == NULL) return FERRY_OK;
    FERRY_TRY(
        ferry_struct_complete("request", "ferry_request", request, FIRST_REQUEST, &complete, sizeof complete, error));
    *wanted = (ferry_wanted){complete.prefixes,
                             {complete.terms, complete.term_size, complete.term_count},
                             complete.on_number,
                             complete.progress,
                             complete.user};
    if (complete.on_number != FERRY_ON_NUMBER_WARN && complete.on_number != FERRY_ON_NUMBER_RETRY)
        return ferry_fail_argument(error, "on_number", "expected 0 or 1, found %d", (int)complete.on_number);
    if (wanted->prefixes != NULL) FERRY_TRY(ferry_check_texts("prefixes", wanted->prefixes, count, error));
    if (wanted->prefixes != NULL || wanted->on_number != 0) FERRY_TRY(ferry_chain_refuse(translator, error));
    return check_terms(translator, wanted->terms, lines, count, error);
}

ferry_status ferry_request_check_text(const ferry_translator *translator, const ferry_request *request,
                                      const ferry_text *text, ferry_wanted *wanted, ferry_error *error)
{
    FERRY_TRY(ferry_request_check(translator, request, text, 1, wanted, error));
    if (wanted->prefixes == NULL) return FERRY_OK;
    return ferry_fail_argument(error, "prefixes", "expected NULL for a text");
}
