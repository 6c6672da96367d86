/* Weights that encodings refuse, and extreme ones that they do not. */
#include "tests/support/fake_position.h"

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
    const char *width = "width 2";
    const ferry_position_stack stack = {.layers = 2, .d_model = 2, .heads = 2, .head_width = 1};
    ferry_position position;
    for (size_t r = 0; r < 2 * sizeof rows / sizeof *rows; r++) {
        damaged_number damaged = {rows[r / 2].tensor, rows[r / 2].bad, r % 2 == 1};
        const fake_file file = {.parameters = width, .make = make_damaged, .user = &damaged};
        REFUSE(try_bind_encoding_file(rows[r / 2].scheme, &stack, file, &position, &error), FERRY_ERROR_FORMAT,
               rows[r / 2].message);
    }
}

/* FIRE's slopes and intercepts are up to half of the largest float; units of width 1 are on. */
TEST(test_values_beyond_float32)
{
    static const struct {
        float w1, b1, w2, b2;
        bool accepted;
    } rows[] = {{1e30f, 0, 1e30f, 0, false},  {0, 1e30f, 1e30f, 0, false}, {0, 0, 0, 1.71e38f, false},
                {0, 0, 0, -1.71e38f, false},  {0, 0, 0, 1.7e38f, true},    {1e19f, 0, 1.7e19f, 0, true},
                {1e19f, 0, 1.8e19f, 0, false}};
    static const float one = 1;
    const char *width = "width 1";
    const ferry_position_stack stack = {.layers = 1, .d_model = 1, .heads = 1, .head_width = 1};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const fake_weights weights[] = {{"fire_w1", &rows[r].w1},
                                        {"fire_b1", &rows[r].b1},
                                        {"fire_w2", &rows[r].w2},
                                        {"fire_b2", &rows[r].b2},
                                        {0}};
        const fake_file file = {.parameters = width, .tensor = &one, .weights = weights};
        ferry_position position;
        ferry_error error = {0};
        const ferry_status status = try_bind_encoding_file("fire", &stack, file, &position, &error);
        if (rows[r].accepted)
            assert_int_equal(status, FERRY_OK);
        else
            check_refusal(status, &error, FERRY_ERROR_FORMAT,
                          "fire_w2 of layer 0: the values of head 0 are beyond float32");
        ferry_position_unbind(&position);
    }
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
            ferry_position position;
            CHECK(try_bind_encoding_file("kerple", &stack, (fake_file){.weights = weights}, &position, &error));
            bias_by_key(&position, 0, 50, 100, scores);
            for (int j = 0; j < 100; j++) assert_true(isfinite(scores[j]) && scores[j] <= 0);
            assert_true(scores[50] == 0);
            ferry_position_unbind(&position);
        }
}
