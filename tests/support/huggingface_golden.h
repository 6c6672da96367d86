/* What transformers computed from a model (golden.json, golden.safetensors), and checks of a model against it: ids of
 * the text, encoder output, teacher-forced logits, and every run of greedy and beam search with ids, text and scores.
 * Failures are cmocka's. */
#ifndef FERRY_SUPPORT_HUGGINGFACE_GOLDEN_H
#define FERRY_SUPPORT_HUGGINGFACE_GOLDEN_H

#include "files.h"

/* A line on which the model may choose otherwise than recorded, in one run. */
typedef struct golden_exception {
    const char *run;
    size_t line;
} golden_exception;

typedef struct huggingface_golden {
    ferry_model *model;
    json_t *root;
    const json_t *lines;
    ferry_safetensors activations;
    const char *from, *to; /* languages; NULL: the model's own */
    double score_tolerance;
    bool exact_texts;                   /* with the blanks at their ends, as tokenizer.json's decoder leaves them */
    const golden_exception *exceptions; /* [exception_count] */
    size_t exception_count;
    size_t exceptions_met;
    size_t rows; /* hypotheses that were as recorded */
} huggingface_golden;

/* golden.json of `directory`. */
void golden_load_lines(huggingface_golden *golden, const char *directory);
void golden_unload(huggingface_golden *golden);

void golden_check_tokens(const huggingface_golden *golden);
void golden_check_runs(huggingface_golden *golden);
/* These and the activations of a converted directory, to 2e-4, from one language into another. */
void golden_check_family(const char *directory, const char *from, const char *to);
/* The same without activations, by golden.json in the directory `lines`. */
void golden_check_saved(const char *directory, const char *lines, const char *from, const char *to, bool exact_texts);

#endif
