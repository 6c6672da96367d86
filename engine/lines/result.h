/* The public ferry_result, and the functions that fill it in. */
#ifndef FERRY_LINES_RESULT_H
#define FERRY_LINES_RESULT_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_range ferry_range;

/* The weights between tokens of one part of a line; all others are 0. */
typedef struct ferry_result_block {
    size_t end;          /* target tokens of the line up to the last one of the part */
    size_t first, count; /* source tokens */
    float *weights;      /* [target tokens of the part, count] */
} ferry_result_block;

typedef struct ferry_result_hypothesis {
    char *text; /* [size], NULL if there is none */
    size_t size;
    int32_t *ids;        /* [length] */
    float *token_scores; /* [length] */
    ferry_range *ranges; /* [length] of `text`; NULL unless tokens are wanted */
    int32_t length;
    float score;
    float coverage;             /* the coverage penalty, a part of `score` */
    float *weights;             /* of all blocks; NULL unless they are wanted */
    ferry_result_block *blocks; /* [block_count] in order */
    size_t block_count;
} ferry_result_hypothesis;

typedef struct ferry_result_line {
    ferry_result_hypothesis *hypotheses; /* [count] */
    size_t count;
    int32_t *source_ids;        /* [source_count] */
    ferry_range *source_ranges; /* [source_count] */
    size_t source_count;        /* 0 unless tokens are wanted */
    ferry_outcome outcome;      /* its texts belong to the line */
} ferry_result_line;

struct ferry_result {
    ferry_result *sentences; /* of a text: a line for each; else NULL */
    ferry_sentence *ranges;  /* of its sentences */
    size_t count;
    ferry_result_line lines[];
};

/* An empty result for `count` lines. */
ferry_status ferry_result_create(size_t count, ferry_result **result, ferry_error *error);
/* Memory for `count` hypotheses of a line, zeroed. */
ferry_status ferry_result_line_begin(ferry_result_line *line, size_t count, ferry_error *error);
/* Marks the line as failed, with the reason. */
ferry_status ferry_result_line_fail(ferry_result_line *line, ferry_status why, const char *message, ferry_error *error);
/* Adds a warning, after "; " if there is one; formatted, of at most 255 bytes. */
ferry_status ferry_result_line_add_warning(ferry_result_line *line, const char *message, ferry_error *error);
ferry_status ferry_result_line_warn(ferry_result_line *line, ferry_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Releases what the line holds. */
void ferry_result_line_clear(ferry_result_line *line);
/* Memory for the weights [hypothesis->length, source] of a hypothesis, its one block. Errors: MEMORY. */
ferry_status ferry_result_begin_weights(ferry_result_hypothesis *hypothesis, size_t source, ferry_error *error);
/* A line with one hypothesis: `text` itself, without tokens. Errors: MEMORY. */
ferry_status ferry_result_line_copy(ferry_result_line *line, ferry_view text, ferry_error *error);
/* NULL for a line or hypothesis that does not exist. */
const ferry_result_hypothesis *ferry_result_find(const ferry_result *result, size_t line, size_t hypothesis);

#endif
