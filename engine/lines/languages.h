/* The languages of a model: their names, and the tags and prompts that a pair adds to a line. */
#ifndef FERRY_LINES_LANGUAGES_H
#define FERRY_LINES_LANGUAGES_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_ids ferry_ids;
typedef struct ferry_ranges ferry_ranges;
typedef struct ferry_sentence_language ferry_sentence_language;

enum {
    FERRY_LANGUAGE_OPEN = -1, /* not given, and the model has no default */
    FERRY_LANGUAGE_NONE = -2  /* the empty name */
};

/* Indices of model->languages, or one of the values above. */
typedef struct ferry_language_pair {
    int32_t source;
    int32_t target;
} ferry_language_pair;

/* Fills model->languages from its file. Errors: FORMAT (a name that is not text, or has no tag), MEMORY. */
ferry_status ferry_languages_create(ferry_model *model, ferry_error *error);

/* Finds the pair that `from` and `to` name (NULL: the default; "": none). Errors: ARGUMENT (with the option, its
 * value, and how to list the languages). */
ferry_status ferry_languages_find(const ferry_model *model, const char *from, const char *to, ferry_language_pair *pair,
                                  ferry_error *error);
/* Errors: ARGUMENT (the model needs the tag of a language that the pair leaves open, and no line can have it; or it
 * has prompts, but none for the pair). `forced_first_id`: of the options, or -1. */
ferry_status ferry_languages_check(const ferry_model *model, ferry_language_pair pair, int32_t forced_first_id,
                                   ferry_error *error);

/* Some models choose the target language by a tag in the text: ">>fra<<" or, as a prompt for any source, "<2fr> ".
 * Errors: ARGUMENT (`line` begins with a tag that the model lacks; or with none, and the pair leaves the target
 * open). */
ferry_status ferry_languages_check_line(const ferry_model *model, ferry_language_pair pair, ferry_view line,
                                        ferry_error *error);

/* The rules for ends of sentences in the pair's source language. */
const ferry_sentence_language *ferry_languages_sentences(const ferry_model *model, ferry_language_pair pair);
/* The tag of the target language if the model has it as the first target token, else -1. */
int32_t ferry_languages_first_id(const ferry_model *model, ferry_language_pair pair);
/* The source ids of a part of a line: ferry_tokenizer_encode of the pair's prompt and the part, with the pair's
 * tags. `tag`: the line's own tag (ferry_tokenizer_tag_size), or empty. With its own tag, a line gets no other tag
 * of the target. *ranges: the bytes of `part` of each id; may be NULL. */
ferry_status ferry_languages_encode_part(const ferry_model *model, ferry_language_pair pair, ferry_view tag,
                                         ferry_view part, ferry_ids *ids, ferry_ranges *ranges, ferry_error *error);

#endif
