/* Model files that tests damage in one place each, to see them refused. */
#ifndef FERRY_SUPPORT_MODEL_DAMAGE_H
#define FERRY_SUPPORT_MODEL_DAMAGE_H

#include "files.h"
#include "small_model.h"

#include "engine/file/model_file.h"

/* A model's bytes, and the path of a copy that is damaged. */
typedef struct sample {
    unsigned char *data;
    size_t size;
    char *path; /* "…/sample.gguf" */
} sample;

/* Converted from a directory of the test data; or small. */
sample make_sample(const char *name);
sample make_small_sample(const small_model *model);

#define FORMAT FERRY_ERROR_FORMAT
#define UNSUPPORTED FERRY_ERROR_UNSUPPORTED

/* A model file with one edit is refused with this status and a message that names the file and holds `message`. What is
 * edited: a key (of an array, its first element), an element of a tensor ("name[3]") or a tensor's type as GGUF's
 * number
 * ("name:type"). Its new value is of the type that it has in the file. NULL changes the last byte of the name, where it
 * occurs first, to '~'. */
typedef struct refusal {
    const char *name, *value;
    ferry_status status;
    const char *message;
} refusal;

/* Each edit alone, of a model that is otherwise intact. */
void refuse_each(sample model, const refusal *rows, size_t count);
#define REFUSE_EACH(model, rows) refuse_each(model, rows, sizeof(rows) / sizeof *(rows))
/* The bytes of `model` as they are. */
void refuse(const sample *model, ferry_status status, const char *message);

/* The least and the largest number that a key may have, or an array's first element: they are accepted (what else does
 * not fit then does not count), and those `step` beyond them are refused as a number that the key may not have. */
typedef struct bounds {
    const char *key;
    double least, most, step;
} bounds;
void check_bounds(sample model, const bounds *rows, size_t count);
#define CHECK_BOUNDS(model, rows) check_bounds(model, rows, sizeof(rows) / sizeof *(rows))

/* The same of the number of an array's elements, which become 1 or empty; least 0: any smaller number will do. */
typedef struct elements {
    const char *key;
    uint64_t least, most;
} elements;
void check_elements(sample model, const elements *rows, size_t count);
#define CHECK_ELEMENTS(model, rows) check_elements(model, rows, sizeof(rows) / sizeof *(rows))

/* The index of the first byte of a tensor's data. */
size_t data_of(const sample *model, const char *tensor);
/* Where the table of tensors ends. */
size_t table_end(const sample *model, const ferry_gguf *gguf);
/* The index of the first occurrence of `text`. */
size_t place_of(const sample *model, const char *text);

#endif
