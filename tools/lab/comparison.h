/* Everything that `ferry bench encodings` measures, as one tree: the bench fills it; the table, JSON, CSV and the
 * report read it. A number that was not measured, or is undefined (a ratio to 0), is NAN. The arena owns all that
 * pointers lead to, except what is said to be static, and the text, which belongs to the input (comparison_input.h).
 *
 * Intervals (interval.h) of quality are percentiles of resampled lines (resampling.h), those of time order statistics
 * around a median (statistics.h).
 *
 * Pieces are the tokens of a text without the end of sentence, prompts and language tags. Lines are put into buckets by
 * the source pieces of the first model, so that all models are compared on the same lines. */
#ifndef FERRY_LAB_COMPARISON_H
#define FERRY_LAB_COMPARISON_H

#include <stdbool.h>

#include "base/arena.h"
#include "engine/ferry_inspect.h"
#include "interval.h"
#include "probes.h"

/* ---- the text ---- */

/* Cell 0 is all lines, cell 1 + b those of bucket b. */
enum { FERRY_BUCKETS = 8, FERRY_CELLS = 1 + FERRY_BUCKETS };

typedef struct ferry_bucket {
    int32_t least, most; /* source pieces; most INT32_MAX: no limit */
    const char *name;    /* "17-31" */
} ferry_bucket;
/* 1-8, 9-16, 17-31, 32-47, 48-63, 64-95, 96-127, 128 and more. */
extern const ferry_bucket ferry_buckets[FERRY_BUCKETS];
/* The name of a cell: "all", or the bucket's; static. */
const char *ferry_cell_name(size_t cell);

typedef struct ferry_compared_text {
    const char *source_name, *reference_name; /* file names */
    size_t count;                             /* lines, blank ones among them */
    const ferry_text *sources, *references;   /* [count] */
    const int32_t *source_pieces;             /* [count] 0: blank */
    const int32_t *buckets;                   /* [count] index in ferry_buckets; -1: blank, only in cell 0 */
    size_t lines[FERRY_CELLS];                /* of each cell */
    size_t curve_count;                       /* points of the longest curve; see ferry_curve_point */
    int32_t trained_pieces;                   /* that of all models; 0: they differ, or it is unknown */
} ferry_compared_text;

/* ---- quality ---- */

/* The likelihoods judge the references and do not depend on the model's translations. Early stops and repetition are
 * shares of lines, 0 to 1. */
typedef enum ferry_metric {
    FERRY_METRIC_BLEU, /* 0 to 100, as sacrebleu's corpus_bleu */
    FERRY_METRIC_CHRF, /* 0 to 100, as sacrebleu's corpus_chrf */
    /* -log p of a piece of the reference, given the source and the pieces before it: nats, mean over pieces. */
    FERRY_METRIC_LIKELIHOOD,
    /* -log p of the end of sentence after the whole reference: nats, mean over lines. */
    FERRY_METRIC_END,
    /* Pieces of translations / pieces of references, each summed over lines. */
    FERRY_METRIC_LENGTH_RATIO,
    /* Translations that end by themselves with fewer than FERRY_EARLY times as many pieces as the reference. */
    FERRY_METRIC_EARLY_STOP,
    /* Translations that reach the limit of length, or where 1 to FERRY_REPEATED_PIECES pieces stand three times in a
     * row, unless some do so in the reference, too. */
    FERRY_METRIC_REPETITION,
    FERRY_METRIC_COUNT
} ferry_metric;
#define FERRY_EARLY 0.7
enum { FERRY_REPEATED_PIECES = 16 };

typedef struct ferry_metric_description {
    const char *key;   /* in JSON and CSV: "bleu" */
    const char *title; /* "BLEU" */
    int better;        /* 1: more is better, -1: less is better, 0: neither */
    int decimals;      /* to print */
} ferry_metric_description;
extern const ferry_metric_description ferry_metrics[FERRY_METRIC_COUNT];

/* Likelihood by position in the reference: point i is the mean over the pieces at positions i·FERRY_CURVE_WIDTH to
 * i·FERRY_CURVE_WIDTH + FERRY_CURVE_WIDTH - 1, counted from 0, of all lines that have them. */
enum { FERRY_CURVE_WIDTH = 4 };
typedef struct ferry_curve_point {
    size_t pieces;       /* how many were averaged */
    ferry_interval nats; /* as FERRY_METRIC_LIKELIHOOD; NAN without pieces */
} ferry_curve_point;

/* One model on the lines of one cell. */
typedef struct ferry_compared_cell {
    /* Lines that the model could not translate (too long for it): empty translations for BLEU and chrF, left out of the
     * other metrics. */
    size_t failed;
    /* Lines whose likelihood it could not compute: left out of the likelihoods. */
    size_t unscored;
    ferry_interval metrics[FERRY_METRIC_COUNT];
    ferry_curve_point *curve; /* [text.curve_count] */
} ferry_compared_cell;

/* One model less another on the same lines, by paired bootstrap resampling (Koehn 2004). NAN where not the same lines
 * count for both. */
typedef struct ferry_difference {
    ferry_interval difference;
    double p; /* two-sided (resampling.h) */
} ferry_difference;

/* ---- time and memory of the models ---- */

/* Medians over lines or rounds, for each of which the models took turns. */
typedef struct ferry_compared_speed {
    ferry_interval line_ms;      /* one line, translated alone by one thread */
    ferry_interval token_ms;     /* the same for each target token that it gave, end of sentence included */
    ferry_interval token_ratio;  /* of a line's token_ms to that of the first model; with 1 in the interval: noise */
    ferry_interval tokens_per_s; /* target tokens, many lines in one call on all threads */
} ferry_compared_speed;

typedef struct ferry_compared_model {
    const char *path;
    const char *name;                /* of the file without ".gguf" */
    const char *encodings[2];        /* of the encoder and of the decoder, static */
    ferry_inspect_scheme schemes[2]; /* the same in full */
    const char *description;         /* several lines, as `ferry inspect` prints them */
    const char *training;            /* how it was trained, in words; "": unknown */
    int32_t trained_pieces;          /* of the longest training example; 0: unknown */
    const ferry_text *translations;  /* [text.count] empty for a failed line */
    const char *const *failures;     /* [text.count] why a line could not be translated; NULL: it could */
    ferry_compared_cell cells[FERRY_CELLS];
    ferry_compared_speed speed;
    ferry_inspect_memory memory; /* bytes; of a thread that translated memory_tokens into as many */
    int32_t memory_tokens;
    size_t file_bytes;    /* 0: not one file */
    ferry_probes *probes; /* buckets are those of the text; NULL: not measured */
} ferry_compared_model;

/* ---- cost: models with random weights that differ only by their encoding ---- */

enum { FERRY_COST_CASES = 6, FERRY_COST_FIRST_STEP = 3, FERRY_COST_LONGEST = 2000 };

/* Cases below FERRY_COST_FIRST_STEP: the encoder over one sentence of `source` tokens, at most FERRY_COST_LONGEST. The
 * others: a step of the decoder at target token number `target`, over a source of `source` tokens, without the output
 * matrix. */
typedef struct ferry_cost_case {
    int32_t source, target; /* target 0: the encoder */
} ferry_cost_case;
extern const ferry_cost_case ferry_cost_cases[FERRY_COST_CASES];

typedef struct ferry_cost {
    const char *encoding; /* static */
    ferry_inspect_scheme_kind kind;
    ferry_interval seconds[FERRY_COST_CASES]; /* NAN: longer than the encoding permits, or left out */
    ferry_interval ratio[FERRY_COST_CASES];   /* to the first encoding; with 1 in the interval: noise */
    ferry_inspect_memory memory;              /* bytes; without `thread` */
    /* Bytes of a thread that encoded FERRY_COST_LONGEST tokens, with its rows and the model's tables; 0: unknown. */
    size_t longest_bytes;
} ferry_cost;

typedef struct ferry_cost_section {
    ferry_inspect_shape shape; /* of all its models */
    const char *isa;           /* kernels, static */
    ferry_cost *costs;         /* [count], the first without an encoding */
    size_t count;              /* 0: not measured */
} ferry_cost_section;

/* Below this p, a difference counts as one. */
#define FERRY_SIGNIFICANT 0.05

/* ---- all of it ---- */

typedef struct ferry_comparison {
    ferry_arena arena;
    ferry_compared_text text;
    const char *isa; /* kernels, static */
    int32_t beam, threads, batch;
    int32_t resamples;             /* of lines, for intervals and p */
    uint64_t seed;                 /* of the resampling */
    ferry_compared_model *models;  /* [count] */
    size_t count;                  /* 0: only the cost was measured */
    ferry_difference *differences; /* [FERRY_CELLS, FERRY_METRIC_COUNT, count, count] */
    ferry_cost_section cost;
} ferry_comparison;

/* Model `a` less model `b` in one cell and metric. */
ferry_difference *ferry_comparison_difference(const ferry_comparison *comparison, size_t cell, ferry_metric metric,
                                              size_t a, size_t b);
/* The model with the best value of a metric in a cell; `count` of the comparison if no model has a value, or if none is
 * better than another. */
size_t ferry_comparison_best(const ferry_comparison *comparison, size_t cell, ferry_metric metric);
/* Frees everything; a zeroed comparison is allowed. */
void ferry_comparison_destroy(ferry_comparison *comparison);

#endif
