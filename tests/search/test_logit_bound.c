/* The shortcut to the largest logit (ferry_logit_bound) against all logits: what it says is what they say, byte
 * for byte, on every ISA; where it cannot tell it has to say so; and of ordinary numbers it computes few exactly. */
#include "tests/support/kernel_support.h"
#include "tests/support/support.h"

#include "base/memory.h"
#include "engine/search/output_layer.h"
#include "engine/search/search.h"
#include "engine/kernels/coarse.h"

enum { MAX_N = 3000, MAX_K = 300 };

/* A matrix as floats and as int8, and one row of inputs. */
typedef struct world {
    int32_t N, K;
    float *weight, *bias; /* [N, K], [N] */
    float *panels, *scales, *stored_scales;
    int8_t *codes, *stored_codes;
    uint8_t *upper, *lower;
    ferry_matrix floats, int8; /* int8: in planes if K is a multiple of 8 */
    ferry_coarse stored;       /* a file's */
    float x[MAX_K];
    bool masked[MAX_N];
} world;

/* Nearly normal. */
static float random_normal(void)
{
    return random_between(-1, 1) + random_between(-1, 1) + random_between(-1, 1);
}

static world *new_world(int32_t N, int32_t K, bool bias)
{
    world *w = new_memory(sizeof *w);
    memset(w, 0, sizeof *w);
    w->N = N;
    w->K = K;
    w->weight = new_memory((size_t)N * (size_t)K * sizeof *w->weight);
    w->bias = new_memory((size_t)N * sizeof *w->bias);
    w->panels = new_memory(ferry_panels_count(N, K) * sizeof *w->panels);
    for (int32_t i = 0; i < N * K; i++) w->weight[i] = 0.05f * random_normal();
    for (int32_t n = 0; n < N; n++) w->bias[n] = 0.2f * random_normal();
    for (int32_t k = 0; k < K; k++) w->x[k] = random_normal();
    w->scales = new_memory((size_t)N * sizeof *w->scales);
    w->codes = new_memory(ferry_int8_size(N, K));
    w->stored_codes = new_memory(ferry_int8_size(N, K));
    w->stored_scales = new_memory(ferry_round_up((size_t)N, FERRY_LANES) * sizeof *w->stored_scales);
    w->upper = new_memory(ferry_int8_size(N, K));
    w->lower = new_memory(ferry_int8_size(N, K));
    w->floats = (ferry_matrix){.N = N, .K = K, .panels = w->panels, .bias = bias ? w->bias : NULL};
    w->int8 = (ferry_matrix){FERRY_MATRIX_INT8,     .N = N, .K = K, .int8 = w->codes, .scales = w->scales,
                             .bias = w->floats.bias};
    return w;
}

/* All matrices from the weights. */
static void pack(world *w)
{
    int8_t rows[FERRY_LANES * MAX_K];
    w->stored = (ferry_coarse){{FERRY_MATRIX_INT8, .int8 = w->stored_codes, .scales = w->stored_scales}, 0, 0};
    ferry_panels_pack(w->panels, w->weight, w->N, w->K);
    for (int32_t first = 0; first < w->N; first += FERRY_LANES) {
        const int32_t count = w->N - first < FERRY_LANES ? w->N - first : FERRY_LANES;
        for (int32_t n = 0; n < count; n++)
            ferry_int8_quantize(w->weight + (size_t)(first + n) * (size_t)w->K, w->K, rows + n * w->K,
                                &w->scales[first + n]);
        ferry_int8_pack(w->codes + ferry_int8_size(first, w->K), rows, count, w->K);
        ferry_coarsen_panel(&w->floats, (size_t)first / FERRY_LANES, w->stored_codes + ferry_int8_size(first, w->K),
                            w->stored_scales + first, &w->stored);
        if (w->K % 8 == 0)
            ferry_planes_from_panel(w->codes + ferry_int8_size(first, w->K), w->K,
                                    w->upper + ferry_nibbles_size(first, w->K),
                                    w->lower + ferry_nibbles_size(first, w->K));
    }
    for (int32_t n = 0; n < w->N; n++) {
        const float *row = w->weight + (size_t)n * (size_t)w->K;
        bool zero = true;
        for (int32_t k = 0; k < w->K; k++) zero = zero && row[k] == 0;
        if (zero) w->scales[n] = 0;
    }
    if (w->K % 8 != 0) return;
    w->int8.kind = FERRY_MATRIX_PLANES;
    w->int8.nibbles = w->upper;
    w->int8.lower = w->lower;
    w->int8.nibbles_error = ferry_planes_error(&w->int8);
}

typedef struct answer {
    bool told;
    int32_t column;
    float logit;
    int64_t panels; /* computed exactly */
} answer;

/* What the bound says, after columns that came in two parts; the row has neighbors. */
static answer ask(const world *w, ferry_context *context, const ferry_logit_bound *logit_bound)
{
    /* As many rows as the product may have. */
    enum { ROWS = 3 };
    const int32_t most = logit_bound->exact->kind == FERRY_MATRIX_PLANES ? context->kernels->nibbles_rows : ROWS;
    const int32_t rows = most < ROWS ? most : ROWS, at = rows > 1 ? 1 : 0;
    ferry_inputs inputs;
    float *x = new_memory((size_t)ROWS * (size_t)w->K * sizeof *x);
    float maxima[MAX_N / FERRY_LANES + 1], *logits = new_memory((size_t)ROWS * (size_t)w->N * sizeof *logits);
    for (int32_t i = 0; i < ROWS * w->K; i++) x[i] = w->x[i % w->K] * (i / w->K == at ? 1 : 0.3f);
    const ferry_matrix *coarse = &logit_bound->coarse.matrix;
    CHECK(ferry_inputs_prepare(context, &(ferry_rows){x, rows, NULL}, &coarse, 1, &inputs, &error));
    const double bound = ferry_logit_bound_margin(logit_bound, w->x, &inputs.quantized, at);
    answer a = {.told = bound < INFINITY};
    if (!a.told) return a;
    const int32_t cut = w->N / 2 / FERRY_LANES * FERRY_LANES;
    for (int32_t first = 0; first < w->N; first += first < cut ? cut : w->N) {
        const int32_t count = first < cut ? cut : w->N - first;
        const ferry_matrix part = ferry_matrix_columns(coarse, first, count);
        CHECK(ferry_inputs_multiply(context, logits, &inputs, &part, &error));
        context->kernels->panel_maxima(maxima + first / FERRY_LANES, logits + at * count, (size_t)count);
    }
    ferry_arena arena = {0};
    int32_t ids[MAX_N];
    ferry_search_options masked = {.suppressed_ids = ids, .forced_first_id = -1, .forced_last_id = -1};
    for (int32_t n = 0; n < w->N; n++)
        if (w->masked[n]) ids[masked.suppressed_count++] = n;
    const ferry_search_rules rules = {
        .options = {.beam = 1, .nbest = 1, .max_length = 1, .repetition_penalty = 1, .search = &masked}};
    ferry_search *search;
    CHECK(ferry_search_begin(&arena, &rules, &search, &error));
    context->work = (ferry_work){0};
    const int32_t best = context->kernels->argmax(maxima, (int32_t)ferry_matrix_panels(logit_bound->exact));
    assert_true(best >= 0);
    CHECK(ferry_logit_bound_resolve(logit_bound, context, w->x, bound, maxima, best, search, &a.column, &a.logit,
                                    &error));
    ferry_arena_destroy(&arena);
    a.panels = (context->work.float_products + context->work.int8_products) / (FERRY_LANES * w->K);
    return a;
}

/* What all logits say. */
static answer know(const world *w, ferry_context *context, const ferry_matrix *matrix)
{
    float *logits = new_memory((size_t)w->N * sizeof *logits);
    CHECK(ferry_linear(context, logits, &(ferry_rows){w->x, 1, NULL}, matrix, &error));
    answer a = {.told = true, .column = -1, .logit = -INFINITY};
    for (int32_t n = 0; n < w->N; n++) {
        if (w->masked[n] || !(logits[n] > a.logit)) continue;
        a.column = n;
        a.logit = logits[n];
    }
    return a;
}

static answer know_in_plain(const world *w, const ferry_matrix *matrix)
{
    ferry_context context = {.kernels = ferry_kernels_find("plain")};
    const answer a = know(w, &context, matrix);
    ferry_arena_destroy(&context.arena);
    return a;
}

static bool is_faster(const ferry_kernels *kernels, const ferry_matrix *matrix)
{
    return matrix->kind == FERRY_MATRIX_FLOATS || (kernels->nibbles_rows > 0 && matrix->K % 8 == 0);
}

/* Whether the bounds of a matrix of the world could tell, on all ISAs that have one; if so they told the truth. What
 * is stored of the coarse matrix makes no difference. Adds to *panels what was computed exactly on the last ISA. */
static bool check_panels(world *w, const ferry_matrix *matrix, int64_t *panels)
{
    const ferry_coarse none = {.error = 0};
    const ferry_coarse *stored[] = {&none, &w->stored};
    bool told = true;
    int32_t round = 0;
    int64_t last = 0;
    pack(w);
    EACH_ISA(k)
    {
        if (!is_faster(*k, matrix)) continue;
        ferry_logit_bound logit_bound;
        ferry_context context = {.kernels = *k};
        CHECK(ferry_logit_bound_create(matrix, stored[round % 2], &context, &logit_bound, &error));
        if (matrix->kind == FERRY_MATRIX_PLANES)
            assert_true(logit_bound.memory == NULL && logit_bound.coarse.matrix.nibbles == w->upper);
        else
            assert_true((logit_bound.coarse.matrix.weights != w->stored.matrix.weights) == (round % 2 == 0));
        round++;
        const answer said = ask(w, &context, &logit_bound), true_one = know(w, &context, matrix);
        told = told && said.told;
        if (said.told) {
            assert_int_equal(said.column, true_one.column);
            assert_memory_equal(&said.logit, &true_one.logit, sizeof said.logit);
        }
        last = said.panels;
        ferry_logit_bound_destroy(&logit_bound);
        ferry_arena_destroy(&context.arena);
    }
    *panels += last;
    return told;
}

static bool check(world *w, const ferry_matrix *matrix)
{
    int64_t panels = 0;
    return check_panels(w, matrix, &panels);
}

RANDOM_TEST(test_ordinary_numbers)
{
    static const int32_t widths[] = {1, 3, 16, 63, 64, 130, 256, 264, 296};
    int64_t all = 0, floats = 0, all_int8 = 0, int8 = 0;
    for (int32_t i = 0; i < 120; i++) {
        world *w = new_world(1 + (int32_t)(fabsf(random_between(-1, 1)) * (MAX_N - 1)), widths[i % 9], i % 2 == 0);
        const float size = powf(10, (float)(i % 7 - 3));
        int64_t unused = 0;
        const bool crowded = w->K < 63; /* a vocabulary in few dimensions */
        for (int32_t k = 0; k < w->K; k++) w->x[k] *= size;
        if (i % 5 == 4)
            for (int32_t n = 0; n < w->N; n++) w->masked[n] = random_between(-1, 1) > 0;
        assert_true(check_panels(w, &w->floats, crowded ? &unused : &floats));
        assert_true(check_panels(w, &w->int8, crowded ? &unused : &int8));
        if (!crowded) all += (w->N + FERRY_LANES - 1) / FERRY_LANES;
        if (!crowded && w->K % 8 == 0) all_int8 += (w->N + FERRY_LANES - 1) / FERRY_LANES;
        release_memory();
    }
    assert_true(floats * 20 < all);
    assert_true(int8 * 2 < all_int8); /* of random columns, many are near the best */
}

/* Whatever its scale, a row of zeros has a bound that is exact, and need not be computed. */
RANDOM_TEST(test_zeros)
{
    world *w = new_world(300, 128, true);
    int64_t panels = 0;
    for (int32_t k = 0; k < w->K; k++) w->weight[7 * w->K + k] = w->x[k];
    for (int32_t n = 20; n < w->N; n += 20)
        memset(w->weight + (size_t)n * (size_t)w->K, 0, (size_t)w->K * sizeof *w->weight);
    assert_true(check_panels(w, &w->int8, &panels) && panels <= 1);
    release_memory();
}

/* Equal rows have equal logits: the lowest id wins. And twins that differ in their last bits. */
RANDOM_TEST(test_equals)
{
    for (int32_t i = 0; i < 20; i++) {
        world *w = new_world(500, 128, true);
        const size_t K = (size_t)w->K;
        const int32_t first = 17 * i, second = first + 1 + i;
        for (size_t k = 0; k < K; k++) w->weight[(size_t)second * K + k] = 0.2f * w->x[k];
        memcpy(w->weight + (size_t)first * K, w->weight + (size_t)second * K, K * sizeof *w->weight);
        w->bias[first] = w->bias[second] = 0.25f;
        assert_true(check(w, &w->floats) && check(w, &w->int8));
        assert_int_equal(know_in_plain(w, &w->floats).column, first);
        assert_int_equal(know_in_plain(w, &w->int8).column, first);
        w->weight[(size_t)(i % 2 == 0 ? first : second) * K + 5] *= 1 + 0x1p-22f;
        assert_true(check(w, &w->floats));
        release_memory();
    }
}

/* Equal logits whose coarse ones are not equal: the higher id is met first. */
RANDOM_TEST(test_equals_out_of_order)
{
    world *w = new_world(64, 64, false);
    memset(w->weight, 0, 64 * 64 * sizeof *w->weight);
    for (int32_t k = 0; k < 64; k++) w->x[k] = 1;
    for (int32_t k = 0; k < 64; k++) {
        w->weight[9 * 64 + k] = 0.75f;
        w->weight[20 * 64 + k] = k % 2 == 0 ? 1.0f : 0.5f; /* 63.5 steps, which become 64 */
    }
    assert_true(check(w, &w->floats));
    assert_int_equal(know_in_plain(w, &w->floats).column, 9);
    release_memory();
}

/* Columns of two panels; others are zeros. */
enum { BEST, SECOND = FERRY_LANES, MISLEADING_N = 2 * FERRY_LANES };

/* The best column's coarse logit is too small by nearly as much as the bound allows, and the second's, which is met
 * first, is exact: one that is smaller takes the second for the best. */
static void check_misleading(world *w, const ferry_matrix *matrix, float weight_unit, float input_unit)
{
    for (int32_t k = 0; k < w->K; k++) {
        w->x[k] *= input_unit;
        w->weight[BEST * w->K + k] *= weight_unit;
    }
    for (int32_t n = 0; n < w->N; n++) w->bias[n] = n == BEST ? 0 : -1e9f;
    pack(w);
    const answer best = know_in_plain(w, matrix);
    const float unit = weight_unit * input_unit;
    for (int32_t n = 0; n < w->N; n++)
        if (n != BEST) w->bias[n] = best.logit - unit * (n == SECOND ? 0.01f : 100);
    assert_int_equal(know_in_plain(w, matrix).column, BEST);
    assert_true(check(w, matrix));
}

static world *new_misleading_world(void)
{
    world *w = new_world(MISLEADING_N, 256, true);
    memset(w->weight, 0, (size_t)w->N * (size_t)w->K * sizeof *w->weight);
    return w;
}

enum { UNITS = 4 };
static const struct {
    float weight, input;
} units[UNITS] = {{1, 1}, {0x1p-90f, 0x1p+60f}, {0x1p+60f, 0x1p-50f}, {0x1p-20f, 0x1p-20f}};

/* The best column's weights are 0.45 steps above their codes, the second's as much below: their coarse logits are
 * farther apart than one bound, in the wrong order. */
RANDOM_TEST(test_coarse_weights_in_both_directions)
{
    for (size_t u = 0; u < UNITS; u++) {
        world *w = new_misleading_world();
        const float unit = units[u].weight * units[u].input;
        for (int32_t k = 0; k < w->K; k++) {
            w->x[k] = (k % 2 == 0 ? 1.0f : -1.0f) * units[u].input;
            const float sign = k % 2 == 0 ? units[u].weight : -units[u].weight;
            w->weight[BEST * w->K + k] = k == 0 ? sign : 2.45f / 127 * sign;
            w->weight[SECOND * w->K + k] = k == 0 ? sign : 2.55f / 127 * sign;
        }
        for (int32_t n = 0; n < w->N; n++) w->bias[n] = -100 * unit;
        w->bias[BEST] = 0.11f / 127 * (float)w->K * unit;
        w->bias[SECOND] = 0;
        assert_true(check(w, &w->floats));
        assert_int_equal(know_in_plain(w, &w->floats).column, BEST);
        release_memory();
    }
}

/* WEIGHTS: inputs are exact in int8, each weight of the best column is 0.45 steps above its code. INPUTS: weights are
 * exact, all inputs but one are 0.45 steps from 0. NIBBLES: the best column's codes are 15 and -16, for which nibbles
 * say 7.5 and -8.5, with inputs of their signs: the errors are parallel to the inputs. A small column has a bound of
 * its own.
 */
RANDOM_TEST(test_coarse_numbers)
{
    enum { WEIGHTS, INPUTS, NIBBLES, KINDS };
    for (size_t i = 0; i < UNITS * KINDS; i++) {
        const size_t kind = i % KINDS;
        world *w = new_misleading_world();
        for (int32_t k = 0; k < w->K; k++) {
            const float sign = k % 2 == 0 ? 1.0f : -1.0f, codes = k == 0 ? 127.0f : k % 2 == 0 ? 15.0f : -16.0f;
            const float step = 1.0f / 127; /* of weights, or of inputs */
            float *best = &w->weight[BEST * w->K + k];
            w->x[k] = kind == INPUTS && k > 0 ? 0.45f * step * sign : sign;
            *best = kind == NIBBLES ? codes / 127 : kind == WEIGHTS && k > 0 ? 40.45f * step * sign : sign;
        }
        check_misleading(w, kind == NIBBLES ? &w->int8 : &w->floats, units[i / KINDS].weight, units[i / KINDS].input);
        release_memory();
    }
}

/* Whether an ISA has bounds of int8. */
static bool has_nibbles(void)
{
    EACH_ISA(k)
    {
        if ((*k)->nibbles_rows > 0) return true;
    }
    return false;
}

/* No numbers, infinite ones, nothing allowed, zeros, the largest and the smallest numbers, sums that vanish. */
RANDOM_TEST(test_extremes)
{
    static const float extremes[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e-44f, 1e30f, 0};
    for (int32_t i = 0; i < 7; i++) {
        for (int32_t place = 0; place < 4; place++) {
            world *w = new_world(200, 64, place < 3);
            if (place == 0) w->x[11] = extremes[i];
            if (place == 1) w->weight[77 * w->K + 3] = extremes[i];
            if (place == 2) w->bias[77] = extremes[i];
            for (int32_t k = 0; place == 3 && k < w->K; k++) w->x[k] = extremes[i] * random_between(-1, 1);
            const bool told = check(w, &w->floats);
            if (place < 3 && i < 3) assert_false(told);
            if (place != 1) check(w, &w->int8); /* no number has no code */
            if (place == 0 && i < 3 && has_nibbles()) assert_false(check(w, &w->int8));
            release_memory();
        }
    }
    static const float sizes[][2] = {
        {1e-25f, 1e18f}, {1e-30f, 1e-19f}, {1e-38f, 1e-5f}, {1e-44f, 1e4f}, {1e15f, 1e-30f}};
    for (int32_t i = 0; i < 5; i++) {
        world *w = new_world(200, 64, false);
        for (int32_t k = 0; k < w->N * w->K; k++) w->weight[k] *= sizes[i][0];
        for (int32_t k = 0; k < w->K; k++) w->x[k] *= sizes[i][1];
        check(w, &w->floats);
        check(w, &w->int8);
        release_memory();
    }
    world *w = new_world(200, 64, true);
    for (int32_t n = 0; n < w->N; n++) w->masked[n] = true;
    assert_true(check(w, &w->floats) && check(w, &w->int8)); /* that there is nothing */
    for (int32_t n = 20; n < 30; n++) w->masked[n] = false;
    assert_true(check(w, &w->floats) && check(w, &w->int8));
    release_memory();
}

/* A bound whose memory is refused is none: nothing of it is left to be used or given back. */
RANDOM_TEST(test_refused_memory)
{
    world *w = new_world(200, 64, true);
    pack(w);
    ferry_memory memory = {.limit = ferry_int8_size(w->N, w->K)}; /* without the scales */
    ferry_account account = {.memory = &memory};
    ferry_context context = {.kernels = ferry_kernels_find("plain"), .arena = {.account = &account}};
    const ferry_coarse none = {.error = 0};
    ferry_logit_bound logit_bound;
    memset(&logit_bound, 1, sizeof logit_bound);
    REFUSE(ferry_logit_bound_create(&w->floats, &none, &context, &logit_bound, &error), FERRY_ERROR_LIMIT,
           "memory_limit");
    assert_true(account.refused > memory.limit);
    assert_null(logit_bound.exact);
    assert_null(logit_bound.coarse.matrix.int8);
    ferry_logit_bound_destroy(&logit_bound);
    assert_int_equal(memory.held, 0);
    memory.limit *= 2;
    CHECK(ferry_logit_bound_create(&w->floats, &none, &context, &logit_bound, &error));
    assert_true(memory.held > 0);
    ferry_logit_bound_destroy(&logit_bound);
    assert_int_equal(memory.held, 0);
    release_memory();
}
