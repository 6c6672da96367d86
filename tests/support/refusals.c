#include "refusals.h"

/* Of the weights' readers, which are wrapped in one. */
static ferry_weights_reader *current;

static ferry_status read_current(ferry_view input, ferry_error *error)
{
    ferry_weights weights;
    const ferry_status status = ferry_weights_read(current, input, "in", NULL, &weights, error);
    if (status == FERRY_OK)
        ferry_weights_close(&weights);
    else
        assert_true(weights.count == 0 && weights.entries == NULL && weights.archive == NULL);
    return status;
}

#define PART "\u2026"

/* Whether this is what was expected; prints what is not. */
static bool as_expected(size_t row, ferry_status found, const ferry_error *error, ferry_status status,
                        const char *message)
{
    const bool part = strncmp(message, PART, strlen(PART)) == 0;
    const bool same =
        part ? strstr(error->message, message + strlen(PART)) != NULL : strcmp(error->message, message) == 0;
    if (found == status && error->status == status && same) return true;
    print_error("row %zu: expected %s: %s\n          found %s: %s\n", row, ferry_status_name(status), message,
                ferry_status_name(found), found != FERRY_OK ? error->message : "accepted");
    return false;
}

void check_refused(tried_reader *read, const refused *rows, size_t count)
{
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        ferry_error error = {0};
        const made_file input = {(unsigned char *)(uintptr_t)rows[i].input.data, rows[i].input.size, 0};
        const ferry_status found = read(whole(&input), &error);
        fine = as_expected(i, found, &error, rows[i].status, rows[i].message) && fine;
    }
    assert_true(fine);
}

void check_refused_weights(ferry_weights_reader *read, const refused *rows, size_t count)
{
    current = read;
    check_refused(read_current, rows, count);
}

void check_refused_cuts(tried_reader *read, const made_file *sound, size_t first, ferry_status status)
{
    for (size_t size = first; size < sound->size; size++) {
        ferry_error error = {0};
        const ferry_status found = read(cut_to(sound, size), &error);
        if (found != status || strncmp(error.message, "in", 2) != 0)
            fail_msg("%zu of %zu bytes: %s: %s", size, sound->size, ferry_status_name(found), error.message);
    }
}

void check_refused_weights_cuts(ferry_weights_reader *read, const made_file *sound, size_t first, ferry_status status)
{
    current = read;
    check_refused_cuts(read_current, sound, first, status);
}

/* ---- sound files ---- */

static ferry_short_text element_text(ferry_type type, const char *data)
{
    uint64_t integer = 0;
    float real;
    memcpy(&integer, data, ferry_type_size(type));
    memcpy(&real, data, type == FERRY_F32 ? sizeof real : 0);
    return type == FERRY_F32 ? ferry_format(" %g", (double)real) : ferry_format(" %llu", (unsigned long long)integer);
}

static void put_entry(made_file *text, const ferry_weights_entry *entry)
{
    const ferry_tensor *t = &entry->tensor;
    const size_t size = ferry_type_size(t->type), count = (size_t)ferry_tensor_count(t);
    int64_t index[FERRY_MAX_DIMS] = {0}, end = 0;
    char shape[100];
    put_text(text, text->size > 0 ? "; " : "");
    put_bytes(text, t->name.data, t->name.size);
    put_text(text, ferry_format(" %s %s", ferry_type_name(t->type), ferry_tensor_shape_text(t, shape, 100)).text);
    if (size == 0) put_text(text, ferry_format(" %zu bytes", t->bytes).text);
    if (entry->multiplier != 0) put_text(text, ferry_format(" / %g", (double)entry->multiplier).text);
    for (size_t n = 0; size > 0 && n < count; n++) {
        int64_t at = 0;
        for (int32_t i = 0; i < t->dims; i++) at += index[i] * entry->strides[i];
        end = at + 1 > end ? at + 1 : end;
        put_text(text, element_text(t->type, (const char *)t->data + (size_t)at * size).text);
        for (int32_t i = t->dims - 1; i >= 0 && ++index[i] == t->shape[i]; i--) index[i] = 0;
    }
    assert_true(size == 0 || t->bytes == (size_t)end * size);
    assert_string_equal(entry->file, "in");
}

void check_weights(ferry_weights_reader *read, ferry_view bytes, const char *expected)
{
    ferry_weights weights;
    made_file text = {.size = 0};
    CHECK(ferry_weights_read(read, bytes, "in", NULL, &weights, &error));
    for (size_t i = 0; i < weights.count; i++) {
        const ferry_tensor *t = &weights.entries[i].tensor;
        const char *data = t->data;
        assert_true(data >= bytes.data && data + t->bytes <= bytes.data + bytes.size); /* it is no copy */
        put_entry(&text, &weights.entries[i]);
    }
    put(&text, 0, 1);
    ferry_weights_close(&weights);
    assert_string_equal((const char *)text.data, expected);
}

/* ---- a sound file, edited ---- */

ferry_view edited(const made_file *sound, size_t at, unsigned char byte)
{
    const ferry_view copy = whole(sound);
    assert_true(at < sound->size);
    ((unsigned char *)(uintptr_t)copy.data)[at] = byte;
    return copy;
}

ferry_view longer(const made_file *sound, size_t bytes)
{
    made_file copy = {.size = 0};
    put_bytes(&copy, sound->data, sound->size);
    put(&copy, 0, bytes);
    return whole(&copy);
}

/* ---- importers ---- */

/* The path of the source becomes SOURCE. */
static void name_source(ferry_error *error, const char *source)
{
    const size_t size = strlen(source);
    char text[sizeof error->message];
    for (char *place; (place = strstr(error->message, source)) != NULL;) {
        snprintf(text, sizeof text, "%.*sSOURCE%s", (int)(place - error->message), error->message, place + size);
        memcpy(error->message, text, sizeof text);
    }
}

static bool is_refused(size_t row, const char *source, const ferry_import_options *options, ferry_status status,
                       const char *message)
{
    ferry_error error = {0};
    char *path = scratch_file("refused.gguf");
    const ferry_status found = ferry_import(source, path, options, &error);
    name_source(&error, source);
    if (found != FERRY_OK) check_no_file(path);
    return as_expected(row, found, &error, status, message);
}

void check_refused_source(const char *source, const ferry_import_options *options, ferry_status status,
                          const char *message)
{
    assert_true(is_refused(0, source, options, status, message));
}

void check_refused_edits(const char *source, const refused_edit *rows, size_t count)
{
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        const char *copy = variant(source, &(edit){rows[i].file, rows[i].from, rows[i].to}, 1);
        fine = is_refused(i, copy, NULL, rows[i].status, rows[i].message) && fine;
    }
    assert_true(fine);
}
