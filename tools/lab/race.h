/* The speed of translators that take turns: what else the machine does meets all of them. */
#ifndef FERRY_LAB_RACE_H
#define FERRY_LAB_RACE_H

#include "engine/ferry.h"
#include "statistics.h"

/* Medians over lines or rounds, for each of which the racers took turns. */
typedef struct ferry_race_speed {
    ferry_interval line_ms;      /* one line, translated alone by one thread */
    ferry_interval token_ms;     /* the same for each target token that it gave, end of sentence included */
    ferry_interval token_ratio;  /* of a line's token_ms to that of the first racer; with 1 in the interval: noise */
    ferry_interval tokens_per_s; /* target tokens, many lines in one call on all threads */
} ferry_race_speed;

/* The translators of one model. */
typedef struct ferry_racer {
    ferry_translator *single; /* of one thread, for lines one by one */
    ferry_translator *many;   /* for many lines in one call */
} ferry_racer;

/* Measures `count` racers on some of the lines, evenly spread, which all can translate, and fills their speeds[count]:
 * NAN without lines. The first line is translated once before it counts. Errors: those of translating, MEMORY. */
ferry_status ferry_race(const ferry_racer *racers, size_t count, const ferry_text *lines, size_t line_count,
                        ferry_race_speed *speeds, ferry_error *error);

#endif
