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

/* A converted model: opened to translate, and to look into. */
typedef struct golden_model {
    const ferry_model *model;
    const ferry_model_file *file;
    bool pieces; /* golden texts are pieces with blanks between them */
} golden_model;

golden_model golden_open(const char *source);

/* Word scores, sum and score of hypothesis `index` of the only line in `result`, to 1e-4. */
void golden_check_scores(const golden_hypothesis *expected, const ferry_result *result, size_t index,
                         golden_figures *figures);
/* All lines of a run: texts, scores, and alignments, hard pairs all equal, soft weights to 1e-5. `options` ask for as
 * many hypotheses as were recorded, and for alignments. An empty line is answered with eos and its log-probability,
 * whatever else is likelier. Returns how many lines there are. */
size_t golden_check_run(const golden_model *model, const ferry_options *options, const json_t *lines, const char *run);

#endif
