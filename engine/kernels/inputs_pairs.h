/* Codes of inputs as sums of 16 bits need them (product_i8.h, "rests"): for inputs_i8.c only. */
#ifndef FERRY_KERNELS_INPUTS_PAIRS_H
#define FERRY_KERNELS_INPUTS_PAIRS_H

#include "input_limits.h"
#include "product_i8.h"

/* Inputs that are split together: as many groups as a mask has bits. Those of a register. */
enum { CHUNK = 256, BYTES = 32 };
_Static_assert(BYTES == EIGHTS * GROUP && EIGHTS == 2 * FOURS, "registers, or halves, hold what is added together");
_Static_assert(2 * EIGHTS * NIBBLE_MOST * 127 <= INT16_MAX, "sums of nibbles fit");

/* Of a row. */
typedef struct row_rests {
    int32_t together;      /* 1, FOURS or EIGHTS groups */
    bool split;            /* groups of which a pair needs it */
    const int32_t *limits; /* of as many; NULL: nothing exceeds them */
    rest *list;            /* `stride` apart, and so are the offsets */
    int32_t *offsets;
    size_t stride, count;
    __m128i sums; /* Σ x̂ of the rests, in parts */
} row_rests;

INLINE __m256i load_all(const int8_t *codes)
{
    return _mm256_load_si256((const __m256i *)(const void *)codes);
}

INLINE void store_all(int8_t *codes, __m256i bytes)
{
    _mm256_store_si256((__m256i *)(void *)codes, bytes);
}

/* A group, or a part of it, stands in the list. */
INLINE void add_rest(row_rests *row, uint32_t group, __m128i inputs)
{
    const __m128i pairs = _mm_maddubs_epi16(_mm_set1_epi8(1), inputs);
    row->list[row->count++ * row->stride] = (rest){.inputs = _mm_cvtsi128_si32(inputs), .at = group * PANEL_GROUP};
    row->sums = _mm_add_epi32(row->sums, _mm_madd_epi16(pairs, _mm_set1_epi16(1)));
}

/* Halves ⌈x̂/2⌉ of those of eight groups whose pairs need it, the others as they are; and which are whole. */
INLINE __m256i split_groups(__m256i all, uint32_t *wholes)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i pairs = _mm256_abs_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), all));
    const __m256i whole = _mm256_cmpeq_epi32(_mm256_cmpgt_epi16(pairs, _mm256_set1_epi16(MOST_IN_PAIR)), zero);
    /* by an average of unsigned bytes */
    const __m256i half =
        _mm256_sub_epi8(_mm256_avg_epu8(_mm256_xor_si256(all, _mm256_set1_epi8(-128)), zero), _mm256_set1_epi8(64));
    *wholes = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(whole));
    return _mm256_blendv_epi8(half, all, whole);
}

/* Σ x̂² of the pairs of eight groups, in 16 bits: at most 2·127². */
INLINE __m256i square_pairs(__m256i codes)
{
    const __m256i sizes = _mm256_abs_epi8(codes);
    return _mm256_maddubs_epi16(sizes, sizes);
}

/* In both halves of a register, twice: the sums of four groups' first pairs, and of their second ones. */
INLINE __m256i add_squares(__m256i squares)
{
    const __m256i first = _mm256_and_si256(squares, _mm256_set1_epi32(UINT16_MAX));
    const __m256i sums = _mm256_hadd_epi32(first, _mm256_srli_epi32(squares, 16));
    return _mm256_hadd_epi32(sums, sums);
}

/* The other half of a register in either half. */
INLINE __m256i swap_halves(__m256i x)
{
    return _mm256_permute4x64_epi64(x, _MM_SHUFFLE(1, 0, 3, 2));
}

/* Of eight groups: four bits for either four of them, some of which are set if these, or all eight, exceed their limits
 * [2][2], or [2]. */
INLINE uint32_t find_beyond(__m256i codes, const int32_t *limits, bool eights)
{
    __m256i sums = add_squares(square_pairs(codes)), most;
    if (eights) {
        sums = _mm256_add_epi32(sums, swap_halves(sums));
        most = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(const void *)limits));
    } else {
        const __m128i both = _mm_loadu_si128((const __m128i *)(const void *)limits);
        most = _mm256_permute4x64_epi64(_mm256_castsi128_si256(both), _MM_SHUFFLE(1, 1, 0, 0));
    }
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(sums, most)));
}

/* Groups of codes, from group `first` on, that exceed their limits [2] together: the largest ones stand in the list as
 * a whole, and become zeros. */
INLINE void move_groups(int8_t *codes, uint32_t first, const int32_t *limits, row_rests *row)
{
    const bool eights = row->together == EIGHTS;
    const __m256i order = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i most = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(const void *)limits));
    const __m128i half = _mm_load_si128((const __m128i *)(const void *)codes);
    __m256i left = eights ? load_all(codes) : _mm256_zextsi128_si256(half);
    for (;;) {
        const __m256i squares = square_pairs(left), sums = add_squares(squares);
        const __m256i beyond = _mm256_cmpgt_epi32(_mm256_add_epi32(sums, swap_halves(sums)), most);
        if (_mm256_testz_si256(beyond, beyond)) break;
        /* An instruction finds the lowest of eight: of all bits flipped, the largest among pairs that exceed. */
        const __m256i candidates = _mm256_and_si256(squares, _mm256_packs_epi32(beyond, beyond));
        const __m256i flipped = _mm256_xor_si256(candidates, _mm256_set1_epi8(-1));
        const uint32_t low = (uint32_t)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm256_castsi256_si128(flipped)));
        const uint32_t high = (uint32_t)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm256_extracti128_si256(flipped, 1)));
        const uint32_t group = (high & UINT16_MAX) < (low & UINT16_MAX) ? FOURS + (high >> 17) : low >> 17;
        add_rest(row, first + group, _mm_cvtsi32_si128(four_bytes(codes + group * GROUP)));
        left = _mm256_andnot_si256(_mm256_cmpeq_epi32(order, _mm256_set1_epi32((int32_t)group)), left);
    }
    if (eights)
        store_all(codes, left);
    else
        _mm_store_si128((__m128i *)(void *)codes, _mm256_castsi256_si128(left));
}

/* Eight groups of codes, from group `first` on, get their offsets, -128·Σ x̂ of either pair of those that are added
 * together. */
INLINE void put_offsets(__m256i codes, uint32_t first, const row_rests *row)
{
    int32_t *offsets = row->offsets + first / (uint32_t)row->together * row->stride;
    __m256i sums = _mm256_maddubs_epi16(_mm256_set1_epi8(1), codes);
    sums = _mm256_add_epi16(sums, _mm256_shuffle_epi32(sums, _MM_SHUFFLE(1, 0, 3, 2)));
    sums = _mm256_add_epi16(sums, _mm256_shuffle_epi32(sums, _MM_SHUFFLE(2, 3, 0, 1)));
    if (row->together == EIGHTS) sums = _mm256_add_epi16(sums, swap_halves(sums));
    sums = _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_slli_epi16(sums, 7));
    offsets[0] = _mm_cvtsi128_si32(_mm256_castsi256_si128(sums));
    if (row->together == FOURS) offsets[row->stride] = _mm_cvtsi128_si32(_mm256_extracti128_si256(sums, 1));
}

/* Of a chunk: a bit for each group that is split, and some for groups that exceed limits together. Marked first, and
 * listed later, without branches that would be mispredicted. */
typedef struct chunk_marks {
    uint64_t split, beyond;
} chunk_marks;

/* Of codes `all` from group `first` on, `kept` become those that stand in the block unless they exceed limits. */
INLINE chunk_marks mark_chunk(int8_t *kept, const int8_t *all, uint32_t count, uint32_t first, const row_rests *row)
{
    const uint32_t together = (uint32_t)row->together;
    const bool limited = row->limits != NULL;
    chunk_marks marks = {0, 0};
    for (uint32_t k = 0; k < count; k += BYTES) {
        const uint32_t at = k / GROUP, group = first + at;
        uint32_t wholes = 0xff;
        __m256i codes = load_all(all + k);
        if (row->split) codes = split_groups(codes, &wholes);
        marks.split |= (uint64_t)(wholes ^ 0xff) << at;
        if (limited)
            marks.beyond |= (uint64_t)find_beyond(codes, row->limits + group / together * 2, together == EIGHTS) << at;
        if (together > 1) put_offsets(codes, group, row);
        store_all(kept + k, codes);
    }
    return marks;
}

/* A row's codes `all` from group `first` on become what stands in a block, in groups `stride` bytes apart. There are
 * `count`, and zeros up to a multiple of BYTES. */
INLINE void split_chunk(int8_t *codes, size_t stride, const int8_t *all, uint32_t count, uint32_t first, row_rests *row)
{
    const uint32_t together = (uint32_t)row->together;
    _Alignas(BYTES) int8_t kept[CHUNK];
    chunk_marks marks = mark_chunk(kept, all, count, first, row);
    for (; marks.split != 0; marks.split &= marks.split - 1) {
        const uint32_t group = (uint32_t)__builtin_ctzll(marks.split);
        const __m128i whole = _mm_cvtsi32_si128(four_bytes(all + group * GROUP));
        const __m128i half = _mm_cvtsi32_si128(four_bytes(kept + group * GROUP));
        add_rest(row, first + group, _mm_sub_epi8(whole, half));
    }
    while (marks.beyond != 0) {
        const uint32_t group = (uint32_t)__builtin_ctzll(marks.beyond) / together * together;
        marks.beyond &= ~((((uint64_t)1 << together) - 1) << group);
        move_groups(kept + group * GROUP, first + group, row->limits + (first + group) / together * 2, row);
        put_offsets(load_all(kept + group / EIGHTS * BYTES), first + group / EIGHTS * EIGHTS, row);
    }
    for (uint32_t k = 0; k < count; k += GROUP, codes += stride) memcpy(codes, kept + k, GROUP);
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

/* Eights pay where inputs are small on average, as within the feed-forward. */
enum { SMALL_MEAN = 14 };

static bool are_small(const float *x, int32_t K, float factor)
{
    float sums[FERRY_LANES] = {0}, sum = 0;
    int32_t k = 0;
    for (; k + FERRY_LANES <= K; k += FERRY_LANES)
        for (int32_t l = 0; l < FERRY_LANES; l++) sums[l] += fabsf(x[k + l]);
    for (; k < K; k++) sum += fabsf(x[k]);
    for (int32_t l = 0; l < FERRY_LANES; l++) sum += sums[l];
    return sum * factor <= (float)(SMALL_MEAN * K);
}

/* How many groups of all rows are added together, as the first row says. */
static int32_t choose_together(const ferry_rows_i8 *inputs, const float *x)
{
    if (inputs->limits == NULL) return 1;
    return are_small(x, inputs->K, inputs->factors[0]) ? EIGHTS : FOURS;
}

/* Of row x of the block `part`. */
INLINE row_rests begin_rests(const ferry_rows_i8 *inputs, const float *x, int32_t row, block part)
{
    const rests lists = rests_of(inputs, part.first);
    const int32_t at = row - part.first;
    if (row == 0) *lists.together = choose_together(inputs, x);
    const int32_t together = *lists.together;
    return (row_rests){.together = together,
                       .split = !inputs->nibbles,
                       .limits =
                           together == EIGHTS ? inputs->limits + ferry_input_limits_fours(inputs->K) : inputs->limits,
                       .list = lists.lists + at,
                       .offsets = lists.offsets + at,
                       .stride = (size_t)part.rows,
                       .sums = _mm_setzero_si128()};
}

/* Returns what the sums of the row's products start at, in units of -128: Σ x̂ of what has no offset. */
INLINE int32_t end_rests(const ferry_rows_i8 *inputs, int32_t row, block part, const row_rests *ended, int32_t sum)
{
    const rests lists = rests_of(inputs, part.first);
    lists.counts[row - part.first] = (int32_t)ended->count;
    if (row == part.first + part.rows - 1) fill_up_lists(lists, part.rows);
    if (ended->together == 1) return sum;
    const __m128i two = _mm_add_epi32(ended->sums, _mm_unpackhi_epi64(ended->sums, ended->sums));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 1)));
}

#endif
