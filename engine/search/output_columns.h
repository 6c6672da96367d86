/* The output layer of one decoder step: the logits of all living rows, shown to their searches in groups of rows and
 * parts of columns, and the step of each search. No choice depends on the grouping:
 *
 * - Rows of several sentences share a product with the model's matrix. A sentence with a shortlist has a matrix of its
 *   own, and one whose int8 inputs are quantized together has a product of its own.
 * - A search that takes parts sees so many columns at once as stay in the cache. Others see whole rows.
 * - A search that needs only the largest logit sees coarse ones if there is a logit bound; the exact logit then
 *   comes from the few columns that can hold it, or, where the bound is not known, from all. */
#ifndef FERRY_SEARCH_OUTPUT_COLUMNS_H
#define FERRY_SEARCH_OUTPUT_COLUMNS_H

#include "base/status.h"
#include "engine/kernels/linear.h"
#include "logits.h"

typedef struct ferry_logit_bound ferry_logit_bound;
typedef struct ferry_search ferry_search;
typedef struct ferry_search_rules ferry_search_rules;
typedef struct ferry_shortlist ferry_shortlist;
typedef struct ferry_state ferry_state;

/* ---- the largest logit, by a bound (kernels/coarse.h) ---- */

/* The column of the largest logit of x that the rules of `search` admit (ferry_search_mask), the lowest one among
 * equals, and its logit; -1 if all are -INFINITY.
 * maxima [⌈N/16⌉]: the largest coarse logit of each panel, overwritten; first ≥ 0: the panel that has the largest of
 * them; the margin is finite. Errors: MEMORY, LIMIT, CANCELLED. */
ferry_status ferry_logit_bound_resolve(const ferry_logit_bound *bound, ferry_context *context, const float *x,
                                       double margin, float *maxima, int32_t first, ferry_search *search,
                                       int32_t *column, float *logit, ferry_error *error);

/* ---- logits, part by part ---- */

/* The product of rows with a matrix, in parts of its columns that stay in the processor's cache. */
typedef struct ferry_output_parts {
    ferry_context *context;
    const ferry_matrix *matrix;
    ferry_inputs inputs;
    int32_t width;       /* columns of a part */
    ferry_logits logits; /* the current part; its `order` is set for `whole` only */
} ferry_output_parts;

/* Before the first part. `whole`: one part has all columns. `rows` and scratch from the context's arena stay until the
 * last part. Errors: MEMORY, LIMIT, CANCELLED. */
ferry_status ferry_output_parts_begin(ferry_context *context, const ferry_rows *rows, const ferry_matrix *matrix,
                                      bool whole, ferry_output_parts *parts, ferry_error *error);
/* Whether no part is left. */
static inline bool ferry_output_parts_ended(const ferry_output_parts *parts)
{
    return parts->logits.first + parts->logits.count == parts->matrix->N;
}
/* Computes the next part, over the last one. Errors: MEMORY, LIMIT, CANCELLED. */
ferry_status ferry_output_parts_next(ferry_output_parts *parts, ferry_error *error);

/* A living sentence at the output layer. */
typedef struct ferry_output_sentence {
    ferry_search *search;
    const int32_t *words; /* [matrix.N] its shortlist, ascending; NULL: all words */
    ferry_matrix matrix;  /* the model's, or the words' rows of it */
    int32_t rows;         /* living hypotheses */
    bool largest_only;    /* ferry_search_needs_largest_only */
} ferry_output_sentence;

/* One step. */
typedef struct ferry_output_columns {
    ferry_state *state;
    const ferry_logit_bound *bound;   /* of the model's matrix; NULL if there is none */
    ferry_output_sentence *sentences; /* [count] */
    int32_t count;
    const float *hidden; /* [rows of all sentences, D] from ferry_decode */
    /* Results: the rows that go on, sentence by sentence. */
    int32_t *ids, *parents; /* [rows] as from ferry_search_step, with parents among all rows */
    int32_t rows;           /* zero before the step */
} ferry_output_columns;

/* A sentence of one row and all words, or with `shortlist` those of its source ids [length]. What it needs comes from
 * `arena`. Errors: those of ferry_search_begin. */
ferry_status ferry_output_begin(ferry_state *state, ferry_arena *arena, const ferry_search_rules *rules,
                                const ferry_shortlist *shortlist, const int32_t *ids, int32_t length,
                                ferry_output_sentence *sentence, ferry_error *error);

/* Steps every search and sets its sentence's rows. Errors: MEMORY, LIMIT. */
ferry_status ferry_output_step(ferry_output_columns *columns, ferry_error *error);

/* Makes a bound of the model's output matrix if searches with these options can use it, its products are faster, and
 * `tokens`, the source tokens to translate so far, pay for the time that making Ŵ takes, if the file has none, and the
 * state's account does not refuse its memory; else leaves *bound zeroed. `shortlist`: the model's, or NULL. Errors:
 * MEMORY, CANCELLED. */
ferry_status ferry_output_bound(ferry_state *state, const ferry_options *options, const ferry_shortlist *shortlist,
                                size_t tokens, ferry_logit_bound *bound, ferry_error *error);

#endif
