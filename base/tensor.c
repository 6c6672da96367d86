#include "tensor.h"

#include <inttypes.h>
#include <stdio.h>

size_t ferry_type_size(ferry_type type)
{
    switch (type) {
    case FERRY_I8: return 1;
    case FERRY_I16:
    case FERRY_F16:
    case FERRY_BF16: return 2;
    case FERRY_F32:
    case FERRY_I32: return 4;
    case FERRY_F64:
    case FERRY_I64: return 8;
    }
    return 0;
}

const char *ferry_type_name(ferry_type type)
{
    switch (type) {
    case FERRY_F32: return "f32";
    case FERRY_F16: return "f16";
    case FERRY_I8: return "i8";
    case FERRY_I16: return "i16";
    case FERRY_I32: return "i32";
    case FERRY_I64: return "i64";
    case FERRY_F64: return "f64";
    case FERRY_BF16: return "bf16";
    }
    return "unsupported";
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
