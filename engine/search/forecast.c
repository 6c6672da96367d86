#include "forecast.h"

#include <stdbool.h>

void ferry_forecast_add(ferry_forecast *forecast, ferry_forecast_end end)
{
    int32_t i = forecast->count++;
    for (; i > 0 && forecast->ends[i - 1].steps > end.steps; i--) forecast->ends[i] = forecast->ends[i - 1];
    forecast->ends[i] = end;
}

double ferry_forecast_with(const ferry_forecast *forecast, ferry_forecast_end end)
{
    const ferry_forecast_end *next = forecast->ends, *last = forecast->ends + forecast->count;
    int64_t held = end.held;
    double most = 0;
    bool added = false;
    for (int32_t i = 0; i < forecast->count; i++) held += forecast->ends[i].held;
    /* What is held grows until a sentence ends: one of these moments is the peak. */
    for (int32_t left = forecast->count + 1; left > 0; left--) {
        const bool now = !added && (next == last || end.steps <= next->steps);
        const ferry_forecast_end ending = now ? end : *next++;
        const double positions = (double)held + forecast->growth * left * ending.steps;
        if (positions > most) most = positions;
        added = added || now;
        held -= ending.held;
    }
    return most;
}
