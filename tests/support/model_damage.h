/* Model files that tests damage, each time in one place, to see them refused. */
#ifndef FERRY_SUPPORT_MODEL_DAMAGE_H
#define FERRY_SUPPORT_MODEL_DAMAGE_H

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
void free_sample(sample *model);

/* Where the value of `key` begins: behind its type, and an array's or text's length. */
size_t value_of(const sample *model, const char *key);
/* The bytes are refused with this status and a message that names the file and holds `what`. */
void refuse(const sample *model, ferry_status status, const char *what);
/* Bytes at `place` become `new_bytes`; the file is refused, and mended. */
void refuse_bytes(sample *model, size_t place, const char *new_bytes, size_t count, ferry_status status,
                  const char *what);
void refuse_value(sample *model, const char *key, const char *text, ferry_status status, const char *what);
void refuse_number(sample *model, const char *key, uint32_t number, ferry_status status, const char *what);
/* The name itself becomes another one of the same length. */
void refuse_name(sample *model, const char *name, const char *other, ferry_status status, const char *what);

#endif
