/* The output layer of one decoder step. It computes the logits of all living rows, shows them to their searches in
 * groups of rows and parts of columns, and steps each search. No choice depends on the grouping:
 *
 * - Rows of several sentences share a product with the model's matrix. A sentence with a shortlist has its own matrix.
 *   A sentence whose int8 inputs are quantized together has its own product.
 * - A search that takes parts sees parts of columns that stay in the cache. Others see whole rows.
 * - A search that needs only the largest logit sees coarse logits if there is a logit bound. The exact logit then
 *   comes from the few columns that can hold it, or, without a finite margin, from all. */
#ifndef FERRY_SEARCH_OUTPUT_LAYER_H
#define FERRY_SEARCH_OUTPUT_LAYER_H

#include "base/status.h"
#include "engine/kernels/linear.h"
#include "logits.h"

typedef struct ferry_logit_bound ferry_logit_bound;
typedef struct ferry_search ferry_search;
typedef struct ferry_search_rules ferry_search_rules;
typedef struct ferry_shortlist ferry_shortlist;
typedef struct ferry_state ferry_state;

/* ---- the largest logit, by a bound (kernels/coarse.h) ---- */

/* *column: the column of the largest logit of x that the rules of `search` admit (ferry_search_mask), the lowest one
 * among equals; -1 if all are -INFINITY. *logit: its logit.
 * maxima [⌈N/16⌉]: the largest coarse logit of each panel, overwritten. first ≥ 0: the panel with the largest of
 * them. The margin is finite. Errors: MEMORY, LIMIT, CANCELLED. */
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

/* Prepares the first part. `whole`: one part has all columns. `rows` and scratch from the context's arena must stay
 * until the last part. Errors: MEMORY, LIMIT, CANCELLED. */
ferry_status ferry_output_parts_begin(ferry_context *context, const ferry_rows *rows, const ferry_matrix *matrix,
                                      bool whole, ferry_output_parts *parts, ferry_error *error);
/* Whether no part is left. */
static inline bool ferry_output_parts_ended(const ferry_output_parts *parts)
{
    return parts->logits.first + parts->logits.count == parts->matrix->N;
}
/* Computes the next part, which overwrites the last one. Errors: MEMORY, LIMIT, CANCELLED. */
ferry_status ferry_output_parts_next(ferry_output_parts *parts, ferry_error *error);

/* A living sentence at the output layer. */
typedef struct ferry_output_sentence {
    ferry_search *search;
    const int32_t *words; /* [matrix.N] its shortlist, ascending; NULL: all words */
    ferry_matrix matrix;  /* the model's output matrix, or its selection by `words` */
    int32_t rows;         /* living hypotheses */
    bool largest_only;    /* ferry_search_needs_largest_only */
} ferry_output_sentence;

typedef struct ferry_output_layer {
    ferry_state *state;
    const ferry_logit_bound *bound;   /* of the model's matrix; NULL if there is none */
    ferry_output_sentence *sentences; /* [count] */
    int32_t count;
    const float *hidden; /* [rows of all sentences, D] from ferry_decode */
    /* Results: the rows that continue, sentence by sentence. */
    int32_t *ids, *parents; /* [rows] as from ferry_search_step; parents are indices of `hidden` */
    int32_t rows;           /* zero before the step */
} ferry_output_layer;

/* Begins a sentence with one row. With `shortlist`, it has only the words of its source ids [length], if its rules
 * ask for that. Its memory comes from `arena`. Errors: those of ferry_search_begin. */
ferry_status ferry_output_begin(ferry_state *state, ferry_arena *arena, const ferry_search_rules *rules,
                                const ferry_shortlist *shortlist, const int32_t *ids, int32_t length,
                                ferry_output_sentence *sentence, ferry_error *error);

/* Steps every search and sets its sentence's rows. Errors: MEMORY, LIMIT. */
ferry_status ferry_output_step(ferry_output_layer *layer, ferry_error *error);

/* Makes a bound of the model's output matrix if
 * - searches with `options` can use it, and its products are faster;
 * - the model file has the coarse matrix Ŵ, or `tokens`, the source tokens to translate so far, pay for making it;
 * - the state's account grants the memory.
 * Else leaves *bound zeroed. `shortlist`: the model's, or NULL. Errors: MEMORY, CANCELLED. */
ferry_status ferry_output_bound(ferry_state *state, const ferry_options *options, const ferry_shortlist *shortlist,
                                size_t tokens, ferry_logit_bound *bound, ferry_error *error);

#endif
