/* What all probes of one model share: the pairs that fit into its positions, and batches of ids made of them. */
#ifndef FERRY_LAB_PROBE_SENTENCES_H
#define FERRY_LAB_PROBE_SENTENCES_H

#include "base/arena.h"
#include "probes.h"

/* Arrays indexed by ferry_inspect_stack: the source, and the reference. */
enum { FERRY_PROBE_SIDES = 2 };

typedef struct ferry_probe_pair {
    const int32_t *ids[FERRY_PROBE_SIDES];
    int32_t pieces[FERRY_PROBE_SIDES]; /* ids without the end of sentence */
    int32_t count[FERRY_PROBE_SIDES];  /* ids */
    int32_t bucket;
} ferry_probe_pair;

typedef struct ferry_probe_sentences {
    const ferry_model *model;
    ferry_inspect_sizes sizes;
    int32_t layers[FERRY_PROBE_SIDES];
    int32_t trained_length, bucket_count;
    ferry_probe_pair *pairs; /* [count] */
    int32_t count, skipped;
} ferry_probe_sentences;

/* In memory of the arena; the ids remain those of the text. Errors: ARGUMENT, MEMORY. */
ferry_status ferry_probe_sentences_take(const ferry_model *model, const ferry_probe_text *text, ferry_arena *arena,
                                        ferry_probe_sentences *sentences, ferry_error *error);
/* Whether a source of so many ids and so many inputs of the decoder fit into the model's positions. */
bool ferry_probe_fits(const ferry_probe_sentences *sentences, const int32_t ids[FERRY_PROBE_SIDES]);

/* A ragged batch as ferry_inspect.h wants it: sources, and inputs of the decoder. Zeroed, or with count 0: empty. */
typedef struct ferry_probe_batch {
    int32_t *ids[FERRY_PROBE_SIDES], *offsets[FERRY_PROBE_SIDES]; /* offsets [count + 1] once count > 0 */
    int32_t count;
    size_t id_capacity[FERRY_PROBE_SIDES], offset_capacity[FERRY_PROBE_SIDES];
} ferry_probe_batch;

/* Appends a pair behind others: as source the pieces of front[0 … fronts - 1], then `source` [pair->count[0]], the
 * pair's own ids in some order; as inputs the start, and the pieces of these pairs' references and of pair's. The row
 * of the input before a piece predicts it. Errors: MEMORY. */
ferry_status ferry_probe_batch_add(ferry_probe_batch *batch, const ferry_probe_sentences *sentences,
                                   const ferry_probe_pair *const *front, int32_t fronts, const ferry_probe_pair *pair,
                                   const int32_t *source, ferry_error *error);
/* All pairs as they are. */
ferry_status ferry_probe_batch_add_all(ferry_probe_batch *batch, const ferry_probe_sentences *sentences,
                                       ferry_error *error);
void ferry_probe_batch_destroy(ferry_probe_batch *batch);

/* The hidden states of one stack for a batch: [layers + 1, rows, D], which the caller frees. Errors: as
 * ferry_inspect_hidden. */
ferry_status ferry_probe_states(const ferry_probe_sentences *sentences, const ferry_probe_batch *batch,
                                ferry_inspect_stack stack, float **states, ferry_error *error);

#endif
