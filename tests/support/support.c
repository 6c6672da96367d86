#define _GNU_SOURCE /* asprintf, nftw, mkdtemp */
#include "support.h"

#include <ftw.h>
#include <unistd.h>

#include "models/convert.h"

static char scratch[256];

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)walk;
    (void)type;
    (void)status;
    return remove(path);
}

static void remove_scratch(void)
{
    nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static char *join(const char *directory, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0) abort();
    return path;
}

char *scratch_path(const char *name)
{
    if (scratch[0] == 0) {
        const char *base = getenv("TMPDIR");
        snprintf(scratch, sizeof scratch, "%s/ferry-test-XXXXXX", base != NULL ? base : "/tmp");
        assert_non_null(mkdtemp(scratch));
        atexit(remove_scratch);
    }
    return join(scratch, name);
}

ferry_model *convert_and_open(const char *source, const char *isa)
{
    ferry_error error;
    ferry_model *model;
    char *path = scratch_path("converted.gguf");
    ferry_import_options options = {.type = FERRY_F32};
    CHECK(ferry_import(source, path, &options, &error));
    CHECK(ferry_inspect_open(path, isa, &model, &error));
    unlink(path); /* the mapping lives on */
    free(path);
    return model;
}

ferry_model *convert_data(const char *name, const char *isa)
{
    char *path = data_path(name);
    ferry_model *model = convert_and_open(path, isa);
    free(path);
    return model;
}

char *data_path(const char *name)
{
    return join(FERRY_TEST_DATA, name);
}

char *shared_path(const char *name)
{
    const char *place = getenv("FERRY_SHARED_DATA");
    if (place == NULL || place[0] == 0) return NULL;
    char *path = join(place, name);
    if (access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

void not_run(const char *what)
{
    const char *ci = getenv("CI");
    if (ci != NULL && strcmp(ci, "true") == 0) fail_msg("%s: not run, its data is absent (FERRY_SHARED_DATA)", what);
    print_message("%s: not run, its data is absent (FERRY_SHARED_DATA)\n", what);
    skip();
}

static const ferry_tensor *golden(const ferry_safetensors *file, const char *name, ferry_type type, int64_t *rows,
                                  int64_t *columns)
{
    const ferry_tensor *tensor = ferry_safetensors_find(file, name);
    if (tensor == NULL) fail_msg("golden tensor %s is missing", name);
    assert_int_equal(tensor->type, type);
    assert_true(tensor->dims <= 3);
    *columns = tensor->shape[tensor->dims - 1];
    *rows = ferry_tensor_count(tensor) / *columns;
    assert_int_equal((uintptr_t)tensor->data % 4, 0);
    return tensor;
}

const float *golden_f32(const ferry_safetensors *file, const char *name, int64_t *rows, int64_t *columns)
{
    return golden(file, name, FERRY_F32, rows, columns)->data;
}

const int32_t *golden_i32(const ferry_safetensors *file, const char *name, int64_t *rows, int64_t *columns)
{
    return golden(file, name, FERRY_I32, rows, columns)->data;
}

double largest_difference(const float *a, const float *b, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        const double difference = fabs((double)a[i] - (double)b[i]);
        if (!(difference <= largest)) largest = isnan(difference) ? (double)INFINITY : difference;
    }
    return largest;
}

json_t *load_json(const char *path)
{
    json_error_t problem;
    json_t *root = json_load_file(path, 0, &problem);
    if (root == NULL) fail_msg("%s: %s", path, problem.text);
    return root;
}

int32_t *json_ids(const json_t *array, int32_t *count)
{
    *count = (int32_t)json_array_size(array);
    int32_t *ids = malloc(((size_t)*count + 1) * sizeof *ids);
    assert_non_null(ids);
    for (int32_t i = 0; i < *count; i++) ids[i] = (int32_t)json_integer_value(json_array_get(array, (size_t)i));
    return ids;
}
