#include "input_limits.h"

#include <string.h>

#include "kernels.h"

/* Inputs of a group, and bytes of 16 outputs for it; pairs in these; inputs that have limits; and for how many of
 * these a panel is read at a time, so that what is found stays in the cache. */
enum { GROUP = 4, LINE = GROUP * FERRY_LANES, PAIRS = LINE / 2, PART = 16, PARTS_READ = 16 };
enum { UNKNOWN, MEASURING, KNOWN };

static size_t count_parts(int32_t K)
{
    return ((size_t)K + PART - 1) / PART;
}

size_t ferry_input_limits_fours(int32_t K)
{
    return (count_parts(K) + 1) / 2 * 4;
}

size_t ferry_input_limits_count(int32_t K)
{
    return ferry_input_limits_fours(K) / 2 * 3;
}

size_t ferry_input_limits_size(int32_t K)
{
    return sizeof(ferry_input_limits) + ferry_input_limits_count(K) * sizeof(int32_t);
}

void ferry_input_limits_init(ferry_input_limits *limits, const int8_t *codes, int32_t N, int32_t K)
{
    memset(limits, 0, ferry_input_limits_size(K));
    atomic_init(&limits->state, UNKNOWN);
    atomic_init(&limits->rows, 0);
    limits->N = N;
    limits->K = K;
    limits->codes = codes;
}

/* most[pair] = the larger one of most[pair] and Σ q² of the pairs of some groups. In quarters, rounded up, these fit in
 * 16 bits. */
static void measure_part(const int8_t *codes, size_t groups, uint16_t *most)
{
    uint16_t sums[PAIRS] = {0};
    for (size_t g = 0; g < groups; g++) {
        uint16_t pairs[PAIRS];
        memcpy(pairs, codes + g * LINE, LINE);
        for (size_t p = 0; p < PAIRS; p++) {
            const int16_t low = (int8_t)(pairs[p] & 0xff), high = (int8_t)(pairs[p] >> 8);
            sums[p] = (uint16_t)(sums[p] + (uint16_t)(low * low + high * high) / 4 + 1);
        }
    }
    for (size_t p = 0; p < PAIRS; p++) most[p] = sums[p] > most[p] ? sums[p] : most[p];
}

/* values[part][2] = the largest quarters of Σ q² of all outputs. */
static void measure(ferry_input_limits *limits)
{
    const size_t parts = count_parts(limits->K), groups = ((size_t)limits->K + GROUP - 1) / GROUP;
    const size_t panels = ((size_t)limits->N + FERRY_LANES - 1) / FERRY_LANES;
    for (size_t first = 0; first < parts; first += PARTS_READ) {
        const size_t count = parts - first < PARTS_READ ? parts - first : PARTS_READ;
        uint16_t most[PARTS_READ][PAIRS] = {{0}};
        for (size_t p = 0; p < panels; p++)
            for (size_t part = 0; part < count; part++) {
                const size_t at = (first + part) * (PART / GROUP), left = groups - at;
                measure_part(limits->codes + (p * groups + at) * LINE, left < PART / GROUP ? left : PART / GROUP,
                             most[part]);
            }
        for (size_t i = 0; i < count * PAIRS; i++) {
            int32_t *value = &limits->values[2 * (first + i / PAIRS) + i % 2];
            const int32_t found = most[i / PAIRS][i % PAIRS];
            *value = found > *value ? found : *value;
        }
    }
}

/* Of quarters of Σ q². */
static int32_t limit_of(int64_t quarters)
{
    const int64_t room = INT16_MAX * INT16_MAX;
    return quarters == 0 ? INT32_MAX : (int32_t)(room / (4 * quarters));
}

static void find_limits(ferry_input_limits *limits)
{
    const size_t fours = ferry_input_limits_fours(limits->K);
    int32_t *values = limits->values, *eights = values + fours;
    measure(limits);
    for (size_t i = 0; i < fours / 2; i++) {
        const int32_t *pair = values + i / 2 * 4 + i % 2;
        eights[i] = limit_of((int64_t)pair[0] + pair[2]);
    }
    for (size_t i = 0; i < fours; i++) values[i] = limit_of(values[i]);
}

const int32_t *ferry_input_limits_find(ferry_input_limits *limits, int32_t rows)
{
    int unknown = UNKNOWN;
    if (atomic_load_explicit(&limits->state, memory_order_acquire) == KNOWN) return limits->values;
    const int before = atomic_fetch_add(&limits->rows, rows < FERRY_LIMITED_ROWS ? rows : FERRY_LIMITED_ROWS);
    if (before + rows < FERRY_LIMITED_ROWS) return NULL;
    if (!atomic_compare_exchange_strong(&limits->state, &unknown, MEASURING)) return NULL;
    find_limits(limits);
    atomic_store_explicit(&limits->state, KNOWN, memory_order_release);
    return limits->values;
}
