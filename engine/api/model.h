/* What the public ferry_model is. */
#ifndef FERRY_API_MODEL_H
#define FERRY_API_MODEL_H

#include <stdatomic.h>

#include "base/status.h"
#include "base/threads.h"
#include "engine/ferry.h"
#include "engine/file/model_file.h"
#include "tokenizer/sentences.h"
#include "tokenizer/tokenizer.h"

/* ---- languages: their names for the user, and what a pair of them adds to a line (languages.c) ---- */

enum {
    FERRY_LANGUAGE_OPEN = -1, /* not given, and the model has no default */
    FERRY_LANGUAGE_NONE = -2  /* the empty name */
};

/* Indices into model->languages, or one of these. */
typedef struct ferry_language_pair {
    int32_t source;
    int32_t target;
} ferry_language_pair;

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

/* ---- the model ---- */

struct ferry_model {
    atomic_size_t users; /* the caller and translators; the last to leave releases the model */
    ferry_mutex mutex;   /* of `widened` */
    bool widened;
    const ferry_kernels *kernels;
    ferry_model_file file;
    ferry_tokenizer *tokenizer; /* NULL if the file has none: the model then takes and gives ids only */
    ferry_language *languages;  /* [file.languages.count], in the file's arena */
    const char **info;          /* of each key of ferry_model_info; in the file's arena */
};

/* A model without contents, for ferry_model_close; NULL: MEMORY. */
ferry_model *ferry_model_allocate(const ferry_kernels *kernels, ferry_error *error);
/* Comes before every use of the model's weights: many programs open models only to list them. */
void ferry_model_widen(const ferry_model *model);
/* A model of the file in `map`, which belongs to the model, or is closed by a failure; `name` is for messages. */
ferry_status ferry_model_create(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                ferry_model **model, ferry_error *error);
/* Fills model->info, what its file says about it, from everything else. Errors: MEMORY. */
ferry_status ferry_model_info_create(ferry_model *model, ferry_error *error);

/* ---- arguments of the public functions that are impossible (FERRY_NEEDS refuses NULL) ---- */

/* `value` is within least … most. */
ferry_status ferry_check_range(const char *argument, int32_t value, int32_t least, int32_t most, ferry_error *error);
/* A text of a caller. Without bytes, it gets an address. */
ferry_status ferry_check_text(const char *argument, ferry_text *text, ferry_error *error);
/* The texts of a call, arrays that the caller calls `texts` and `count`. */
ferry_status ferry_check_texts(const char *argument, const ferry_text *texts, size_t count, ferry_error *error);

#endif
