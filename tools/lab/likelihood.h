/* How likely a model finds given translations (teacher forcing). */
#ifndef FERRY_LAB_LIKELIHOOD_H
#define FERRY_LAB_LIKELIHOOD_H

#include <stdbool.h>

#include "engine/ferry_inspect.h"

/* Of `count` sentences, sources and decoder inputs as ferry_inspect_logits takes them. nats [target_offsets[count]]:
 * -log p of what follows each input in its sentence, the end of sentence after the last one. A sentence that the model
 * cannot process (too long, or without a source id) has unscored[s] set instead. Errors: MEMORY, and others of
 * ferry_inspect_logits but LIMIT. */
ferry_status ferry_likelihoods(const ferry_model *model, const int32_t *ids, const int32_t *offsets,
                               const int32_t *target_ids, const int32_t *target_offsets, int32_t count, int32_t threads,
                               double *nats, bool *unscored, ferry_error *error);

#endif
