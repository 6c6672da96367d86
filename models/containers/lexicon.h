/* Marian's lexical shortlists: the binary file (`lex.*.s2t.bin`) and the text file (`lex.s2t`). */
#ifndef FERRY_CONTAINERS_LEXICON_H
#define FERRY_CONTAINERS_LEXICON_H

#include "base/string_table.h"

typedef struct ferry_lexicon {
    int32_t first;           /* the most frequent target ids, 0 … first - 1, are always allowed */
    int32_t source_count;    /* source vocabulary */
    const uint32_t *offsets; /* [source_count + 1] */
    const int32_t *ids;      /* [offsets[source_count]], ascending within a list */
} ferry_lexicon;

bool ferry_is_binary_lexicon(ferry_view bytes);
/* Checks magic, size, checksum, offsets and ids against the vocabularies' sizes. Copies into `arena`. Errors: FORMAT,
 * UNSUPPORTED (another program's .bin), MEMORY. */
ferry_status ferry_lexicon_read(ferry_view bytes, const char *file, int32_t source_count, int32_t target_count,
                                ferry_arena *arena, ferry_lexicon *lexicon, ferry_error *error);

typedef struct ferry_lexicon_words {
    const ferry_string_table *pieces; /* [count] by id */
    int32_t count, unk;               /* unk: id of unknown pieces; -1: lines with an unknown piece are skipped */
} ferry_lexicon_words;

/* Lines `target source probability`. The first 100 target ids are always allowed, and of each source piece the 100 most
 * probable. */
ferry_status ferry_lexicon_read_text(ferry_view bytes, const char *file, const ferry_lexicon_words *source,
                                     const ferry_lexicon_words *target, ferry_arena *arena, ferry_lexicon *lexicon,
                                     ferry_error *error);

#endif
