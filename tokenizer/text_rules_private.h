/* What the steps of text_rules.c work on. */
#ifndef FERRY_TOKENIZER_TEXT_RULES_PRIVATE_H
#define FERRY_TOKENIZER_TEXT_RULES_PRIVATE_H

#include "pieces.h"
#include "sentencepiece_c.h"
#include "text_rules.h"

/* Normalizers, then those that make words. */
typedef enum ferry_step_kind {
    FERRY_STEP_PRECOMPILED,
    FERRY_STEP_REPLACE,
    FERRY_STEP_REPLACE_BLANKS,
    FERRY_STEP_REPLACE_SPACE,
    FERRY_STEP_PREPEND,
    FERRY_STEP_STRIP_LEFT,
    FERRY_STEP_STRIP_RIGHT,
    FERRY_STEP_SPLIT_SPACE,
    FERRY_STEP_METASPACE,
    FERRY_STEP_SPLIT_METASPACE,
    FERRY_STEP_KINDS
} ferry_step_kind;

typedef struct ferry_step {
    ferry_step_kind kind;
    ferry_view arguments[2];
    size_t least; /* of FERRY_STEP_REPLACE_BLANKS and …_SPACE: the shortest run that is replaced */
} ferry_step;

struct ferry_text_rules {
    ferry_step steps[FERRY_RULES_MAX_STEPS];
    size_t step_count, normalizers; /* so many of them come first */
    ferry_charsmap charsmap;
    ferry_byte_trie raw,
        normalized; /* added tokens in the text as it is, and in the normalized text: id << 3 | flags */
};

/* A part of the text at some stage. */
typedef struct ferry_section {
    ferry_view text;
    const uint32_t *from; /* [text.size + 1] */
} ferry_section;

/* What a step makes of a section; empty when zeroed. */
typedef struct ferry_rewriting {
    char *text;
    uint32_t *from;
    size_t size, text_capacity, from_capacity;
    size_t most; /* bytes of it */
} ferry_rewriting;

/* *to becomes what the step makes of the section; not for steps that split. Errors: LIMIT, MEMORY. */
ferry_status ferry_step_rewrite(const ferry_text_rules *rules, const ferry_step *step, const ferry_section *section,
                                ferry_rewriting *to, ferry_error *error);
/* The text as it is, but for ill-formed bytes. */
ferry_status ferry_step_repair(ferry_view text, ferry_rewriting *to, ferry_error *error);

#endif
