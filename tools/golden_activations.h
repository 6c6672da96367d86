/* Activations of R sentences, recorded from another engine as safetensors: what this engine has to reproduce. */
#ifndef FERRY_TOOLS_GOLDEN_ACTIVATIONS_H
#define FERRY_TOOLS_GOLDEN_ACTIVATIONS_H

#include "engine/ferry_inspect.h"

#include <stdbool.h>

typedef struct ferry_golden {
    const char *path; /* for messages; owned by the caller */
    int32_t R, S, T, G, D, V;
    int32_t *source_ids;        /* [R, S] padded */
    int32_t *source_lengths;    /* [R] 1 … S */
    int32_t *decoder_input_ids; /* [R, T] each row begins with the start token */
    int32_t *greedy_ids;        /* [R, G] without the start token, padded with eos */
    float *encoder_output;      /* [R, S, D] */
    float *logits;              /* [R, T, V] */
} ferry_golden;

/* Reads a file whose D and V must be those of the model. Prints a message and returns false on failure. */
bool ferry_golden_open(ferry_golden *golden, const char *path, const ferry_inspect_sizes *sizes);
/* Allowed on a zeroed object. */
void ferry_golden_close(ferry_golden *golden);

#endif
