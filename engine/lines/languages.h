/* Languages of a model: their names for the user, and what a pair of them adds to a line. */
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

/* Indices into model->languages, or one of these. */
typedef struct ferry_language_pair {
    int32_t source;
    int32_t target;
} ferry_language_pair;

/* Codes of ISO 639-3 and, where there is one, of ISO 639-1 (else ""), or a code with its script, and an English name.
 */
typedef struct ferry_language_name {
    const char *code, *short_code, *name;
} ferry_language_name;

/* Row `index` of the table, NULL past the end. A language's usual name comes before other names for it. */
const ferry_language_name *ferry_language_name_at(size_t index);
/* The usual name of the language with this code ("de", "deu", "zho_Hant"), in any case; NULL: none is known. */
const char *ferry_language_name_of(ferry_view code);

/* Fills model->languages from its file. Errors: FORMAT (a name that is not text, or has no tag), MEMORY. */
ferry_status ferry_languages_create(ferry_model *model, ferry_error *error);

/* The pair that `from` and `to` name (NULL: the default; "": none). ARGUMENT names the option, its value, and how to
 * list the possible ones. */
ferry_status ferry_languages_find(const ferry_model *model, const char *from, const char *to, ferry_language_pair *pair,
                                  ferry_error *error);
/* ARGUMENT when the model wants a tag of a language that the pair leaves open and no line can bring, or has prompts and
 * none for the pair. `forced_first_id`: of the options, or -1. */
ferry_status ferry_languages_check(const ferry_model *model, ferry_language_pair pair, int32_t forced_first_id,
                                   ferry_error *error);

/* Some models choose their target by a tag in the text, ">>fra<<" or, as a prompt for any source, "<2fr> ". ARGUMENT
 * when `line` begins with one that such a model lacks, or with none though the pair leaves the target open. */
ferry_status ferry_languages_check_line(const ferry_model *model, ferry_language_pair pair, ferry_view line,
                                        ferry_error *error);

/* How to find the ends of sentences of the pair's source. */
const ferry_sentence_language *ferry_languages_sentences(const ferry_model *model, ferry_language_pair pair);
/* The first target token of the pair where the model wants it as a tag, else -1. */
int32_t ferry_languages_first_id(const ferry_model *model, ferry_language_pair pair);
/* The source ids of a part of a line, which began with `tag` (ferry_tokenizer_tag_size; empty: none): as
 * ferry_tokenizer_encode, of the pair's prompt and the part, with the pair's tags. A line with a tag of its own gets no
 * other one for the target. *ranges (unless it is NULL): the bytes of `part` of each id. */
ferry_status ferry_languages_encode_part(const ferry_model *model, ferry_language_pair pair, ferry_view tag,
                                         ferry_view part, ferry_ids *ids, ferry_ranges *ranges, ferry_error *error);

#endif
