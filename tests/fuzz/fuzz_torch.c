/* Any bytes as a PyTorch file: refused, or tensors whose corner elements and names can be read. */
#include <string.h>

#include "models/containers/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char seen;

static void read_all(ferry_view bytes)
{
    for (size_t i = 0; i < bytes.size; i++) seen = (unsigned char)(seen + (unsigned char)bytes.data[i]);
}

/* The last element lies where the strides say, which must be inside the tensor's bytes. */
static void check(const ferry_weights_entry *entry)
{
    int64_t elements = 1, last = 0;
    for (int32_t i = 0; i < entry->tensor.dims; i++) {
        elements *= entry->tensor.shape[i];
        last += (entry->tensor.shape[i] - 1) * entry->strides[i];
    }
    const size_t size = ferry_type_size(entry->tensor.type);
    if (elements > 0 && size > 0 && entry->tensor.bytes != ((size_t)last + 1) * size) __builtin_trap();
    read_all(entry->tensor.name);
    read_all((ferry_view){entry->tensor.data, entry->tensor.bytes});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_weights weights;
    ferry_error error;
    if (ferry_torch_read((ferry_view){(const char *)data, size}, "input", &weights, &error) != FERRY_OK) return 0;
    for (size_t i = 0; i < weights.count; i++) check(&weights.entries[i]);
    ferry_weights_close(&weights);
    return 0;
}
