/* What sentences in progress will hold at most: against numbers by hand, and against taking every step. */
#include "tests/support/random.h"
#include "tests/support/support.h"

#include "engine/search/forecast.h"

enum { MOST = 20 };

/* The peak step by step: a sentence that ends after n steps holds what it took in all of them. */
static double step_by_step(const ferry_forecast_end *ends, int32_t count, double growth)
{
    double most = 0;
    for (int32_t step = 1; step <= 50; step++) {
        double held = 0;
        for (int32_t i = 0; i < count; i++)
            if (ends[i].steps >= step) held += (double)ends[i].held + growth * step;
        if (held > most) most = held;
    }
    return most;
}

TEST(test_forecasts_by_hand)
{
    ferry_forecast_end room[3];
    ferry_forecast forecast = {.ends = room, .growth = 1};
    /* Alone: 8 of the source, and one for each of 10 steps. */
    assert_true(ferry_forecast_with(&forecast, (ferry_forecast_end){10, 8}) == 18);
    ferry_forecast_add(&forecast, (ferry_forecast_end){10, 8});
    /* Both end together: twice as much. One that ends after 2 steps: 8 + 2 + 8 + 2 then, 18 in the end. */
    assert_true(ferry_forecast_with(&forecast, (ferry_forecast_end){10, 8}) == 36);
    assert_true(ferry_forecast_with(&forecast, (ferry_forecast_end){2, 8}) == 20);
    /* One that outlives it: 8 + 10 + 4 + 10, and 4 + 20 in the end. */
    assert_true(ferry_forecast_with(&forecast, (ferry_forecast_end){20, 4}) == 32);
    forecast.growth = 0;
    assert_true(ferry_forecast_with(&forecast, (ferry_forecast_end){20, 4}) == 12);
    ferry_forecast_add(&forecast, (ferry_forecast_end){3, 1});
    assert_int_equal(room[0].steps, 3);
    assert_int_equal(room[1].steps, 10);
    assert_int_equal(forecast.count, 2);
}

TEST(test_forecasts_are_those_of_every_step)
{
    uint32_t random = 5;
    for (int round = 0; round < 300; round++) {
        ferry_forecast_end room[MOST], ends[MOST];
        ferry_forecast forecast = {.ends = room, .growth = round % 3 * 0.875};
        const int32_t count = 1 + (int32_t)(next_random(&random) % MOST);
        for (int32_t i = 0; i < count; i++) {
            ends[i].steps = 1 + (int32_t)(next_random(&random) % 12);
            ends[i].held = next_random(&random) % 100;
            const double expected = step_by_step(ends, i + 1, forecast.growth);
            assert_true(fabs(ferry_forecast_with(&forecast, ends[i]) - expected) < 1e-9);
            ferry_forecast_add(&forecast, ends[i]);
        }
    }
}
