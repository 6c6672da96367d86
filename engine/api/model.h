/* What the public ferry_model is. */
#ifndef FERRY_API_MODEL_H
#define FERRY_API_MODEL_H

#include <stdatomic.h>

#include "base/threads.h"

#include "engine/file/model_file.h"
#include "tokenizer/tokenizer.h"
#include "engine/ferry.h"
#include "languages.h"

struct ferry_model {
    atomic_size_t users; /* the caller, until it closes the model, and translators */
    ferry_mutex mutex;   /* of `widened` */
    bool widened;
    const ferry_kernels *kernels;
    ferry_model_file file;
    ferry_tokenizer *tokenizer; /* NULL if the file has none: the model then takes and gives ids only */
    ferry_languages languages;
    const char **info; /* of each key of ferry_model_info; in the file's arena */
};

/* The kernels that `isa` names (NULL or "": the best of this machine); ARGUMENT when they cannot run here. */
ferry_status ferry_model_find_kernels(const char *isa, const ferry_kernels **kernels, ferry_error *error);
/* A model without contents, for ferry_model_close; NULL: MEMORY. */
ferry_model *ferry_model_allocate(const ferry_kernels *kernels, ferry_error *error);
/* What the file says of its tokenizer; the tables are those of `text`. */
ferry_tokenizer_config ferry_model_tokenizer_config(const ferry_model_text *text);
/* One user more; ferry_model_close is one less, and the last one releases the model. */
const ferry_model *ferry_model_keep(const ferry_model *model);
/* Comes before every use of the model's weights: many programs open models only to list them. */
void ferry_model_widen(const ferry_model *model);
/* A model of the file in `map`, which belongs to the model, or is closed by a failure; `name` is for messages. */
ferry_status ferry_model_create(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                ferry_model **model, ferry_error *error);

#endif
