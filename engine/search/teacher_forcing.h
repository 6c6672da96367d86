/* Forced decoding (teacher forcing): the target ids are given. Passes of the decoder over all their positions
 * compute the log-probability of each id and its cross-attention weights. The values of a row do not depend on the
 * number of rows. So they have the same bits as in greedy search that chooses the same ids. */
#ifndef FERRY_SEARCH_TEACHER_FORCING_H
#define FERRY_SEARCH_TEACHER_FORCING_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "decoding.h"

typedef struct ferry_kv_sequence ferry_kv_sequence;
typedef struct ferry_state ferry_state;

/* The target ids of a sentence, without a start token. */
typedef struct ferry_teacher_target {
    const int32_t *ids; /* [T] below the target vocabulary's size */
    int32_t length;     /* T */
    int32_t sentence;   /* index of `sentences` */
    /* NULL, or a bit for each id: the last token may be any of these, and ids[T - 1] is unused. */
    const uint64_t *last;
    float *weights; /* [T, S] result; NULL: not wanted */
    /* [T] result: log-probabilities, after no rule but suppressed_ids; NULL: not wanted, then in all targets. */
    float *scores;
} ferry_teacher_target;

typedef struct ferry_teacher_force_rules {
    int32_t start_id;
    ferry_alignment alignment;
    /* [suppressed_count] words that have no share of the probability unless they are given. */
    const int32_t *suppressed_ids;
    size_t suppressed_count;
} ferry_teacher_force_rules;

/* `sentences`: from ferry_decoder_begin. Releases its scratch in the state's arena, also after an error. Errors:
 * MEMORY, LIMIT, CANCELLED; FORMAT (a logit was not finite). */
ferry_status ferry_teacher_force(ferry_state *state, const ferry_teacher_force_rules *rules,
                                 ferry_kv_sequence *sentences, const ferry_teacher_target *targets, int32_t count,
                                 ferry_error *error);

#endif
