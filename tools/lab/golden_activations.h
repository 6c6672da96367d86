/* Activations of R sentences, recorded from another engine as safetensors: what this engine has to reproduce. */
#ifndef FERRY_LAB_GOLDEN_ACTIVATIONS_H
#define FERRY_LAB_GOLDEN_ACTIVATIONS_H

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
/* Greedy search as it is recorded: of at most so many tokens, without rules. */
ferry_status ferry_golden_translator(const ferry_model *model, int32_t most_tokens, ferry_translator **translator,
                                     ferry_error *error);
/* What `model` computes for `count` > 0 lines, each as one sentence, from `from` into `to` (as in ferry_options), and
 * at most 32 tokens of its translation. Prints a message and returns false on failure; close it anyway. */
bool ferry_golden_record(ferry_golden *golden, const char *path, const ferry_model *model, const ferry_text *lines,
                         size_t count, const char *from, const char *to);
/* Writes the file golden->path, with the lines. Prints a message and returns false on failure. */
bool ferry_golden_write(const ferry_golden *golden, const ferry_model *model, const ferry_text *lines);
/* Allowed on a zeroed object. */
void ferry_golden_close(ferry_golden *golden);

#endif
