/* Any bytes as a file of weights: refused, or tensors all of whose data and names can be read. Compiled once for each
 * reader, whose target is FUZZ_TARGET. */
#include "fuzz.h"

#include "models/containers/reader.h"
#include "models/containers/weights.h"

static ferry_status read_ctranslate2(ferry_reader *in, ferry_weights *weights)
{
    ferry_ctranslate2_header header;
    const ferry_view bytes = {(const char *)in->cursor.data, in->cursor.size};
    return ferry_ctranslate2_read(bytes, in->file, weights->arena.account, &header, weights, in->error);
}

static const struct reader {
    const char *target;
    ferry_weights_reader *read;
    bool windows; /* tensors may lie scattered in their storage */
} readers[] = {
    {"fuzz_ctranslate2", read_ctranslate2, false}, {"fuzz_marian_bin", ferry_marian_bin_read, false},
    {"fuzz_npz", ferry_npz_read, false},           {"fuzz_safetensors", ferry_safetensors_read, false},
    {"fuzz_torch", ferry_torch_read, true},
};

static const struct reader *find_reader(void)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(readers[i].target, FUZZ_TARGET) == 0) return &readers[i];
    abort();
}

/* The strides reach the tensor's last byte and no further. */
static void check(const ferry_weights_entry *entry, bool windows)
{
    const ferry_tensor *tensor = &entry->tensor;
    const size_t size = ferry_type_size(tensor->type);
    const int64_t elements = ferry_tensor_count(tensor);
    int64_t last = 0;
    for (int32_t i = 0; i < tensor->dims; i++) last += (tensor->shape[i] - 1) * entry->strides[i];
    if (elements > 0 && size > 0) {
        if (tensor->bytes != ((size_t)last + 1) * size || (!windows && last + 1 != elements)) abort();
    }
    read_all(tensor->name);
    read_all((ferry_view){tensor->data, tensor->bytes});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_weights weights;
    ferry_error error;
    ferry_budget budget;
    const struct reader *reader = find_reader();
    ferry_budget_begin(&budget, 0);
    if (ferry_weights_read(reader->read, (ferry_view){(const char *)data, size}, "input", &budget.account, &weights,
                           &error) != FERRY_OK)
        return 0;
    for (size_t i = 0; i < weights.count; i++) check(&weights.entries[i], reader->windows);
    ferry_weights_close(&weights);
    return 0;
}
