/* SentencePiece models, tables of pieces, merges and lists of ids, into a plan. */
#ifndef FERRY_TEXT_VOCABULARIES_H
#define FERRY_TEXT_VOCABULARIES_H

#include "models/plan/plan.h"

enum { FERRY_IMPORT_MAX_IDS = 1 << 13 }; /* of a list in which each is compared with every other: special, suppressed */

/* Loads a SentencePiece model. The plan's account counts its memory. */
ferry_status ferry_import_open_spm(ferry_import_plan *plan, ferry_view model, const char *file, struct ferry_spm **spm,
                                   ferry_error *error);
/* A table of `count` pieces, all empty, in the plan's memory. */
ferry_status ferry_import_pieces(ferry_import_plan *plan, int32_t count, ferry_view **pieces, ferry_error *error);
/* Puts SentencePiece models into plan->text. `target` NULL: the source's serves both; "": the target's is missing. */
ferry_status ferry_import_segmenters(ferry_import_plan *plan, const char *source, const char *target,
                                     ferry_error *error);
/* plan->text with one vocabulary for both sides: `pieces` [V]. */
void ferry_import_one_vocabulary(ferry_import_plan *plan, const ferry_string_table *pieces, int32_t unknown_id);
/* With the ids in plan->generation: the first end of sentence follows each line; ends of sentence, padding and start
 * have no text. */
ferry_status ferry_import_special_ids(ferry_import_plan *plan, ferry_error *error);
/* {piece: id} → pieces [count] by id; every id is in 0 … count - 1 and occurs once; ids without a piece get an empty
 * one. */
ferry_status ferry_import_vocabulary(ferry_import_plan *plan, ferry_json json, int32_t count,
                                     const ferry_string_table **pieces, ferry_error *error);
/* The SentencePiece model's own table, padded with empty pieces to `count`; *unknown_id: its unknown piece. */
ferry_status ferry_import_own_vocabulary(ferry_import_plan *plan, size_t segmenter, int32_t count,
                                         const ferry_string_table **pieces, int32_t *unknown_id, ferry_error *error);
/* Reads merges of FSMT (`fsmt`) or subword-nmt for both sides, and sets the kind of the tokenizer. `file`: the name in
 * messages. */
ferry_status ferry_import_merges(ferry_import_plan *plan, const char *name, const char *file, bool fsmt,
                                 ferry_error *error);
/* The id of `piece` in {piece: id}; -1 if it is absent. */
int32_t ferry_import_piece_id(ferry_json json, const char *piece);
/* FORMAT if a file with `words` words cannot belong to the weights, which have `rows` rows of embeddings. */
ferry_status ferry_import_check_rows(const ferry_import_plan *plan, const char *file, int32_t words, int32_t rows,
                                     ferry_error *error);

/* The array `old` [count] with room for `more` elements of `size` bytes after them, in the plan's memory. Every array
 * from here has room for the next power of two, so that its capacity need not be kept. NULL if out of memory. */
void *ferry_import_grow(ferry_import_plan *plan, const void *old, int32_t count, int32_t more, size_t size);
/* Appends ids to a list, which is empty (NULL, 0) or made by this function, in the plan's memory. Skips -1 and ids that
 * the list has. Errors: LIMIT (FERRY_IMPORT_MAX_IDS). */
ferry_status ferry_import_ids(ferry_import_plan *plan, const int32_t *ids, int32_t count, const int32_t **list,
                              int32_t *list_count, ferry_error *error);
/* The same for ids without text: plan->text.special_ids. */
ferry_status ferry_import_special(ferry_import_plan *plan, const int32_t *ids, int32_t count, ferry_error *error);
/* The same for the ids that are never generated: plan->generation.decoding.search.suppressed_ids. */
ferry_status ferry_import_suppress(ferry_import_plan *plan, const int32_t *ids, int32_t count, ferry_error *error);

#endif
