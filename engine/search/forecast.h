/* How many positions of keys and values the sentences in progress will hold when they hold the most.
 *
 * A sentence holds those of its source from the beginning, and those of its hypotheses grow with each step until it
 * ends. Sentences that begin together are longest together, and hold twice what they hold at first; those that begin
 * one after the other hold less for the same work. So that memory is used evenly, sentences enter by what all will hold
 * instead of what they hold now. The lengths of translations are estimates: they change when a sentence is translated,
 * never how. */
#ifndef FERRY_SEARCH_FORECAST_H
#define FERRY_SEARCH_FORECAST_H

#include <stdint.h>

/* A sentence: how many steps from now it ends, and what it holds now. */
typedef struct ferry_forecast_end {
    int32_t steps;
    int64_t held; /* positions */
} ferry_forecast_end;

typedef struct ferry_forecast {
    ferry_forecast_end *ends; /* [count] by steps, ascending; room for all sentences that are added, the caller's */
    int32_t count;
    double growth; /* positions that each sentence takes in a step */
} ferry_forecast;

void ferry_forecast_add(ferry_forecast *forecast, ferry_forecast_end end);
/* The most positions that are held at the same time if one more sentence is added. */
double ferry_forecast_with(const ferry_forecast *forecast, ferry_forecast_end end);

#endif
