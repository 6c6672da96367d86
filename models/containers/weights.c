#include "weights.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

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

void ferry_weights_row_major(ferry_weights_entry *entry)
{
    /* Unsigned: the other sizes of a tensor without elements, whose strides are never used, may overflow. */
    uint64_t step = 1;
    for (int32_t i = FERRY_MAX_DIMS - 1; i >= 0; i--) {
        entry->strides[i] = (int64_t)step;
        step *= (uint64_t)entry->tensor.shape[i];
    }
}

/* ---- for readers ---- */

ferry_status ferry_weights_read(ferry_weights_reader *read, ferry_view bytes, const char *file, ferry_account *account,
                                ferry_weights *weights, ferry_error *error)
{
    ferry_reader in = ferry_reader_begin(bytes, file, error);
    *weights = (ferry_weights){.arena.account = account};
    ferry_status status = read(&in, weights);
    if (status == FERRY_OK) status = ferry_weights_sort(weights, error);
    if (status != FERRY_OK) ferry_weights_close(weights);
    return status;
}

ferry_status ferry_weights_reserve(ferry_weights *weights, size_t count, ferry_error *error)
{
    weights->entries = ferry_arena_alloc(&weights->arena, count + 1, sizeof *weights->entries);
    if (weights->entries == NULL) return ferry_fail_memory(error, "a list of tensors", count);
    memset(weights->entries, 0, count * sizeof *weights->entries);
    return FERRY_OK;
}

ferry_status ferry_weights_read_shape(ferry_reader *in, uint64_t rank, ferry_tensor *tensor)
{
    if (rank > FERRY_MAX_DIMS) {
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "expected at most %d dimensions, found %" PRIu64,
                                 FERRY_MAX_DIMS, rank);
    }
    tensor->dims = (int32_t)rank;
    for (int32_t i = 0; i < FERRY_MAX_DIMS; i++) {
        uint32_t size = 1;
        if (i < tensor->dims && !ferry_read_u32(&in->cursor, &size))
            return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "cut off in its shape");
        tensor->shape[i] = size;
    }
    return FERRY_OK;
}

ferry_status ferry_weights_place(const ferry_reader *in, ferry_weights_entry *entry, size_t element, ferry_view block,
                                 bool exact)
{
    ferry_tensor *tensor = &entry->tensor;
    bool fits = true;
    size_t bytes = element;
    for (int32_t i = 0; i < tensor->dims; i++) fits = fits && ferry_mul_size(bytes, (size_t)tensor->shape[i], &bytes);
    if (!fits || bytes > block.size || (exact && bytes != block.size)) {
        char shape[100];
        return ferry_tensor_fail(in, tensor, FERRY_ERROR_FORMAT, "shape %s of %s does not fit its %zu bytes",
                                 ferry_tensor_shape_text(tensor, shape, sizeof shape), ferry_type_name(tensor->type),
                                 block.size);
    }
    tensor->data = block.data;
    tensor->bytes = bytes;
    entry->file = in->file;
    ferry_weights_row_major(entry);
    return FERRY_OK;
}
