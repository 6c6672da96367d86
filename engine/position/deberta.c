/* Disentangled attention (He et al. 2021, equation 4), encoder and decoder:
 *
 *     score(i, j) = (q_i·k_j + q_i·pos_k(P[δ(i, j)]) + k_j·pos_q(P[δ(j, i)]))/√(3K)
 *     δ(i, j) = clamp(i - j + c, 0, 2c - 1)
 *
 * P is rel_embeddings, shared by the layers. `p2c: released` takes P[δ(i, j)] in the last term, too, as the published
 * code does. δ is not symmetric: the distance c itself is in the table, -c is not.
 *
 * pos_k(P) and pos_q(P) depend on weights alone. With the table of δ(i, j) upside down, its row is
 * clamp(j - i + c - 1, 0, 2c - 1), that of δ(j, i) is clamp(j - i + c, 0, 2c - 1): both ascend with j (clipped.h).
 * pos_q(P) is transposed, as keys are in their blocks, so that 16 keys meet 16 neighbouring rows at once; in chunks of
 * STEP rows, each with the first 16 of the next, so that they lie near each other wherever the 16 begin. */
#include <math.h>
#include <stdlib.h>

#include "clipped.h"
#include "schemes.h"

/* Both ends of P are repeated by 16 rows and more, so that 16 rows from any start on are those of 16 keys. */
enum { EDGE = FERRY_LANES, STEP = 4 * FERRY_LANES, CHUNK = STEP + FERRY_LANES };

typedef struct deberta {
    ferry_clipped c2p, p2c;
    int32_t chunks;
    float *pos_k;      /* [layers][H][⌈2c/16⌉][K][16] */
    float *pos_q;      /* [layers][H][chunks][K][CHUNK], scaled; row r of P is at EDGE + r */
    float score_scale; /* 1/√(3K) */
} deberta;

/* Rows -EDGE, … of rel_embeddings [count, D], in order or upside down, as panels that fill all chunks. */
static ferry_status pack_embeddings(const deberta *parameters, const float *embeddings, int32_t D, bool upside_down,
                                    float **panels, ferry_error *error)
{
    const int32_t count = parameters->c2p.count, rows = parameters->chunks * STEP + FERRY_LANES;
    const size_t bytes = ferry_panels_count(rows, D) * sizeof **panels;
    float *to = *panels = aligned_alloc(64, bytes);
    if (to == NULL) return ferry_fail_memory(error, "tables of distances", bytes);
    for (int32_t first = -EDGE; first < rows - EDGE; first += FERRY_LANES)
        for (int32_t d = 0; d < D; d++)
            for (int32_t r = first; r < first + FERRY_LANES; r++) {
                const int32_t row = r < 0 ? 0 : r < count ? r : count - 1;
                *to++ = embeddings[(size_t)(upside_down ? count - 1 - row : row) * (size_t)D + (size_t)d];
            }
    return FERRY_OK;
}

static ferry_status derive_pos_k(const ferry_position *position, const ferry_position_source *source,
                                 const ferry_kernels *kernels, const float *panels, ferry_error *error)
{
    const deberta *parameters = position->parameters;
    const int32_t D = position->stack.d_model, H = position->stack.heads, K = position->stack.head_width;
    const int64_t shape[] = {(int64_t)H * K, D};
    float *to = parameters->pos_k;
    for (int32_t layer = 0; layer < position->stack.layers; layer++) {
        const float *weight;
        FERRY_TRY(source->tensor(source->user, "pos_k", layer, 2, shape, &weight, error));
        for (int32_t head = 0; head < H; head++) {
            for (int32_t row = 0; row < parameters->c2p.count; row += FERRY_LANES) {
                kernels->product(to, FERRY_LANES, weight + (size_t)head * (size_t)K * (size_t)D, (size_t)D, K,
                                 panels + (size_t)(EDGE + row) * (size_t)D, D, FERRY_LANES, NULL);
                to += (size_t)K * FERRY_LANES;
            }
        }
    }
    return FERRY_OK;
}

/* pos_q(P) of one head, with bias and scale. */
static void derive_head(const deberta *parameters, const ferry_kernels *kernels, const float *panels, int32_t D,
                        const float *weight /* [K, D] */, const float *bias, int32_t K, float *to)
{
    for (int32_t chunk = 0; chunk < parameters->chunks; chunk++, to += (size_t)K * CHUNK) {
        kernels->product(to, CHUNK, weight, (size_t)D, K, panels + (size_t)chunk * STEP * (size_t)D, D, CHUNK, NULL);
        for (size_t d = 0; d < (size_t)K; d++)
            for (size_t r = 0; r < CHUNK; r++)
                to[d * CHUNK + r] = (to[d * CHUNK + r] + bias[d]) * parameters->score_scale;
    }
}

static ferry_status derive_pos_q(const ferry_position *position, const ferry_position_source *source,
                                 const ferry_kernels *kernels, const float *panels, ferry_error *error)
{
    const deberta *parameters = position->parameters;
    const int32_t D = position->stack.d_model, H = position->stack.heads, K = position->stack.head_width;
    const size_t head_floats = (size_t)parameters->chunks * (size_t)K * CHUNK;
    const int64_t shape[] = {(int64_t)H * K, D};
    float *to = parameters->pos_q;
    for (int32_t layer = 0; layer < position->stack.layers; layer++) {
        const float *weight, *bias;
        FERRY_TRY(source->tensor(source->user, "pos_q", layer, 2, shape, &weight, error));
        FERRY_TRY(source->tensor(source->user, "pos_q_bias", layer, 1, shape, &bias, error));
        for (int32_t head = 0; head < H; head++, to += head_floats) {
            const size_t row = (size_t)head * (size_t)K;
            derive_head(parameters, kernels, panels, D, weight + row * (size_t)D, bias + row, K, to);
        }
    }
    return FERRY_OK;
}

static ferry_status derive(const ferry_position *position, const ferry_position_source *source,
                           const ferry_kernels *kernels, bool released, ferry_error *error)
{
    const deberta *parameters = position->parameters;
    const int32_t D = position->stack.d_model;
    const int64_t shape[] = {parameters->c2p.count, D};
    const float *embeddings;
    float *panels = NULL;
    FERRY_TRY(source->tensor(source->user, "rel_embeddings", -1, 2, shape, &embeddings, error));
    ferry_status status = pack_embeddings(parameters, embeddings, D, true, &panels, error);
    if (status == FERRY_OK) status = derive_pos_k(position, source, kernels, panels, error);
    if (status == FERRY_OK && !released) {
        free(panels);
        status = pack_embeddings(parameters, embeddings, D, false, &panels, error);
    }
    if (status == FERRY_OK) status = derive_pos_q(position, source, kernels, panels, error);
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
    const int32_t count = 2 * clip, chunks = (EDGE + count - 1) / STEP + 1;
    const size_t head_k = ferry_panels_count(count, K), head_q = (size_t)chunks * (size_t)K * CHUNK;
    size_t heads_in_all, floats;
    if (!ferry_mul_size(layers, heads, &heads_in_all) || !ferry_mul_size(heads_in_all, head_k + head_q, &floats))
        return ferry_fail_memory(error, "tables of distances", SIZE_MAX);
    float *tables;
    FERRY_TRY(ferry_clipped_allocate(position, sizeof(deberta), floats, &tables, error));
    deberta *parameters = position->parameters;
    *parameters = (deberta){
        .c2p = {.count = count, .zero = clip - 1},
        .p2c = {.count = count, .zero = released ? clip - 1 : clip},
        .chunks = chunks,
        .pos_k = tables,
        .pos_q = tables + heads_in_all * head_k,
        .score_scale = 1.0f / sqrtf(3.0f * (float)K),
    };
    return derive(position, source, kernels, released == 1, error);
}

static float score_scale(const ferry_position *position)
{
    return ((const deberta *)position->parameters)->score_scale;
}

static size_t scratch(const ferry_position *position, int32_t queries, int32_t keys)
{
    const deberta *parameters = position->parameters;
    return (size_t)queries * ferry_clipped_width(&parameters->c2p, queries, keys);
}

/* scores[l] += Σ_d keys[d, l]·table[d, l], l < count ≤ 16 */
static void add_dots(float *scores, const float *keys /* [K][16] */, const float *table /* [K] CHUNK apart */,
                     int32_t K, int32_t count)
{
    float dots[FERRY_LANES] = {0};
    for (int32_t d = 0; d < K; d++, keys += FERRY_LANES, table += CHUNK)
        for (int32_t l = 0; l < FERRY_LANES; l++) dots[l] += keys[l] * table[l];
    for (int32_t l = 0; l < count; l++) scores[l] += dots[l];
}

/* scores[i, j] += k_j·pos_q(P[…])/√(3K) */
static void add_p2c(const ferry_position *position, const ferry_position_tile *tile)
{
    const deberta *parameters = position->parameters;
    const int32_t K = position->stack.head_width, rows = parameters->p2c.count;
    const size_t head = (size_t)tile->layer * (size_t)position->stack.heads + (size_t)tile->head;
    const float *table = parameters->pos_q + head * (size_t)parameters->chunks * (size_t)K * CHUNK;
    for (int32_t i = 0; i < tile->queries; i++) {
        const int32_t keys = ferry_position_visible(position, tile, i);
        float *scores = tile->scores + (size_t)i * tile->ld_scores;
        for (int32_t j = 0; j < keys; j += FERRY_LANES) {
            const int32_t row = j - (tile->first + i) + parameters->p2c.zero;
            const int32_t start = EDGE + (row < -EDGE ? -EDGE : row > rows - 1 ? rows - 1 : row);
            add_dots(scores + j, tile->blocks[j / FERRY_LANES] + tile->key_offset,
                     table + (size_t)(start / STEP) * (size_t)K * CHUNK + start % STEP, K,
                     keys - j < FERRY_LANES ? keys - j : FERRY_LANES);
        }
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
    add_p2c(position, tile);
}

/* The weights are read by bind alone; what stays is the tables. */
static void cost(const ferry_position *position, ferry_position_cost *result)
{
    const deberta *parameters = position->parameters;
    const int64_t heads = (int64_t)position->stack.layers * position->stack.heads, K = position->stack.head_width;
    const int64_t rows = position->stack.causal ? parameters->c2p.zero + 1 : parameters->c2p.count;
    const int64_t panels = (int64_t)ferry_round_up((size_t)parameters->c2p.count, FERRY_LANES);
    result->model_bytes = heads * K * (panels + (int64_t)parameters->chunks * CHUNK) * (int64_t)sizeof(float);
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
