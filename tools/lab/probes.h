/* Probes of one model: what its hidden states and its attention tell about positions, and how much its output depends
 * on them, within the lengths that it was trained on and beyond.
 *
 * A sentence's length is its number of pieces: ids without the end of sentence. Layer 0 is what enters the first layer,
 * layer n what leaves the n-th (ferry_inspect_hidden). Numbers that could not be measured, for want of sentences, are
 * NAN. Everything is computed on the calling thread, and is the same in every run. */
#ifndef FERRY_LAB_PROBES_H
#define FERRY_LAB_PROBES_H

#include "base/arena.h"
#include "engine/ferry_inspect.h"

/* Sentence pairs, ragged as in ferry_inspect.h. */
typedef struct ferry_probe_text {
    const int32_t *source_ids, *source_offsets; /* as ferry_inspect_tokenize yields them */
    const int32_t *target_ids, *target_offsets; /* references, no start token; an eos_id at the end is a token, too */
    int32_t count;
    const int8_t *buckets; /* [count] of each pair, below bucket_count; -1: none */
    int32_t bucket_count;
    int32_t trained_length; /* the greatest length in training; longer is "beyond" */
} ferry_probe_text;

/* Ridge regression of a token's position from its state (probe_position.h), measured on sentences that it was not
 * fitted to. R²: 1 - squared error / that of a constant, the mean position of the sentences it was fitted to. 1: the
 * state tells the position; 0: nothing; negative: it misleads. */
typedef struct ferry_probe_position {
    double seen;         /* R² in sentences up to the trained length, of a regression on others of them */
    double beyond;       /* R² of the same regression at later positions: does it go on as it began? */
    double beyond_refit; /* R² there of a regression on later positions of other sentences: does the state tell them? */
    double seen_error;   /* mean |predicted - position| where `seen` is measured */
    double beyond_error; /* … where `beyond` is */
} ferry_probe_position;

/* Text in front of a sentence: other pairs, the source before the source and the reference before the reference. The
 * sentences are those of up to half the trained length; shift i is at most trained_length·ferry_probe_shift_factor(i)
 * pieces. Up to factor 1/2, everything is as long as in training. */
enum { FERRY_PROBE_SHIFTS = 5 }; /* 1/4, 1/2, 1, 2, 3 */
double ferry_probe_shift_factor(int32_t shift);

/* How much less likely a change of the input makes the reference, and how much it changes the output
 * (probe_output.h). In nats, per token of the reference without its end of sentence. */
typedef struct ferry_probe_change {
    int32_t sentences;
    double shift;       /* mean pieces in front of the source; 0 for shuffled sources */
    double nll;         /* -ln p(reference), teacher-forced, before the change */
    double changed_nll; /* after it */
    double divergence;  /* KL(before ‖ after) of the predicted tokens */
} ferry_probe_change;

typedef struct ferry_probe_stack {
    int32_t layers;
    ferry_probe_position *positions; /* [layers + 1] */
    /* [layers + 1, FERRY_PROBE_SHIFTS] Mean cosine of a token's state and that of the same token after the shift, both
     * less the mean state of the layer: 1, the state does not depend on position; 0, no more alike than any two. */
    double *similarity;
} ferry_probe_stack;

/* One head, over the queries of a bucket's sentences (probe_attention.h). */
typedef struct ferry_probe_head {
    double entropy;           /* mean of -Σ a ln a, nats */
    double relative_entropy;  /* entropy / that of equal weights, mean of ln(keys): 0 … 1 */
    double distance;          /* mean of Σ a·|i - j|, ids; NAN for cross-attention */
    double relative_distance; /* distance / that of equal weights; NAN for cross-attention */
} ferry_probe_head;

typedef struct ferry_probe_heads {
    int32_t layers, heads;
    ferry_probe_head *heads_of; /* [bucket_count, layers, heads]; NULL: the model has no such attention */
} ferry_probe_heads;

typedef struct ferry_probes {
    int32_t trained_length, bucket_count; /* as in the text */
    int32_t used, skipped;                /* pairs; skipped: too long for the model's positions */
    ferry_probe_stack stacks[2];          /* by ferry_inspect_stack */
    ferry_probe_heads attention[3];       /* by ferry_inspect_attention_kind; buckets are of source lengths for all */
    ferry_probe_change shifted[FERRY_PROBE_SHIFTS]; /* in front stands other text, in source and reference */
    ferry_probe_change *shuffled; /* [bucket_count] source pieces permuted at random, the reference unchanged */
    ferry_arena memory;           /* of the arrays */
} ferry_probes;

/* The caller releases *probes with ferry_probes_destroy; after an error it is empty. Errors: ARGUMENT (ids, offsets,
 * buckets), LIMIT (no sentence fits into the model's positions), UNSUPPORTED (the machine has no OpenBLAS), MEMORY. */
ferry_status ferry_probe_model(const ferry_model *model, const ferry_probe_text *text, ferry_probes *probes,
                               ferry_error *error);
void ferry_probes_destroy(ferry_probes *probes);

/* One head of bucket `bucket`; kinds that the model lacks have none. */
static inline const ferry_probe_head *ferry_probe_head_at(const ferry_probe_heads *kind, int32_t bucket, int32_t layer,
                                                          int32_t head)
{
    return &kind->heads_of[((size_t)bucket * (size_t)kind->layers + (size_t)layer) * (size_t)kind->heads +
                           (size_t)head];
}

#endif
