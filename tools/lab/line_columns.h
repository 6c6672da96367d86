/* What is counted on each line for each metric, in columns that add up: the score of any lines is a function of their
 * sums. */
#ifndef FERRY_LAB_LINE_COLUMNS_H
#define FERRY_LAB_LINE_COLUMNS_H

#include "base/status.h"
#include "bleu.h"
#include "chrf.h"
#include "comparison.h"

/* Where the columns of each metric begin: counts of BLEU and chrF; for the others a sum and what to divide it by. The
 * curve has two columns for each point. */
enum {
    FERRY_COLUMNS_BLEU = 0,
    FERRY_COLUMNS_CHRF = FERRY_COLUMNS_BLEU + FERRY_BLEU_COUNTS,
    FERRY_COLUMNS_LIKELIHOOD = FERRY_COLUMNS_CHRF + FERRY_CHRF_COUNTS,
    FERRY_COLUMNS_END = FERRY_COLUMNS_LIKELIHOOD + 2,
    FERRY_COLUMNS_LENGTH_RATIO = FERRY_COLUMNS_END + 2,
    FERRY_COLUMNS_EARLY_STOP = FERRY_COLUMNS_LENGTH_RATIO + 2,
    FERRY_COLUMNS_REPETITION = FERRY_COLUMNS_EARLY_STOP + 2,
    FERRY_COLUMNS_CURVE = FERRY_COLUMNS_REPETITION + 2
};

/* Of one model. */
typedef struct ferry_line_columns {
    double *sums;            /* [lines, width] */
    size_t width;            /* FERRY_COLUMNS_CURVE + 2·text.curve_count */
    bool *failed, *unscored; /* [lines] */
} ferry_line_columns;

/* A translation and its reference, as pieces. */
typedef struct ferry_line_pieces {
    const int32_t *translation, *reference;
    size_t translation_count, reference_count;
    bool limited;       /* the translation reached the limit of length */
    const double *nats; /* [reference_count + 1] of each piece and of the end; NULL: unknown */
} ferry_line_pieces;

/* Fills the columns after those of BLEU and chrF, which are zero so far; if there is no translation, only those of the
 * likelihoods. */
void ferry_count_pieces(const ferry_line_pieces *line, bool failed, double *columns);
/* Whether 1 to FERRY_REPEATED_PIECES ids stand three times in a row. */
bool ferry_repeats(const int32_t *ids, size_t count);

/* Fills the cells of one model from its columns, and scores [FERRY_CELLS, FERRY_METRIC_COUNT, comparison->resamples]
 * with those of the resampled lines, which are the same for all models. Errors: MEMORY. */
ferry_status ferry_score_model(ferry_comparison *comparison, ferry_compared_model *model,
                               const ferry_line_columns *columns, double *scores, ferry_error *error);
/* Fills the differences of models a and b, in both directions, from their scores. Errors: MEMORY. */
ferry_status ferry_score_difference(ferry_comparison *comparison, size_t a, const double *a_scores, size_t b,
                                    const double *b_scores, ferry_error *error);

#endif
