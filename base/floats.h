/* The floating-point environment that results depend on: rounding to nearest, numbers that are subnormal, exceptions
 * that are only noted. A host may have set another one. */
#ifndef FERRY_BASE_FLOATS_H
#define FERRY_BASE_FLOATS_H

#include <fenv.h>

typedef struct ferry_floats {
    fenv_t host;
} ferry_floats;

/* Sets the default environment of this thread, and returns the one that it had. */
static inline ferry_floats ferry_floats_begin(void)
{
    ferry_floats floats;
    fegetenv(&floats.host);
    fesetenv(FE_DFL_ENV);
    return floats;
}
/* Gives the thread its own back; exceptions in between leave no flags. */
static inline void ferry_floats_end(const ferry_floats *floats)
{
    fesetenv(&floats->host);
}
/* From here to the end of the block the environment is the default one. */
#define FERRY_FLOATS                                                                                                   \
    const ferry_floats floats_ __attribute__((cleanup(ferry_floats_end), unused)) = ferry_floats_begin()

#endif
