/* A measured value and its 95 % interval. */
#ifndef FERRY_LAB_INTERVAL_H
#define FERRY_LAB_INTERVAL_H

/* NAN: unknown. */
typedef struct ferry_interval {
    double value, low, high;
} ferry_interval;

#endif
