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
