/* What several tests need: scratch files, converted models, golden tensors. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_SUPPORT_H
#define FERRY_SUPPORT_SUPPORT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ferry_inspect.h"
#include "models/containers/json.h"
#include "models/containers/safetensors.h"
#include "test.h"

/* FERRY_OK, or the test fails with the message. */
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        error.message[0] = 0;                                                                                          \
        if ((call) != FERRY_OK) fail_msg("%s: %s", #call, error.message);                                              \
    } while (0)

/* Path of a scratch file, static per call site's name; the directory goes at exit. */
char *scratch_path(const char *name);

/* Converts `source` (a path) to a float32 model file and opens it on the kernels `isa`. */
ferry_model *convert_and_open(const char *source, const char *isa);

/* The same of a folder of the test data. */
ferry_model *convert_data(const char *name, const char *isa);

/* "<FERRY_TEST_DATA>/name"; the caller frees. */
char *data_path(const char *name);
/* The place of large golden data (environment variable FERRY_SHARED_DATA) joined with `name`, or NULL where there is
 * none; then the test must say by name what was not run: not_run. The caller frees. */
char *shared_path(const char *name);
/* Reports that `what` was not run for want of data: a skipped test, or with CI=true a failed one. */
void not_run(const char *what);

/* A golden tensor; fails when it is absent or of another type. */
const float *golden_f32(const ferry_safetensors *file, const char *name, int64_t *rows, int64_t *columns);
const int32_t *golden_i32(const ferry_safetensors *file, const char *name, int64_t *rows, int64_t *columns);

/* max |a - b| over n numbers; a NaN counts as infinity. */
double largest_difference(const float *a, const float *b, size_t n);

/* A JSON file whose root is an object; json_decref it. */
json_t *load_json(const char *path);
/* An array of integers as malloc'ed ids. */
int32_t *json_ids(const json_t *array, int32_t *count);

#endif
