/* Tests for which a model is open as `model`: the one that ships, models/marian-separate of the test data, or a small
 * one with random weights and pieces. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_SHIPPED_MODEL_H
#define FERRY_SUPPORT_SHIPPED_MODEL_H

#include "support.h"

#define SHIPPED_TEST(name) TEST_WITH(name, open_model, close_model)
#define SEPARATE_TEST(name) TEST_WITH(name, open_separate, close_model)
#define PIECES_TEST(name) TEST_WITH(name, open_pieces, close_model)
extern ferry_model *model;
int open_model(void **state);
int open_separate(void **state);
int open_pieces(void **state);
int close_model(void **state);

#endif
