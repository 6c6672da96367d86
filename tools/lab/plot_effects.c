#include "plot_effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_page.h"
#include "tools/command.h"

static float *reserve(size_t count, size_t width)
{
    return ferry_allocate(count, width * sizeof(float));
}

/* ---- what is added to embeddings ---- */

static bool measure_rows(const ferry_model *model, ferry_effects *e)
{
    ferry_error error;
    float *rows = reserve(FERRY_EFFECT_POSITIONS, (size_t)e->D);
    if (rows == NULL) return false;
    e->positions =
        e->scheme.limit > 0 && e->scheme.limit < FERRY_EFFECT_POSITIONS ? e->scheme.limit : FERRY_EFFECT_POSITIONS;
    const ferry_status status = ferry_inspect_position_rows(model, e->stack, e->positions, rows, &error);
    if (status == FERRY_OK)
        e->rows = rows;
    else
        free(rows);
    return status == FERRY_ERROR_UNSUPPORTED || ferry_succeeded(status, &error);
}

/* ---- what is done to scores ---- */

/* One query among its keys. */
typedef struct probe {
    const ferry_model *model;
    ferry_effects *effects;
    int32_t count, heads, K;            /* the query is at position count - 1 */
    float *unit;                        /* [K] all zero except one */
    float *of_query, *of_key, *of_both; /* [distances] scores of a unit vector */
} probe;

static bool ask(const probe *p, int32_t head, const float *q, const float *k, float *scores)
{
    ferry_error error;
    const ferry_effects *e = p->effects;
    return ferry_plot_succeeded(
        ferry_inspect_position_scores(p->model, e->stack, e->layer, head, p->count, q, k, scores, &error), &error);
}

/* The values of all distances. */
static float *effect_row(const ferry_effects *e, ferry_effect_kind kind, int32_t head, int32_t row)
{
    const ferry_effect *effect = &e->scores[kind];
    return effect->values + ((size_t)head * (size_t)effect->rows + (size_t)row) * (size_t)e->distances;
}

/* Solves the formula of plot_effects.h for one head: with q = k = 0, and with the vectors of the standard basis as q,
 * as k, and as both. */
static bool measure_head(const probe *p, int32_t head)
{
    const ferry_effects *e = p->effects;
    const float *bias = effect_row(e, FERRY_EFFECT_BIAS, head, 0);
    if (!ask(p, head, NULL, NULL, effect_row(e, FERRY_EFFECT_BIAS, head, 0))) return false;
    for (int32_t i = 0; i < p->K; i++) {
        float *query = effect_row(e, FERRY_EFFECT_QUERY, head, i), *key = effect_row(e, FERRY_EFFECT_KEY, head, i);
        float *rotation = effect_row(e, FERRY_EFFECT_ROTATION, head, i);
        p->unit[i] = 1;
        const bool done = ask(p, head, p->unit, NULL, p->of_query) && ask(p, head, NULL, p->unit, p->of_key) &&
                          ask(p, head, p->unit, p->unit, p->of_both);
        p->unit[i] = 0;
        if (!done) return false;
        for (int32_t j = 0; j < e->distances; j++) {
            query[j] = p->of_query[j] - bias[j];
            key[j] = p->of_key[j] - bias[j];
            rotation[j] = p->of_both[j] - p->of_query[j] - p->of_key[j] + bias[j];
        }
        const float here = rotation[-e->first];
        for (int32_t j = 0; j < e->distances; j++) rotation[j] /= here;
    }
    return true;
}

/* The largest difference between heads, or from distance 0. */
static float difference(const ferry_effects *e, ferry_effect_kind kind, bool from_first_head)
{
    float most = 0;
    const ferry_effect *effect = &e->scores[kind];
    for (int32_t head = 0; head < effect->heads; head++)
        for (int32_t i = 0; i < effect->rows; i++) {
            const float *row = effect_row(e, kind, head, i), *other = effect_row(e, kind, 0, i);
            for (int32_t j = 0; j < e->distances; j++)
                most = fmaxf(most, fabsf(row[j] - (from_first_head ? other[j] : row[-e->first])));
        }
    return most;
}

/* Rounding of large scores, whose difference the rotation is, must not look like an effect. */
static float tolerance(const ferry_effects *e)
{
    const float *bias = e->scores[FERRY_EFFECT_BIAS].values;
    float most = 0;
    for (int32_t i = 0; bias != NULL && i < e->scores[FERRY_EFFECT_BIAS].heads * e->distances; i++)
        most = fmaxf(most, fabsf(bias[i]));
    return 1e-4f + 1e-5f * most;
}

static void reduce(ferry_effects *e)
{
    const float noise = tolerance(e);
    for (ferry_effect_kind kind = FERRY_EFFECT_BIAS; kind < FERRY_EFFECT_KINDS; kind++) {
        ferry_effect *effect = &e->scores[kind];
        if (difference(e, kind, false) <= (kind == FERRY_EFFECT_ROTATION ? noise : 1e-5f)) {
            free(effect->values);
            effect->values = NULL;
        } else if (difference(e, kind, true) <= (kind == FERRY_EFFECT_ROTATION ? noise : 1e-5f)) {
            effect->heads = 1;
        }
    }
}

/* Half as many positions until the encoding has them; 0 after a message. */
static int32_t find_positions(const probe *p)
{
    ferry_error error;
    const ferry_effects *e = p->effects;
    float *scores = reserve(2 * FERRY_EFFECT_POSITIONS - 1, 1);
    int32_t count = scores != NULL ? FERRY_EFFECT_POSITIONS : 0;
    while (count > 0) {
        const ferry_status status =
            ferry_inspect_position_scores(p->model, e->stack, e->layer, 0, count, NULL, NULL, scores, &error);
        if (status == FERRY_OK) break;
        if (status != FERRY_ERROR_LIMIT || count == 1) (void)ferry_plot_succeeded(status, &error);
        count = status == FERRY_ERROR_LIMIT ? count / 2 : 0;
    }
    free(scores);
    return count;
}

static bool reserve_effects(probe *p)
{
    ferry_effects *e = p->effects;
    bool done = true;
    for (ferry_effect_kind kind = FERRY_EFFECT_BIAS; kind < FERRY_EFFECT_KINDS; kind++) {
        e->scores[kind] = (ferry_effect){.heads = p->heads, .rows = kind == FERRY_EFFECT_BIAS ? 1 : p->K};
        e->scores[kind].values = reserve((size_t)p->heads, (size_t)e->scores[kind].rows * (size_t)e->distances);
        done = done && e->scores[kind].values != NULL;
    }
    return done;
}

static bool measure_scores(probe *p)
{
    ferry_effects *e = p->effects;
    p->count = find_positions(p);
    if (p->count == 0) return false;
    e->first = 1 - p->count;
    e->distances = e->stack == FERRY_INSPECT_DECODER ? p->count : 2 * p->count - 1;
    const size_t distances = (size_t)e->distances;
    p->unit = reserve(3 * distances + (size_t)p->K, 1);
    if (p->unit == NULL || !reserve_effects(p)) return false;
    p->of_query = p->unit + p->K;
    p->of_key = p->of_query + distances;
    p->of_both = p->of_key + distances;
    for (int32_t head = 0; head < p->heads; head++)
        if (!measure_head(p, head)) return false;
    reduce(e);
    return true;
}

bool ferry_effects_measure(const ferry_model *model, ferry_inspect_stack stack, int32_t layer, ferry_effects *effects)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const bool decoder = stack == FERRY_INSPECT_DECODER;
    const int32_t K = decoder ? sizes.decoder_head_width : sizes.encoder_head_width;
    const int32_t heads = decoder ? sizes.decoder_heads : sizes.encoder_heads;
    const int32_t layers = decoder ? sizes.decoder_layers : sizes.encoder_layers;
    *effects = (ferry_effects){.stack = stack,
                               .scheme = ferry_inspect_get_scheme(model, stack),
                               .layers = layers,
                               .layer = layer < 0 ? layers - 1 : layer,
                               .trained = ferry_inspect_get_training(model).longest,
                               .D = sizes.d_model};
    probe p = {.model = model, .effects = effects, .heads = heads, .K = K};
    const bool done = measure_rows(model, effects) && measure_scores(&p);
    free(p.unit);
    return done;
}

void ferry_effects_free(ferry_effects *effects)
{
    free(effects->rows);
    for (ferry_effect_kind kind = FERRY_EFFECT_BIAS; kind < FERRY_EFFECT_KINDS; kind++)
        free(effects->scores[kind].values);
}

/* ---- comparing the stacks ---- */

bool ferry_effects_equal_rows(const ferry_effects *encoder, const ferry_effects *decoder)
{
    return encoder->rows != NULL && decoder->rows != NULL && encoder->positions == decoder->positions &&
           memcmp(encoder->rows, decoder->rows,
                  (size_t)encoder->positions * (size_t)encoder->D * sizeof *encoder->rows) == 0;
}

bool ferry_effect_is_part(const ferry_effects *encoder, const ferry_effects *decoder, ferry_effect_kind kind)
{
    const ferry_effect *whole = &encoder->scores[kind], *part = &decoder->scores[kind];
    if (whole->values == NULL || part->values == NULL || whole->heads != part->heads || whole->rows != part->rows ||
        encoder->first != decoder->first)
        return false;
    for (int32_t head = 0; head < part->heads; head++)
        for (int32_t i = 0; i < part->rows; i++)
            if (memcmp(effect_row(encoder, kind, head, i), effect_row(decoder, kind, head, i),
                       (size_t)decoder->distances * sizeof *part->values) != 0)
                return false;
    return true;
}
