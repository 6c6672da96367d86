/* JSON of user interfaces, without a model; jansson says what JSON is, and what changed. (test_document.c: cases.) */
#include "document_support.h"

#include "tests/support/files.h"

#include <jansson.h>

static json_t *load(ferry_view text)
{
    return json_loadb(text.data, text.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

TEST(test_depth)
{
    char deep[1025];
    for (size_t depth = 512; depth < 514; depth++) {
        snprintf(deep, sizeof deep, "%.*s", (int)depth, "");
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth < 513 ? depth : 0);
        deep[depth < 513 ? 2 * depth : depth] = '\0';
        check_reading(&ferry_format_json, deep, depth > 512 ? "expected at most 512 values within each other" : NULL);
    }
}

/* A file with one byte changed is read if jansson reads it, too. */
TEST(test_acceptance)
{
    static const char bytes[] = "\"\\,:{}[] a0.eu\x01";
    const made_file file = file_copy(data_file("documents/everything.json"));
    ferry_view text = whole(&file);
    char *data = kept_memory(text.size);
    size_t accepted = 0;
    for (size_t at = 0; at < text.size; at++) {
        for (size_t i = 0; i < strlen(bytes); i++) {
            ferry_document document;
            ferry_error error;
            memcpy(data, text.data, text.size);
            data[at] = bytes[i];
            const ferry_view changed = {data, text.size};
            const ferry_status status = ferry_document_read(&document, &ferry_format_json, NULL, changed, &error);
            json_t *loaded = load(changed);
            if ((status == FERRY_OK) != (loaded != NULL))
                fail_msg("byte %zu as 0x%02x: %s\n%.*s", at, (unsigned char)bytes[i],
                         status == FERRY_OK ? "read" : error.message, (int)changed.size, changed.data);
            accepted += status == FERRY_OK;
            json_decref(loaded);
            ferry_document_destroy(&document);
        }
    }
    assert_true(accepted > 1000);
}

/* Whether two values have the same structure and keys; texts may differ in the case of their letters. */
static bool is_same(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    if (json_typeof(a) != json_typeof(b)) return false;
    if (json_is_array(a)) {
        for (size_t i = 0; i < json_array_size(a); i++)
            if (i >= json_array_size(b) || !is_same(json_array_get(a, i), json_array_get(b, i))) return false;
        return json_array_size(a) == json_array_size(b);
    }
    if (json_is_object(a)) {
        json_object_foreach ((json_t *)a, key, value) {
            const json_t *other = json_object_get(b, key);
            if (other == NULL || (key[0] == '@' ? !json_equal(value, other) : !is_same(value, other))) return false;
        }
        return json_object_size(a) == json_object_size(b);
    }
    if (!json_is_string(a)) return json_equal(a, b);
    const size_t size = json_string_length(a);
    return size == json_string_length(b) &&
           ferry_compare_letters(json_string_value(a), json_string_value(b), size) == 0;
}

TEST(test_structure)
{
    const made_file file = file_copy(data_file("documents/everything.json"));
    ferry_string out = translate_document(&ferry_format_json, whole(&file), STAND_IN_UPPER, NULL);
    json_t *before = load(whole(&file)), *after = load((ferry_view){out.data, out.size});
    assert_non_null(before);
    assert_non_null(after);
    assert_true(is_same(before, after));
    assert_string_equal(json_string_value(json_object_get(after, "title")), "THE HOUSE IS OLD.");
    json_decref(before);
    json_decref(after);
    free(out.data);
}
