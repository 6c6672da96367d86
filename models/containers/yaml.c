#include "yaml.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <yaml.h>

#include "decimal.h"
#include "base/printable.h"

enum { MAX_ENTRIES = 4096 }; /* keys, or values of one list: Marian's configurations have some 150 keys */

/* ---- configurations ---- */

typedef struct reader {
    const char *file;
    ferry_arena *arena;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; zeroed: none */
    ferry_yaml_entry *entries;
    size_t count;
    const char **values; /* [MAX_ENTRIES] of the list being read */
} reader;

static ferry_status refuse(const reader *in, ferry_status status, const char *what, ferry_error *error)
{
    return ferry_fail(error, status, "%s: line %zu: %s", in->file, in->event.start_mark.line + 1, what);
}

static ferry_status next(reader *in, ferry_error *error)
{
    yaml_event_delete(&in->event);
    if (yaml_parser_parse(&in->parser, &in->event)) return FERRY_OK;
    if (in->parser.error == YAML_MEMORY_ERROR) return ferry_fail_memory(error, "a configuration", in->parser.offset);
    const char *problem = in->parser.problem != NULL ? in->parser.problem : "not YAML";
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: line %zu: %s", in->file, in->parser.problem_mark.line + 1,
                      problem);
}

static ferry_status expect(reader *in, yaml_event_type_t type, const char *what, ferry_error *error)
{
    FERRY_TRY(next(in, error));
    if (in->event.type == type) return FERRY_OK;
    return refuse(in, FERRY_ERROR_FORMAT, what, error);
}

/* The current event as text in the arena; *is_null for `~` and for nothing at all. */
static ferry_status read_scalar(reader *in, const char **text, bool *is_null, ferry_error *error)
{
    if (in->event.type != YAML_SCALAR_EVENT) {
        return refuse(in, FERRY_ERROR_UNSUPPORTED,
                      "expected a plain value: nested values and aliases are not supported", error);
    }
    const char *value = (const char *)in->event.data.scalar.value;
    const size_t size = in->event.data.scalar.length;
    if (in->event.data.scalar.anchor != NULL || in->event.data.scalar.tag != NULL) {
        return refuse(in, FERRY_ERROR_UNSUPPORTED, "anchors and tags are not supported", error);
    }
    if (memchr(value, 0, size) != NULL) return refuse(in, FERRY_ERROR_FORMAT, "a text with a NUL byte", error);
    char *copy = ferry_arena_alloc(in->arena, size + 1, 1);
    if (copy == NULL) return ferry_fail_memory(error, "a configuration", size);
    memcpy(copy, value, size + 1); /* libyaml terminates it */
    *text = copy;
    *is_null = in->event.data.scalar.plain_implicit && (size == 0 || strcmp(copy, "~") == 0);
    return FERRY_OK;
}

static ferry_status keep_values(reader *in, ferry_yaml_entry *entry, size_t count, ferry_error *error)
{
    const char **values = ferry_arena_alloc(in->arena, count + 1, sizeof *values);
    if (values == NULL) return ferry_fail_memory(error, "a configuration", count);
    memcpy(values, in->values, count * sizeof *values);
    entry->values = values;
    entry->count = count;
    return FERRY_OK;
}

static ferry_status read_list(reader *in, ferry_yaml_entry *entry, ferry_error *error)
{
    size_t count = 0;
    bool is_null;
    if (in->event.data.sequence_start.anchor != NULL || in->event.data.sequence_start.tag != NULL) {
        return refuse(in, FERRY_ERROR_UNSUPPORTED, "anchors and tags are not supported", error);
    }
    entry->is_list = true;
    FERRY_TRY(next(in, error));
    while (in->event.type != YAML_SEQUENCE_END_EVENT) {
        if (count == MAX_ENTRIES) return refuse(in, FERRY_ERROR_FORMAT, "a list of too many values", error);
        FERRY_TRY(read_scalar(in, &in->values[count++], &is_null, error));
        FERRY_TRY(next(in, error));
    }
    return keep_values(in, entry, count, error);
}

static bool has_key(const reader *in, const char *key)
{
    for (size_t i = 0; i < in->count; i++) {
        if (strcmp(in->entries[i].key, key) == 0) return true;
    }
    return false;
}

/* The current event is a key. Its entry is kept even when its value is null, so that a second one is seen. */
static ferry_status read_entry(reader *in, ferry_error *error)
{
    ferry_yaml_entry entry = {0};
    bool is_null = false;
    FERRY_TRY(read_scalar(in, &entry.key, &is_null, error));
    if (has_key(in, entry.key)) {
        const ferry_printable key = ferry_printable_view((ferry_view){entry.key, strlen(entry.key)});
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: line %zu: '%s' occurs twice", in->file,
                          in->event.start_mark.line + 1, key.text);
    }
    if (in->count == MAX_ENTRIES) return refuse(in, FERRY_ERROR_FORMAT, "too many keys", error);
    FERRY_TRY(next(in, error));
    if (in->event.type == YAML_SEQUENCE_START_EVENT) {
        FERRY_TRY(read_list(in, &entry, error));
    } else {
        FERRY_TRY(read_scalar(in, &in->values[0], &is_null, error));
        if (!is_null) FERRY_TRY(keep_values(in, &entry, 1, error));
    }
    in->entries[in->count++] = entry;
    return next(in, error);
}

static ferry_status read_mapping(reader *in, ferry_error *error)
{
    FERRY_TRY(expect(in, YAML_STREAM_START_EVENT, "expected text", error));
    FERRY_TRY(expect(in, YAML_DOCUMENT_START_EVENT, "expected `key: value` lines", error));
    FERRY_TRY(expect(in, YAML_MAPPING_START_EVENT, "expected `key: value` lines", error));
    if (in->event.data.mapping_start.anchor != NULL || in->event.data.mapping_start.tag != NULL) {
        return refuse(in, FERRY_ERROR_UNSUPPORTED, "anchors and tags are not supported", error);
    }
    FERRY_TRY(next(in, error));
    while (in->event.type != YAML_MAPPING_END_EVENT) FERRY_TRY(read_entry(in, error));
    FERRY_TRY(expect(in, YAML_DOCUMENT_END_EVENT, "expected one document", error));
    return expect(in, YAML_STREAM_END_EVENT, "expected one document", error);
}

ferry_status ferry_yaml_parse(ferry_view text, const char *file, ferry_arena *arena, ferry_yaml *yaml,
                              ferry_error *error)
{
    static const unsigned char nothing;
    reader in = {.file = file, .arena = arena};
    *yaml = (ferry_yaml){.file = file};
    in.entries = ferry_arena_alloc(arena, MAX_ENTRIES, sizeof *in.entries);
    in.values = ferry_arena_alloc(arena, MAX_ENTRIES, sizeof *in.values);
    if (in.entries == NULL || in.values == NULL || !yaml_parser_initialize(&in.parser)) {
        return ferry_fail_memory(error, "a configuration", MAX_ENTRIES * sizeof *in.entries);
    }
    yaml_parser_set_encoding(&in.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&in.parser, text.size > 0 ? (const unsigned char *)text.data : &nothing, text.size);
    const ferry_status status = read_mapping(&in, error);
    yaml_event_delete(&in.event);
    yaml_parser_delete(&in.parser);
    if (status != FERRY_OK) return status;
    yaml->entries = in.entries;
    yaml->count = in.count;
    return FERRY_OK;
}

const ferry_yaml_entry *ferry_yaml_get(const ferry_yaml *yaml, const char *key)
{
    for (size_t i = 0; i < yaml->count; i++) {
        const ferry_yaml_entry *entry = &yaml->entries[i];
        if (strcmp(entry->key, key) == 0) return entry->values != NULL ? entry : NULL;
    }
    return NULL;
}

/* ---- values ---- */

static ferry_status refuse_value(const ferry_yaml *yaml, const char *key, const char *expected, const char *found,
                                 ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': expected %s, found '%s'", yaml->file, key, expected,
                      ferry_printable_view((ferry_view){found, strlen(found)}).text);
}

ferry_status ferry_yaml_text(const ferry_yaml *yaml, const char *key, const char **value, ferry_error *error)
{
    const ferry_yaml_entry *entry = ferry_yaml_get(yaml, key);
    if (entry == NULL) return FERRY_OK;
    if (entry->is_list) return refuse_value(yaml, key, "one value", "a list", error);
    *value = entry->values[0];
    return FERRY_OK;
}

ferry_status ferry_yaml_integer(const ferry_yaml *yaml, const char *key, int32_t least, int32_t most, int32_t *value,
                                ferry_error *error)
{
    const char *text = NULL;
    int64_t number;
    FERRY_TRY(ferry_yaml_text(yaml, key, &text, error));
    if (text == NULL) return FERRY_OK;
    if (!ferry_parse_integer((ferry_view){text, strlen(text)}, &number)) {
        return refuse_value(yaml, key, "an integer", text, error);
    }
    if (number < least || number > most) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': expected %" PRId32 " to %" PRId32 ", found %" PRId64,
                          yaml->file, key, least, most, number);
    }
    *value = (int32_t)number;
    return FERRY_OK;
}

ferry_status ferry_yaml_float(const ferry_yaml *yaml, const char *key, float *value, ferry_error *error)
{
    const char *text = NULL;
    double number;
    FERRY_TRY(ferry_yaml_text(yaml, key, &text, error));
    if (text == NULL) return FERRY_OK;
    if (!ferry_parse_decimal((ferry_view){text, strlen(text)}, &number) || !(fabs(number) <= 1e38)) {
        return refuse_value(yaml, key, "a number", text, error);
    }
    *value = (float)number;
    return FERRY_OK;
}

ferry_status ferry_yaml_bool(const ferry_yaml *yaml, const char *key, bool *value, ferry_error *error)
{
    static const char *const words[2][6] = {{"false", "False", "FALSE", "no", "off", "0"},
                                            {"true", "True", "TRUE", "yes", "on", "1"}};
    const char *text = NULL;
    FERRY_TRY(ferry_yaml_text(yaml, key, &text, error));
    if (text == NULL) return FERRY_OK;
    for (size_t i = 0; i < 12; i++) {
        if (strcmp(text, words[i / 6][i % 6]) != 0) continue;
        *value = i / 6 == 1;
        return FERRY_OK;
    }
    return refuse_value(yaml, key, "true or false", text, error);
}
