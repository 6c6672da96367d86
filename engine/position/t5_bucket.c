/* T5's relative bias (Raffel et al. 2020, section 2.1): a learned number for each head and bucket of distances,
 *
 *     score(i, j) + bias[bucket(j - i), h]
 *
 * shared by the layers of a stack, or with a table for each layer (umT5; Chung et al. 2023). With n buckets for a
 * direction, e = n/2 and m = max_distance, the distance d has
 *
 *     bucket = d                                                      for d < e
 *              min(n - 1, e + ⌊ln(d/e) / ln(m/e)·(n - e)⌋)            otherwise
 *
 * The encoder halves num_buckets: the upper half is for keys to the right. The decoder has only the past. From distance
 * m on the bucket is constant, so bind unrolls the bias by distance (clipped.h). */
#include <math.h>
#include <stdlib.h>

#include "clipped.h"
#include "position.h"
#include "schemes.h"

enum { NUM_BUCKETS, MAX_DISTANCE, TABLES }; /* parameters */
enum { STACK, LAYER };                      /* choices of TABLES, and the tensor of each */
/* In each direction, half of the buckets hold one distance each; max_distance is above these distances. */
static const ferry_position_parameter parameters[] = {
    {"num_buckets", FERRY_POSITION_INTEGER,
     "half of them are for keys to the right of the query in the encoder; all are for the past in the decoder",
     .min = "4", .max = "65536", .default_value = "32"},
    {"max_distance", FERRY_POSITION_INTEGER,
     "distances from here on share a bucket; directions: 2 in the encoder, 1 in the decoder",
     .min = "num_buckets/directions/2+1", .max = "16384", .default_value = "128"},
    {"tables", FERRY_POSITION_CHOICE, "one table for all layers of the stack, or one for each",
     .choices = {"stack", "layer"}, .if_missing = "stack"},
    {0},
};
static const ferry_position_tensor tensors[] = {
    {"bias", "num_buckets, H", "added to scores", .when = "tables=stack"},
    {"bias", "num_buckets, H", "added to scores", .per_layer = true, .when = "tables=layer"},
    {0},
};

typedef struct t5 {
    ferry_clipped distances; /* -m … m, decoder -m … 0 */
    int32_t tables;          /* 1, or one for each layer */
    float *bias;             /* [tables, H, distances.count] */
} t5;

/* Bucket of a distance d ≥ 0 among the n of its direction. */
static int32_t bucket_of(int32_t d, int32_t n, int32_t m)
{
    const int32_t e = n / 2;
    if (d < e) return d;
    /* 1e-9 keeps an integer from being rounded down; no other distance comes this close to an integer. */
    const double exact = log((double)d / (double)e) / log((double)m / (double)e) * (double)(n - e);
    const int32_t bucket = e + (int32_t)(exact + 1e-9);
    return bucket < n - 1 ? bucket : n - 1;
}

static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    const ferry_position_stack *stack = &position->stack;
    const bool layered = position->values[TABLES] == (double)LAYER;
    const int32_t m = (int32_t)position->values[MAX_DISTANCE], count = stack->causal ? m + 1 : 2 * m + 1;
    const int32_t tables = layered ? stack->layers : 1, buckets = (int32_t)position->values[NUM_BUCKETS];
    const int32_t n = stack->causal ? buckets : buckets / 2;
    const size_t H = (size_t)stack->heads;
    float *bias;
    FERRY_TRY(ferry_position_allocate(position, sizeof(t5), (size_t)tables, H * (size_t)count, &bias, error));
    *(t5 *)position->derived = (t5){.distances = {.count = count, .zero = m}, .tables = tables, .bias = bias};
    for (int32_t i = 0; i < tables; i++, bias += H * (size_t)count) {
        const float *table = position->tensors[STACK]; /* [buckets, H] → bias [H, count] */
        if (layered) FERRY_TRY(ferry_position_take(position, binding, LAYER, i, &table, error));
        for (int32_t entry = 0; entry < count; entry++) {
            const int32_t distance = entry - m; /* j - i */
            const int32_t bucket = bucket_of(abs(distance), n, m) + (distance > 0 ? n : 0);
            for (size_t h = 0; h < H; h++) bias[h * (size_t)count + (size_t)entry] = table[(size_t)bucket * H + h];
        }
    }
    return FERRY_OK;
}

static void score(const ferry_position *position, const ferry_position_tile *tile)
{
    const t5 *own = position->derived;
    const size_t head =
        (own->tables > 1 ? (size_t)tile->layer * (size_t)position->stack.heads : 0) + (size_t)tile->head;
    const float *bias = own->bias + head * (size_t)own->distances.count;
    for (int32_t i = 0; i < tile->queries; i++)
        ferry_clipped_add(&own->distances, tile->kernels, bias, tile->first + i,
                          ferry_position_visible(position, tile, i), tile->scores + (size_t)i * tile->ld_scores);
}

const ferry_position_scheme ferry_position_t5 = {.name = "t5",
                                                 .title = "T5",
                                                 .paper = "Raffel et al. 2020",
                                                 .parameters = parameters,
                                                 .tensors = tensors,
                                                 .bind = bind,
                                                 .score = score,
                                                 .key_operations = "layers*H"};
