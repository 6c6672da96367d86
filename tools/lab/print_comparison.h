/* A comparison on standard output: as tables, of which each is printed as soon as it is complete, as one line of JSON,
 * or as CSV. */
#ifndef FERRY_LAB_PRINT_COMPARISON_H
#define FERRY_LAB_PRINT_COMPARISON_H

#include "comparison.h"
#include "tools/json_writer.h"

/* The name of a model, and blanks up to the width of its column. */
enum { FERRY_NAME_COLUMN = 20 };
void ferry_print_name(const char *name);

/* Tables, in this order: the text and the head of the table of all lines; a row of it for each model as it is measured;
 * what needs all models; their speed and memory; the cost of encodings, case by case; the memory that they need. */
void ferry_print_head(const ferry_comparison *comparison);
void ferry_print_model(const ferry_comparison *comparison, size_t index);
void ferry_print_buckets(const ferry_comparison *comparison);
void ferry_print_speed(const ferry_comparison *comparison);
void ferry_print_cost_head(const ferry_comparison *comparison);
void ferry_print_cost_case(const ferry_comparison *comparison, size_t index);
void ferry_print_cost_memory(const ferry_comparison *comparison);

/* Of the models that were probed. */
void ferry_print_probes(const ferry_comparison *comparison);
void ferry_put_probes(ferry_json_writer *json, const ferry_probes *probes);

void ferry_print_json(const ferry_comparison *comparison);
/* A row for each model and cell. */
void ferry_print_csv(const ferry_comparison *comparison);

#endif
