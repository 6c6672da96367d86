/* What texts and markup have in common: their sentences are the lines of a job, and the result has one line. */
#ifndef FERRY_API_TEXT_H
#define FERRY_API_TEXT_H

#include "call.h"
#include "result.h"
#include "translator.h"

typedef struct ferry_sentence_list {
    ferry_text *texts; /* [count] into the text; the owner frees them */
    size_t count, capacity;
} ferry_sentence_list;

ferry_status ferry_sentence_list_add(ferry_sentence_list *list, ferry_text sentence, ferry_error *error);

/* Fills in the text of the one hypothesis of result->lines[0], and result->ranges, from result->sentences. */
typedef ferry_status ferry_text_join(void *user, ferry_result *result, ferry_error *error);

/* Begins the call of a public function, whose `argument` is the text. */
ferry_status ferry_text_begin(ferry_translator *translator, const char *argument, ferry_text text, ferry_call *call,
                              ferry_error *error);
/* Translates the sentences and joins them. CANCELLED has a result, too. */
ferry_status ferry_text_translate(ferry_translator *translator, const ferry_sentence_list *list,
                                  ferry_text_join *join_sentences, void *user, ferry_result **result,
                                  ferry_error *error);

#endif
