#include "import_support.h"

#include "base/files/file_system.h"
#include "base/tensor.h"

/* ---- directories made from others ---- */

void apply_edit(const char *directory, const edit *change)
{
    char *path = in_directory(directory, change->file);
    if (change->to == NULL) {
        remove(path);
    } else if (change->from == NULL) {
        write_bytes(path, change->to, strlen(change->to));
    } else {
        made_file text = {.size = 0};
        const ferry_view old = mapped_bytes(path);
        const size_t from = strlen(change->from);
        const char *place = find_text(old, change->from);
        if (place == NULL) fail_msg("%s has no '%s'", path, change->from);
        const size_t before = (size_t)(place - old.data);
        put_bytes(&text, old.data, before);
        put_text(&text, change->to);
        put_bytes(&text, place + from, old.size - before - from);
        write_bytes(path, text.data, text.size);
    }
}

char *variant(const char *source, const edit *edits, size_t count)
{
    static int number = 0;
    char name[32];
    snprintf(name, sizeof name, "variant-%d", number++);
    char *directory = scratch_directory(name);
    ferry_folder *list = ferry_folder_open(source);
    assert_non_null(list);
    for (const char *name_there; (name_there = ferry_folder_next(list)) != NULL;)
        if (name_there[0] != '.') link_file(in_directory(source, name_there), directory, name_there);
    ferry_folder_close(list);
    for (size_t i = 0; i < count; i++) apply_edit(directory, &edits[i]);
    return directory;
}

/* ---- tensors edited ---- */

item_list *read_items(const char *directory)
{
    ferry_weights file;
    item_list *list = kept_memory(sizeof *list);
    list->count = 0;
    CHECK(ferry_weights_read(ferry_safetensors_read, mapped_bytes(in_directory(directory, "model.safetensors")),
                             directory, NULL, &file, &error));
    for (size_t i = 0; i < file.count; i++) {
        const ferry_tensor *tensor = &file.entries[i].tensor;
        item *made = &list->items[list->count++];
        snprintf(made->name, sizeof made->name, "%.*s", (int)tensor->name.size, tensor->name.data);
        made->tensor = *tensor;
    }
    ferry_weights_close(&file);
    return list;
}

item *find_item(item_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return &list->items[i];
    fail_msg("no tensor '%s'", name);
    return NULL;
}

item *add_item(item_list *list, const char *name, int64_t rows, int64_t columns, const void *data)
{
    assert_true(list->count < sizeof list->items / sizeof list->items[0]);
    item *made = &list->items[list->count++];
    snprintf(made->name, sizeof made->name, "%s", name);
    made->tensor = (ferry_tensor){.dims = 2, .shape = {rows, columns, 1, 1}, .data = data};
    made->tensor.bytes = (size_t)(rows * columns) * sizeof(float);
    return made;
}

void remove_item(item_list *list, const char *name)
{
    item *found = find_item(list, name);
    *found = list->items[--list->count];
}

void put_value(made_file *file, float value, ferry_type type)
{
    const double wide = (double)value;
    const uint16_t half = type == FERRY_F16 ? ferry_f32_to_f16(value) : (uint16_t)(ferry_f32_bits(value) >> 16);
    const void *data = type == FERRY_F32 ? (const void *)&value : type == FERRY_F64 ? (const void *)&wide : &half;
    put_bytes(file, data, ferry_type_size(type));
}

static const char *dtype_name(ferry_type type)
{
    return type == FERRY_F32 ? "F32" : type == FERRY_F16 ? "F16" : type == FERRY_BF16 ? "BF16" : "F64";
}

void write_items(const item_list *list, const char *directory, const char *name, ferry_type type, size_t first,
                 size_t step)
{
    made_file header = {.size = 0}, data = {.size = 0};
    put_text(&header, "{");
    for (size_t i = first; i < list->count; i += step) {
        const ferry_tensor *tensor = &list->items[i].tensor;
        const float *numbers = tensor->data;
        char shape[100], entry[300];
        const size_t begin = data.size;
        for (int64_t j = 0; j < ferry_tensor_count(tensor); j++) put_value(&data, numbers[j], type);
        snprintf(entry, sizeof entry, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                 i == first ? "" : ",", list->items[i].name, dtype_name(type),
                 ferry_tensor_shape_text(tensor, shape, sizeof shape), begin, data.size);
        put_text(&header, entry);
    }
    put_text(&header, "}");
    const made_file file = made_safetensors(whole(&header), data.data, data.size);
    write_bytes(in_directory(directory, name), file.data, file.size);
}

/* ---- converting ---- */

typedef struct kept_model {
    struct kept_model *next;
    ferry_model *model;    /* or */
    ferry_model_file file; /* if NULL */
} kept_model;

static kept_model *models;

static void close_models(void)
{
    for (; models != NULL; models = models->next) {
        if (models->model != NULL) ferry_model_close(models->model);
        if (models->model == NULL) ferry_model_file_close(&models->file);
    }
}

static kept_model *keep_model(void)
{
    kept_model *model = kept_memory(sizeof *model);
    if (models == NULL) atexit(close_models);
    *model = (kept_model){.next = models};
    return models = model;
}

const ferry_model_file *converted_with(const char *source, const ferry_import_options *options)
{
    ferry_model_file file;
    char *path = new_scratch_file("model.gguf");
    CHECK(ferry_import(source, path, options, &error));
    CHECK(open_model_file(path, &file, &error));
    remove(path); /* the mapping lives on */
    kept_model *model = keep_model();
    model->file = file;
    return &model->file;
}

const ferry_model_file *converted(const char *source)
{
    return converted_with(source, &(ferry_import_options){.type = FERRY_F32});
}

enum { NOTE_SIZE = 600 };

static void take_note(void *user, const char *message)
{
    snprintf(user, NOTE_SIZE, "%s", message);
}

const char *note_of(const char *source)
{
    char *noted = kept_memory(NOTE_SIZE);
    converted_with(source, &(ferry_import_options){.type = FERRY_F32, .noted = take_note, .user = noted});
    return noted[0] != '\0' ? noted : NULL;
}

const ferry_model *opened(const char *source)
{
    ferry_model *model = convert_and_open(source, NULL);
    return keep_model()->model = model;
}

const int32_t *tokenized(const ferry_model *model, const char *text, const char *from, const char *to, size_t *count)
{
    int32_t *ids;
    CHECK(ferry_inspect_tokenize(model, (ferry_text){text, strlen(text)}, from, to, &ids, count, &error));
    int32_t *copy = kept_memory(*count * sizeof *copy);
    memcpy(copy, ids, *count * sizeof *copy);
    ferry_inspect_free(ids);
    return copy;
}

int32_t find_piece(const ferry_model *model, ferry_inspect_stack side, const char *piece)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    int32_t id = side == FERRY_INSPECT_ENCODER ? sizes.source_vocab : sizes.target_vocab;
    for (id--; id >= 0; id--) {
        const ferry_text found = ferry_inspect_piece(model, side, id);
        if (has_text((ferry_view){found.data, found.size}, piece)) break;
    }
    return id;
}

const float *logits_of(const ferry_model *model, const int32_t *ids, int32_t S, const int32_t *inputs, int32_t T)
{
    const int32_t V = ferry_inspect_get_sizes(model).target_vocab, offsets[] = {0, S}, input_offsets[] = {0, T};
    float *logits = kept_memory((size_t)T * (size_t)V * sizeof *logits);
    CHECK(ferry_inspect_logits(model, ids, offsets, 1, inputs, input_offsets, FERRY_INSPECT_ONE_PASS, logits, &error));
    return logits;
}

double log_probability(const float *row, int32_t V, int32_t id)
{
    double sum = 0;
    for (int32_t v = 0; v < V; v++) sum += exp((double)row[v] - (double)row[id]);
    return -log(sum);
}

bool described(const ferry_model *model, const char *what)
{
    ferry_text text;
    CHECK(ferry_inspect_describe(model, &text, &error));
    const bool found = ferry_view_contains((ferry_view){text.data, text.size}, what);
    ferry_inspect_free(text.data);
    return found;
}

void check_result_text(const char *expected, ferry_text found)
{
    if (found.size == strlen(expected) && memcmp(found.data, expected, found.size) == 0) return;
    fail_msg("expected '%s', found '%.*s'", expected, (int)found.size, found.data);
}

void refuse_source(const char *source, ferry_status status, const char *what)
{
    ferry_error error = {0};
    char *path = scratch_file("refused.gguf");
    const ferry_status found = ferry_import(source, path, NULL, &error);
    check_refusal(found, &error, status == ANY_ERROR && found != FERRY_OK ? found : status, what);
    check_no_file(path);
}

void refuse_edit(const char *source, const char *file, const char *from, const char *to, ferry_status status,
                 const char *what)
{
    refuse_source(variant(source, &(edit){file, from, to}, 1), status, what);
}

/* ---- keys ---- */

static ferry_short_text number_text(ferry_gguf_type type, const char *data)
{
    int32_t integer;
    float real;
    memcpy(&integer, data, type == FERRY_GGUF_BOOL ? 1 : sizeof integer);
    memcpy(&real, data, type == FERRY_GGUF_F32 ? sizeof real : 0);
    if (type == FERRY_GGUF_BOOL) return ferry_format("%s", *data != 0 ? "true" : "false");
    return type == FERRY_GGUF_F32 ? ferry_format("%g", (double)real) : ferry_format("%d", (int)integer);
}

/* As check_file_keys has it, kept. */
static const char *value_text(const ferry_gguf_value *value)
{
    made_file text = {.size = 0};
    if (value == NULL) return "absent";
    for (uint64_t i = 0; i < value->count; i++) {
        if (i > 0) put_text(&text, value->texts != NULL ? "|" : " ");
        const ferry_view one = value->texts != NULL ? ferry_string_table_at(value->texts, i) : value->data;
        const size_t width = value->type == FERRY_GGUF_BOOL ? 1 : 4;
        if (value->type == FERRY_GGUF_TEXT)
            put_bytes(&text, one.data, one.size);
        else
            put_text(&text, number_text(value->type, one.data + i * width).text);
    }
    put(&text, 0, 1);
    return (const char *)text.data;
}

void check_file_keys(const ferry_model_file *file, const char *expected)
{
    check_gguf_keys(&file->gguf, expected);
}

void check_gguf_keys(const ferry_gguf *file, const char *expected)
{
    while (*expected != '\0') {
        const size_t size = strcspn(expected, ";"), name = strcspn(expected, " ");
        const ferry_short_text key = ferry_format("ferry.%.*s", (int)name, expected);
        const char *found = value_text(ferry_gguf_find(file, key.text));
        const ferry_view wanted = {expected + name + 1, size > name ? size - name - 1 : 0};
        if (!has_text(wanted, found)) fail_msg("expected '%.*s', found '%s'", (int)size, expected, found);
        expected += size + strspn(expected + size, "; ");
    }
}

void check_saying(const char *source, const char *says)
{
    if (ferry_text_begins(says, "\u2026"))
        refuse_source(source, ANY_ERROR, says + strlen("\u2026"));
    else
        check_file_keys(converted(source), says);
}

void check_sayings(const char *source, const saying *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t edits = 0;
        while (edits < sizeof rows->edits / sizeof *rows->edits && rows[i].edits[edits].file != NULL) edits++;
        check_saying(variant(source, rows[i].edits, edits), rows[i].keys);
    }
}

/* ---- languages, weights ---- */

char *small_family(const char *name)
{
    return shared_file("models/huggingface-small/%s", name);
}

int32_t find_language(const ferry_model_languages *languages, const char *names)
{
    for (int32_t i = 0; i < languages->count; i++)
        if (has_text(ferry_string_table_at(languages->names, (size_t)i), names)) return i;
    fail_msg("no language '%s'", names);
    return -1;
}

bool is_special(const ferry_tokenizer_config *text, int32_t id)
{
    for (int32_t i = 0; i < text->special_count; i++)
        if (text->special_ids[i] == id) return true;
    return false;
}

void check_same_tensors(const ferry_model_file *a, const ferry_model_file *b)
{
    assert_int_equal(a->gguf.tensor_count, b->gguf.tensor_count);
    for (size_t i = 0; i < a->gguf.tensor_count; i++) {
        const ferry_tensor *x = &a->gguf.tensors[i], *y = &b->gguf.tensors[i];
        assert_true(ferry_view_equal(x->name, y->name));
        assert_int_equal(x->bytes, y->bytes);
        assert_memory_equal(x->data, y->data, x->bytes);
    }
}
