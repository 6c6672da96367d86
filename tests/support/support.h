/* What several tests need: scratch files, converted models, golden tensors. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_SUPPORT_H
#define FERRY_SUPPORT_SUPPORT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/string_table.h"
#include "engine/ferry_inspect.h"
#include "models/containers/json.h"
#include "models/containers/weights.h"
#include "test.h"

/* The call, which writes to `&error`, yields FERRY_OK, or the test fails with the message. */
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        ferry_error error = {0};                                                                                       \
        if ((call) != FERRY_OK) fail_msg("%s: %s", #call, error.message);                                              \
    } while (0)
/* The same of a call that must yield `status` and a message that contains `what`; where that is NULL, FERRY_OK. */
#define REFUSE(call, status, what)                                                                                     \
    do {                                                                                                               \
        ferry_error error = {0};                                                                                       \
        check_refusal(call, &error, status, what);                                                                     \
    } while (0)
/* The same with the whole message. */
#define REFUSE_SAYING(call, status, text)                                                                              \
    do {                                                                                                               \
        ferry_error error = {0};                                                                                       \
        check_refusal(call, &error, status, text);                                                                     \
        assert_string_equal(error.message, text);                                                                      \
    } while (0)
/* ferry_translate_with, with prefixes alone. */
static inline ferry_status translate_prefixed(ferry_translator *translator, const ferry_text *lines,
                                              const ferry_text *prefixes, size_t count, ferry_result **result,
                                              ferry_error *error)
{
    const ferry_request request = {.size = sizeof request, .prefixes = prefixes};
    return ferry_translate_with(translator, lines, count, &request, result, error);
}
void check_refusal(ferry_status found, const ferry_error *error, ferry_status status, const char *what);

/* Zeroed memory that lasts until the program ends. */
void *kept_memory(size_t size);
/* A list of these texts and a copy of their bytes, kept. */
const ferry_string_table *kept_texts(const ferry_view *views, size_t count);
#define KEPT_TEXTS(array) kept_texts(array, sizeof(array) / sizeof *(array))
/* ferry_own_memory(); 0 where a sanitizer adds to it. */
size_t own_memory(void);

/* ---- paths, which last until the program ends ---- */

/* "directory/name" */
char *in_directory(const char *directory, const char *name);
/* In the test data, `name` being a format of printf. */
__attribute__((format(printf, 1, 2))) char *data_file(const char *name, ...);
/* In the large golden data (environment variable FERRY_SHARED_DATA) or, where that is not set or lacks it, in the test
 * data, which hold small sets under the same names; where neither has it, the test ends here as not run. */
__attribute__((format(printf, 1, 2))) char *shared_file(const char *name, ...);
/* Whether there is large golden data. */
bool large_data(void);
/* In a directory of scratch files, which goes at exit. */
char *scratch_file(const char *name);
/* "NUMBER-name" there, another file at each call: Windows keeps the name of one that is still mapped. */
char *new_scratch_file(const char *name);
/* A new directory there. */
char *scratch_directory(const char *name);

/* As a file of base/files/new_file.h, whose first byte is written twice. */
ferry_status write_new_file(const char *path, const char *text, ferry_error *error);
/* How many temporary files of unfinished model files (base/files/new_file.h) are in the folder of `path`. */
size_t unfinished_files(const char *path);
/* The file `path` does not exist, and nothing unfinished lies beside it. */
void check_no_file(const char *path);

/* ---- models, golden data ---- */

/* The model that ships. */
ferry_model *open_shipped(void);
/* Converts `source` (a path) to a float32 model file and opens it on the kernels `isa`. */
ferry_model *convert_and_open(const char *source, const char *isa);

/* The same of a folder of the test data. */
ferry_model *convert_data(const char *name, const char *isa);

/* Reports that `what` was not run for want of data: a skipped test, or with CI=true a failed one. */
void not_run(const char *what);

/* A golden tensor; fails when it is absent or of another type. */
const float *golden_f32(const ferry_safetensors *file, const char *name, int64_t *rows, int64_t *columns);
const int32_t *golden_i32(const ferry_safetensors *file, const char *name, int64_t *rows, int64_t *columns);

/* max |a - b| over n numbers; a NaN counts as infinity. */
double largest_difference(const float *a, const float *b, size_t n);

/* What a translator with these options (NULL: the model's own) makes of ids or of texts; ferry_result_destroy it. */
ferry_result *generated(const ferry_model *model, const ferry_options *options, const int32_t *ids,
                        const int32_t *offsets, int32_t count);
ferry_result *translated(const ferry_model *model, const ferry_options *options, const ferry_text *texts, size_t count);
/* The model's own options. */
ferry_options default_options(const ferry_model *model);
/* Gives *options search options of its own, a copy of those that it has (NULL: the model's), for the test to change. */
ferry_search_options *own_search(ferry_options *options, const ferry_model *model);
/* With these options (NULL: the model's own); ferry_translator_destroy it. */
ferry_translator *new_translator(const ferry_model *model, const ferry_options *options);
void assert_text_is(ferry_text found, const char *expected);
bool is_same_text(ferry_text a, ferry_text b);
void assert_same_text(ferry_text a, ferry_text b);
ferry_token source_token(const ferry_result *result, size_t line, size_t index);
ferry_token target_token(const ferry_result *result, size_t line, size_t hypothesis, size_t index);
void assert_same_token(ferry_token a, ferry_token b);
/* Line `line_a` of `a` and `line_b` of `b` have the same status, and hypotheses of the same bytes: text, ids, score. */
void assert_same_line(const ferry_result *a, size_t line_a, const ferry_result *b, size_t line_b);

/* What stands before the next `separator` or the end of *text, which moves behind it; NULL once the end was reached. */
char *take_until(char **text, char separator);
/* Without its NUL. */
ferry_text as_text(const char *text);

/* A JSON file whose root is an object, kept. */
json_t *load_json(const char *path);
/* An array of integers as ids, kept. */
int32_t *json_ids(const json_t *array, int32_t *count);

#endif
