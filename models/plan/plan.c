#include "plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "tokenizer/sentencepiece_c.h"
#include "base/printable.h"

void ferry_import_plan_init(ferry_import_plan *plan, ferry_import_source *source)
{
    *plan = (ferry_import_plan){.source = source,
                                .name = ferry_import_source_base(source),
                                .prefix = "",
                                .model = {.embedding_scale = 1, .output_scale = 1},
                                .generation = {.pad_id = -1,
                                               .alignment_layer = -1,
                                               .alignment_head = -1,
                                               .decoding = {.beam = 1,
                                                            .length_penalty = 1,
                                                            .length_factor = 3,
                                                            .length_extra = 50,
                                                            .repetition_penalty = 1,
                                                            .forced_first_id = -1,
                                                            .forced_last_id = -1,
                                                            .shortlist = true}},
                                .text = {.languages = {.default_source = -1, .default_target = -1}}};
}

void ferry_import_plan_destroy(ferry_import_plan *plan)
{
    for (size_t i = 0; i < plan->segmenter_count; i++) ferry_spm_destroy(plan->segmenters[i]);
    for (size_t i = 0; i < plan->tree_count; i++) json_decref(plan->trees[i]);
    for (size_t i = 0; i < plan->shard_count; i++) ferry_weights_close(&plan->shards[i]);
    ferry_weights_close(&plan->weights);
    free(plan->shards);
    free(plan->used);
    free(plan->tensors);
    ferry_arena_destroy(&plan->arena);
    memset(plan, 0, sizeof *plan);
}

/* ---- files ---- */

bool ferry_import_has_file(const ferry_import_plan *plan, const char *name)
{
    return ferry_import_source_has(plan->source, name);
}

ferry_status ferry_import_map(ferry_import_plan *plan, const char *name, ferry_view *bytes, ferry_error *error)
{
    return ferry_import_source_map(plan->source, name, bytes, error);
}

ferry_status ferry_import_keep_json(ferry_import_plan *plan, const char *file, json_t *tree, ferry_error *error)
{
    if (plan->tree_count < FERRY_IMPORT_MAX_TREES) {
        plan->trees[plan->tree_count++] = tree;
        return FERRY_OK;
    }
    json_decref(tree);
    return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: more than %d JSON files", file, FERRY_IMPORT_MAX_TREES);
}

ferry_status ferry_import_json(ferry_import_plan *plan, const char *name, ferry_json *json, ferry_error *error)
{
    ferry_view text;
    json_t *tree;
    const char *file = ferry_import_source_label(plan->source, name);
    FERRY_TRY(ferry_import_map(plan, name, &text, error));
    FERRY_TRY(ferry_json_parse(text, file, &tree, error));
    FERRY_TRY(ferry_import_keep_json(plan, file, tree, error));
    *json = (ferry_json){tree, file};
    return FERRY_OK;
}

ferry_status ferry_import_optional_json(ferry_import_plan *plan, const char *name, ferry_json *json, ferry_error *error)
{
    *json = (ferry_json){NULL, ferry_import_source_label(plan->source, name)};
    return ferry_import_has_file(plan, name) ? ferry_import_json(plan, name, json, error) : FERRY_OK;
}

ferry_status ferry_import_license(ferry_import_plan *plan, ferry_error *error)
{
    static const char *const names[] = {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (ferry_import_has_file(plan, names[i])) return ferry_import_map(plan, names[i], &plan->license, error);
    }
    return FERRY_OK;
}

ferry_status ferry_import_find_file(ferry_import_plan *plan, const char *start, const char *end, const char **name,
                                    ferry_error *error)
{
    *name = NULL;
    for (size_t i = 0; i < ferry_import_source_count(plan->source); i++) {
        const char *found = ferry_import_source_name(plan->source, i);
        if (strlen(found) < strlen(start) + strlen(end) || !ferry_text_begins(found, start) ||
            !ferry_text_ends(found, end))
            continue;
        if (*name != NULL) {
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected one file %s…%s, found '%s' and '%s'",
                              ferry_import_source_path(plan->source), start, end,
                              ferry_printable_view((ferry_view){*name, strlen(*name)}).text,
                              ferry_printable_view((ferry_view){found, strlen(found)}).text);
        }
        *name = found;
    }
    return FERRY_OK;
}

/* ---- weights ---- */

ferry_status ferry_import_weights_ready(ferry_import_plan *plan, ferry_error *error)
{
    free(plan->used);
    plan->used = calloc(plan->weights.count + 1, sizeof *plan->used);
    if (plan->used == NULL) return ferry_fail_memory(error, "a list of tensors", plan->weights.count);
    return FERRY_OK;
}

/* The bytes of `name`, read into *weights. */
static ferry_status read_file(ferry_import_plan *plan, const char *name, ferry_weights_reader *read,
                              ferry_weights *weights, ferry_error *error)
{
    ferry_view bytes;
    FERRY_TRY(ferry_import_map(plan, name, &bytes, error));
    return read(bytes, ferry_import_source_label(plan->source, name), weights, error);
}

ferry_status ferry_import_read_weights(ferry_import_plan *plan, const char *name, ferry_weights_reader *read,
                                       ferry_error *error)
{
    ferry_weights_close(&plan->weights);
    FERRY_TRY(read_file(plan, name, read, &plan->weights, error));
    return ferry_import_weights_ready(plan, error);
}

/* The shards' tensors in one list; names and data stay the shards'. */
static ferry_status merge_shards(ferry_import_plan *plan, ferry_error *error)
{
    ferry_weights *all = &plan->weights;
    size_t count = 0;
    for (size_t i = 0; i < plan->shard_count; i++) count += plan->shards[i].count;
    all->entries = ferry_arena_alloc(&all->arena, count + 1, sizeof *all->entries);
    if (all->entries == NULL) return ferry_fail_memory(error, "a list of tensors", count * sizeof *all->entries);
    for (size_t i = 0; i < plan->shard_count; i++) {
        const ferry_weights *shard = &plan->shards[i];
        for (size_t j = 0; j < shard->count; j++) all->entries[all->count++] = shard->entries[j];
    }
    FERRY_TRY(ferry_weights_sort(all, error));
    return ferry_import_weights_ready(plan, error);
}

/* The tensors of the index and those of the files must be the same, and each where the index says. */
static ferry_status check_index(const ferry_import_plan *plan, ferry_json index, const json_t *map, ferry_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)map, name, value) {
        const ferry_weights_entry *entry = ferry_weights_find(&plan->weights, name);
        const char *file = ferry_import_source_label(plan->source, json_string_value(value));
        if (entry == NULL || strcmp(entry->file, file) != 0) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is not in '%s'", index.file,
                              ferry_printable_view((ferry_view){name, strlen(name)}).text, json_string_value(value));
        }
    }
    for (size_t i = 0; i < plan->weights.count; i++) {
        const ferry_weights_entry *entry = &plan->weights.entries[i];
        if (json_object_getn(map, entry->tensor.name.data, entry->tensor.name.size) != NULL) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' of %s is not listed", index.file,
                          ferry_printable_view(entry->tensor.name).text, entry->file);
    }
    return FERRY_OK;
}

/* Reads the file `name` unless an earlier tensor brought it in. */
static ferry_status read_shard(ferry_import_plan *plan, ferry_json index, const char *name, const char **names,
                               ferry_weights_reader *read, ferry_error *error)
{
    if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL) {
        return ferry_fail(
            error, FERRY_ERROR_FORMAT, "%s: '%s' is not the name of a file beside it", index.file,
            ferry_printable_view((ferry_view){name != NULL ? name : "", name != NULL ? strlen(name) : 0}).text);
    }
    for (size_t i = 0; i < plan->shard_count; i++) {
        if (strcmp(names[i], name) == 0) return FERRY_OK;
    }
    if (plan->shard_count == FERRY_IMPORT_MAX_SHARDS) {
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: more than %d files", index.file, FERRY_IMPORT_MAX_SHARDS);
    }
    FERRY_TRY(read_file(plan, name, read, &plan->shards[plan->shard_count], error));
    names[plan->shard_count++] = name;
    return FERRY_OK;
}

/* The files that "….index.json" lists. */
static ferry_status read_shards(ferry_import_plan *plan, const char *index_name, ferry_weights_reader *read,
                                ferry_error *error)
{
    const char *tensor;
    json_t *value;
    ferry_json index;
    FERRY_TRY(ferry_import_json(plan, index_name, &index, error));
    const json_t *map = ferry_json_get(index, "weight_map");
    if (!json_is_object(map)) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: 'weight_map' is missing", index.file);
    const char **names = ferry_arena_alloc(&plan->arena, FERRY_IMPORT_MAX_SHARDS, sizeof *names);
    plan->shards = calloc(FERRY_IMPORT_MAX_SHARDS, sizeof *plan->shards);
    if (names == NULL || plan->shards == NULL) {
        return ferry_fail_memory(error, "a list of files", FERRY_IMPORT_MAX_SHARDS * sizeof *plan->shards);
    }
    json_object_foreach ((json_t *)(uintptr_t)map, tensor, value) {
        FERRY_TRY(read_shard(plan, index, json_string_value(value), names, read, error));
    }
    FERRY_TRY(merge_shards(plan, error));
    return check_index(plan, index, map, error);
}

static ferry_status open_named(ferry_import_plan *plan, const char *name, ferry_error *error)
{
    const bool index = ferry_text_ends(name, ".index.json");
    ferry_weights_reader *read =
        ferry_text_ends(name, ".safetensors") || ferry_text_ends(name, ".safetensors.index.json")
            ? ferry_safetensors_read
            : ferry_torch_read;
    return index ? read_shards(plan, name, read, error) : ferry_import_read_weights(plan, name, read, error);
}

ferry_status ferry_import_open_weights(ferry_import_plan *plan, ferry_error *error)
{
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                        "pytorch_model.bin.index.json"};
    const char *selected = ferry_import_source_selected(plan->source);
    if (selected != NULL) return open_named(plan, selected, error);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (ferry_import_has_file(plan, names[i])) return open_named(plan, names[i], error);
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected %s, %s, %s or %s",
                      ferry_import_source_path(plan->source), names[0], names[1], names[2], names[3]);
}

/* ---- tensors ---- */

typedef struct full_name {
    char text[256];
} full_name;

static full_name join(const char *prefix, const char *name)
{
    full_name result;
    snprintf(result.text, sizeof result.text, "%s%s", prefix, name);
    return result;
}

const ferry_weights_entry *ferry_import_find(ferry_import_plan *plan, const char *prefix, const char *name)
{
    const ferry_weights_entry *entry = ferry_weights_find(&plan->weights, join(prefix, name).text);
    if (entry != NULL) plan->used[entry - plan->weights.entries] = true;
    return entry;
}

bool ferry_import_has_prefix(const ferry_import_plan *plan, const char *prefix)
{
    const size_t size = strlen(prefix);
    for (size_t i = 0; i < plan->weights.count; i++) {
        const ferry_view name = plan->weights.entries[i].tensor.name;
        if (name.size > size && memcmp(name.data, prefix, size) == 0) return true;
    }
    return false;
}

/* Dimensions before the first that is not 1; the last one always counts. */
static int32_t leading_ones(const ferry_tensor *tensor)
{
    int32_t at = 0;
    while (at + 1 < tensor->dims && tensor->shape[at] == 1) at++;
    return at;
}

static bool same_shape(const ferry_tensor *a, const ferry_tensor *b)
{
    const int32_t from_a = leading_ones(a), from_b = leading_ones(b);
    if (a->dims - from_a != b->dims - from_b) return false;
    for (int32_t i = 0; i < a->dims - from_a; i++) {
        if (a->shape[from_a + i] != b->shape[from_b + i]) return false;
    }
    return true;
}

ferry_status ferry_import_check_shape(const ferry_import_plan *plan, const ferry_weights_entry *entry, int32_t N,
                                      int32_t K, ferry_error *error)
{
    (void)plan;
    const ferry_tensor *tensor = &entry->tensor;
    const ferry_printable name = ferry_printable_view(tensor->name);
    const ferry_type type = tensor->type;
    if (type != FERRY_F32 && type != FERRY_F16 && type != FERRY_BF16 && type != FERRY_F64) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: tensor '%s': expected floating-point numbers, found %s integers", entry->file, name.text,
                          ferry_type_name(type));
    }
    const ferry_tensor expected = {.dims = K > 0 ? 2 : 1, .shape = {N, K > 0 ? K : 1, 1, 1}};
    if (same_shape(tensor, &expected)) return FERRY_OK;
    char wanted[100], found[100];
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected shape %s, found %s", entry->file, name.text,
                      ferry_tensor_shape_text(&expected, wanted, sizeof wanted),
                      ferry_tensor_shape_text(tensor, found, sizeof found));
}

ferry_status ferry_import_take(ferry_import_plan *plan, const char *prefix, const char *name, int32_t N, int32_t K,
                               const ferry_weights_entry **entry, ferry_error *error)
{
    *entry = ferry_import_find(plan, prefix, name);
    if (*entry == NULL) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s%s' is missing",
                          ferry_import_source_path(plan->source), prefix, name);
    }
    return ferry_import_check_shape(plan, *entry, N, K, error);
}

/* The last two dimensions, or the last one of a vector; those before them must be 1. What does not fit becomes a size
 * of 0, which ferry_import_add_tensor refuses. */
static ferry_import_tensor whole(const ferry_weights_entry *source, ferry_import_form form)
{
    const int32_t dims = source->tensor.dims;
    const bool vector = form == FERRY_IMPORT_VECTOR || form == FERRY_IMPORT_INTEGERS;
    int64_t last = dims > 0 ? source->tensor.shape[dims - 1] : 1;
    int64_t before = dims > 1 ? source->tensor.shape[dims - 2] : 1;
    const bool fits = last <= INT32_MAX && before <= INT32_MAX &&
                      ferry_tensor_count(&source->tensor) == (vector ? last : before * last);
    if (!fits) last = before = 0;
    const int64_t last_stride = dims > 0 ? source->strides[dims - 1] : 1;
    const int64_t before_stride = dims > 1 ? source->strides[dims - 2] : 0;
    ferry_import_tensor result = {.form = form, .source = source};
    result.N = (int32_t)(vector ? last : before);
    result.K = (int32_t)(vector ? fits : last);
    result.row = vector ? last_stride : before_stride;
    result.column = vector ? 0 : last_stride;
    if (source->multiplier != 0) {
        result.multipliers = &source->multiplier;
        result.multiplier_count = 1;
    }
    return result;
}

ferry_import_tensor ferry_import_transposed(const ferry_weights_entry *source, ferry_import_form form)
{
    ferry_import_tensor result = whole(source, form);
    const ferry_import_tensor other = result;
    result.N = other.K;
    result.K = other.N;
    result.row = other.column;
    result.column = other.row;
    return result;
}

ferry_import_tensor ferry_import_rows(const ferry_weights_entry *source, ferry_import_form form, int32_t first,
                                      int32_t N)
{
    ferry_import_tensor result = whole(source, form);
    result.offset = first * result.row;
    result.N = N;
    return result;
}

/* Every number that the tensor names must be inside the source's bytes. */
static bool is_inside(const ferry_import_tensor *tensor)
{
    const ferry_tensor *source = &tensor->source->tensor;
    const size_t size = ferry_type_size(source->type);
    size_t rows, columns, last;
    if (size == 0 || tensor->offset < 0 || tensor->row < 0 || tensor->column < 0) return false;
    return ferry_mul_size((size_t)tensor->N - 1, (size_t)tensor->row, &rows) &&
           ferry_mul_size((size_t)tensor->K - 1, (size_t)tensor->column, &columns) &&
           ferry_add_size(rows, columns, &last) && ferry_add_size(last, (size_t)tensor->offset, &last) &&
           last < source->bytes / size;
}

static ferry_status check_source(const ferry_import_tensor *tensor, ferry_error *error)
{
    if (tensor->source == NULL) return FERRY_OK;
    const ferry_tensor *source = &tensor->source->tensor;
    const ferry_printable name = ferry_printable_view(source->name);
    const bool codes = source->type == FERRY_I8 || source->type == FERRY_I16;
    const bool known = codes || source->type == FERRY_F32 || source->type == FERRY_F16 || source->type == FERRY_BF16 ||
                       source->type == FERRY_F64;
    if (!known) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': element type %s is not supported for '%s'",
                          tensor->source->file, name.text, ferry_type_name(source->type), tensor->name);
    }
    if (codes &&
        (tensor->multipliers == NULL || (tensor->multiplier_count != 1 && tensor->multiplier_count != tensor->N))) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': integers without a multiplier",
                          tensor->source->file, name.text);
    }
    char shape[100];
    if (tensor->N >= 1 && tensor->K >= 1 && is_inside(tensor)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': shape %s does not hold '%s'", tensor->source->file,
                      name.text, ferry_tensor_shape_text(source, shape, sizeof shape), tensor->name);
}

static ferry_status add_tensor(ferry_import_plan *plan, const ferry_import_tensor *tensor, ferry_error *error,
                               const char *name, va_list arguments)
{
    if (plan->tensor_count == plan->tensor_capacity) {
        const size_t capacity = 2 * plan->tensor_capacity + 64;
        ferry_import_tensor *tensors = realloc(plan->tensors, capacity * sizeof *tensors);
        if (tensors == NULL) return ferry_fail_memory(error, "a list of tensors", capacity * sizeof *tensors);
        plan->tensors = tensors;
        plan->tensor_capacity = capacity;
    }
    ferry_import_tensor *added = &plan->tensors[plan->tensor_count];
    *added = *tensor;
    vsnprintf(added->name, sizeof added->name, name, arguments);
    FERRY_TRY(check_source(added, error));
    plan->tensor_count++;
    return FERRY_OK;
}

ferry_status ferry_import_add(ferry_import_plan *plan, const ferry_weights_entry *source, ferry_import_form form,
                              ferry_error *error, const char *name, ...)
{
    const ferry_import_tensor tensor = whole(source, form);
    va_list arguments;
    va_start(arguments, name);
    const ferry_status status = add_tensor(plan, &tensor, error, name, arguments);
    va_end(arguments);
    return status;
}

ferry_status ferry_import_add_tensor(ferry_import_plan *plan, const ferry_import_tensor *tensor, ferry_error *error,
                                     const char *name, ...)
{
    va_list arguments;
    va_start(arguments, name);
    const ferry_status status = add_tensor(plan, tensor, error, name, arguments);
    va_end(arguments);
    return status;
}

ferry_status ferry_import_check_unused(const ferry_import_plan *plan, bool (*ignored)(ferry_view name),
                                       ferry_error *error)
{
    for (size_t i = 0; i < plan->weights.count; i++) {
        const ferry_weights_entry *entry = &plan->weights.entries[i];
        if (plan->used[i] || (ignored != NULL && ignored(entry->tensor.name))) continue;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s' is unknown", entry->file,
                          ferry_printable_view(entry->tensor.name).text);
    }
    return FERRY_OK;
}

void ferry_import_widen(const ferry_tensor *tensor, int64_t first, int64_t step, size_t count, float *values)
{
    const size_t size = ferry_type_size(tensor->type), stride = (size_t)step * size;
    const unsigned char *data = (const unsigned char *)tensor->data + (size_t)first * size;
    if (tensor->type == FERRY_F32 && step == 1) {
        memcpy(values, data, count * size);
        return;
    }
    for (size_t i = 0; i < count; i++, data += stride) {
        uint16_t half = 0;
        double wide = 0;
        switch (tensor->type) {
        case FERRY_F32: memcpy(&values[i], data, sizeof values[i]); break;
        case FERRY_F64:
            memcpy(&wide, data, sizeof wide);
            values[i] = (float)wide;
            break;
        default:
            memcpy(&half, data, sizeof half);
            values[i] = tensor->type == FERRY_F16 ? ferry_f16_to_f32(half) : ferry_bf16_to_f32(half);
        }
    }
}
