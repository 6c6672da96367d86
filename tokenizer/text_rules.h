/* Divides a text into words as the package `tokenizers` does: added tokens are taken out of the text, what is between
 * them is normalized, added tokens are taken out again, and the rest is divided into words, which a sink receives one
 * by one. The rules are a list of steps in the model file (docs/model-file.md has their table). */
#ifndef FERRY_TOKENIZER_TEXT_RULES_H
#define FERRY_TOKENIZER_TEXT_RULES_H

#include "base/texts.h"

/* The most steps; the most bytes of a step's argument, of an added token and of its normalized form. */
enum { FERRY_RULES_MAX_STEPS = 16, FERRY_RULES_MAX_TEXT = 512 };

typedef struct ferry_text_rules_config ferry_text_rules_config; /* tokenizer_config.h */

/* Immutable: threads may share it. */
typedef struct ferry_text_rules ferry_text_rules;

/* A word, or an added token. Byte i comes from the text's from[i] and after, up to from[i + 1]. */
typedef struct ferry_rule_word {
    ferry_view text;      /* valid until the sink returns */
    const uint32_t *from; /* [text.size + 1], ascending, borders of characters */
    int32_t id;           /* of an added token; -1: a word */
} ferry_rule_word;

/* A status other than FERRY_OK ends the text. */
typedef ferry_status (*ferry_rule_sink)(void *user, const ferry_rule_word *word);

/* What `config` refers to must outlive *rules, except its arrays of steps, ids and flags. *rules belongs to the
 * caller, NULL after a failure. Errors: FORMAT, UNSUPPORTED (an unknown step), MEMORY. */
ferry_status ferry_text_rules_create(const ferry_text_rules_config *config, ferry_text_rules **rules,
                                     ferry_error *error);
/* NULL is allowed. */
void ferry_text_rules_destroy(ferry_text_rules *rules);
/* Calls `sink` for each word of `text`, in order; each ill-formed byte counts as U+FFFD. Errors: LIMIT (text above 64
 * MiB, or a step that makes more than 64 KiB and 16 times the text), MEMORY, or that of `sink`, which then fills the
 * caller's error itself. */
ferry_status ferry_text_rules_apply(const ferry_text_rules *rules, ferry_view text, ferry_rule_sink sink, void *user,
                                    ferry_error *error);
/* The normalizers alone: appends what they make of `text` to *normal. Errors: as above. */
ferry_status ferry_text_rules_normalize(const ferry_text_rules *rules, ferry_view text, ferry_string *normal,
                                        ferry_error *error);

#endif
