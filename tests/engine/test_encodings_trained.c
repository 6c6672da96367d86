/* FIRE's function, wherever its units turn on or off, and weights that encodings refuse. */
#include "tests/support/fake_position.h"
#include "tests/support/random.h"

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
    return bind_encoding_weights("fire", stack, width, weights);
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

/* A number of the last layer's tensor of this name; all others are 1. */
typedef struct damaged_number {
    const char *tensor;
    float value;
    bool last; /* not the first */
} damaged_number;

static const float *make_damaged(void *user, const ferry_position_tensor *declared, int32_t layer, size_t count)
{
    const damaged_number *damaged = user;
    float *numbers = kept_memory(count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) numbers[i] = 1;
    if (layer == 1 && strcmp(declared->name, damaged->tensor) == 0)
        numbers[damaged->last ? count - 1 : 0] = damaged->value;
    return numbers;
}

/* Weights that are no numbers, or have the wrong sign, are named. */
TEST(test_bad_weights_are_refused)
{
    static const struct {
        const char *scheme, *tensor;
        float bad;
        const char *message;
    } rows[] = {
        {"kerple", "kerple_p", -0.5f, "tensor 'kerple_p' of layer 1: expected finite numbers from 0 on, found -0.5"},
        {"kerple", "kerple_a", NAN, "tensor 'kerple_a' of layer 1: expected finite numbers from 0 on, found"},
        {"kerple", "kerple_a", INFINITY, "found inf"},
        {"fire", "fire_c", NAN, "tensor 'fire_c' of layer 1: expected finite numbers, found"},
        {"fire", "fire_threshold", INFINITY, "tensor 'fire_threshold' of layer 1: expected finite numbers, found inf"},
        {"fire", "fire_w1", NAN, "tensor 'fire_w1'"},
        {"fire", "fire_b1", -INFINITY, "tensor 'fire_b1'"},
        {"fire", "fire_w2", INFINITY, "tensor 'fire_w2'"},
        {"fire", "fire_b2", NAN, "tensor 'fire_b2'"},
    };
    const fake_parameter width[] = {{.key = "width", .number = 2}, {0}};
    const ferry_position_stack stack = {.layers = 2, .d_model = 2, .heads = 2, .head_width = 1};
    ferry_position position;
    for (size_t r = 0; r < 2 * sizeof rows / sizeof *rows; r++) {
        damaged_number damaged = {rows[r / 2].tensor, rows[r / 2].bad, r % 2 == 1};
        const fake_file file = {.parameters = width, .make = make_damaged, .user = &damaged};
        REFUSE(try_bind_encoding_file(rows[r / 2].scheme, &stack, file, &position, &error), FERRY_ERROR_FORMAT,
               rows[r / 2].message);
    }
    static const float huge[] = {1e30f, 1e30f, 1e30f, 1e30f};
    const fake_file file = {.parameters = width, .tensor = huge};
    REFUSE(try_bind_encoding_file("fire", &stack, file, &position, &error), FERRY_ERROR_FORMAT,
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
            ferry_position position = bind_encoding_weights("kerple", &stack, 0, weights);
            bias_by_key(&position, 0, 50, 100, scores);
            for (int j = 0; j < 100; j++) assert_true(isfinite(scores[j]) && scores[j] <= 0);
            assert_true(scores[50] == 0);
            ferry_position_unbind(&position);
        }
}
