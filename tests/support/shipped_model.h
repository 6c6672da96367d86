/* A test for which the model that ships is open as `model`. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_SHIPPED_MODEL_H
#define FERRY_SUPPORT_SHIPPED_MODEL_H

#include "support.h"

#define SHIPPED_TEST(name) TEST_WITH(name, open_model, close_model)
extern ferry_model *model;
int open_model(void **state);
int close_model(void **state);

#endif
