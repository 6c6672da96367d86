/* Any bytes as a configuration and as a vocabulary: refused, or texts that can be read. */
#include "fuzz.h"

#include "models/containers/yaml.h"

static void read_values(const ferry_yaml *yaml, const ferry_yaml_entry *entry)
{
    const char *text = "";
    int32_t integer;
    float real;
    bool flag;
    read_all((ferry_view){entry->key, strlen(entry->key)});
    for (size_t i = 0; i < entry->count; i++) read_all((ferry_view){entry->values[i], strlen(entry->values[i])});
    ferry_yaml_text(yaml, entry->key, &text, NULL);
    ferry_yaml_integer(yaml, entry->key, INT32_MIN, INT32_MAX, &integer, NULL);
    ferry_yaml_float(yaml, entry->key, &real, NULL);
    ferry_yaml_bool(yaml, entry->key, &flag, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ferry_view text = {(const char *)data, size};
    ferry_arena arena = {0};
    ferry_error error;
    ferry_yaml yaml;
    const ferry_view *pieces;
    int32_t count;
    if (ferry_yaml_parse(text, "input", &arena, &yaml, &error) == FERRY_OK) {
        for (size_t i = 0; i < yaml.count; i++) read_values(&yaml, &yaml.entries[i]);
    }
    if (ferry_yaml_vocabulary(text, "input", &arena, &pieces, &count, &error) == FERRY_OK) {
        for (int32_t i = 0; i < count; i++) read_all(pieces[i]);
    }
    if (ferry_lines_vocabulary(text, "input", &arena, &pieces, &count, &error) == FERRY_OK) {
        for (int32_t i = 0; i < count; i++) read_all(pieces[i]);
    }
    ferry_arena_destroy(&arena);
    return 0;
}
