/* Changes of the input that keep what is asked for: other text in front of a sentence, or its source in another order.
 * Both fill two batches whose sentences correspond, before and after the change. */
#ifndef FERRY_LAB_PROBE_CHANGES_H
#define FERRY_LAB_PROBE_CHANGES_H

#include "probe_sentences.h"

/* At most this many sentences are shifted, evenly chosen from those that can be. */
enum { FERRY_PROBE_SUBJECTS = 64 };

/* In front of sentences of up to half the trained length, as many other pairs as fit into `length` source pieces, with
 * their references in front of its own. *mean: source pieces in front, NAN if no sentence could be shifted; what does
 * not fit into the model's positions is left out. Errors: MEMORY. */
ferry_status ferry_probe_shift(const ferry_probe_sentences *sentences, int32_t length, ferry_probe_batch *before,
                               ferry_probe_batch *after, double *mean, ferry_error *error);
/* All sentences; after: the pieces of each source permuted at random, the same in every run. Errors: MEMORY. */
ferry_status ferry_probe_shuffle(const ferry_probe_sentences *sentences, ferry_probe_batch *after, ferry_error *error);

#endif
