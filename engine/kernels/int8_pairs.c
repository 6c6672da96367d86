/* int8 products (int8.h) by sums of pairs in 16 bits, on processors without dot products of bytes (docs/int8.md).
 *
 * vpmaddubsw multiplies unsigned bytes by signed ones and adds two products, (q + 128)·x̂, in 16 bits. q + 128 is in
 * 0 … 255, so the sum fits if neither the positive nor the negative x̂ of a pair exceed MAX_PAIR in sum. A group of
 * inputs with a pair that does is split into halves: one stays in the block, the other becomes an overflow group of the
 * row. A tile multiplies overflow groups after its loop.
 *
 * If the limits of the matrices are known (int8_limits.h), the sums of FOURS groups are added in 16 bits before they
 * are widened, or those of EIGHTS groups if inputs are small. They start at an offset, -128·Σ x̂ modulo 2^16, and may
 * wrap on the way: the result Σ x̂·q fits. If groups exceed a limit together, the largest become overflow groups as a
 * whole. Inputs of nibbles are neither split nor limited. */
#include "base/bytes.h"
#include "int8.h"
#include "int8_limits.h"

#define MAX_PAIR 128 /* 255·128 < 2^15 */
#define FOURS 4
#define EIGHTS 8

#if WIDTH == 16
#define TILE_ROWS 14
#define TILES(TILE) TILES_UP_TO_14(TILE, 1)
#define PLANES_TILES(TILE) TILES_UP_TO_6(TILE, 1) TILE(7, 1)
#else
#define TILE_ROWS 4
#define TILES(TILE) TILES_UP_TO_4(TILE, 1)
#define PLANES_TILES TILES
#endif

/* Limits pay in products of at least LIMITED_ROWS_TOGETHER rows, or of LIMITED_JOINED_ROWS with an output matrix in
 * planes; fewer rows are multiplied by its planes (planes_rows), group by group. */
enum { LIMITED_ROWS_TOGETHER = 8, LIMITED_JOINED_ROWS = WIDTH == 8 ? 3 : 8 };

/* ---- additional data ---- */

/* Four inputs, or parts of them, that are multiplied by themselves: their sums in 16 bits could overflow. */
typedef struct overflow_group {
    int32_t inputs; /* x̂, four bytes */
    uint32_t at;    /* byte offset of the group in a panel */
} overflow_group;

/* Additional data of inputs. The arrays follow it. */
typedef struct pair_inputs {
    const int32_t *limits;  /* of the matrices; NULL: unknown */
    int32_t together;       /* groups whose sums are added in 16 bits: 1, FOURS or EIGHTS; the first row decides */
    overflow_group *groups; /* [rows, count_groups(K)] */
    int32_t *offsets;       /* [rows, count_offsets(K)] start values of sums in 16 bits */
    int32_t *counts;        /* [rows] number of overflow groups */
    int32_t lowest[];       /* [count_all_limits(K)] the lowest limits of the matrices */
} pair_inputs;

/* Maximum number of overflow groups of a row: two for each group of inputs. */
INLINE size_t count_groups(int32_t K)
{
    return 2 * (((size_t)K + GROUP - 1) / GROUP);
}

/* Offsets of a row: one for every 16 inputs, two halves of 16 bits for their first and second pairs. */
INLINE size_t count_offsets(int32_t K)
{
    return count_limits(K) / 2;
}

static size_t inputs_size(int32_t rows, int32_t K)
{
    const size_t row = count_groups(K) * sizeof(overflow_group) + (count_offsets(K) + 1) * sizeof(int32_t);
    const size_t size = sizeof(pair_inputs) + count_all_limits(K) * sizeof(int32_t) + (size_t)rows * row;
    return ferry_round_up(size, _Alignof(pair_inputs));
}

/* The lowest limits of `count` matrices; NULL if any are unknown. */
static const int32_t *lowest_limits(const ferry_matrix *const *matrices, int32_t count, int32_t rows, int32_t *lowest)
{
    const size_t values = count_all_limits(matrices[0]->K);
    bool known = true;
    for (int32_t m = 0; m < count; m++) {
        const int32_t *limits = matrices[m]->extra != NULL ? find_limits(matrices[m]->extra, rows) : NULL;
        known = known && limits != NULL;
        for (size_t i = 0; known && i < values; i++)
            lowest[i] = m == 0 || limits[i] < lowest[i] ? limits[i] : lowest[i];
    }
    return known ? lowest : NULL;
}

static void begin_inputs(ferry_rows_i8 *inputs, const ferry_matrix *const *matrices, int32_t count)
{
    const int32_t rows = inputs->rows, K = inputs->K;
    const int32_t min = matrices[0]->kind == FERRY_MATRIX_PLANES ? LIMITED_JOINED_ROWS : LIMITED_ROWS_TOGETHER;
    pair_inputs *pairs = inputs->extra;
    pairs->groups = (overflow_group *)(void *)(pairs->lowest + count_all_limits(K));
    pairs->offsets = (int32_t *)(void *)(pairs->groups + (size_t)rows * count_groups(K));
    pairs->counts = pairs->offsets + (size_t)rows * count_offsets(K);
    pairs->limits =
        !inputs->nibbles && !inputs->steps && rows >= min ? lowest_limits(matrices, count, rows, pairs->lowest) : NULL;
}

static void begin_matrix(const ferry_matrix *matrix)
{
    begin_limits(matrix->extra, matrix);
}

const ferry_extra_i8 FERRY_KERNEL(extra) = {limits_size, begin_matrix, inputs_size, begin_inputs};

/* Additional data of a block of rows: its rows' lists of overflow groups side by side, padded with zeros to the
 * longest, and its offsets. */
typedef struct block_overflow {
    int32_t *counts;        /* [rows]; counts[0] is the maximum once the last row is quantized */
    overflow_group *groups; /* [maximum][rows of the block] */
    int32_t *offsets;       /* [⌈K/16⌉][rows of the block]; for EIGHTS [⌈K/32⌉][rows] */
} block_overflow;

INLINE block_overflow overflow_of(const ferry_rows_i8 *x, int32_t first)
{
    const pair_inputs *pairs = x->extra;
    const size_t at = (size_t)first;
    return (block_overflow){.counts = pairs->counts + first,
                            .groups = pairs->groups + at * count_groups(x->K),
                            .offsets = pairs->offsets + at * count_offsets(x->K)};
}

/* ---- quantizing ---- */

/* Inputs of a chunk: a group for each bit of a mask. Inputs of a register. */
enum { CHUNK = 256, BYTES = 32 };
_Static_assert(BYTES == EIGHTS * GROUP && EIGHTS == 2 * FOURS, "a register holds EIGHTS groups, its halves FOURS");
_Static_assert(2 * EIGHTS * NIBBLE_MAX * 127 <= INT16_MAX, "sums of nibbles fit");

typedef struct row_overflow {
    int32_t together;       /* as in pair_inputs */
    bool split;             /* split groups with a pair above MAX_PAIR */
    int16_t offset;         /* subtracted from every weight: -128, or -8 from nibbles */
    const int32_t *limits;  /* of `together` groups; NULL: no limits */
    overflow_group *groups; /* [count], `stride` apart */
    int32_t *offsets;       /* `stride` apart */
    size_t stride, count;
    __m128i sums; /* Σ x̂ of the overflow groups, in four parts */
} row_overflow;

INLINE __m256i load_all(const int8_t *int8)
{
    return _mm256_load_si256((const __m256i *)(const void *)int8);
}

INLINE void store_all(int8_t *int8, __m256i bytes)
{
    _mm256_store_si256((__m256i *)(void *)int8, bytes);
}

/* Adds a group, or a part of one, to the overflow groups. */
INLINE void add_overflow(row_overflow *row, uint32_t group, __m128i inputs)
{
    const __m128i pairs = _mm_maddubs_epi16(_mm_set1_epi8(1), inputs);
    row->groups[row->count++ * row->stride] = (overflow_group){_mm_cvtsi128_si32(inputs), group * FERRY_LINE_BYTES};
    row->sums = _mm_add_epi32(row->sums, _mm_madd_epi16(pairs, _mm_set1_epi16(1)));
}

/* Eight groups. ⌈x̂/2⌉ replaces the groups with a pair above MAX_PAIR; *wholes has a bit for each other group. */
INLINE __m256i split_groups(__m256i all, uint32_t *wholes)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i pairs = _mm256_abs_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), all));
    const __m256i whole = _mm256_cmpeq_epi32(_mm256_cmpgt_epi16(pairs, _mm256_set1_epi16(MAX_PAIR)), zero);
    /* ⌈x̂/2⌉ by an average of unsigned bytes */
    const __m256i half =
        _mm256_sub_epi8(_mm256_avg_epu8(_mm256_xor_si256(all, _mm256_set1_epi8(-128)), zero), _mm256_set1_epi8(64));
    *wholes = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(whole));
    return _mm256_blendv_epi8(half, all, whole);
}

/* Σ x̂² of the pairs of eight groups, in 16 bits: at most 2·127². */
INLINE __m256i square_pairs(__m256i int8)
{
    const __m256i sizes = _mm256_abs_epi8(int8);
    return _mm256_maddubs_epi16(sizes, sizes);
}

/* In each half of a register, twice: the sums of the first pairs of its four groups, and of their second pairs. */
INLINE __m256i add_squares(__m256i squares)
{
    const __m256i first = _mm256_and_si256(squares, _mm256_set1_epi32(UINT16_MAX));
    const __m256i sums = _mm256_hadd_epi32(first, _mm256_srli_epi32(squares, 16));
    return _mm256_hadd_epi32(sums, sums);
}

/* Swaps the halves of a register. */
INLINE __m256i swap_halves(__m256i x)
{
    return _mm256_permute4x64_epi64(x, _MM_SHUFFLE(1, 0, 3, 2));
}

/* Eight bits for eight groups. If four groups exceed their limits [2][2], or all eight theirs [2], one or more of their
 * bits are set. */
INLINE uint32_t find_beyond(__m256i int8, const int32_t *limits, bool eights)
{
    __m256i sums = add_squares(square_pairs(int8)), max;
    if (eights) {
        sums = _mm256_add_epi32(sums, swap_halves(sums));
        max = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(const void *)limits));
    } else {
        const __m128i both = _mm_loadu_si128((const __m128i *)(const void *)limits);
        max = _mm256_permute4x64_epi64(_mm256_castsi128_si256(both), _MM_SHUFFLE(1, 1, 0, 0));
    }
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(sums, max)));
}

/* Moves the largest of the groups from `first` on to the overflow groups until the rest are within limits [2]; zeros
 * replace them. */
INLINE void move_groups(int8_t *int8, uint32_t first, const int32_t *limits, row_overflow *row)
{
    const bool eights = row->together == EIGHTS;
    const __m256i order = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i max = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(const void *)limits));
    const __m128i half = _mm_load_si128((const __m128i *)(const void *)int8);
    __m256i left = eights ? load_all(int8) : _mm256_zextsi128_si256(half);
    for (;;) {
        const __m256i squares = square_pairs(left), sums = add_squares(squares);
        const __m256i beyond = _mm256_cmpgt_epi32(_mm256_add_epi32(sums, swap_halves(sums)), max);
        if (_mm256_testz_si256(beyond, beyond)) break;
        /* The largest square of a pair above its limit: an instruction finds the minimum of eight, of all bits flipped.
         */
        const __m256i candidates = _mm256_and_si256(squares, _mm256_packs_epi32(beyond, beyond));
        const __m256i flipped = _mm256_xor_si256(candidates, _mm256_set1_epi8(-1));
        const uint32_t low = (uint32_t)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm256_castsi256_si128(flipped)));
        const uint32_t high = (uint32_t)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm256_extracti128_si256(flipped, 1)));
        const uint32_t group = (high & UINT16_MAX) < (low & UINT16_MAX) ? FOURS + (high >> 17) : low >> 17;
        add_overflow(row, first + group, _mm_cvtsi32_si128(four_bytes(int8 + group * GROUP)));
        left = _mm256_andnot_si256(_mm256_cmpeq_epi32(order, _mm256_set1_epi32((int32_t)group)), left);
    }
    if (eights)
        store_all(int8, left);
    else
        _mm_store_si128((__m128i *)(void *)int8, _mm256_castsi256_si128(left));
}

/* Sets the offsets of eight groups from `first` on: row->offset·Σ x̂ of first and of second pairs, over `together`
 * groups. */
INLINE void put_offsets(__m256i int8, uint32_t first, const row_overflow *row)
{
    int32_t *offsets = row->offsets + first / (uint32_t)row->together * row->stride;
    __m256i sums = _mm256_maddubs_epi16(_mm256_set1_epi8(1), int8);
    sums = _mm256_add_epi16(sums, _mm256_shuffle_epi32(sums, _MM_SHUFFLE(1, 0, 3, 2)));
    sums = _mm256_add_epi16(sums, _mm256_shuffle_epi32(sums, _MM_SHUFFLE(2, 3, 0, 1)));
    if (row->together == EIGHTS) sums = _mm256_add_epi16(sums, swap_halves(sums));
    sums = _mm256_mullo_epi16(sums, _mm256_set1_epi16(row->offset));
    offsets[0] = _mm_cvtsi128_si32(_mm256_castsi256_si128(sums));
    if (row->together == FOURS) offsets[row->stride] = _mm_cvtsi128_si32(_mm256_extracti128_si256(sums, 1));
}

/* Stores `count` x̂ of a row from group `first` on into a block, in groups `stride` bytes apart, and adds their overflow
 * groups. `all` is padded with zeros to a multiple of BYTES. */
INLINE void split_chunk(int8_t *int8, size_t stride, const int8_t *all, uint32_t count, uint32_t first,
                        row_overflow *row)
{
    const uint32_t together = (uint32_t)row->together;
    const bool limited = row->limits != NULL;
    _Alignas(BYTES) int8_t kept[CHUNK]; /* without overflow groups */
    /* A bit for each split group; bits as in find_beyond. The first loop has no branches that could be mispredicted. */
    uint64_t split = 0, beyond = 0;
    for (uint32_t k = 0; k < count; k += BYTES) {
        const uint32_t at = k / GROUP, group = first + at;
        uint32_t wholes = 0xff;
        __m256i eight = load_all(all + k);
        if (row->split) eight = split_groups(eight, &wholes);
        split |= (uint64_t)(wholes ^ 0xff) << at;
        if (limited)
            beyond |= (uint64_t)find_beyond(eight, row->limits + group / together * 2, together == EIGHTS) << at;
        if (together > 1) put_offsets(eight, group, row);
        store_all(kept + k, eight);
    }
    for (; split != 0; split &= split - 1) {
        const uint32_t group = (uint32_t)__builtin_ctzll(split);
        const __m128i whole = _mm_cvtsi32_si128(four_bytes(all + group * GROUP));
        const __m128i half = _mm_cvtsi32_si128(four_bytes(kept + group * GROUP));
        add_overflow(row, first + group, _mm_sub_epi8(whole, half));
    }
    while (beyond != 0) {
        const uint32_t group = (uint32_t)__builtin_ctzll(beyond) / together * together;
        beyond &= ~((((uint64_t)1 << together) - 1) << group);
        move_groups(kept + group * GROUP, first + group, row->limits + (first + group) / together * 2, row);
        put_offsets(load_all(kept + group / EIGHTS * BYTES), first + group / EIGHTS * EIGHTS, row);
    }
    for (uint32_t k = 0; k < count; k += GROUP, int8 += stride) memcpy(int8, kept + k, GROUP);
}

/* EIGHTS pay if inputs are small on average, as within the feed-forward. */
static bool are_small(const float *x, int32_t K, float a)
{
    enum { SMALL_MEAN = 14 };
    float sums[FERRY_LANES] = {0}, sum = 0;
    int32_t k = 0;
    for (; k + FERRY_LANES <= K; k += FERRY_LANES)
        for (int32_t l = 0; l < FERRY_LANES; l++) sums[l] += fabsf(x[k + l]);
    for (; k < K; k++) sum += fabsf(x[k]);
    for (int32_t l = 0; l < FERRY_LANES; l++) sum += sums[l];
    return sum * a <= (float)(SMALL_MEAN * K);
}

/* Row x [K] into groups that are `stride` bytes apart. Returns Σ x̂. */
static int32_t quantize_chunks(int8_t *int8, size_t stride, const float *x, int32_t K, float a, row_lanes *lanes,
                               row_overflow *row)
{
    _Alignas(BYTES) int8_t all[CHUNK];
    int32_t sum = 0;
    for (int32_t k = 0; k < K; k += CHUNK) {
        const int32_t count = K - k < CHUNK ? K - k : CHUNK;
        int32_t i = 0;
        for (; i + FERRY_LANES <= count; i += FERRY_LANES) quantize_lanes(all + i, x + k + i, a, lanes);
        if (i < count) {
            sum = quantize_edge(all + i, x + k + i, count - i, a, lanes);
            i += FERRY_LANES;
        }
        if (i % BYTES != 0) memset(all + i, 0, FERRY_LANES);
        split_chunk(int8, stride, all, (uint32_t)count, (uint32_t)k / GROUP, row);
        int8 += CHUNK / GROUP * stride;
    }
    return sum + add_lanes(lanes->sums);
}

/* The first row decides `together` for all rows. */
void FERRY_KERNEL(quantize)(ferry_rows_i8 *inputs, const float *x, int32_t row)
{
    const partition parts = part_rows(inputs->rows, TILE_ROWS, 1);
    const block part = block_of_row(&parts, row);
    const int32_t K = inputs->K, at = row - part.first;
    const float a = inputs->inverse_scales[row];
    pair_inputs *pairs = inputs->extra;
    const int32_t *limits = pairs->limits;
    const block_overflow lists = overflow_of(inputs, part.first);
    if (row == 0) pairs->together = inputs->steps ? EIGHTS : limits == NULL ? 1 : are_small(x, K, a) ? EIGHTS : FOURS;
    row_lanes lanes = {.nibbles = inputs->nibbles};
    const int32_t together = pairs->together;
    if (limits != NULL && together == EIGHTS) limits += count_limits(K); /* the limits of 32 inputs */
    row_overflow overflow = {.together = together,
                             .split = !inputs->nibbles && !inputs->steps,
                             .offset = inputs->steps ? -8 : -128,
                             .limits = limits,
                             .groups = lists.groups + at,
                             .offsets = lists.offsets + at,
                             .stride = (size_t)part.rows,
                             .sums = _mm_setzero_si128()};
    int8_t *int8 = inputs->int8 + (size_t)part.first * row_bytes(K, GROUP) + at * GROUP;
    int32_t sum = quantize_chunks(int8, (size_t)part.rows * GROUP, x, K, a, &lanes, &overflow);
    lists.counts[at] = (int32_t)overflow.count;
    if (at == part.rows - 1) { /* pads the overflow groups of the block's rows to the maximum */
        int32_t max = 0;
        for (int32_t r = 0; r < part.rows; r++) max = lists.counts[r] > max ? lists.counts[r] : max;
        for (int32_t r = 0; r < part.rows; r++)
            for (int32_t i = lists.counts[r]; i < max; i++) lists.groups[i * part.rows + r] = (overflow_group){0};
        lists.counts[0] = max;
    }
    if (together > 1) { /* offsets have the rest */
        const __m128i two = _mm_add_epi32(overflow.sums, _mm_unpackhi_epi64(overflow.sums, overflow.sums));
        sum = _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 1)));
    }
    finish_inputs(inputs, row, &lanes, sum);
}

/* ---- the sums of a tile ---- */

/* Unsigned, as partial sums may wrap: the offsets let the final one fit into int16_t. */
typedef uint16_t pair_sums __attribute__((vector_size(4 * WIDTH), may_alias));

INLINE pair_sums multiply_pairs(byte_vec w, byte_vec x)
{
#if WIDTH == 16
    return (pair_sums)_mm512_maddubs_epi16((__m512i)w, (__m512i)x);
#else
    return (pair_sums)_mm256_maddubs_epi16((__m256i)w, (__m256i)x);
#endif
}

/* In each lane of 32 bits: the sums of two pairs by two factors, added. */
INLINE sum_vec multiply_sums(pair_sums pairs, pair_sums by)
{
#if WIDTH == 16
    return (sum_vec)_mm512_madd_epi16((__m512i)pairs, (__m512i)by);
#else
    return (sum_vec)_mm256_madd_epi16((__m256i)pairs, (__m256i)by);
#endif
}

INLINE sum_vec widen(pair_sums pairs)
{
    return multiply_sums(pairs, (pair_sums){0} + 1);
}

/* acc [rows, PARTS] += the products of a group: 4 inputs of each row, `step` bytes apart, by those of 16 outputs. */
INLINE void add_step(sum_vec *acc, int rows, const int8_t *x, size_t step, const int8_t *w, const int8_t *lower,
                     kind what)
{
    byte_vec columns[PARTS];
    UNROLL for (int v = 0; v < PARTS; v++)
    {
        columns[v] = load_weights(w + v * WIDTH * GROUP, lower + v * WIDTH * GROUP, what);
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        const byte_vec row = load_inputs(x + (size_t)r * step);
        UNROLL for (int v = 0; v < PARTS; v++)
        {
            acc[r * PARTS + v] += widen(multiply_pairs(columns[v], row));
            if (what >= FIRST_CODES) PIN(acc[r * PARTS + v]);
        }
    }
}

/* acc [rows, PARTS] += Σ x̂·q over all groups, each widened by itself. */
INLINE void accumulate(sum_vec *acc, int rows, const int8_t *x, const int8_t *w, size_t groups, ahead next, kind what)
{
    for (size_t left = groups; left > 0; left--, x += rows * GROUP, w += FERRY_LINE_BYTES, next.at += next.step) {
        /* Measured: into the first-level cache is faster if four blocks or more share a panel, else into the second. */
        if (next.skip < 3 && (left & next.skip) == 0) __builtin_prefetch(next.at, 0, 2);
        if (next.skip == 3 && (left & 3) == 0) __builtin_prefetch(next.at, 0, 3);
        add_step(acc, rows, x, GROUP, w, w, what);
    }
}

/* The same in both planes, over all lines. */
INLINE void accumulate_planes(sum_vec *acc, int rows, const int8_t *x, const int8_t *w, const int8_t *lower,
                              size_t lines, ahead next)
{
    const int8_t *next_lower = next.at - w + lower;
    for (size_t left = lines; left > 0; left--, x += NIBBLE_GROUPS * rows * GROUP) {
        if ((left & next.skip) == 0) {
            __builtin_prefetch(next.at, 0, 2);
            __builtin_prefetch(next_lower, 0, 2);
        }
        add_step(acc, rows, x, GROUP, w, lower, FIRST_CODES);
        add_step(acc, rows, x + rows * GROUP, GROUP, w, lower, SECOND_CODES);
        next.at += next.step;
        next_lower += next.step;
        w += FERRY_LINE_BYTES;
        lower += FERRY_LINE_BYTES;
    }
}

/* acc [rows, PARTS] += the products of a block's overflow groups. */
INLINE void add_overflow_groups(sum_vec *acc, int rows, block_overflow overflow, const int8_t *w, const int8_t *lower,
                                kind what)
{
    const overflow_group *at = overflow.groups;
    for (int32_t left = overflow.counts[0]; left > 0; left--, at += rows) UNROLL for (int r = 0; r < rows; r++)
        {
            const int8_t *inputs = (const int8_t *)&at[r].inputs;
            const size_t group = at[r].at / FERRY_LINE_BYTES, line = group / NIBBLE_GROUPS * FERRY_LINE_BYTES;
            if (what != FIRST_CODES)
                add_step(acc + r * PARTS, 1, inputs, 0, w + at[r].at, w, what);
            else if (group % NIBBLE_GROUPS == 0)
                add_step(acc + r * PARTS, 1, inputs, 0, w + line, lower + line, FIRST_CODES);
            else
                add_step(acc + r * PARTS, 1, inputs, 0, w + line, lower + line, SECOND_CODES);
        }
}

/* Sums in 16 bits [rows, PARTS] get the products of one group, two instructions for 64 multiplications (32 on AVX2). */
INLINE void add_group(pair_sums *sums, int rows, const int8_t *x, const int8_t *w, kind what)
{
    byte_vec columns[PARTS];
    UNROLL for (int v = 0; v < PARTS; v++) columns[v] = load_weights(w + v * WIDTH * GROUP, w, what);
    UNROLL for (int r = 0; r < rows; r++)
    {
        const byte_vec row = load_inputs(x + r * GROUP);
        UNROLL for (int v = 0; v < PARTS; v++)
        {
            sums[r * PARTS + v] += multiply_pairs(columns[v], row);
            PIN(sums[r * PARTS + v]);
        }
    }
}

/* The same for a line: a group of int8 or joined codes, or two groups of nibbles. */
INLINE void add_line(pair_sums *sums, int rows, const int8_t *x, const int8_t *w, kind what)
{
    add_group(sums, rows, x, w, what);
    if (what == FIRST_NIBBLES) add_group(sums, rows, x + rows * GROUP, w, SECOND_NIBBLES);
}

INLINE void start_sums(pair_sums *sums, int rows, const int32_t *offsets, kind what)
{
    UNROLL for (int i = 0; i < rows * PARTS; i++)
    {
        sums[i] = (pair_sums)((int_vec){0} + (what == FIRST_NIBBLES ? 0 : offsets[i / PARTS]));
    }
}

INLINE void widen_sums(sum_vec *acc, int rows, const pair_sums *sums)
{
    UNROLL for (int i = 0; i < rows * PARTS; i++) acc[i] += widen(sums[i]);
}

/* acc [rows, PARTS] += Σ x̂·q, or Σ x̂·u, over all lines. `together` lines are added in 16 bits. */
INLINE void accumulate_together(sum_vec *acc, int rows, size_t together, const int8_t *x, const int32_t *offsets,
                                const int8_t *w, size_t lines, ahead next, kind what)
{
    const int step = (what == FIRST_NIBBLES ? NIBBLE_GROUPS : 1) * rows * GROUP;
    pair_sums sums[TILE_ROWS * PARTS];
    size_t left = lines;
    for (; left >= together; left -= together, offsets += rows) {
        /* Into the first-level cache, unlike other tiles: the next panel is needed in half the time. */
        if (next.skip >= 3)
            UNROLL for (size_t g = 0; g < together; g += 4) __builtin_prefetch(next.at + g * next.step, 0, 3);
        else
            UNROLL for (size_t g = 0; g < together; g++) __builtin_prefetch(next.at + g * next.step, 0, 3);
        next.at += together * next.step;
        start_sums(sums, rows, offsets, what);
        UNROLL for (size_t g = 0; g < together; g++, x += step, w += FERRY_LINE_BYTES) add_line(sums, rows, x, w, what);
        widen_sums(acc, rows, sums);
    }
    if (left == 0) return;
    start_sums(sums, rows, offsets, what);
    for (; left > 0; left--, x += step, w += FERRY_LINE_BYTES) add_line(sums, rows, x, w, what);
    widen_sums(acc, rows, sums);
}

/* acc [rows, PARTS] = Σ s·(Σ x̂·(u - 8)) over all groups of 32 inputs: widening multiplies by s. */
INLINE void accumulate_steps(sum_vec *acc, int rows, const int8_t *x, const int32_t *offsets, step_panel at, ahead next)
{
    for (; at.groups > 0; at.groups--, offsets += rows, at.steps += FERRY_LANES) {
        pair_sums sums[TILE_ROWS * PARTS], steps[PARTS];
        if (next.skip >= 3)
            __builtin_prefetch(next.at, 0, 3);
        else
            UNROLL for (size_t g = 0; g < STEP_LINES; g++) __builtin_prefetch(next.at + g * next.step, 0, 3);
        next.at += STEP_LINES * next.step;
        start_sums(sums, rows, offsets, INT8);
        UNROLL for (int line = 0; line < STEP_LINES; line++)
        {
            add_line(sums, rows, x, at.nibbles, FIRST_NIBBLES);
            x += NIBBLE_GROUPS * rows * GROUP;
            at.nibbles += FERRY_LINE_BYTES;
        }
        UNROLL for (int v = 0; v < PARTS; v++)
        {
            const sum_vec step = (sum_vec)load_steps(at.steps + v * WIDTH);
            steps[v] = (pair_sums)((step & UINT16_MAX) | step << 16);
        }
        UNROLL for (int i = 0; i < rows * PARTS; i++) acc[i] += multiply_sums(sums[i], steps[i % PARTS]);
    }
}

/* ---- product ---- */

/* `together`: groups that are added in 16 bits. */
INLINE void multiply_tile(const product *job, int32_t row, int32_t panel, const ahead *next, int rows, int panels,
                          kind what, int together)
{
    sum_vec acc[TILE_ROWS * PARTS];
    const int8_t *x = job->x->int8 + (size_t)row * row_bytes(job->x->K, GROUP);
    const int8_t *w = job->weights + (size_t)panel * job->panel_size;
    const int8_t *lower = what == FIRST_CODES ? job->lower + (size_t)panel * job->panel_size : NULL;
    const int32_t *sums = job->x->sums + row;
    const block_overflow overflow = overflow_of(job->x, row);
    UNROLL for (int v = 0; v < rows * PARTS; v++)
    {
        acc[v] = (sum_vec){0} - (what == FIRST_NIBBLES ? 0 : 128 * (uint32_t)sums[v / PARTS]);
    }
    const size_t lines = job->panel_size / FERRY_LINE_BYTES;
    if (what == FIRST_CODES)
        accumulate_planes(acc, rows, x, w, lower, lines, *next);
    else if (together == 1)
        accumulate(acc, rows, x, w, lines, *next, what);
    else
        accumulate_together(acc, rows, (size_t)together, x, overflow.offsets, w, lines, *next, what);
    if (what != FIRST_NIBBLES)
        add_overflow_groups(acc, rows, overflow, w, lower, what);
    else
        UNROLL for (int v = 0; v < rows * PARTS; v++) acc[v] = (acc[v] << NIBBLE_SHIFT) + (uint32_t)sums[v / PARTS];
    end_tile(job, row, panel, acc, rows, panels);
}

#define TILE_OF(rows, panels, name, what, together)                                                                    \
    static void name##_##rows##x##panels(const product *job, int32_t row, int32_t panel, const ahead *next)            \
    {                                                                                                                  \
        multiply_tile(job, row, panel, next, rows, panels, what, together);                                            \
    }
#define SINGLE_TILE(rows, panels) TILE_OF(rows, panels, single_tile, INT8, 1)
#define FOURS_TILE(rows, panels) TILE_OF(rows, panels, fours_tile, INT8, FOURS)
#define EIGHTS_TILE(rows, panels) TILE_OF(rows, panels, eights_tile, INT8, EIGHTS)
#define NIBBLES_TILE(rows, panels) TILE_OF(rows, panels, nibbles_tile, FIRST_NIBBLES, EIGHTS / NIBBLE_GROUPS)
#define PLANES_TILE(rows, panels) TILE_OF(rows, panels, planes_tile, FIRST_CODES, 1)
TILES(SINGLE_TILE)
TILES(FOURS_TILE)
TILES(EIGHTS_TILE)
TILES(NIBBLES_TILE)
PLANES_TILES(PLANES_TILE)

INLINE void multiply_steps_tile(const product *job, int32_t row, int32_t panel, const ahead *next, int rows, int panels)
{
    const int8_t *x = job->x->int8 + (size_t)row * row_bytes(job->x->K, GROUP);
    sum_vec acc[TILE_ROWS * PARTS] = {{0}};
    accumulate_steps(acc, rows, x, overflow_of(job->x, row).offsets, find_steps(job, row, panel), *next);
    end_tile(job, row, panel, acc, rows, panels);
}

TILES(STEPS_TILE_FUNCTION)

#define STEPS_ENTRY(rows, panels) TILE_ENTRY(steps_tile, rows, panels)
static tile_row steps_tiles[TILE_ROWS + 1] = {TILES(STEPS_ENTRY)};
#define SINGLE_ENTRY(rows, panels) TILE_ENTRY(single_tile, rows, panels)
#define FOURS_ENTRY(rows, panels) TILE_ENTRY(fours_tile, rows, panels)
#define EIGHTS_ENTRY(rows, panels) TILE_ENTRY(eights_tile, rows, panels)
#define NIBBLES_ENTRY(rows, panels) TILE_ENTRY(nibbles_tile, rows, panels)
#define PLANES_ENTRY(rows, panels) TILE_ENTRY(planes_tile, rows, panels)
static tile_row single_tiles[TILE_ROWS + 1] = {TILES(SINGLE_ENTRY)};
static tile_row fours_tiles[TILE_ROWS + 1] = {TILES(FOURS_ENTRY)};
static tile_row eights_tiles[TILE_ROWS + 1] = {TILES(EIGHTS_ENTRY)};
static tile_row nibbles_tiles[TILE_ROWS + 1] = {TILES(NIBBLES_ENTRY)};
static tile_row planes_tiles[TILE_ROWS + 1] = {PLANES_TILES(PLANES_ENTRY)};

#if WIDTH == 8
#define JOINED_SINGLE_TILE(rows, panels) TILE_OF(rows, panels, joined_single_tile, JOINED, 1)
#define JOINED_FOURS_TILE(rows, panels) TILE_OF(rows, panels, joined_fours_tile, JOINED, FOURS)
#define JOINED_EIGHTS_TILE(rows, panels) TILE_OF(rows, panels, joined_eights_tile, JOINED, EIGHTS)
TILES(JOINED_SINGLE_TILE)
TILES(JOINED_FOURS_TILE)
TILES(JOINED_EIGHTS_TILE)

#define JOINED_SINGLE_ENTRY(rows, panels) TILE_ENTRY(joined_single_tile, rows, panels)
#define JOINED_FOURS_ENTRY(rows, panels) TILE_ENTRY(joined_fours_tile, rows, panels)
#define JOINED_EIGHTS_ENTRY(rows, panels) TILE_ENTRY(joined_eights_tile, rows, panels)
static tile_row joined_single_tiles[TILE_ROWS + 1] = {TILES(JOINED_SINGLE_ENTRY)};
static tile_row joined_fours_tiles[TILE_ROWS + 1] = {TILES(JOINED_FOURS_ENTRY)};
static tile_row joined_eights_tiles[TILE_ROWS + 1] = {TILES(JOINED_EIGHTS_ENTRY)};
#else
#define joined_single_tiles single_tiles
#define joined_fours_tiles fours_tiles
#define joined_eights_tiles eights_tiles
#endif

static tile_row *find_tiles(ferry_matrix_kind of, int32_t together)
{
    const bool joined = of == FERRY_MATRIX_JOINED;
    if (of == FERRY_MATRIX_NIBBLES) return nibbles_tiles;
    if (of == FERRY_MATRIX_PLANES) return planes_tiles;
    if (of == FERRY_MATRIX_STEPS) return steps_tiles;
    if (together == 1) return joined ? joined_single_tiles : single_tiles;
    if (together == FOURS) return joined ? joined_fours_tiles : fours_tiles;
    return joined ? joined_eights_tiles : eights_tiles;
}

void FERRY_KERNEL(product_i8)(float *y, size_t ldy, const ferry_rows_i8 *x, const ferry_matrix *matrix)
{
    const product job = new_product(y, ldy, x, matrix);
    const int32_t together = ((const pair_inputs *)x->extra)->together;
    run_tiles(&job, find_tiles(matrix->kind, together), TILE_ROWS, 1);
}
