/* YAML as Marian and OPUS-MT write it: configurations (libyaml), and vocabularies of one `piece: id` a line. */
#ifndef FERRY_CONTAINERS_YAML_H
#define FERRY_CONTAINERS_YAML_H

#include "base/memory.h"
#include "json.h"

/* Parses a configuration: one block mapping of scalars and of lists of scalars, as a tree of texts, for the getters of
 * json.h with ferry_json.texts. A key that occurs twice is an error; a value `~` counts as absent. What it may take, 64
 * times the text, is taken from the account (budget.h). *root belongs to the caller (json_decref). Errors: FORMAT
 * (file, line, what), UNSUPPORTED (nested mappings, anchors), MEMORY (or the account refused). */
ferry_status ferry_yaml_parse(ferry_view text, const char *file, ferry_account *account, json_t **root,
                              ferry_error *error);

/* A vocabulary: YAML `piece: id` lines in all the forms that occur (plain, single- and double-quoted with escapes, the
 * two-line form `? piece` / `: id`), or a JSON object. Keys are texts whatever they look like; only LF ends a line; a
 * line is split at its last colon. *pieces [*count] by id, empty where no piece has the id; *count is the largest id
 * + 1. Errors: FORMAT (file, line, what; an id twice), MEMORY. */
ferry_status ferry_yaml_vocabulary(ferry_view text, const char *file, ferry_arena *arena, const ferry_view **pieces,
                                   int32_t *count, ferry_error *error);
/* One piece a line. */
ferry_status ferry_lines_vocabulary(ferry_view text, const char *file, ferry_arena *arena, const ferry_view **pieces,
                                    int32_t *count, ferry_error *error);

#endif
