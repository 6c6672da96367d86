#include "weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

void ferry_weights_close(ferry_weights *weights)
{
    ferry_zip_close(weights->archive);
    ferry_arena_destroy(&weights->arena);
    memset(weights, 0, sizeof *weights);
}

static int compare_names(const void *a, const void *b)
{
    return ferry_view_compare(((const ferry_weights_entry *)a)->tensor.name,
                              ((const ferry_weights_entry *)b)->tensor.name);
}

ferry_weights_entry *ferry_weights_find(const ferry_weights *weights, const char *name)
{
    const ferry_weights_entry wanted = {.tensor.name = {name, strlen(name)}};
    if (weights->count == 0) return NULL;
    return bsearch(&wanted, weights->entries, weights->count, sizeof *weights->entries, compare_names);
}

ferry_status ferry_weights_sort(ferry_weights *weights, ferry_error *error)
{
    if (weights->count > 0) qsort(weights->entries, weights->count, sizeof *weights->entries, compare_names);
    for (size_t i = 1; i < weights->count; i++) {
        const ferry_weights_entry *before = &weights->entries[i - 1], *entry = &weights->entries[i];
        if (compare_names(before, entry) != 0) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s and %s: tensor '%s' occurs twice", before->file, entry->file,
                          ferry_printable_view(entry->tensor.name).text);
    }
    return FERRY_OK;
}

bool ferry_weights_bytes(const ferry_tensor *tensor, size_t element, size_t *bytes)
{
    bool fits = true;
    *bytes = element;
    for (int32_t i = 0; i < tensor->dims; i++) fits = fits && ferry_mul_size(*bytes, (size_t)tensor->shape[i], bytes);
    return fits;
}

void ferry_weights_row_major(ferry_weights_entry *entry)
{
    int64_t step = 1;
    for (int32_t i = FERRY_MAX_DIMS - 1; i >= 0; i--) {
        entry->strides[i] = step;
        step *= entry->tensor.shape[i];
    }
}
