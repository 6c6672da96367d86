#include "forecast.h"

#include "base/bytes.h"
#include "engine/kernels/kernels.h"

/* Expected length of a translation: ratio × source length + EXTRA_TOKENS. `ratio` is the number of target tokens for
 * each source token in the sentences that have ended, and in a pseudo-sentence of PRIOR_TOKENS on each side. */
enum { PRIOR_TOKENS = 32, EXTRA_TOKENS = 2 };
/* Positions that each hypothesis of a beam except the first adds in a step; it shares its other positions with the
 * first. */
#define BEAM_GROWTH 0.25

ferry_forecast ferry_forecast_init(bool attends, int32_t beam)
{
    return (ferry_forecast){.growth = attends ? 1 + BEAM_GROWTH * (beam - 1) : 0,
                            .partial = attends ? (beam - 1) * FERRY_BLOCK_POSITIONS : 0};
}

ferry_forecast_end ferry_forecast_expect(const ferry_forecast *forecast, int32_t length, int32_t steps)
{
    const double ratio =
        (double)(forecast->ended_steps + PRIOR_TOKENS) / (double)(forecast->ended_length + PRIOR_TOKENS);
    const double left = ratio * length + EXTRA_TOKENS - steps;
    const int64_t source = (int64_t)ferry_round_up((size_t)length, FERRY_BLOCK_POSITIONS);
    return (ferry_forecast_end){.steps = left > 1 ? (int32_t)left : 1,
                                .held = source + forecast->partial + (int64_t)(forecast->growth * steps)};
}

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
    double peak = 0;
    bool added = false;
    for (int32_t i = 0; i < forecast->count; i++) held += forecast->ends[i].held;
    /* `held` grows until a sentence ends, so the peak is just before an end. */
    for (int32_t left = forecast->count + 1; left > 0; left--) {
        const bool now = !added && (next == last || end.steps <= next->steps);
        const ferry_forecast_end ending = now ? end : *next++;
        const double positions = (double)held + forecast->growth * left * ending.steps;
        if (positions > peak) peak = positions;
        added = added || now;
        held -= ending.held;
    }
    return peak;
}
