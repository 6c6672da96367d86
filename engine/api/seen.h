/* What a model sees of a text, which its ids tell. */
#ifndef FERRY_API_SEEN_H
#define FERRY_API_SEEN_H

#include "engine/file/model_text.h"
#include "tokenizer/tokenizer.h"

/* Nothing but white space, "▁" for it, and characters that are nothing by themselves (Unicode's categories C: control,
 * format; M: marks); a letter; or other characters. */
typedef enum ferry_sight { FERRY_SIGHT_NOTHING, FERRY_SIGHT_OTHER, FERRY_SIGHT_LETTER } ferry_sight;
ferry_sight ferry_text_sight(ferry_view text);

/* How many ids are pieces that have something to see, and how many stand for text that the model does not know. Less
 * those that it adds to any text, none of the first means that it sees nothing. */
typedef struct ferry_seen {
    size_t known, unknown;
} ferry_seen;
ferry_seen ferry_seen_count(const ferry_model_text *text, const ferry_ids *ids);

#endif
