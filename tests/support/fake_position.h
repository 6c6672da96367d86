/* Positional encodings without a model: their parameters and tensors come from arrays of the test. */
#ifndef FERRY_SUPPORT_FAKE_POSITION_H
#define FERRY_SUPPORT_FAKE_POSITION_H

#include "engine/position/position.h"
#include "support.h"

typedef struct fake_weights {
    const char *name; /* NULL ends a list */
    const float *data;
} fake_weights;

/* A source of parameters ("clip 2, p2c paper": what reads as a number is one), and of one tensor or, for every layer,
 * of those in a list, or of what `make` returns for a tensor of `count` numbers: NULL refuses it. */
typedef struct fake_file {
    const char *parameters;
    const float *tensor;
    const fake_weights *weights;
    const float *(*make)(void *user, const ferry_position_tensor *declared, int32_t layer, size_t count);
    void *user;
} fake_file;

/* ferry_position_source's `tensor`, for a fake_file. */
ferry_status fake_tensor(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                         const int64_t *shape, const float **data, ferry_error *error);

ferry_status try_bind_encoding_file(const char *name, const ferry_position_stack *stack, fake_file file,
                                    ferry_position *position, ferry_error *error);
ferry_status try_bind_encoding(const char *name, const ferry_position_stack *stack, const char *parameters,
                               const float *tensor, ferry_position *position, ferry_error *error);
/* These two must succeed; ferry_position_unbind releases what they return. */
ferry_position bind_encoding(const char *name, const ferry_position_stack *stack, const char *parameters,
                             const float *tensor);
void extend_encoding(const ferry_position *position, ferry_position_state *state, int32_t count);
/* What the score hook adds for one query at `at` and every key, for schemes that do not use q and k. */
void bias_by_key(const ferry_position *position, int32_t head, int32_t at, int32_t keys, float *scores);

#endif
