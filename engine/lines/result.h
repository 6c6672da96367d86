/* The public ferry_result, and the functions that fill it in. */
#ifndef FERRY_LINES_RESULT_H
#define FERRY_LINES_RESULT_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_range ferry_range;

/* The weights between tokens of one part of a line; all others are 0. */
typedef struct ferry_result_block {
    size_t end;          /* the index after the last target token of the part, in the line */
    size_t first, count; /* source tokens first … first + count - 1 */
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
    ferry_outcome outcome;      /* its texts are allocated for the line */
    ferry_term *terms;          /* [term_count] for the next model of a row: bytes of the first hypothesis */
    size_t term_count;
} ferry_result_line;

struct ferry_result {
    ferry_result *sentences; /* the lines of a text, one for each sentence; else NULL */
    ferry_sentence *ranges;  /* [sentences->count] of the sentences */
    size_t count;
    ferry_result_line lines[];
};

/* Makes an empty result for `count` lines. */
ferry_status ferry_result_create(size_t count, ferry_result **result, ferry_error *error);
/* Allocates `count` zeroed hypotheses of a line. */
ferry_status ferry_result_line_begin(ferry_result_line *line, size_t count, ferry_error *error);
/* Marks the line as failed, with the reason. */
ferry_status ferry_result_line_fail(ferry_result_line *line, ferry_status why, const char *message, ferry_error *error);
/* Adds a warning, after "; " if there is one already. ferry_result_line_warn formats it, with at most 255 bytes. */
ferry_status ferry_result_line_add_warning(ferry_result_line *line, const char *message, ferry_error *error);
ferry_status ferry_result_line_warn(ferry_result_line *line, ferry_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Releases the memory of a line. */
void ferry_result_line_clear(ferry_result_line *line);
/* Bytes of the line's hypotheses and tokens. */
size_t ferry_result_line_bytes(const ferry_result_line *line);
/* Allocates the weights [hypothesis->length, source] of a hypothesis, as its only block. Errors: MEMORY. */
ferry_status ferry_result_begin_weights(ferry_result_hypothesis *hypothesis, size_t source, ferry_error *error);
/* Gives the line one hypothesis: `text`, without tokens. Errors: MEMORY. */
ferry_status ferry_result_line_copy(ferry_result_line *line, ferry_view text, ferry_error *error);
/* NULL for a line or hypothesis that does not exist. */
const ferry_result_hypothesis *ferry_result_find(const ferry_result *result, size_t line, size_t hypothesis);

#endif
