/* Any bytes as a configuration and as a vocabulary: refused, or texts that can be read. */
#include "fuzz.h"

#include "models/containers/yaml.h"

static void read_values(ferry_json yaml, const char *key, const json_t *value)
{
    const char *text = "";
    int32_t integer;
    float real;
    bool flag;
    read_all(ferry_text_view(key));
    for (size_t i = 0; !json_is_null(value) && i < ferry_json_text_count(value); i++)
        read_all(ferry_text_view(ferry_json_text_at(value, i)));
    ferry_json_text(yaml, key, &text, NULL);
    ferry_json_integer(yaml, key, INT32_MIN, INT32_MAX, &integer, NULL);
    ferry_json_float(yaml, key, &real, NULL);
    ferry_json_bool(yaml, key, &flag, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ferry_view text = {(const char *)data, size};
    ferry_arena arena = {0};
    ferry_error error;
    json_t *root, *value;
    const char *key;
    const ferry_view *pieces;
    int32_t count;
    if (ferry_yaml_parse(text, "input", NULL, &root, &error) == FERRY_OK) {
        json_object_foreach (root, key, value) read_values((ferry_json){root, "input", true}, key, value);
        json_decref(root);
    }
    if (ferry_yaml_vocabulary(text, "input", &arena, &pieces, &count, &error) == FERRY_OK)
        for (int32_t i = 0; i < count; i++) read_all(pieces[i]);
    if (ferry_lines_vocabulary(text, "input", &arena, &pieces, &count, &error) == FERRY_OK)
        for (int32_t i = 0; i < count; i++) read_all(pieces[i]);
    ferry_arena_destroy(&arena);
    return 0;
}
