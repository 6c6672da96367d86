/* Forced decoding: the target ids are given, and passes of the decoder over all their positions compute how likely
 * each is, and where the model looked when it chose it: the weights of cross-attention. Rows do not depend on their
 * number, so these are the values, bit for bit, that greedy search computes when it chooses the same ids. */
#ifndef FERRY_SEARCH_TEACHER_FORCING_H
#define FERRY_SEARCH_TEACHER_FORCING_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "decoding.h"

typedef struct ferry_kv_sequence ferry_kv_sequence;
typedef struct ferry_state ferry_state;

/* Sentences whose hypotheses get the weights of cross-attention. */
typedef enum ferry_wanted_weights {
    FERRY_WEIGHTS_NONE,
    FERRY_WEIGHTS_ALL,
    FERRY_WEIGHTS_OF_UNKNOWN /* sentences with a hypothesis that contains the unknown id */
} ferry_wanted_weights;

/* Target ids of a sentence, as a hypothesis has them: without a start token. */
typedef struct ferry_teacher_target {
    const int32_t *ids; /* [T] below the target vocabulary's size */
    int32_t length;     /* T */
    int32_t sentence;   /* index among the sentences */
    float *weights;     /* [T, S] result; NULL: not wanted */
    float *scores; /* [T] result: log-probabilities, changed by no other rule of a search; NULL, in all targets: not
                      wanted */
} ferry_teacher_target;

typedef struct ferry_teacher_force_rules {
    int32_t start_id;
    ferry_alignment alignment;
    const int32_t
        *suppressed_ids; /* [suppressed_count] words without a share of the probability, unless they are forced */
    size_t suppressed_count;
} ferry_teacher_force_rules;

/* `sentences` hold what ferry_decoder_begin has prepared. Scratch comes from the state's arena, and is released, also
 * after an error. Errors: MEMORY, LIMIT, CANCELLED; FORMAT (a logit was not finite). */
ferry_status ferry_teacher_force(ferry_state *state, const ferry_teacher_force_rules *rules,
                                 ferry_kv_sequence *sentences, const ferry_teacher_target *targets, int32_t count,
                                 ferry_error *error);

#endif
