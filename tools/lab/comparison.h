/* Everything that `ferry bench encodings` measures, as one tree: the bench fills it; the table, JSON, CSV and the
 * report read it. A number that was not measured, or is undefined (a ratio to 0), is NAN.
 *
 * Pieces are the tokens of a text without the end of sentence, prompts and language tags. Lines are put into buckets by
 * the source pieces of the first model, so that all models are compared on the same lines. */
#ifndef FERRY_LAB_COMPARISON_H
#define FERRY_LAB_COMPARISON_H

#include <stdbool.h>

#include "engine/ferry_inspect.h"

/* A measured value, and its 95 % interval. Of quality: percentiles of resampled lines (bootstrap). Of time: order
 * statistics around a median (statistics.h). */
typedef struct ferry_interval {
    double value, low, high;
} ferry_interval;

/* ---- the text ---- */

enum {
    FERRY_BUCKETS = 8,
    FERRY_CELLS = 1 + FERRY_BUCKETS /* cell 0: all lines; cell 1 + b: those of bucket b */
};

typedef struct ferry_bucket {
    int32_t least, most; /* source pieces; most INT32_MAX: no limit */
} ferry_bucket;
extern const ferry_bucket
    ferry_buckets[FERRY_BUCKETS]; /* 1-8, 9-16, 17-31, 32-47, 48-63, 64-95, 96-127, 128 and more */

typedef struct ferry_compared_text {
    const char *source_name, *reference_name; /* file names */
    size_t count;                             /* lines; blank ones are among them, and in no bucket */
    const ferry_text *sources, *references;   /* [count] */
    const int32_t *source_pieces;             /* [count] 0: blank */
    const int8_t *buckets;                    /* [count] index in ferry_buckets; -1: blank */
    size_t lines[FERRY_CELLS];                /* of each cell, without blank ones */
    int32_t trained_pieces;                   /* longest source text that the models were trained on; 0: unknown */
} ferry_compared_text;

/* ---- quality ---- */

typedef enum ferry_metric {
    FERRY_METRIC_BLEU,       /* 0 to 100, as sacrebleu's corpus_bleu (13a) */
    FERRY_METRIC_CHRF,       /* 0 to 100, as sacrebleu's corpus_chrf (chrF2) */
    FERRY_METRIC_LIKELIHOOD, /* -log p of a piece of the reference, given the pieces before it: nats, mean of pieces */
    FERRY_METRIC_END,        /* -log p of the end of sentence after the whole reference: nats, mean of lines */
    FERRY_METRIC_LENGTH_RATIO, /* pieces of translations / pieces of references, both summed over lines */
    FERRY_METRIC_EARLY_STOP,   /* share of lines (0 to 1) whose translation ends by itself with fewer than 0.7 times as
                                * many pieces as the reference */
    FERRY_METRIC_REPETITION, /* share of lines (0 to 1) whose translation reaches the limit of length, or where 1 to 16
                              * pieces stand three times in a row, unless they do so in the reference, too */
    FERRY_METRIC_COUNT
} ferry_metric;

typedef struct ferry_metric_description {
    const char *key;   /* in JSON and CSV: "bleu" */
    const char *title; /* "BLEU" */
    int better;        /* 1: more is better, -1: less is better, 0: neither */
    int decimals;      /* to print */
} ferry_metric_description;
extern const ferry_metric_description ferry_metrics[FERRY_METRIC_COUNT];

/* Likelihood by position in the target: the curve's point i is the mean over the pieces at positions
 * i·FERRY_CURVE_WIDTH … + FERRY_CURVE_WIDTH - 1, counted from 0, of all lines that have them. */
enum { FERRY_CURVE_WIDTH = 4 };
typedef struct ferry_curve_point {
    int32_t first; /* position */
    size_t pieces; /* how many were averaged; 0: value, low and high are NAN */
    ferry_interval nats;
} ferry_curve_point;

/* One model on the lines of one cell. */
typedef struct ferry_compared_cell {
    size_t lines;    /* of the cell */
    size_t failed;   /* of these, could not be translated by this model (too long for it): they count as empty
                      * translations in BLEU and chrF, and not at all in the other metrics */
    size_t unscored; /* of these, the model cannot give a likelihood: they do not count there */
    ferry_interval metrics[FERRY_METRIC_COUNT];
    ferry_curve_point *curve; /* [curve_count] */
    size_t curve_count;
} ferry_compared_cell;

/* Model `a` less model `b`, on the same lines, by paired bootstrap resampling (Koehn 2004). NAN for likelihoods if one
 * of them could not be computed for a line of the other. */
typedef struct ferry_difference {
    ferry_interval difference;
    double p; /* two-sided: twice the share of resamples in which the sign of the difference is the other one or 0 */
} ferry_difference;

/* ---- time and memory of the models ---- */

/* Medians over lines or rounds in which the models took turns. */
typedef struct ferry_compared_speed {
    ferry_interval line_ms;  /* one line, translated alone by one thread */
    ferry_interval token_ms; /* the same, divided by the target tokens it gave, end of sentence included */
    ferry_interval
        token_ratio; /* token_ms of each line / that of the first model; an interval that includes 1 is noise */
    ferry_interval tokens_per_s; /* target tokens, many lines in one call, `threads` threads */
} ferry_compared_speed;

typedef struct ferry_compared_model {
    const char *path;
    const char *name;         /* of the file, without folder and ".gguf"; made unique */
    const char *encodings[2]; /* of the encoder and the decoder: "rope", … static */
    const char *description;  /* as `ferry inspect` prints it, several lines */
    size_t file_bytes;
    ferry_compared_cell cells[FERRY_CELLS];
    const ferry_text *translations; /* [text.count] valid as long as the comparison; empty for a failed line */
    const char *const *failures;    /* [text.count] why a line failed; NULL: it did not */
    const char *unscored_reason;    /* why there are no likelihoods at all ("… no segmenter …"); NULL: there are */
    ferry_compared_speed speed;
    ferry_inspect_memory memory; /* bytes: tables and rows of the encodings, a token's keys and values, a thread */
} ferry_compared_model;

/* ---- cost: models with random weights that differ only by their encoding ---- */

enum { FERRY_COST_CASES = 6, FERRY_COST_FIRST_STEP = 3 };

/* Cases below FERRY_COST_FIRST_STEP: the encoder over one sentence of `source` tokens. The others: a step of the
 * decoder at target token number `target`, over a source of `source` tokens, without the output matrix. */
typedef struct ferry_cost_case {
    int32_t source, target; /* target 0: the encoder */
} ferry_cost_case;

typedef struct ferry_cost {
    const char *encoding;                     /* static */
    ferry_interval seconds[FERRY_COST_CASES]; /* medians; NAN: longer than the encoding permits, or left out */
    ferry_interval ratio[FERRY_COST_CASES]; /* to the first encoding, by round; an interval that includes 1 is noise */
    ferry_inspect_memory memory;            /* bytes */
    size_t thread_bytes;                    /* a thread that encoded the longest source, its rows and the model's
                                             * tables included; 0: not measured */
} ferry_cost;

typedef struct ferry_cost_section {
    ferry_inspect_shape shape; /* of all its models */
    ferry_cost_case cases[FERRY_COST_CASES];
    ferry_cost *costs; /* [count], the first without an encoding (ratios are to it) */
    size_t count;      /* 0: not measured */
} ferry_cost_section;

/* ---- all of it ---- */

typedef struct ferry_comparison {
    ferry_compared_text text;
    const char *isa; /* kernels, static */
    int32_t beam, threads, batch;
    int32_t resamples;            /* of lines, for intervals and p */
    uint64_t seed;                /* of the resampling */
    ferry_compared_model *models; /* [count], the first is the baseline of ratios; 0: only the cost was measured */
    size_t count;
    ferry_difference *differences; /* [FERRY_CELLS, FERRY_METRIC_COUNT, count, count]; see below */
    ferry_cost_section cost;
} ferry_comparison;

/* Model `a` less model `b` in one cell and metric. */
const ferry_difference *ferry_comparison_difference(const ferry_comparison *comparison, size_t cell,
                                                    ferry_metric metric, size_t a, size_t b);
/* The model with the best value of a metric in a cell; `count` of the comparison if none has a value. */
size_t ferry_comparison_best(const ferry_comparison *comparison, size_t cell, ferry_metric metric);

#endif
