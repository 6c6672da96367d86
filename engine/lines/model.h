/* The public ferry_model: immutable once it is open, and shared by threads. */
#ifndef FERRY_LINES_MODEL_H
#define FERRY_LINES_MODEL_H

#include <stdatomic.h>

#include "base/threads.h"
#include "engine/ferry.h"
#include "engine/file/model_file.h"
#include "tokenizer/tokenizer.h"

struct ferry_model {
    atomic_size_t users; /* the caller and translators; the last one releases the model */
    ferry_mutex mutex;   /* protects `widened` */
    bool widened;
    const ferry_kernels *kernels;
    ferry_model_file file;
    ferry_tokenizer *tokenizer; /* NULL if the file has none: the model then works on ids only */
    ferry_language *languages;  /* [file.languages.count], in the file's arena */
    const char **info;          /* of each key of ferry_model_info; in the file's arena */
};

#endif
