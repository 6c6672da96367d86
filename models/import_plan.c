#define _POSIX_C_SOURCE 200809L /* access */
#include "import_plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/base/half.h"
#include "../tokenizer/sentencepiece_c.h"
#include "printable.h"

void ferry_import_plan_destroy(ferry_import_plan *plan)
{
    for (size_t i = 0; i < plan->segmenter_count; i++) ferry_spm_destroy(plan->segmenters[i]);
    for (size_t i = 0; i < plan->tree_count; i++) json_decref(plan->trees[i]);
    for (size_t i = 0; i < plan->map_count; i++) ferry_mapped_file_close(&plan->maps[i]);
    ferry_safetensors_close(&plan->weights);
    free(plan->used);
    free(plan->tensors);
    ferry_arena_destroy(&plan->arena);
    memset(plan, 0, sizeof *plan);
}

/* ---- files ---- */

const char *ferry_import_path(ferry_import_plan *plan, const char *name)
{
    const size_t size = strlen(plan->directory) + 1 + strlen(name) + 1;
    char *path = ferry_arena_alloc(&plan->arena, size, 1);
    if (path != NULL) snprintf(path, size, "%s/%s", plan->directory, name);
    return path;
}

bool ferry_import_has_file(ferry_import_plan *plan, const char *name)
{
    const char *path = ferry_import_path(plan, name);
    return path != NULL && access(path, F_OK) == 0;
}

ferry_status ferry_import_map(ferry_import_plan *plan, const char *name, ferry_view *bytes, ferry_error *error)
{
    const char *path = ferry_import_path(plan, name);
    if (path == NULL) return ferry_fail_memory(error, "a file name", strlen(name));
    if (plan->map_count == FERRY_IMPORT_MAX_FILES) {
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: more than %d files", path, FERRY_IMPORT_MAX_FILES);
    }
    ferry_mapped_file *map = &plan->maps[plan->map_count];
    FERRY_TRY(ferry_mapped_file_open(path, map, error));
    plan->map_names[plan->map_count++] = path + strlen(plan->directory) + 1;
    *bytes = map->bytes;
    return ferry_check_not_lfs_pointer(map->bytes, path, error);
}

ferry_status ferry_import_json(ferry_import_plan *plan, const char *name, ferry_json *json, ferry_error *error)
{
    ferry_view text;
    json_t *tree;
    FERRY_TRY(ferry_import_map(plan, name, &text, error));
    const char *path = ferry_import_path(plan, name);
    if (path == NULL) return ferry_fail_memory(error, "a file name", strlen(name));
    FERRY_TRY(ferry_json_parse(text, path, &tree, error));
    plan->trees[plan->tree_count++] = tree; /* one for each map at most */
    *json = (ferry_json){tree, path};
    return FERRY_OK;
}

ferry_status ferry_import_optional_json(ferry_import_plan *plan, const char *name, ferry_json *json, ferry_error *error)
{
    *json = (ferry_json){NULL, name};
    return ferry_import_has_file(plan, name) ? ferry_import_json(plan, name, json, error) : FERRY_OK;
}

ferry_status ferry_import_licence(ferry_import_plan *plan, ferry_error *error)
{
    static const char *const names[] = {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (ferry_import_has_file(plan, names[i])) return ferry_import_map(plan, names[i], &plan->licence, error);
    }
    return FERRY_OK;
}

/* ---- tensors ---- */

ferry_status ferry_import_open_weights(ferry_import_plan *plan, ferry_error *error)
{
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json"};
    const char *found = NULL;
    for (size_t i = 0; i < 2 && found == NULL; i++) {
        if (ferry_import_has_file(plan, names[i])) found = names[i];
    }
    if (found == NULL) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected %s or %s%s", plan->directory, names[0],
                          names[1],
                          ferry_import_has_file(plan, "pytorch_model.bin") ? "; pytorch_model.bin is not supported"
                                                                           : "");
    }
    const char *path = ferry_import_path(plan, found);
    if (path == NULL) return ferry_fail_memory(error, "a file name", strlen(found));
    FERRY_TRY(ferry_safetensors_open(path, &plan->weights, error));
    plan->used = calloc(plan->weights.tensor_count + 1, sizeof *plan->used);
    if (plan->used == NULL) return ferry_fail_memory(error, "a list of tensors", plan->weights.tensor_count);
    return FERRY_OK;
}

typedef struct full_name {
    char text[256];
} full_name;

static full_name join(const char *prefix, const char *name)
{
    full_name result;
    snprintf(result.text, sizeof result.text, "%s%s", prefix, name);
    return result;
}

const ferry_tensor *ferry_import_find(ferry_import_plan *plan, const char *prefix, const char *name)
{
    const ferry_tensor *tensor = ferry_safetensors_find(&plan->weights, join(prefix, name).text);
    if (tensor != NULL) plan->used[tensor - plan->weights.tensors] = true;
    return tensor;
}

ferry_status ferry_import_check_shape(const ferry_import_plan *plan, const ferry_tensor *tensor, int32_t N, int32_t K,
                                      ferry_error *error)
{
    const char *file = ferry_safetensors_path(&plan->weights, tensor);
    const ferry_printable name = ferry_printable_view(tensor->name);
    const ferry_type type = tensor->type;
    if (type != FERRY_F32 && type != FERRY_F16 && type != FERRY_BF16 && type != FERRY_F64) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: tensor '%s': expected floating-point numbers, found %s integers", file, name.text,
                          ferry_type_name(type));
    }
    const ferry_tensor expected = {.dims = K > 0 ? 2 : 1, .shape = {N, K > 0 ? K : 1, 1, 1}};
    if (tensor->dims == expected.dims && memcmp(tensor->shape, expected.shape, sizeof expected.shape) == 0) {
        return FERRY_OK;
    }
    char wanted[100], found[100];
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected shape %s, found %s", file, name.text,
                      ferry_tensor_shape_text(&expected, wanted, sizeof wanted),
                      ferry_tensor_shape_text(tensor, found, sizeof found));
}

ferry_status ferry_import_take(ferry_import_plan *plan, const char *prefix, const char *name, int32_t N, int32_t K,
                               const ferry_tensor **tensor, ferry_error *error)
{
    *tensor = ferry_import_find(plan, prefix, name);
    if (*tensor == NULL) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s%s' is missing", plan->directory, prefix, name);
    }
    return ferry_import_check_shape(plan, *tensor, N, K, error);
}

ferry_status ferry_import_add(ferry_import_plan *plan, const ferry_tensor *source, ferry_import_form form,
                              ferry_error *error, const char *name, ...)
{
    if (plan->tensor_count == plan->tensor_capacity) {
        const size_t capacity = 2 * plan->tensor_capacity + 64;
        ferry_import_tensor *tensors = realloc(plan->tensors, capacity * sizeof *tensors);
        if (tensors == NULL) return ferry_fail_memory(error, "a list of tensors", capacity * sizeof *tensors);
        plan->tensors = tensors;
        plan->tensor_capacity = capacity;
    }
    ferry_import_tensor *tensor = &plan->tensors[plan->tensor_count++];
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(tensor->name, sizeof tensor->name, name, arguments);
    va_end(arguments);
    tensor->source = source;
    tensor->form = form;
    return FERRY_OK;
}

ferry_status ferry_import_check_unused(const ferry_import_plan *plan, bool (*ignored)(ferry_view name),
                                       ferry_error *error)
{
    for (size_t i = 0; i < plan->weights.tensor_count; i++) {
        const ferry_tensor *tensor = &plan->weights.tensors[i];
        if (plan->used[i] || (ignored != NULL && ignored(tensor->name))) continue;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s' is unknown",
                          ferry_safetensors_path(&plan->weights, tensor), ferry_printable_view(tensor->name).text);
    }
    return FERRY_OK;
}

void ferry_import_widen(const ferry_tensor *tensor, size_t first, size_t count, float *values)
{
    const size_t size = ferry_type_size(tensor->type);
    const unsigned char *data = (const unsigned char *)tensor->data + first * size;
    if (tensor->type == FERRY_F32) {
        memcpy(values, data, count * size);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint16_t half = 0;
        double wide = 0;
        if (tensor->type == FERRY_F64) {
            memcpy(&wide, data + i * size, sizeof wide);
            values[i] = (float)wide;
        } else {
            memcpy(&half, data + i * size, sizeof half);
            values[i] = tensor->type == FERRY_F16 ? ferry_f16_to_f32(half) : ferry_bf16_to_f32(half);
        }
    }
}
