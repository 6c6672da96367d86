#include "model_damage.h"

#include <inttypes.h>

#include "models/convert.h"

static void write_sample(const sample *model)
{
    write_bytes(model->path, model->data, model->size);
}

static void read_sample(sample *model)
{
    const made_file copy = file_copy(model->path);
    model->data = copy.data;
    model->size = copy.size;
}

sample make_sample(const char *name)
{
    sample model = {.path = scratch_file("sample.gguf")};
    CHECK(ferry_import(data_file("%s", name), model.path, NULL, &error));
    read_sample(&model);
    return model;
}

sample make_small_sample(const small_model *small)
{
    sample model = {.path = new_scratch_file("sample.gguf")};
    write_small_model(model.path, small);
    read_sample(&model);
    return model;
}

size_t place_of(const sample *model, const char *text)
{
    const unsigned char *found =
        (const unsigned char *)find_text((ferry_view){(const char *)model->data, model->size}, text);
    if (found == NULL) fail_msg("no '%s'", text);
    return (size_t)(found - model->data);
}

static ferry_tensor tensor_of(const sample *model, const char *name)
{
    ferry_gguf gguf;
    CHECK(ferry_gguf_open((ferry_view){(const char *)model->data, model->size}, "sample", &gguf, &error));
    const ferry_tensor *found = ferry_gguf_tensor(&gguf, name);
    if (found == NULL) fail_msg("no tensor '%s'", name);
    const ferry_tensor tensor = *found;
    ferry_gguf_close(&gguf);
    return tensor;
}

size_t data_of(const sample *model, const char *tensor)
{
    return (size_t)((const unsigned char *)tensor_of(model, tensor).data - model->data);
}

/* Writes a number; returns how many bytes it has. */
static size_t put_number(unsigned char *at, const char *value, bool real, size_t size)
{
    char *end;
    const double number = strtod(value, &end);
    const float number_f32 = (float)number;
    const int64_t integer = real ? 0 : (int64_t)number;
    assert_true(end != value && *end == 0);
    memcpy(at, real ? (const void *)&number_f32 : &integer, size); /* little-endian */
    return size;
}

size_t table_end(const sample *model, const ferry_gguf *gguf)
{
    size_t end = 0;
    for (size_t i = 0; i < gguf->tensor_count; i++) {
        const ferry_tensor *tensor = &gguf->tensors[i];
        const size_t name = (size_t)((const unsigned char *)tensor->name.data - model->data);
        const size_t entry = name + tensor->name.size + 4 + 8 * (size_t)tensor->dims + 12;
        if (entry > end) end = entry;
    }
    return end;
}

/* Replaces a part of the keys. The data of the tensors move to where they must begin then. */
static void splice(sample *model, size_t begin, size_t end, const void *bytes, size_t size)
{
    ferry_gguf gguf;
    made_file file = {.size = 0};
    CHECK(ferry_gguf_open((ferry_view){(const char *)model->data, model->size}, "sample", &gguf, &error));
    const size_t table = table_end(model, &gguf), data = ferry_round_up(table, gguf.alignment);
    put_bytes(&file, model->data, begin);
    put_bytes(&file, bytes, size);
    put_bytes(&file, model->data + end, table - end);
    put(&file, 0, ferry_round_up(file.size, gguf.alignment) - file.size);
    put_bytes(&file, model->data + data, model->size - data);
    ferry_gguf_close(&gguf);
    model->data = file.data;
    model->size = file.size;
}

/* The first byte after a key's type. */
static size_t value_of(const sample *model, const char *key)
{
    return place_of(model, key) + strlen(key) + 4;
}

static void edit_key(sample *model, const char *key, const char *value)
{
    size_t type = value_of(model, key) - 4, at = type + 4;
    uint64_t size;
    if (model->data[type] == FERRY_GGUF_ARRAY) {
        type = at;
        at += 12;
    }
    if (model->data[type] != FERRY_GGUF_TEXT) {
        put_number(model->data + at, value, model->data[type] == FERRY_GGUF_F32,
                   model->data[type] == FERRY_GGUF_BOOL ? 1 : 4);
        return;
    }
    made_file text = {.size = 0};
    memcpy(&size, model->data + at, sizeof size);
    put(&text, strlen(value), 8);
    put_text(&text, value);
    splice(model, at, at + 8 + (size_t)size, text.data, text.size);
}

static void edit(sample *model, const refusal *row)
{
    char name[64];
    const size_t stem = strcspn(row->name, "[:");
    snprintf(name, sizeof name, "%.*s", (int)stem, row->name);
    if (row->value == NULL) {
        model->data[place_of(model, name) + stem - 1] = '~';
    } else if (row->name[stem] == '[') {
        const size_t index = strtoul(row->name + stem + 1, NULL, 10);
        put_number(model->data + data_of(model, name) + 4 * index, row->value, tensor_of(model, name).type == FERRY_F32,
                   4);
    } else if (row->name[stem] == ':') { /* after the name come its dimensions, their number first, then the type */
        unsigned char *dims = model->data + place_of(model, name) + stem;
        put_number(dims + 4 + 8 * (size_t)*dims, row->value, false, 4);
    } else {
        edit_key(model, name, row->value);
    }
}

void refuse(const sample *model, ferry_status status, const char *message)
{
    ferry_error error = {0};
    ferry_model_file file;
    write_sample(model);
    const ferry_status found = open_model_file(model->path, &file, &error);
    check_refusal(found, &error, status, message);
    check_refusal(found, &error, status, "sample.gguf: ");
}

/* A copy that can be changed. */
static sample copy_of(const sample *model)
{
    sample copy = *model;
    copy.data = kept_memory(model->size);
    memcpy(copy.data, model->data, model->size);
    return copy;
}

void refuse_each(sample model, const refusal *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sample edited = copy_of(&model);
        edit(&edited, &rows[i]);
        refuse(&edited, rows[i].status, rows[i].message);
    }
}

/* ---- bounds ---- */

/* Whether opening the file ends with "key 'KEY': expected". */
static bool is_refused(const sample *model, const char *key, ferry_error *error)
{
    ferry_model_file file;
    write_sample(model);
    if (open_model_file(model->path, &file, error) == FERRY_OK) {
        ferry_model_file_close(&file);
        return false;
    }
    return strstr(error->message, ferry_format("key '%s': expected", key).text) != NULL;
}

void check_bounds(sample model, const bounds *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double values[] = {rows[i].least, rows[i].most, rows[i].least - rows[i].step,
                                 rows[i].most + rows[i].step};
        for (int v = 0; v < 4; v++) {
            ferry_error error = {0};
            sample edited = copy_of(&model);
            edit_key(&edited, rows[i].key, ferry_format("%.10g", values[v]).text);
            if (is_refused(&edited, rows[i].key, &error) != (v >= 2))
                fail_msg("%s = %.10g: %s", rows[i].key, values[v], error.message);
        }
    }
}

/* An array of `count` elements, ids of 1, others 0 or empty. */
static void lengthen(sample *model, const char *key, uint64_t count)
{
    ferry_gguf gguf;
    made_file array = {.size = 0};
    CHECK(ferry_gguf_open((ferry_view){(const char *)model->data, model->size}, "sample", &gguf, &error));
    const ferry_gguf_value *value = ferry_gguf_find(&gguf, key);
    const size_t begin = value_of(model, key) + 4, type = model->data[begin - 4];
    size_t end = begin + 8 + value->data.size;
    if (value->texts != NULL && value->count > 0) {
        const ferry_view last = ferry_string_table_at(value->texts, value->count - 1);
        end = (size_t)((const unsigned char *)last.data - model->data) + last.size;
    }
    ferry_gguf_close(&gguf);
    put(&array, count, 8);
    for (uint64_t i = 0; i < count; i++) put(&array, type == FERRY_GGUF_I32, type == FERRY_GGUF_I32 ? 4 : 8);
    splice(model, begin, end, array.data, array.size);
}

void check_elements(sample model, const elements *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t counts[] = {rows[i].most, rows[i].most + 1, rows[i].least, rows[i].least - 1};
        for (int v = 0; v < (rows[i].least > 0 ? 4 : 2); v++) {
            ferry_error error = {0};
            sample edited = copy_of(&model);
            lengthen(&edited, rows[i].key, counts[v]);
            const bool unfit = is_refused(&edited, rows[i].key, &error), none = counts[v] == 0;
            const ferry_short_text found = ferry_format(", found %" PRIu64, counts[v]);
            const bool refused = unfit && (none || ferry_text_ends(error.message, found.text));
            if (refused != (v % 2 == 1)) fail_msg("%s of %" PRIu64 ": %s", rows[i].key, counts[v], error.message);
        }
    }
}
