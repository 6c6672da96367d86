/* A text ends as its source does: a label has no period, one with "…" keeps it. */
#ifndef FERRY_DOCUMENTS_ENDS_H
#define FERRY_DOCUMENTS_ENDS_H

#include "base/string_table.h"

/* Changes the end of a translation to that of its source: "…" and ":" are those of the source; where that ends with a
 * letter or a number, what ends a sentence goes; where it ends a sentence, the translation does, too. */
ferry_status ferry_end_as(ferry_view source, ferry_buffer *target, ferry_error *error);

#endif
