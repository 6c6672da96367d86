#include "model_damage.h"

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

static void edit_key(const sample *model, const char *key, const char *value)
{
    unsigned char *type = model->data + place_of(model, key) + strlen(key), *at = type + 4;
    const bool array = *type == FERRY_GGUF_ARRAY;
    if (array) type = at;
    if (array) at += 12;
    if (*type == FERRY_GGUF_TEXT)
        memcpy(at + 8, value, strlen(value));
    else
        put_number(at, value, *type == FERRY_GGUF_F32, *type == FERRY_GGUF_BOOL ? 1 : 4);
}

static void edit(const sample *model, const refusal *row)
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

void refuse_each(sample model, const refusal *rows, size_t count)
{
    unsigned char *intact = kept_memory(model.size);
    memcpy(intact, model.data, model.size);
    for (size_t i = 0; i < count; i++) {
        edit(&model, &rows[i]);
        refuse(&model, rows[i].status, rows[i].message);
        memcpy(model.data, intact, model.size);
    }
}
