#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/threads.h"
#include "reader.h"

/* Integers of more than 18 digits become real numbers of the same size: their last two digits become "e2". */
static void shorten_integers(char *text, size_t size)
{
    bool quoted = false;
    size_t end;
    for (size_t i = 0; i < size; i = end) {
        end = i + 1;
        if (quoted && text[i] == '\\') end = i + 2;
        if (text[i] == '"') quoted = !quoted;
        if (quoted || text[i] < '0' || text[i] > '9') continue;
        while (end < size && text[end] >= '0' && text[end] <= '9') end++;
        const bool whole =
            (i == 0 || strchr(".eE+", text[i - 1]) == NULL) && (end == size || strchr(".eE", text[end]) == NULL);
        if (whole && end - i > 18) memcpy(text + end - 2, "e2", 2);
    }
}

/* ---- jansson's reader without memory ---- */

/* Jansson 2.14 does not see that its buffer for a token could not grow: it loses a character, and goes on or crashes
 * (https://github.com/akheron/jansson/issues/362). So the first block that fails while a text is read is lent, the text
 * ends there, and what became of it is not used. Jansson hands its functions of memory nothing of ours: a thread has
 * `current`. */
typedef struct reading {
    ferry_view text;
    size_t at;
    void *reserve; /* of the buffer's maximum: twice a token that is the whole text */
    bool failed;
} reading;

static _Thread_local reading *current;
static json_malloc_t earlier_malloc;
static json_free_t earlier_free;

static void *allocate(size_t size)
{
    void *block = earlier_malloc(size);
    if (block != NULL || current == NULL || current->failed) return block;
    current->failed = true;
    return size <= 2 * current->text.size ? current->reserve : NULL;
}

static void release(void *block)
{
    if (current == NULL || block != current->reserve) earlier_free(block);
}

static void wrap_memory(void)
{
    json_get_alloc_funcs(&earlier_malloc, &earlier_free);
    json_set_alloc_funcs(allocate, release);
}

/* One byte at a time: none is read after a failure. */
static size_t next_byte(void *buffer, size_t size, void *user)
{
    reading *r = user;
    (void)size;
    if (r->failed || r->at == r->text.size) return 0;
    *(char *)buffer = r->text.data[r->at++];
    return 1;
}

static json_t *read_text(ferry_view text, json_error_t *problem, bool *out_of_memory)
{
    static ferry_once once = FERRY_ONCE_READY;
    reading r = {.text = text, .reserve = malloc(2 * text.size + 1)};
    *out_of_memory = r.reserve == NULL;
    if (r.reserve == NULL) return NULL;
    ferry_call_once(&once, wrap_memory);
    current = &r;
    json_t *root = json_load_callback(next_byte, &r, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, problem);
    *out_of_memory = r.failed;
    if (r.failed) json_decref(root);
    current = NULL;
    free(r.reserve);
    return r.failed ? NULL : root;
}

/* The library refuses integers beyond 64 bits, and "no limit" is often written as one
 * (tokenizer_config.json: "model_max_length": 1000000000000000019884624838656). */
static json_t *load(ferry_view text, json_error_t *problem, bool *out_of_memory)
{
    json_t *root = read_text(text, problem, out_of_memory);
    if (root != NULL || *out_of_memory || json_error_code(problem) != json_error_numeric_overflow) return root;
    char *copy = malloc(text.size);
    *out_of_memory = copy == NULL;
    if (copy == NULL) return NULL;
    memcpy(copy, text.data, text.size);
    shorten_integers(copy, text.size);
    root = read_text((ferry_view){copy, text.size}, problem, out_of_memory);
    free(copy);
    return root;
}

/* By what stands outside of strings. What jansson 2.14 allocates, with malloc's own bytes: 224 for an object, whose
 * table has room for 8 members; for each member 80 and its key, and up to 48 of a larger table; 128 for an array; for
 * each element a pointer, and up to twice that while the array grows; 80 and its bytes for a string, 32 for a number.
 * Texts count seven times: in the tree, three times in the reader's buffer while that grows, twice in its reserve, and
 * in the copy with shorter integers. */
size_t ferry_json_cost(ferry_view text)
{
    static const uint8_t costs[UINT8_MAX + 1] = {['{'] = 240, ['['] = 160, [','] = 72, ['"'] = 80};
    size_t cost = 7 * text.size;
    for (size_t i = 0; i < text.size; i++) {
        cost += costs[(uint8_t)text.data[i]];
        if (text.data[i] != '"') continue;
        for (i++; i < text.size && text.data[i] != '"'; i++) i += text.data[i] == '\\';
    }
    return cost;
}

static ferry_status fail_memory(const char *file, size_t bytes, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_MEMORY, "%s: out of memory: %zu bytes", file, bytes);
}

ferry_status ferry_json_parse(ferry_view text, const char *file, json_type type, ferry_account *account, json_t **root,
                              ferry_error *error)
{
    const size_t cost = ferry_json_cost(text);
    json_error_t problem;
    bool out_of_memory;
    ferry_status status;
    *root = NULL;
    if (!ferry_account_take(account, cost)) return fail_memory(file, cost, error);
    *root = load(text, &problem, &out_of_memory);
    if (*root != NULL && json_typeof(*root) == type) return FERRY_OK;
    if (*root != NULL)
        status = ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected a JSON %s", file,
                            type == JSON_OBJECT ? "object" : "array");
    else if (out_of_memory)
        status = fail_memory(file, text.size, error);
    else
        status = ferry_fail(error, FERRY_ERROR_FORMAT, "%s: line %d, column %d: %s", file, problem.line, problem.column,
                            problem.text);
    ferry_json_release(*root, text, account);
    *root = NULL;
    return status;
}

void ferry_json_release(json_t *root, ferry_view text, ferry_account *account)
{
    json_decref(root);
    ferry_account_give(account, ferry_json_cost(text));
}

const json_t *ferry_json_get(ferry_json json, const char *key)
{
    const json_t *value = json.object != NULL ? json_object_get(json.object, key) : NULL;
    return json_is_null(value) ? NULL : value;
}

/* ---- values ---- */

static const char *path_of(ferry_json json)
{
    return json.path != NULL ? json.path : "";
}

static ferry_status refuse(ferry_json json, const char *key, const char *expected, const json_t *found,
                           ferry_error *error)
{
    if (!json.texts)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s%s': expected %s", json.file, path_of(json), key,
                          expected);
    const char *text = json_is_array(found) ? "a list" : json_string_value(found);
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s%s': expected %s, found '%s'", json.file, path_of(json), key,
                      expected, ferry_printable_text(text).text);
}

/* One value, not a list, for texts; NULL where it is absent. */
static ferry_status find(ferry_json json, const char *key, const json_t **found, ferry_error *error)
{
    *found = ferry_json_get(json, key);
    return json.texts && json_is_array(*found) ? refuse(json, key, "one value", *found, error) : FERRY_OK;
}

ferry_status ferry_json_integer_value(ferry_json json, const char *key, const json_t *found, int32_t min, int32_t max,
                                      int32_t *value, ferry_error *error)
{
    int64_t number = json_integer_value(found);
    if (json.texts ? !ferry_parse_integer(ferry_text_view(json_string_value(found)), &number) : !json_is_integer(found))
        return refuse(json, key, "an integer", found, error);
    if (number < min || number > max) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s%s': expected %" PRId32 " to %" PRId32 ", found %" PRId64,
                          json.file, path_of(json), key, min, max, number);
    }
    *value = (int32_t)number;
    return FERRY_OK;
}

ferry_status ferry_json_integer(ferry_json json, const char *key, int32_t min, int32_t max, int32_t *value,
                                ferry_error *error)
{
    const json_t *found;
    FERRY_TRY(find(json, key, &found, error));
    return found != NULL ? ferry_json_integer_value(json, key, found, min, max, value, error) : FERRY_OK;
}

ferry_status ferry_json_float(ferry_json json, const char *key, float *value, ferry_error *error)
{
    const json_t *found;
    FERRY_TRY(find(json, key, &found, error));
    if (found == NULL) return FERRY_OK;
    double number = json_number_value(found);
    const bool known =
        json.texts ? ferry_parse_decimal(ferry_text_view(json_string_value(found)), &number) : json_is_number(found);
    if (!known || !(fabs(number) <= 1e38)) return refuse(json, key, "a number", found, error);
    *value = (float)number;
    return FERRY_OK;
}

ferry_status ferry_json_bool(ferry_json json, const char *key, bool *value, ferry_error *error)
{
    static const char *const words[] = {"false", "true", "False", "True", "FALSE", "TRUE",
                                        "no",    "yes",  "off",   "on",   "0",     "1"};
    const json_t *found;
    FERRY_TRY(find(json, key, &found, error));
    if (found == NULL) return FERRY_OK;
    if (json_is_boolean(found)) {
        *value = json_is_true(found);
        return FERRY_OK;
    }
    for (size_t i = 0; json.texts && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(json_string_value(found), words[i]) != 0) continue;
        *value = i % 2 == 1;
        return FERRY_OK;
    }
    return refuse(json, key, "true or false", found, error);
}

ferry_status ferry_json_text(ferry_json json, const char *key, const char **value, ferry_error *error)
{
    const json_t *found;
    FERRY_TRY(find(json, key, &found, error));
    if (found == NULL) return FERRY_OK;
    if (!json_is_string(found)) return refuse(json, key, "a text", found, error);
    *value = json_string_value(found);
    return FERRY_OK;
}

size_t ferry_json_text_count(const json_t *list)
{
    return json_is_array(list) ? json_array_size(list) : list != NULL;
}

const char *ferry_json_text_at(const json_t *list, size_t index)
{
    return json_string_value(json_is_array(list) ? json_array_get(list, index) : list);
}

ferry_status ferry_json_require(ferry_json json, const char *key, ferry_error *error)
{
    if (ferry_json_get(json, key) != NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s%s' is missing", json.file, path_of(json), key);
}

/* ---- tables of keys ---- */

ferry_status ferry_json_read(ferry_json json, const ferry_json_key *keys, size_t count, bool required,
                             ferry_error *error)
{
    for (const ferry_json_key *key = keys; key < keys + count; key++) {
        if (required) FERRY_TRY(ferry_json_require(json, key->name, error));
        if (key->real != NULL) FERRY_TRY(ferry_json_float(json, key->name, key->real, error));
        if (key->flag != NULL) FERRY_TRY(ferry_json_bool(json, key->name, key->flag, error));
        if (key->text != NULL) FERRY_TRY(ferry_json_text(json, key->name, key->text, error));
        if (key->integer == NULL) continue;
        FERRY_TRY(ferry_json_integer(json, key->name, key->min, key->max, key->integer, error));
        if (key->other == NULL) continue;
        int32_t other = *key->integer;
        FERRY_TRY(ferry_json_integer(json, key->other, key->min, key->max, &other, error));
        if (ferry_json_get(json, key->name) == NULL) *key->integer = other;
        if (*key->integer != other)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s' %d, but '%s' %d, which mean the same",
                              json.file, key->other, (int)other, key->name, (int)*key->integer);
    }
    return FERRY_OK;
}

/* ---- YAML ---- */

enum {
    MAX_ENTRIES = 4096, /* keys, or values of one list: Marian's configurations have some 150 keys */
    COST = 64 /* bytes of memory for one of text: "a," is a list's value, 48 + 32 + 2 · 8 bytes of jansson's */
};

typedef struct yaml_reader {
    const char *file;
    ferry_error *error;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; zeroed: none */
    json_t *entries;
} yaml_reader;

static ferry_status refuse_yaml(const yaml_reader *in, ferry_status status, const char *what)
{
    return ferry_fail(in->error, status, "%s: line %zu: %s", in->file, in->event.start_mark.line + 1, what);
}

static ferry_status next(yaml_reader *in)
{
    yaml_event_delete(&in->event);
    if (yaml_parser_parse(&in->parser, &in->event)) return FERRY_OK;
    if (in->parser.error == YAML_MEMORY_ERROR)
        return ferry_fail_memory(in->error, "a configuration", in->parser.offset, 1);
    const char *problem = in->parser.problem != NULL ? in->parser.problem : "not YAML";
    return ferry_fail(in->error, FERRY_ERROR_FORMAT, "%s: line %zu: %s", in->file, in->parser.problem_mark.line + 1,
                      problem);
}

static ferry_status expect(yaml_reader *in, yaml_event_type_t type, const char *what)
{
    FERRY_TRY(next(in));
    return in->event.type == type ? FERRY_OK : refuse_yaml(in, FERRY_ERROR_FORMAT, what);
}

static ferry_status keep(const yaml_reader *in, json_t *value, int failed)
{
    return value != NULL && failed == 0 ? FERRY_OK : ferry_fail_memory(in->error, "a configuration", 1, sizeof value);
}

/* Refuses the anchor and the tag of a value. */
static ferry_status check_plain(const yaml_reader *in, const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor == NULL && tag == NULL) return FERRY_OK;
    return refuse_yaml(in, FERRY_ERROR_UNSUPPORTED, "anchors and tags are not supported");
}

/* The current event as text, which lives as long as the event does; `~` and nothing at all are null. */
static ferry_status read_scalar(const yaml_reader *in, const char **text, bool *is_null)
{
    if (in->event.type != YAML_SCALAR_EVENT)
        return refuse_yaml(in, FERRY_ERROR_UNSUPPORTED,
                           "expected a plain value: nested values and aliases are not supported");
    FERRY_TRY(check_plain(in, in->event.data.scalar.anchor, in->event.data.scalar.tag));
    *text = (const char *)in->event.data.scalar.value;
    const size_t size = in->event.data.scalar.length;
    if (memchr(*text, 0, size) != NULL) return refuse_yaml(in, FERRY_ERROR_FORMAT, "a text with a NUL byte");
    *is_null = in->event.data.scalar.plain_implicit && (size == 0 || strcmp(*text, "~") == 0);
    return FERRY_OK;
}

/* The value of `key`; null is kept, so that a second one is seen. */
static ferry_status read_value(yaml_reader *in, const char *key)
{
    const char *text;
    bool is_null;
    if (in->event.type != YAML_SEQUENCE_START_EVENT) {
        FERRY_TRY(read_scalar(in, &text, &is_null));
        json_t *value = is_null ? json_null() : json_string_nocheck(text);
        return keep(in, value, json_object_set_new_nocheck(in->entries, key, value));
    }
    json_t *list = json_array();
    FERRY_TRY(keep(in, list, json_object_set_new_nocheck(in->entries, key, list)));
    FERRY_TRY(check_plain(in, in->event.data.sequence_start.anchor, in->event.data.sequence_start.tag));
    FERRY_TRY(next(in));
    while (in->event.type != YAML_SEQUENCE_END_EVENT) {
        if (json_array_size(list) == MAX_ENTRIES)
            return refuse_yaml(in, FERRY_ERROR_FORMAT, "a list of too many values");
        FERRY_TRY(read_scalar(in, &text, &is_null));
        FERRY_TRY(keep(in, list, json_array_append_new(list, json_string_nocheck(text))));
        FERRY_TRY(next(in));
    }
    return FERRY_OK;
}

/* The current event is a key. */
static ferry_status read_entry(yaml_reader *in)
{
    const char *text;
    bool is_null;
    FERRY_TRY(read_scalar(in, &text, &is_null));
    if (json_object_get(in->entries, text) != NULL) {
        return ferry_fail(in->error, FERRY_ERROR_FORMAT, "%s: line %zu: '%s' occurs twice", in->file,
                          in->event.start_mark.line + 1, ferry_printable_text(text).text);
    }
    if (json_object_size(in->entries) == MAX_ENTRIES) return refuse_yaml(in, FERRY_ERROR_FORMAT, "too many keys");
    char *key = ferry_text_copy(text);
    if (key == NULL) return ferry_fail_memory(in->error, "a configuration", strlen(text), 1);
    ferry_status status = next(in);
    if (status == FERRY_OK) status = read_value(in, key);
    free(key);
    return status == FERRY_OK ? next(in) : status;
}

static ferry_status read_mapping(yaml_reader *in)
{
    FERRY_TRY(expect(in, YAML_STREAM_START_EVENT, "expected text"));
    FERRY_TRY(expect(in, YAML_DOCUMENT_START_EVENT, "expected `key: value` lines"));
    FERRY_TRY(expect(in, YAML_MAPPING_START_EVENT, "expected `key: value` lines"));
    FERRY_TRY(check_plain(in, in->event.data.mapping_start.anchor, in->event.data.mapping_start.tag));
    FERRY_TRY(next(in));
    while (in->event.type != YAML_MAPPING_END_EVENT) FERRY_TRY(read_entry(in));
    FERRY_TRY(expect(in, YAML_DOCUMENT_END_EVENT, "expected one document"));
    return expect(in, YAML_STREAM_END_EVENT, "expected one document");
}

ferry_status ferry_yaml_parse(ferry_view text, const char *file, ferry_account *account, json_t **root,
                              ferry_error *error)
{
    static const unsigned char nothing;
    size_t cost;
    *root = NULL;
    if (!ferry_mul_size(text.size, COST, &cost) || !ferry_account_take(account, cost))
        return ferry_fail_memory(error, "a configuration", text.size, 1);
    yaml_reader in = {.file = file, .error = error, .entries = json_object()};
    if (in.entries == NULL || !yaml_parser_initialize(&in.parser)) {
        json_decref(in.entries);
        return ferry_fail_memory(error, "a configuration", 1, sizeof in.parser);
    }
    yaml_parser_set_encoding(&in.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&in.parser, text.size > 0 ? (const unsigned char *)text.data : &nothing, text.size);
    const ferry_status status = read_mapping(&in);
    yaml_event_delete(&in.event);
    yaml_parser_delete(&in.parser);
    if (status == FERRY_OK) *root = in.entries;
    if (status != FERRY_OK) json_decref(in.entries);
    return status;
}
