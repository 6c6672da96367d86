/* The languages of a model: tags, the names that users know for each, and pairs. */
#ifndef FERRY_TEXT_LANGUAGE_TAGS_H
#define FERRY_TEXT_LANGUAGE_TAGS_H

#include "models/plan/plan.h"

enum {
    FERRY_IMPORT_MAX_LANGUAGES = 2048, /* the largest models have some 500; every name is compared with every other */
    FERRY_IMPORT_MAX_TAG = 64,         /* bytes */
};

/* Tags of languages as a family writes them ("deu_Latn", "de_DE", "fra"), and their ids. Zeroed: empty. */
typedef struct ferry_import_tags {
    ferry_view *tags; /* [count] */
    int32_t *ids;     /* [count] */
    int32_t count;
} ferry_import_tags;
/* Errors: LIMIT (FERRY_IMPORT_MAX_LANGUAGES). */
ferry_status ferry_import_add_tag(ferry_import_plan *plan, ferry_import_tags *list, ferry_view tag, int32_t id,
                                  ferry_error *error);
/* Tags → plan->languages; ids are unused where there are no tags. Other names that users know join each: ISO
 * 639-1 and 639-3 codes. Every language can be source and target; tags go where source_tag and
 * target_tag say; no defaults. */
ferry_status ferry_import_languages(ferry_import_plan *plan, const ferry_import_tags *list,
                                    ferry_tag_position source_tag, ferry_tag_position target_tag, ferry_error *error);
/* The same for the tags of target languages ">>fra<<" among pieces [count, by id], which precede a line. *found:
 * whether there are any. */
ferry_status ferry_import_tag_pieces(ferry_import_plan *plan, const ferry_string_table *pieces, int32_t count,
                                     bool *found, ferry_error *error);
/* Whether `code` is a two-letter code of ISO 639-1, or the three-letter one of the same language. */
bool ferry_import_is_language(ferry_view code);
/* Whether a tag has a form such as "aaa_Aaaa": `a` stands for a lower-case letter, `A` for an upper-case letter. */
bool ferry_import_has_form(ferry_view text, const char *form);

/* Languages of a pair of codes without tags ("en", "de"), both defaults. */
ferry_status ferry_import_language_pair(ferry_import_plan *plan, ferry_view source, ferry_view target,
                                        ferry_error *error);
/* The same where only a name says so; where nothing does, by the name of the source or of its folder
 * (opus-mt-en-de); and where the user does: the languages of a model for one pair, or the defaults of a model that
 * lists its own. Errors: ARGUMENT (`pair`), UNSUPPORTED (no tokenizer). */
ferry_status ferry_import_guessed_pair(ferry_import_plan *plan, ferry_view source, ferry_view target,
                                       ferry_error *error);
ferry_status ferry_import_guess_pair(ferry_import_plan *plan, ferry_error *error);
ferry_status ferry_import_named_pair(ferry_import_plan *plan, const char *pair, ferry_error *error);

#endif
