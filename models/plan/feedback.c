#include "feedback.h"

#include <string.h>

static const ferry_import_tensor *find_tensor(const ferry_import_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->tensor_count; i++)
        if (strcmp(plan->tensors[i].name, name) == 0) return &plan->tensors[i];
    return NULL;
}

const ferry_import_tensor *ferry_feedback_source(const ferry_import_plan *plan, const ferry_import_tensor *tensor,
                                                 bool *by_outputs)
{
    const char *name = tensor->name, *dot = strrchr(name, '.'), *part = dot;
    while (part != NULL && part > name && part[-1] != '.') part--;
    if (part == NULL) return NULL;
    const int layer = (int)(part - name);
    const bool down = strcmp(part, "ffn_down.weight") == 0;
    const bool mixed = strcmp(part, "attn_o.weight") == 0 || strcmp(part, "cross_attn_o.weight") == 0;
    const bool encoded = strcmp(part, "cross_attn_k.weight") == 0 || strcmp(part, "cross_attn_v.weight") == 0;
    ferry_short_text found = ferry_format("%.*sffn_up.weight", layer, name);
    if (mixed) found = ferry_format("%.*sv.weight", (int)(dot - name) - 1, name);
    if (encoded) found = ferry_format("enc.blk.%d.ffn_up.weight", (int)plan->model.encoder.layer_count - 1);
    const ferry_import_tensor *source = find_tensor(plan, found.text);
    *by_outputs = down || mixed;
    return source != NULL && (*by_outputs ? source->N : source->K) == tensor->K ? source : NULL;
}

void ferry_feedback_add(float *C, int32_t K, const float *A, int32_t count, int32_t stride)
{
    for (int32_t i = 0; i < K; i++)
        for (int32_t r = 0; r < count; r++) {
            const float *row = A + (size_t)r * (size_t)stride;
            const float factor = row[i];
            for (int32_t j = 0; j <= i; j++) C[i * K + j] += factor * row[j];
        }
}

void ferry_feedback_solve(float *C, int32_t K)
{
    const float damping = 0.5f; /* of the mean C[k][k]: C is a guess, and the inverse of a guess a worse one */
    float mean = 0;
    for (int32_t k = 0; k < K; k++) mean += C[k * K + k] / (float)K;
    for (int32_t k = 0; k < K; k++) C[k * K + k] += damping * mean;
    for (int32_t k = K; k-- > 0;) {
        const float *row = C + k * K;
        const float pivot = row[k];
        for (int32_t i = 0; i < k; i++) {
            float *other = C + i * K;
            const float factor = pivot > 0 ? row[i] / pivot : 0;
            for (int32_t j = 0; j <= i; j++) other[j] -= factor * row[j];
            other[k] = factor;
        }
    }
}
