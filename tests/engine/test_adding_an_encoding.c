/* The encoding of docs/adding-an-encoding.md, compiled from that page with its row in the table of schemes, does what
 * the page says. That it decodes in both stacks, in one pass as step by step, is tested by its row in test_untrained.c.
 */
#include "tests/support/support.h"

#include "engine/position/position.h"

enum { COUNT = 40, KEYS = 2 * COUNT - 1, HEADS = 4 };

static const ferry_inspect_shape shape = {
    .d_model = 32, .heads = HEADS, .ffn_width = 32, .encoder_layers = 1, .decoder_layers = 1, .vocab = 16};

TEST(the_bias_is_that_of_the_page)
{
    ferry_model *model;
    float scores[KEYS];
    CHECK(ferry_inspect_untrained("logarithmic", &shape, NULL, &model, &error));
    for (int32_t stack = 0; stack < 2; stack++)
        for (int32_t head = 0; head < HEADS; head++) {
            CHECK(ferry_inspect_position_scores(model, (ferry_inspect_stack)stack, 0, head, COUNT, NULL, NULL, scores,
                                                &error));
            for (int32_t j = 0; j < (stack == FERRY_INSPECT_DECODER ? COUNT : KEYS); j++)
                assert_true(fabs((double)scores[j] + log1p(abs(COUNT - 1 - j))) < 1e-6);
        }
    ferry_model_close(model);
}

static bool no_text(void *user, const char *key, ferry_view *value)
{
    (void)user;
    (void)key;
    (void)value;
    return false;
}

static bool negative(void *user, const char *key, double *value)
{
    (void)user;
    *value = -1;
    return strcmp(key, "slope") == 0;
}

TEST(a_bad_parameter_is_refused_by_name)
{
    ferry_position position;
    const ferry_position_source source = {.text = no_text, .real = negative};
    const ferry_position_stack stack = {.layers = 1, .d_model = 8, .heads = 2, .head_width = 4};
    REFUSE(ferry_position_bind((ferry_view){"logarithmic", 11}, &stack, &source, ferry_kernels_find(NULL), &position,
                               &error),
           FERRY_ERROR_FORMAT, "position.slope");
}
