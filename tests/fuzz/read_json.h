/* Reads the values of a configuration in every way that importers do. */
#ifndef FERRY_FUZZ_READ_JSON_H
#define FERRY_FUZZ_READ_JSON_H

#include "fuzz.h"

#include "models/containers/json.h"

static inline void read_value(ferry_json json, const char *key, const json_t *value)
{
    const char *text = "";
    int32_t integer;
    float real;
    bool flag;
    ferry_error error;
    read_all(ferry_text_view(key));
    for (size_t i = 0; !json_is_null(value) && i < ferry_json_text_count(value); i++) {
        const char *element = ferry_json_text_at(value, i);
        if (element != NULL) read_all(ferry_text_view(element));
    }
    if (ferry_json_text(json, key, &text, &error) == FERRY_OK) read_all(ferry_text_view(text));
    (void)ferry_json_integer(json, key, INT32_MIN, INT32_MAX, &integer, &error);
    (void)ferry_json_float(json, key, &real, &error);
    (void)ferry_json_bool(json, key, &flag, &error);
}

static inline void read_values(ferry_json json)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)json.object, key, value) read_value(json, key, value);
}

#endif
