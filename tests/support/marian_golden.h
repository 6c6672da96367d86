/* Marian's n-best lines against Ferry's hypotheses: ids, scores, word scores, alignments. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_MARIAN_GOLDEN_H
#define FERRY_SUPPORT_MARIAN_GOLDEN_H

#include "import_support.h"

/* "N ||| text ||| alignment ||| WordScores= … ||| F0= sum ||| score" */
typedef struct golden_hypothesis {
    char *text, *alignment;
    double *words; /* [count] one for each token, end of sentence counted */
    size_t count;
    double sum, score;
} golden_hypothesis;

golden_hypothesis golden_parse(const char *line);

/* Largest differences, and what was compared. */
typedef struct golden_figures {
    double score, word, alignment;
    size_t lines, hypotheses, hard, soft;
} golden_figures;

void golden_print(const char *run, const golden_figures *figures);

/* A converted model: opened to translate, and to look into. */
typedef struct golden_model {
    const ferry_model *model;
    const ferry_model_file *file;
} golden_model;

golden_model golden_open(const char *source);

/* Word scores, sum and score of hypothesis `index` of the only line in `result`, to 1e-4. */
void golden_check_scores(const golden_hypothesis *expected, const ferry_result *result, size_t index,
                         golden_figures *figures);
/* Its alignment, as a translator with options.alignment gives it: hard pairs all equal, soft weights to 1e-5. */
void golden_check_alignment(const golden_hypothesis *expected, const ferry_result *result, size_t index,
                            golden_figures *figures);
/* Marian answers an empty line with eos and its log-probability, whatever else is likelier. */
void golden_check_empty(const golden_hypothesis *expected, const golden_model *model, int32_t eos,
                        golden_figures *figures);

#endif
