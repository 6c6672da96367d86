/* Limits of inputs, for int8_pairs.c: within them, sums of products with a matrix q [N, K] fit in 16 bits.
 *
 * A limit is the largest Σ x̂² of some inputs with which |Σ x̂·q[n]| < 2^15 for every output n: (2^15 - 1)² /
 * max_n Σ q[n]² (Cauchy and Schwarz). Every 16 inputs, four groups of two pairs, have two limits: of the eight inputs
 * in first pairs, and of the eight in second ones. So do every 32 inputs. */
#ifndef FERRY_KERNELS_INT8_LIMITS_H
#define FERRY_KERNELS_INT8_LIMITS_H

#include <stdatomic.h>
#include <string.h>

#include "kernels.h"

/* The limits of a matrix, shared by threads. */
typedef struct input_limits {
    atomic_int state;
    atomic_int rows; /* multiplied so far */
    int32_t N, K;
    const int8_t *int8;
    const uint8_t *upper, *lower; /* planes instead of int8 */
    int32_t values[];             /* [⌈K/32⌉][2][2] of 16 inputs, then [⌈K/32⌉][2] of 32 */
} input_limits;

/* Pairs in a line; inputs with a limit, and their groups; how many such parts of a panel are read at a time, so that
 * their sums stay in the cache. */
enum { LIMIT_PAIRS = FERRY_LINE_BYTES / 2, PART = 16, PART_GROUPS = PART / FERRY_INT8_GROUP, PARTS_READ = 16 };
enum { UNKNOWN, MEASURING, KNOWN };
/* Measuring reads the whole matrix. It pays after a total of LIMITED_ROWS rows. */
enum { LIMITED_ROWS = 128 };

/* Number of limits of 16 inputs: two for each 16, K rounded up to 32. */
static inline size_t count_limits(int32_t K)
{
    return 4 * (((size_t)K + 31) / 32);
}

/* Half as many limits of 32 inputs follow. */
static inline size_t count_all_limits(int32_t K)
{
    return count_limits(K) + count_limits(K) / 2;
}

static inline size_t limits_size(int32_t K)
{
    return sizeof(input_limits) + count_all_limits(K) * sizeof(int32_t);
}

static inline void begin_limits(input_limits *limits, const ferry_matrix *matrix)
{
    memset(limits, 0, limits_size(matrix->K));
    atomic_init(&limits->state, UNKNOWN);
    atomic_init(&limits->rows, 0);
    limits->N = matrix->N;
    limits->K = matrix->K;
    limits->int8 = matrix->int8;
    limits->upper = matrix->nibbles;
    limits->lower = matrix->lower;
}

/* int8 [groups][16][4] at a group of the matrix; of planes in `joined`. */
static inline const int8_t *read_part(const input_limits *limits, size_t group, size_t groups, int8_t *joined)
{
    const size_t at = group / 2 * FERRY_LINE_BYTES;
    if (limits->lower == NULL) return limits->int8 + group * FERRY_LINE_BYTES;
    ferry_join_planes_plain(joined, limits->upper + at, limits->lower + at, groups / 2, false);
    return joined;
}

/* max[pair] = max(max[pair], Σ q² of the pairs of `groups` groups). In quarters, rounded up, a sum fits in 16 bits. */
static inline void measure_part(const int8_t *int8, size_t groups, uint16_t *max)
{
    uint16_t sums[LIMIT_PAIRS] = {0};
    for (size_t g = 0; g < groups; g++) {
        uint16_t pairs[LIMIT_PAIRS];
        memcpy(pairs, int8 + g * FERRY_LINE_BYTES, FERRY_LINE_BYTES);
        for (size_t p = 0; p < LIMIT_PAIRS; p++) {
            const int16_t low = (int8_t)(pairs[p] & 0xff), high = (int8_t)(pairs[p] >> 8);
            sums[p] = (uint16_t)(sums[p] + (uint16_t)(low * low + high * high) / 4 + 1);
        }
    }
    for (size_t p = 0; p < LIMIT_PAIRS; p++) max[p] = sums[p] > max[p] ? sums[p] : max[p];
}

/* values[part][2] = max_n Σ q[n]², in quarters. */
static inline void measure(input_limits *limits)
{
    const size_t parts = ((size_t)limits->K + PART - 1) / PART,
                 groups = ((size_t)limits->K + FERRY_INT8_GROUP - 1) / FERRY_INT8_GROUP;
    const size_t panels = ((size_t)limits->N + FERRY_LANES - 1) / FERRY_LANES;
    for (size_t first = 0; first < parts; first += PARTS_READ) {
        const size_t read = parts - first < PARTS_READ ? parts - first : PARTS_READ;
        uint16_t max[PARTS_READ][LIMIT_PAIRS] = {{0}};
        for (size_t p = 0; p < panels; p++)
            for (size_t part = 0; part < read; part++) {
                _Alignas(64) int8_t joined[PART_GROUPS * FERRY_LINE_BYTES];
                const size_t at = (first + part) * PART_GROUPS, left = groups - at;
                const size_t count = left < PART_GROUPS ? left : PART_GROUPS;
                measure_part(read_part(limits, p * groups + at, count, joined), count, max[part]);
            }
        for (size_t i = 0; i < read * LIMIT_PAIRS; i++) {
            int32_t *value = &limits->values[2 * (first + i / LIMIT_PAIRS) + i % 2];
            const int32_t found = max[i / LIMIT_PAIRS][i % LIMIT_PAIRS];
            *value = found > *value ? found : *value;
        }
    }
}

/* The limit for Σ q² = 4·quarters. */
static inline int32_t limit_of(int64_t quarters)
{
    const int64_t room = INT16_MAX * INT16_MAX;
    return quarters == 0 ? INT32_MAX : (int32_t)(room / (4 * quarters));
}

static inline void measure_limits(input_limits *limits)
{
    const size_t fours = count_limits(limits->K);
    int32_t *values = limits->values, *eights = values + fours;
    measure(limits);
    for (size_t i = 0; i < fours / 2; i++) {
        const int32_t *pair = values + i / 2 * 4 + i % 2;
        eights[i] = limit_of((int64_t)pair[0] + pair[2]);
    }
    for (size_t i = 0; i < fours; i++) values[i] = limit_of(values[i]);
}

/* The limits, for a product of `rows` rows; NULL before a total of LIMITED_ROWS rows, or while another thread measures
 * them. */
static inline const int32_t *find_limits(input_limits *limits, int32_t rows)
{
    int unknown = UNKNOWN;
    if (atomic_load_explicit(&limits->state, memory_order_acquire) == KNOWN) return limits->values;
    const int before = atomic_fetch_add(&limits->rows, rows < LIMITED_ROWS ? rows : LIMITED_ROWS);
    if (before + rows < LIMITED_ROWS) return NULL;
    if (!atomic_compare_exchange_strong(&limits->state, &unknown, MEASURING)) return NULL;
    measure_limits(limits);
    atomic_store_explicit(&limits->state, KNOWN, memory_order_release);
    return limits->values;
}

#endif
