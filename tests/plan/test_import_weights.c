/* Hugging Face's weights in one file or several: which are read, and that an inconsistent index is refused by name. */
#define _XOPEN_SOURCE 700
#include "tests/support/import_support.h"

#include "models/plan/plan.h"
#include "models/plan/plan_tensors.h"

static char *directory;
static ferry_source *source;
static ferry_import_plan plan;

static int make_directory(void **state)
{
    static int number = 0;
    char name[32];
    (void)state;
    snprintf(name, sizeof name, "weights-%d", number++);
    directory = scratch_directory(name);
    return 0;
}

/* directory/name with vectors of two numbers: `names` "a b", numbers 10·first, 10·first + 1, … */
static void write_part(const char *name, const char *names, float first)
{
    char header[300] = "{";
    float numbers[4];
    size_t count = 0;
    for (const char *at = names; *at != '\0'; at += strspn(at, " "), count++) {
        const size_t length = strcspn(at, " "), end = strlen(header);
        snprintf(header + end, sizeof header - end,
                 "%s\"%.*s\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[%zu,%zu]}", count == 0 ? "" : ",",
                 (int)length, at, 8 * count, 8 * count + 8);
        for (size_t i = 0; i < 2; i++) numbers[2 * count + i] = 10 * (first + (float)count) + (float)i;
        at += length;
    }
    const made_file file = made_safetensors(text_view(strcat(header, "}")), numbers, 8 * count);
    write_bytes(in_directory(directory, name), file.data, file.size);
}

static ferry_status open_weights(const char *path, ferry_error *error)
{
    if (ferry_source_open(path, 0, &source, error) != FERRY_OK) fail_msg("%s", error->message);
    ferry_import_plan_init(&plan, source);
    return ferry_import_open_weights(&plan, error);
}

static void close_weights(void)
{
    ferry_import_plan_destroy(&plan);
    ferry_source_close(source);
}

static void check_tensor(const char *name, float first)
{
    const ferry_weights_entry *entry = ferry_import_find(&plan, "", name);
    float numbers[2];
    if (entry == NULL) fail_msg("no tensor '%s'", name);
    ferry_import_widen(&entry->tensor, 0, entry->strides[0], 2, numbers);
    assert_true(numbers[0] == first && numbers[1] == first + 1);
}

/* The source's weights are refused. */
static void refuse_weights(const char *path, ferry_status status, const char *what)
{
    REFUSE(open_weights(path, &error), status, what);
    close_weights();
}

static const char *known;

static bool is_known(ferry_view name)
{
    return has_text(name, known);
}

static const char index_name[] = "model.safetensors.index.json";

TEST_WITH(test_several_files, make_directory, NULL)
{
    write_part("one.safetensors", "b d", 1);
    write_part("two.safetensors", "c", 3);
    write_text(directory, index_name,
               "{\"metadata\":{\"total_size\":99},"
               "\"weight_map\":{\"b\":\"one.safetensors\",\"c\":\"two.safetensors\",\"d\":\"one.safetensors\"}}");
    CHECK(open_weights(directory, &error));
    assert_int_equal(plan.weights.count, 3);
    assert_int_equal(plan.shard_count, 2);
    check_tensor("b", 10);
    check_tensor("c", 30);
    assert_non_null(strstr(ferry_import_find(&plan, "", "c")->file, "/two.safetensors"));
    REFUSE(ferry_import_check_unused(&plan, NULL, &error), FERRY_ERROR_UNSUPPORTED,
           "/one.safetensors: tensor 'd' is unknown");
    known = "c";
    REFUSE(ferry_import_check_unused(&plan, is_known, &error), FERRY_ERROR_UNSUPPORTED, "tensor 'd' is unknown");
    known = "d";
    CHECK(ferry_import_check_unused(&plan, is_known, &error));
    check_tensor("d", 20);
    CHECK(ferry_import_check_unused(&plan, NULL, &error));
    close_weights();
}

TEST_WITH(test_inconsistent_index, make_directory, NULL)
{
    static const struct {
        const char *map;
        ferry_status status;
        const char *what;
    } rows[] = {
        {"{\"b\":\"../one.safetensors\"}", FERRY_ERROR_FORMAT, "is not the name of a file beside it"},
        {"{\"b\":\"a/one.safetensors\"}", FERRY_ERROR_FORMAT, "is not the name of a file beside it"},
        {"{\"b\":\"\"}", FERRY_ERROR_FORMAT, "is not the name of a file beside it"},
        {"{\"b\":5}", FERRY_ERROR_FORMAT, "is not the name of a file beside it"},
        {"[]", FERRY_ERROR_FORMAT, "'weight_map' is missing"},
        {"{\"b\":\"..\"}", FERRY_ERROR_IO, "cannot open"},
        {"{\"b\":\"three.safetensors\"}", FERRY_ERROR_IO, "three.safetensors: cannot open"},
        {"{\"b\":\"one.safetensors\",\"c\":\"one.safetensors\",\"d\":\"one.safetensors\"}", FERRY_ERROR_FORMAT,
         "tensor 'c' is in none of the files; expected it in 'one.safetensors'"},
        {"{\"b\":\"one.safetensors\",\"c\":\"twin.safetensors\",\"d\":\"one.safetensors\"}", FERRY_ERROR_FORMAT,
         "tensor 'b' occurs twice"},
    };
    write_part("one.safetensors", "b d", 1);
    write_part("two.safetensors", "c", 3);
    write_part("twin.safetensors", "b", 3);
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_text(directory, index_name, ferry_name_format("{\"weight_map\":%s}", rows[i].map).text);
        refuse_weights(directory, rows[i].status, rows[i].what);
    }
}

/* Names that another tensor is known under, as well, need not be in a file; what the index does not list is read, too.
 */
TEST_WITH(test_incomplete_files, make_directory, NULL)
{
    static const char *const tied[] = {"model.shared.weight", "encoder.embed_tokens.weight", "lm_head.weight",
                                       "decoder.output_projection.weight"};
    write_part("one.safetensors", "b d", 1);
    for (size_t i = 0; i < COUNT(tied); i++) {
        write_text(
            directory, index_name,
            ferry_name_format("{\"weight_map\":{\"b\":\"one.safetensors\",\"%s\":\"one.safetensors\"}}", tied[i]).text);
        CHECK(open_weights(directory, &error));
        assert_int_equal(plan.weights.count, 2);
        check_tensor("d", 20);
        close_weights();
    }
}

/* As many files as an index may name, and one more. */
TEST_WITH(test_many_files, make_directory, NULL)
{
    for (int i = 0; i <= FERRY_IMPORT_MAX_SHARDS; i++)
        write_part(ferry_name_format("%d.safetensors", i).text, ferry_name_format("t%d", i).text, (float)i);
    for (size_t last = FERRY_IMPORT_MAX_SHARDS - 1; last <= FERRY_IMPORT_MAX_SHARDS; last++) {
        const ferry_name end = ferry_name_format("\"t%zu\":\"%zu.safetensors\"}}", last, last);
        const ferry_view index = repeated_text("{\"weight_map\":{", "\"t#\":\"#.safetensors\",", last, end.text);
        write_bytes(in_directory(directory, index_name), index.data, index.size);
        if (last == FERRY_IMPORT_MAX_SHARDS) break;
        CHECK(open_weights(directory, &error));
        check_tensor("t1023", 10230);
        close_weights();
    }
    refuse_weights(directory, FERRY_ERROR_LIMIT, "index.json: more than 1024 files");
}

/* An index of torch's files. */
TEST_WITH(test_index_of_torch, make_directory, NULL)
{
    write_part("part.bin", "b", 1);
    write_text(directory, "pytorch_model.bin.index.json", "{\"weight_map\":{\"b\":\"part.bin\"}}");
    refuse_weights(directory, FERRY_ERROR_FORMAT, "part.bin: ");
    write_text(directory, "pytorch_model.bin.index.json", "{\"weight_map\":{\"b\":\"none.bin\"}}");
    refuse_weights(directory, FERRY_ERROR_IO, "none.bin: cannot open");
}

/* A file without an index comes first; one that the user names comes before all. */
TEST_WITH(test_which_file, make_directory, NULL)
{
    refuse_weights(directory, FERRY_ERROR_UNSUPPORTED, ": expected model.safetensors, ");
    write_part("one.safetensors", "b", 1);
    write_part("model.safetensors", "b", 2);
    write_part("other.safetensors", "b", 3);
    write_text(directory, index_name, "{\"weight_map\":{\"b\":\"one.safetensors\"}}");
    const char *const named[] = {"", "other.safetensors", index_name};
    const float numbers[] = {20, 30, 10};
    for (int i = 0; i < 3; i++) {
        CHECK(open_weights(in_directory(directory, named[i]), &error));
        check_tensor("b", numbers[i]);
        close_weights();
    }
}
