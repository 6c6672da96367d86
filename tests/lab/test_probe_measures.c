/* What probes measure, on numbers whose result is known. */
#include "tests/support/random.h"
#include "tests/support/support.h"

#include "tools/lab/probe_attention.h"
#include "tools/lab/probe_changes.h"
#include "tools/lab/probe_output.h"
#include "tools/lab/probe_position.h"
#include "tools/lab/probe_similarity.h"

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

/* ---- attention ---- */

TEST(equal_weights_have_the_entropy_and_distance_of_equal_weights)
{
    enum { ROWS = 4, KEYS = 7 };
    float weights[ROWS * KEYS];
    ferry_attention_sums sums = {0};
    double distance = 0;
    for (int i = 0; i < ROWS * KEYS; i++) weights[i] = 1.0f / KEYS;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < KEYS; j++) distance += abs(i - j) / 7.0;
    ferry_attention_sums_add(&sums, weights, ROWS, KEYS, false);
    assert_true(sums.queries == ROWS);
    assert_true(near(sums.entropy, ROWS * log(KEYS), 1e-6) && near(sums.uniform_entropy, ROWS * log(KEYS), 1e-12));
    assert_true(near(sums.distance, distance, 1e-6) && near(sums.uniform_distance, distance, 1e-12));
}

TEST(weights_of_a_decoder_reach_back_only)
{
    const float weights[] = {1, 0, 0, 0.25f, 0.75f, 0, 0.5f, 0, 0.5f};
    ferry_attention_sums sums = {0};
    ferry_attention_sums_add(&sums, weights, 3, 3, true);
    assert_true(near(sums.entropy, 0.25 * log(4) - 0.75 * log(0.75) + log(2), 1e-9));
    assert_true(near(sums.uniform_entropy, log(2) + log(3), 1e-12));
    assert_true(near(sums.distance, 0.25 + 1, 1e-9));
    assert_true(near(sums.uniform_distance, 0.5 + 1, 1e-12));
}

/* ---- output ---- */

TEST(changes_of_predictions)
{
    const float quarter[] = {0, 1.0986123f, -INFINITY}, half[] = {5, 5, -INFINITY}; /* p = 1/4, 3/4; 1/2, 1/2 */
    ferry_output_sums sums = {0};
    ferry_output_sums_add(&sums, quarter, half, 3, 0);
    assert_true(sums.tokens == 1);
    assert_true(near(sums.nll, log(4), 1e-6) && near(sums.changed_nll, log(2), 1e-6));
    assert_true(near(sums.divergence, 0.25 * log(0.5) + 0.75 * log(1.5), 1e-6));
    ferry_output_sums_add(&sums, half, half, 3, 1);
    assert_true(sums.tokens == 2);
    assert_true(near(sums.nll, log(8), 1e-6) && near(sums.changed_nll, log(4), 1e-6));
    assert_true(near(sums.divergence, 0.25 * log(0.5) + 0.75 * log(1.5), 1e-6));
}

/* ---- similarity ---- */

TEST(cosines_of_centered_rows)
{
    const float a[] = {9, 9, 3, 1, 1, 1, 2, 4}, b[] = {3, 1, 2, 5, 2, 2}; /* rows 1 … 3 of a have mean 2, 2 */
    const int32_t a_rows[] = {1, 2, 3}, b_rows[] = {0, 1, 2};
    double mean[2];
    /* (1, -1)·(1, -1): 1. (-1, -1)·(0, 3): -1/√2. (0, 2)·(0, 0): left out. */
    assert_true(near(ferry_centered_cosine(a, a_rows, b, b_rows, 3, 2, mean), (1 - sqrt(0.5)) / 2, 1e-12));
    assert_true(isnan(ferry_centered_cosine(a, a_rows, a, a_rows, 1, 2, mean)));
}

/* ---- position ---- */

enum { SENTENCES = 120, WIDTH = 12, TRAINED = 9, MOST = 30 };

static int32_t offsets[SENTENCES + 1]; /* of the current test */

/* The states of a made-up model: state [WIDTH] of the token at `position`. */
typedef void state_maker(float *state, int32_t sentence, int32_t position, uint32_t *random);

static float noise(uint32_t *random)
{
    return (float)next_random(random) / 8388608.0f - 1.0f;
}

/* Every fourth sentence is longer than in training. */
static ferry_probe_position measure(state_maker *make)
{
    float *states = kept_memory((size_t)SENTENCES * MOST * WIDTH * sizeof *states);
    ferry_probe_position position;
    uint32_t random = 3;
    offsets[0] = 0;
    for (int32_t s = 0; s < SENTENCES; s++) {
        const int32_t most = s % 4 == 0 ? MOST : TRAINED + 1, least = s % 4 == 0 ? TRAINED + 2 : 1;
        const int32_t length = least + (int32_t)(next_random(&random) % (uint32_t)(most - least + 1));
        for (int32_t i = 0; i < length; i++) make(states + (size_t)(offsets[s] + i) * WIDTH, s, i, &random);
        offsets[s + 1] = offsets[s] + length;
    }
    CHECK(ferry_probe_position_measure(states, offsets, SENTENCES, WIDTH, TRAINED, &position, &error));
    return position;
}

/* The position is a sum of two columns that also hold other things. */
static void make_linear(float *state, int32_t sentence, int32_t position, uint32_t *random)
{
    (void)sentence;
    for (int d = 0; d < WIDTH; d++) state[d] = noise(random);
    state[1] = 3 - 2 * (float)position + state[0];
}

TEST(a_linear_position_is_read_anywhere)
{
    const ferry_probe_position found = measure(make_linear);
    assert_true(near(found.seen, 1, 1e-6) && near(found.beyond, 1, 1e-6) && near(found.beyond_refit, 1, 1e-6));
    assert_true(found.seen_error < 1e-3 && found.beyond_error < 1e-2);
}

static void make_random(float *state, int32_t sentence, int32_t position, uint32_t *random)
{
    (void)sentence, (void)position;
    for (int d = 0; d < WIDTH; d++) state[d] = noise(random);
}

TEST(random_states_tell_no_position)
{
    const ferry_probe_position found = measure(make_random);
    assert_true(fabs(found.seen) < 0.03 && fabs(found.beyond) < 0.03 && fabs(found.beyond_refit) < 0.03);
    assert_true(found.seen_error > 2 && found.beyond_error > 10);
}

/* Each token of a sentence adds what tells it from the others of this sentence, and says nothing about other sentences:
 * a regression that had seen the sentence would read the position. */
static void make_known_by_heart(float *state, int32_t sentence, int32_t position, uint32_t *random)
{
    uint32_t direction = (uint32_t)sentence + 1;
    (void)random;
    for (int d = 0; d < WIDTH; d++) {
        next_random(&direction);
        state[d] = (float)position * noise(&direction);
    }
}

TEST(sentences_that_were_fitted_do_not_count)
{
    assert_true(measure(make_known_by_heart).seen < 0.1);
}

/* Positions after those of training all look like the last of these. */
static void make_saturated(float *state, int32_t sentence, int32_t position, uint32_t *random)
{
    make_linear(state, sentence, position < TRAINED ? position : TRAINED, random);
}

TEST(beyond_the_training_length_a_direction_may_end)
{
    const ferry_probe_position found = measure(make_saturated);
    double mean = 0, count = 0, squared = 0, variation = 0, absolute = 0, later = 0;
    for (int32_t s = 0; s < SENTENCES; s++)
        for (int32_t i = 0; s % 4 != 0 && i < offsets[s + 1] - offsets[s]; i++, count++) mean += i;
    mean /= count;
    for (int32_t s = 0; s < SENTENCES; s += 4)
        for (int32_t i = TRAINED + 1; i < offsets[s + 1] - offsets[s]; i++, later++) {
            squared += (i - TRAINED) * (i - TRAINED);
            absolute += i - TRAINED;
            variation += (i - mean) * (i - mean);
        }
    assert_true(near(found.seen, 1, 1e-6));
    assert_true(near(found.beyond, 1 - squared / variation, 1e-3));
    assert_true(near(found.beyond_error, absolute / later, 1e-2));
    assert_true(fabs(found.beyond_refit) < 0.1);
}

TEST(too_few_sentences_give_no_number)
{
    const int32_t few[] = {0, 4, 8};
    float states[8 * WIDTH];
    uint32_t random = 1;
    ferry_probe_position found;
    for (int i = 0; i < 8; i++) make_linear(states + i * WIDTH, 0, i % 4, &random);
    CHECK(ferry_probe_position_measure(states, few, 2, WIDTH, TRAINED, &found, &error));
    assert_true(isnan(found.seen) && isnan(found.beyond) && isnan(found.beyond_refit));
    assert_true(isnan(found.seen_error) && isnan(found.beyond_error));
}
