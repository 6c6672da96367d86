/* Calls that translate or score: functions of ferry.h. */
#include <stdlib.h>

#include "argument_checks.h"
#include "call.h"
#include "chain.h"
#include "engine/lines/join.h"
#include "request.h"
#include "translator.h"

/* Translates, with checked arguments, within a call (ferry_translator_begin). `text`: of which `texts` are the
 * sentences, or NULL. *result is NULL. */
static ferry_status translate(ferry_translator *translator, const char *text, const ferry_text *texts, size_t count,
                              const ferry_wanted *wanted, ferry_result **result, ferry_error *error)
{
    ferry_call call = {.translator = translator,
                       .text = text,
                       .texts = texts,
                       .count = count,
                       .prefixes = wanted->prefixes,
                       .terms = wanted->terms,
                       .on_number = wanted->on_number,
                       .progress = wanted->progress,
                       .user = wanted->user};
    if (translator->stages != NULL) return ferry_chain_translate(translator, &call, result, error);
    return ferry_call_run(&call, result, error);
}

ferry_status ferry_translate(ferry_translator *translator, const ferry_text *lines, size_t count, ferry_result **result,
                             ferry_error *error)
{
    return ferry_translate_with(translator, lines, count, NULL, result, error);
}

ferry_status ferry_translate_with(ferry_translator *translator, const ferry_text *lines, size_t count,
                                  const ferry_request *request, ferry_result **result, ferry_error *error)
{
    FERRY_FENV;
    ferry_wanted wanted;
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_TRY(ferry_check_texts("lines", lines, count, error));
    FERRY_TRY(ferry_request_check(translator, request, lines, count, &wanted, error));
    FERRY_TRY(ferry_translator_check_text(translator, error));
    FERRY_TRY(ferry_translator_begin(translator, error));
    return ferry_translator_end(translator, translate(translator, NULL, lines, count, &wanted, result, error));
}

ferry_status ferry_translate_text(ferry_translator *translator, ferry_text text, ferry_result **result,
                                  ferry_error *error)
{
    return ferry_translate_text_with(translator, text, NULL, result, error);
}

ferry_status ferry_translate_text_with(ferry_translator *translator, ferry_text text, const ferry_request *request,
                                       ferry_result **result, ferry_error *error)
{
    FERRY_FENV;
    ferry_wanted wanted;
    ferry_text_lines lines = {0};
    ferry_result *sentences = NULL;
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_TRY(ferry_check_text("text", &text, error));
    FERRY_TRY(ferry_request_check_text(translator, request, &text, &wanted, error));
    FERRY_TRY(ferry_translator_check_text(translator, error));
    FERRY_TRY(ferry_translator_begin(translator, error));
    lines.terms = wanted.terms;
    ferry_status status = ferry_text_split(&ferry_translator_stage(translator, 0)->rules, text, &lines, error);
    if (status == FERRY_OK)
        status = translate(translator, text.data, lines.texts, lines.count, &wanted, &sentences, error);
    if (status == FERRY_OK || status == FERRY_ERROR_CANCELLED)
        status = ferry_text_join(text, &lines, status, sentences, result, error);
    free(lines.texts);
    return ferry_translator_end(translator, status);
}

ferry_status ferry_score(ferry_translator *translator, const ferry_text *sources, const ferry_text *targets,
                         size_t count, ferry_result **result, ferry_error *error)
{
    FERRY_FENV;
    ferry_call call = {.translator = translator, .texts = sources, .targets = targets, .count = count};
    FERRY_NEEDS(result);
    *result = NULL;
    FERRY_NEEDS(translator);
    FERRY_TRY(ferry_check_texts("sources", sources, count, error));
    FERRY_TRY(ferry_check_texts("targets", targets, count, error));
    FERRY_TRY(ferry_chain_refuse(translator, error));
    FERRY_TRY(ferry_translator_check_text(translator, error));
    FERRY_TRY(ferry_translator_begin(translator, error));
    return ferry_translator_end(translator, ferry_call_run(&call, result, error));
}
