/* Any bytes as a Marian .bin: refused, or tensors every element of which lies in the file. */
#include <stdlib.h>

#include "models/containers/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char seen;

static void read_all(ferry_view bytes)
{
    for (size_t i = 0; i < bytes.size; i++) seen = (unsigned char)(seen + (unsigned char)bytes.data[i]);
}

/* The strides reach the last byte of the tensor, and no further. */
static void check_strides(const ferry_weights_entry *entry)
{
    const ferry_tensor *tensor = &entry->tensor;
    int64_t last = 0;
    for (int32_t i = 0; i < FERRY_MAX_DIMS; i++) last += (tensor->shape[i] - 1) * entry->strides[i];
    if (last + 1 != ferry_tensor_count(tensor)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_weights weights;
    ferry_error error;
    if (ferry_marian_bin_read((ferry_view){(const char *)data, size}, "input", &weights, &error) != FERRY_OK) return 0;
    for (size_t i = 0; i < weights.count; i++) {
        read_all(weights.entries[i].tensor.name);
        read_all((ferry_view){weights.entries[i].tensor.data, weights.entries[i].tensor.bytes});
        check_strides(&weights.entries[i]);
    }
    ferry_weights_close(&weights);
    return 0;
}
