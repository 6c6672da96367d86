/* The encoding of docs/adding-an-encoding.md, compiled from that page with its row in the table of schemes, does what
 * the page says. That it decodes in both stacks, in one pass as step by step, is tested by its row in test_untrained.c.
 */
#include "tests/support/fake_position.h"

enum { COUNT = 40, KEYS = 2 * COUNT - 1, HEADS = 4, DIMS = 128 };

static const ferry_inspect_shape shape = {
    .d_model = 32, .heads = HEADS, .ffn_width = 32, .encoder_layers = 1, .decoder_layers = 1, .vocab = 16};

/* The product of two sinusoidal rows whose frequencies begin with k = 1, less that of a row with itself. */
static double product(int32_t i, int32_t j)
{
    double sum = 0;
    for (int32_t k = 1; k <= DIMS / 2; k++) {
        const double frequency = exp(-log(10000) * 2 * k / DIMS);
        sum += sin(i * frequency) * sin(j * frequency) + cos(i * frequency) * cos(j * frequency);
    }
    return sum - DIMS / 2;
}

TEST(the_bias_is_that_of_the_page)
{
    static const double ratios[HEADS] = {2, 4, 6, 8}; /* 8(h + 1)/H */
    ferry_model *model;
    float scores[KEYS];
    CHECK(ferry_inspect_untrained("sandwich", &shape, NULL, &model, &error));
    for (int32_t stack = 0; stack < 2; stack++)
        for (int32_t head = 0; head < HEADS; head++) {
            CHECK(ferry_inspect_position_scores(model, (ferry_inspect_stack)stack, 0, head, COUNT, NULL, NULL, scores,
                                                &error));
            for (int32_t j = 0; j < (stack == FERRY_INSPECT_DECODER ? COUNT : KEYS); j++)
                assert_true(fabs((double)scores[j] - product(COUNT - 1, j) / ratios[head]) < 1e-5);
        }
    ferry_model_close(model);
}

TEST(a_bad_parameter_is_refused_by_name)
{
    ferry_position position;
    const ferry_position_stack stack = {.layers = 1, .d_model = 8, .heads = 2, .head_width = 4};
    REFUSE(try_bind_encoding("sandwich", &stack, "dims 127", NULL, &position, &error), FERRY_ERROR_FORMAT,
           "position.dims: expected an even number from 2 to 65536");
}
