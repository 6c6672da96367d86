/* Vocabularies and merges of other systems in text files. */
#ifndef FERRY_CONTAINERS_VOCABULARY_FILES_H
#define FERRY_CONTAINERS_VOCABULARY_FILES_H

#include "base/string_table.h"

/* Marian's vocabulary: YAML `piece: id` lines in all the forms that occur (plain, single- and double-quoted with
 * escapes, the two-line form `? piece` / `: id`), or a JSON object. Keys are texts whatever they look like; only LF
 * ends a line; a line is split at its last colon. *pieces [*count] by id, empty where no piece has the id; *count is
 * the largest id + 1. Errors: FORMAT (file, line, what; an id twice), MEMORY. */
ferry_status ferry_yaml_vocabulary(ferry_view text, const char *file, ferry_arena *arena, const ferry_view **pieces,
                                   int32_t *count, ferry_error *error);
/* One piece a line. */
ferry_status ferry_lines_vocabulary(ferry_view text, const char *file, ferry_arena *arena, const ferry_view **pieces,
                                    int32_t *count, ferry_error *error);

/* Merges of byte pair encoding as text, the best first: a line has a merge's left and right, with one blank between
 * them.
 *
 * - subword-nmt's codes (`source.bpe`, Argos' `bpe.model`): the first line may be `#version: 0.1` or `#version: 0.2`;
 *   without it, it is 0.1.
 * - FSMT's `merges.txt`, as fairseq wrote it: no version; a count follows the two and is ignored, as are empty lines; a
 *   last line without LF is not read. */
typedef struct ferry_bpe_codes {
    const ferry_string_table *merges; /* [count] "left right" */
    int32_t count;
    int32_t version; /* 1: 0.1, 2: 0.2 */
} ferry_bpe_codes;

/* `fsmt`: FSMT's merges, otherwise subword-nmt's. The merges are copied into `arena`, which takes 20 bytes more for
 * each line of at least 3. Errors, which name file and line: FORMAT, UNSUPPORTED (another version; characters that only
 * one of the two programs takes for white space), LIMIT (2²² merges), MEMORY. */
ferry_status ferry_bpe_codes_read(ferry_view bytes, const char *file, bool fsmt, ferry_arena *arena,
                                  ferry_bpe_codes *codes, ferry_error *error);

#endif
