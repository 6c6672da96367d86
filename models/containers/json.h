/* Configuration files in JSON (jansson) and YAML (libyaml), read as trees of jansson's, with errors that name file and
 * key. */
#ifndef FERRY_CONTAINERS_JSON_H
#define FERRY_CONTAINERS_JSON_H

#include <jansson.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"

/* An object and the file that it is in. `object` may be NULL: every key is absent. */
typedef struct ferry_json {
    const json_t *object;
    const char *file;
    bool texts;       /* all values are texts or lists of texts, and their form says whether they are numbers (YAML) */
    const char *path; /* of the keys in the file: "position."; NULL: none */
} ferry_json;

/* Jansson's hash tables are seeded from /dev/urandom when the first is made, so that keys of a file cannot be chosen to
 * collide. The first text that is parsed wraps its functions of memory: a program that has its own sets them before. */

/* Upper bound of the bytes that jansson holds while it parses `text`, and for the tree afterwards. A tree takes up to
 * 80 times the bytes of its text. */
size_t ferry_json_cost(ferry_view text);
/* Parses text whose root must be of the type JSON_OBJECT or JSON_ARRAY; a key that occurs twice is an error.
 * ferry_json_cost is taken from the account (ferry_budget). *root belongs to the caller: ferry_json_release, or
 * json_decref where the account need not get anything back. Errors: FORMAT, with file, line and column; MEMORY (or the
 * account refused). */
ferry_status ferry_json_parse(ferry_view text, const char *file, json_type type, ferry_account *account, json_t **root,
                              ferry_error *error);
/* Frees the tree of `text` (NULL is allowed) and gives its cost back to the account. */
void ferry_json_release(json_t *root, ferry_view text, ferry_account *account);

/* NULL when the key is absent or null, which mean the same. */
const json_t *ferry_json_get(ferry_json json, const char *key);

/* These leave *value as it is, the caller's default, when the key is absent; a value of another type or out of range is
 * an error (FORMAT). */
ferry_status ferry_json_integer(ferry_json json, const char *key, int32_t min, int32_t max, int32_t *value,
                                ferry_error *error);
ferry_status ferry_json_float(ferry_json json, const char *key, float *value, ferry_error *error);
ferry_status ferry_json_bool(ferry_json json, const char *key, bool *value, ferry_error *error);
/* *value points into the JSON tree. */
ferry_status ferry_json_text(ferry_json json, const char *key, const char **value, ferry_error *error);

/* A value that ferry_json_get or json_array_get gave, as an integer; `key` is for messages. */
ferry_status ferry_json_integer_value(ferry_json json, const char *key, const json_t *found, int32_t min, int32_t max,
                                      int32_t *value, ferry_error *error);

/* A list of texts; a text alone is a list of one, NULL an empty one. */
size_t ferry_json_text_count(const json_t *list);
const char *ferry_json_text_at(const json_t *list, size_t index);

/* For keys without a default: FORMAT when `key` is absent. */
ferry_status ferry_json_require(ferry_json json, const char *key, ferry_error *error);

/* A key of a table of keys, and where its value goes: one of the pointers is set; what it points to holds the default.
 */
typedef struct ferry_json_key {
    const char *name;
    int32_t *integer, min, max; /* `integer` is in min … max */
    float *real;
    bool *flag;
    const char **text; /* becomes a pointer into the JSON tree */
    const char *other; /* another name of an integer (NULL: none). If the file has both, they must agree. */
} ferry_json_key;

/* Reads keys [count] in their order. A key that is absent keeps its default or, if all are required, is an error.
 * Errors: FORMAT; UNSUPPORTED for two names that disagree. */
ferry_status ferry_json_read(ferry_json json, const ferry_json_key *keys, size_t count, bool required,
                             ferry_error *error);

/* Parses a configuration in YAML as Marian and OPUS-MT write it: one block mapping of scalars and of lists of scalars,
 * as a tree of texts, for the getters above with ferry_json.texts. A key that occurs twice is an error; a value `~`
 * counts as absent. What it may take, 64 times the text, is taken from the account (ferry_budget). *root belongs to the
 * caller (json_decref). Errors: FORMAT (file, line, what), UNSUPPORTED (nested mappings, anchors), MEMORY (or the
 * account refused). */
ferry_status ferry_yaml_parse(ferry_view text, const char *file, ferry_account *account, json_t **root,
                              ferry_error *error);

#endif
