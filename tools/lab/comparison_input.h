/* What is compared: models, and a text with its translation. */
#ifndef FERRY_LAB_COMPARISON_INPUT_H
#define FERRY_LAB_COMPARISON_INPUT_H

#include "comparison.h"
#include "tools/command.h"
#include "tools/line_reader.h"

typedef struct ferry_comparison_input {
    ferry_model **models; /* [count of the comparison] */
    ferry_lines source, reference;
} ferry_comparison_input;

/* Opens the models that the operands from `first` on name, else all of the shipped zoo, and the text of --input and
 * --reference, else the zoo's. Fills the models' names, encodings, descriptions and memory, and the whole text. Prints
 * a message and returns false on failure; close the input in either case. */
bool ferry_comparison_open(const ferry_call *call, size_t first, ferry_comparison *comparison,
                           ferry_comparison_input *input);
void ferry_comparison_close(const ferry_comparison *comparison, ferry_comparison_input *input);

/* The options of a model's translators: its own, with the comparison's beam and batch. */
ferry_options ferry_comparison_options(const ferry_comparison *comparison, const ferry_model *model, int32_t threads);

#endif
