/* Merges of byte pair encoding as text, the best first: a line has a merge's left and right, with one blank between
 * them.
 *
 * - subword-nmt's codes (`source.bpe`, Argos' `bpe.model`): the first line may be `#version: 0.1` or `#version: 0.2`;
 *   without it, it is 0.1.
 * - FSMT's `merges.txt`, as fairseq wrote it: no version; what follows the two, a count, has no meaning, nor has an
 * empty line; a last line without LF is not read. */
#ifndef FERRY_CONTAINERS_BPE_CODES_H
#define FERRY_CONTAINERS_BPE_CODES_H

#include "base/texts.h"

typedef struct ferry_bpe_codes {
    const ferry_texts *merges; /* [count] "left right" */
    int32_t count;
    int32_t version; /* 1: 0.1, 2: 0.2 */
} ferry_bpe_codes;

/* `fsmt`: of that program. The merges are copied into `arena`, which takes 20 bytes more for each line of at least 3.
 * Errors, which name file and line: FORMAT, UNSUPPORTED (another version; what is no white space for the one program,
 * but for the other), LIMIT (2²² merges), MEMORY. */
ferry_status ferry_bpe_codes_read(ferry_view bytes, const char *file, bool fsmt, ferry_arena *arena,
                                  ferry_bpe_codes *codes, ferry_error *error);

#endif
