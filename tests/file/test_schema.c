/* docs/model-file.md says of every key, tensor and feature what the schema says, and names none that the schema
 * lacks. engine/ferry.h says the range and the default of every option. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/file/schema.h"
#include "tests/support/files.h"

static ferry_view page(void)
{
    return mapped_bytes(in_directory(FERRY_SOURCE_DIR, "docs/model-file.md"));
}

static size_t missing, rows;

/* The page has a line that begins so. */
static void expect(ferry_view text, const char *line)
{
    char *begun = kept_memory(strlen(line) + 2);
    sprintf(begun, "\n%s", line);
    rows++;
    if (find_text((ferry_view){(const char *)text.data, text.size}, begun) != NULL) return;
    print_error("docs/model-file.md lacks: %s\n", line);
    missing++;
}

/* The comment of a field in ferry.h, behind it or above, with one blank for white space. */
static char *comment_of(const char *header, const char *field)
{
    const char *at = strstr(strstr(header, "typedef struct ferry_search_options"), ferry_format(" %s;", field).text);
    if (at == NULL) fail_msg("ferry.h lacks the field %s", field);
    const char *start = strstr(at, "/*");
    if (start > strchr(at, '\n'))
        for (start = at; strncmp(start, "/*", 2) != 0;) start--;
    const char *end = strstr(start, "*/");
    char *comment = kept_memory((size_t)(end - start) + 1), *to = comment;
    for (const char *from = start; from < end; from++) {
        const bool gap = *from == ' ' || *from == '\n' || (*from == '*' && from[-1] != '/');
        if (!gap || to[-1] != ' ') *to++ = gap ? ' ' : *from;
    }
    return comment;
}

/* How a comment has to begin: "1…1024, default 1". */
static ferry_short_text stated(const ferry_key *key)
{
    ferry_short_text range = ferry_format("%s%.10g…%.10g, ", key->above ? "above " : "", key->min, key->max);
    ferry_short_text value = ferry_format("%.10g", key->default_value);
    if (key->kind == FERRY_KEY_BOOL) range = ferry_format("0 or 1, ");
    if (key->bound == FERRY_BOUND_TARGET_ID) range = ferry_format("%.10g…last id, ", key->min);
    if (key->bound == FERRY_BOUND_BEAM) range = ferry_format("%.10g…beam, ", key->min);
    if (key->kind == FERRY_KEY_CHOICE) {
        range = ferry_format("%s", "");
        value = ferry_format("FERRY_%s_%s", key->name, key->choices[(int)key->default_value]);
        for (char *c = value.text; *c != '\0'; c++) *c = (char)toupper((unsigned char)*c);
    }
    return ferry_format("/* %sdefault %s", range.text, key->when == FERRY_WHEN_NEVER ? value.text : "the model's");
}

/* The comment of every option in ferry.h begins with its range and its default. */
TEST(test_options_in_the_header)
{
    const ferry_view bytes = mapped_bytes(in_directory(FERRY_SOURCE_DIR, "engine/ferry.h"));
    const ferry_key_table table = ferry_schema_keys(FERRY_KEYS_DECODING);
    char *header = kept_memory(bytes.size + 1);
    memcpy(header, bytes.data, bytes.size);
    for (const ferry_key *key = table.keys; key < table.keys + table.count; key++) {
        if (key->kind == FERRY_KEY_IDS) continue;
        const ferry_short_text expected = stated(key);
        const char *comment = comment_of(header, key->name), *rest = comment + strlen(expected.text);
        if (strncmp(comment, expected.text, strlen(expected.text)) != 0 || (*rest != '.' && *rest != ' '))
            fail_msg("%s: expected '%s', found '%s'", key->name, expected.text, comment);
    }
}

/* Lines of the page that begin so. */
static size_t count_lines(ferry_view text, const char *start)
{
    size_t count = 0;
    for (const char *at = text.data, *end = text.data + text.size; at < end; at++) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        if ((size_t)(end - at) >= strlen(start) && memcmp(at, start, strlen(start)) == 0) count++;
        if (line == NULL) break;
        at = line;
    }
    return count;
}

/* ---- keys ---- */

static ferry_short_text choices_text(const char *const *choices)
{
    ferry_short_text text = {""};
    for (size_t i = 0; choices[i] != NULL; i++)
        text = ferry_format("%s%s`%s`", text.text, i > 0 ? ", " : "", choices[i]);
    return text;
}

static ferry_short_text range_text(const ferry_key *key)
{
    static const char *const bounds[] = {[FERRY_BOUND_SOURCE_ID] = "source ids",
                                         [FERRY_BOUND_TARGET_ID] = "target ids",
                                         [FERRY_BOUND_TARGET_COUNT] = "up to the target's vocabulary",
                                         [FERRY_BOUND_TAG_ID] = "ids of the tag's side",
                                         [FERRY_BOUND_LAYER] = "layers of the decoder",
                                         [FERRY_BOUND_HEAD] = "heads of the decoder",
                                         [FERRY_BOUND_HEADS] = "as many as the decoder's heads",
                                         [FERRY_BOUND_LANGUAGE] = "indices of names"};
    const char *or_none = key->min < 0 && key->bound != FERRY_BOUND_FIXED ? "-1, " : "";
    if (key->kind == FERRY_KEY_CHOICE) return choices_text(key->choices);
    if (key->kind == FERRY_KEY_BOOL) return ferry_format("true, false");
    if (key->kind >= FERRY_KEY_TEXT && key->kind != FERRY_KEY_IDS) return ferry_format("any");
    if (key->bound != FERRY_BOUND_FIXED) return ferry_format("%s%s", or_none, bounds[key->bound]);
    if (key->above && key->max == INFINITY) return ferry_format("above %.10g", key->min);
    if (key->max == INFINITY) return ferry_format("finite");
    return ferry_format("%.10g … %.10g", key->min, key->file_max > 0 ? key->file_max : key->max);
}

static ferry_short_text values_text(const ferry_key *key)
{
    const ferry_short_text range = range_text(key);
    return key->max_count > 0 ? ferry_format("%s, at most %zu", range.text, key->max_count) : range;
}

static ferry_short_text usual_text(const ferry_key *key)
{
    if (!key->optional) return ferry_format("required");
    if (key->kind >= FERRY_KEY_TEXT) return ferry_format("empty");
    if (key->kind == FERRY_KEY_BOOL) return ferry_format("%s", key->default_value != 0 ? "true" : "false");
    if (key->kind == FERRY_KEY_CHOICE) return ferry_format("%s", key->choices[(size_t)key->default_value]);
    return ferry_format("%.10g", key->default_value);
}

TEST(test_keys_stand_in_the_page)
{
    static const char *const types[] = {
        [FERRY_KEY_SIZE] = "u32",    [FERRY_KEY_ID] = "i32",     [FERRY_KEY_REAL] = "f32",  [FERRY_KEY_BOOL] = "bool",
        [FERRY_KEY_CHOICE] = "text", [FERRY_KEY_TEXT] = "text",  [FERRY_KEY_BYTES] = "u8s", [FERRY_KEY_IDS] = "i32s",
        [FERRY_KEY_TEXTS] = "texts", [FERRY_KEY_SIZES] = "u64s", [FERRY_KEY_REALS] = "f64s"};
    const ferry_view text = page();
    missing = rows = 0;
    for (ferry_key_group group = 0; group < FERRY_KEY_GROUPS; group++) {
        const ferry_key_table table = ferry_schema_keys(group);
        const char *prefix = group == FERRY_KEYS_ENCODER ? "ferry.{s}." : table.prefix;
        for (size_t i = 0; group != FERRY_KEYS_DECODER && i < table.count; i++) {
            const ferry_key *key = &table.keys[i];
            if (key->when == FERRY_WHEN_NEVER) continue;
            char line[600];
            snprintf(line, sizeof line, "| `%s%s` | %s | %s | %s |", prefix, key->name, types[key->kind],
                     values_text(key).text, usual_text(key).text);
            expect(text, line);
        }
    }
    assert_int_equal(missing, 0);
    /* ferry.format, ferry.hash, ferry.features and ferry.{s}.position.type are the loader's. */
    assert_int_equal(count_lines(text, "| `ferry."), rows + 4);
}

TEST(test_features_stand_in_the_page)
{
    const ferry_view text = page();
    for (const ferry_feature *feature = ferry_features; feature->prefix != NULL; feature++) {
        for (size_t c = 0; feature->choices == NULL ? c == 0 : feature->choices[c] != NULL; c++) {
            const ferry_short_text word = feature->choices == NULL
                                              ? ferry_format("`%s`", feature->prefix)
                                              : ferry_format("`%s:%s`", feature->prefix, feature->choices[c]);
            if (!ferry_view_contains(text, word.text)) fail_msg("docs/model-file.md lacks the feature %s", word.text);
        }
    }
}

/* ---- tensors ---- */

static void expect_tensors(ferry_view text, const char *prefix, const ferry_tensor_row *row)
{
    static const char *const whens[] = {
        [FERRY_TENSOR_ALWAYS] = "always",          [FERRY_TENSOR_ATTENTION] = "not with an SSRU",
        [FERRY_TENSOR_SSRU] = "with an SSRU",      [FERRY_TENSOR_CROSS] = "decoder",
        [FERRY_TENSOR_GATED] = "`ffn_gated`",      [FERRY_TENSOR_EMBEDDING_NORM] = "`embedding_norm`",
        [FERRY_TENSOR_FINAL_NORM] = "`final_norm`"};
    static const char *const forms[] = {"matrix", "matrix without a bias", "norm"};
    for (; row->name != NULL; row++) {
        const ferry_short_text shape =
            row->form == FERRY_TENSOR_NORM ? ferry_format("[%c]", row->N) : ferry_format("[%c, %c]", row->N, row->K);
        expect(text, ferry_format("| `%s%s` | %s | %s | %s |", prefix, row->name, forms[row->form], shape.text,
                                  whens[row->when])
                         .text);
    }
}

TEST(test_tensors_stand_in_the_page)
{
    const ferry_view text = page();
    missing = rows = 0;
    expect_tensors(text, "{s}.blk.N.", ferry_layer_tensors);
    expect_tensors(text, "{s}.", ferry_stack_tensors);
    assert_int_equal(missing, 0);
    assert_int_equal(count_lines(text, "| `{s}."), rows);
}
