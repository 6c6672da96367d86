#include "refusals.h"

/* Of every reader; the weights' are wrapped in one. */
typedef struct reading {
    tried_reader *read;
    weights_reader *weights; /* if `read` is NULL */
} reading;

static ferry_status try_reading(const reading *by, ferry_view input, ferry_error *error)
{
    ferry_weights weights;
    if (by->read != NULL) return by->read(input, error);
    const ferry_status status = by->weights(input, "in", NULL, &weights, error);
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

static void check_rows(const reading *by, const refused *rows, size_t count)
{
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        ferry_error error = {0};
        const made_file input = {(unsigned char *)(uintptr_t)rows[i].input.data, rows[i].input.size, 0};
        const ferry_status found = try_reading(by, whole(&input), &error);
        fine = as_expected(i, found, &error, rows[i].status, rows[i].message) && fine;
    }
    assert_true(fine);
}

void check_refused(tried_reader *read, const refused *rows, size_t count)
{
    check_rows(&(reading){.read = read}, rows, count);
}

void check_refused_weights(weights_reader *read, const refused *rows, size_t count)
{
    check_rows(&(reading){.weights = read}, rows, count);
}

static void check_cuts(const reading *by, const made_file *sound, size_t first, ferry_status status)
{
    for (size_t size = first; size < sound->size; size++) {
        ferry_error error = {0};
        const ferry_status found = try_reading(by, cut_to(sound, size), &error);
        if (found != status || strncmp(error.message, "in", 2) != 0)
            fail_msg("%zu of %zu bytes: %s: %s", size, sound->size, ferry_status_name(found), error.message);
    }
}

void check_refused_cuts(tried_reader *read, const made_file *sound, size_t first, ferry_status status)
{
    check_cuts(&(reading){.read = read}, sound, first, status);
}

void check_refused_weights_cuts(weights_reader *read, const made_file *sound, size_t first, ferry_status status)
{
    check_cuts(&(reading){.weights = read}, sound, first, status);
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
