/* What the sentences of the report are computed from: which lengths are beyond training, which models share an
 * encoding, what counts as a difference. */
#ifndef FERRY_LAB_REPORT_FACTS_H
#define FERRY_LAB_REPORT_FACTS_H

#include <stdio.h>

#include "base/bytes.h"
#include "comparison.h"
#include "svg.h"

typedef struct ferry_facts {
    const ferry_comparison *c;
    /* Cells with lines; 0: there is none, or the length in training is unknown. The longest bucket within that length;
     * the bucket of twice that length, or the nearest before it; the longest. */
    size_t last_seen, doubled, farthest;
} ferry_facts;

ferry_facts ferry_facts_of(const ferry_comparison *comparison);

/* Whether the cell is a bucket with lines whose lengths all were, or all were not, in training. */
bool ferry_cell_is_seen(const ferry_facts *facts, size_t cell);
bool ferry_cell_is_beyond(const ferry_facts *facts, size_t cell);

/* Kinds of models: each stack has such an encoding, or only the encoder counts. */
typedef bool (*ferry_kind)(const ferry_compared_model *model);
bool ferry_is_absolute(const ferry_compared_model *model);
bool ferry_is_relative(const ferry_compared_model *model);
bool ferry_has_positions(const ferry_compared_model *model);
bool ferry_lacks_positions(const ferry_compared_model *model);
bool ferry_encoder_lacks_positions(const ferry_compared_model *model);
bool ferry_is_for_long_texts(const ferry_compared_model *model);
bool ferry_is_not_for_long_texts(const ferry_compared_model *model);

/* Models that differ by their seeds alone: equal encodings with equal parameters. */
bool ferry_same_encoding(const ferry_compared_model *a, const ferry_compared_model *b);
/* Whether no model before it has the same encoding. */
bool ferry_is_first_of_encoding(const ferry_comparison *comparison, size_t index);
/* How many models have this one's encoding. */
size_t ferry_seeds(const ferry_comparison *comparison, size_t index);

/* The most hidden states, the input among them, that a probed model has in a stack (ferry_inspect_stack). */
size_t ferry_most_states(const ferry_comparison *comparison, int stack);

/* 1: model `a` is significantly better than `b`; -1: worse; 0: no significant difference, or not comparable. */
int ferry_better(const ferry_facts *facts, size_t cell, ferry_metric metric, size_t a, size_t b);
/* a / b of independent measurements, with an interval from both (their logarithms' half widths added as squares). */
ferry_interval ferry_ratio(ferry_interval a, ferry_interval b);
/* The share of the BLEU at the last seen length that a model keeps in a cell. */
ferry_interval ferry_kept(const ferry_facts *facts, const ferry_compared_model *model, size_t cell);

/* Text in HTML: escaped. */
void ferry_put_escaped(FILE *out, const char *text);
/* As much of a name as fits into `width` pixels of a picture. */
ferry_name ferry_fitting_name(const char *name, ferry_svg_font font, double width);
/* "a, b and c": the names of models that `wanted` holds for, [count]. */
void ferry_put_names(FILE *out, const ferry_comparison *comparison, const bool *wanted);

#endif
