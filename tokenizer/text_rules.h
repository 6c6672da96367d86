/* Divides a text into words as the package `tokenizers` does. Added tokens are searched in the text; the text between
 * them is normalized; further added tokens are searched in the normalized text; the text between these is divided into
 * words. A sink receives tokens and words in order. The rules are a list of steps in the model file
 * (docs/model-file.md has their table). */
#ifndef FERRY_TOKENIZER_TEXT_RULES_H
#define FERRY_TOKENIZER_TEXT_RULES_H

#include "base/string_table.h"

/* Limits: the number of steps; the bytes of a step's argument, of an added token and of its normalized form. */
enum { FERRY_RULES_MAX_STEPS = 16, FERRY_RULES_MAX_TEXT = 512 };

typedef struct ferry_text_rules_config ferry_text_rules_config; /* tokenizer_config.h */

/* Immutable: threads may share it. */
typedef struct ferry_text_rules ferry_text_rules;

/* A word, or an added token. Byte i stands for bytes from[i] … from[i + 1] - 1 of the text. */
typedef struct ferry_rule_word {
    ferry_view text;      /* valid until the sink returns */
    const uint32_t *from; /* [text.size + 1], ascending, borders of characters */
    int32_t id;           /* the id of an added token; -1: a word */
} ferry_rule_word;

/* Receives a word. A status other than FERRY_OK ends the work on the text. */
typedef ferry_status (*ferry_rule_sink)(void *user, const ferry_rule_word *word);

/* The bytes of steps, pieces and charsmap must outlive *rules; the other arrays of `config` need not. *rules belongs to
 * the caller; NULL after a failure. Errors: FORMAT, UNSUPPORTED (an unknown step), MEMORY. */
ferry_status ferry_text_rules_create(const ferry_text_rules_config *config, ferry_text_rules **rules,
                                     ferry_error *error);
/* NULL is allowed. */
void ferry_text_rules_destroy(ferry_text_rules *rules);
/* Calls `sink` for each word of `text`, in order. Each ill-formed byte counts as U+FFFD. Errors: LIMIT (a text above 64
 * MiB, or a step whose result exceeds 16 times the text plus 64 KiB), MEMORY, or that of `sink`, which then has filled
 * the caller's error. */
ferry_status ferry_text_rules_apply(const ferry_text_rules *rules, ferry_view text, ferry_rule_sink sink, void *user,
                                    ferry_error *error);
/* Appends `text`, normalized but not divided into words, to *normal. Errors: as above. */
ferry_status ferry_text_rules_normalize(const ferry_text_rules *rules, ferry_view text, ferry_buffer *normal,
                                        ferry_error *error);

#endif
