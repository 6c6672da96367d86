#include "json_keys.h"

/* An integer under one of its names. */
static ferry_status read_integer(ferry_json json, const ferry_json_key *key, ferry_error *error)
{
    int32_t other;
    FERRY_TRY(ferry_json_integer(json, key->name, key->least, key->most, key->integer, error));
    if (key->other == NULL) return FERRY_OK;
    other = *key->integer;
    FERRY_TRY(ferry_json_integer(json, key->other, key->least, key->most, &other, error));
    if (ferry_json_get(json, key->name) == NULL) *key->integer = other;
    if (*key->integer == other) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s' %d, but '%s' %d, which mean the same", json.file,
                      key->other, (int)other, key->name, (int)*key->integer);
}

ferry_status ferry_json_read(ferry_json json, const ferry_json_key *keys, size_t count, bool required,
                             ferry_error *error)
{
    for (const ferry_json_key *key = keys; key < keys + count; key++) {
        if (required) FERRY_TRY(ferry_json_require(json, key->name, error));
        if (key->integer != NULL) FERRY_TRY(read_integer(json, key, error));
        if (key->real != NULL) FERRY_TRY(ferry_json_float(json, key->name, key->real, error));
        if (key->flag != NULL) FERRY_TRY(ferry_json_bool(json, key->name, key->flag, error));
        if (key->text != NULL) FERRY_TRY(ferry_json_text(json, key->name, key->text, error));
    }
    return FERRY_OK;
}
