/* What `ferry compare` finds out about two models, and how it is printed. */
#ifndef FERRY_LAB_MODEL_COMPARISON_H
#define FERRY_LAB_MODEL_COMPARISON_H

#include "base/bytes.h"
#include "race.h"

enum { FERRY_COMPARED_PAIR = 2 };

/* What a model does with the text. */
typedef struct ferry_paired_model {
    const char *path;
    int32_t beam;
    const char *bytes;          /* of its file, as a decimal number */
    const ferry_result *result; /* one line for each line of the text */
    double score;               /* mean over the lines that both translated; NAN: none */
    ferry_race_speed speed;     /* token_ratio: to the first model */
} ferry_paired_model;

typedef struct ferry_model_comparison {
    ferry_paired_model models[FERRY_COMPARED_PAIR];
    size_t count;              /* lines */
    const ferry_text *sources; /* [count] */
    size_t different;          /* lines whose translations differ */
    int32_t threads;
} ferry_model_comparison;

bool ferry_model_comparison_differs(const ferry_model_comparison *comparison, size_t line);
/* A table, and the first lines that differ, or one line of JSON with all of them; on standard output. */
void ferry_print_model_comparison(const ferry_model_comparison *comparison);
void ferry_print_json_model_comparison(const ferry_model_comparison *comparison);

#endif
