/* Learned absolute positions (Gehring et al. 2017): one trained row for each position is added to the embedding.
 *
 * The table is the limit: a longer text is refused, never cut. */
#include "position.h"
#include "schemes.h"

enum { WEIGHT }; /* tensor */
static const ferry_position_parameter parameters[] = {
    {"max_positions", FERRY_POSITION_INTEGER, "rows of the table; longer texts are refused", .min = "1",
     .max = "2147483647", .unit = "number of positions", .default_value = "1024"},
    {0},
};
static const ferry_position_tensor tensors[] = {
    {"weight", "max_positions, D", "added to the embedding", .kept = true},
    {0},
};

static void embed(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  float *x /* [count, D] */, int32_t first, int32_t count)
{
    (void)state;
    const size_t D = (size_t)position->stack.d_model;
    kernels->add(x, position->tensors[WEIGHT] + (size_t)first * D, (size_t)count * D);
}

const ferry_position_scheme ferry_position_learned = {.name = "learned",
                                                      .title = "learned",
                                                      .paper = "Gehring et al. 2017",
                                                      .parameters = parameters,
                                                      .tensors = tensors,
                                                      .limit = "max_positions",
                                                      .embed = embed,
                                                      .token_operations = "D"};
