/* Inputs of products with int8 matrices (linear.h), quantized: compiled once per ISA (isa.h), with equal results. */
#include "product_i8.h"
#if defined(PAIRS)
#include "inputs_pairs.h"
#endif

typedef int32_t quad __attribute__((vector_size(16), may_alias));
typedef quad quad_function(quad a, quad b);

INLINE quad larger_quad(quad a, quad b)
{
#if defined(FERRY_NEON)
    return vmaxq_s32(a, b);
#else
    quad first = a > b;
    return (a & first) | (b & ~first);
#endif
}

INLINE quad add_quads(quad a, quad b)
{
    return a + b;
}

INLINE int_vec larger(int_vec a, int_vec b)
{
#if WIDTH == 16
    return (int_vec)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif WIDTH == 8
    return (int_vec)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    return (int_vec)larger_quad((quad)a, (quad)b);
#endif
}

/* All lanes become one. */
INLINE int32_t fold(int_vec x, quad_function *operation)
{
    quad quads[WIDTH / 4];
    memcpy(quads, &x, sizeof x);
    UNROLL for (int q = 1; q < WIDTH / 4; q++) quads[0] = operation(quads[0], quads[q]);
    const quad two = operation(quads[0], (quad){quads[0][2], quads[0][3]});
    return operation(two, (quad){two[1]})[0];
}

/* min(max(x, -127), 127); -127 if x is a NaN. */
INLINE vec clamp(vec x)
{
#if WIDTH == 16
    return _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-127.0f)), _mm512_set1_ps(127.0f));
#elif WIDTH == 8
    return _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(-127.0f)), _mm256_set1_ps(127.0f));
#elif defined(FERRY_NEON)
    /* Of a NaN and a number these return the number. */
    return vminnmq_f32(vmaxnmq_f32(x, vdupq_n_f32(-127.0f)), vdupq_n_f32(127.0f));
#else
    const vec low = (vec){0} - 127.0f, high = (vec){0} + 127.0f;
    int_vec above = x > low, below = x < high;
    int_vec most = (above & (int_vec)x) | (~above & (int_vec)low);
    return (vec)((below & most) | (~below & above & (int_vec)high) | (~above & most));
#endif
}

float FERRY_KERNEL(largest)(const float *x, size_t n)
{
    /* Absolute values of floats compare as their bits do; a NaN is above all. */
    int_vec most[PARTS] = {{0}};
    float edge[FERRY_LANES] = {0};
    for (size_t i = 0; i < n; i += FERRY_LANES) {
        const float *lanes = x + i;
        if (n - i < FERRY_LANES) lanes = memcpy(edge, lanes, (n - i) * sizeof *edge);
        UNROLL for (int v = 0; v < PARTS; v++)
        {
            most[v] = larger(most[v], (int_vec)load(lanes + v * WIDTH) & INT32_MAX);
        }
    }
    UNROLL for (int v = 1; v < PARTS; v++) most[0] = larger(most[0], most[v]);
    const int32_t bits = fold(most[0], larger_quad);
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* Of the inputs of a row so far, lane by lane. */
typedef struct row_lanes {
    int_vec sums;    /* of codes */
    int_vec squares; /* of codes, for nibbles */
    int_vec nans;    /* not 0: there was a NaN */
    bool nibbles;
#if defined(PAIRS)
    row_rests rests;
#endif
} row_lanes;

/* The nearest integers, ties to even. Adding 1.5·2^23 rounds, and leaves the integer in the low bits. */
INLINE int_vec nearest(vec x)
{
#if defined(FERRY_NEON)
    return vcvtnq_s32_f32(x);
#else
    const float shift = 0x1.8p23f;
    return (int_vec)(x + shift) - (int_vec)((vec){0} + shift);
#endif
}

/* 16 integers x̂ of x·factor. */
INLINE void round_lanes(int_vec *integers, const float *x, float factor, row_lanes *row)
{
    UNROLL for (int v = 0; v < PARTS; v++)
    {
        const vec values = load(x + v * WIDTH);
        integers[v] = nearest(clamp(values * factor));
        if (row->nibbles) row->squares += integers[v] * integers[v];
        row->nans |= values != values;
    }
}

/* The low bytes of 16 integers. */
INLINE void store_bytes(int8_t *bytes, const int_vec *integers)
{
#if defined(FERRY_NEON)
    const int16x8_t low = vuzp1q_s16((int16x8_t)integers[0], (int16x8_t)integers[1]);
    const int16x8_t high = vuzp1q_s16((int16x8_t)integers[2], (int16x8_t)integers[3]);
    vst1q_s8(bytes, vuzp1q_s8((int8x16_t)low, (int8x16_t)high));
#elif WIDTH == 8
    /* Instructions pack the halves of a register side by side. */
    const __m256i halves = _mm256_packs_epi32((__m256i)integers[0], (__m256i)integers[1]);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi16(halves, halves), _MM_SHUFFLE(3, 1, 2, 0));
    _mm_storeu_si128((__m128i *)(void *)bytes,
                     _mm_shuffle_epi32(_mm256_castsi256_si128(packed), _MM_SHUFFLE(3, 1, 2, 0)));
#else
    typedef int8_t narrow __attribute__((vector_size(WIDTH), may_alias, aligned(1)));
    UNROLL for (int v = 0; v < PARTS; v++)
    {
        *(narrow *)(bytes + v * WIDTH) = __builtin_convertvector(integers[v], narrow);
    }
#endif
}

/* 16 codes. */
INLINE void quantize_lanes(int8_t *codes, const float *x, float factor, row_lanes *row)
{
    int_vec integers[PARTS];
    round_lanes(integers, x, factor, row);
    UNROLL for (int v = 0; v < PARTS; v++) row->sums += integers[v];
    store_bytes(codes, integers);
}

/* The last 16 codes, from `count` inputs and padded with zeros; returns their sum, which `row` does not have. */
static int32_t quantize_edge(int8_t *codes, const float *x, int32_t count, float factor, row_lanes *row)
{
    float edge[FERRY_LANES] = {0};
    const int_vec before = row->sums;
    int32_t sum = 0;
    memcpy(edge, x, (size_t)count * sizeof *edge);
    quantize_lanes(codes, edge, factor, row);
    row->sums = before;
    for (int32_t l = 0; l < FERRY_LANES; l++) {
        codes[l] = l < count ? codes[l] : 0; /* 0·factor is a NaN if the factor is infinite */
        sum += codes[l];
    }
    return sum;
}

#if defined(PAIRS)
/* Row x [K] of a block, whose groups are `stride` bytes apart; returns Σ x̂. */
static int32_t quantize_chunks(int8_t *codes, size_t stride, const float *x, int32_t K, float factor, row_lanes *row)
{
    _Alignas(BYTES) int8_t all[CHUNK];
    int32_t sum = 0;
    for (int32_t k = 0; k < K; k += CHUNK) {
        const int32_t count = K - k < CHUNK ? K - k : CHUNK;
        int32_t i = 0;
        for (; i + FERRY_LANES <= count; i += FERRY_LANES) quantize_lanes(all + i, x + k + i, factor, row);
        if (i < count) {
            sum = quantize_edge(all + i, x + k + i, count - i, factor, row);
            i += FERRY_LANES;
        }
        if (i % BYTES != 0) memset(all + i, 0, FERRY_LANES);
        split_chunk(codes, stride, all, (uint32_t)count, (uint32_t)k / GROUP, &row->rests);
        codes += CHUNK / GROUP * stride;
    }
    return sum + fold(row->sums, add_quads);
}
#else
/* Row x [K] of a block of several, whose steps are `stride` bytes apart; returns Σ x̂. */
static int32_t quantize_steps(int8_t *codes, size_t stride, const float *x, int32_t K, float factor, row_lanes *row)
{
    int32_t k = 0, sum = 0;
    for (; k + FERRY_LANES <= K; k += FERRY_LANES) {
        int8_t lanes[FERRY_LANES];
        quantize_lanes(lanes, x + k, factor, row);
        for (int l = 0; l < FERRY_LANES; l += INPUTS, codes += stride) memcpy(codes, lanes + l, INPUTS);
    }
    if (k < K) {
        int8_t lanes[FERRY_LANES];
        sum = quantize_edge(lanes, x + k, K - k, factor, row);
        for (int l = 0; l < K - k; l += INPUTS, codes += stride) memcpy(codes, lanes + l, INPUTS);
    }
    return sum + fold(row->sums, add_quads);
}

/* Row x [K] in pieces of 64 inputs that are `stride` bytes apart. */
static int32_t quantize_pieces(int8_t *codes, size_t stride, const float *x, int32_t K, float factor, row_lanes *row)
{
    int32_t k = 0, sum = 0;
    for (; k + AMX_INPUTS <= K; k += AMX_INPUTS, codes += stride)
        UNROLL for (int l = 0; l < AMX_INPUTS; l += FERRY_LANES)
        {
            quantize_lanes(codes + l, x + k + l, factor, row);
        }
    for (; k < K; k += FERRY_LANES, codes += FERRY_LANES)
        if (k + FERRY_LANES <= K)
            quantize_lanes(codes, x + k, factor, row);
        else
            sum = quantize_edge(codes, x + k, K - k, factor, row);
    return sum + fold(row->sums, add_quads);
}
#endif

size_t FERRY_KERNEL(inputs_size)(int32_t rows, int32_t K)
{
#if defined(PAIRS)
    return blocks_size(rows, K) + rests_size(rows, K);
#else
    return blocks_size(rows, K);
#endif
}

/* Row x [K] of the block `part`; returns Σ x̂. */
static int32_t quantize_row(const ferry_rows_i8 *inputs, const float *x, int32_t row, block part, row_lanes *lanes)
{
    const int32_t K = inputs->K;
    const float factor = inputs->factors[row];
    int8_t *codes = inputs->codes + (size_t)part.first * row_bytes(K) + (row - part.first) * INPUTS;
    const size_t stride = (size_t)part.rows * INPUTS;
#if defined(PAIRS)
    return quantize_chunks(codes, stride, x, K, factor, lanes);
#else
#if defined(AMX)
    const bool pieces = inputs->rows >= MIN_AMX_ROWS && !inputs->nibbles;
#else
    const bool pieces = false;
#endif
    if (pieces || inputs->rows == 1)
        return quantize_pieces(inputs->codes + row * AMX_INPUTS, (size_t)inputs->rows * AMX_INPUTS, x, K, factor,
                               lanes);
    return quantize_steps(codes, stride, x, K, factor, lanes);
#endif
}

/* What is added to 16·Σ x̂·u, so that it becomes the bound Σ x̂·q̂ + |x̂|·|q - q̂|, rounded up. */
static int32_t nibbles_sum(const ferry_rows_i8 *inputs, int32_t sum, int32_t squares)
{
    return (int32_t)ceil((double)inputs->nibbles_error * sqrt((double)squares)) - NIBBLE_OFFSET * sum;
}

void FERRY_KERNEL(quantize)(const ferry_rows_i8 *inputs, const float *x, int32_t row)
{
    const block part = block_of_row(inputs->rows, row);
    row_lanes lanes = {.nibbles = inputs->nibbles};
#if defined(PAIRS)
    lanes.rests = begin_rests(inputs, x, row, part);
#endif
    int32_t sum = quantize_row(inputs, x, row, part, &lanes);
#if defined(PAIRS)
    sum = end_rests(inputs, row, part, &lanes.rests, sum);
#endif
    inputs->sums[row] = inputs->nibbles ? nibbles_sum(inputs, sum, fold(lanes.squares, add_quads)) : sum;
    if (fold(lanes.nans, add_quads) != 0) inputs->factors[row] = NAN; /* codes cannot say it, but so the product does */
    inputs->units[row] = 1.0f / inputs->factors[row];
}
