/* YAML as Marian and OPUS-MT write it: configurations (libyaml), and vocabularies of one `piece: id` a line. */
#ifndef FERRY_CONTAINERS_YAML_H
#define FERRY_CONTAINERS_YAML_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

/* A configuration: one block mapping of scalars and of lists of scalars. Texts live in the arena. */
typedef struct ferry_yaml_entry {
    const char *key;
    const char *const *values; /* [count], NUL-terminated; a scalar is a list of one */
    size_t count;
    bool is_list;
} ferry_yaml_entry;

typedef struct ferry_yaml {
    const char *file;
    ferry_yaml_entry *entries; /* [count] in the order of the file */
    size_t count;
} ferry_yaml;

/* `file` must outlive *yaml. A key that occurs twice is an error; a value `~` counts as absent. Errors: FORMAT (file,
 * line, what), UNSUPPORTED (nested mappings, anchors), MEMORY. */
ferry_status ferry_yaml_parse(ferry_view text, const char *file, ferry_arena *arena, ferry_yaml *yaml,
                              ferry_error *error);
/* NULL when the key is absent. */
const ferry_yaml_entry *ferry_yaml_get(const ferry_yaml *yaml, const char *key);

/* These leave *value as it is, the caller's default, when the key is absent. Errors: FORMAT. */
ferry_status ferry_yaml_integer(const ferry_yaml *yaml, const char *key, int32_t least, int32_t most, int32_t *value,
                                ferry_error *error);
ferry_status ferry_yaml_float(const ferry_yaml *yaml, const char *key, float *value, ferry_error *error);
ferry_status ferry_yaml_bool(const ferry_yaml *yaml, const char *key, bool *value, ferry_error *error);
ferry_status ferry_yaml_text(const ferry_yaml *yaml, const char *key, const char **value, ferry_error *error);

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
