/* T5's relative bias (Raffel et al. 2020, section 2.1): a learned number for each head and bucket of distances,
 *
 *     score(i, j) + bias[bucket(j - i), h]
 *
 * shared by the layers of a stack. With n buckets for a direction, e = n/2 and m = max_distance, the distance d has
 *
 *     bucket = d                                                      for d < e
 *              min(n - 1, e + ⌊ln(d/e) / ln(m/e)·(n - e)⌋)            otherwise
 *
 * The encoder halves num_buckets: the upper half is for keys to the right. The decoder has only the past. From distance
 * m on the bucket is constant, so bind unrolls the bias by distance, and a query adds a stretch of it to its scores. */
#include "schemes.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_BUCKETS = 1 << 16, MAX_DISTANCE = 1 << 14 };

typedef struct t5 {
    int32_t reach; /* m: the last distance with an entry of its own */
    int32_t width; /* entries of a head: distances -m … m, decoder -m … 0 */
    float bias[];  /* [H, width] */
} t5;

/* Bucket of a distance d ≥ 0 among the n of its direction. */
static int32_t bucket_of(int32_t d, int32_t n, int32_t m)
{
    const int32_t e = n / 2;
    if (d < e) return d;
    /* Where the quotient is an integer, its rounding must not lose it; no other distance comes so close to one. */
    const double exact = log((double)d / (double)e) / log((double)m / (double)e) * (double)(n - e);
    const int32_t bucket = e + (int32_t)(exact + 1e-9);
    return bucket < n - 1 ? bucket : n - 1;
}

/* table [buckets, H] */
static void unroll(t5 *parameters, const ferry_position_stack *stack, const float *table, int32_t buckets)
{
    const int32_t n = stack->causal ? buckets : buckets / 2, m = parameters->reach, H = stack->heads;
    for (int32_t entry = 0; entry < parameters->width; entry++) {
        const int32_t distance = entry - m; /* j - i */
        const int32_t bucket = bucket_of(abs(distance), n, m) + (distance > 0 ? n : 0);
        for (int32_t h = 0; h < H; h++)
            parameters->bias[(size_t)h * (size_t)parameters->width + (size_t)entry] =
                table[(size_t)bucket * (size_t)H + (size_t)h];
    }
}

static ferry_status bind(ferry_position *position, const ferry_position_source *source, const ferry_kernels *kernels,
                         ferry_error *error)
{
    (void)kernels;
    const ferry_position_stack *stack = &position->stack;
    int64_t buckets, m;
    if (!source->integer(source->user, "num_buckets", &buckets) || buckets < 4 || buckets > MAX_BUCKETS)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.num_buckets: expected a number from 4 to %d",
                          MAX_BUCKETS);
    const int64_t exact = buckets / (stack->causal ? 2 : 4);
    if (!source->integer(source->user, "max_distance", &m) || m <= exact || m > MAX_DISTANCE)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.max_distance: expected a number from %d to %d",
                          (int)exact + 1, MAX_DISTANCE);
    const float *table;
    const int64_t shape[] = {buckets, stack->heads};
    FERRY_TRY(source->tensor(source->user, "bias", -1, 2, shape, &table, error));

    const int32_t width = (int32_t)(stack->causal ? m + 1 : 2 * m + 1);
    size_t floats, bytes;
    if (!ferry_mul_size((size_t)stack->heads, (size_t)width, &floats) ||
        !ferry_mul_size(floats, sizeof(float), &bytes) || !ferry_add_size(bytes, sizeof(t5), &bytes))
        return ferry_fail(error, FERRY_ERROR_LIMIT, "position.max_distance: a bias for %d heads and %d distances",
                          (int)stack->heads, (int)width);
    t5 *parameters = malloc(bytes);
    if (parameters == NULL) return ferry_fail_memory(error, "bias by distance", bytes);
    position->parameters = parameters;
    parameters->reach = (int32_t)m;
    parameters->width = width;
    unroll(parameters, stack, table, (int32_t)buckets);
    return FERRY_OK;
}

static void add_constant(float *row, int32_t count, float constant)
{
    for (int32_t j = 0; j < count; j++) row[j] += constant;
}

static void score(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  const ferry_position_tile *tile)
{
    (void)state;
    const t5 *parameters = position->parameters;
    const int32_t m = parameters->reach, width = parameters->width;
    const float *bias = parameters->bias + (size_t)tile->head * (size_t)width;
    for (int32_t i = 0; i < tile->queries; i++) {
        float *row = tile->scores + (size_t)i * tile->ld_scores;
        const int32_t at = tile->first + i;
        const int32_t keys = ferry_position_visible(position, tile, i);
        const int32_t near = at > m ? at - m : 0;                          /* the first key with an entry */
        const int32_t end = keys - at > width - m ? at + width - m : keys; /* behind the last */
        add_constant(row, near, bias[0]);
        kernels->add(row + near, bias + (near - at + m), (size_t)(end - near));
        add_constant(row + end, keys - end, bias[width - 1]);
    }
}

static void cost(const ferry_position *position, ferry_position_cost *result)
{
    const t5 *parameters = position->parameters;
    const ferry_position_stack *stack = &position->stack;
    result->model_bytes = (int64_t)stack->heads * parameters->width * (int64_t)sizeof(float);
    result->key_operations = (int64_t)stack->layers * stack->heads;
}

static const ferry_position_parameter usual[] = {{.key = "num_buckets", .number = 32},
                                                 {.key = "max_distance", .number = 128},
                                                 {.key = NULL}};

const ferry_position_scheme ferry_position_t5 = {
    .name = "t5", .usual = usual, .bind = bind, .score = score, .cost = cost};
