/* Disentangled attention (He et al. 2021, equation 4), encoder and decoder:
 *
 *     score(i, j) = (q_i·k_j + q_i·pos_k(P[δ(i, j)]) + k_j·pos_q(P[δ(j, i)]))/√(3K)
 *     δ(i, j) = clamp(i - j + c, 0, 2c - 1)
 *
 * P is rel_embeddings, shared by the layers. `p2c: released` takes P[δ(i, j)] in the last term, too, as the published
 * code does. δ is not symmetric: the distance c itself is in the table, -c is not.
 *
 * pos_k(P) and pos_q(P) depend on weights alone. With the table of δ(i, j) upside down, its row is
 * clamp(j - i + c - 1, 0, 2c - 1): it ascends with j (clipped.h). The last term takes another row of pos_q for every
 * pair: 16 keys meet a tile's queries in queries + 15 rows, and those products hold the terms on diagonals.
 */
#include <math.h>
#include <stdlib.h>

#include "clipped.h"
#include "schemes.h"

typedef struct deberta {
    ferry_clipped c2p;
    int32_t direction; /* of p2c's row c + direction·(j - i): 1 paper, -1 released */
    float *pos_k;      /* [layers][H][⌈2c/16⌉][K][16], upside down */
    float *pos_q;      /* [layers][H][2c, K], scaled */
    float score_scale; /* 1/√(3K) */
} deberta;

static ferry_status take_panels(int32_t N, int32_t K, float **panels, ferry_error *error)
{
    size_t bytes;
    if (!ferry_mul_size(ferry_panels_count(N, K), sizeof **panels, &bytes))
        return ferry_fail_memory(error, "panels", SIZE_MAX);
    *panels = aligned_alloc(64, bytes);
    return *panels != NULL ? FERRY_OK : ferry_fail_memory(error, "panels", bytes);
}

/* Panels of rel_embeddings [count, D] upside down. */
static void pack_embeddings(float *panels, const float *embeddings, int32_t count, int32_t D)
{
    for (int32_t first = 0; first < count; first += FERRY_LANES)
        for (int32_t d = 0; d < D; d++)
            for (int32_t row = first; row < first + FERRY_LANES; row++)
                *panels++ = row < count ? embeddings[(size_t)(count - 1 - row) * (size_t)D + (size_t)d] : 0.0f;
}

/* Its weight as the rows and P as the panels gives panels. */
static ferry_status derive_pos_k(const ferry_position *position, const ferry_position_source *source,
                                 const ferry_kernels *kernels, const float *embeddings, ferry_error *error)
{
    const deberta *parameters = position->parameters;
    const int32_t D = position->stack.d_model, H = position->stack.heads, K = position->stack.head_width;
    const int32_t count = parameters->c2p.count;
    const int64_t shape[] = {(int64_t)H * K, D};
    float *panels, *to = parameters->pos_k;
    FERRY_TRY(take_panels(count, D, &panels, error));
    pack_embeddings(panels, embeddings, count, D);
    ferry_status status = FERRY_OK;
    for (int32_t layer = 0; layer < position->stack.layers; layer++) {
        const float *weight;
        status = source->tensor(source->user, "pos_k", layer, 2, shape, &weight, error);
        if (status != FERRY_OK) break;
        for (int32_t head = 0; head < H; head++) {
            for (int32_t row = 0; row < count; row += FERRY_LANES, to += (size_t)K * FERRY_LANES)
                kernels->product(to, FERRY_LANES, weight + (size_t)head * (size_t)K * (size_t)D, (size_t)D, K,
                                 panels + (size_t)row * (size_t)D, D, FERRY_LANES, NULL);
        }
    }
    free(panels);
    return status;
}

static ferry_status derive_pos_q(const ferry_position *position, const ferry_position_source *source,
                                 const ferry_kernels *kernels, const float *embeddings, ferry_error *error)
{
    const deberta *parameters = position->parameters;
    const int32_t D = position->stack.d_model, H = position->stack.heads, K = position->stack.head_width;
    const size_t head_floats = (size_t)parameters->c2p.count * (size_t)K;
    const int64_t shape[] = {(int64_t)H * K, D};
    float *panels, *to = parameters->pos_q;
    FERRY_TRY(take_panels(K, D, &panels, error));
    ferry_status status = FERRY_OK;
    for (int32_t layer = 0; layer < position->stack.layers; layer++) {
        const float *weight, *bias;
        status = source->tensor(source->user, "pos_q", layer, 2, shape, &weight, error);
        if (status == FERRY_OK) status = source->tensor(source->user, "pos_q_bias", layer, 1, shape, &bias, error);
        if (status != FERRY_OK) break;
        for (int32_t head = 0; head < H; head++, to += head_floats) {
            ferry_panels_pack(panels, weight + (size_t)head * (size_t)K * (size_t)D, K, D);
            kernels->product(to, (size_t)K, embeddings, (size_t)D, parameters->c2p.count, panels, D, K,
                             bias + (size_t)head * (size_t)K);
            kernels->scale(to, parameters->score_scale, head_floats);
        }
    }
    free(panels);
    return status;
}

static ferry_status bind(ferry_position *position, const ferry_position_source *source, const ferry_kernels *kernels,
                         ferry_error *error)
{
    const size_t layers = (size_t)position->stack.layers, heads = (size_t)position->stack.heads;
    const int32_t K = position->stack.head_width;
    int32_t clip;
    FERRY_TRY(ferry_clipped_parameter(source, &clip, error));
    const int released = ferry_position_choice(source, "p2c", "paper", "released");
    if (released < 0) return ferry_fail(error, FERRY_ERROR_FORMAT, "position.p2c: expected 'paper' or 'released'");
    const int32_t count = 2 * clip;
    const size_t head_k = ferry_panels_count(count, K), head_q = (size_t)count * (size_t)K;
    size_t heads_in_all, floats;
    if (!ferry_mul_size(layers, heads, &heads_in_all) || !ferry_mul_size(heads_in_all, head_k + head_q, &floats))
        return ferry_fail_memory(error, "tables of distances", SIZE_MAX);
    float *tables;
    FERRY_TRY(ferry_clipped_allocate(position, sizeof(deberta), floats, &tables, error));
    *(deberta *)position->parameters = (deberta){
        .c2p = {.count = count, .zero = clip - 1},
        .direction = released == 1 ? -1 : 1,
        .pos_k = tables,
        .pos_q = tables + heads_in_all * head_k,
        .score_scale = 1.0f / sqrtf(3.0f * (float)K),
    };
    const int64_t shape[] = {count, position->stack.d_model};
    const float *embeddings;
    FERRY_TRY(source->tensor(source->user, "rel_embeddings", -1, 2, shape, &embeddings, error));
    FERRY_TRY(derive_pos_k(position, source, kernels, embeddings, error));
    return derive_pos_q(position, source, kernels, embeddings, error);
}

static float score_scale(const ferry_position *position)
{
    return ((const deberta *)position->parameters)->score_scale;
}

static size_t scratch(const ferry_position *position, int32_t queries, int32_t keys)
{
    const deberta *parameters = position->parameters;
    const size_t c2p = (size_t)queries * ferry_clipped_width(&parameters->c2p, queries, keys);
    const size_t p2c = ((size_t)queries + FERRY_LANES) * FERRY_LANES;
    return c2p > p2c ? c2p : p2c;
}

/* Row of pos_q for a distance j - i. */
static int32_t p2c_row(const deberta *parameters, int32_t distance)
{
    const int32_t count = parameters->c2p.count, row = count / 2 + parameters->direction * distance;
    return row < 0 ? 0 : row < count ? row : count - 1;
}

/* scores[i, j] += k_j·pos_q(P[…])/√(3K) for up to 16 keys from j on; table [2c, K]. */
static void add_p2c(const ferry_position *position, const ferry_kernels *kernels, const ferry_position_tile *tile,
                    const float *table, int32_t j)
{
    const deberta *parameters = position->parameters;
    const int32_t K = position->stack.head_width;
    const int32_t a = p2c_row(parameters, j - (tile->first + tile->queries - 1));
    const int32_t b = p2c_row(parameters, j + FERRY_LANES - 1 - tile->first);
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    float *dots = tile->scratch; /* [high - low + 1, 16] */
    ferry_past keys = tile->past;
    keys.blocks += j / FERRY_BLOCK_POSITIONS;
    keys.count = tile->keys - j < FERRY_LANES ? tile->keys - j : FERRY_LANES;
    kernels->scores(dots, FERRY_LANES, table + (size_t)low * (size_t)K, (size_t)K, high - low + 1, &keys);
    for (int32_t i = 0; i < tile->queries; i++) {
        const int32_t left = ferry_position_visible(position, tile, i) - j;
        const int32_t count = left < FERRY_LANES ? left : FERRY_LANES;
        float *scores = tile->scores + (size_t)i * tile->ld_scores + j;
        for (int32_t l = 0; l < count; l++)
            scores[l] += dots[(p2c_row(parameters, j + l - (tile->first + i)) - low) * FERRY_LANES + l];
    }
}

static void score(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  const ferry_position_tile *tile)
{
    (void)state;
    const deberta *parameters = position->parameters;
    const size_t head = (size_t)tile->layer * (size_t)position->stack.heads + (size_t)tile->head;
    ferry_clipped_scores(&parameters->c2p, position, kernels,
                         parameters->pos_k +
                             head * ferry_panels_count(parameters->c2p.count, position->stack.head_width),
                         tile);
    const float *table = parameters->pos_q + head * (size_t)parameters->c2p.count * (size_t)position->stack.head_width;
    for (int32_t j = 0; j < tile->keys; j += FERRY_LANES) add_p2c(position, kernels, tile, table, j);
}

/* The weights are read by bind alone; what stays is the tables. */
static void cost(const ferry_position *position, ferry_position_cost *result)
{
    const deberta *parameters = position->parameters;
    const int64_t heads = (int64_t)position->stack.layers * position->stack.heads, K = position->stack.head_width;
    const int64_t rows = position->stack.causal ? parameters->c2p.zero + 1 : parameters->c2p.count;
    const int64_t panels = (int64_t)ferry_round_up((size_t)parameters->c2p.count, FERRY_LANES);
    result->model_bytes = heads * K * (panels + parameters->c2p.count) * (int64_t)sizeof(float);
    result->token_operations = heads * rows * K;
    result->key_operations = heads * (K + 1);
}

/* The paper's pre-training distance. */
static const ferry_position_parameter usual[] = {{.key = "clip", .number = 512},
                                                 {.key = "p2c", .text = "paper"},
                                                 {.key = NULL}};

const ferry_position_scheme ferry_position_deberta = {.name = "deberta",
                                                      .usual = usual,
                                                      .bind = bind,
                                                      .score_scale = score_scale,
                                                      .scratch = scratch,
                                                      .score = score,
                                                      .cost = cost};
