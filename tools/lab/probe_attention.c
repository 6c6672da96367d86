#include "probe_attention.h"

#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/status.h"

/* Mean |i - j| of keys j = 0 … keys - 1: two triangles of distances, i to the left and keys - 1 - i to the right. */
static double mean_distance(int32_t i, int32_t keys)
{
    const double left = i, right = keys - 1 - i;
    return (left * (left + 1) + right * (right + 1)) / (2.0 * keys);
}

void ferry_attention_sums_add(ferry_attention_sums *sums, const float *weights, int32_t rows, int32_t columns,
                              bool causal)
{
    for (int32_t i = 0; i < rows; i++, weights += columns) {
        const int32_t keys = causal ? i + 1 : columns;
        for (int32_t j = 0; j < keys; j++) {
            const double weight = (double)weights[j];
            if (weight > 0) sums->entropy -= weight * log(weight);
            sums->distance += weight * abs(i - j);
        }
        sums->uniform_entropy += log(keys);
        sums->uniform_distance += mean_distance(i, keys);
    }
    sums->queries += rows;
}

/* ---- one kind of attention ---- */

typedef struct observation {
    const ferry_probe_sentences *sentences;
    ferry_inspect_attention_kind kind;
    int32_t layers, heads;
    ferry_attention_sums *sums; /* [bucket_count, layers, heads] */
    float *weights;             /* [layers, heads, rows, columns] of one sentence */
    size_t capacity;            /* of weights */
} observation;

static ferry_status add_sentence(observation *o, const ferry_probe_batch *all, int32_t index, ferry_error *error)
{
    const int32_t source = all->offsets[0][index], target = all->offsets[1][index];
    const int32_t S = all->offsets[0][index + 1] - source, T = all->offsets[1][index + 1] - target;
    const bool causal = o->kind == FERRY_INSPECT_DECODER_SELF;
    const int32_t rows = o->kind == FERRY_INSPECT_ENCODER_SELF ? S : T, columns = causal ? T : S;
    const int32_t bucket = o->sentences->pairs[index].bucket;
    const size_t cells = (size_t)o->layers * (size_t)o->heads, floats = (size_t)rows * (size_t)columns;
    if (bucket < 0) return FERRY_OK;
    float *weights = ferry_array_grow(o->weights, &o->capacity, cells * floats, sizeof *weights);
    if (weights == NULL) return ferry_fail_memory(error, "attention weights", cells * floats * sizeof *weights);
    o->weights = weights;
    FERRY_TRY(ferry_inspect_attention(o->sentences->model, o->kind, FERRY_INSPECT_ALL, FERRY_INSPECT_ALL,
                                      all->ids[0] + source, S, all->ids[1] + target, T, weights, error));
    for (size_t cell = 0; cell < cells; cell++)
        ferry_attention_sums_add(&o->sums[(size_t)bucket * cells + cell], weights + cell * floats, rows, columns,
                                 causal);
    return FERRY_OK;
}

static ferry_probe_head head_of(const ferry_attention_sums *sums, bool has_distance)
{
    const ferry_probe_head head = {
        .entropy = sums->entropy / sums->queries,
        .relative_entropy = sums->entropy / sums->uniform_entropy,
        .distance = has_distance ? sums->distance / sums->queries : NAN,
        .relative_distance = has_distance ? sums->distance / sums->uniform_distance : NAN,
    };
    return head;
}

ferry_status ferry_probe_attention(const ferry_probe_sentences *sentences, const ferry_probe_batch *all,
                                   ferry_inspect_attention_kind kind, ferry_arena *arena, ferry_probe_heads *heads,
                                   ferry_error *error)
{
    const ferry_inspect_sizes *sizes = &sentences->sizes;
    const bool encoder = kind == FERRY_INSPECT_ENCODER_SELF;
    observation o = {.sentences = sentences,
                     .kind = kind,
                     .layers = encoder ? sizes->encoder_layers : sizes->decoder_layers,
                     .heads = encoder ? sizes->encoder_heads : sizes->decoder_heads};
    const size_t cells = (size_t)sentences->bucket_count * (size_t)o.layers * (size_t)o.heads;
    o.sums = calloc(cells, sizeof *o.sums);
    ferry_probe_head *found = ferry_arena_alloc(arena, cells, sizeof *found);
    ferry_status status = o.sums != NULL && found != NULL ? FERRY_OK : ferry_fail_memory(error, "heads", cells);
    for (int32_t i = 0; status == FERRY_OK && i < all->count; i++) status = add_sentence(&o, all, i, error);
    for (size_t i = 0; status == FERRY_OK && i < cells; i++)
        found[i] = head_of(&o.sums[i], kind != FERRY_INSPECT_CROSS);
    *heads = (ferry_probe_heads){o.layers, o.heads, status == FERRY_OK ? found : NULL};
    free(o.sums);
    free(o.weights);
    return status;
}
