/* Any bytes as a GGUF file: refused, or a table all of whose data can be read. */
#include "fuzz.h"

#include "engine/file/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_gguf gguf;
    ferry_error error;
    if (ferry_gguf_open((ferry_view){(const char *)data, size}, "input", &gguf, &error) != FERRY_OK) return 0;
    for (size_t i = 0; i < gguf.value_count; i++) {
        const ferry_gguf_value *value = &gguf.values[i];
        read_all(value->key);
        read_all(value->data);
        for (size_t t = 0; value->texts != NULL && t < value->count; t++)
            read_all(ferry_string_table_at(value->texts, t));
    }
    for (size_t i = 0; i < gguf.tensor_count; i++) {
        const ferry_tensor *tensor = &gguf.tensors[i];
        read_all(tensor->name);
        read_all((ferry_view){tensor->data, tensor->bytes});
    }
    ferry_gguf_close(&gguf);
    return 0;
}
