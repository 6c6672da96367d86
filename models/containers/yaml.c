#include "yaml.h"

#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/utf8.h"

enum {
    MAX_ENTRIES = 4096, /* keys, or values of one list: Marian's configurations have some 150 keys */
    COST = 64 /* bytes of memory for one of text: "a," is a list's value, 48 + 32 + 2 · 8 bytes of jansson's */
};

typedef struct reader {
    const char *file;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; zeroed: none */
    json_t *entries;
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

static ferry_status keep(json_t *value, int failed, ferry_error *error)
{
    return value != NULL && failed == 0 ? FERRY_OK : ferry_fail_memory(error, "a configuration", sizeof value);
}

/* Refuses the anchor and the tag of a value. */
static ferry_status check_plain(const reader *in, const yaml_char_t *anchor, const yaml_char_t *tag, ferry_error *error)
{
    if (anchor == NULL && tag == NULL) return FERRY_OK;
    return refuse(in, FERRY_ERROR_UNSUPPORTED, "anchors and tags are not supported", error);
}

/* The current event as text, which lives as long as the event does; `~` and nothing at all are null. */
static ferry_status read_scalar(const reader *in, const char **text, bool *is_null, ferry_error *error)
{
    if (in->event.type != YAML_SCALAR_EVENT) {
        return refuse(in, FERRY_ERROR_UNSUPPORTED,
                      "expected a plain value: nested values and aliases are not supported", error);
    }
    FERRY_TRY(check_plain(in, in->event.data.scalar.anchor, in->event.data.scalar.tag, error));
    *text = (const char *)in->event.data.scalar.value;
    const size_t size = in->event.data.scalar.length;
    if (memchr(*text, 0, size) != NULL) return refuse(in, FERRY_ERROR_FORMAT, "a text with a NUL byte", error);
    *is_null = in->event.data.scalar.plain_implicit && (size == 0 || strcmp(*text, "~") == 0);
    return FERRY_OK;
}

static ferry_status read_list(reader *in, json_t *list, ferry_error *error)
{
    const char *text;
    bool is_null;
    FERRY_TRY(check_plain(in, in->event.data.sequence_start.anchor, in->event.data.sequence_start.tag, error));
    FERRY_TRY(next(in, error));
    while (in->event.type != YAML_SEQUENCE_END_EVENT) {
        if (json_array_size(list) == MAX_ENTRIES)
            return refuse(in, FERRY_ERROR_FORMAT, "a list of too many values", error);
        FERRY_TRY(read_scalar(in, &text, &is_null, error));
        FERRY_TRY(keep(list, json_array_append_new(list, json_string_nocheck(text)), error));
        FERRY_TRY(next(in, error));
    }
    return FERRY_OK;
}

/* The value of `key`; null is kept, so that a second one is seen. */
static ferry_status read_value(reader *in, const char *key, ferry_error *error)
{
    const char *text;
    bool is_null;
    if (in->event.type == YAML_SEQUENCE_START_EVENT) {
        json_t *list = json_array();
        FERRY_TRY(keep(list, json_object_set_new_nocheck(in->entries, key, list), error));
        return read_list(in, list, error);
    }
    FERRY_TRY(read_scalar(in, &text, &is_null, error));
    json_t *value = is_null ? json_null() : json_string_nocheck(text);
    return keep(value, json_object_set_new_nocheck(in->entries, key, value), error);
}

/* The current event is a key. */
static ferry_status read_entry(reader *in, ferry_error *error)
{
    const char *text;
    bool is_null;
    FERRY_TRY(read_scalar(in, &text, &is_null, error));
    if (json_object_get(in->entries, text) != NULL) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: line %zu: '%s' occurs twice", in->file,
                          in->event.start_mark.line + 1, ferry_printable_view(ferry_text_view(text)).text);
    }
    if (json_object_size(in->entries) == MAX_ENTRIES) return refuse(in, FERRY_ERROR_FORMAT, "too many keys", error);
    char *key = ferry_text_copy(text);
    if (key == NULL) return ferry_fail_memory(error, "a configuration", strlen(text));
    ferry_status status = next(in, error);
    if (status == FERRY_OK) status = read_value(in, key, error);
    free(key);
    return status == FERRY_OK ? next(in, error) : status;
}

static ferry_status read_mapping(reader *in, ferry_error *error)
{
    FERRY_TRY(expect(in, YAML_STREAM_START_EVENT, "expected text", error));
    FERRY_TRY(expect(in, YAML_DOCUMENT_START_EVENT, "expected `key: value` lines", error));
    FERRY_TRY(expect(in, YAML_MAPPING_START_EVENT, "expected `key: value` lines", error));
    FERRY_TRY(check_plain(in, in->event.data.mapping_start.anchor, in->event.data.mapping_start.tag, error));
    FERRY_TRY(next(in, error));
    while (in->event.type != YAML_MAPPING_END_EVENT) FERRY_TRY(read_entry(in, error));
    FERRY_TRY(expect(in, YAML_DOCUMENT_END_EVENT, "expected one document", error));
    return expect(in, YAML_STREAM_END_EVENT, "expected one document", error);
}

ferry_status ferry_yaml_parse(ferry_view text, const char *file, ferry_account *account, json_t **root,
                              ferry_error *error)
{
    static const unsigned char nothing;
    size_t cost;
    *root = NULL;
    if (!ferry_mul_size(text.size, COST, &cost) || !ferry_account_take(account, cost))
        return ferry_fail_memory(error, "a configuration", text.size);
    reader in = {.file = file, .entries = json_object()};
    if (in.entries == NULL || !yaml_parser_initialize(&in.parser)) {
        json_decref(in.entries);
        return ferry_fail_memory(error, "a configuration", sizeof in.parser);
    }
    yaml_parser_set_encoding(&in.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&in.parser, text.size > 0 ? (const unsigned char *)text.data : &nothing, text.size);
    const ferry_status status = read_mapping(&in, error);
    yaml_event_delete(&in.event);
    yaml_parser_delete(&in.parser);
    if (status == FERRY_OK) *root = in.entries;
    if (status != FERRY_OK) json_decref(in.entries);
    return status;
}
