#include "tensor.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    const char *name; /* NULL: no such type */
    size_t size;
} types[] = {
    [FERRY_F32] = {"f32", 4}, [FERRY_F16] = {"f16", 2}, [FERRY_I8] = {"i8", 1},   [FERRY_I16] = {"i16", 2},
    [FERRY_I32] = {"i32", 4}, [FERRY_I64] = {"i64", 8}, [FERRY_F64] = {"f64", 8}, [FERRY_BF16] = {"bf16", 2},
};

static bool is_known(ferry_type type)
{
    return (size_t)type < sizeof types / sizeof *types && types[type].name != NULL;
}

size_t ferry_type_size(ferry_type type)
{
    return is_known(type) ? types[type].size : 0;
}

const char *ferry_type_name(ferry_type type)
{
    return is_known(type) ? types[type].name : "unsupported";
}

int64_t ferry_tensor_count(const ferry_tensor *tensor)
{
    int64_t count = 1;
    for (int32_t i = 0; i < tensor->dims; i++) count *= tensor->shape[i];
    return count;
}

const char *ferry_tensor_shape_text(const ferry_tensor *tensor, char *text, size_t size)
{
    size_t at = 0;
    for (int32_t i = 0; i < tensor->dims && at < size; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s%" PRId64, i == 0 ? "[" : ", ", tensor->shape[i]);
    }
    if (at < size) snprintf(text + at, size - at, "%s", tensor->dims == 0 ? "[]" : "]");
    return text;
}
