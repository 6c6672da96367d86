/* A source and its given translation, to be scored. */
#ifndef FERRY_LINES_PAIR_H
#define FERRY_LINES_PAIR_H

#include "base/status.h"

typedef struct ferry_line ferry_line;
typedef struct ferry_line_rules ferry_line_rules;
typedef struct ferry_result_hypothesis ferry_result_hypothesis;
typedef struct ferry_result_line ferry_result_line;

/* Gives the line one part: the ids of `source`, and one hypothesis with the text and ids of `target`. The ids of a
 * target are its forced tag, if the model has one, the ids of its text, and eos. Errors: LIMIT (a side is too long,
 * or has no tokens), ARGUMENT (the model needs the tag of a target language), MEMORY. */
ferry_status ferry_line_pair(const ferry_model *model, const ferry_line_rules *rules, ferry_text source,
                             ferry_text target, ferry_line *line, ferry_result_line *result, ferry_error *error);
/* Sets the score of a pair from the scores of its tokens. A forced tag adds 0. */
void ferry_pair_score(const ferry_options *options, ferry_result_hypothesis *hypothesis);

#endif
