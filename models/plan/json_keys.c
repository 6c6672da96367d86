#include "json_keys.h"

ferry_status ferry_json_read(ferry_json json, const ferry_json_key *keys, size_t count, bool required,
                             ferry_error *error)
{
    for (const ferry_json_key *key = keys; key < keys + count; key++) {
        if (required) FERRY_TRY(ferry_json_require(json, key->name, error));
        if (key->integer != NULL)
            FERRY_TRY(ferry_json_integer(json, key->name, key->least, key->most, key->integer, error));
        if (key->real != NULL) FERRY_TRY(ferry_json_float(json, key->name, key->real, error));
        if (key->flag != NULL) FERRY_TRY(ferry_json_bool(json, key->name, key->flag, error));
        if (key->text != NULL) FERRY_TRY(ferry_json_text(json, key->name, key->text, error));
    }
    return FERRY_OK;
}
