/* The encoder: several sentences at once, without padding. */
#ifndef FERRY_GRAPH_ENCODER_H
#define FERRY_GRAPH_ENCODER_H

#include "state.h"

/* Encodes sentences s < count, each ids[offsets[s]] … ids[offsets[s + 1] - 1], S ≥ 1 ids below the vocabulary's size.
 * output [offsets[count], D]. A sentence's rows do not depend on its neighbors. Errors: MEMORY, LIMIT. */
ferry_status ferry_encode(ferry_state *state, const int32_t *ids, const int32_t *offsets, int32_t count, float *output,
                          ferry_error *error);

#endif
