/* JSON that another parser reads back. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "tests/support/files.h"
#include "tests/support/support.h"

#include "tools/json_writer.h"

static const char hostile[] = "a\"b\\c/d\n\r\t\x01\x1f\x7f é \xF0\x9F\x98\x80 "
                              "\xC2\x9B\xE2\x80\xAE\xF3\xA0\x81\x81\xEF\xBF\xBF\xF4\x8F\xBF\xBF \xFF\xC3";
/* As Ferry reads it. */
static const char expected[] =
    "a\"b\\c/d\n\r\t\x01\x1f\x7f é \xF0\x9F\x98\x80 \xC2\x9B\xE2\x80\xAE\xF3\xA0\x81\x81\xEF\xBF\xBF\xF4\x8F\xBF\xBF "
    "\xEF\xBF\xBD\xEF\xBF\xBD";

static const float floats[] = {0, -0.13158f, 1.0f / 3, 16777216, 1e-30f, 0x1p-149f, INFINITY};

/* What it writes reads back; a terminal may show it: what JSON permits but a terminal obeys is escaped. */
TEST(test_round_trip)
{
    char text[512] = "";
    FILE *out = fmemopen(text, sizeof text, "wb");
    assert_non_null(out);
    ferry_json_writer json = {.out = out};
    ferry_put_begin(&json, NULL, '{');
    ferry_put_string(&json, "hostile", hostile);
    ferry_put_text(&json, "nul", (ferry_text){"a\0b", 3});
    ferry_put_string(&json, "nothing", NULL);
    ferry_put_number(&json, "nan", NAN);
    ferry_put_number(&json, "infinite", -INFINITY);
    ferry_put_number(&json, "number", -1234.5678901);
    ferry_put_begin(&json, "floats", '[');
    for (size_t i = 0; i < COUNT(floats); i++) ferry_put_float(&json, NULL, floats[i]);
    ferry_put_end(&json, ']');
    ferry_put_begin(&json, "empty", '[');
    ferry_put_end(&json, ']');
    ferry_put_begin(&json, "list", '[');
    for (int i = 0; i < 3; i++) ferry_put_number(&json, NULL, i);
    ferry_put_begin(&json, NULL, '{');
    ferry_put_end(&json, '}');
    ferry_put_end(&json, ']');
    ferry_put_end(&json, '}');
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\"floats\": [0, -0.13158, 0.33333334, 16777216, 1e-30, 1.4013e-45, null]"));
    assert_non_null(strstr(
        text,
        "\\u0001\\u001f\\u007f é \xF0\x9F\x98\x80 \\u009b\\u202e\\udb40\\udc41\\uffff\\udbff\\udfff \\ufffd\\ufffd"));
    json_error_t error;
    json_t *root = json_loads(text, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) fail_msg("%s", error.text);
    assert_string_equal(json_string_value(json_object_get(root, "hostile")), expected);
    assert_int_equal(json_string_length(json_object_get(root, "nul")), 3);
    assert_memory_equal(json_string_value(json_object_get(root, "nul")), "a\0b", 3);
    assert_true(json_is_null(json_object_get(root, "nothing")));
    assert_true(json_is_null(json_object_get(root, "nan")));
    assert_true(json_is_null(json_object_get(root, "infinite")));
    assert_true(fabs(json_number_value(json_object_get(root, "number")) + 1234.5678901) < 1e-6);
    for (size_t i = 0; i + 1 < COUNT(floats); i++)
        assert_true((float)json_number_value(json_array_get(json_object_get(root, "floats"), i)) == floats[i]);
    assert_int_equal(json_array_size(json_object_get(root, "empty")), 0);
    assert_int_equal(json_array_size(json_object_get(root, "list")), 4);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(root, "list"), 2)), 2);
    json_decref(root);
}
