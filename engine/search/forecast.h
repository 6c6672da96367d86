/* The peak number of positions of keys and values that the sentences in progress will hold.
 *
 * A sentence holds its source's positions from the beginning. Its hypotheses take more in each step, until it ends.
 * Sentences that begin together reach their full length together, and then hold about twice their first number of
 * positions. Sentences that begin one after the other have a lower peak for the same work. So a sentence enters if
 * the forecast peak fits. The lengths of translations are estimates: they change when a sentence is translated,
 * never how. */
#ifndef FERRY_SEARCH_FORECAST_H
#define FERRY_SEARCH_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ferry_forecast_end {
    int32_t steps; /* until the sentence ends */
    int64_t held;  /* positions that it holds now */
} ferry_forecast_end;

typedef struct ferry_forecast {
    /* [count] ascending by `steps`. The caller's memory, with room for all sentences that are added. */
    ferry_forecast_end *ends;
    int32_t count;
    double growth;                     /* positions that each sentence takes in a step */
    int32_t partial;                   /* unused positions of a sentence in partially filled blocks */
    int64_t ended_length, ended_steps; /* sums over the sentences that have ended */
} ferry_forecast;

/* An empty forecast; the caller sets `ends`. `attends`: the decoder keeps keys and values, not the states of an
 * SSRU. */
ferry_forecast ferry_forecast_init(bool attends, int32_t beam);
/* The expected end of a sentence with `length` source ids, `steps` steps after its beginning. */
ferry_forecast_end ferry_forecast_expect(const ferry_forecast *forecast, int32_t length, int32_t steps);
void ferry_forecast_add(ferry_forecast *forecast, ferry_forecast_end end);
/* The peak number of positions if one more sentence is added. */
double ferry_forecast_with(const ferry_forecast *forecast, ferry_forecast_end end);

#endif
