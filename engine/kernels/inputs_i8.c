/* Inputs of products with int8 matrices (linear.h), quantized: compiled once per ISA (isa.h), with equal results. */
#include "product_i8.h"

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
    int_vec sums;   /* of codes */
    int_vec nans;   /* not 0: there was a NaN */
    int_vec errors; /* of coarse codes */
    bool coarse;
#if defined(PAIRS)
    bool fours; /* FOURS groups shall fit in 16 bits together */
    rest *list; /* of rests, `stride` apart; not of coarse codes */
    int32_t stride, count;
#endif
} row_lanes;

/* Integers x̂ become coarse ones. */
INLINE int_vec round_coarsely(int_vec integers, row_lanes *row)
{
    int_vec coarse = (integers + COARSE_STEP / 2) >> COARSE_SHIFT;
    coarse += (coarse > COARSE_MOST) - (coarse < -COARSE_MOST); /* true is -1 */
    const int_vec errors = integers - coarse * COARSE_STEP;
    row->errors += errors * errors;
    return coarse;
}

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
        if (row->coarse) integers[v] = round_coarsely(integers[v], row);
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

#if defined(PAIRS)
/* Splits those of four groups of codes, from group `first` on, whose products need it. */
INLINE void split_groups(int8_t *codes, uint32_t first, row_lanes *row)
{
    const __m128i zero = _mm_setzero_si128(), all = _mm_loadu_si128((const __m128i *)(void *)codes);
    const __m128i pairs = _mm_abs_epi16(_mm_maddubs_epi16(_mm_set1_epi8(1), all));
    const __m128i whole = _mm_cmpeq_epi32(_mm_cmpgt_epi16(pairs, _mm_set1_epi16(MOST_IN_SUM)), zero);
    /* ⌈x̂/2⌉ by an average of unsigned bytes */
    const __m128i half = _mm_sub_epi8(_mm_avg_epu8(_mm_xor_si128(all, _mm_set1_epi8(-128)), zero), _mm_set1_epi8(64));
    const __m128i kept = _mm_blendv_epi8(half, all, whole);
    const int wholes = _mm_movemask_ps(_mm_castsi128_ps(whole));
    int32_t inputs[FERRY_LANES / GROUP];
    _mm_storeu_si128((__m128i *)(void *)codes, kept);
    if (wholes == 15) return;
    _mm_storeu_si128((__m128i *)(void *)inputs, _mm_sub_epi8(all, kept));
    for (uint32_t g = 0; g < FERRY_LANES / GROUP; g++) { /* without branches, which would be mispredicted */
        row->list[row->count * row->stride] = (rest){.inputs = inputs[g], .at = (first + g) * PANEL_GROUP};
        row->count += ~wholes >> g & 1;
    }
}

_Static_assert(FERRY_LANES / GROUP == FOURS, "groups are added in the order in which they are quantized");

/* In 16 bits, Σ x̂ and Σ |x̂| of pairs of inputs, or of several such pairs. */
typedef struct input_sums {
    __m128i values, sizes;
} input_sums;

INLINE input_sums add_inputs(__m128i codes)
{
    const __m128i ones = _mm_set1_epi8(1);
    return (input_sums){_mm_maddubs_epi16(ones, codes), _mm_maddubs_epi16(_mm_abs_epi8(codes), ones)};
}

INLINE __m128i add_four_groups(__m128i sums)
{
    sums = _mm_add_epi16(sums, _mm_shuffle_epi32(sums, _MM_SHUFFLE(1, 0, 3, 2)));
    return _mm_add_epi16(sums, _mm_shuffle_epi32(sums, _MM_SHUFFLE(2, 3, 0, 1)));
}

/* The larger one of the positive and the negative inputs' sums is half of Σ |x̂| + |Σ x̂|. */
INLINE bool fit(input_sums sums)
{
    const __m128i twice = _mm_add_epi16(sums.sizes, _mm_abs_epi16(sums.values));
    return _mm_movemask_epi8(_mm_cmpgt_epi16(twice, _mm_set1_epi16(2 * MOST_IN_SUM))) == 0;
}

/* Four groups whose sums do not fit together: what makes them too large stands in the list as a whole. */
static __attribute__((noinline)) void move_groups(int8_t *codes, uint32_t first, row_lanes *row)
{
    input_sums sums = {_mm_setzero_si128(), _mm_setzero_si128()};
    for (uint32_t g = 0; g < FERRY_LANES / GROUP; g++) {
        const int32_t inputs = four_bytes(codes + g * GROUP);
        const input_sums group = add_inputs(_mm_cvtsi32_si128(inputs));
        const input_sums both = {_mm_add_epi16(sums.values, group.values), _mm_add_epi16(sums.sizes, group.sizes)};
        if (fit(both)) {
            sums = both;
            continue;
        }
        row->list[row->count++ * row->stride] = (rest){.inputs = inputs, .at = (first + g) * PANEL_GROUP};
        memset(codes + g * GROUP, 0, GROUP);
    }
}

/* Makes the sums of four groups of codes fit together. */
INLINE void split_fours(int8_t *codes, uint32_t first, row_lanes *row)
{
    const input_sums sums = add_inputs(_mm_loadu_si128((const __m128i *)(void *)codes));
    if (fit((input_sums){add_four_groups(sums.values), add_four_groups(sums.sizes)})) return;
    split_groups(codes, first, row);
    move_groups(codes, first, row);
}

/* As many rests for each row of a block as one has. */
static void fill_up_lists(rests lists, int32_t rows)
{
    int32_t most = 0;
    for (int32_t r = 0; r < rows; r++) most = lists.counts[r] > most ? lists.counts[r] : most;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t i = lists.counts[r]; i < most; i++) lists.lists[i * rows + r] = (rest){0};
    lists.counts[0] = most;
}
#endif

/* Sixteen codes, from input k on, as products need them. */
INLINE void split_lanes(int8_t *codes, int32_t k, row_lanes *row)
{
#if defined(PAIRS)
    if (row->coarse) return;
    if (row->fours)
        split_fours(codes, (uint32_t)k / GROUP, row);
    else
        split_groups(codes, (uint32_t)k / GROUP, row);
#else
    (void)codes;
    (void)k;
    (void)row;
#endif
}

/* Their codes. */
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

/* Row x [K] of a block of several, whose steps are `stride` bytes apart; returns Σ x̂. */
static int32_t quantize_steps(int8_t *codes, size_t stride, const float *x, int32_t K, float factor, row_lanes *row)
{
    int32_t k = 0, sum = 0;
    for (; k + FERRY_LANES <= K; k += FERRY_LANES) {
        int8_t lanes[FERRY_LANES];
        quantize_lanes(lanes, x + k, factor, row);
        split_lanes(lanes, k, row);
        for (int l = 0; l < FERRY_LANES; l += INPUTS, codes += stride) memcpy(codes, lanes + l, INPUTS);
    }
    if (k < K) {
        int8_t lanes[FERRY_LANES];
        sum = quantize_edge(lanes, x + k, K - k, factor, row);
        split_lanes(lanes, k, row);
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
            split_lanes(codes + l, k + l, row);
        }
    for (; k < K; k += FERRY_LANES, codes += FERRY_LANES) {
        if (k + FERRY_LANES <= K)
            quantize_lanes(codes, x + k, factor, row);
        else
            sum = quantize_edge(codes, x + k, K - k, factor, row);
        split_lanes(codes, k, row);
    }
    return sum + fold(row->sums, add_quads);
}

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
    const int32_t rows = inputs->rows, K = inputs->K;
    const float factor = inputs->factors[row];
#if defined(AMX)
    const bool pieces = rows >= MIN_AMX_ROWS;
#else
    const bool pieces = false;
#endif
    if (pieces || rows == 1)
        return quantize_pieces(inputs->codes + row * AMX_INPUTS, (size_t)rows * AMX_INPUTS, x, K, factor, lanes);
    int8_t *codes = inputs->codes + (size_t)part.first * row_bytes(K) + (row - part.first) * INPUTS;
    return quantize_steps(codes, (size_t)part.rows * INPUTS, x, K, factor, lanes);
}

#if defined(PAIRS)
/* Fours pay where inputs are small on average, and rows are not few. */
enum { FOURS_MEAN = 14, MIN_FOURS_ROWS = 4 };

static bool are_small(const float *x, int32_t K, float factor)
{
    float sums[FERRY_LANES] = {0}, sum = 0;
    int32_t k = 0;
    for (; k + FERRY_LANES <= K; k += FERRY_LANES)
        for (int32_t l = 0; l < FERRY_LANES; l++) sums[l] += fabsf(x[k + l]);
    for (; k < K; k++) sum += fabsf(x[k]);
    for (int32_t l = 0; l < FERRY_LANES; l++) sum += sums[l];
    return sum * factor <= (float)(FOURS_MEAN * K);
}

/* The same with the row's rests. The first row decides whether the inputs of all are fours. */
static int32_t quantize_with_rests(const ferry_rows_i8 *inputs, const float *x, int32_t row, block part,
                                   row_lanes *lanes)
{
    const rests lists = rests_of(inputs, part.first);
    if (row == 0)
        *lists.fours = lanes->coarse || (inputs->rows >= MIN_FOURS_ROWS && are_small(x, inputs->K, inputs->factors[0]));
    lanes->list = lists.lists + (row - part.first);
    lanes->stride = part.rows;
    lanes->fours = *lists.fours != 0;
    const int32_t sum = quantize_row(inputs, x, row, part, lanes);
    lists.counts[row - part.first] = lanes->count;
    if (row == part.first + part.rows - 1) fill_up_lists(lists, part.rows);
    return sum;
}
#endif

void FERRY_KERNEL(quantize)(const ferry_rows_i8 *inputs, const float *x, int32_t row)
{
    const block part = block_of_row(inputs->rows, row);
    const float factor = inputs->factors[row];
    row_lanes lanes = {.coarse = inputs->errors != NULL};
#if defined(PAIRS)
    inputs->sums[row] = quantize_with_rests(inputs, x, row, part, &lanes);
#else
    inputs->sums[row] = quantize_row(inputs, x, row, part, &lanes);
#endif
    if (lanes.coarse) {
        inputs->errors[row] = fold(lanes.errors, add_quads);
        inputs->factors[row] = factor / COARSE_STEP;
    }
    if (fold(lanes.nans, add_quads) != 0) inputs->factors[row] = NAN; /* codes cannot say it, but so the product does */
    inputs->units[row] = 1.0f / inputs->factors[row];
}
