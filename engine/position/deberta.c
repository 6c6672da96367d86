/* Disentangled attention (He et al. 2021, equation 4), encoder and decoder:
 *
 *     score(i, j) = (q_i·k_j + q_i·pos_k(P[δ(i, j)]) + k_j·pos_q(P[δ(j, i)]))/√(3K)
 *     δ(i, j) = clamp(i - j + c, 0, 2c - 1)
 *
 * P is rel_embeddings, shared by the layers. `p2c: released` takes P[δ(i, j)] in the last term as well, like the
 * published code. δ is not symmetric: j - i = c has a row of its own, -c has not.
 *
 * pos_k(P) and pos_q(P) depend on weights alone. With the rows of P reversed, δ(i, j) has row
 * clamp(j - i + c - 1, 0, 2c - 1), which ascends with j (clipped.h). The last term needs a different row of pos_q for
 * every pair: 16 keys and a tile's queries need queries + 15 rows, and the terms lie on the diagonals of their
 * products. */
#include <math.h>

#include "base/system.h"
#include "clipped.h"
#include "engine/kernels/linear.h"
#include "position.h"
#include "schemes.h"

enum { CLIP, P2C };                                /* parameters */
enum { REL_EMBEDDINGS, POS_Q, POS_Q_BIAS, POS_K }; /* tensors */
/* The default clip is the paper's in pre-training. */
static const ferry_position_parameter parameters[] = {
    {"clip", FERRY_POSITION_INTEGER, "distances are clamped to -clip … clip - 1", .min = "1", .max = "65536",
     .unit = "distance", .default_value = "512"},
    {"p2c", FERRY_POSITION_CHOICE,
     "row of the position-to-content term for query i, key j: `paper`: δ(j, i), `released`: δ(i, j), as in the "
     "published code",
     .choices = {"paper", "released"}, .default_value = "paper"},
    {0},
};
static const ferry_position_tensor tensors[] = {
    {.name = "rel_embeddings",
     .shape = "2*clip, D",
     .meaning = "P: one row for each δ(i, j) = clamp(i - j + clip, 0, 2 clip - 1)"},
    {"pos_q", "H*K, D", "y = W x + b of P", .per_layer = true},
    {"pos_q_bias", "H*K", "b", .per_layer = true},
    {"pos_k", "H*K, D", "y = W x of P", .per_layer = true},
    {0},
};

typedef struct deberta {
    ferry_clipped c2p;
    int32_t direction; /* of p2c's row c + direction·(j - i): 1 paper, -1 released */
    float *pos_k;      /* [layers][H][⌈2c/16⌉][K][16], rows reversed */
    float *pos_q;      /* [layers][H][2c, K], times score_scale */
    float score_scale; /* 1/√(3K) */
} deberta;

/* The product of the weight as rows and P as panels is panels again. */
static ferry_status derive_pos_k(const ferry_position *position, const ferry_position_binding *binding, float *panels,
                                 ferry_error *error)
{
    const deberta *own = position->derived;
    const int32_t D = position->stack.d_model, H = position->stack.heads, K = position->stack.head_width;
    const int32_t count = own->c2p.count;
    const float *embeddings = position->tensors[REL_EMBEDDINGS];
    float *to = own->pos_k, *packed = panels;
    for (int32_t first = 0; first < count; first += FERRY_LANES) /* panels of rel_embeddings, rows reversed */
        for (int32_t d = 0; d < D; d++)
            for (int32_t row = first; row < first + FERRY_LANES; row++)
                *packed++ = row < count ? embeddings[(size_t)(count - 1 - row) * (size_t)D + (size_t)d] : 0.0f;
    for (int32_t layer = 0; layer < position->stack.layers; layer++) {
        const float *weight;
        FERRY_TRY(ferry_position_take(position, binding, POS_K, layer, &weight, error));
        for (int32_t head = 0; head < H; head++)
            for (int32_t row = 0; row < count; row += FERRY_LANES, to += (size_t)K * FERRY_LANES)
                binding->kernels->product(to, FERRY_LANES, weight + (size_t)head * (size_t)K * (size_t)D, (size_t)D, K,
                                          panels + (size_t)row * (size_t)D, D, FERRY_LANES, NULL);
    }
    return FERRY_OK;
}

static ferry_status derive_pos_q(const ferry_position *position, const ferry_position_binding *binding, float *panels,
                                 ferry_error *error)
{
    const deberta *own = position->derived;
    const int32_t D = position->stack.d_model, H = position->stack.heads, K = position->stack.head_width;
    const size_t head_floats = (size_t)own->c2p.count * (size_t)K;
    float *to = own->pos_q;
    for (int32_t layer = 0; layer < position->stack.layers; layer++) {
        const float *weight, *bias;
        FERRY_TRY(ferry_position_take(position, binding, POS_Q, layer, &weight, error));
        FERRY_TRY(ferry_position_take(position, binding, POS_Q_BIAS, layer, &bias, error));
        for (int32_t head = 0; head < H; head++, to += head_floats) {
            ferry_panels_pack(panels, weight + (size_t)head * (size_t)K * (size_t)D, K, D);
            binding->kernels->product(to, (size_t)K, position->tensors[REL_EMBEDDINGS], (size_t)D, own->c2p.count,
                                      panels, D, K, bias + (size_t)head * (size_t)K);
            binding->kernels->scale(to, own->score_scale, head_floats);
        }
    }
    return FERRY_OK;
}

static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    const size_t heads = (size_t)position->stack.layers * (size_t)position->stack.heads;
    const int32_t K = position->stack.head_width, count = 2 * (int32_t)position->values[CLIP];
    const size_t head_k = ferry_panels_count(count, K), head_q = (size_t)count * (size_t)K;
    float *tables;
    FERRY_TRY(ferry_position_allocate(position, sizeof(deberta), heads, head_k + head_q, &tables, error));
    *(deberta *)position->derived = (deberta){
        .c2p = {.count = count, .zero = count / 2 - 1},
        .direction = position->values[P2C] == 1 ? -1 : 1,
        .pos_k = tables,
        .pos_q = tables + heads * head_k,
        .score_scale = 1.0f / sqrtf(3.0f * (float)K),
    };
    const size_t floats = ferry_panels_count(count > K ? count : K, position->stack.d_model);
    float *panels = floats < SIZE_MAX / sizeof *panels ? ferry_aligned_alloc(64, floats * sizeof *panels) : NULL;
    if (panels == NULL) return ferry_fail_memory(error, "panels", floats, sizeof *panels);
    ferry_status status = derive_pos_k(position, binding, panels, error);
    if (status == FERRY_OK) status = derive_pos_q(position, binding, panels, error);
    ferry_aligned_free(panels);
    return status;
}

static float score_scale(const ferry_position *position)
{
    return ((const deberta *)position->derived)->score_scale;
}

static size_t scratch(const ferry_position *position, int32_t queries, int32_t keys)
{
    const deberta *own = position->derived;
    const size_t c2p = (size_t)queries * ferry_clipped_width(&own->c2p, queries, keys);
    const size_t p2c = ((size_t)queries + FERRY_LANES) * FERRY_LANES;
    return c2p > p2c ? c2p : p2c;
}

/* Row of pos_q for a distance j - i. */
static int32_t p2c_row(const deberta *own, int32_t distance)
{
    const int32_t count = own->c2p.count, row = count / 2 + own->direction * distance;
    return row < 0 ? 0 : row < count ? row : count - 1;
}

/* scores[i, j] += k_j·pos_q(P[…])/√(3K) for up to 16 keys from j on; table [2c, K]. */
static void add_p2c(const ferry_position *position, const ferry_position_tile *tile, const float *table, int32_t j)
{
    const deberta *own = position->derived;
    const int32_t K = position->stack.head_width;
    const int32_t a = p2c_row(own, j - (tile->first + tile->queries - 1));
    const int32_t b = p2c_row(own, j + FERRY_LANES - 1 - tile->first);
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    float *dots = tile->scratch; /* [high - low + 1, 16] */
    ferry_kv_view keys = tile->kv;
    keys.blocks += j / FERRY_BLOCK_POSITIONS;
    keys.count = tile->keys - j < FERRY_LANES ? tile->keys - j : FERRY_LANES;
    tile->kernels->scores(dots, FERRY_LANES, table + (size_t)low * (size_t)K, (size_t)K, high - low + 1, &keys);
    for (int32_t i = 0; i < tile->queries; i++) {
        const int32_t left = ferry_position_visible(position, tile, i) - j;
        const int32_t count = left < FERRY_LANES ? left : FERRY_LANES;
        float *scores = tile->scores + (size_t)i * tile->ld_scores + j;
        for (int32_t l = 0; l < count; l++)
            scores[l] += dots[(p2c_row(own, j + l - (tile->first + i)) - low) * FERRY_LANES + l];
    }
}

static void score(const ferry_position *position, const ferry_position_tile *tile)
{
    const deberta *own = position->derived;
    const size_t head = (size_t)tile->layer * (size_t)position->stack.heads + (size_t)tile->head;
    ferry_clipped_scores(&own->c2p, position,
                         own->pos_k + head * ferry_panels_count(own->c2p.count, position->stack.head_width), tile);
    const float *table = own->pos_q + head * (size_t)own->c2p.count * (size_t)position->stack.head_width;
    for (int32_t j = 0; j < tile->keys; j += FERRY_LANES) add_p2c(position, tile, table, j);
}

const ferry_position_scheme ferry_position_deberta = {.name = "deberta",
                                                      .title = "DeBERTa",
                                                      .paper = "He et al. 2021",
                                                      .parameters = parameters,
                                                      .tensors = tensors,
                                                      .bind = bind,
                                                      .score_scale = score_scale,
                                                      .scratch = scratch,
                                                      .score = score,
                                                      .token_operations = "clip*directions*layers*H*K",
                                                      .key_operations = "K+1*layers*H"};
