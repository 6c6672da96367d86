/* Values of tokenizer.json and their places in it, which messages name. */
#include "tokenizer_json.h"

#include <inttypes.h>

#include "base/utf8.h"

enum { MAX_DEPTH = 8 };

ferry_json_place ferry_json_place_get(const ferry_json_place *place, const char *key)
{
    const json_t *value = json_object_get(place->value, key);
    const char *path = place->path.text;
    return (ferry_json_place){.value = json_is_null(value) ? NULL : value,
                              .file = place->file,
                              .path = ferry_name_format("%s%s%s", path, *path != '\0' ? "." : "", key)};
}

ferry_json_place ferry_json_place_at(const ferry_json_place *list, size_t index)
{
    return (ferry_json_place){.value = json_array_get(list->value, index),
                              .file = list->file,
                              .path = ferry_name_format("%s[%zu]", list->path.text, index)};
}

static ferry_name describe(const json_t *value)
{
    if (json_is_object(value)) {
        const char *type = json_string_value(json_object_get(value, "type"));
        if (type == NULL) return ferry_name_format("an object");
        return ferry_name_format("type '%s'", ferry_printable_view(ferry_text_view(type)).text);
    }
    if (json_is_string(value)) {
        const ferry_view text = {json_string_value(value), json_string_length(value)};
        return ferry_name_format("'%s'", ferry_printable_view(text).text);
    }
    if (json_is_integer(value)) return ferry_name_format("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value)) return ferry_name_format("%g", json_real_value(value));
    if (json_is_boolean(value)) return ferry_name_format("%s", json_is_true(value) ? "true" : "false");
    return ferry_name_format("%s", json_is_array(value) ? "a list" : "nothing");
}

ferry_status ferry_json_place_fail(const ferry_json_place *place, ferry_status code, const char *expected,
                                   ferry_error *error)
{
    return ferry_fail(error, code, "%s: '%s': expected %s, found %s", place->file, place->path.text, expected,
                      describe(place->value).text);
}

ferry_status ferry_json_place_text(const ferry_json_place *place, ferry_view *text, ferry_error *error)
{
    if (!json_is_string(place->value)) return ferry_json_place_fail(place, FERRY_ERROR_FORMAT, "a text", error);
    *text = (ferry_view){json_string_value(place->value), json_string_length(place->value)};
    return FERRY_OK;
}

ferry_status ferry_json_place_flag(const ferry_json_place *place, bool *flag, ferry_error *error)
{
    if (!json_is_boolean(place->value)) return ferry_json_place_fail(place, FERRY_ERROR_FORMAT, "true or false", error);
    *flag = json_is_true(place->value);
    return FERRY_OK;
}

ferry_status ferry_json_place_flag_of(const ferry_json_place *place, const char *key, bool *flag, ferry_error *error)
{
    const ferry_json_place found = ferry_json_place_get(place, key);
    return found.value != NULL ? ferry_json_place_flag(&found, flag, error) : FERRY_OK;
}

ferry_status ferry_json_place_integer(const ferry_json_place *place, int32_t least, int32_t most, int32_t *value,
                                      ferry_error *error)
{
    const json_int_t number = json_integer_value(place->value);
    if (!json_is_integer(place->value) || number < least || number > most)
        return ferry_json_place_fail(place, FERRY_ERROR_FORMAT,
                                     ferry_name_format("an integer from %" PRId32 " to %" PRId32, least, most).text,
                                     error);
    *value = (int32_t)number;
    return FERRY_OK;
}

bool ferry_json_place_is(const ferry_json_place *place, const char *name)
{
    const ferry_json_place type = ferry_json_place_get(place, "type");
    ferry_view text;
    return ferry_json_place_text(&type, &text, NULL) == FERRY_OK && ferry_view_is(text, name);
}

static ferry_status each_at(ferry_tokenizer_json *json, const ferry_json_place *place, const char *key, int depth,
                            ferry_json_part *each, ferry_error *error)
{
    if (!ferry_json_place_is(place, "Sequence")) return each(json, place, error);
    const ferry_json_place list = ferry_json_place_get(place, key);
    if (!json_is_array(list.value)) return ferry_json_place_fail(&list, FERRY_ERROR_FORMAT, "a list", error);
    if (depth == MAX_DEPTH)
        return ferry_json_place_fail(place, FERRY_ERROR_UNSUPPORTED, "fewer sequences in sequences", error);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const ferry_json_place part = ferry_json_place_at(&list, i);
        FERRY_TRY(each_at(json, &part, key, depth + 1, each, error));
    }
    return FERRY_OK;
}

ferry_status ferry_json_place_each(ferry_tokenizer_json *json, const ferry_json_place *place, const char *key,
                                   ferry_json_part *each, ferry_error *error)
{
    return place->value != NULL ? each_at(json, place, key, 0, each, error) : FERRY_OK;
}
