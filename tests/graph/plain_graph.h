/* The whole graph of a small model in plain double-precision arithmetic, without cache, batch or kernels. */
#ifndef FERRY_TESTS_PLAIN_GRAPH_H
#define FERRY_TESTS_PLAIN_GRAPH_H

#include "tests/support/support.h"

#include "engine/graph/transformer.h"

/* logits [rows, V] of the decoder's inputs, given source ids [length]; at most 48 of either. d_model is 24, nothing is
 * wider than 32, and positions are those of small_model.h. The states of both stacks, unless these are NULL: encoder
 * [layers + 1, length, 24], decoder [layers + 1, rows, 24]: what enters each layer, and what the stack returns. */
void plain_logits(const ferry_transformer *model, const int32_t *source, int32_t length, const int32_t *inputs,
                  int32_t rows, float *encoder, float *decoder, float *logits);

#endif
