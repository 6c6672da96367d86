#define _GNU_SOURCE /* memmem */
#include "model_damage.h"

#include "models/convert.h"

static void write_sample(const sample *model)
{
    FILE *file = fopen(model->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(model->data, 1, model->size, file), model->size);
    assert_int_equal(fclose(file), 0);
}

static void read_sample(sample *model)
{
    ferry_error error;
    ferry_mapped_file map;
    CHECK(ferry_mapped_file_open(model->path, &map, &error));
    model->size = map.bytes.size;
    model->data = malloc(model->size);
    assert_non_null(model->data);
    memcpy(model->data, map.bytes.data, model->size);
    ferry_mapped_file_close(&map);
}

sample make_sample(const char *name)
{
    ferry_error error;
    char *source = data_path(name);
    sample model = {.path = scratch_path("sample.gguf")};
    CHECK(ferry_import(source, model.path, NULL, &error));
    read_sample(&model);
    free(source);
    return model;
}

sample make_small_sample(const small_model *small)
{
    sample model = {.path = scratch_path("sample.gguf")};
    write_small_model(model.path, small);
    read_sample(&model);
    return model;
}

void free_sample(sample *model)
{
    free(model->data);
    free(model->path);
}

size_t value_of(const sample *model, const char *key)
{
    const size_t size = strlen(key);
    const unsigned char *found = memmem(model->data, model->size, key, size);
    if (found == NULL) fail_msg("no key '%s'", key);
    const size_t at = (size_t)(found - model->data) + size;
    const unsigned char type = model->data[at];
    return at + 4 + (type == FERRY_GGUF_TEXT ? 8 : type == FERRY_GGUF_ARRAY ? 12 : 0);
}

void refuse(const sample *model, ferry_status status, const char *what)
{
    ferry_error error = {0};
    ferry_model_file file;
    write_sample(model);
    const ferry_status found = ferry_model_file_open(model->path, ferry_kernels_find(NULL), &file, &error);
    if (found != status || strstr(error.message, what) == NULL || strstr(error.message, "sample.gguf: ") == NULL) {
        fail_msg("expected %d '%s', found %d '%s'", status, what, found, error.message);
    }
}

void refuse_bytes(sample *model, size_t place, const char *new_bytes, size_t count, ferry_status status,
                  const char *what)
{
    unsigned char old[64];
    memcpy(old, model->data + place, count);
    memcpy(model->data + place, new_bytes, count);
    refuse(model, status, what);
    memcpy(model->data + place, old, count);
}

void refuse_value(sample *model, const char *key, const char *text, ferry_status status, const char *what)
{
    refuse_bytes(model, value_of(model, key), text, strlen(text), status, what);
}

void refuse_number(sample *model, const char *key, uint32_t number, ferry_status status, const char *what)
{
    char bytes[4];
    memcpy(bytes, &number, sizeof bytes);
    refuse_bytes(model, value_of(model, key), bytes, sizeof bytes, status, what);
}

void refuse_name(sample *model, const char *name, const char *other, ferry_status status, const char *what)
{
    const unsigned char *found = memmem(model->data, model->size, name, strlen(name));
    assert_non_null(found);
    refuse_bytes(model, (size_t)(found - model->data), other, strlen(other), status, what);
}
