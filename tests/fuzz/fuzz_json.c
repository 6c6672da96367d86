/* Any bytes as a configuration: refused, or values that can be read. */
#include "models/containers/reader.h"
#include "read_json.h"

/* Objects within the object, and elements of lists, which importers read as integers. */
static void read_nested(ferry_json json)
{
    const char *key;
    json_t *value, *element;
    int32_t integer;
    size_t i;
    ferry_error error;
    json_object_foreach ((json_t *)(uintptr_t)json.object, key, value) {
        if (json_is_object(value)) read_values((ferry_json){.object = value, .file = "input"});
        json_array_foreach (value, i, element)
            (void)ferry_json_integer_value(json, key, element, INT32_MIN, INT32_MAX, &integer, &error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_error error;
    json_t *root;
    ferry_budget budget;
    ferry_budget_begin(&budget, 0);
    if (ferry_json_parse((ferry_view){(const char *)data, size}, "input", JSON_OBJECT, &budget.account, &root,
                         &error) != FERRY_OK)
        return 0;
    const ferry_json json = {.object = root, .file = "input"};
    read_values(json);
    read_nested(json);
    json_decref(root);
    return 0;
}
