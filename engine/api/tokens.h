/* Tokens of results, and the weights between those of the source and of the target. */
#ifndef FERRY_API_TOKENS_H
#define FERRY_API_TOKENS_H

#include "parts.h"
#include "result.h"
#include "translator.h"

/* Memory for the weights of a hypothesis and `source` tokens, which are its one block. Errors: MEMORY. */
ferry_status ferry_tokens_begin_weights(ferry_result_hypothesis *hypothesis, size_t source, ferry_error *error);
/* Copies those of all hypotheses. Errors: MEMORY. */
ferry_status ferry_tokens_take_weights(ferry_result_line *line, size_t source, const float *const *weights,
                                       ferry_error *error);
/* Where they are wanted for unknown words only. */
void ferry_tokens_drop_weights(ferry_result_line *line);

/* Whether one of the hypotheses of a search has an unknown word that is to be replaced. */
bool ferry_tokens_need_words(const ferry_translator *translator, const ferry_search *search);
/* The text of a hypothesis of `part`, and with options.alignment the ranges of its tokens. */
ferry_status ferry_tokens_write_text(const ferry_translator *translator, const ferry_part *part,
                                     ferry_result_hypothesis *hypothesis, ferry_error *error);

/* The ids of the parts become the source tokens of `result`: bytes of `line`, to which the parts point, unless they
 * point to `repaired`, its copy without ill-formed UTF-8; NULL: there is none. Errors: MEMORY. */
ferry_status ferry_tokens_list(const ferry_parts *parts, const char *repaired, ferry_view line,
                               ferry_result_line *result, ferry_error *error);

#endif
