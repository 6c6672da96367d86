/* What the literature says of each positional encoding, and what holds for all: the scores that beam search adds up are
 * those of its ids computed from scratch, other sentences in the batch change nothing, and length has no limit. */
#include "tests/support/random.h"
#include "tests/support/support.h"

#include "engine/position/position.h"

/* ---- schemes without a model ---- */

/* A text, or a number. */
typedef struct fake_parameter {
    const char *key; /* NULL ends a list */
    const char *text;
    double number;
} fake_parameter;

typedef struct fake_weights {
    const char *name; /* NULL ends a list */
    const float *data;
} fake_weights;

/* A source of parameters, and of one tensor or, for every layer, of those in a list. */
typedef struct fake_file {
    const fake_parameter *parameters;
    const float *tensor;
    const fake_weights *weights;
} fake_file;

static const fake_parameter *find_parameter(const fake_file *file, const char *key)
{
    const fake_parameter *parameter = file->parameters;
    while (parameter->key != NULL && strcmp(parameter->key, key) != 0) parameter++;
    return parameter->key != NULL ? parameter : NULL;
}

static bool fake_text(void *user, const char *key, ferry_view *value)
{
    const fake_parameter *parameter = find_parameter(user, key);
    if (parameter == NULL || parameter->text == NULL) return false;
    *value = (ferry_view){parameter->text, strlen(parameter->text)};
    return true;
}

static bool fake_real(void *user, const char *key, double *value)
{
    const fake_parameter *parameter = find_parameter(user, key);
    if (parameter == NULL || parameter->text != NULL) return false;
    *value = parameter->number;
    return true;
}

static bool fake_integer(void *user, const char *key, int64_t *value)
{
    double number;
    if (!fake_real(user, key, &number)) return false;
    *value = (int64_t)number;
    return true;
}

static bool fake_present(void *user, const char *key)
{
    return find_parameter(user, key) != NULL;
}

static ferry_status fake_tensor(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                                const int64_t *shape, const float **data, ferry_error *error)
{
    (void)layer, (void)dims, (void)shape, (void)error;
    const fake_file *file = user;
    const fake_weights *weights = file->weights;
    *data = file->tensor;
    for (; weights != NULL && weights->name != NULL; weights++)
        if (strcmp(weights->name, declared->name) == 0) *data = weights->data;
    return FERRY_OK;
}

static ferry_status try_bind_file(const char *name, const ferry_position_stack *stack, fake_file file,
                                  ferry_position *position, ferry_error *error)
{
    const ferry_position_source source = {&file, fake_text, fake_integer, fake_real, fake_present, fake_tensor};
    return ferry_position_bind((ferry_view){name, strlen(name)}, stack, &source, ferry_kernels_find(NULL), position,
                               error);
}

static ferry_status try_bind(const char *name, const ferry_position_stack *stack, const fake_parameter *parameters,
                             const float *tensor, ferry_position *position, ferry_error *error)
{
    return try_bind_file(name, stack, (fake_file){.parameters = parameters, .tensor = tensor}, position, error);
}

static ferry_position bind(const char *name, const ferry_position_stack *stack, const fake_parameter *parameters,
                           const float *tensor)
{
    ferry_position position;
    CHECK(try_bind(name, stack, parameters, tensor, &position, &error));
    return position;
}

static void extend(const ferry_position *position, ferry_position_state *state, int32_t count)
{
    CHECK(ferry_position_extend(position, state, ferry_kernels_find(NULL), count, &error));
}

/* What the score hook adds for one query at `at` and every key, for schemes that do not use q and k. */
static void bias_by_key(const ferry_position *position, int32_t head, int32_t at, int32_t keys, float *scores)
{
    ferry_position_state state = {0};
    extend(position, &state, keys);
    const ferry_position_tile tile = {.head = head,
                                      .first = at,
                                      .queries = 1,
                                      .keys = keys,
                                      .scores = scores,
                                      .ld_scores = (size_t)keys,
                                      .state = &state,
                                      .kernels = ferry_kernels_find(NULL)};
    memset(scores, 0, (size_t)keys * sizeof *scores);
    position->scheme->score(position, &tile);
    ferry_position_state_destroy(&state);
}

/* ---- declarations ---- */

/* The declared values pass the declared checks, and nothing is longer than its array. */
TEST(test_declarations_are_consistent)
{
    const ferry_position_stack stack = {.layers = 2, .d_model = 16, .heads = 4, .head_width = 4};
    const float zeros[1024 * 16] = {0}; /* as many numbers as the largest tensor */
    fake_file file = {.tensor = zeros};
    const ferry_position_source source = {.user = &file, .tensor = fake_tensor};
    const ferry_position_scheme *scheme;
    for (size_t i = 0; (scheme = ferry_position_at(i)) != NULL; i++) {
        const ferry_position_parameter *parameter = scheme->parameters;
        const ferry_position_tensor *tensor = scheme->tensors;
        ferry_position position;
        while (parameter != NULL && parameter->key != NULL) {
            assert_true((parameter->kind == FERRY_POSITION_CHOICE) == (parameter->choices[0] != NULL));
            assert_true((parameter->kind == FERRY_POSITION_CHOICE) == (parameter->least == NULL));
            assert_true(parameter->usual != NULL || parameter->missing != NULL);
            parameter++;
        }
        while (tensor != NULL && tensor->name != NULL) {
            assert_true(tensor->usual_least <= tensor->usual_most);
            assert_true(tensor->numbers != FERRY_POSITION_NOT_NEGATIVE || tensor->usual_most > 0);
            tensor++;
        }
        if (parameter != NULL) assert_in_range(parameter - scheme->parameters, 1, FERRY_POSITION_MAX_PARAMETERS);
        if (tensor != NULL) assert_in_range(tensor - scheme->tensors, 1, FERRY_POSITION_MAX_TENSORS);
        CHECK(ferry_position_bind(ferry_text_view(scheme->name), &stack, &source, ferry_kernels_find(NULL), &position,
                                  &error));
        ferry_position_unbind(&position);
    }
}

/* The message names the parameter and what was expected, whatever was wrong. */
TEST(test_bad_parameters_are_refused)
{
    static const struct {
        const char *scheme;
        fake_parameter parameters[4];
        const char *message;
    } rows[] = {
        {"sinusoidal", {{.key = "layout", .text = "woven"}}, "position.layout: expected 'interleaved' or 'split'"},
        {"sinusoidal",
         {{.key = "layout", .text = "split"}, {.key = "exponent_divisor", .number = 1}},
         "position.exponent_divisor: expected 'half' or 'half_minus_one'"},
        {"sinusoidal",
         {{.key = "layout", .text = "split"},
          {.key = "exponent_divisor", .text = "half"},
          {.key = "first", .number = 65537}},
         "position.first: expected a number from 0 to 65536"},
        {"learned",
         {{.key = "max_positions"}},
         "position.max_positions: expected a number of positions from 1 to 2147"},
        {"shaw", {{.key = "clip", .number = 65537}}, "position.clip: expected a distance from 1 to 65536"},
        {"t5", {{.key = "num_buckets", .text = "8"}}, "position.num_buckets: expected a number from 4 to 65536"},
        {"t5",
         {{.key = "num_buckets", .number = 10}, {.key = "max_distance", .number = 2}},
         "position.max_distance: expected a number from 3 to 16384"},
        {"deberta", {{.key = "clip", .number = 1}}, "position.p2c: expected 'paper' or 'released'"},
        {"rope", {{.key = "theta", .number = 1}}, "position.theta: expected a real number above 1, up to 1e12"},
        {"rope",
         {{.key = "theta", .number = 2}, {.key = "layout", .text = "half"}, {.key = "dims", .text = "4"}},
         "position.dims: expected an even number from 2 to the head width, 4"},
        {"alibi", {{0}}, "position.slopes: expected 'formula' or 'given'"},
        {"fire", {{0}}, "position.width: expected a width from 1 to 65536"},
        {"fire", {{.key = "width", .number = 0}}, "position.width: expected a width from 1 to 65536"},
        {"fire", {{.key = "width", .number = 65537}}, "position.width: expected a width from 1 to 65536"},
    };
    const ferry_position_stack stack = {.layers = 1, .d_model = 8, .heads = 2, .head_width = 4};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ferry_position position;
        ferry_error error;
        assert_int_equal(try_bind(rows[i].scheme, &stack, rows[i].parameters, NULL, &position, &error),
                         FERRY_ERROR_FORMAT);
        if (strstr(error.message, rows[i].message) != error.message) fail_msg("found '%s'", error.message);
    }
}

/* ---- sinusoidal ---- */

static void check_sinusoids(const char *layout, const char *divisor)
{
    enum { D = 16, COUNT = 400 };
    const fake_parameter parameters[] = {
        {.key = "layout", .text = layout}, {.key = "exponent_divisor", .text = divisor}, {.key = "first"}, {0}};
    const ferry_position_stack stack = {.layers = 1, .d_model = D, .heads = 2, .head_width = 8};
    ferry_position position = bind("sinusoidal", &stack, parameters, NULL);
    ferry_position_state state = {0};
    extend(&position, &state, COUNT);
    const bool interleaved = strcmp(layout, "interleaved") == 0;
    for (int k = 0; k < D / 2; k++) {
        const int sine = interleaved ? 2 * k : k, cosine = interleaved ? sine + 1 : sine + D / 2;
        const double frequency = pow(10000, -(double)k / (strcmp(divisor, "half") == 0 ? D / 2 : D / 2 - 1));
        for (int shift = 1; shift < 200; shift += 33) {
            const double c = cos(shift * frequency), s = sin(shift * frequency);
            for (int p = 0; p < 200; p++) {
                const float *from = state.rows + p * D, *to = state.rows + (p + shift) * D;
                assert_true(fabsf(from[sine]) <= 1 && fabsf(from[cosine]) <= 1);
                assert_true(fabs((double)to[sine] - (double)from[sine] * c - (double)from[cosine] * s) < 1e-6);
                assert_true(fabs((double)to[cosine] - (double)from[cosine] * c + (double)from[sine] * s) < 1e-6);
            }
        }
    }
    for (int p = 0; p < COUNT; p++)
        for (int q = 0; q < p; q++)
            assert_memory_not_equal(state.rows + p * D, state.rows + q * D, D * sizeof *state.rows);
    ferry_position_state_destroy(&state);
    ferry_position_unbind(&position);
}

/* Vaswani et al. 2017, section 3.5: for every pair of columns, PE[p + shift] is PE[p] rotated by shift's angle. */
TEST(test_a_shift_rotates_sinusoids)
{
    check_sinusoids("interleaved", "half");
    check_sinusoids("split", "half");
    check_sinusoids("split", "half_minus_one");
}

/* ---- rope ---- */

static ferry_position bind_rope(const char *layout, int32_t K, int32_t dims)
{
    const fake_parameter parameters[] = {{.key = "layout", .text = layout},
                                         {.key = "theta", .number = 10000},
                                         {.key = dims > 0 ? "dims" : "ignored", .number = dims},
                                         {0}};
    const ferry_position_stack stack = {.layers = 1, .d_model = 2 * K, .heads = 2, .head_width = K};
    return bind("rope", &stack, parameters, NULL);
}

TEST(test_rotations_of_worked_vectors)
{
    static const char *const layouts[] = {"half", "interleaved"};
    /* (1, 3) and (2, 4), or (1, 2) and (3, 4), by 1 and by 0.01. */
    static const float expected[2][4] = {{-1.984111f, 1.959901f, 2.462378f, 4.019800f},
                                         {-1.142640f, 1.922076f, 2.959851f, 4.029800f}};
    for (int i = 0; i < 2; i++) {
        ferry_position position = bind_rope(layouts[i], 4, 0);
        ferry_position_state rows = {0};
        extend(&position, &rows, 2);
        float x[] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}; /* positions 0 and 1, two heads */
        const float still[] = {1, 2, 3, 4, 1, 2, 3, 4};
        position.scheme->rotate(&position, &rows, x, 0, 2);
        assert_memory_equal(x, still, sizeof still);
        assert_true(largest_difference(x + 8, expected[i], 4) < 2e-6);
        assert_memory_equal(x + 8, x + 12, 4 * sizeof *x);
        ferry_position_state_destroy(&rows);
        ferry_position_unbind(&position);
    }
}

static double product_at(const ferry_position *position, const ferry_position_state *rows, int32_t i, int32_t j)
{
    enum { K = 8 };
    float q[2 * K], k[2 * K];
    double sum = 0;
    for (int n = 0; n < 2 * K; n++) {
        q[n] = sinf((float)n + 1);
        k[n] = cosf(3 * (float)n);
    }
    position->scheme->rotate(position, rows, q, i, 1);
    position->scheme->rotate(position, rows, k, j, 1);
    for (int n = 0; n < K; n++) sum += (double)q[n] * (double)k[n];
    return sum;
}

TEST(test_rotated_products_depend_on_distance_alone)
{
    static const char *const layouts[] = {"half", "interleaved"};
    static const int32_t dims[] = {0, 4};
    for (int row = 0; row < 4; row++) {
        ferry_position position = bind_rope(layouts[row / 2], 8, dims[row % 2]);
        ferry_position_state rows = {0};
        extend(&position, &rows, 1000);
        for (int32_t distance = 0; distance < 300; distance += 7) {
            const double right = product_at(&position, &rows, 0, distance);
            const double left = product_at(&position, &rows, distance, 0);
            for (int32_t at = 1; at < 700; at += 31) {
                assert_true(fabs(product_at(&position, &rows, at, at + distance) - right) < 2e-6);
                assert_true(fabs(product_at(&position, &rows, at + distance, at) - left) < 2e-6);
            }
        }
        assert_true(fabs(product_at(&position, &rows, 5, 0) - product_at(&position, &rows, 4, 0)) > 1e-3);
        ferry_position_state_destroy(&rows);
        ferry_position_unbind(&position);
    }
}

TEST(test_partial_rotation_leaves_the_rest)
{
    ferry_position position = bind_rope("half", 8, 4), broken;
    ferry_position_state rows = {0};
    float x[16], before[16];
    extend(&position, &rows, 10);
    for (int n = 0; n < 16; n++) x[n] = before[n] = (float)n + 1;
    position.scheme->rotate(&position, &rows, x, 9, 1);
    for (int head = 0; head < 16; head += 8) {
        for (int n = 0; n < 4; n++) assert_true(x[head + n] != before[head + n]);
        assert_memory_equal(x + head + 4, before + head + 4, 4 * sizeof *x);
    }
    ferry_position_state_destroy(&rows);
    ferry_position_unbind(&position);

    static const double wrong[] = {0, 3, 10};
    for (int i = 0; i < 3; i++) {
        const fake_parameter parameters[] = {{.key = "layout", .text = "half"},
                                             {.key = "theta", .number = 10000},
                                             {.key = "dims", .number = wrong[i]},
                                             {0}};
        const ferry_position_stack stack = {.layers = 1, .d_model = 8, .heads = 1, .head_width = 8};
        REFUSE(try_bind("rope", &stack, parameters, NULL, &broken, &error), FERRY_ERROR_FORMAT, "position.dims");
    }
}

/* Rows are extended, not rebuilt, and are the same either way. */
TEST(test_rows_grow)
{
    ferry_position position = bind_rope("half", 8, 0);
    ferry_position_state grown = {0}, whole = {0};
    for (int32_t count = 1; count <= 700; count++) extend(&position, &grown, count);
    extend(&position, &whole, 700);
    assert_memory_equal(grown.rows, whole.rows, 700 * 8 * sizeof *grown.rows);
    const float *before = grown.rows;
    extend(&position, &grown, grown.count);
    assert_ptr_equal(grown.rows, before);
    ferry_position_state_destroy(&grown);
    ferry_position_state_destroy(&whole);
    ferry_position_unbind(&position);
}

/* ---- t5 ---- */

/* The bucket of a distance by the first distance of each: those of 32 buckets and max_distance 128. */
static int32_t bucket_by_table(int32_t distance, bool causal)
{
    static const int32_t encoder[] = {8, 12, 16, 23, 32, 46, 64, 91};
    static const int32_t decoder[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
    const int32_t *first = causal ? decoder : encoder;
    const int32_t exact = causal ? 16 : 8, base = !causal && distance > 0 ? 16 : 0, far = abs(distance);
    if (far < exact) return base + far;
    int32_t bucket = 0;
    while (bucket + 1 < exact && far >= first[bucket + 1]) bucket++;
    return base + exact + bucket;
}

TEST(test_buckets_of_distances)
{
    enum { H = 3, AT = 200 };
    static const fake_parameter parameters[] = {{.key = "num_buckets", .number = 32},
                                                {.key = "max_distance", .number = 128},
                                                {0}};
    float table[32 * H], scores[2 * AT + 1];
    for (int bucket = 0; bucket < 32; bucket++)
        for (int h = 0; h < H; h++) table[bucket * H + h] = (float)(bucket + 100 * h);
    for (int causal = 0; causal < 2; causal++) {
        const ferry_position_stack stack = {.layers = 1, .d_model = 6, .heads = H, .head_width = 2, .causal = causal};
        ferry_position position = bind("t5", &stack, parameters, table);
        for (int h = 0; h < H; h++) {
            const int32_t keys = causal ? AT + 1 : 2 * AT + 1;
            bias_by_key(&position, h, AT, keys, scores);
            for (int32_t j = 0; j < keys; j++)
                assert_int_equal((int)scores[j], bucket_by_table(j - AT, causal) + 100 * h);
        }
        ferry_position_unbind(&position);
    }
}

/* The formula without logarithms: with e exact distances and N = n - e buckets after them, distance d < m is in bucket
 * e + t for the largest t with m^t·e^(N - t) ≤ d^N. */
static int32_t bucket_by_powers(int32_t d, int32_t n, int32_t m)
{
    const int32_t e = n / 2, N = n - e;
    if (d < e) return d;
    if (d >= m) return n - 1;
    for (int32_t t = N - 1; t > 0; t--) {
        uint64_t left = 1, right = 1;
        for (int32_t i = 0; i < N; i++) {
            left *= (uint64_t)(i < t ? m : e);
            right *= (uint64_t)d;
        }
        if (left <= right) return e + t;
    }
    return e;
}

TEST(test_buckets_of_other_sizes)
{
    enum { AT = 150 };
    float table[32], scores[2 * AT + 1];
    for (int bucket = 0; bucket < 32; bucket++) table[bucket] = (float)bucket;
    for (int32_t n = 4; n <= 16; n++)
        for (int32_t m = n / 2 + 1; m < 130; m++)
            for (int causal = 0; causal < 2; causal++) {
                const fake_parameter parameters[] = {{.key = "num_buckets", .number = causal ? n : 2 * n},
                                                     {.key = "max_distance", .number = m},
                                                     {0}};
                const ferry_position_stack stack = {
                    .layers = 1, .d_model = 2, .heads = 1, .head_width = 2, .causal = causal};
                ferry_position position = bind("t5", &stack, parameters, table);
                const int32_t keys = causal ? AT + 1 : 2 * AT + 1;
                bias_by_key(&position, 0, AT, keys, scores);
                for (int32_t j = 0; j < keys; j++)
                    assert_int_equal((int)scores[j], bucket_by_powers(abs(AT - j), n, m) + (j > AT ? n : 0));
                ferry_position_unbind(&position);
            }
}

TEST(test_bad_buckets_are_refused)
{
    static const struct {
        double buckets, distance;
        const char *message;
    } rows[] = {{3, 128, "position.num_buckets"},
                {32, 16, "position.max_distance"},
                {32, 1e6, "expected a number from"}};
    const ferry_position_stack stack = {.layers = 1, .d_model = 2, .heads = 1, .head_width = 2, .causal = true};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const fake_parameter parameters[] = {{.key = "num_buckets", .number = rows[i].buckets},
                                             {.key = "max_distance", .number = rows[i].distance},
                                             {0}};
        ferry_position position;
        REFUSE(try_bind("t5", &stack, parameters, NULL, &position, &error), FERRY_ERROR_FORMAT, rows[i].message);
    }
}

/* ---- alibi ---- */

/* The function that the paper's authors published: a geometric sequence, or two of them woven. */
static double paper_slope(int32_t heads, int32_t h)
{
    int32_t power = 1;
    while (2 * power <= heads) power *= 2;
    if (power < heads && h >= power) return paper_slope(2 * power, 2 * (h - power));
    double slope = 1;
    for (int32_t i = 0; i <= h; i++) slope *= pow(2, -pow(2, 3 - log2(power)));
    return slope;
}

TEST(test_slopes_of_heads)
{
    static const fake_parameter formula[] = {{.key = "slopes", .text = "formula"}, {0}};
    static const fake_parameter given[] = {{.key = "slopes", .text = "given"}, {0}};
    float scores[101];
    for (int32_t H = 1; H <= 20; H++) {
        const ferry_position_stack stack = {.layers = 1, .d_model = H, .heads = H, .head_width = 1};
        ferry_position position = bind("alibi", &stack, formula, NULL);
        for (int32_t h = 0; h < H; h++) {
            bias_by_key(&position, h, 50, 101, scores);
            for (int32_t j = 0; j <= 100; j++)
                assert_true(fabs((double)scores[j] + paper_slope(H, h) * abs(j - 50)) < 1e-5);
        }
        ferry_position_unbind(&position);
    }
    const ferry_position_stack stack = {.layers = 1, .d_model = 2, .heads = 2, .head_width = 1};
    const float slopes[] = {0.5f, 3};
    ferry_position position = bind("alibi", &stack, given, slopes);
    bias_by_key(&position, 1, 2, 4, scores);
    const float expected[] = {-6, -3, 0, -3};
    assert_memory_equal(scores, expected, sizeof expected);
    ferry_position_unbind(&position);
}

/* ---- kerple ---- */

static ferry_position bind_weights(const char *name, const ferry_position_stack *stack, int32_t width,
                                   const fake_weights *weights)
{
    const fake_parameter parameters[] = {{.key = "width", .number = width}, {0}};
    ferry_position position;
    CHECK(try_bind_file(name, stack, (fake_file){.parameters = parameters, .weights = weights}, &position, &error));
    return position;
}

/* p·ln(1 + a·d) for p = 0.5, a = 2: ln 3/2, ln 5/2, ln 7/2, ln 9/2; for p = 2, a = 1: 2·ln 2, 2·ln 3, 2·ln 4, 2·ln 5.
 */
TEST(test_a_worked_logarithm)
{
    static const float p[] = {0.5f, 2}, a[] = {2, 1};
    static const double expected[2][5] = {{0, 0.549306, 0.804719, 0.972955, 1.098612},
                                          {0, 1.386294, 2.197225, 2.772589, 3.218876}};
    const fake_weights weights[] = {{"kerple_p", p}, {"kerple_a", a}, {0}};
    const ferry_position_stack stack = {.layers = 1, .d_model = 2, .heads = 2, .head_width = 1};
    ferry_position position = bind_weights("kerple", &stack, 0, weights);
    float scores[5];
    for (int32_t head = 0; head < 2; head++)
        for (int32_t at = 0; at < 5; at++) {
            bias_by_key(&position, head, at, 5, scores);
            for (int32_t j = 0; j < 5; j++) assert_true(fabs((double)scores[j] + expected[head][abs(at - j)]) < 1e-6);
        }
    ferry_position_unbind(&position);
}

/* Far apart, with a tile's queries at any place among the groups of 16 distances, in both stacks. */
TEST(test_logarithms_of_all_distances)
{
    enum { KEYS = 200, FIRST = 37, QUERIES = 64 };
    static float scores[QUERIES * KEYS];
    static const float p[] = {0.25f, 1.5f}, a[] = {3, 0.01f};
    const fake_weights weights[] = {{"kerple_p", p}, {"kerple_a", a}, {0}};
    for (int causal = 0; causal < 2; causal++) {
        const ferry_position_stack stack = {
            .layers = 3, .d_model = 2, .heads = 2, .head_width = 1, .causal = causal == 1};
        ferry_position position = bind_weights("kerple", &stack, 0, weights);
        ferry_position_state rows = {0};
        extend(&position, &rows, KEYS);
        const ferry_position_tile tile = {.layer = 2,
                                          .head = 1,
                                          .first = FIRST,
                                          .queries = QUERIES,
                                          .keys = KEYS,
                                          .scores = scores,
                                          .ld_scores = KEYS,
                                          .state = &rows};
        memset(scores, 0, sizeof scores);
        position.scheme->score(&position, &tile);
        for (int32_t i = 0; i < QUERIES; i++)
            for (int32_t j = 0; j < KEYS; j++) {
                const int32_t at = FIRST + i;
                const double expected = causal && j > at ? 0 : 1.5 * log(1 + (double)a[1] * abs(at - j));
                assert_true(fabs((double)scores[i * KEYS + j] + expected) < 1e-6);
            }
        ferry_position_state_destroy(&rows);
        ferry_position_unbind(&position);
    }
}

/* ---- fire ---- */

typedef struct fire_weights {
    float c, threshold;
    const float *w1, *b1, *w2, *b2;
} fire_weights;

static ferry_position bind_fire(const ferry_position_stack *stack, int32_t width, const fire_weights *w)
{
    const fake_weights weights[] = {{"fire_c", &w->c},
                                    {"fire_threshold", &w->threshold},
                                    {"fire_w1", w->w1},
                                    {"fire_b1", w->b1},
                                    {"fire_w2", w->w2},
                                    {"fire_b2", w->b2},
                                    {0}};
    return bind_weights("fire", stack, width, weights);
}

/* c = 1 and L = 3, so that the divisor is ln 4 up to position 3 and ln 8 at 7: the ratios of distances 1, 3 and 7 are
 * 0.5 and 1 before L, 1/3, 2/3 and 1 at 7. f(x) = 1 + 2·max(0, x - 0.5) + 6·max(0, 0.5 - x). The encoder divides by the
 * larger position. */
TEST(test_a_worked_interpolation)
{
    static const float w1[] = {1, -1}, b1[] = {-0.5f, 0.5f}, w2[] = {2, 6}, b2[] = {1};
    static const struct {
        int32_t i, j;
        double bias;
    } rows[] = {{0, 0, 4},       {1, 0, 1},       {3, 2, 1}, {3, 0, 2}, {7, 7, 4}, {7, 6, 2},
                {7, 4, 4.0 / 3}, {4, 7, 4.0 / 3}, {7, 0, 2}, {0, 7, 2}, {6, 7, 2}, {0, 1, 1}};
    const ferry_position_stack stack = {.layers = 1, .d_model = 1, .heads = 1, .head_width = 1};
    ferry_position position = bind_fire(&stack, 2, &(fire_weights){1, 3, w1, b1, w2, b2});
    float scores[8];
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        bias_by_key(&position, 0, rows[r].i, 8, scores);
        if (!(fabs((double)scores[rows[r].j] - rows[r].bias) < 1e-5))
            fail_msg("%d, %d: expected %g, found %g", rows[r].i, rows[r].j, rows[r].bias, (double)scores[rows[r].j]);
    }
    ferry_position_unbind(&position);
}

/* The authors' code, in double precision. */
static double interpolate(const fire_weights *w, int32_t width, int32_t head, int32_t i, int32_t j)
{
    const double c = (double)w->c, most = fmax(fabs((double)w->threshold), i > j ? i : j);
    const double x = log(fabs(c * abs(i - j)) + 1) / (log(fabs(c * most) + 1) + 1e-6);
    double sum = (double)w->b2[head];
    for (int32_t n = 0; n < width; n++)
        sum += (double)w->w2[head * width + n] * fmax(0, (double)w->w1[n] * x + (double)w->b1[n]);
    return sum;
}

/* From -1 to 1. */
static float noise(uint32_t *random)
{
    return (float)next_random(random) / (float)(1 << 23) - 1;
}

/* The segments are the function, whatever turns on or off where: units that are always on or off, at 0 exactly, several
 * at one point, and bends beyond 0 … 1. */
TEST(test_segments_are_the_function)
{
    enum { MOST = 40, HEADS = 3, KEYS = 150 };
    static const float cs[] = {0.1f, -2, 30, 0, 1e-30f, 1e30f}, thresholds[] = {40, -9.5f, 0, 1e30f, 500};
    static const int32_t widths[] = {1, 2, 7, MOST};
    float w1[MOST], b1[MOST], w2[HEADS * MOST], b2[HEADS], scores[KEYS];
    uint32_t random = 7;
    for (int round = 0; round < 60; round++) {
        const int32_t width = widths[round % 4];
        for (int32_t n = 0; n < width; n++) {
            w1[n] = n % 5 == 4 ? 0 : 2 * noise(&random);
            b1[n] = n % 7 == 3 ? 0 : noise(&random);
            if (n % 6 == 5) w1[n] = -2 * w1[n - 5], b1[n] = -2 * b1[n - 5];
        }
        for (int32_t n = 0; n < HEADS * width; n++) w2[n] = noise(&random);
        for (int32_t n = 0; n < HEADS; n++) b2[n] = noise(&random);
        const fire_weights weights = {cs[round % 6], thresholds[round % 5], w1, b1, w2, b2};
        const ferry_position_stack stack = {
            .layers = 1, .d_model = HEADS, .heads = HEADS, .head_width = 1, .causal = round % 2 == 1};
        ferry_position position = bind_fire(&stack, width, &weights);
        for (int32_t at = 0; at < KEYS; at += 7) {
            const int32_t head = at % HEADS, keys = stack.causal ? at + 1 : KEYS;
            bias_by_key(&position, head, at, keys, scores);
            for (int32_t j = 0; j < keys; j++)
                if (!(fabs((double)scores[j] - interpolate(&weights, width, head, at, j)) < 1e-5))
                    fail_msg("round %d, query %d, key %d: expected %g, found %g", round, at, j,
                             interpolate(&weights, width, head, at, j), (double)scores[j]);
        }
        ferry_position_unbind(&position);
    }
}

/* ---- damaged weights ---- */

/* Weights that are no numbers, or have the wrong sign, are named. */
TEST(test_bad_weights_are_refused)
{
    static const struct {
        const char *scheme, *tensor;
        float bad;
        const char *message;
    } rows[] = {
        {"kerple", "kerple_p", -0.5f, "tensor 'kerple_p' of layer 0: expected finite numbers from 0 on, found -0.5"},
        {"kerple", "kerple_a", NAN, "tensor 'kerple_a' of layer 0: expected finite numbers from 0 on, found"},
        {"kerple", "kerple_a", INFINITY, "found inf"},
        {"fire", "fire_c", NAN, "tensor 'fire_c' of layer 0: expected finite numbers, found"},
        {"fire", "fire_threshold", INFINITY, "tensor 'fire_threshold' of layer 0: expected finite numbers, found inf"},
        {"fire", "fire_w1", NAN, "tensor 'fire_w1'"},
        {"fire", "fire_b1", -INFINITY, "tensor 'fire_b1'"},
        {"fire", "fire_w2", INFINITY, "tensor 'fire_w2'"},
        {"fire", "fire_b2", NAN, "tensor 'fire_b2'"},
    };
    static const float good[] = {1, 1, 1, 1};
    const fake_parameter width[] = {{.key = "width", .number = 2}, {0}};
    const ferry_position_stack stack = {.layers = 1, .d_model = 2, .heads = 2, .head_width = 1};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const bool one = strcmp(rows[r].tensor, "fire_c") == 0 || strcmp(rows[r].tensor, "fire_threshold") == 0;
        const float bad[] = {one ? rows[r].bad : 1, rows[r].bad, 1, 1};
        const fake_weights weights[] = {{rows[r].tensor, bad}, {0}};
        ferry_position position;
        const fake_file file = {.parameters = width, .tensor = good, .weights = weights};
        REFUSE(try_bind_file(rows[r].scheme, &stack, file, &position, &error), FERRY_ERROR_FORMAT, rows[r].message);
    }
    static const float huge[] = {1e30f, 1e30f, 1e30f, 1e30f};
    const fake_file file = {.parameters = width, .tensor = huge};
    ferry_position position;
    REFUSE(try_bind_file("fire", &stack, file, &position, &error), FERRY_ERROR_FORMAT,
           "fire_w2 of layer 0: the values of head 0 are beyond float32");
}

/* The largest numbers and the smallest give finite biases, and the query's own key has none. */
TEST(test_extreme_logarithms_are_finite)
{
    static const float numbers[] = {0, 1e-45f, 1, 3.4e38f};
    const ferry_position_stack stack = {.layers = 1, .d_model = 1, .heads = 1, .head_width = 1};
    float scores[100];
    for (int p = 0; p < 4; p++)
        for (int a = 0; a < 4; a++) {
            const fake_weights weights[] = {{"kerple_p", &numbers[p]}, {"kerple_a", &numbers[a]}, {0}};
            ferry_position position = bind_weights("kerple", &stack, 0, weights);
            bias_by_key(&position, 0, 50, 100, scores);
            for (int j = 0; j < 100; j++) assert_true(isfinite(scores[j]) && scores[j] <= 0);
            assert_true(scores[50] == 0);
            ferry_position_unbind(&position);
        }
}

/* ---- all of them, in models ---- */

static const char *const models[] = {
    "none-post",
    "learned-post",
    "sinusoidal-post",
    "sinusoidal_split-post",
    "sinusoidal_marian-post",
    "shaw-post",
    "t5-post",
    "transformer_xl-post",
    "deberta-post",
    "deberta_released-post",
    "rope-post",
    "rope_interleaved-post",
    "alibi-post",
    "kerple-post",
    "fire-post",
    "mixed-post",
};
enum { MODELS = sizeof models / sizeof models[0] };

static ferry_model *open_model(const char *name)
{
    return convert_and_open(data_file("positions/%s", name), NULL);
}

/* Beyond the clip, a distance more changes nothing; before it, it does. */
TEST(test_clipped_distances_are_constant)
{
    enum { AT = 40, K = 16, CLIP = 4 };
    float q[K], k[K], scores[2 * AT + 1];
    ferry_model *model = open_model("shaw-post");
    for (int n = 0; n < K; n++) {
        q[n] = sinf((float)n);
        k[n] = cosf((float)n);
    }
    CHECK(ferry_inspect_position_scores(model, FERRY_INSPECT_ENCODER, 1, 2, AT + 1, q, k, scores, &error));
    for (int j = 0; j <= AT - CLIP; j++) assert_true(scores[j] == scores[0]);
    for (int j = AT + CLIP; j <= 2 * AT; j++) assert_true(scores[j] == scores[2 * AT]);
    for (int j = AT - CLIP; j < AT + CLIP; j++) assert_true(fabsf(scores[j] - scores[j + 1]) > 1e-5f);
    ferry_model_close(model);
}

enum { SENTENCES = 3, MOST = 24 };
static const int32_t offsets[] = {0, 9, 26, 56};

static void fill_ids(int32_t *ids, int32_t count)
{
    for (int32_t i = 0; i < count; i++) ids[i] = 1 + i * 37 % 95;
}

static ferry_result *generate(const ferry_model *model, const int32_t *ids, int32_t beam, int32_t batch)
{
    ferry_options options;
    ferry_options_default(model, &options, sizeof options);
    options.beam = options.nbest = beam;
    options.batch = batch;
    options.max_length = MOST;
    return generated(model, &options, ids, offsets, SENTENCES);
}

/* log P(id) at every position, summed, from the logits of one pass; pad is never generated. */
static double score_from_scratch(const ferry_model *model, const int32_t *ids, int32_t count, const int32_t *target,
                                 int32_t length)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const int32_t V = sizes.target_vocab, source_offsets[] = {0, count}, target_offsets[] = {0, length};
    int32_t inputs[MOST] = {sizes.start_id};
    double total = 0;
    float *logits = kept_memory((size_t)length * (size_t)V * sizeof *logits);
    memcpy(inputs + 1, target, (size_t)(length - 1) * sizeof *target);
    CHECK(ferry_inspect_logits(model, ids, source_offsets, 1, inputs, target_offsets, FERRY_INSPECT_ONE_PASS, logits,
                               &error));
    for (int32_t t = 0; t < length; t++) {
        const float *row = logits + (size_t)t * (size_t)V;
        double sum = 0;
        for (int32_t v = 0; v < V; v++) sum += v == sizes.pad_id ? 0 : exp((double)row[v]);
        total += (double)row[target[t]] - log(sum);
    }
    return total;
}

/* Hypotheses that changed rows many times have the scores of their ids, as if computed in one go. */
TEST(test_beam_scores_are_those_of_the_ids)
{
    int32_t ids[56];
    fill_ids(ids, offsets[SENTENCES]);
    for (int m = 0; m < MODELS; m++) {
        ferry_model *model = open_model(models[m]);
        ferry_result *result = generate(model, ids, 4, SENTENCES);
        double worst = 0;
        for (size_t s = 0; s < SENTENCES; s++)
            for (size_t h = 0; h < 4; h++) {
                const int32_t length = (int32_t)ferry_result_tokens(result, s, h);
                const double expected = score_from_scratch(model, ids + offsets[s], offsets[s + 1] - offsets[s],
                                                           ferry_inspect_result_ids(result, s, h), length) /
                                        length;
                worst = fmax(worst, fabs(expected - (double)ferry_result_score(result, s, h)));
            }
        if (worst > 1e-5) fail_msg("%s: a score differs by %g", models[m], worst);
        ferry_result_destroy(result);
        ferry_model_close(model);
    }
}

TEST(test_neighbors_change_no_byte)
{
    int32_t ids[56];
    fill_ids(ids, offsets[SENTENCES]);
    for (int m = 0; m < MODELS; m++) {
        ferry_model *model = open_model(models[m]);
        ferry_result *alone = generate(model, ids, 3, 1), *together = generate(model, ids, 3, SENTENCES);
        for (size_t s = 0; s < SENTENCES; s++)
            for (size_t h = 0; h < 3; h++) {
                const size_t length = ferry_result_tokens(alone, s, h);
                const float one = ferry_result_score(alone, s, h), other = ferry_result_score(together, s, h);
                assert_int_equal(ferry_result_tokens(together, s, h), length);
                assert_memory_equal(ferry_inspect_result_ids(together, s, h), ferry_inspect_result_ids(alone, s, h),
                                    length * sizeof(int32_t));
                assert_memory_equal(&one, &other, sizeof one);
            }
        ferry_result_destroy(alone);
        ferry_result_destroy(together);
        ferry_model_close(model);
    }
}

/* A source of 2,000 tokens, and a target that needs many tiles and blocks, in one pass and through the cache. */
TEST(test_long_texts)
{
    enum { S = 2000, T = 150 };
    int32_t ids[S], target[T];
    const int32_t source_offsets[] = {0, S}, target_offsets[] = {0, T};
    fill_ids(ids, S);
    fill_ids(target, T);
    for (int m = 0; m < MODELS; m++) {
        ferry_model *model = open_model(models[m]);
        const size_t V = (size_t)ferry_inspect_get_sizes(model).target_vocab;
        float *logits = kept_memory(T * V * sizeof *logits), *steps = kept_memory(T * V * sizeof *steps);
        if (strcmp(models[m], "learned-post") == 0) {
            static const char *const messages[] = {"2000 tokens", "positions end at 64"};
            for (int i = 0; i < 2; i++)
                REFUSE(ferry_inspect_logits(model, ids, source_offsets, 1, target, target_offsets,
                                            FERRY_INSPECT_ONE_PASS, logits, &error),
                       FERRY_ERROR_LIMIT, messages[i]);
        } else {
            CHECK(ferry_inspect_logits(model, ids, source_offsets, 1, target, target_offsets, FERRY_INSPECT_ONE_PASS,
                                       logits, &error));
            CHECK(ferry_inspect_logits(model, ids, source_offsets, 1, target, target_offsets,
                                       FERRY_INSPECT_STEP_BY_STEP, steps, &error));
            assert_memory_equal(steps, logits, T * V * sizeof *steps);
            for (size_t i = 0; i < T * V; i++) assert_true(isfinite(logits[i]));
        }
        ferry_model_close(model);
    }
}
