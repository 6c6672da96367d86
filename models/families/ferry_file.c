/* Model files of Ferry itself, to be written again: with matrices of another type, or with other languages. */
#include <stdlib.h>
#include <string.h>

#include "models/plan/plan.h"

enum { GROUP = 4 }; /* consecutive inputs of an output in int8 codes (engine/kernels/linear.h) */

/* By its name: to look into a file would note it as read before others, which the origin lists in their order. */
bool ferry_import_is_model_file(const ferry_import_plan *plan)
{
    const char *name = ferry_import_source_selected(plan->source);
    return name != NULL && ferry_text_ends(name, ".gguf");
}

/* A file that carries a content hash must have this content: what is written gets a hash of its own. */
static ferry_status open_file(ferry_import_plan *plan, const char *name, ferry_error *error)
{
    ferry_view bytes;
    ferry_mapped_file map;
    FERRY_TRY(ferry_import_source_map(plan->source, name, &bytes, error));
    plan->file = calloc(1, sizeof *plan->file);
    if (plan->file == NULL) return ferry_fail_memory(error, "a model", sizeof *plan->file);
    FERRY_TRY(ferry_mapped_file_open_memory(bytes, FERRY_FILE_BORROWED, &map, error));
    FERRY_TRY(ferry_model_file_read(map, ferry_import_source_label(plan->source, name), ferry_kernels_find(NULL),
                                    plan->file, error));
    if (plan->file->hash.size == 0) return FERRY_OK;
    FERRY_TRY(ferry_model_file_verify(plan->file, error));
    ferry_import_source_release(plan->source, bytes.data, bytes.size);
    return FERRY_OK;
}

/* ---- tensors ---- */

/* As the file has them, in its order. */
static int compare_places(const void *a, const void *b)
{
    const char *one = ((const ferry_weights_entry *)a)->tensor.data;
    const char *other = ((const ferry_weights_entry *)b)->tensor.data;
    return one < other ? -1 : one > other;
}

static ferry_status list_tensors(ferry_import_plan *plan, ferry_error *error)
{
    const ferry_gguf *gguf = &plan->file->gguf;
    plan->weights.arena.account = plan->account;
    FERRY_TRY(ferry_weights_reserve(&plan->weights, gguf->tensor_count, error));
    for (size_t i = 0; i < gguf->tensor_count; i++) {
        ferry_weights_entry *entry = &plan->weights.entries[i];
        entry->tensor = gguf->tensors[i];
        entry->file = gguf->file;
        ferry_weights_row_major(entry);
    }
    plan->weights.count = gguf->tensor_count;
    qsort(plan->weights.entries, plan->weights.count, sizeof *plan->weights.entries, compare_places);
    return FERRY_OK;
}

/* NULL: the tensor is no matrix. */
static const ferry_matrix *find_matrix(const ferry_model_file *file, const ferry_weights_entry *entry)
{
    for (size_t i = 0; i < file->matrix_count; i++)
        if (file->matrices[i].tensor->data == entry->tensor.data) return file->matrices[i].matrix;
    return NULL;
}

/* Tensors that belong to the codes of a matrix, and codes that are made again. */
static bool is_companion(const char *name)
{
    return strcmp(name, FERRY_OUTPUT_COARSE ".weight") == 0 || ferry_text_ends(name, ".scale") ||
           ferry_text_ends(name, ".multiplier") || ferry_text_ends(name, ".input_multiplier");
}

static ferry_status add_matrix(ferry_import_plan *plan, const ferry_weights_entry *entry, const ferry_matrix *matrix,
                               const char *name, ferry_error *error)
{
    const bool codes = entry->tensor.type == FERRY_I8;
    const ferry_import_tensor tensor = {
        .form = FERRY_IMPORT_MATRIX,
        .N = matrix->N,
        .K = matrix->K,
        .source = entry,
        .row = codes ? (int64_t)ferry_round_up((size_t)matrix->K, GROUP) : matrix->K,
        .column = 1,
        .scales = matrix->scales,
        .multipliers = codes && matrix->scales == NULL ? &matrix->multiplier : NULL,
        .multiplier_count = codes && matrix->scales == NULL,
        .input_multiplier = matrix->input_multiplier,
        .packed = true,
    };
    return ferry_import_add_tensor(plan, &tensor, error, "%s", name);
}

static ferry_status add_tensor(ferry_import_plan *plan, const ferry_weights_entry *entry, ferry_error *error)
{
    const ferry_tensor *tensor = &entry->tensor;
    const ferry_matrix *matrix = find_matrix(plan->file, entry);
    const ferry_name name = ferry_name_format("%.*s", (int)tensor->name.size, tensor->name.data);
    if (matrix != NULL) return add_matrix(plan, entry, matrix, name.text, error);
    if (is_companion(name.text)) return FERRY_OK;
    if (tensor->type != FERRY_I32)
        return ferry_import_add(plan, entry, tensor->dims > 1 ? FERRY_IMPORT_TABLE : FERRY_IMPORT_VECTOR, error, "%s",
                                name.text);
    const ferry_import_tensor integers = {
        .form = FERRY_IMPORT_INTEGERS, .N = (int32_t)tensor->shape[0], .K = 1, .integers = tensor->data};
    return ferry_import_add_tensor(plan, &integers, error, "%s", name.text);
}

/* ---- all of it ---- */

ferry_status ferry_import_model_file(ferry_import_plan *plan, ferry_error *error)
{
    FERRY_TRY(open_file(plan, ferry_import_source_selected(plan->source), error));
    const ferry_model_file *file = plan->file;
    char *name = ferry_arena_text(&plan->arena, file->name);
    if (name == NULL) return ferry_fail_memory(error, "the name of a model", file->name.size);
    plan->name = name;
    plan->model = file->transformer;
    plan->generation = file->generation;
    plan->text = file->text;
    FERRY_TRY(list_tensors(plan, error));
    for (size_t i = 0; i < plan->weights.count; i++) FERRY_TRY(add_tensor(plan, &plan->weights.entries[i], error));
    return FERRY_OK;
}
