/* Relative positions with global content and position biases (Dai et al. 2019, section 3.3), encoder and decoder:
 *
 *     score(i, j) = ((q_i + u)·k_j + (q_i + v)·W R[i - j])/√K
 *
 * R[t] is the sinusoidal row of distance t (sines, then cosines; angle_k = t/10000^(k/(D/2))), W is r_proj; u and v are
 * given for each head. W R depends on the distance alone: it is computed in panels of 16 distances, which attention's
 * kernels read like keys, and a longer text adds panels. A group of panels in the state's rows:
 *
 *     t = 16 g + 15 - s, s = 0 … 15 (the past):      layer 0 [H·K][16] · layer 1 … · R [D][16]
 *     t = -(16 g + 1 + s) (the future; encoder only): the same
 *
 * so that side by side they are in ascending order of j - i. */
#include <math.h>
#include <stdlib.h>

#include "position.h"
#include "schemes.h"

/* Panels whose terms are computed together: bounds the scratch. */
enum { PANELS = 16, CHUNK = PANELS * FERRY_LANES };

enum { R_PROJ, U, V };
static const ferry_position_tensor tensors[] = {
    {"r_proj", "H*K, D", "y = W x of sinusoids of the distance i - j (`split`, `half`)", .per_layer = true,
     .kept = true},
    {"u", "H, K", "added to queries, for keys", .per_layer = true},
    {"v", "H, K", "added to queries, for distances", .per_layer = true},
    {0},
};

typedef struct transformer_xl {
    float *u, *v;          /* [layers][H][K], times 1/√K, like q */
    const float *r_proj[]; /* [layers] → [H·K, D] */
} transformer_xl;

static size_t inner_width(const ferry_position *position)
{
    return (size_t)position->stack.heads * (size_t)position->stack.head_width;
}

static ferry_status take_bias(const ferry_position *position, const ferry_position_binding *binding, size_t index,
                              int32_t layer, float *biases, ferry_error *error)
{
    const float scale = 1.0f / sqrtf((float)position->stack.head_width);
    const size_t width = inner_width(position);
    const float *data;
    FERRY_TRY(ferry_position_take(position, binding, index, layer, &data, error));
    for (size_t k = 0; k < width; k++) biases[(size_t)layer * width + k] = data[k] * scale;
    return FERRY_OK;
}

static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    const size_t layers = (size_t)position->stack.layers, width = inner_width(position);
    float *biases;
    FERRY_TRY(ferry_position_allocate(position, sizeof(transformer_xl) + layers * sizeof(float *), layers, 2 * width,
                                      &biases, error));
    transformer_xl *own = position->derived;
    own->u = biases;
    own->v = biases + layers * width;
    for (int32_t layer = 0; layer < position->stack.layers; layer++) {
        FERRY_TRY(ferry_position_take(position, binding, R_PROJ, layer, &own->r_proj[layer], error));
        FERRY_TRY(take_bias(position, binding, U, layer, own->u, error));
        FERRY_TRY(take_bias(position, binding, V, layer, own->v, error));
    }
    return FERRY_OK;
}

/* Floats of the panels of 16 distances: one for each layer, and R. */
static size_t panel_floats(const ferry_position *position)
{
    return FERRY_LANES * ((size_t)position->stack.layers * inner_width(position) + (size_t)position->stack.d_model);
}

/* Panels from distance t on: slot s holds t - s. */
static void prepare_panel(const ferry_position *position, const ferry_kernels *kernels, float *panel, int32_t t)
{
    const transformer_xl *own = position->derived;
    const int32_t D = position->stack.d_model, width = (int32_t)inner_width(position);
    const size_t layer_floats = (size_t)width * FERRY_LANES, half = (size_t)(D / 2);
    float *r = panel + (size_t)position->stack.layers * layer_floats;
    for (size_t k = 0; k < half; k++) {
        const double frequency = 1.0 / pow(10000.0, (double)k / (double)half);
        for (int32_t s = 0; s < FERRY_LANES; s++) {
            const double angle = (double)(t - s) * frequency;
            r[k * FERRY_LANES + (size_t)s] = (float)sin(angle);
            r[(half + k) * FERRY_LANES + (size_t)s] = (float)cos(angle);
        }
    }
    /* The product of W as rows and R as a panel is a panel again. */
    for (int32_t layer = 0; layer < position->stack.layers; layer++)
        kernels->product(panel + (size_t)layer * layer_floats, FERRY_LANES, own->r_proj[layer], (size_t)D, width, r, D,
                         FERRY_LANES, NULL);
}

static void fill(const ferry_position *position, const ferry_kernels *kernels, float *rows, int32_t first, int32_t end)
{
    const size_t floats = panel_floats(position), sides = position->stack.causal ? 1 : 2;
    for (int32_t t = first; t < end; t += FERRY_LANES) {
        float *group = rows + (size_t)(t / FERRY_LANES) * sides * floats;
        prepare_panel(position, kernels, group, t + FERRY_LANES - 1);
        if (sides > 1) prepare_panel(position, kernels, group + floats, -t - 1);
    }
}

static size_t scratch(const ferry_position *position, int32_t queries, int32_t keys)
{
    const size_t terms = (size_t)queries * CHUNK, content = ferry_round_up((size_t)keys, FERRY_LANES);
    return (size_t)queries * (size_t)position->stack.head_width + (terms > content ? terms : content);
}

/* scores[i, j] += terms[i, column of j - i] for the keys of panels p … p + panels - 1. */
static void add_terms(const ferry_position *position, const ferry_position_tile *tile,
                      const float *terms /* [queries, CHUNK] */, int32_t p, int32_t panels)
{
    for (int32_t i = 0; i < tile->queries; i++) {
        const int32_t keys = ferry_position_visible(position, tile, i);
        const int32_t shift = p * FERRY_LANES - (FERRY_LANES - 1) + tile->first + i; /* key of column 0 */
        const int32_t begin = shift > 0 ? shift : 0;
        const int32_t end = shift + panels * FERRY_LANES < keys ? shift + panels * FERRY_LANES : keys;
        if (begin < end)
            tile->kernels->add(tile->scores + (size_t)i * tile->ld_scores + begin,
                               terms + (size_t)i * CHUNK + (begin - shift), (size_t)(end - begin));
    }
}

static void score(const ferry_position *position, const ferry_position_tile *tile)
{
    const transformer_xl *own = position->derived;
    const size_t K = (size_t)position->stack.head_width;
    const size_t head = (size_t)tile->layer * inner_width(position) + (size_t)tile->head * K;
    float *terms = tile->scratch, *q = terms + (size_t)tile->queries * CHUNK;
    tile->kernels->scores(terms, 0, own->u + head, 0, 1, &tile->kv); /* u·k_j, the same for all queries */
    for (int32_t i = 0; i < tile->queries; i++)
        tile->kernels->add(tile->scores + (size_t)i * tile->ld_scores, terms,
                           (size_t)ferry_position_visible(position, tile, i));
    for (size_t i = 0; i < (size_t)tile->queries; i++)
        for (size_t d = 0; d < K; d++) q[i * K + d] = tile->q[i * tile->ldq + d] + own->v[head + d];
    const int32_t last_query = tile->first + tile->queries - 1;
    const int32_t end = position->stack.causal ? 1 : (tile->keys + FERRY_LANES - 2 - tile->first) / FERRY_LANES + 1;
    const size_t sides = position->stack.causal ? 1 : 2;
    /* Panels are counted in ascending j - i: the last of the past, with t = 15 … 0, is panel 0. */
    for (int32_t p = -(last_query / FERRY_LANES); p < end; p += PANELS) {
        const int32_t count = end - p < PANELS ? end - p : PANELS;
        for (int32_t c = 0; c < count; c++) {
            const size_t slot = p + c <= 0 ? (size_t) - (p + c) * sides : (size_t)(p + c - 1) * sides + 1;
            const float *panel = tile->state->rows + slot * panel_floats(position) + head * FERRY_LANES;
            tile->kernels->product(terms + c * FERRY_LANES, CHUNK, q, K, tile->queries, panel, (int32_t)K, FERRY_LANES,
                                   NULL);
        }
        add_terms(position, tile, terms, p, count);
    }
}

const ferry_position_scheme ferry_position_transformer_xl = {.name = "transformer_xl",
                                                             .title = "Transformer-XL",
                                                             .paper = "Dai et al. 2019",
                                                             .tensors = tensors,
                                                             .pairs = true,
                                                             .bind = bind,
                                                             .row = "layers*H*K+D*directions",
                                                             .fill = fill,
                                                             .scratch = scratch,
                                                             .score = score,
                                                             .token_operations = "layers*H*K",
                                                             .key_operations = "layers*H*K*2"};
