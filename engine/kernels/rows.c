/* Operations on rows, compiled once per ISA (isa.h) without contraction: every ISA gives the same bytes.
 *
 * Sixteen lanes are PARTS vectors. Sums are taken by lanes, then across lanes (kernels.h). A last group of fewer than
 * 16 elements is padded with a neutral value. */
#include "isa.h"

#include "base/tensor.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef uint32_t bits __attribute__((vector_size(4 * WIDTH)));

typedef struct lanes {
    vec part[PARTS];
} lanes;

#define EACH_PART UNROLL for (int p = 0; p < PARTS; p++)

INLINE vec splat(float value)
{
    return value - (vec){0};
}

#if !defined(__SSE2__)
INLINE vec choose(bits condition, vec yes, vec no)
{
    return (vec)((condition & (bits)yes) | (~condition & (bits)no));
}
#endif

/* Both return a NaN in x: if the operands are unordered, the instructions return the second one. */
#if defined(__AVX512F__)
#define MAX_PS _mm512_max_ps
#define MIN_PS _mm512_min_ps
#elif defined(__AVX2__)
#define MAX_PS _mm256_max_ps
#define MIN_PS _mm256_min_ps
#elif defined(__SSE2__)
#define MAX_PS _mm_max_ps
#define MIN_PS _mm_min_ps
#else
#define MAX_PS(low, x) choose((bits)(x < low), low, x)
#define MIN_PS(high, x) choose((bits)(x > high), high, x)
#endif

INLINE vec at_least(vec x, vec low)
{
    return MAX_PS(low, x);
}

INLINE vec at_most(vec x, vec high)
{
    return MIN_PS(high, x);
}

INLINE bool any(bits condition)
{
#if defined(__AVX512F__)
    return _mm512_movepi32_mask((__m512i)condition) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_ps((__m256)condition) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_ps((__m128)condition) != 0;
#elif defined(FERRY_NEON)
    return vmaxvq_u32(condition) != 0;
#else
    uint32_t found = 0;
    for (int l = 0; l < WIDTH; l++) found |= condition[l];
    return found != 0;
#endif
}

INLINE lanes lanes_splat(float value)
{
    lanes result;
    EACH_PART result.part[p] = splat(value);
    return result;
}

/* Loads or stores the first `count` lanes of a vector; none if count is negative. */
#if defined(__AVX512F__)
INLINE vec load_some(const float *x, int32_t count, float fill)
{
    return _mm512_mask_loadu_ps(splat(fill), (__mmask16)((1u << count) - 1), x);
}

INLINE void store_some(float *y, int32_t count, vec values)
{
    _mm512_mask_storeu_ps(y, (__mmask16)((1u << count) - 1), values);
}
#elif defined(__AVX2__)
INLINE __m256i first_lanes(int32_t count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

INLINE vec load_some(const float *x, int32_t count, float fill)
{
    __m256i mask = first_lanes(count);
    return _mm256_blendv_ps(splat(fill), _mm256_maskload_ps(x, mask), (__m256)mask);
}

INLINE void store_some(float *y, int32_t count, vec values)
{
    _mm256_maskstore_ps(y, first_lanes(count), values);
}
#else
INLINE vec load_some(const float *x, int32_t count, float fill)
{
    vec values = splat(fill);
    UNROLL for (int l = 0; l < WIDTH; l++)
    {
        if (l < count) values[l] = x[l];
    }
    return values;
}

INLINE void store_some(float *y, int32_t count, vec values)
{
    UNROLL for (int l = 0; l < WIDTH; l++)
    {
        if (l < count) y[l] = values[l];
    }
}
#endif

/* At most 16 elements of x[0..count); the other lanes are `fill`. */
INLINE lanes lanes_load(const float *x, size_t count, float fill)
{
    lanes result;
    if (count >= FERRY_LANES)
        EACH_PART result.part[p] = load(x + p * WIDTH);
    else
        EACH_PART result.part[p] = load_some(x + p * WIDTH, (int32_t)count - p * WIDTH, fill);
    return result;
}

INLINE void lanes_store(float *y, size_t count, lanes values)
{
    if (count >= FERRY_LANES)
        EACH_PART store(y + p * WIDTH, values.part[p]);
    else
        EACH_PART store_some(y + p * WIDTH, (int32_t)count - p * WIDTH, values.part[p]);
}

typedef float quad __attribute__((vector_size(16)));

/* A quad: `operation` of lanes l and l + 8, then of l and l + 4. */
#if defined(__AVX512F__)
#define FOLD_TO_FOUR(name, operation)                                                                                  \
    INLINE quad name(lanes x)                                                                                          \
    {                                                                                                                  \
        __m256 low = _mm512_castps512_ps256(x.part[0]), high = _mm512_extractf32x8_ps(x.part[0], 1);                   \
        quad a = operation(_mm256_castps256_ps128(low), _mm256_castps256_ps128(high));                                 \
        return operation(a, operation(_mm256_extractf128_ps(low, 1), _mm256_extractf128_ps(high, 1)));                 \
    }
#elif defined(__AVX2__)
#define FOLD_TO_FOUR(name, operation)                                                                                  \
    INLINE quad name(lanes x)                                                                                          \
    {                                                                                                                  \
        quad a = operation(_mm256_castps256_ps128(x.part[0]), _mm256_castps256_ps128(x.part[1]));                      \
        return operation(a, operation(_mm256_extractf128_ps(x.part[0], 1), _mm256_extractf128_ps(x.part[1], 1)));      \
    }
#else
#define FOLD_TO_FOUR(name, operation)                                                                                  \
    INLINE quad name(lanes x)                                                                                          \
    {                                                                                                                  \
        return operation(operation(x.part[0], x.part[2]), operation(x.part[1], x.part[3]));                            \
    }
#endif
#if defined(__SSE2__)
#define LARGER_QUAD _mm_max_ps
#else
#define LARGER_QUAD MAX_PS
#endif
#define ADD_QUADS(a, b) ((a) + (b))

FOLD_TO_FOUR(add_to_four, ADD_QUADS)
FOLD_TO_FOUR(largest_four, LARGER_QUAD)

INLINE float lanes_sum(lanes values)
{
    quad sums = add_to_four(values);
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/* The largest lane, if none is a NaN. */
INLINE float lanes_largest(lanes values)
{
    quad four = largest_four(values);
    float a = four[0] > four[2] ? four[0] : four[2], b = four[1] > four[3] ? four[1] : four[3];
    return a > b ? a : b;
}

/* e^x = 2^n·e^r with n = round(x·log₂e), |r| ≤ ln 2/2 and e^r = 1 + r + r²·q(r); q is a minimax polynomial for the
 * relative error of e^r (3e-9 before rounding). ln 2 = LN2_HIGH + LN2_LOW, and n·LN2_HIGH is exact. Below -87 the
 * result is 0, before 2^n would be subnormal. 2^n is applied as 2^(n-1)·2, so that n = 128 can overflow to infinity. */
#define LOG2_E 0x1.715476p+0f
#define LN2_HIGH 0x1.63p-1f
#define LN2_LOW -0x1.bd0106p-13f
#define ROUNDER 0x1.8p+23f /* adding it rounds to an integer in the low bits */
#define EXP_LOW -87.3f
#define EXP_HIGH 89.0f

/* e^x/2 for x ≤ 0, or a NaN. */
INLINE vec half_exponential(vec x)
{
    x = at_least(x, splat(EXP_LOW));
    vec shifted = x * LOG2_E + ROUNDER;
    vec n = shifted - ROUNDER;
    vec r = (x - n * LN2_HIGH) - n * LN2_LOW;
    vec q = splat(0.0013814581325277686f);
    q = q * r + 0.008368724957108498f;
    q = q * r + 0.04166838899254799f;
    q = q * r + 0.1666652113199234f;
    q = q * r + 0.4999999403953552f;
    vec power = (vec)(((bits)shifted - (bits)splat(ROUNDER) + 126) << 23);
    return (1.0f + (r + r * r * q)) * power;
}

INLINE vec exponential(vec x)
{
    return half_exponential(at_most(x, splat(EXP_HIGH))) * 2.0f;
}

/* With z = |x|: gelu(x) = max(x, 0) - z/2·erfc(z/√2), and erfc(z/√2) = e^(-z·P(z)), where P is a minimax polynomial for
 * the absolute error of z/2·erfc(z/√2) (1e-8 before rounding). Nothing cancels in the tails. */
#define GELU_TAIL 14.0f /* erfc is 0 in float32 well before */

INLINE vec gelu(vec x)
{
    vec z = at_most((vec)((bits)x & 0x7fffffff), splat(GELU_TAIL));
    vec P = splat(1.318412387263379e-06f);
    P = P * z - 1.9447570593911223e-05f;
    P = P * z + 9.113001578953117e-05f;
    P = P * z + 0.00018858983821701258f;
    P = P * z - 0.00502214627340436f;
    P = P * z + 0.0364786833524704f;
    P = P * z + 0.31826695799827576f;
    P = P * z + 0.7978893518447876f;
    return at_least(x, splat(0.0f)) - 0.5f * z * exponential(-z * P);
}

INLINE vec sigmoid(vec x)
{
    return 1.0f / (1.0f + exponential(-x));
}

INLINE vec swish(vec x)
{
    return x / (1.0f + exponential(-x));
}

/* (1 + tanh u)/2 = sigmoid(2u), with 2u = 2√(2/π)·x·(1 + 0.044715 x²). */
INLINE vec gelu_tanh(vec x)
{
    return x / (1.0f + exponential(-1.5957691216057308f * x * (1.0f + 0.044715f * x * x)));
}

INLINE vec gelu_sigmoid(vec x)
{
    return x / (1.0f + exponential(-1.702f * x));
}

INLINE lanes larger_of(lanes a, lanes b)
{
    EACH_PART a.part[p] = at_least(a.part[p], b.part[p]);
    return a;
}

/* Four chains, to hide the latency of the maxima. */
enum { CHAINS = 4, CHAINS_STEP = CHAINS * FERRY_LANES };

INLINE float maximum(const float *x, size_t n)
{
    lanes best = lanes_splat(-INFINITY);
    size_t i = 0;
    if (n >= CHAINS_STEP) {
        lanes chains[CHAINS];
        UNROLL for (int c = 0; c < CHAINS; c++) chains[c] = best;
        for (; n - i >= CHAINS_STEP; i += CHAINS_STEP) {
            UNROLL for (int c = 0; c < CHAINS; c++)
            {
                chains[c] = larger_of(chains[c], lanes_load(x + i + c * FERRY_LANES, FERRY_LANES, 0.0f));
            }
        }
        best = larger_of(larger_of(chains[0], chains[1]), larger_of(chains[2], chains[3]));
    }
    for (; i < n; i += FERRY_LANES) best = larger_of(best, lanes_load(x + i, n - i, -INFINITY));
    return lanes_largest(best);
}

typedef int32_t ints __attribute__((vector_size(4 * WIDTH), may_alias));
typedef int32_t quad_ints __attribute__((vector_size(16), may_alias));

INLINE quad_ints larger_quad(quad_ints a, quad_ints b)
{
#if defined(FERRY_NEON)
    return vmaxq_s32(a, b);
#else
    const quad_ints first = a > b;
    return (a & first) | (b & ~first);
#endif
}

/* The bits of absolute values compare as the values do; a NaN is above all. */
float FERRY_KERNEL(largest)(const float *x, size_t n)
{
    ints max[PARTS] = {{0}};
    quad_ints quads[FERRY_LANES / 4];
    for (size_t i = 0; i < n; i += FERRY_LANES) {
        const lanes values = lanes_load(x + i, n - i, 0.0f);
        EACH_PART
        {
            const ints sizes = (ints)values.part[p] & INT32_MAX;
#if defined(__AVX512F__)
            max[p] = (ints)_mm512_max_epi32((__m512i)max[p], (__m512i)sizes);
#elif defined(__AVX2__)
            max[p] = (ints)_mm256_max_epi32((__m256i)max[p], (__m256i)sizes);
#else
            max[p] = larger_quad(max[p], sizes);
#endif
        }
    }
    memcpy(quads, max, sizeof max);
    quads[0] = larger_quad(larger_quad(quads[0], quads[1]), larger_quad(quads[2], quads[3]));
    quads[0] = larger_quad(quads[0], (quad_ints){quads[0][2], quads[0][3]});
    const int32_t bits_of_it = quads[0][0] > quads[0][1] ? quads[0][0] : quads[0][1];
    float result;
    memcpy(&result, &bits_of_it, sizeof result);
    return result;
}

/* Sixteen elements of x from `i` on, or of x + residual, which is also stored in y. */
INLINE lanes load_sum(float *y, const float *x, const float *residual, size_t i, size_t n)
{
    lanes values = lanes_load(x + i, n - i, 0.0f);
    if (residual != NULL) {
        lanes more = lanes_load(residual + i, n - i, 0.0f);
        EACH_PART values.part[p] += more.part[p];
        lanes_store(y + i, n - i, values);
    }
    return values;
}

/* y = (x - mean)·factor·weight + bias if centered (layer_norm), else x·factor·weight (rms_norm). */
INLINE void normalize_rows(float *y, const float *x, const float *residual, const float *weight, const float *bias,
                           float eps, int32_t rows, size_t n, bool centered)
{
    for (int32_t row = 0; row < rows; row++, x += n, y += n) {
        const float *from = residual != NULL ? y : x;
        float mean = 0;
        lanes total = lanes_splat(0.0f);
        for (size_t i = 0; i < n; i += FERRY_LANES) {
            const lanes values = load_sum(y, x, residual, i, n);
            if (centered)
                EACH_PART total.part[p] += values.part[p];
            else
                EACH_PART total.part[p] += values.part[p] * values.part[p];
        }
        if (centered) {
            mean = lanes_sum(total) / (float)n;
            total = lanes_splat(0.0f);
            for (size_t i = 0; i < n; i += FERRY_LANES) {
                lanes values = lanes_load(from + i, n - i, mean);
                EACH_PART values.part[p] -= mean;
                EACH_PART total.part[p] += values.part[p] * values.part[p];
            }
        }
        const float factor = 1.0f / sqrtf(lanes_sum(total) / (float)n + eps);
        for (size_t i = 0; i < n; i += FERRY_LANES) {
            lanes values = lanes_load(from + i, n - i, 0.0f);
            const lanes weights = lanes_load(weight + i, n - i, 0.0f);
            if (centered) EACH_PART values.part[p] -= mean;
            EACH_PART values.part[p] = values.part[p] * factor * weights.part[p];
            if (centered) {
                const lanes biases = lanes_load(bias + i, n - i, 0.0f);
                EACH_PART values.part[p] += biases.part[p];
            }
            lanes_store(y + i, n - i, values);
        }
        if (residual != NULL) residual += n;
    }
}

void FERRY_KERNEL(layer_norm)(float *y, const float *x, const float *residual, const float *weight, const float *bias,
                              float eps, int32_t rows, int32_t n)
{
    normalize_rows(y, x, residual, weight, bias, eps, rows, (size_t)n, true);
}

void FERRY_KERNEL(rms_norm)(float *y, const float *x, const float *residual, const float *weight, float eps,
                            int32_t rows, int32_t n)
{
    normalize_rows(y, x, residual, weight, NULL, eps, rows, (size_t)n, false);
}

/* Four vectors side by side, to hide the latency of long chains of operations. */
enum { ABREAST = 4 / PARTS, ABREAST_STEP = ABREAST * FERRY_LANES };

/* *total += e^(x - max)/2 of `count` ≤ 16·abreast elements. y, unless NULL, receives these terms; it may be x. */
INLINE void add_halves(lanes *total, float *y, const float *x, size_t count, float max, int abreast)
{
    lanes terms[ABREAST];
    UNROLL for (int c = 0; c < abreast; c++)
    {
        terms[c] = lanes_load(x + c * FERRY_LANES, count - (size_t)c * FERRY_LANES, -INFINITY);
        EACH_PART terms[c].part[p] = half_exponential(terms[c].part[p] - max);
    }
    UNROLL for (int c = 0; c < abreast; c++)
    {
        EACH_PART total->part[p] += terms[c].part[p];
        if (y != NULL) lanes_store(y + c * FERRY_LANES, count - (size_t)c * FERRY_LANES, terms[c]);
    }
}

/* Σ e^(x - max)/2 for x ≤ max. */
INLINE float sum_halves(const float *x, size_t n, float max)
{
    lanes total = lanes_splat(0.0f);
    size_t i = 0;
    for (; n - i >= ABREAST_STEP; i += ABREAST_STEP) add_halves(&total, NULL, x + i, ABREAST_STEP, max, ABREAST);
    for (; i < n; i += FERRY_LANES) add_halves(&total, NULL, x + i, n - i, max, 1);
    return lanes_sum(total);
}

/* The softmax of `abreast` rows. Terms are halves; quotients stay the same. */
INLINE void softmax_rows(float *x, size_t ld, size_t n, int abreast)
{
    float max[ABREAST], factors[ABREAST];
    lanes totals[ABREAST];
    for (int r = 0; r < abreast; r++) max[r] = maximum(x + (size_t)r * ld, n);
    UNROLL for (int r = 0; r < abreast; r++) totals[r] = lanes_splat(0.0f);
    for (size_t i = 0; i < n; i += FERRY_LANES) UNROLL for (int r = 0; r < abreast; r++)
        {
            float *at = x + (size_t)r * ld + i;
            add_halves(&totals[r], at, at, n - i, max[r], 1);
        }
    UNROLL for (int r = 0; r < abreast; r++) factors[r] = 1.0f / lanes_sum(totals[r]);
    for (size_t i = 0; i < n; i += FERRY_LANES) UNROLL for (int r = 0; r < abreast; r++)
        {
            float *at = x + (size_t)r * ld + i;
            lanes values = lanes_load(at, n - i, 0.0f);
            EACH_PART values.part[p] *= factors[r];
            lanes_store(at, n - i, values);
        }
}

void FERRY_KERNEL(softmax)(float *x, size_t ld, int32_t rows, int32_t n)
{
    for (; rows >= ABREAST; rows -= ABREAST, x += ABREAST * ld) softmax_rows(x, ld, (size_t)n, ABREAST);
    for (; rows > 0; rows--, x += ld) softmax_rows(x, ld, (size_t)n, 1);
}

/* Whether any element is a NaN. */
INLINE bool has_nan(const float *x, size_t n)
{
    bits nan = {0};
    for (size_t i = 0; i < n; i += FERRY_LANES) {
        const lanes values = lanes_load(x + i, n - i, 0.0f);
        EACH_PART nan |= (bits)(values.part[p] != values.part[p]);
    }
    return any(nan);
}

void FERRY_KERNEL(add_exp)(ferry_log_sum *total, const float *x, int32_t n)
{
    for (size_t i = 0, count = (size_t)n; i < count; i += FERRY_LOG_SUM_BLOCK) {
        const size_t block = count - i < FERRY_LOG_SUM_BLOCK ? count - i : FERRY_LOG_SUM_BLOCK;
        const float max = maximum(x + i, block);
        if (max > total->largest) {
            total->sum *= exp((double)total->largest - (double)max);
            total->largest = max;
        }
        if (total->largest > -INFINITY)
            total->sum += 2 * (double)sum_halves(x + i, block, total->largest);
        else if (has_nan(x + i, block))
            total->sum = NAN;
    }
}

/* argmax takes the maximum of each block, then finds its index in the first block that has it. */
enum { ARGMAX_BLOCK = 1024 };

int32_t FERRY_KERNEL(argmax)(const float *x, int32_t n)
{
    const size_t count = (size_t)n;
    float max = -INFINITY;
    size_t i = 0;
    for (size_t block = 0; block < count; block += ARGMAX_BLOCK) {
        const size_t size = count - block < ARGMAX_BLOCK ? count - block : ARGMAX_BLOCK;
        const float value = maximum(x + block, size);
        if (has_nan(x + block, size)) return -1;
        if (!(value > max)) continue;
        max = value;
        i = block;
    }
    while (i < count && x[i] != max) i++;
    return i < count ? (int32_t)i : 0;
}

/* Inserts after equal elements. A full list drops its last element. */
static void insert(ferry_top *top, float value, int32_t index)
{
    float *values = top->values;
    int32_t at = top->count < top->limit ? top->count++ : top->limit - 1;
    for (; at > 0 && values[at - 1] < value; at--) {
        values[at] = values[at - 1];
        top->indices[at] = top->indices[at - 1];
    }
    values[at] = value;
    top->indices[at] = index;
}

void FERRY_KERNEL(add_top)(ferry_top *top, const float *x, int32_t n, int32_t first)
{
    int32_t i = 0;
    if (top->limit < 1) return;
    for (; top->count < top->limit && i < n; i++) insert(top, x[i], first + i);
    float min = top->values[top->limit - 1];
    for (; i < n; i += FERRY_LANES) {
        lanes candidates = lanes_load(x + i, (size_t)(n - i), -INFINITY);
        bits larger = {0};
        EACH_PART larger |= (bits)(candidates.part[p] > min);
        if (!any(larger)) continue;
        for (int32_t l = i; l < n && l < i + FERRY_LANES; l++)
            if (x[l] > min) {
                insert(top, x[l], first + l);
                min = top->values[top->limit - 1];
            }
    }
}

/* The larger element of each two neighbors: of a, then of b. */
INLINE quad larger_neighbors(quad a, quad b)
{
#if defined(__SSE2__)
    return _mm_max_ps(_mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)), _mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
#elif defined(FERRY_NEON)
    return vpmaxq_f32(a, b);
#else
    return LARGER_QUAD(((quad){a[0], a[2], b[0], b[2]}), ((quad){a[1], a[3], b[1], b[3]}));
#endif
}

void FERRY_KERNEL(panel_maxima)(float *y, const float *x, size_t n)
{
    enum { TOGETHER = 4, STEP = TOGETHER * FERRY_LANES };
    for (size_t i = 0; i < n; i += STEP, y += TOGETHER) {
        quad four[TOGETHER];
        UNROLL for (int p = 0; p < TOGETHER; p++)
        {
            const size_t at = i + (size_t)p * FERRY_LANES;
            four[p] = largest_four(lanes_load(at < n ? x + at : x, at < n ? n - at : 0, -INFINITY));
        }
        const quad all = larger_neighbors(larger_neighbors(four[0], four[1]), larger_neighbors(four[2], four[3]));
        const size_t left = (n - i + FERRY_LANES - 1) / FERRY_LANES;
        memcpy(y, &all, (left < TOGETHER ? left : TOGETHER) * sizeof *y);
    }
}

INLINE vec relu(vec x)
{
    return at_least(x, splat(0.0f));
}

typedef vec vec_function(vec x);

/* function(x) of `count` ≤ 16·abreast elements. */
INLINE void activate_lanes(vec_function *function, float *x, size_t count, int abreast)
{
    lanes values[ABREAST];
    UNROLL for (int c = 0; c < abreast; c++)
    {
        values[c] = lanes_load(x + c * FERRY_LANES, count - (size_t)c * FERRY_LANES, 0.0f);
        EACH_PART values[c].part[p] = function(values[c].part[p]);
    }
    UNROLL for (int c = 0; c < abreast; c++)
        lanes_store(x + c * FERRY_LANES, count - (size_t)c * FERRY_LANES, values[c]);
}

INLINE void activate_all(vec_function *function, float *x, size_t n)
{
    size_t i = 0;
    for (; n - i >= ABREAST_STEP; i += ABREAST_STEP) activate_lanes(function, x + i, ABREAST_STEP, ABREAST);
    for (; i < n; i += FERRY_LANES) activate_lanes(function, x + i, n - i, 1);
}

void FERRY_KERNEL(activate)(ferry_activation activation, float *x, size_t n)
{
    switch (activation) {
    case FERRY_RELU: activate_all(relu, x, n); break;
    case FERRY_GELU: activate_all(gelu, x, n); break;
    case FERRY_SWISH: activate_all(swish, x, n); break;
    case FERRY_GELU_TANH: activate_all(gelu_tanh, x, n); break;
    case FERRY_GELU_SIGMOID: activate_all(gelu_sigmoid, x, n); break;
    }
}

void FERRY_KERNEL(ssru)(float *y, float *c, const float *f, const float *w, int32_t n)
{
    for (size_t i = 0, count = (size_t)n; i < count; i += FERRY_LANES) {
        lanes gates = lanes_load(f + i, count - i, 0.0f);
        lanes inputs = lanes_load(w + i, count - i, 0.0f);
        lanes states = lanes_load(c + i, count - i, 0.0f);
        EACH_PART
        {
            vec g = sigmoid(gates.part[p]);
            states.part[p] = g * states.part[p] + (1.0f - g) * inputs.part[p];
        }
        lanes_store(c + i, count - i, states);
        EACH_PART states.part[p] = relu(states.part[p]);
        lanes_store(y + i, count - i, states);
    }
}

void FERRY_KERNEL(add)(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] += x[i];
}

void FERRY_KERNEL(multiply)(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] *= x[i];
}

void FERRY_KERNEL(scale)(float *y, float factor, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] *= factor;
}

void FERRY_KERNEL(widen_f16)(float *y, const uint16_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = ferry_f16_to_f32(x[i]);
}

/* ---- unpacking ---- */

typedef uint8_t byte_cells __attribute__((vector_size(4 * WIDTH), may_alias));
typedef uint16_t half_cells __attribute__((vector_size(4 * WIDTH), may_alias)); /* x86 shifts no bytes */

INLINE void join_lines(int8_t *int8, const uint8_t *upper, const uint8_t *lower, size_t lines, bool joined)
{
    for (; lines > 0; lines--, int8 += 2 * FERRY_LINE_BYTES, upper += FERRY_LINE_BYTES, lower += FERRY_LINE_BYTES)
        UNROLL for (int i = 0; i < FERRY_LINE_BYTES; i += 4 * WIDTH)
        {
            const byte_cells high = *(const byte_cells *)(upper + i) ^ (uint8_t)(joined ? 0 : 0x88),
                             low = *(const byte_cells *)(lower + i);
            const byte_cells swapped =
                ((byte_cells)((half_cells)high << 4) ^ low) & 0xf0; /* upper of the first, lower of the second */
            *(byte_cells *)(int8 + i) = low ^ swapped;
            *(byte_cells *)(int8 + FERRY_LINE_BYTES + i) = high ^ (byte_cells)((half_cells)swapped >> 4);
        }
}

void FERRY_KERNEL(join_planes)(int8_t *int8, const uint8_t *upper, const uint8_t *lower, size_t lines, bool joined)
{
    if (joined)
        join_lines(int8, upper, lower, lines, true);
    else
        join_lines(int8, upper, lower, lines, false);
}

/* s·(u - 8) modulo 2^8 of each byte u < 16. step: s in both halves of a cell; eight: 8 s in its bytes. */
INLINE byte_cells unpack(half_cells u, half_cells step, byte_cells eight)
{
    return (byte_cells)((((u & 0xff) * step) & 0xff) | ((u & 0xff00) * step)) - eight;
}

void FERRY_KERNEL(unpack_steps)(int8_t *int8, const uint8_t *panel, int32_t K)
{
    const uint8_t *lines = panel + ferry_step_lines((size_t)K) * FERRY_LINE_BYTES;
    for (int32_t k = 0; k < K; k += FERRY_STEP_INPUTS, panel += FERRY_LANES) EACH_PART
        {
            const bits step = (bits)load_steps(panel + p * WIDTH);
            const half_cells both = (half_cells)((step & 0xffff) | step << 16), low = both << 3 & 0xff;
            const byte_cells eight = (byte_cells)(low | low << 8);
            const uint8_t *from = lines + (size_t)k * (FERRY_LINE_BYTES / FERRY_NIBBLE_GROUP) + p * 4 * WIDTH;
            int8_t *to = int8 + (size_t)k * FERRY_LANES + p * 4 * WIDTH;
            UNROLL for (int line = 0; line < FERRY_STEP_INPUTS / FERRY_NIBBLE_GROUP; line++)
            {
                const half_cells nibbles = *(const half_cells *)(from + line * FERRY_LINE_BYTES);
                *(byte_cells *)(to + 2 * line * FERRY_LINE_BYTES) = unpack(nibbles & 0x0f0f, both, eight);
                *(byte_cells *)(to + (2 * line + 1) * FERRY_LINE_BYTES) = unpack(nibbles >> 4 & 0x0f0f, both, eight);
            }
        }
}
