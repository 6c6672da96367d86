#include "support.h"

#include <inttypes.h>

#include "base/files/new_file.h"
#include "base/files/file_system.h"
#include "base/threads.h"
#include "tools/system/folders.h"
#include "models/convert.h"
#include "sanitized.h"

static char scratch[256];

static bool is_entry(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static void remove_all(const char *path)
{
    ferry_file_info info;
    char **names = NULL;
    size_t count = 0;
    if (!ferry_file_examine_link(path, &info)) return;
    if (info.kind == FERRY_KIND_FOLDER) ferry_folder_names(path, is_entry, &names, &count);
    for (size_t i = 0; i < count; i++) {
        remove_all(in_directory(path, names[i]));
        free(names[i]);
    }
    free(names);
    ferry_file_remove(path);
}

static void remove_scratch(void)
{
    remove_all(scratch);
}

void *kept_memory(size_t size)
{
    static struct kept {
        struct kept *next;
        max_align_t data[];
    } * all;                                      /* reachable, so no leak */
    static ferry_mutex mutex = FERRY_MUTEX_READY; /* tests have threads */
    struct kept *block = calloc(1, sizeof *block + size);
    assert_non_null(block);
    ferry_mutex_lock(&mutex);
    block->next = all;
    all = block;
    ferry_mutex_unlock(&mutex);
    return block->data;
}

/* ---- paths ---- */

const ferry_string_table *kept_texts(const ferry_view *views, size_t count)
{
    const ferry_string_table *texts;
    ferry_arena *arena = kept_memory(sizeof *arena);
    CHECK(ferry_string_table_join(arena, views, count, &texts, &error));
    return texts;
}

size_t own_memory(void)
{
#ifdef SANITIZED
    return 0;
#else
    return ferry_own_memory();
#endif
}

char *in_directory(const char *directory, const char *name)
{
    char *path = kept_memory(strlen(directory) + strlen(name) + 2);
    sprintf(path, "%s/%s", directory, name);
    return path;
}

static char *formatted(const char *directory, const char *format, va_list arguments)
{
    char name[300];
    assert_true(vsnprintf(name, sizeof name, format, arguments) < (int)sizeof name);
    return in_directory(directory, name);
}

char *data_file(const char *name, ...)
{
    va_list arguments;
    va_start(arguments, name);
    char *path = formatted(FERRY_TEST_DATA, name, arguments);
    va_end(arguments);
    return path;
}

char *shared_file(const char *name, ...)
{
    const char *const places[] = {getenv("FERRY_SHARED_DATA"), FERRY_TEST_DATA};
    char *path = NULL;
    for (size_t i = 0; i < 2; i++) {
        va_list arguments;
        ferry_file_info info;
        if (places[i] == NULL || places[i][0] == '\0') continue;
        va_start(arguments, name);
        path = formatted(places[i], name, arguments);
        va_end(arguments);
        if (ferry_file_examine(path, &info)) return path;
    }
    not_run(path);
    return NULL;
}

bool large_data(void)
{
    const char *place = getenv("FERRY_SHARED_DATA");
    return place != NULL && place[0] != '\0';
}

char *scratch_file(const char *name)
{
    if (scratch[0] == 0) {
        const char *base = getenv("TMPDIR");
        uint64_t random;
        ferry_random_bytes(&random, sizeof random);
        snprintf(scratch, sizeof scratch, "%s/ferry-test-%016" PRIx64, base != NULL ? base : "/tmp", random);
        assert_true(ferry_folder_create_private(scratch));
        atexit(remove_scratch);
    }
    return in_directory(scratch, name);
}

char *new_scratch_file(const char *name)
{
    static int number = 0;
    char numbered[40];
    snprintf(numbered, sizeof numbered, "%d-%s", number++, name);
    return scratch_file(numbered);
}

char *scratch_directory(const char *name)
{
    char *path = scratch_file(name);
    assert_true(ferry_folder_create_private(path));
    return path;
}

ferry_status write_new_file(const char *path, const char *text, ferry_error *error)
{
    ferry_new_file file;
    FERRY_TRY(ferry_new_file_open(path, &file, error));
    ferry_status status = ferry_new_file_write(&file, text, strlen(text), error);
    if (status == FERRY_OK) status = ferry_new_file_write_at(&file, 0, text, 1, error);
    if (status == FERRY_OK) status = ferry_new_file_finish(&file, error);
    ferry_new_file_close(&file);
    return status;
}

size_t unfinished_files(const char *path)
{
    size_t count = 0;
    char folder[300];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    ferry_folder *list = ferry_folder_open(folder);
    assert_non_null(list);
    for (const char *name; (name = ferry_folder_next(list)) != NULL;) count += ferry_is_temporary_name(name);
    ferry_folder_close(list);
    return count;
}

void check_no_file(const char *path)
{
    ferry_file_info info;
    assert_false(ferry_file_examine(path, &info));
    assert_int_equal(unfinished_files(path), 0);
}

/* ---- models, golden data ---- */

ferry_model *open_shipped(void)
{
    ferry_model *model;
    CHECK(ferry_model_open(FERRY_SOURCE_DIR "/models/pretrained/tatoeba-en-de.gguf", 0, &model, &error));
    return model;
}

ferry_model *convert_and_open(const char *source, const char *isa)
{
    ferry_model *model;
    const char *path = new_scratch_file("converted.gguf");
    ferry_import_options options = {.type = FERRY_F32};
    CHECK(ferry_import(source, path, &options, &error));
    CHECK(ferry_inspect_open(path, isa, NULL, &model, &error));
    remove(path); /* the mapping lives on */
    return model;
}

ferry_model *convert_data(const char *name, const char *isa)
{
    return convert_and_open(data_file("%s", name), isa);
}

void not_run(const char *what)
{
    const char *ci = getenv("CI");
    if (ci != NULL && strcmp(ci, "true") == 0) fail_msg("%s: not run, its data is absent (FERRY_SHARED_DATA)", what);
    print_message("%s: not run, its data is absent (FERRY_SHARED_DATA)\n", what);
    skip();
}

void check_refusal(ferry_status found, const ferry_error *error, ferry_status status, const char *what)
{
    if (what == NULL) {
        status = FERRY_OK;
        what = "";
    }
    if (found != status || strstr(error->message, what) == NULL)
        fail_msg("expected %d '%s', found %d '%s'", status, what, found, error->message);
    const char *argument = error->argument;
    if ((argument != NULL) != (status == FERRY_ERROR_ARGUMENT))
        fail_msg("status %d, argument %s: '%s'", status, argument != NULL ? argument : "NULL", error->message);
    if (argument == NULL) return;
    const size_t begin = strncmp(error->message, "option ", 7) == 0 ? 7 : 0, size = strlen(argument);
    if (strncmp(error->message + begin, argument, size) != 0 || error->message[begin + size] != ':')
        fail_msg("argument %s: '%s'", argument, error->message);
}

static const ferry_tensor *golden(const ferry_safetensors *file, const char *name, ferry_type type, int64_t *rows,
                                  int64_t *columns)
{
    const ferry_weights_entry *entry = ferry_weights_find(&file->weights, name);
    if (entry == NULL) fail_msg("golden tensor %s is missing", name);
    const ferry_tensor *tensor = &entry->tensor;
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

ferry_options default_options(const ferry_model *model)
{
    ferry_options options;
    CHECK(ferry_options_default(model, &options, sizeof options));
    return options;
}

ferry_search_options *own_search(ferry_options *options, const ferry_model *of)
{
    ferry_search_options *search = kept_memory(sizeof *search);
    CHECK(ferry_search_options_default(of, search, sizeof *search));
    if (options->search != NULL) *search = *options->search;
    options->search = search;
    return search;
}

ferry_translator *new_translator(const ferry_model *model, const ferry_options *options)
{
    ferry_translator *translator;
    CHECK(ferry_translator_create(model, options, &translator, &error));
    return translator;
}

ferry_result *generated(const ferry_model *model, const ferry_options *options, const int32_t *ids,
                        const int32_t *offsets, int32_t count)
{
    ferry_translator *translator = new_translator(model, options);
    ferry_result *result;
    CHECK(ferry_inspect_generate(translator, ids, offsets, count, &result, &error));
    ferry_translator_destroy(translator);
    return result;
}

ferry_result *translated(const ferry_model *model, const ferry_options *options, const ferry_text *texts, size_t count)
{
    ferry_translator *translator = new_translator(model, options);
    ferry_result *result;
    CHECK(ferry_translate(translator, texts, count, &result, &error));
    ferry_translator_destroy(translator);
    return result;
}

bool is_same_text(ferry_text a, ferry_text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

void assert_same_text(ferry_text a, ferry_text b)
{
    if (!is_same_text(a, b)) fail_msg("'%.*s' is not '%.*s'", (int)a.size, a.data, (int)b.size, b.data);
}

void assert_text_is(ferry_text found, const char *expected)
{
    assert_same_text(found, as_text(expected));
}

ferry_token source_token(const ferry_result *result, size_t line, size_t index)
{
    ferry_token token;
    CHECK(ferry_result_source_token(result, line, index, &token, sizeof token));
    return token;
}

ferry_token target_token(const ferry_result *result, size_t line, size_t hypothesis, size_t index)
{
    ferry_token token;
    CHECK(ferry_result_token(result, line, hypothesis, index, &token, sizeof token));
    return token;
}

void assert_same_token(ferry_token a, ferry_token b)
{
    assert_true(a.id == b.id && a.begin == b.begin && a.end == b.end && a.log_probability == b.log_probability);
}

void assert_same_line(const ferry_result *a, size_t line_a, const ferry_result *b, size_t line_b)
{
    assert_int_equal(ferry_result_outcome(a, line_a)->status, ferry_result_outcome(b, line_b)->status);
    assert_int_equal(ferry_result_hypothesis_count(a, line_a), ferry_result_hypothesis_count(b, line_b));
    for (size_t h = 0; h < ferry_result_hypothesis_count(a, line_a); h++) {
        const ferry_text text_a = ferry_result_text(a, line_a, h), text_b = ferry_result_text(b, line_b, h);
        const float score_a = ferry_result_score(a, line_a, h), score_b = ferry_result_score(b, line_b, h);
        const size_t tokens = ferry_result_token_count(a, line_a, h);
        assert_same_text(text_a, text_b);
        assert_memory_equal(&score_a, &score_b, sizeof score_a);
        assert_int_equal(tokens, ferry_result_token_count(b, line_b, h));
        if (tokens == 0) continue; /* a blank line */
        assert_memory_equal(ferry_inspect_result_ids(a, line_a, h), ferry_inspect_result_ids(b, line_b, h),
                            tokens * sizeof(int32_t));
    }
}

char *take_until(char **text, char separator)
{
    char *part = *text;
    if (part == NULL) return NULL;
    *text = strchr(part, separator);
    if (*text != NULL) *(*text)++ = '\0';
    return part;
}

ferry_text as_text(const char *text)
{
    return (ferry_text){text, strlen(text)};
}

json_t *load_json(const char *path)
{
    json_error_t problem;
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, &problem);
    if (root == NULL) fail_msg("%s: %s", path, problem.text);
    json_t **kept = kept_memory(sizeof root);
    return *kept = root;
}

int32_t *json_ids(const json_t *array, int32_t *count)
{
    *count = (int32_t)json_array_size(array);
    int32_t *ids = kept_memory((size_t)*count * sizeof *ids);
    for (int32_t i = 0; i < *count; i++) ids[i] = (int32_t)json_integer_value(json_array_get(array, (size_t)i));
    return ids;
}
