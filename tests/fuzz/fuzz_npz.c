/* Any bytes as a NumPy archive: refused, or arrays all of whose data can be read. */
#include "models/containers/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char seen;

static void read_all(ferry_view bytes)
{
    for (size_t i = 0; i < bytes.size; i++) seen = (unsigned char)(seen + (unsigned char)bytes.data[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_weights weights;
    ferry_error error;
    if (ferry_npz_read((ferry_view){(const char *)data, size}, "input", &weights, &error) != FERRY_OK) return 0;
    for (size_t i = 0; i < weights.count; i++) {
        read_all(weights.entries[i].tensor.name);
        read_all((ferry_view){weights.entries[i].tensor.data, weights.entries[i].tensor.bytes});
    }
    ferry_weights_close(&weights);
    return 0;
}
