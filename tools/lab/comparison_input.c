#include "comparison_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file_system.h"
#include "tools/open_model.h"

#define MODEL_END ".gguf"
enum { MEMORY_TOKENS = 128 };

static bool out_of_memory(void)
{
    ferry_complain("out of memory");
    return false;
}

/* "directory/name" */
static const char *keep_path(ferry_comparison *comparison, const char *directory, const char *name)
{
    const size_t size = strlen(directory) + 1 + strlen(name) + 1;
    char *path = ferry_arena_alloc(&comparison->arena, size, 1);
    if (path != NULL) snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* ---- the shipped zoo ---- */

static bool is_model(const char *name)
{
    return ferry_text_ends(name, MODEL_END);
}

/* This build's encodings come first, in their order, then others by name. */
static size_t rank(const char *name)
{
    size_t index = 0;
    const size_t size = strlen(name) - strlen(MODEL_END);
    for (const char *encoding; (encoding = ferry_inspect_encoding(index)) != NULL; index++)
        if (strlen(encoding) == size && memcmp(name, encoding, size) == 0) break;
    return index;
}

static int compare_names(const void *a, const void *b)
{
    const char *one = *(char *const *)a, *other = *(char *const *)b;
    const size_t x = rank(one), y = rank(other);
    return x != y ? (x > y) - (x < y) : strcmp(one, other);
}

/* Paths of the zoo's models, in the comparison's arena. */
static bool list_zoo(ferry_comparison *comparison, const char *directory, const char ***paths, size_t *count)
{
    char **names;
    bool failed = false;
    if (!ferry_folder_names(directory, is_model, &names, count)) {
        ferry_complain("%s: cannot be read", directory);
        return false;
    }
    if (*count > 0) qsort(names, *count, sizeof *names, compare_names);
    *paths = ferry_arena_take(&comparison->arena, *count + 1, sizeof **paths, &failed);
    for (size_t i = 0; i < *count; i++) {
        if (!failed) (*paths)[i] = keep_path(comparison, directory, names[i]);
        failed = failed || (*paths)[i] == NULL;
        free(names[i]);
    }
    free(names);
    if (failed) return out_of_memory();
    if (*count == 0) ferry_complain("%s: holds no models", directory);
    return *count > 0;
}

/* ---- models ---- */

static bool describe(ferry_comparison *comparison, const ferry_model *model, ferry_compared_model *m)
{
    ferry_error error;
    ferry_text text;
    ferry_file_info file;
    if (!ferry_succeeded(ferry_inspect_describe(model, &text, &error), &error)) return false;
    m->description = ferry_arena_text(&comparison->arena, (ferry_view){text.data, text.size});
    ferry_inspect_free(text.data);
    const ferry_inspect_training training = ferry_inspect_get_training(model);
    m->training = ferry_arena_text(&comparison->arena, (ferry_view){training.text.data, training.text.size});
    m->trained_pieces = training.longest;
    for (int stack = 0; stack < 2; stack++) {
        m->schemes[stack] = ferry_inspect_get_scheme(model, (ferry_inspect_stack)stack);
        m->encodings[stack] = m->schemes[stack].name;
    }
    m->file_bytes = ferry_file_examine(m->path, &file) && file.kind == FERRY_KIND_FILE ? (size_t)file.size : 0;
    return (m->description != NULL && m->training != NULL) || out_of_memory();
}

/* Of a thread that translated MEMORY_TOKENS tokens into as many, or as many as the encoding permits. */
static bool measure_memory(const ferry_model *model, ferry_compared_model *m)
{
    ferry_inspect_timer *timer;
    ferry_error error;
    ferry_status status = FERRY_ERROR_LIMIT;
    for (m->memory_tokens = 2 * MEMORY_TOKENS; status == FERRY_ERROR_LIMIT && m->memory_tokens > 1;) {
        m->memory_tokens /= 2;
        status = ferry_inspect_timer_create(model, m->memory_tokens, m->memory_tokens, &timer, &error);
    }
    if (!ferry_succeeded(status, &error)) return false;
    m->memory = ferry_inspect_timer_memory(timer);
    ferry_inspect_timer_destroy(timer);
    return true;
}

static bool open_models(const ferry_call *call, ferry_comparison *comparison, ferry_comparison_input *input,
                        const char *const *paths, size_t count)
{
    bool failed = false;
    comparison->models = ferry_arena_take(&comparison->arena, count, sizeof *comparison->models, &failed);
    input->models = ferry_arena_take(&comparison->arena, count, sizeof *input->models, &failed);
    if (failed) return out_of_memory();
    memset(comparison->models, 0, count * sizeof *comparison->models);
    for (size_t i = 0; i < count; i++) {
        ferry_compared_model *m = &comparison->models[i];
        input->models[i] = ferry_open_model(call, paths[i]);
        if (input->models[i] == NULL) return false;
        comparison->count++;
        m->path = paths[i];
        if (!describe(comparison, input->models[i], m) || !measure_memory(input->models[i], m)) return false;
    }
    return true;
}

static ferry_view base_name(const char *path)
{
    const char *base = ferry_path_base(path), *name = base[0] != '\0' ? base : path;
    const size_t size = strlen(name) - (ferry_text_ends(name, MODEL_END) ? strlen(MODEL_END) : 0);
    return (ferry_view){name, size};
}

/* The name of the file without folder and end; the whole path where two files have one name. */
static bool name_models(ferry_comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++) {
        ferry_compared_model *m = &comparison->models[i];
        ferry_view name = base_name(m->path);
        for (size_t k = 0; k < comparison->count; k++)
            if (k != i && ferry_view_equal(base_name(comparison->models[k].path), base_name(m->path)))
                name = ferry_text_view(m->path);
        m->name = ferry_arena_text(&comparison->arena, name);
        if (m->name == NULL) return out_of_memory();
    }
    return true;
}

/* ---- the text ---- */

static bool read_lines(ferry_lines *lines, const char *path)
{
    if (!ferry_lines_open(lines, path)) return false;
    if (ferry_lines_rest(lines) || lines->failed) return !lines->failed;
    ferry_complain("%s: expected lines of text, found none", lines->name);
    return false;
}

static bool read_text(ferry_comparison *comparison, ferry_comparison_input *input, const char *source,
                      const char *reference)
{
    ferry_compared_text *text = &comparison->text;
    if (!read_lines(&input->source, source) || !read_lines(&input->reference, reference)) return false;
    if (input->source.count != input->reference.count) {
        ferry_complain("%s: expected %zu lines, as %s has, found %zu", input->reference.name, input->source.count,
                       input->source.name, input->reference.count);
        return false;
    }
    text->source_name = input->source.name;
    text->reference_name = input->reference.name;
    text->count = input->source.count;
    text->sources = input->source.texts;
    text->references = input->reference.texts;
    return true;
}

static bool count_tokens(const ferry_model *model, ferry_text text, size_t *count)
{
    ferry_error error;
    int32_t *ids;
    if (!ferry_succeeded(ferry_inspect_tokenize(model, text, NULL, NULL, &ids, count, &error), &error)) return false;
    ferry_inspect_free(ids);
    return true;
}

static int32_t bucket_of(int32_t pieces)
{
    int32_t bucket = FERRY_BUCKETS - 1;
    while (bucket >= 0 && pieces < ferry_buckets[bucket].least) bucket--;
    return bucket;
}

/* Source pieces: what a line has more than an empty one. */
static bool fill_buckets(ferry_comparison *comparison, const ferry_model *model)
{
    ferry_compared_text *text = &comparison->text;
    bool failed = false;
    int32_t *pieces = ferry_arena_take(&comparison->arena, text->count, sizeof *pieces, &failed);
    int32_t *buckets = ferry_arena_take(&comparison->arena, text->count, sizeof *buckets, &failed);
    size_t none, count;
    if (failed) return out_of_memory();
    if (!count_tokens(model, (ferry_text){"", 0}, &none)) return false;
    for (size_t i = 0; i < text->count; i++) {
        if (!count_tokens(model, text->sources[i], &count)) return false;
        pieces[i] = count > none ? (int32_t)(count - none) : 0;
        buckets[i] = bucket_of(pieces[i]);
        text->lines[0]++;
        if (buckets[i] >= 0) text->lines[1 + buckets[i]]++;
    }
    text->source_pieces = pieces;
    text->buckets = buckets;
    return true;
}

static void find_trained_pieces(ferry_comparison *comparison)
{
    comparison->text.trained_pieces = comparison->models[0].trained_pieces;
    for (size_t m = 1; m < comparison->count; m++)
        if (comparison->models[m].trained_pieces != comparison->text.trained_pieces)
            comparison->text.trained_pieces = 0;
}

/* Also finds out whether each model has a tokenizer. */
static bool find_longest_curve(ferry_comparison *comparison, const ferry_comparison_input *input)
{
    ferry_compared_text *text = &comparison->text;
    for (size_t m = 0; m < comparison->count; m++) {
        ferry_error error;
        int32_t *ids, *offsets, lead;
        const ferry_status status = ferry_inspect_targets(input->models[m], text->references, (int32_t)text->count,
                                                          &ids, &offsets, &lead, &error);
        if (status != FERRY_OK) {
            ferry_complain("%s: %s", comparison->models[m].path, error.message);
            return false;
        }
        for (size_t i = 0; i < text->count; i++) {
            const size_t pieces = (size_t)(offsets[i + 1] - offsets[i] - lead);
            const size_t points = (pieces + FERRY_CURVE_WIDTH - 1) / FERRY_CURVE_WIDTH;
            if (points > text->curve_count) text->curve_count = points;
        }
        ferry_inspect_free(ids);
        ferry_inspect_free(offsets);
    }
    return true;
}

/* ---- all of it ---- */

static bool open_text(const ferry_call *call, const char *zoo, ferry_comparison *comparison,
                      ferry_comparison_input *input)
{
    const char *source = ferry_option_text(call, FERRY_OPTION_INPUT),
               *reference = ferry_option_text(call, FERRY_OPTION_REFERENCE);
    if (ferry_is_given(call, FERRY_OPTION_INPUT)) return read_text(comparison, input, source, reference);
    source = keep_path(comparison, zoo, "test.en");
    reference = keep_path(comparison, zoo, "test.de");
    return source != NULL && reference != NULL ? read_text(comparison, input, source, reference) : out_of_memory();
}

bool ferry_comparison_open(const ferry_call *call, size_t first, ferry_comparison *comparison,
                           ferry_comparison_input *input)
{
    char zoo[FERRY_PATH_MAX] = "";
    const bool named = call->arguments.operand_count > first, own_text = ferry_is_given(call, FERRY_OPTION_INPUT);
    const char **paths = (const char **)call->arguments.operands + first;
    size_t count = call->arguments.operand_count - first;
    input->source.descriptor = input->reference.descriptor = -1;
    if ((!named || !own_text) && !ferry_find_zoo(call, zoo, sizeof zoo)) return false;
    if (!named && !list_zoo(comparison, zoo, &paths, &count)) return false;
    if (!open_models(call, comparison, input, paths, count) || !name_models(comparison)) return false;
    find_trained_pieces(comparison);
    return open_text(call, zoo, comparison, input) && find_longest_curve(comparison, input) &&
           fill_buckets(comparison, input->models[0]);
}

void ferry_comparison_close(const ferry_comparison *comparison, ferry_comparison_input *input)
{
    for (size_t i = 0; i < comparison->count; i++) ferry_model_close(input->models[i]);
    ferry_lines_close(&input->source);
    ferry_lines_close(&input->reference);
}

ferry_options ferry_comparison_options(const ferry_comparison *comparison, const ferry_model *model, int32_t threads)
{
    ferry_options options;
    ferry_options_default(model, &options, sizeof options);
    options.beam = comparison->beam;
    options.nbest = 1;
    options.threads = threads;
    options.batch = comparison->batch;
    options.scores = 0;
    options.max_source = 1 << 20; /* the most: lines are compared whole */
    return options;
}
