/* What the literature says of each positional encoding without weights, and what all declare. */
#include "tests/support/fake_position.h"

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
        {"t5",
         {{.key = "num_buckets", .number = 8}, {.key = "max_distance", .number = 20}, {.key = "tables", .text = "row"}},
         "position.tables: expected 'stack' or 'layer'"},
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
        assert_int_equal(try_bind_encoding(rows[i].scheme, &stack, rows[i].parameters, NULL, &position, &error),
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
    ferry_position position = bind_encoding("sinusoidal", &stack, parameters, NULL);
    ferry_position_state state = {0};
    extend_encoding(&position, &state, COUNT);
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

/* A first position of 2 (fairseq) begins with the row that another model has for its third token. */
TEST(test_first_of_sinusoids)
{
    enum { D = 16, ROWS = 20 };
    const ferry_position_stack stack = {.layers = 1, .d_model = D, .heads = 2, .head_width = 8};
    ferry_position_state states[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        const fake_parameter parameters[] = {{.key = "layout", .text = "split"},
                                             {.key = "exponent_divisor", .text = "half"},
                                             {.key = "first", .number = 2 * i},
                                             {0}};
        ferry_position position = bind_encoding("sinusoidal", &stack, parameters, NULL);
        extend_encoding(&position, &states[i], ROWS + 2);
        ferry_position_unbind(&position);
    }
    for (int k = 0; k < D; k++) assert_true(states[0].rows[k] == (k < D / 2 ? 0.0f : 1.0f));
    assert_memory_equal(states[1].rows, states[0].rows + 2 * D, (size_t)ROWS * D * sizeof(float));
    for (int i = 0; i < 2; i++) ferry_position_state_destroy(&states[i]);
}

/* A divisor of 0 would make every angle infinite. */
TEST(test_sinusoids_need_a_divisor)
{
    const fake_parameter parameters[] = {{.key = "layout", .text = "split"},
                                         {.key = "exponent_divisor", .text = "half_minus_one"},
                                         {.key = "first"},
                                         {0}};
    const ferry_position_stack stack = {.layers = 1, .d_model = 2, .heads = 1, .head_width = 2};
    ferry_position position;
    REFUSE(try_bind_encoding("sinusoidal", &stack, parameters, NULL, &position, &error), FERRY_ERROR_FORMAT,
           "d_model 2 does not split into pairs");
}

/* ---- rope ---- */

static ferry_position bind_rope(const char *layout, int32_t K, int32_t dims)
{
    const fake_parameter parameters[] = {{.key = "layout", .text = layout},
                                         {.key = "theta", .number = 10000},
                                         {.key = dims > 0 ? "dims" : "ignored", .number = dims},
                                         {0}};
    const ferry_position_stack stack = {.layers = 1, .d_model = 2 * K, .heads = 2, .head_width = K};
    return bind_encoding("rope", &stack, parameters, NULL);
}

TEST(test_rotations_of_worked_vectors)
{
    static const char *const layouts[] = {"half", "interleaved"};
    /* (1, 3) and (2, 4), or (1, 2) and (3, 4), by 1 and by 0.01: of a head of 4, and of 4 dims of a head of 6 or 8,
     * whose rest stays. */
    static const float expected[2][4] = {{-1.984111f, 1.959901f, 2.462378f, 4.019800f},
                                         {-1.142640f, 1.922076f, 2.959851f, 4.029800f}};
    for (int i = 0; i < 6; i++) {
        const int K = 4 + i / 2 * 2, layout = i % 2;
        ferry_position position = bind_rope(layouts[layout], K, K > 4 ? 4 : 0);
        ferry_position_state rows = {0};
        extend_encoding(&position, &rows, 2);
        float x[4 * 8], still[4 * 8]; /* positions 0 and 1, two heads */
        for (int n = 0; n < 4 * K; n++) x[n] = still[n] = (float)(n % K + 1);
        position.scheme->rotate(&position, &rows, x, 0, 2);
        assert_memory_equal(x, still, 2 * (size_t)K * sizeof *x);
        for (int head = 2 * K; head < 4 * K; head += K) {
            assert_true(largest_difference(x + head, expected[layout], 4) < 2e-6);
            assert_memory_equal(x + head + 4, still + head + 4, (size_t)(K - 4) * sizeof *x);
        }
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
        extend_encoding(&position, &rows, 1000);
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
    extend_encoding(&position, &rows, 10);
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
        REFUSE(try_bind_encoding("rope", &stack, parameters, NULL, &broken, &error), FERRY_ERROR_FORMAT,
               "position.dims");
    }
}

/* Rows are extended, not rebuilt, and are the same either way. */
TEST(test_rows_grow)
{
    ferry_position position = bind_rope("half", 8, 0);
    ferry_position_state grown = {0}, whole = {0};
    for (int32_t count = 1; count <= 700; count++) extend_encoding(&position, &grown, count);
    extend_encoding(&position, &whole, 700);
    assert_memory_equal(grown.rows, whole.rows, 700 * 8 * sizeof *grown.rows);
    const float *before = grown.rows;
    extend_encoding(&position, &grown, grown.count);
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
        ferry_position position = bind_encoding("t5", &stack, parameters, table);
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
                ferry_position position = bind_encoding("t5", &stack, parameters, table);
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
        REFUSE(try_bind_encoding("t5", &stack, parameters, NULL, &position, &error), FERRY_ERROR_FORMAT,
               rows[i].message);
    }
}

/* A table of buckets becomes one of distances for each head, which a small one must not make large. */
TEST(test_large_tables_are_refused)
{
    static float table[32 * 4096];
    const ferry_position_stack stack = {.layers = 1, .d_model = 2, .heads = 4096, .head_width = 2};
    for (int buckets = 8; buckets <= 32; buckets *= 4) {
        const fake_parameter parameters[] = {{.key = "num_buckets", .number = buckets},
                                             {.key = "max_distance", .number = 1000},
                                             {0}};
        ferry_position position;
        if (buckets == 32) {
            CHECK(try_bind_encoding("t5", &stack, parameters, table, &position, &error));
            ferry_position_unbind(&position);
        } else {
            REFUSE(try_bind_encoding("t5", &stack, parameters, table, &position, &error), FERRY_ERROR_UNSUPPORTED,
                   "t5 positions: expected tables of at most 64 numbers for each of the 32768 in their tensors, "
                   "found 8196096");
        }
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
        ferry_position position = bind_encoding("alibi", &stack, formula, NULL);
        for (int32_t h = 0; h < H; h++) {
            bias_by_key(&position, h, 50, 101, scores);
            for (int32_t j = 0; j <= 100; j++)
                assert_true(fabs((double)scores[j] + paper_slope(H, h) * abs(j - 50)) < 1e-5);
        }
        ferry_position_unbind(&position);
    }
    const ferry_position_stack stack = {.layers = 1, .d_model = 2, .heads = 2, .head_width = 1};
    const float slopes[] = {0.5f, 3};
    ferry_position position = bind_encoding("alibi", &stack, given, slopes);
    bias_by_key(&position, 1, 2, 4, scores);
    const float expected[] = {-6, -3, 0, -3};
    assert_memory_equal(scores, expected, sizeof expected);
    ferry_position_unbind(&position);
}
