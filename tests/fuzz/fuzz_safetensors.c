/* Any bytes as a safetensors file: refused, or tensors all of whose data can be read. */
#include "models/containers/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char seen;

static void read_all(ferry_view bytes)
{
    for (size_t i = 0; i < bytes.size; i++) seen = (unsigned char)(seen + (unsigned char)bytes.data[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_safetensors file;
    ferry_error error;
    if (ferry_safetensors_parse((ferry_view){(const char *)data, size}, "input", &file, &error) != FERRY_OK) return 0;
    for (size_t i = 0; i < file.tensor_count; i++) {
        read_all(file.tensors[i].name);
        read_all((ferry_view){file.tensors[i].data, file.tensors[i].bytes});
    }
    ferry_safetensors_close(&file);
    return 0;
}
