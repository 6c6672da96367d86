/* What transformers or CTranslate2 computed from a model (golden.json, golden.safetensors), and checks of a model
 * against it: ids of the text, encoder output, teacher-forced logits, and every run of greedy and beam search with ids,
 * text and scores. Failures are cmocka's. */
#ifndef FERRY_TESTS_GOLDEN_H
#define FERRY_TESTS_GOLDEN_H

#include "tests/support/import_support.h"

/* A line on which the model chooses otherwise than recorded, in one run. */
typedef struct golden_exception {
    const char *run;
    size_t line;
} golden_exception;

typedef struct golden {
    const char *folder;                 /* which is converted */
    const char *lines;                  /* of golden.json; NULL: the same */
    const char *from, *to;              /* languages; NULL: the model's own */
    const char *prompt;                 /* before each text, or NULL */
    const char *runs;                   /* where golden.json names none: as it would; a line may lack some */
    int32_t max_length;                 /* where golden.json has none; 0: the model's own */
    double tolerance;                   /* of scores, CTranslate2's relative to those below -1; 0: 2e-4 */
    bool exact_texts;                   /* with the blanks at their ends, as tokenizer.json's decoder leaves them */
    bool best_only;                     /* only the best hypothesis of each line */
    bool may_be_equal;                  /* on exceptions, too */
    const golden_exception *exceptions; /* [exception_count] */
    size_t exception_count;
    const ferry_model *model; /* NULL: made from `folder`; given: without its activations */
    json_t *root;             /* golden.json, when checked */
} golden;

/* Everything that was recorded. */
void golden_check(golden *golden);

/* Ids of pieces; what the vocabulary lacks is unknown, as CTranslate2 takes it. */
int32_t *golden_token_ids(const ferry_model *model, ferry_inspect_stack side, const json_t *tokens, int32_t *count);

#endif
