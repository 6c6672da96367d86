/* Any bytes as a configuration and as a vocabulary: refused, or texts that can be read. */
#include "read_json.h"

#include "models/containers/json.h"
#include "models/containers/vocabulary_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ferry_view text = {(const char *)data, size};
    ferry_arena arena = {0};
    ferry_error error;
    json_t *root;
    const ferry_view *pieces;
    int32_t count;
    if (ferry_yaml_parse(text, "input", NULL, &root, &error) == FERRY_OK) {
        read_values((ferry_json){.object = root, .file = "input", .texts = true});
        json_decref(root);
    }
    if (ferry_yaml_vocabulary(text, "input", &arena, &pieces, &count, &error) == FERRY_OK)
        for (int32_t i = 0; i < count; i++) read_all(pieces[i]);
    if (ferry_lines_vocabulary(text, "input", &arena, &pieces, &count, &error) == FERRY_OK)
        for (int32_t i = 0; i < count; i++) read_all(pieces[i]);
    ferry_arena_destroy(&arena);
    return 0;
}
