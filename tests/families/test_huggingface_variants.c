/* Directories whose configuration, decoding defaults or tensors are varied, key by key, against what transformers made
 * of them (tests/data/huggingface/record.py): the same logits and the same ids of generate(), or a refusal. */
#include "tests/support/import_support.h"

static const double tolerance = 2e-5; /* logits are recorded with 5 digits after the point */

/* ---- the directory of a variant ---- */

static const char *text_at(const json_t *array, size_t i)
{
    return json_string_value(json_array_get(array, i));
}

static void write_json(const char *path, const json_t *values)
{
    char *text = json_dumps(values, 0);
    assert_non_null(text);
    write_bytes(path, text, strlen(text));
    free(text);
}

/* Keys of `file` that the variant sets or removes. */
static void change_keys(const json_t *row, const char *directory, const char *file)
{
    json_t *set = json_object_get(json_object_get(row, "set"), file);
    const json_t *removed = json_object_get(json_object_get(row, "remove"), file);
    if (set == NULL && removed == NULL) return;
    const char *path = in_directory(directory, file);
    json_t *values = load_json(path);
    for (size_t i = 0; i < json_array_size(removed); i++) json_object_del(values, text_at(removed, i));
    if (set != NULL) assert_int_equal(json_object_update(values, set), 0);
    write_json(path, values);
}

static void rename_item(item_list *list, const char *from, const char *to)
{
    snprintf(find_item(list, from)->name, sizeof list->items[0].name, "%s", to);
}

static void copy_item(item_list *list, const char *from, const char *to)
{
    const ferry_tensor tensor = find_item(list, from)->tensor;
    add_item(list, to, 1, 1, NULL)->tensor = tensor;
}

static void change_item(item_list *list, const char *name, float factor, float summand)
{
    ferry_tensor *tensor = &find_item(list, name)->tensor;
    const float *old = tensor->data;
    float *numbers = kept_memory(tensor->bytes);
    for (int64_t i = 0; i < ferry_tensor_count(tensor); i++) numbers[i] = old[i] * factor + summand;
    tensor->data = numbers;
}

static void fill_item(item_list *list, const char *name, json_int_t rows, json_int_t columns)
{
    float *numbers = kept_memory((size_t)(rows * columns) * sizeof *numbers);
    for (json_int_t i = 0; i < rows * columns; i++) numbers[i] = (float)(i * 37 % 64) / 64 - 0.5f;
    add_item(list, name, rows, columns, numbers);
}

static void strip_items(item_list *list, const char *prefix)
{
    const size_t size = strlen(prefix);
    for (size_t i = 0; i < list->count; i++) {
        char *name = list->items[i].name;
        if (strncmp(name, prefix, size) == 0) memmove(name, name + size, strlen(name + size) + 1);
    }
}

static bool has_item(const item_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return true;
    return false;
}

/* Layer 0 stands for those up to `layers` that are missing. */
static void repeat_layer(item_list *list, const char *prefix, int layers)
{
    char first[64], name[sizeof list->items[0].name + 32];
    snprintf(first, sizeof first, "%s0.", prefix);
    for (size_t i = 0, count = list->count; i < count; i++) {
        const char *old = list->items[i].name;
        if (strncmp(old, first, strlen(first)) != 0 || strstr(old, "relative_attention_bias") != NULL) continue;
        for (int layer = 1; layer < layers; layer++) {
            snprintf(name, sizeof name, "%s%d.%s", prefix, layer, old + strlen(first));
            if (!has_item(list, name)) copy_item(list, old, name);
        }
    }
}

static void change_tensors(const json_t *changes, const char *source, const char *directory)
{
    if (changes == NULL) return;
    item_list *list = read_items(source);
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);
        const char *kind = text_at(change, 0), *name = text_at(change, 1), *to = text_at(change, 2);
        if (strcmp(kind, "rename") == 0) rename_item(list, name, to);
        if (strcmp(kind, "copy") == 0) copy_item(list, name, to);
        if (strcmp(kind, "shift") == 0) change_item(list, name, 1, 0.25f);
        if (strcmp(kind, "shrink") == 0) change_item(list, name, 1.0f / 1024, 0);
        if (strcmp(kind, "remove") == 0) remove_item(list, name);
        if (strcmp(kind, "strip") == 0) strip_items(list, name);
        const json_int_t rows = json_integer_value(json_array_get(change, 2));
        if (strcmp(kind, "fill") == 0) fill_item(list, name, rows, json_integer_value(json_array_get(change, 3)));
        if (strcmp(kind, "repeat") == 0) repeat_layer(list, name, (int)rows);
    }
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
}

static char *make_variant(const json_t *row)
{
    char *source = data_file("huggingface/%s", json_string_value(json_object_get(row, "base")));
    char *directory = variant(source, NULL, 0);
    const json_t *dropped = json_object_get(row, "drop");
    change_tensors(json_object_get(row, "tensors"), source, directory);
    for (size_t i = 0; i < json_array_size(dropped); i++)
        apply_edit(directory, &(edit){text_at(dropped, i), NULL, NULL});
    change_keys(row, directory, "config.json");
    change_keys(row, directory, "generation_config.json");
    return directory;
}

/* ---- what it computes ---- */

static bool is_named(const json_t *row, const char *base, const char *name)
{
    return strcmp(json_string_value(json_object_get(row, "base")), base) == 0 &&
           strcmp(json_string_value(json_object_get(row, "name")), name) == 0;
}

static const json_t *find_row(const json_t *rows, const char *base, const char *name)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (is_named(json_array_get(rows, i), base, name)) return json_array_get(rows, i);
    fail_msg("%s has no variant '%s'", base, name);
    return NULL;
}

/* The last row of logits after the base's inputs. */
static void check_logits(const json_t *base, const json_t *row, const char *label, const ferry_model *model)
{
    const json_t *expected = json_object_get(row, "logits");
    const int32_t V = ferry_inspect_get_sizes(model).target_vocab;
    int32_t S, T;
    const int32_t *ids = json_ids(json_object_get(base, "input"), &S);
    const int32_t *target = json_ids(json_object_get(base, "target"), &T);
    const float *last = logits_of(model, ids, S, target, T) + V * (T - 1);
    double worst = 0;
    assert_int_equal(json_array_size(expected), V);
    for (size_t i = 0; i < json_array_size(expected); i++)
        worst = fmax(worst, fabs((double)last[i] - json_number_value(json_array_get(expected, i))));
    if (!(worst <= tolerance)) fail_msg("%s: logits differ by %g", label, worst);
}

/* The ids and the score of the first hypothesis, without any option. */
static void check_ids(const json_t *base, const json_t *row, const char *label, const ferry_model *model)
{
    int32_t S, count;
    const int32_t *ids = json_ids(json_object_get(base, "input"), &S), offsets[] = {0, S};
    const int32_t *expected = json_ids(json_object_get(row, "ids"), &count);
    const char *from = json_string_value(json_object_get(base, "from"));
    ferry_options options;
    ferry_options_default(model, &options, sizeof options);
    options.from = from;
    ferry_result *result = generated(model, &options, ids, offsets, 1);
    const int32_t *found = ferry_inspect_result_ids(result, 0, 0);
    const size_t found_count = ferry_result_token_count(result, 0, 0);
    made_file text = {.size = 0};
    for (size_t i = 0; i < found_count; i++) put_text(&text, ferry_name_format(" %d", (int)found[i]).text);
    put(&text, 0, 1);
    if (found_count != (size_t)count || memcmp(found, expected, found_count * sizeof *found) != 0) {
        char *wanted = json_dumps(json_object_get(row, "ids"), 0);
        fail_msg("%s: expected ids %s, found%s", label, wanted, (const char *)text.data);
    }
    const json_t *score = json_object_get(row, "score");
    const double difference = (double)ferry_result_score(result, 0, 0) - json_number_value(score);
    if (score != NULL && !(fabs(difference) <= tolerance)) fail_msg("%s: scores differ by %g", label, difference);
    ferry_result_destroy(result);
}

/* What Ferry does, if transformers does something else. */
static void check_row(const json_t *root, const json_t *row)
{
    const json_t *rows = json_object_get(root, "variants"), *own = json_object_get(row, "ferry");
    const char *base_name = json_string_value(json_object_get(row, "base"));
    const json_t *base = json_object_get(json_object_get(root, "bases"), base_name);
    const json_t *as = json_object_get(own, "is as"), *refused = json_object_get(own, "refuses");
    char label[128], *directory = make_variant(row);
    snprintf(label, sizeof label, "%s, %s", base_name, json_string_value(json_object_get(row, "name")));
    if (refused != NULL) {
        refuse_source(directory, ANY_ERROR, json_string_value(refused));
        return;
    }
    if (as != NULL) row = find_row(rows, base_name, json_string_value(as));
    if (json_object_get(row, "fails") != NULL) fail_msg("%s: nothing is recorded", label);
    const ferry_model *model = opened(directory);
    check_logits(base, row, label, model);
    check_ids(base, row, label, model);
}

TEST(test_variants)
{
    static const char *const names[] = {"m2m100", "mbart50", "marian", "t5", "mt5"};
    const json_t *root = load_json(data_file("huggingface/variants.json"));
    const json_t *rows = json_object_get(root, "variants");
    size_t checked[COUNT(names)] = {0};
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        check_row(root, row);
        for (size_t k = 0; k < COUNT(names); k++)
            checked[k] += strcmp(json_string_value(json_object_get(row, "base")), names[k]) == 0;
    }
    for (size_t k = 0; k < COUNT(names); k++) assert_true(checked[k] > 40);
}

/* Start, end and padding of the class, which transformers 4 took where no file names them. T5's class names no start;
 * its models start with the padding. MarianMT's are beyond this vocabulary. */
TEST(test_ids_of_the_class)
{
    static const char *const names[] = {"m2m100", "mbart50", "t5", "mt5"}, *const keys[] = {"pad_token_id",
                                                                                            "eos_token_id",
                                                                                            "decoder_start_token_id",
                                                                                            "bos_token_id"};
    const json_t *bases = json_object_get(load_json(data_file("huggingface/variants.json")), "bases");
    for (size_t i = 0; i < COUNT(names); i++) {
        const json_t *own = json_object_get(json_object_get(bases, names[i]), "class");
        const json_t *start = json_object_get(own, "start");
        char *directory = variant(data_file("huggingface/%s", names[i]), NULL, 0);
        for (size_t file = 0; file < 2; file++) {
            const char *path = in_directory(directory, file == 0 ? "config.json" : "generation_config.json");
            json_t *values = load_json(path);
            for (size_t key = 0; key < COUNT(keys); key++) json_object_del(values, keys[key]);
            write_json(path, values);
        }
        const ferry_generation *generation = &converted(directory)->generation;
        assert_int_equal(generation->pad_id, json_integer_value(json_object_get(own, "pad")));
        assert_int_equal(generation->eos_ids[0], json_integer_value(json_object_get(own, "end")));
        assert_int_equal(generation->start_id, json_is_null(start) ? generation->pad_id : json_integer_value(start));
    }
}
