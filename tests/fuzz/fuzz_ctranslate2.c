/* Any bytes as CTranslate2's model.bin: refused, or tensors all of whose data can be read. */
#include "models/containers/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char seen;

static void read_all(ferry_view bytes)
{
    for (size_t i = 0; i < bytes.size; i++) seen = (unsigned char)(seen + (unsigned char)bytes.data[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_ctranslate2_header header;
    ferry_weights weights;
    ferry_error error;
    const ferry_view bytes = {(const char *)data, size};
    if (ferry_ctranslate2_read(bytes, "input", &header, &weights, &error) != FERRY_OK) return 0;
    for (size_t i = 0; i < weights.count; i++) {
        const ferry_tensor *tensor = &weights.entries[i].tensor;
        if ((size_t)ferry_tensor_count(tensor) * ferry_type_size(tensor->type) != tensor->bytes) __builtin_trap();
        read_all(tensor->name);
        read_all((ferry_view){tensor->data, tensor->bytes});
    }
    ferry_weights_close(&weights);
    return 0;
}
