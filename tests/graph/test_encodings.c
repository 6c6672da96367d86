/* What all positional encodings declare, and what each computes, against the formula of its paper. */
#include "base/memory.h"
#include "engine/graph/cache.h"
#include "tests/support/fake_position.h"
#include "tests/support/random.h"

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
            assert_non_null(parameter->meaning);
            assert_true((parameter->kind == FERRY_POSITION_CHOICE) == (parameter->choices[0] != NULL));
            assert_true((parameter->kind == FERRY_POSITION_CHOICE) == (parameter->min == NULL));
            assert_true(parameter->default_value != NULL || parameter->if_missing != NULL || parameter->when != NULL);
            parameter++;
        }
        while (tensor != NULL && tensor->name != NULL) {
            assert_non_null(tensor->meaning);
            assert_true(tensor->default_min <= tensor->default_max);
            assert_true(tensor->numbers != FERRY_POSITION_NOT_NEGATIVE || tensor->default_max > 0);
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
        const char *scheme, *parameters, *message;
    } rows[] = {
        {"sinusoidal", "layout woven", "position.layout: expected 'interleaved' or 'split'"},
        {"sinusoidal", "layout split, exponent_divisor 1",
         "position.exponent_divisor: expected 'half' or 'half_minus_one'"},
        {"t5", "num_buckets eight", "position.num_buckets: expected a number from 4 to 65536"},
        {"t5", "num_buckets 8, max_distance 20, tables row", "position.tables: expected 'stack' or 'layer'"},
        {"t5", "num_buckets 8, max_distance 20, tables 1", "position.tables: expected 'stack' or 'layer'"},
        {"deberta", "clip 1", "position.p2c: expected 'paper' or 'released'"},
        {"rope", "theta 2, layout half, dims four",
         "position.dims: expected an even number from 2 to the head width, 4"},
        {"rope", "theta 2, layout half, scaling dynamic",
         "position.scaling: expected 'none', 'linear', 'llama3' or 'yarn'"},
        {"rope", "theta 2, layout half, scaling linear", "position.factor: expected a real number above 0, up to 1e6"},
        {"rope", "theta 2, layout half, scaling llama3, factor 2, original_length 0",
         "position.original_length: expected a number from 1 to 1000000000"},
        {"rope", "theta 2, layout half, scaling yarn, factor 2, original_length 8, fast 4, slow 1",
         "position.attention_factor: expected a real number above 0, up to 1e6"},
        {"alibi", "", "position.slopes: expected 'formula' or 'given'"},
        {"fire", "", "position.width: expected a width from 1 to 65536"},
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

static const float *make_zeros(void *user, const ferry_position_tensor *declared, int32_t layer, size_t count)
{
    (void)user, (void)declared, (void)layer;
    return kept_memory(count * sizeof(float));
}

/* Whether the last of these parameters is refused with this message. What else is wrong does not count. */
static bool is_refused(const char *scheme, const ferry_position_stack *stack, const char *parameters,
                       const char *message)
{
    ferry_position position;
    ferry_error error = {0};
    const fake_file file = {.parameters = parameters};
    if (try_bind_encoding_file(scheme, stack, file, &position, &error) == FERRY_OK) ferry_position_unbind(&position);
    return strstr(error.message, message) == error.message;
}

/* Its least and largest number are accepted, the next ones are not. */
TEST(test_bounds_of_parameters)
{
    static const struct {
        const char *scheme, *parameters;
        double least, most, step; /* of the last one */
        const char *message;
    } rows[] = {
        {"sinusoidal", "layout split, exponent_divisor half, first", 0, 65536, 1,
         "position.first: expected a number from 0 to 65536"},
        {"learned", "max_positions", 1, 2147483647, 1,
         "position.max_positions: expected a number of positions from 1 to 2147483647"},
        {"shaw", "clip", 1, 65536, 1, "position.clip: expected a distance from 1 to 65536"},
        {"t5", "num_buckets", 4, 65536, 1, "position.num_buckets: expected a number from 4 to 65536"},
        {"t5", "num_buckets 10, max_distance", 3, 16384, 1, "position.max_distance: expected a number from 3 to 16384"},
        {"t5", "num_buckets 11, max_distance", 3, 16384, 1, "position.max_distance: expected a number from 3 to 16384"},
        {"deberta", "p2c paper, clip", 1, 65536, 1, "position.clip: expected a distance from 1 to 65536"},
        {"rope", "layout half, theta", 1.0001, 1e12, 0.0001,
         "position.theta: expected a real number above 1, up to 1e12"},
        {"rope", "layout half, theta 2, dims", 2, 8, 2,
         "position.dims: expected an even number from 2 to the head width, 8"},
        {"rope", "layout half, theta 2, dims", 4, 6, 1,
         "position.dims: expected an even number from 2 to the head width, 8"},
        {"fire", "width", 1, 65536, 1, "position.width: expected a width from 1 to 65536"},
    };
    const ferry_position_stack stack = {.layers = 1, .d_model = 8, .heads = 2, .head_width = 8};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (int i = 0; i < 4; i++) {
            const double values[] = {rows[r].least, rows[r].most, rows[r].least - rows[r].step,
                                     rows[r].most + rows[r].step};
            const ferry_name text = ferry_name_format("%s %.17g", rows[r].parameters, values[i]);
            if (is_refused(rows[r].scheme, &stack, text.text, rows[r].message) != (i >= 2))
                fail_msg("%s of %s: %.10g is %s", rows[r].message, rows[r].scheme, values[i],
                         i < 2 ? "refused" : "accepted");
        }
}

/* Of pairs of columns, and of a divisor of 0, which would make every angle infinite. */
TEST(test_widths_that_have_no_pairs)
{
    static const struct {
        const char *scheme, *parameters;
        int32_t d_model;
        const char *message;
    } rows[] = {
        {"sinusoidal", "layout split, exponent_divisor half, first 0", 7,
         "sinusoidal positions: d_model 7 does not split into pairs"},
        {"transformer_xl", "", 7, "transformer_xl positions: d_model 7 does not split into pairs"},
        {"sinusoidal", "layout split, exponent_divisor half_minus_one, first 0", 2,
         "sinusoidal positions: d_model 2 does not split into pairs"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ferry_position_stack stack = {.layers = 1, .d_model = rows[i].d_model, .heads = 1, .head_width = 2};
        ferry_position position;
        REFUSE_SAYING(try_bind_encoding(rows[i].scheme, &stack, rows[i].parameters, NULL, &position, &error),
                      FERRY_ERROR_FORMAT, rows[i].message);
    }
}

static ferry_position bind_rope(const char *layout, int32_t K, double theta, int32_t dims)
{
    const ferry_name parameters = ferry_name_format("layout %s, theta %g, dims %d", layout, theta, dims);
    const ferry_position_stack stack = {.layers = 1, .d_model = 2 * K, .heads = 2, .head_width = K};
    return bind_encoding("rope", &stack, parameters.text, NULL);
}

/* ---- memory ---- */

/* A few numbers become a table of distances for each of 4096 heads: of at most 2^22, or 64 for each of the file's. */
TEST(test_large_tables_are_refused)
{
    static const struct {
        const char *scheme, *parameters;
        bool refused;
    } rows[] = {
        {"t5", "num_buckets 4, max_distance 1023", false},  {"t5", "num_buckets 4, max_distance 1024", true},
        {"t5", "num_buckets 17, max_distance 1087", false}, {"t5", "num_buckets 17, max_distance 1088", true},
        {"t5", "num_buckets 4, max_distance 16384", true},  {"deberta", "clip 65536, p2c paper", true},
    };
    const ferry_position_stack stack = {.layers = 1, .d_model = 2, .heads = 4096, .head_width = 16, .causal = true};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const fake_file file = {.parameters = rows[i].parameters, .make = make_zeros};
        ferry_position position;
        ferry_error error = {0};
        const ferry_status status = try_bind_encoding_file(rows[i].scheme, &stack, file, &position, &error);
        if (rows[i].refused)
            check_refusal(status, &error, FERRY_ERROR_UNSUPPORTED, "positions: expected tables of at most 64 numbers");
        else
            assert_int_equal(status, FERRY_OK);
        ferry_position_unbind(&position);
    }
}

/* Rows are counted where they are held, kept when no more can be had, and given back; then the state begins anew. */
TEST(test_memory_of_rows)
{
    enum { WIDTH = 16 };
    ferry_position position = bind_rope("half", WIDTH, 10000, WIDTH);
    ferry_memory memory = {.limit = 40 * WIDTH * sizeof(float)};
    ferry_account account = {.memory = &memory};
    ferry_position_state rows = {.account = &account};
    const ferry_kernels *kernels = ferry_kernels_find(NULL);
    for (int round = 0; round < 2; round++) {
        extend_encoding(&position, &rows, 16);
        assert_true(memory.held == rows.bytes && rows.count == 16);
        REFUSE(ferry_position_extend(&position, &rows, kernels, 33, &error), FERRY_ERROR_LIMIT, "memory_limit");
        REFUSE(ferry_position_extend(&position, &rows, kernels, INT32_MAX, &error), FERRY_ERROR_LIMIT,
               "2147483647 positions of 16 numbers are more than memory can hold");
        assert_true(memory.held == rows.bytes && rows.count == 16 && rows.rows[0] == 1);
        extend_encoding(&position, &rows, 17); /* there is room for these */
        assert_int_equal(rows.count, 32);
        ferry_position_state_destroy(&rows);
        assert_int_equal(memory.held, 0);
    }
    ferry_position_unbind(&position);
}

TEST(test_unknown_schemes)
{
    static const char *const names[] = {"", "rop", "ropes", "Rope", "rope "};
    static const char sixty_five[] = "0123456789012345678901234567890123456789012345678901234567890123-";
    const ferry_position_stack stack = {.layers = 1, .d_model = 2, .heads = 1, .head_width = 2};
    ferry_position position;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        REFUSE_SAYING(try_bind_encoding(names[i], &stack, NULL, NULL, &position, &error), FERRY_ERROR_UNSUPPORTED,
                      ferry_name_format("positional encoding '%s' is not supported by this build", names[i]).text);
    REFUSE_SAYING(try_bind_encoding(sixty_five, &stack, NULL, NULL, &position, &error), FERRY_ERROR_UNSUPPORTED,
                  "positional encoding '0123456789012345678901234567890123456789012345678901234567890123' is not "
                  "supported by this build");
}

/* What reports say of encodings, of 2 layers of 3 heads of width 4: their parameters, whether they have weights, and
 * what they cost (position.h says in which units), computed by hand. */
TEST(test_reports)
{
    static const struct {
        const char *scheme, *parameters;
        bool causal, weights;
        const char *text;
        ferry_position_cost cost; /* bytes of the model, of a position; operations of a token, of a key */
    } rows[] = {
        {"none", "", false, false, "", {0, 0, 0, 0}},
        {"learned", "max_positions 7", false, true, "max_positions 7", {7 * 6 * 4, 0, 6, 0}},
        {"sinusoidal",
         "layout split, exponent_divisor half, first 0",
         false,
         false,
         "layout split, exponent_divisor half, first 0",
         {0, 6 * 4, 6, 0}},
        {"shaw", "clip 2", false, true, "clip 2", {2 * (16 * 4 + 2 * 4 * 16) * 4, 0, 6 * 2 * 5 * 4, 6 * 2}},
        {"shaw", "clip 2", true, true, "clip 2", {2 * (16 * 4 + 2 * 4 * 16) * 4, 0, 6 * 2 * 3 * 4, 6 * 2}},
        {"t5",
         "num_buckets 16, max_distance 20",
         false,
         true,
         "num_buckets 16, max_distance 20, tables stack",
         {3 * 41 * 4, 0, 0, 6}},
        {"t5",
         "num_buckets 16, max_distance 20, tables layer",
         true,
         true,
         "num_buckets 16, max_distance 20, tables layer",
         {2 * 3 * 21 * 4, 0, 0, 6}},
        {"transformer_xl", "", false, true, "", {2 * 12 * (6 + 2) * 4, 2 * (2 * 12 + 6) * 4, 24, 48}},
        {"transformer_xl", "", true, true, "", {2 * 12 * (6 + 2) * 4, (2 * 12 + 6) * 4, 24, 48}},
        {"deberta",
         "clip 2, p2c released",
         false,
         true,
         "clip 2, p2c released",
         {6 * 4 * (16 + 4) * 4, 0, 6 * 4 * 4, 6 * (4 + 1)}},
        {"deberta",
         "clip 2, p2c paper",
         true,
         true,
         "clip 2, p2c paper",
         {6 * 4 * (16 + 4) * 4, 0, 6 * 2 * 4, 6 * (4 + 1)}},
        {"rope",
         "layout half, theta 1e4, dims 2",
         true,
         false,
         "theta 10000, layout half, dims 2",
         {0, 2 * 4, 2 * 2 * 6 * 2, 0}},
        {"rope",
         "layout half, theta 1e4, scaling linear, factor 2",
         true,
         false,
         "theta 10000, layout half, dims 4, scaling linear, factor 2",
         {0, 4 * 4, 2 * 2 * 6 * 4, 0}},
        {"alibi", "slopes formula", true, false, "slopes formula", {3 * 4, 0, 0, 6}},
        {"alibi", "slopes given", true, true, "slopes given", {3 * 4, 0, 0, 6}},
        {"kerple", "", true, true, "", {2 * 6 * 4, 6 * 4, 0, 6}},
        {"fire", "width 3", true, true, "width 3", {6 * 4 * 12 + 2 * 8, 2 * 2 * 4, 0, 2 * 6}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const ferry_position_stack stack = {
            .layers = 2, .d_model = 6, .heads = 3, .head_width = 4, .causal = rows[r].causal};
        const fake_file file = {.parameters = rows[r].parameters, .make = make_zeros};
        ferry_position position;
        CHECK(try_bind_encoding_file(rows[r].scheme, &stack, file, &position, &error));
        assert_string_equal(ferry_position_parameters(&position).text, rows[r].text);
        assert_int_equal(ferry_position_has_weights(&position), rows[r].weights);
        assert_int_equal(position.limit, strcmp(rows[r].scheme, "learned") == 0 ? 7 : 0);
        const ferry_position_cost cost = ferry_position_get_cost(&position);
        assert_int_equal(cost.model_bytes, rows[r].cost.model_bytes);
        assert_int_equal(cost.position_bytes, rows[r].cost.position_bytes);
        assert_int_equal(cost.token_operations, rows[r].cost.token_operations);
        assert_int_equal(cost.key_operations, rows[r].cost.key_operations);
        ferry_position_unbind(&position);
    }
}

/* ---- what is added to embeddings ---- */

/* Vaswani et al. 2017, section 3.5, with the variants of sinusoidal.c. */
static double sinusoid(int32_t D, bool split, bool minus_one, int32_t at, int32_t column)
{
    const int32_t half = D / 2, k = split ? column % half : column / 2;
    const double angle = at / pow(10000, (double)k / (half - minus_one));
    return (split ? column < half : column % 2 == 0) ? sin(angle) : cos(angle);
}

TEST(test_sinusoids)
{
    enum { ROWS = 37, FROM = 3, MOST_D = 34 };
    static const int32_t widths[] = {2, 4, 6, 16, 18, MOST_D}, firsts[] = {0, 2, 65536};
    for (int i = 0; i < 6 * 3 * 4; i++) {
        const int32_t D = widths[i / 12], first = firsts[i / 4 % 3];
        const bool split = i % 2 == 1, minus_one = i / 2 % 2 == 1;
        const ferry_name parameters =
            ferry_name_format("layout %s, exponent_divisor %s, first %d", split ? "split" : "interleaved",
                              minus_one ? "half_minus_one" : "half", (int)first);
        const ferry_position_stack stack = {.layers = 1, .d_model = D, .heads = 1, .head_width = 2};
        if (D == 2 && minus_one) continue;
        ferry_position position = bind_encoding("sinusoidal", &stack, parameters.text, NULL);
        ferry_position_state rows = {0};
        float x[ROWS * MOST_D];
        for (int32_t n = 0; n < ROWS * MOST_D; n++) x[n] = 1;
        extend_encoding(&position, &rows, FROM + ROWS);
        position.scheme->embed(&position, &rows, ferry_kernels_find(NULL), x, FROM, ROWS);
        for (int32_t n = 0; n < ROWS * D; n++) {
            const double expected = sinusoid(D, split, minus_one, first + FROM + n / D, n % D);
            assert_true(fabs((double)x[n] - 1 - expected) < 1e-6);
        }
        ferry_position_state_destroy(&rows);
        ferry_position_unbind(&position);
    }
}

/* Up to the table's last row. */
TEST(test_learned_rows)
{
    enum { ROWS = 7, WIDTH = 3 };
    float table[ROWS * WIDTH], x[ROWS * WIDTH];
    const ferry_position_stack stack = {.layers = 1, .d_model = WIDTH, .heads = 1, .head_width = WIDTH};
    for (int32_t n = 0; n < ROWS * WIDTH; n++) table[n] = (float)n;
    ferry_position position = bind_encoding("learned", &stack, "max_positions 7", table);
    ferry_position_state rows = {0};
    extend_encoding(&position, &rows, ROWS);
    for (int32_t first = 0; first < ROWS; first++)
        for (int32_t count = 1; count <= ROWS - first; count++) {
            memset(x, 0, sizeof x);
            position.scheme->embed(&position, &rows, ferry_kernels_find(NULL), x, first, count);
            for (int32_t n = 0; n < ROWS * WIDTH; n++)
                assert_true(x[n] == (n < count * WIDTH ? table[first * WIDTH + n] : 0));
        }
    for (int causal = 0; causal < 2; causal++) {
        position.stack.causal = causal;
        REFUSE_SAYING(ferry_position_extend(&position, &rows, ferry_kernels_find(NULL), ROWS + 1, &error),
                      FERRY_ERROR_LIMIT,
                      ferry_name_format("a %s of 8 tokens: the model's learned positions end at 7; split the text into "
                                        "shorter sentences",
                                        causal ? "translation" : "sentence")
                          .text);
    }
    ferry_position_unbind(&position);
}

/* ---- rope ---- */

/* Su et al. 2021, equation 34: element `d` of a head [K] at position `at`. */
static double rotated(const float *x, int32_t d, int32_t at, double theta, int32_t dims, bool half)
{
    if (d >= dims) return (double)x[d];
    const int32_t pair = half ? d % (dims / 2) : d / 2, other = half ? (d + dims / 2) % dims : d ^ 1;
    const double angle = at * pow(theta, -2.0 * pair / dims);
    return (double)x[d] * cos(angle) + (d < other ? -1 : 1) * (double)x[other] * sin(angle);
}

TEST(test_rotations_of_all_widths)
{
    enum { ROWS = 20, FROM = 14, WIDEST = 19 };
    static const double thetas[] = {10000, 3};
    for (int32_t K = 2; K <= WIDEST; K++)
        for (int32_t dims = 2; dims <= K; dims += 2)
            for (int i = 0; i < 4; i++) {
                ferry_position position = bind_rope(i % 2 == 0 ? "half" : "interleaved", K, thetas[i / 2], dims);
                ferry_position_state rows = {0};
                float x[ROWS * 2 * WIDEST], before[ROWS * 2 * WIDEST];
                for (int32_t n = 0; n < ROWS * 2 * K; n++) x[n] = before[n] = sinf((float)(n + 1));
                extend_encoding(&position, &rows, FROM + ROWS);
                position.scheme->rotate(&position, &rows, x, FROM, ROWS);
                for (int32_t n = 0; n < ROWS * 2 * K; n++) {
                    const double expected =
                        rotated(before + n / K * K, n % K, FROM + n / (2 * K), thetas[i / 2], dims, i % 2 == 0);
                    assert_true(fabs((double)x[n] - expected) < 1e-6);
                }
                ferry_position_state_destroy(&rows);
                ferry_position_unbind(&position);
            }
}

/* Frequencies, and the factor of cosines and sines, as transformers' own functions compute them in float32
 * (tests/data/rotations/record.py). */
TEST(test_scaled_rotations)
{
    enum { LENGTH = 48 };
    const json_t *rows = load_json(data_file("rotations/rotations.json"));
    static const char *const numbers[] = {"theta", "dims", "factor",          "original_length",
                                          "fast",  "slow", "attention_factor"};
    assert_int_equal(json_array_size(rows), 8);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *frequencies = json_object_get(row, "frequencies");
        const int32_t n = (int32_t)json_integer_value(json_object_get(row, "dims"));
        ferry_name parameters =
            ferry_name_format("layout half, scaling %s", json_string_value(json_object_get(row, "scaling")));
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            if (json_object_get(row, numbers[k]) != NULL)
                parameters = ferry_name_format("%s, %s %.9g", parameters.text, numbers[k],
                                               json_number_value(json_object_get(row, numbers[k])));
        const ferry_position_stack stack = {.layers = 1, .d_model = 2 * n, .heads = 2, .head_width = n};
        ferry_position position = bind_encoding("rope", &stack, parameters.text, NULL);
        ferry_position_state filled = {0};
        extend_encoding(&position, &filled, LENGTH);
        const double length = json_number_value(json_object_get(row, "length"));
        for (int32_t at = 0; at < LENGTH; at++)
            for (int32_t k = 0; k < n / 2; k++) {
                const double angle = at * json_number_value(json_array_get(frequencies, (size_t)k));
                const float *found = filled.rows + at * n + k;
                assert_true(fabs((double)found[0] - length * cos(angle)) < 1e-5);
                assert_true(fabs((double)found[n / 2] - length * sin(angle)) < 1e-5);
            }
        ferry_position_state_destroy(&filled);
        ferry_position_unbind(&position);
    }
}

/* ---- t5 ---- */

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
                const ferry_name parameters =
                    ferry_name_format("num_buckets %d, max_distance %d", (int)(causal ? n : 2 * n), (int)m);
                const ferry_position_stack stack = {
                    .layers = 1, .d_model = 2, .heads = 1, .head_width = 2, .causal = causal};
                ferry_position position = bind_encoding("t5", &stack, parameters.text, table);
                const int32_t keys = causal ? AT + 1 : 2 * AT + 1;
                bias_by_key(&position, 0, AT, keys, scores);
                for (int32_t j = 0; j < keys; j++)
                    assert_int_equal((int)scores[j], bucket_by_powers(abs(AT - j), n, m) + (j > AT ? n : 0));
                ferry_position_unbind(&position);
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
    float scores[101];
    for (int32_t H = 1; H <= 20; H++) {
        const ferry_position_stack stack = {.layers = 1, .d_model = H, .heads = H, .head_width = 1};
        ferry_position position = bind_encoding("alibi", &stack, "slopes formula", NULL);
        for (int32_t h = 0; h < H; h++) {
            bias_by_key(&position, h, 50, 101, scores);
            for (int32_t j = 0; j <= 100; j++)
                assert_true(fabs((double)scores[j] + paper_slope(H, h) * abs(j - 50)) < 1e-5);
        }
        ferry_position_unbind(&position);
    }
}

/* ---- every encoding of distances, against its formula ---- */

enum { LAYERS = 2, HEADS = 3, WIDEST = 18, D = 6, USUAL = 50, MOST = 288, TILE = 64, MOST_NUMBERS = 1 << 15 };

/* A bound encoding, its weights, and queries (scaled already) and keys at positions 0 … MOST - 1. */
typedef struct setup {
    ferry_position_stack stack;
    const char *scheme;
    int32_t clip; /* its limit of distances, or FIRE's width */
    bool choice;  /* its other form */
    const float *weights[FERRY_POSITION_MAX_TENSORS][1 + LAYERS];
    float q[MOST * HEADS * WIDEST], k[MOST * HEADS * WIDEST]; /* [MOST, H·K] */
    ferry_position position;
    ferry_position_state state;
    ferry_past keys; /* of the head that is looked at */
} setup;

static float numbers[MOST_NUMBERS]; /* of all tensors of a setup */
static size_t used;

/* From -1 to 1. */
static float noise(uint32_t *random)
{
    return (float)next_random(random) / (float)(1 << 23) - 1;
}

/* FIRE's units turn on or off anywhere: some never, at 0 exactly, several at one point, beyond 0 … 1. */
static void bend_units(const setup *s, const char *tensor, int32_t layer, float *to, size_t count)
{
    static const float cs[] = {0.1f, -2, 30, 0, 1e-30f, 1e30f}, thresholds[] = {40, -9.5f, 0, 1e30f, 500};
    const bool w1 = strcmp(tensor, "fire_w1") == 0, b1 = strcmp(tensor, "fire_b1") == 0;
    const int32_t variant = s->clip + s->stack.head_width + layer;
    if (strcmp(tensor, "fire_c") == 0) *to = cs[variant % 6];
    if (strcmp(tensor, "fire_threshold") == 0) *to = thresholds[variant % 5];
    for (size_t n = 0; n < count && (w1 || b1); n++) {
        if (w1) to[n] = n % 5 == 4 ? 0 : 2 * to[n];
        if (b1 && n % 7 == 3) to[n] = 0;
        if (n % 6 == 5) to[n] = -2 * to[n - 5];
    }
}

static const float *make_weights(void *user, const ferry_position_tensor *declared, int32_t layer, size_t count)
{
    setup *s = user;
    const ptrdiff_t tensor = declared - ferry_position_find(ferry_text_view(s->scheme))->tensors;
    uint32_t random = (uint32_t)(10 * layer + 100 * tensor);
    float *to = numbers + used;
    used += count;
    assert_true(used <= MOST_NUMBERS);
    for (size_t i = 0; i < count; i++) {
        to[i] = noise(&random);
        if (declared->numbers == FERRY_POSITION_NOT_NEGATIVE) to[i] = fabsf(to[i]);
    }
    bend_units(s, declared->name, layer, to, count);
    return s->weights[tensor][1 + layer] = to;
}

static int32_t clamp(int32_t value, int32_t least, int32_t most)
{
    return value < least ? least : value > most ? most : value;
}

static double product(const float *a, const float *b, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* What the formula adds for a query at i and a key at j. */
typedef double term(const setup *s, int32_t layer, int32_t head, const float *q, const float *k, int32_t i, int32_t j);

static double shaw_term(const setup *s, int32_t layer, int32_t head, const float *q, const float *k, int32_t i,
                        int32_t j)
{
    (void)head, (void)k;
    const int32_t K = s->stack.head_width, row = clamp(j - i, -s->clip, s->clip) + s->clip;
    return product(q, s->weights[0][1 + layer] + row * K, K);
}

static double deberta_term(const setup *s, int32_t layer, int32_t head, const float *q, const float *k, int32_t i,
                           int32_t j)
{
    const int32_t K = s->stack.head_width, last = 2 * s->clip - 1;
    const int32_t there = clamp(i - j + s->clip, 0, last), back = clamp(j - i + s->clip, 0, last);
    const float *P = s->weights[0][0], *row = P + there * D, *key_row = P + (s->choice ? there : back) * D;
    double sum = 0;
    for (int32_t d = head * K; d < (head + 1) * K; d++) {
        const double pos_k = product(s->weights[3][1 + layer] + d * D, row, D);
        const double pos_q =
            product(s->weights[1][1 + layer] + d * D, key_row, D) + (double)s->weights[2][1 + layer][d];
        sum += (double)*q++ * pos_k + (double)*k++ * pos_q / sqrt(3.0 * K);
    }
    return sum;
}

static double transformer_xl_term(const setup *s, int32_t layer, int32_t head, const float *q, const float *k,
                                  int32_t i, int32_t j)
{
    const int32_t K = s->stack.head_width;
    double sum = 0;
    for (int32_t d = head * K; d < (head + 1) * K; d++) {
        double projected = 0;
        for (int32_t n = 0; n < D; n++) {
            const double angle = (i - j) * pow(10000, -(double)(n % (D / 2)) / (D / 2));
            projected += (double)s->weights[0][1 + layer][d * D + n] * (n < D / 2 ? sin(angle) : cos(angle));
        }
        sum += (double)s->weights[1][1 + layer][d] / sqrt(K) * (double)*k++;
        sum += ((double)*q++ + (double)s->weights[2][1 + layer][d] / sqrt(K)) * projected;
    }
    return sum;
}

/* Of 8 buckets for each direction. */
static double t5_term(const setup *s, int32_t layer, int32_t head, const float *q, const float *k, int32_t i, int32_t j)
{
    (void)q, (void)k;
    const float *table = s->choice ? s->weights[1][1 + layer] : s->weights[0][0];
    return (double)table[(bucket_by_powers(abs(i - j), 8, s->clip) + (j > i ? 8 : 0)) * HEADS + head];
}

static double kerple_term(const setup *s, int32_t layer, int32_t head, const float *q, const float *k, int32_t i,
                          int32_t j)
{
    (void)q, (void)k;
    return -(double)s->weights[0][1 + layer][head] * log(1 + (double)s->weights[1][1 + layer][head] * abs(i - j));
}

static double fire_term(const setup *s, int32_t layer, int32_t head, const float *q, const float *k, int32_t i,
                        int32_t j)
{
    (void)q, (void)k;
    const int32_t width = s->clip;
    const float *weights[6];
    for (int w = 0; w < 6; w++) weights[w] = s->weights[w][1 + layer];
    const double c = fabs((double)*weights[0]), most = fmax(fabs((double)*weights[1]), i > j ? i : j);
    const double x = log(c * abs(i - j) + 1) / (log(c * most + 1) + 1e-6);
    double sum = (double)weights[5][head];
    for (int32_t n = 0; n < width; n++)
        sum += (double)weights[4][head * width + n] * fmax(0, (double)weights[2][n] * x + (double)weights[3][n]);
    return sum;
}

static double alibi_term(const setup *s, int32_t layer, int32_t head, const float *q, const float *k, int32_t i,
                         int32_t j)
{
    (void)layer, (void)q, (void)k;
    return -(double)s->weights[0][0][head] * abs(i - j);
}

/* Shaw's values: the last term of its equation 3. */
static void check_context(const setup *s, ferry_position_tile *tile)
{
    static float weights[TILE * MOST], context[TILE * HEADS * WIDEST];
    const int32_t K = s->stack.head_width, width = HEADS * K;
    uint32_t random = (uint32_t)tile->keys;
    for (int32_t n = 0; n < TILE * HEADS * WIDEST; n++) context[n] = 1;
    for (int32_t i = 0; i < tile->queries; i++)
        for (int32_t j = 0; j < tile->keys; j++)
            weights[(size_t)i * tile->ld_scores + (size_t)j] =
                s->stack.causal && j > tile->first + i ? 0 : noise(&random);
    tile->scores = weights;
    tile->context = context + tile->head * K;
    tile->ld_context = (size_t)width;
    s->position.scheme->context(&s->position, tile);
    for (int32_t n = 0; n < tile->queries * K; n++) {
        const int32_t i = n / K, d = n % K;
        double expected = 1;
        for (int32_t j = 0; j < tile->keys; j++)
            expected +=
                (double)weights[(size_t)i * tile->ld_scores + (size_t)j] *
                (double)
                    s->weights[1][1 + tile->layer][(clamp(j - tile->first - i, -s->clip, s->clip) + s->clip) * K + d];
        if (!(fabs((double)context[i * width + tile->head * K + d] - expected) < 1e-4))
            fail_msg("clip %d, width %d, %d keys, query %d: a value differs", s->clip, K, tile->keys, tile->first + i);
    }
}

static void check_tile(const setup *s, int32_t layer, int32_t head, int32_t first, int32_t queries, int32_t keys,
                       const double *expected)
{
    static _Alignas(64) float scratch[1 << 15];
    static float scores[TILE * MOST];
    const size_t width = (size_t)(HEADS * s->stack.head_width), ld = ferry_round_up((size_t)keys, 16);
    const size_t room = ferry_position_scratch(&s->position, queries, keys);
    ferry_position_tile tile = {.layer = layer,
                                .head = head,
                                .first = first,
                                .queries = queries,
                                .keys = keys,
                                .q = s->q + (size_t)first * width + head * s->stack.head_width,
                                .ldq = width,
                                .past = s->keys,
                                .scores = scores,
                                .ld_scores = ld,
                                .scratch = scratch,
                                .state = &s->state,
                                .kernels = ferry_kernels_find(NULL)};
    tile.past.count = keys;
    for (size_t n = 0; n < (size_t)queries * ld; n++) scores[n] = 1;
    scratch[room] = 77;
    s->position.scheme->score(&s->position, &tile);
    assert_true(scratch[room] == 77);
    for (int32_t i = 0; i < queries; i++)
        for (int32_t j = 0; j < (s->stack.causal ? first + i + 1 : keys); j++) {
            const double found = (double)scores[(size_t)i * ld + (size_t)j] - 1,
                         wanted = expected[(first + i) * MOST + j];
            if (!(fabs(found - wanted) < 1e-4))
                fail_msg("%s, clip %d, width %d, causal %d, %d keys, query %d, key %d: expected %g, found %g",
                         s->scheme, s->clip, s->stack.head_width, s->stack.causal, keys, first + i, j, wanted, found);
        }
    if (s->position.scheme->context != NULL) check_context(s, &tile);
}

/* Tiles of all lengths up to the usual one, or of the longest ones, that begin where a panel or a block does or beside
 * it: sentences, and steps. */
static void check_head(setup *s, term *formula, const ferry_cache *cache, const ferry_sequence *sequence, int32_t layer,
                       int32_t head, int32_t most)
{
    static const int32_t firsts[] = {0, 1, 15, 16, 17, 31, 32, 33, TILE, MOST - TILE, MOST};
    static double expected[MOST * MOST];
    const int32_t K = s->stack.head_width;
    for (int32_t i = 0; i < most; i++)
        for (int32_t j = 0; j < most; j++)
            expected[i * MOST + j] =
                formula(s, layer, head, s->q + (i * HEADS + head) * K, s->k + (j * HEADS + head) * K, i, j);
    s->keys = ferry_cache_keys(&cache->layout, sequence, 0, head, 1, MOST);
    for (int32_t keys = most == MOST ? MOST - 17 : 1; keys <= most; keys++) {
        extend_encoding(&s->position, &s->state, keys);
        for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
            const int32_t first = firsts[f] < keys ? firsts[f] : keys - 1;
            if (keys - first <= TILE || !s->stack.causal)
                check_tile(s, layer, head, first, keys - first < TILE ? keys - first : TILE, keys, expected);
            if (!s->stack.causal) check_tile(s, layer, head, first, 1, keys, expected);
        }
    }
    ferry_position_state_destroy(&s->state);
}

static void check_setup(setup *s, term *formula, const char *parameters)
{
    ferry_cache cache;
    ferry_arena arena = {0};
    ferry_sequence sequence;
    uint32_t random = 5;
    const fake_file file = {.parameters = parameters, .make = make_weights, .user = s};
    used = 0;
    CHECK(try_bind_encoding_file(s->scheme, &s->stack, file, &s->position, &error));
    for (int32_t n = 0; n < MOST * HEADS * WIDEST; n++) {
        s->q[n] = noise(&random);
        s->k[n] = noise(&random);
    }
    ferry_cache_init(&cache, 1, HEADS, s->stack.head_width);
    CHECK(ferry_sequence_begin(&arena, MOST, &sequence, &error));
    CHECK(ferry_sequence_extend(&cache, &sequence, MOST, &error));
    ferry_sequence_write(&cache, &sequence, 0, 0, MOST, s->k, s->k);
    check_head(s, formula, &cache, &sequence, 0, HEADS - 1, USUAL);
    check_head(s, formula, &cache, &sequence, LAYERS - 1, 1, USUAL);
    if (s->stack.head_width == 4 && (s->clip == 1 || s->clip == 40))
        check_head(s, formula, &cache, &sequence, 1, 0, MOST);
    ferry_sequence_release(&cache, &sequence);
    ferry_cache_destroy(&cache);
    ferry_arena_destroy(&arena);
    ferry_position_unbind(&s->position);
}

TEST(test_scores_are_those_of_the_formulas)
{
    static const int32_t widths[] = {1, 4, 7, 16, WIDEST}, clips[] = {1, 2, 5, 7, 8, 16, 17, 40};
    static const struct {
        const char *scheme;
        term *formula;
        const char *clip; /* the parameter that is `clip`, if there is one */
        const char *other;
        bool choice;
    } rows[] = {
        {"shaw", shaw_term, "clip", "", false},
        {"deberta", deberta_term, "clip", "p2c paper", false},
        {"deberta", deberta_term, "clip", "p2c released", true},
        {"transformer_xl", transformer_xl_term, NULL, "", false},
        {"t5", t5_term, "max_distance", "tables stack", false},
        {"t5", t5_term, "max_distance", "tables layer", true},
        {"alibi", alibi_term, NULL, "slopes given", false},
        {"kerple", kerple_term, NULL, "", false},
        {"fire", fire_term, "width", "", false},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int32_t i = 0; i < 5 * 8 * 2; i++) {
            static setup s;
            const int32_t clip = clips[i / 2 % 8];
            memset(&s, 0, sizeof s);
            s.scheme = rows[r].scheme;
            s.stack = (ferry_position_stack){
                .layers = LAYERS, .d_model = D, .heads = HEADS, .head_width = widths[i / 16], .causal = i % 2 == 1};
            s.clip = clip;
            s.choice = rows[r].choice;
            if (rows[r].clip == NULL ? clip > 1 : rows[r].formula == t5_term && clip < 5) continue;
            const ferry_name parameters =
                ferry_name_format("%s %d, num_buckets %d, %s", rows[r].clip != NULL ? rows[r].clip : "unused",
                                  (int)clip, s.stack.causal ? 8 : 16, rows[r].other);
            check_setup(&s, rows[r].formula, parameters.text);
        }
    const ferry_position_scheme *scheme;
    for (size_t i = 0, r; (scheme = ferry_position_at(i)) != NULL; i++) {
        for (r = 0; r < sizeof rows / sizeof *rows && strcmp(rows[r].scheme, scheme->name) != 0;) r++;
        if (scheme->score != NULL && r == sizeof rows / sizeof *rows) fail_msg("%s: no formula", scheme->name);
    }
}
